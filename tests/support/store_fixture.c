#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/store_fixture.h"
#include "support/test.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "store/db.h"

static char dir[512];
static char **urls;
static size_t url_count;
static unsigned serial; /* of stores; none comes twice */

bool fixture_on_mysql (void)
{
    return getenv ("GPULEDGER_TEST_MYSQL") != NULL;
}

const char *fixture_dir (void)
{
    if (!dir[0]) {
        const char *tmp = getenv ("TMPDIR");
        snprintf (dir, sizeof (dir), "%s/gpuledger-store.XXXXXX",
                  tmp && *tmp ? tmp : "/tmp");
        assert_non_null (mkdtemp (dir));
    }
    return dir;
}

/* The server's template with a database put in. */
static char *server_url (const char *database)
{
    const char *template = getenv ("GPULEDGER_TEST_MYSQL");
    const char *hole = strstr (template, "%s");

    assert_non_null (hole);
    return xasprintf ("%.*s%s%s", (int)(hole - template), template, database,
                      hole + 2);
}

static void create_database (const char *name)
{
    GL_AUTOFREE char *url = server_url ("mysql");
    GL_AUTOFREE char *sql = xasprintf ("CREATE DATABASE %s", name);
    gl_error_t error = {""};
    db_t *db = db_open (url, 0, &error);

    if (!db || db_exec (db, sql, &error) < 0)
        fail_msg ("%s", error.text);
    db_close (db);
}

const char *fixture_url (void)
{
    char *url;

    urls = xreallocarray (urls, url_count + 1, sizeof (*urls));
    if (fixture_on_mysql ()) {
        GL_AUTOFREE char *name
            = xasprintf ("test_%d_%u", (int)getpid (), serial++);
        create_database (name);
        url = server_url (name);
    } else
        url = xasprintf ("sqlite:%s/%u.db", fixture_dir (), serial++);
    urls[url_count++] = url;
    return url;
}

const char *fixture_store_url (void)
{
    const char *url = fixture_url ();
    gl_error_t error = {""};

    if (store_init (url, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    return url;
}

void fixture_done (void)
{
    GL_AUTOFREE char *command = xasprintf ("rm -rf '%s'", dir);

    for (size_t i = 0; i < url_count; i++)
        free (urls[i]);
    free (urls);
    urls = NULL;
    url_count = 0;
    if (dir[0])
        assert_int_equal (system (command), 0);
    dir[0] = '\0';
}

store_t *fixture_open (const char *url)
{
    gl_error_t error = {""};
    store_t *store = store_open (url, 0, &error);

    if (!store)
        fail_msg ("%s", error.text);
    return store;
}

static void dump_text (buffer_t *b, const char *text)
{
    if (text)
        buffer_printf (b, " \"%s\"", text);
    else
        buffer_add_text (b, " -");
}

static void dump_segment (buffer_t *b, const segment_t *s)
{
    const char *texts[]
        = {s->user,          s->account,     s->partition,     s->qos,
           s->wckey,         s->reservation, s->nodelist,      s->job_name,
           s->admin_comment, s->gres,        s->gres_requested};

    buffer_printf (b,
                   "segment %s %" PRIu64 " %" PRId64 ": %" PRId64 " %" PRId64
                   " %" PRId64 " %" PRId64 " %" PRId64 " %d %d %" PRIu32
                   " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRId32,
                   s->cluster, s->id_job, s->time_submit, s->time_start,
                   s->time_end, s->observed_at, s->suspended, s->time_limit,
                   (int)s->state, (int)s->source, s->uid, s->gpu_asked, s->cpus,
                   s->memory_mb, s->nodes, s->array_job, s->array_task,
                   s->het_job, s->het_offset, s->job_db_inx, s->restart_count);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        dump_text (b, texts[i]);
    if (s->gres_lost)
        buffer_printf (b, " lost=%" PRId64, s->gres_lost);
    if (s->time_eligible)
        buffer_printf (b, " eligible=%" PRId64, s->time_eligible);
    if (s->array_waiting)
        buffer_printf (b, " waiting=%" PRIu32, s->array_waiting);
    buffer_add_char (b, '\n');
}

static void dump_evidence (buffer_t *b, const evidence_t *e)
{
    buffer_printf (
        b, "evidence %s %" PRIu64 " %" PRId64 ": %" PRIu32 " %" PRId64 " %d",
        e->cluster, e->id_job, e->stamp, e->uid, e->time_start, (int)e->source);
    dump_text (b, e->node);
    dump_text (b, e->project);
    dump_text (b, e->labels);
    dump_text (b, e->gpus);
    buffer_add_char (b, '\n');
}

static void dump_suspension (buffer_t *b, const suspension_t *s)
{
    buffer_printf (
        b, "suspension %s %" PRIu64 " %" PRId64 ": %" PRId64 " %" PRId64 "\n",
        s->cluster, s->id_job, s->time_submit, s->start, s->end);
}

static void dump_event (buffer_t *b, const node_event_t *e)
{
    buffer_printf (b, "event %s %" PRId64 ": %" PRId64 " %" PRIu32, e->cluster,
                   e->start, e->end, e->state);
    dump_text (b, e->node);
    dump_text (b, e->gres);
    dump_text (b, e->nodelist);
    dump_text (b, e->reason);
    buffer_add_char (b, '\n');
}

static void dump_reservation (buffer_t *b, const reservation_t *r)
{
    buffer_printf (
        b, "reservation %s %" PRId64 " %" PRIu64 ": %" PRId64 " %" PRIu64,
        r->cluster, r->start, r->id, r->end, r->flags);
    dump_text (b, r->name);
    dump_text (b, r->nodelist);
    dump_text (b, r->accounts);
    buffer_add_char (b, '\n');
}

static void dump_key (buffer_t *b, const uint8_t key[STORE_KEY_SIZE])
{
    for (size_t i = 0; i < STORE_KEY_SIZE; i++)
        buffer_printf (b, "%02x", key[i]);
}

static void dump_record (buffer_t *b, const node_record_t *r)
{
    buffer_printf (b, "record %s %" PRIu64 " %" PRId64 " ", r->cluster,
                   r->id_job, r->stamp);
    dump_key (b, r->key);
    buffer_printf (b, ": %" PRIu32, r->kind);
    dump_text (b, r->node);
    buffer_add_char (b, ' ');
    for (size_t i = 0; i < r->payload_length; i++)
        buffer_printf (b, "%02x", ((const uint8_t *)r->payload)[i]);
    buffer_add_char (b, '\n');
}

/* The numbers of a stretch in the order of their declaration. */
static void dump_measures (buffer_t *b, const device_usage_t *u)
{
    const int64_t numbers[]
        = {u->gres_index,      u->begin_ms,         u->end_ms,
           u->samples,         u->samples_expected, u->energy_mj,
           u->energy_ms,       u->energy_rule,      u->counter_resets,
           u->utilization_sum, u->utilization_ms,   u->utilization_max,
           u->memory_sum,      u->memory_ms,        u->memory_max,
           u->memory_total,    u->power_sum,        u->power_ms,
           u->power_max,       u->clock_sum,        u->clock_ms,
           u->throttled_ms,    u->throttle_ms,      u->throttle_reasons,
           u->processes_ms,    u->processes_max,    u->no_process_ms,
           u->idle_ms,         u->idle_longest_ms,  u->idle_rule,
           u->holders};

    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++)
        buffer_printf (b, " %" PRId64, numbers[i]);
}

static void dump_usage (buffer_t *b, const store_usage_t *stored)
{
    const device_usage_t *u = &stored->usage;

    buffer_printf (b, "usage %s %" PRIu64 " ", u->cluster, u->id_job);
    dump_key (b, stored->key);
    buffer_add_char (b, ':');
    dump_measures (b, u);
    dump_text (b, u->node);
    dump_text (b, u->gpu);
    dump_text (b, u->slice);
    dump_text (b, u->utilization_histogram);
    buffer_add_char (b, '\n');
}

static void dump_retag (buffer_t *b, const retag_t *r)
{
    buffer_printf (b, "retag %s %" PRIu64 " %" PRId64 " %" PRId64 ":",
                   r->cluster, r->id_job, r->time_submit, r->stamp);
    dump_text (b, r->who);
    dump_text (b, r->previous);
    dump_text (b, r->project);
    dump_text (b, r->labels);
    buffer_add_char (b, '\n');
}

static void dump_node (buffer_t *b, const store_node_t *n)
{
    buffer_printf (b, "node %s %s %" PRIu32 ": %" PRIu64 " %" PRId64 " ",
                   n->cluster, n->node, n->kind, n->records, n->last_stamp);
    dump_key (b, n->last_key);
    buffer_printf (b, " %zu\n", n->payload_length);
}

#define DUMP(KIND, kind, type)                                            \
    do {                                                                  \
        store_iter_t *iter                                                \
            = store_iter_open (store, STORE_##KIND, NULL, &error);        \
        type fact;                                                        \
        int rc = -1;                                                      \
        while (iter && (rc = store_iter_next (iter, &fact, &error)) == 1) \
            dump_##kind (&b, &fact);                                      \
        store_iter_close (iter);                                          \
        if (rc < 0)                                                       \
            fail_msg ("%s", error.text);                                  \
    } while (0)

char *fixture_dump (const char *url)
{
    store_t *store = fixture_open (url);
    gl_error_t error = {""};
    buffer_t b = BUFFER_INIT;
    store_cluster_t *clusters;
    size_t count;

    if (store_clusters (store, &clusters, &count, &error) < 0)
        fail_msg ("%s", error.text);
    for (size_t i = 0; i < count; i++)
        buffer_printf (&b, "cluster %s %" PRId64 "\n", clusters[i].name,
                       clusters[i].as_of);
    store_clusters_free (clusters, count);
    DUMP (SEGMENTS, segment, segment_t);
    DUMP (SUSPENSIONS, suspension, suspension_t);
    DUMP (EVIDENCE, evidence, evidence_t);
    DUMP (RECORDS, record, node_record_t);
    DUMP (EVENTS, event, node_event_t);
    DUMP (RESERVATIONS, reservation, reservation_t);
    DUMP (USAGE, usage, store_usage_t);
    DUMP (RETAGS, retag, retag_t);
    DUMP (NODES, node, store_node_t);
    store_close (store);
    return buffer_take (&b);
}

segment_t fixture_segment (uint64_t id_job)
{
    return (segment_t){
        .cluster = "lab",
        .id_job = id_job,
        .time_submit = 1700000000 + (int64_t)id_job,
        .time_start = 1700000100 + (int64_t)id_job,
        .time_end = 1700003700 + (int64_t)id_job,
        .observed_at = 1800000000,
        .suspended = 0,
        .time_limit = 7200,
        .state = SEGMENT_COMPLETED,
        .source = SOURCE_SLURMDBD,
        .user = "ada",
        .uid = 1000,
        .account = "vision",
        .partition = "gpu",
        .qos = "normal",
        .nodelist = "g[001-002]",
        .job_name = "train",
        .gres = "gpu=4,gpu:a100=4",
        .gres_requested = "gpu=4",
        .gpu_asked = true,
        .cpus = 16,
        .memory_mb = 65536,
        .nodes = 2,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
        .job_db_inx = id_job,
        .restart_count = 0,
    };
}

char *fixture_counts (const char *url, const char *sql)
{
    gl_error_t error = {""};
    db_t *db = db_open (url, 0, &error);
    db_statement_t *st = db ? db_query (db, sql, &error) : NULL;
    buffer_t b = BUFFER_INIT;

    if (!st || db_step (st, &error) != 1)
        fail_msg ("%s", error.text);
    for (unsigned i = 0; i < db_column_count (st); i++)
        buffer_printf (&b, "%s%s", i ? " " : "",
                       db_column_text (st, i) ? db_column_text (st, i) : "-");
    db_finalize (st);
    db_close (db);
    return buffer_take (&b);
}

device_usage_t fixture_usage (uint64_t id_job, int64_t begin)
{
    return (device_usage_t){
        .cluster = "lab",
        .node = "g001",
        .id_job = id_job,
        .gpu = "GPU-6b1f5f4c-6c1d-4e4b-9a58-0d3ab1d1a0f1",
        .gres_index = 3,
        .begin_ms = begin * 1000,
        .end_ms = begin * 1000 + 3600000,
        .samples = 360,
        .samples_expected = 360,
        .energy_mj = 2304567891,
        .energy_ms = 3600000,
        .energy_rule = 1,
        .counter_resets = 0,
        .utilization_sum = INT64_C (33123456789),
        .utilization_ms = 3600000,
        .utilization_max = 10000,
        .utilization_histogram = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,610000,"
                                 "2990000",
        .memory_sum = INT64_C (261234567890),
        .memory_ms = 3600000,
        .memory_max = 79123,
        .memory_total = 81559,
        .power_sum = INT64_C (2304567891234),
        .power_ms = 3600000,
        .power_max = 702345,
        .clock_sum = INT64_C (7012345678),
        .clock_ms = 3600000,
        .throttled_ms = 120345,
        .throttle_ms = 3600000,
        .throttle_reasons = 4,
        .processes_ms = 3600000,
        .processes_max = 1,
        .no_process_ms = 0,
        .idle_ms = 0,
        .idle_longest_ms = 0,
        .idle_rule = 0,
        .holders = 1,
    };
}
