#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/usage_report.h"

struct usage_report {
    const report_query_t *query;
    usage_query_t rows_query;
    usage_query_t whole_query; /* the same without keys */
    usage_t *rows;
    usage_t *whole;
    usage_t *rows_seen; /* only what nodes have recorded */
    usage_t *whole_seen;
    const usage_cell_t *seen_cells; /* of rows_seen, once all is added */
    size_t seen_count;
};

usage_report_t *usage_report_new (const report_query_t *query)
{
    usage_report_t *u = xcalloc (1, sizeof (*u));

    u->query = query;
    u->rows_query = (usage_query_t){.site = query->site,
                                    .period = query->period,
                                    .by = query->by,
                                    .filters = query->filters,
                                    .filter_count = query->filter_count,
                                    .accounts = query->accounts};
    u->whole_query = u->rows_query;
    u->whole_query.by.count = 0;
    u->rows = usage_new (&u->rows_query);
    u->whole = usage_new (&u->whole_query);
    u->rows_seen = usage_new (&u->rows_query);
    u->whole_seen = usage_new (&u->whole_query);
    return u;
}

void usage_report_free (usage_report_t *u)
{
    if (!u)
        return;
    usage_free (u->rows);
    usage_free (u->whole);
    usage_free (u->rows_seen);
    usage_free (u->whole_seen);
    free (u);
}

void usage_report_add (usage_report_t *u, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project, bool seen)
{
    usage_add (u->rows, segment, suspensions, count, project);
    usage_add (u->whole, segment, suspensions, count, project);
    if (!seen)
        return;
    usage_add (u->rows_seen, segment, suspensions, count, project);
    usage_add (u->whole_seen, segment, suspensions, count, project);
}

const usage_cell_t *usage_report_cells (usage_report_t *u, size_t *ret_count)
{
    return usage_cells (u->rows, ret_count);
}

usage_columns_t usage_report_columns (report_t *report, bool with_money)
{
    usage_columns_t columns = {report->column_count};

    for (measure_t m = MEASURE_JOBS; m <= MEASURE_COVERAGE_PCT; m++) {
        bool brief = m == MEASURE_JOBS || m == MEASURE_GRES_HOURS
                     || m == MEASURE_GPU_HOURS
                     || (m == MEASURE_COVERAGE_PCT && !with_money);
        report_measure (report, m, !brief);
    }
    return columns;
}

static int compare_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

/* The cell of the same key among those that nodes have recorded, which are in
 * the same order. */
static const usage_cell_t *find_seen (usage_report_t *u,
                                      const usage_cell_t *cell)
{
    const usage_cell_t *cells;
    size_t low = 0, high;

    if (!u->seen_cells)
        u->seen_cells = usage_cells (u->rows_seen, &u->seen_count);
    cells = u->seen_cells;
    high = u->seen_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = 0;
        for (size_t i = 0; i < u->query->by.count && order == 0; i++)
            order = compare_text (cells[middle].key[i], cell->key[i]);
        if (order == 0)
            return &cells[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* NULL where nothing was held. */
static char *coverage_text (const usage_cell_t *cell, const usage_cell_t *seen)
{
    char *text;
    mpq_t part, whole;

    mpq_inits (part, whole, NULL);
    exact_set_u128 (mpq_numref (whole), usage_cell_gres_seconds (cell));
    if (seen)
        exact_set_u128 (mpq_numref (part), usage_cell_gres_seconds (seen));
    text = report_percent_text (part, whole);
    mpq_clears (part, whole, NULL);
    return text;
}

/* Into the last row, or into the totals. */
static void put_cell (report_t *report, usage_columns_t columns,
                      const usage_cell_t *cell, const usage_cell_t *seen)
{
    size_t first = columns.first;
    GL_AUTOFREE char *coverage = coverage_text (cell, seen);
    mpq_t seconds;

    report_put_count (report, first + MEASURE_JOBS, cell->jobs);
    report_put_count (report, first + MEASURE_SEGMENTS, cell->segments);
    report_put_count (report, first + MEASURE_UNKNOWN_JOBS, cell->unknown_jobs);
    /* nothing but jobs whose devices nobody told: not known, not 0 */
    if (cell->part_count == 0 && cell->unknown_jobs > 0)
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
    if (coverage)
        report_put_text (report, first + MEASURE_COVERAGE_PCT, coverage);
    mpq_clear (seconds);
}

void usage_report_put (usage_report_t *u, report_t *report,
                       usage_columns_t columns, const usage_cell_t *cell)
{
    put_cell (report, columns, cell, find_seen (u, cell));
}

static void note_unknown_weights (report_t *report, const usage_cell_t *whole)
{
    for (size_t i = 0; i < whole->part_count; i++) {
        const usage_part_t *part = &whole->part[i];
        GL_AUTOFREE char *hours = NULL;
        mpq_t seconds;
        if (part->kind->weight_known)
            continue;
        mpq_init (seconds);
        exact_set_u128 (mpq_numref (seconds), part->gres_seconds);
        hours = report_hours_text (seconds);
        mpq_clear (seconds);
        report_note (report, NOTE_WARNING,
                     "How much of a GPU a device of type %s is, is not known: "
                     "%s. Its %s GRES hours are in no figure of GPU hours or "
                     "money; where they occur, GPU hours are empty.",
                     part->kind->type ? part->kind->type : "(untyped)",
                     part->kind->problem, hours);
    }
}

static void note_unknown_jobs (report_t *report, const usage_cell_t *whole)
{
    if (whole->unknown_jobs > 0)
        report_note (report, NOTE_WARNING,
                     "%llu GPU job%s without a GPU in accounting: %s time is "
                     "not known and is in no figure. Set "
                     "AccountingStorageTRES=gres/gpu in slurm.conf.",
                     (unsigned long long)whole->unknown_jobs,
                     whole->unknown_jobs == 1 ? "" : "s",
                     whole->unknown_jobs == 1 ? "its" : "their");
}

static void note_suspended (report_t *report, const usage_cell_t *whole)
{
    if (!whole->suspended_known)
        report_note (report, NOTE_INFORMATION,
                     "Of some jobs it is known how long they were suspended "
                     "but not when, or not even that; there "
                     "suspended_gres_seconds is empty. Suspended time is held "
                     "time and counts in every other figure.");
}

const usage_cell_t *usage_report_whole (usage_report_t *u)
{
    static const usage_cell_t none = {.suspended_known = true};
    size_t count;
    const usage_cell_t *whole = usage_cells (u->whole, &count);

    return count ? whole : &none;
}

void usage_report_finish (usage_report_t *u, report_t *report,
                          usage_columns_t columns)
{
    size_t seen_count;
    const usage_cell_t *whole = usage_report_whole (u);
    const usage_cell_t *seen = usage_cells (u->whole_seen, &seen_count);
    GL_AUTOFREE char *coverage = NULL;

    report_totals (report);
    put_cell (report, columns, whole, seen_count ? seen : NULL);
    coverage = coverage_text (whole, seen_count ? seen : NULL);
    if (coverage)
        report_coverage (report, "node_records_pct", coverage);
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
        {MEASURE_GPU_HOURS, "GPU hours", "of physical GPUs, held by jobs"},
        {MEASURE_GRES_HOURS, "GRES hours", "devices as Slurm counts them"},
        {MEASURE_JOBS, "Jobs", "with time in the period"},
        {MEASURE_COVERAGE_PCT, "Recorded by nodes",
         "percent of the held time; projects come from there"},
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
    report_chart_rows (
        report, "Where the GPU hours went",
        report_by_time (query) ? "GPU hours over time." : "The largest rows.",
        (const mpq_t *)seconds, columns.first + MEASURE_GPU_HOURS,
        report_chart_size (query), report_by_time (query));
    for (size_t i = 0; i < count; i++)
        mpq_clear (seconds[i]);
    free (seconds);
}

report_t *usage_report_make (usage_report_t *u)
{
    report_t *report = report_begin (u->query, "usage", "GPU usage");
    usage_columns_t columns;
    size_t count;
    const usage_cell_t *cells = usage_cells (u->rows, &count);

    report_key_columns (report, u->query);
    columns = usage_report_columns (report, false);
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
