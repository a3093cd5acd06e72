/* The months of a cost add up to what it costs: of an asset to its price, of an amount
 * a year to that amount, whatever its dates, pools and funds. Sums are of what bills
 * have: each pool's month in whole cents. */
#include "money/cost.h"
#include "support/book.h"

#define ASSETS 2000
#define COSTS 2000
#define STAFF 400

static const char *const pools[] = {"p", "q", "r"};
static const char *const funds[] = {"award", "college", "dean"};
static const char *const zones[]
    = {"America/New_York", "Europe/Oslo", "Australia/Lord_Howe",
       "America/Santiago", "UTC"};

struct world {
    site_t *site;
    cost_inputs_t inputs;
    uint64_t seed;
    mpq_t full;     /* of all pools and months so far, disposals among them */
    mpq_t by_fund[GL_ARRAY_SIZE (funds)];
    mpq_t recoverable;
};

static uint64_t chance (struct world *w, uint64_t below)
{
    return book_random (&w->seed, below);
}

static void world_new (struct world *w, int i)
{
    w->site = book_new (zones[i % (int)GL_ARRAY_SIZE (zones)]);
    w->site->policy.book = chance (w, 2) ? BOOK_FULL : BOOK_RECOVERABLE;
    w->site->policy.disposal = chance (w, 2) ? DISPOSAL_APART
                                             : DISPOSAL_IN_RATE;
    for (size_t k = 0; k < GL_ARRAY_SIZE (pools); k++)
        book_pool (w->site, pools[k], "n[1-3]", 4);
    book_fund (w->site, funds[0], "25%");
    for (size_t k = 1; k < GL_ARRAY_SIZE (funds); k++)
        book_fund (w->site, funds[k], "1");
    w->inputs = (cost_inputs_t){.count = 0};
    mpq_inits (w->full, w->recoverable, NULL);
    for (size_t k = 0; k < GL_ARRAY_SIZE (funds); k++)
        mpq_init (w->by_fund[k]);
}

static void world_free (struct world *w)
{
    cost_inputs_clear (&w->inputs);
    site_free (w->site);
    mpq_clears (w->full, w->recoverable, NULL);
    for (size_t k = 0; k < GL_ARRAY_SIZE (funds); k++)
        mpq_clear (w->by_fund[k]);
}

/* ---- chances ---- */

static void chance_cents (struct world *w, uint64_t below, mpq_t ret)
{
    exact_set_i64 (ret, 1 + (int64_t)chance (w, below), 100);
}

/* Shares in hundredths of a percent, which are 100 % together. */
static void chance_shares (struct world *w, share_list_t *list,
                           const char *const *names, size_t count)
{
    int64_t left = 10000;

    for (size_t k = 0; k < count; k++) {
        site_share_t *part = BOOK_NEW (list->item, list->count);
        int64_t share = k + 1 == count ? left
                                       : (int64_t)chance (w, (uint64_t)left);
        part->name = xstrdup (names[k]);
        mpq_init (part->share);
        exact_set_i64 (part->share, share, 10000);
        left -= share;
    }
}

static void chance_funding (struct world *w, share_list_t *funding,
                            mpq_t recoverable)
{
    if (chance (w, 2))
        chance_shares (w, funding, funds, GL_ARRAY_SIZE (funds));
    else if (chance (w, 2))
        exact_set_i64 (recoverable, (int64_t)chance (w, 101), 100);
}

static civil_t chance_day (struct world *w)
{
    return calendar_civil_of_day (18000 + (int64_t)chance (w, 3000));
}

/* ---- sums ---- */

static void add_cents (mpq_t sum, mpq_srcptr amount)
{
    mpq_t cents;
    mpz_t units;

    mpq_init (cents);
    mpz_init (units);
    exact_round (units, amount, 2);
    mpz_set (mpq_numref (cents), units);
    mpz_set_ui (mpq_denref (cents), 100);
    mpq_canonicalize (cents);
    mpq_add (sum, sum, cents);
    mpz_clear (units);
    mpq_clear (cents);
}

static void add_lines (struct world *w, const cost_line_t *line, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < GL_ARRAY_SIZE (funds); k++)
            if (line[i].fund && !strcmp (line[i].fund, funds[k]))
                add_cents (w->by_fund[k], line[i].amount);
}

static void add_month (struct world *w, period_t month, const char *kind)
{
    gl_error_t error;
    cost_t cost;

    cost_init (&cost);
    for (size_t k = 0; k < GL_ARRAY_SIZE (pools); k++) {
        if (cost_of_pool (w->site, pools[k], month, &w->inputs, &cost, &error)
            < 0)
            fail_msg ("%s", error.text);
        for (size_t i = 0; i < cost.count; i++)
            if (!kind || !strcmp (cost.line[i].name, kind))
                add_lines (w, &cost.line[i], 1);
        for (size_t i = 0; kind && i < cost.count; i++)
            if (!strcmp (cost.line[i].name, kind))
                add_cents (w->full, cost.line[i].amount);
        if (kind)
            continue;
        add_lines (w, cost.apart, cost.apart_count);
        add_cents (w->full, cost.full);
        add_cents (w->full, cost.disposal);
        add_cents (w->recoverable, cost.recoverable);
    }
    cost_clear (&cost);
}

/* The calendar months that the days touch, one after another. */
static void add_months (struct world *w, civil_t first, civil_t last,
                        const char *kind)
{
    int64_t end = zone_instant (w->site->zone, &last);
    period_t month = zone_unit (w->site->zone, CALENDAR_MONTH,
                                zone_instant (w->site->zone, &first));

    for (; month.start <= end;
         month = zone_unit (w->site->zone, CALENDAR_MONTH, month.end))
        add_month (w, month, kind);
}

static void check_sum (const mpq_t sum, const mpq_t expected, const char *what,
                       int i)
{
    char *a = exact_text (sum, 4), *b = exact_text (expected, 4);

    if (!mpq_equal (sum, expected))
        fail_msg ("%s %d: the months are %s, and it is %s", what, i, a, b);
    free (a);
    free (b);
}

/* Each within a cent of its share, in each pool. */
static void check_funds (const struct world *w, const share_list_t *funding,
                         const mpq_t whole, const char *what, int i)
{
    mpq_t part;

    mpq_init (part);
    for (size_t k = 0; k < funding->count; k++) {
        mpq_mul (part, whole, funding->item[k].share);
        mpq_sub (part, part, w->by_fund[k]);
        mpq_abs (part, part);
        if (mpq_cmp_si (part, GL_ARRAY_SIZE (pools), 100) > 0)
            fail_msg ("%s %d: what fund %s pays differs", what, i, funds[k]);
    }
    mpq_clear (part);
}

/* ---- assets ---- */

static void chance_moves (struct world *w, site_asset_t *asset)
{
    int64_t at = calendar_day_number (asset->in_service.year,
                                      asset->in_service.month,
                                      asset->in_service.day);

    for (uint64_t n = chance (w, 4); n > 0; n--) {
        site_asset_change_t *change
            = BOOK_NEW (asset->changes, asset->change_count);
        at += 1 + (int64_t)chance (w, 300);
        change->from = calendar_civil_of_day (at);
        change->pool = xstrdup (pools[chance (w, 3)]);
        mpq_inits (change->salvage, change->expected_gpu_hours, NULL);
        if (chance (w, 4) == 0)
            change->life_months = asset->life_months + 12;
    }
}

static site_asset_t *chance_asset (struct world *w, mpq_t expected,
                                   civil_t *ret_last)
{
    site_asset_t *asset = book_asset (w->site, pools[chance (w, 3)], "1", "0",
                                      "0", chance_day (w),
                                      1 + (int)chance (w, 60));
    int days = asset->life_months * 31 + 400;

    chance_cents (w, 100000000, asset->price);
    exact_set_i64 (asset->units, 1 + (int64_t)chance (w, 20), 1);
    if (chance (w, 2))
        exact_add_scaled (asset->salvage, asset->price,
                          (int64_t)chance (w, 40), 100);
    asset->method = (depreciation_t)chance (w, 3);
    chance_funding (w, &asset->funding, asset->recoverable);
    chance_moves (w, asset);
    mpq_sub (expected, asset->price, asset->salvage);
    if (chance (w, 3) == 0) {
        asset->retired = asset->change_count
                             ? asset->changes[asset->change_count - 1].from
                             : asset->in_service;
        *ret_last = asset->retired = calendar_civil_of_day (
            calendar_day_number (asset->retired.year, asset->retired.month,
                                 asset->retired.day)
            + 1 + (int64_t)chance (w, 700));
        chance_cents (w, 1000000, asset->proceeds);
        mpq_sub (expected, asset->price, asset->proceeds);
    } else
        *ret_last = calendar_civil_of_day (
            calendar_day_number (asset->in_service.year,
                                 asset->in_service.month, asset->in_service.day)
            + days);
    mpq_mul (expected, expected, asset->units);
    return asset;
}

TEST_CASE (months_of_an_asset__its_price_less_salvage)
{
    struct world w = {.seed = 88172645463325252ull};
    mpq_t expected;

    mpq_init (expected);
    for (int i = 0; i < ASSETS; i++) {
        site_asset_t *asset;
        civil_t last;
        world_new (&w, i);
        asset = chance_asset (&w, expected, &last);
        add_months (&w, asset->in_service, last, NULL);
        check_funds (&w, &asset->funding, expected, "asset", i);
        book_cents (expected);
        check_sum (w.full, expected, "asset", i);
        if (asset->funding.count == 0 && !asset->retired.year) {
            mpq_mul (expected, w.full, asset->recoverable);
            book_cents (expected);
            mpq_sub (expected, expected, w.recoverable);
            mpq_abs (expected, expected);
            assert_true (mpq_cmp_si (expected, 1, 100) <= 0);
        }
        world_free (&w);
    }
    mpq_clear (expected);
}

/* ---- amounts by month and year ---- */

/* Every pool in every month of the years that chance_day() gives, and after. */
static void chance_inputs (struct world *w, civil_t first, int months)
{
    first.day = 1;
    for (int m = 0; m <= months; m++, first = civil_add_months (first, 1)) {
        for (size_t k = 0; k < GL_ARRAY_SIZE (pools); k++) {
            cost_use_t *use = cost_inputs_add (
                &w->inputs, pools[k],
                book_month (w->site, first.year, first.month));
            exact_set_i64 (use->allocated, 60 * (int64_t)chance (w, 9999), 1);
            exact_set_i64 (use->capacity, 1000000, 1);
            use->jobs = chance (w, 3) ? chance (w, 20) : 0;
        }
    }
}

static site_cost_t *chance_cost (struct world *w)
{
    bool yearly = chance (w, 2);
    site_cost_t *cost
        = book_cost (w->site, pools[chance (w, 3)], "cost", "0",
                     yearly ? COST_PER_YEAR : COST_PER_MONTH);

    chance_cents (w, 100000000, cost->amount);
    chance_funding (w, &cost->funding, cost->recoverable);
    if (chance (w, 2)) {
        free (cost->pool);
        cost->pool = NULL;
        cost->share_by = (cost_share_t)chance (w, 5);
        if (cost->share_by == SHARE_BY_ENERGY)
            cost->share_by = SHARE_FIXED;
        chance_shares (w, &cost->pools, pools, GL_ARRAY_SIZE (pools));
    }
    return cost;
}

static void amount_of_months (const site_cost_t *cost, int months, mpq_t ret)
{
    mpq_set_ui (ret, 0, 1);
    exact_add_scaled (ret, cost->amount, months,
                      cost->driver == COST_PER_YEAR ? 12 : 1);
}

/* From an odd date to the same date of a later month, whatever lies between. */
TEST_CASE (months_of_a_contract__its_amount)
{
    struct world w = {.seed = 1442695040888963407ull};
    mpq_t expected;

    mpq_init (expected);
    for (int i = 0; i < COSTS; i++) {
        int months = 1 + (int)chance (&w, 40);
        civil_t first, end;
        site_cost_t *cost;
        if (i % 2)
            months = 12 * (1 + months / 12);
        world_new (&w, i);
        first = chance_day (&w);
        end = civil_add_months (first, months);
        cost = chance_cost (&w);
        cost->valid = (period_t){zone_instant (w.site->zone, &first),
                                 zone_instant (w.site->zone, &end)};
        chance_inputs (&w, first, months);
        add_months (&w, first, end, NULL);
        amount_of_months (cost, months, expected);
        check_funds (&w, &cost->funding, expected, "cost", i);
        book_cents (expected);
        check_sum (w.full, expected, "cost", i);
        world_free (&w);
    }
    mpq_clear (expected);
}

/* Without an end, and without a beginning: any twelve full months. */
TEST_CASE (any_year_of_a_cost__its_amount)
{
    struct world w = {.seed = 2862933555777941757ull};
    mpq_t expected;

    mpq_init (expected);
    for (int i = 0; i < COSTS / 3; i++) {
        civil_t first, last;
        site_cost_t *cost;
        world_new (&w, i);
        first = chance_day (&w);
        cost = chance_cost (&w);
        if (chance (&w, 2))
            cost->valid.start = zone_instant (w.site->zone, &first);
        first = civil_add_months (first, 1 + (int)chance (&w, 30));
        first.day = 1;
        chance_inputs (&w, first, 12);
        last = civil_add_months (first, 11);
        add_months (&w, first, last, NULL);
        amount_of_months (cost, 12, expected);
        check_sum (w.full, expected, "year", i);
        world_free (&w);
    }
    mpq_clear (expected);
}

/* An amount of which another follows: each by itself, and so both. */
TEST_CASE (a_new_amount_from_a_date__each_adds_up)
{
    struct world w = {.seed = 4242};
    mpq_t expected, one;

    mpq_inits (expected, one, NULL);
    for (int i = 0; i < COSTS / 3; i++) {
        civil_t first, change, end;
        site_cost_t *cost;
        world_new (&w, i);
        first = chance_day (&w);
        change = civil_add_months (first, 1 + (int)chance (&w, 20));
        end = civil_add_months (change, 12);
        for (int k = 0; k < 2; k++) {
            cost = chance_cost (&w);
            cost->valid.start
                = zone_instant (w.site->zone, k ? &change : &first);
            cost->valid.end = zone_instant (w.site->zone, k ? &end : &change);
        }
        chance_inputs (&w, first, 40);
        add_months (&w, first, end, NULL);
        amount_of_months (&w.site->costs[0],
                          (change.year - first.year) * 12 + change.month
                              - first.month,
                          expected);
        amount_of_months (&w.site->costs[1], 12, one);
        book_cents (expected);
        book_cents (one);
        mpq_add (expected, expected, one);
        check_sum (w.full, expected, "two amounts", i);
        world_free (&w);
    }
    mpq_clears (expected, one, NULL);
}

/* ---- people, and fees of tariffs ---- */

/* Twelve months, or where no month has an hour more or less, a year from any date on
 * but one of February, whose days differ. */
TEST_CASE (a_year_of_staff__is_what_people_cost)
{
    struct world w = {.seed = 777};
    mpq_t expected;

    mpq_init (expected);
    for (int i = 0; i < STAFF; i++) {
        civil_t first, end;
        site_staff_t *staff;
        world_new (&w, i);
        do
            first = chance_day (&w);
        while (first.month == 2);
        if (strcmp (zones[i % (int)GL_ARRAY_SIZE (zones)], "UTC") != 0)
            first.day = 1;
        end = civil_add_months (first, 12);
        staff = book_staff (w.site, pools[chance (&w, 3)], "1", "0", "100%");
        exact_set_i64 (staff->fte, 1 + (int64_t)chance (&w, 40), 8);
        chance_cents (&w, 30000000, staff->loaded_salary);
        chance_funding (&w, &staff->funding, staff->recoverable);
        staff->valid = (period_t){zone_instant (w.site->zone, &first),
                                  zone_instant (w.site->zone, &end)};
        add_months (&w, first, end, NULL);
        mpq_mul (expected, staff->fte, staff->loaded_salary);
        check_funds (&w, &staff->funding, expected, "staff", i);
        book_cents (expected);
        check_sum (w.full, expected, "staff", i);
        world_free (&w);
    }
    mpq_clear (expected);
}

TEST_CASE (fees_of_a_tariff__are_what_it_says)
{
    struct world w = {.seed = 31337};
    mpq_t expected;

    mpq_init (expected);
    for (int i = 0; i < STAFF; i++) {
        int months = 1 + (int)chance (&w, 24);
        civil_t first, end;
        site_tariff_t *tariff;
        world_new (&w, i);
        w.site->policy.book = BOOK_FULL;
        first = chance_day (&w);
        end = civil_add_months (first, months);
        tariff = book_tariff (w.site, "grid", "0.11");
        exact_set_i64 (tariff->fixed_per_month, (int64_t)chance (&w, 1000000),
                       1200);
        chance_funding (&w, &tariff->funding, tariff->recoverable);
        tariff->valid = (period_t){zone_instant (w.site->zone, &first),
                                   zone_instant (w.site->zone, &end)};
        for (size_t k = 0; k < GL_ARRAY_SIZE (pools); k++) {
            site_power_t *power
                = book_power (w.site, pools[k], "0", "1.2", "grid");
            power->valid = tariff->valid;
            exact_set_i64 (power->watts_per_gpu, 1 + (int64_t)chance (&w, 700),
                           1);
        }
        add_months (&w, first, end, "power fee");
        mpq_set_ui (expected, 0, 1);
        exact_add_scaled (expected, tariff->fixed_per_month, months, 1);
        book_cents (expected);
        check_sum (w.full, expected, "fee", i);
        world_free (&w);
    }
    mpq_clear (expected);
}

/* ---- as published ---- */

static void check_year (const char *amount, cost_driver_t driver, int months,
                        const char *expected)
{
    struct world w = {.seed = 1};
    civil_t first = {2026, 1, 1, 0, 0, 0}, last;

    world_new (&w, 0);
    book_cost (w.site, "p", "cost", amount, driver);
    last = civil_add_months (first, months - 1);
    add_months (&w, first, last, NULL);
    book_check (w.full, 2, expected);
    world_free (&w);
}

TEST_CASE (books__of_round_amounts__are_round)
{
    struct world w = {.seed = 1};
    civil_t first = {2026, 1, 1, 0, 0, 0}, last = {2028, 12, 1, 0, 0, 0};

    check_year ("500000", COST_PER_YEAR, 12, "500000.00");
    check_year ("100", COST_PER_YEAR, 1, "8.33");
    check_year ("100", COST_PER_YEAR, 12, "100.00");
    check_year ("0.01", COST_PER_YEAR, 36, "0.03");
    check_year ("1500", COST_PER_MONTH, 12, "18000.00");
    world_new (&w, 0);
    book_asset (w.site, "p", "1", "10000", "0", first, 36);
    add_months (&w, first, last, NULL);
    book_check (w.full, 2, "10000.00");
    world_free (&w);
}

/* Two funds of a third and two: what is not recoverable adds up as well. */
TEST_CASE (lines_of_an_entry__add_up_in_each_month)
{
    struct world w = {.seed = 1};
    site_cost_t *entry;
    gl_error_t error;
    cost_t cost;

    world_new (&w, 0);
    w.site->policy.book = BOOK_RECOVERABLE;
    entry = book_cost (w.site, "p", "cost", "100.01", COST_PER_YEAR);
    book_funding (&entry->funding, "award", "0.3333");
    book_funding (&entry->funding, "dean", "0.6667");
    cost_init (&cost);
    for (int month = 1; month <= 12; month++) {
        mpq_t sum;
        if (cost_of_pool (w.site, "p", book_month (w.site, 2026, month), NULL,
                          &cost, &error)
            < 0)
            fail_msg ("%s", error.text);
        mpq_init (sum);
        for (size_t i = 0; i < cost.count; i++)
            add_cents (sum, cost.line[i].amount);
        for (size_t i = 0; i < cost.apart_count; i++)
            add_cents (sum, cost.apart[i].amount);
        assert_true (mpq_equal (sum, cost.full));
        mpq_add (w.full, w.full, sum);
        mpq_clear (sum);
    }
    book_check (w.full, 2, "100.01");
    cost_clear (&cost);
    world_free (&w);
}

TEST_MAIN (NULL, NULL)
