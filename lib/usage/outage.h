/*
 * outage.h: times for which jobs are credited their charge, because the nodes were
 * of no use to them: the entries of `outages` (site/site.h), and for those with
 * `source: slurmdbd` the time in which slurmdbd has a node of them as down.
 *
 * A job is affected if it has one of the nodes allocated; of an entry without nodes,
 * if it has GPUs of its pools. What it is credited is in billable.h. Pure.
 */
#ifndef GL_USAGE_OUTAGE_H
#define GL_USAGE_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/zone.h"
#include "site/segment.h"
#include "site/site.h"

typedef struct {
    const site_outage_t *of;
    period_t period;
    const char *cluster; /* of a node event; NULL: any */
    const char *node;
} outage_window_t;

typedef struct outages outages_t;

/* Those that matter to charges of the period. The site must outlive it. NULL: there
 * are none. */
outages_t *outages_new (const site_t *site, period_t period);
/* Accepts NULL. */
void outages_free (outages_t *outages);

/* Some entry is about node events that begin before `end`. Those are given before the
 * first question. */
bool outages_want_events (const outages_t *outages);
void outages_add_event (outages_t *outages, const node_event_t *event);

/* Segments that ended before such a period, or begin after it, are not affected by
 * its outages: by time, disjoint. Borrowed. */
const period_t *outages_periods (outages_t *outages, size_t *ret_count);

/* The windows that affect the segment, by the entries' names. Valid until the next
 * question. */
size_t outages_affect (outages_t *outages, const segment_t *segment,
                       const outage_window_t *const **ret_windows);
/* The segment ended within the window in a state that the entry credits in full. */
bool outage_killed (const outage_window_t *window, const segment_t *segment);

#endif /* !GL_USAGE_OUTAGE_H */
