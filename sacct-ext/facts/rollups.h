/*
 * rollups.h: rollups (usage/rollup.h) between the store and the reports.
 *
 * The store keeps rollups as a cache and forgets those that a new fact
 * concerns; a digest tells those that another configuration made. What is
 * missing is computed from the facts by one function, for a writer that keeps
 * it (rollups_refresh) and for a reader that does not (rollups_each), so that a
 * report never depends on what happens to be kept.
 */
#ifndef GL_ROLLUPS_H
#define GL_ROLLUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "site/site.h"
#include "store/store.h"
#include "usage/query.h"
#include "usage/rollup.h"

/* --- a writer's side --------------------------------------------------- */

/* What a refresh did. */
typedef struct {
    uint64_t days;   /* computed and kept */
    uint64_t months; /* put together and kept */
} rollups_result_t;

/* `done` of `all` days that were missing are there now. */
typedef void (*rollups_progress_f) (uint64_t done, uint64_t all, void *arg);

/* Outside a transaction: computes the days that are missing in the store, of
 * every cluster up to its as-of, some at a time so that memory stays bounded,
 * then the months that are complete. Safe to interrupt and to repeat.
 * `progress` may be NULL. */
int rollups_refresh (store_t *store, const site_t *site,
                     rollups_progress_f progress, void *arg,
                     rollups_result_t *ret_result, gl_error_t *error);

/* --- a reader's side --------------------------------------------------- */

/* Rollups of which unit of time make up a period. */
typedef enum {
    ROLLUPS_AS_ASKED, /* days if the query has days, else months */
    ROLLUPS_DAYS,
    ROLLUPS_MONTHS, /* where they are whole, else days */
} rollups_unit_t;

/* What a report is made of. */
typedef struct {
    const report_query_t *query;
    period_t period;     /* of which rollups are wanted; holds the query's */
    const int64_t *cuts; /* ascending; no rollup may lie on both sides of one,
                            nor of the ends of the query's period */
    size_t cut_count;
    rollups_unit_t unit;
} rollups_query_t;

/* Whether rollups alone can tell it: whole days up to the end, to which no
 * fact may lie beyond; keys and filters that a cell has; and no pool or team
 * that begins or ends within the period. */
bool rollups_answer (const rollups_query_t *query);

/* The rollups that make up the period, of the query's clusters, by cluster, then
 * time; from the store, or computed. Borrowed for the call. */
int rollups_each (store_t *store, const rollups_query_t *query,
                  rollup_f callback, void *arg, gl_error_t *error);

/* What the cluster's rollups depend on in addition to the facts of their own span:
 * the configuration, and the clocks of nodes that are far off. Clear it. */
typedef struct {
    store_t *store;
    const site_t *site;
    const char *cluster;
    accounts_t *accounts; /* NULL: nothing depends on them */
    uint8_t digest[STORE_DIGEST_SIZE]; /* SHA-256 of what is the same for all */
} rollups_basis_t;
int rollups_basis (store_t *store, const site_t *site, const char *cluster,
                   rollups_basis_t *ret_basis, gl_error_t *error);
void rollups_basis_clear (rollups_basis_t *basis);

/* SHA-256 of what one of the span depends on. */
void rollups_digest (const rollups_basis_t *basis, period_t span,
                     uint8_t ret_digest[STORE_DIGEST_SIZE]);
/* It is a day or a month of the site's zone, which was not always this zone, and was
 * made on this basis. */
bool rollups_is_right (const rollups_basis_t *basis,
                       const store_rollup_t *stored);

/* Or what it holds in addition, of what is billed (usage/rollup.h), is not wanted. */
bool rollups_is_usable (const rollups_basis_t *basis,
                        const store_rollup_t *stored);

/* Days, computed from the facts alone. */
int rollups_compute (const rollups_basis_t *basis, int64_t as_of, period_t days,
                     rollup_f callback, void *arg, gl_error_t *error);

#endif /* !GL_ROLLUPS_H */
