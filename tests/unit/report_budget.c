/* Budgets: the published example, the weekday pattern, errors of earlier months,
 * periods of a fiscal year, carry-over, what is not known. */
#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "mail/budget_mail.h"

static const period_t always = {SITE_ALWAYS_START, SITE_ALWAYS_END};

static void make_site (site_t *site, const char *zone, int fiscal_month)
{
    memset (site, 0, sizeof (*site));
    site->zone = zone_open (zone, NULL);
    strcpy (site->currency, "USD");
    site->currency_digits = 2;
    site->fiscal_month = fiscal_month;
}

static int64_t at (const site_t *site, int year, int month, int day)
{
    civil_t civil = {.year = year, .month = month, .day = day};

    return zone_instant (site->zone, &civil);
}

static void make_entry (site_budget_t *entry, long amount)
{
    memset (entry, 0, sizeof (*entry));
    entry->name = (char *)"b";
    entry->team = (char *)"t";
    entry->valid = always;
    mpq_inits (entry->amount, entry->gpu_hours, entry->soft, entry->hard, NULL);
    mpq_set_si (entry->amount, amount, 1);
}

static void clear_entry (site_budget_t *entry)
{
    mpq_clears (entry->amount, entry->gpu_hours, entry->soft, entry->hard,
                NULL);
}

static void spend (budget_t *b, int64_t day, const char *who, long amount)
{
    mpq_t units;

    mpq_init (units);
    mpq_set_si (units, amount * 100, 1);
    budget_add (b, day, who, units, true);
    mpq_clear (units);
}

static void is_text (const budget_t *b, mpq_srcptr value, const char *wanted)
{
    char *text = budget_text (b, value);

    assert_string_equal (text, wanted);
    free (text);
}

/* docs/guides/budgets.md: 120,000 for 30 days; after day 12 spent 54,000, 4,500
 * a day: forecast 135,000 (112.5 %), exhausted after 26.67 days, on day 27. */
TEST_CASE (compute__published_example__forecast_and_day)
{
    site_t site;
    site_budget_t entry;
    budget_t *b;
    budget_alert_t alert;
    char *summary;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 120000);
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    for (int day = 1; day <= 12; day++)
        spend (b, at (&site, 2026, 9, day), day % 3 ? "ann" : "bob", 4500);
    budget_compute (b, BUDGET_SO_FAR, at (&site, 2026, 9, 1));
    assert_string_equal (b->period_name, "2026-09");
    is_text (b, b->spent, "54000.00");
    is_text (b, b->rate.value, "4500.00");
    is_text (b, b->run_rate.value, "135000.00");
    summary = budget_summary (b);
    assert_string_equal (summary, "45.0 % spent, forecast 112.5 %");
    free (summary);
    assert_int_equal (b->exhausted, at (&site, 2026, 9, 27));
    alert = budget_alert (b);
    assert_int_equal (alert.threshold, 0);
    assert_true (alert.over);
    assert_false (b->seasonal.known); /* not two weeks of facts */
    assert_false (b->run_rate_error.known);
    assert_string_equal (b->part[0].name, "ann");
    is_text (b, b->part[0].value, "36000.00");
    budget_free (b);

    /* 12,000 held by running jobs: (120 - 54 - 12) / 4.5 = 12 days: day 24 */
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    for (int day = 1; day <= 12; day++)
        spend (b, at (&site, 2026, 9, day), "ann", 4500);
    mpq_t held;
    mpq_init (held);
    mpq_set_ui (held, 1200000, 1);
    budget_encumber (b, held);
    mpq_clear (held);
    budget_compute (b, BUDGET_LAST_28, at (&site, 2026, 9, 1));
    is_text (b, b->run_rate.value, "135000.00");
    assert_int_equal (b->exhausted, at (&site, 2026, 9, 24));
    budget_free (b);
    clear_entry (&entry);
    zone_close (site.zone);
}

/* Half of a day has passed: half of it is left. A window of 7 days. */
TEST_CASE (compute__within_a_day__the_rest_of_it)
{
    site_t site;
    site_budget_t entry;
    budget_t *b;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 1000);
    b = budget_new (&site, &entry, at (&site, 2026, 9, 30) + 43200);
    for (int day = 1; day <= 22; day++)
        spend (b, at (&site, 2026, 9, day), "ann", 1);
    for (int day = 23; day <= 29; day++)
        spend (b, at (&site, 2026, 9, day), "ann", 100);
    spend (b, at (&site, 2026, 9, 30), NULL, 10);
    budget_compute (b, BUDGET_LAST_7, at (&site, 2026, 9, 1));
    is_text (b, b->rate.value, "100.00");
    is_text (b, b->run_rate.value, "782.00"); /* 732 + 100 / 2 */
    assert_int_equal (b->threshold, 50);
    assert_int_equal (b->exhausted, 0);
    budget_free (b);
    clear_entry (&entry);
    zone_close (site.zone);
}

/* 100 on weekdays, 10 on weekends, four weeks up to Sunday 27 September; then
 * Monday to Wednesday. One of the weeks is half, another twice as much: the mean
 * of the four is (1/2 + 1 + 1 + 2) / 4 = 9/8 of the plain one. */
TEST_CASE (compute__weekdays__pattern_and_band)
{
    static const struct {
        long part;
        long of;
    } weeks[] = {{1, 1}, {1, 2}, {2, 1}, {1, 1}};
    site_t site;
    site_budget_t entry;
    budget_t *b;

    make_site (&site, "Europe/Oslo", 1);
    make_entry (&entry, 10000);
    b = budget_new (&site, &entry, at (&site, 2026, 9, 28));
    for (int day = 0; day < 28; day++) {
        long plain = day % 7 < 5 ? 100 : 10;
        spend (b, at (&site, 2026, 8, 31 + day), "ann",
               plain * weeks[day / 7].part / weeks[day / 7].of);
    }
    budget_compute (b, BUDGET_LAST_28, at (&site, 2026, 8, 31));
    /* 31 August is not of the month: 4.5 x 520 - 100 */
    is_text (b, b->spent, "2240.00");
    /* Monday to Wednesday: 3 x 112.50 */
    is_text (b, b->seasonal.value, "2577.50");
    /* half a plain week, and two, against 9/8 of one */
    is_text (b, b->low.value, "2390.00");
    is_text (b, b->high.value, "2840.00");
    budget_free (b);
    clear_entry (&entry);
    zone_close (site.zone);
}

/* Every day 10 in July and August, then 20: of both months the forecast was
 * right; what it says in September of the last 28 days is not, and is no part of
 * the error. With one day of 320 at the end of August, (310 - 620) / 620. */
TEST_CASE (compute__months_before__mean_absolute_error)
{
    site_t site;
    site_budget_t entry;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 10000);
    for (int odd = 0; odd < 2; odd++) {
        budget_t *b = budget_new (&site, &entry, at (&site, 2026, 9, 11));
        mpq_t wanted;
        for (int day = 1; day <= 31; day++) {
            spend (b, at (&site, 2026, 7, day), "ann", 10);
            spend (b, at (&site, 2026, 8, day), "ann",
                   odd && day == 31 ? 320 : 10);
        }
        for (int day = 1; day <= 10; day++)
            spend (b, at (&site, 2026, 9, day), "ann", 20);
        budget_compute (b, BUDGET_SO_FAR, at (&site, 2026, 7, 1));
        is_text (b, b->run_rate.value, "600.00");
        assert_true (b->run_rate_error.known);
        mpq_init (wanted);
        mpq_set_ui (wanted, odd, 4); /* (0 + 1/2) / 2 */
        assert_true (mpq_equal (b->run_rate_error.value, wanted));
        mpq_clear (wanted);
        budget_free (b);
    }
    clear_entry (&entry);
    zone_close (site.zone);
}

TEST_CASE (period__fiscal_year__named_by_its_end)
{
    static const struct {
        budget_period_t period;
        int fiscal_month;
        const char *name;
        int month;
        int months;
    } cases[] = {
        {BUDGET_MONTH, 7, "2026-11", 11, 1},
        {BUDGET_QUARTER, 7, "FY2027-Q2", 10, 3},
        {BUDGET_YEAR, 7, "FY2027", 7, 12},
        {BUDGET_QUARTER, 1, "2026-Q4", 10, 3},
        {BUDGET_YEAR, 1, "2026", 1, 12},
        {BUDGET_QUARTER, 12, "FY2026-Q4", 9, 3},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t site;
        site_budget_t entry;
        budget_t *b;
        int last = cases[i].month + cases[i].months;
        make_site (&site, "America/New_York", cases[i].fiscal_month);
        make_entry (&entry, 1);
        entry.period = cases[i].period;
        b = budget_new (&site, &entry, at (&site, 2026, 11, 20));
        assert_string_equal (b->period_name, cases[i].name);
        assert_int_equal (b->period.start, at (&site, 2026, cases[i].month, 1));
        assert_int_equal (b->period.end, at (&site, 2026 + (last > 12),
                                             last > 12 ? last - 12 : last, 1));
        budget_free (b);
        clear_entry (&entry);
        zone_close (site.zone);
    }
}

/* What October left is added in November; a credit of the month, of no day, makes
 * it more. Of an October that the facts do not cover nothing is known to be
 * left. */
TEST_CASE (compute__carry_over__what_the_period_before_left)
{
    static const struct {
        int first_day;
        const char *amount;
    } cases[] = {{1, "1475.00"}, {2, "1000.00"}};
    site_t site;
    site_budget_t entry;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 1000);
    entry.carry_over = 1;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        budget_t *b = budget_new (&site, &entry, at (&site, 2026, 11, 3));
        mpq_t credit;
        spend (b, at (&site, 2026, 10, 20), "ann", 550);
        spend (b, at (&site, 2026, 11, 1), "ann", 100);
        mpq_init (credit);
        mpq_set_si (credit, -2500, 1);
        budget_add_month (b, at (&site, 2026, 10, 1), credit);
        mpq_clear (credit);
        budget_compute (b, BUDGET_LAST_28,
                        at (&site, 2026, 10, cases[i].first_day));
        is_text (b, b->amount, cases[i].amount);
        is_text (b, b->spent, "100.00");
        budget_free (b);
    }
    clear_entry (&entry);
    zone_close (site.zone);
}

/* 1,000 a month until November, 600 from then on: 450 of October are left. Not of
 * another budget, and not where none held in all of October. */
TEST_CASE (compute__carry_over__of_the_amount_before)
{
    static const struct {
        const char *name, *team;
        int from_day;
        const char *amount;
    } cases[] = {{"b", "t", 1, "1050.00"},
                 {"c", "t", 1, "600.00"},
                 {"b", "u", 1, "600.00"},
                 {"b", "t", 2, "600.00"}};
    site_t site;
    site_budget_t entries[2];

    make_site (&site, "UTC", 1);
    make_entry (&entries[0], 1000);
    make_entry (&entries[1], 600);
    entries[0].valid.end = at (&site, 2026, 11, 1);
    entries[1].valid.start = at (&site, 2026, 11, 1);
    entries[1].carry_over = 1;
    site.budgets = entries;
    site.budget_count = 2;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        budget_t *b = budget_new (&site, &entries[1], at (&site, 2026, 11, 3));
        entries[0].name = (char *)cases[i].name;
        entries[0].team = (char *)cases[i].team;
        entries[0].valid.start = at (&site, 2026, 10, cases[i].from_day);
        spend (b, at (&site, 2026, 10, 20), "ann", 550);
        budget_compute (b, BUDGET_LAST_28, at (&site, 2026, 10, 1));
        is_text (b, b->amount, cases[i].amount);
        budget_free (b);
    }
    clear_entry (&entries[0]);
    clear_entry (&entries[1]);
    zone_close (site.zone);
}

TEST_CASE (compute__no_price_or_no_facts__nothing_foreseen)
{
    site_t site;
    site_budget_t entry;
    budget_t *b;
    mpq_t units;
    budget_alert_t alert;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 1);
    mpq_init (units);
    mpq_set_ui (units, 99999, 1);
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    budget_add (b, at (&site, 2026, 9, 2), "ann", units, false);
    budget_compute (b, BUDGET_LAST_28, at (&site, 2026, 9, 1));
    alert = budget_alert (b);
    assert_false (b->known);
    assert_false (b->run_rate.known);
    assert_false (budget_alerts (&alert));
    assert_int_equal (b->exhausted, 0);
    budget_free (b);
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    budget_compute (b, BUDGET_LAST_28, 0);
    alert = budget_alert (b);
    assert_false (b->run_rate.known);
    assert_false (budget_alerts (&alert));
    budget_free (b);
    mpq_clear (units);
    clear_entry (&entry);
    zone_close (site.zone);
}

TEST_CASE (compute__spent__threshold_and_its_day)
{
    static const struct {
        long amount;
        int threshold;
    } cases[]
        = {{1000, 0}, {800, 50}, {500, 75}, {444, 90}, {400, 100}, {100, 100}};
    site_t site;

    make_site (&site, "UTC", 1);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_budget_t entry;
        budget_t *b;
        make_entry (&entry, cases[i].amount);
        b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
        for (int day = 1; day <= 4; day++)
            spend (b, at (&site, 2026, 9, day), "ann", 100);
        budget_compute (b, BUDGET_LAST_7, at (&site, 2026, 9, 1));
        assert_int_equal (b->threshold, cases[i].threshold);
        if (cases[i].threshold == 100)
            assert_int_equal (b->exhausted,
                              at (&site, 2026, 9, (int)cases[i].amount / 100));
        budget_free (b);
        clear_entry (&entry);
    }
    zone_close (site.zone);
}

TEST_CASE (mail__names_that_mean_harm__stay_in_their_line)
{
    BUFFER_AUTO out = BUFFER_INIT;
    site_t site;
    site_budget_t entry;
    budget_alert_t alert;
    budget_t *b;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 100);
    entry.owner = (char *)"ann@example.org";
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    spend (b, at (&site, 2026, 9, 1), "x\nBcc: all@example.org", 100);
    spend (b, at (&site, 2026, 9, 1), "\nFrom y", 10);
    budget_compute (b, BUDGET_LAST_7, at (&site, 2026, 9, 1));
    alert = budget_alert (b);
    budget_mail (&site, b, &alert, &out);
    assert_non_null (strstr (buffer_text (&out),
                             "To: ann@example.org\nSubject: GPU budget b, "
                             "September 2026: 110.0 % spent, forecast"));
    assert_non_null (strstr (buffer_text (&out), "  x?Bcc: all@example.org"));
    assert_null (strstr (buffer_text (&out), "\nBcc"));
    assert_null (strstr (buffer_text (&out), "\nFrom y"));
    budget_free (b);
    clear_entry (&entry);
    zone_close (site.zone);
}

/* Perl's Encode reads them back: decode ("MIME-Header", ...). */
TEST_CASE (mail__names_of_other_letters__in_encoded_words)
{
    BUFFER_AUTO out = BUFFER_INIT;
    site_t site;
    site_budget_t entry;
    budget_alert_t alert;
    budget_t *b;

    make_site (&site, "UTC", 1);
    make_entry (&entry, 100);
    entry.name = (char *)"M\303\274hle\nBcc: all@example.org";
    entry.owner = (char *)"J\303\266rg <joerg@example.org>";
    b = budget_new (&site, &entry, at (&site, 2026, 9, 13));
    spend (b, at (&site, 2026, 9, 1), "x", 110);
    budget_compute (b, BUDGET_LAST_7, at (&site, 2026, 9, 1));
    alert = budget_alert (b);
    budget_mail (&site, b, &alert, &out);
    assert_non_null (strstr (
        buffer_text (&out),
        "To: =?UTF-8?Q?J=C3=B6rg?=\n <joerg@example.org>\n"
        "Subject: =?UTF-8?Q?GPU_budget_M=C3=BChle=3FBcc=3A_all=40example"
        "=2Eorg=2C_?=\n =?UTF-8?Q?September_2026=3A_110=2E0_=25_spent=2C_"
        "forecast_110=2E?=\n =?UTF-8?Q?0_=25?=\nDate: Sun, 13 Sep 2026"));
    budget_free (b);
    clear_entry (&entry);
    zone_close (site.zone);
}

TEST_MAIN (NULL, NULL)
