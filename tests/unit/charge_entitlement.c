/* What teams have bought of a pool: drawn, carried, expired. */
#include <string.h>

#include "support/book.h"

#include "money/charge.h"

#define LENGTH (CHARGE_TEAM + 1)
#define TEAM "vision"

static const size_t levels[] = {1, CHARGE_PATH_COUNT, LENGTH};

static void set_hours (mpq_t seconds, int hours)
{
    exact_set_i64 (seconds, (int64_t)hours * 3600, 1);
}

/* 100 GPU-hours a month at 2.00 each. */
static site_t *site_of (unused_policy_t unused, int cap)
{
    site_t *site = book_new ("UTC");
    site_entitlement_t *e;

    book_pool (site, "p", "n1", 8);
    book_cost (site, "p", "c", "3000", COST_PER_MONTH);
    book_rate (site, "p", NULL, "2", MIG_MAX);
    e = BOOK_NEW (site->entitlements, site->entitlement_count);
    e->team = xstrdup (TEAM);
    e->pool = xstrdup ("p");
    mpq_inits (e->gpus, e->share, e->gpu_hours, e->carry_cap, e->per_gpu_hour,
               e->per_month, NULL);
    mpq_set_ui (e->gpu_hours, 100, 1);
    mpq_set_ui (e->carry_cap, (unsigned long)cap, 1);
    e->unused = unused;
    e->valid = book_always;
    return site;
}

struct asked {
    period_t month; /* empty: November 2026 */
    int used;
    int reserved;
    int carried;
    const char *worth; /* of carried; NULL: nothing was paid for it */
    int64_t first;     /* fact; 0: not told */
};

static void add_used (charge_t *charge, const site_t *site, struct asked asked)
{
    const char *path[LENGTH] = {TEAM, "lab"};
    rate_card_price_t price = rate_card_price (
        site, (rate_subject_t){
                  .pool = "p", .team = TEAM, .instant = asked.month.start});
    mpq_t seconds;

    path[CHARGE_TEAM] = TEAM;
    mpq_init (seconds);
    set_hours (seconds, asked.used);
    charge_add (charge, path, seconds, seconds, &price);
    set_hours (seconds, asked.reserved);
    if (asked.reserved)
        charge_add_reserved (charge, "lab", TEAM, TEAM, seconds);
    mpq_clear (seconds);
}

static void set_decimal (mpq_t value, const char *text)
{
    gl_error_t error;

    if (exact_parse (text, value, &error) < 0)
        fail_msg ("%s", error.text);
}

static void carry (charge_t *charge, int hours, const char *worth)
{
    charge_payer_t last = {.team = TEAM};

    mpq_inits (last.rollover_out, last.value_out, NULL);
    set_hours (last.rollover_out, hours);
    if (worth)
        set_decimal (last.value_out, worth);
    charge_carry (charge, &last);
    mpq_clears (last.rollover_out, last.value_out, NULL);
}

static charge_t *month_of (const site_t *site, struct asked asked)
{
    capacity_sum_t sum;
    gl_error_t error;
    charge_t *charge;

    if (asked.month.end == 0)
        asked.month = book_month (site, 2026, 11);
    capacity_sum_init (&sum);
    set_hours (sum.allocated, asked.used);
    set_hours (sum.reserved_unused, asked.reserved);
    set_hours (sum.idle, 1000 - asked.used - asked.reserved);
    set_hours (sum.capacity, 1000);
    charge = charge_new (site, "p", asked.month, &sum, NULL, levels,
                         GL_ARRAY_SIZE (levels), &error);
    if (!charge)
        fail_msg ("%s", error.text);
    capacity_sum_clear (&sum);
    if (asked.first)
        charge_first_fact (charge, asked.first);
    add_used (charge, site, asked);
    carry (charge, asked.carried, asked.worth);
    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
    return charge;
}

static void check_hours (mpq_srcptr seconds, int hours)
{
    mpq_t expected;

    mpq_init (expected);
    set_hours (expected, hours);
    assert_true (mpq_equal (seconds, expected));
    mpq_clear (expected);
}

static const charge_payer_t *payer_of (const charge_t *charge)
{
    size_t count;
    const charge_payer_t *payer = charge_payers (charge, &count);

    assert_int_equal (count, 1);
    return payer;
}

/* Unused, carried out, expired. */
static void check_left (const charge_t *charge, int unused, int carried,
                        int expired)
{
    check_hours (payer_of (charge)->unused, unused);
    check_hours (payer_of (charge)->rollover_out, carried);
    check_hours (payer_of (charge)->expired, expired);
}

static void check_due (const charge_t *charge, charge_kind_t kind,
                       const char *expected)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    for (size_t i = 0; i < count; i++)
        if (line[i].kind == kind) {
            GL_AUTOFREE char *text
                = exact_units_text (line[i].charge_units, 2);
            assert_string_equal (text, expected);
            return;
        }
    fail_msg ("there is no such line");
}

TEST_CASE (unused__month_is_over__expires)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    charge_t *charge = month_of (site, (struct asked){.used = 60});

    check_hours (payer_of (charge)->drawn, 60);
    check_left (charge, 40, 0, 40);
    check_due (charge, CHARGE_USED, "0.00");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (unused__month_lasts__is_not_gone)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    period_t part = book_month (site, 2026, 11);
    charge_t *charge;

    part.end -= 86400;
    charge = month_of (site, (struct asked){.month = part, .used = 60});
    check_left (charge, 40, 0, 0);
    charge_free (charge);
    site_free (site);
}

TEST_CASE (carry__cap__the_rest_expires)
{
    static const struct {
        int cap, used, carried, unused, on, expired;
    } rows[] = {{0, 60, 0, 40, 40, 0},  {25, 60, 0, 40, 25, 15},
                {50, 60, 0, 40, 40, 0}, {50, 90, 30, 40, 40, 0},
                {25, 90, 30, 40, 25, 15}, {25, 130, 30, 0, 0, 0}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_of (UNUSED_CARRIED, rows[i].cap);
        charge_t *charge
            = month_of (site, (struct asked){.used = rows[i].used,
                                             .carried = rows[i].carried});
        check_left (charge, rows[i].unused, rows[i].on, rows[i].expired);
        charge_free (charge);
        site_free (site);
    }
}

/* 100 of this month and 30 of the last one: of 150 hours 20 are due. */
TEST_CASE (carry__into_the_next_month__is_drawn)
{
    site_t *site = site_of (UNUSED_CARRIED, 0);
    charge_t *charge
        = month_of (site, (struct asked){.used = 150, .carried = 30});

    check_hours (payer_of (charge)->drawn, 130);
    check_due (charge, CHARGE_USED, "40.00");
    charge_free (charge);
    site_free (site);
}

/* Nobody knows what was drawn before the ledger bills, or before the first fact: the
 * month is November. */
TEST_CASE (carry__before_go_live__expires)
{
    static const civil_t go_live[] = {{.year = 2026, .month = 12, .day = 1},
                                      {.year = 2026, .month = 11, .day = 1}};
    static const int carried[] = {0, 40};

    for (size_t i = 0; i < GL_ARRAY_SIZE (go_live); i++) {
        site_t *site = site_of (UNUSED_CARRIED, 0);
        charge_t *charge;
        site->go_live = go_live[i];
        charge = month_of (site, (struct asked){.used = 60});
        check_left (charge, 40, carried[i], 40 - carried[i]);
        charge_free (charge);
        site_free (site);
    }
}

TEST_CASE (carry__before_the_first_fact__expires)
{
    for (int i = 0; i < 3; i++) {
        site_t *site = site_of (UNUSED_CARRIED, 0);
        int64_t end = book_month (site, 2026, 11).end;
        /* the day of go-live is told, and holds */
        const int64_t first[] = {end, end - 1, end};
        const int carried[] = {0, 40, 40};
        charge_t *charge;
        if (i == 2)
            site->go_live = (civil_t){.year = 2026, .month = 11, .day = 1};
        charge = month_of (site, (struct asked){.used = 60, .first = first[i]});
        check_left (charge, 40, carried[i], 40 - carried[i]);
        charge_free (charge);
        site_free (site);
    }
}

TEST_CASE (carry__end_of_fiscal_year_or_of_it__expires)
{
    for (int i = 0; i < 2; i++) {
        site_t *site = site_of (UNUSED_CARRIED, 0);
        charge_t *charge;
        if (i == 0)
            site->fiscal_month = 12;
        else
            site->entitlements[0].valid.end = book_month (site, 2026, 11).end;
        charge = month_of (site, (struct asked){.used = 60});
        check_left (charge, 40, 0, 40);
        charge_free (charge);
        site_free (site);
    }
}

/* 100 hours for 60 of jobs and 90 of a reservation: two thirds of each. */
TEST_CASE (reserved__by_policy__draws_as_jobs_do)
{
    static const struct {
        reserved_policy_t policy;
        int jobs, reservation;
        const char *used, *idle;
    } rows[] = {{RESERVED_HOLDER, 60, 0, "0.00", "180.00"},
                {RESERVED_ENTITLEMENT, 40, 60, "40.00", "60.00"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_of (UNUSED_EXPIRES, 0);
        charge_t *charge;
        site->policy.reserved = rows[i].policy;
        charge = month_of (site, (struct asked){.used = 60, .reserved = 90});
        check_hours (payer_of (charge)->drawn, rows[i].jobs);
        check_hours (payer_of (charge)->consumed_reserved, rows[i].reservation);
        check_due (charge, CHARGE_USED, rows[i].used);
        check_due (charge, CHARGE_IDLE, rows[i].idle);
        charge_free (charge);
        site_free (site);
    }
}

/* 2.00 for ten days, 3.50 for twenty. */
TEST_CASE (pool_price__changes__is_the_mean_of_the_month)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    int64_t change = book_instant (site, 2026, 11, 11, 0);
    charge_t *charge;
    mpq_t price;

    site->rates[0].valid.end = change;
    book_rate (site, "p", NULL, "3.50", MIG_MAX)->valid.start = change;
    charge = month_of (site, (struct asked){.used = 60});
    mpq_init (price);
    charge_pool_price (charge, price);
    book_check (price, 2, "3.00");
    mpq_clear (price);
    charge_free (charge);
    site_free (site);
}

/* --- with a price -------------------------------------------------------- */

static const charge_line_t *purchase_of (const charge_t *charge)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    for (size_t i = 0; i < count; i++)
        if (line[i].kind == CHARGE_PURCHASE)
            return &line[i];
    fail_msg ("nothing is paid for the entitlement");
    return NULL;
}

static void check_units (mpz_srcptr units, const char *expected)
{
    GL_AUTOFREE char *text = exact_units_text (units, 2);

    assert_string_equal (text, expected);
}

/* 3000.00 of the month = all lines + all remainders. */
static void check_whole (const charge_t *charge)
{
    const charge_remainder_t *rest = charge_remainders (charge);
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < count; i++)
        mpz_add (sum, sum, line[i].charge_units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_add (sum, sum, rest[i].charge_units);
    assert_int_equal (mpz_cmp (sum, charge_total (charge)), 0);
    mpz_clear (sum);
}

/* 100 hours at 1.50: due in full, for 60 hours used or none; no time, no cost. */
TEST_CASE (price__by_hour__is_due_drawn_or_not)
{
    for (int used = 0; used <= 60; used += 60) {
        site_t *site = site_of (UNUSED_EXPIRES, 0);
        charge_t *charge;
        const charge_line_t *line;
        set_decimal (site->entitlements[0].per_gpu_hour, "1.50");
        charge = month_of (site, (struct asked){.used = used});
        line = purchase_of (charge);
        check_units (line->charge_units, "150.00");
        check_units (line->list_units, "150.00");
        check_units (line->cost_units, "0.00");
        check_hours (line->price_seconds, 100);
        check_hours (line->gpu_seconds, 0);
        assert_string_equal (line->path[CHARGE_TEAM], TEAM);
        assert_null (line->path[0]);
        assert_string_equal (line->what, "entitlement");
        assert_string_equal (line->reference, TEAM "/p");
        check_units (charge_remainders (charge)[REMAINDER_PREPAID].charge_units,
                     "-150.00");
        check_whole (charge);
        charge_free (charge);
        site_free (site);
    }
}

/* 90.00 for a month of 30 days: 15 of them are 45.00, 10 up to as-of 30.00. */
TEST_CASE (price__by_month__is_by_days)
{
    static const struct {
        int first_day, days;
        const char *fee;
    } rows[] = {{1, 30, "90.00"}, {16, 30, "45.00"}, {1, 10, "30.00"},
                {8, 10, "9.00"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_of (UNUSED_EXPIRES, 0);
        period_t month = book_month (site, 2026, 11);
        charge_t *charge;
        set_decimal (site->entitlements[0].per_month, "90");
        site->entitlements[0].valid.start
            = book_instant (site, 2026, 11, rows[i].first_day, 0);
        month.end = month.start + rows[i].days * 86400;
        charge = month_of (site, (struct asked){.month = month, .used = 20});
        check_units (purchase_of (charge)->charge_units, rows[i].fee);
        check_whole (charge);
        charge_free (charge);
        site_free (site);
    }
}

/* Stretches of 10 and 20 days, an entry that holds for the last 15 of them: all of
 * its 45.00 lies on the second one. */
TEST_CASE (price__held_in_part__lies_on_its_days)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    period_t month = book_month (site, 2026, 11);
    const char *path[LENGTH] = {NULL};
    capacity_sum_t sum;
    gl_error_t error;
    charge_t *charge;
    size_t count;

    set_decimal (site->entitlements[0].per_month, "90");
    site->entitlements[0].valid.start = book_instant (site, 2026, 11, 16, 0);
    capacity_sum_init (&sum);
    set_hours (sum.capacity, 1000);
    set_hours (sum.idle, 1000);
    charge = charge_new (site, "p", month, &sum, NULL, levels,
                         GL_ARRAY_SIZE (levels), &error);
    assert_non_null (charge);
    path[3] = "first";
    charge_add_stretch (charge, path, month.start, 10 * 86400);
    path[3] = "second";
    charge_add_stretch (charge, path, month.start + 10 * 86400, 20 * 86400);
    assert_int_equal (charge_compute (charge, &error), 0);
    charge_lines (charge, &count);
    assert_int_equal (count, 1);
    assert_string_equal (purchase_of (charge)->path[3], "second");
    check_units (purchase_of (charge)->charge_units, "45.00");
    check_hours (purchase_of (charge)->price_seconds, 50);
    charge_free (charge);
    capacity_sum_clear (&sum);
    site_free (site);
}

/* 100.00 x 1.10 x 1.26: the surcharge is a step of its own, and what was paid with
 * it is what the hours are worth. */
TEST_CASE (price__external_team__pays_its_surcharge)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    site_team_t *team = BOOK_NEW (site->teams, site->team_count);
    charge_t *charge;
    const charge_line_t *line;

    team->name = xstrdup (TEAM);
    team->valid = book_always;
    mpq_inits (team->surcharge, team->overhead, NULL);
    set_decimal (team->surcharge, "0.10");
    set_decimal (team->overhead, "0.26");
    set_decimal (site->entitlements[0].per_gpu_hour, "1");
    charge = month_of (site, (struct asked){.used = 50});
    line = purchase_of (charge);
    check_units (line->list_units, "100.00");
    check_units (line->adjustment_units[ADJUSTMENT_SURCHARGE], "38.60");
    check_units (line->charge_units, "138.60");
    check_units (charge_remainders (charge)[REMAINDER_PREPAID].charge_units,
                 "-100.00");
    book_check (payer_of (charge)->fee, 2, "138.60");
    book_check (payer_of (charge)->value_consumed, 2, "69.30");
    check_whole (charge);
    charge_free (charge);
    site_free (site);
}

/* October: 100 hours at 1.50 are 150.00. Of an hour at 1.50, 60 are used: 90.00;
 * 30 are carried: 45.00; 10 are gone: 15.00. November: 100 hours at 1.60 are
 * 160.00, with the 30 carried 130 hours for 205.00. 104 of them are used, four
 * fifths: 164.00; 26 are carried: 41.00. */
TEST_CASE (value__carried_over_another_price__is_the_mean)
{
    static const struct {
        int month;
        const char *price;
        int used, carried;
        const char *worth, *fee, *drawn, *out, *gone;
    } rows[] = {
        {10, "1.50", 60, 0, NULL, "150.00", "90.00", "45.00", "15.00"},
        {11, "1.60", 104, 30, "45", "160.00", "164.00", "41.00", "0.00"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_of (UNUSED_CARRIED, 30);
        const charge_payer_t *payer;
        charge_t *charge;
        set_decimal (site->entitlements[0].per_gpu_hour, rows[i].price);
        charge = month_of (
            site, (struct asked){.month = book_month (site, 2026, rows[i].month),
                                 .used = rows[i].used,
                                 .carried = rows[i].carried,
                                 .worth = rows[i].worth});
        payer = payer_of (charge);
        book_check (payer->fee, 2, rows[i].fee);
        book_check (payer->value_consumed, 2, rows[i].drawn);
        book_check (payer->value_out, 2, rows[i].out);
        book_check (payer->value_expired, 2, rows[i].gone);
        check_due (charge, CHARGE_USED, "0.00");
        charge_free (charge);
        site_free (site);
    }
}

/* 150.00 for 100 hours, of which jobs draw 40 and a reservation 60. */
TEST_CASE (value__reserved__is_drawn_too)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    charge_t *charge;

    site->policy.reserved = RESERVED_ENTITLEMENT;
    set_decimal (site->entitlements[0].per_gpu_hour, "1.50");
    charge = month_of (site, (struct asked){.used = 60, .reserved = 90});
    book_check (payer_of (charge)->value_consumed, 2, "60.00");
    book_check (payer_of (charge)->value_reserved, 2, "90.00");
    book_check (payer_of (charge)->value_expired, 2, "0.00");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (price__none__nothing_is_paid)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    charge_t *charge = month_of (site, (struct asked){.used = 60});
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    for (size_t i = 0; i < count; i++)
        assert_int_not_equal (line[i].kind, CHARGE_PURCHASE);
    assert_int_equal (mpq_sgn (payer_of (charge)->value_consumed), 0);
    assert_int_equal (
        mpq_sgn (charge_remainders (charge)[REMAINDER_PREPAID].charge), 0);
    charge_free (charge);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
