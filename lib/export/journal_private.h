/* journal_private.h: what the postings of a month are made with. */
#ifndef GL_EXPORT_JOURNAL_PRIVATE_H
#define GL_EXPORT_JOURNAL_PRIVATE_H

#include <stdbool.h>

#include "export/journal.h"

/* A month that is being posted. */
struct journal_month {
    journal_t *journal;
    const site_t *site; /* that priced the month */
    const bill_t *bill;
    const char *month;
    const char *hash;
    const bool *disputed; /* by row of the bill; NULL: none */
    const posting_t **rows; /* those that somebody owes, by whom */
    size_t count;
};

/* Where an amount goes; the account's texts are borrowed. */
struct journal_account {
    const char *part[JOURNAL_DEPTH];
    size_t depth;
};

#define JOURNAL_ACCOUNT(...)                                              \
    (struct journal_account)                                              \
    {                                                                     \
        {__VA_ARGS__},                                                    \
            sizeof ((const char *[]){__VA_ARGS__}) / sizeof (const char *) \
    }

/* A transaction of the month, without postings; takes the description. Valid
 * until the next. */
journal_transaction_t *journal_begin (const struct journal_month *m,
                                      char *description);
/* What has no posting is no transaction. */
void journal_end (journal_t *journal);

/* A posting of 0. Valid until the next. */
journal_posting_t *journal_post (journal_transaction_t *transaction,
                                 struct journal_account account);
/* The other side: units less on the account's posting, one for each account,
 * from `first` on. */
void journal_take_off (journal_transaction_t *transaction, size_t first,
                       struct journal_account account, mpz_srcptr units);
/* Hours of the seconds as that tag, JOURNAL_TAG_GPU_HOURS or _CPU_HOURS; and, unless
 * `exact` is NULL, the amount per hour. */
void journal_put_quantity (journal_posting_t *posting, journal_tag_t unit,
                           mpq_srcptr seconds, mpq_srcptr exact);

#endif /* !GL_EXPORT_JOURNAL_PRIVATE_H */
