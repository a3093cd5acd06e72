/*
 * statement_mail.h: the statements of a month, to their teams. Once for each
 * statement id: a month that is opened again and closed with other figures gives a
 * team whose rows changed another statement, and that is sent; the others are not
 * sent again.
 */
#ifndef GL_MAIL_STATEMENT_MAIL_H
#define GL_MAIL_STATEMENT_MAIL_H

#include "mail/outbox.h"

/* `month`: as of reports; NULL: the last one. It must be closed, unless drafts are asked
 * for. `team`: as somebody wrote it; NULL: all that have a statement. `jobs`: with
 * their jobs. Returns an exit code: see outbox_close(). */
int statement_mail (cli_t *cli, const mail_options_t *options,
                    const output_t *output, const char *month, const char *team,
                    bool jobs);

#endif /* !GL_MAIL_STATEMENT_MAIL_H */
