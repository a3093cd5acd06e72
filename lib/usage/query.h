/*
 * query.h: what is asked for: a period, filters and keys to group by. Pure: the
 * instants of a query come from the command line and the store.
 */
#ifndef GL_USAGE_QUERY_H
#define GL_USAGE_QUERY_H

#include "base/error.h"
#include "base/zone.h"
#include "site/site.h"
#include "usage/key.h"
#include "usage/usage.h"

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
/* One month of the zone: "2026-10", of these years. */
#define REPORT_YEAR_MIN 1970
#define REPORT_YEAR_MAX 2099
int report_month_parse (const zone_t *zone, const char *text,
                        period_t *ret_period, gl_error_t *error);
/* One month or several: "2026-10", "last" (report_default_period()), "-3" (the
 * last three that are over at `as_of`), "2026-05..2026-10", "2026-05..last"
 * (both ends included). */
int report_months_parse (const zone_t *zone, const char *text, int64_t as_of,
                         period_t *ret_period, gl_error_t *error);
/* What report_months_parse() makes of the text depends on `as_of`. */
bool report_months_relative (const char *text);
/* "2026-10", "2026-10-05", "2026-10-05 to 2026-10-12" (both included), else
 * two stamps. */
char *report_period_text (const zone_t *zone, period_t period);

/* A value of the filter's key (NULL: absent) passes it. */
bool report_filter_passes (const usage_filter_t *filter, const char *text);
/* The user passes all filters by user; others are not looked at. */
bool report_passes_user (const report_query_t *query, const char *user);
/* A query filters by nothing but keys that are in the list. */
bool report_filters_within (const report_query_t *query, const key_id_t *keys,
                            size_t count);

#endif /* !GL_USAGE_QUERY_H */
