/* Stores that older programs made: on SQLite, and by
 * tests/store/upgrade_mariadb.sh on MariaDB.
 * tests/data/store/schemaN.ENGINE.sql was written by the program of schema N
 * and is never made anew; schemaN.txt is what it holds. */
#include <stdio.h>

#include "suite.h"
#include "support/data.h"

#include "base/buffer.h"
#include "base/memory.h"

static char *read_data (const char *name)
{
    GL_AUTOFREE char *path = test_data (name);
    buffer_t text = BUFFER_INIT;
    FILE *fp = fopen (path, "re");
    size_t got;

    if (!fp)
        fail_msg ("cannot read %s", path);
    while ((got = fread (buffer_reserve (&text, 65536), 1, 65536, fp)) > 0)
        text.length += got;
    fclose (fp);
    buffer_add_text (&text, "");
    return buffer_take (&text);
}

/* A statement ends with the line that ends with ';'. */
static void run_script (const char *url, char *script)
{
    db_t *db = db_open (url, DB_CREATE, &error);

    assert_non_null (db);
    while (*script) {
        char *end = strstr (script, ";\n");
        if (end)
            *end = '\0';
        if (db_exec (db, script, &error) < 0)
            fail_msg ("%s: %s", error.text, script);
        script = end ? end + 2 : script + strlen (script);
    }
    db_close (db);
}

static const char *store_of (unsigned schema)
{
    GL_AUTOFREE char *name
        = xasprintf ("store/schema%u.%s.sql", schema,
                     fixture_on_mysql () ? "mysql" : "sqlite");
    GL_AUTOFREE char *script = read_data (name);
    const char *url = fixture_url ();

    run_script (url, script);
    return url;
}

static char *facts_of (unsigned schema)
{
    GL_AUTOFREE char *name = xasprintf ("store/schema%u.txt", schema);

    return read_data (name);
}

static const char *store_of_schema_1 (void)
{
    return store_of (1);
}

static void open__older_schema__says_run_init (void **state)
{
    (void)state;
    assert_refused (store_of_schema_1 (), "has schema 1");
    assert_non_null (strstr (error.text, "run gpuledger init"));
}

static void keeps_every_fact (unsigned schema)
{
    const char *url = store_of (schema);
    GL_AUTOFREE char *expected = facts_of (schema);
    GL_AUTOFREE char *dump = NULL;
    unsigned before = 0;

    OK (store_init (url, &before, &error));
    assert_int_equal (before, schema);
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
    OK (store_init (url, &before, &error));
    assert_int_equal (before, store_schema_newest ());
}

static void init__older_schema__keeps_every_fact (void **state)
{
    (void)state;
    for (unsigned schema = 1; schema < store_schema_newest (); schema++)
        keeps_every_fact (schema);
}

/* Found by the index that the upgrade makes, as all of them are. */
static void init__older_schema__every_period_is_found (void **state)
{
    const char *url = store_of (2);
    store_query_t all = {.cluster = "lab"};
    store_segment_iter_t *iter, *one;
    store_t *store;
    segment_t s, found;

    (void)state;
    OK (store_init (url, NULL, &error));
    store = fixture_open (url);
    iter = store_segment_iter_open (store, &all, &error);
    while (store_segment_iter_next (iter, &s, &error) == 1) {
        int64_t end = s.time_end ? s.time_end : s.time_seen;
        store_query_t last = {.start = end - 1, .end = end};
        int count = 0;
        one = store_segment_iter_open (store, &last, &error);
        while (store_segment_iter_next (one, &found, &error) == 1)
            count += found.id_job == s.id_job
                     && found.time_submit == s.time_submit;
        store_segment_iter_close (one);
        assert_int_equal (count, 1);
    }
    store_segment_iter_close (iter);
    store_close (store);
}

/* As if it had been made new: the same facts on top give the same bytes. */
static void put__into_an_upgraded_store__as_into_a_new_one (void **state)
{
    const char *upgraded = store_of_schema_1 (), *new = fixture_store_url ();
    const char *urls[] = {upgraded, new};
    device_usage_t u = fixture_usage (102, 1793000000);
    retag_t retag = {"lab", 102,   1791086340,     1793100000,
                     "ann", "old", "segmentation", "a=b"};
    node_record_t record = {.kind = 6,
                            .cluster = "lab",
                            .node = "g001",
                            .stamp = 1793090000,
                            .payload = "skew",
                            .payload_length = 4};
    GL_AUTOFREE char *first = NULL, *second = NULL;
    const char *tails[2];

    (void)state;
    OK (store_init (upgraded, NULL, &error));
    for (size_t i = 0; i < 2; i++) {
        store_t *store = fixture_open (urls[i]);
        OK (store_begin (store, &error));
        OK (store_put_usage (store, record.key, &u, NULL, &error));
        OK (store_put_retag (store, &retag, NULL, &error));
        OK (store_put_record (store, &record, NULL, &error));
        OK (store_commit (store, &error));
        store_close (store);
    }
    first = fixture_dump (upgraded);
    second = fixture_dump (new);
    tails[0] = strstr (first, "\nusage ");
    tails[1] = strstr (second, "\nusage ");
    assert_memory_equal (tails[0], tails[1],
                         (size_t)(strstr (tails[0], "\nnode ") - tails[0]));
    /* two of skew before, and this one is newer */
    assert_non_null (strstr (first, "node lab g001 6: 3 1793090000 "));
}

static int init_one (const char *url)
{
    if (store_init (url, NULL, &error) < 0)
        fprintf (stderr, "# %s\n", error.text);
    return error.text[0] != '\0';
}

static void init__older_schema_by_several_at_once__all_succeed (void **state)
{
    const char *url = store_of_schema_1 ();
    GL_AUTOFREE char *expected = read_data ("store/schema1.txt");
    GL_AUTOFREE char *dump = NULL;
    pid_t pids[4];
    int status;

    (void)state;
    error.text[0] = '\0';
    for (size_t i = 0; i < GL_ARRAY_SIZE (pids); i++) {
        pids[i] = fork ();
        if (pids[i] == 0)
            _exit (init_one (url));
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (pids); i++) {
        assert_int_equal (waitpid (pids[i], &status, 0), pids[i]);
        assert_int_equal (status, 0);
    }
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
}

/* A server commits each change of a table: what was cut short anywhere is
 * completed by running all of it again. */
static void init__upgrade_was_cut_short__is_completed (void **state)
{
    const char *url = store_of_schema_1 ();
    GL_AUTOFREE char *expected = read_data ("store/schema1.txt");
    GL_AUTOFREE char *dump = NULL;
    unsigned before = 0;

    (void)state;
    OK (store_init (url, NULL, &error));
    if (fixture_on_mysql ())
        run_sql (url, "UPDATE meta SET value = '1' "
                      "WHERE name = 'gpuledger.schema'");
    OK (store_init (url, &before, &error));
    assert_int_equal (before, fixture_on_mysql () ? 1 : store_schema_newest ());
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (open__older_schema__says_run_init),
        TEST (init__older_schema__keeps_every_fact),
        TEST (init__older_schema__every_period_is_found),
        TEST (put__into_an_upgraded_store__as_into_a_new_one),
        TEST (init__older_schema_by_several_at_once__all_succeed),
        TEST (init__upgrade_was_cut_short__is_completed),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
