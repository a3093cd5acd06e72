#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/closed_report.h"
#include "report/usage_report.h"

/* --- keys -------------------------------------------------------------- */

/* What a row says of a key; false: rows do not have it. */
static bool key_of (const bill_row_t *row, key_id_t key, const char **ret_text)
{
    switch (key) {
    case KEY_MONTH:
        *ret_text = row->month;
        return true;
    case KEY_POOL:
        *ret_text = row->pool;
        return true;
    case KEY_TEAM:
        *ret_text = row->team;
        return true;
    case KEY_GPU:
        *ret_text = row->gpu;
        return true;
    case KEY_PROFILE:
        *ret_text = row->profile;
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++) {
        if (CHARGE_PATH[i] == key) {
            *ret_text = row->key[i];
            return true;
        }
    }
    return false;
}

bool closed_report_answers (const report_query_t *query)
{
    static const bill_row_t none;
    const char *text;

    for (size_t i = 0; i < query->by.count; i++)
        if (!key_of (&none, query->by.id[i], &text))
            return false;
    for (size_t i = 0; i < query->filter_count; i++)
        if (!key_of (&none, query->filters[i].key, &text))
            return false;
    return true;
}

static bool passes (const bill_row_t *row, const report_query_t *query)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *f = &query->filters[i];
        const char *text = NULL;
        bool found = false;
        key_of (row, f->key, &text);
        if (!text)
            text = key_info (f->key)->absent;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], text);
        if (!found)
            return false;
    }
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
    mpz_t corrections;
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
        || !passes (row, c->query))
        return;
    if (row->kind == BILL_CORRECTION || strcmp (row->month, month->month) != 0) {
        mpz_add (c->corrections, c->corrections, row->charge_units);
        return;
    }
    for (size_t i = 0; i < c->query->by.count; i++)
        key_of (row, c->query->by.id[i], &keys[i]);
    money_add (find_row (c, keys), row);
    money_add (&c->whole, row);
}

/* --- the report -------------------------------------------------------- */

struct columns {
    usage_columns_t usage;
    size_t cost, rate, charge, credit, currency;
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
    if (mpz_sgn (c->corrections)) {
        GL_AUTOFREE char *text = exact_units_text (
            c->corrections, c->query->site->currency_digits);
        report_named_total (c->report, "corrections",
                            "Corrections of other months, and by hand",
                            COLUMN_MONEY, text);
    }
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

/* cost = charges, idle time and automatic credits + remainders */
static void prove_pool (struct closed *c, const closed_month_t *month,
                        const bill_pool_t *pool)
{
    size_t count;
    const bill_row_t *rows = bill_rows (month->bill, &count);
    GL_AUTOFREE char *title = xasprintf ("Pool %s, %s, %s", pool->pool,
                                         month->month, c->query->site->currency);
    report_proof_t *proof = report_proof (c->report, title);
    mpz_t rest, due;

    mpz_init_set (rest, pool->cost_units);
    mpz_init (due);
    for (size_t i = 0; i < count; i++) {
        if (!is_own (&rows[i], pool))
            continue;
        mpz_sub (rest, rest, rows[i].charge_units);
        if (rows[i].kind != BILL_REMAINDER)
            mpz_add (due, due, rows[i].charge_units);
    }
    proof_money (c, proof, "cost", pool->cost_units);
    proof_money (c, proof, "charged", due);
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *label = NULL;
        if (!is_own (&rows[i], pool) || rows[i].kind != BILL_REMAINDER
            || mpz_sgn (rows[i].charge_units) == 0)
            continue;
        label = xasprintf ("not charged: %s", title_of (&rows[i]));
        proof_money (c, proof, label, rows[i].charge_units);
    }
    proof_money (c, proof, "difference", rest);
    proof->holds = mpz_sgn (rest) == 0;
    mpz_clears (rest, due, NULL);
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
    mpz_init (c.corrections);
    for (size_t i = 0; i < count; i++) {
        size_t row_count;
        const bill_row_t *rows = bill_rows (months[i].bill, &row_count);
        for (size_t k = 0; k < row_count; k++)
            take_row (&c, &months[i], &rows[k]);
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
    report_sort (c.report);
    money_clear (&c.whole);
    mpz_clear (c.corrections);
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

/* The keys that rows have; what is billed in a month is of that month. */
static char *row_label (const report_query_t *query, const bill_row_t *row,
                        const char *month)
{
    buffer_t label = BUFFER_INIT;
    char *text;

    for (size_t i = 0; i < query->by.count; i++) {
        const char *key = NULL;
        if (!key_of (row, query->by.id[i], &key))
            continue;
        if (query->by.id[i] == KEY_MONTH)
            key = month;
        buffer_printf (&label, "%s%s", label.length ? ", " : "",
                       key ? key : key_info (query->by.id[i])->absent);
    }
    text = xstrdup (label.length ? buffer_text (&label) : "all");
    buffer_done (&label);
    return text;
}

struct brought {
    char *label;
    mpz_t units;
};

static int by_label (const void *a, const void *b)
{
    return strcmp (((const struct brought *)a)->label,
                   ((const struct brought *)b)->label);
}

static struct brought *take_brought (const report_query_t *query,
                                     const bill_t *bill, const char *month,
                                     mpz_t total, size_t *ret_count)
{
    struct brought *sums = NULL;
    size_t count = 0, row_count;
    const bill_row_t *rows = bill_rows (bill, &row_count);

    for (size_t i = 0; i < row_count; i++) {
        size_t k = 0;
        char *label;
        if (!bill_row_is_brought (&rows[i]) || !passes (&rows[i], query))
            continue;
        mpz_add (total, total, rows[i].charge_units);
        label = row_label (query, &rows[i], month);
        while (k < count && strcmp (sums[k].label, label) != 0)
            k++;
        if (k == count) {
            sums = xreallocarray (sums, ++count, sizeof (*sums));
            sums[k].label = xstrdup (label);
            mpz_init (sums[k].units);
        }
        mpz_add (sums[k].units, sums[k].units, rows[i].charge_units);
        free (label);
    }
    if (count > 1)
        qsort (sums, count, sizeof (*sums), by_label);
    *ret_count = count;
    return sums;
}

/* Its lines add up to all of them. */
static void put_brought (struct closed *c, const struct brought *sums,
                         size_t count, const char *month)
{
    GL_AUTOFREE char *total
        = exact_units_text (c->corrections, c->query->site->currency_digits);
    GL_AUTOFREE char *title
        = xasprintf ("Corrections of closed months, and by hand, %s",
                     c->query->site->currency);
    report_proof_t *proof = report_proof (c->report, title);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < count; i++) {
        proof_money (c, proof, sums[i].label, sums[i].units);
        mpz_add (sum, sum, sums[i].units);
    }
    proof_money (c, proof, "together", c->corrections);
    proof->holds = mpz_cmp (sum, c->corrections) == 0;
    mpz_clear (sum);
    report_named_total (c->report, "corrections",
                        "Corrections of closed months, and by hand",
                        COLUMN_MONEY, total);
    report_note (c->report, NOTE_INFORMATION,
                 "Corrections of closed months, and rows by hand, are billed in "
                 "%s and are in none of its rows: they are not part of its "
                 "cost. Charge, credit and they are what statements say before "
                 "taxes.",
                 month);
}

void closed_report_corrections (report_t *report, const report_query_t *query,
                                const bill_t *bill, const char *month)
{
    struct closed c = {.query = query, .report = report};
    struct brought *sums;
    size_t count;

    if (!filters_answer (query))
        return;
    mpz_init (c.corrections);
    sums = take_brought (query, bill, month, c.corrections, &count);
    if (count > 0)
        put_brought (&c, sums, count, month);
    for (size_t i = 0; i < count; i++) {
        mpz_clear (sums[i].units);
        free (sums[i].label);
    }
    free (sums);
    mpz_clear (c.corrections);
}
