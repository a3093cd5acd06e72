/*
 * query.h: what is asked for, and what every report says about that.
 *
 * Pure: the instants of the query come from the command line and the store, and
 * a report that is built twice from the same is the same.
 */
#ifndef GL_REPORT_QUERY_H
#define GL_REPORT_QUERY_H

#include "acct/key.h"
#include "acct/site.h"
#include "acct/usage.h"
#include "base/error.h"
#include "base/zone.h"
#include "report/report.h"

/* A cluster, and the moment that its facts speak of. */
typedef struct {
    const char *name;
    int64_t as_of;
    int64_t first; /* when they begin, for what is carried (charge.h); 0: not asked */
} report_cluster_t;

/* Everything is borrowed. */
typedef struct {
    const site_t *site;
    period_t period;
    const report_cluster_t *clusters; /* those with facts */
    size_t cluster_count;
    key_list_t by;
    const usage_filter_t *filters;
    size_t filter_count;
    const accounts_t *accounts; /* for teams; may be NULL */
} report_query_t;

/* "account,label:experiment-id,month". *ret_label, yours to free, is what
 * ret_keys->label points to; NULL without a label. */
int report_keys_parse (const char *text, key_list_t *ret_keys, char **ret_label,
                       gl_error_t *error);

/* The latest as-of; 0 without any cluster. */
int64_t report_as_of (const report_query_t *query);
/* The last month of the zone that is over at `as_of`. */
period_t report_default_period (const zone_t *zone, int64_t as_of);
/* "2026-10", "2026-10-05", "2026-10-05 to 2026-10-12" (both included), else
 * two stamps. */
char *report_period_text (const zone_t *zone, period_t period);

/* A report with title, parameters and provenance, and a warning for each
 * cluster whose facts end within the period. */
report_t *report_begin (const report_query_t *query, const char *name,
                        const char *title);

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
    MEASURE_CORRECTION,
    MEASURE_CURRENCY,
    MEASURE_COUNT,
} measure_t;

/* `detail`: people see it only when they ask for it. */
size_t report_measure (report_t *report, measure_t measure, bool detail);
/* "gpu_hours". */
const char *report_measure_name (measure_t measure);

/* The rows follow one another in time: the first key is a unit of it. */
bool report_by_time (const report_query_t *query);
/* Rows of a chart: as many as are read at a glance, or the days of a month. */
size_t report_chart_size (const report_query_t *query);

/* A query filters by nothing but keys that are in the list. */
bool report_filters_within (const report_query_t *query, const key_id_t *keys,
                            size_t count);

#endif /* !GL_REPORT_QUERY_H */
