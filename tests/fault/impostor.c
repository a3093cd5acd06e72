/*
 * impostor: who is not the collector cannot empty a spool, with a real munged
 * and, as root, listeners of another user.
 *
 *     tests/fault/impostor            prints TAP
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/site.h"
#include "record/spool.h"
#include "ship.h"
#include "support/listener.h"

#define NOBODY 65534
#define RECORDS 5

struct test {
    site_of_test_t site, stranger; /* two munged with different keys */
    char spool[192];
    char *answer; /* of the collector, in an earlier session */
    int cases, failed;
};

static void verdict (struct test *t, bool ok, const char *what, const char *why)
{
    printf ("%sok %d - %s\n", ok ? "" : "not ", ++t->cases, what);
    if (!ok && why)
        printf ("# %s\n", why);
    t->failed += !ok;
}

/* --- the node --- */

static int append (struct test *t, gl_error_t *error)
{
    record_t record;

    for (int i = 0; i < RECORDS; i++)
        if (record_begin (&record, RECORD_JOB_END, error) < 0
            || spool_append (t->spool, &record, error) < 0)
            return -1;
    return 0;
}

static int ship (struct test *t, const char *host, ship_health_t *ret_health,
                 gl_error_t *error)
{
    const ship_config_t config = {.spool = t->spool,
                                  .cluster = "lab",
                                  .node = "n1",
                                  .hosts = &host,
                                  .host_count = 1,
                                  .collector = geteuid (),
                                  .munge_socket = t->site.munge_socket,
                                  .retry_ms = 10000,
                                  .prices_ms = -1};
    ship_t *ship = ship_new (&config, error);
    int rc = ship ? ship_all (ship, 800, error) : -1;

    if (ship)
        ship_health (ship, ret_health);
    ship_free (ship);
    return rc;
}

/* Size of the segment and the place of the reader: what must not change. */
static void remember_spool (const struct test *t, char ret_text[512])
{
    char path[256];
    struct stat st = {0};
    int fd;
    ssize_t n;

    snprintf (path, sizeof (path), "%s/00000001.records", t->spool);
    stat (path, &st);
    n = snprintf (ret_text, 64, "%lld ", (long long)st.st_size);
    snprintf (path, sizeof (path), "%s/state/shipped", t->spool);
    if ((fd = open (path, O_RDONLY)) >= 0) {
        ssize_t more = read (fd, ret_text + n, 400);
        n += more > 0 ? more : 0;
        close (fd);
    }
    ret_text[n] = '\0';
}

static void assert_refused (struct test *t, const char *host,
                            ship_cause_t cause, const char *what)
{
    char before[512], after[512];
    ship_health_t health = {0};
    gl_error_t error = {""};
    int rc;

    remember_spool (t, before);
    rc = ship (t, host, &health, &error);
    remember_spool (t, after);
    verdict (t,
             rc < 0 && health.errors[cause] > 0 && health.shipped_records == 0
                 && strcmp (before, after) == 0,
             what, *health.problem ? health.problem : error.text);
}

/* --- the listeners --- */

struct process {
    pid_t pid;
    char address[32];
};

static void be_listener (const char *munge_socket, const char *answer,
                         uid_t uid, int out)
{
    static listener_t listener;

    if (uid != geteuid () && (setgid (uid) < 0 || setuid (uid) < 0))
        _exit (1);
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    listener.mode = LISTEN_BLIND;
    listener.munge_socket = munge_socket;
    listener.earlier = answer ? strdup (answer) : NULL;
    if (listener_start (&listener) < 0
        || write (out, listener.address, sizeof (listener.address)) < 0)
        _exit (1);
    pause ();
    _exit (0);
}

static int start_process (struct process *process, const char *munge_socket,
                          const char *answer, uid_t uid)
{
    int out[2];
    ssize_t n;

    if (pipe2 (out, O_CLOEXEC) < 0)
        return -1;
    fflush (stdout);
    process->pid = fork ();
    if (process->pid == 0)
        be_listener (munge_socket, answer, uid, out[1]);
    close (out[1]);
    n = read (out[0], process->address, sizeof (process->address));
    close (out[0]);
    return n > 0 ? 0 : -1;
}

static void end_process (struct process *process)
{
    kill (process->pid, SIGKILL);
    waitpid (process->pid, NULL, 0);
}

static void refused_by (struct test *t, const char *munge_socket,
                        const char *answer, uid_t uid, ship_cause_t cause,
                        const char *what)
{
    struct process process;

    if (uid != geteuid () && geteuid () != 0) {
        printf ("ok %d - %s # SKIP only root can be another user\n", ++t->cases,
                what);
        return;
    }
    if (start_process (&process, munge_socket, answer, uid) < 0)
        verdict (t, false, what, "no listener");
    else {
        assert_refused (t, process.address, cause, what);
        end_process (&process);
    }
}

/* --- the cases --- */

static void collector_answers (struct test *t, const char *what)
{
    listener_t listener = {.munge_socket = t->site.munge_socket};
    ship_health_t health = {0};
    gl_error_t error = {""};
    int rc;

    if (listener_start (&listener) < 0) {
        verdict (t, false, what, "no listener");
        return;
    }
    rc = ship (t, listener.address, &health, &error);
    verdict (t,
             rc == 0 && listener.count == health.shipped_records
                 && listener.count >= RECORDS,
             what, error.text);
    free (t->answer);
    t->answer = strdup (listener.earlier ? listener.earlier : "");
    listener_stop (&listener);
}

static void munged_is_gone (struct test *t)
{
    struct process process;

    if (start_process (&process, t->stranger.munge_socket, NULL, geteuid ())
        < 0)
        return;
    part_kill (&t->site.munged);
    assert_refused (t, process.address, SHIP_CAUSE_MUNGE,
                    "without munged nothing is shipped");
    end_process (&process);
}

static int play (struct test *t, gl_error_t *error)
{
    const char *ours = t->site.munge_socket;

    if (append (t, error) < 0)
        return -1;
    collector_answers (t, "the collector's user is believed");
    if (append (t, error) < 0)
        return -1;
    refused_by (t, ours, NULL, NOBODY, SHIP_CAUSE_IMPOSTOR,
                "another user's credential is not");
    refused_by (t, ours, NULL, geteuid (), SHIP_CAUSE_IMPOSTOR,
                "nor the right user's, for another request");
    refused_by (t, ours, t->answer, NOBODY, SHIP_CAUSE_IMPOSTOR,
                "nor the collector's own of an earlier session");
    if (site_restart_munged (&t->site, error) < 0)
        return -1;
    refused_by (t, ours, t->answer, NOBODY, SHIP_CAUSE_IMPOSTOR,
                "nor that when munged has forgotten it");
    refused_by (t, t->stranger.munge_socket, NULL, geteuid (),
                SHIP_CAUSE_IMPOSTOR, "nor one of another key");
    munged_is_gone (t);
    if (site_restart_munged (&t->site, error) < 0)
        return -1;
    collector_answers (t, "and the collector gets what all of them did not");
    return 0;
}

static int start (struct test *t, gl_error_t *error)
{
    if (site_start_munged (&t->site, error) < 0
        || site_start_munged (&t->stranger, error) < 0)
        return -1;
    site_spool (&t->site, 0, t->spool);
    return mkdir (t->spool, 0700);
}

int main (void)
{
    static struct test t;
    gl_error_t error = {""};
    int rc = start (&t, &error);

    if (rc == 0)
        rc = play (&t, &error);
    if (rc < 0)
        printf ("Bail out! %s\n", error.text);
    printf ("1..%d\n", t.cases);
    site_stop (&t.site, false);
    site_stop (&t.stranger, false);
    free (t.answer);
    return rc < 0 || t.failed;
}
