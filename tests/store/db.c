/* The SQL door, on both engines. */
#include <inttypes.h>
#include <stdio.h>

#include "suite.h"

static db_t *open_with_table (void)
{
    const char *url = fixture_url ();
    db_t *db = db_open (url, DB_CREATE, &error);

    if (!db
        || db_exec (db,
                    fixture_on_mysql ()
                        ? "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, "
                          "n BIGINT, b MEDIUMBLOB)"
                        : "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, "
                          "b BLOB)",
                    &error)
               < 0)
        fail_msg ("%s", error.text);
    return db;
}

TEST_CASE (values__of_all_kinds__come_out_the_same)
{
    db_t *db = open_with_table ();
    db_statement_t *add
        = db_prepare (db, "INSERT INTO t VALUES (?, ?, ?)", &error);
    static const size_t lengths[] = {0, 1, 255, 256, 257, 100000, 3};
    static const int64_t numbers[] = {0, -1, INT64_MIN, INT64_MAX, 42, 7, 1};
    static char bytes[100000];

    for (size_t i = 0; i < sizeof (bytes); i++)
        bytes[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
        db_bind_u64 (add, 0, i + 1);
        db_bind_i64 (add, 1, numbers[i]);
        db_bind_blob (add, 2, bytes, lengths[i]);
        OK (db_run (add, &error));
        assert_int_equal (db_affected (db), 1);
    }
    db_bind_u64 (add, 0, 100); /* what is not bound is NULL */
    OK (db_run (add, &error));
    db_finalize (add);
    for (int streamed = 0; streamed < 2; streamed++) {
        const char *sql = "SELECT id, n, b FROM t ORDER BY id";
        db_statement_t *st = streamed ? db_query (db, sql, &error)
                                      : db_prepare (db, sql, &error);
        for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
            assert_int_equal (db_step (st, &error), 1);
            assert_int_equal (db_column_count (st), 3);
            assert_int_equal (db_column_u64 (st, 0), i + 1);
            assert_true (db_column_i64 (st, 1) == numbers[i]);
            assert_int_equal (db_column_length (st, 2), lengths[i]);
            assert_memory_equal (db_column_text (st, 2), bytes, lengths[i]);
            assert_int_equal (db_column_text (st, 2)[lengths[i]], 0);
        }
        assert_int_equal (db_step (st, &error), 1);
        assert_true (db_column_is_null (st, 1));
        assert_int_equal (db_column_i64 (st, 1), 0);
        assert_null (db_column_text (st, 2));
        assert_int_equal (db_column_length (st, 2), 0);
        assert_int_equal (db_step (st, &error), 0);
        db_finalize (st);
    }
    db_close (db);
}

TEST_CASE (unsigned_numbers__above_2_63__keep_their_bits)
{
    db_t *db = open_with_table ();
    db_statement_t *st = db_prepare (db, "INSERT INTO t (id) VALUES (?)",
                                     &error);

    db_bind_u64 (st, 0, UINT64_MAX - 5);
    OK (db_run (st, &error));
    db_finalize (st);
    st = db_prepare (db, "SELECT id FROM t WHERE id = ?", &error);
    db_bind_u64 (st, 0, UINT64_MAX - 5);
    assert_int_equal (db_step (st, &error), 1);
    assert_true (db_column_u64 (st, 0) == UINT64_MAX - 5);
    db_finalize (st);
    db_close (db);
}

TEST_CASE (statement__given_up_half_way__leaves_the_connection_usable)
{
    db_t *db = open_with_table ();
    db_statement_t *all, *count;

    for (int i = 1; i <= 2000; i++) {
        GL_AUTOFREE char *sql = xasprintf ("INSERT INTO t VALUES (%d, 1, 'x')",
                                           i);
        if (fixture_on_mysql () || i < 100)
            OK (db_exec (db, sql, &error));
    }
    for (int streamed = 0; streamed < 2; streamed++) {
        all = streamed ? db_query (db, "SELECT * FROM t", &error)
                       : db_prepare (db, "SELECT * FROM t", &error);
        assert_int_equal (db_step (all, &error), 1);
        db_reset (all);
        count = db_prepare (db, "SELECT count(*) > 90 FROM t", &error);
        assert_int_equal (db_step (count, &error), 1);
        assert_int_equal (db_column_u64 (count, 0), 1);
        db_reset (count);
        assert_int_equal (db_step (all, &error), 1);
        assert_int_equal (db_column_u64 (all, 0), 1);
        db_finalize (all);
        db_finalize (count);
    }
    db_close (db);
}

TEST_CASE (failures__of_several_kinds__are_told_apart)
{
    const struct {
        const char *sql;
        db_failure_t failure;
    } cases[] = {
        {"SELEC", DB_FAILURE_OTHER},
        {"SELECT * FROM missing",
         fixture_on_mysql () ? DB_FAILURE_MISSING : DB_FAILURE_OTHER},
        {"INSERT INTO t (id) VALUES (1)", DB_FAILURE_DUPLICATE},
    };
    db_t *db = open_with_table ();

    OK (db_exec (db, "INSERT INTO t (id) VALUES (1)", &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        assert_int_equal (db_exec (db, cases[i].sql, &error), -1);
        assert_int_equal (db_failure (db), cases[i].failure);
        /* on a cluster another node may have been quicker */
        assert_int_equal (db_retryable (db),
                          fixture_on_mysql ()
                              && cases[i].failure == DB_FAILURE_DUPLICATE);
    }
    assert_null (db_prepare (db, "SELECT * FROM missing", &error));
    db_close (db);
}

TEST_CASE (read_only__connection__refuses_to_write)
{
    db_t *db = open_with_table ();
    db_t *reader = db_open (db_url (db), DB_READ_ONLY, &error);

    assert_non_null (reader);
    assert_int_equal (db_exec (reader, "INSERT INTO t (id) VALUES (1)", &error),
                      -1);
    assert_int_equal (db_failure (reader), DB_FAILURE_DENIED);
    assert_int_equal (db_exec (reader, "CREATE TABLE u (id INTEGER)", &error),
                      -1);
    db_close (reader);
    db_close (db);
}

TEST_CASE (transaction__seen_from_outside__only_when_committed)
{
    db_t *db = open_with_table ();
    db_t *reader = db_open (db_url (db), DB_READ_ONLY, &error);
    db_statement_t *count
        = db_prepare (reader, "SELECT count(*) FROM t", &error);

    OK (db_begin (db, &error));
    assert_int_equal (db_begin (db, &error), -1); /* they do not nest */
    OK (db_exec (db, "INSERT INTO t (id) VALUES (1)", &error));
    assert_int_equal (db_step (count, &error), 1);
    assert_int_equal (db_column_u64 (count, 0), 0);
    db_reset (count);
    OK (db_commit (db, &error));
    assert_int_equal (db_commit (db, &error), -1);
    assert_int_equal (db_step (count, &error), 1);
    assert_int_equal (db_column_u64 (count, 0), 1);
    db_reset (count);
    OK (db_begin_read (reader, &error));
    OK (db_exec (db, "INSERT INTO t (id) VALUES (2)", &error));
    assert_int_equal (db_step (count, &error), 1);
    assert_int_equal (db_column_u64 (count, 0), 1); /* the snapshot's */
    db_finalize (count);
    db_close (reader);
    db_close (db);
}

TEST_CASE (quote_identifier__hostile_name__is_one_name)
{
    static const char *const names[] = {"job_table", "a b", "x`; DROP TABLE t",
                                        "\"", "``", "\xc3\xa4-1"};
    db_t *db = open_with_table ();

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        GL_AUTOFREE char *quoted = db_quote_identifier (db, names[i]);
        GL_AUTOFREE char *sql = xasprintf ("CREATE TABLE %s (id INTEGER)",
                                           quoted);
        GL_AUTOFREE char *drop = xasprintf ("DROP TABLE %s", quoted);
        OK (db_exec (db, sql, &error));
        OK (db_exec (db, drop, &error));
    }
    OK (db_exec (db, "DELETE FROM t", &error));
    db_close (db);
}

TEST_MAIN_EACH (NULL, teardown)
