/* A server that goes away, at any byte of what is said to it and by it, and
 * when it is killed. Run by tests/store/lost_mariadb.sh, which also starts the
 * server again after each kill. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "suite.h"

/*
 * A proxy before the server that lets `budget` bytes pass, of all connections
 * together and in both directions, then closes them all.
 */
#define PAIRS 8

struct proxy {
    int listener;
    size_t budget;
    int pairs[PAIRS][2];
    size_t count;
};

static int connect_to (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf (address.sun_path, sizeof (address.sun_path), "%s", path);
    if (fd < 0 || connect (fd, (void *)&address, sizeof (address)) < 0)
        _exit (3);
    return fd;
}

static int listen_at (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf (address.sun_path, sizeof (address.sun_path), "%s", path);
    unlink (path);
    assert_int_equal (bind (fd, (void *)&address, sizeof (address)), 0);
    assert_int_equal (listen (fd, PAIRS), 0);
    return fd;
}

/* Move what is there; the proxy ends when it has let enough pass. */
static void pass (struct proxy *p, int from, int to)
{
    char bytes[4096];
    size_t room = p->budget < sizeof (bytes) ? p->budget : sizeof (bytes);
    ssize_t got = read (from, bytes, room);

    if (got > 0 && write (to, bytes, (size_t)got) != got)
        got = 0;
    if (got <= 0) {
        /* one side has hung up: so does the other */
        shutdown (from, SHUT_RDWR);
        shutdown (to, SHUT_RDWR);
        return;
    }
    p->budget -= (size_t)got;
    if (p->budget == 0)
        _exit (0);
}

static void run_proxy (struct proxy *p, const char *server)
{
    for (;;) {
        struct pollfd polls[1 + 2 * PAIRS] = {{p->listener, POLLIN, 0}};

        for (size_t i = 0; i < p->count; i++) {
            polls[1 + 2 * i] = (struct pollfd){p->pairs[i][0], POLLIN, 0};
            polls[2 + 2 * i] = (struct pollfd){p->pairs[i][1], POLLIN, 0};
        }
        if (poll (polls, 1 + 2 * p->count, -1) < 0)
            _exit (2);
        for (size_t i = 0; i < p->count; i++) {
            if (polls[1 + 2 * i].revents)
                pass (p, p->pairs[i][0], p->pairs[i][1]);
            if (polls[2 + 2 * i].revents)
                pass (p, p->pairs[i][1], p->pairs[i][0]);
        }
        if (polls[0].revents && p->count < PAIRS) {
            int *pair = p->pairs[p->count++];
            pair[0] = accept (p->listener, NULL, NULL);
            pair[1] = connect_to (server);
        }
    }
}

static pid_t start_proxy (const char *path, const char *server, size_t budget)
{
    struct proxy proxy = {.listener = listen_at (path), .budget = budget};
    pid_t pid = fork ();

    if (pid == 0)
        run_proxy (&proxy, server);
    close (proxy.listener);
    return pid;
}

/* What a collector does, and a report. Everything of `batch` in one
 * transaction. */
#define STRETCHES 6

static int put_batch (store_t *store, void *arg, gl_error_t *reterr)
{
    unsigned batch = *(unsigned *)arg;
    segment_t s = fixture_segment (batch + 1);
    retag_t retag = {"lab", batch + 1, 100, batch, "ann", NULL, "x", NULL};

    for (unsigned i = 0; i < STRETCHES; i++) {
        device_usage_t u = fixture_usage (batch + 1, 1000);
        node_record_t r
            = {.key = {(uint8_t)i, (uint8_t)batch, (uint8_t)(batch >> 8)},
               .kind = 5,
               .cluster = "lab",
               .node = "g001",
               .stamp = batch,
               .payload = "bytes",
               .payload_length = 5};
        u.gres_index = i;
        if (store_put_usage (store, r.key, &u, NULL, reterr) < 0
            || store_put_record (store, &r, NULL, reterr) < 0)
            return -1;
    }
    if (store_put_segment (store, &s, NULL, reterr) < 0)
        return -1;
    return store_put_retag (store, &retag, NULL, reterr);
}

/* Everything of a kind; how much there is. */
#define READ(KIND, kind, type)                                            \
    static int read_##kind (store_t *store, unsigned *ret_count,          \
                            gl_error_t *reterr)                           \
    {                                                                     \
        store_iter_t *iter                                                \
            = store_iter_open (store, STORE_##KIND, NULL, reterr);        \
        type fact;                                                        \
        int rc = -1;                                                      \
        *ret_count = 0;                                                   \
        while (iter && (rc = store_iter_next (iter, &fact, reterr)) == 1) \
            (*ret_count)++;                                               \
        store_iter_close (iter);                                          \
        return rc;                                                        \
    }

READ (SEGMENTS, segment, segment_t)
READ (USAGE, usage, store_usage_t)
READ (RECORDS, record, node_record_t)
READ (RETAGS, retag, retag_t)
READ (NODES, node, store_node_t)

/* A connection that ends is not the end of what there is to read. */
static int read_everything (store_t *store, unsigned batches,
                            gl_error_t *reterr)
{
    unsigned segments, stretches, records, retags, kinds;

    if (read_segment (store, &segments, reterr) < 0
        || read_usage (store, &stretches, reterr) < 0
        || read_record (store, &records, reterr) < 0
        || read_retag (store, &retags, reterr) < 0
        || read_node (store, &kinds, reterr) < 0)
        return -1;
    assert_int_equal (segments, batches);
    assert_int_equal (stretches, batches * STRETCHES);
    assert_int_equal (records, batches * STRETCHES);
    assert_int_equal (retags, batches);
    assert_int_equal (kinds, 2);
    return 0;
}

/* Put, put once more, read. 0, or -1 with an error; *ret_committed: the store
 * said so. */
static int work (const char *url, unsigned batch, bool *ret_committed)
{
    store_t *store = store_open (url, 0, &error);
    int rc = -1;

    *ret_committed = false;
    if (!store)
        return -1;
    if (store_transaction (store, put_batch, &batch, &error) == 0) {
        *ret_committed = true;
        rc = store_transaction (store, put_batch, &batch, &error);
    }
    /* an iterator has a connection of its own, whose loss the store's own
     * cannot know */
    if (rc < 0 && !store_is_lost (store))
        fail_msg ("not lost: %s", error.text);
    if (rc == 0)
        rc = read_everything (store, batch + 1, &error);
    if (rc < 0) {
        gl_error_t again = {""};
        int more = store_begin (store, &again);
        if (more < 0 && !again.text[0])
            fail_msg ("a failure without a word, after: %s", error.text);
        if (more == 0)
            store_rollback (store);
    }
    store_close (store);
    return rc;
}

/* How much of the batch is there: all or nothing. */
static bool holds (const char *url, unsigned batch)
{
    GL_AUTOFREE char *sql = xasprintf (
        "SELECT (SELECT count(*) FROM device_usage WHERE id_job = %u), "
        "(SELECT count(*) FROM node_record WHERE stamp = %u), "
        "(SELECT count(*) FROM segment WHERE id_job = %u), "
        "(SELECT count(*) FROM retag WHERE id_job = %u)",
        batch + 1, batch, batch + 1, batch + 1);
    GL_AUTOFREE char *counts = fixture_counts (url, sql);

    if (strcmp (counts, "6 6 1 1") != 0 && strcmp (counts, "0 0 0 0") != 0)
        fail_msg ("batch %u is there in part: %s", batch, counts);
    return counts[0] == '6';
}

/* The summary of nodes counts what is there, however often it was tried. */
static void assert_counted (const char *url)
{
    GL_AUTOFREE char *counted = fixture_counts (
        url, "SELECT coalesce(sum(CASE kind WHEN 4 THEN records END), 0), "
             "coalesce(sum(CASE kind WHEN 5 THEN records END), 0) FROM node");
    GL_AUTOFREE char *real
        = fixture_counts (url, "SELECT (SELECT count(*) FROM device_usage), "
                               "(SELECT count(*) FROM node_record)");

    assert_string_equal (counted, real);
}

/* The URL with another socket. */
static char *through (const char *url, const char *socket)
{
    const char *query = strstr (url, "?socket=");

    return xasprintf ("%.*s?socket=%s", (int)(query - url), url, socket);
}

static void forget_everything (const char *url)
{
    static const char *const tables[]
        = {"segment", "device_usage", "node_record", "retag", "node"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (tables); i++) {
        GL_AUTOFREE char *sql = xasprintf ("DELETE FROM %s", tables[i]);
        run_sql (url, sql);
    }
}

TEST_CASE (connection__cut_at_any_byte__fails_whole_or_not)
{
    const char *url = fixture_store_url ();
    const char *server = strstr (url, "?socket=") + strlen ("?socket=");
    GL_AUTOFREE char *socket = xasprintf ("%s/cut", fixture_dir ());
    GL_AUTOFREE char *cut = through (url, socket);
    unsigned failed = 0, kept = 0;
    bool committed, whole = false;
    int status;

    for (size_t budget = 1; !whole; budget += budget < 12000 ? 59 : 499) {
        pid_t pid = start_proxy (socket, server, budget);
        whole = work (cut, 0, &committed) == 0;
        if (!whole)
            failed++;
        kill (pid, SIGKILL);
        waitpid (pid, &status, 0);
        if (WIFEXITED (status))
            assert_int_equal (WEXITSTATUS (status), 0);
        if (holds (url, 0))
            kept++;
        else
            assert_false (committed);
        assert_counted (url);
        forget_everything (url);
    }
    unlink (socket);
    /* there were failures of all sorts, and success */
    assert_true (failed > 100);
    assert_true (kept > 3 && kept < failed);
}

static pid_t read_pid (void)
{
    const char *path = getenv ("GPULEDGER_TEST_PIDFILE");
    FILE *fp = fopen (path, "re");
    int pid = 0;

    if (fp) {
        if (fscanf (fp, "%d", &pid) != 1)
            pid = 0;
        fclose (fp);
    }
    return pid;
}

static void wait_for_server (const char *url)
{
    const struct timespec pause = {0, 50000000};
    store_t *store = NULL;

    for (int i = 0; i < 1200 && !store; i++) {
        store = store_open (url, 0, &error);
        if (!store)
            nanosleep (&pause, NULL);
    }
    if (!store)
        fail_msg ("the server does not come back: %s", error.text);
    store_close (store);
}

/* A child that kills the server after a while, so that we work meanwhile. */
static pid_t kill_after (long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    pid_t server = read_pid (), child = fork ();

    if (child == 0) {
        nanosleep (&pause, NULL);
        _exit (server <= 0 || kill (server, SIGKILL) < 0);
    }
    return child;
}

TEST_CASE (server__killed_at_any_moment__keeps_what_it_committed)
{
    const char *url = fixture_store_url ();
    unsigned batch = 0;

    for (int round = 0; round < 5; round++) {
        unsigned first = batch;
        bool committed;
        pid_t killer;
        int status;

        /* however slow the machine is, a round has a batch to lose */
        assert_int_equal (work (url, batch++, &committed), 0);
        killer = kill_after (30 + 61 * round);

        /* the batch that failed, also its answer got lost, is put again */
        while (work (url, batch, &committed) == 0 || committed)
            batch++;
        assert_int_equal (waitpid (killer, &status, 0), killer);
        assert_int_equal (status, 0);
        wait_for_server (url);
        for (unsigned b = first; b < batch; b++)
            assert_true (holds (url, b));
        holds (url, batch);
        assert_counted (url);
    }
}

TEST_MAIN_EACH (NULL, teardown)
