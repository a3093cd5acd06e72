/* What people cost: a line for each fund that pays them, and none of a person. */
#include <string.h>

#include "acct/cost_private.h"
#include "base/exact.h"
#include "base/memory.h"

bool cost_next_staff_fund (const site_t *site, const char **fund)
{
    const char *next = NULL;

    for (size_t i = 0; i < site->staff_count; i++) {
        const share_list_t *funding = &site->staff[i].funding;
        for (size_t k = 0; k < funding->count; k++) {
            const char *name = funding->item[k].name;
            if ((!*fund || strcmp (name, *fund) > 0)
                && (!next || strcmp (name, next) < 0))
                next = name;
        }
    }
    *fund = next;
    return next != NULL;
}

void cost_staff_share (const site_staff_t *staff, const char *fund,
                       mpq_t ret_share)
{
    const share_list_t *funding = &staff->funding;

    mpq_set_ui (ret_share, !fund && funding->count == 0, 1);
    for (size_t i = 0; fund && i < funding->count; i++)
        if (!strcmp (funding->item[i].name, fund))
            mpq_add (ret_share, ret_share, funding->item[i].share);
}

/* What the fund pays in the period, and how much of it the entries give to rates. */
static void sum_fund (const site_t *site, const char *pool, period_t period,
                      const char *fund, mpq_t total, mpq_t recoverable)
{
    mpq_t one, factor;

    mpq_inits (one, factor, NULL);
    mpq_set_ui (total, 0, 1);
    mpq_set_ui (recoverable, 0, 1);
    for (size_t i = 0; i < site->staff_count; i++) {
        const site_staff_t *staff = &site->staff[i];
        cost_staff_share (staff, fund, factor);
        if (mpq_sgn (factor) == 0)
            continue;
        mpq_mul (factor, factor, staff->fte);
        mpq_mul (factor, factor, staff->loaded_salary);
        cost_months (site->zone, period_clip (period, staff->valid), one);
        mpq_mul (factor, factor, one);
        for (size_t k = 0; k < staff->pools.count; k++) {
            if (strcmp (staff->pools.item[k].name, pool) != 0)
                continue;
            mpq_mul (one, factor, staff->pools.item[k].share);
            exact_add_scaled (total, one, 1, 12);
            mpq_mul (one, one, staff->recoverable);
            exact_add_scaled (recoverable, one, 1, 12);
        }
    }
    mpq_clears (one, factor, NULL);
}

static place_t first_place (const site_t *site, const char *pool,
                            const char *fund)
{
    place_t place = {NULL, 0};
    mpq_t share;

    mpq_init (share);
    for (size_t i = 0; i < site->staff_count && !place.file; i++) {
        const site_staff_t *staff = &site->staff[i];
        cost_staff_share (staff, fund, share);
        for (size_t k = 0; k < staff->pools.count; k++)
            if (mpq_sgn (share) > 0 && !place.file
                && !strcmp (staff->pools.item[k].name, pool))
                place = staff->place;
    }
    mpq_clear (share);
    return place;
}

/* For all people together, and not how many they are: of one or two the total
 * would tell the pay. */
void cost_add_staff (const site_t *site, const char *pool, period_t period,
                     cost_t *cost)
{
    struct item item
        = {.kind = COST_STAFF, .name = "staff", .goes_on = true,
           .how = "months of full-time equivalents x their loaded salary / 12"};
    site_share_t payer;
    const share_list_t funding = {&payer, 1};
    const char *fund = NULL;
    mpq_t total, recoverable;
    size_t before = cost->count + cost->apart_count;

    mpq_inits (total, recoverable, payer.share, NULL);
    mpq_set_ui (payer.share, 1, 1);
    item.amount = total;
    item.recoverable = recoverable;
    do {
        sum_fund (site, pool, period, fund, total, recoverable);
        if (mpq_sgn (total) == 0)
            continue;
        mpq_div (recoverable, recoverable, total);
        payer.name = (char *)fund;
        item.funding = fund ? &funding : NULL;
        item.place = first_place (site, pool, fund);
        cost_add_line (site, cost, &item);
    } while (cost_next_staff_fund (site, &fund));
    cost->entry_count += cost->count + cost->apart_count > before;
    mpq_clears (total, recoverable, payer.share, NULL);
}
