/* What nodes and people say of jobs, in and out: device usage, retags, records
 * by kind, summaries. On SQLite, and by tests/store/nodes_mariadb.sh on
 * MariaDB. */
#include <inttypes.h>
#include <stdio.h>

#include "suite.h"

static const uint8_t *key_of (unsigned n)
{
    static uint8_t key[STORE_KEY_SIZE];

    memset (key, 0, sizeof (key));
    key[0] = (uint8_t)n;
    key[1] = (uint8_t)(n >> 8);
    return key;
}

static store_counts_t put (const char *url, unsigned key,
                           const device_usage_t *usage)
{
    store_t *store = fixture_open (url);
    store_counts_t counts = {0};

    OK (store_begin (store, &error));
    OK (store_put_usage (store, key_of (key), usage, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    return counts;
}

static void put_usage__everything_known__comes_out_the_same (void **state)
{
    const char *url = fixture_store_url ();
    device_usage_t u = fixture_usage (7, 1700000000);
    GL_AUTOFREE char *dump = NULL;

    (void)state;
    u.slice = "MIG-1";
    assert_int_equal (put (url, 1, &u).inserted, 1);
    assert_int_equal (put (url, 1, &u).unchanged, 1);
    dump = fixture_dump (url);
    assert_string_equal (
        dump,
        "cluster lab 0\n"
        "usage lab 7 01000000000000000000000000000000: 3 1700000000000 "
        "1700003600000 360 360 2304567891 3600000 1 0 33123456789 3600000 "
        "10000 261234567890 3600000 79123 81559 2304567891234 3600000 702345 "
        "7012345678 3600000 120345 3600000 4 3600000 1 0 0 0 0 1 \"g001\" "
        "\"GPU-6b1f5f4c-6c1d-4e4b-9a58-0d3ab1d1a0f1\" \"MIG-1\" "
        "\"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,610000,2990000\"\n"
        "node lab g001 4: 1 1700003600 01000000000000000000000000000000 0\n");
}

static void put_usage__nothing_known__stays_unknown (void **state)
{
    const char *url = fixture_store_url ();
    device_usage_t u;
    GL_AUTOFREE char *dump = NULL;

    (void)state;
    memset (&u, 0xff, sizeof (u)); /* MEASURE_UNKNOWN is -1 */
    u.cluster = "lab";
    u.node = u.gpu = u.slice = u.utilization_histogram = NULL;
    u.id_job = 0;
    u.begin_ms = u.end_ms = 5000;
    put (url, 1, &u);
    dump = fixture_dump (url);
    assert_string_equal (
        dump, "cluster lab 0\n"
              "usage lab 0 01000000000000000000000000000000: -1 5000 5000 -1 "
              "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "
              "-1 -1 -1 -1 -1 -1 - - - -\n");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (put_usage__everything_known__comes_out_the_same),
        TEST (put_usage__nothing_known__stays_unknown),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
