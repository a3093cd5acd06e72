/*
 * again: what comes twice, late, in another order or out of a backup is in the
 * ledger once, with real collectors on one store.
 *
 *     tests/fault/again [--mariadb]   prints TAP
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/lists.h"
#include "fault/site.h"
#include "record/spool.h"

#define RECORDS 600
#define SEGMENTS 3
#define WAIT_SECONDS 60

struct test {
    site_of_test_t site;
    char spool[192];
    list_t written;
    unsigned char key[4096][RECORD_KEY_SIZE];
    int cases, failed;
};

static void verdict (struct test *t, bool ok, const char *what)
{
    printf ("%sok %d - %s\n", ok ? "" : "not ", ++t->cases, what);
    t->failed += !ok;
}

static void segment_path (const struct test *t, unsigned number, char path[256])
{
    snprintf (path, 256, "%s/%08u.records", t->spool, number);
}

static int append (struct test *t, int count, gl_error_t *error)
{
    record_t record;

    for (int i = 0; i < count; i++) {
        if (record_begin (&record, RECORD_JOB_START, error) < 0)
            return -1;
        record_set_text (&record, RECORD_FIELD_cluster, "lab");
        record_set_text (&record, RECORD_FIELD_node, "n1");
        record_set_number (&record, RECORD_FIELD_job_id, 1 + i);
        if (spool_append (t->spool, &record, error) < 0)
            return -1;
        memcpy (t->key[t->written.count++], record.key, RECORD_KEY_SIZE);
    }
    return 0;
}

/* A spool of several segments: the next one is begun by hand. */
static int fill (struct test *t, gl_error_t *error)
{
    char path[256];

    for (unsigned i = 1; i <= SEGMENTS; i++) {
        segment_path (t, i, path);
        close (open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        if (append (t, RECORDS / SEGMENTS, error) < 0)
            return -1;
    }
    return 0;
}

/* The spool is shipped, as its state says that did not say so before. */
static bool ships (struct test *t)
{
    for (int i = 0; i < WAIT_SECONDS * 20; i++) {
        if (site_node_is_done (&t->site, 0))
            return true;
        poll (NULL, 0, 50);
    }
    return false;
}

static bool stored_once (struct test *t)
{
    list_t stored = {0};
    gl_error_t error = {""};
    bool ok;

    if (list_stored (t->site.url, false, &stored, &error) < 0) {
        printf ("# %s\n", error.text);
        return false;
    }
    list_sort (&t->written);
    ok = stored.count == t->written.count
         && list_missing (&t->written, &stored) == 0
         && list_repeated (&stored) == 0;
    if (!ok)
        printf ("# %zu written, %zu stored\n", t->written.count, stored.count);
    list_free (&stored);
    return ok;
}

/* Do something to the spool of a node that is down, and let it ship. */
static int between_lives (struct test *t, int (*change) (struct test *),
                          const char *what, gl_error_t *error)
{
    char state[256];

    snprintf (state, sizeof (state), "%s/state/shipped", t->spool);
    part_kill (&t->site.node[0]);
    if (change (t) < 0)
        return gl_error (error, "%s cannot be changed", t->spool);
    if (site_mend (&t->site, error) < 0)
        return -1;
    verdict (t, ships (t) && stored_once (t), what);
    return 0;
}

static int forget_state (struct test *t)
{
    char path[256];

    snprintf (path, sizeof (path), "%s/state/shipped", t->spool);
    return unlink (path);
}

/* 1 2 3 become 3 2 1. */
static int turn_around (struct test *t)
{
    char first[256], last[256], aside[256];

    segment_path (t, 1, first);
    segment_path (t, SEGMENTS, last);
    snprintf (aside, sizeof (aside), "%s/aside", t->spool);
    return rename (first, aside) || rename (last, first)
           || rename (aside, last);
}

/* What was the third is the first, as in a spool that was put back from a
 * backup, and new records follow. */
static int put_back (struct test *t)
{
    char path[256];

    for (unsigned i = 2; i <= SEGMENTS; i++) {
        segment_path (t, i, path);
        if (unlink (path) < 0)
            return -1;
    }
    return append (t, 50, NULL);
}

static int tear (struct test *t)
{
    char path[256];
    int fd, rc;

    segment_path (t, 1, path);
    fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);
    rc = write (fd, "\xf7glr\1\0\1\0\xff\0\0\0torn", 16) == 16 ? 0 : -1;
    close (fd);
    return rc < 0 ? -1 : append (t, 50, NULL);
}

static int lose_a_collector (struct test *t)
{
    part_kill (&t->site.collector[0]);
    t->site.collector[0].off = true;
    return append (t, 50, NULL);
}

static int play (struct test *t, gl_error_t *error)
{
    if (fill (t, error) < 0)
        return -1;
    verdict (t, ships (t) && stored_once (t), "what is written is stored");
    return between_lives (t, forget_state, "sent twice, stored once", error)
                   || between_lives (t, turn_around, "in another order", error)
                   || between_lives (t, put_back,
                                     "a spool put back from a backup", error)
                   || between_lives (t, tear, "records behind torn ones", error)
                   || between_lives (t, lose_a_collector,
                                     "the first collector in the list is dead",
                                     error)
               ? -1
               : 0;
}

int main (int argc, char **argv)
{
    static struct test t;
    bool mariadb = argc > 1 && strcmp (argv[1], "--mariadb") == 0;
    gl_error_t error = {""};
    int rc = site_start (&t.site, 1, 0, mariadb, &error);

    t.written.key = t.key;
    site_spool (&t.site, 0, t.spool);
    if (rc == 0)
        rc = play (&t, &error);
    if (rc < 0)
        printf ("Bail out! %s\n", error.text);
    printf ("1..%d\n", t.cases);
    site_stop (&t.site, rc < 0 || t.failed);
    return rc < 0 || t.failed;
}
