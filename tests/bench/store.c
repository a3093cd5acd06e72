/*
 * store segments|backlog|live N URL: how long N segments of a made-up month, or
 * N stretches of device usage, take to put and to read, and, for SQLite, how many
 * bytes each costs. Stretches come as a day of one node after the other
 * (backlog) or hour by hour of all nodes (live). Prints one line a figure; not a
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
        .observed_at = 1762600000,
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
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, query, &error);
    uint64_t count = 0;
    segment_t s;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &s, &error)) == 1)
        count++;
    store_iter_close (iter);
    if (rc < 0)
        die ();
    printf ("%s: %.2f s, %" PRIu64 " segments, %.2f us each\n", what,
            now () - start, count,
            count ? (now () - start) / (double)count * 1e6 : 0);
}

static void bench_segments (store_t *store, uint64_t count)
{
    store_query_t month = {.start = 1760100000, .end = 1760186400};
    store_query_t open = {.open_only = true};

    put_all (store, count, "put");
    put_all (store, count, "put again");
    read_all (store, NULL, "read all");
    read_all (store, &month, "read a day");
    read_all (store, &open, "read open");
}

/*
 * A day of nodes with eight GPUs each: every hour a stretch for each GPU, one in
 * ten of nobody's. Jobs last six hours and hold one GPU, a node, or 16 nodes.
 */
#define GPUS 8
#define HOURS 24
#define DAY_OF_NODE (GPUS * HOURS)
#define GROUP 4096 /* stretches in one transaction */
#define JOB_HOURS 6

static uint64_t job_of (uint64_t node, unsigned gpu, unsigned hour)
{
    uint64_t block = hour / JOB_HOURS;
    uint64_t first = 5000000 + block * 1000000;
    uint64_t hash = (node / 16 * 31 + block) * 2654435761 >> 7;

    if ((node * 7 + gpu + block) % 10 == 0)
        return 0;
    if (hash % 4 == 0)
        return first + node / 16 * 16 * GPUS;
    return first + node * GPUS + (hash % 4 == 1 ? 0 : gpu);
}

static void make_usage (device_usage_t *u, uint64_t node, unsigned gpu,
                        unsigned hour, char text[3][400])
{
    const int64_t length = 3600000;
    int64_t idle = dice (4) ? 0 : dice (3600000);
    uint64_t job = job_of (node, gpu, hour);

    snprintf (text[0], 400, "g%05" PRIu64, node);
    snprintf (text[1], 400, "GPU-%08" PRIx64 "-6c1d-4e4b-9a58-%012" PRIx64,
              node * 2654435761 % UINT32_MAX, node * GPUS + gpu);
    snprintf (text[2], 400,
              "%" PRId64 ",0,0,0,0,0,0,0,0,0,0,0,0,%d,0,0,0,%d,%d,%" PRId64,
              idle, 10003, 20011, 470123, length - idle - 10003 - 20011 - 470123);
    if (idle > 3000000)
        snprintf (text[2], 400,
                  "%" PRId64 ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", length);
    *u = (device_usage_t){
        .cluster = "lab",
        .node = text[0],
        .id_job = job,
        .gpu = text[1],
        .gres_index = gpu,
        .begin_ms = INT64_C (1760000400000) + hour * length,
        .end_ms = INT64_C (1760000400000) + (hour + 1) * length,
        .samples = 360,
        .samples_expected = 360,
        .energy_mj = 2200000000 + dice (300000000),
        .energy_ms = length,
        .energy_rule = 1,
        .utilization_sum = INT64_C (33000000000) + dice (1000000000),
        .utilization_ms = length,
        .utilization_max = 10000,
        .utilization_histogram = text[2],
        .memory_sum = INT64_C (261000000000) + dice (1000000000),
        .memory_ms = length,
        .memory_max = 70000 + dice (10000),
        .memory_total = 81559,
        .power_sum = INT64_C (2300000000000) + dice (1000000000),
        .power_ms = length,
        .power_max = 690000 + dice (20000),
        .clock_sum = INT64_C (7000000000) + dice (10000000),
        .clock_ms = length,
        .throttled_ms = dice (3) ? 0 : dice (100000),
        .throttle_ms = length,
        .throttle_reasons = dice (3) ? 0 : 4,
        .processes_ms = length,
        .processes_max = 1,
        .idle_ms = idle,
        .idle_longest_ms = idle / 2,
        .holders = 1,
    };
}

static void put_stretch (store_t *store, uint64_t at, store_counts_t *counts,
                         uint64_t node, unsigned gpu, unsigned hour)
{
    static char text[3][400];
    uint8_t key[STORE_KEY_SIZE];
    device_usage_t u;

    make_usage (&u, node, gpu, hour, text);
    for (size_t i = 0; i < sizeof (key); i += 4) {
        uint32_t random = dice (UINT32_MAX);
        memcpy (key + i, &random, 4);
    }
    if (at % GROUP == 0
        && ((at > 0 && store_commit (store, &error) < 0)
            || store_begin (store, &error) < 0))
        die ();
    if (store_put_usage (store, key, &u, counts, &error) < 0)
        die ();
}

static void put_usages (store_t *store, uint64_t count, bool live,
                        const char *what)
{
    uint64_t nodes = (count + DAY_OF_NODE - 1) / DAY_OF_NODE;
    store_counts_t counts = {0};
    double start = now ();

    seed = 1;
    for (uint64_t at = 0; at < count; at++) {
        uint64_t node = live ? at / GPUS % nodes : at / DAY_OF_NODE;
        uint64_t hour = live ? at / GPUS / nodes : at % DAY_OF_NODE / GPUS;
        put_stretch (store, at, &counts, node, at % GPUS, (unsigned)hour);
    }
    if (store_commit (store, &error) < 0)
        die ();
    printf ("%s: %.2f s, %.2f us each (%" PRIu64 " new, %" PRIu64
            " changed, %" PRIu64 " known)\n",
            what, now () - start, (now () - start) / (double)count * 1e6,
            counts.inserted, counts.changed, counts.unchanged);
}

static void read_usages (store_t *store, const store_query_t *query,
                         const char *what)
{
    double start = now ();
    store_iter_t *iter = store_iter_open (store, STORE_USAGE, query, &error);
    uint64_t count = 0;
    store_usage_t u;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &u, &error)) == 1)
        count++;
    store_iter_close (iter);
    if (rc < 0)
        die ();
    printf ("%s: %.2f s, %" PRIu64 " stretches, %.2f us each\n", what,
            now () - start, count,
            count ? (now () - start) / (double)count * 1e6 : 0);
}

static void bench_usage (store_t *store, uint64_t count, bool live)
{
    store_query_t job = {.id_job = 5000000 + 16 * GPUS};
    store_query_t nobody = {.jobs = STORE_OF_NO_JOB,
                            .start = 1760000400 + 7200,
                            .end = 1760000400 + 10800};

    put_usages (store, count, live, "put");
    put_usages (store, count, live, "put again");
    read_usages (store, NULL, "read all");
    read_usages (store, &job, "read a job");
    read_usages (store, &nobody, "read an hour of nobody");
}

int main (int argc, char **argv)
{
    uint64_t count = 100000;
    struct rusage usage;
    store_t *store;
    struct stat st;

    if (argc != 4 || number_u64_text (argv[2], &count) < 0 || count == 0) {
        fprintf (stderr, "usage: store segments|backlog|live N URL\n");
        return 2;
    }
    if (store_init (argv[3], NULL, &error) < 0
        || !(store = store_open (argv[3], 0, &error)))
        die ();
    if (!strcmp (argv[1], "segments"))
        bench_segments (store, count);
    else
        bench_usage (store, count, !strcmp (argv[1], "live"));
    store_close (store);
    if (strncmp (argv[3], "sqlite:", 7) == 0 && stat (argv[3] + 7, &st) == 0)
        printf ("size: %.1f bytes each\n",
                (double)st.st_size / (double)count);
    getrusage (RUSAGE_SELF, &usage);
    printf ("memory: %ld KiB at most\n", usage.ru_maxrss);
    return 0;
}
