#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/idle_report.h"

/* Bits of idle_rule (docs/formats/record.md). */
#define IDLE_UTILIZATION 1
#define IDLE_NO_PROCESS 2

struct idle_report {
    const report_query_t *query;
    usage_query_t usage_query;
    usage_t *usage;
};

struct columns {
    size_t gpu_hours;
    size_t idle;
    size_t longest;
    size_t no_process;
    size_t rule;
    size_t coverage;
};

idle_report_t *idle_report_new (const report_query_t *query)
{
    idle_report_t *idle = xcalloc (1, sizeof (*idle));

    idle->query = query;
    idle->usage_query = report_usage_query (query);
    idle->usage = usage_new (&idle->usage_query);
    return idle;
}

void idle_report_free (idle_report_t *idle)
{
    if (!idle)
        return;
    usage_free (idle->usage);
    free (idle);
}

void idle_report_add (idle_report_t *idle, const segment_t *segment,
                      const project_t *project,
                      const segment_evidence_t *evidence)
{
    usage_add (idle->usage, segment, NULL, 0, project);
    usage_measure (idle->usage, segment, project, evidence);
}

static size_t add_column (report_t *report, const char *name, const char *title,
                          column_type_t type, const char *help)
{
    size_t column = report_column (report, name, title, type, false);

    report_column_help (report, column, help);
    return column;
}

static struct columns add_columns (report_t *report)
{
    struct columns c
        = {.gpu_hours = report_measure (report, MEASURE_GPU_HOURS, false),
           .idle = report_measure (report, MEASURE_IDLE_GPU_HOURS, false)};

    c.longest = add_column (report, "idle_longest_hours", "Longest idle h",
                            COLUMN_HOURS,
                            "The longest time that one device was idle without "
                            "a break.");
    c.no_process = add_column (
        report, "no_process_hours", "No process h", COLUMN_HOURS,
        "Allocated device hours without any process. Empty: unknown.");
    c.rule = add_column (report, "idle_rule", "Rule", COLUMN_TEXT,
                         "What the agents' idle rule found.");
    c.coverage = report_measure (report, MEASURE_COVERAGE_PCT, false);
    return c;
}

static const char *rule_text (unsigned rule)
{
    if ((rule & IDLE_UTILIZATION) && (rule & IDLE_NO_PROCESS))
        return "idle with memory in use, no process";
    return rule & IDLE_NO_PROCESS ? "no process" : "idle with memory in use";
}

static void put_ms (report_t *report, size_t column, uint64_t ms)
{
    mpq_t seconds;

    mpq_init (seconds);
    exact_set_i64 (seconds, (int64_t)ms, 1000);
    report_put_hours (report, column, seconds);
    mpq_clear (seconds);
}

static void put_cell (report_t *report, const struct columns *c,
                      const usage_cell_t *cell, const measured_t *m)
{
    GL_AUTOFREE char *coverage = NULL;
    mpq_t value, whole;

    mpq_inits (value, whole, NULL);
    if (usage_cell_gpu_seconds (cell, value))
        report_put_hours (report, c->gpu_hours, value);
    if (usage_cell_idle_seconds (cell, value))
        report_put_hours (report, c->idle, value);
    if (m->idle_longest_ms >= 0)
        put_ms (report, c->longest, (uint64_t)m->idle_longest_ms);
    if (m->processes_ms > 0)
        put_ms (report, c->no_process, m->no_process_ms);
    report_put_text (report, c->rule, rule_text (m->idle_rule));
    usage_cell_covered (cell, offsetof (measured_t, sampled_ms), value, whole);
    coverage = report_coverage_text (value, whole);
    if (coverage)
        report_put_text (report, c->coverage, coverage);
    mpq_clears (value, whole, NULL);
}

report_t *idle_report_make (idle_report_t *idle)
{
    report_t *report = report_begin (idle->query, "idle", "Idle GPUs");
    struct columns columns;
    size_t count;
    const usage_cell_t *cells = usage_cells (idle->usage, &count);

    report_key_columns (report, idle->query);
    columns = add_columns (report);
    for (size_t i = 0; i < count; i++) {
        measured_t m;
        usage_cell_measured (&cells[i], &m);
        if (m.idle_rule == 0)
            continue;
        report_row (report);
        report_put_keys (report, idle->query, cells[i].key);
        put_cell (report, &columns, &cells[i], &m);
    }
    report_note (
        report, NOTE_INFORMATION,
        "Rows in which the agents' idle rule found an allocated device. "
        "Devices that were not measured are unknown and have no row.");
    report_sort (report);
    return report;
}
