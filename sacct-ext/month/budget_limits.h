/*
 * budget_limits.h: the file that a submit filter reads: whose new jobs are to be
 * warned or refused, because a budget is spent (docs/formats/limits.md).
 */
#ifndef GL_BUDGET_LIMITS_H
#define GL_BUDGET_LIMITS_H

#include "base/buffer.h"
#include "base/error.h"
#include "site/site.h"
#include "statement/budget.h"
#include "store/store.h"

/* For how long after as-of the file is believed. */
#define LIMITS_LIFETIME (2 * 86400)

/* The file's text: a line for each account or project of each budget that has
 * reached its soft or hard limit, refusals first. A budget of which it is not
 * known what is spent, and one of a pool, has none; nor has a name that is no
 * single word, of which *ret_skipped says how many there are. */
int limits_text (store_t *store, const site_t *site, int64_t as_of,
                 budget_t *const *budgets, size_t count, buffer_t *out,
                 size_t *ret_skipped, gl_error_t *error);

#endif /* !GL_BUDGET_LIMITS_H */
