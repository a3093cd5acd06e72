#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/energy_report.h"

#define ENERGY_DIGITS 6

struct energy_report {
    const report_query_t *query;
    usage_query_t rows_query;
    usage_query_t whole_query; /* the same without keys */
    usage_t *rows;
    usage_t *whole;
};

struct columns {
    size_t gpu_hours;
    size_t energy;
    size_t known;
};

energy_report_t *energy_report_new (const report_query_t *query)
{
    energy_report_t *e = xcalloc (1, sizeof (*e));

    e->query = query;
    e->rows_query = report_usage_query (query);
    e->whole_query = e->rows_query;
    e->whole_query.by.count = 0;
    e->rows = usage_new (&e->rows_query);
    e->whole = usage_new (&e->whole_query);
    return e;
}

void energy_report_free (energy_report_t *e)
{
    if (!e)
        return;
    usage_free (e->rows);
    usage_free (e->whole);
    free (e);
}

void energy_report_add (energy_report_t *e, const segment_t *segment,
                        const project_t *project,
                        const segment_evidence_t *evidence)
{
    usage_add (e->rows, segment, NULL, 0, project);
    usage_add (e->whole, segment, NULL, 0, project);
    usage_measure (e->rows, segment, project, evidence);
    usage_measure (e->whole, segment, project, evidence);
}

static struct columns add_columns (report_t *report)
{
    struct columns c
        = {.gpu_hours = report_measure (report, MEASURE_GPU_HOURS, false)};

    c.energy = report_measure (report, MEASURE_ENERGY_KWH, false);
    c.known = report_column (report, "energy_pct", "Measured %", COLUMN_PERCENT,
                             false);
    report_column_help (
        report, c.known,
        "The share of the allocated device time whose energy is known.");
    return c;
}

/* Of the allocated device time; NULL where nothing was allocated. */
static char *known_text (const usage_cell_t *cell)
{
    mpq_t part, whole;
    char *text;

    mpq_inits (part, whole, NULL);
    usage_cell_covered (cell, offsetof (measured_t, energy_ms), part, whole);
    text = report_coverage_text (part, whole);
    mpq_clears (part, whole, NULL);
    return text;
}

/* Into the last row, or into the totals. */
static void put_cell (report_t *report, const struct columns *c,
                      const usage_cell_t *cell)
{
    GL_AUTOFREE char *known = NULL;
    measured_t m;
    mpq_t value;

    usage_cell_measured (cell, &m);
    mpq_init (value);
    if (usage_cell_gres_seconds (cell) > 0
        && usage_cell_gpu_seconds (cell, value))
        report_put_hours (report, c->gpu_hours, value);
    if (m.energy_stretches > 0) {
        report_kwh (value, m.energy_mj);
        report_put_exact (report, c->energy, value, ENERGY_DIGITS);
    }
    mpq_clear (value);
    known = known_text (cell);
    if (known)
        report_put_text (report, c->known, known);
}

static char *kwh_text (uint64_t energy_mj)
{
    char *text;
    mpq_t value;

    mpq_init (value);
    report_kwh (value, energy_mj);
    text = exact_text (value, ENERGY_DIGITS);
    mpq_clear (value);
    return text;
}

static void put_total (report_t *report, const char *name, const char *title,
                       uint64_t energy_mj)
{
    GL_AUTOFREE char *text = kwh_text (energy_mj);

    report_named_total (report, name, title, COLUMN_ENERGY, text);
}

static uint64_t unmatched_mj (const evidence_counts_t *counts)
{
    uint64_t unmatched = 0;

    for (size_t i = EVIDENCE_MATCHED + 1; i < EVIDENCE_REASON_COUNT; i++)
        unmatched += counts->energy_mj[i];
    return unmatched;
}

/* What the counters counted: by jobs, nobody and jobs that are not known. What
 * a job used just after the period, at its end, counts in the period. */
static void put_totals (report_t *report, const measured_t *allocated,
                        const evidence_counts_t *counts,
                        const measured_t *unheld)
{
    uint64_t unmatched = unmatched_mj (counts);

    put_total (report, "allocated_kwh", "allocated to jobs",
               allocated->energy_mj);
    put_total (report, "idle_kwh", "idle", unheld->energy_mj);
    put_total (report, "without_segment_kwh", "of jobs missing in accounting",
               unmatched);
    put_total (report, "counters_kwh", "all measured energy",
               allocated->energy_mj + unmatched + unheld->energy_mj);
}

static void finish (energy_report_t *e, report_t *report,
                    const struct columns *columns,
                    const evidence_counts_t *counts, const measured_t *unheld)
{
    static const usage_cell_t none = {.suspended_known = true};
    size_t count;
    const usage_cell_t *whole = usage_cells (e->whole, &count);
    GL_AUTOFREE char *known = NULL;
    measured_t allocated;

    whole = count ? whole : &none;
    usage_cell_measured (whole, &allocated);
    report_totals (report);
    put_cell (report, columns, whole);
    known = known_text (whole);
    if (known)
        report_coverage (report, "energy_pct", known);
    if (e->query->filter_count == 0) {
        GL_AUTOFREE char *idle = kwh_text (unheld->energy_mj);
        put_totals (report, &allocated, counts, unheld);
        if (unheld->energy_stretches > 0)
            report_note (report, NOTE_INFORMATION,
                         "Idle devices used a further %s kWh.", idle);
    }
    report_note (report, NOTE_INFORMATION,
                 "Energy is measured by the counters of the GPUs, for the "
                 "time that agents sampled. It excludes the rest of the nodes "
                 "and PUE, which is in the cost book.");
}

void energy_report_devices (energy_report_t *e, const evidence_counts_t *counts,
                            const measured_t *unheld, meter_balance_t *balance)
{
    size_t count;
    const usage_cell_t *whole = usage_cells (e->whole, &count);
    measured_t allocated = {0};

    if (count)
        usage_cell_measured (whole, &allocated);
    report_kwh (balance->allocated, allocated.energy_mj);
    report_kwh (balance->idle, unheld->energy_mj);
    report_kwh (balance->unmatched, unmatched_mj (counts));
    balance->devices_known
        = allocated.energy_stretches > 0 || unheld->energy_stretches > 0;
}

/* It has no GPU whose energy could be measured. */
static bool is_of_cpus (const usage_cell_t *cell)
{
    return usage_cell_gres_seconds (cell) == 0
           && usage_cell_cpu_seconds (cell) > 0;
}

report_t *energy_report_make (energy_report_t *e,
                              const evidence_counts_t *counts,
                              const measured_t *unheld)
{
    report_t *report = report_begin (e->query, "energy", "GPU energy");
    struct columns columns;
    size_t count;
    const usage_cell_t *cells = usage_cells (e->rows, &count);

    report_key_columns (report, e->query);
    columns = add_columns (report);
    for (size_t i = 0; i < count; i++) {
        if (is_of_cpus (&cells[i]))
            continue;
        report_row (report);
        report_put_keys (report, e->query, cells[i].key);
        put_cell (report, &columns, &cells[i]);
    }
    finish (e, report, &columns, counts, unheld);
    report_sort (report);
    return report;
}

/* --- the balance with the meters ---------------------------------------- */

#define KWH_DIGITS 3

struct block {
    report_t *report;
    report_proof_t *proof;
};

static void put_text (struct block *b, const char *name, const char *title,
                      column_type_t type, const char *text)
{
    report_proof_line (b->proof, title, text);
    if (name)
        report_named_total (b->report, name, title, type, text);
}

static void put_kwh (struct block *b, const char *name, const char *title,
                     mpq_srcptr kwh)
{
    GL_AUTOFREE char *text = exact_text (kwh, KWH_DIGITS);

    put_text (b, name, title, COLUMN_ENERGY, text);
}

/* "residual (2.0 %)", of what the machines' meters counted. */
static void put_residual (struct block *b, const meter_balance_t *m)
{
    GL_AUTOFREE char *share
        = report_percent_text (m->residual, m->machines.kwh);
    GL_AUTOFREE char *title = xasprintf (
        "residual%s%s%s%s", m->rest_known ? "" : ", with the rest of the nodes",
        share ? ", " : "", share ? share : "", share ? " %" : "");

    put_kwh (b, "residual_kwh", title, m->residual);
}

static void put_machines (struct block *b, const meter_balance_t *m)
{
    if (m->devices_known) {
        put_kwh (b, NULL, "GPUs allocated to jobs", m->allocated);
        put_kwh (b, NULL, "idle GPUs", m->idle);
        if (mpq_sgn (m->unmatched))
            put_kwh (b, NULL, "GPUs of jobs missing in accounting",
                     m->unmatched);
    }
    if (m->rest_known)
        put_kwh (b, "rest_of_nodes_kwh",
                 m->rest_metered ? "rest of the nodes, metered"
                                 : "rest of the nodes, by node_watts",
                 m->rest);
    put_residual (b, m);
    put_kwh (b, "machines_kwh", "the machines' meters", m->machines.kwh);
}

/* What falls on each price, where there are several. */
static void put_prices (struct block *b, const meter_prices_t *prices)
{
    for (size_t i = 0; i < prices->count && prices->count > 1; i++) {
        GL_AUTOFREE char *price = exact_shortest (prices->price[i].per_kwh);
        GL_AUTOFREE char *title = xasprintf ("of it at %s a kWh", price);
        put_kwh (b, NULL, title, prices->price[i].kwh);
    }
}

static void put_bill (struct block *b, const meter_balance_t *m,
                      const meter_prices_t *prices, const site_t *site)
{
    GL_AUTOFREE char *title = xasprintf ("at the tariff, %s", site->currency);
    GL_AUTOFREE char *bill = exact_text (m->bill, site->currency_digits);

    put_kwh (b, "with_pue_kwh", "x PUE", m->with_pue);
    put_prices (b, prices);
    put_text (b, "energy_bill", title, COLUMN_MONEY, bill);
}

static void note_covered (report_t *report, const char *what,
                          const meter_sum_t *sum)
{
    mpq_t percent;

    mpq_init (percent);
    exact_add_scaled (percent, sum->covered, 100, 1);
    GL_AUTOFREE char *share = exact_text (percent, 1);
    bool whole = mpq_cmp_ui (percent, 100, 1) == 0;
    mpq_clear (percent);
    if (!sum->known || whole)
        return;
    report_note (report, NOTE_WARNING,
                 "The meters of %s were read for %s %% of the period: the "
                 "compared energy is for the entire period.",
                 what, share);
}

static bool is_whole (const meter_sum_t *sum)
{
    return sum->known && mpq_cmp_ui (sum->covered, 1, 1) == 0;
}

/* Facility / machines: what the PUE in the cost book is to be compared with; of
 * all of the period, or not at all. */
static void put_facility (struct block *b, const meter_balance_t *m)
{
    mpq_t pue;

    put_kwh (b, "facility_kwh", "the facility's meters", m->facility.kwh);
    if (!is_whole (&m->machines) || !is_whole (&m->facility)
        || mpq_sgn (m->machines.kwh) == 0)
        return;
    mpq_init (pue);
    mpq_div (pue, m->facility.kwh, m->machines.kwh);
    GL_AUTOFREE char *text = exact_text (pue, 4);
    put_text (b, NULL, "PUE, measured: facility / machines", COLUMN_TEXT, text);
    mpq_clear (pue);
}

void energy_balance_put (report_t *report, const report_query_t *query,
                         const meter_balance_t *m, const meter_prices_t *prices)
{
    struct block b = {.report = report};

    if (!m->machines.known && !m->facility.known)
        return;
    b.proof = report_proof (report, "Against the meters, kWh");
    b.proof->holds = true;
    if (m->machines.known)
        put_machines (&b, m);
    if (m->priced)
        put_bill (&b, m, prices, query->site);
    if (m->facility.known)
        put_facility (&b, m);
    if (m->machines.known && !m->priced)
        report_note (report, NOTE_INFORMATION,
                     "No bill is computed from the meters, because at some "
                     "readings the pools have different PUEs or tariffs.");
    note_covered (report, "the machines", &m->machines);
    note_covered (report, "the nodes", &m->nodes);
    note_covered (report, "the facility", &m->facility);
}
