#include <stdbool.h>
#include <string.h>

#include "acct/charge.h"
#include "base/memory.h"

static bool in_force (period_t valid, int64_t instant)
{
    return instant >= valid.start && instant < valid.end;
}

charge_price_t charge_price (const site_t *site, const char *pool,
                             const char *qos, int64_t instant)
{
    charge_price_t price = {NULL, site->policy.mig_price};

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        bool own = rate->qos && qos && strcmp (rate->qos, qos) == 0;
        if (strcmp (rate->pool, pool) != 0 || (rate->qos && !own) ||
            !in_force (rate->valid, instant) || (price.rate && !own))
            continue;
        price = (charge_price_t){rate, rate->mig_price};
        if (own)
            break;
    }
    return price;
}

size_t charge_cuts (const site_t *site, period_t period, int64_t **ret_cuts)
{
    int64_t *cuts = xcalloc (site->rate_count * 2 + 1, sizeof (*cuts));
    size_t count = 0;

    for (size_t i = 0; i < site->rate_count * 2; i++) {
        const period_t *valid = &site->rates[i / 2].valid;
        int64_t at = i % 2 ? valid->end : valid->start;
        if (at > period.start && at < period.end)
            cuts[count++] = at;
    }
    *ret_cuts = cuts;
    return instants_sort (cuts, count);
}
