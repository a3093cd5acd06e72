#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/correction.h"
#include "ledger/settlement.h"
#include "money/carry_forward.h"
#include "statement/recharge_private.h"

/* ---- fiscal years ---- */

static int year_of (const site_t *site, const civil_t *civil)
{
    return civil->year
           + (site->fiscal_month > 1 && civil->month >= site->fiscal_month);
}

int recharge_year_of (const site_t *site, int64_t instant)
{
    civil_t civil = zone_civil (site->zone, instant);

    return year_of (site, &civil);
}

period_t recharge_year_period (const site_t *site, int year)
{
    civil_t first = {year - (site->fiscal_month > 1), site->fiscal_month, 1, 0,
                     0, 0};
    civil_t next = civil_add_months (first, 12);

    return (period_t){zone_instant (site->zone, &first),
                      zone_instant (site->zone, &next)};
}

/* Of "2026-10". */
int recharge_year_of_month (const site_t *site, const char *month)
{
    civil_t civil;

    return calendar_parse_month (month, strlen (month), &civil) < 0
               ? 0
               : year_of (site, &civil);
}

/* ---- what is added ---- */

#define MONTH(member, type) FIELD (#member, type, recharge_month_t, member)
static const field_t month_fields[] = {
    MONTH (pool, TEXT),           MONTH (month, TEXT),
    MONTH (revenue_units, UNITS), MONTH (corrected_units, UNITS),
    MONTH (price_seconds, EXACT), MONTH (lines, COUNT),
    MONTH (full, EXACT),          MONTH (recoverable, EXACT),
};
static const fields_t months = FIELDS ("month", recharge_month_t, month_fields);

#define ACCOUNT(member, type) FIELD (#member, type, recharge_account_t, member)
static const field_t account_fields[] = {
    ACCOUNT (pool, TEXT),           ACCOUNT (year, COUNT),
    ACCOUNT (months, COUNT),        ACCOUNT (lines, COUNT),
    ACCOUNT (price_seconds, EXACT), ACCOUNT (revenue, EXACT),
    ACCOUNT (full, EXACT),          ACCOUNT (excluded, EXACT),
    ACCOUNT (recoverable, EXACT),   ACCOUNT (balance, EXACT),
};
static const fields_t accounts
    = FIELDS ("account", recharge_account_t, account_fields);

recharge_t *recharge_new (const report_query_t *query,
                          const recharge_forecast_t *forecast)
{
    recharge_t *r = xcalloc (1, sizeof (*r));

    r->query = query;
    r->forecast = *forecast;
    r->year = recharge_year_of (query->site, query->period.end - 1);
    r->months = cube_new (&months, "pool,month");
    r->accounts = cube_new (&accounts, "pool,year");
    mpz_inits (r->unplaced_units, r->fee_units, NULL);
    return r;
}

void recharge_free (recharge_t *r)
{
    if (!r)
        return;
    cube_free (r->months);
    cube_free (r->accounts);
    mpz_clears (r->unplaced_units, r->fee_units, NULL);
    free (r);
}

bool recharge_asks (const recharge_t *r, const char *pool)
{
    for (size_t i = 0; i < r->query->filter_count; i++)
        if (r->query->filters[i].key == KEY_POOL
            && !report_filter_passes (&r->query->filters[i], pool))
            return false;
    return true;
}

/* To be added to. */
static recharge_month_t *get_month (recharge_t *r, const char *pool,
                                    const char *month)
{
    return cube_add (r->months, &(recharge_month_t){.pool = (char *)pool,
                                                    .month = (char *)month});
}

static bool is_of (const posting_t *row, bill_kind_t kind)
{
    const char *word = bill_kind_word (kind);

    return row->kind == kind
           || (correction_is_computed (row)
               && !strncmp (row->origin, word, strlen (word)));
}

/* Of a pool. Together a computed correction's lines, remainders among them, are
 * what the cost of the pool has changed by. */
static void add_row (recharge_t *r, const posting_t *row, const char *month)
{
    recharge_month_t *m = get_month (r, row->pool, month ? month : row->month);

    if (correction_is_computed (row))
        mpz_add (m->corrected_units, m->corrected_units, row->charge_units);
    if (!posting_is_due (row))
        return;
    mpz_add (m->revenue_units, m->revenue_units, row->charge_units);
    if (is_of (row, BILL_CHARGE))
        mpq_add (m->price_seconds, m->price_seconds, row->price_seconds);
    m->lines += row->kind == BILL_CHARGE;
}

/* `what` of the rule of settlement that a row, or the row it corrects, is of. */
static bool is_of_rule (const posting_t *row, settle_kind_t rule)
{
    const char *word = settle_kind_word (rule), *colon;

    if (!is_of (row, BILL_SETTLEMENT))
        return false;
    colon = row->kind == BILL_CORRECTION ? strchr (row->origin, ':') : NULL;
    return !strcmp (colon ? colon + 1 : row->what, word);
}

/* Taxes are not the centre's, other services have systems of their own, and a
 * remainder is what nobody pays. What prepaid money pays is revenue when it is
 * charged: neither the deposit nor the payment is. */
static bool is_no_revenue (const posting_t *row)
{
    return is_of (row, BILL_TAX) || is_of (row, BILL_SERVICE)
           || row->kind == BILL_REMAINDER || is_of_rule (row, SETTLE_PREPAID);
}

void recharge_add_bill (recharge_t *r, const bill_t *bill, const char *month)
{
    size_t count, pool_count;
    const posting_t *rows = postings (bill, &count);
    const bill_pool_t *pools = bill_pools (bill, &pool_count);

    for (size_t i = 0; i < count; i++) {
        const posting_t *row = &rows[i];
        if (is_no_revenue (row))
            continue;
        if (!row->pool && is_of (row, BILL_SETTLEMENT))
            mpz_add (r->fee_units, r->fee_units, row->charge_units);
        else if (!row->pool)
            mpz_add (r->unplaced_units, r->unplaced_units, row->charge_units);
        else if (recharge_asks (r, row->pool))
            add_row (r, row, month);
    }
    for (size_t i = 0; i < pool_count; i++)
        recharge_add_cost (r, pools[i].pool, pools[i].month,
                           pools[i].full_cost, pools[i].recoverable_cost);
}

void recharge_add_cost (recharge_t *r, const char *pool, const char *month,
                        mpq_srcptr full, mpq_srcptr recoverable)
{
    const recharge_month_t keys
        = {.pool = (char *)pool, .month = (char *)month};
    recharge_month_t *m;

    if (!recharge_asks (r, pool)
        || (mpq_sgn (full) == 0 && !cube_find (r->months, &keys)))
        return;
    m = get_month (r, pool, month);
    mpq_set (m->full, full);
    mpq_set (m->recoverable, recoverable);
}

/* ---- the years ---- */

void recharge_to_units (const recharge_t *r, mpq_srcptr money, mpq_t ret_units)
{
    mpq_set (ret_units, money);
    for (int d = 0; d < r->query->site->currency_digits; d++)
        mpz_mul_ui (mpq_numref (ret_units), mpq_numref (ret_units), 10);
    mpq_canonicalize (ret_units);
}

void recharge_to_money (const recharge_t *r, const mpz_t units, mpq_t ret_money)
{
    mpq_set_z (ret_money, units);
    for (int d = 0; d < r->query->site->currency_digits; d++)
        mpz_mul_ui (mpq_denref (ret_money), mpq_denref (ret_money), 10);
    mpq_canonicalize (ret_money);
}

/* A month's amount as the month has it: rounded, once. */
static void add_month (const recharge_t *r, mpq_srcptr amount, mpq_t sum)
{
    mpq_t money;
    mpz_t units;

    mpz_init (units);
    mpq_init (money);
    exact_round (units, amount, r->query->site->currency_digits);
    recharge_to_money (r, units, money);
    mpq_add (sum, sum, money);
    mpq_clear (money);
    mpz_clear (units);
}

static void add_to_year (recharge_t *r, const recharge_month_t *m)
{
    recharge_account_t a;

    fields_init (&accounts, &a);
    a.pool = xstrdup (m->pool);
    a.year = (uint64_t)recharge_year_of_month (r->query->site, m->month);
    a.months = 1;
    a.lines = m->lines;
    mpq_set (a.price_seconds, m->price_seconds);
    recharge_to_money (r, m->revenue_units, a.revenue);
    recharge_to_money (r, m->corrected_units, a.full);
    mpq_set (a.recoverable, a.full);
    add_month (r, m->full, a.full);
    add_month (r, m->recoverable, a.recoverable);
    mpq_sub (a.excluded, a.full, a.recoverable);
    mpq_sub (a.balance, a.revenue, a.recoverable);
    cube_add (r->accounts, &a);
    fields_clear (&accounts, &a);
}

const recharge_account_t *recharge_account (const recharge_t *r, size_t i)
{
    return i < cube_count (r->accounts) ? cube_row (r->accounts, i) : NULL;
}

bool recharge_outside (const recharge_account_t *a)
{
    mpq_t band, size;
    bool outside;

    mpq_inits (band, size, NULL);
    exact_add_scaled (band, a->recoverable, RECHARGE_BAND_PERCENT, 100);
    mpq_abs (size, a->balance);
    outside = mpq_cmp (size, band) > 0;
    mpq_clears (band, size, NULL);
    return outside;
}

/* ---- the report ---- */

static const column_info_t columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true,
                    "rate, balance, next, depreciation, excluded, check."},
    [AT_POOL] = {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    [AT_ITEM] = {"item", "Item", COLUMN_TEXT, true, false, ""},
    [AT_YEAR] = {"year", "Year", COLUMN_COUNT, true, false,
                 "The fiscal year, named after the calendar year that it "
                 "ends in."},
    [AT_FROM] = {"from", "From", COLUMN_DATE, false, false, ""},
    [AT_TO] = {"to", "To", COLUMN_DATE, false, false,
               "The first day on which the rate no longer applies."},
    [AT_RATE] = {"per_gpu_hour", "Per GPU hour", COLUMN_RATE, false, false, ""},
    [AT_APPROVED_BY]
    = {"approved_by", "Approved by", COLUMN_TEXT, false, false, ""},
    [AT_MONTHS] = {"months", "Months", COLUMN_COUNT, false, false,
                   "Months that the ledger covers, with and without jobs; "
                   "revenue and cost are of these."},
    [AT_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                  "Billed, by the weights of the price."},
    [AT_REVENUE] = {"revenue", "Revenue", COLUMN_MONEY, false, false,
                    "Charges, shared idle time, credits and corrections, "
                    "without taxes."},
    [AT_FULL] = {"full_cost", "Full cost", COLUMN_MONEY, false, false, ""},
    [AT_EXCLUDED] = {"excluded", "Excluded", COLUMN_MONEY, false, false,
                     "Cost that others paid for, which no rate includes."},
    [AT_RECOVERABLE] = {"recoverable_cost", "Recoverable cost", COLUMN_MONEY,
                        false, false, "Full cost less excluded."},
    [AT_BALANCE] = {"balance", "Balance", COLUMN_MONEY, false, false,
                    "Revenue less recoverable cost. A negative balance is a "
                    "deficit."},
    [AT_PERCENT] = {"percent", "%", COLUMN_PERCENT, false, false,
                    "For a balance, its percentage of the recoverable cost. "
                    "For an asset, the percentage that rates may recover."},
    [AT_FINDING] = {"finding", "Finding", COLUMN_TEXT, false, false, ""},
    [AT_NOTE] = {"note", "Note", COLUMN_TEXT, false, false, ""},
};

void recharge_row (report_t *report, const char *section, const char *pool,
                   const char *item)
{
    report_row (report);
    report_put_text (report, AT_SECTION, section);
    report_put_text (report, AT_ITEM, item);
    if (pool)
        report_put_text (report, AT_POOL, pool);
}

/* Behind the others, where the site counts CPUs. */
#define AT_CPU_HOURS AT_COUNT
#define AT_CPU_RATE (AT_COUNT + 1)

static void put_hours (report_t *report, const recharge_t *r, const char *pool,
                       mpq_srcptr seconds)
{
    bool cpus = site_pool_of_cpus (r->query->site, pool);

    report_put_hours (report, cpus ? AT_CPU_HOURS : AT_HOURS, seconds);
}

static void put_rate (report_t *report, const recharge_t *r, const char *pool,
                      mpq_srcptr rate)
{
    bool cpus = site_pool_of_cpus (r->query->site, pool);

    report_put_exact (report, cpus ? AT_CPU_RATE : AT_RATE, rate, 4);
}

static void put_day (report_t *report, size_t at, const zone_t *zone,
                     int64_t instant)
{
    civil_t day;

    if (instant == SITE_ALWAYS_START || instant == SITE_ALWAYS_END)
        return;
    day = zone_civil (zone, instant);
    GL_AUTOFREE char *text
        = xasprintf ("%04d-%02d-%02d", day.year, day.month, day.day);
    report_put_text (report, at, text);
}

/* Every version, whenever it applied. */
static void add_rates (report_t *report, const recharge_t *r)
{
    const site_t *site = r->query->site;

    report_section (report, "Rates",
                    "Every rate in the configuration, past and present.");
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        if (!recharge_asks (r, rate->pool))
            continue;
        GL_AUTOFREE char *of = rate_conditions (site, rate);
        recharge_row (report, "rate", rate->pool, *of ? of : "every QOS");
        put_day (report, AT_FROM, site->zone, rate->valid.start);
        put_day (report, AT_TO, site->zone, rate->valid.end);
        put_rate (report, r, rate->pool, rate->per_gpu_hour);
        report_put_text (report, AT_APPROVED_BY, rate->approved_by);
        report_put_text (report, AT_NOTE, rate->note);
    }
}

static void add_balances (report_t *report, const recharge_t *r)
{
    int digits = r->query->site->currency_digits;
    const recharge_account_t *a;
    mpq_t q;

    mpq_init (q);
    report_section (report, "Balance",
                    "By service and fiscal year. The last year may be "
                    "incomplete.");
    for (size_t i = 0; (a = recharge_account (r, i)); i++) {
        recharge_row (report, "balance", a->pool, "balance");
        report_put_count (report, AT_YEAR, a->year);
        report_put_count (report, AT_MONTHS, a->months);
        put_hours (report, r, a->pool, a->price_seconds);
        report_put_exact (report, AT_REVENUE, a->revenue, digits);
        report_put_exact (report, AT_FULL, a->full, digits);
        report_put_exact (report, AT_EXCLUDED, a->excluded, digits);
        report_put_exact (report, AT_RECOVERABLE, a->recoverable, digits);
        report_put_exact (report, AT_BALANCE, a->balance, digits);
        if (mpq_sgn (a->recoverable) != 0) {
            mpq_div (q, a->balance, a->recoverable);
            exact_add_scaled (q, q, 99, 1);
            report_put_exact (report, AT_PERCENT, q, 2);
        }
        report_put_text (report, AT_FINDING,
                         recharge_outside (a) ? "outside the band"
                                              : "in the "
                                                "band");
    }
    mpq_clear (q);
}

/* The rate that carries the balance into the next year. */
static void add_next (report_t *report, const recharge_t *r,
                      const recharge_account_t *a)
{
    int digits = r->query->site->currency_digits;
    carry_year_t year;
    carry_forward_t carry;
    mpq_t seconds;

    carry_year_init (&year);
    carry_forward_init (&carry);
    mpq_init (seconds);
    mpq_set (year.cost, a->recoverable);
    mpq_set (year.revenue, a->revenue);
    exact_set_i64 (year.band, RECHARGE_BAND_PERCENT, 100);
    mpq_set (year.next_cost,
             r->forecast.cost ? r->forecast.cost : a->recoverable);
    exact_add_scaled (year.next_units, a->price_seconds, 1, 3600);
    if (r->forecast.gpu_hours)
        mpq_set (year.next_units, r->forecast.gpu_hours);
    if (carry_forward (&year, &carry, NULL) == 0) {
        GL_AUTOFREE char *exact = exact_text (carry.next_rate, 6);
        GL_AUTOFREE char *note = xasprintf (
            "%s; cost %s, hours %s", exact,
            r->forecast.cost ? "as given" : "as this year",
            r->forecast.gpu_hours ? "as given" : "as this year");
        recharge_row (report, "next", a->pool, "rate with the balance");
        report_put_count (report, AT_YEAR, a->year + 1);
        put_rate (report, r, a->pool, carry.next_rate);
        exact_add_scaled (seconds, year.next_units, 3600, 1);
        put_hours (report, r, a->pool, seconds);
        report_put_exact (report, AT_RECOVERABLE, year.next_cost, digits);
        report_put_exact (report, AT_BALANCE, carry.balance, digits);
        report_put_text (report, AT_NOTE, note);
    }
    carry_year_clear (&year);
    carry_forward_clear (&carry);
    mpq_clear (seconds);
}

static void add_nexts (report_t *report, const recharge_t *r)
{
    const recharge_account_t *a;

    report_section (report, "Carried forward",
                    "(cost of the next year - balance) / billed GPU hours of "
                    "the next year.");
    for (size_t i = 0; (a = recharge_account (r, i)); i++)
        if (a->year == (uint64_t)r->year)
            add_next (report, r, a);
}

static void add_share (report_t *report, const char *pool, const char *item,
                       mpq_srcptr share, const char *note)
{
    mpq_t percent;

    if (mpq_cmp_ui (share, 1, 1) >= 0)
        return;
    mpq_init (percent);
    exact_add_scaled (percent, share, 100, 1);
    recharge_row (report, "excluded", pool, item);
    report_put_exact (report, AT_PERCENT, percent, 2);
    report_put_text (report, AT_NOTE, note);
    mpq_clear (percent);
}

/* "federal", "60 % federal". */
static char *source_text (const site_share_t *source)
{
    mpq_t percent;

    mpq_init (percent);
    exact_add_scaled (percent, source->share, 100, 1);
    GL_AUTOFREE char *number = exact_shortest (percent);
    bool whole = mpq_cmp_ui (source->share, 1, 1) == 0;
    mpq_clear (percent);
    return whole ? xstrdup (source->name)
                 : xasprintf ("%s %% %s", number, source->name);
}

/* Of an entry what each of its funds pays. */
static void add_sources (report_t *report, const recharge_t *r,
                         const char *pool, const char *item,
                         const share_list_t *funding, mpq_srcptr recoverable)
{
    mpq_t share;

    if (pool && !recharge_asks (r, pool))
        return;
    if (funding->count == 0)
        add_share (report, pool, item, recoverable, NULL);
    mpq_init (share);
    for (size_t i = 0; i < funding->count; i++) {
        GL_AUTOFREE char *text = source_text (&funding->item[i]);
        cost_recoverable (r->query->site, recoverable, funding->item[i].name,
                          share);
        add_share (report, pool, item, share, text);
    }
    mpq_clear (share);
}

/* People are not named. */
static void add_excluded (report_t *report, const recharge_t *r)
{
    const site_t *site = r->query->site;

    report_section (
        report, "What rates may not recover in full",
        "% is the share that rates may recover; the balance has the amounts.");
    for (size_t i = 0; i < site->asset_count; i++) {
        const site_asset_t *asset = &site->assets[i];
        add_sources (report, r, asset->pool, asset->name, &asset->funding,
                     asset->recoverable);
    }
    for (size_t i = 0; i < site->staff_count; i++)
        add_sources (report, r, NULL, "staff", &site->staff[i].funding,
                     site->staff[i].recoverable);
    for (size_t i = 0; i < site->tariff_count; i++)
        add_sources (report, r, NULL, site->tariffs[i].name,
                     &site->tariffs[i].funding, site->tariffs[i].recoverable);
    for (size_t i = 0; i < site->cost_count; i++) {
        const site_cost_t *cost = &site->costs[i];
        add_sources (report, r, cost->pool, cost->name, &cost->funding,
                     cost->recoverable);
    }
}

/* Manual rows name a team, and seldom a pool. */
static void note_unplaced (report_t *report, const recharge_t *r,
                           const mpz_t units, const char *what)
{
    GL_AUTOFREE char *text
        = exact_units_text (units, r->query->site->currency_digits);

    if (mpz_sgn (units) != 0)
        report_note (report, NOTE_WARNING,
                     "%s %s of %s belong to no pool and are in no balance.",
                     text, r->query->site->currency, what);
}

report_t *recharge_make (recharge_t *r)
{
    report_t *report
        = report_begin (r->query, "recharge", "Recharge rates and recovery");
    GL_AUTOFREE char *year = xasprintf ("%d", r->year);

    report_parameter (report, "fiscal_year", year);
    report_parameter (report, "currency", r->query->site->currency);
    report_columns (report, columns, AT_COUNT);
    if (site_counts_cpus (r->query->site)) {
        report_measure (report, MEASURE_CPU_HOURS, false);
        report_column (report, "per_cpu_hour", "Per CPU hour", COLUMN_RATE,
                       false);
    }
    for (size_t i = 0; i < cube_count (r->months); i++)
        add_to_year (r, cube_row (r->months, i));
    add_rates (report, r);
    add_balances (report, r);
    add_nexts (report, r);
    recharge_add_depreciation (report, r);
    add_excluded (report, r);
    recharge_add_checks (report, r);
    note_unplaced (report, r, r->unplaced_units,
                   "manual credits and corrections");
    note_unplaced (report, r, r->fee_units, "fees and minimum charges");
    return report;
}
