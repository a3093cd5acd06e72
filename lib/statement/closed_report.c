#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "report/usage_report.h"
#include "statement/brought.h"
#include "statement/chargeback_private.h"
#include "statement/closed_report.h"

bool closed_report_answers (const report_query_t *query)
{
    static const bill_row_t none;
    const char *text;

    for (size_t i = 0; i < query->by.count; i++)
        if (!brought_key (&none, "", query->by.id[i], &text))
            return false;
    for (size_t i = 0; i < query->filter_count; i++)
        if (!brought_key (&none, "", query->filters[i].key, &text))
            return false;
    return true;
}

/* --- sums -------------------------------------------------------------- */

struct closed_money {
    const char *keys[KEYS_MAX]; /* of a row of the report; the bill's */
    mpq_t gpu_seconds;
    mpq_t charged_seconds; /* of them those that the charge is for */
    mpq_t exact;
    mpz_t cost;
    mpz_t charge;
    mpz_t credit;
    bool has_cost, has_charge;
};

struct closed {
    const report_query_t *query;
    report_t *report;
    struct closed_money *rows;
    size_t count;
    struct closed_money whole;
    brought_t *brought;
};

static void money_init (struct closed_money *m)
{
    memset (m, 0, sizeof (*m));
    mpq_inits (m->gpu_seconds, m->charged_seconds, m->exact, NULL);
    mpz_inits (m->cost, m->charge, m->credit, NULL);
}

static void money_clear (struct closed_money *m)
{
    mpq_clears (m->gpu_seconds, m->charged_seconds, m->exact, NULL);
    mpz_clears (m->cost, m->charge, m->credit, NULL);
}

/* What has no cost or no price has none, and not 0. */
static void money_add (struct closed_money *m, const bill_t *bill,
                       const bill_row_t *row)
{
    bool is_charge = row->kind == BILL_CHARGE;

    if (is_charge)
        mpq_add (m->gpu_seconds, m->gpu_seconds, row->gpu_seconds);
    if (bill_row_has_cost (bill, row)) {
        mpz_add (m->cost, m->cost, row->cost_units);
        m->has_cost = true;
    }
    if (!bill_row_priced (bill, row))
        return;
    if (row->kind == BILL_CREDIT) {
        mpz_add (m->credit, m->credit, row->charge_units);
        return;
    }
    mpz_add (m->charge, m->charge, row->charge_units);
    if (is_charge)
        mpq_add (m->charged_seconds, m->charged_seconds, row->gpu_seconds);
    mpq_add (m->exact, m->exact, row->exact);
    m->has_charge = true;
}

static int compare_keys (const struct closed_money *m, const char *const *keys,
                         size_t count)
{
    int order = 0;

    for (size_t i = 0; i < count && order == 0; i++) {
        const char *a = m->keys[i] ? m->keys[i] : "";
        order = strcmp (a, keys[i] ? keys[i] : "");
    }
    return order;
}

/* Few rows, in the order of their keys. */
static struct closed_money *find_row (struct closed *c, const char *const *keys)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (&c->rows[middle], keys, c->query->by.count);
        if (order == 0)
            return &c->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    c->rows = xreallocarray (c->rows, c->count + 1, sizeof (*c->rows));
    memmove (&c->rows[low + 1], &c->rows[low],
             (c->count - low) * sizeof (*c->rows));
    c->count++;
    money_init (&c->rows[low]);
    for (size_t i = 0; i < c->query->by.count; i++)
        c->rows[low].keys[i] = keys[i];
    return &c->rows[low];
}

static void take_row (struct closed *c, const closed_month_t *month,
                      const bill_row_t *row)
{
    const char *keys[KEYS_MAX] = {NULL};

    if (!bill_row_is_due (row) || row->kind == BILL_TAX
        || bill_row_is_brought (row)
        || !brought_passes (row, month->month, c->query))
        return;
    for (size_t i = 0; i < c->query->by.count; i++)
        brought_key (row, month->month, c->query->by.id[i], &keys[i]);
    money_add (find_row (c, keys), month->bill, row);
    money_add (&c->whole, month->bill, row);
}

/* --- the report -------------------------------------------------------- */

struct closed_columns {
    usage_columns_t usage;
    size_t cost, rate, charge, credit, correction, currency;
};

static struct closed_columns add_columns (struct closed *c)
{
    struct closed_columns columns;

    report_key_columns (c->report, c->query);
    columns.usage = usage_report_columns (c->report, true);
    columns.cost = report_measure (c->report, MEASURE_COST, false);
    columns.rate = report_measure (c->report, MEASURE_RATE, false);
    columns.charge = report_measure (c->report, MEASURE_CHARGE, false);
    columns.credit = report_measure (c->report, MEASURE_CREDIT, true);
    columns.correction
        = report_measure (c->report, MEASURE_CORRECTION, true);
    columns.currency = report_measure (c->report, MEASURE_CURRENCY, false);
    return columns;
}

static void put_money (struct closed *c, const struct closed_columns *columns,
                       const struct closed_money *m)
{
    int digits = c->query->site->currency_digits;
    mpq_t rate;

    report_put_hours (c->report, columns->usage.first + MEASURE_GPU_HOURS,
                      m->gpu_seconds);
    if (m->has_cost)
        report_put_money (c->report, columns->cost, m->cost, digits);
    if (m->has_charge) {
        report_put_money (c->report, columns->charge, m->charge, digits);
        report_put_text (c->report, columns->currency,
                         c->query->site->currency);
    }
    if (mpz_sgn (m->credit)) {
        report_put_money (c->report, columns->credit, m->credit, digits);
        c->report->column[columns->credit].detail = false;
    }
    if (mpq_sgn (m->charged_seconds) <= 0)
        return;
    mpq_init (rate);
    mpq_set_ui (rate, 3600, 1);
    mpq_mul (rate, rate, m->exact);
    mpq_div (rate, rate, m->charged_seconds);
    report_put_exact (c->report, columns->rate, rate, 4);
    mpq_clear (rate);
}

static void note_months (struct closed *c, const closed_month_t *months,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        report_note (c->report, NOTE_INFORMATION, "%s", months[i].note);
    report_note (c->report, NOTE_INFORMATION,
                 "These are the rows that were closed: jobs and what was "
                 "measured are in report usage.");
}

/* --- how it adds up ---------------------------------------------------- */

static void proof_money (struct closed *c, report_proof_t *proof,
                         const char *label, const mpz_t units)
{
    GL_AUTOFREE char *text
        = exact_units_text (units, c->query->site->currency_digits);

    report_proof_line (proof, label, text);
}

static const char *title_of (const bill_row_t *row)
{
    for (size_t i = 0; row->what && i < REMAINDER_COUNT; i++)
        if (!strcmp (remainder_info ((remainder_id_t)i)->word, row->what))
            return remainder_title ((remainder_id_t)i,
                                    mpz_sgn (row->charge_units));
    return row->what;
}

static bool is_own (const bill_row_t *row, const bill_pool_t *pool)
{
    return row->pool && !strcmp (row->pool, pool->pool)
           && !strcmp (row->month, pool->month) && !row->reason
           && row->kind != BILL_CORRECTION && row->kind != BILL_TAX;
}

static bool is_disposal (const bill_row_t *row)
{
    return row->kind == BILL_REMAINDER && row->what
           && !strcmp (row->what, BILL_DISPOSAL);
}

static bool is_excess (const bill_row_t *row)
{
    return row->kind == BILL_REMAINDER && row->what
           && !strcmp (row->what, remainder_info (REMAINDER_EXCESS)->word);
}

/* What is in no charge, as the chargeback of an open month says it. */
static void prove_disposals (struct closed *c, report_proof_t *proof,
                             const mpz_t units)
{
    if (mpz_sgn (units) != 0)
        proof_money (c, proof,
                     mpz_sgn (units) > 0 ? "loss of disposals: in no charge"
                                         : "gain of disposals: in no charge",
                     units);
}

/* cost = charges, idle time and automatic credits + remainders */
static void prove_pool (struct closed *c, const closed_month_t *month,
                        const bill_pool_t *pool)
{
    size_t count;
    const bill_row_t *rows = bill_rows (month->bill, &count);
    GL_AUTOFREE char *title = xasprintf ("Pool %s, %s, %s", pool->pool,
                                         month->month, c->query->site->currency);
    report_proof_t *proof = report_proof (c->report, title);
    mpz_t rest, due, disposal;
    mpq_t excess;

    mpz_init_set (rest, pool->cost_units);
    mpz_inits (due, disposal, NULL);
    mpq_init (excess);
    for (size_t i = 0; i < count; i++) {
        if (!is_own (&rows[i], pool))
            continue;
        if (is_excess (&rows[i]))
            mpq_add (excess, excess, rows[i].gpu_seconds);
        if (is_disposal (&rows[i])) {
            mpz_add (disposal, disposal, rows[i].charge_units);
            continue;
        }
        mpz_sub (rest, rest, rows[i].charge_units);
        if (rows[i].kind != BILL_REMAINDER)
            mpz_add (due, due, rows[i].charge_units);
    }
    prove_disposals (c, proof, disposal);
    proof_money (c, proof, "cost", pool->cost_units);
    proof_money (c, proof, "charged", due);
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *label = NULL;
        if (!is_own (&rows[i], pool) || rows[i].kind != BILL_REMAINDER
            || is_disposal (&rows[i]) || mpz_sgn (rows[i].charge_units) == 0)
            continue;
        label = xasprintf ("not charged: %s", title_of (&rows[i]));
        proof_money (c, proof, label, rows[i].charge_units);
    }
    proof_money (c, proof, "difference", rest);
    proof->holds = chargeback_prove_capacity (proof, excess)
                   && mpz_sgn (rest) == 0;
    chargeback_warn_capacity (c->report, pool->pool, excess);
    mpz_clears (rest, due, disposal, NULL);
    mpq_clear (excess);
}

static void prove (struct closed *c, const closed_month_t *months, size_t count)
{
    if (c->query->filter_count > 0)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t pools;
        const bill_pool_t *pool = bill_pools (months[i].bill, &pools);
        for (size_t k = 0; k < pools; k++)
            if (pool[k].has_cost)
                prove_pool (c, &months[i], &pool[k]);
    }
}

static void add_own_row (struct pool_sum *sum, const bill_row_t *row)
{
    mpz_srcptr units = row->charge_units;

    if (is_disposal (row)) {
        mpz_add (sum->disposal, sum->disposal, units);
    } else if (row->kind == BILL_REMAINDER) {
        for (size_t i = 0; i < REMAINDER_COUNT; i++)
            if (!strcmp (remainder_info ((remainder_id_t)i)->word, row->what))
                mpz_add (sum->remainder[i], sum->remainder[i], units);
    } else if (row->kind == BILL_CREDIT) {
        pool_sum_credit (sum, row->what, units);
    } else {
        mpz_add (sum->in_period, sum->in_period, units);
        if (row->kind == BILL_PURCHASE)
            mpz_add (sum->purchased, sum->purchased, units);
    }
}

static void add_book (mpz_t sum, mpq_srcptr cost, int digits)
{
    mpz_t units;

    mpz_init (units);
    exact_round (units, cost, digits);
    mpz_add (sum, sum, units);
    mpz_clear (units);
}

static void add_pool (const struct closed *c, const closed_month_t *month,
                      const bill_pool_t *pool, struct pool_sum *sum)
{
    int digits = c->query->site->currency_digits;
    size_t count;
    const bill_row_t *rows = bill_rows (month->bill, &count);

    mpz_add (sum->cost, sum->cost, pool->cost_units);
    add_book (sum->full, pool->full_cost, digits);
    add_book (sum->recoverable, pool->recoverable_cost, digits);
    for (size_t i = 0; i < count; i++)
        if (is_own (&rows[i], pool))
            add_own_row (sum, &rows[i]);
}

/* The totals that the same month had while it was open: where each pool with a price
 * has a cost. */
static void name_totals (struct closed *c, const closed_month_t *months,
                         size_t count)
{
    bool whole = c->query->filter_count == 0;
    struct pool_sum sum;
    size_t added = 0;

    pool_sum_init (&sum, "");
    for (size_t i = 0; i < count; i++) {
        size_t pools;
        const bill_pool_t *pool = bill_pools (months[i].bill, &pools);
        for (size_t k = 0; k < pools; k++) {
            whole = whole && (pool[k].has_cost || !pool[k].has_rate);
            if (pool[k].has_cost) {
                add_pool (c, &months[i], &pool[k], &sum);
                added++;
            }
        }
    }
    if (whole && added > 0)
        chargeback_name_totals (c->report, c->query->site->currency_digits,
                                &sum);
    pool_sum_clear (&sum);
}

report_t *closed_report_make (const report_query_t *query,
                              const closed_month_t *months, size_t count)
{
    struct closed c = {.query = query};
    struct closed_columns columns;

    c.report = report_begin (query, "chargeback", "GPU chargeback");
    columns = add_columns (&c);
    money_init (&c.whole);
    c.brought = brought_new (query);
    for (size_t i = 0; i < count; i++) {
        size_t row_count;
        const bill_row_t *rows = bill_rows (months[i].bill, &row_count);
        for (size_t k = 0; k < row_count; k++)
            take_row (&c, &months[i], &rows[k]);
        brought_add (c.brought, months[i].bill, months[i].month);
    }
    for (size_t i = 0; i < c.count; i++) {
        report_row (c.report);
        report_put_keys (c.report, query, c.rows[i].keys);
        put_money (&c, &columns, &c.rows[i]);
        money_clear (&c.rows[i]);
    }
    report_totals (c.report);
    put_money (&c, &columns, &c.whole);
    note_months (&c, months, count);
    prove (&c, months, count);
    name_totals (&c, months, count);
    brought_put (c.brought, c.report, columns.correction, columns.currency);
    report_sort (c.report);
    money_clear (&c.whole);
    brought_free (c.brought);
    free (c.rows);
    return c.report;
}

/* --- what open months are charged for closed ones ------------------------- */

static bool filters_answer (const report_query_t *query)
{
    report_query_t filters = *query;

    filters.by.count = 0;
    return closed_report_answers (&filters);
}

static size_t column_of (const report_t *report, measure_t measure)
{
    size_t column = 0;

    while (column + 1 < report->column_count
           && strcmp (report->column[column].name, report_measure_name (measure))
                  != 0)
        column++;
    return column;
}

void closed_report_corrections (report_t *report, const report_query_t *query,
                                const closed_month_t *months, size_t count)
{
    brought_t *brought;

    if (!filters_answer (query))
        return;
    brought = brought_new (query);
    for (size_t i = 0; i < count; i++)
        brought_add (brought, months[i].bill, months[i].month);
    brought_put (brought, report, column_of (report, MEASURE_CORRECTION),
                 column_of (report, MEASURE_CURRENCY));
    brought_free (brought);
    report_sort (report);
}
