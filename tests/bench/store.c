/*
 * store N URL: how long N segments of a made-up month take to put and to read,
 * and, for SQLite, how many bytes each costs. Prints one line a figure; not a
 * timed test.
 *
 * The month is shaped after published traces: 300 users in 60 accounts, four
 * partitions, arrays for a third of the jobs, job names of which one in ten is
 * unique, one to four nodes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "store/store.h"

static gl_error_t error;

static void die (void)
{
    fprintf (stderr, "bench: %s\n", error.text);
    exit (1);
}

static double now (void)
{
    struct timespec t;

    clock_gettime (CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t seed = 1;
static unsigned dice (unsigned sides)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % sides;
}

static void make_segment (segment_t *s, uint64_t n, char text[6][64])
{
    static const char *const gres[] = {"gpu=1,gpu:h100=1", "gpu=4,gpu:a100=4",
                                       "gpu=8,gpu:h100=8", "gpu=2"};
    static const char *const partitions[] = {"gpu", "short", "long", "debug"};
    unsigned user = dice (300), kind = dice (4);
    unsigned node = dice (200);
    bool array = dice (3) == 0;

    snprintf (text[0], 64, "user%03u", user);
    snprintf (text[1], 64, "account%02u", user % 60);
    snprintf (text[2], 64, dice (4) ? "g%03u" : "g[%03u-%03u]", node,
              node + dice (4));
    if (dice (10))
        snprintf (text[3], 64, "train_%u.sh", user * 7 % 997);
    else
        snprintf (text[3], 64, "run-%" PRIu64 "-lr%u", n, dice (1000));
    *s = (segment_t){
        .cluster = "lab",
        .id_job = 5000000 + n,
        .time_submit = 1760000000 + (int64_t)(n * 26 / 10) - dice (86400),
        .suspended = 0,
        .time_seen = 1762600000,
        .time_limit = 3600 * (1 + dice (24)),
        .state = SEGMENT_COMPLETED,
        .source = SOURCE_SLURMDBD,
        .user = text[0],
        .uid = 10000 + user,
        .account = text[1],
        .partition = partitions[kind],
        .qos = "normal",
        .wckey = "",
        .nodelist = text[2],
        .job_name = text[3],
        .gres = gres[kind],
        .gres_requested = gres[kind],
        .gpu_asked = true,
        .cpus = 8u << kind,
        .memory_mb = 16384u << dice (4),
        .nodes = 1,
        .array_job = array ? 5000000 + n / 50 * 50 : 0,
        .array_task = array ? n % 50 : TASK_NONE,
        .het_offset = TASK_NONE,
        .job_db_inx = 7000000 + n,
        .restart_count = -1,
    };
    s->time_start = s->time_submit + dice (86400);
    s->time_end = s->time_start + 1 + dice (86400);
}

static void put_all (store_t *store, uint64_t count, const char *what)
{
    store_counts_t counts = {0};
    double start = now ();
    char text[6][64];
    segment_t s;

    seed = 1;
    if (store_begin (store, &error) < 0)
        die ();
    for (uint64_t n = 0; n < count; n++) {
        make_segment (&s, n, text);
        if (store_put_segment (store, &s, &counts, &error) < 0)
            die ();
    }
    if (store_commit (store, &error) < 0)
        die ();
    printf ("%s: %.2f s, %.2f us each (%" PRIu64 " new, %" PRIu64
            " changed, %" PRIu64 " known)\n",
            what, now () - start, (now () - start) / (double)count * 1e6,
            counts.inserted, counts.changed, counts.unchanged);
}

static void read_all (store_t *store, const store_query_t *query,
                      const char *what)
{
    double start = now ();
    store_segment_iter_t *iter = store_segment_iter_open (store, query, &error);
    uint64_t count = 0;
    segment_t s;
    int rc = -1;

    while (iter && (rc = store_segment_iter_next (iter, &s, &error)) == 1)
        count++;
    store_segment_iter_close (iter);
    if (rc < 0)
        die ();
    printf ("%s: %.2f s, %" PRIu64 " segments, %.2f us each\n", what,
            now () - start, count,
            count ? (now () - start) / (double)count * 1e6 : 0);
}

int main (int argc, char **argv)
{
    store_query_t month = {.start = 1760100000, .end = 1760186400};
    store_query_t open = {.open_only = true};
    struct rusage usage;
    uint64_t count = 100000;
    store_t *store;
    struct stat st;

    if (argc != 3 || number_u64_text (argv[1], &count) < 0 || count == 0) {
        fprintf (stderr, "usage: store N URL\n");
        return 2;
    }
    if (store_init (argv[2], NULL, &error) < 0
        || !(store = store_open (argv[2], 0, &error)))
        die ();
    put_all (store, count, "put");
    put_all (store, count, "put again");
    read_all (store, NULL, "read all");
    read_all (store, &month, "read a day");
    read_all (store, &open, "read open");
    store_close (store);
    if (strncmp (argv[2], "sqlite:", 7) == 0 && stat (argv[2] + 7, &st) == 0)
        printf ("size: %.1f bytes a segment\n",
                (double)st.st_size / (double)count);
    getrusage (RUSAGE_SELF, &usage);
    printf ("memory: %ld KiB at most\n", usage.ru_maxrss);
    return 0;
}
