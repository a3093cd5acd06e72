/* mail_month.h: the month of a letter, and whether it may be sent. */
#ifndef GL_MAIL_MAIL_MONTH_H
#define GL_MAIL_MAIL_MONTH_H

#include "cli/query_options.h"
#include "mail/outbox.h"
#include "month/periods.h"

typedef struct {
    char name[MONTH_SIZE];
    bool closed;
    bool skipped; /* it is not closed, and nothing is to be done */
    char hash[MONTH_HASH_SIZE]; /* of the closing; "": open */
    int64_t date;     /* of the closing; of an open month, that of the facts */
    const char *team; /* as the bills call it; NULL: all teams */
    query_options_t options; /* of the query */
    report_query_t query;    /* filtered by the team */
} mail_month_t;

/* Opens the store. `team`: as somebody wrote it; NULL: all. `what` is sent of the month:
 * "its statements". CLI_OK, or told: CLI_FAILED also of a month that is not closed,
 * unless drafts are asked for. mail_month_done() it in any case. */
int mail_month (cli_t *cli, const mail_options_t *options, const char *month,
                const char *team, const char *what, mail_month_t *ret_month);
void mail_month_done (mail_month_t *month);

#endif /* !GL_MAIL_MAIL_MONTH_H */
