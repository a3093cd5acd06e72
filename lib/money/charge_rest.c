/*
 * What no line carries: see charge.h for the equations.
 */
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"

static const remainder_info_t infos[REMAINDER_COUNT] = {
    {REMAINDER_IDLE, "idle", "idle", true},
    {REMAINDER_STRANDED, "stranded", "idle, stranded by MIG or shards", true},
    {REMAINDER_CPU_STRANDED, "cpu_stranded", "idle, CPUs or memory allocated",
     true},
    {REMAINDER_RESERVED_UNUSED, "reserved_unused", "reserved, not used", true},
    {REMAINDER_PLANNED_DOWN, "planned_down", "planned down", true},
    {REMAINDER_DOWN, "down", "down", true},
    {REMAINDER_UNKNOWN, "unknown", "not known whether up", true},
    {REMAINDER_SUSPENDED, "suspended", "suspended jobs", true},
    {REMAINDER_UNBILLED, "unbilled", "allocated, not billed", true},
    {REMAINDER_MIG, "mig", "price and quantity weights", false},
    {REMAINDER_RECOVERY, "recovery", "published rates", false},
    {REMAINDER_CARRIED, "carried", "idle time in the rate", false},
    {REMAINDER_QOS, "qos", "QOS multipliers", false},
    {REMAINDER_SUBSIDY, "subsidy", "QOS subsidies", false},
    {REMAINDER_ENTITLEMENT, "entitlement", "covered by entitlements", false},
    {REMAINDER_TIER, "tier", "price tiers", false},
    {REMAINDER_SURCHARGE, "surcharge", "surcharges of external customers",
     false},
    {REMAINDER_EXCESS, "excess", "allocated beyond the pool's capacity", true},
    {REMAINDER_NO_CAPACITY, "no_capacity", "pool without GPUs", true},
    {REMAINDER_CREDITED, "credited", "credits", false},
    {REMAINDER_PREPAID, "prepaid", "prepaid entitlements", false},
    {REMAINDER_ROUNDING, "rounding", "rounding of published prices", false},
    {REMAINDER_WAIVED, "waived", "not billed, by a waiver", false},
    {REMAINDER_CAPPED, "capped", "not billed, above a cap", false},
    {REMAINDER_GRANTED, "granted", "paid by grants", false},
    {REMAINDER_PREPAID_BALANCE, "prepaid_balance", "paid from prepaid balances",
     false},
    {REMAINDER_FEES, "fees", "fees paid back", false},
};

const remainder_info_t *remainder_info (remainder_id_t id)
{
    return &infos[id];
}

const remainder_info_t *remainder_named (const char *word)
{
    return GL_FIND (infos, REMAINDER_COUNT, it, !strcmp (it->word, word));
}

recovery_t remainder_recovery (remainder_id_t id, int sign)
{
    if (sign < 0)
        return RECOVERY_MARGIN;
    return infos[id].unallocated ? RECOVERY_UNALLOCATED : RECOVERY_SHORTFALL;
}

const char *remainder_title (remainder_id_t id, int sign)
{
    if (sign < 0 && id == REMAINDER_PREPAID_BALANCE)
        return "deposits of prepaid money";
    if (sign < 0 && id == REMAINDER_FEES)
        return "fees and minimum charges";
    return infos[id].title;
}

char *remainder_label (remainder_id_t id, int sign)
{
    const char *title = remainder_title (id, sign);

    if (remainder_is_settlement (id))
        return xstrdup (title);
    return xasprintf (
        "%s: %s", recovery_infos[remainder_recovery (id, sign)].title, title);
}

const recovery_info_t recovery_infos[RECOVERY_COUNT] = {
    [RECOVERY_UNALLOCATED]
    = {"unallocated_cost", "unallocated_", "unallocated cost"},
    [RECOVERY_SHORTFALL] = {"shortfall", "shortfall_", "shortfall"},
    [RECOVERY_MARGIN] = {"margin_over_cost", "margin_", "recovered above cost"},
};

static const adjustment_info_t adjustments[ADJUSTMENT_COUNT] = {
    {ADJUSTMENT_QOS, "qos", "multiplier of the QOS", REMAINDER_QOS},
    {ADJUSTMENT_SUBSIDY, "subsidy", "subsidy of the QOS", REMAINDER_SUBSIDY},
    {ADJUSTMENT_ENTITLEMENT, "entitlement", "covered by the entitlement",
     REMAINDER_ENTITLEMENT},
    {ADJUSTMENT_TIER, "tier", "price of higher tiers", REMAINDER_TIER},
    {ADJUSTMENT_SURCHARGE, "surcharge", "surcharge of external customers",
     REMAINDER_SURCHARGE},
};

const adjustment_info_t *adjustment_info (adjustment_id_t id)
{
    return &adjustments[id];
}

/* What the entries hold, and what their list prices are. */
struct sums {
    mpq_t seconds[2];      /* q of time used and of reserved time that holders pay:
                             at full cost, under a published rate */
    mpq_t price[2];        /* p, the same */
    mpq_t used_seconds[2]; /* q and p of time used alone, likewise */
    mpq_t used_price[2];
    mpq_t published; /* list prices under published rates */
};

static void each_sum (struct sums *sums, void (*of) (mpq_t))
{
    of (sums->published);
    for (int i = 0; i < 2; i++) {
        of (sums->seconds[i]);
        of (sums->price[i]);
        of (sums->used_seconds[i]);
        of (sums->used_price[i]);
    }
}

static void make_sums (const charge_t *charge, struct sums *sums)
{
    each_sum (sums, mpq_init);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        const charge_line_t *line = &entry->line;
        int published = entry->price.rate != NULL;
        if (line->kind == CHARGE_USED) {
            exact_gather (sums->used_seconds[published], line->gpu_seconds);
            exact_gather (sums->used_price[published], line->price_seconds);
        }
        if (entry->at_cost)
            continue;
        exact_gather (sums->seconds[published], line->gpu_seconds);
        exact_gather (sums->price[published], line->price_seconds);
        if (published)
            exact_gather (sums->published, line->list);
    }
    each_sum (sums, mpq_canonicalize);
}

static void clear_sums (struct sums *sums)
{
    each_sum (sums, mpq_clear);
}

void charge_classify (charge_t *charge)
{
    const capacity_sum_t *c = &charge->capacity;
    charge_remainder_t *rest = charge->remainders;
    mpq_t used;

    mpq_init (used);
    for (size_t i = 0; i < charge->count; i++)
        if (charge->entries[i].line.kind == CHARGE_USED)
            exact_add (used, charge->entries[i].line.gpu_seconds);
    mpq_sub (rest[REMAINDER_IDLE].gpu_seconds, c->idle, c->stranded);
    mpq_sub (rest[REMAINDER_IDLE].gpu_seconds, rest[REMAINDER_IDLE].gpu_seconds,
             c->cpu_stranded);
    mpq_set (rest[REMAINDER_STRANDED].gpu_seconds, c->stranded);
    mpq_set (rest[REMAINDER_CPU_STRANDED].gpu_seconds, c->cpu_stranded);
    mpq_set (rest[REMAINDER_RESERVED_UNUSED].gpu_seconds, c->reserved_unused);
    mpq_set (rest[REMAINDER_PLANNED_DOWN].gpu_seconds, c->planned_down);
    mpq_set (rest[REMAINDER_DOWN].gpu_seconds, c->down);
    mpq_set (rest[REMAINDER_UNKNOWN].gpu_seconds, c->unknown);
    mpq_set (rest[REMAINDER_SUSPENDED].gpu_seconds, charge->suspended);
    mpq_sub (rest[REMAINDER_UNBILLED].gpu_seconds, c->allocated, used);
    mpq_sub (rest[REMAINDER_UNBILLED].gpu_seconds,
             rest[REMAINDER_UNBILLED].gpu_seconds, charge->suspended);
    mpq_set (rest[REMAINDER_EXCESS].gpu_seconds, c->difference);
    mpq_clear (used);
}

/* What lines under a published rate do not recover: what they would bear at full
 * cost less their list prices. */
static void price_recovery (charge_t *charge, const struct sums *sums)
{
    mpq_ptr amount = charge->remainders[REMAINDER_RECOVERY].charge;
    mpq_t of_use;

    mpq_init (of_use);
    if (charge->carried) {
        mpq_mul (amount, charge->full, sums->price[1]);
        mpq_mul (of_use, charge->full_used, sums->used_price[1]);
    } else {
        mpq_mul (amount, charge->owned, sums->seconds[1]);
        mpq_mul (of_use, charge->used, sums->used_seconds[1]);
    }
    mpq_add (amount, amount, of_use);
    mpq_sub (amount, amount, sums->published);
    mpq_clear (of_use);
}

/* Lines at full cost: by price weights, not by quantity; and at f, not at r. */
static void price_full_cost (charge_t *charge, const struct sums *sums)
{
    charge_remainder_t *rest = charge->remainders;
    mpq_t difference;

    mpq_init (difference);
    mpq_sub (difference, sums->seconds[0], sums->price[0]);
    mpq_mul (rest[REMAINDER_MIG].charge, charge->owned, difference);
    mpq_sub (difference, sums->used_seconds[0], sums->used_price[0]);
    mpq_mul (difference, charge->used, difference);
    mpq_add (rest[REMAINDER_MIG].charge, rest[REMAINDER_MIG].charge,
             difference);
    mpq_sub (difference, charge->owned, charge->full);
    mpq_mul (rest[REMAINDER_CARRIED].charge, difference, sums->price[0]);
    mpq_clear (difference);
}

static void take_back (charge_t *charge, remainder_id_t id, mpq_srcptr amount)
{
    mpq_ptr rest = charge->remainders[id].charge;

    if (mpq_sgn (amount) != 0)
        mpq_sub (rest, rest, amount);
}

static void price_adjustments (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++) {
        const charge_line_t *line = &charge->entries[i].line;
        for (size_t k = 0; k < ADJUSTMENT_COUNT; k++)
            take_back (charge, adjustments[k].remainder, line->adjustment[k]);
    }
}

static void price_purchases (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++)
        if (charge->entries[i].bought)
            take_back (charge, REMAINDER_PREPAID, charge->entries[i].line.list);
}

/* Time allocated to jobs bears what use causes, whoever is billed for it. */
static void cost_remainders (charge_t *charge)
{
    static const remainder_id_t allocated[]
        = {REMAINDER_SUSPENDED, REMAINDER_UNBILLED};
    charge_remainder_t *rest = charge->remainders;
    mpq_t of_use;

    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpq_mul (rest[i].cost, charge->owned, rest[i].gpu_seconds);
    if (mpq_sgn (charge->capacity.capacity) <= 0)
        mpq_sub (rest[REMAINDER_NO_CAPACITY].cost, charge->cost.total,
                 charge->by_use);
    mpq_init (of_use);
    for (size_t i = 0; i < GL_ARRAY_SIZE (allocated); i++) {
        charge_remainder_t *to = &rest[allocated[i]];
        mpq_mul (of_use, charge->used, to->gpu_seconds);
        mpq_add (to->cost, to->cost, of_use);
    }
    mpq_clear (of_use);
}

void charge_price_remainders (charge_t *charge)
{
    charge_remainder_t *rest = charge->remainders;
    struct sums sums;

    make_sums (charge, &sums);
    cost_remainders (charge);
    if (!charge->carried) {
        for (size_t i = 0; i < REMAINDER_COUNT; i++)
            mpq_set (rest[i].charge, rest[i].cost);
        price_full_cost (charge, &sums);
    }
    price_recovery (charge, &sums);
    price_adjustments (charge);
    price_purchases (charge);
    clear_sums (&sums);
}
