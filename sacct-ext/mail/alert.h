/* alert.h: what messages about a budget or a balance have in common. Pure. */
#ifndef GL_MAIL_ALERT_H
#define GL_MAIL_ALERT_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/text.h"
#include "site/site.h"

/* "LABEL          VALUE" on a line of its own, whatever is in it; nothing of NULL. */
void alert_line (buffer_t *body, const char *label, const char *value);
/* The text, with controls as '?'. */
void alert_text (buffer_t *body, const char *text);

/* Appended: the message in mbox form (`formail -s` splits them, `sendmail -t` sends one),
 * from mail.from, where it is set. Dates and hours of subject and body are written for
 * people. */
void alert_write (const site_t *site, const text_list_t *to,
                  const char *subject, int64_t date, const char *body,
                  buffer_t *out);

#endif /* !GL_MAIL_ALERT_H */
