/*
 * Who pays, and what is due of a list price: see charge.h.
 */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"
#include "site/project.h"

/* --- payers ------------------------------------------------------------- */

static int compare_payer (const charge_payer_t *payer, const char *team,
                          const char *account)
{
    int order = charge_compare_texts (payer->team, team);

    return order || team ? order
                         : charge_compare_texts (payer->account, account);
}

static size_t payer_place (const charge_t *charge, const char *team,
                           const char *account)
{
    size_t low = 0, high = charge->payer_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_payer (&charge->payers[middle], team, account) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The team's name is charge_payer_name(). */
static charge_payer_t *find_payer (const charge_t *charge, const char *name,
                                   const char *account)
{
    size_t at = payer_place (charge, name, account);

    return at < charge->payer_count
                   && compare_payer (&charge->payers[at], name, account) == 0
               ? &charge->payers[at]
               : NULL;
}

const charge_payer_t *charge_payer_of (const charge_t *charge, const char *team)
{
    return team ? find_payer (charge, charge_payer_name (charge, team), NULL)
                : NULL;
}

charge_payer_t *charge_payer (charge_t *charge, const char *team,
                              const char *account)
{
    const char *name = charge_payer_name (charge, team);
    size_t at = payer_place (charge, name, account);
    charge_payer_t *payer = find_payer (charge, name, account);

    if (payer)
        return payer;
    charge->payers = xreallocarray (charge->payers, charge->payer_count + 1,
                                    sizeof (*charge->payers));
    payer = &charge->payers[at];
    memmove (payer + 1, payer, (charge->payer_count - at) * sizeof (*payer));
    charge->payer_count++;
    payer->team = xstrdup (name);
    payer->account = team ? NULL : xstrdup (account);
    mpq_inits (payer->billed, payer->reserved, payer->entitled,
               payer->rollover_in, payer->drawn, payer->consumed_reserved,
               payer->unused, payer->rollover_out, payer->expired, payer->fee,
               payer->value_in, payer->value_consumed, payer->value_reserved,
               payer->value_out, payer->value_expired, payer->before_billed,
               payer->before_spent, payer->listed, payer->others,
               payer->others_before, payer->spent, NULL);
    return payer;
}

void charge_free_payers (charge_t *charge)
{
    for (size_t i = 0; i < charge->payer_count; i++) {
        charge_payer_t *payer = &charge->payers[i];
        free ((char *)payer->team);
        free ((char *)payer->account);
        mpq_clears (payer->billed, payer->reserved, payer->entitled,
                    payer->rollover_in, payer->drawn, payer->consumed_reserved,
                    payer->unused, payer->rollover_out, payer->expired,
                    payer->fee, payer->value_in, payer->value_consumed,
                    payer->value_reserved, payer->value_out,
                    payer->value_expired, payer->before_billed,
                    payer->before_spent, payer->listed, payer->others,
                    payer->others_before, payer->spent, NULL);
    }
    free (charge->payers);
}

static charge_payer_t *payer_of (charge_t *charge, const struct entry *entry)
{
    return charge_payer (charge, charge_path_team (charge, entry->line.path),
                         entry->line.path[0]);
}

/* Entries that follow one another mostly have one payer. Texts are the charge's, each once. */
static bool same_payer (const charge_t *charge, const struct entry *a,
                        const struct entry *b)
{
    return a->path[0] == b->path[0]
           && charge_path_team (charge, a->line.path)
                  == charge_path_team (charge, b->line.path);
}

void charge_apply_rule (mpq_t value, const site_qos_t *rule)
{
    mpq_t paid;

    if (!rule)
        return;
    mpq_init (paid);
    mpq_set_ui (paid, 1, 1);
    mpq_sub (paid, paid, rule->subsidy);
    mpq_mul (paid, paid, rule->multiplier);
    mpq_mul (value, value, paid);
    mpq_clear (paid);
}

void charge_apply_team (mpq_t value, const site_team_t *team)
{
    mpq_t paid;

    if (!team)
        return;
    mpq_init (paid);
    mpq_set_ui (paid, 1, 1);
    mpq_add (paid, paid, team->surcharge);
    mpq_mul (value, value, paid);
    mpq_set_ui (paid, 1, 1);
    mpq_add (paid, paid, team->overhead);
    mpq_mul (value, value, paid);
    mpq_clear (paid);
}

/* --- hours that are rounded up -------------------------------------------- */

static bool rounds (const site_rate_t *rate)
{
    return rate && rate->round_hours > 0
           && rate->round_hours_by != ROUND_BY_JOB;
}

/* Those of the account or team at the rate; NULL: none yet. */
static struct rounded *find_rounded (const charge_t *charge,
                                     const site_rate_t *rate, const char *team,
                                     const char *account)
{
    team = charge_payer_name (charge, team);
    if (team && rate->round_hours_by == ROUND_BY_MONTH)
        account = NULL;
    for (size_t i = 0; i < charge->rounded_count; i++) {
        struct rounded *r = &charge->rounded[i];
        if (r->rate == rate && charge_compare_texts (r->team, team) == 0
            && charge_compare_texts (r->account, account) == 0)
            return r;
    }
    return NULL;
}

static void add_rounded (charge_t *charge, const struct entry *entry)
{
    const site_rate_t *rate = entry->price.rate;
    const char *team = charge_payer_name (
        charge, charge_path_team (charge, entry->line.path));
    const char *account = entry->line.path[0];
    struct rounded *r = find_rounded (charge, rate, team, account);

    if (!r) {
        charge->rounded
            = xreallocarray (charge->rounded, charge->rounded_count + 1,
                             sizeof (*charge->rounded));
        r = &charge->rounded[charge->rounded_count++];
        if (team && rate->round_hours_by == ROUND_BY_MONTH)
            account = NULL;
        *r = (struct rounded){
            .rate = rate, .team = xstrdup (team), .account = xstrdup (account)};
        mpq_init (r->seconds);
    }
    exact_add (r->seconds, entry->line.price_seconds);
}

void charge_free_rounded (charge_t *charge)
{
    for (size_t i = 0; i < charge->rounded_count; i++) {
        mpq_clear (charge->rounded[i].seconds);
        free (charge->rounded[i].team);
        free (charge->rounded[i].account);
    }
    free (GL_TAKE (charge->rounded));
    charge->rounded_count = 0;
}

bool charge_rounding (const charge_t *charge, const rate_card_price_t *price,
                      const char *team, const char *account, mpq_t ret_factor)
{
    const struct rounded *r
        = rounds (price->rate)
              ? find_rounded (charge, price->rate, team, account)
              : NULL;

    mpq_set_ui (ret_factor, 1, 1);
    if (!r || mpq_sgn (r->seconds) <= 0)
        return false;
    exact_set_i64 (ret_factor, 1, price->rate->round_hours);
    mpq_mul (ret_factor, ret_factor, r->seconds);
    mpz_cdiv_q (mpq_numref (ret_factor), mpq_numref (ret_factor),
                mpq_denref (ret_factor));
    mpz_set_ui (mpq_denref (ret_factor), 1);
    mpz_mul_si (mpq_numref (ret_factor), mpq_numref (ret_factor),
                price->rate->round_hours);
    mpq_div (ret_factor, ret_factor, r->seconds);
    return mpq_cmp_ui (ret_factor, 1, 1) != 0;
}

static bool shares_tiers (const charge_t *charge)
{
    for (size_t i = 0; i < charge->site->rate_count; i++)
        if (strcmp (charge->site->rates[i].pool, charge->pool) == 0
            && charge->site->rates[i].tiers_pools.count > 0)
            return true;
    return false;
}

/* What payers are billed beyond their entitlements, at the list prices of rates. */
static void list_billed (charge_t *charge)
{
    mpq_t billed, part;

    mpq_inits (billed, part, NULL);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        charge_payer_t *payer = payer_of (charge, entry);
        if (entry->line.kind != CHARGE_USED || !entry->price.rate)
            continue;
        mpq_mul (billed, entry->line.price_seconds,
                 rate_list_price (entry->price.rate));
        charge_apply_rule (billed, entry->price.rule);
        charge_consumed_part (payer, part);
        exact_add_scaled (payer->listed, billed, 1, 3600);
        mpq_mul (billed, billed, part);
        exact_add_scaled (payer->listed, billed, -1, 3600);
    }
    mpq_clears (billed, part, NULL);
}

void charge_find_payers (charge_t *charge)
{
    charge_payer_t *payer = NULL;
    mpq_t billed;

    charge_find_entitled (charge);
    mpq_init (billed);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        if (i == 0 || !same_payer (charge, entry, entry - 1))
            payer = payer_of (charge, entry);
        if (entry->line.kind != CHARGE_USED)
            continue;
        if (rounds (entry->price.rate))
            add_rounded (charge, entry);
        mpq_set (billed, entry->line.price_seconds);
        charge_apply_rule (billed, entry->price.rule);
        exact_add (payer->billed, billed);
    }
    mpq_clear (billed);
    charge_draw_entitled (charge);
    if (shares_tiers (charge))
        list_billed (charge);
}

/* --- tiers -------------------------------------------------------------- */

/* The price that holds at a position, and up to where; false: without end. */
static bool tier_at (const site_rate_t *rate, mpq_srcptr position,
                     mpq_srcptr *ret_price, mpq_srcptr *ret_until)
{
    size_t next = 0;

    while (next < rate->tier_count
           && mpq_cmp (rate->tiers[next].above, position) <= 0)
        next++;
    *ret_price = next ? rate->tiers[next - 1].per_gpu_hour : rate->per_gpu_hour;
    if (next == rate->tier_count)
        return false;
    *ret_until = rate->tiers[next].above;
    return true;
}

/* What `hours` from `position` on cost, each at the price of its tier. The
 * position moves with the hours, or with what they cost. */
static void walk_tiers (const site_rate_t *rate, mpq_t position, mpq_t hours,
                        mpq_t ret_amount)
{
    bool by_spend = rate->tiers_by == TIERS_BY_SPEND;
    mpq_srcptr price, until;
    mpq_t step;

    mpq_init (step);
    while (mpq_sgn (hours) > 0) {
        mpq_set (step, hours);
        if (tier_at (rate, position, &price, &until)
            && (!by_spend || mpq_sgn (price) > 0)) {
            mpq_sub (step, until, position);
            if (by_spend)
                mpq_div (step, step, price);
            if (mpq_cmp (step, hours) > 0)
                mpq_set (step, hours);
        }
        mpq_sub (hours, hours, step);
        if (!by_spend)
            mpq_add (position, position, step);
        mpq_mul (step, step, price);
        if (by_spend)
            mpq_add (position, position, step);
        mpq_add (ret_amount, ret_amount, step);
    }
    mpq_clear (step);
}

/* Of several pools: their hours too, or hours that cost what is billed of all. The
 * prices of all are in proportion, and so t is the same for each. */
static void add_others (const charge_payer_t *payer, const site_rate_t *rate,
                        mpq_t position, mpq_t hours)
{
    if (rate->tiers_by == TIERS_BY_SPEND) {
        mpq_add (position, position, payer->others_before);
        mpq_add (hours, payer->listed, payer->others);
        mpq_div (hours, hours, rate_list_price (rate));
    } else {
        exact_add_scaled (position, payer->others_before, 1, 3600);
        exact_add_scaled (hours, payer->others, 1, 3600);
    }
}

/* t: the mean marginal price of what the payer is billed in the month, for each
 * unit of the rate's own price. */
static void tier_factor (const charge_payer_t *payer, const site_rate_t *rate,
                         mpq_t ret_factor)
{
    mpq_srcptr price;
    mpq_t position, hours, base;

    mpq_set_ui (ret_factor, 1, 1);
    if (!rate || rate->tier_count == 0
        || mpq_cmp (payer->billed, payer->drawn) <= 0)
        return;
    price = rate_list_price (rate);
    if (mpq_sgn (price) <= 0)
        return;
    mpq_inits (position, hours, base, NULL);
    mpq_sub (base, payer->billed, payer->drawn);
    exact_add_scaled (hours, base, 1, 3600);
    if (rate->tiers_by == TIERS_BY_SPEND)
        mpq_set (position, payer->before_spent);
    else
        exact_add_scaled (position, payer->before_billed, 1, 3600);
    if (rate->tiers_pools.count > 0)
        add_others (payer, rate, position, hours);
    mpq_mul (base, hours, price);
    mpq_set_ui (ret_factor, 0, 1);
    walk_tiers (rate, position, hours, ret_factor);
    mpq_div (ret_factor, ret_factor, base);
    mpq_clears (position, hours, base, NULL);
}

/* --- factors ------------------------------------------------------------ */

/* left x (by - 1) is the adjustment; left x by is left. */
static void adjust (mpq_t factor[ADJUSTMENT_COUNT], adjustment_id_t id,
                    mpq_t left, mpq_srcptr by)
{
    mpq_t after;

    if (mpq_cmp_ui (by, 1, 1) == 0)
        return;
    mpq_init (after);
    mpq_mul (after, left, by);
    mpq_sub (factor[id], after, left);
    mpq_set (left, after);
    mpq_clear (after);
}

static void adjust_less (mpq_t factor[ADJUSTMENT_COUNT], adjustment_id_t id,
                         mpq_t left, mpq_srcptr part)
{
    mpq_t by;

    mpq_init (by);
    mpq_set_ui (by, 1, 1);
    mpq_sub (by, by, part);
    adjust (factor, id, left, by);
    mpq_clear (by);
}

static void adjust_entitled (const charge_payer_t *payer,
                             mpq_t factor[ADJUSTMENT_COUNT], mpq_t left)
{
    mpq_t part;

    mpq_init (part);
    if (charge_consumed_part (payer, part))
        adjust_less (factor, ADJUSTMENT_ENTITLEMENT, left, part);
    mpq_clear (part);
}

static void adjust_tier (const charge_payer_t *payer, const site_rate_t *rate,
                         mpq_t factor[ADJUSTMENT_COUNT], mpq_t left)
{
    mpq_t by;

    mpq_init (by);
    tier_factor (payer, rate, by);
    adjust (factor, ADJUSTMENT_TIER, left, by);
    mpq_clear (by);
}

static void adjust_external (const site_team_t *team,
                             mpq_t factor[ADJUSTMENT_COUNT], mpq_t left)
{
    mpq_t by;

    mpq_init (by);
    mpq_set_ui (by, 1, 1);
    charge_apply_team (by, team);
    adjust (factor, ADJUSTMENT_SURCHARGE, left, by);
    mpq_clear (by);
}

/* Of whom a line is: what reduces its price. */
typedef enum {
    LINE_USED,     /* time allocated to jobs: everything */
    LINE_RESERVED, /* reserved time that draws on an entitlement: that */
    LINE_OTHER,    /* the surcharge alone */
} line_of_t;

static void find_factors (const rate_card_price_t *price,
                          const charge_payer_t *payer, line_of_t of,
                          mpq_t factor[ADJUSTMENT_COUNT])
{
    mpq_t left;

    mpq_init (left);
    mpq_set_ui (left, 1, 1);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_set_ui (factor[i], 0, 1);
    if (of == LINE_USED && price->rule) {
        adjust (factor, ADJUSTMENT_QOS, left, price->rule->multiplier);
        adjust_less (factor, ADJUSTMENT_SUBSIDY, left, price->rule->subsidy);
    }
    if (of != LINE_OTHER && payer)
        adjust_entitled (payer, factor, left);
    if (of == LINE_USED && payer)
        adjust_tier (payer, price->rate, factor, left);
    adjust_external (price->team, factor, left);
    mpq_clear (left);
}

void charge_factors (const charge_t *charge, const rate_card_price_t *price,
                     const char *team, const char *account,
                     mpq_t ret_factor[ADJUSTMENT_COUNT])
{
    const char *name = charge_payer_name (charge, team);

    find_factors (price, find_payer (charge, name, account), LINE_USED,
                  ret_factor);
}

void charge_per_second (const charge_t *charge, const rate_card_price_t *price,
                        const char *team, const char *account, mpq_t ret_amount)
{
    mpq_t factor[ADJUSTMENT_COUNT], left;

    mpq_init (left);
    mpq_set_ui (left, 1, 3600);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_init (factor[i]);
    charge_factors (charge, price, team, account, factor);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++) {
        exact_add_scaled (left, factor[i], 1, 3600);
        mpq_clear (factor[i]);
    }
    mpq_mul (ret_amount, left,
             price->rate ? rate_list_price (price->rate) : charge->full);
    if (charge_rounding (charge, price, team, account, left))
        mpq_mul (ret_amount, ret_amount, left);
    mpq_clear (left);
}

/* --- entries ------------------------------------------------------------ */

/* Of a second: at full cost, and what it cost; of time allocated to jobs with what use
 * causes. */
struct rates {
    mpq_t full[2]; /* [1]: allocated to jobs */
    mpq_t cost[2];
};

static void rates_init (struct rates *rates, const charge_t *charge)
{
    mpq_inits (rates->full[0], rates->full[1], rates->cost[0], rates->cost[1],
               NULL);
    mpq_set (rates->full[0], charge->full);
    mpq_add (rates->full[1], charge->full, charge->full_used);
    mpq_set (rates->cost[0], charge->owned);
    mpq_add (rates->cost[1], charge->owned, charge->used);
}

static void rates_clear (struct rates *rates)
{
    mpq_clears (rates->full[0], rates->full[1], rates->cost[0], rates->cost[1],
                NULL);
}

/* Whole hours of all that is rounded up together. */
static void round_list (const charge_t *charge, const struct entry *entry,
                        mpq_t list)
{
    mpq_t factor;

    mpq_init (factor);
    if (entry->line.kind == CHARGE_USED
        && charge_rounding (charge, &entry->price,
                            charge_path_team (charge, entry->line.path),
                            entry->line.path[0], factor))
        mpq_mul (list, list, factor);
    mpq_clear (factor);
}

/* The list price, and the cost. */
static void set_list (const charge_t *charge, const struct rates *rates,
                      struct entry *entry)
{
    charge_line_t *line = &entry->line;
    bool used = line->kind == CHARGE_USED;

    mpq_mul (line->cost, rates->cost[used], line->gpu_seconds);
    if (entry->bought)
        return;
    if (entry->at_cost)
        mpq_set (line->list, line->cost);
    else if (entry->price.rate) {
        exact_set_i64 (line->list, 1, 3600);
        mpq_mul (line->list, line->list, line->price_seconds);
        mpq_mul (line->list, line->list, rate_list_price (entry->price.rate));
        if (rounds (entry->price.rate))
            round_list (charge, entry, line->list);
    } else
        mpq_mul (line->list, rates->full[used], line->price_seconds);
}

static void set_charge (charge_line_t *line, const mpq_t factor[ADJUSTMENT_COUNT])
{
    mpq_set (line->charge, line->list);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++) {
        if (mpq_sgn (factor[i]) == 0)
            continue; /* most have none, and adding costs a common divisor */
        mpq_mul (line->adjustment[i], line->list, factor[i]);
        exact_add (line->charge, line->adjustment[i]);
    }
}

static line_of_t line_of (const charge_t *charge, const struct entry *entry)
{
    if (entry->line.kind == CHARGE_USED)
        return LINE_USED;
    return charge_reserved_draws (charge) && !entry->at_cost ? LINE_RESERVED
                                                             : LINE_OTHER;
}

/* GPU-seconds that the line draws: its part of the payer's. */
static void set_drawn (const charge_payer_t *payer, line_of_t of,
                       const rate_card_price_t *price, charge_line_t *line)
{
    if (of == LINE_OTHER || !charge_consumed_part (payer, line->drawn))
        return;
    mpq_mul (line->drawn, line->drawn, line->price_seconds);
    if (of == LINE_USED)
        charge_apply_rule (line->drawn, price->rule);
}

static void owe (charge_payer_t *payer, const charge_line_t *line)
{
    mpq_srcptr surcharge = line->adjustment[ADJUSTMENT_SURCHARGE];

    if (line->kind != CHARGE_USED)
        return;
    exact_gather (payer->spent, line->charge);
    if (mpq_sgn (surcharge) != 0)
        mpq_sub (payer->spent, payer->spent, surcharge);
}

static bool is_published (const struct entry *entry)
{
    return entry->bought || (entry->price.rate && !entry->at_cost);
}

void charge_price_entries (charge_t *charge)
{
    charge_payer_t *payer = NULL;
    mpq_t factor[ADJUSTMENT_COUNT];
    struct rates rates;

    rates_init (&rates, charge);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_init (factor[i]);
    for (size_t i = 0; i < charge->count; i++) {
        struct entry *entry = &charge->entries[i];
        charge_line_t *line = &entry->line;
        bool same = i > 0 && same_payer (charge, entry, entry - 1);
        line_of_t of = line_of (charge, entry);
        if (!same)
            payer = payer_of (charge, entry);
        if (!same || line_of (charge, entry - 1) != of
            || !charge_same_price (&entry[-1].price, &entry->price))
            find_factors (&entry->price, payer, of, factor);
        set_drawn (payer, of, &entry->price, line);
        set_list (charge, &rates, entry);
        entry->published = is_published (entry);
        set_charge (line, (const mpq_t *)factor);
        owe (payer, line);
    }
    rates_clear (&rates);
    for (size_t i = 0; i < charge->payer_count; i++)
        mpq_canonicalize (charge->payers[i].spent);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_clear (factor[i]);
}
