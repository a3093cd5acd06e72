#include "support/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/spool.h"
#include "record/spool_read.h"
#include "ship.h"
#include "support/fake_credential.h"
#include "support/listener.h"

#define COLLECTOR 4711

/* A spool, a shipper for it and a collector of our own making. */
struct fixture {
    char dir[64];
    listener_t *listener;
    ship_t *ship;
    ship_health_t health;
    gl_error_t error;
    unsigned char key[4096][RECORD_KEY_SIZE]; /* as appended */
    size_t count;
    int retry_ms;
};

static void speak_as (listener_t *listener)
{
    fake_credential_uid = listener->speaks_as;
}

static listener_t *start_listener (void)
{
    listener_t *listener = calloc (1, sizeof (*listener));

    listener->begin = speak_as;
    listener->speaks_as = COLLECTOR;
    assert_int_equal (listener_start (listener), 0);
    return listener;
}

static void end_listener (listener_t *listener)
{
    if (!listener)
        return;
    listener_stop (listener);
    free (listener);
}

/* Short times: the other end is in this process. */
static ship_t *make_ship (struct fixture *f, const char *const *hosts,
                          size_t count)
{
    const ship_config_t config = {.spool = f->dir,
                                  .cluster = "lab",
                                  .node = "g1",
                                  .hosts = hosts,
                                  .host_count = count,
                                  .collector = COLLECTOR,
                                  .connect_ms = 150,
                                  .reply_ms = 150,
                                  .retry_ms = f->retry_ms,
                                  .retry_max_ms = 2 * f->retry_ms,
                                  .spread_ms = -1,
                                  .look_ms = 20,
                                  .prices_ms = -1};
    ship_t *ship = ship_new (&config, &f->error);

    if (!ship)
        fail_msg ("%s", f->error.text);
    return ship;
}

static void restart (struct fixture *f)
{
    const char *host = f->listener->address;

    ship_free (f->ship);
    f->ship = make_ship (f, &host, 1);
}

static int set_up (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));

    strcpy (f->dir, "/tmp/gpuledger-ship.XXXXXX");
    if (!mkdtemp (f->dir))
        return -1;
    f->listener = start_listener ();
    f->retry_ms = 20;
    restart (f);
    *state = f;
    return 0;
}

static int tear_down (void **state)
{
    struct fixture *f = *state;
    char command[128];

    ship_free (f->ship);
    end_listener (f->listener);
    snprintf (command, sizeof (command), "rm -rf '%s'", f->dir);
    free (f);
    fake_credential_down = 0;
    return system (command);
}

static void append_on (struct fixture *f, const char *node, int64_t job)
{
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_START, NULL), 0);
    record_set_text (&record, RECORD_FIELD_cluster, "lab");
    record_set_text (&record, RECORD_FIELD_node, node);
    record_set_number (&record, RECORD_FIELD_job_id, job);
    memcpy (f->key[f->count++], record.key, RECORD_KEY_SIZE);
    if (spool_append (f->dir, &record, &f->error) < 0)
        fail_msg ("%s", f->error.text);
}

static void append (struct fixture *f, int64_t job)
{
    append_on (f, "g1", job);
}

static void append_many (struct fixture *f, int count)
{
    for (int job = 1; job <= count; job++)
        append (f, job);
}

static void assert_ships (struct fixture *f)
{
    if (ship_all (f->ship, 5000, &f->error) < 0)
        fail_msg ("%s", f->error.text);
}

static void assert_ships_not (struct fixture *f, int timeout_ms)
{
    assert_int_equal (ship_all (f->ship, timeout_ms, &f->error), -1);
    ship_health (f->ship, &f->health);
    assert_int_equal (f->health.shipped_records, 0);
}

static bool arrived (const listener_t *listener, const unsigned char *key)
{
    for (size_t i = 0; i < listener->count; i++)
        if (memcmp (listener->key[i], key, RECORD_KEY_SIZE) == 0)
            return true;
    return false;
}

static void assert_all_arrived (struct fixture *f)
{
    for (size_t i = 0; i < f->count; i++)
        assert_true (arrived (f->listener, f->key[i]));
}

/* The proof that nothing was given up: an honest collector gets it all, asked
 * by a process that knows only what stands on disk. */
static void assert_nothing_lost (struct fixture *f)
{
    f->listener->mode = LISTEN_HONEST;
    f->listener->count = 0;
    restart (f);
    assert_ships (f);
    assert_all_arrived (f);
}

static char *path_of (struct fixture *f, const char *name)
{
    static char path[128];

    snprintf (path, sizeof (path), "%s/%s", f->dir, name);
    return path;
}

TEST_CASE (ship__honest_collector__gets_each_once)
{
    struct fixture *f = *state;

    append_many (f, 2000);
    assert_ships (f);
    assert_int_equal (f->listener->count, 2000);
    assert_all_arrived (f);
    ship_health (f->ship, &f->health);
    assert_int_equal (f->health.shipped_records, 2000);
    assert_int_equal (f->health.pending_bytes, 0);
    assert_true (f->health.last_success_ms > 0);
    assert_string_equal (f->health.problem, "");
    assert_string_equal (f->health.host, f->listener->address);
    assert_true (f->listener->sent_ns >= f->listener->greeted_ns);
    restart (f);
    append (f, 1);
    assert_ships (f);
    assert_int_equal (f->listener->count, 2001);
}

TEST_CASE (ship__asked_again__sends_each_once_more)
{
    struct fixture *f = *state;

    append_many (f, 3);
    assert_ships (f);
    assert_int_equal (ship_again (f->dir, &f->error), 0);
    append (f, 4);
    assert_ships (f);
    assert_int_equal (f->listener->count, 3 + 4);
    append (f, 5);
    assert_ships (f);
    assert_int_equal (f->listener->count, 3 + 4 + 1);
}

TEST_CASE (ship__two_nodes_in_a_spool__are_not_mixed)
{
    struct fixture *f = *state;

    append_on (f, "g1", 1);
    append_on (f, "g2", 2);
    append_on (f, "", 3);
    assert_ships (f);
    assert_int_equal (f->listener->requests, 2);
    assert_string_equal (f->listener->node, "g2");
    assert_int_equal (f->listener->count, 3);
}

TEST_CASE (ship__no_answer_that_counts__spool_stays)
{
    static const struct {
        listen_mode_t mode;
        uid_t speaks_as;
        ship_cause_t cause;
        const char *problem;
    } cases[] = {
        {LISTEN_MUTE, COLLECTOR, SHIP_CAUSE_TIMEOUT, "no answer"},
        {LISTEN_NO_ANSWER, COLLECTOR, SHIP_CAUSE_TIMEOUT, "no answer"},
        {LISTEN_GARBAGE, COLLECTOR, SHIP_CAUSE_PROTOCOL, ""},
        {LISTEN_HUGE, COLLECTOR, SHIP_CAUSE_PROTOCOL, ""},
        {LISTEN_REFUSED, COLLECTOR, SHIP_CAUSE_REFUSED, "refused: go away?[2J"},
        {LISTEN_CLEAR, COLLECTOR, SHIP_CAUSE_IMPOSTOR, "munge"},
        {LISTEN_WRONG_NONCE, COLLECTOR, SHIP_CAUSE_IMPOSTOR,
         "an answer to another request"},
        {LISTEN_LATER, COLLECTOR, SHIP_CAUSE_LATER, "the store is asleep"},
        {LISTEN_PART, COLLECTOR, SHIP_CAUSE_LATER, ""},
        {LISTEN_HONEST, 1000, SHIP_CAUSE_IMPOSTOR, "user 1000 answers"},
    };
    struct fixture *f = *state;

    append_many (f, 3);
    f->retry_ms = 10000; /* once each */
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        end_listener (f->listener);
        f->listener = calloc (1, sizeof (*f->listener));
        f->listener->begin = speak_as;
        f->listener->speaks_as = cases[i].speaks_as;
        f->listener->mode = cases[i].mode;
        assert_int_equal (listener_start (f->listener), 0);
        restart (f);
        assert_ships_not (f, 200);
        if (f->health.errors[cases[i].cause] == 0
            || !strstr (f->health.problem, cases[i].problem))
            fail_msg ("case %zu: %s", i, f->health.problem);
        assert_true (f->health.pending_bytes > 0);
    }
    end_listener (f->listener);
    f->listener = start_listener ();
    assert_nothing_lost (f);
}

TEST_CASE (ship__answer_of_an_earlier_session__spool_stays)
{
    struct fixture *f = *state;

    append_many (f, 3);
    assert_ships (f);
    f->count = 0;
    append_many (f, 3);
    f->listener->mode = LISTEN_REPLAY;
    restart (f);
    assert_ships_not (f, 100);
    assert_true (f->health.errors[SHIP_CAUSE_IMPOSTOR] > 0);
    assert_nothing_lost (f);
}

/* Header, its last byte, the border to the body, body, all but the last. */
TEST_CASE (ship__connection_cut__sends_again)
{
    static const size_t cuts[] = {0, 1, 4, 8, 11, 12, 13, 40, 90, 1000000};
    struct fixture *f = *state;

    append_many (f, 3);
    for (size_t i = 0; i < 2 * sizeof (cuts) / sizeof (cuts[0]); i++) {
        f->listener->mode = i % 2 ? LISTEN_CUT_ANSWER : LISTEN_CUT_REQUEST;
        f->listener->cut = i % 2 ? cuts[i / 2] : 1 + cuts[i / 2] % 300;
        restart (f);
        assert_ships_not (f, 40);
    }
    assert_nothing_lost (f);
}

TEST_CASE (ship__no_munged__spool_stays)
{
    struct fixture *f = *state;

    append (f, 1);
    fake_credential_down = 1;
    assert_ships_not (f, 50);
    assert_true (f->health.errors[SHIP_CAUSE_MUNGE] > 0);
    fake_credential_down = 0;
    assert_nothing_lost (f);
}

/* --- a list of collectors --- */

TEST_CASE (ship__first_in_list_refuses__next_takes)
{
    struct fixture *f = *state;
    listener_t *gone = start_listener ();
    const char *hosts[2] = {gone->address, f->listener->address};

    append_many (f, 10);
    ship_free (f->ship);
    f->ship = make_ship (f, hosts, 2);
    listener_stop (gone);
    assert_ships (f);
    assert_int_equal (f->listener->count, 10);
    ship_health (f->ship, &f->health);
    assert_int_equal (f->health.errors[SHIP_CAUSE_CONNECT], 1);
    free (gone);
}

TEST_CASE (ship__first_in_list_swallows_all__next_takes)
{
    struct fixture *f = *state;
    listener_t *mute = start_listener ();
    const char *hosts[3]
        = {"127.0.0.1:no-such-port", mute->address, f->listener->address};

    mute->mode = LISTEN_MUTE;
    append_many (f, 10);
    ship_free (f->ship);
    f->ship = make_ship (f, hosts, 3);
    assert_ships (f);
    assert_int_equal (f->listener->count, 10);
    end_listener (mute);
}

/* A full queue of a listener that never accepts: packets vanish. */
TEST_CASE (ship__first_in_list_is_a_black_hole__next_takes)
{
    struct fixture *f = *state;
    struct sockaddr_in address
        = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof (address);
    int fd[5] = {socket (AF_INET, SOCK_STREAM, 0)};
    const char *hosts[2] = {NULL, f->listener->address};
    char hole[32];

    assert_int_equal (bind (fd[0], (struct sockaddr *)&address, size), 0);
    assert_int_equal (listen (fd[0], 0), 0);
    assert_int_equal (getsockname (fd[0], (struct sockaddr *)&address, &size),
                      0);
    for (int i = 1; i < 5; i++) {
        fd[i] = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect (fd[i], (struct sockaddr *)&address, size);
    }
    snprintf (hole, sizeof (hole), "127.0.0.1:%u", ntohs (address.sin_port));
    hosts[0] = hole;
    append (f, 1);
    ship_free (f->ship);
    f->ship = make_ship (f, hosts, 2);
    assert_ships (f);
    assert_int_equal (f->listener->count, 1);
    ship_health (f->ship, &f->health);
    assert_true (f->health.errors[SHIP_CAUSE_TIMEOUT] > 0);
    for (int i = 0; i < 5; i++)
        close (fd[i]);
}

TEST_CASE (ship__first_in_list_is_back__takes_again)
{
    struct fixture *f = *state;
    listener_t *first = start_listener ();
    const char *hosts[2] = {first->address, f->listener->address};

    first->mode = LISTEN_LATER;
    ship_free (f->ship);
    f->ship = make_ship (f, hosts, 2);
    append (f, 1);
    assert_ships (f);
    assert_int_equal (f->listener->count, 1);
    first->mode = LISTEN_HONEST;
    for (int i = 0; i < 100 && first->count == 0; i++) {
        append (f, 2);
        assert_ships (f);
        usleep (5000);
    }
    assert_true (first->count > 0);
    end_listener (first);
}

TEST_CASE (ship__host_in_each_form__is_found)
{
    static const char *const forms[]
        = {"127.0.0.1:%s", "[127.0.0.1]:%s", "localhost:%s"};
    struct fixture *f = *state;
    const char *port = strchr (f->listener->address, ':') + 1;
    char host[64];
    const char *hosts[] = {host};

    for (size_t i = 0; i < sizeof (forms) / sizeof (forms[0]); i++) {
        const char *mark = strchr (forms[i], '%');

        snprintf (host, sizeof (host), "%.*s%s", (int)(mark - forms[i]),
                  forms[i], port);
        append (f, 1);
        ship_free (f->ship);
        f->ship = make_ship (f, hosts, 1);
        assert_ships (f);
        assert_int_equal (f->listener->count, i + 1);
    }
}

/* --- records that are refused --- */

static int count_record (const spool_entry_t *entry, void *arg,
                         gl_error_t *error)
{
    int64_t *job = arg;

    (void)error;
    assert_int_equal (*job, 0); /* one only */
    *job = entry->record.job_id;
    return 0;
}

TEST_CASE (ship__one_record_refused__is_set_aside)
{
    struct fixture *f = *state;
    int64_t aside = 0;

    f->listener->mode = LISTEN_REFUSE_JOB;
    f->listener->bad_job = 77;
    append_many (f, 200);
    assert_ships (f);
    assert_int_equal (f->listener->count, 199);
    ship_health (f->ship, &f->health);
    assert_int_equal (f->health.refused_records, 1);
    assert_int_equal (f->health.pending_bytes, 0);
    assert_int_equal (spool_read_dir (path_of (f, "refused"), count_record,
                                      &aside, NULL, &f->error),
                      0);
    assert_int_equal (aside, 77);
}

/* It is a mistake somewhere, and no record is given up beyond the bound. */
TEST_CASE (ship__all_refused_and_no_room__waits)
{
    struct fixture *f = *state;
    char path[160];

    f->listener->mode = LISTEN_REFUSE_JOB;
    f->listener->bad_job = -1;
    append_many (f, 2);
    mkdir (path_of (f, "refused"), 0700);
    for (int i = 1; i <= 16; i++) {
        snprintf (path, sizeof (path), "%s/refused/%08d.records", f->dir, i);
        close (open (path, O_CREAT | O_WRONLY, 0600));
        assert_int_equal (truncate (path, 1 << 20), 0);
    }
    assert_ships_not (f, 500);
    assert_true (f->health.errors[SHIP_CAUSE_STATE] > 0);
    assert_int_equal (f->health.refused_records, 0);
    assert_nothing_lost (f);
}

/* --- files --- */

TEST_CASE (ship__segments__go_when_acknowledged)
{
    struct fixture *f = *state;
    struct timespec old[2]
        = {{.tv_sec = time (NULL) - 61}, {.tv_sec = time (NULL) - 61}};

    append (f, 1);
    close (open (path_of (f, "00000002.records"), O_CREAT | O_WRONLY, 0600));
    append (f, 2);
    utimensat (AT_FDCWD, path_of (f, "00000001.records"), old, 0);
    f->listener->mode = LISTEN_LATER;
    assert_ships_not (f, 50);
    assert_int_equal (access (path_of (f, "00000001.records"), F_OK), 0);
    f->listener->mode = LISTEN_HONEST;
    assert_ships (f);
    assert_int_equal (access (path_of (f, "00000001.records"), F_OK), -1);
    assert_int_equal (access (path_of (f, "00000002.records"), F_OK), 0);
    assert_all_arrived (f);
}

TEST_CASE (ship__full_spool__has_room_again)
{
    struct fixture *f = *state;
    struct timespec old[2]
        = {{.tv_sec = time (NULL) - 61}, {.tv_sec = time (NULL) - 61}};
    char name[32];
    record_t record;

    append (f, 1);
    for (int i = 1; i <= SPOOL_SEGMENTS_MAX; i++) {
        snprintf (name, sizeof (name), "%08d.records", i);
        close (open (path_of (f, name), O_CREAT | O_WRONLY, 0600));
        if (i == SPOOL_SEGMENTS_MAX)
            assert_int_equal (truncate (path_of (f, name), SPOOL_SEGMENT_MAX),
                              0);
        utimensat (AT_FDCWD, path_of (f, name), old, 0);
    }
    record_begin (&record, RECORD_JOB_END, NULL);
    assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
    assert_ships (f);
    append (f, 2);
    assert_ships (f);
    assert_all_arrived (f);
}

TEST_CASE (ship__state_cannot_be_written__ships_and_says_so)
{
    struct fixture *f = *state;

    close (open (path_of (f, "state"), O_CREAT | O_WRONLY, 0600));
    append (f, 1);
    assert_ships (f);
    ship_health (f->ship, &f->health);
    assert_true (f->health.errors[SHIP_CAUSE_STATE] > 0);
    assert_int_equal (f->listener->count, 1);
    assert_ships (f);
    assert_int_equal (f->listener->count, 1); /* it remembers while it lives */
}

/* --- the thread --- */

static void wait_for (struct fixture *f, size_t count)
{
    for (int i = 0; i < 500 && f->listener->count < count; i++)
        usleep (10000);
    assert_true (f->listener->count >= count);
}

TEST_CASE (thread__nudged__ships_at_once)
{
    struct fixture *f = *state;

    assert_int_equal (ship_start (f->ship, &f->error), 0);
    append (f, 1);
    ship_nudge (f->ship);
    wait_for (f, 1);
    append (f, 2); /* not nudged: it looks by itself */
    wait_for (f, 2);
    ship_stop (f->ship, 1000);
    assert_all_arrived (f);
}

/* Segments changed places while the process was down: nothing is new by
 * numbers and sizes alone. */
TEST_CASE (thread__segments_changed_places__ships_them_again)
{
    struct fixture *f = *state;
    char first[128], second[128];

    strcpy (first, path_of (f, "00000001.records"));
    strcpy (second, path_of (f, "00000002.records"));
    append (f, 1);
    close (open (second, O_CREAT | O_WRONLY, 0600));
    append (f, 2);
    assert_ships (f);
    restart (f);
    f->listener->count = 0;
    assert_int_equal (rename (first, path_of (f, "aside")), 0);
    assert_int_equal (rename (second, first), 0);
    assert_int_equal (rename (path_of (f, "aside"), second), 0);
    assert_int_equal (ship_start (f->ship, &f->error), 0);
    wait_for (f, 2);
    ship_stop (f->ship, 0);
}

TEST_CASE (thread__stopped__ships_what_is_there)
{
    struct fixture *f = *state;

    assert_int_equal (ship_start (f->ship, &f->error), 0);
    append_many (f, 500);
    ship_stop (f->ship, 5000);
    assert_int_equal (f->listener->count, 500);
}

TEST_CASE (thread__stopped_with_a_dead_collector__ends_in_time)
{
    struct fixture *f = *state;
    time_t begin = time (NULL);

    f->listener->mode = LISTEN_MUTE;
    append (f, 1);
    assert_int_equal (ship_start (f->ship, &f->error), 0);
    ship_stop (f->ship, 200);
    assert_true (time (NULL) - begin <= 2);
    assert_nothing_lost (f);
}

TEST_CASE (thread__prices__are_stored_in_the_spool)
{
    const ship_config_t config = {.cluster = "lab",
                                  .node = "g1",
                                  .collector = COLLECTOR,
                                  .spread_ms = -1,
                                  .look_ms = 20,
                                  .retry_ms = 20};
    struct fixture *f = *state;
    ship_config_t own = config;
    const char *host = f->listener->address;

    f->listener->prices = "gpuledger-prices 1\nnode g1\ncurrency USD\n"
                          "until 1790086400\nprice 36000 h100\nend\n";
    own.spool = f->dir;
    own.hosts = &host;
    own.host_count = 1;
    ship_free (f->ship);
    f->ship = ship_new (&own, &f->error);
    assert_int_equal (ship_start (f->ship, &f->error), 0);
    for (int i = 0; i < 500 && access (path_of (f, "prices"), F_OK) < 0; i++)
        usleep (10000);
    assert_int_equal (access (path_of (f, "prices"), F_OK), 0);
    ship_stop (f->ship, 100);
    ship_health (f->ship, &f->health);
    assert_true (f->health.last_prices_ms > 0);
}

TEST_MAIN_EACH (set_up, tear_down)
