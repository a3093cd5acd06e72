/* What policies make of a price and of idle time, to the cent: the examples of
 * docs/guides/rates.md. */
#include "support/book.h"

#include "money/carry_forward.h"
#include "money/charge.h"

/* --- months ------------------------------------------------------------- */

#define LENGTH (CHARGE_TEAM + 1)

static const size_t levels[] = {1, CHARGE_PATH_COUNT, LENGTH};

static void set_hours (mpq_t value, int hours)
{
    exact_set_i64 (value, hours * INT64_C (3600), 1);
}

/* A site with one pool that costs so much in November. */
static site_t *site_of (const char *cost)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n[1-8]", 8);
    book_cost (site, "p", "all", cost, COST_PER_MONTH);
    return site;
}

static site_team_t *add_team (site_t *site, const char *name)
{
    site_team_t *team = BOOK_NEW (site->teams, site->team_count);

    team->name = xstrdup (name);
    team->valid = book_always;
    mpq_inits (team->surcharge, team->overhead, NULL);
    return team;
}

static site_qos_t *add_qos (site_t *site, const char *name,
                            const char *multiplier, const char *subsidy)
{
    site_qos_t *qos = BOOK_NEW (site->qos, site->qos_count);

    qos->name = xstrdup (name);
    book_number (qos->multiplier, multiplier);
    book_number (qos->subsidy, subsidy);
    qos->valid = book_always;
    return qos;
}

static site_entitlement_t *add_entitlement (site_t *site, const char *team)
{
    site_entitlement_t *e
        = BOOK_NEW (site->entitlements, site->entitlement_count);

    e->team = xstrdup (team);
    e->pool = xstrdup ("p");
    mpq_inits (e->gpus, e->share, e->gpu_hours, e->carry_cap, NULL);
    e->valid = book_always;
    return e;
}

static void add_tier (site_rate_t *rate, const char *above, const char *price)
{
    site_tier_t *tier = BOOK_NEW (rate->tiers, rate->tier_count);

    book_number (tier->above, above);
    book_number (tier->per_gpu_hour, price);
}

/* In hours. */
struct month {
    int allocated, reserved, idle, down;
};

static charge_t *start (const site_t *site, struct month m)
{
    capacity_sum_t sum;
    gl_error_t error;
    charge_t *charge;

    capacity_sum_init (&sum);
    set_hours (sum.allocated, m.allocated);
    set_hours (sum.reserved_unused, m.reserved);
    set_hours (sum.idle, m.idle);
    set_hours (sum.down, m.down);
    set_hours (sum.capacity, m.allocated + m.reserved + m.idle + m.down);
    charge = charge_new (site, "p", book_month (site, 2026, 11), &sum, NULL,
                         levels, GL_ARRAY_SIZE (levels), &error);
    if (!charge)
        fail_msg ("%s", error.text);
    capacity_sum_clear (&sum);
    return charge;
}

static void use (charge_t *charge, const site_t *site, const char *team,
                 const char *qos, int hours)
{
    const char *path[LENGTH] = {team, "lab", NULL, NULL, qos};
    rate_card_price_t price = rate_card_price (
        site, (rate_subject_t){.pool = "p",
                               .qos = qos,
                               .team = team,
                               .instant = book_instant (site, 2026, 11, 1, 0)});
    mpq_t seconds;

    path[CHARGE_TEAM] = team;
    mpq_init (seconds);
    set_hours (seconds, hours);
    charge_add (charge, path, seconds, seconds, &price);
    mpq_clear (seconds);
}

static void compute (charge_t *charge)
{
    gl_error_t error;

    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
}

static void check (const mpz_t units, const char *expected)
{
    char *text = exact_units_text (units, 2);

    assert_string_equal (text, expected);
    free (text);
}

/* Of the team, all lines of the kind and of `what` (NULL: any). */
static void check_team (const charge_t *charge, const char *team,
                        charge_kind_t kind, const char *what,
                        const char *expected)
{
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < count; i++)
        if (line[i].kind == kind && line[i].path[CHARGE_TEAM]
            && !strcmp (line[i].path[CHARGE_TEAM], team)
            && (!what || !strcmp (line[i].what, what)))
            mpz_add (sum, sum, line[i].charge_units);
    check (sum, expected);
    mpz_clear (sum);
}

static void check_rest (const charge_t *charge, remainder_id_t id,
                        const char *expected)
{
    check (charge_remainders (charge)[id].charge_units, expected);
}

/* --- section 8 ---------------------------------------------------------- */

static site_t *section_8 (idle_policy_t idle)
{
    site_t *site = site_of ("0");

    /* 64 x 24,906.2363... x 30 / 365 */
    exact_set_i64 (site->costs[0].amount, INT64_C (74718709) * 64 * 30,
                   3000 * 365);
    site->policy.idle = idle;
    add_team (site, "A");
    add_team (site, "B");
    return site;
}

static charge_t *month_8 (const site_t *site, bool holder)
{
    charge_t *charge = start (site, (struct month){.allocated = 32256,
                                                   .reserved = 2304,
                                                   .idle = 9680,
                                                   .down = 1840});
    mpq_t seconds;

    use (charge, site, "A", NULL, 20000);
    use (charge, site, "B", NULL, 12256);
    mpq_init (seconds);
    set_hours (seconds, 2304);
    if (holder)
        charge_add_reserved (charge, "lab", "B", "B", seconds);
    mpq_clear (seconds);
    compute (charge);
    check (charge_total (charge), "131013.63");
    return charge;
}

TEST_CASE (idle__the_four_rows_of_the_table__to_the_cent)
{
    static const struct {
        idle_policy_t idle;
        bool holder;
        const char *a, *b, *a_idle, *b_reserved, *rest_idle, *rest_down;
    } rows[] = {
        {IDLE_EXPLICIT, true, "56863.55", "34845.99", "0.00", "6550.68",
         "27521.96", "5231.45"},
        /* 77,171.97 and 47,290.98, of which used as above */
        {IDLE_PROPORTIONAL, true, "56863.55", "34845.99", "20308.42", "6550.68",
         "0.00", "0.00"},
        {IDLE_IN_RATE, true, "75818.07", "46461.32", "0.00", "8734.24", "0.00",
         "0.00"},
        {IDLE_IN_RATE, false, "81233.65", "49779.98", "0.00", "0.00", "0.00",
         "0.00"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = section_8 (rows[i].idle);
        charge_t *charge = month_8 (site, rows[i].holder);
        check_team (charge, "A", CHARGE_USED, NULL, rows[i].a);
        check_team (charge, "B", CHARGE_USED, NULL, rows[i].b);
        check_team (charge, "A", CHARGE_IDLE, NULL, rows[i].a_idle);
        check_team (charge, "B", CHARGE_IDLE, "reserved_unused",
                    rows[i].b_reserved);
        check_rest (charge, REMAINDER_IDLE, rows[i].rest_idle);
        check_rest (charge, REMAINDER_DOWN, rows[i].rest_down);
        charge_free (charge);
        site_free (site);
    }
}

/* 20,308.42 = 77,171.97 - 56,863.55; 12,444.99 = 47,290.98 - 34,845.99. */
TEST_CASE (idle__proportional__keeps_the_classes_apart)
{
    site_t *site = section_8 (IDLE_PROPORTIONAL);
    charge_t *charge = month_8 (site, true);

    check_team (charge, "B", CHARGE_IDLE, NULL, "18995.67");
    check_team (charge, "A", CHARGE_IDLE, "idle", "17064.71");
    check_team (charge, "A", CHARGE_IDLE, "down", "3243.71");
    check_team (charge, "B", CHARGE_IDLE, "idle", "10457.25");
    check_team (charge, "B", CHARGE_IDLE, "down", "1987.74");
    charge_free (charge);
    site_free (site);
}

/* A line of hours whose job nobody knows has the keys of its account's line of idle
 * time. What is given back of it is a part of the hours alone: half of them back is
 * half of their cents, an odd one is kept. */
TEST_CASE (idle__proportional__is_no_part_of_what_is_given_back)
{
    for (unsigned cents = 0; cents < 100; cents++) {
        GL_AUTOFREE char *cost = xasprintf ("1000.%02u", cents);
        const char *path[LENGTH] = {"A", "lab"};
        site_t *site = site_of (cost);
        charge_t *charge;
        mpq_t seconds;
        mpz_t used, back;
        size_t count;

        site->policy.idle = IDLE_PROPORTIONAL;
        add_team (site, "A");
        path[CHARGE_TEAM] = "A";
        charge = start (site, (struct month){.allocated = 334, .idle = 333});
        use (charge, site, "A", NULL, 334);
        mpq_init (seconds);
        mpz_inits (used, back, NULL);
        set_hours (seconds, 167);
        charge_add_credit (
            charge, path,
            (rate_subject_t){.instant = book_instant (site, 2026, 11, 1, 0)},
            seconds, "NODE_FAIL", "lab/1/1");
        compute (charge);
        const charge_line_t *line = charge_lines (charge, &count);
        assert_int_equal (count, 3);
        for (size_t i = 0; i < count; i++)
            if (line[i].kind == CHARGE_USED)
                mpz_set (used, line[i].charge_units);
            else if (line[i].kind == CHARGE_CREDIT)
                mpz_neg (back, line[i].charge_units);
        if (mpz_get_si (back) != mpz_get_si (used) / 2)
            fail_msg ("%s: %ld of %ld come back", cost, mpz_get_si (back),
                      mpz_get_si (used));
        mpz_clears (used, back, NULL);
        mpq_clear (seconds);
        charge_free (charge);
        site_free (site);
    }
}

/* 32,753.41 between two teams; 3 : 1 by entitlement. */
TEST_CASE (idle__uniform_and_entitlement__go_to_teams)
{
    static const struct {
        idle_policy_t idle;
        const char *a, *b;
    } rows[] = {{IDLE_UNIFORM, "16376.71", "16376.70"},
                {IDLE_ENTITLEMENT, "24565.06", "8188.35"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = section_8 (rows[i].idle);
        charge_t *charge;
        if (rows[i].idle == IDLE_ENTITLEMENT) {
            mpq_set_ui (add_entitlement (site, "A")->gpus, 3, 1000);
            mpq_set_ui (add_entitlement (site, "B")->gpus, 1, 1000);
            mpq_canonicalize (site->entitlements[0].gpus);
            mpq_canonicalize (site->entitlements[1].gpus);
        }
        charge = month_8 (site, true);
        check_team (charge, "A", CHARGE_IDLE, "idle",
                    i ? "20641.47" : "13760.98");
        check_rest (charge, REMAINDER_IDLE, "0.00");
        check_rest (charge, REMAINDER_DOWN, "0.00");
        charge_free (charge);
        site_free (site);
    }
}

/* A pool at a published rate: nobody pays its idle time beside the rate. */
TEST_CASE (idle__published_rate__is_all_there_is_to_pay)
{
    site_t *site = section_8 (IDLE_PROPORTIONAL);
    charge_t *charge;

    book_rate (site, "p", NULL, "3", MIG_MAX);
    charge = month_8 (site, true);
    check_team (charge, "A", CHARGE_USED, NULL, "60000.00");
    check_team (charge, "A", CHARGE_IDLE, NULL, "0.00");
    check_team (charge, "B", CHARGE_IDLE, NULL, "6912.00");
    check_rest (charge, REMAINDER_IDLE, "27521.96");
    charge_free (charge);
    site_free (site);
}

/* 1,000 over 1,000 hours at 80 % planned: 1.25, busy or not. */
TEST_CASE (idle__practical__a_quiet_month_has_the_same_rate)
{
    static const struct {
        int used;
        const char *a, *carried;
    } months[] = {{800, "1000.00", "-200.00"}, {100, "125.00", "-25.00"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (months); i++) {
        site_t *site = site_of ("1000");
        charge_t *charge;
        site->policy.idle = IDLE_PRACTICAL;
        charge = start (site, (struct month){.allocated = months[i].used,
                                             .idle = 1000 - months[i].used});
        use (charge, site, "A", NULL, months[i].used);
        compute (charge);
        book_check (charge_full_rate (charge), 2, "1.25");
        check_team (charge, "A", CHARGE_USED, NULL, months[i].a);
        check_rest (charge, REMAINDER_CARRIED, months[i].carried);
        charge_free (charge);
        site_free (site);
    }
}

/* --- sections 10 and 11 ------------------------------------------------- */

static void check_line (const charge_line_t *line, const char *list,
                        adjustment_id_t id, const char *adjustment,
                        const char *due)
{
    check (line->list_units, list);
    check (line->adjustment_units[id], adjustment);
    check (line->charge_units, due);
}

/* 6 GPU-hours at 3.5540: list 21.32, subsidy 21.32, due 0. */
TEST_CASE (qos__free_preemptible__shows_its_value)
{
    site_t *site = site_of ("100");
    charge_t *charge;
    size_t count;

    book_rate (site, "p", NULL, "3.5540", MIG_MAX);
    add_qos (site, "scavenge", "1", "1");
    charge = start (site, (struct month){.allocated = 6});
    use (charge, site, "A", "scavenge", 6);
    compute (charge);
    check_line (charge_lines (charge, &count), "21.32", ADJUSTMENT_SUBSIDY,
                "-21.32", "0.00");
    check_rest (charge, REMAINDER_SUBSIDY, "21.32");
    charge_free (charge);
    site_free (site);
}

TEST_CASE (qos__multiplier__is_of_the_list_price)
{
    site_t *site = site_of ("100");
    charge_t *charge;
    size_t count;

    book_rate (site, "p", NULL, "2", MIG_MAX);
    add_qos (site, "high", "1.5", "0");
    charge = start (site, (struct month){.allocated = 10});
    use (charge, site, "A", "high", 10);
    compute (charge);
    check_line (charge_lines (charge, &count), "20.00", ADJUSTMENT_QOS, "10.00",
                "30.00");
    check_rest (charge, REMAINDER_QOS, "-10.00");
    charge_free (charge);
    site_free (site);
}

/* 10.00 and 15.6 %: 11.56. 3.50, 10 % and 26 %: 4.851. */
TEST_CASE (external__surcharge_and_overhead__as_published)
{
    static const struct {
        const char *rate, *surcharge, *overhead, *due;
        int hours;
    } cases[] = {{"10.00", "0", "0.156", "11.56", 1},
                 {"3.50", "10%", "26%", "4851.00", 1000}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = site_of ("100");
        site_team_t *team = add_team (site, "X");
        charge_t *charge;
        book_rate (site, "p", NULL, cases[i].rate, MIG_MAX);
        mpq_clears (team->surcharge, team->overhead, NULL);
        book_number (team->surcharge, cases[i].surcharge);
        book_number (team->overhead, cases[i].overhead);
        charge = start (site, (struct month){.allocated = cases[i].hours});
        use (charge, site, "X", NULL, cases[i].hours);
        compute (charge);
        check_team (charge, "X", CHARGE_USED, NULL, cases[i].due);
        charge_free (charge);
        site_free (site);
    }
}

/* 100 of 150 hours are owned, whatever of; free jobs draw nothing of it. */
TEST_CASE (entitlement__use_within_it__is_not_due)
{
    for (int form = 0; form < 3; form++) {
        site_t *site = site_of ("100");
        site_entitlement_t *e = add_entitlement (site, "A");
        const charge_payer_t *payer;
        charge_t *charge;
        size_t count;
        book_rate (site, "p", NULL, "2", MIG_MAX);
        add_qos (site, "scavenge", "1", "1");
        if (form == 0)
            mpq_set_ui (e->gpu_hours, 100, 1);
        else if (form == 1)
            exact_set_i64 (e->gpus, 100, 720);
        else
            exact_set_i64 (e->share, 1, 10);
        charge = start (site, (struct month){.allocated = 200, .idle = 800});
        use (charge, site, "A", NULL, 150);
        use (charge, site, "A", "scavenge", 50);
        compute (charge);
        check_team (charge, "A", CHARGE_USED, NULL, "100.00");
        check_rest (charge, REMAINDER_ENTITLEMENT, "200.00");
        check_rest (charge, REMAINDER_SUBSIDY, "100.00");
        payer = charge_payers (charge, &count);
        assert_int_equal (count, 1);
        book_check (payer->drawn, 0, "360000");
        book_check (payer->spent, 2, "100.00");
        charge_free (charge);
        site_free (site);
    }
}

/* 300,000 units at 0.020 up to 5,000 of spending, 0.010 above: 5,500. */
TEST_CASE (tiers__the_published_year__costs_as_published)
{
    static const struct {
        tiers_by_t by;
        const char *above;
    } cases[] = {{TIERS_BY_SPEND, "5000"}, {TIERS_BY_GPU_HOURS, "250000"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = site_of ("10000");
        site_rate_t *rate = book_rate (site, "p", NULL, "0.020", MIG_MAX);
        charge_t *charge;
        size_t count;
        rate->tiers_by = cases[i].by;
        add_tier (rate, cases[i].above, "0.010");
        charge = start (site, (struct month){.allocated = 300000});
        use (charge, site, "A", NULL, 300000);
        compute (charge);
        check_line (charge_lines (charge, &count), "6000.00", ADJUSTMENT_TIER,
                    "-500.00", "5500.00");
        charge_free (charge);
        site_free (site);
    }
}

/* The first 1,000 hours are free, then 0.50. Both amounts are on the line. */
TEST_CASE (tiers__a_free_beginning__is_of_the_list_price)
{
    site_t *site = site_of ("10000");
    site_rate_t *rate = book_rate (site, "p", NULL, "0", MIG_MAX);
    charge_t *charge;
    size_t count;

    add_tier (rate, "1000", "0.50");
    charge = start (site, (struct month){.allocated = 3000});
    use (charge, site, "A", NULL, 3000);
    compute (charge);
    check_line (charge_lines (charge, &count), "1500.00", ADJUSTMENT_TIER,
                "-500.00", "1000.00");
    charge_free (charge);
    site_free (site);
}

/* 600 of list price here and 200 in another pool, with 400 spent there before: of 800
 * the first 600 are whole and 200 are halved, by which each is 7/8. */
TEST_CASE (tiers__over_several_pools__have_one_mean_price)
{
    site_t *site = site_of ("10000");
    site_rate_t *rate = book_rate (site, "p", NULL, "2", MIG_MAX);
    charge_payer_t other = {.team = "A"};
    charge_t *charge;
    size_t count;

    mpq_inits (other.listed, other.spent, other.billed, other.drawn, NULL);
    rate->tiers_by = TIERS_BY_SPEND;
    texts_add (&rate->tiers_pools, "p");
    texts_add (&rate->tiers_pools, "q");
    add_tier (rate, "1000", "1");
    charge = start (site, (struct month){.allocated = 300});
    use (charge, site, "A", NULL, 300);
    charge_prepare (charge);
    mpq_set_ui (other.spent, 400, 1);
    charge_add_others (charge, &other, TIERS_BY_SPEND, true);
    mpq_set_ui (other.listed, 200, 1);
    charge_add_others (charge, &other, TIERS_BY_SPEND, false);
    compute (charge);
    check_line (charge_lines (charge, &count), "600.00", ADJUSTMENT_TIER,
                "-75.00", "525.00");
    mpq_clears (other.listed, other.spent, other.billed, other.drawn, NULL);
    charge_free (charge);
    site_free (site);
}

/* The same in two months: the second begins where the first ended. */
TEST_CASE (tiers__earlier_months__are_gone_on_from)
{
    site_t *site = site_of ("10000");
    site_rate_t *rate = book_rate (site, "p", NULL, "0.020", MIG_MAX);
    charge_t *first, *second;
    size_t count;

    rate->tiers_by = TIERS_BY_SPEND;
    add_tier (rate, "5000", "0.010");
    first = start (site, (struct month){.allocated = 100000});
    use (first, site, "A", NULL, 100000);
    compute (first);
    check_team (first, "A", CHARGE_USED, NULL, "2000.00");
    second = start (site, (struct month){.allocated = 200000});
    use (second, site, "A", NULL, 200000);
    charge_add_before (second, charge_payers (first, &count));
    compute (second);
    check_team (second, "A", CHARGE_USED, NULL, "3500.00");
    charge_free (first);
    charge_free (second);
    site_free (site);
}

/* 800,000 of expense, 776,000 of revenue: 3.0 % short, inside a band of 10 %; next
 * year 820,000 and 220,000 GPU-hours: 844,000 / 220,000 = 3.836364. A surplus beyond
 * the next cost leaves something, and never a negative rate. */
TEST_CASE (carry_forward__a_year__moves_its_balance_into_the_next)
{
    static const struct {
        const char *revenue, *balance, *share, *rate, *left;
        bool within;
    } cases[] = {
        {"776000", "-24000", "0.03", "3.836364", "0", true},
        {"720000", "-80000", "0.1", "4.090909", "0", true}, /* the bound itself */
        {"719999", "-80001", "0.10000125", "4.090914", "0", false},
        {"880000", "80000", "0.1", "3.363636", "0", true},
        {"880001", "80001", "0.10000125", "3.363632", "0", false},
        {"900000", "100000", "0.125", "3.272727", "0", false},
        {"1620000", "820000", "1.025", "0.000000", "0", false},
        {"1700000", "900000", "1.125", "0.000000", "80000", false},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        carry_year_t year;
        carry_forward_t carry;
        gl_error_t error;
        carry_year_init (&year);
        carry_forward_init (&carry);
        assert_int_equal (carry_forward (&year, &carry, &error), -1);
        mpq_set_ui (year.cost, 800000, 1);
        assert_int_equal (carry_forward (&year, &carry, &error), -1);
        mpq_set_str (year.revenue, cases[i].revenue, 10);
        mpq_set_ui (year.band, 1, 10);
        mpq_set_ui (year.next_cost, 820000, 1);
        mpq_set_ui (year.next_units, 220000, 1);
        assert_int_equal (carry_forward (&year, &carry, &error), 0);
        book_check (carry.balance, 0, cases[i].balance);
        book_check (carry.share, (int)strlen (cases[i].share) - 2,
                    cases[i].share);
        book_check (carry.next_rate, 6, cases[i].rate);
        book_check (carry.left, 0, cases[i].left);
        assert_true (carry.within == cases[i].within);
        carry_year_clear (&year);
        carry_forward_clear (&carry);
    }
}

/* --- what holds when ---------------------------------------------------- */

TEST_CASE (idle_policy__of_the_pool__goes_before_the_sites)
{
    site_t *site = site_of ("1");
    period_t month = book_month (site, 2026, 11);

    site->policy.idle = IDLE_IN_RATE;
    assert_int_equal (site_idle_policy (site, "p", month), IDLE_IN_RATE);
    site->pools[0].idle = IDLE_UNIFORM;
    assert_int_equal (site_idle_policy (site, "p", month), IDLE_UNIFORM);
    assert_string_equal (idle_policy_word (IDLE_IN_RATE), "in-rate");
    site_free (site);
}

TEST_MAIN (NULL, NULL)
