/*
 * month_sites.h: one site for several months, in which each closed month has the
 * pools and teams, and Slurm's tree of accounts, of its closing: so that what is
 * printed of it does not follow today's configuration.
 */
#ifndef GL_MONTH_MONTH_SITES_H
#define GL_MONTH_MONTH_SITES_H

#include "month/closed_site.h"
#include "usage/query.h"

typedef struct {
    site_t site;          /* borrows from `then` and today's */
    accounts_t *accounts; /* a tree for each month, added by who reads it */
    site_t **then;
    size_t count;
    report_cluster_t *clusters; /* and as-of; of closed months alone */
    size_t cluster_count;
    period_t period;
} month_sites_t;

/* Into zeroes; month_sites_clear() after success and failure. The closings are in
 * their order; `computed` are the months after them, which have the query's site; an
 * empty period: none. The query and its site must outlive it. */
int month_sites_join (month_sites_t *sites, store_t *store,
                      const closing_t *const *closing, size_t count,
                      const report_query_t *query, period_t computed,
                      gl_error_t *error);
/* After the trees of all closings: today's, from the computed months on. */
int month_sites_today (month_sites_t *sites, store_t *store, period_t computed,
                       gl_error_t *error);
/* The query of all these months. */
void month_sites_query (const month_sites_t *sites, report_query_t *query);
void month_sites_clear (month_sites_t *sites);

#endif /* !GL_MONTH_MONTH_SITES_H */
