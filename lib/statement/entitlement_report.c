#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/cube.h"
#include "statement/entitlement_report.h"

/* --- columns ------------------------------------------------------------ */

enum { AT_TEAM, AT_POOL, AT_MONTH, AT_STATE };

/* GPU-seconds, in hours: one list for columns, sums and the block. */
#define HOURS(member, title, detail, help)                                     \
    {                                                                          \
        #member, title, help, offsetof (bill_entitlement_t, member), detail    \
    }
static const struct {
    const char *name, *title, *help;
    size_t offset;
    bool detail; /* shown where some row has it */
} hours[] = {
    HOURS (bought, "Bought", false, "The entitlement's GPU hours for the "
                                    "month."),
    HOURS (rollover_in, "Rollover in", true, "Unused hours of last month."),
    HOURS (used, "Used", false, "Consumed by jobs."),
    HOURS (used_reserved, "Reserved", true,
           "Consumed by reservations that no job used."),
    HOURS (unused, "Unused", false,
           "Hours bought or rolled over that were not consumed."),
    HOURS (rollover_out, "Rollover out", true,
           "The part of the unused hours that can be used next month."),
    HOURS (expired, "Expired", false,
           "The part of the unused hours that expired with the month. While "
           "the month lasts, there is neither expiry nor rollover."),
};
#define HOURS_COUNT GL_ARRAY_SIZE (hours)
#define AT_HOURS (AT_STATE + 1)

/* What was paid for it, and what became of that: one list for columns, sums and the
 * block. */
#define VALUE(name, member, title, help)                                       \
    {                                                                          \
        name, title, help, offsetof (bill_entitlement_t, member)               \
    }
static const struct {
    const char *name, *title, *help;
    size_t offset;
} values[] = {
    VALUE ("rollover_in_value", value_in, "Rollover in, value",
           "Price paid for the hours rolled over."),
    VALUE ("used_value", value_used, "Used, value",
           "Price paid for the hours that jobs consumed."),
    VALUE ("used_reserved_value", value_reserved, "Reserved, value",
           "Price paid for the hours that reservations consumed."),
    VALUE ("rollover_out_value", value_out, "Rollover out, value",
           "Price paid for the hours that can be used next month."),
    VALUE ("expired_value", value_expired, "Expired, value",
           "Price paid for the expired hours."),
};
enum { VALUE_IN, VALUE_USED };
#define VALUES_COUNT GL_ARRAY_SIZE (values)

enum {
    AT_PERCENT = AT_HOURS + HOURS_COUNT,
    AT_AMOUNT,
    AT_VALUE,
    AT_FEE,
    AT_HOUR,
    AT_VALUES,
    AT_CURRENCY = AT_VALUES + VALUES_COUNT,
};

/* Behind the others, where hours are not all of GPUs. */
#define AT_UNIT (AT_CURRENCY + 1)

static void add_columns (report_t *report, const site_t *site)
{
    report_column (report, "team", "Team", COLUMN_TEXT, true);
    report_column (report, "pool", "Pool", COLUMN_TEXT, true);
    report_column (report, "month", "Month", COLUMN_DATE, true);
    report_column (report, "state", "State", COLUMN_TEXT, false);
    for (size_t i = 0; i < HOURS_COUNT; i++) {
        size_t at = report_column (report, hours[i].name, hours[i].title,
                                   COLUMN_HOURS, false);
        report_column_help (report, at, hours[i].help);
        report->column[at].detail = hours[i].detail;
    }
    report_column (report, "used_pct", "Used %", COLUMN_PERCENT, false);
    report_column (report, "amount", "Covered", COLUMN_MONEY, false);
    report_column_help (
        report, AT_AMOUNT,
        "The amount that the entitlement covers, as on the statement.");
    report_column (report, "unused_value", "Unused value", COLUMN_MONEY, false);
    report_column_help (
        report, AT_VALUE,
        "The price paid for the unused hours, or if nothing was paid, their "
        "value at the pool's average price of the month without QOS.");
    report_column (report, "fee", "Paid", COLUMN_MONEY, false);
    report_column_help (report, AT_FEE,
                        "The amount due for the hours bought, as on the "
                        "statement.");
    report_column (report, "hour_value", "Per hour", COLUMN_RATE, false);
    report_column_help (report, AT_HOUR,
                        "Price and rollover value of the month, by hours "
                        "bought and rolled over.");
    for (size_t i = 0; i < VALUES_COUNT; i++) {
        size_t at = report_column (report, values[i].name, values[i].title,
                                   COLUMN_MONEY, false);
        report_column_help (report, at, values[i].help);
    }
    for (size_t i = AT_FEE; i < AT_CURRENCY; i++)
        report->column[i].detail = true;
    report_column (report, "currency", "Currency", COLUMN_TEXT, false);
    if (site_counts_cpus (site))
        report_column (report, "unit", "Unit", COLUMN_TEXT, false);
}

/* --- what is added ------------------------------------------------------ */

struct entitlement_report {
    const report_query_t *query;
    report_t *report;
    bill_t *months; /* every entitlement of every month */
    cube_t *sums;   /* each to date */
};

entitlement_report_t *entitlement_report_new (const report_query_t *query)
{
    entitlement_report_t *r = xcalloc (1, sizeof (*r));

    r->query = query;
    r->months = bill_new ();
    r->sums = cube_new (&bill_fields[BILL_ENTITLEMENTS], "team,pool");
    r->report = report_begin (query, "entitlements", "Entitlements");
    add_columns (r->report, query->site);
    return r;
}

void entitlement_report_free (entitlement_report_t *r)
{
    if (!r)
        return;
    bill_free (r->months);
    cube_free (r->sums);
    report_free (r->report);
    free (r);
}

static mpq_srcptr seconds_of (const bill_entitlement_t *e, size_t at)
{
    return *(const mpq_t *)((const char *)e + hours[at].offset);
}

static mpq_srcptr value_of (const bill_entitlement_t *e, size_t at)
{
    return *(const mpq_t *)((const char *)e + values[at].offset);
}

static bool passes (const report_query_t *query, const bill_entitlement_t *e)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *f = &query->filters[i];
        if (!report_filter_passes (f, f->key == KEY_TEAM ? e->team : e->pool))
            return false;
    }
    return true;
}

/* bought + rollover in = used + reserved + unused */
static bool balances (const bill_entitlement_t *e)
{
    mpq_t rest;
    bool holds;

    mpq_init (rest);
    mpq_add (rest, e->bought, e->rollover_in);
    mpq_sub (rest, rest, e->used);
    mpq_sub (rest, rest, e->used_reserved);
    holds = mpq_equal (rest, e->unused);
    mpq_clear (rest);
    return holds;
}

/* --- rows --------------------------------------------------------------- */

static void put_percent (report_t *report, const bill_entitlement_t *e)
{
    mpq_t used, had;
    char *text;

    mpq_inits (used, had, NULL);
    mpq_add (used, e->used, e->used_reserved);
    mpq_add (had, e->bought, e->rollover_in);
    text = report_percent_text (used, had);
    if (text)
        report_put_text (report, AT_PERCENT, text);
    free (text);
    mpq_clears (used, had, NULL);
}

static void put_value (report_t *report, const bill_entitlement_t *e, int digits)
{
    mpq_t value;

    mpq_init (value);
    if (bill_entitlement_is_paid (e))
        bill_entitlement_value_unused (e, value);
    else {
        mpq_mul (value, e->unused, e->price);
        mpz_mul_ui (mpq_denref (value), mpq_denref (value), 3600);
        mpq_canonicalize (value);
    }
    report_put_exact (report, AT_VALUE, value, digits);
    mpq_clear (value);
}

/* (paid + value of the rollover) / (bought + rollover in) */
static void put_hour (report_t *report, const bill_entitlement_t *e)
{
    GL_AUTOFREE char *rate = NULL;
    mpq_t had, value;

    mpq_inits (had, value, NULL);
    mpq_add (had, e->bought, e->rollover_in);
    mpq_add (value, e->fee, e->value_in);
    rate = report_rate_text (value, had);
    report_put_text (report, AT_HOUR, rate);
    mpq_clears (had, value, NULL);
}

static void put_paid (report_t *report, const bill_entitlement_t *e, int digits)
{
    if (!bill_entitlement_is_paid (e))
        return;
    report_put_money (report, AT_FEE, e->fee_units, digits);
    put_hour (report, e);
    report->column[AT_FEE].detail = false;
    report->column[AT_HOUR].detail = false;
    report->column[AT_VALUES + VALUE_USED].detail = false;
    for (size_t i = 0; i < VALUES_COUNT; i++) {
        report_put_exact (report, AT_VALUES + i, value_of (e, i), digits);
        if (mpq_sgn (value_of (e, i)) != 0)
            report->column[AT_VALUES + i].detail = false;
    }
}

static void put_row (entitlement_report_t *r, const bill_entitlement_t *e,
                     const char *state)
{
    const site_t *site = r->query->site;

    report_row (r->report);
    report_put_text (r->report, AT_TEAM, e->team);
    report_put_text (r->report, AT_POOL, e->pool);
    report_put_text (r->report, AT_MONTH, e->month);
    report_put_text (r->report, AT_STATE, state);
    for (size_t i = 0; i < HOURS_COUNT; i++) {
        report_put_hours (r->report, AT_HOURS + i, seconds_of (e, i));
        if (mpq_sgn (seconds_of (e, i)) != 0)
            r->report->column[AT_HOURS + i].detail = false;
    }
    put_percent (r->report, e);
    report_put_money (r->report, AT_AMOUNT, e->amount_units,
                      site->currency_digits);
    put_value (r->report, e, site->currency_digits);
    put_paid (r->report, e, site->currency_digits);
    report_put_text (r->report, AT_CURRENCY, site->currency);
    if (site_counts_cpus (site))
        report_put_text (r->report, AT_UNIT,
                         site_pool_of_cpus (site, e->pool) ? "CPU hours"
                                                           : "GPU hours");
}

void entitlement_report_add (entitlement_report_t *r, const bill_t *bill,
                             const char *state)
{
    size_t count, at;
    const bill_entitlement_t *e = bill_entitlements (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!passes (r->query, &e[i]))
            continue;
        put_row (r, &e[i], state);
        bill_entitlements (r->months, &at);
        fields_copy (&bill_fields[BILL_ENTITLEMENTS],
                     bill_append (r->months, BILL_ENTITLEMENTS), &e[i]);
        cube_add_at (r->sums, &e[i], at);
    }
}

/* --- to date ------------------------------------------------------------ */

/* An entitlement, its months and their sum. */
struct share {
    const bill_entitlement_t *sum, *first, *last;
    bool holds;
};

static void proof_hours (report_proof_t *proof, const char *label,
                         const mpq_t seconds, mpq_t rest, int sign)
{
    GL_AUTOFREE char *text = report_hours_text (seconds);

    report_proof_line (proof, label, text);
    (sign < 0 ? mpq_sub : mpq_add) (rest, rest, seconds);
}

/* The rollover in, less the rollover out of the months before, but for the first: they
 * were closed with other facts. */
static void changed_of (const struct share *share, mpq_t ret)
{
    mpq_sub (ret, share->sum->rollover_in, share->first->rollover_in);
    mpq_sub (ret, ret, share->sum->rollover_out);
    mpq_add (ret, ret, share->last->rollover_out);
}

/* Unused of the last month, that neither rolled over nor expired. */
static void left_of (const bill_entitlement_t *sum, mpq_t ret_left)
{
    mpq_sub (ret_left, sum->unused, sum->rollover_out);
    mpq_sub (ret_left, ret_left, sum->expired);
}

static void put_share (entitlement_report_t *r, const struct share *share)
{
    const bill_entitlement_t *sum = share->sum;
    GL_AUTOFREE char *title = xasprintf (
        "Entitlement %s/%s to date, %s hours", sum->team, sum->pool,
        site_pool_of_cpus (r->query->site, sum->pool) ? "CPU" : "GPU");
    report_proof_t *proof = report_proof (r->report, title);
    mpq_t rest, left, changed;

    mpq_inits (rest, left, changed, NULL);
    left_of (sum, left);
    changed_of (share, changed);
    proof_hours (proof, "bought", sum->bought, rest, 1);
    if (mpq_sgn (share->first->rollover_in) != 0)
        proof_hours (proof, "rollover in", share->first->rollover_in, rest, 1);
    if (mpq_sgn (changed) != 0)
        proof_hours (proof, "changed after months were closed", changed, rest,
                     1);
    proof_hours (proof, "used by jobs", sum->used, rest, -1);
    proof_hours (proof, "used by reservations", sum->used_reserved, rest, -1);
    proof_hours (proof, "expired", sum->expired, rest, -1);
    proof_hours (proof, "rollover out", share->last->rollover_out, rest, -1);
    proof_hours (proof, "left", left, rest, -1);
    proof->holds = share->holds && mpq_sgn (rest) == 0;
    mpq_clears (rest, left, changed, NULL);
}

/* Lines of money; rounded, they add up to the first one. */
#define MONEY_LINES 5
struct money_line {
    const char *label;
    mpq_srcptr value;
};

static int put_money_lines (entitlement_report_t *r, report_proof_t *proof,
                            const struct money_line *line, size_t count,
                            mpz_srcptr total)
{
    int digits = r->query->site->currency_digits, rc;
    mpq_t part[MONEY_LINES];
    mpz_t units[MONEY_LINES];
    gl_error_t error;

    for (size_t i = 0; i < count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
        mpz_ui_pow_ui (mpq_numref (part[i]), 10, (unsigned long)digits);
        mpq_mul (part[i], part[i], line[i].value);
    }
    rc = exact_share (total, (const mpq_t *)part, count, units, &error);
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *text = exact_units_text (units[i], digits);
        if (rc == 0)
            report_proof_line (proof, line[i].label, text);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    return rc;
}

/* paid + rollover in = used + by reservations + expired + rollover out + left */
static void put_share_value (entitlement_report_t *r, const struct share *share)
{
    const site_t *site = r->query->site;
    const bill_entitlement_t *sum = share->sum;
    GL_AUTOFREE char *title
        = xasprintf ("Paid for entitlement %s/%s to date, %s", sum->team,
                     sum->pool, site->currency);
    report_proof_t *proof;
    mpq_t had, left;
    mpz_t total;

    mpq_inits (had, left, NULL);
    mpz_init (total);
    bill_entitlement_value_unused (sum, left);
    mpq_sub (left, left, sum->value_expired);
    mpq_sub (left, left, sum->value_out);
    mpq_add (had, sum->fee, sum->value_in);
    mpq_sub (had, had, sum->value_out);
    mpq_add (had, had, share->last->value_out);
    if (mpq_sgn (had) > 0) {
        const struct money_line lines[MONEY_LINES]
            = {{"used by jobs", sum->value_used},
               {"used by reservations", sum->value_reserved},
               {"expired", sum->value_expired},
               {"rollover out", share->last->value_out},
               {"left", left}};
        exact_round (total, had, site->currency_digits);
        proof = report_proof (r->report, title);
        report_proof_money (proof, "paid and rolled over", total,
                            site->currency_digits);
        proof->holds = mpq_sgn (left) >= 0
                       && put_money_lines (r, proof, lines,
                                           GL_ARRAY_SIZE (lines), total)
                              == 0;
    }
    mpz_clear (total);
    mpq_clears (had, left, NULL);
}

/* Each at its first month. */
static void put_shares (entitlement_report_t *r)
{
    size_t count, members;
    const bill_entitlement_t *e = bill_entitlements (r->months, &count);

    for (size_t i = 0; i < count; i++) {
        const size_t *member = cube_members (r->sums, &e[i], &members);
        struct share share = {cube_find (r->sums, &e[i]), &e[i],
                              &e[member[members - 1]], true};
        if (member[0] != i)
            continue;
        for (size_t k = 0; k < members; k++)
            share.holds = share.holds && balances (&e[member[k]]);
        put_share (r, &share);
        put_share_value (r, &share);
    }
}

report_t *entitlement_report_make (entitlement_report_t *r)
{
    const site_t *site = r->query->site;
    const fields_t *fields = &bill_fields[BILL_ENTITLEMENTS];
    bill_entitlement_t all;

    fields_init (fields, &all);
    cube_sum (r->sums, 0, cube_count (r->sums), &all);
    report_totals (r->report);
    report_put_money (r->report, AT_AMOUNT, all.amount_units,
                      site->currency_digits);
    report_put_money (r->report, AT_FEE, all.fee_units, site->currency_digits);
    report_put_text (r->report, AT_CURRENCY, site->currency);
    fields_clear (fields, &all);
    put_shares (r);
    if (cube_count (r->sums) == 0)
        report_note (r->report, NOTE_INFORMATION,
                     "There are no entitlements in these months. List the "
                     "hours that teams have bought under 'entitlements'.");
    report_sort (r->report);
    return GL_TAKE (r->report);
}
