#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "evidence/runaway.h"
#include "report/usage_report.h"

struct usage_report {
    const report_query_t *query;
    usage_query_t rows_query;
    usage_query_t whole_query; /* the same without keys */
    usage_t *rows;
    usage_t *whole;
    usage_t *whole_seen;  /* only what nodes have recorded */
    usage_t *quarantined; /* of runaways: what is not counted */
    const evidence_counts_t *unmatched;
    bool by_node;
    uint64_t split_exactly; /* segments on several nodes */
    uint64_t split_evenly;
};

static bool has_node_key (const report_query_t *query)
{
    for (size_t i = 0; i < query->by.count; i++)
        if (query->by.id[i] == KEY_NODE)
            return true;
    return GL_ANY (query->filters, query->filter_count, it,
                   it->key == KEY_NODE);
}

usage_report_t *usage_report_new (const report_query_t *query)
{
    usage_report_t *u = xcalloc (1, sizeof (*u));

    u->query = query;
    u->rows_query = report_usage_query (query);
    u->whole_query = u->rows_query;
    u->whole_query.by.count = 0;
    u->by_node = has_node_key (query);
    u->rows = usage_new (&u->rows_query);
    u->whole = usage_new (&u->whole_query);
    u->whole_seen = usage_new (&u->whole_query);
    u->quarantined = usage_new (&u->whole_query);
    return u;
}

void usage_report_free (usage_report_t *u)
{
    if (!u)
        return;
    usage_free (u->rows);
    usage_free (u->whole);
    usage_free (u->whole_seen);
    usage_free (u->quarantined);
    free (u);
}

static void count_split (usage_report_t *u, const segment_t *s)
{
    if (!s->gres || !s->gres[0] || !s->nodelist || !strpbrk (s->nodelist, ",["))
        return;
    if (s->allocated)
        u->split_exactly++;
    else
        u->split_evenly++;
}

/* Only what lies after the end that is believed. */
static void add_quarantined (usage_report_t *u, const segment_t *segment,
                             const project_t *project)
{
    period_t rest = runaway_quarantined (segment, u->query->period);
    segment_t s;

    if (rest.start >= rest.end)
        return;
    s = *segment;
    s.time_start = rest.start;
    s.time_end = rest.end;
    usage_add (u->quarantined, &s, NULL, 0, project);
}

void usage_report_add (usage_report_t *u, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project,
                       const segment_evidence_t *evidence)
{
    if (u->by_node)
        count_split (u, segment);
    usage_add (u->rows, segment, suspensions, count, project);
    usage_add (u->whole, segment, suspensions, count, project);
    add_quarantined (u, segment, project);
    if (!evidence)
        return;
    usage_measure (u->rows, segment, project, evidence);
    usage_measure (u->whole, segment, project, evidence);
    if (evidence->recorded)
        usage_add (u->whole_seen, segment, suspensions, count, project);
}

void usage_report_add_rollup (usage_report_t *u, const rollup_t *rollup)
{
    usage_add_rollup (u->rows, rollup, ROLLUP_COUNTED);
    usage_add_rollup (u->whole, rollup, ROLLUP_COUNTED);
    usage_add_rollup (u->whole_seen, rollup, ROLLUP_RECORDED);
    usage_add_rollup (u->quarantined, rollup, ROLLUP_QUARANTINED);
}

void usage_report_unmatched (usage_report_t *u, const evidence_counts_t *counts)
{
    u->unmatched = counts;
}

const usage_cell_t *usage_report_cells (usage_report_t *u, size_t *ret_count)
{
    return usage_cells (u->rows, ret_count);
}

usage_columns_t usage_report_columns (report_t *report, const site_t *site,
                                      bool with_money)
{
    usage_columns_t columns = {report->column_count, 0};

    for (measure_t m = MEASURE_JOBS; m <= MEASURE_COVERAGE_PCT; m++) {
        bool brief = m == MEASURE_JOBS || m == MEASURE_GRES_HOURS
                     || m == MEASURE_GPU_HOURS
                     || (m == MEASURE_COVERAGE_PCT && !with_money);
        report_measure (report, m, !brief);
    }
    if (site_counts_cpus (site))
        columns.cpu_hours = report_measure (report, MEASURE_CPU_HOURS, false);
    return columns;
}

/* How much of the allocated device time some measurement covers; NULL where nothing was
 * held. */
static char *covered_percent (const usage_cell_t *cell, size_t known_ms)
{
    char *text;
    mpq_t part, whole;

    mpq_inits (part, whole, NULL);
    usage_cell_covered (cell, known_ms, part, whole);
    text = report_coverage_text (part, whole);
    mpq_clears (part, whole, NULL);
    return text;
}

/* What agents measured. Where they did not, cells stay empty; only coverage is
 * then known to be 0. */
static void put_measured (report_t *report, size_t first,
                          const usage_cell_t *cell)
{
    GL_AUTOFREE char *coverage = NULL;
    measured_t m;
    mpq_t value;

    usage_cell_measured (cell, &m);
    mpq_init (value);
    if (m.energy_stretches > 0) {
        report_kwh (value, m.energy_mj);
        report_put_exact (report, first + MEASURE_ENERGY_KWH, value, 6);
    }
    if (usage_cell_active_seconds (cell, value))
        report_put_hours (report, first + MEASURE_ACTIVE_GPU_HOURS, value);
    if (usage_cell_idle_seconds (cell, value))
        report_put_hours (report, first + MEASURE_IDLE_GPU_HOURS, value);
    mpq_clear (value);
    coverage = covered_percent (cell, offsetof (measured_t, sampled_ms));
    if (coverage)
        report_put_text (report, first + MEASURE_COVERAGE_PCT, coverage);
}

static void put_cpu_hours (report_t *report, size_t column,
                           const usage_cell_t *cell)
{
    mpq_t seconds;

    if (column == 0)
        return;
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), usage_cell_cpu_seconds (cell));
    report_put_hours (report, column, seconds);
    mpq_clear (seconds);
}

/* Into the last row, or into the totals. */
static void put_cell (report_t *report, usage_columns_t columns,
                      const usage_cell_t *cell)
{
    size_t first = columns.first;
    mpq_t seconds;

    report_put_count (report, first + MEASURE_JOBS, cell->jobs);
    report_put_count (report, first + MEASURE_SEGMENTS, cell->segments);
    report_put_count (report, first + MEASURE_UNKNOWN_JOBS, cell->unknown_jobs);
    put_measured (report, first, cell);
    put_cpu_hours (report, columns.cpu_hours, cell);
    /* nothing but jobs whose devices nobody told: not known, not 0 */
    if (usage_cell_gres_seconds (cell) == 0 && cell->unknown_jobs > 0)
        return;
    report_put_count (report, first + MEASURE_GRES_SECONDS,
                      usage_cell_gres_seconds (cell));
    if (cell->suspended_known)
        report_put_count (report, first + MEASURE_SUSPENDED_GRES_SECONDS,
                          usage_cell_suspended (cell));
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), usage_cell_gres_seconds (cell));
    report_put_hours (report, first + MEASURE_GRES_HOURS, seconds);
    if (usage_cell_gpu_seconds (cell, seconds))
        report_put_hours (report, first + MEASURE_GPU_HOURS, seconds);
    mpq_clear (seconds);
}

void usage_report_put (usage_report_t *u, report_t *report,
                       usage_columns_t columns, const usage_cell_t *cell)
{
    (void)u;
    put_cell (report, columns, cell);
}

static void note_unknown_weights (report_t *report, const usage_cell_t *whole)
{
    for (size_t i = 0; i < whole->part_count; i++) {
        const usage_part_t *part = &whole->part[i];
        GL_AUTOFREE char *hours = NULL;
        mpq_t seconds;
        if (part->kind->weight_known || part->gres_seconds == 0)
            continue;
        mpq_init (seconds);
        exact_set_u128 (mpq_numref (seconds), part->gres_seconds);
        hours = report_hours_text (seconds);
        mpq_clear (seconds);
        report_note (report, NOTE_WARNING,
                     "Devices of type %s have no known GPU fraction: %s. "
                     "Their %s GRES hours are not included in GPU hours or "
                     "money, and rows with such devices have no GPU hours.",
                     part->kind->type ? part->kind->type : "(untyped)",
                     part->kind->problem, hours);
    }
}

static void note_unknown_jobs (report_t *report, const usage_cell_t *whole)
{
    if (whole->unknown_jobs > 0)
        report_note (report, NOTE_WARNING,
                     "%llu GPU job%s without a GPU in accounting: %s time is "
                     "unknown and not included. Set "
                     "AccountingStorageTRES=gres/gpu in slurm.conf.",
                     (unsigned long long)whole->unknown_jobs,
                     whole->unknown_jobs == 1 ? "" : "s",
                     whole->unknown_jobs == 1 ? "its" : "their");
}

static void note_suspended (report_t *report, const usage_cell_t *whole)
{
    if (!whole->suspended_known)
        report_note (report, NOTE_INFORMATION,
                     "For some jobs the times of suspension, or its duration, "
                     "are unknown: their suspended_gres_seconds is empty. "
                     "Suspended time is allocated time and is included in "
                     "every other figure.");
}

const usage_cell_t *usage_report_whole (usage_report_t *u)
{
    static const usage_cell_t none = {.suspended_known = true};
    size_t count;
    const usage_cell_t *whole = usage_cells (u->whole, &count);

    return count ? whole : &none;
}

static void note_quarantined (usage_report_t *u, report_t *report)
{
    size_t count;
    const usage_cell_t *cell = usage_cells (u->quarantined, &count);
    GL_AUTOFREE char *hours = NULL;
    mpq_t seconds;

    if (count == 0)
        return;
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), usage_cell_gres_seconds (cell));
    hours = report_hours_text (seconds);
    mpq_clear (seconds);
    report_note (report, NOTE_WARNING,
                 "%llu segment%s open for longer than is possible; %s GRES "
                 "hours of %s are not counted: gpuledger report reconcile "
                 "lists %s.",
                 (unsigned long long)cell->segments,
                 cell->segments == 1 ? " is" : "s are", hours,
                 cell->segments == 1 ? "it" : "theirs",
                 cell->segments == 1 ? "it" : "them");
}

static void put_coverage (report_t *report, const char *measure,
                          const usage_cell_t *whole, size_t known_ms)
{
    GL_AUTOFREE char *percent = covered_percent (whole, known_ms);

    if (percent)
        report_coverage (report, measure, percent);
}

/* `seen`: what nodes recorded of the whole; NULL: nothing. */
static void put_recorded (report_t *report, const usage_cell_t *whole,
                          const usage_cell_t *seen)
{
    GL_AUTOFREE char *percent = NULL;
    mpq_t none, part, held;

    mpq_inits (none, part, held, NULL);
    usage_cell_covered (whole, offsetof (measured_t, sampled_ms), none, held);
    if (seen)
        usage_cell_covered (seen, offsetof (measured_t, sampled_ms), none,
                            part);
    percent = report_coverage_text (part, held);
    if (percent)
        report_coverage (report, "node_records_pct", percent);
    mpq_clears (none, part, held, NULL);
}

static char *ms_hours (uint64_t ms)
{
    char *text;
    mpq_t seconds;

    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), ms);
    mpz_set_ui (mpq_denref (seconds), 1000);
    mpq_canonicalize (seconds);
    text = report_hours_text (seconds);
    mpq_clear (seconds);
    return text;
}

static void note_unplaced (usage_report_t *u, report_t *report)
{
    const measured_t *m = usage_unplaced (u->rows);
    GL_AUTOFREE char *hours = ms_hours (m->watched_ms);

    if (m->watched_ms > 0)
        report_note (report, NOTE_WARNING,
                     "For %s measured device hours the kind of device is "
                     "unknown, because the node has several kinds. The totals "
                     "include them; no row does.",
                     hours);
}

static void note_split (const usage_report_t *u, report_t *report)
{
    if (u->split_exactly + u->split_evenly > 0)
        report_note (
            report, NOTE_INFORMATION,
            "Accounting counts a job's devices, not those on each node. %llu "
            "segments on several nodes are divided by the nodes' records, "
            "%llu evenly.",
            (unsigned long long)u->split_exactly,
            (unsigned long long)u->split_evenly);
}

/* Evidence without a segment, and clocks. */
static void note_unmatched (usage_report_t *u, report_t *report)
{
    const evidence_counts_t *c = u->unmatched;

    if (!c || u->query->filter_count > 0)
        return;
    for (size_t i = EVIDENCE_MATCHED + 1; i < EVIDENCE_REASON_COUNT; i++) {
        GL_AUTOFREE char *hours = ms_hours (c->usage_ms[i]);
        if (c->usage_ms[i] > 0 || c->attempts[i] > 0)
            report_note (report, NOTE_INFORMATION,
                         "Evidence without a segment (%s): %s measured device "
                         "hours and %llu records of a job's start or end. No "
                         "figure includes it.",
                         evidence_reason_name ((evidence_reason_t)i), hours,
                         (unsigned long long)c->attempts[i]);
    }
    if (c->skew_known)
        report_note (report, NOTE_INFORMATION,
                     "The largest difference between a node's clock and the "
                     "collector's, as last measured, is %lld.%03lld s.",
                     (long long)c->skew_ms / 1000,
                     (long long)c->skew_ms % 1000);
}

void usage_report_finish (usage_report_t *u, report_t *report,
                          usage_columns_t columns)
{
    size_t seen_count;
    const usage_cell_t *whole = usage_report_whole (u);
    const usage_cell_t *seen = usage_cells (u->whole_seen, &seen_count);

    report_totals (report);
    put_cell (report, columns, whole);
    put_recorded (report, whole, seen_count ? seen : NULL);
    put_coverage (report, "samples_pct", whole,
                  offsetof (measured_t, sampled_ms));
    put_coverage (report, "energy_pct", whole,
                  offsetof (measured_t, energy_ms));
    note_unplaced (u, report);
    note_unmatched (u, report);
    note_split (u, report);
    note_quarantined (u, report);
    note_unknown_jobs (report, whole);
    note_unknown_weights (report, whole);
    note_suspended (report, whole);
}

static void add_figures (report_t *report, usage_columns_t columns)
{
    static const struct {
        measure_t measure;
        const char *title;
        const char *hint;
    } figures[] = {
        {MEASURE_GPU_HOURS, "GPU hours", "of physical GPUs, allocated to jobs"},
        {MEASURE_GRES_HOURS, "GRES hours", "devices as Slurm counts them"},
        {MEASURE_JOBS, "Jobs", "with time in the period"},
        {MEASURE_COVERAGE_PCT, "Measured",
         "percent of the allocated time that agents sampled"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (figures); i++) {
        const char *value = report->total[columns.first + figures[i].measure];
        report_figure (report, figures[i].title, value, figures[i].hint,
                       report->column[columns.first + figures[i].measure].type);
    }
}

static void add_chart (const report_query_t *query, report_t *report,
                       usage_columns_t columns, const usage_cell_t *cells,
                       size_t count)
{
    mpq_t *seconds = xcalloc (count + 1, sizeof (*seconds));

    for (size_t i = 0; i < count; i++) {
        mpq_init (seconds[i]);
        if (!usage_cell_gpu_seconds (&cells[i], seconds[i]))
            mpq_set_ui (seconds[i], 0, 1);
    }
    if (report_by_time (query))
        report_chart_times (report, query, "GPU hours over time",
                            "GPU hours that were allocated to jobs.",
                            (const mpq_t *)seconds,
                            columns.first + MEASURE_GPU_HOURS, "GPU hours");
    else
        report_chart_rows (report, "Where the GPU hours went",
                           "The largest rows.", (const mpq_t *)seconds,
                           columns.first + MEASURE_GPU_HOURS,
                           REPORT_CHART_ROWS);
    GL_FREE_EACH (seconds, count, it, mpq_clear (*it));
}

report_t *usage_report_make (usage_report_t *u)
{
    report_t *report = report_begin (u->query, "usage", "GPU usage");
    usage_columns_t columns;
    size_t count;
    const usage_cell_t *cells = usage_cells (u->rows, &count);

    report_key_columns (report, u->query);
    columns = usage_report_columns (report, u->query->site, false);
    for (size_t i = 0; i < count; i++) {
        report_row (report);
        report_put_keys (report, u->query, cells[i].key);
        usage_report_put (u, report, columns, &cells[i]);
    }
    add_chart (u->query, report, columns, cells, count);
    usage_report_finish (u, report, columns);
    add_figures (report, columns);
    report_sort (report);
    return report;
}
