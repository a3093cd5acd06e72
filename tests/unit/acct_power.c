/* Energy at the price of the hour in which it was used, and the demand charge of
 * the highest load. */
#include "support/book.h"

#include <stdio.h>

#include "base/calendar.h"
#include "money/cost.h"
#include "money/tariff.h"

#define HOUR 3600
#define KWH_MJ UINT64_C (3600000000)
#define WORKDAYS 0x1fu
#define SUNDAY 0x40u

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

static void add_time (site_tariff_t *tariff, unsigned days, int from, int to,
                      const char *per_kwh)
{
    site_tariff_time_t *time = BOOK_NEW (tariff->times, tariff->time_count);

    time->days = days;
    time->hours[0] = from;
    time->hours[1] = to;
    book_number (time->per_kwh, per_kwh);
}

/* A pool of one GPU that pays for what was measured. */
static site_power_t *measured_pool (site_t *site, const char *pue)
{
    site_power_t *power;

    book_pool (site, "p", "n1", 1);
    power = book_power (site, "p", "700", pue, "k");
    mpq_set_ui (power->idle_watts, 100, 1);
    power->measured = 1;
    return power;
}

/* All time was held, and measured: nothing is left to be modelled. */
static cost_use_t *all_measured (cost_inputs_t *inputs, period_t month)
{
    cost_use_t *use = cost_inputs_add (inputs, "p", month);

    exact_set_i64 (use->allocated, period_seconds (month), 1);
    mpq_set (use->capacity, use->allocated);
    mpq_set (use->energy_seconds, use->allocated);
    return use;
}

static void use_energy (cost_inputs_t *inputs, cost_use_t *use, int64_t from,
                        int64_t to, uint64_t quarter_mj)
{
    for (int64_t at = from; at < to; at += LOAD_SECONDS) {
        load_profile_add (&inputs->load, "p", at, quarter_mj);
        use->energy_mj += quarter_mj;
    }
}

/* ---- when it was used ---- */

/* Cost model, section 6: 0.56 kW x PUE 1.3 for 2 h at 0.18 and 2 h at 0.08 is
 * 0.3786; at a flat 0.10 it is 0.2912. */
TEST_CASE (power__measured_in_the_evening__as_published)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    int64_t evening = book_instant (site, 2026, 5, 4, 20);
    cost_inputs_t inputs = {.count = 0};
    site_tariff_t *tariff;
    cost_use_t *use;

    measured_pool (site, "1.3");
    tariff = book_tariff (site, "k", "0.08");
    add_time (tariff, WORKDAYS, 7 * 60, 22 * 60, "0.18");
    use = all_measured (&inputs, may);
    use_energy (&inputs, use, evening, evening + 4 * HOUR, KWH_MJ * 14 / 100);
    check_total (site, "p", may, &inputs, 5, "0.37856");
    /* of which nobody tells when: 2.24 kWh x 1.3 at the mean price of May's 744
     * hours, 21 weekdays of 15 of them: 0.08 + 0.10 x 315 / 744 */
    load_profile_clear (&inputs.load);
    check_total (site, "p", may, &inputs, 5, "0.35625");
    mpq_clear (tariff->times[0].per_kwh);
    free (tariff->times);
    tariff->times = NULL;
    tariff->time_count = 0;
    mpq_set_ui (tariff->per_kwh, 1, 10);
    use_energy (&inputs, use, evening, evening + 4 * HOUR, 0);
    check_total (site, "p", may, &inputs, 4, "0.2912");
    cost_inputs_clear (&inputs);
    site_free (site);
}

/* A kWh in each hour of a day on which clocks change; those from 01:00 to 03:00
 * cost 1. */
TEST_CASE (power__clock_changes__hours_are_as_long_as_they_are)
{
    static const struct {
        const char *zone;
        int month, day, hours;
        const char *expected;
    } table[] = {
        /* 02:00 is 03:00 */
        {"America/New_York", 3, 8, 23, "1.0"},
        /* 02:00 is 01:00 */
        {"America/New_York", 11, 1, 25, "3.0"},
        /* 02:00 is 01:30, in 24.5 hours */
        {"Australia/Lord_Howe", 4, 5, 24, "2.5"},
        {"Asia/Kathmandu", 4, 5, 24, "2.0"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (table); i++) {
        site_t *site = book_new (table[i].zone);
        period_t month = book_month (site, 2026, table[i].month);
        int64_t day
            = book_instant (site, 2026, table[i].month, table[i].day, 0);
        cost_inputs_t inputs = {.count = 0};
        cost_use_t *use;
        measured_pool (site, "1");
        add_time (book_tariff (site, "k", "0"), SUNDAY, 60, 180, "1");
        use = all_measured (&inputs, month);
        use_energy (&inputs, use, day, day + table[i].hours * HOUR,
                    KWH_MJ / 4);
        check_total (site, "p", month, &inputs, 1, table[i].expected);
        cost_inputs_clear (&inputs);
        site_free (site);
    }
}

/* What is not measured is modelled, evenly: 100 h held, 80 of them measured to
 * 40 kWh at night, where it costs nothing; 20 h x 0.7 + 644 h x 0.1 = 78.4 kWh
 * at the mean price, 1 for 15 of 24 hours of 21 days. */
TEST_CASE (power__measured_in_part__the_rest_is_even)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    int64_t night = book_instant (site, 2026, 5, 4, 22);
    cost_inputs_t inputs = {.count = 0};
    site_tariff_t *tariff;
    cost_use_t *use;

    measured_pool (site, "1");
    tariff = book_tariff (site, "k", "0");
    add_time (tariff, WORKDAYS, 7 * 60, 22 * 60, "1");
    use = cost_inputs_add (&inputs, "p", may);
    exact_set_i64 (use->allocated, 100 * HOUR, 1);
    exact_set_i64 (use->capacity, 744 * HOUR, 1);
    exact_set_i64 (use->energy_seconds, 80 * HOUR, 1);
    use_energy (&inputs, use, night, night + 8 * HOUR, KWH_MJ * 5 / 4);
    check_total (site, "p", may, &inputs, 4, "33.1935");
    /* the same energy at noon costs 40 more */
    load_profile_clear (&inputs.load);
    use->energy_mj = 0;
    use_energy (&inputs, use, night - 10 * HOUR, night - 2 * HOUR,
                KWH_MJ * 5 / 4);
    check_total (site, "p", may, &inputs, 4, "73.1935");
    cost_inputs_clear (&inputs);
    site_free (site);
}

/* ---- any hours: against a count by the minute ---- */

static size_t price_of_minute (const site_t *site, const site_tariff_t *tariff,
                               int64_t at)
{
    civil_t c = zone_civil (site->zone, at);
    int minutes = c.hour * 60 + c.minute;
    int64_t day = calendar_day_number (c.year, c.month, c.day);
    unsigned today = (unsigned)((day + 3) % 7), before = (today + 6) % 7;

    for (size_t i = 0; i < tariff->time_count; i++) {
        const site_tariff_time_t *t = &tariff->times[i];
        bool over = t->hours[1] <= t->hours[0];
        bool here = minutes >= t->hours[0] && (over || minutes < t->hours[1]);
        if ((here && t->days & 1u << today)
            || (over && minutes < t->hours[1] && t->days & 1u << before))
            return i + 1;
    }
    return 0;
}

/* Of each price alone, and of all together: nothing is lost or counted twice. */
TEST_CASE (power__any_load_and_hours__as_counted_and_conserved)
{
    static const char *const zones[]
        = {"UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"};
    uint64_t seed = 77;

    for (int round = 0; round < 40; round++) {
        site_t *site = book_new (zones[round % 4]);
        period_t month = book_month (site, 2026, round % 2 ? 11 : 4);
        cost_inputs_t inputs = {.count = 0};
        site_tariff_t *tariff;
        cost_use_t *use;
        mpq_t expected[3], sum;
        cost_t cost;
        measured_pool (site, "1");
        tariff = book_tariff (site, "k", "1");
        for (int i = 0; i < 2; i++)
            add_time (tariff, (unsigned)book_random (&seed, 128),
                      (int)book_random (&seed, 1440),
                      (int)book_random (&seed, 1440), "1");
        use = all_measured (&inputs, month);
        mpq_inits (expected[0], expected[1], expected[2], sum, NULL);
        for (int i = 0; i < 60; i++) {
            int64_t quarter
                = month.start
                  + (int64_t)book_random (
                        &seed, (uint64_t)period_seconds (month) / 900)
                        * 900;
            uint64_t mj = book_random (&seed, UINT64_C (1) << 50);
            use_energy (&inputs, use, quarter, quarter + 900, mj);
            for (int64_t at = quarter; at < quarter + 900; at += 60) {
                mpq_t one;
                mpq_init (one);
                exact_set_u128 (mpq_numref (one), mj);
                exact_add_scaled (expected[price_of_minute (site, tariff, at)],
                                  one, 1, INT64_C (54000000000));
                mpq_clear (one);
            }
        }
        cost_init (&cost);
        for (size_t i = 0; i <= 2; i++) {
            mpq_set_ui (tariff->per_kwh, i == 0, 1);
            mpq_set_ui (tariff->times[0].per_kwh, i == 1, 1);
            mpq_set_ui (tariff->times[1].per_kwh, i == 2, 1);
            compute (site, "p", month, &inputs, &cost);
            assert_true (mpq_equal (cost.total, expected[i]));
            mpq_add (sum, sum, cost.total);
        }
        exact_set_u128 (mpq_numref (expected[0]), use->energy_mj);
        mpz_set_ui (mpq_denref (expected[0]), KWH_MJ);
        mpq_canonicalize (expected[0]);
        assert_true (mpq_equal (sum, expected[0]));
        mpq_clears (expected[0], expected[1], expected[2], sum, NULL);
        cost_clear (&cost);
        cost_inputs_clear (&inputs);
        site_free (site);
    }
}

/* Quarters add up to the stretch, wherever that is cut. */
TEST_CASE (load_profile__a_stretch_in_parts__adds_up)
{
    uint64_t seed = 5;

    for (int round = 0; round < 200; round++) {
        device_usage_t usage = {.begin_ms = -5000000
                                    + (int64_t)book_random (&seed, 9000000),
                                .energy_mj = (int64_t)book_random (&seed, 999)
                                             * 1000003};
        load_profile_t whole = {NULL, 0}, parts = {NULL, 0};
        period_t all = {INT64_MIN / 1000, INT64_MAX / 1000};
        int64_t at = usage.begin_ms, next;
        usage.end_ms = at + 1 + (int64_t)book_random (&seed, 9000000);
        load_profile_stretch (&whole, "p", &usage, at, usage.end_ms, all);
        for (; at < usage.end_ms; at = next) {
            next = at + 1 + (int64_t)book_random (&seed, 3000000);
            if (next > usage.end_ms)
                next = usage.end_ms;
            load_profile_stretch (&parts, "p", &usage, at, next, all);
        }
        assert_int_equal (whole.pool_count, usage.energy_mj > 0);
        if (usage.energy_mj > 0) {
            const pool_load_t *a = load_profile_pool (&whole, "p");
            const pool_load_t *b = load_profile_pool (&parts, "p");
            assert_int_equal (pool_load_sum (a, all), usage.energy_mj);
            assert_int_equal (a->start, b->start);
            assert_int_equal (a->count, b->count);
            assert_memory_equal (a->energy_mj, b->energy_mj,
                                 a->count * sizeof (*a->energy_mj));
        }
        load_profile_clear (&whole);
        load_profile_clear (&parts);
    }
}

/* ---- the highest load ---- */

/* Readings of 30 kW for a month, by quarters; one is higher. */
#define READINGS (31 * 96)
#define HIGHEST (11 * 96 + 57) /* 12 May, 14:15 */

static void make_readings (const site_t *site, period_t month,
                           meter_reading_t *reading)
{
    site_meter_t *meter
        = BOOK_NEW (((site_t *)site)->meters, ((site_t *)site)->meter_count);

    meter->name = xstrdup ("utility");
    meter->measures = METER_FACILITY;
    for (int64_t i = 0; i < READINGS; i++)
        reading[i] = (meter_reading_t){
            .meter = "utility",
            .period = {month.start + i * 900, month.start + (i + 1) * 900},
            .energy_mwh = 7500000};
    reading[HIGHEST].energy_mwh = 10312500;
}

static void check_demand (const site_t *site, const char *pool, period_t month,
                          const cost_inputs_t *inputs, const char *amount,
                          const char *how)
{
    cost_t cost;

    cost_init (&cost);
    compute (site, pool, month, inputs, &cost);
    assert_int_equal (cost.count, 1);
    assert_string_equal (cost.line[0].name, "power demand");
    assert_string_equal (cost.line[0].how, how);
    book_check (cost.line[0].amount, 4, amount);
    cost_clear (&cost);
}

/* Two pools draw 1.5 and 4.5 kW. The meter's highest quarter has 10.3125 kWh, so
 * 41.25 kW; at 10 a kW that is 412.50, of which p pays a quarter. */
TEST_CASE (demand__metered__is_the_highest_interval)
{
    static meter_reading_t reading[READINGS];
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.meters = reading, .meter_count = READINGS};
    site_tariff_t *tariff;

    book_pool (site, "p", "n[1-2]", 1);
    book_pool (site, "q", "m[1-6]", 1);
    book_power (site, "p", "500", "1.5", "k");
    book_power (site, "q", "500", "1.5", "k");
    tariff = book_tariff (site, "k", "0");
    mpq_set_ui (tariff->demand_per_kw, 10, 1);
    check_demand (site, "p", may, &inputs, "15.0000",
                  "10 a month x 1.5 kW of the highest load, modelled");
    make_readings (site, may, reading);
    check_demand (site, "p", may, &inputs, "103.1250",
                  "10 a month x 10.3125 kW of the highest load, metered: of "
                  "41.25 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                  "then");
    check_demand (site, "q", may, &inputs, "309.3750",
                  "10 a month x 30.9375 kW of the highest load, metered: of "
                  "41.25 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                  "then");
    /* PDUs: with PUE */
    site->meters[0].measures = METER_MACHINES;
    check_demand (site, "p", may, &inputs, "154.6875",
                  "10 a month x 15.46875 kW of the highest load, metered: of "
                  "61.875 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                  "then");
    /* and of q 1.2: (1.5 + 3.6) / 4 = 1.275 of all of it */
    mpq_set_ui (site->power[1].pue, 6, 5);
    check_demand (site, "p", may, &inputs, "154.6875",
                  "10 a month x 15.46875 kW of the highest load, metered: of "
                  "52.59375 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                  "then");
    check_demand (site, "q", may, &inputs, "371.2500",
                  "10 a month x 37.125 kW of the highest load, metered: of "
                  "52.59375 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                  "then");
    /* BMCs are not all that is paid for */
    site->meters[0].measures = METER_NODES;
    check_demand (site, "p", may, &inputs, "15.0000",
                  "10 a month x 1.5 kW of the highest load, modelled");
    site_free (site);
}

TEST_CASE (demand__gaps_and_other_tariffs__are_modelled)
{
    static meter_reading_t reading[READINGS];
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.meters = reading, .meter_count = READINGS};
    site_tariff_t *tariff;

    book_pool (site, "p", "n[1-2]", 1);
    book_power (site, "p", "500", "1.5", "k");
    tariff = book_tariff (site, "k", "0");
    mpq_set_ui (tariff->demand_per_kw, 10, 1);
    make_readings (site, may, reading);
    /* the highest was not read: the rest was, and 1.5 kW stand for it */
    reading[HIGHEST] = reading[HIGHEST - 1];
    check_demand (site, "p", may, &inputs, "300.0000",
                  "10 a month x 30 kW of the highest load, metered: of 30 kW in "
                  "900 s from 2026-05-01T00:00:00Z on, by load then; meters "
                  "tell of 99.97 % of the month");
    for (size_t i = 0; i < READINGS; i++)
        reading[i].energy_mwh = 300000;
    /* all that was read is lower than what stands for the gap */
    check_demand (site, "p", may, &inputs, "15.0000",
                  "10 a month x 1.5 kW of the highest load, modelled; meters "
                  "tell of 99.97 % of the month");
    /* a day's reading shows no demand */
    reading[0].period.end = may.end;
    reading[0].energy_mwh = UINT64_C (100000000000);
    inputs.meter_count = 1;
    check_demand (site, "p", may, &inputs, "15.0000",
                  "10 a month x 1.5 kW of the highest load, modelled");
    /* of two tariffs the meter must say which */
    reading[0].period.end = may.start + 900;
    book_pool (site, "q", "m[1-6]", 1);
    book_power (site, "q", "500", "1.5", "other");
    book_tariff (site, "other", "0");
    check_demand (site, "p", may, &inputs, "15.0000",
                  "10 a month x 1.5 kW of the highest load, modelled");
    site->meters[0].tariff = xstrdup ("k");
    check_demand (site, "p", may, &inputs, "4000000.0000",
                  "10 a month x 400000 kW of the highest load, metered: of "
                  "400000 kW in 900 s from 2026-05-01T00:00:00Z on, by load "
                  "then; meters tell of 0.03 % of the month");
    site_free (site);
}

/* A utility that is read by the month, or by quarters in another month alone,
 * leaves the demand to the PDUs. */
TEST_CASE (demand__facility_read_by_the_month__is_the_machines)
{
    static meter_reading_t reading[READINGS + 2];
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    cost_inputs_t inputs = {.meters = reading, .meter_count = READINGS + 2};
    meter_reading_t *bill = &reading[READINGS];
    const char *how = "10 a month x 61.875 kW of the highest load, metered: of "
                      "61.875 kW in 900 s from 2026-05-12T14:15:00Z on, by load "
                      "then";

    book_pool (site, "p", "n[1-2]", 1);
    book_power (site, "p", "500", "1.5", "k");
    mpq_set_ui (book_tariff (site, "k", "0")->demand_per_kw, 10, 1);
    make_readings (site, may, reading);
    site->meters[0].measures = METER_MACHINES;
    bill[0] = bill[1] = (meter_reading_t){"zz-utility", may, 45000000000};
    bill[1].period = (period_t){may.end, may.end + 900};
    *BOOK_NEW (site->meters, site->meter_count)
        = (site_meter_t){.name = xstrdup ("zz-utility"),
                         .measures = METER_FACILITY};
    check_demand (site, "p", may, &inputs, "618.7500", how);
    site_free (site);
}

/* A kWh in each quarter and 2 kWh in one, which are 8 kW; x PUE. */
TEST_CASE (demand__measured_by_gpus__is_the_highest_quarter)
{
    site_t *site = book_new ("UTC");
    period_t may = book_month (site, 2026, 5);
    int64_t noon = book_instant (site, 2026, 5, 12, 12);
    cost_inputs_t inputs = {.count = 0};
    site_tariff_t *tariff;
    cost_use_t *use;

    measured_pool (site, "1.5");
    tariff = book_tariff (site, "k", "0");
    mpq_set_ui (tariff->demand_per_kw, 10, 1);
    use = all_measured (&inputs, may);
    use_energy (&inputs, use, may.start, may.end, KWH_MJ);
    use_energy (&inputs, use, noon, noon + 900, KWH_MJ);
    check_demand (site, "p", may, &inputs, "120.0000",
                  "10 a month x 12 kW of the highest load, modelled, with what "
                  "GPUs measured: from 2026-05-12T12:00:00Z on");
    cost_inputs_clear (&inputs);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
