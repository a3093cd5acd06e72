/*
 * sync.h: what slurmdbd's database says of a cluster, into the store.
 *
 * Incremental: rows that are open, rows that ended since the newest end of the
 * last reading minus a look-back, and what the store still has as open. All of
 * a cluster arrives in one transaction of the store, or nothing does; a second
 * run changes nothing but as-of.
 *
 * The look-back is read every time. Where its rows are just as they were they
 * are not put again (sync_digest.h), so that an hourly run costs little more
 * than the reading. Rows that slurmdbd does not have any more are looked for
 * where it was read: in the look-back, everywhere by a full run.
 */
#ifndef GL_SYNC_H
#define GL_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "slurmdbd/slurmdbd.h"
#include "store/store.h"

/* Numbers that the store keeps (store_get_mark()): as-of of the last run, and of
 * the last one that read all rows; the newest end that any run has seen. */
#define SYNC_MARK "sync"
#define SYNC_MARK_FULL "sync-full"
#define SYNC_MARK_END "sync-end"

/* How far behind the newest end of the last reading an incremental one begins.
 * slurmctld keeps messages while slurmdbd is down and delivers them in their
 * order, days late: until then no end is newer than the outage. */
#define SYNC_LOOK_BACK_DAYS 2

typedef struct {
    bool full;         /* all rows, however old */
    int64_t look_back; /* seconds */
    int64_t as_of;     /* 0: the database's clock */
    int64_t now;       /* the clock of this host */
    const zone_t *zone; /* of error messages */
    /* Any as-of will do; with `full` one before the store's sets the cluster back
     * (store_set_back()), but not into closed months. */
    bool force;
    int64_t closed_until; /* 0: no month is closed */
    /* called for each row with their number so far, and about how many there
     * are, 0: not known; may be NULL */
    void (*progress) (uint64_t rows, uint64_t total, void *arg);
    void *progress_arg;
} sync_options_t;

typedef struct {
    int64_t as_of;
    store_counts_t segments;
    store_counts_t suspensions;
    store_counts_t events;
    store_counts_t reservations;
    store_counts_t accounts;
    char moved[64]; /* the first account with another parent than before, as far as
                       it fits; "": none */
    slurmdbd_notes_t notes;
    uint64_t gone; /* that the database does not have any more, noted now */
    bool full;     /* all rows were read */
    int64_t known_as_of; /* what the store knew of before; 0: nothing */
    bool set_back; /* from there */
} sync_result_t;

int sync_cluster (store_t *store, slurmdbd_t *dbd, const char *cluster,
                  const sync_options_t *options, sync_result_t *ret_result,
                  gl_error_t *error);

#endif /* !GL_SYNC_H */
