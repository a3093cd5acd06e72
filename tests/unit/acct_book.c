/* Other costs, power and tariffs of the cost book. */
#include "support/book.h"

#include "money/cost.h"
#include "money/tariff.h"

#define HOUR 3600

static void compute (const site_t *site, const char *pool, period_t period,
                     const cost_inputs_t *inputs, cost_t *cost)
{
    gl_error_t error;

    if (cost_of_pool (site, pool, period, inputs, cost, &error) < 0)
        fail_msg ("%s", error.text);
}

static void check_total (const site_t *site, const char *pool, period_t period,
                         const cost_inputs_t *inputs, int digits,
                         const char *expected)
{
    cost_t cost;

    cost_init (&cost);
    compute (site, pool, period, inputs, &cost);
    book_check (cost.total, digits, expected);
    cost_clear (&cost);
}

/* What follows use of the cost of pool p. */
static void check_by_use (const site_t *site, period_t period,
                          const cost_inputs_t *inputs, const char *expected)
{
    cost_t cost;

    cost_init (&cost);
    compute (site, "p", period, inputs, &cost);
    book_check (cost.by_use, 2, expected);
    cost_clear (&cost);
}

static cost_use_t *add_use (cost_inputs_t *inputs, const char *pool,
                            period_t period, unsigned allocated,
                            unsigned capacity, uint64_t jobs)
{
    cost_use_t *use = cost_inputs_add (inputs, pool, period);

    exact_set_i64 (use->allocated, (int64_t)allocated * HOUR, 1);
    exact_set_i64 (use->capacity, (int64_t)capacity * HOUR, 1);
    use->jobs = jobs;
    return use;
}

static void add_share (site_cost_t *cost, const char *pool, const char *share)
{
    site_share_t *part = BOOK_NEW (cost->pools.item, cost->pools.count);

    part->name = xstrdup (pool);
    book_number (part->share, share);
}

/* ---- drivers ---- */

TEST_CASE (cost_of_pool__each_driver__counts_its_own)
{
    static const struct {
        cost_driver_t driver;
        const char *expected;
    } table[] = {
        {COST_PER_GPU_HOUR, "200.00"}, {COST_PER_CAPACITY, "1488.00"},
        {COST_PER_JOB, "34.00"},       {COST_PER_KWH, "744.00"},
        /* four months of 0.1666... are 0.67, and five 0.83 */
        {COST_PER_MONTH, "2.00"},      {COST_PER_YEAR, "0.16"},
    };
    /* a GPU that consumes the same allocated or not causes nothing by use */
    static const char *const by_use[GL_ARRAY_SIZE (table)]
        = {[COST_PER_GPU_HOUR] = "200.00", [COST_PER_JOB] = "34.00"};
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.count = 0};
    site_cost_t *cost;
    cost_t costs;

    book_pool (site, "p", "n1", 1);
    book_power (site, "p", "500", "2", "free");
    book_tariff (site, "free", "0");
    cost = book_cost (site, "p", "x", "2", COST_PER_MONTH);
    add_use (&inputs, "p", may, 100, 744, 17);
    add_use (&inputs, "q", may, 5000, 7440, 1700);
    for (size_t i = 0; i < GL_ARRAY_SIZE (table); i++) {
        cost->driver = table[i].driver;
        check_total (site, "p", may, &inputs, 2, table[i].expected);
        check_by_use (site, may, &inputs,
                      by_use[table[i].driver] ? by_use[table[i].driver]
                                              : "0.00");
    }
    /* what shows it stands beside the arithmetic */
    cost->driver = COST_PER_MONTH;
    cost->category = COST_OF_NETWORK;
    cost->evidence = xstrdup ("contract 4711");
    cost->status = COST_ACCRUED;
    cost_init (&costs);
    compute (site, "p", may, &inputs, &costs);
    assert_string_equal (costs.line[0].how,
                         "2 a month x 1 months (network; contract 4711; "
                         "accrued)");
    cost_clear (&costs);
    cost_inputs_clear (&inputs);
    site_free (site);
}

TEST_CASE (cost_of_pool__shared__is_split_and_nothing_is_lost)
{
    static const struct {
        cost_share_t by;
        const char *p, *q;
    } table[] = {
        {SHARE_FIXED, "600.00", "400.00"},
        {SHARE_BY_CAPACITY, "250.00", "750.00"},
        {SHARE_BY_GPU_HOURS, "200.00", "800.00"},
        {SHARE_BY_JOBS, "900.00", "100.00"},
        /* 1 x 100 W and 3 x 200 W */
        {SHARE_BY_ENERGY, "142.86", "857.14"},
    };
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.count = 0};
    site_cost_t *cost;

    book_pool (site, "p", "n1", 1);
    book_pool (site, "q", "n[2-4]", 1);
    book_power (site, "p", "100", "1", "free");
    book_power (site, "q", "200", "1", "free");
    book_tariff (site, "free", "0");
    cost = book_cost (site, "p", "x", "1000", COST_PER_MONTH);
    free (cost->pool);
    cost->pool = NULL;
    add_share (cost, "p", "60%");
    add_share (cost, "q", "40%");
    add_use (&inputs, "p", may, 100, 744, 9);
    add_use (&inputs, "q", may, 400, 2232, 1);
    for (size_t i = 0; i < GL_ARRAY_SIZE (table); i++) {
        cost->share_by = table[i].by;
        check_total (site, "p", may, &inputs, 2, table[i].p);
        check_total (site, "q", may, &inputs, 2, table[i].q);
    }
    /* nobody has a job: by capacity, which the pools themselves tell */
    cost->share_by = SHARE_BY_JOBS;
    check_total (site, "p", book_month (site, 2026, 6), &inputs, 2, "250.00");
    check_total (site, "q", book_month (site, 2026, 6), &inputs, 2, "750.00");
    /* nor a GPU: evenly */
    site->pools[0].valid.end = may.end;
    site->pools[1].valid.end = may.end;
    check_total (site, "p", book_month (site, 2026, 6), &inputs, 2, "500.00");
    cost_inputs_clear (&inputs);
    site_free (site);
}

/* ---- tariffs ---- */

static site_tariff_time_t *add_time (site_tariff_t *tariff, unsigned days,
                                     int from, int to, const char *price)
{
    site_tariff_time_t *time = BOOK_NEW (tariff->times, tariff->time_count);

    time->days = days;
    time->hours[0] = from;
    time->hours[1] = to;
    book_number (time->per_kwh, price);
    return time;
}

#define WORKDAYS 0x1fu
#define ALL_DAYS 0x7fu

/* 0.56 kW x PUE 1.3 for 2 h at 0.18 and 2 h at 0.08 is 0.3786; at a flat 0.10
 * it is 0.2912. */
TEST_CASE (cost_of_pool__times_of_use__as_published)
{
    site_t *site = book_new ("Europe/Oslo");
    site_tariff_t *tariff;
    period_t four = {book_instant (site, 2026, 5, 4, 20), 0};
    cost_t cost;

    four.end = four.start + 4 * HOUR;
    book_pool (site, "p", "n1", 1);
    book_power (site, "p", "560", "1.3", "k");
    tariff = book_tariff (site, "k", "0.10");
    check_total (site, "p", four, NULL, 4, "0.2912");
    mpq_set_ui (tariff->per_kwh, 2, 25);
    add_time (tariff, WORKDAYS, 7 * 60, 22 * 60, "0.18");
    check_total (site, "p", four, NULL, 4, "0.3786");
    cost_init (&cost);
    compute (site, "p", four, NULL, &cost);
    assert_string_equal (cost.line[0].how,
                         "560 W x 1 GPUs x 7200 s x PUE 1.3 x 0.08 per kWh; "
                         "560 W x 1 GPUs x 7200 s x PUE 1.3 x 0.18 per kWh");
    cost_clear (&cost);
    /* in a zone of its own: 20:00 in Oslo is 14:00 in New York */
    tariff->zone = zone_open ("America/New_York", NULL);
    check_total (site, "p", four, NULL, 4, "0.5242");
    site_free (site);
}

static void check_hours (const site_t *site, const site_tariff_t *tariff,
                         period_t period, int64_t other, int64_t first)
{
    int64_t seconds[4];

    tariff_seconds (site, tariff, period, seconds);
    assert_int_equal (seconds[0], other * HOUR);
    assert_int_equal (seconds[1], first * HOUR);
}

TEST_CASE (tariff_seconds__clock_changes__are_exact)
{
    site_t *site = book_new ("Europe/Oslo");
    site_tariff_t *tariff = book_tariff (site, "k", "1");
    site_tariff_time_t *night
        = add_time (tariff, ALL_DAYS, 22 * 60, 6 * 60, "2");
    period_t day;

    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 5, 5, 12));
    check_hours (site, tariff, day, 16, 8);
    /* 02:00 to 03:00 is missing, and is there twice */
    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 3, 29, 12));
    check_hours (site, tariff, day, 16, 7);
    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 10, 25, 12));
    check_hours (site, tariff, day, 16, 9);
    /* October has 745 hours */
    check_hours (site, tariff, book_month (site, 2026, 10), 31 * 16,
                 31 * 8 + 1);
    /* nights that begin on a Friday end on Saturday morning: 2026-05-08 */
    night->days = 1u << 4;
    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 5, 8, 12));
    check_hours (site, tariff, day, 22, 2);
    day = zone_unit (site->zone, CALENDAR_DAY, day.end);
    check_hours (site, tariff, day, 18, 6);
    day = zone_unit (site->zone, CALENDAR_DAY, day.end);
    check_hours (site, tariff, day, 24, 0);
    site_free (site);
}

/* Against a count of every quarter of an hour by its own clock. */
TEST_CASE (tariff_seconds__any_times__as_counted)
{
    static const char *const zones[]
        = {"UTC", "America/New_York", "Australia/Lord_Howe"};
    uint64_t seed = 9001;

    for (size_t z = 0; z < GL_ARRAY_SIZE (zones); z++) {
        site_t *site = book_new (zones[z]);
        site_tariff_t *tariff = book_tariff (site, "k", "1");
        for (int i = 0; i < 2; i++)
            add_time (tariff, 0, 0, 0, "2");
        for (int round = 0; round < 60; round++) {
            int64_t seconds[3], counted[3] = {0, 0, 0};
            period_t period
                = {book_instant (site, 2026, 1, 1, 0)
                       + (int64_t)book_random (&seed, 30000) * 900,
                   0};
            period.end
                = period.start + (int64_t)book_random (&seed, 2000) * 900;
            for (int i = 0; i < 2; i++) {
                /* hours that the clocks do not skip: from 4 o'clock on */
                int from = 240 + (int)book_random (&seed, 79) * 15;
                int to = 240 + (int)book_random (&seed, 79) * 15;
                tariff->times[i].days = (unsigned)book_random (&seed, 128);
                tariff->times[i].hours[0] = from;
                tariff->times[i].hours[1] = to == from ? 1440 : to;
            }
            tariff_seconds (site, tariff, period, seconds);
            for (int64_t at = period.start; at < period.end; at += 900) {
                civil_t c = zone_civil (site->zone, at);
                int minute = c.hour * 60 + c.minute;
                int64_t day = calendar_day_number (c.year, c.month, c.day);
                size_t found = 0;
                for (size_t i = 2; i-- > 0;) {
                    const site_tariff_time_t *t = &tariff->times[i];
                    bool over = t->hours[1] <= t->hours[0];
                    unsigned today = 1u << ((day + 3) % 7);
                    unsigned before = 1u << ((day + 2) % 7);
                    if ((t->days & today && minute >= t->hours[0]
                         && (over || minute < t->hours[1]))
                        || (over && t->days & before && minute < t->hours[1]))
                        found = i + 1;
                }
                counted[found] += 900;
            }
            assert_memory_equal (seconds, counted, sizeof (seconds));
        }
        site_free (site);
    }
}

/* ---- power ---- */

/* 100 GPU-hours held at 700 W and 644 free at 100 W, and a node of 300 W. */
TEST_CASE (cost_of_pool__idle_and_node_watts__follow_what_is_held)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5), half = may;
    cost_inputs_t inputs = {.count = 0};
    site_power_t *power;
    cost_use_t *use;

    book_pool (site, "p", "n1", 1);
    power = book_power (site, "p", "700", "1.5", "k");
    mpq_set_ui (power->idle_watts, 100, 1);
    mpq_set_ui (power->node_watts, 300, 1);
    book_tariff (site, "k", "1");
    use = add_use (&inputs, "p", may, 100, 744, 1);
    /* (70 + 64.4 + 223.2) x 1.5 */
    check_total (site, "p", may, &inputs, 2, "536.40");
    half.end = half.start + period_seconds (may) / 2;
    check_total (site, "p", half, &inputs, 2, "268.20");
    /* nothing is known of June: as if all were held, (504 + 216) x 1.5 */
    check_total (site, "p", book_month (site, 2026, 6), &inputs, 2, "1080.00");
    /* of 80 held hours the counters say 40 kWh, the other 20 are modelled:
     * (40 + 14 + 64.4 + 223.2) x 1.5 */
    power->measured = 1;
    use->energy_mj = UINT64_C (40) * 3600000000;
    exact_set_i64 (use->energy_seconds, 80 * HOUR, 1);
    check_total (site, "p", may, &inputs, 2, "512.40");
    assert_true (cost_wants_usage (site));
    /* agents saw nothing: that is not nothing used */
    use->energy_mj = 0;
    mpq_set_ui (use->energy_seconds, 0, 1);
    check_total (site, "p", may, &inputs, 2, "536.40");
    cost_inputs_clear (&inputs);
    site_free (site);
}

/* The same machine at 2.00 a kWh: jobs cause what their GPUs consume beyond the
 * 100 W of an idle one, the rest comes with capacity. */
TEST_CASE (cost_of_pool__energy_of_idle_gpus__is_no_use)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.count = 0};
    site_power_t *power;
    site_cost_t *cost;
    cost_use_t *use;

    book_pool (site, "p", "n1", 1);
    power = book_power (site, "p", "700", "1.5", "free");
    mpq_set_ui (power->idle_watts, 100, 1);
    mpq_set_ui (power->node_watts, 300, 1);
    book_tariff (site, "free", "0");
    cost = book_cost (site, "p", "cooling", "2", COST_PER_KWH);
    use = add_use (&inputs, "p", may, 100, 744, 1);
    /* 2 x (70 + 64.4 + 223.2) kWh; 100 h x 600 W are 60 of them */
    check_total (site, "p", may, &inputs, 2, "715.20");
    check_by_use (site, may, &inputs, "120.00");
    /* measured: 40 kWh in 80 hours and 14 modelled, less 10 */
    power->measured = 1;
    use->energy_mj = UINT64_C (40) * 3600000000;
    exact_set_i64 (use->energy_seconds, 80 * HOUR, 1);
    check_by_use (site, may, &inputs, "88.00");
    /* the book of charges is the recoverable one */
    site->policy.book = BOOK_RECOVERABLE;
    mpq_set_ui (cost->recoverable, 1, 4);
    check_by_use (site, may, &inputs, "22.00");
    /* less than an idle one consumes: nothing */
    use->energy_mj = 1;
    exact_set_i64 (use->energy_seconds, 100 * HOUR, 1);
    check_by_use (site, may, &inputs, "0.00");
    cost_inputs_clear (&inputs);
    site_free (site);
}

TEST_CASE (cost_of_pool__demand_and_fee__are_monthly)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5), part = may;
    site_tariff_t *tariff;
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n[1-2]", 1);
    book_pool (site, "q", "m[1-6]", 1);
    book_power (site, "p", "500", "1.5", "k");
    book_power (site, "q", "500", "1.5", "k");
    tariff = book_tariff (site, "k", "0");
    mpq_set_ui (tariff->demand_per_kw, 10, 1);
    mpq_set_ui (tariff->fixed_per_month, 100, 1);
    compute (site, "p", may, NULL, &cost);
    assert_int_equal (cost.count, 2);
    assert_string_equal (cost.line[0].name, "power demand");
    assert_string_equal (cost.line[0].how,
                         "10 a month x 1.5 kW of the highest load, modelled");
    book_check (cost.line[0].amount, 2, "15.00");
    assert_string_equal (cost.line[1].name, "power fee");
    book_check (cost.line[1].amount, 2, "25.00");
    compute (site, "q", may, NULL, &cost);
    book_check (cost.line[0].amount, 2, "45.00");
    book_check (cost.line[1].amount, 2, "75.00");
    /* a load of a day is the month's highest */
    site->power[0].valid.end = may.start + 86400;
    book_power (site, "p", "100", "1.5", "k")->valid.start
        = may.start + 86400;
    part.start = may.start + 10 * 86400;
    part.end = part.start + period_seconds (may) / 2;
    compute (site, "p", part, NULL, &cost);
    book_check (cost.line[0].amount, 2, "7.50");
    cost_clear (&cost);
    site_free (site);
}

/* Wherever a month is cut, the parts cost what it costs, exactly. */
TEST_CASE (cost_of_pool__parts_of_months__add_up)
{
    site_t *site = book_new ("America/New_York");
    cost_inputs_t inputs = {.count = 0};
    site_tariff_t *tariff;
    site_cost_t *shared;
    uint64_t seed = 4242;
    cost_t whole, piece;

    cost_init (&whole);
    cost_init (&piece);
    book_pool (site, "p", "n[1-2]", 3);
    book_pool (site, "q", "m[1-6]", 1);
    for (int i = 0; i < 2; i++) {
        site_power_t *power
            = book_power (site, i ? "q" : "p", "501", "1.37", "k");
        mpq_set_ui (power->idle_watts, 77, 1);
        mpq_set_ui (power->node_watts, 301, 1);
    }
    tariff = book_tariff (site, "k", "0.11");
    mpq_set_ui (tariff->demand_per_kw, 13, 1);
    mpq_set_ui (tariff->fixed_per_month, 99, 1);
    add_time (tariff, WORKDAYS, 7 * 60 + 30, 22 * 60, "0.19");
    shared = book_cost (site, "p", "x", "777.77", COST_PER_MONTH);
    free (shared->pool);
    shared->pool = NULL;
    add_share (shared, "p", "0");
    add_share (shared, "q", "0");
    shared->share_by = SHARE_BY_GPU_HOURS;
    book_cost (site, "p", "jobs", "0.07", COST_PER_JOB);
    book_cost (site, "p", "kwh", "0.03", COST_PER_KWH);
    for (int month = 1; month <= 6; month++) {
        period_t m = book_month (site, 2026, month);
        add_use (&inputs, "p", m, 1000u + (unsigned)month * 37, 4400, 31);
        add_use (&inputs, "q", m, 100u + (unsigned)month * 91, 4400, 7);
    }
    for (int i = 0; i < 100; i++) {
        period_t all
            = {book_instant (site, 2026, 1, 1, 0)
                   + (int64_t)book_random (&seed, 9000000),
               0};
        mpq_t sum;
        all.end = all.start + (int64_t)book_random (&seed, 6000000);
        compute (site, "p", all, &inputs, &whole);
        mpq_init (sum);
        for (int64_t at = all.start; at < all.end;) {
            period_t part
                = {at, at + 1 + (int64_t)book_random (&seed, 2000000)};
            part = period_clip (part, all);
            compute (site, "p", part, &inputs, &piece);
            mpq_add (sum, sum, piece.total);
            at = part.end;
        }
        assert_true (mpq_equal (sum, whole.total));
        mpq_clear (sum);
    }
    cost_clear (&whole);
    cost_clear (&piece);
    cost_inputs_clear (&inputs);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
