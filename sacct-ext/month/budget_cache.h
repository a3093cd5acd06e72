/*
 * budget_cache.h: what budgets take of closed months (statement/budget.h), for who makes the
 * budgets of one month after the other: each month's bill is read once, and not again for each
 * later month. A few numbers for each day, budget and user; nothing of the bill.
 */
#ifndef GL_BUDGET_CACHE_H
#define GL_BUDGET_CACHE_H

#include "month/month.h"
#include "month/periods.h"
#include "site/site.h"
#include "statement/budget.h"

typedef struct budget_cache budget_cache_t;

budget_cache_t *budget_cache_new (void);
/* Accepts NULL. */
void budget_cache_free (budget_cache_t *cache);

/* Adds the month to all the budgets, and its first day with a charge (month.h) into *ret_first.
 * False: it is not closed, or of some budget it is not in the cache; nothing was added.
 * `site`: of the budgets. */
bool budget_cache_get (const budget_cache_t *cache, const site_t *site,
                       const periods_t *periods, const char *month,
                       budget_t *const *budgets, size_t count,
                       int64_t *ret_first);
/* Adds the bill of the month, which the days of `period` cover, to all the budgets. It is put
 * into the cache if it is closed and ended before their as-of. Accepts NULL. */
void budget_cache_add (budget_cache_t *cache, const site_t *site,
                       const month_t *month, period_t period,
                       budget_t *const *budgets, size_t count);
/* Forgets months that ended before. Accepts NULL. */
void budget_cache_forget (budget_cache_t *cache, int64_t before);

#endif /* !GL_BUDGET_CACHE_H */
