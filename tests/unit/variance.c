/* The difference of two months: worked examples, taxes, and the invariant that
 * the parts add up, over thousands of made-up months. */
#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/bill_tax.h"
#include "ledger/variance.h"

/* A line of `hours` at `charge` smallest units; list price and charge alike. */
static posting_t *add_charge (bill_t *bill, const char *month, const char *pool,
                              const char *qos, const char *team, long hours,
                              long charge)
{
    posting_t *row = bill_add (bill);

    row->kind = BILL_CHARGE;
    row->month = xstrdup (month);
    row->pool = xstrdup (pool);
    row->team = xstrdup (team);
    row->key[5 - 1] = xstrdup (qos);
    mpq_set_si (row->gpu_seconds, hours * 3600, 1);
    mpq_set (row->price_seconds, row->gpu_seconds);
    mpq_set_si (row->exact, charge, 100);
    mpq_canonicalize (row->exact);
    mpz_set_si (row->list_units, charge);
    mpz_set_si (row->charge_units, charge);
    return row;
}

static void add_other (bill_t *bill, bill_kind_t kind, const char *month,
                       const char *team, long charge)
{
    posting_t *row = bill_add (bill);

    row->kind = kind;
    row->month = xstrdup (month);
    row->team = xstrdup (team);
    mpz_set_si (row->charge_units, charge);
}

static bill_pool_t *add_pool (bill_t *bill, const char *month, const char *name,
                              long owned, long of)
{
    bill_pool_t *pool = bill_append (bill, BILL_POOLS);

    pool->month = xstrdup (month);
    pool->pool = xstrdup (name);
    pool->has_cost = true;
    mpq_set_si (pool->owned_rate, owned, of);
    mpq_canonicalize (pool->owned_rate);
    return pool;
}

/* bill_idle() for the amount due. */
static bool idle_of (const bill_t *bill, const posting_t *row, mpq_t ret)
{
    bool is_known;
    mpq_t due;

    mpq_init (due);
    mpq_set_z (due, row->charge_units);
    is_known = bill_idle (bill, row, 2, due, ret);
    mpq_clear (due);
    return is_known;
}

static void check_split (const bill_t *before, const bill_t *after,
                         const long wanted[CHANGE_COUNT])
{
    variance_t variance;
    gl_error_t error;

    variance_init (&variance);
    if (variance_split (before, after, "t", 2, &variance, &error) < 0)
        fail_msg ("%s", error.text);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        if (mpz_cmp_si (variance.part[i], wanted[i]) != 0)
            fail_msg ("%s: %ld, not %ld", change_info (i)->word,
                      mpz_get_si (variance.part[i]), wanted[i]);
    }
    variance_clear (&variance);
}

/* 100 h at 3.00 and 100 h at 1.00, then 150 h at 3.30 and 50 h at 1.00: as many
 * hours; 150 x 3 + 50 x 1 - 200 x 2 = 100 of mix; 150 x 0.30 = 45 of price. */
TEST_CASE (split__other_hours_and_prices__mix_and_price)
{
    bill_t *before = bill_new (), *after = bill_new ();

    add_charge (before, "2026-09", "fast", NULL, "t", 100, 30000);
    add_charge (before, "2026-09", "slow", NULL, "t", 100, 10000);
    add_charge (before, "2026-09", "slow", NULL, "other", 100, 99999);
    add_charge (after, "2026-10", "fast", NULL, "t", 150, 49500);
    add_charge (after, "2026-10", "slow", NULL, "t", 50, 5000);
    add_other (after, BILL_CREDIT, "2026-10", "t", -700);
    add_other (before, BILL_CREDIT, "2026-09", "t", -200);
    add_other (after, BILL_CORRECTION, "2026-08", "t", 33);
    add_other (after, BILL_TAX, "2026-10", "t", 11);
    add_other (before, BILL_REMAINDER, "2026-09", NULL, 5000);
    add_other (before, BILL_PURCHASE, "2026-09", "t", 15000);
    add_other (after, BILL_PURCHASE, "2026-10", "t", 16000);
    check_split (
        before, after,
        (const long[CHANGE_COUNT]){0, 10000, 4500, 0, -500, 33, 11, 1000});
    bill_free (before);
    bill_free (after);
}

static char *mix_of (const bill_t *before, const bill_t *after)
{
    variance_t variance;
    gl_error_t error;
    char *mix;

    variance_init (&variance);
    if (variance_split (before, after, "t", 2, &variance, &error) < 0)
        fail_msg ("%s", error.text);
    mix = xstrdup (variance.mix);
    variance_clear (&variance);
    return mix;
}

/* 100 h at 3.00, 100 h at 1.00 and 100 h at 2.00, then 160, 50 and 90 h: the average was 2.00, so
 * that 60.00 of the mix is of the first pool, 50.00 of the second, and nothing of the third. Then
 * the other way round: the average is 2.37, and the second pool, 1.37 below it, has most. */
TEST_CASE (split__mix__says_what_made_most_of_it)
{
    bill_t *before = bill_new (), *after = bill_new ();
    char *mix;

    add_charge (before, "2026-09", "fast", "high", "t", 100, 30000);
    add_charge (before, "2026-09", "slow", NULL, "t", 100, 10000);
    add_charge (before, "2026-09", "middle", NULL, "t", 100, 20000);
    add_charge (after, "2026-10", "fast", "high", "t", 160, 48000);
    add_charge (after, "2026-10", "slow", NULL, "t", 50, 5000);
    add_charge (after, "2026-10", "middle", NULL, "t", 90, 18000);
    check_split (before, after, (const long[CHANGE_COUNT]){0, 11000});
    mix = mix_of (before, after);
    assert_string_equal (
        mix, "fast, QOS high: 53.33 % of the GPU hours, 33.33 % before");
    free (mix);
    mix = mix_of (after, before);
    assert_string_equal (mix, "slow: 33.33 % of the GPU hours, 16.67 % before");
    free (mix);
    mix = mix_of (before, before);
    assert_null (mix);
    bill_free (before);
    bill_free (after);
}

/* One pool with idle time in the rate (docs/guides/rates.md): an owned hour at
 * 2.8432, charged 3.7909 of which a quarter is idle. Next month the machine is
 * full: as many hours, nothing idle. Then twice the hours: volume alone. */
TEST_CASE (split__the_machine_fills_up__idle_alone)
{
    bill_t *before = bill_new (), *after = bill_new (), *twice = bill_new ();
    posting_t *row;
    mpq_t idle;

    row = add_charge (before, "2026-09", "p", NULL, "t", 20000, 7581800);
    add_pool (before, "2026-09", "p", 28432, 10000);
    add_charge (after, "2026-10", "p", NULL, "t", 20000, 5686400);
    add_pool (after, "2026-10", "p", 28432, 10000);
    add_charge (twice, "2026-10", "p", NULL, "t", 40000, 11372800);
    add_pool (twice, "2026-10", "p", 28432, 10000);
    mpq_init (idle);
    assert_true (idle_of (before, row, idle));
    assert_int_equal (mpq_cmp_si (idle, 7581800 - 5686400, 1), 0);
    mpq_clear (idle);
    check_split (before, after,
                 (const long[CHANGE_COUNT]){0, 0, 0, -1895400, 0, 0, 0});
    check_split (after, twice,
                 (const long[CHANGE_COUNT]){5686400, 0, 0, 0, 0, 0, 0});
    bill_free (before);
    bill_free (after);
    bill_free (twice);
}

/* A published rate of three times the cost: 100 h at 3.00, then 50 h at 3.30.
 * What is above the cost is the rate's, and no idle time that came or went. */
TEST_CASE (split__published_rate__volume_and_price)
{
    bill_t *before = bill_new (), *after = bill_new ();

    add_charge (before, "2026-09", "p", NULL, "t", 100, 30000);
    add_pool (before, "2026-09", "p", 1, 1)->has_rate = true;
    add_charge (after, "2026-10", "p", NULL, "t", 50, 16500);
    add_pool (after, "2026-10", "p", 1, 1)->has_rate = true;
    check_split (before, after, (const long[CHANGE_COUNT]){-15000, 0, 1500});
    bill_free (before);
    bill_free (after);
}

/* A line of `seconds` at `rate` thousandths an hour, rounded to cents by itself. */
static void add_rounded (bill_t *bill, const char *month, const char *qos,
                         long seconds, long rate)
{
    posting_t *row = add_charge (bill, month, "p", qos, "t", 0, 0);

    mpq_set_si (row->gpu_seconds, seconds, 1);
    mpq_set (row->price_seconds, row->gpu_seconds);
    mpq_set_si (row->exact, seconds * rate, 3600 * 1000);
    mpq_canonicalize (row->exact);
    exact_round (row->charge_units, row->exact, 2);
    mpz_set (row->list_units, row->charge_units);
}

/* At one rate of 3.333, 1,000 s and then 2,001 s are 0.925833.. and 1.852592..: 0.93 and 1.85. That is
 * 0.926759 of hours, and no lower price. A rate of 3.369 is one. */
TEST_CASE (split__charges_that_are_rounded__no_change_of_price)
{
    bill_t *before = bill_new (), *after = bill_new (), *dearer = bill_new ();

    add_rounded (before, "2026-09", NULL, 1000, 3333);
    add_pool (before, "2026-09", "p", 1, 1)->has_rate = true;
    add_rounded (after, "2026-10", NULL, 2001, 3333);
    add_pool (after, "2026-10", "p", 1, 1)->has_rate = true;
    add_rounded (dearer, "2026-10", NULL, 2001, 3369);
    add_pool (dearer, "2026-10", "p", 1, 1)->has_rate = true;
    check_split (before, after, (const long[CHANGE_COUNT]){92});
    check_split (after, before, (const long[CHANGE_COUNT]){-92});
    check_split (after, dearer, (const long[CHANGE_COUNT]){0, 0, 2});
    check_split (before, dearer, (const long[CHANGE_COUNT]){92, 0, 2});
    bill_free (before);
    bill_free (after);
    bill_free (dearer);
}

/* Two lines of 500 s are 0.46 each, one of 1,000 s is 0.93: a cent that nothing but rounding made. */
TEST_CASE (split__rounding_alone__is_not_lost)
{
    bill_t *two = bill_new (), *one = bill_new ();

    add_rounded (two, "2026-09", NULL, 500, 3333);
    add_rounded (two, "2026-09", NULL, 500, 3333);
    add_pool (two, "2026-09", "p", 1, 1)->has_rate = true;
    add_rounded (one, "2026-10", NULL, 1000, 3333);
    add_pool (one, "2026-10", "p", 1, 1)->has_rate = true;
    check_split (two, one, (const long[CHANGE_COUNT]){0, 0, 1});
    bill_free (two);
    bill_free (one);
}

/* Free of charge by a subsidy: no idle time is paid either. */
TEST_CASE (idle__subsidised__in_the_same_part)
{
    bill_t *bill = bill_new ();
    posting_t *row = add_charge (bill, "2026-10", "p", NULL, "t", 6, 2132);
    mpq_t idle;

    bill_pool_t *pool = add_pool (bill, "2026-10", "p", 1, 1);
    mpq_init (idle);
    mpz_set_ui (row->charge_units, 0);
    assert_true (idle_of (bill, row, idle));
    assert_int_equal (mpq_sgn (idle), 0);
    mpz_set_ui (row->charge_units, 1066); /* half of it: 6.00 of 21.32 used */
    assert_true (idle_of (bill, row, idle));
    assert_int_equal (mpq_cmp_si (idle, 1066 - 300, 1), 0);
    mpq_set_ui (pool->use_rate, 1, 2); /* costs that follow use, too: 9.00 */
    assert_true (idle_of (bill, row, idle));
    assert_int_equal (mpq_cmp_si (idle, 1066 - 450, 1), 0);
    bill_free (bill);
    bill = bill_new (); /* a cost that nobody has told */
    row = add_charge (bill, "2026-10", "p", NULL, "t", 6, 2132);
    assert_false (idle_of (bill, row, idle));
    assert_int_equal (mpq_sgn (idle), 0);
    mpq_clear (idle);
    bill_free (bill);
}

/* 6 h cost 5.00. At 4.00 they are below cost; where an entitlement covers a half of
 * 8.00, the half of the cost counts. */
TEST_CASE (margin__charge_less_cost__covered_time_left_out)
{
    bill_t *bill = bill_new ();
    posting_t *row = add_charge (bill, "2026-10", "p", NULL, "t", 6, 800);
    mpq_t margin;

    mpq_init (margin);
    add_pool (bill, "2026-10", "p", 1, 1);
    mpz_set_ui (row->cost_units, 500);
    assert_true (posting_margin (bill, row, margin));
    assert_int_equal (mpq_cmp_si (margin, 300, 1), 0);
    mpz_set_ui (row->charge_units, 400);
    mpz_set_si (posting_own_extra (row)->adjustment_units[ADJUSTMENT_SUBSIDY],
                -400);
    assert_true (posting_margin (bill, row, margin));
    assert_int_equal (mpq_cmp_si (margin, -100, 1), 0);
    mpz_set_ui (posting_own_extra (row)->adjustment_units[ADJUSTMENT_SUBSIDY],
                0);
    mpz_set_si (
        posting_own_extra (row)->adjustment_units[ADJUSTMENT_ENTITLEMENT],
        -400);
    assert_true (posting_margin (bill, row, margin));
    assert_int_equal (mpq_cmp_si (margin, 150, 1), 0);
    row->kind = BILL_CREDIT;
    assert_true (posting_margin (bill, row, margin));
    assert_int_equal (mpq_sgn (margin), 0);
    bill_free (bill);
    bill = bill_new (); /* a pool whose cost is unknown */
    row = add_charge (bill, "2026-10", "p", NULL, "t", 6, 800);
    add_pool (bill, "2026-10", "p", 1, 1)->has_cost = false;
    assert_false (posting_margin (bill, row, margin));
    mpq_clear (margin);
    bill_free (bill);
}

/* --- what a person would say ------------------------------------------------ */

/* A line of charges: list price, and what an entitlement and a subsidy take off. */
static void add_line (bill_t *bill, const char *month, const char *pool,
                      long hours, long list, long entitled, long subsidy)
{
    posting_t *row = add_charge (bill, month, pool, NULL, "t", hours, list);

    mpz_set_si (
        posting_own_extra (row)->adjustment_units[ADJUSTMENT_ENTITLEMENT],
        entitled);
    mpz_set_si (posting_own_extra (row)->adjustment_units[ADJUSTMENT_SUBSIDY],
                subsidy);
    mpz_set_si (row->charge_units, list + entitled + subsidy);
}

struct said {
    const char *what;
    struct {
        const char *pool;
        long hours, list, entitled, subsidy;
    } before[2], after[2];
    bill_kind_t other; /* of the later month; BILL_CHARGE: none */
    long amount;
    long wanted[CHANGE_COUNT];
};

static bill_t *month_said (const char *month, const struct said *said,
                           bool after)
{
    bill_t *bill = bill_new ();

    for (size_t i = 0; i < 2; i++) {
        __typeof__ (&said->before[0]) line
            = after ? (const void *)&said->after[i] : &said->before[i];
        if (line->pool) {
            add_pool (bill, month, line->pool, 1, 1)->has_rate = true;
            add_line (bill, month, line->pool, line->hours, line->list,
                      line->entitled, line->subsidy);
        }
    }
    return bill;
}

TEST_CASE (split__ten_months__the_cause_that_a_person_names)
{
    static const struct said cases[] = {
        {.what = "the rate rises from 2.00 to 2.50",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 100, 25000, 0, 0}},
         .wanted = {[CHANGE_PRICE] = 5000}},
        {.what = "all of 1,000 hours are covered, then 1,000 of 6,000, at 2.85",
         .before = {{"a", 1000, 285000, -285000, 0}},
         .after = {{"a", 6000, 1710000, -285000, 0}},
         .wanted = {[CHANGE_VOLUME] = 1425000}},
        {.what = "the entitlement ends",
         .before = {{"a", 1000, 285000, -285000, 0}},
         .after = {{"a", 1000, 285000, 0, 0}},
         .wanted = {[CHANGE_ENTITLEMENT] = 285000}},
        {.what = "a new GPU at 4.00, in place of half the hours at 2.00",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 50, 10000, 0, 0}, {"b", 50, 20000, 0, 0}},
         .wanted = {[CHANGE_MIX] = 10000}},
        {.what = "more hours on the new GPU, at 4.00 and not at 2.00",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 100, 20000, 0, 0}, {"b", 50, 20000, 0, 0}},
         .wanted = {[CHANGE_VOLUME] = 10000, [CHANGE_MIX] = 10000}},
        {.what = "twice the hours",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 200, 40000, 0, 0}},
         .wanted = {[CHANGE_VOLUME] = 20000}},
        {.what = "twice the hours, half of each paid by a subsidy",
         .before = {{"a", 100, 20000, 0, -10000}},
         .after = {{"a", 200, 40000, 0, -20000}},
         .wanted = {[CHANGE_VOLUME] = 10000}},
        {.what = "the subsidy ends",
         .before = {{"a", 100, 20000, 0, -10000}},
         .after = {{"a", 100, 20000, 0, 0}},
         .wanted = {[CHANGE_PRICE] = 10000}},
        {.what = "a credit, once",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 100, 20000, 0, 0}},
         .other = BILL_CREDIT,
         .amount = -5000,
         .wanted = {[CHANGE_CREDIT] = -5000}},
        {.what = "a grant pays",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 100, 20000, 0, 0}},
         .other = BILL_SETTLEMENT,
         .amount = -20000,
         .wanted = {[CHANGE_SETTLEMENT] = -20000}},
        {.what = "a fee for storage",
         .before = {{"a", 100, 20000, 0, 0}},
         .after = {{"a", 100, 20000, 0, 0}},
         .other = BILL_SERVICE,
         .amount = 2000,
         .wanted = {[CHANGE_SERVICE] = 2000}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        bill_t *before = month_said ("2026-09", &cases[i], false);
        bill_t *after = month_said ("2026-10", &cases[i], true);
        if (cases[i].other != BILL_CHARGE)
            add_other (after, cases[i].other, "2026-10", "t", cases[i].amount);
        print_message ("%s\n", cases[i].what);
        check_split (before, after, cases[i].wanted);
        bill_free (before);
        bill_free (after);
    }
}

TEST_CASE (split__nothing_before_or_after__volume)
{
    bill_t *empty = bill_new (), *some = bill_new ();

    add_charge (some, "2026-10", "p", NULL, "t", 10, 3000);
    check_split (empty, some,
                 (const long[CHANGE_COUNT]){3000, 0, 0, 0, 0, 0, 0});
    check_split (some, empty,
                 (const long[CHANGE_COUNT]){-3000, 0, 0, 0, 0, 0, 0});
    check_split (empty, empty, (const long[CHANGE_COUNT]){0});
    bill_free (empty);
    bill_free (some);
}

/* --- any months -------------------------------------------------------- */

static uint64_t seed;
static long pick (long below)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (long)((seed >> 33) % (uint64_t)below);
}

static bill_t *any_month (const char *month)
{
    static const char *const pools[] = {"a", "b", "c"};
    static const char *const qos[] = {NULL, "high", "low"};
    bill_t *bill = bill_new ();
    long rows = pick (9);

    for (size_t i = 0; i < GL_ARRAY_SIZE (pools); i++) {
        if (pick (4) > 0)
            add_pool (bill, month, pools[i], pick (500), 1 + pick (97));
    }
    for (long i = 0; i < rows; i++) {
        posting_t *row = add_charge (bill, month, pools[pick (3)],
                                     qos[pick (3)], pick (4) ? "t" : "other",
                                     pick (3) * pick (5000), pick (2000000));
        mpq_set_si (row->price_seconds, pick (9999999), 1 + pick (7));
        mpq_canonicalize (row->price_seconds);
        if (pick (3) == 0)
            mpz_set_si (row->list_units, pick (3000000));
        if (pick (3) == 0)
            mpz_set_si (posting_own_extra (row)
                            ->adjustment_units[ADJUSTMENT_ENTITLEMENT],
                        -pick (2000000));
        if (pick (5) == 0)
            row->profile = xstrdup ("1g.10gb");
    }
    for (bill_kind_t kind = BILL_IDLE; kind < BILL_KIND_COUNT; kind++) {
        if (kind != BILL_REMAINDER && pick (3) == 0)
            add_other (bill, kind, month, "t", pick (90000) - 45000);
    }
    return bill;
}

static void due (const bill_t *bill, mpz_t ret)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    mpz_set_ui (ret, 0);
    for (size_t i = 0; i < count; i++)
        if (rows[i].team && !strcmp (rows[i].team, "t"))
            mpz_add (ret, ret, rows[i].charge_units);
}

/* The parts add up to the difference, whatever the months; there and back, and
 * to the month itself, which changes by nothing. */
TEST_CASE (split__any_two_months__parts_add_up)
{
    for (uint64_t i = 1; i <= 5000; i++) {
        bill_t *before, *after;
        mpz_t left, wanted;
        variance_t variance;
        gl_error_t error;
        seed = i;
        before = any_month ("2026-09");
        after = any_month ("2026-10");
        mpz_inits (left, wanted, NULL);
        variance_init (&variance);
        if (variance_split (before, after, "t", 2, &variance, &error) < 0)
            fail_msg ("seed %llu: %s", (unsigned long long)i, error.text);
        due (before, wanted);
        assert_int_equal (mpz_cmp (variance.before, wanted), 0);
        due (after, left);
        assert_int_equal (mpz_cmp (variance.after, left), 0);
        mpz_sub (left, left, wanted);
        for (size_t k = 0; k < CHANGE_COUNT; k++)
            mpz_sub (left, left, variance.part[k]);
        if (mpz_sgn (left) != 0)
            fail_msg ("seed %llu: %ld are left over", (unsigned long long)i,
                      mpz_get_si (left));
        check_split (before, before, (const long[CHANGE_COUNT]){0});
        variance_clear (&variance);
        mpz_clears (left, wanted, NULL);
        bill_free (before);
        bill_free (after);
    }
}

/* --- taxes ------------------------------------------------------------- */

TEST_CASE (taxes__rates_and_teams__one_rounded_row_each)
{
    static char *only[] = {(char *)"other"};
    site_tax_t taxes[3]
        = {/* from the instant on, and until it */
           {.name = (char *)"VAT", .valid = {0, SITE_ALWAYS_END}},
           {.name = (char *)"old", .valid = {SITE_ALWAYS_START, 0}},
           {.name = (char *)"levy",
            .teams = {only, 1},
            .valid = {SITE_ALWAYS_START, SITE_ALWAYS_END}}};
    site_team_t teams[3] = {
        {.name = (char *)"t"}, {.name = (char *)"t"}, {.name = (char *)"idle"}};
    site_t site = {.taxes = taxes,
                   .tax_count = 3,
                   .teams = teams,
                   .team_count = 3,
                   .currency_digits = 2};
    bill_t *bill = bill_new ();
    const posting_t *rows;
    size_t count;

    for (size_t i = 0; i < 3; i++)
        mpq_init (taxes[i].percent);
    mpq_set_ui (taxes[0].percent, 1, 4);
    mpq_set_ui (taxes[1].percent, 1, 10);
    mpq_set_ui (taxes[2].percent, 1, 10);
    add_charge (bill, "2026-10", "p", NULL, "t", 1, 333);
    add_charge (bill, "2026-10", "p", NULL, "t", 1, 333);
    add_other (bill, BILL_CREDIT, "2026-10", "t", -64);
    bill_add_taxes (bill, &site, "2026-10", 0);
    bill_add_taxes (bill, &site, "2026-10", 0); /* once */
    rows = postings (bill, &count);
    assert_int_equal (count, 4);
    assert_int_equal (rows[1].kind, BILL_TAX); /* of no pool: first */
    assert_string_equal (rows[1].what, "VAT");
    /* 6.02 x 25% = 1.505, half to even: 1.50; by lines it would be 1.51 */
    assert_int_equal (mpz_cmp_si (rows[1].charge_units, 150), 0);
    for (size_t i = 0; i < 3; i++)
        mpq_clear (taxes[i].percent);
    bill_free (bill);
}

TEST_MAIN (NULL, NULL)
