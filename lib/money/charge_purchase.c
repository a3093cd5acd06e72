/*
 * What teams pay for their entitlements, and the value of that: see charge.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"

/* --- what is paid ------------------------------------------------------- */

/* Up to as-of: what is bought, and its price. */
struct purchase {
    const site_entitlement_t *entry;
    period_t allocated;
    mpq_t seconds; /* GPU-seconds */
    mpq_t price;
};

static void measure (const charge_t *charge, struct purchase *p)
{
    mpq_set_ui (p->seconds, 0, 1);
    mpq_set_ui (p->price, 0, 1);
    if (p->allocated.end <= p->allocated.start)
        return;
    charge_add_bought (charge, p->entry, charge->month, p->seconds);
    if (mpq_sgn (p->entry->per_month) > 0) {
        cost_months (charge->site->zone, p->allocated, p->price);
        mpq_mul (p->price, p->price, p->entry->per_month);
        return;
    }
    exact_add_scaled (p->price, p->seconds, 1, 3600);
    mpq_mul (p->price, p->price, p->entry->per_gpu_hour);
}

/* Seconds of a stretch in which the entry holds. */
static int64_t overlap (const struct purchase *p, const struct stretch *stretch)
{
    period_t both = period_clip (
        (period_t){stretch->start, stretch->start + (int64_t)stretch->seconds},
        p->allocated);

    return both.end > both.start ? both.end - both.start : 0;
}

static void give_stretch (charge_t *charge, const struct purchase *p,
                          const struct stretch *stretch, int64_t part,
                          int64_t whole)
{
    size_t length = charge_path_length (charge);
    const char **path = xcalloc (length, sizeof (*path));
    struct entry *entry;

    for (size_t i = 0; i < length; i++)
        path[i] = stretch->path[i];
    if (length > CHARGE_TEAM)
        path[CHARGE_TEAM] = p->entry->team;
    entry = charge_new_entry (charge, CHARGE_PURCHASE, path,
                              CHARGE_ENTITLEMENT);
    entry->bought = p->entry;
    entry->reference = xasprintf (
        "%s/%s", charge_payer_name (charge, p->entry->team), charge->pool);
    entry->line.reference = entry->reference;
    entry->at_cost = true; /* under no rate */
    entry->price.team
        = rate_card_team (charge->site, p->entry->team, stretch->start);
    exact_add_scaled (entry->line.price_seconds, p->seconds, part, whole);
    exact_add_scaled (entry->line.list, p->price, part, whole);
    free (path);
}

/* By the time that the entry holds; where no stretch has any, as they are long. */
static void give (charge_t *charge, const struct purchase *p)
{
    int64_t applied = 0, all = 0;

    for (size_t i = 0; i < charge->stretch_count; i++) {
        applied += overlap (p, &charge->stretches[i]);
        all += (int64_t)charge->stretches[i].seconds;
    }
    for (size_t i = 0; i < charge->stretch_count && all > 0; i++) {
        const struct stretch *stretch = &charge->stretches[i];
        int64_t part = applied > 0 ? overlap (p, stretch)
                                : (int64_t)stretch->seconds;
        if (part > 0)
            give_stretch (charge, p, stretch, part, applied > 0 ? applied : all);
    }
}

void charge_give_purchases (charge_t *charge)
{
    struct purchase p;

    mpq_inits (p.seconds, p.price, NULL);
    for (size_t i = 0; i < charge->site->entitlement_count; i++) {
        p.entry = &charge->site->entitlements[i];
        p.allocated = period_clip (p.entry->valid, charge->month);
        if (strcmp (p.entry->pool, charge->pool) != 0)
            continue;
        measure (charge, &p);
        if (mpq_sgn (p.price) > 0)
            give (charge, &p);
    }
    mpq_clears (p.seconds, p.price, NULL);
}

/* --- the value of it --------------------------------------------------- */

/* All that is had of the month by the same price. */
static void set_values (const charge_t *charge, charge_payer_t *payer)
{
    mpq_t hour, left;

    mpq_inits (hour, left, NULL);
    mpq_add (left, payer->value_in, payer->fee);
    mpq_add (hour, payer->rollover_in, payer->entitled);
    if (mpq_sgn (hour) > 0)
        mpq_div (hour, left, hour);
    mpq_mul (payer->value_consumed, hour, payer->drawn);
    mpq_mul (payer->value_reserved, hour, payer->consumed_reserved);
    mpq_mul (payer->value_out, hour, payer->rollover_out);
    mpq_sub (left, left, payer->value_consumed);
    mpq_sub (left, left, payer->value_reserved);
    mpq_sub (left, left, payer->value_out);
    if (charge_is_over (charge))
        mpq_set (payer->value_expired, left);
    mpq_clears (hour, left, NULL);
}

void charge_value_entitled (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        charge_payer_t *payer;
        if (!entry->bought)
            continue;
        payer = charge_payer (charge, entry->bought->team, NULL);
        mpq_add (payer->fee, payer->fee, entry->line.charge);
    }
    for (size_t i = 0; i < charge->payer_count; i++)
        set_values (charge, &charge->payers[i]);
}
