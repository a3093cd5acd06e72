/*
 * journal.h: the bill of months as double entry: transactions of postings that
 * add up to zero, for programs that keep books (docs/formats/journal.md).
 *
 * Of each month: one transaction for each pool that its costs arose,
 *
 *   cost:POOL:KIND[:NAME]         +   accruals:POOL:KIND            -
 *
 * one for each team that it was charged,
 *
 *   charges:TEAM:ACCOUNT:POOL:KIND +  cost:POOL:charged             -
 *                       of a tax:    taxes:WHAT                    -
 *                       of a rule of settlement, without a pool:
 *                                    liabilities:prepaid:RULE, income:fees:RULE,
 *                                    settlement:sponsor:RULE       -
 *                       by hand:     unrecovered:POOL:by_hand      -
 *                       of a computed correction:
 *                                    cost:POOL:corrections         -
 *
 * disputed:TEAM:... instead of charges:TEAM:... as long as a row is in dispute;
 * and one for each pool for what nobody is charged,
 *
 *   unrecovered:POOL:CLASS        +   cost:POOL:unrecovered         -
 *
 * Gains and losses of disposals that are in no charge have accounts of their own,
 * cost:POOL:disposal:ASSET, accruals:POOL:disposal and unrecovered:POOL:disposal.
 * So cost:POOL is 0 once a month is posted, and charges:TEAM is what the
 * team pays. Computed corrections of closed months change what nobody is charged
 * as well, and where they do not add up to zero, the cost of the pool then:
 *
 *   unrecovered:POOL:CLASS        +   cost:POOL:corrections         -
 *   cost:POOL:corrections         +   accruals:POOL:corrections     -
 *
 * Amounts are the bill's integers; nothing is rounded here. Texts are as they
 * are, escaping is the renderer's. Pure.
 */
#ifndef GL_EXPORT_JOURNAL_H
#define GL_EXPORT_JOURNAL_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ledger/bill.h"
#include "site/site.h"

typedef enum {
    JOURNAL_TAG_MONTH,
    JOURNAL_TAG_POOL,
    JOURNAL_TAG_TEAM,
    JOURNAL_TAG_COST_CENTER,
    JOURNAL_TAG_INSTITUTION,
    JOURNAL_TAG_CLASS,
    JOURNAL_TAG_PERIOD, /* open, closed */
    JOURNAL_TAG_HASH,   /* of the closed period */
    JOURNAL_TAG_GPU_HOURS,
    JOURNAL_TAG_RATE, /* per hour of either */
    JOURNAL_TAG_LIST, /* before tiers, subsidies ..., where that is another */
    JOURNAL_TAG_WHAT,
    JOURNAL_TAG_REFERENCE,
    JOURNAL_TAG_REASON,       /* in words, of a manual row */
    JOURNAL_TAG_COUNTERPARTY, /* of a settlement: the other team */
    JOURNAL_TAG_ORIGIN,       /* the month that it is for, if another one */
    JOURNAL_TAG_FUND,         /* that pays for a cost */
    JOURNAL_TAG_CPU_HOURS,    /* of a pool of CPUs, instead of gpu_hours */
    JOURNAL_TAG_COUNT,
} journal_tag_t;

/* "gpu_hours" */
const char *journal_tag_name (journal_tag_t tag);

#define JOURNAL_DEPTH 5

typedef struct {
    char *account[JOURNAL_DEPTH]; /* from the top; NULL: absent */
    size_t depth;
    char *tag[JOURNAL_TAG_COUNT]; /* NULL: none */
    mpz_t units;
} journal_posting_t;

typedef struct {
    char *date; /* 2026-10-31 */
    char *description;
    char *tag[JOURNAL_TAG_COUNT];
    journal_posting_t *posting;
    size_t count;
} journal_transaction_t;

typedef struct {
    const site_t *site; /* borrowed */
    char **remark;      /* lines for its head */
    size_t remark_count;
    journal_transaction_t *transaction;
    size_t count;
} journal_t;

journal_t *journal_new (const site_t *site);
/* Accepts NULL. */
void journal_free (journal_t *journal);

/* A line of its head. */
void journal_remark (journal_t *journal, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The bill that is posted in `month`, after the months before it. `disputed`:
 * row by row, or NULL; such a row is posted to disputed:TEAM instead of
 * charges:TEAM. `site`: the configuration that priced the month, which has its
 * cost centers. `hash`: of the closed period, NULL while it is open. -1: costs,
 * charges and remainders of a pool do not add up, or a row is in none (a
 * defect). */
int journal_add_month (journal_t *journal, const site_t *site,
                       const char *month, const bill_t *bill,
                       const bool *disputed, const char *hash,
                       gl_error_t *error);

#endif /* !GL_EXPORT_JOURNAL_H */
