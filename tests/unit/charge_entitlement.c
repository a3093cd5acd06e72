/* What teams have bought of a pool: drawn, carried, expired. */
#include <string.h>

#include "support/book.h"

#include "acct/charge.h"

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
    mpq_inits (e->gpus, e->share, e->gpu_hours, e->carry_cap, NULL);
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
};

static void add_used (charge_t *charge, const site_t *site, struct asked asked)
{
    const char *path[LENGTH] = {TEAM, "lab"};
    charge_price_t price
        = charge_price (site, "p", NULL, TEAM, asked.month.start);
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

static void carry (charge_t *charge, int hours)
{
    charge_payer_t last = {.team = TEAM};

    mpq_init (last.carried_out);
    set_hours (last.carried_out, hours);
    charge_carry (charge, &last);
    mpq_clear (last.carried_out);
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
    add_used (charge, site, asked);
    carry (charge, asked.carried);
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
    check_hours (payer_of (charge)->carried_out, carried);
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

static void unused__month_is_over__expires (void **state)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    charge_t *charge = month_of (site, (struct asked){.used = 60});

    (void)state;
    check_hours (payer_of (charge)->drawn, 60);
    check_left (charge, 40, 0, 40);
    check_due (charge, CHARGE_USED, "0.00");
    charge_free (charge);
    site_free (site);
}

static void unused__month_lasts__is_not_gone (void **state)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    period_t part = book_month (site, 2026, 11);
    charge_t *charge;

    (void)state;
    part.end -= 86400;
    charge = month_of (site, (struct asked){.month = part, .used = 60});
    check_left (charge, 40, 0, 0);
    charge_free (charge);
    site_free (site);
}

static void carry__cap__the_rest_expires (void **state)
{
    static const struct {
        int cap, used, carried, unused, on, expired;
    } rows[] = {{0, 60, 0, 40, 40, 0},  {25, 60, 0, 40, 25, 15},
                {50, 60, 0, 40, 40, 0}, {50, 90, 30, 40, 40, 0},
                {25, 90, 30, 40, 25, 15}, {25, 130, 30, 0, 0, 0}};

    (void)state;
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
static void carry__into_the_next_month__is_drawn (void **state)
{
    site_t *site = site_of (UNUSED_CARRIED, 0);
    charge_t *charge
        = month_of (site, (struct asked){.used = 150, .carried = 30});

    (void)state;
    check_hours (payer_of (charge)->drawn, 130);
    check_due (charge, CHARGE_USED, "40.00");
    charge_free (charge);
    site_free (site);
}

static void carry__end_of_fiscal_year_or_of_it__expires (void **state)
{
    (void)state;
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
static void reserved__by_policy__draws_as_jobs_do (void **state)
{
    static const struct {
        reserved_policy_t policy;
        int jobs, reservation;
        const char *used, *idle;
    } rows[] = {{RESERVED_HOLDER, 60, 0, "0.00", "180.00"},
                {RESERVED_ENTITLEMENT, 40, 60, "40.00", "60.00"}};

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = site_of (UNUSED_EXPIRES, 0);
        charge_t *charge;
        site->policy.reserved = rows[i].policy;
        charge = month_of (site, (struct asked){.used = 60, .reserved = 90});
        check_hours (payer_of (charge)->drawn, rows[i].jobs);
        check_hours (payer_of (charge)->drawn_reserved, rows[i].reservation);
        check_due (charge, CHARGE_USED, rows[i].used);
        check_due (charge, CHARGE_IDLE, rows[i].idle);
        charge_free (charge);
        site_free (site);
    }
}

/* 2.00 for ten days, 3.50 for twenty. */
static void pool_price__changes__is_the_mean_of_the_month (void **state)
{
    site_t *site = site_of (UNUSED_EXPIRES, 0);
    int64_t change = book_instant (site, 2026, 11, 11, 0);
    charge_t *charge;
    mpq_t price;

    (void)state;
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

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (unused__month_is_over__expires),
        cmocka_unit_test (unused__month_lasts__is_not_gone),
        cmocka_unit_test (carry__cap__the_rest_expires),
        cmocka_unit_test (carry__into_the_next_month__is_drawn),
        cmocka_unit_test (carry__end_of_fiscal_year_or_of_it__expires),
        cmocka_unit_test (reserved__by_policy__draws_as_jobs_do),
        cmocka_unit_test (pool_price__changes__is_the_mean_of_the_month),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
