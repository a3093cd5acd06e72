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

#include "truth.h"

#define BEGIN 1758326400 /* 2025-09-20T00:00:00Z */
#define AS_OF 1762756207 /* 2025-11-10T06:30:07Z */
#define DAY 86400
#define HOUR 3600

#define JOBS_MAX 10000000
#define JOB_ID_LAST 67043327 /* Slurm's default MaxJobId, less one */
#define USERS 400            /* who have many jobs */
#define ALONE_MAX 5000       /* users of one job each */
#define PAUSES_MAX 3
#define OUTAGES_MAX 300
#define RUNAWAYS_ARE_SEEN true
#define GRACE HOUR /* the policy for runaways, as it is without one */
#define NO_VAL 4294967294U
#define INFINITE 4294967295U
#define SLUID_FROM 9981815075666744320U /* above the signed 64 bits */

enum state {
    PENDING = 0,
    RUNNING = 1,
    SUSPENDED = 2,
    COMPLETED = 3,
    CANCELLED = 4,
    FAILED = 5,
    TIMEOUT = 6,
    NODE_FAIL = 7,
    PREEMPTED = 8,
    OUT_OF_MEMORY = 11,
    REQUEUED = 1024,
    RESIZING = 8192,
    REVOKED = 524288,
};

typedef struct {
    uint64_t random;
    uint64_t jobs, issued; /* job ids: wanted, handed out */
    uint64_t rows, suspension_rows;
    unsigned users, alone; /* user_count; of ALONE_MAX, handed out */
    unsigned totals_left;  /* stays whose suspend rows are still to be purged */
    struct {
        unsigned node;
        int64_t from;
    } outage[OUTAGES_MAX];
    unsigned outages;
    uint64_t reservations;
    FILE *job_file, *suspension_file, *table_file;
    truth_t *truth;
} month_t;

/* A job and what it holds now. */
typedef struct {
    uint64_t id;
    unsigned user, account;
    char alloc[200], request[80];
    const char *submit_line;
    uint64_t devices[TYPES];
    bool told;
    unsigned node, nodes;
    uint64_t array_job, het_job;
    uint32_t array_task, het_offset;
    int64_t last_submit; /* 0: none yet */
} job_t;

/* What happened to it from one submission to the next. */
typedef struct {
    int64_t submit;
    span_t held;
    enum state state;
    int64_t written_start; /* what accounting says it was */
    bool pause_goes_on;    /* suspended when it was resized, before or after */
} attempt_t;

/* --- chance ------------------------------------------------------------- */

static uint64_t number (month_t *m)
{
    m->random ^= m->random >> 12;
    m->random ^= m->random << 25;
    m->random ^= m->random >> 27;
    return m->random * 2685821657736338717U >> 11;
}

static uint64_t pick (month_t *m, uint64_t count)
{
    return number (m) % count;
}

static bool chance (month_t *m, unsigned percent)
{
    return pick (m, 100) < percent;
}

/* Often a midnight of some zone, or a second beside it. */
static int64_t moment (month_t *m, int64_t from, int64_t to)
{
    int64_t at = from + (int64_t)pick (m, (uint64_t)(to - from));

    if (chance (m, 10))
        at = truth_midnight (m->truth, number (m), at) + (int64_t)pick (m, 3)
             - 1;
    return at >= from && at < to ? at : from;
}

static int64_t some_length (month_t *m)
{
    unsigned kind = (unsigned)pick (m, 100);

    if (kind < 3)
        return 0;
    if (kind < 10)
        return 1 + (int64_t)pick (m, 59);
    if (kind < 14)
        return 5 * DAY + (int64_t)pick (m, 40 * DAY);
    if (kind < 30)
        return DAY / 2 + (int64_t)pick (m, 4 * DAY);
    return 60 + (int64_t)pick (m, 20000);
}

/* --- names -------------------------------------------------------------- */

static void user_name (unsigned user, char name[32])
{
    if (user == 0)
        strcpy (name, "(none)");
    else if (user <= USERS)
        snprintf (name, 32, "user%03u", user);
    else
        snprintf (name, 32, "alone%04u", user - USERS);
}

static void account_name (unsigned account, char name[32])
{
    snprintf (name, 32, "acct%02u", account);
}

static bool is_deleted (unsigned user, unsigned account)
{
    return account >= 25 || (user && user % 7 == 0);
}

/* 0 where nobody knows the user */
static unsigned association (unsigned user, unsigned account)
{
    return user ? 100 + user * ACCOUNTS + account : 0;
}

/* Accounting keeps associations of deleted accounts; acct03 has been renamed
 * since, which rows of jobs do not follow. */
static void write_association (month_t *m, unsigned user, unsigned account,
                               const char *separator)
{
    char user_text[32] = "", account_text[32];

    if (user)
        user_name (user, user_text);
    account_name (account, account_text);
    fprintf (m->table_file, "%s(1, %d, %u, '%s', '%s%s', '%s')\n", separator,
             is_deleted (user, account),
             user ? association (user, account) : 10 + account, user_text,
             account_text, account == 3 ? "new" : "", user ? "" : "root");
}

static void write_tables (month_t *m)
{
    fprintf (m->table_file,
             "-- as-of %d\n"
             "SET sql_mode = '';\n"
             "INSERT INTO tres_table (creation_time, deleted, id, type, name)"
             " VALUES\n"
             "(1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100'),\n"
             "(1, 0, 1003, 'gres', 'gpu:a100-sxm4_80'),\n"
             "(1, 1, 1004, 'gres', 'gpu:1g.10gb+me'),\n"
             "(1, 0, 1005, 'gres', 'shard'), (1, 0, 1006, 'license', 'x');\n"
             "INSERT INTO qos_table (creation_time, deleted, id, name) VALUES\n"
             "(1, 0, 20, 'high'), (1, 1, 21, 'gone');\n"
             "INSERT INTO lab_assoc_table (creation_time, deleted, id_assoc,"
             " user, acct, parent_acct) VALUES\n",
             AS_OF);
    for (unsigned a = 0; a < ACCOUNTS; a++)
        write_association (m, 0, a, a ? "," : "");
    for (unsigned u = 1; u < m->users; u++) {
        for (unsigned a = 0; a < ACCOUNTS; a++) {
            if (u <= USERS || a == u % ACCOUNTS)
                write_association (m, u, a, ",");
        }
    }
    fprintf (m->table_file, ";\n");
}

/* --- nodes -------------------------------------------------------------- */

/* 0: open */
static int64_t end_of_row (int64_t to)
{
    return to < AS_OF ? to : 0;
}

static void write_event (month_t *m, unsigned node, unsigned state, span_t span,
                         const char *nodes)
{
    char name[16] = "";

    if (node)
        snprintf (name, sizeof (name), "g%u", node);
    fprintf (m->table_file,
             "INSERT INTO lab_event_table (time_start, time_end, node_name,"
             " cluster_nodes, reason, state, tres) VALUES (%" PRId64
             ", %" PRId64 ", '%s', '%s', '%s', %u, '%s');\n",
             span.from, end_of_row (span.to), name, nodes,
             node ? "Not responding" : "Cluster Registered TRES", state,
             node ? "1=64,1001=8" : "1=999,1001=792");
}

static void register_nodes (month_t *m, unsigned last, span_t span)
{
    char nodes[32];

    snprintf (nodes, sizeof (nodes), "g[1-%u]", last);
    write_event (m, 0, 0, span, nodes);
    for (unsigned n = 1; n <= last; n++)
        truth_add_state (m->truth, n, KNOWN, span);
}

/* The cluster comes, grows, is not heard of for half an hour, and comes back;
 * while slurmctld cannot be reached nobody speaks of any node. */
static void write_registrations (month_t *m)
{
    const int64_t from = BEGIN + 2 * HOUR + 17, more = BEGIN + 5 * DAY + 5,
                  gone = BEGIN + 20 * DAY, back = gone + HOUR / 2;
    const span_t away = {BEGIN + 10 * DAY, BEGIN + 10 * DAY + 2 * HOUR + 3};

    register_nodes (m, 90, (span_t){from, more});
    register_nodes (m, 99, (span_t){more, gone});
    register_nodes (m, 99, (span_t){back, AS_OF});
    write_event (m, 0, 1, away, "");
    for (unsigned n = 1; n < NODES; n++)
        truth_add_state (m->truth, n, AWAY, away);
}

/* False: there is such a row already, the key of which is node and start. */
static bool new_outage (month_t *m, unsigned node, int64_t from)
{
    for (unsigned i = 0; i < m->outages; i++)
        if (m->outage[i].node == node && m->outage[i].from == from)
            return false;
    if (m->outages == OUTAGES_MAX || from >= AS_OF)
        return false;
    m->outage[m->outages].node = node;
    m->outage[m->outages++].from = from;
    return true;
}

static int64_t put_outage (month_t *m, unsigned node, int64_t from)
{
    static const struct {
        unsigned state;
        node_state_t is;
    } states[] = {
        {1, DOWN},         {0x201, DOWN},     {0x202, DRAINED},
        {0x2001, DOWN},    {0x8201, PLANNED}, {0x1001, PLANNED},
        {0x1081, PLANNED}, {0x8002, PLANNED}, {6, PLANNED},
        {0x200, DRAINED},
    };
    size_t kind = pick (m, sizeof (states) / sizeof (states[0]));
    int64_t to = chance (m, 4) ? AS_OF : moment (m, from + 1, from + 2 * DAY);
    span_t span = {from, to > AS_OF ? AS_OF : to};

    if (!new_outage (m, node, from))
        return AS_OF;
    write_event (m, node, states[kind].state, span, "");
    truth_add_state (m->truth, node, states[kind].is, span);
    return span.to;
}

/* Rows that follow one another: the state has changed, or the cluster's TRES
 * have, which closes all rows. Jobs may go on all the while. */
static void write_outages (month_t *m)
{
    for (unsigned i = 0; i < 60; i++) {
        unsigned node = 1 + (unsigned)pick (m, 99),
                 more = 1 + (unsigned)pick (m, 3);
        int64_t at = moment (m, BEGIN, AS_OF);
        while (more-- > 0 && at < AS_OF)
            at = put_outage (m, node, at);
    }
}

static void put_reservation (month_t *m, unsigned first, unsigned last,
                             unsigned flags, bool deleted, span_t span)
{
    fprintf (m->table_file,
             "INSERT INTO lab_resv_table (id_resv, deleted, assoclist, flags,"
             " nodelist, node_inx, resv_name, time_start, time_end, tres)"
             " VALUES (%" PRIu64
             ", %d, ',10,11,', %u, 'g[%u-%u]', '', 'r%" PRIu64 "', %" PRId64
             ", %" PRId64 ", '1001=8');\n",
             m->reservations, deleted, flags, first, last, m->reservations,
             span.from, span.to);
    for (unsigned n = first; n <= last && span.from < AS_OF; n++)
        truth_add_state (m->truth, n, flags & 1 ? PLANNED : RESERVED, span);
}

/* One that is changed goes on as another row of the same id; one that is
 * removed is marked as deleted and ended; one may not have begun. */
static void write_reservations (month_t *m)
{
    static const unsigned flags[] = {0, 1, 0x40, 0x41, 0, 0x8000};

    for (m->reservations = 1; m->reservations <= 24; m->reservations++) {
        unsigned first = 1 + (unsigned)pick (m, 90);
        unsigned kind = flags[pick (m, 6)], more = 1 + (unsigned)pick (m, 3);
        int64_t at = moment (m, BEGIN - DAY, AS_OF);
        while (more-- > 0) {
            int64_t to = moment (m, at + 1, at + 3 * DAY);
            put_reservation (m, first, first + (unsigned)pick (m, 9), kind,
                             chance (m, 30), (span_t){at, to});
            at = to;
        }
    }
    put_reservation (m, 1, 99, 0, false, (span_t){AS_OF + 60, AS_OF + DAY});
}

/* --- what is held ------------------------------------------------------- */

/* Accounting has what is held. */
static void hold (job_t *job, type_t type, int devices)
{
    job->devices[type] = (uint64_t)devices;
    job->told = true;
}

static void shape_total_and_type (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, H100, n);
    sprintf (job->alloc,
             "1=8,2=64000,3=18446744073709551614,4=1,5=8,1001=%d,"
             "1002=%d",
             n, n);
}

static void shape_types_alone (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 4);

    hold (job, H100, n);
    hold (job, A100, more);
    sprintf (job->alloc, "1=8,4=1,1002=%d,1003=%d", n, more);
}

/* The total is wrong: somebody wrote down each of the types. */
static void shape_types_above_total (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 4);

    hold (job, H100, n);
    hold (job, A100, more);
    sprintf (job->alloc, "1=8,1001=%d,4=1,1002=%d,1003=%d", n, n, more);
}

static void shape_untyped (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, n);
    sprintf (job->alloc, "1=8,2=64000,4=1,5=9,1001=%d", n);
}

static void shape_partly_typed (month_t *m, job_t *job, int n)
{
    hold (job, H100, n);
    hold (job, UNTYPED, 1);
    sprintf (job->alloc, "1002=%d,1001=%d,4=1,1=%d", n, n + 1,
             1 + (int)pick (m, 64));
}

static void shape_deleted_type (month_t *m, job_t *job, int n)
{
    int more = 1 + (int)pick (m, 2);

    hold (job, H100, n);
    hold (job, SLICE, more);
    if (chance (m, 50))
        sprintf (job->alloc, "1=8,4=1,1001=%d,1002=%d,1004=%d", n + more, n,
                 more);
    else
        sprintf (job->alloc, "1=8,4=1,1002=%d,1004=%d", n, more);
}

static void shape_slices (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, SLICE, n);
    sprintf (job->alloc, "1=8,4=1,1001=%d,1004=%d", n, n);
}

static void shape_unknown_id (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, n);
    sprintf (job->alloc, "1=8,4=1,1001=%d,1999=7,1006=2", n);
}

/* Parts of a GPU, which are devices of their own. */
static void shape_shard (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, SHARD, n);
    sprintf (job->alloc, "1=2,4=1,1005=%d", n);
}

/* The shards are parts of what is counted already. */
static void shape_shard_and_gpu (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, A100, n);
    sprintf (job->alloc, "1=2,4=1,1005=4,1001=%d,1003=%d", n, n);
}

static void shape_only_requested (month_t *m, job_t *job, int n)
{
    sprintf (job->alloc, "1=8,2=64000,4=1");
    if (chance (m, 50))
        sprintf (job->request, "1=8,4=1,1001=%d", n);
    else
        job->submit_line = "sbatch --gpus-per-node=h100:2 run.sh";
}

static void shape_no_value (month_t *m, job_t *job, int n)
{
    (void)m, (void)n;
    sprintf (job->alloc, "1=8,1001=18446744073709551614,4=1");
}

static void shape_no_gpu (month_t *m, job_t *job, int n)
{
    (void)m;
    hold (job, UNTYPED, 0);
    sprintf (job->alloc, "1=%d,2=4000,4=1,5=8,1006=1", n);
}

/* Some nodes have so few jobs that they are idle at times, however many jobs
 * there are. */
static void choose_nodes (month_t *m, job_t *job)
{
    job->nodes = 1 + (unsigned)pick (m, 2);
    job->node = 1 + (unsigned)pick (m, 98);
    if (m->issued > 3000)
        job->node = 1 + (unsigned)pick (m, 10) * 10 + (unsigned)pick (m, 5);
}

static bool holds_any (const job_t *job)
{
    for (type_t t = 0; t < TYPES; t++)
        if (job->devices[t])
            return true;
    return false;
}

static void choose_shape (month_t *m, job_t *job)
{
    static const struct {
        unsigned up_to; /* of 100 */
        void (*shape) (month_t *m, job_t *job, int n);
    } shapes[] = {
        {31, shape_total_and_type},
        {40, shape_types_alone},
        {43, shape_types_above_total},
        {54, shape_untyped},
        {61, shape_partly_typed},
        {67, shape_deleted_type},
        {71, shape_slices},
        {74, shape_unknown_id},
        {77, shape_shard},
        {80, shape_shard_and_gpu},
        {84, shape_only_requested},
        {86, shape_no_value},
        {100, shape_no_gpu},
    };
    unsigned kind = (unsigned)pick (m, 100);
    int n = 1 << pick (m, 5);
    size_t i = 0;

    job->request[0] = '\0';
    job->submit_line = "sbatch run.sh";
    job->told = false;
    memset (job->devices, 0, sizeof (job->devices));
    choose_nodes (m, job);
    while (kind >= shapes[i].up_to)
        i++;
    shapes[i].shape (m, job, n);
    if (!job->request[0] && holds_any (job))
        sprintf (job->request, "1=8,1001=%d", n);
}

/* --- rows --------------------------------------------------------------- */

static uint64_t row_key (const month_t *m)
{
    return m->rows % 3 == 2 ? SLUID_FROM + m->rows : m->rows + 1;
}

typedef struct {
    int64_t submit, eligible, start, end;
    int64_t suspended;
    int64_t limit; /* minutes; 0: none */
    enum state state;
    unsigned pending_tasks;
} row_t;

static void write_row (month_t *m, const job_t *job, const row_t *row)
{
    char account[32], nodes[40] = "None assigned";

    account_name (job->account, account);
    if (row->start && row->pending_tasks == 0)
        snprintf (nodes, sizeof (nodes), job->nodes > 1 ? "g[%u-%u]" : "g%u",
                  job->node, job->node + 1);
    fprintf (m->job_file,
             "%" PRIu64 "\t%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64
             "\t%u\t%u\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
             "\t%" PRId64 "\t%s\t%s\t%s\t%u\t%" PRIu64 "\t%" PRId64 "\n",
             row_key (m), account, association (job->user, job->account),
             job->id, job->array_job, job->array_task, job->het_job,
             job->het_offset, 1000 + job->user, nodes, (int)row->state,
             row->submit, row->eligible, row->start, row->end, row->suspended,
             job->submit_line, row->start ? job->alloc : "", job->request,
             row->pending_tasks, 20 + pick (m, 3),
             row->limit ? row->limit : (int64_t)INFINITE);
    m->rows++;
}

static void write_suspension (month_t *m, const job_t *job, int64_t from,
                              int64_t to)
{
    fprintf (m->suspension_file, "%" PRIu64 "\t%u\t%" PRId64 "\t%" PRId64 "\n",
             row_key (m), association (job->user, job->account), from, to);
    m->suspension_rows++;
}

/* Pauses of the stay, in order and apart from one another; writes them as
 * Slurm does: an interval may begin before the row or end after it. */
static size_t make_pauses (month_t *m, const job_t *job, const attempt_t *a,
                           span_t pause[PAUSES_MAX], bool *ret_open)
{
    int64_t at = a->held.from, whole = a->held.to - a->held.from;
    size_t count = 1 + pick (m, PAUSES_MAX);

    *ret_open = false;
    for (size_t i = 0; i < count; i++) {
        int64_t room = whole / (int64_t)count;
        int64_t begin = at + 1 + (int64_t)pick (m, (uint64_t)room / 2);
        int64_t end = begin + 1 + (int64_t)pick (m, (uint64_t)room / 2 - 1);
        int64_t written_begin, written_end;
        if (i == 0 && a->pause_goes_on)
            begin = a->held.from;
        if (i == count - 1 && (chance (m, 20) || a->state == RESIZING))
            end = a->held.to;
        written_begin = begin;
        written_end = end;
        if (begin == a->held.from && chance (m, 50))
            written_begin -= 100; /* from before the resize */
        if (end == a->held.to) {
            written_end = chance (m, 50) ? 0 : end + 500;
            if (a->held.to == AS_OF)
                written_end = 0;
            *ret_open = written_end == 0;
        }
        write_suspension (m, job, written_begin, written_end);
        pause[i] = (span_t){begin, end};
        at += room;
    }
    /* killed while suspended: the row ends where the pause begins */
    if (pause[count - 1].to < a->held.to && a->held.to < AS_OF
        && chance (m, 20))
        write_suspension (m, job, a->held.to, 0);
    return count;
}

/* The rows of what was suspended have been purged; the sum stays. */
static size_t make_purged_pause (month_t *m, const attempt_t *a,
                                 span_t pause[PAUSES_MAX])
{
    int64_t whole = a->held.to - a->held.from;

    m->totals_left--;
    pause[0]
        = (span_t){a->held.from + 1,
                   a->held.from + 2 + (int64_t)pick (m, (uint64_t)whole - 2)};
    return 1;
}

static int64_t pauses_sum (const span_t *pause, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += pause[i].to - pause[i].from;
    return sum;
}

static bool may_be_purged (const month_t *m, const attempt_t *a)
{
    return m->totals_left > 0 && a->held.to < BEGIN + 6 * DAY
           && a->held.to - a->held.from < DAY;
}

static const char *state_word (enum state state)
{
    static const struct {
        enum state state;
        const char *word;
    } words[] = {
        {RUNNING, "RUNNING"},     {SUSPENDED, "SUSPENDED"},
        {COMPLETED, "COMPLETED"}, {CANCELLED, "CANCELLED"},
        {FAILED, "FAILED"},       {TIMEOUT, "TIMEOUT"},
        {NODE_FAIL, "NODE_FAIL"}, {PREEMPTED, "PREEMPTED"},
        {REQUEUED, "REQUEUED"},   {OUT_OF_MEMORY, "OUT_OF_MEMORY"},
        {RESIZING, "RESIZING"},
    };
    size_t i = 0;

    while (words[i].state != state)
        i++;
    return words[i].word;
}

static void put_stay (month_t *m, const job_t *job, const attempt_t *a,
                      enum state state, const span_t *pause, size_t count,
                      bool only_total)
{
    stay_t stay = {.id = job->id,
                   .user = job->user,
                   .account = job->account,
                   .state = state_word (state),
                   .held = a->held,
                   .node = job->node,
                   .nodes = job->nodes,
                   .told = job->told,
                   .pauses = pause,
                   .pause_count = count,
                   .only_total = only_total};

    memcpy (stay.devices, job->devices, sizeof (stay.devices));
    truth_add (m->truth, &stay);
}

/* One that has ended may have been longer than its limit; one that goes on is
 * not. */
static int64_t some_limit (month_t *m, const row_t *row)
{
    int64_t at_least = row->end ? 1 : (AS_OF - row->start) / 60 + 1;

    return chance (m, 50) ? 0 : at_least + (int64_t)pick (m, 3000);
}

static int64_t some_eligible (month_t *m, int64_t submit)
{
    return chance (m, 3) ? 0 : submit;
}

/* An attempt that began before as-of. False: it goes on. */
static bool put_attempt (month_t *m, job_t *job, attempt_t a)
{
    span_t pause[PAUSES_MAX];
    size_t count = 0;
    bool only_total = false, suspended_now = false;
    row_t row = {.submit = a.submit, .eligible = some_eligible (m, a.submit)};
    int64_t whole;

    if (a.held.to >= AS_OF) {
        a.held.to = AS_OF;
        a.state = RUNNING;
    }
    whole = a.held.to - a.held.from;
    if (whole > 100 && (a.pause_goes_on || chance (m, 12))) {
        only_total = !a.pause_goes_on && may_be_purged (m, &a);
        count = only_total ? make_purged_pause (m, &a, pause)
                           : make_pauses (m, job, &a, pause, &suspended_now);
    }
    row.start = a.written_start ? a.written_start : a.held.from;
    row.end = a.state == RUNNING ? 0 : a.held.to;
    row.suspended = pauses_sum (pause, count);
    row.state = a.state;
    if (a.state == RUNNING && suspended_now) {
        row.state = SUSPENDED;
        /* no duration then: the moment, less what had been before */
        row.suspended = pause[count - 1].from - pauses_sum (pause, count - 1);
    }
    row.limit = some_limit (m, &row);
    put_stay (m, job, &a, row.state, pause, count, only_total);
    write_row (m, job, &row);
    job->last_submit = a.submit;
    if (a.state == NODE_FAIL)
        put_outage (m, job->node, a.held.to);
    return a.state != RUNNING;
}

/* A row without an end, long past its limit: whoever was to tell its end has
 * been lost. It is believed to have ended with the grace that limits have. */
static bool put_runaway (month_t *m, job_t *job, attempt_t a)
{
    row_t row = {.submit = a.submit,
                 .eligible = some_eligible (m, a.submit),
                 .start = a.held.from,
                 .state = RUNNING,
                 .limit = 5 + (int64_t)pick (m, 2000)};
    span_t pause
        = {a.held.from + 60, a.held.from + 61 + (int64_t)pick (m, 200)};
    size_t count = chance (m, 30) ? 1 : 0;

    row.suspended = pauses_sum (&pause, count);
    a.held.to = a.held.from + row.limit * 60 + row.suspended + GRACE;
    if (a.held.to >= AS_OF)
        return false;
    if (!RUNAWAYS_ARE_SEEN)
        a.held.to = AS_OF;
    if (count)
        write_suspension (m, job, pause.from, pause.to);
    put_stay (m, job, &a, RUNNING, &pause, count, false);
    write_row (m, job, &row);
    job->last_submit = a.submit;
    return true;
}

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

    a.held.from = submit + (int64_t)pick (m, chance (m, 70) ? 400 : 50000);
    a.held.to = a.held.from + some_length (m);
    if (chance (m, 10))
        a.held.to = moment (m, a.held.from, a.held.from + 3 * DAY);
    return a;
}

/* Waits if it would begin after as-of. */
static bool try_attempt (month_t *m, job_t *job, attempt_t a)
{
    if (a.held.from >= AS_OF) {
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
        submit = a.held.to + 1 + (int64_t)pick (m, 300);
        a = first_attempt (m, submit);
    } while (more-- > 0 && submit < AS_OF);
}

/* Up to 22.05 the new row has the start of the old one. */
static void live_resized (month_t *m, job_t *job, int64_t submit)
{
    unsigned more = 1 + (unsigned)pick (m, 3);
    bool old_start = chance (m, 50);
    attempt_t a = first_attempt (m, submit);
    int64_t first = a.held.from;

    do {
        if (a.held.to <= a.submit)
            a.held.to = a.submit + 1;
        a.state = more > 0 ? RESIZING : some_end (m);
        if (!try_attempt (m, job, a) || more == 0)
            return;
        choose_shape (m, job);
        a.submit = a.held.from = a.held.to;
        a.held.to += some_length (m);
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
