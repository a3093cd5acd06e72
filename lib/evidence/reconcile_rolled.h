/*
 * reconcile_rolled.h: shared by the files that compare with slurmdbd's usage tables:
 *
 *   reconcile_usage.c     hours, cells, segments, and what is left over
 *   reconcile_reserved.c  reservations, which slurmdbd rolls up apart
 *
 * Amounts are device-seconds, of hours that were rolled up alone. Nothing here
 * fails.
 */
#ifndef GL_EVIDENCE_RECONCILE_ROLLED_H
#define GL_EVIDENCE_RECONCILE_ROLLED_H

#include <uthash.h>

#include "evidence/reconcile_private.h"
#include "gres/nodelist.h"

#define HOUR INT64_C (3600)
/* Slurm's "no value" of a TRES count, and what is above it. */
#define TRES_NO_VALUE UINT64_C (0xfffffffffffffffd)

typedef unsigned __int128 amount_t;

/* An association's account and user, or the cluster (both ""). */
struct cell {
    char *key; /* account, \001, user */
    char *who; /* for people */
    amount_t ours;
    amount_t theirs;
    amount_t expected; /* by slurmdbd's rules, of the rows as they are now */
    amount_t left_alone;
    bool voids;       /* rows without a count are among them */
    uint64_t wrapped; /* what these come to, modulo 2^64 */
    amount_t changed; /* what rows that changed since the rolling may move */
    __int128 moved[CAUSE_COUNT]; /* expected - ours, by cause */
    UT_hash_handle hh;
};

struct association {
    uint64_t id;
    struct cell *cell;
    UT_hash_handle hh;
};

struct tres_count {
    uint64_t id;
    uint64_t count;
};

struct reservation {
    uint64_t id;
    int64_t start, end;
    nodelist_t *nodes;
    uint64_t flags;
    uint64_t *associations;
    size_t association_count;
    struct tres_count *tres;
    size_t tres_count;
    size_t first; /* hour */
    size_t hours;
    uint64_t *used; /* by hour, by TRES: seconds x the reservation's count */
    uint64_t *lost; /* likewise: to outages */
};

struct rolled {
    const reconcile_cluster_t *cluster;
    int64_t base;    /* the first whole hour of the period */
    size_t hours;    /* whole ones */
    bool *done;      /* rolled, by hour */
    int64_t *when;   /* last, by hour; 0: not known */
    int64_t *before; /* rolled seconds before each hour; made when first asked
                        for */
    bool any;
    struct cell *cells;
    struct cell whole; /* the cluster */
    bool whole_known;
    bool full;        /* all of its GPUs were in use in some hour */
    amount_t outside; /* ours, in hours that were not rolled */
    struct association *associations;
    struct reservation *reservation;
    size_t reservation_count;
    uint64_t gpu;
};

/* ---- reconcile_usage.c ---- */

/* The hour of that instant; `hours` or more: none of the period's. */
size_t rolled_hour_of (const rolled_t *r, int64_t instant);
/* Seconds of [start, end) within that hour of the period. */
int64_t rolled_in_hour (const rolled_t *r, size_t hour, int64_t start,
                        int64_t end);
/* What `devices` come to from start to end. */
amount_t rolled_held (rolled_t *r, uint64_t devices, int64_t start,
                      int64_t end);

/* ---- reconcile_reserved.c ---- */

void reserved_clear (struct reservation *v);
/* Counts what a job, with its TRES as slurmdbd writes them, uses of its reservation.
 * Returns the cluster's part of the job: none but where the reservation lets other
 * jobs be. */
amount_t reserved_use (rolled_t *r, const job_row_t *row, int64_t start,
                       int64_t end, const char *tres);
/* After the last job: what reservations had, and left unused, is moved to its
 * causes. */
void reserved_finish (rolled_t *r);

#endif /* !GL_EVIDENCE_RECONCILE_ROLLED_H */
