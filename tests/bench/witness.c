/*
 * witness URL N: puts into an SQLite store what nodes would have told of every
 * Nth segment with a GPU, and prints how many bytes of the store each segment
 * takes then: with job-start and job-end records; with a revision of each
 * twentieth; with the hourly stretches of what its devices did.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "record/record.h"
#include "store/db.h"
#include "store/store.h"

static gl_error_t error;

static void die (void)
{
    fprintf (stderr, "witness: %s\n", error.text);
    exit (1);
}

static uint64_t bytes_of (const char *url)
{
    db_t *db = db_open (url, 0, &error);
    db_statement_t *row;
    uint64_t bytes = 0;

    if (!db
        || !(row = db_query (db,
                             "SELECT page_size * (page_count - freelist_count)"
                             " FROM pragma_page_count, pragma_page_size,"
                             " pragma_freelist_count",
                             &error))
        || db_step (row, &error) < 0)
        die ();
    bytes = db_column_u64 (row, 0);
    db_finalize (row);
    db_close (db);
    return bytes;
}

/* --- what a node tells of a segment -------------------------------------- */

static void common (record_t *r, const segment_t *s, const char *node)
{
    record_set_text (r, RECORD_FIELD_cluster, s->cluster);
    record_set_text (r, RECORD_FIELD_node, node);
    record_set_number (r, RECORD_FIELD_job_id, (int64_t)s->id_job);
    record_set_number (r, RECORD_FIELD_uid, s->uid);
    record_set_number (r, RECORD_FIELD_gid, s->uid);
    record_set_text (r, RECORD_FIELD_partition, s->partition);
    record_set_number (r, RECORD_FIELD_start_time, s->time_start);
    record_set_text (r, RECORD_FIELD_gpus, "0,1,2,3");
}

static void put_record (store_t *store, const segment_t *s, const char *node,
                        record_kind_t kind)
{
    unsigned char bytes[RECORD_MAX];
    evidence_t evidence = {.uid = s->uid,
                           .time_start = s->time_start,
                           .project = "resnet",
                           .source = TAG_OPTION,
                           .gpus = "0,1,2,3"};
    node_record_t fact = {.kind = kind,
                          .cluster = s->cluster,
                          .node = node,
                          .id_job = s->id_job,
                          .payload = bytes};
    record_t r;

    if (record_begin (&r, kind, NULL) < 0)
        die ();
    common (&r, s, node);
    if (kind == RECORD_JOB_START) {
        record_set_text (&r, RECORD_FIELD_project, "resnet");
        record_set_number (&r, RECORD_FIELD_project_source, TAG_OPTION);
        fact.evidence = &evidence;
    } else
        record_set_number (&r, RECORD_FIELD_end_time, s->time_end);
    fact.stamp = kind == RECORD_JOB_START ? s->time_start : s->time_end;
    memcpy (fact.key, r.key, sizeof (fact.key));
    fact.payload_length = record_encode (&r, bytes);
    if (store_put_record (store, &fact, NULL, &error) < 0)
        die ();
}

static void put_hour (store_t *store, const segment_t *s, const char *node,
                      unsigned gpu, int64_t begin, int64_t end)
{
    uint8_t key[STORE_KEY_SIZE];
    int64_t length = end - begin;
    char uuid[64];
    record_t r;
    device_usage_t u = {
        .cluster = s->cluster,
        .node = node,
        .id_job = s->id_job,
        .gpu = uuid,
        .gres_index = gpu,
        .begin_ms = begin,
        .end_ms = end,
        .samples = length / 10000,
        .samples_expected = length / 10000,
        .energy_mj = length * 611,
        .energy_ms = length,
        .energy_rule = 1,
        .utilization_sum = length * 9170,
        .utilization_ms = length,
        .utilization_max = 10000,
        .memory_sum = length * 72512,
        .memory_ms = length,
        .memory_max = 78123,
        .memory_total = 81559,
        .power_sum = length * 611234,
        .power_ms = length,
        .power_max = 698000,
        .clock_sum = length * 1980,
        .clock_ms = length,
        .throttle_ms = length,
        .processes_ms = length,
        .processes_max = 1,
        .holders = 1,
    };

    snprintf (uuid, sizeof (uuid), "GPU-%08" PRIx32 "-6c1d-4e4b-9a58-%012x",
              (uint32_t)(node[1] * 131 + node[2] * 31 + node[3]), gpu);
    if (record_begin (&r, RECORD_JOB_USAGE, NULL) < 0)
        die ();
    memcpy (key, r.key, sizeof (key));
    if (store_put_usage (store, key, &u, NULL, &error) < 0)
        die ();
}

static unsigned gpus_of (const segment_t *s)
{
    return s->gres && !strncmp (s->gres, "gpu=", 4)
               ? (unsigned)strtoul (s->gres + 4, NULL, 10)
               : 0;
}

/* One stretch for each device and each hour, as the agent cuts them. */
static void put_usage (store_t *store, const segment_t *s, const char *node)
{
    const int64_t hour = 3600000;
    int64_t end = s->time_end * 1000;

    for (int64_t at = s->time_start * 1000; at < end;) {
        int64_t next = at - at % hour + hour;
        if (next > end)
            next = end;
        for (unsigned gpu = 0; gpu < gpus_of (s); gpu++)
            put_hour (store, s, node, gpu, at, next);
        at = next;
    }
}

enum what { RECORDS, REVISIONS, USAGE };

static void put_one (store_t *store, const segment_t *s, enum what what)
{
    segment_t changed = *s;
    char node[8] = "g001";

    if (s->nodelist && strlen (s->nodelist) == 4)
        memcpy (node, s->nodelist, 4);
    switch (what) {
    case RECORDS:
        put_record (store, s, node, RECORD_JOB_START);
        put_record (store, s, node, RECORD_JOB_END);
        break;
    case REVISIONS:
        changed.observed_at++;
        changed.time_end++;
        if (store_put_segment (store, &changed, NULL, &error) < 0)
            die ();
        break;
    case USAGE:
        put_usage (store, s, node);
        break;
    }
}

/* Every nth of those with a GPU; returns how many segments there are. */
static uint64_t put_all (store_t *store, uint64_t nth, enum what what)
{
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    uint64_t all = 0, gpu = 0;
    segment_t s;
    int rc;

    if (!iter || store_begin (store, &error) < 0)
        die ();
    while ((rc = store_iter_next (iter, &s, &error)) == 1) {
        all++;
        if (gpus_of (&s) && s.time_end && gpu++ % nth == 0)
            put_one (store, &s, what);
    }
    store_iter_close (iter);
    if (rc < 0 || store_commit (store, &error) < 0)
        die ();
    return all;
}

int main (int argc, char **argv)
{
    static const struct {
        const char *name;
        enum what what;
        uint64_t of; /* of so many witnessed ones one */
    } steps[] = {
        {"with_node_records", RECORDS, 1},
        {"and_revisions_of_one_in_twenty", REVISIONS, 20},
        {"and_hourly_usage_of_each_device", USAGE, 1},
    };
    uint64_t nth = 1, before, now, all;
    double each;
    store_t *store;

    if (argc != 3 || number_u64_text (argv[2], &nth) < 0 || nth == 0) {
        fprintf (stderr, "usage: witness URL N\n");
        return 2;
    }
    store = store_open (argv[1], 0, &error);
    if (!store)
        die ();
    /* puts would forget them one by one, and so hide what they add */
    if (store_begin (store, &error) < 0
        || store_forget_rollups (store, NULL, 0, 0, &error) < 0
        || store_commit (store, &error) < 0)
        die ();
    before = bytes_of (argv[1]);
    each = 0;
    for (size_t i = 0; i < GL_ARRAY_SIZE (steps); i++) {
        all = put_all (store, nth * steps[i].of, steps[i].what);
        now = bytes_of (argv[1]);
        if (i == 0)
            each = (double)before / (double)all;
        if (now > before)
            each += (double)(now - before) * (double)nth / (double)all;
        before = now;
        printf ("%s %.1f\n", steps[i].name, each);
    }
    store_close (store);
    return 0;
}
