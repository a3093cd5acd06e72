#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
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
    HOURS (bought, "Bought", false, "GPU hours that it has of the month."),
    HOURS (rollover_in, "Carried in", true, "Unused of the month before."),
    HOURS (used, "Used", false, "Drawn by jobs."),
    HOURS (used_reserved, "Reserved", true,
           "Drawn by reservations that no job used."),
    HOURS (unused, "Unused", false, "Bought and carried in, and not drawn."),
    HOURS (rollover_out, "Carried out", true,
           "Of the unused: can be used in the next month."),
    HOURS (expired, "Expired", false,
           "Of the unused: gone with the month. Neither this nor carried out "
           "while the month lasts."),
};
enum {
    BOUGHT, CARRIED_IN, USED, USED_RESERVED, UNUSED, CARRIED_OUT, EXPIRED
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
    VALUE ("rollover_in_value", value_in, "Carried in, worth",
           "What was paid for the hours carried in."),
    VALUE ("used_value", value_used, "Used, worth",
           "Of what was paid: for the hours that jobs drew."),
    VALUE ("used_reserved_value", value_reserved, "Reserved, worth",
           "For those that reservations drew."),
    VALUE ("rollover_out_value", value_out, "Carried out, worth",
           "For those that can be used in the next month."),
    VALUE ("expired_value", value_expired, "Expired, worth",
           "For those that are gone."),
};
enum { VALUE_IN, VALUE_USED, VALUE_RESERVED, VALUE_OUT, VALUE_EXPIRED };
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

static void add_columns (report_t *report)
{
    report_column (report, "team", "Team", COLUMN_TEXT, true);
    report_column (report, "pool", "Pool", COLUMN_TEXT, true);
    report_column (report, "month", "Month", COLUMN_TEXT, true);
    report_column (report, "state", "State", COLUMN_TEXT, false);
    for (size_t i = 0; i < HOURS_COUNT; i++) {
        size_t at = report_column (report, hours[i].name, hours[i].title,
                                   COLUMN_HOURS, false);
        report_column_help (report, at, hours[i].help);
        report->column[at].detail = hours[i].detail;
    }
    report_column (report, "used_pct", "Used %", COLUMN_PERCENT, false);
    report_column (report, "amount", "Not due", COLUMN_MONEY, false);
    report_column_help (report, AT_AMOUNT,
                        "What was not due because of what was used, as on the "
                        "bill.");
    report_column (report, "unused_value", "Unused worth", COLUMN_MONEY, false);
    report_column_help (report, AT_VALUE,
                        "What was paid for the unused hours; where nothing was, "
                        "at the pool's price without QOS, on average over the "
                        "month.");
    report_column (report, "fee", "Paid", COLUMN_MONEY, false);
    report_column_help (report, AT_FEE,
                        "Due for the hours bought, as on the bill.");
    report_column (report, "hour_value", "Per hour", COLUMN_RATE, false);
    report_column_help (report, AT_HOUR,
                        "Paid and carried in, for an hour bought and carried "
                        "in.");
    for (size_t i = 0; i < VALUES_COUNT; i++) {
        size_t at = report_column (report, values[i].name, values[i].title,
                                   COLUMN_MONEY, false);
        report_column_help (report, at, values[i].help);
    }
    for (size_t i = AT_FEE; i < AT_CURRENCY; i++)
        report->column[i].detail = true;
    report_column (report, "currency", "Currency", COLUMN_TEXT, false);
}

/* --- what is added ------------------------------------------------------ */

/* An entitlement to date. */
struct share {
    char *team;
    char *pool;
    mpq_t sum[GL_ARRAY_SIZE (hours)];
    mpq_t first_in; /* carried into the first month */
    mpq_t last_out; /* carried out of the last one */
    mpq_t changed;  /* carried in less carried out of the month before, closed
                       with other facts */
    mpq_t paid, value[GL_ARRAY_SIZE (values)];
    mpq_t first_value_in, last_value_out, changed_value; /* the same in money */
    bool holds; /* of each month */
};

struct entitlement_report {
    const report_query_t *query;
    report_t *report;
    struct share *share;
    size_t count;
    mpz_t amount, fee;
};

entitlement_report_t *entitlement_report_new (const report_query_t *query)
{
    entitlement_report_t *r = xcalloc (1, sizeof (*r));

    r->query = query;
    mpz_inits (r->amount, r->fee, NULL);
    r->report = report_begin (query, "entitlements", "Entitlements");
    add_columns (r->report);
    return r;
}

void entitlement_report_free (entitlement_report_t *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++) {
        struct share *share = &r->share[i];
        for (size_t k = 0; k < HOURS_COUNT; k++)
            mpq_clear (share->sum[k]);
        for (size_t k = 0; k < VALUES_COUNT; k++)
            mpq_clear (share->value[k]);
        mpq_clears (share->first_in, share->last_out, share->changed,
                    share->paid, share->first_value_in, share->last_value_out,
                    share->changed_value, NULL);
        free (share->team);
        free (share->pool);
    }
    free (r->share);
    mpz_clears (r->amount, r->fee, NULL);
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
        const char *text = f->key == KEY_TEAM ? e->team : e->pool;
        bool found = false;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], text);
        if (!found)
            return false;
    }
    return true;
}

static struct share *share_of (entitlement_report_t *r,
                               const bill_entitlement_t *e)
{
    struct share *share;

    for (size_t i = 0; i < r->count; i++)
        if (!strcmp (r->share[i].team, e->team)
            && !strcmp (r->share[i].pool, e->pool))
            return &r->share[i];
    r->share = xreallocarray (r->share, r->count + 1, sizeof (*r->share));
    share = &r->share[r->count++];
    *share = (struct share){.team = xstrdup (e->team),
                            .pool = xstrdup (e->pool),
                            .holds = true};
    for (size_t k = 0; k < HOURS_COUNT; k++)
        mpq_init (share->sum[k]);
    for (size_t k = 0; k < VALUES_COUNT; k++)
        mpq_init (share->value[k]);
    mpq_inits (share->first_in, share->last_out, share->changed, share->paid,
               share->first_value_in, share->last_value_out,
               share->changed_value, NULL);
    mpq_set (share->first_in, e->rollover_in);
    mpq_set (share->last_out, e->rollover_in);
    mpq_set (share->first_value_in, e->value_in);
    mpq_set (share->last_value_out, e->value_in);
    return share;
}

/* bought + carried in = used + reserved + unused */
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

static void sum_values (struct share *share, const bill_entitlement_t *e)
{
    mpq_add (share->paid, share->paid, e->fee);
    for (size_t k = 0; k < VALUES_COUNT; k++)
        mpq_add (share->value[k], share->value[k], value_of (e, k));
    mpq_add (share->changed_value, share->changed_value, e->value_in);
    mpq_sub (share->changed_value, share->changed_value,
             share->last_value_out);
    mpq_set (share->last_value_out, e->value_out);
}

static void sum (struct share *share, const bill_entitlement_t *e)
{
    sum_values (share, e);
    for (size_t k = 0; k < HOURS_COUNT; k++)
        mpq_add (share->sum[k], share->sum[k], seconds_of (e, k));
    mpq_add (share->changed, share->changed, e->rollover_in);
    mpq_sub (share->changed, share->changed, share->last_out);
    mpq_set (share->last_out, e->rollover_out);
    share->holds = share->holds && balances (e);
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

/* (paid + value carried in) / (bought + carried in) */
static void put_hour (report_t *report, const bill_entitlement_t *e)
{
    mpq_t had, value;

    mpq_inits (had, value, NULL);
    mpq_add (had, e->bought, e->rollover_in);
    mpq_add (value, e->fee, e->value_in);
    if (mpq_sgn (had) > 0) {
        mpz_mul_ui (mpq_numref (value), mpq_numref (value), 3600);
        mpq_canonicalize (value);
        mpq_div (value, value, had);
        report_put_exact (report, AT_HOUR, value, 4);
    }
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
}

void entitlement_report_add (entitlement_report_t *r, const bill_t *bill,
                             const char *state)
{
    size_t count;
    const bill_entitlement_t *e = bill_entitlements (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!passes (r->query, &e[i]))
            continue;
        put_row (r, &e[i], state);
        sum (share_of (r, &e[i]), &e[i]);
        mpz_add (r->amount, r->amount, e[i].amount_units);
        mpz_add (r->fee, r->fee, e[i].fee_units);
    }
}

/* --- to date ------------------------------------------------------------ */

static void proof_hours (report_proof_t *proof, const char *label,
                         const mpq_t seconds, mpq_t rest, int sign)
{
    GL_AUTOFREE char *text = report_hours_text (seconds);

    report_proof_line (proof, label, text);
    (sign < 0 ? mpq_sub : mpq_add) (rest, rest, seconds);
}

/* Unused of the last month, and neither carried on nor gone. */
static void left_of (const struct share *share, mpq_t ret_left)
{
    mpq_set (ret_left, share->sum[UNUSED]);
    mpq_sub (ret_left, ret_left, share->sum[CARRIED_OUT]);
    mpq_sub (ret_left, ret_left, share->sum[EXPIRED]);
}

static void put_share (entitlement_report_t *r, const struct share *share)
{
    GL_AUTOFREE char *title = xasprintf ("Entitlement %s/%s to date, GPU hours",
                                         share->team, share->pool);
    report_proof_t *proof = report_proof (r->report, title);
    mpq_t rest, left;

    mpq_inits (rest, left, NULL);
    left_of (share, left);
    proof_hours (proof, "bought", share->sum[BOUGHT], rest, 1);
    if (mpq_sgn (share->first_in) != 0)
        proof_hours (proof, "carried in", share->first_in, rest, 1);
    if (mpq_sgn (share->changed) != 0)
        proof_hours (proof, "changed after months were closed", share->changed,
                     rest, 1);
    proof_hours (proof, "used by jobs", share->sum[USED], rest, -1);
    proof_hours (proof, "used by reservations", share->sum[USED_RESERVED], rest,
                 -1);
    proof_hours (proof, "expired", share->sum[EXPIRED], rest, -1);
    proof_hours (proof, "carried on", share->last_out, rest, -1);
    proof_hours (proof, "left", left, rest, -1);
    proof->holds = share->holds && mpq_sgn (rest) == 0;
    mpq_clears (rest, left, NULL);
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

/* paid + carried in = used + by reservations + expired + carried on + left */
static void put_share_value (entitlement_report_t *r, const struct share *share)
{
    const site_t *site = r->query->site;
    GL_AUTOFREE char *title
        = xasprintf ("Paid for entitlement %s/%s to date, %s", share->team,
                     share->pool, site->currency);
    report_proof_t *proof;
    mpq_t had, left;
    mpz_t total;

    mpq_inits (had, left, NULL);
    mpz_init (total);
    mpq_add (had, share->paid, share->first_value_in);
    mpq_add (had, had, share->changed_value);
    mpq_sub (left, had, share->last_value_out);
    for (size_t k = VALUE_USED; k < VALUES_COUNT; k++)
        if (k != VALUE_OUT)
            mpq_sub (left, left, share->value[k]);
    if (mpq_sgn (had) > 0) {
        const struct money_line lines[MONEY_LINES]
            = {{"used by jobs", share->value[VALUE_USED]},
               {"used by reservations", share->value[VALUE_RESERVED]},
               {"expired", share->value[VALUE_EXPIRED]},
               {"carried on", share->last_value_out},
               {"left", left}};
        exact_round (total, had, site->currency_digits);
        GL_AUTOFREE char *text
            = exact_units_text (total, site->currency_digits);
        proof = report_proof (r->report, title);
        report_proof_line (proof, "paid and carried in", text);
        proof->holds = mpq_sgn (left) >= 0
                       && put_money_lines (r, proof, lines,
                                           GL_ARRAY_SIZE (lines), total)
                              == 0;
    }
    mpz_clear (total);
    mpq_clears (had, left, NULL);
}

report_t *entitlement_report_make (entitlement_report_t *r)
{
    const site_t *site = r->query->site;

    report_totals (r->report);
    report_put_money (r->report, AT_AMOUNT, r->amount, site->currency_digits);
    report_put_money (r->report, AT_FEE, r->fee, site->currency_digits);
    report_put_text (r->report, AT_CURRENCY, site->currency);
    for (size_t i = 0; i < r->count; i++) {
        put_share (r, &r->share[i]);
        put_share_value (r, &r->share[i]);
    }
    if (r->count == 0)
        report_note (r->report, NOTE_INFORMATION,
                     "Nobody has an entitlement in these months: list what teams "
                     "have bought of a pool under 'entitlements'.");
    report_sort (r->report);
    return GL_TAKE (r->report);
}
