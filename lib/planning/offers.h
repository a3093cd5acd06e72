/*
 * offers.h: the prices of `clouds` by provider, as a mix rents them: of each
 * provider the cheapest for a term, the cheapest that may be interrupted and the
 * cheapest by the hour (planning/mix.h). Pure.
 */
#ifndef GL_PLANNING_OFFERS_H
#define GL_PLANNING_OFFERS_H

#include "planning/breakeven.h"
#include "planning/mix.h"

typedef struct {
    const char *provider; /* NULL: the offers without one. Borrowed */
    const breakeven_cloud_t *offer[MIX_KINDS]; /* NULL: none. Owning has none */
} offers_t;

/* One entry for each provider, in file order; prices that are old are left out.
 * At least one entry: without prices, one without offers. Yours to free(). */
offers_t *offers_by_provider (const breakeven_t *breakeven, size_t *ret_count);

/* Fills in the prices of renting; the others stay. */
void offers_prices (const offers_t *offers, mix_prices_t *prices);

#endif /* !GL_PLANNING_OFFERS_H */
