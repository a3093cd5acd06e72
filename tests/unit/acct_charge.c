#include <stdio.h>

#include "support/book.h"

#include "money/charge.h"

/* ---- hand-made months ---- */

struct hours {
    int allocated, reserved, idle, planned, down, unknown, stranded;
};

static void add_hours (mpq_t value, int hours)
{
    exact_set_i64 (value, hours * INT64_C (3600), 1);
}

static void fill_capacity (capacity_sum_t *sum, struct hours h)
{
    capacity_sum_init (sum);
    add_hours (sum->allocated, h.allocated);
    add_hours (sum->reserved_unused, h.reserved);
    add_hours (sum->idle, h.idle);
    add_hours (sum->planned_down, h.planned);
    add_hours (sum->down, h.down);
    add_hours (sum->unknown, h.unknown);
    add_hours (sum->stranded, h.stranded);
    add_hours (sum->capacity, h.allocated + h.reserved + h.idle + h.planned +
                                  h.down + h.unknown);
}

static charge_t *start (const site_t *site, struct hours hours)
{
    static const size_t levels[] = {1, 2};
    period_t month = book_month (site, 2026, 11);
    capacity_sum_t capacity;
    gl_error_t error;
    charge_t *charge;

    fill_capacity (&capacity, hours);
    charge = charge_new (site, "p", month, &capacity, NULL, levels, 2, &error);
    if (!charge)
        fail_msg ("%s", error.text);
    capacity_sum_clear (&capacity);
    return charge;
}

/* Hours in the ratio num/den of quantity and of price. */
static void add (charge_t *charge, const char *account, const char *line,
                 int hours, fraction_t quantity, fraction_t price,
                 const site_rate_t *rate)
{
    const char *const path[] = {account, line};
    mpq_t q, p;

    mpq_inits (q, p, NULL);
    exact_set_i64 (q, hours * INT64_C (3600) * quantity.num, quantity.den);
    exact_set_i64 (p, hours * INT64_C (3600) * price.num, price.den);
    charge_add (charge, path, q, p, &(rate_card_price_t){.rate = rate});
    mpq_clears (q, p, NULL);
}

static const fraction_t one = {1, 1};

static void compute (charge_t *charge)
{
    gl_error_t error;

    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
}

static void check_units (const mpz_t units, const char *expected)
{
    char *text = exact_units_text (units, 2);

    assert_string_equal (text, expected);
    free (text);
}

static void check_line (const charge_t *charge, size_t i, const char *account,
                        const char *cost, const char *amount)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    assert_in_range (i, 0, count - 1);
    assert_string_equal (line[i].path[0], account);
    check_units (line[i].cost_units, cost);
    check_units (line[i].charge_units, amount);
}

static void check_rest (const charge_t *charge, remainder_id_t id,
                        const char *cost, const char *amount)
{
    const charge_remainder_t *rest = &charge_remainders (charge)[id];

    check_units (rest->cost_units, cost);
    check_units (rest->charge_units, amount);
}

/* 64 x 24,906.2363... x 30 / 365, the month of docs/guides/rates.md. */
static site_t *section_8 (idle_policy_t idle)
{
    site_t *site = book_new ("UTC");
    site_cost_t *cost;

    site->policy.idle = idle;
    book_pool (site, "p", "n[1-8]", 8);
    cost = book_cost (site, "p", "all", "0", COST_PER_MONTH);
    /* 17,708 1/3 + 5,859.375 + 637.728 + 700.8, by 3,000 */
    exact_set_i64 (cost->amount, INT64_C (74718709) * 64 * 30, 3000 * 365);
    return site;
}

TEST_CASE (charge__the_published_month_explicit__as_published)
{
    site_t *site = section_8 (IDLE_EXPLICIT);
    charge_t *charge = start (site, (struct hours){.allocated = 32256,
                                                   .reserved = 2304,
                                                   .idle = 9680,
                                                   .down = 1840});

    add (charge, "A", "x", 20000, one, one, NULL);
    add (charge, "B", "x", 12256, one, one, NULL);
    compute (charge);
    check_units (charge_total (charge), "131013.63");
    book_check (charge_owned_rate (charge), 4, "2.8432");
    book_check (charge_full_rate (charge), 4, "2.8432");
    check_line (charge, 0, "A", "56863.55", "56863.55");
    check_line (charge, 1, "B", "34845.99", "34845.99");
    check_rest (charge, REMAINDER_RESERVED_UNUSED, "6550.68", "6550.68");
    check_rest (charge, REMAINDER_IDLE, "27521.96", "27521.96");
    check_rest (charge, REMAINDER_DOWN, "5231.45", "5231.45");
    check_rest (charge, REMAINDER_MIG, "0.00", "0.00");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (charge__the_published_month_in_rate__as_published)
{
    site_t *site = section_8 (IDLE_IN_RATE);
    charge_t *charge = start (site, (struct hours){.allocated = 32256,
                                                   .reserved = 2304,
                                                   .idle = 9680,
                                                   .down = 1840});

    add (charge, "B", "x", 12256, one, one, NULL);
    add (charge, "A", "x", 20000, one, one, NULL);
    compute (charge);
    book_check (charge_full_rate (charge), 4, "4.0617");
    check_line (charge, 0, "A", "56863.55", "81233.65");
    check_line (charge, 1, "B", "34845.99", "49779.98");
    check_rest (charge, REMAINDER_IDLE, "27521.96", "0.00");
    charge_free (charge);
    site_free (site);
}

static site_t *priced (const char *amount)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n1", 1);
    book_cost (site, "p", "all", amount, COST_PER_MONTH);
    return site;
}

/* ---- costs by use ---- */

/* 2.74 for each GPU hour, and what else the pool costs in the month. */
static site_t *with_fabric (idle_policy_t idle, const char *else_costs)
{
    site_t *site = priced (else_costs);

    site->policy.idle = idle;
    book_cost (site, "p", "fabric", "2.74", COST_PER_GPU_HOUR);
    return site;
}

/* 44 of 11,520 GPU hours caused 120.56, and nobody else did. */
TEST_CASE (charge__costs_by_use__fall_on_the_time_that_caused_them)
{
    static const idle_policy_t policies[] = {IDLE_EXPLICIT, IDLE_NONE,
                                             IDLE_IN_RATE, IDLE_UNIFORM};

    for (size_t i = 0; i < GL_ARRAY_SIZE (policies); i++) {
        site_t *site = with_fabric (policies[i], "0");
        charge_t *charge = start (
            site, (struct hours){.allocated = 44, .idle = 11000, .unknown = 476});
        add (charge, "A", "x", 40, one, one, NULL);
        add (charge, "B", "x", 4, one, one, NULL);
        compute (charge);
        check_units (charge_total (charge), "120.56");
        check_line (charge, 0, "A", "109.60", "109.60");
        check_line (charge, 1, "B", "10.96", "10.96");
        check_rest (charge, REMAINDER_IDLE, "0.00", "0.00");
        check_rest (charge, REMAINDER_UNKNOWN, "0.00", "0.00");
        book_check (charge_owned_rate (charge), 4, "0.0000");
        book_check (charge_use_rate (charge), 4, "2.7400");
        book_check (charge_full_rate (charge), 4, "2.7400");
        charge_free (charge);
        site_free (site);
    }
}

/* 1,000 hours for 1,000: an owned one costs 1.00, and an allocated one 3.74. */
TEST_CASE (charge__costs_by_use__come_on_top_of_capacity)
{
    site_t *site = with_fabric (IDLE_EXPLICIT, "1000");
    charge_t *charge = start (
        site, (struct hours){.allocated = 100, .idle = 800, .down = 100});

    add (charge, "A", "x", 60, one, one, NULL);
    add (charge, "B", "x", 30, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "224.40", "224.40");
    check_line (charge, 1, "B", "112.20", "112.20");
    check_rest (charge, REMAINDER_UNBILLED, "37.40", "37.40");
    check_rest (charge, REMAINDER_IDLE, "800.00", "800.00");
    check_rest (charge, REMAINDER_DOWN, "100.00", "100.00");
    charge_free (charge);
    site_free (site);
}

/* 1.00 / 80 % + 2.74: no plan of utilization changes what use costs. */
TEST_CASE (charge__costs_by_use__practical_leaves_them_alone)
{
    site_t *site = with_fabric (IDLE_PRACTICAL, "1000");
    charge_t *charge
        = start (site, (struct hours){.allocated = 100, .idle = 900});

    mpq_set_ui (site->policy.utilization, 4, 5);
    add (charge, "A", "x", 100, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "374.00", "399.00");
    check_rest (charge, REMAINDER_CARRIED, "0.00", "-25.00");
    charge_free (charge);
    site_free (site);
}

/* A holder of reserved time pays for capacity alone. */
TEST_CASE (charge__costs_by_use__none_of_them_for_reserved_time)
{
    site_t *site = with_fabric (IDLE_IN_RATE, "1000");
    charge_t *charge = start (
        site, (struct hours){.allocated = 100, .reserved = 100, .idle = 800});
    mpq_t held;

    mpq_init (held);
    add_hours (held, 100);
    add (charge, "A", "x", 100, one, one, NULL);
    charge_add_reserved (charge, NULL, "B", NULL, held);
    compute (charge);
    check_line (charge, 0, "A", "374.00", "774.00");
    check_line (charge, 1, "B", "100.00", "500.00");
    mpq_clear (held);
    charge_free (charge);
    site_free (site);
}

/* Under a published rate the charge stays; what the hours cost does not. */
TEST_CASE (charge__costs_by_use__under_a_rate_are_recovered_or_not)
{
    site_t *site = with_fabric (IDLE_EXPLICIT, "1000");
    const site_rate_t *rate = book_rate (site, "p", NULL, "3", MIG_MAX);
    charge_t *charge
        = start (site, (struct hours){.allocated = 100, .idle = 900});

    add (charge, "A", "x", 100, one, one, rate);
    compute (charge);
    check_line (charge, 0, "A", "374.00", "300.00");
    check_rest (charge, REMAINDER_RECOVERY, "0.00", "74.00");
    check_rest (charge, REMAINDER_IDLE, "900.00", "900.00");
    charge_free (charge);
    site_free (site);
}

/* No GPU is known to be in service: what use causes is known all the same. */
TEST_CASE (charge__costs_by_use__without_capacity_as_well)
{
    site_t *site = with_fabric (IDLE_EXPLICIT, "1000");
    charge_t *charge = start (site, (struct hours){.allocated = 100});
    capacity_sum_t *sum = (capacity_sum_t *)charge_capacity (charge);

    mpq_set_ui (sum->capacity, 0, 1);
    mpq_neg (sum->difference, sum->allocated);
    add (charge, "A", "x", 100, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "274.00", "274.00");
    check_rest (charge, REMAINDER_NO_CAPACITY, "1000.00", "1000.00");
    charge_free (charge);
    site_free (site);
}

/* One GPU cut into 2 x 3g.40gb, 1,000 hours at 3.5540: docs/formats/reports.md.
 * Under compute 1/7 is stranded; under max the slices cost the whole GPU. */
TEST_CASE (charge__two_halves__cost_what_their_price_weight_says)
{
    static const struct {
        fraction_t price;
        const char *a;
        const char *b;
        const char *mig;
    } cases[] = {{{3, 7}, "1523.15", "1523.14", "0.00"},
                 {{1, 2}, "1777.00", "1777.00", "-507.71"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = priced ("3554");
        charge_t *charge = start (site, (struct hours){.idle = 1000});
        capacity_sum_t *sum = (capacity_sum_t *)charge_capacity (charge);
        exact_set_i64 (sum->allocated, INT64_C (3600000) * 6, 7);
        exact_set_i64 (sum->idle, INT64_C (3600000), 7);
        exact_set_i64 (sum->stranded, INT64_C (3600000), 7);
        add (charge, "A", "x", 1000, fraction (3, 7), cases[i].price, NULL);
        add (charge, "B", "x", 1000, fraction (3, 7), cases[i].price, NULL);
        compute (charge);
        check_line (charge, 0, "A", "1523.15", cases[i].a);
        check_line (charge, 1, "B", "1523.14", cases[i].b);
        check_rest (charge, REMAINDER_STRANDED, "507.71", "507.71");
        check_rest (charge, REMAINDER_IDLE, "0.00", "0.00");
        check_rest (charge, REMAINDER_MIG, "0.00", cases[i].mig);
        charge_free (charge);
        site_free (site);
    }
}

/* 4g + 3g under max: 2.0309 + 1.7770 - 0.2539. */
TEST_CASE (charge__four_and_three__give_back_what_they_overpay)
{
    site_t *site = priced ("3554");
    charge_t *charge = start (site, (struct hours){.allocated = 1000});

    add (charge, "A", "4g", 1000, fraction (4, 7), fraction (4, 7), NULL);
    add (charge, "B", "3g", 1000, fraction (3, 7), fraction (1, 2), NULL);
    compute (charge);
    check_line (charge, 0, "A", "2030.86", "2030.86");
    check_line (charge, 1, "B", "1523.14", "1777.00");
    check_rest (charge, REMAINDER_MIG, "0.00", "-253.86");
    charge_free (charge);
    site_free (site);
}

/* 800,000 of expense, 776,000 of revenue: docs/guides/recharge.md. */
TEST_CASE (charge__published_rate__leaves_the_difference)
{
    site_t *site = priced ("800000");
    const site_rate_t *rate = book_rate (site, "p", NULL, "3.88", MIG_MAX);
    charge_t *charge = start (site, (struct hours){.allocated = 200000});

    add (charge, "A", "x", 150000, one, one, rate);
    add (charge, "B", "x", 50000, one, one, rate);
    compute (charge);
    check_line (charge, 0, "A", "600000.00", "582000.00");
    check_line (charge, 1, "B", "200000.00", "194000.00");
    check_rest (charge, REMAINDER_RECOVERY, "0.00", "24000.00");
    charge_free (charge);
    site_free (site);
}

/* Two halves of a GPU at 1.777 each are the same, and the cent that they make more
 * than the whole is nobody's. */
TEST_CASE (charge__published_lines__are_rounded_one_by_one)
{
    site_t *site = priced ("0");
    const site_rate_t *rate = book_rate (site, "p", NULL, "3.5540", MIG_MAX);
    charge_t *charge = start (site, (struct hours){.allocated = 1});

    add (charge, "A", "x", 1, fraction (1, 2), fraction (1, 2), rate);
    add (charge, "B", "x", 1, fraction (1, 2), fraction (1, 2), rate);
    compute (charge);
    check_line (charge, 0, "A", "0.00", "1.78");
    check_line (charge, 1, "B", "0.00", "1.78");
    check_rest (charge, REMAINDER_RECOVERY, "0.00", "-3.55");
    check_rest (charge, REMAINDER_ROUNDING, "0.00", "-0.01");
    charge_free (charge);
    site_free (site);
}

/* 5 hours at 1.803 are 9.015, half to even 9.02, whoever else has used the pool and
 * at whatever price: here 1, 3 and 7 hours at the rate, and hours at cost. */
TEST_CASE (charge__a_published_price__is_a_promise)
{
    static const int others[] = {0, 1, 3, 7};

    for (size_t i = 0; i < GL_ARRAY_SIZE (others); i++)
        for (int at_cost = 0; at_cost < 2; at_cost++) {
            site_t *site = priced ("1234.567");
            const site_rate_t *rate
                = book_rate (site, "p", NULL, "1.803", MIG_MAX);
            charge_t *charge = start (
                site, (struct hours){.allocated = 5 + others[i], .idle = 717});
            add (charge, "A", "x", 5, one, one, rate);
            if (others[i])
                add (charge, "0", "x", others[i], one, one,
                     at_cost ? NULL : rate);
            compute (charge);
            check_units (charge_lines (charge, &(size_t){0})[others[i] ? 1 : 0]
                             .charge_units,
                         "9.02");
            charge_free (charge);
            site_free (site);
        }
}

/* Four equal customers pay the same: 4 x 9.02 for 36.06, and two cents are
 * nobody's. */
TEST_CASE (charge__equal_use_of_a_published_price__equal_bills)
{
    static const char *const accounts[] = {"A", "B", "C", "D"};
    site_t *site = priced ("100");
    const site_rate_t *rate = book_rate (site, "p", NULL, "1.803", MIG_MAX);
    charge_t *charge = start (site, (struct hours){.allocated = 20});

    for (size_t i = 0; i < GL_ARRAY_SIZE (accounts); i++)
        add (charge, accounts[i], "x", 5, one, one, rate);
    compute (charge);
    for (size_t i = 0; i < GL_ARRAY_SIZE (accounts); i++)
        check_line (charge, i, accounts[i], "25.00", "9.02");
    check_rest (charge, REMAINDER_RECOVERY, "0.00", "63.94");
    check_rest (charge, REMAINDER_ROUNDING, "0.00", "-0.02");
    charge_free (charge);
    site_free (site);
}

/* A line that is partly at cost shares the cost, as all of that do. */
TEST_CASE (charge__a_rate_in_the_month__the_line_shares_cost)
{
    site_t *site = priced ("10");
    const site_rate_t *rate = book_rate (site, "p", NULL, "1.803", MIG_MAX);
    charge_t *charge = start (site, (struct hours){.allocated = 10});

    add (charge, "A", "x", 5, one, one, rate);
    add (charge, "A", "x", 5, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "10.00", "14.01");
    check_rest (charge, REMAINDER_ROUNDING, "0.00", "0.00");
    charge_free (charge);
    site_free (site);
}

/* Idle time is stated by class, and over-recovery beside it. */
TEST_CASE (charge__published_rate_with_idle__both_are_stated)
{
    site_t *site = priced ("1000");
    const site_rate_t *rate = book_rate (site, "p", NULL, "3", MIG_MAX);
    charge_t *charge =
        start (site, (struct hours){.allocated = 250, .idle = 750});

    add (charge, "A", "x", 200, one, one, rate);
    add (charge, "B", "x", 50, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "200.00", "600.00");
    check_line (charge, 1, "B", "50.00", "50.00");
    check_rest (charge, REMAINDER_IDLE, "750.00", "750.00");
    check_rest (charge, REMAINDER_RECOVERY, "0.00", "-400.00");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (charge__no_capacity__is_a_remainder_of_its_own)
{
    site_t *site = priced ("1000.01");
    charge_t *charge = start (site, (struct hours){.allocated = 0});

    compute (charge);
    check_rest (charge, REMAINDER_NO_CAPACITY, "1000.01", "1000.01");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (charge__time_no_line_bears__is_stated)
{
    site_t *site = priced ("1000");
    charge_t *charge = start (site, (struct hours){.allocated = 1000});

    add (charge, "A", "x", 900, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "900.00", "900.00");
    check_rest (charge, REMAINDER_UNBILLED, "100.00", "100.00");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (charge__more_held_than_there_is__is_a_negative_rest)
{
    site_t *site = priced ("1000");
    charge_t *charge = start (site, (struct hours){.allocated = 1000});
    capacity_sum_t *sum = (capacity_sum_t *)charge_capacity (charge);

    exact_set_i64 (sum->capacity, INT64_C (3600) * 800, 1);
    exact_set_i64 (sum->difference, INT64_C (3600) * -200, 1);
    add (charge, "A", "x", 1000, one, one, NULL);
    compute (charge);
    check_line (charge, 0, "A", "1250.00", "1250.00");
    check_rest (charge, REMAINDER_EXCESS, "-250.00", "-250.00");
    charge_free (charge);
    site_free (site);
}

/* ---- prices ---- */

TEST_CASE (charge_price__a_qos_of_its_own__goes_before_the_rest)
{
    site_t *site = book_new ("UTC");
    rate_card_price_t price;

    site->policy.mig_price = MIG_COMPUTE;
    book_rate (site, "p", NULL, "3", MIG_MAX)->valid.start = 1000;
    book_rate (site, "p", "low", "1", MIG_MEMORY)->valid.start = 2000;
    price = rate_card_price (
        site, (rate_subject_t){.pool = "p", .qos = "low", .instant = 999});
    assert_null (price.rate);
    assert_int_equal (price.mig_price, MIG_COMPUTE);
    price = rate_card_price (
        site, (rate_subject_t){.pool = "p", .qos = "low", .instant = 1000});
    book_check (price.rate->per_gpu_hour, 0, "3");
    assert_int_equal (price.mig_price, MIG_MAX);
    price = rate_card_price (
        site, (rate_subject_t){.pool = "p", .qos = "low", .instant = 2000});
    book_check (price.rate->per_gpu_hour, 0, "1");
    price = rate_card_price (
        site, (rate_subject_t){.pool = "p", .qos = "high", .instant = 2000});
    book_check (price.rate->per_gpu_hour, 0, "3");
    price = rate_card_price (site,
                             (rate_subject_t){.pool = "p", .instant = 2000});
    book_check (price.rate->per_gpu_hour, 0, "3");
    assert_null (
        rate_card_price (site, (rate_subject_t){.pool = "q", .instant = 2000})
            .rate);
    site_free (site);
}

/* A rate for each set of conditions, priced by its place in the order: plan, class,
 * reservation, partition, QOS, number of GPUs. */
static void add_every_rate (site_t *site, bool backward)
{
    for (unsigned i = 0; i < 64; i++) {
        unsigned mask = backward ? 63 - i : i;
        site_rate_t *rate
            = book_rate (site, "p", mask & 2 ? "q" : NULL, "0", MIG_MAX);
        mpq_set_ui (rate->per_gpu_hour, mask, 1);
        rate->gpus[0] = mask & 1 ? 2 : 0;
        rate->gpus[1] = mask & 1 ? INT64_MAX : 0;
        rate->partition = xstrdup (mask & 4 ? "part" : NULL);
        rate->reservation = xstrdup (mask & 8 ? "r" : NULL);
        rate->class = xstrdup (mask & 16 ? "industry" : NULL);
        rate->plan = xstrdup (mask & 32 ? "gold" : NULL);
    }
}

TEST_CASE (rate_card_price__every_set_of_conditions__first_in_the_order_wins)
{
    for (unsigned i = 0; i < 128; i++) {
        site_t *site = book_new ("UTC");
        unsigned mask = i / 2;
        site_team_t *team = BOOK_NEW (site->teams, site->team_count);
        rate_subject_t of = {.pool = "p",
                             .qos = mask & 2 ? "q" : "other",
                             .partition = mask & 4 ? "part" : NULL,
                             .team = "t",
                             .reservation = mask & 8 ? "r" : NULL,
                             .gpus = mask & 1 ? 4 : 1};
        const site_rate_t *rate;
        mpq_inits (team->surcharge, team->overhead, NULL);
        team->name = xstrdup ("t");
        team->class = xstrdup (mask & 16 ? "industry" : "academic");
        team->plan = xstrdup (mask & 32 ? "gold" : NULL);
        team->valid = book_always;
        add_every_rate (site, i % 2);
        rate = rate_card_price (site, of).rate;
        assert_int_equal (mpq_cmp_ui (rate->per_gpu_hour, mask, 1), 0);
        if (mask == 63) {
            GL_AUTOFREE char *text = rate_conditions (site, rate);
            assert_string_equal (text, "plan gold, class industry, reservation "
                                       "r, partition part, QOS q, 2 or more "
                                       "GPUs");
        }
        site_free (site);
    }
}

TEST_CASE (rate_card_price__numbers_of_gpus__the_one_that_begins_highest)
{
    static const int64_t numbers[][2]
        = {{0, 0}, {2, INT64_MAX}, {3, 6}, {5, INT64_MAX}};
    static const char *const expected[]
        = {"0", "0", "1", "2", "2", "3", "3", "3"};
    site_t *site = book_new ("UTC");

    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++) {
        site_rate_t *rate = book_rate (site, "p", NULL, "0", MIG_MAX);
        mpq_set_ui (rate->per_gpu_hour, i, 1);
        memcpy (rate->gpus, numbers[i], sizeof (rate->gpus));
    }
    for (uint64_t gpus = 0; gpus < GL_ARRAY_SIZE (expected); gpus++)
        book_check (
            rate_card_price (site, (rate_subject_t){.pool = "p", .gpus = gpus})
                .rate->per_gpu_hour,
            0, expected[gpus]);
    site_free (site);
}

TEST_CASE (charge_cuts__rates__cut_where_they_begin_and_end)
{
    site_t *site = book_new ("UTC");
    int64_t *cuts;

    book_rate (site, "p", NULL, "3", MIG_MAX)->valid = (period_t){50, 200};
    book_rate (site, "p", NULL, "4", MIG_MAX)->valid = (period_t){200, 300};
    book_rate (site, "q", NULL, "4", MIG_MAX)->valid =
        (period_t){150, SITE_ALWAYS_END};
    assert_int_equal (rate_card_cuts (site, (period_t){100, 300}, &cuts), 2);
    assert_int_equal (cuts[0], 150);
    assert_int_equal (cuts[1], 200);
    free (cuts);
    site_free (site);
}

/* 3g.40gb: 3/7 of the quantity, 1/2 of the price, at 4.00 an hour. */
TEST_CASE (charge_add_part__a_slice__has_both_weights)
{
    static const char *const path[] = {"A", "x"};
    site_t *site = priced ("1000");
    device_kind_t kind = {.pool = &site->pools[0],
                          .type = "3g.40gb",
                          .profile = "3g.40gb",
                          .weight_known = true,
                          .weight = {3, 7}};
    usage_part_t part = {.kind = &kind, .gres_seconds = 7 * 3600};
    charge_t *charge = start (site, (struct hours){.allocated = 1000});
    const charge_line_t *line;
    gl_error_t error;
    size_t count;

    book_rate (site, "p", "low", "4", MIG_MAX);
    assert_int_equal (charge_add_part (charge, path,
                                       (rate_subject_t){.qos = "low"}, &part,
                                       &error),
                      0);
    kind.weight_known = false;
    assert_int_equal (charge_add_part (charge, path,
                                       (rate_subject_t){.qos = "low"}, &part,
                                       &error),
                      0);
    compute (charge);
    line = charge_lines (charge, &count);
    assert_int_equal (count, 1);
    book_check (line->gpu_seconds, 0, "10800");
    book_check (line->price_seconds, 0, "12600");
    check_units (line->charge_units, "14.00");
    charge_free (charge);
    site_free (site);
}

/* 10 h held, of which 4 were suspended and 3 of these are known when. */
TEST_CASE (charge_add_part__suspended__is_free_only_by_policy)
{
    static const struct {
        suspended_policy_t policy;
        const char *line, *rest, *unbilled;
    } cases[] = {{SUSPENDED_CHARGED, "100.00", "0.00", "0.00"},
                 {SUSPENDED_FREE, "70.00", "30.00", "0.00"}};
    static const char *const path[] = {"A", "x"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = priced ("1000");
        device_kind_t kind = {.pool = &site->pools[0],
                              .type = "h100",
                              .weight_known = true,
                              .weight = {1, 1}};
        usage_part_t part = {.kind = &kind,
                             .gres_seconds = 10 * 3600,
                             .suspended_gres_seconds = 4 * 3600,
                             .placed_gres_seconds = 3 * 3600};
        charge_t *charge = start (site, (struct hours){.allocated = 10,
                                                       .idle = 90});
        gl_error_t error;
        site->policy.suspended = cases[i].policy;
        assert_int_equal (charge_add_part (charge, path,
                                           (rate_subject_t){.qos = NULL}, &part,
                                           &error),
                          0);
        compute (charge);
        check_line (charge, 0, "A", cases[i].line, cases[i].line);
        check_rest (charge, REMAINDER_SUSPENDED, cases[i].rest, cases[i].rest);
        check_rest (charge, REMAINDER_UNBILLED, cases[i].unbilled,
                    cases[i].unbilled);
        check_rest (charge, REMAINDER_IDLE, "900.00", "900.00");
        charge_free (charge);
        site_free (site);
    }
}

/* ---- properties, over made-up months ---- */

#define LINES_MAX 24
#define PATH_LENGTH (CHARGE_TEAM + 3)

struct made_line {
    char text[PATH_LENGTH][4];
    const char *path[PATH_LENGTH]; /* canonical, then team, day, node */
    uint64_t seconds;
    fraction_t quantity;
    fraction_t price;
    const site_rate_t *rate;
};

struct made {
    site_t *site;
    capacity_sum_t capacity;
    struct made_line line[LINES_MAX];
    size_t count;
    mpq_t suspended; /* GPU-seconds that the policy leaves free */
};

static const struct {
    fraction_t quantity;
    fraction_t price;
} weights[] = {
    {{1, 1}, {1, 1}}, {{1, 7}, {1, 7}}, {{1, 7}, {1, 4}},
    {{3, 7}, {1, 2}}, {{4, 7}, {4, 7}}, {{3, 7}, {3, 8}},
};

static void make_line (struct made *made, uint64_t *seed)
{
    struct made_line *line = &made->line[made->count++];
    size_t w = book_random (seed, GL_ARRAY_SIZE (weights));
    mpq_t held;

    for (size_t i = 0; i < PATH_LENGTH; i++) {
        uint64_t value = book_random (seed, i < 2 ? 4 : 3);
        snprintf (line->text[i], sizeof (line->text[i]), "%c%u",
                  (char)('a' + i), (unsigned)value);
        line->path[i] = value ? line->text[i] : NULL;
    }
    line->seconds = book_random (seed, 5000000);
    line->quantity = weights[w].quantity;
    line->price = weights[w].price;
    if (book_random (seed, 3) == 0 && made->site->rate_count)
        line->rate =
            &made->site->rates[book_random (seed, made->site->rate_count)];
    mpq_init (held);
    exact_set_i64 (held, (int64_t)line->seconds * line->quantity.num,
                   line->quantity.den);
    mpq_add (made->capacity.allocated, made->capacity.allocated, held);
    mpq_clear (held);
}

/* Seconds of a class: often none. */
static void make_class (struct made *made, mpq_t value, uint64_t *seed)
{
    uint64_t seconds = book_random (seed, 2) ? book_random (seed, 9000000) : 0;

    exact_set_i64 (value, (int64_t)seconds, 1 + (int64_t)book_random (seed, 8));
    mpq_add (made->capacity.capacity, made->capacity.capacity, value);
}

static void make (struct made *made, uint64_t *seed)
{
    static const int digits[] = {2, 2, 0, 3};
    size_t lines = book_random (seed, LINES_MAX + 1);
    capacity_sum_t *sum = &made->capacity;

    memset (made, 0, sizeof (*made));
    made->site = book_new ("UTC");
    made->site->currency_digits = digits[book_random (seed, 4)];
    made->site->policy.idle =
        book_random (seed, 2) ? IDLE_IN_RATE : IDLE_EXPLICIT;
    book_pool (made->site, "p", "n1", 8);
    exact_set_i64 (
        book_cost (made->site, "p", "c", "0", COST_PER_MONTH)->amount,
        (int64_t)book_random (seed, 99999999),
        1 + (int64_t)book_random (seed, 999));
    for (uint64_t i = book_random (seed, 3); i > 0; i--)
        exact_set_i64 (
            book_rate (made->site, "p", NULL, "0", MIG_MAX)->per_gpu_hour,
            (int64_t)book_random (seed, 9999), 1000);
    capacity_sum_init (sum);
    mpq_init (made->suspended);
    exact_set_i64 (made->suspended, (int64_t)book_random (seed, 900000), 7);
    mpq_set (sum->allocated, made->suspended);
    while (made->count < lines)
        make_line (made, seed);
    mpq_set (sum->capacity, sum->allocated);
    make_class (made, sum->reserved_unused, seed);
    make_class (made, sum->idle, seed);
    make_class (made, sum->planned_down, seed);
    make_class (made, sum->down, seed);
    make_class (made, sum->unknown, seed);
    exact_set_i64 (sum->stranded, (int64_t)book_random (seed, 8), 7);
    if (mpq_cmp (sum->stranded, sum->idle) > 0)
        mpq_set (sum->stranded, sum->idle);
    mpq_sub (sum->cpu_stranded, sum->idle, sum->stranded);
    exact_set_i64 (sum->drained, (int64_t)book_random (seed, 3), 2);
    mpq_mul (sum->cpu_stranded, sum->cpu_stranded, sum->drained);
    mpq_div_2exp (sum->cpu_stranded, sum->cpu_stranded, 1);
}

static void unmake (struct made *made)
{
    capacity_sum_clear (&made->capacity);
    mpq_clear (made->suspended);
    site_free (made->site);
}

/* Which part of the path is asked for, and how the lines are handed over. */
struct asking {
    const size_t *levels;
    size_t level_count;
    bool node;   /* not the day, but the node, after the charge line's path */
    size_t turn; /* hand over from this line on, then around */
    bool halves; /* in two parts each */
};

static void add_made (charge_t *charge, const struct made_line *line,
                      const struct asking *asking, uint64_t seconds)
{
    const char *path[PATH_LENGTH];
    mpq_t q, p;

    memcpy (path, line->path, sizeof (path));
    if (asking->node)
        path[CHARGE_TEAM + 1] = line->path[CHARGE_TEAM + 2];
    mpq_inits (q, p, NULL);
    exact_set_i64 (q, (int64_t)seconds * line->quantity.num,
                   line->quantity.den);
    exact_set_i64 (p, (int64_t)seconds * line->price.num, line->price.den);
    charge_add (charge, path, q, p, &(rate_card_price_t){.rate = line->rate});
    mpq_clears (q, p, NULL);
}

static charge_t *ask (const struct made *made, struct asking asking)
{
    period_t month = book_month (made->site, 2026, 11);
    gl_error_t error;
    charge_t *charge = charge_new (made->site, "p", month, &made->capacity, NULL,
                                   asking.levels, asking.level_count, &error);

    if (!charge)
        fail_msg ("%s", error.text);
    for (size_t i = 0; i < made->count; i++) {
        const struct made_line *line =
            &made->line[(i + asking.turn) % made->count];
        uint64_t half = asking.halves ? line->seconds / 3 : 0;
        add_made (charge, line, &asking, line->seconds - half);
        if (half)
            add_made (charge, line, &asking, half);
    }
    charge_add_suspended (charge, made->suspended);
    compute (charge);
    return charge;
}

/* |units - 10^digits x exact| < 1 */
static void check_near (const mpz_t units, const mpq_t exact, int digits)
{
    mpq_t a, scale;

    mpq_inits (a, scale, NULL);
    mpq_set_z (a, units);
    mpz_ui_pow_ui (mpq_numref (scale), 10, digits);
    mpq_mul (scale, scale, exact);
    mpq_sub (a, a, scale);
    mpq_abs (a, a);
    assert_true (mpq_cmp_ui (a, 1, 1) < 0);
    mpq_clears (a, scale, NULL);
}

/* What it is of published lines is the sum of as many roundings. */
static bool takes_published (size_t remainder)
{
    return remainder == REMAINDER_ROUNDING;
}

/* Both identities, exactly and in smallest units; no negative charge. */
static void check_sums (const charge_t *charge, int digits)
{
    const charge_remainder_t *rest = charge_remainders (charge);
    const mpq_t *total = &charge_cost (charge)->total;
    mpq_t cost, amount;
    mpz_t cost_units, charge_units;
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    mpq_inits (cost, amount, NULL);
    mpz_inits (cost_units, charge_units, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpq_add (cost, cost, rest[i].cost);
        mpq_add (amount, amount, rest[i].charge);
        mpz_add (cost_units, cost_units, rest[i].cost_units);
        mpz_add (charge_units, charge_units, rest[i].charge_units);
        check_near (rest[i].cost_units, rest[i].cost, digits);
        if (!takes_published (i))
            check_near (rest[i].charge_units, rest[i].charge, digits);
    }
    for (size_t i = 0; i < count; i++) {
        mpq_add (cost, cost, line[i].cost);
        mpq_add (amount, amount, line[i].charge);
        mpz_add (cost_units, cost_units, line[i].cost_units);
        mpz_add (charge_units, charge_units, line[i].charge_units);
        check_near (line[i].cost_units, line[i].cost, digits);
        check_near (line[i].charge_units, line[i].charge, digits);
        assert_true (mpz_sgn (line[i].cost_units) >= 0);
        assert_true (mpz_sgn (line[i].charge_units) >= 0);
    }
    assert_true (mpq_equal (cost, *total));
    assert_true (mpq_equal (amount, *total));
    assert_int_equal (mpz_cmp (cost_units, charge_total (charge)), 0);
    assert_int_equal (mpz_cmp (charge_units, charge_total (charge)), 0);
    mpq_clears (cost, amount, NULL);
    mpz_clears (cost_units, charge_units, NULL);
}

static bool same_text (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

static bool same_path (const charge_line_t *a, const charge_line_t *b,
                       size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!same_text (a->path[i], b->path[i]))
            return false;
    }
    return true;
}

/* The finer lines of each coarse line add up to it, in both amounts. */
static void check_refines (const charge_t *fine, const charge_t *coarse,
                           size_t length)
{
    size_t fine_count, count, used = 0;
    const charge_line_t *part = charge_lines (fine, &fine_count);
    const charge_line_t *whole = charge_lines (coarse, &count);
    mpz_t cost, amount;

    mpz_inits (cost, amount, NULL);
    for (size_t i = 0; i < count; i++) {
        mpz_set_ui (cost, 0);
        mpz_set_ui (amount, 0);
        for (size_t k = 0; k < fine_count; k++) {
            if (!same_path (&whole[i], &part[k], length))
                continue;
            mpz_add (cost, cost, part[k].cost_units);
            mpz_add (amount, amount, part[k].charge_units);
            used++;
        }
        assert_int_equal (mpz_cmp (cost, whole[i].cost_units), 0);
        assert_int_equal (mpz_cmp (amount, whole[i].charge_units), 0);
    }
    assert_int_equal (used, fine_count);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        assert_int_equal (mpz_cmp (charge_remainders (fine)[i].charge_units,
                                   charge_remainders (coarse)[i].charge_units),
                          0);
    mpz_clears (cost, amount, NULL);
}

static const size_t by_line[] = {1, CHARGE_PATH_COUNT, CHARGE_TEAM + 1};
static const size_t by_day[]
    = {1, CHARGE_PATH_COUNT, CHARGE_TEAM + 1, CHARGE_TEAM + 2};
static const size_t by_day_and_node[] = {1, CHARGE_PATH_COUNT, CHARGE_TEAM + 1,
                                         CHARGE_TEAM + 2, CHARGE_TEAM + 3};

#define MADE_MONTHS 3000

TEST_CASE (charge__thousands_of_months__add_up_in_every_mode)
{
    uint64_t seed = 2685821657736338717ull;

    for (int i = 0; i < MADE_MONTHS; i++) {
        struct made made;
        charge_t *charge;
        make (&made, &seed);
        charge = ask (&made, (struct asking){.levels = by_day_and_node,
                                             .level_count = 5});
        check_sums (charge, made.site->currency_digits);
        charge_free (charge);
        unmake (&made);
    }
}

TEST_CASE (charge__any_grouping__adds_up_to_the_same_integers)
{
    uint64_t seed = 6364136223846793005ull;

    for (int i = 0; i < MADE_MONTHS / 3; i++) {
        struct made made;
        charge_t *line, *day, *node, *both;
        make (&made, &seed);
        line =
            ask (&made, (struct asking){.levels = by_line, .level_count = 3});
        day = ask (&made, (struct asking){.levels = by_day, .level_count = 4});
        node = ask (
            &made,
            (struct asking){.levels = by_day, .level_count = 4, .node = true});
        both = ask (&made, (struct asking){.levels = by_day_and_node,
                                           .level_count = 5});
        check_refines (day, line, CHARGE_TEAM + 1);
        check_refines (node, line, CHARGE_TEAM + 1);
        check_refines (both, line, CHARGE_TEAM + 1);
        check_refines (both, day, CHARGE_TEAM + 2);
        charge_free (line);
        charge_free (day);
        charge_free (node);
        charge_free (both);
        unmake (&made);
    }
}

TEST_CASE (charge__order_and_splitting_of_lines__change_nothing)
{
    uint64_t seed = 3935559000370003845ull;

    for (int i = 0; i < MADE_MONTHS / 3; i++) {
        struct made made;
        struct asking asking = {.levels = by_day_and_node, .level_count = 5};
        charge_t *one_way, *other;
        make (&made, &seed);
        one_way = ask (&made, asking);
        asking.turn = made.count / 2;
        asking.halves = true;
        other = ask (&made, asking);
        check_refines (one_way, other, PATH_LENGTH);
        charge_free (one_way);
        charge_free (other);
        unmake (&made);
    }
}

TEST_MAIN (NULL, NULL)
