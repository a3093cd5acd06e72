/*
 * A real cluster's sacct output against its split by hand (fox_expected.json):
 * totals, every dimension, and the largest number of GPUs in use.
 */
#include "support/test.h"

#include <jansson.h>

#include "gres/tres.h"
#include "support/data.h"
#include "support/segments.h"

typedef struct {
    json_t *dimensions; /* dimension -> key -> [seconds, jobs] */
    const segment_t *segment;
    int64_t seconds; /* of the current segment */
} tally_t;

static void add (tally_t *t, const char *dimension, const char *key,
                 int64_t seconds)
{
    json_t *keys = json_object_get (t->dimensions, dimension), *cell;

    if (!keys) {
        keys = json_object ();
        json_object_set_new (t->dimensions, dimension, keys);
    }
    cell = json_object_get (keys, key);
    if (!cell) {
        cell = json_pack ("[i,i]", 0, 0);
        json_object_set_new (keys, key, cell);
    }
    json_integer_set (json_array_get (cell, 0),
                      json_integer_value (json_array_get (cell, 0)) + seconds);
    json_integer_set (json_array_get (cell, 1),
                      json_integer_value (json_array_get (cell, 1)) + 1);
}

static void add_type (const char *type, size_t length, uint64_t count,
                      void *arg)
{
    tally_t *t = arg;
    GL_AUTOFREE char *key
        = type ? xstrndup (type, length) : xstrdup ("(untyped)");

    add (t, "by_gpu_type", key, (int64_t)count * t->seconds);
}

/* The expected days and months take the clock as it stands: UTC. */
static void add_units (tally_t *t, const zone_t *utc, calendar_unit_t unit,
                       const char *dimension, int64_t devices)
{
    int64_t end = segment_end (t->segment);

    for (int64_t at = t->segment->time_start; at < end;) {
        period_t p = zone_unit (utc, unit, at);
        char key[ZONE_STAMP_SIZE];
        int64_t stop = p.end < end ? p.end : end;
        add (t, dimension, zone_unit_name (utc, unit, at, key),
             devices * (stop - at));
        at = stop;
    }
}

static int64_t tally (const segments_t *all, tally_t *t, const zone_t *utc,
                      int *ret_jobs)
{
    int64_t total = 0;

    *ret_jobs = 0;
    for (size_t i = 0; i < all->count; i++) {
        const segment_t *s = &all->segment[i];
        int64_t devices = gres_devices (s->gres, NULL, NULL, NULL);
        int64_t gpu_seconds;
        if (s->time_start == 0 || devices == 0)
            continue;
        t->segment = s;
        t->seconds = segment_end (s) - s->time_start;
        gpu_seconds = devices * t->seconds;
        total += gpu_seconds;
        ++*ret_jobs;
        gres_devices (s->gres, add_type, t, NULL);
        add_units (t, utc, CALENDAR_DAY, "by_day", devices);
        add_units (t, utc, CALENDAR_MONTH, "by_month", devices);
        add (t, "by_account", s->account, gpu_seconds);
        add (t, "by_user", s->user, gpu_seconds);
        add (t, "by_state", segment_state_name (s->state), gpu_seconds);
        add (t, "by_node", s->nodelist, gpu_seconds);
        add (t, "by_partition", s->partition, gpu_seconds);
    }
    return total;
}

static int64_t peak (const segments_t *all)
{
    int64_t highest = 0;

    for (size_t i = 0; i < all->count; i++) {
        int64_t at = all->segment[i].time_start, in_use = 0;
        for (size_t n = 0; n < all->count; n++) {
            const segment_t *s = &all->segment[n];
            if (s->time_start > 0 && s->time_start <= at
                && at < segment_end (s))
                in_use += (int64_t)gres_devices (s->gres, NULL, NULL, NULL);
        }
        highest = in_use > highest ? in_use : highest;
    }
    return highest;
}

static void compare_dimension (const char *name, json_t *expected,
                               json_t *actual)
{
    const char *key;
    json_t *cell;

    assert_int_equal (json_object_size (expected), json_object_size (actual));
    json_object_foreach (expected, key, cell)
    {
        json_t *ours = json_object_get (actual, key);
        json_t *jobs = json_object_get (cell, "jobs");
        if (!ours)
            fail_msg ("%s: %s is missing", name, key);
        assert_int_equal (
            json_integer_value (json_array_get (ours, 0)),
            json_integer_value (json_object_get (cell, "gpu_seconds")));
        if (jobs)
            assert_int_equal (json_integer_value (json_array_get (ours, 1)),
                              json_integer_value (jobs));
    }
}

static int64_t expected_number (const json_t *expected, const char *name)
{
    return json_integer_value (json_object_get (expected, name));
}

static void compare_stats (const import_stats_t *stats, json_t *expected)
{
    const char *as_of = json_string_value (json_object_get (expected, "as_of"));
    zone_t *utc = zone_open ("UTC", NULL);
    char stamp[ZONE_STAMP_SIZE];

    assert_int_equal (stats->rows, expected_number (expected, "rows"));
    assert_int_equal (stats->segments, expected_number (expected, "jobs"));
    assert_int_equal (stats->steps, expected_number (expected, "steps"));
    assert_int_equal (stats->never_started,
                      expected_number (expected, "jobs_never_started"));
    assert_int_equal (stats->contradictions, 0);
    if (as_of)
        assert_memory_equal (zone_stamp (utc, stats->as_of, stamp), as_of, 19);
    zone_close (utc);
}

static void check_file (const char *name, const char *file)
{
    static const char *const dimensions[] = {
        "by_month", "by_day",      "by_account", "by_user",
        "by_state", "by_gpu_type", "by_node",    "by_partition",
    };
    GL_AUTOFREE char *expected_path = test_data ("slurm/fox_expected.json");
    GL_AUTOFREE char *path = test_data (file);
    json_t *root = json_load_file (expected_path, 0, NULL);
    json_t *expected = json_object_get (root, name);
    tally_t t = {.dimensions = json_object ()};
    zone_t *utc = zone_open ("UTC", NULL);
    segments_t all = {0};
    import_stats_t stats = {0};
    gl_error_t error = {""};
    int jobs;

    assert_non_null (expected);
    if (segments_import (path, "UTC", 0, &all, &stats, &error) < 0)
        fail_msg ("%s", error.text);
    compare_stats (&stats, expected);
    assert_int_equal (
        tally (&all, &t, utc, &jobs),
        expected_number (json_object_get (expected, "total"), "gpu_seconds"));
    assert_int_equal (jobs, expected_number (expected, "jobs_with_gpus"));
    assert_int_equal (peak (&all),
                      expected_number (expected, "peak_gpus_in_use"));
    for (size_t i = 0; i < GL_ARRAY_SIZE (dimensions); i++)
        compare_dimension (dimensions[i],
                           json_object_get (expected, dimensions[i]),
                           json_object_get (t.dimensions, dimensions[i]));
    json_decref (t.dimensions);
    json_decref (root);
    zone_close (utc);
    segments_free (&all);
}

TEST_CASE (import__fox_of_september_2025__every_split)
{
    check_file ("fox_2025-09-26", "slurm/fox_2025-09-26.sacct.gz");
}

TEST_CASE (import__fox_of_november_2024__every_split)
{
    check_file ("fox_2024-11-13", "slurm/fox_2024-11-13.sacct.gz");
}

/* The same file read with the zone in which it was written: no length and no
 * total changes, only the instants. */
TEST_CASE (import__fox_in_oslo__two_hours_earlier)
{
    GL_AUTOFREE char *path = test_data ("slurm/fox_2025-09-26.sacct.gz");
    segments_t utc = {0}, oslo = {0};
    gl_error_t error = {""};

    assert_int_equal (segments_import (path, "UTC", 0, &utc, NULL, &error), 0);
    assert_int_equal (
        segments_import (path, "Europe/Oslo", 0, &oslo, NULL, &error), 0);
    assert_int_equal (utc.count, oslo.count);
    for (size_t i = 0; i < utc.count; i++) {
        assert_int_equal (utc.segment[i].time_submit,
                          oslo.segment[i].time_submit + 7200);
        assert_int_equal (
            segment_end (&utc.segment[i]) - utc.segment[i].time_start,
            segment_end (&oslo.segment[i]) - oslo.segment[i].time_start);
    }
    segments_free (&utc);
    segments_free (&oslo);
}

TEST_MAIN (NULL, NULL)
