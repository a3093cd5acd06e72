/*
 * sync.h: what slurmdbd's database says of a cluster, into the store.
 *
 * Incremental: rows that are open, rows that ended since the last reading minus
 * a look-back, and what the store still has as open. All of a cluster arrives
 * in one transaction of the store, or nothing does; a second run changes
 * nothing but as-of.
 */
#ifndef GL_SYNC_H
#define GL_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "slurmdbd.h"
#include "store/store.h"

/* How far behind the last reading an incremental one begins: slurmctld keeps
 * messages while slurmdbd is down and delivers ends days late. */
#define SYNC_LOOK_BACK_DAYS 7

typedef struct {
    bool full;         /* all rows, however old */
    int64_t look_back; /* seconds */
    int64_t as_of;     /* 0: the database's clock */
    /* called for each segment with their number so far; may be NULL */
    void (*progress) (uint64_t segments, void *arg);
    void *progress_arg;
} sync_options_t;

typedef struct {
    int64_t as_of;
    store_counts_t segments;
    store_counts_t suspensions;
    store_counts_t events;
    store_counts_t reservations;
    store_counts_t accounts;
    slurmdbd_notes_t notes;
    size_t gone; /* the store has them as open, the database has no such row */
} sync_result_t;

int sync_cluster (store_t *store, slurmdbd_t *dbd, const char *cluster,
                  const sync_options_t *options, sync_result_t *ret_result,
                  gl_error_t *error);

#endif /* !GL_SYNC_H */
