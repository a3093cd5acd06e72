/* budget_mail.h: the alert of a budget as a message. Pure. */
#ifndef GL_MAIL_BUDGET_MAIL_H
#define GL_MAIL_BUDGET_MAIL_H

#include "base/buffer.h"
#include "site/site.h"
#include "statement/budget_report.h"

/* Appended: a message in mbox form (`formail -s` splits them, `sendmail -t` sends one),
 * from mail.from (where it is set) to the owner of the budget (where that is an
 * address), with its figures and the users who spent the most. */
void budget_mail (const site_t *site, const budget_t *budget,
                  const budget_alert_t *alert, buffer_t *out);

#endif /* !GL_MAIL_BUDGET_MAIL_H */
