/*
 * generate: an ugly month, as slurmdbd 22.05 writes it down, and the truth.
 *
 *     generate --jobs N --seed S --output DIR
 *
 * Writes N jobs (0 to 10,000,000) that began between 2025-09-20 and as-of:
 *
 *   DIR/tables.sql          TRES, QOS, associations, events, reservations;
 * as-of in a comment DIR/jobs                rows of the job table, fields by
 * TAB, in the order of job_columns in month.sh; may be a FIFO DIR/suspensions
 * rows of the suspend table DIR/[ZONE.]KEYS         the truth (truth.h)
 *   DIR/pools.yaml          the pools that it is about
 *   DIR/count               how many rows of jobs and of suspensions there are
 *
 * What happened is made up first, in plain words: who held how many devices
 * from when to when, and when that was suspended. It goes to the truth as it
 * is, and into the tables in Slurm's words, which often are other ones.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

/* --- lives -------------------------------------------------------------- */

static enum state some_end (month_t *m)
{
    static const enum state ends[]
        = {COMPLETED, COMPLETED, COMPLETED, FAILED,
           CANCELLED, TIMEOUT,   NODE_FAIL, OUT_OF_MEMORY};

    return ends[pick (m, 8)];
}

/* A row that held nothing. */
static void put_idle (month_t *m, job_t *job, int64_t submit, int64_t start,
                      int64_t end, enum state state)
{
    row_t row = {.submit = submit,
                 .eligible = chance (m, 20) ? (int64_t)INFINITE : submit,
                 .start = start,
                 .end = end,
                 .state = state};

    write_row (m, job, &row);
    job->last_submit = submit;
}

static void live_pending (month_t *m, job_t *job, int64_t submit)
{
    put_idle (m, job, submit, 0, 0, PENDING);
}

static void live_cancelled (month_t *m, job_t *job, int64_t submit)
{
    int64_t at = submit + 1 + (int64_t)pick (m, 500);

    put_idle (m, job, submit, chance (m, 50) ? at : 0, at, CANCELLED);
}

static void live_revoked (month_t *m, job_t *job, int64_t submit)
{
    put_idle (m, job, submit, 0, submit + 9, REVOKED);
}

/* The end lies before the start, or even before the submission. */
static void live_reversed (month_t *m, job_t *job, int64_t submit)
{
    int64_t start = submit + 300;

    put_idle (m, job, submit, start, start - 1 - (int64_t)pick (m, 9000),
              some_end (m));
}

static attempt_t first_attempt (month_t *m, int64_t submit)
{
    attempt_t a = {.submit = submit, .state = some_end (m)};

    a.allocated.from = submit + (int64_t)pick (m, chance (m, 70) ? 400 : 50000);
    a.allocated.to = a.allocated.from + some_length (m);
    if (chance (m, 10))
        a.allocated.to
            = moment (m, a.allocated.from, a.allocated.from + 3 * DAY);
    return a;
}

/* Waits if it would begin after as-of. */
static bool try_attempt (month_t *m, job_t *job, attempt_t a)
{
    if (a.allocated.from >= AS_OF) {
        live_pending (m, job, a.submit);
        return false;
    }
    return put_attempt (m, job, a);
}

static void live_once (month_t *m, job_t *job, int64_t submit)
{
    try_attempt (m, job, first_attempt (m, submit));
}

static void live_runaway (month_t *m, job_t *job, int64_t submit)
{
    attempt_t a = first_attempt (m, submit);

    if (!put_runaway (m, job, a))
        try_attempt (m, job, a);
}

static void live_requeued (month_t *m, job_t *job, int64_t submit)
{
    static const enum state ends[] = {REQUEUED, PREEMPTED, NODE_FAIL};
    unsigned more = 1 + (unsigned)pick (m, 3);
    attempt_t a = first_attempt (m, submit);

    do {
        if (more > 0)
            a.state = ends[pick (m, 3)];
        if (!try_attempt (m, job, a) || more == 0)
            return;
        submit = a.allocated.to + 1 + (int64_t)pick (m, 300);
        a = first_attempt (m, submit);
    } while (more-- > 0 && submit < AS_OF);
}

/* Up to 22.05 the new row has the start of the old one. */
static void live_resized (month_t *m, job_t *job, int64_t submit)
{
    unsigned more = 1 + (unsigned)pick (m, 3);
    bool old_start = chance (m, 50);
    attempt_t a = first_attempt (m, submit);
    int64_t first = a.allocated.from;

    do {
        if (a.allocated.to <= a.submit)
            a.allocated.to = a.submit + 1;
        a.state = more > 0 ? RESIZING : some_end (m);
        if (!try_attempt (m, job, a) || more == 0)
            return;
        choose_shape (m, job);
        a.submit = a.allocated.from = a.allocated.to;
        a.allocated.to += some_length (m);
        a.written_start = old_start ? first : 0;
        a.pause_goes_on = chance (m, 15);
    } while (more-- > 0);
}

static void live (month_t *m, job_t *job, int64_t submit)
{
    static const struct {
        unsigned up_to; /* of 100 */
        void (*live) (month_t *m, job_t *job, int64_t submit);
    } lives[] = {
        {2, live_pending},  {5, live_cancelled}, {6, live_revoked},
        {8, live_reversed}, {16, live_requeued}, {24, live_resized},
        {25, live_runaway}, {100, live_once},
    };
    unsigned kind = (unsigned)pick (m, 100);
    size_t i = 0;

    while (kind >= lives[i].up_to)
        i++;
    lives[i].live (m, job, submit);
}

/* --- jobs --------------------------------------------------------------- */

/* Half of the ids come before the counter begins anew. */
static uint64_t next_id (month_t *m)
{
    uint64_t before = m->jobs / 2, n = m->issued++;

    return n < before ? JOB_ID_LAST - before + 1 + n : n - before + 1;
}

static job_t new_job (month_t *m, unsigned user)
{
    job_t job = {.id = next_id (m),
                 .user = user,
                 .array_task = NO_VAL,
                 .het_offset = NO_VAL};

    job.account = user > USERS ? user % ACCOUNTS : (unsigned)pick (m, ACCOUNTS);
    choose_shape (m, &job);
    return job;
}

static unsigned some_user (month_t *m)
{
    if (m->alone < m->users - USERS - 1 && chance (m, 6))
        return USERS + 1 + m->alone++;
    return chance (m, 1) ? 0 : 1 + (unsigned)pick (m, USERS);
}

static void make_single (month_t *m)
{
    job_t job = new_job (m, some_user (m));

    live (m, &job, moment (m, BEGIN, AS_OF));
}

/* The same id twice: the counter has gone all the way round. */
static void make_reused (month_t *m)
{
    job_t job = new_job (m, some_user (m));
    int64_t submit = moment (m, BEGIN, BEGIN + 10 * DAY);

    live (m, &job, submit);
    job.user = some_user (m);
    job.account
        = job.user > USERS ? job.user % ACCOUNTS : (unsigned)pick (m, ACCOUNTS);
    choose_shape (m, &job);
    submit = moment (m, BEGIN + 20 * DAY, AS_OF);
    if (submit <= job.last_submit)
        submit = job.last_submit + 1;
    if (submit < AS_OF)
        live (m, &job, submit);
}

/* The same id a second later, of somebody else: two rows all the same. */
static void make_twins (month_t *m)
{
    int64_t submit = moment (m, BEGIN, AS_OF - 1);
    job_t job = new_job (m, some_user (m));

    live_once (m, &job, submit);
    job.user = 1 + (unsigned)pick (m, USERS);
    job.account = (unsigned)pick (m, ACCOUNTS);
    choose_shape (m, &job);
    live_once (m, &job, submit + 1);
}

/* Elements that have begun, and the row that the waiting ones share. */
static void make_array (month_t *m)
{
    int64_t submit = moment (m, BEGIN, AS_OF);
    job_t first = new_job (m, some_user (m));
    uint32_t count = 1 + (uint32_t)pick (m, 6);
    uint64_t array_job = first.id;

    first.array_job = array_job;
    if (chance (m, 40)) {
        row_t row = {.submit = submit, .eligible = submit, .pending_tasks = 4};
        write_row (m, &first, &row);
    } else {
        first.array_task = 0;
        live (m, &first, submit);
    }
    for (uint32_t i = 1; i < count && m->issued < m->jobs; i++) {
        job_t task = first;
        task.id = next_id (m);
        task.array_task = i;
        task.last_submit = 0;
        live (m, &task, submit);
    }
}

static void make_het (month_t *m)
{
    int64_t submit = moment (m, BEGIN, AS_OF);
    attempt_t a = first_attempt (m, submit);
    unsigned user = some_user (m);
    uint32_t count = 2 + (uint32_t)pick (m, 2);
    uint64_t het_job = 0;

    for (uint32_t i = 0; i < count && m->issued < m->jobs; i++) {
        job_t part = new_job (m, user);
        het_job = het_job ? het_job : part.id;
        part.het_job = het_job;
        part.het_offset = i;
        try_attempt (m, &part, a);
    }
}

static void make_jobs (month_t *m)
{
    while (m->issued < m->jobs) {
        unsigned kind = (unsigned)pick (m, 100);
        if (kind < 5)
            make_array (m);
        else if (kind < 9)
            make_het (m);
        else if (kind < 12)
            make_reused (m);
        else if (kind < 13)
            make_twins (m);
        else
            make_single (m);
    }
}

/* --- program ------------------------------------------------------------ */

static FILE *open_file (const char *dir, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%s", dir, name);
    file = fopen (path, "w");
    if (!file)
        err (1, "%s", path);
    return file;
}

static void close_file (FILE *file)
{
    if (fflush (file) != 0 || ferror (file))
        err (1, "writing");
    fclose (file);
}

static uint64_t number_option (const char *text, uint64_t max)
{
    char *end;
    unsigned long long value = strtoull (text, &end, 10);

    if (*text < '0' || *text > '9' || *end || value > max)
        errx (2, "'%s' is no number up to %" PRIu64, text, max);
    return value;
}

static void run (month_t *m, const char *dir)
{
    FILE *count;

    m->users
        = USERS + 1
          + (unsigned)(m->jobs / 20 < ALONE_MAX ? m->jobs / 20 : ALONE_MAX);
    m->totals_left = 12;
    m->truth = truth_new ((span_t){BEGIN, AS_OF}, m->users);
    m->table_file = open_file (dir, "tables.sql");
    m->suspension_file = open_file (dir, "suspensions");
    m->job_file = open_file (dir, "jobs");
    write_tables (m);
    write_registrations (m);
    write_outages (m);
    write_reservations (m);
    make_jobs (m);
    close_file (m->job_file);
    close_file (m->suspension_file);
    close_file (m->table_file);
    truth_write (m->truth, dir, user_name, account_name);
    truth_free (m->truth);
    count = open_file (dir, "count");
    fprintf (count, "%" PRIu64 " %" PRIu64 "\n", m->rows, m->suspension_rows);
    close_file (count);
}

int main (int argc, char **argv)
{
    static const struct option options[] = {
        {"jobs", required_argument, NULL, 'j'},
        {"seed", required_argument, NULL, 's'},
        {"output", required_argument, NULL, 'o'},
        {0},
    };
    month_t m = {.jobs = 1000, .random = 1};
    const char *dir = NULL;
    int option;

    while ((option = getopt_long (argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            m.jobs = number_option (optarg, JOBS_MAX);
            break;
        case 's':
            m.random
                += number_option (optarg, UINT32_MAX) * 0x9e3779b97f4a7c15U;
            break;
        case 'o':
            dir = optarg;
            break;
        default:
            dir = NULL;
            optind = argc;
        }
    }
    if (!dir || optind != argc) {
        fprintf (stderr, "usage: generate --jobs N --seed S --output DIR\n");
        return 2;
    }
    for (int i = 0; i < 20; i++) /* seeds that are alike part */
        number (&m);
    run (&m, dir);
    return 0;
}
