/*
 * budgets.h: budgets (statement/budget.h), filled from the store.
 */
#ifndef GL_BUDGETS_H
#define GL_BUDGETS_H

#include "base/error.h"
#include "month/budget_cache.h"
#include "month/month.h"
#include "site/site.h"
#include "statement/budget.h"
#include "store/store.h"
#include "usage/query.h"

typedef struct {
    const site_t *site;
    int64_t as_of;    /* the moment that is looked at */
    const char *name; /* this budget alone; NULL: all */
    const char *team; /* budgets of this team alone; NULL: all */
    budget_window_t window;
    month_t *month; /* read already, with the days of budgets_filter(); NULL: none */
    budget_cache_t
        *cache; /* of closed months that were read before; NULL: none */
    uint64_t *ret_unlimited; /* running jobs without a known time limit, which
                                are in no encumbrance; may be NULL */
} budgets_query_t;

/* Days of which budgets are made, into `ret`, whose values are to be freed; false: of
 * all. */
bool budgets_filter (const budgets_query_t *query, usage_filter_t *ret);

/* The entries in force at as-of, in the order of the configuration, computed.
 * budgets_free() them. */
int budgets_compute (store_t *store, const budgets_query_t *query,
                     budget_t ***ret_budgets, size_t *ret_count,
                     gl_error_t *error);
/* The same at the end of the query's period, or of its facts if they end before, which takes the
 * place of as-of and window of `of`. */
int budgets_of_period (store_t *store, const report_query_t *query,
                       const budgets_query_t *of, budget_t ***ret_budgets,
                       size_t *ret_count, gl_error_t *error);
/* Accepts NULL with 0. */
void budgets_free (budget_t **budgets, size_t count);

#endif /* !GL_BUDGETS_H */
