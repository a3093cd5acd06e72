/*
 * kill: nothing is lost and nothing is counted twice, whoever is killed.
 *
 *     tests/fault/kill [--rounds N] [--seed S] [--nodes N] [--records N]
 *                      [--agents N] [--mariadb] [--keep]
 *
 * While writers append to the spools of many nodes as the plugin does, and
 * nodes ship to two collectors on one store, each round kills one process with
 * signal 9 at a random moment: a writer, a node's shipper, a collector, munged
 * or mariadbd; it is started again at once, as systemd does. At the end the
 * store holds each record whose spool_append() returned 0 exactly once, and
 * beside these at most what a killed writer had no time to note.
 *
 * The first so many nodes as --agents says (0) run gpuledger-agent itself, with
 * replayed devices; then writers write what plugins write, and that alone is
 * compared, for the agents write records of their own.
 *
 * The seed decides who is killed and after how long; what was going on then is
 * the machine's.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault/lists.h"
#include "fault/site.h"
#include "record/spool.h"

#define WRITERS 2
/* A round lasts at least a random part of this, so that much is under way. */
#define ROUND_MS 120
/* One record takes a writer about this, microseconds. */
#define RECORD_US 80
#define DRAIN_SECONDS 180

struct options {
    int rounds;
    uint64_t seed;
    int nodes;
    int agents;
    int records;
    bool mariadb;
    bool keep;
};

struct run {
    struct options options;
    uint64_t random;
    site_of_test_t site;
    char intended[192]; /* files of keys: before spool_append() */
    char done[192];     /* and after it returned 0 */
    pid_t writer[WRITERS];
    int killed[ROLES], killed_writers;
    int passed; /* cases of TAP so far */
    int failed;
};

/* splitmix64 */
static uint64_t draw (uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int below (uint64_t *random, int bound)
{
    return bound > 0 ? (int)(draw (random) % bound) : 0;
}

static int64_t clock_ms (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_us (int us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000L};

    nanosleep (&time, NULL);
}

/* --- writers --- */

static void make_usage (record_t *record, int job)
{
    int64_t begin = 1790000000000 + (int64_t)job * 3600000;

    record_set_text (record, RECORD_FIELD_gpu,
                     "GPU-8a56ad2e-1f5c-4f2f-9f3a-0123456789ab");
    record_set_number (record, RECORD_FIELD_begin_ms, begin);
    record_set_number (record, RECORD_FIELD_end_ms, begin + 3600000);
    record_set_number (record, RECORD_FIELD_samples, 360);
    record_set_number (record, RECORD_FIELD_samples_expected, 360);
    record_set_number (record, RECORD_FIELD_energy_mj, 2000000 + job);
    record_set_number (record, RECORD_FIELD_energy_ms, 3600000);
    record_set_number (record, RECORD_FIELD_energy_rule, RECORD_ENERGY_WHOLE);
    record_set_number (record, RECORD_FIELD_utilization_sum, 36000000);
    record_set_number (record, RECORD_FIELD_utilization_ms, 3600000);
}

static void make_start (record_t *record, int job)
{
    record_set_text (record, RECORD_FIELD_user, "ada");
    record_set_text (record, RECORD_FIELD_account, "vision");
    record_set_text (record, RECORD_FIELD_gpus, "0,1,2,3");
    record_set_text (record, RECORD_FIELD_project, "alpha");
    record_set_number (record, RECORD_FIELD_uid, 1000 + job % 7);
}

/* With agents: jobs that begin and end, not too many at once. */
static int make_record (record_t *record, uint64_t *random, int node,
                        bool plugin)
{
    static const record_kind_t kinds[] = {RECORD_JOB_START, RECORD_JOB_END,
                                          RECORD_JOB_USAGE, RECORD_JOB_USAGE};
    record_kind_t kind = kinds[below (random, plugin ? 2 : 4)];
    int job = 1 + below (random, plugin ? 100 : 100000);
    char name[16];

    if (record_begin (record, kind, NULL) < 0)
        return -1;
    snprintf (name, sizeof (name), "n%d", node + 1);
    record_set_text (record, RECORD_FIELD_cluster, "lab");
    record_set_text (record, RECORD_FIELD_node, name);
    record_set_number (record, RECORD_FIELD_job_id, job);
    if (kind == RECORD_JOB_USAGE)
        make_usage (record, job);
    else if (kind == RECORD_JOB_START)
        make_start (record, job);
    return 0;
}

static void note (int fd, const record_t *record)
{
    if (write (fd, record->key, RECORD_KEY_SIZE) != RECORD_KEY_SIZE)
        _exit (1);
}

/* One in four goes to the first node, so that its segments fill and change. */
static void be_writer (const struct run *run, uint64_t random, int count)
{
    int intended = open (run->intended, O_WRONLY | O_APPEND | O_CREAT, 0600);
    int done = open (run->done, O_WRONLY | O_APPEND | O_CREAT, 0600);
    char spool[192];
    record_t record;
    gl_error_t error;

    for (int i = 0; i < count; i++) {
        int node = below (&random, 4) ? below (&random, run->site.nodes) : 0;

        site_spool (&run->site, node, spool);
        if (make_record (&record, &random, node, run->site.agents > 0) < 0)
            _exit (1);
        note (intended, &record);
        if (spool_append (spool, &record, &error) == 0)
            note (done, &record);
        else
            fprintf (stderr, "# %s\n", error.text);
    }
    _exit (0);
}

static void start_writers (struct run *run, int count)
{
    for (int i = 0; i < WRITERS; i++) {
        uint64_t random = draw (&run->random);
        pid_t pid = fork ();

        if (pid == 0) {
            prctl (PR_SET_PDEATHSIG, SIGKILL);
            be_writer (run, random, (count + i) / WRITERS);
        }
        run->writer[i] = pid;
    }
}

static void end_writers (struct run *run)
{
    for (int i = 0; i < WRITERS; i++) {
        if (run->writer[i] > 0)
            waitpid (run->writer[i], NULL, 0);
        run->writer[i] = 0;
    }
}

static int records_done (const struct run *run)
{
    struct stat st;

    return stat (run->done, &st) < 0 ? 0 : (int)(st.st_size / RECORD_KEY_SIZE);
}

/* --- who is killed --- */

/* The database is left alone until it answers again: else it would never. */
static part_t *choose_victim (struct run *run)
{
    int dice = below (&run->random, 100);

    if (run->options.mariadb && dice < 10 && site_database_answers (&run->site))
        return &run->site.database;
    if (dice < 14)
        return &run->site.munged;
    if (dice < 40)
        return &run->site.collector[below (&run->random, SITE_COLLECTORS)];
    if (dice < 75)
        return &run->site.node[below (&run->random, run->site.nodes)];
    return NULL;
}

static void kill_writer (struct run *run, int count)
{
    int index = below (&run->random, WRITERS);

    pause_us (below (&run->random, count * RECORD_US / WRITERS));
    if (waitpid (run->writer[index], NULL, WNOHANG) == 0) {
        kill (run->writer[index], SIGKILL);
        waitpid (run->writer[index], NULL, 0);
        run->killed_writers++;
    }
    run->writer[index] = 0;
}

static int play_round (struct run *run, int count, gl_error_t *error)
{
    part_t *victim = choose_victim (run);

    start_writers (run, count);
    if (victim) {
        pause_us (1000 * below (&run->random, ROUND_MS));
        part_kill (victim);
        run->killed[victim->role]++;
    } else
        kill_writer (run, count);
    end_writers (run);
    return site_mend (&run->site, error);
}

static int play (struct run *run, gl_error_t *error)
{
    const struct options *o = &run->options;

    for (int round = 0; round < o->rounds; round++) {
        int left = o->records - records_done (run);

        if (play_round (run, left / (o->rounds - round), error) < 0)
            return -1;
        if (isatty (STDERR_FILENO) && round % 10 == 0)
            fprintf (stderr, "\rround %d, %d records", round,
                     records_done (run));
    }
    start_writers (run, o->records - records_done (run));
    end_writers (run);
    return 0;
}

/* --- the end --- */

static bool all_done (const struct run *run)
{
    for (int i = 0; i < run->site.nodes; i++)
        if (!site_node_is_done (&run->site, i))
            return false;
    return true;
}

/* An agent ships in its own time, and at once when it is asked to end. */
static void end_agents (struct run *run)
{
    for (int i = 0; i < run->site.agents; i++)
        if (!site_node_is_done (&run->site, i))
            part_end (&run->site.node[i]);
}

static int drain (struct run *run, gl_error_t *error)
{
    int64_t until = clock_ms () + DRAIN_SECONDS * 1000;

    while (!all_done (run)) {
        if (clock_ms () > until)
            return gl_error (error, "records still wait in the spools, see %s",
                             run->site.dir);
        poll (NULL, 0, 100);
        end_agents (run);
        if (site_mend (&run->site, error) < 0)
            return -1;
    }
    site_end_nodes (&run->site);
    return 0;
}

static void verdict (struct run *run, bool ok, const char *what)
{
    printf ("%sok %d - %s\n", ok ? "" : "not ", ++run->passed, what);
    run->failed += !ok;
}

static void compare (struct run *run, const list_t *intended,
                     const list_t *done, const list_t *stored)
{
    size_t unnoted = list_missing (stored, done);

    printf ("# %zu records written, %zu stored, of which %zu by a writer that "
            "was killed before it noted them\n",
            done->count, stored->count, unnoted);
    verdict (run, done->count >= (size_t)run->options.records,
             "as many records as asked for were written");
    verdict (run, list_missing (done, stored) == 0,
             "every record that was written is stored");
    verdict (run, list_repeated (stored) == 0, "none is stored twice");
    verdict (run, list_missing (stored, intended) == 0,
             "nothing is stored that nobody wrote");
    verdict (run, unnoted <= (size_t)run->killed_writers,
             "at most one more for each writer that was killed");
}

static int check (struct run *run, gl_error_t *error)
{
    list_t intended = {0}, done = {0}, stored = {0};
    int rc = list_read (run->intended, &intended, error) < 0
                     || list_read (run->done, &done, error) < 0
                     || list_stored (run->site.url, run->site.agents > 0,
                                     &stored, error)
                            < 0
                 ? -1
                 : 0;

    if (rc == 0)
        compare (run, &intended, &done, &stored);
    list_free (&intended);
    list_free (&done);
    list_free (&stored);
    return rc;
}

static int play_and_check (struct run *run, gl_error_t *error)
{
    const struct options *o = &run->options;
    int64_t begin = clock_ms ();

    if (site_start (&run->site, o->nodes, o->agents, o->mariadb, error) < 0)
        return -1;
    snprintf (run->intended, sizeof (run->intended), "%s/intended",
              run->site.dir);
    snprintf (run->done, sizeof (run->done), "%s/done", run->site.dir);
    if (play (run, error) < 0 || drain (run, error) < 0)
        return -1;
    printf ("# %d rounds, seed %" PRIu64 ", %d nodes, %s, %.1f s; killed: %d "
            "writers, %d shippers, %d collectors, %d munged, %d mariadbd; %d "
            "ended by "
            "themselves\n",
            o->rounds, o->seed, o->nodes, o->mariadb ? "MariaDB" : "SQLite",
            (clock_ms () - begin) / 1000.0, run->killed_writers,
            run->killed[ROLE_NODE], run->killed[ROLE_COLLECTOR],
            run->killed[ROLE_MUNGED], run->killed[ROLE_DATABASE],
            run->site.unexpected);
    return check (run, error);
}

/* --- options --- */

static int usage (void)
{
    fputs ("usage: kill [--rounds N] [--seed S] [--nodes N] [--records N] "
           "[--agents N] [--mariadb] [--keep]\n",
           stderr);
    return 2;
}

static int parse (int argc, char **argv, struct options *o)
{
    static const struct option options[]
        = {{"rounds", required_argument, NULL, 'r'},
           {"seed", required_argument, NULL, 's'},
           {"nodes", required_argument, NULL, 'n'},
           {"records", required_argument, NULL, 'c'},
           {"agents", required_argument, NULL, 'a'},
           {"mariadb", no_argument, NULL, 'm'},
           {"keep", no_argument, NULL, 'k'},
           {0}};
    int c;

    while ((c = getopt_long (argc, argv, "", options, NULL)) != -1) {
        uint64_t number = optarg ? strtoull (optarg, NULL, 10) : 0;

        switch (c) {
        case 'r':
            o->rounds = (int)number;
            break;
        case 'a':
            o->agents = (int)number;
            break;
        case 's':
            o->seed = number;
            break;
        case 'n':
            o->nodes = (int)number;
            break;
        case 'c':
            o->records = (int)number;
            break;
        case 'm':
            o->mariadb = true;
            break;
        case 'k':
            o->keep = true;
            break;
        default:
            return -1;
        }
    }
    return optind == argc && o->nodes > 0 && o->nodes <= SITE_NODES_MAX
                   && o->agents <= o->nodes && o->rounds > 0 && o->records > 0
               ? 0
               : -1;
}

int main (int argc, char **argv)
{
    static struct run run = {
        .options = {.rounds = 1000, .seed = 1, .nodes = 50, .records = 200000}};
    gl_error_t error;
    int rc;

    if (parse (argc, argv, &run.options) < 0)
        return usage ();
    run.random = run.options.seed;
    rc = play_and_check (&run, &error);
    if (rc < 0)
        printf ("Bail out! %s\n", error.text);
    printf ("1..%d\n", run.passed);
    site_stop (&run.site, run.options.keep || rc < 0 || run.failed);
    return rc < 0 || run.failed;
}
