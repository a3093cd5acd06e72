#include <string.h>

#include "base/memory.h"
#include "sync.h"
#include "sync_open.h"

/* Where the last reading of a cluster stood. */
#define MARK "sync"
/* Job ids in one query; each costs some 11 bytes of it. */
#define IDS_PER_QUERY 1000

/* The reading of one cluster. */
struct sync {
    store_t *store;
    const sync_options_t *options;
    const char *name;
    slurmdbd_cluster_t *from;
    slurmdbd_window_t window;
    sync_open_t *open;
    int64_t *starts; /* of events that the store has as open */
    sync_result_t *result;
    uint64_t rows;
};

static int put_segment (const segment_t *segment, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;

    sync->rows++;
    if (sync->options->progress)
        sync->options->progress (sync->rows, sync->options->progress_arg);
    sync_open_seen (sync->open, segment->id_job, segment->time_submit);
    return store_put_segment (sync->store, segment, &sync->result->segments,
                              error);
}

static int put_suspension (const suspension_t *suspension, void *arg,
                           gl_error_t *error)
{
    struct sync *sync = arg;

    return store_put_suspension (sync->store, suspension,
                                 &sync->result->suspensions, error);
}

static int put_event (const node_event_t *event, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;

    return store_put_event (sync->store, event, sync->result->as_of,
                            &sync->result->events, error);
}

static int put_reservation (const reservation_t *reservation, void *arg,
                            gl_error_t *error)
{
    struct sync *sync = arg;

    return store_put_reservation (sync->store, reservation, sync->result->as_of,
                                  &sync->result->reservations, error);
}

static int put_account (const char *account, const char *parent, void *arg,
                        gl_error_t *error)
{
    struct sync *sync = arg;
    store_account_t fact = {sync->name, account, parent};

    return store_put_account (sync->store, &fact, sync->result->as_of,
                              &sync->result->accounts, error);
}

static int read_jobs (struct sync *sync, slurmdbd_window_t window,
                      gl_error_t *error)
{
    if (slurmdbd_segments (sync->from, window, put_segment, sync, error) < 0)
        return -1;
    return slurmdbd_suspensions (sync->from, window, put_suspension, sync,
                                 error);
}

/* What the store has open and the window did not show has ended long ago: by
 * "fix runaway", or by a message that came late. */
static int read_left_open (struct sync *sync, gl_error_t *error)
{
    uint64_t ids[IDS_PER_QUERY];
    slurmdbd_window_t window = {.ids = ids};
    size_t at = 0;

    while ((window.id_count
            = sync_open_unseen (sync->open, &at, ids, IDS_PER_QUERY))
           > 0) {
        if (read_jobs (sync, window, error) < 0)
            return -1;
    }
    return 0;
}

static void start_over (struct sync *sync)
{
    *sync->result = (sync_result_t){.as_of = sync->result->as_of};
    sync->rows = 0;
    sync_open_rewind (sync->open);
    slurmdbd_forget_notes (sync->from);
}

/* All of it; the store may want it run again. */
static int transfer (store_t *store, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;

    start_over (sync);
    if (read_jobs (sync, sync->window, error) < 0
        || read_left_open (sync, error) < 0
        || slurmdbd_events (sync->from, sync->window, put_event, sync, error)
               < 0
        || slurmdbd_reservations (sync->from, put_reservation, sync, error) < 0
        || slurmdbd_accounts (sync->from, put_account, sync, error) < 0
        || store_put_mark (store, sync->name, MARK, sync->result->as_of, error)
               < 0)
        return -1;
    return store_put_as_of (store, sync->name, sync->result->as_of, error);
}

/* The starts of the events that were open at `last`. */
static int find_open_events (struct sync *sync, int64_t last, gl_error_t *error)
{
    store_query_t query = {
        .cluster = sync->name,
        .start = last - 1,
        .end = last,
    };
    store_event_iter_t *iter
        = store_event_iter_open (sync->store, &query, error);
    node_event_t event;
    int rc;

    if (!iter)
        return -1;
    while ((rc = store_event_iter_next (iter, &event, error)) == 1) {
        if (event.end != 0)
            continue;
        sync->starts = xreallocarray (
            sync->starts, sync->window.start_count + 1, sizeof (*sync->starts));
        sync->starts[sync->window.start_count++] = event.start;
    }
    store_event_iter_close (iter);
    sync->window.starts = sync->starts;
    return rc;
}

static int find_window (struct sync *sync, gl_error_t *error)
{
    int64_t last;

    sync->window = SLURMDBD_ALL;
    if (store_get_mark (sync->store, sync->name, MARK, &last, error) < 0)
        return -1;
    if (sync->options->full || last <= sync->options->look_back)
        return 0;
    sync->window.since = last - sync->options->look_back;
    return find_open_events (sync, last, error);
}

static int run (struct sync *sync, slurmdbd_t *dbd, gl_error_t *error)
{
    sync->from
        = slurmdbd_cluster_open (dbd, sync->name, sync->result->as_of, error);
    if (!sync->from || find_window (sync, error) < 0)
        return -1;
    sync->open = sync_open_load (sync->store, sync->name, error);
    if (!sync->open)
        return -1;
    if (store_transaction (sync->store, transfer, sync, error) < 0)
        return -1;
    sync->result->notes = *slurmdbd_notes (sync->from);
    sync->result->gone = sync_open_count (sync->open);
    return 0;
}

int sync_cluster (store_t *store, slurmdbd_t *dbd, const char *cluster,
                  const sync_options_t *options, sync_result_t *ret_result,
                  gl_error_t *error)
{
    sync_result_t result = {
        .as_of = options->as_of ? options->as_of : slurmdbd_clock (dbd),
    };
    struct sync sync = {
        .store = store,
        .options = options,
        .name = cluster,
        .result = &result,
    };
    int rc = run (&sync, dbd, error);

    sync_open_free (sync.open);
    free (sync.starts);
    slurmdbd_cluster_close (sync.from);
    if (rc == 0)
        *ret_result = result;
    return rc;
}
