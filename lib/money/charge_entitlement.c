/*
 * Entitlements of a pool-month: what each payer has, draws and leaves. See
 * charge.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "money/charge_private.h"
#include "site/project.h"

/* --- what is bought ----------------------------------------------------- */

void charge_add_bought (const charge_t *charge, const site_entitlement_t *e,
                        period_t part, mpq_t seconds)
{
    period_t valid = period_clip (e->valid, part), month = charge->month;
    mpq_t amount;

    if (valid.end <= valid.start)
        return;
    mpq_init (amount);
    if (mpq_sgn (e->gpu_hours) > 0) {
        cost_months (charge->site->zone, valid, amount);
        mpq_mul (amount, amount, e->gpu_hours);
        exact_add_scaled (seconds, amount, 3600, 1);
    } else if (mpq_sgn (e->gpus) > 0)
        exact_add_scaled (seconds, e->gpus, valid.end - valid.start, 1);
    else {
        mpq_mul (amount, charge->capacity.capacity, e->share);
        exact_add_scaled (seconds, amount, valid.end - valid.start,
                          month.end - month.start);
    }
    mpq_clear (amount);
}

/* GPUs and shares up to as-of; hours of the calendar month can be drawn from its
 * beginning. */
static void bought_seconds (const charge_t *charge, const site_entitlement_t *e,
                            mpq_t ret_seconds)
{
    period_t part = charge->month;

    if (mpq_sgn (e->gpu_hours) > 0)
        part = zone_unit (charge->site->zone, CALENDAR_MONTH, part.start);
    mpq_set_ui (ret_seconds, 0, 1);
    charge_add_bought (charge, e, part, ret_seconds);
}

void charge_find_entitled (charge_t *charge)
{
    const site_t *site = charge->site;
    mpq_t seconds;

    mpq_init (seconds);
    for (size_t i = 0; i < site->entitlement_count; i++) {
        const site_entitlement_t *e = &site->entitlements[i];
        charge_payer_t *payer;
        if (strcmp (e->pool, charge->pool) != 0)
            continue;
        bought_seconds (charge, e, seconds);
        if (mpq_sgn (seconds) > 0) {
            payer = charge_payer (charge, e->team, NULL);
            mpq_add (payer->entitled, payer->entitled, seconds);
        }
    }
    mpq_clear (seconds);
}

/* --- what is drawn ------------------------------------------------------ */

bool charge_reserved_draws (const charge_t *charge)
{
    return charge->site->policy.reserved == RESERVED_ENTITLEMENT;
}

static void find_reserved (charge_t *charge)
{
    for (size_t i = 0; i < charge->reserved.count; i++) {
        const struct share *share = &charge->reserved.share[i];
        charge_payer_t *payer
            = charge_payer (charge, share->team, share->account);
        mpq_add (payer->reserved, payer->reserved, share->amount);
    }
}

bool charge_consumed_part (const charge_payer_t *payer, mpq_t ret_part)
{
    mpq_t asked;

    mpq_set_ui (ret_part, 0, 1);
    if (mpq_sgn (payer->entitled) == 0 && mpq_sgn (payer->rollover_in) == 0)
        return false;
    mpq_init (asked);
    mpq_add (asked, payer->billed, payer->reserved);
    if (mpq_sgn (asked) > 0) {
        mpq_add (ret_part, payer->entitled, payer->rollover_in);
        if (mpq_cmp (ret_part, asked) > 0)
            mpq_set (ret_part, asked);
        mpq_div (ret_part, ret_part, asked);
    }
    mpq_clear (asked);
    return mpq_sgn (ret_part) > 0;
}

/* --- what is left ------------------------------------------------------- */

/* The entry that holds then; NULL: none. */
static const site_entitlement_t *entry_at (const charge_t *charge,
                                           const char *team, int64_t instant)
{
    const char *name
        = team_last_name (charge->site, team, (period_t){instant, instant + 1});

    return GL_FIND (charge->site->entitlements, charge->site->entitlement_count,
                    it,
                    !strcmp (it->pool, charge->pool) && !strcmp (it->team, name)
                        && period_has (it->valid, instant));
}

bool charge_is_over (const charge_t *charge)
{
    period_t month = charge->month;

    return zone_unit (charge->site->zone, CALENDAR_MONTH, month.start).end
           == month.end;
}

/* Hours of a month may be used in the next one: the entitlement goes on, in the
 * same fiscal year, and the ledger has begun. What was drawn before it has, nobody
 * knows. */
static bool goes_on (const charge_t *charge, const char *team)
{
    const site_t *site = charge->site;
    int64_t end = charge->month.end;

    return entry_at (charge, team, end)
           && zone_civil (site->zone, end).month != site->fiscal_month
           && end > charge->begins;
}

/* A month that is over: how much of the rest its last entry carries. */
static void set_left (const charge_t *charge, charge_payer_t *payer)
{
    const site_entitlement_t *last
        = entry_at (charge, payer->team, charge->month.end - 1);
    mpq_t cap;

    if (!charge_is_over (charge))
        return;
    mpq_set (payer->expired, payer->unused);
    if (!last || last->unused != UNUSED_CARRIED
        || !goes_on (charge, payer->team))
        return;
    mpq_init (cap);
    exact_add_scaled (cap, last->carry_cap, 3600, 1);
    mpq_set (payer->rollover_out,
             mpq_sgn (cap) > 0 && mpq_cmp (cap, payer->unused) < 0
                 ? cap
                 : payer->unused);
    mpq_sub (payer->expired, payer->unused, payer->rollover_out);
    mpq_clear (cap);
}

void charge_draw_entitled (charge_t *charge)
{
    mpq_t part;

    if (charge_reserved_draws (charge))
        find_reserved (charge);
    mpq_init (part);
    for (size_t i = 0; i < charge->payer_count; i++) {
        charge_payer_t *payer = &charge->payers[i];
        charge_consumed_part (payer, part);
        mpq_mul (payer->drawn, payer->billed, part);
        mpq_mul (payer->consumed_reserved, payer->reserved, part);
        mpq_add (payer->unused, payer->entitled, payer->rollover_in);
        mpq_sub (payer->unused, payer->unused, payer->drawn);
        mpq_sub (payer->unused, payer->unused, payer->consumed_reserved);
        if (payer->team)
            set_left (charge, payer);
    }
    mpq_clear (part);
}

/* --- the value of it --------------------------------------------------- */

void charge_pool_price (const charge_t *charge, mpq_t ret_price)
{
    period_t month = charge->month;
    int64_t *cuts;
    size_t count = rate_card_cuts (charge->site, month, &cuts);

    mpq_set_ui (ret_price, 0, 1);
    for (size_t i = 0; i <= count && month.end > month.start; i++) {
        int64_t start = i ? cuts[i - 1] : month.start;
        int64_t end = i < count ? cuts[i] : month.end;
        rate_card_price_t price = rate_card_price (
            charge->site,
            (rate_subject_t){.pool = charge->pool, .instant = start});
        exact_add_scaled (ret_price,
                          price.rate ? rate_list_price (price.rate)
                                     : charge_full_rate (charge),
                          end - start, month.end - month.start);
    }
    free (cuts);
}
