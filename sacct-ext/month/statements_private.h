/* statements_private.h: shared by statements.c (the page), statement_facts.c and
 * statement_closed.c (its jobs and days). */
#ifndef GL_STATEMENTS_PRIVATE_H
#define GL_STATEMENTS_PRIVATE_H

#include "month/bills.h"
#include "month/periods.h"
#include "month/statements.h"
#include "statement/statement.h"
#include "usage/usage.h"

/* What the page is made of. */
struct making {
    store_t *store;
    report_query_t query;
    bool list; /* of jobs */
    statement_t s;
    usage_t *usage[STATEMENT_COUNTS]; /* of facts */
    usage_query_t usage_query[STATEMENT_COUNTS];
    statement_count_t *counts[STATEMENT_COUNTS];
    usage_t *whole;
    usage_query_t whole_query;
    statement_jobs_t *jobs;     /* of rows by job and day */
    site_t *then;               /* of a closing */
    zone_t *zone;               /* likewise */
    report_cluster_t *clusters; /* likewise */
    statement_day_t *days;
    size_t day_count;
    char id[80];
    char head[BILLS_HASH_SIZE];
};

/* All days of the month up to `end`, with what the bill says of the team. */
void statement_take_days (struct making *m, const zone_t *zone, int64_t end,
                          const bill_t *bill);

/* The numbers of jobs, from the usage of a closing. */
int statement_count_closed (struct making *m, const closing_t *closing,
                            gl_error_t *error);

/* Jobs and days as facts and configuration have them: of a month that is not closed,
 * or was without charges. */
int statement_from_facts (struct making *m, const bills_month_t *month,
                          gl_error_t *error);
void statement_facts_done (struct making *m);

/* The same, configuration and as-of, as they were closed. */
int statement_from_closing (struct making *m, const bills_month_t *month,
                            gl_error_t *error);
void statement_closing_done (struct making *m);

#endif /* !GL_STATEMENTS_PRIVATE_H */
