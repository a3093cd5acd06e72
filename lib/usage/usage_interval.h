/*
 * usage_interval.h: the one definition of usage, below any grouping: a segment
 * is cut where nothing that a cell depends on stays the same, and each interval
 * is handed on with what it holds and for how long it was suspended; so is what
 * agents measured of it.
 *
 * Two collect intervals: usage.c by the keys of a query, rollup_build.c by day
 * and by all that a rollup tells apart. Pure; private to lib/usage and
 * lib/money.
 */
#ifndef GL_USAGE_USAGE_INTERVAL_H
#define GL_USAGE_USAGE_INTERVAL_H

#include "base/zone.h"
#include "evidence/measure.h"
#include "site/kind.h"
#include "site/project.h"
#include "site/segment.h"

/* A part of a segment. */
typedef struct {
    const segment_t *segment;
    const suspension_t *suspensions;
    size_t suspension_count;
    const project_t *project;
    period_t period; /* of the interval */
    bool begins;     /* the segment begins with it */
    bool ends;       /* it ends with it, and is closed */
} usage_interval_t;

/* How much of a interval was suspended. */
typedef enum {
    SUSPENDED_KNOWN,
    SUSPENDED_TOTAL, /* only of the whole segment, which the interval is not */
    SUSPENDED_UNKNOWN,
} suspended_t;
/* TOTAL: the seconds are those of the segment. */
suspended_t usage_interval_suspended (const usage_interval_t *interval,
                                      int64_t *ret_seconds);

/* Who gets them. */
typedef struct {
    /* a GPU job of which accounting names no GPU */
    void (*unknown) (const usage_interval_t *interval, void *arg);
    void (*allocated) (const usage_interval_t *interval,
                       const holding_t *holding, void *arg);
    /* Where to add what was measured of that device; NULL: nowhere. `known`
     * false: it is unknown which of its node's kinds it is. */
    measured_t *(*measured) (const usage_interval_t *interval,
                             const holding_t *holding, bool known, void *arg);
    void *arg;
    /* all its devices, instead of `unknown` and `allocated`; NULL: these */
    void (*all) (const usage_interval_t *interval, const holding_t *holding,
                 size_t count, void *arg);
    /* Each part of a device's measured stretch within the interval, if the kind
     * of the device is known; NULL: not wanted. */
    void (*stretch) (const usage_interval_t *interval,
                     const device_kind_t *kind, const device_usage_t *usage,
                     int64_t from_ms, int64_t to_ms, void *arg);
} usage_interval_sink_t;

/* Where intervals are cut. */
typedef struct {
    kinds_t *kinds;
    const zone_t *zone;
    period_t period;        /* the rest is left out */
    const int64_t *changes; /* ascending instants */
    size_t change_count;
    bool units[3]; /* by calendar_unit_t: where hours, days, months begin */
    bool by_node;
    bool causes; /* idle time has all causes, of what is known in the period */
} usage_interval_cuts_t;

/* The interval that begins at `start` ends here, or at `end`. */
int64_t usage_interval_end (const usage_interval_cuts_t *cuts, int64_t start,
                            int64_t end);

void usage_interval_each (const usage_interval_cuts_t *cuts,
                          const usage_interval_sink_t *sink,
                          const segment_t *segment,
                          const suspension_t *suspensions, size_t count,
                          const project_t *project);
void usage_interval_measure (const usage_interval_cuts_t *cuts,
                             const usage_interval_sink_t *sink,
                             const segment_t *segment, const project_t *project,
                             const segment_evidence_t *evidence);

/* The kind of a device whose kind is unknown. */
extern const device_kind_t usage_interval_unknown;

#endif /* !GL_USAGE_USAGE_INTERVAL_H */
