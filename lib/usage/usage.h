/*
 * usage.h: segments -> usage cells: which devices were allocated to whom and for how long.
 *
 * The one definition of usage: a segment holds each of its devices from its
 * start to its end (half-open), suspended or not; steps never count; a cell
 * gets the part of that interval that lies in it. Quantities are integers of
 * device-seconds (gres_seconds, as Slurm counts devices) and exact rationals
 * of physical GPUs (gpu_seconds: a slice counts its weight).
 *
 * Pure: give it segments in the order (cluster, id_job, time_submit), read the
 * cells. Memory grows with the cells, not with the segments. Not for use by two
 * threads at once.
 */
#ifndef GL_USAGE_USAGE_H
#define GL_USAGE_USAGE_H

#include "base/zone.h"
#include "evidence/load_profile.h"
#include "evidence/measure.h"
#include "site/kind.h"
#include "site/project.h"
#include "site/segment.h"
#include "site/site.h"
#include "usage/key.h"
#include "usage/outage.h"

/* What the cell holds of one kind. */
typedef struct {
    const device_kind_t *kind;
    uint64_t gres_seconds;
    uint64_t suspended_gres_seconds;
    /* Of these: in intervals whose place in time is known, so that any cut of
     * the cell has its own part. What policy.suspended may leave free. Of
     * segments; no rollup tells it. */
    uint64_t placed_gres_seconds;
    /* Of these: in segments that ended so; [LOSS_NONE] is not counted. */
    uint64_t lost_gres_seconds[LOSS_COUNT];
    measured_t *measured; /* after usage_measure(); NULL: nothing was:
                             usage_part_measured() */
    /* Price seconds that are billed beyond those allocated, or below 0 (billable.h);
     * NULL: none. */
    mpq_t *more;
} usage_part_t;

static inline const measured_t *usage_part_measured (const usage_part_t *part)
{
    return part->measured ? part->measured : &measured_nothing;
}

typedef struct {
    /* texts of the query's keys, in its order; NULL: absent */
    const char *const *key;
    size_t cut;           /* index of the cut interval, see usage_query_t */
    int64_t first;        /* an instant of the first stretch of time in it */
    uint64_t jobs;        /* distinct JobIds with time in the cell */
    uint64_t segments;
    uint64_t unknown_jobs; /* of the jobs: GPU jobs without a GPU in accounting */
    bool suspended_known; /* false: some segment's suspension cannot be placed */
    usage_part_t *part;
    size_t part_count;
} usage_cell_t;

typedef struct {
    key_id_t key;
    const char *label; /* for KEY_LABEL */
    text_list_t values; /* one of these; the text of an absent key matches */
} usage_filter_t;

typedef struct {
    const site_t *site;
    period_t period;
    key_list_t by;
    const usage_filter_t *filters;
    size_t filter_count;
    /* Further instants, ascending, at which time is cut: cell.cut is 0 before
     * the first, 1 from the first on, and so on. */
    const int64_t *cuts;
    size_t cut_count;
    const accounts_t *accounts; /* for teams; may be NULL */
    outages_t *outages;         /* what jobs are credited for; NULL: none */
    /* What does not pass these filters is not distinguished by these keys, a bit (1
     * << KEY) each: they are absent then. */
    const usage_filter_t *apart;
    size_t apart_count;
    uint32_t apart_keys;
    /* To which energy is added by time, of kinds with a pool and a weight, whatever
     * the filters; NULL: not wanted. */
    load_profile_t *load;
    /* Of the site, shared with others; NULL: its own. */
    kinds_t *kinds;
    /* Gets what of each segment passes the filters, from one cut to the next; of
     * segments, not of rollups. NULL: not wanted. */
    void (*allocated) (const device_kind_t *kind, uint64_t devices,
                       period_t period, void *arg);
    void *allocated_arg;
    bool idle_causes;  /* IDLE_SPARE and IDLE_AFTER are told, as far as the facts of
                          the period tell them; rollups do not */
    bool in_any_order; /* nobody reads the order of the cells */
    bool without_jobs; /* nobody reads how many there are: with rollups this
                          saves the most of the work */
    bool jobs_alone;   /* nobody reads anything else: rollups bring no parts */
} usage_query_t;

typedef struct usage usage_t;
typedef struct rollup rollup_t; /* usage/rollup.h */

/* The query and what it points to stay the caller's and must outlive it. */
usage_t *usage_new (const usage_query_t *query);
void usage_free (usage_t *usage);

/* `suspensions`: the segment's own; NULL with count 0 where none are known (a
 * total in the segment is then used where the segment lies in one cell). */
void usage_add (usage_t *usage, const segment_t *segment,
                const suspension_t *suspensions, size_t count,
                const project_t *project);

/*
 * The cells that one segment alone would make, piece by piece: what it holds of
 * one kind from one cut of time to the next. They add up to what usage_add ()
 * brings, and are kept nowhere; memory holds those of one segment.
 */
typedef struct {
    const char *key[KEYS_MAX]; /* as in a cell; valid as long as the usage */
    size_t cut;
    period_t period;
    uint64_t devices;
    usage_part_t part; /* `measured` included */
} usage_slice_t;
typedef int (*usage_slice_f) (const usage_slice_t *slice, void *arg,
                              gl_error_t *error);
/* By time, then kind. `evidence` may be NULL. -1: the callback said so. */
int usage_each_slice (usage_t *usage, const segment_t *segment,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence,
                      usage_slice_f callback, void *arg, gl_error_t *error);

/* After usage_add() of the same segment: what the agents measured of it. Stretches
 * are cut exactly where cells change. `evidence` may be NULL. */
void usage_measure (usage_t *usage, const segment_t *segment,
                    const project_t *project,
                    const segment_evidence_t *evidence);

/* Instead of its segments: all of a span that lies within the query's period, and
 * within one unit of the keys and between two cuts. Before the first
 * usage_cells(). What the query asks for must
 * be known of it: no hour, node, state or label; and no pool or team may begin
 * or end within the period. Any order; the rollup is no longer needed after. */
typedef enum {
    ROLLUP_COUNTED,     /* what usage_add and usage_measure would have brought */
    ROLLUP_RECORDED,    /* of it: gres_seconds of segments that nodes recorded */
    ROLLUP_QUARANTINED, /* of runaways: what is not counted (evidence/runaway.h) */
} rollup_part_t;
void usage_add_rollup (usage_t *usage, const rollup_t *rollup,
                       rollup_part_t part);

/* What was measured of devices of an unknown kind, where keys or filters
 * ask for it: in no cell. */
const measured_t *usage_unplaced (const usage_t *usage);

/* The cells, ordered bytewise by key then cut; borrowed until the next call on
 * the object. Cells without time are not made. */
const usage_cell_t *usage_cells (usage_t *usage, size_t *ret_count);

/* Of its GPUs; and of what pools of CPUs count. Never added up. */
uint64_t usage_cell_gres_seconds (const usage_cell_t *cell);
uint64_t usage_cell_cpu_seconds (const usage_cell_t *cell);
uint64_t usage_cell_suspended (const usage_cell_t *cell);
/* Adds up weight * seconds; false if the weight of some part is not known (the
 * value is then what is known). */
bool usage_cell_gpu_seconds (const usage_cell_t *cell, mpq_t ret_value);

/* Of the allocated device time, in seconds, how much a time of its measurements covers
 * (the offset of one in measured_t: sampled_ms, energy_ms, utilization_ms). Devices
 * count as accounting counts them, but shards and MPS, of which a GPU has several,
 * by the GPUs that they stand for. */
void usage_cell_covered (const usage_cell_t *cell, size_t known_ms,
                         mpq_t ret_covered, mpq_t ret_allocated);

/* All of the cell's devices. */
void usage_cell_measured (const usage_cell_t *cell, measured_t *ret_measured);
/* Seconds of physical GPUs: utilization x the time for which it was known, and
 * idle time; false where nothing of it is known, or a weight is not. */
bool usage_cell_active_seconds (const usage_cell_t *cell, mpq_t ret_value);
bool usage_cell_idle_seconds (const usage_cell_t *cell, mpq_t ret_value);
/* The time for which utilization is known, weighted in the same way. */
bool usage_cell_known_seconds (const usage_cell_t *cell, mpq_t ret_value);

#endif /* !GL_USAGE_USAGE_H */
