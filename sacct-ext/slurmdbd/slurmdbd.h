/*
 * slurmdbd.h: reads the facts out of slurmdbd's MariaDB or MySQL database.
 *
 * Everything is read in one read-only snapshot, streaming, in constant memory:
 * memory follows the number of associations and TRES, not that of jobs.
 * Nothing is locked and nothing is written. Job rows are asked for in bounded
 * pieces, along the row key or the index on time_end, so that a server or a
 * replica that others use is never busy with one query for long.
 *
 * The schema is probed column by column, never guessed from a version: Slurm
 * 20.11 to 26.05 differ in what a job row holds. A column that only some of
 * them have reads as "not known" in the others.
 *
 * What is never read, because nobody can bill from it: usage tables (rolled up
 * by rules of their own; slurmdbd_usage.h reads them to compare), `billing`
 * (truncated weights) and step rows (they overlap).
 *
 * Names: clusters come from cluster_table, deleted ones included, and table
 * names are made of them and quoted. Users come from the association of the
 * job and QOS, reservations and TRES from their tables, each with the rows
 * that slurmdbd has marked as deleted, because old jobs still refer to them.
 *
 * One snapshot, and all that hangs on it, belongs to one thread.
 */
#ifndef GL_SLURMDBD_H
#define GL_SLURMDBD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "site/segment.h"

typedef struct slurmdbd slurmdbd_t;

/* Connect to a mysql:// URL (store/db.h) and begin the snapshot. */
slurmdbd_t *slurmdbd_open (const char *url, gl_error_t *error);
/* Accepts NULL. Close its clusters first. */
void slurmdbd_close (slurmdbd_t *dbd);

/* The database's clock when the snapshot began, seconds since 1970 UTC. */
int64_t slurmdbd_clock (const slurmdbd_t *dbd);

/* The clusters of the database, sorted by name; borrowed. */
typedef struct {
    char *name;
    bool deleted; /* its tables may be gone */
} slurmdbd_name_t;
const slurmdbd_name_t *slurmdbd_names (const slurmdbd_t *dbd,
                                       size_t *ret_count);

/* One cluster with its dictionaries. `as_of` becomes the observed_at of its
 * segments. The error names the clusters that there are. */
typedef struct slurmdbd_cluster slurmdbd_cluster_t;
slurmdbd_cluster_t *slurmdbd_cluster_open (slurmdbd_t *dbd, const char *name,
                                           int64_t as_of, gl_error_t *error);
/* Accepts NULL. */
void slurmdbd_cluster_close (slurmdbd_cluster_t *cluster);

/* The latest time that a job row or a node event has, up to `until`; 0: none. */
int slurmdbd_newest (slurmdbd_cluster_t *cluster, int64_t until,
                     int64_t *ret_newest, gl_error_t *error);
/* Up to when slurmdbd counted usage, which it does every hour while it runs; 0: not
 * known. */
int64_t slurmdbd_rolled_until (slurmdbd_cluster_t *cluster, int64_t until);

/* Which job rows. */
typedef enum {
    SLURMDBD_ROWS_ALL,
    SLURMDBD_ROWS_OPEN,    /* without an end */
    SLURMDBD_ROWS_ENDED,   /* that ended in [from, to); to 0: or later */
    SLURMDBD_ROWS_OF_JOBS, /* of these job ids: a thousand or so */
} slurmdbd_rows_t;
typedef struct {
    slurmdbd_rows_t rows;
    int64_t from; /* above 0 */
    int64_t to;
    const uint64_t *ids;
    size_t id_count;
    bool again; /* they have been read before: note nothing */
} slurmdbd_window_t;
#define SLURMDBD_ALL ((slurmdbd_window_t){.rows = SLURMDBD_ROWS_ALL})

/* About how many job rows there are: a look at an index or at the server's
 * statistics, for a progress bar. */
int slurmdbd_estimate (slurmdbd_cluster_t *cluster, slurmdbd_window_t window,
                       uint64_t *ret_rows, gl_error_t *error);

/*
 * Hand over the rows one by one. What a callback gets is borrowed until it
 * returns; its -1 ends the reading and becomes the result. A callback must not
 * read from the same slurmdbd_t.
 */
typedef int (*slurmdbd_segment_f) (const segment_t *segment, void *arg,
                                   gl_error_t *error);
int slurmdbd_segments (slurmdbd_cluster_t *cluster, slurmdbd_window_t window,
                       slurmdbd_segment_f fn, void *arg, gl_error_t *error);

/* Of the segments that the same window gives; here it is one query. */
typedef int (*slurmdbd_suspension_f) (const suspension_t *suspension, void *arg,
                                      gl_error_t *error);
int slurmdbd_suspensions (slurmdbd_cluster_t *cluster, slurmdbd_window_t window,
                          slurmdbd_suspension_f fn, void *arg,
                          gl_error_t *error);

/* Registrations of the cluster and outages of nodes: those that are open, ended
 * after `since` (0: all), or began at one of `starts`. */
typedef struct {
    int64_t since;
    const int64_t *starts;
    size_t start_count;
} slurmdbd_events_t;
typedef int (*slurmdbd_event_f) (const node_event_t *event, void *arg,
                                 gl_error_t *error);
int slurmdbd_events (slurmdbd_cluster_t *cluster,
                     const slurmdbd_events_t *which, slurmdbd_event_f fn,
                     void *arg, gl_error_t *error);

/* All reservations that have begun: until then slurmdbd moves or forgets them
 * without a trace. */
typedef int (*slurmdbd_reservation_f) (const reservation_t *reservation,
                                       void *arg, gl_error_t *error);
int slurmdbd_reservations (slurmdbd_cluster_t *cluster,
                           slurmdbd_reservation_f fn, void *arg,
                           gl_error_t *error);

/* The account tree; parent NULL for the root. Of an account that was deleted
 * and made again the living one comes last. */
typedef int (*slurmdbd_account_f) (const char *account, const char *parent,
                                   void *arg, gl_error_t *error);
int slurmdbd_accounts (slurmdbd_cluster_t *cluster, slurmdbd_account_f fn,
                       void *arg, gl_error_t *error);

/* What a person should look at, since the cluster was opened: how often, and
 * the first job that it was seen at. */
typedef struct {
    uint64_t count;
    uint64_t id_job;
} slurmdbd_note_t;
typedef struct {
    slurmdbd_note_t deleted;    /* row marked deleted: a purge is going on */
    slurmdbd_note_t unresolved; /* a TRES id that tres_table does not know */
    slurmdbd_note_t unreadable; /* TRES text that cannot be read: taken as "a
                                   GPU was asked for, number unknown" */
    slurmdbd_note_t contradicting; /* more GPUs by type than in total: the types
                                      are counted */
    slurmdbd_note_t reversed;   /* an end before the start: taken as no time, at
                                   the end */
    slurmdbd_note_t impossible; /* no job id, or an instant after 2099: the row is
                                   left out */
} slurmdbd_notes_t;
const slurmdbd_notes_t *slurmdbd_notes (const slurmdbd_cluster_t *cluster);
/* For a reading that starts over. */
void slurmdbd_forget_notes (slurmdbd_cluster_t *cluster);

#endif /* !GL_SLURMDBD_H */
