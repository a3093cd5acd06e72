/*
 * summary_mail.h: the summary of a week (mail/weekly.h) to each team, and that of a
 * month (month/summaries.h) to the addresses of mail.monthly. Both return an exit
 * code: see outbox_close().
 */
#ifndef GL_MAIL_SUMMARY_MAIL_H
#define GL_MAIL_SUMMARY_MAIL_H

#include "mail/outbox.h"

/* `day`: a date in the week; NULL: the last week that the facts cover. `team` NULL: all
 * teams that spent something in the week, the week before or the month, or have a
 * budget. */
int weekly_mail (cli_t *cli, const mail_options_t *options,
                 const output_t *output, const char *day, const char *team);

/* `month`: as of reports; NULL: the last one. It must be closed, unless drafts are asked
 * for. A month that is closed again is sent again. */
int monthly_mail (cli_t *cli, const mail_options_t *options,
                  const output_t *output, const char *month);

#endif /* !GL_MAIL_SUMMARY_MAIL_H */
