/* What meters counted, beside the devices, and the bill. */
#include "support/book.h"

#include "money/meter_price.h"

#define KWH UINT64_C (1000000)

static site_meter_t *book_meter (site_t *site, const char *name,
                                 meter_kind_t kind)
{
    site_meter_t *meter = BOOK_NEW (site->meters, site->meter_count);

    meter->name = xstrdup (name);
    meter->measures = kind;
    return meter;
}

static void compute (const site_t *site, period_t period,
                     const meter_reading_t *readings, size_t count,
                     meter_balance_t *b)
{
    gl_error_t error;

    if (meter_balance (site, period, readings, count, b, &error) < 0)
        fail_msg ("%s", error.text);
}

static site_t *site_of (void)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n[1-10]", 1);
    book_power (site, "p", "560", "1.3", "flat");
    book_tariff (site, "flat", "0.10");
    book_meter (site, "pdu-1", METER_MACHINES);
    book_meter (site, "pdu-2", METER_MACHINES);
    book_meter (site, "bmc", METER_NODES);
    book_meter (site, "utility", METER_FACILITY);
    return site;
}

/* 20,400 + 2,600 + 6,900 = 29,900 of 30,500; x 1.3 = 39,650 at 0.10 = 3,965. */
TEST_CASE (meter_balance__the_worked_month__is_the_bill)
{
    site_t *site = site_of ();
    period_t may = book_month (site, 2026, 5);
    int64_t middle = may.start + 10 * 86400;
    const meter_reading_t readings[] = {
        {"pdu-1", {may.start, middle}, 10000 * KWH},
        {"pdu-1", {middle, may.end}, 15000 * KWH},
        {"pdu-2", may, 5500 * KWH},
        {"bmc", may, 29900 * KWH},
        {"utility", may, 39650 * KWH},
        {"nobody's", may, 777 * KWH},
        {"pdu-1", {may.end, may.end + 3600}, 5 * KWH},
    };
    meter_balance_t b;

    meter_balance_init (&b);
    mpq_set_ui (b.allocated, 20400, 1);
    mpq_set_ui (b.idle, 2600, 1);
    b.devices_known = true;
    compute (site, may, readings, GL_ARRAY_SIZE (readings), &b);
    assert_true (b.rest_metered);
    book_check (b.rest, 2, "6900.00");
    book_check (b.machines.kwh, 2, "30500.00");
    book_check (b.machines.covered, 2, "1.00");
    book_check (b.residual, 2, "600.00");
    assert_true (b.priced);
    book_check (b.with_pue, 2, "39650.00");
    book_check (b.bill, 2, "3965.00");
    book_check (b.facility.kwh, 2, "39650.00");
    meter_balance_clear (&b);
    site_free (site);
}

/* Without BMCs the rest is what the book says, or it is in the residual. */
TEST_CASE (meter_balance__no_bmc__the_rest_is_modelled_or_unknown)
{
    site_t *site = site_of ();
    period_t may = book_month (site, 2026, 5);
    const meter_reading_t readings[] = {{"pdu-1", may, 30500 * KWH}};
    meter_balance_t b;

    meter_balance_init (&b);
    mpq_set_ui (b.allocated, 23000, 1);
    b.devices_known = true;
    compute (site, may, readings, 1, &b);
    assert_false (b.rest_known);
    book_check (b.residual, 2, "7500.00");
    /* one of two meters was read */
    book_check (b.machines.covered, 2, "0.50");
    assert_false (b.facility.known);
    meter_balance_clear (&b);
    /* 10 nodes of 900 W for 744 hours */
    mpq_set_ui (site->power[0].node_watts, 900, 1);
    meter_balance_init (&b);
    mpq_set_ui (b.allocated, 23000, 1);
    b.devices_known = true;
    compute (site, may, readings, 1, &b);
    assert_true (b.rest_known);
    assert_false (b.rest_metered);
    book_check (b.rest, 2, "6696.00");
    book_check (b.residual, 2, "804.00");
    meter_balance_clear (&b);
    site_free (site);
}

/* Two hours at 0.18 and two at 0.08, and two PUEs: no bill is made up. */
TEST_CASE (meter_balance__prices__are_those_of_the_interval)
{
    site_t *site = site_of ();
    int64_t t = book_instant (site, 2026, 5, 4, 20);
    period_t four = {t, t + 4 * 3600};
    const meter_reading_t readings[]
        = {{"pdu-1", {t, t + 3 * 3600}, 3 * KWH},
           {"pdu-1", {t + 3 * 3600, t + 5 * 3600}, 4 * KWH}};
    site_tariff_time_t *day
        = BOOK_NEW (site->tariffs[0].times, site->tariffs[0].time_count);
    meter_balance_t b;

    day->days = 0x1f;
    day->hours[0] = 7 * 60;
    day->hours[1] = 22 * 60;
    book_number (day->per_kwh, "0.18");
    meter_balance_init (&b);
    compute (site, four, readings, 2, &b);
    /* half of the second reading is in the period; 20-22 at 0.18 */
    book_check (b.machines.kwh, 2, "5.00");
    book_check (b.with_pue, 2, "6.50");
    /* (2 x 0.18 + 1 x 0.10 + 2 x 0.10) x 1.3 */
    book_check (b.bill, 4, "0.8580");
    assert_false (b.rest_known);
    meter_balance_clear (&b);
    book_power (site, "p", "1", "1.4", "flat")->valid.start = t + 3600;
    meter_balance_init (&b);
    compute (site, four, readings, 2, &b);
    assert_false (b.priced);
    meter_balance_clear (&b);
    site_free (site);
}

/* A kWh an hour in May: of 744 hours 315 on weekdays from 7 to 22 cost 0.18, the
 * others 0.08; with PUE 1.3 that is 409.5 kWh for 73.71 and 557.7 for 44.616. */
TEST_CASE (meter_prices__times_of_use__add_up_to_the_bill)
{
    site_t *site = site_of ();
    period_t may = book_month (site, 2026, 5);
    const meter_reading_t readings[] = {{"pdu-1", may, 744 * KWH}};
    site_tariff_time_t *time
        = BOOK_NEW (site->tariffs[0].times, site->tariffs[0].time_count);
    meter_prices_t prices;
    meter_balance_t b;
    mpq_t kwh;

    time->days = 0x1f;
    time->hours[0] = 7 * 60;
    time->hours[1] = 22 * 60;
    book_number (time->per_kwh, "0.18");
    mpq_set_ui (site->tariffs[0].per_kwh, 2, 25);
    meter_balance_init (&b);
    compute (site, may, readings, 1, &b);
    meter_prices (site, may, readings, 1, &prices);
    assert_int_equal (prices.count, 2);
    book_check (prices.price[0].per_kwh, 2, "0.18");
    book_check (prices.price[0].kwh, 1, "409.5");
    book_check (prices.price[1].kwh, 1, "557.7");
    book_check (b.bill, 3, "118.326");
    mpq_init (kwh);
    mpq_add (kwh, prices.price[0].kwh, prices.price[1].kwh);
    assert_true (mpq_equal (kwh, b.with_pue));
    mpq_clear (kwh);
    meter_prices_free (&prices);
    meter_balance_clear (&b);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
