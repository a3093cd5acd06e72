/* Device usage: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "record/record.h"
#include "store/store_private.h"
#include "store/usage.h"

struct usage_row {
    store_usage_t usage;
    int64_t length_ms;
    const void *measures; /* packed: usage.h */
    size_t measures_length;
};

int store_check_usage (const device_usage_t *usage, gl_error_t *error)
{
    return usage_check (usage, error);
}

/* A device, which many stretches share. */
#define USAGE(MEMBER) usage.usage.MEMBER
static const column_t device_columns[] = {
    COLUMN_AS ("node", NAME, struct usage_row, USAGE (node)),
    COLUMN_AS ("gpu", NAME, struct usage_row, USAGE (gpu)),
    COLUMN_AS ("slice", NAME, struct usage_row, USAGE (slice)),
    COLUMN_AS ("gres_index", I64, struct usage_row, USAGE (gres_index),
               MAYBE (MEASURE_UNKNOWN)),
    COLUMN_AS ("memory_total", I64, struct usage_row, USAGE (memory_total),
               MAYBE (MEASURE_UNKNOWN)),
};
static const row_type_t device_rows
    = ROW_TYPE ("device", device_columns, struct usage_row);

static const column_t columns[] = {
    COLUMN_AS ("cluster", CLUSTER, struct usage_row, USAGE (cluster), KEY),
    COLUMN_AS ("id_job", U64, struct usage_row, USAGE (id_job), KEY),
    COLUMN_AS ("begin_ms", I64, struct usage_row, USAGE (begin_ms), KEY),
    COLUMN_AS ("record_key", BYTES, struct usage_row, usage.key, KEY,
               .size = STORE_KEY_SIZE),
    COLUMN (I64, struct usage_row, length_ms),
    COLUMN_AS ("device", PART, struct usage_row, usage, .part = &device_rows),
    COLUMN (BLOB, struct usage_row, measures),
};
static const row_type_t usage_rows
    = ROW_TYPE ("device_usage", columns, struct usage_row);

/* From what the columns hold to what callers have. */
static int unpack (struct usage_row *row,
                   char histogram[USAGE_HISTOGRAM_MAX + 1], gl_error_t *error)
{
    device_usage_t *u = &row->usage.usage;

    u->end_ms = u->begin_ms + row->length_ms;
    if (usage_unpack (u, row->measures, row->measures_length, histogram) < 0)
        return gl_error (error, "device usage of job %llu: a row is damaged",
                         (unsigned long long)u->id_job);
    return 0;
}

/* There is a row under this key. 1: `fresh` is to stand, 0: the row does. */
static int wins (store_t *store, uint64_t cluster,
                 const struct usage_row *fresh, gl_error_t *error)
{
    char histogram[USAGE_HISTOGRAM_MAX + 1];
    struct usage_row stored;
    int rc = row_get (store, &usage_rows, cluster, fresh, &stored, error);

    if (rc == 0)
        rc = gl_error (error, "a stretch of usage vanished while it was "
                              "written");
    if (rc == 1)
        rc = unpack (&stored, histogram, error);
    if (rc == 0)
        rc = usage_compare (&fresh->usage.usage, &stored.usage.usage) > 0;
    row_release (store, &usage_rows);
    return rc;
}

/* What a put came to. */
enum { USAGE_KEPT, USAGE_ADDED, USAGE_REPLACED };

/* One of them, or -1. */
static int put_usage (store_t *store, uint64_t cluster,
                      const struct usage_row *row, store_counts_t *counts,
                      gl_error_t *error)
{
    int rc = row_add_new (store, &usage_rows, cluster, row, error);

    if (rc == 1) {
        store_count (counts, true, true);
        return USAGE_ADDED;
    }
    if (rc == 0)
        rc = wins (store, cluster, row, error);
    if (rc < 0
        || (rc == 1 && row_put (store, &usage_rows, cluster, row, error) < 0))
        return -1;
    store_count (counts, false, rc == 1);
    return rc == 1 ? USAGE_REPLACED : USAGE_KEPT;
}

int store_put_usage (store_t *store, const uint8_t key[STORE_KEY_SIZE],
                     const device_usage_t *usage, store_counts_t *counts,
                     gl_error_t *error)
{
    struct node_record_id id = {usage->end_ms / 1000, {0}, usage->id_job};
    struct usage_row row
        = {.usage.usage = *usage, .length_ms = usage->end_ms - usage->begin_ms};
    uint8_t measures[USAGE_PACKED_MAX];
    struct cluster_entry *cluster;
    int rc;

    if (usage_check (usage, error) < 0)
        return -1;
    memcpy (row.usage.key, key, STORE_KEY_SIZE);
    row.measures = measures;
    row.measures_length = usage_pack (usage, measures);
    cluster = store_cluster (store, usage->cluster, error);
    if (!cluster)
        return -1;
    rc = put_usage (store, cluster->id, &row, counts, error);
    if (rc < 0
        || (rc != USAGE_KEPT
            && forget_record (store, cluster, usage->id_job,
                              usage->begin_ms / 1000,
                              usage->end_ms / 1000 + 1, error)
                   < 0))
        return -1;
    memcpy (id.key, key, STORE_KEY_SIZE);
    return node_seen (store, cluster->id, usage->node, RECORD_JOB_USAGE,
                      rc == USAGE_ADDED, &id, error);
}

struct usage_iter {
    store_iter_t iter;
    char histogram[USAGE_HISTOGRAM_MAX + 1];
};

static int read_usage (store_iter_t *iter, void *ret_fact, gl_error_t *error)
{
    struct usage_row row = {.usage = *(store_usage_t *)ret_fact};

    if (row_read (&usage_rows, false, iter->walk.st, &row, error) < 0
        || unpack (&row, ((struct usage_iter *)iter)->histogram, error) < 0)
        return -1;
    *(store_usage_t *)ret_fact = row.usage;
    return 1;
}

static const struct walk_plan none_plan = {
    .rows = &usage_rows,
    .where = "t.id_job = 0",
    .period = "t.begin_ms >= ? AND t.begin_ms < ? "
              "AND t.begin_ms + t.length_ms > ?",
    .period_binds = "BES",
};

static const struct walk_plan plan = {
    .rows = &usage_rows,
    .jobs = "t.id_job",
    .period = "t.begin_ms < ? AND t.begin_ms + t.length_ms > ?",
    .period_binds = "ES",
    .by_job = true,
    .sparse = true,
    .between = true, /* what is of no job that accounting knows */
    .none = &none_plan,
};
const struct iter_class usage_iter = {.fact_size = sizeof (store_usage_t),
                                      .plan = &plan,
                                      .size = sizeof (struct usage_iter),
                                      .read = read_usage};
