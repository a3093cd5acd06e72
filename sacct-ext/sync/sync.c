#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/as_of.h"
#include "sync/sync.h"
#include "sync/sync_open.h"
#include "sync/sync_digest.h"

/* Job ids in one query; each costs some 11 bytes of it. */
#define IDS_PER_QUERY 1000

/* The reading of one cluster. */
struct sync {
    store_t *store;
    const sync_options_t *options;
    const char *name;
    slurmdbd_cluster_t *from;
    int64_t last;  /* as-of of the last reading; 0: none */
    int64_t newest; /* end that any reading has seen; 0: none */
    int64_t since; /* what ended before is not looked at; 0: all is */
    sync_open_t *open;
    slurmdbd_events_t events;
    int64_t *starts; /* of events that the store has as open */
    /* what the last reading saw in the stretches of the look-back; what this
     * one sees */
    store_digest_t *before;
    size_t before_count;
    int64_t before_as_of;
    int64_t known_as_of; /* no source has spoken of a later moment */
    sync_digest_t *seen;
    sync_result_t *result;
    uint64_t rows;
    uint64_t total; /* about; 0: not asked for */
};

static void count_row (struct sync *sync)
{
    sync->rows++;
    if (sync->options->progress)
        sync->options->progress (sync->rows, sync->total,
                                 sync->options->progress_arg);
}

static int put (struct sync *sync, const segment_t *segment, bool *ret_fresh,
                gl_error_t *error)
{
    uint64_t inserted = sync->result->segments.inserted;
    bool open
        = sync_open_seen (sync->open, segment->id_job, segment->time_submit);

    if (store_put_segment (sync->store, segment, &sync->result->segments, error)
        < 0)
        return -1;
    *ret_fresh = open || sync->result->segments.inserted > inserted;
    return 0;
}

/* A row that may stay where it is, should all around it be as it was. */
static int check_segment (const segment_t *segment, void *arg,
                          gl_error_t *error)
{
    struct sync *sync = arg;

    (void)error;
    count_row (sync);
    if (segment->time_end > sync->newest
        && segment->time_end <= sync->result->as_of)
        sync->newest = segment->time_end;
    sync_digest_add (sync->seen, segment);
    return 0;
}

/* One that has been checked. */
static int put_checked (const segment_t *segment, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;
    bool fresh;

    if (put (sync, segment, &fresh, error) < 0)
        return -1;
    if (fresh)
        sync_digest_fresh (sync->seen, segment);
    return 0;
}

static int put_segment (const segment_t *segment, void *arg, gl_error_t *error)
{
    if (check_segment (segment, arg, error) < 0)
        return -1;
    return put_checked (segment, arg, error);
}

/* One that was looked for by its id. */
static int put_found (const segment_t *segment, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;
    bool fresh;

    return put (sync, segment, &fresh, error);
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
    sync_result_t *result = sync->result;
    store_account_t fact = {sync->name, account, parent};
    uint64_t changed = result->accounts.changed;

    if (store_put_account (sync->store, &fact, result->as_of, &result->accounts,
                           error)
        < 0)
        return -1;
    if (result->accounts.changed > changed && !result->moved[0])
        snprintf (result->moved, sizeof (result->moved), "%s", account);
    return 0;
}

static slurmdbd_window_t ended (int64_t from, int64_t to)
{
    return (slurmdbd_window_t){SLURMDBD_ROWS_ENDED, .from = from, .to = to};
}

/* --- the look-back, where the last reading left its sums ----------------- */

static int64_t before_start (const struct sync *sync)
{
    return sync->before[0].start;
}

static int64_t before_end (const struct sync *sync)
{
    return sync->before[sync->before_count - 1].end;
}

/* The first stretch that the next reading will want to know of. */
static int64_t remember_from (const struct sync *sync)
{
    int64_t from = sync->result->as_of - sync->options->look_back;

    return from > 0 ? from - from % SYNC_SEEN_SECONDS : 0;
}

static const store_digest_t *before_at (const struct sync *sync, int64_t start)
{
    size_t low = 0, high = sync->before_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sync->before[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < sync->before_count && sync->before[low].start == start)
        return &sync->before[low];
    return NULL;
}

/* Rows of a stretch that leaves the look-back are put a last time, so that they
 * say themselves when they were seen. */
static bool stays (const struct sync *sync, int64_t start)
{
    const store_digest_t *before = before_at (sync, start);

    return before && start >= remember_from (sync)
           && sync_digest_same (sync->seen, before);
}

/* Put what is not as it was, run by run. */
static int put_stretches (struct sync *sync, gl_error_t *error)
{
    int64_t end = before_end (sync);
    int64_t at = before_start (sync), run = at;

    for (; at < end; at += SYNC_SEEN_SECONDS) {
        slurmdbd_window_t window = ended (run, at);
        if (!stays (sync, at))
            continue;
        sync->result->segments.unchanged
            += sync_digest_of (sync->seen, at).segments;
        window.again = true;
        if (run < at
            && slurmdbd_segments (sync->from, window, put_checked, sync, error)
                   < 0)
            return -1;
        run = at + SYNC_SEEN_SECONDS;
    }
    if (run >= end)
        return 0;
    return slurmdbd_segments (sync->from,
                              (slurmdbd_window_t){SLURMDBD_ROWS_ENDED,
                                                  .from = run, .to = end,
                                                  .again = true},
                              put_checked, sync, error);
}

static int read_look_back (struct sync *sync, gl_error_t *error)
{
    int64_t from = sync->since;

    if (sync->before_count) {
        from = before_end (sync);
        if (sync->since < before_start (sync)
            && slurmdbd_segments (sync->from,
                                  ended (sync->since, before_start (sync)),
                                  put_segment, sync, error)
                   < 0)
            return -1;
        if (slurmdbd_segments (sync->from, ended (before_start (sync), from),
                               check_segment, sync, error)
                < 0
            || put_stretches (sync, error) < 0)
            return -1;
    }
    return slurmdbd_segments (sync->from, ended (from, 0), put_segment, sync,
                              error);
}

/* For the next reading. Where another source has spoken of this moment, only
 * what nobody touched is sure to be as slurmdbd has it; of a later one,
 * nothing. */
static int remember (struct sync *sync, gl_error_t *error)
{
    int64_t as_of = sync->result->as_of;
    int64_t at = sync_digest_start (sync->seen);
    store_digest_t *seen = xreallocarray (NULL, SYNC_SEEN_MAX, sizeof (*seen));
    size_t count = 0;
    int rc;

    if (at < remember_from (sync))
        at = remember_from (sync);
    for (; as_of >= sync->known_as_of && at < sync_digest_end (sync->seen);
         at += SYNC_SEEN_SECONDS) {
        if (as_of > sync->known_as_of
            || (as_of == sync->before_as_of && stays (sync, at)))
            seen[count++] = sync_digest_of (sync->seen, at);
    }
    rc = store_put_digest (sync->store, sync->name, as_of, seen, count, error);
    free (seen);
    return rc;
}

/* --- the jobs ------------------------------------------------------------ */

static int find_by_id (struct sync *sync, const uint64_t *ids, size_t count,
                       gl_error_t *error)
{
    slurmdbd_window_t window
        = {SLURMDBD_ROWS_OF_JOBS, .ids = ids, .id_count = count};

    if (slurmdbd_segments (sync->from, window, put_found, sync, error) < 0)
        return -1;
    return slurmdbd_suspensions (sync->from, window, put_suspension, sync,
                                 error);
}

/* What the store has open and the window did not show has ended long ago: by
 * "fix runaway", or by a message that came late. */
static int read_left_open (struct sync *sync, gl_error_t *error)
{
    uint64_t ids[IDS_PER_QUERY];
    size_t at = 0, count;

    while ((count = sync_open_unseen (sync->open, &at, ids, IDS_PER_QUERY))
           > 0) {
        if (find_by_id (sync, ids, count, error) < 0)
            return -1;
    }
    return 0;
}

static int read_suspensions (struct sync *sync, slurmdbd_window_t window,
                             gl_error_t *error)
{
    return slurmdbd_suspensions (sync->from, window, put_suspension, sync,
                                 error);
}

static int read_jobs (struct sync *sync, gl_error_t *error)
{
    slurmdbd_window_t open = {.rows = SLURMDBD_ROWS_OPEN};

    if (sync->since == 0) {
        if (slurmdbd_segments (sync->from, SLURMDBD_ALL, put_segment, sync,
                               error)
            < 0)
            return -1;
        return read_suspensions (sync, SLURMDBD_ALL, error);
    }
    if (read_look_back (sync, error) < 0
        || slurmdbd_segments (sync->from, open, put_segment, sync, error) < 0
        || read_left_open (sync, error) < 0
        || read_suspensions (sync, open, error) < 0)
        return -1;
    return read_suspensions (sync, ended (sync->since, 0), error);
}

/* --- what vanished ------------------------------------------------------- */

/* Those that ended in [from, to) and that this reading did not show may have
 * another end now. */
static int find_elsewhere (struct sync *sync, int64_t from, int64_t to,
                           gl_error_t *error)
{
    uint64_t ids[IDS_PER_QUERY], at = 0;
    size_t count;

    do {
        if (store_unseen (sync->store, sync->name, from, to,
                          sync->result->as_of, &at, ids, IDS_PER_QUERY, &count,
                          error)
                < 0
            || (count && find_by_id (sync, ids, count, error) < 0))
            return -1;
    } while (count == IDS_PER_QUERY);
    return 0;
}

/* The rest of them is not there any more. */
static int miss (struct sync *sync, int64_t from, int64_t to, gl_error_t *error)
{
    uint64_t gone = 0;

    if ((sync->since && find_elsewhere (sync, from, to, error) < 0)
        || store_put_deleted (sync->store, sync->name, from, to,
                              sync->result->as_of, &gone, error)
               < 0)
        return -1;
    sync->result->gone += gone;
    return 0;
}

/* Looking through the store costs more than reading the rows did, so only where
 * the sums do not say that all keys are still there. */
static bool may_miss (const struct sync *sync, int64_t start)
{
    const store_digest_t *before = before_at (sync, start);

    return start < sync->last
           && !(before && sync_digest_kept (sync->seen, before));
}

static int miss_in_look_back (struct sync *sync, gl_error_t *error)
{
    int64_t end = sync_digest_end (sync->seen);
    int64_t at = sync_digest_start (sync->seen), run = at;

    if (sync->since < at && miss (sync, sync->since, at, error) < 0)
        return -1;
    for (; at <= end; at += SYNC_SEEN_SECONDS) {
        if (at < end && may_miss (sync, at))
            continue;
        if (run < at && miss (sync, run, at, error) < 0)
            return -1;
        run = at + SYNC_SEEN_SECONDS;
    }
    return 0;
}

static int find_missing (struct sync *sync, gl_error_t *error)
{
    if (sync->last == 0)
        return 0;
    if (sync->since == 0)
        return miss (sync, 0, 0, error);
    if (sync_open_count (sync->open) && miss (sync, 0, 1, error) < 0)
        return -1;
    return miss_in_look_back (sync, error);
}

/* --- the cluster --------------------------------------------------------- */

static int read_before (struct sync *sync, gl_error_t *error)
{
    free (sync->before);
    sync->before = NULL;
    if (store_as_of (sync->store, sync->name, &sync->known_as_of, error) < 0)
        return -1;
    /* an older copy of the database has no say in what is seen now */
    if (sync->result->as_of < sync->known_as_of
        && store_settle_digest (sync->store, sync->name, error) < 0)
        return -1;
    return store_get_digest (sync->store, sync->name, &sync->before_as_of,
                             &sync->before, &sync->before_count, error);
}

/* A full reading says anew what slurmdbd said as of the same moment; --force takes
 * back what was learned of later ones. */
static int set_back (struct sync *sync, gl_error_t *error)
{
    const sync_options_t *options = sync->options;
    int64_t as_of = sync->result->as_of, known;
    char from[ZONE_STAMP_SIZE], to[ZONE_STAMP_SIZE];

    if (store_as_of (sync->store, sync->name, &known, error) < 0)
        return -1;
    sync->result->known_as_of = known;
    if (!options->full || known < as_of || (known > as_of && !options->force))
        return 0;
    if (known > as_of && as_of < options->closed_until)
        return gl_error (error,
                         "the store knows of %s and cannot be set back to %s: a "
                         "month that ends later is closed; give an --as-of after "
                         "it, or open the month again (gpuledger reopen)",
                         zone_stamp (options->zone, known, from),
                         zone_stamp (options->zone, as_of, to));
    sync->result->set_back = known > as_of;
    return store_set_back (sync->store, sync->name, as_of, error);
}

static int start_over (struct sync *sync, gl_error_t *error)
{
    int64_t from = sync->since ? sync->since : remember_from (sync);

    *sync->result = (sync_result_t){.as_of = sync->result->as_of};
    sync->rows = 0;
    sync_open_rewind (sync->open);
    slurmdbd_forget_notes (sync->from);
    if (set_back (sync, error) < 0 || read_before (sync, error) < 0)
        return -1;
    if (sync->since && sync->before_count && before_start (sync) < from)
        from = before_start (sync);
    sync_digest_free (sync->seen);
    sync->seen = sync_digest_new (from, sync->result->as_of + 1);
    return 0;
}

static int put_marks (struct sync *sync, gl_error_t *error)
{
    int64_t as_of = sync->result->as_of;

    if (sync->since == 0
        && store_put_mark (sync->store, sync->name, SYNC_MARK_FULL, as_of,
                           error)
               < 0)
        return -1;
    if (store_put_mark (sync->store, sync->name, SYNC_MARK, as_of, error) < 0
        || store_put_mark (sync->store, sync->name, SYNC_MARK_END, sync->newest,
                           error)
               < 0)
        return -1;
    return store_put_as_of (sync->store, sync->name, as_of, error);
}

/* All of it; the store may want it run again. */
static int transfer (store_t *store, void *arg, gl_error_t *error)
{
    struct sync *sync = arg;

    (void)store;
    if (start_over (sync, error) < 0 || read_jobs (sync, error) < 0
        || find_missing (sync, error) < 0
        || slurmdbd_events (sync->from, &sync->events, put_event, sync, error)
               < 0
        || slurmdbd_reservations (sync->from, put_reservation, sync, error) < 0
        || slurmdbd_accounts (sync->from, put_account, sync, error) < 0
        || remember (sync, error) < 0)
        return -1;
    return put_marks (sync, error);
}

/* The starts of the events that were open at `last`. */
static int find_open_events (struct sync *sync, int64_t last, gl_error_t *error)
{
    store_query_t query = {
        .cluster = sync->name,
        .start = last - 1,
        .end = last,
    };
    store_iter_t *iter
        = store_iter_open (sync->store, STORE_EVENTS, &query, error);
    node_event_t event;
    int rc;

    if (!iter)
        return -1;
    while ((rc = store_iter_next (iter, &event, error)) == 1) {
        if (event.end != 0)
            continue;
        *GL_APPEND (sync->starts, sync->events.start_count) = event.start;
    }
    store_iter_close (iter);
    sync->events.starts = sync->starts;
    return rc;
}

/* The look-back reaches from the newest end: while slurmdbd does not hear of
 * ends there are none, however long that takes. */
static int find_window (struct sync *sync, gl_error_t *error)
{
    if (store_get_mark (sync->store, sync->name, SYNC_MARK, &sync->last, error)
            < 0
        || store_get_mark (sync->store, sync->name, SYNC_MARK_END,
                           &sync->newest, error)
               < 0)
        return -1;
    /* a reading of a later moment, which is being taken back */
    if (sync->newest > sync->result->as_of)
        sync->newest = 0;
    sync->since = sync->newest && sync->newest < sync->last ? sync->newest
                                                            : sync->last;
    sync->since -= sync->options->look_back;
    if (sync->last == 0 || sync->options->full
        || sync->since < SYNC_SEEN_SECONDS) {
        sync->since = 0;
        return 0;
    }
    sync->events.since = sync->since;
    sync->since -= sync->since % SYNC_SEEN_SECONDS;
    return find_open_events (sync, sync->last, error);
}

/* Only for whom is shown how far it is. */
static int find_total (struct sync *sync, gl_error_t *error)
{
    uint64_t open = 0;

    if (!sync->options->progress)
        return 0;
    if (sync->since == 0)
        return slurmdbd_estimate (sync->from, SLURMDBD_ALL, &sync->total,
                                  error);
    if (slurmdbd_estimate (sync->from, (slurmdbd_window_t){.rows = SLURMDBD_ROWS_OPEN},
                           &open, error)
            < 0
        || slurmdbd_estimate (sync->from, ended (sync->since, 0), &sync->total,
                              error)
               < 0)
        return -1;
    sync->total += open;
    return 0;
}

static int check_as_of (struct sync *sync, gl_error_t *error)
{
    const sync_options_t *options = sync->options;
    as_of_t as_of = {.as_of = sync->result->as_of,
                     .said_by = options->as_of
                                    ? "--as-of"
                                    : "the clock of slurmdbd's database",
                     .now = options->now,
                     .source = "slurmdbd's database",
                     .zone = options->zone};
    int64_t rolled;

    if (options->force)
        return 0;
    if (slurmdbd_newest (sync->from, options->now + AS_OF_SKEW, &as_of.newest,
                         error)
        < 0)
        return -1;
    if (!options->as_of) {
        rolled = slurmdbd_rolled_until (sync->from, options->now + AS_OF_SKEW);
        if (rolled > as_of.newest)
            as_of.newest = rolled;
    }
    return as_of_check (&as_of, error);
}

static int run (struct sync *sync, slurmdbd_t *dbd, gl_error_t *error)
{
    sync->from
        = slurmdbd_cluster_open (dbd, sync->name, sync->result->as_of, error);
    if (!sync->from || check_as_of (sync, error) < 0
        || find_window (sync, error) < 0
        || find_total (sync, error) < 0)
        return -1;
    sync->open = sync_open_load (sync->store, sync->name, error);
    if (!sync->open)
        return -1;
    if (store_transaction (sync->store, transfer, sync, error) < 0)
        return -1;
    sync->result->full = sync->since == 0;
    sync->result->notes = *slurmdbd_notes (sync->from);
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
    sync_digest_free (sync.seen);
    free (sync.before);
    free (sync.starts);
    slurmdbd_cluster_close (sync.from);
    if (rc == 0)
        *ret_result = result;
    return rc;
}
