#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/chargeback_private.h"

#define MONEY(name, type) FIELD (#name, type, struct money, name)
_Static_assert(KEYS_MAX == 20, "a field for each key");
#define MONEY_KEY(i) FIELD ("key" #i, TEXT, struct money, key[i])
static const field_t money_fields[] = {
    MONEY_KEY (0),
    MONEY_KEY (1),
    MONEY_KEY (2),
    MONEY_KEY (3),
    MONEY_KEY (4),
    MONEY_KEY (5),
    MONEY_KEY (6),
    MONEY_KEY (7),
    MONEY_KEY (8),
    MONEY_KEY (9),
    MONEY_KEY (10),
    MONEY_KEY (11),
    MONEY_KEY (12),
    MONEY_KEY (13),
    MONEY_KEY (14),
    MONEY_KEY (15),
    MONEY_KEY (16),
    MONEY_KEY (17),
    MONEY_KEY (18),
    MONEY_KEY (19),
    MONEY (cost, UNITS),
    MONEY (charge, UNITS),
    MONEY (credit, UNITS),
    MONEY (settled, UNITS),
    MONEY (charged_seconds, EXACT),
    MONEY (cpu_seconds, EXACT),
    MONEY (exact, EXACT),
    MONEY (costs, COUNT),
    MONEY (charges, COUNT),
    MONEY (credits, COUNT),
    MONEY (settlements, COUNT),
    MONEY (cells, COUNT),
};
static const fields_t fields = FIELDS ("money", struct money, money_fields);

/* As a key, borrowed: an empty text is absent. */
static char *key_text (const char *text)
{
    return text && text[0] ? (char *)text : NULL;
}

/* What has no cost or no price has none, and not 0. Keys are borrowed. */
static void money_of (const report_query_t *query, const bill_t *bill,
                      const posting_t *row, struct money *m)
{
    fields_init (&fields, m);
    for (size_t i = 0; i < query->by.count; i++)
        m->key[i] = key_text (
            posting_key_billed (row, query->site, NULL, query->by.id[i]));
    if (posting_has_cost (bill, row)) {
        mpz_set (m->cost, row->cost_units);
        m->costs = 1;
    }
    if (!posting_priced (bill, row))
        return;
    if (row->kind == BILL_SETTLEMENT) {
        mpz_set (m->settled, row->charge_units);
        m->settlements = 1;
        return;
    }
    if (row->kind == BILL_CREDIT) {
        mpz_set (m->credit, row->charge_units);
        m->credits = 1;
        return;
    }
    mpz_set (m->charge, row->charge_units);
    mpq_set (m->exact, row->exact);
    if (row->kind == BILL_CHARGE) {
        mpq_set (m->charged_seconds, row->gpu_seconds);
        mpq_set (m->cpu_seconds, row->cpu_seconds);
    }
    m->charges = 1;
}

static void money_done (struct money *m)
{
    memset (m->key, 0, sizeof (m->key)); /* borrowed */
    fields_clear (&fields, m);
}

/* --- sums -------------------------------------------------------------- */

static struct money cell_keys (const struct chargeback *c,
                               const usage_cell_t *cell)
{
    struct money keys = {.cells = 0};

    for (size_t i = 0; i < c->query->by.count; i++)
        keys.key[i] = key_text (cell->key[i]);
    return keys;
}

/* A group for each row of usage, and `rows` for each row of a bill. */
static void begin_rows (struct chargeback *c)
{
    BUFFER_AUTO by = BUFFER_INIT;

    for (size_t i = 0; i < c->query->by.count; i++)
        buffer_printf (&by, "%skey%zu", i ? "," : "", i);
    c->rows = cube_new (&fields, buffer_text (&by));
    for (size_t i = 0; i < c->cell_count; i++) {
        struct money cell = cell_keys (c, &c->cells[i]);
        cell.cells = 1;
        cube_add (c->rows, &cell);
    }
}

/* What no job has a row for: one of its own. */
static bool is_beside_jobs (const posting_t *row)
{
    return row->kind == BILL_IDLE || row->kind == BILL_PURCHASE
           || row->kind == BILL_SETTLEMENT;
}

static bool passes (const report_query_t *query, const posting_t *row)
{
    for (size_t i = 0; i < query->filter_count; i++)
        if (!report_filter_passes (&query->filters[i],
                                   posting_key_billed (row, query->site, NULL,
                                                       query->filters[i].key)))
            return false;
    return true;
}

/* A charge or credit of the month's own time. */
static void take_charge (struct chargeback *c, const bill_t *bill,
                         const posting_t *row)
{
    struct money money, *to;

    money_of (c->query, bill, row, &money);
    to = (struct money *)cube_find (c->rows, &money);
    if (!is_beside_jobs (row) && (!to || to->cells == 0))
        c->lost++;
    else if (to)
        fields_add (&fields, to, &money, 1);
    else if (mpz_sgn (row->charge_units) != 0)
        cube_add (c->rows, &money);
    money_done (&money);
}

static void take_bill (struct chargeback *c, const chargeback_bill_t *from)
{
    size_t count;
    const posting_t *rows = postings (from->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const posting_t *row = &rows[i];
        if (row->kind == BILL_TAX || row->kind == BILL_CORRECTION
            || row->kind == BILL_SERVICE || posting_is_adjustment (row))
            continue;
        chargeback_pool_row (c, row);
        if (row->kind != BILL_REMAINDER && !row->outside
            && passes (c->query, row))
            take_charge (c, from->bill, row);
    }
    adjustments_add (c->services, from->bill, from->month);
    if (from->month)
        adjustments_add (c->adjustments, from->bill, from->month);
}

/* --- rows -------------------------------------------------------------- */

static struct columns add_columns (const struct chargeback *c)
{
    report_t *report = c->report;
    struct columns columns
        = {.usage = usage_report_columns (c->report, c->query->site, true)};

    columns.cost = report_measure (report, MEASURE_COST, false);
    columns.rate = report_measure (report, MEASURE_RATE, false);
    columns.charge = report_measure (report, MEASURE_CHARGE, false);
    columns.credit = report_measure (report, MEASURE_CREDIT, true);
    if (c->query->site->settlement_count > 0)
        columns.settlement = report_measure (report, MEASURE_SETTLEMENT, true);
    if (!adjustments_are_none (c->services))
        columns.service = report_measure (report, MEASURE_SERVICE, false);
    columns.correction = report_measure (report, MEASURE_CORRECTION, true);
    columns.currency = report_measure (report, MEASURE_CURRENCY, false);
    return columns;
}

static void put_money (struct chargeback *c, const struct columns *columns,
                       const struct money *money)
{
    GL_AUTOFREE char *rate
        = money->charges > 0 ? report_rate_of (
              money->exact, money->charged_seconds, money->cpu_seconds)
                             : NULL;

    if (money->costs > 0)
        report_put_money (c->report, columns->cost, money->cost, c->digits);
    if (money->charges > 0) {
        report_put_money (c->report, columns->charge, money->charge, c->digits);
        report_put_text (c->report, columns->currency,
                         c->query->site->currency);
    }
    if (money->credits > 0) {
        report_put_money (c->report, columns->credit, money->credit, c->digits);
        c->report->column[columns->credit].detail = false;
    }
    if (money->settlements > 0) {
        report_put_money (c->report, columns->settlement, money->settled,
                          c->digits);
        c->report->column[columns->settlement].detail = false;
    }
    report_put_text (c->report, columns->rate, rate);
}

static void add_row (struct chargeback *c, usage_report_t *usage,
                     const struct columns *columns, const char *const *keys,
                     const usage_cell_t *cell, const struct money *money)
{
    report_row (c->report);
    report_put_keys (c->report, c->query, keys);
    usage_report_put (usage, c->report, columns->usage, cell);
    put_money (c, columns, money);
}

/* What jobs are charged, in the order of usage, then what no job has a row for.
 */
static void add_rows (struct chargeback *c, usage_report_t *usage,
                      const struct columns *columns)
{
    const usage_cell_t none = {.suspended_known = true};
    size_t count = cube_count (c->rows), used = 0;
    mpq_t *charge = xcalloc (count + 1, sizeof (*charge));

    for (size_t i = 0; i < c->cell_count; i++) {
        const struct money keys = cell_keys (c, &c->cells[i]);
        const struct money *money = cube_find (c->rows, &keys);
        add_row (c, usage, columns, c->cells[i].key, &c->cells[i], money);
        mpq_init (charge[used]);
        mpq_set_z (charge[used++], money->charge);
    }
    for (size_t i = 0; i < count; i++) {
        const struct money *money = cube_row (c->rows, i);
        if (money->cells > 0)
            continue;
        add_row (c, usage, columns, (const char *const *)money->key, &none,
                 money);
        mpq_init (charge[used]);
        mpq_set_z (charge[used++], money->charge);
    }
    c->charge = charge;
    c->charge_count = used;
}

/* --- notes ------------------------------------------------------------- */

static void note_pool (struct chargeback *c, const bill_pool_t *pool)
{
    bool cpus = site_pool_of_cpus (c->query->site, pool->pool);

    report_note (c->report, NOTE_WARNING,
                 pool->has_rate
                     ? "Pool %s has a published rate but no cost, so cost "
                       "recovery is unknown. Enter its costs under 'assets', "
                       "'staff', 'power' and 'costs'."
                     : "Pool %s has neither a cost nor a rate: its %s hours "
                       "are shown without money. Enter its costs under "
                       "'assets', 'staff', 'power' and 'costs', or a price "
                       "under 'rates'.",
                 pool->pool, cpus ? "CPU" : "GPU");
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
        bool known
            = rate_gap_is_free (&gaps[i])
              || (!gaps[i].next && gaps[i].ended < c->query->period.start);
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
                 "%s GRES hours are on devices that belong to no pool and are "
                 "not charged. Find them with --by node,gres_type,pool, and "
                 "add their nodes to a pool.",
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
        placed += whole->part[i].kind->cpu ? 0
                                           : whole->part[i].placed_gres_seconds;
    if (!whole->suspended_known || placed < usage_cell_suspended (whole))
        report_note (c->report, NOTE_WARNING,
                     "For some jobs the times of suspension are unknown: "
                     "suspended time is charged, although the policy makes it "
                     "free. Run 'gpuledger sync', which reads these times "
                     "from slurmdbd's database.");
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

/* Cost that is charged though rates may not recover it. */
static void note_book (struct chargeback *c, const chargeback_bill_t *bills,
                       size_t count)
{
    mpz_t charged;

    mpz_init (charged);
    for (size_t i = 0; i < count; i++) {
        size_t pools;
        const bill_pool_t *pool = bill_pools (bills[i].bill, &pools);
        for (size_t k = 0; k < pools; k++)
            if (mpz_cmp (pool[k].cost_units, pool[k].recoverable_units) > 0) {
                mpz_add (charged, charged, pool[k].cost_units);
                mpz_sub (charged, charged, pool[k].recoverable_units);
            }
    }
    GL_AUTOFREE char *amount = exact_units_text (charged, c->digits);
    if (mpz_sgn (charged) > 0)
        report_note (c->report, NOTE_INFORMATION,
                     "The cost of the pools is the full cost: %s %s of it is "
                     "not recoverable, because others paid for it. Charges at "
                     "full cost have their share of it, by policy.book; "
                     "published rates do not follow it.",
                     amount, c->query->site->currency);
    mpz_clear (charged);
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
    columns = add_columns (c);
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
    if (c->query->filter_count == 0)
        note_book (c, bills, count);
    chargeback_row_chart (c, &columns);
    adjustments_put (c->services, c->report, columns.service, columns.currency);
    adjustments_put (c->adjustments, c->report, columns.correction, columns.currency);
}

static void clear (struct chargeback *c)
{
    for (size_t i = 0; i < c->charge_count; i++)
        mpq_clear (c->charge[i]);
    for (size_t i = 0; i < c->pool_count; i++)
        pool_sum_clear (&c->pools[i]);
    fields_clear (&fields, &c->whole);
    cube_free (c->rows);
    adjustments_free (c->adjustments);
    adjustments_free (c->services);
    free (c->charge);
    free (c->pools);
}

bool chargeback_of_bills (const report_query_t *query)
{
    bool all = true;

    for (size_t i = 0; i < query->by.count; i++)
        all = all && bill_has_key (query->by.id[i]);
    for (size_t i = 0; i < query->filter_count; i++)
        all = all && bill_has_key (query->filters[i].key);
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
    static const key_id_t finer[]
        = {KEY_DAY, KEY_HOUR, KEY_NODE, KEY_STATE, KEY_LABEL};
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
                           .adjustments = adjustments_new (query),
                           .services = adjustments_of_services (query)};

    c.report = report_begin (query, "chargeback", "GPU chargeback");
    c.cells = usage_report_cells (usage, &c.cell_count);
    begin_rows (&c);
    fields_init (&fields, &c.whole);
    for (size_t i = 0; i < count; i++)
        chargeback_pool_months (&c, bills[i].bill);
    for (size_t i = 0; i < count; i++)
        take_bill (&c, &bills[i]);
    cube_sum (c.rows, 0, cube_count (c.rows), &c.whole);
    fill (&c, bills, count, usage);
    report_sort (c.report);
    if (query->by.count > 1 && query->by.id[0] == KEY_INSTITUTION)
        report_group (c.report);
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
