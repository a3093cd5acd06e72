/*
 * billing_private.h: between billing.c (the charges of months) and
 * billing_days.c (lines over their days).
 */
#ifndef GL_LEDGER_BILLING_PRIVATE_H
#define GL_LEDGER_BILLING_PRIVATE_H

#include "ledger/billing.h"
#include "ledger/billing_idle.h"
#include "ledger/billing_inputs.h"

#define PATH_MAX_LENGTH (KEYS_MAX + 1)

/* Price seconds of a segment that are credited. */
struct credit {
    pool_month_t *pool_month;
    const char *path[PATH_MAX_LENGTH]; /* texts of the usage */
    int64_t instant;
    const char *what;
    char *reference;
    mpq_t price_seconds;
};

struct billing {
    const report_query_t *query;
    period_t asked; /* the months that the query touches, up to as-of */
    period_t whole; /* with earlier ones of the fiscal year, for tiers and for
                       what is carried of entitlements */
    outages_t *outages; /* NULL: there are none */
    kinds_t *kinds;
    usage_query_t usage_query;
    usage_t *usage;
    usage_query_t line_query; /* where days are apart: without these */
    usage_t *line_usage;      /* NULL: `usage` has the lines, else only keys */
    const usage_filter_t *days_filter; /* NULL: all */
    const usage_cell_t *cells; /* by pool and month; while it computes */
    size_t cell_count;
    capacity_t *capacity;
    billing_inputs_t *inputs; /* of the cost book */
    billing_idle_t *idle;
    int64_t *cuts;
    size_t cut_count;
    key_id_t
        path[PATH_MAX_LENGTH]; /* KEY_COUNT: before, in, after the period */
    size_t path_length;
    size_t levels[PATH_MAX_LENGTH];
    size_t level_count;
    pool_month_t *pool_months; /* those asked for, then earlier ones */
    size_t pool_month_count;
    size_t asked_count;
    bool of_rollups; /* which bring the capacity */
    int64_t first;   /* see billing_first() */
    struct credit *credits;
    size_t credit_count;
    size_t credit_size;
};

/* The pool-month of a cell of such usage, or NULL; the cell's path in the charge, and
 * an instant in it. */
pool_month_t *billing_cell (const billing_t *billing,
                            const usage_query_t *query,
                            const usage_cell_t *cell,
                            const char *ret_path[PATH_MAX_LENGTH],
                            int64_t *ret_instant);
void billing_take_first (billing_t *billing, const usage_cell_t *cell);
/* These filters let lines of this path pass. */
bool billing_path_passes (const billing_t *billing,
                          const usage_filter_t *filters, size_t count,
                          const pool_month_t *pool_month,
                          const char *const *path);
bool billing_line_in_period (const billing_t *billing, const char *const *path);
/* The texts of the query's keys. */
void billing_line_keys (const billing_t *billing,
                        const pool_month_t *pool_month, const char *const *path,
                        const char *ret_keys[KEYS_MAX]);
/* What is priced of the path, in the pool that charges it. */
rate_subject_t billing_subject (const billing_t *billing,
                                const char *const *path, int64_t instant);
/* NULL: the path does not have it. */
const char *billing_path_text (const billing_t *billing,
                               const char *const *path, key_id_t key);

#endif /* !GL_LEDGER_BILLING_PRIVATE_H */
