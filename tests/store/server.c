/* What only a server can do: stores in MariaDB. Run by
 * tests/store/server_mariadb.sh. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

TEST_CASE (login__wrong__says_what_to_check)
{
    const char *url = fixture_store_url ();
    GL_AUTOFREE char *file = NULL, *wrong = NULL, *right = NULL;
    GL_AUTOFREE char *stranger = NULL, *nowhere = NULL;
    const char *database = strrchr (url, '/'), *query;
    FILE *fp;

    /* mysql://root@localhost/DB?socket=S: take it apart */
    database = url + strlen ("mysql://root@localhost/");
    query = strchr (database, '?');
    run_sql (url, "CREATE USER keeper@localhost IDENTIFIED BY 'it''s right'");
    run_sql (url, "GRANT SELECT ON *.* TO keeper@localhost");
    run_sql (url, "CREATE USER stranger@localhost");
    file = xasprintf ("%s/options", fixture_dir ());
    fp = fopen (file, "we");
    fputs ("[client]\npassword=wrong\nlocal-infile=1\n[ledger]\n"
           "password=\"it's right\"\n",
           fp);
    fclose (fp);
    wrong = xasprintf ("mysql://keeper@localhost/%s&option-file=%s", database,
                       file);
    right = xasprintf ("%s&group=ledger", wrong);
    stranger = xasprintf ("mysql://stranger@localhost/%s", database);
    nowhere = xasprintf ("mysql://root@localhost/no_such_db%s", query);
    assert_refused (wrong, "option-file");
    assert_refused (stranger, "grants.sql");
    assert_refused (nowhere, "create it");
    store_close (fixture_open (right));
    unlink (file);
}

TEST_CASE (connection__killed__fails_and_nothing_happened)
{
    const char *url = fixture_store_url ();
    store_t *store;
    uint64_t first = 1, last;

    store = fixture_open (url);
    OK (store_begin (store, &error));
    OK (put_hundred (store, &first, &error));
    /* the one other connection of root to this database */
    {
        GL_AUTOFREE char *id = fixture_counts (
            url, "SELECT min(id) FROM information_schema.processlist "
                 "WHERE db = DATABASE() AND id <> CONNECTION_ID()");
        GL_AUTOFREE char *sql = xasprintf ("KILL %s", id);
        run_sql (url, sql);
    }
    first = 1001;
    assert_int_equal (put_hundred (store, &first, &error), -1);
    assert_non_null (strstr (error.text, "server"));
    store_close (store);
    assert_int_equal (count_all (url, &last), 0);
}

TEST_CASE (hosts__not_of_a_cluster__are_refused)
{
    const char *url = fixture_store_url ();
    const char *rest = strstr (url, "@localhost/") + strlen ("@localhost/");
    GL_AUTOFREE char *list
        = xasprintf ("mysql://root@localhost,localhost/%s", rest);

    assert_refused (list, "several hosts of such a cluster only");
}

/* Sockets that a program which we start would have, too. */
static int inherited_sockets (void)
{
    DIR *dir = opendir ("/proc/self/fd");
    struct dirent *entry;
    struct stat st;
    int count = 0;

    assert_non_null (dir);
    while ((entry = readdir (dir))) {
        int fd = atoi (entry->d_name);
        if (entry->d_name[0] != '.' && fstat (fd, &st) == 0
            && S_ISSOCK (st.st_mode) && !(fcntl (fd, F_GETFD) & FD_CLOEXEC))
            count++;
    }
    closedir (dir);
    return count;
}

TEST_CASE (connection__program_started__does_not_have_it)
{
    int before = inherited_sockets ();
    store_t *store = fixture_open (fixture_store_url ());

    assert_int_equal (inherited_sockets (), before);
    store_close (store);
}

TEST_CASE (infile__asked_of_us__is_refused)
{
    const char *url = fixture_store_url ();
    db_t *db;

    run_sql (url, "SET GLOBAL local_infile = 1");
    db = db_open (url, 0, &error);
    assert_non_null (db);
    assert_int_equal (
        db_exec (db, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE text",
                 &error),
        -1);
    db_close (db);
}

TEST_CASE (init__cut_short__is_said_and_completed)
{
    const char *url = fixture_url ();

    run_sql (url, "CREATE TABLE meta (name VARBINARY(255) PRIMARY KEY, "
                  "value MEDIUMBLOB NOT NULL)");
    assert_refused (url, "run gpuledger init again");
    OK (store_init (url, NULL, &error));
    store_close (fixture_open (url));
}

/* Facts of every kind, with texts that a collation would sort or fold. */
static int put_facts (store_t *store, void *arg, gl_error_t *reterr)
{
    static const char *const names[] = {"b", "B", "a", "\xc3\xa4", "A", "a "};

    (void)arg;
    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        const char *name = names[i];
        segment_t s = fixture_segment (10 - i);
        suspension_t suspension = {name, 7, 100, 200, 300};
        node_event_t event = {name, name, 100, 0, 1, "gpu=4", NULL, name};
        reservation_t r = {name, 3, 100, 200, UINT64_MAX, name, "g1", NULL};
        evidence_t e = {.uid = 1, .source = TAG_OPTION, .project = name};
        node_record_t record = {.key = {(uint8_t)(200 - i)},
                                .kind = 1,
                                .cluster = name,
                                .node = name,
                                .id_job = 7,
                                .stamp = 5,
                                .payload = name,
                                .payload_length = 1,
                                .evidence = &e};

        device_usage_t u = fixture_usage (i, 1000 - (int64_t)i);
        retag_t retag = {name, 7, 100, 200, name, NULL, name, NULL};
        node_record_t skew = {.key = {(uint8_t)i},
                              .kind = 6,
                              .cluster = name,
                              .node = name,
                              .payload = ""};

        s.cluster = s.user = s.job_name = name;
        u.cluster = u.node = u.gpu = u.slice = name;
        u.utilization_histogram = name;
        s.job_db_inx = UINT64_MAX - i;
        if (store_put_segment (store, &s, NULL, reterr) < 0
            || store_put_suspension (store, &suspension, NULL, reterr) < 0
            || store_put_event (store, &event, 1000, NULL, reterr) < 0
            || store_put_reservation (store, &r, 1000, NULL, reterr) < 0
            || store_put_record (store, &record, NULL, reterr) < 0
            || store_put_record (store, &skew, NULL, reterr) < 0
            || store_put_usage (store, record.key, &u, NULL, reterr) < 0
            || store_put_retag (store, &retag, NULL, reterr) < 0)
            return -1;
    }
    return 0;
}

static char *dump_of_facts (const char *url)
{
    store_t *store = fixture_open (url);

    OK (store_transaction (store, put_facts, NULL, &error));
    store_close (store);
    return fixture_dump (url);
}

TEST_CASE (facts__on_both_engines__same_bytes)
{
    GL_AUTOFREE char *url = xasprintf ("sqlite:%s/both.db", fixture_dir ());
    GL_AUTOFREE char *sqlite = NULL, *mysql = NULL;

    OK (store_init (url, NULL, &error));
    sqlite = dump_of_facts (url);
    mysql = dump_of_facts (fixture_store_url ());
    assert_string_equal (mysql, sqlite);
}

TEST_MAIN_EACH (NULL, teardown)
