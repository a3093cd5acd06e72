/*
 * reconcile.h: what two accounts of the same time differ in, and why.
 *
 * The store's segments are compared with four sides:
 * slurmdbd's job rows, slurmdbd's own usage tables, the nodes' records, and the
 * kept rollups. Each difference has one cause of a closed list. A cause is
 * given only where a fact proves it (a revision, a mark, a state, an instant of
 * the database, a sum that comes out exactly); else the difference is
 * unexplained.
 *
 * Quantities are device-seconds of the period, clipped at the cluster's as-of
 * on both sides, so that what happened since moves no sum.
 *
 * Pure. Memory follows the differences, of which the RECONCILE_KEPT largest are
 * kept and all are counted. An object belongs to one thread.
 */
#ifndef GL_EVIDENCE_RECONCILE_H
#define GL_EVIDENCE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/exact.h"
#include "base/zone.h"
#include "evidence/evidence.h"
#include "site/segment.h"

typedef enum {
    SIDE_ACCOUNTING, /* slurmdbd's job rows */
    SIDE_USAGE,      /* slurmdbd's usage tables */
    SIDE_EVIDENCE,   /* the nodes' records */
    SIDE_ROLLUPS,    /* kept rollups */
    SIDE_REVISIONS,  /* what was counted before */
    SIDE_COUNT,
} reconcile_side_t;

/* "accounting"; and for headings "Segments against slurmdbd's job rows". */
const char *reconcile_side_name (reconcile_side_t side);
const char *reconcile_side_title (reconcile_side_t side);

/* The order is that of docs/guides/reconcile.md. */
typedef enum {
    /* job rows that went on */
    CAUSE_OPEN_SINCE,
    CAUSE_ENDED_LATE,
    CAUSE_ARRIVED_LATE,
    CAUSE_EDITED,
    CAUSE_RUNAWAY,
    CAUSE_RUNAWAY_FIXED,
    CAUSE_GONE,
    CAUSE_DELETED_MARK,
    /* job rows that were never those of the store */
    CAUSE_NEVER_SYNCED,
    CAUSE_OTHER_SOURCE,
    CAUSE_DATABASE_OLDER,
    CAUSE_RESIZED_START,
    CAUSE_REVERSED,
    /* how slurmdbd rolls up */
    CAUSE_NOT_ROLLED,
    CAUSE_ROLLED_BEFORE_CHANGE,
    CAUSE_VANISHED,
    CAUSE_RESERVED_IDLE,
    CAUSE_RESERVED,
    CAUSE_ELIGIBLE_ZERO,
    CAUSE_UNTOTALLED,
    CAUSE_NO_VALUE,
    CAUSE_RENAMED,
    CAUSE_CLAMPED,
    /* what the nodes saw */
    CAUSE_UNKNOWN_GPU,
    CAUSE_TRES_EDITED,
    CAUSE_NODE_FAILED,
    CAUSE_ENDED_SUSPENDED,
    CAUSE_EPILOG_LATE,
    CAUSE_ENDED_ON_NODE,
    CAUSE_STARTED_AGAIN,
    CAUSE_AFTER_AS_OF,
    CAUSE_OVERLAP,
    CAUSE_ENERGY_REFUSED,
    /* what the store changed its mind about */
    CAUSE_REVISED,
    CAUSE_GRES_LOST,
    CAUSE_UNEXPLAINED,
    CAUSE_COUNT,
} reconcile_cause_t;

typedef struct {
    const char *word;     /* in rows: "ended_late" */
    const char *sentence; /* why, and what proves it */
    const char *advice;   /* what to do */
    bool explained;
} reconcile_cause_text_t;
const reconcile_cause_text_t *reconcile_cause (reconcile_cause_t cause);

/* One row of the report. Borrowed when it is handed over, copied. */
typedef struct {
    reconcile_side_t side;
    const char *cluster;
    uint64_t id_job;     /* 0: of no single job */
    int64_t time_submit; /* of the segment; 0 with id_job 0 */
    const char *who;     /* "account/user", or NULL */
    const char *what;    /* the field, or the sum */
    const char *ours;    /* NULL: there is none */
    const char *theirs;
    __int128 difference; /* device-seconds, ours - theirs */
    reconcile_cause_t cause;
} reconcile_row_t;

#define RECONCILE_KEPT 100000

typedef struct reconcile reconcile_t;

/* Stamps in rows are of this zone, which must outlive the object. */
reconcile_t *reconcile_new (const zone_t *zone);
/* Accepts NULL. */
void reconcile_free (reconcile_t *reconcile);

/* A side has been compared: it is part of the report even if all was equal. */
void reconcile_side (reconcile_t *reconcile, reconcile_side_t side);
/* One more thing was compared; `cause` of its worst difference, or CAUSE_COUNT
 * where there was none. */
void reconcile_compared (reconcile_t *reconcile, reconcile_side_t side,
                         reconcile_cause_t cause);
void reconcile_add (reconcile_t *reconcile, const reconcile_row_t *row);
/* Adds to the side's sums of one kind of device. */
void reconcile_total (reconcile_t *reconcile, reconcile_side_t side,
                      const char *kind, unsigned __int128 ours,
                      unsigned __int128 theirs);

typedef struct {
    bool present;
    uint64_t compared; /* segments, cells of usage, days */
    uint64_t equal;
    uint64_t explained;
    uint64_t unexplained;
    uint64_t rows[CAUSE_COUNT]; /* differences by cause */
    __int128 difference[CAUSE_COUNT];
} reconcile_summary_t;
const reconcile_summary_t *reconcile_summary (const reconcile_t *reconcile,
                                              reconcile_side_t side);
/* Differences whose cause does not explain them: of all sides, of one. */
uint64_t reconcile_unexplained (const reconcile_t *reconcile);
uint64_t reconcile_side_unexplained (const reconcile_t *reconcile,
                                     reconcile_side_t side);

/* The rows: unexplained first, then by size of the difference, then by side,
 * cluster, job. Borrowed. `ret_all` gets how many there were. */
const reconcile_row_t *reconcile_rows (reconcile_t *reconcile,
                                       size_t *ret_count, uint64_t *ret_all);

typedef struct {
    const char *kind; /* as accounting names the type; "" untyped */
    unsigned __int128 ours;
    unsigned __int128 theirs;
} reconcile_total_t;
/* Sorted by kind; borrowed. */
const reconcile_total_t *reconcile_totals (reconcile_t *reconcile,
                                           reconcile_side_t side,
                                           size_t *ret_count);

/* --- segments against job rows ----------------------------------------- */

/* One row of slurmdbd's job table as it is now. */
typedef struct {
    segment_t segment; /* as the row has it: nothing mended, state folded */
    int64_t time_eligible;
    int64_t mod_time; /* 0: not known */
    bool deleted;     /* a purge has marked it */
    uint64_t id_resv;
    uint64_t gpu_total; /* of gres/gpu itself: what slurmdbd rolls up */
    const char *association_account; /* by id_assoc; NULL: not known */
    uint64_t association;            /* id_assoc */
    const char *association_user;
} job_row_t;

/* What is known of the cluster when its rows are read. */
typedef struct {
    const char *cluster;
    period_t period;    /* clipped at as_of */
    int64_t as_of;      /* the store's */
    int64_t clock;      /* the database's, now */
    int64_t synced;     /* as-of of the last reading of this database; 0: never */
    int64_t oldest_end; /* of the ended rows that the database still has; 0: it
                           has none */
    const period_t *outages; /* of slurmctld, as slurmdbd recorded them */
    size_t outage_count;
} reconcile_cluster_t;

/* What the store has written down about the segment (store_revision). */
#define REVISED_GONE 0x1 /* the database did not have it any more */
#define REVISED_GRES 0x2 /* its GRES was changed after it had ended */

/* Either may be NULL, not both. Segments that have no time in the period on
 * either side are left out. */
void reconcile_segment (reconcile_t *reconcile,
                        const reconcile_cluster_t *cluster,
                        const segment_t *ours, const job_row_t *theirs,
                        unsigned revised);

/* A row as counted: a resized job's old start and an end before the start are
 * mended, as slurmdbd_segments() does. */
segment_t job_row_segment (const job_row_t *row);

/* The cause for which both differ, as reconcile_segment() found it; CAUSE_COUNT
 * where they are equal. */
reconcile_cause_t reconcile_judge (const reconcile_cluster_t *cluster,
                                   const segment_t *ours,
                                   const job_row_t *theirs, unsigned revised);

/* device-seconds of the segment in the period */
unsigned __int128 segment_device_seconds (const segment_t *segment,
                                          period_t period);

/* --- segments against usage tables (evidence/reconcile_usage.c) ------------- */

/* What slurmdbd's rollup counted by association, and what its rules make of the
 * job rows as they are. Hours are those that it has rolled. */
typedef struct rolled rolled_t;

rolled_t *rolled_new (const reconcile_cluster_t *cluster);
/* Accepts NULL. */
void rolled_free (rolled_t *rolled);
/* The hour that begins there has been rolled, last at `when` (0: not known). */
void rolled_hour (rolled_t *rolled, int64_t start, int64_t when);
bool rolled_is_empty (const rolled_t *rolled);
/* The TRES id of gres/gpu; before anything that has TRES. */
void rolled_gpu (rolled_t *rolled, uint64_t id);

/* A row of the reservation table. */
typedef struct {
    uint64_t id;
    int64_t start;
    int64_t force; /* time_force of 25.05 on; 0 */
    int64_t end;
    uint64_t flags;
    const char *associations; /* ids, separated by commas */
    const char *nodelist;
    const char *tres; /* "1=8,1001=4": ids and counts, in their order */
} resv_row_t;
/* Before the job rows. */
void rolled_reservation (rolled_t *rolled, const resv_row_t *row);
/* A row of the event table; after the reservations. Outages of nodes in a
 * reservation are taken off it. `end` 0: open. */
void rolled_outage (rolled_t *rolled, const char *node, int64_t start,
                    int64_t end, const char *tres);

/* Every pair that reconcile_segment() gets, in the same way. `tres`: the row's
 * tres_alloc as it is stored, for reservations; NULL: none. */
void rolled_segment (rolled_t *rolled, const segment_t *ours,
                     const job_row_t *theirs, unsigned revised,
                     const char *tres);

/* What the usage table has for an association in one hour, written last at
 * `when`; after all hours are known. */
void rolled_usage (rolled_t *rolled, uint64_t association, const char *account,
                   const char *user, int64_t start, uint64_t seconds,
                   int64_t when);
/* Who an association is; account and user NULL: nobody knows. */
void rolled_association (rolled_t *rolled, uint64_t association,
                         const char *account, const char *user);
/* The same of the cluster, where it has registered GPUs; `full`: all of them
 * were in use throughout. */
void rolled_cluster (rolled_t *rolled, int64_t start, uint64_t seconds,
                     bool full);

/* Compares; once, after everything. */
void rolled_finish (rolled_t *rolled, reconcile_t *reconcile);

/* --- segments against records ------------------------------------------ */

/* One segment with what the nodes saw of it (NULL: nothing). `watched`: all its
 * nodes have recorded other jobs before and after it. `shared`: the GPUs that
 * its shards or MPS are, where it holds such; a node shows the GPU as a whole,
 * and is their even part. 0 for all others, and where nobody knows. In the
 * order (id_job, time_submit), cluster by cluster: segments of one JobId must
 * not overlap. */
void reconcile_evidence (reconcile_t *reconcile,
                         const reconcile_cluster_t *cluster,
                         const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const segment_evidence_t *evidence, bool watched,
                         fraction_t shared, unsigned revised);
/* One segment whose GRES accounting has lost (segment_t.gres_lost). */
void reconcile_gres_lost (reconcile_t *reconcile,
                          const reconcile_cluster_t *cluster,
                          const segment_t *segment);
/* A node's attempt of a job that has no segment. */
void reconcile_unmatched (reconcile_t *reconcile,
                          const reconcile_cluster_t *cluster, const char *node,
                          uint64_t id_job, int64_t stamp,
                          evidence_reason_t reason);

/* --- rollups against segments ------------------------------------------ */

/* One day or month. `kept` and `fresh` in device-seconds, `same`: every byte.
 */
void reconcile_rollup (reconcile_t *reconcile, const char *cluster,
                       const char *span, bool is_day, unsigned __int128 kept,
                       unsigned __int128 fresh, bool same);

/* "-123" of 128 bits; at most RECONCILE_NUMBER bytes with the NUL. */
#define RECONCILE_NUMBER 48
const char *reconcile_number (__int128 value, char buf[RECONCILE_NUMBER]);

#endif /* !GL_EVIDENCE_RECONCILE_H */
