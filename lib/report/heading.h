/*
 * heading.h: what the reports say about what was asked: title, parameters, columns of
 * keys and measures. Pure.
 */
#ifndef GL_REPORT_HEADING_H
#define GL_REPORT_HEADING_H

#include "base/buffer.h"
#include "report/report.h"
#include "usage/query.h"

/* Next to charges without a project: who may give jobs one, until when, and what that changes.
 * `period`: the charges'. Yours to free. */
char *report_how_to_tag (const site_t *site, period_t period);

/* A report with title, parameters and provenance, and a warning for each
 * cluster whose facts end within the period. */
report_t *report_begin (const report_query_t *query, const char *name,
                        const char *title);

/* The note of a month that is not closed: until when amounts may change. `more` ends the sentence:
 * "." or "; it is payable ...". */
void report_provisional (report_t *report, const report_query_t *query,
                         const char *more);

/* One column for each key of the query; they are the first ones. */
void report_key_columns (report_t *report, const report_query_t *query);
/* The cells of them; NULL is the key's absent text. */
void report_put_keys (report_t *report, const report_query_t *query,
                      const char *const *texts);

/* What is counted (design 6.2): one table of name, title, type, definition. */
typedef enum {
    MEASURE_JOBS,
    MEASURE_SEGMENTS,
    MEASURE_UNKNOWN_JOBS,
    MEASURE_GRES_SECONDS,
    MEASURE_SUSPENDED_GRES_SECONDS,
    MEASURE_GRES_HOURS,
    MEASURE_GPU_HOURS,
    MEASURE_ENERGY_KWH,
    MEASURE_ACTIVE_GPU_HOURS,
    MEASURE_IDLE_GPU_HOURS,
    MEASURE_COVERAGE_PCT,
    MEASURE_COST,
    MEASURE_RATE,
    MEASURE_CHARGE,
    MEASURE_CREDIT,
    MEASURE_SETTLEMENT,
    MEASURE_SERVICE, /* where there is one */
    MEASURE_CORRECTION,
    MEASURE_CURRENCY,
    MEASURE_CPU_HOURS, /* where the site counts CPUs */
    MEASURE_COUNT,
} measure_t;

/* `detail`: people see it only when they ask for it. */
size_t report_measure (report_t *report, measure_t measure, bool detail);

/* The full hours of the query's period that are over at as-of; empty: there are none. */
period_t report_full_hours (const report_query_t *query);

/* What the query asks of segments. */
usage_query_t report_usage_query (const report_query_t *query);

/* The rows follow one another in time: the first key is a unit of it. */
bool report_by_time (const report_query_t *query);
/* Charts of rows by time, where report_by_time(): a column for each unit of the
 * query's period, 0 where there is no row; of hours of two days or more, also a heat
 * map of weekdays and hours. `value` of each row, as in plot_series_t, of `column`. */
void report_chart_times (report_t *report, const report_query_t *query,
                         const char *title, const char *description,
                         const mpq_t *value, size_t column, const char *unit);
/* Hours of a week, from Monday 0:00 on: the index of "2026-10-05T13:00:00-04:00", and a
 * heat map of a value for each, with the type and unit of another plot. */
#define REPORT_WEEK_HOURS 168
extern const char *const report_weekdays[];
size_t report_hour_of_week (const char *name);
void report_chart_week (report_t *report, const plot_t *like, const char *title,
                        const char *description, const mpq_t *value);
/* Rows of a chart: as many as are read at a glance. */
#define REPORT_CHART_ROWS 12

/* --- command lines ------------------------------------------------------ */

/* Command lines that people may copy, with words from anywhere. */

/* " WORD", quoted for a POSIX shell where it needs to be. */
void shell_word (buffer_t *out, const char *word);

#endif /* !GL_REPORT_HEADING_H */
