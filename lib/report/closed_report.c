#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/brought.h"
#include "report/closed_report.h"
#include "report/usage_report.h"

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

struct money {
    const char *keys[KEYS_MAX]; /* of a row of the report; the bill's */
    mpq_t gpu_seconds;
    mpq_t exact;
    mpz_t cost;
    mpz_t charge;
    mpz_t credit;
};

struct closed {
    const report_query_t *query;
    report_t *report;
    struct money *rows;
    size_t count;
    struct money whole;
    brought_t *brought;
};

static void money_init (struct money *m)
{
    memset (m, 0, sizeof (*m));
    mpq_inits (m->gpu_seconds, m->exact, NULL);
    mpz_inits (m->cost, m->charge, m->credit, NULL);
}

static void money_clear (struct money *m)
{
    mpq_clears (m->gpu_seconds, m->exact, NULL);
    mpz_clears (m->cost, m->charge, m->credit, NULL);
}

static void money_add (struct money *m, const bill_row_t *row)
{
    if (row->kind == BILL_CREDIT) {
        mpz_add (m->credit, m->credit, row->charge_units);
        return;
    }
    mpz_add (m->cost, m->cost, row->cost_units);
    mpz_add (m->charge, m->charge, row->charge_units);
    if (row->kind == BILL_CHARGE) {
        mpq_add (m->gpu_seconds, m->gpu_seconds, row->gpu_seconds);
        mpq_add (m->exact, m->exact, row->exact);
    }
}

static int compare_keys (const struct money *m, const char *const *keys,
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
static struct money *find_row (struct closed *c, const char *const *keys)
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
    money_add (find_row (c, keys), row);
    money_add (&c->whole, row);
}

/* --- the report -------------------------------------------------------- */

struct columns {
    usage_columns_t usage;
    size_t cost, rate, charge, credit, correction, currency;
};

static struct columns add_columns (struct closed *c)
{
    struct columns columns;

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

static void put_money (struct closed *c, const struct columns *columns,
                       const struct money *m)
{
    int digits = c->query->site->currency_digits;
    mpq_t rate;

    report_put_hours (c->report, columns->usage.first + MEASURE_GPU_HOURS,
                      m->gpu_seconds);
    report_put_money (c->report, columns->cost, m->cost, digits);
    report_put_money (c->report, columns->charge, m->charge, digits);
    if (mpz_sgn (m->credit)) {
        report_put_money (c->report, columns->credit, m->credit, digits);
        c->report->column[columns->credit].detail = false;
    }
    report_put_text (c->report, columns->currency, c->query->site->currency);
    if (mpq_sgn (m->gpu_seconds) <= 0)
        return;
    mpq_init (rate);
    mpq_set_ui (rate, 3600, 1);
    mpq_mul (rate, rate, m->exact);
    mpq_div (rate, rate, m->gpu_seconds);
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

    mpz_init_set (rest, pool->cost_units);
    mpz_inits (due, disposal, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!is_own (&rows[i], pool))
            continue;
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
    proof->holds = mpz_sgn (rest) == 0;
    mpz_clears (rest, due, disposal, NULL);
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

report_t *closed_report_make (const report_query_t *query,
                              const closed_month_t *months, size_t count)
{
    struct closed c = {.query = query};
    struct columns columns;

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
    brought_put (c.brought, c.report, columns.correction, columns.currency);
    report_sort (c.report);
    money_clear (&c.whole);
    brought_free (c.brought);
    free (c.rows);
    return c.report;
}

/* --- what the open month is charged for closed ones ----------------------- */

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
                                const bill_t *bill, const char *month)
{
    brought_t *brought;

    if (!filters_answer (query))
        return;
    brought = brought_new (query);
    brought_add (brought, bill, month);
    brought_put (brought, report, column_of (report, MEASURE_CORRECTION),
                 column_of (report, MEASURE_CURRENCY));
    brought_free (brought);
    report_sort (report);
}
