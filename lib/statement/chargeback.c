#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/chargeback_private.h"

static void money_init (struct money *m)
{
    mpz_inits (m->cost, m->charge, m->credit, NULL);
    mpq_init (m->charged_seconds);
    mpq_init (m->exact);
}

static void money_clear (struct money *m)
{
    mpz_clears (m->cost, m->charge, m->credit, NULL);
    mpq_clear (m->charged_seconds);
    mpq_clear (m->exact);
}

/* What has no cost or no price has none, and not 0. */
static void money_add (struct money *m, const bill_t *bill,
                       const posting_t *row)
{
    if (posting_has_cost (bill, row)) {
        mpz_add (m->cost, m->cost, row->cost_units);
        m->has_cost = true;
    }
    if (!posting_priced (bill, row))
        return;
    if (row->kind == BILL_CREDIT) {
        mpz_add (m->credit, m->credit, row->charge_units);
        m->has_credit = true;
        return;
    }
    mpz_add (m->charge, m->charge, row->charge_units);
    if (row->kind == BILL_CHARGE)
        mpq_add (m->charged_seconds, m->charged_seconds, row->gpu_seconds);
    mpq_add (m->exact, m->exact, row->exact);
    m->has_charge = true;
}

/* --- sums -------------------------------------------------------------- */

static int compare_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int compare_keys (const struct chargeback *c, const char *const *a,
                         const char *const *b)
{
    int order = 0;

    for (size_t i = 0; i < c->query->by.count && order == 0; i++)
        order = compare_text (a[i], b[i]);
    return order;
}

static struct money *find_row (struct chargeback *c, const char *const *keys)
{
    size_t low = 0, high = c->cell_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (c, c->cells[middle].key, keys);
        if (order == 0)
            return &c->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static struct idle_row *new_idle_row (const struct chargeback *c,
                                      const char *const *keys)
{
    struct idle_row *row = xcalloc (1, sizeof (*row));

    for (size_t i = 0; i < c->query->by.count; i++)
        row->key[i] = xstrdup (keys[i]);
    money_init (&row->money);
    return row;
}

static struct money *find_idle_row (struct chargeback *c,
                                    const char *const *keys)
{
    size_t low = 0, high = c->idle_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (
            c, (const char *const *)c->idle_rows[middle]->key, keys);
        if (order == 0)
            return &c->idle_rows[middle]->money;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    c->idle_rows = xreallocarray (c->idle_rows, c->idle_count + 1,
                                  sizeof (*c->idle_rows));
    memmove (c->idle_rows + low + 1, c->idle_rows + low,
             (c->idle_count - low) * sizeof (*c->idle_rows));
    c->idle_count++;
    c->idle_rows[low] = new_idle_row (c, keys);
    return &c->idle_rows[low]->money;
}

/* What no job has a row for: one of its own. */
static bool is_beside_jobs (const posting_t *row)
{
    return row->kind == BILL_IDLE || row->kind == BILL_PURCHASE;
}

static bool passes (const report_query_t *query, const posting_t *row)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *f = &query->filters[i];
        const char *text = posting_key (row, f->key);
        bool found = false;
        if (!text)
            text = key_info (f->key)->absent;
        for (size_t k = 0; k < f->values.count && !found; k++)
            found = strcmp (f->values.item[k], text) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* A charge or credit of the month's own time. */
static void take_charge (struct chargeback *c, const bill_t *bill,
                         const posting_t *row)
{
    const char *keys[KEYS_MAX] = {NULL};
    struct money *to;

    for (size_t i = 0; i < c->query->by.count; i++)
        keys[i] = posting_key (row, c->query->by.id[i]);
    to = find_row (c, keys);
    if (!to && is_beside_jobs (row) && mpz_sgn (row->charge_units) == 0)
        return;
    if (!to && is_beside_jobs (row))
        to = find_idle_row (c, keys);
    if (!to) {
        c->lost++;
        return;
    }
    money_add (to, bill, row);
    money_add (&c->whole, bill, row);
}

static void take_bill (struct chargeback *c, const chargeback_bill_t *from)
{
    size_t count;
    const posting_t *rows = postings (from->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const posting_t *row = &rows[i];
        if (row->kind == BILL_TAX || row->kind == BILL_CORRECTION
            || posting_is_adjustment (row))
            continue;
        chargeback_pool_row (c, row);
        if (row->kind != BILL_REMAINDER && !row->outside
            && passes (c->query, row))
            take_charge (c, from->bill, row);
    }
    if (from->month)
        adjustments_add (c->adjustments, from->bill, from->month);
}

/* --- rows -------------------------------------------------------------- */

static struct columns add_columns (report_t *report)
{
    struct columns columns = {.usage = usage_report_columns (report, true)};

    columns.cost = report_measure (report, MEASURE_COST, false);
    columns.rate = report_measure (report, MEASURE_RATE, false);
    columns.charge = report_measure (report, MEASURE_CHARGE, false);
    columns.credit = report_measure (report, MEASURE_CREDIT, true);
    columns.correction = report_measure (report, MEASURE_CORRECTION, true);
    columns.currency = report_measure (report, MEASURE_CURRENCY, false);
    return columns;
}

/* charge / GPU hours charged for; nothing without either. */
static void put_rate (struct chargeback *c, size_t column,
                      const struct money *money)
{
    mpq_t rate;

    mpq_init (rate);
    if (money->has_charge && mpq_sgn (money->charged_seconds) > 0) {
        mpq_set_ui (rate, 3600, 1);
        mpq_mul (rate, rate, money->exact);
        mpq_div (rate, rate, money->charged_seconds);
        report_put_exact (c->report, column, rate, 4);
    }
    mpq_clear (rate);
}

static void put_money (struct chargeback *c, const struct columns *columns,
                       const struct money *money)
{
    if (money->has_cost)
        report_put_money (c->report, columns->cost, money->cost, c->digits);
    if (money->has_charge) {
        report_put_money (c->report, columns->charge, money->charge, c->digits);
        report_put_text (c->report, columns->currency,
                         c->query->site->currency);
    }
    if (money->has_credit) {
        report_put_money (c->report, columns->credit, money->credit, c->digits);
        c->report->column[columns->credit].detail = false;
    }
    put_rate (c, columns->rate, money);
}

static void add_rows (struct chargeback *c, usage_report_t *usage,
                      const struct columns *columns)
{
    for (size_t i = 0; i < c->cell_count; i++) {
        report_row (c->report);
        report_put_keys (c->report, c->query, c->cells[i].key);
        usage_report_put (usage, c->report, columns->usage, &c->cells[i]);
        put_money (c, columns, &c->rows[i]);
    }
    for (size_t i = 0; i < c->idle_count; i++) {
        const usage_cell_t none = {.suspended_known = true};
        report_row (c->report);
        report_put_keys (c->report, c->query,
                         (const char *const *)c->idle_rows[i]->key);
        usage_report_put (usage, c->report, columns->usage, &none);
        put_money (c, columns, &c->idle_rows[i]->money);
    }
}

/* --- notes ------------------------------------------------------------- */

static void note_pool (struct chargeback *c, const bill_pool_t *pool)
{
    report_note (c->report, NOTE_WARNING,
                 pool->has_rate
                     ? "Pool %s has a published rate but no cost: what the "
                       "charges recover is not known. Enter its costs under "
                       "'assets', 'staff', 'power' and 'costs'."
                     : "Pool %s has neither a cost nor a rate: its GPU hours "
                       "are shown without money. Enter its costs under "
                       "'assets', 'staff', 'power' and 'costs', or a price "
                       "under 'rates'.",
                 pool->pool);
}

/* Each pool once, by its first month. */
static void note_pools (struct chargeback *c, const chargeback_bill_t *bills,
                        size_t count)
{
    size_t pool_count;

    if (c->query->site->pool_count == 0)
        report_note (c->report, NOTE_WARNING,
                     "No pool is configured, so nothing has a cost: list the "
                     "GPU nodes under 'pools' and what they cost under "
                     "'assets', 'staff', 'power' and 'costs'.");
    for (size_t p = 0; p < c->pool_count; p++) {
        const bill_pool_t *first = NULL;
        for (size_t i = 0; i < count && !first; i++) {
            const bill_pool_t *pools = bill_pools (bills[i].bill, &pool_count);
            for (size_t k = 0; k < pool_count && !first; k++)
                if (!strcmp (pools[k].pool, c->pools[p].pool))
                    first = &pools[k];
        }
        if (first && !first->has_cost)
            note_pool (c, first);
    }
}

/* What ended without a successor before the period is known by now. */
static void note_rates (struct chargeback *c)
{
    rate_gap_t *gaps;
    size_t count = rate_card_gaps (c->query->site, c->query->period, &gaps);

    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *text = rate_gap_text (c->query->site, &gaps[i]);
        bool known = !gaps[i].next && gaps[i].ended < c->query->period.start;
        report_note (c->report, known ? NOTE_INFORMATION : NOTE_WARNING, "%s",
                     text);
    }
    free (gaps);
}

/* Time on devices of no pool, in GRES hours. */
static void note_poolless (struct chargeback *c)
{
    mpq_t seconds;
    uint64_t sum = 0;

    for (size_t i = 0; i < c->cell_count; i++)
        for (size_t k = 0; k < c->cells[i].part_count; k++)
            if (!c->cells[i].part[k].kind->pool)
                sum += c->cells[i].part[k].gres_seconds;
    if (sum == 0 || c->query->site->pool_count == 0)
        return;
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), sum);
    GL_AUTOFREE char *hours = report_hours_text (seconds);
    mpq_clear (seconds);
    report_note (c->report, NOTE_WARNING,
                 "%s GRES hours were held on devices that belong to no pool "
                 "and are not charged: --by node,gres_type,pool shows which.",
                 hours);
}

/* By policy suspended time is free, as far as it is known when it was. */
static void note_suspended (struct chargeback *c, usage_report_t *usage)
{
    const usage_cell_t *whole = usage_report_whole (usage);
    uint64_t placed = 0;

    if (c->query->site->policy.suspended != SUSPENDED_FREE)
        return;
    for (size_t i = 0; i < whole->part_count; i++)
        placed += whole->part[i].placed_gres_seconds;
    if (!whole->suspended_known || placed < usage_cell_suspended (whole))
        report_note (c->report, NOTE_WARNING,
                     "Of some jobs it is not known when they were suspended: "
                     "that time is charged, although the policy leaves "
                     "suspended time free. Only slurmdbd's database tells "
                     "('gpuledger sync').");
}

/* --- the report -------------------------------------------------------- */

/* By team, and nothing filtered out but pools. */
static bool whole_pools (const struct chargeback *c)
{
    bool by_team = false;

    for (size_t i = 0; i < c->query->by.count; i++)
        by_team = by_team || c->query->by.id[i] == KEY_TEAM;
    return by_team && c->query->filter_count == 0;
}

static void note_months (struct chargeback *c, const chargeback_bill_t *bills,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bills[i].note)
            report_note (c->report, NOTE_INFORMATION, "%s", bills[i].note);
}

static void fill (struct chargeback *c, const chargeback_bill_t *bills,
                  size_t count, usage_report_t *usage)
{
    struct columns columns;

    report_key_columns (c->report, c->query);
    columns = add_columns (c->report);
    add_rows (c, usage, &columns);
    usage_report_finish (usage, c->report, columns.usage);
    put_money (c, &columns, &c->whole);
    note_months (c, bills, count);
    note_suspended (c, usage);
    note_pools (c, bills, count);
    note_rates (c);
    note_poolless (c);
    chargeback_prove (c, &columns);
    if (whole_pools (c))
        chargeback_other (c, bills, count);
    chargeback_row_chart (c, &columns);
    adjustments_put (c->adjustments, c->report, columns.correction, columns.currency);
}

static void clear (struct chargeback *c)
{
    for (size_t i = 0; i < c->cell_count; i++)
        money_clear (&c->rows[i]);
    for (size_t i = 0; i < c->idle_count; i++) {
        for (size_t k = 0; k < c->query->by.count; k++)
            free (c->idle_rows[i]->key[k]);
        money_clear (&c->idle_rows[i]->money);
        free (c->idle_rows[i]);
    }
    free (c->idle_rows);
    money_clear (&c->whole);
    for (size_t i = 0; i < c->pool_count; i++)
        pool_sum_clear (&c->pools[i]);

    adjustments_free (c->adjustments);
    free (c->rows);
    free (c->pools);
}

static const key_id_t finer[] = {KEY_DAY, KEY_HOUR, KEY_NODE, KEY_STATE,
                                 KEY_LABEL};

static bool is_finer (key_id_t key)
{
    bool is = false;

    for (size_t i = 0; i < GL_ARRAY_SIZE (finer); i++)
        is = is || finer[i] == key;
    return is;
}

bool chargeback_of_bills (const report_query_t *query)
{
    bool all = true;

    for (size_t i = 0; i < query->by.count; i++)
        all = all && !is_finer (query->by.id[i]);
    for (size_t i = 0; i < query->filter_count; i++)
        all = all && !is_finer (query->filters[i].key);
    return all;
}

static bool asks_for (const report_query_t *query, key_id_t key)
{
    bool asked = false;

    for (size_t i = 0; i < query->by.count; i++)
        asked = asked || query->by.id[i] == key;
    for (size_t i = 0; i < query->filter_count; i++)
        asked = asked || query->filters[i].key == key;
    return asked;
}

char *chargeback_keys (const report_query_t *query)
{
    BUFFER_AUTO keys = BUFFER_INIT;

    buffer_add_text (&keys, bill_keys);
    for (size_t i = 0; i < GL_ARRAY_SIZE (finer); i++) {
        if (!asks_for (query, finer[i]))
            continue;
        buffer_printf (&keys, ",%s", key_info (finer[i])->word);
        if (finer[i] == KEY_LABEL)
            buffer_printf (&keys, ":%s", query->by.label);
    }
    return xstrdup (buffer_text (&keys));
}

report_t *chargeback_make (const report_query_t *query,
                           const chargeback_bill_t *bills, size_t count,
                           usage_report_t *usage, gl_error_t *error)
{
    struct chargeback c = {.query = query,
                           .digits = query->site->currency_digits,
                           .adjustments = adjustments_new (query)};

    c.report = report_begin (query, "chargeback", "GPU chargeback");
    c.cells = usage_report_cells (usage, &c.cell_count);
    c.rows = xcalloc (c.cell_count + 1, sizeof (*c.rows));
    for (size_t i = 0; i < c.cell_count; i++)
        money_init (&c.rows[i]);
    money_init (&c.whole);
    for (size_t i = 0; i < count; i++)
        chargeback_pool_months (&c, bills[i].bill);
    for (size_t i = 0; i < count; i++)
        take_bill (&c, &bills[i]);
    fill (&c, bills, count, usage);
    report_sort (c.report);
    clear (&c);
    if (c.lost > 0) {
        report_free (c.report);
        gl_error (error,
                  "%zu charges belong to no row (this is a defect, please "
                  "report it)",
                  c.lost);
        return NULL;
    }
    return c.report;
}
