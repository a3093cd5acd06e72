/* What has to hold of any pool-month under any policies: made-up sites with
 * rates, tiers, rules of QOS, entitlements, external teams and reservations.
 * $CHARGE_SEEDS of them (1500), from $CHARGE_FROM (1) on. */
#include <stdio.h>
#include <stdlib.h>

#include "support/book.h"

#include "money/charge.h"

#define LENGTH (CHARGE_TEAM + 2) /* and a day */
#define LINES_MAX 16
#define NAMES 4

static const char *const teams[NAMES] = {"t0", "t1", "t2", NULL};
static const char *const accounts[NAMES] = {"a0", "a1", "a2", "a3"};
static const char *const users[NAMES] = {"u0", "u1", "u2", NULL};
static const char *const words[NAMES] = {"low", "free", "high", NULL};
static const char *const days[NAMES] = {"d0", "d1", "d2", "d3"};

struct line {
    const char *path[LENGTH];
    uint64_t seconds;
    fraction_t quantity, price;
};

struct world {
    uint64_t seed;
    site_t *site;
    capacity_sum_t capacity;
    struct line line[LINES_MAX];
    size_t count;
    mpq_t reserved; /* of reserved_unused, for a0 */
    mpq_t billed, spent; /* by t0, in earlier months */
    mpq_t carried;       /* of t0's entitlement, from the last one */
    mpq_t worth;         /* what was paid for that */
};

static uint64_t below (struct world *w, uint64_t limit)
{
    return book_random (&w->seed, limit);
}

static void number (struct world *w, mpq_t value, uint64_t limit, int64_t den)
{
    exact_set_i64 (value, (int64_t)below (w, limit), den);
}

/* --- worlds ------------------------------------------------------------- */

static char *some_word (struct world *w)
{
    return xstrdup (below (w, 2) ? words[below (w, NAMES)] : NULL);
}

static void make_rates (struct world *w)
{
    site_t *site = w->site;

    for (uint64_t i = below (w, 3); i > 0; i--) {
        site_rate_t *rate
            = book_rate (site, "p", i == 1 ? NULL : "high", "1", MIG_MAX);
        uint64_t above = 0;
        rate->tiers_by = below (w, 2) ? TIERS_BY_SPEND : TIERS_BY_GPU_HOURS;
        if (rate->tiers_by == TIERS_BY_SPEND || below (w, 3))
            exact_set_i64 (rate->per_gpu_hour, 1 + (int64_t)below (w, 9999),
                           1000);
        else
            mpq_set_ui (rate->per_gpu_hour, 0, 1);
        for (uint64_t k = below (w, 4); k > 0; k--) {
            site_tier_t *tier = BOOK_NEW (rate->tiers, rate->tier_count);
            mpq_inits (tier->above, tier->per_gpu_hour, NULL);
            above += 1 + below (w, 900);
            exact_set_i64 (tier->above, (int64_t)above, 1);
            number (w, tier->per_gpu_hour, 9999, 1000);
        }
    }
    for (uint64_t i = below (w, 4); i > 0; i--) {
        char *qos = some_word (w);
        site_rate_t *rate = book_rate (site, "p", qos, "1", MIG_MAX);
        free (qos);
        rate->partition = some_word (w);
        rate->class = some_word (w);
        rate->plan = some_word (w);
        number (w, rate->per_gpu_hour, 9999, 1000);
    }
    for (size_t i = 0; i < NAMES - 1; i++) {
        site_qos_t *qos = BOOK_NEW (site->qos, site->qos_count);
        qos->name = xstrdup (words[i]);
        qos->valid = book_always;
        mpq_inits (qos->multiplier, qos->subsidy, NULL);
        number (w, qos->multiplier, 300, 100);
        number (w, qos->subsidy, 101, 100);
    }
}

static void make_teams (struct world *w)
{
    site_t *site = w->site;

    for (size_t i = 0; i < NAMES - 1; i++) {
        site_team_t *team = BOOK_NEW (site->teams, site->team_count);
        site_entitlement_t *e;
        team->name = xstrdup (teams[i]);
        team->valid = book_always;
        team->class = some_word (w);
        team->plan = some_word (w);
        mpq_inits (team->surcharge, team->overhead, NULL);
        if (below (w, 3) == 0) {
            exact_set_i64 (team->surcharge, (int64_t)below (w, 80) - 40, 100);
            number (w, team->overhead, 40, 100);
        }
        if (below (w, 2))
            continue;
        e = BOOK_NEW (site->entitlements, site->entitlement_count);
        e->team = xstrdup (teams[i]);
        e->pool = xstrdup ("p");
        e->valid = book_always;
        mpq_inits (e->gpus, e->share, e->gpu_hours, e->carry_cap,
                   e->per_gpu_hour, e->per_month, NULL);
        if (below (w, 3) == 0)
            exact_set_i64 (below (w, 2) ? e->per_gpu_hour : e->per_month,
                           1 + (int64_t)below (w, 99999), 1000);
        if (below (w, 3) == 0)
            e->valid.start = book_instant (site, 2026, 11,
                                           1 + (int)below (w, 6), 5);
        e->unused = below (w, 2) ? UNUSED_CARRIED : UNUSED_EXPIRES;
        if (e->unused == UNUSED_CARRIED && below (w, 2))
            number (w, e->carry_cap, 500, 7);
        exact_set_i64 (below (w, 2) ? e->gpus : e->gpu_hours,
                       1 + (int64_t)below (w, 700), 3);
    }
}

static void make_lines (struct world *w)
{
    static const fraction_t weights[][2] = {
        {{1, 1}, {1, 1}}, {{1, 7}, {1, 4}}, {{3, 7}, {1, 2}}, {{4, 7}, {4, 7}}};

    w->count = below (w, LINES_MAX + 1);
    for (size_t i = 0; i < w->count; i++) {
        struct line *line = &w->line[i];
        size_t weight = below (w, GL_ARRAY_SIZE (weights));
        size_t who = below (w, NAMES);
        mpq_t held;
        memset (line, 0, sizeof (*line));
        line->path[0] = accounts[who];
        line->path[1] = "lab";
        line->path[2] = users[below (w, NAMES)];
        line->path[4] = words[below (w, NAMES)];
        line->path[5] = words[below (w, NAMES)];
        line->path[CHARGE_TEAM] = teams[who];
        line->path[CHARGE_TEAM + 1] = days[below (w, NAMES)];
        line->seconds = 1 + below (w, 3000000);
        line->quantity = weights[weight][0];
        line->price = weights[weight][1];
        mpq_init (held);
        exact_set_i64 (held, (int64_t)line->seconds * line->quantity.num,
                       line->quantity.den);
        mpq_add (w->capacity.allocated, w->capacity.allocated, held);
        mpq_clear (held);
    }
}

static void make_class (struct world *w, mpq_t value)
{
    if (below (w, 2))
        number (w, value, 9000000, 1 + (int64_t)below (w, 8));
    mpq_add (w->capacity.capacity, w->capacity.capacity, value);
}

static void make_capacity (struct world *w)
{
    capacity_sum_t *sum = &w->capacity;

    mpq_set (sum->capacity, sum->allocated);
    make_class (w, sum->reserved_unused);
    make_class (w, sum->idle);
    make_class (w, sum->planned_down);
    make_class (w, sum->down);
    make_class (w, sum->unknown);
    mpq_div_2exp (sum->stranded, sum->idle, 2);
    mpq_div_2exp (sum->cpu_stranded, sum->idle, 3);
    if (below (w, 2))
        mpq_div_2exp (w->reserved, sum->reserved_unused, below (w, 3));
}

/* In two worlds of three; in one of them nothing else costs anything. */
static void make_costs_by_use (struct world *w)
{
    uint64_t which = below (w, 3);
    site_cost_t *cost;

    if (which == 0)
        return;
    cost = book_cost (w->site, "p", "fabric", "0", COST_PER_GPU_HOUR);
    exact_set_i64 (cost->amount, 1 + (int64_t)below (w, 9999),
                   1 + (int64_t)below (w, 999));
    if (which == 1)
        mpq_set_ui (w->site->costs[0].amount, 0, 1);
}

static void make (struct world *w, uint64_t seed)
{
    static const int digits[] = {2, 2, 0, 3};

    memset (w, 0, sizeof (*w));
    w->seed = seed * 2685821657736338717ull + 1;
    w->site = book_new ("UTC");
    w->site->currency_digits = digits[below (w, 4)];
    w->site->policy.reserved = below (w, RESERVED_ENTITLEMENT + 1);
    w->site->policy.idle = IDLE_EXPLICIT + below (w, IDLE_NONE);
    book_pool (w->site, "p", "n1", 8);
    exact_set_i64 (book_cost (w->site, "p", "c", "0", COST_PER_MONTH)->amount,
                   (int64_t)below (w, 99999999), 1 + (int64_t)below (w, 999));
    capacity_sum_init (&w->capacity);
    mpq_inits (w->reserved, w->billed, w->spent, w->carried,
               w->worth, NULL);
    number (w, w->billed, 4000000, 1);
    number (w, w->spent, 4000, 1);
    number (w, w->carried, 900000, 11);
    if (below (w, 2))
        number (w, w->worth, 90000, 13);
    make_rates (w);
    make_teams (w);
    make_lines (w);
    make_capacity (w);
    make_costs_by_use (w);
}

static void unmake (struct world *w)
{
    capacity_sum_clear (&w->capacity);
    mpq_clears (w->reserved, w->billed, w->spent, w->carried,
               w->worth, NULL);
    site_free (w->site);
}

/* --- asking ------------------------------------------------------------- */

struct asking {
    bool days;     /* the path goes down to days */
    bool backward; /* the last line first */
    bool thirds;   /* each line in two parts */
    const char *without; /* a team that nobody is of; NULL: none */
    const char *only;    /* an account that alone has used the pool; NULL: all */
};

static rate_card_price_t price_of (const struct world *w,
                                   const char *const *path)
{
    return rate_card_price (
        w->site,
        (rate_subject_t){.pool = "p",
                         .qos = path[4],
                         .partition = path[5],
                         .team = path[CHARGE_TEAM],
                         .instant = book_instant (w->site, 2026, 11, 1, 0)});
}

static void add_line (charge_t *charge, const struct world *w,
                      const struct line *line, struct asking asking,
                      uint64_t seconds)
{
    const char *path[LENGTH];
    rate_card_price_t price;
    mpq_t q, p;

    memcpy (path, line->path, sizeof (path));
    if (asking.without && path[CHARGE_TEAM]
        && !strcmp (path[CHARGE_TEAM], asking.without))
        path[CHARGE_TEAM] = NULL;
    price = price_of (w, path);
    mpq_inits (q, p, NULL);
    exact_set_i64 (q, (int64_t)seconds * line->quantity.num,
                   line->quantity.den);
    exact_set_i64 (p, (int64_t)seconds * line->price.num, line->price.den);
    charge_add (charge, path, q, p, &price);
    mpq_clears (q, p, NULL);
}

static charge_t *ask (const struct world *w, struct asking asking)
{
    static const size_t levels[] = {1, CHARGE_PATH_COUNT, CHARGE_TEAM + 1,
                                    CHARGE_TEAM + 2};
    const char *stretch[LENGTH] = {NULL};
    charge_payer_t before = {.team = teams[0]};
    gl_error_t error;
    charge_t *charge = charge_new (
        w->site, "p", book_month (w->site, 2026, 11), &w->capacity, NULL,
        levels, asking.days ? 4 : 3, &error);

    if (!charge)
        fail_msg ("%s", error.text);
    for (size_t i = 0; i < w->count; i++) {
        const struct line *line
            = &w->line[asking.backward ? w->count - 1 - i : i];
        uint64_t third = asking.thirds ? line->seconds / 3 : 0;
        if (asking.only && strcmp (line->path[0], asking.only) != 0)
            continue;
        add_line (charge, w, line, asking, line->seconds - third);
        if (third)
            add_line (charge, w, line, asking, third);
    }
    for (size_t i = 0; i < NAMES; i++) {
        stretch[CHARGE_TEAM + 1] = days[i];
        charge_add_stretch (charge, stretch, 1793491200 + (int64_t)i * 86400,
                            86400);
    }
    if (mpq_sgn (w->reserved) > 0)
        charge_add_reserved (charge, "lab", accounts[0], teams[0],
                             w->reserved);
    mpq_inits (before.billed, before.drawn, before.spent, before.rollover_out,
               before.value_out, NULL);
    mpq_set (before.rollover_out, w->carried);
    mpq_set (before.value_out, w->worth);
    mpq_set (before.billed, w->billed);
    mpq_set (before.spent, w->spent);
    charge_add_before (charge, &before);
    charge_carry (charge, &before);
    mpq_clears (before.billed, before.drawn, before.spent, before.rollover_out,
                before.value_out, NULL);
    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
    return charge;
}

/* --- what has to hold --------------------------------------------------- */

/* Costs and charges of lines and remainders are the cost of the pool, exactly
 * and in smallest units; and list + adjustments = due, in both. */
static void check_sums (const charge_t *charge)
{
    const charge_remainder_t *rest = charge_remainders (charge);
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    mpq_t cost, due, one;
    mpz_t cost_units, due_units, units;

    mpq_inits (cost, due, one, NULL);
    mpz_inits (cost_units, due_units, units, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpq_add (cost, cost, rest[i].cost);
        mpq_add (due, due, rest[i].charge);
        mpz_add (cost_units, cost_units, rest[i].cost_units);
        mpz_add (due_units, due_units, rest[i].charge_units);
    }
    for (size_t i = 0; i < count; i++) {
        mpq_add (cost, cost, line[i].cost);
        mpq_add (due, due, line[i].charge);
        mpz_add (cost_units, cost_units, line[i].cost_units);
        mpz_add (due_units, due_units, line[i].charge_units);
        mpq_set (one, line[i].list);
        mpz_set (units, line[i].list_units);
        for (size_t k = 0; k < ADJUSTMENT_COUNT; k++) {
            mpq_add (one, one, line[i].adjustment[k]);
            mpz_add (units, units, line[i].adjustment_units[k]);
        }
        assert_true (mpq_equal (one, line[i].charge));
        assert_int_equal (mpz_cmp (units, line[i].charge_units), 0);
        assert_true (mpq_sgn (line[i].charge) >= 0);
        assert_true (mpz_sgn (line[i].charge_units) >= 0);
    }
    assert_true (mpq_equal (cost, charge_cost (charge)->total));
    assert_true (mpq_equal (due, charge_cost (charge)->total));
    assert_int_equal (mpz_cmp (cost_units, charge_total (charge)), 0);
    assert_int_equal (mpz_cmp (due_units, charge_total (charge)), 0);
    mpq_clears (cost, due, one, NULL);
    mpz_clears (cost_units, due_units, units, NULL);
}

/* Costs by use are borne by allocated time alone, whatever else there is: what
 * no job held bears none of them, and without other costs, nothing. */
static void check_costs_by_use (const charge_t *charge, const struct world *w)
{
    static const remainder_id_t free_time[]
        = {REMAINDER_IDLE, REMAINDER_STRANDED, REMAINDER_CPU_STRANDED,
           REMAINDER_RESERVED_UNUSED, REMAINDER_PLANNED_DOWN, REMAINDER_DOWN,
           REMAINDER_UNKNOWN};
    const charge_remainder_t *rest = charge_remainders (charge);
    const capacity_sum_t *capacity = charge_capacity (charge);
    mpq_t use, expected;

    if (w->site->cost_count < 2)
        return;
    mpq_inits (use, expected, NULL);
    exact_add_scaled (use, capacity->allocated, 1, 3600);
    mpq_mul (use, use, w->site->costs[1].amount);
    assert_true (mpq_equal (use, charge_cost (charge)->by_use));
    if (mpq_sgn (capacity->allocated) > 0)
        assert_true (mpq_equal (charge_use_rate (charge),
                                w->site->costs[1].amount));
    for (size_t i = 0; i < GL_ARRAY_SIZE (free_time); i++) {
        if (mpq_sgn (capacity->capacity) > 0) {
            mpq_sub (expected, charge_cost (charge)->total, use);
            mpq_div (expected, expected, capacity->capacity);
            mpq_mul (expected, expected, rest[free_time[i]].gpu_seconds);
        } else
            mpq_set_ui (expected, 0, 1);
        assert_true (mpq_equal (expected, rest[free_time[i]].cost));
    }
    mpq_clears (use, expected, NULL);
}

/* What an adjustment takes from all lines is its remainder, to the unit. */
static void check_adjustments (const charge_t *charge)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    mpz_t sum;

    mpz_init (sum);
    for (int k = 0; k < ADJUSTMENT_COUNT; k++) {
        const adjustment_info_t *info = adjustment_info ((adjustment_id_t)k);
        mpz_set (sum,
                 charge_remainders (charge)[info->remainder].charge_units);
        for (size_t i = 0; i < count; i++)
            mpz_add (sum, sum, line[i].adjustment_units[k]);
        assert_int_equal (mpz_sgn (sum), 0);
    }
    mpz_clear (sum);
}

/* What is had is drawn, carried on or gone; and what is drawn stands on lines. */
static void check_entitled (const charge_t *charge)
{
    size_t count, payer_count;
    const charge_line_t *line = charge_lines (charge, &count);
    const charge_payer_t *payer = charge_payers (charge, &payer_count);
    mpq_t left, lines;

    mpq_inits (left, lines, NULL);
    for (size_t i = 0; i < payer_count; i++) {
        const charge_payer_t *p = &payer[i];
        mpq_set_ui (lines, 0, 1);
        for (size_t k = 0; p->team && k < count; k++)
            if (line[k].path[CHARGE_TEAM]
                && !strcmp (line[k].path[CHARGE_TEAM], p->team))
                mpq_add (lines, lines, line[k].drawn);
        mpq_sub (lines, lines, p->drawn);
        mpq_sub (lines, lines, p->consumed_reserved);
        assert_int_equal (mpq_sgn (lines), 0);
        mpq_add (left, p->entitled, p->rollover_in);
        mpq_sub (left, left, p->drawn);
        mpq_sub (left, left, p->consumed_reserved);
        assert_true (mpq_equal (left, p->unused));
        assert_true (mpq_sgn (p->unused) >= 0);
        mpq_sub (left, left, p->rollover_out);
        mpq_sub (left, left, p->expired);
        assert_int_equal (mpq_sgn (left), 0);
        assert_true (mpq_sgn (p->rollover_out) >= 0);
        assert_true (mpq_sgn (p->expired) >= 0);
    }
    mpq_clears (left, lines, NULL);
}

/* What is paid is the purchases of the team; with what was carried in it is used,
 * carried on or gone, and nothing of it is negative. */
static void check_values (const charge_t *charge)
{
    size_t count, payer_count;
    const charge_line_t *line = charge_lines (charge, &count);
    const charge_payer_t *payer = charge_payers (charge, &payer_count);
    mpq_t left, list;

    mpq_inits (left, list, NULL);
    for (size_t i = 0; i < payer_count; i++) {
        const charge_payer_t *p = &payer[i];
        mpq_srcptr parts[] = {p->value_consumed, p->value_reserved,
                              p->value_out, p->value_expired};
        mpq_add (left, p->fee, p->value_in);
        for (size_t k = 0; k < GL_ARRAY_SIZE (parts); k++) {
            assert_true (mpq_sgn (parts[k]) >= 0);
            mpq_sub (left, left, parts[k]);
        }
        assert_int_equal (mpq_sgn (left), 0);
        mpq_set (left, p->fee);
        for (size_t k = 0; p->team && k < count; k++)
            if (line[k].kind == CHARGE_PURCHASE
                && !strcmp (line[k].path[CHARGE_TEAM], p->team))
                mpq_sub (left, left, line[k].charge);
        assert_int_equal (mpq_sgn (left), 0);
    }
    for (size_t k = 0; k < count; k++)
        if (line[k].kind == CHARGE_PURCHASE)
            mpq_add (list, list, line[k].list);
    mpq_add (list, list, charge_remainders (charge)[REMAINDER_PREPAID].charge);
    assert_int_equal (mpq_sgn (list), 0);
    mpq_clears (left, list, NULL);
}

static bool same (const char *a, const char *b)
{
    return a && b ? !strcmp (a, b) : a == b;
}

static bool same_line (const charge_line_t *a, const charge_line_t *b,
                       size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!same (a->path[i], b->path[i]))
            return false;
    return a->kind == b->kind && same (a->what, b->what);
}

/* The finer lines of each coarser one add up to it, in every amount. */
static void check_refines (const charge_t *fine, const charge_t *coarse,
                           size_t length)
{
    size_t count, fine_count, used = 0;
    const charge_line_t *whole = charge_lines (coarse, &count);
    const charge_line_t *part = charge_lines (fine, &fine_count);
    mpz_t due, list;

    mpz_inits (due, list, NULL);
    for (size_t i = 0; i < count; i++) {
        mpz_set (due, whole[i].charge_units);
        mpz_set (list, whole[i].list_units);
        for (size_t k = 0; k < fine_count; k++) {
            if (!same_line (&whole[i], &part[k], length))
                continue;
            mpz_sub (due, due, part[k].charge_units);
            mpz_sub (list, list, part[k].list_units);
            used++;
        }
        assert_int_equal (mpz_sgn (due), 0);
        assert_int_equal (mpz_sgn (list), 0);
    }
    assert_int_equal (used, fine_count);
    mpz_clears (due, list, NULL);
}

/* Used time of each path but the team. */
static void check_usage (const charge_t *a, const charge_t *b)
{
    size_t count, other_count;
    const charge_line_t *line = charge_lines (a, &count);
    const charge_line_t *other = charge_lines (b, &other_count);
    mpq_t left;

    mpq_init (left);
    for (size_t i = 0; i < count; i++) {
        if (line[i].kind != CHARGE_USED)
            continue;
        mpq_set (left, line[i].gpu_seconds);
        for (size_t k = 0; k < other_count; k++)
            if (same_line (&line[i], &other[k], CHARGE_PATH_COUNT))
                mpq_sub (left, left, other[k].gpu_seconds);
        assert_int_equal (mpq_sgn (left), 0);
    }
    mpq_clear (left);
}

/* Nobody's price depends on who paid for whom: same terms, same list price for
 * an hour, whatever the team. */
static void check_list_prices (const charge_t *charge, const struct world *w)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    mpq_t expected;

    mpq_init (expected);
    for (size_t i = 0; i < count; i++) {
        rate_card_price_t price = price_of (w, line[i].path);
        if (line[i].kind != CHARGE_USED)
            continue;
        mpq_set (expected, price.rate ? rate_list_price (price.rate)
                                      : charge_full_rate (charge));
        mpq_mul (expected, expected, line[i].price_seconds);
        mpz_mul_ui (mpq_denref (expected), mpq_denref (expected), 3600);
        mpq_canonicalize (expected);
        assert_true (mpq_equal (expected, line[i].list));
    }
    mpq_clear (expected);
}

static bool is_published (const charge_line_t *line, const struct world *w)
{
    return line->kind == CHARGE_PURCHASE
           || (line->kind == CHARGE_USED && price_of (w, line->path).rate);
}

static void check_rounded (const struct world *w, const mpz_t units,
                           const mpq_t exact)
{
    mpz_t expected;

    mpz_init (expected);
    exact_round (expected, exact, w->site->currency_digits);
    assert_int_equal (mpz_cmp (expected, units), 0);
    mpz_clear (expected);
}

/* Quantity x price, each line rounded by itself; and equal use, equal charge. */
static void check_published (const charge_t *charge, const struct world *w)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    for (size_t i = 0; i < count; i++) {
        if (!is_published (&line[i], w))
            continue;
        check_rounded (w, line[i].list_units, line[i].list);
        check_rounded (w, line[i].charge_units, line[i].charge);
        for (size_t k = 0; k < i; k++)
            if (mpq_equal (line[i].charge, line[k].charge)
                && is_published (&line[k], w))
                assert_int_equal (mpz_cmp (line[i].charge_units,
                                           line[k].charge_units),
                                  0);
    }
}

/* What an account of a team pays under published prices is what it would pay had
 * nobody else used the pool. */
static void check_promise (const charge_t *charge, const charge_t *alone,
                           const char *account, const struct world *w)
{
    size_t count, alone_count, found = 0, expected = 0;
    const charge_line_t *line = charge_lines (charge, &count);
    const charge_line_t *other = charge_lines (alone, &alone_count);

    for (size_t i = 0; i < count; i++) {
        if (line[i].kind != CHARGE_USED || strcmp (line[i].path[0], account) != 0
            || !is_published (&line[i], w))
            continue;
        expected++;
        for (size_t k = 0; k < alone_count; k++) {
            if (!same_line (&line[i], &other[k], CHARGE_TEAM + 1))
                continue;
            found++;
            assert_int_equal (
                mpz_cmp (line[i].charge_units, other[k].charge_units), 0);
            for (size_t a = 0; a < ADJUSTMENT_COUNT; a++)
                assert_int_equal (mpz_cmp (line[i].adjustment_units[a],
                                           other[k].adjustment_units[a]),
                                  0);
        }
    }
    assert_int_equal (found, expected);
}

static void check_world (uint64_t seed)
{
    struct world w;
    charge_t *lines, *by_day, *backward, *split, *fewer, *alone;

    make (&w, seed);
    lines = ask (&w, (struct asking){0});
    by_day = ask (&w, (struct asking){.days = true});
    backward = ask (&w, (struct asking){.backward = true});
    split = ask (&w, (struct asking){.thirds = true});
    fewer = ask (&w, (struct asking){.without = teams[1]});
    alone = ask (&w, (struct asking){.only = accounts[seed % NAMES]});
    check_sums (alone);
    check_published (lines, &w);
    check_published (fewer, &w);
    check_promise (lines, alone, accounts[seed % NAMES], &w);
    check_sums (lines);
    check_sums (by_day);
    check_sums (fewer);
    check_costs_by_use (lines, &w);
    check_costs_by_use (by_day, &w);
    check_adjustments (by_day);
    check_entitled (lines);
    check_entitled (by_day);
    check_entitled (fewer);
    check_values (lines);
    check_values (by_day);
    check_values (fewer);
    check_list_prices (lines, &w);
    check_refines (by_day, lines, CHARGE_TEAM + 1);
    check_refines (backward, lines, CHARGE_TEAM + 1);
    check_refines (split, lines, CHARGE_TEAM + 1);
    check_usage (lines, fewer);
    charge_free (lines);
    charge_free (by_day);
    charge_free (backward);
    charge_free (split);
    charge_free (fewer);
    charge_free (alone);
    unmake (&w);
}

static uint64_t setting (const char *name, uint64_t value)
{
    const char *text = getenv (name);

    return text && *text ? strtoull (text, NULL, 10) : value;
}

TEST_CASE (any_policies__any_month__add_up_and_do_not_depend_on_the_asking)
{
    uint64_t from = setting ("CHARGE_FROM", 1);
    uint64_t count = setting ("CHARGE_SEEDS", 1500);

    for (uint64_t seed = from; seed < from + count; seed++) {
        check_world (seed);
    }
}

TEST_MAIN (NULL, NULL)
