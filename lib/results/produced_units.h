/*
 * produced_units.h: the units that jobs produced in a month, from what was reported,
 * counted on nodes, or said in labels.
 *
 * Of a unit of a job one source counts, the first that there is: reports of people, then
 * counters, then labels. A report or label is of all of a segment: the month gets its
 * part by time, so that the months of a job add up. A counter counts on the nodes of the
 * job alone; a label only if the job completed.
 *
 * Give it the reports and counts of the month, then its segments; then read. Memory holds
 * the jobs that have units. Pure. One thread.
 */
#ifndef GL_RESULTS_PRODUCED_UNITS_H
#define GL_RESULTS_PRODUCED_UNITS_H

#include "base/zone.h"
#include "site/segment.h"
#include "site/units.h"

typedef enum {
    UNITS_REPORTED,
    UNITS_COUNTED,
    UNITS_LABEL,
    UNITS_SOURCES,
} units_source_t;

/* "report", "counter", "label" */
const char *units_source_word (units_source_t source);

/* A unit of a job in the month. */
typedef struct {
    const char *unit;
    units_source_t source;
    int64_t quantity; /* above 0 */
} produced_unit_t;

typedef struct produced_units produced_units_t;

/* `until`: when the month was closed: later reports do not count; 0: all do. The site
 * must outlive it. */
produced_units_t *produced_units_new (const site_t *site, period_t month,
                                      int64_t until);
/* Accepts NULL. */
void produced_units_free (produced_units_t *units);

/* In the order of their stamps, for each segment. */
void produced_units_report (produced_units_t *units, const job_units_t *report);
/* Of an interval in the month. */
void produced_units_count (produced_units_t *units, const char *cluster,
                           uint64_t id_job, const char *node, const char *unit,
                           int64_t quantity);
/* `labels`: of the segment; may be NULL. `as_of`: where it ends if it has not. */
void produced_units_segment (produced_units_t *units, const segment_t *segment,
                             const char *labels, int64_t as_of);

/* Reports that came after the month was closed. */
uint64_t produced_units_late (const produced_units_t *units);

/* Some job may have units. */
bool produced_units_any (const produced_units_t *units);
/* The job has units: the next one, from *cursor = 0 on; false at the end. */
bool produced_units_next (const produced_units_t *units, const char *cluster,
                          uint64_t id_job, size_t *cursor,
                          produced_unit_t *ret);

#endif /* !GL_RESULTS_PRODUCED_UNITS_H */
