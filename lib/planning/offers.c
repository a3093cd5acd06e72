#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "planning/offers.h"

static bool same_provider (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

static mix_kind_t kind_of (const breakeven_cloud_t *cloud)
{
    return cloud->committed ? MIX_RESERVED
           : cloud->spot    ? MIX_SPOT
                            : MIX_RENTED;
}

static void add_offer (offers_t *offers, const breakeven_cloud_t *cloud)
{
    const breakeven_cloud_t **best = &offers->offer[kind_of (cloud)];

    if (!*best || mpq_cmp (cloud->per_work_hour, (*best)->per_work_hour) < 0)
        *best = cloud;
}

offers_t *offers_by_provider (const breakeven_t *b, size_t *ret_count)
{
    offers_t *offers = NULL;
    size_t count = 0;

    for (size_t i = 0; i < b->cloud_count; i++) {
        const char *provider = b->cloud[i].cloud->provider;
        offers_t *found;
        if (b->cloud[i].old)
            continue;
        found = GL_FIND (offers, count, it,
                         same_provider (it->provider, provider));
        if (!found) {
            found = GL_APPEND (offers, count);
            *found = (offers_t){.provider = provider};
        }
        add_offer (found, &b->cloud[i]);
    }
    if (count == 0)
        *GL_APPEND (offers, count) = (offers_t){.provider = NULL};
    *ret_count = count;
    return offers;
}

static mpq_srcptr price_of (const offers_t *offers, mix_kind_t kind)
{
    return offers->offer[kind] ? offers->offer[kind]->per_work_hour : NULL;
}

void offers_prices (const offers_t *offers, mix_prices_t *prices)
{
    prices->reserved = price_of (offers, MIX_RESERVED);
    prices->spot = price_of (offers, MIX_SPOT);
    prices->rented = price_of (offers, MIX_RENTED);
}
