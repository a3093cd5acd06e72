/*
 * facts: prints what the reader of slurmdbd's database finds, one fact a line,
 * so that shell tests can compare it.
 *
 *     facts URL CLUSTER AS-OF [SINCE [JOBID...]]   SINCE 0: all rows
 *     facts -q URL CLUSTER     reads all segments and prints how many
 *     facts -u URL CLUSTER     adds them up by account, user and day of October
 *                              2026, and prints in how many cells they lie
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurmdbd/slurmdbd.h"
#include "usage/usage.h"

static gl_error_t error;

static void fail (void)
{
    fprintf (stderr, "facts: %s\n", error.text);
    exit (1);
}

static const char *text (const char *s)
{
    return s ? s : "-";
}

static void print_number (const char *name, uint64_t value, uint64_t unknown)
{
    if (value == unknown)
        printf (" %s=-", name);
    else
        printf (" %s=%" PRIu64, name, value);
}

static int print_segment (const segment_t *s, void *arg, gl_error_t *e)
{
    (void)arg;
    (void)e;
    printf ("segment %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %s",
            s->id_job, s->time_submit, s->time_start, s->time_end,
            segment_state_name (s->state));
    printf (" seen=%" PRId64, s->observed_at);
    print_number ("suspended", (uint64_t)s->suspended,
                  (uint64_t)SECONDS_UNKNOWN);
    print_number ("limit", (uint64_t)s->time_limit, (uint64_t)SECONDS_UNKNOWN);
    printf (" user=%s uid=%" PRIu32 " account=%s partition=%s qos=%s wckey=%s",
            text (s->user), s->uid, text (s->account), text (s->partition),
            text (s->qos), text (s->wckey));
    printf (" resv=%s nodes=%s name=%s admin=%s", text (s->reservation),
            text (s->nodelist), text (s->job_name), text (s->admin_comment));
    printf (" gres=[%s] asked=%d req=[%s]", s->gres, s->gpu_asked,
            text (s->gres_requested));
    print_number ("cpus", s->cpus, COUNT_UNKNOWN);
    print_number ("mem", s->memory_mb, COUNT_UNKNOWN);
    print_number ("nnodes", s->nodes, COUNT_UNKNOWN);
    printf (" array=%" PRIu64, s->array_job);
    print_number ("task", s->array_task, TASK_NONE);
    printf (" het=%" PRIu64, s->het_job);
    print_number ("offset", s->het_offset, TASK_NONE);
    printf (" inx=%" PRIu64 " sluid=%" PRIu64 " restarts=%" PRId32
            " cancelled=%d\n",
            s->job_db_inx, s->sluid, s->restart_count, s->cancelled_by);
    return 0;
}

static int print_suspension (const suspension_t *s, void *arg, gl_error_t *e)
{
    (void)arg;
    (void)e;
    printf ("suspension %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
            s->id_job, s->time_submit, s->start, s->end);
    return 0;
}

static int print_event (const node_event_t *event, void *arg, gl_error_t *e)
{
    (void)arg;
    (void)e;
    printf ("event %s %" PRId64 " %" PRId64 " state=0x%" PRIx32
            " gres=[%s] nodes=%s reason=%s\n",
            text (event->node), event->start, event->end, event->state,
            event->gres, text (event->nodelist), text (event->reason));
    return 0;
}

static int print_reservation (const reservation_t *r, void *arg, gl_error_t *e)
{
    (void)arg;
    (void)e;
    printf ("reservation %" PRIu64 " %" PRId64 " %" PRId64 " flags=0x%" PRIx64
            " name=%s nodes=%s accounts=%s\n",
            r->id, r->start, r->end, r->flags, text (r->name),
            text (r->nodelist), text (r->accounts));
    return 0;
}

static int print_account (const char *account, const char *parent, void *arg,
                          gl_error_t *e)
{
    (void)arg;
    (void)e;
    printf ("account %s %s\n", account, text (parent));
    return 0;
}

static int count_segment (const segment_t *s, void *arg, gl_error_t *e)
{
    uint64_t *count = arg;

    (void)s;
    (void)e;
    ++*count;
    return 0;
}

static void print_note (const char *name, const slurmdbd_note_t *note)
{
    if (note->count)
        printf ("note %s %" PRIu64 " %" PRIu64 "\n", name, note->count,
                note->id_job);
}

static void print_notes (const slurmdbd_notes_t *notes)
{
    print_note ("deleted", &notes->deleted);
    print_note ("unresolved", &notes->unresolved);
    print_note ("unreadable", &notes->unreadable);
    print_note ("reversed", &notes->reversed);
    print_note ("impossible", &notes->impossible);
}

static void print_jobs (slurmdbd_cluster_t *cluster, slurmdbd_window_t window)
{
    if (slurmdbd_segments (cluster, window, print_segment, NULL, &error) < 0
        || slurmdbd_suspensions (cluster, window, print_suspension, NULL,
                                 &error)
               < 0)
        fail ();
}

static void print_rest (slurmdbd_cluster_t *cluster, int64_t since)
{
    slurmdbd_events_t events = {.since = since};

    if (slurmdbd_events (cluster, &events, print_event, NULL, &error) < 0
        || slurmdbd_reservations (cluster, print_reservation, NULL, &error) < 0
        || slurmdbd_accounts (cluster, print_account, NULL, &error) < 0)
        fail ();
}

static void print_since (slurmdbd_cluster_t *cluster, int64_t since)
{
    if (since == 0)
        print_jobs (cluster, SLURMDBD_ALL);
    else {
        print_jobs (cluster, (slurmdbd_window_t){.rows = SLURMDBD_ROWS_OPEN});
        print_jobs (cluster, (slurmdbd_window_t){SLURMDBD_ROWS_ENDED,
                                                 .from = since + 1});
    }
    print_rest (cluster, since);
}

static void count_all (slurmdbd_cluster_t *cluster)
{
    uint64_t count = 0;

    if (slurmdbd_segments (cluster, SLURMDBD_ALL, count_segment, &count, &error)
        < 0)
        fail ();
    printf ("%" PRIu64 " segments\n", count);
}

static int add_segment (const segment_t *s, void *arg, gl_error_t *e)
{
    static const project_t none;

    (void)e;
    usage_add (arg, s, NULL, 0, &none);
    return 0;
}

static void aggregate (slurmdbd_cluster_t *cluster)
{
    site_t *site = site_default ();
    usage_query_t query = {
        .site = site,
        .period = {1790812800, 1790812800 + 31 * 86400},
        .by = {{KEY_ACCOUNT, KEY_USER, KEY_DAY}, 3, NULL},
    };
    usage_t *usage = usage_new (&query);
    size_t count;

    if (slurmdbd_segments (cluster, SLURMDBD_ALL, add_segment, usage, &error)
        < 0)
        fail ();
    usage_cells (usage, &count);
    printf ("%zu cells\n", count);
    usage_free (usage);
    site_free (site);
}

int main (int argc, char **argv)
{
    bool sum = argc > 1 && !strcmp (argv[1], "-u");
    bool quiet = argc > 1 && !strcmp (argv[1], "-q");
    uint64_t ids[16];
    slurmdbd_window_t window = {SLURMDBD_ROWS_OF_JOBS, .ids = ids};
    slurmdbd_cluster_t *cluster;
    slurmdbd_t *dbd;

    argc -= quiet || sum;
    argv += quiet || sum;
    if (argc < 3)
        return 2;
    dbd = slurmdbd_open (argv[1], &error);
    if (!dbd)
        fail ();
    cluster = slurmdbd_cluster_open (
        dbd, argv[2], argc > 3 ? strtoll (argv[3], NULL, 10) : 0, &error);
    if (!cluster)
        fail ();
    for (int i = 5; i < argc && i < 21; i++)
        ids[window.id_count++] = strtoull (argv[i], NULL, 10);
    if (quiet)
        count_all (cluster);
    else if (sum)
        aggregate (cluster);
    else if (window.id_count)
        print_jobs (cluster, window);
    else
        print_since (cluster, argc > 4 ? strtoll (argv[4], NULL, 10) : 0);
    print_notes (slurmdbd_notes (cluster));
    slurmdbd_cluster_close (cluster);
    slurmdbd_close (dbd);
    return 0;
}
