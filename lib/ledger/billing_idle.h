/*
 * billing_idle.h: what charges of time that was not allocated need in addition to the facts of
 * jobs: who had reserved it, and the stretches of a month as paths have them.
 */
#ifndef GL_LEDGER_BILLING_IDLE_H
#define GL_LEDGER_BILLING_IDLE_H

#include <stdbool.h>

#include "money/charge.h"
#include "usage/capacity.h"
#include "usage/query.h"

/* A path of charges; KEY_COUNT: before, in or after the query's period. */
typedef struct {
    const key_id_t *key;
    size_t length;
} billing_path_t;

/* "before", "in", "later": a part of the query's period. */
const char *billing_part (const report_query_t *query, int64_t instant);

typedef struct billing_idle billing_idle_t;

billing_idle_t *billing_idle_new (const report_query_t *query);
/* Accepts NULL. */
void billing_idle_free (billing_idle_t *idle);

/* What reservations kept of a pool in some time that begins at `instant`, all
 * of it in one month. */
void billing_idle_reserved (billing_idle_t *idle, const char *pool,
                            const char *cluster, int64_t instant,
                            const capacity_reserved_t *reserved, size_t count);

/* Both to the charges of the pool-month, as far as its policies ask for them.
 * `cuts`: further ends of stretches. `days_apart`: a month in which nothing changes is one
 * stretch without a day, whose lines are the same on each of its seconds. */
void billing_idle_give (const billing_idle_t *idle, const char *pool,
                        period_t month, billing_path_t path, bool days_apart,
                        const int64_t *cuts, size_t cut_count,
                        charge_t *charge);

#endif /* !GL_LEDGER_BILLING_IDLE_H */
