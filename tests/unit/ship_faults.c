/*
 * Every call on files that writer and shipper make, failed in turn: with EIO,
 * with ENOSPC (half is written then), from there on for good, or the process
 * killed before it. Whatever happens, a record whose spool_append() returned
 * 0 arrives once the disk is well again.
 */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/spool.h"
#include "record/spool_read.h"
#include "ship.h"
#include "support/listener.h"

/* --- the calls --- */

typedef enum {
    FAULT_EIO,
    FAULT_ENOSPC, /* a write writes half */
    FAULT_KILL,
} fault_t;

/* In the thread under test, while armed. */
static _Thread_local struct {
    bool armed;
    fault_t fault;
    int at;        /* the call of this number, from 0 */
    bool for_good; /* and all after it */
    int calls;
    int hits;
} plan;

static bool is_hit (void)
{
    int call;

    if (!plan.armed)
        return false;
    call = plan.calls++;
    if (call != plan.at && !(plan.for_good && call > plan.at))
        return false;
    plan.hits++;
    if (plan.fault == FAULT_KILL)
        _exit (9);
    return true;
}

static int fail_call (void)
{
    errno = plan.fault == FAULT_EIO ? EIO : ENOSPC;
    return -1;
}

#define WRAP(type, name, parameters, arguments)                    \
    type __real_##name parameters;                                 \
    type __wrap_##name parameters;                                 \
    type __wrap_##name parameters                                  \
    {                                                              \
        return is_hit () ? fail_call () : __real_##name arguments; \
    }

WRAP (int, renameat, (int from, const char *a, int to, const char *b),
      (from, a, to, b))
WRAP (int, unlinkat, (int at, const char *name, int flags), (at, name, flags))
WRAP (int, mkdirat, (int at, const char *name, mode_t mode), (at, name, mode))
WRAP (ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
WRAP (ssize_t, pread, (int fd, void *bytes, size_t size, off_t at),
      (fd, bytes, size, at))

static int synced_refused; /* the directory of refused records */

static void note_directory (int fd)
{
    char link[32], path[PATH_MAX];
    ssize_t length;
    const char *last;

    snprintf (link, sizeof (link), "/proc/self/fd/%d", fd);
    length = readlink (link, path, sizeof (path) - 1);
    path[length > 0 ? length : 0] = '\0';
    last = strrchr (path, '/');
    synced_refused += last && !strcmp (last, "/refused");
}

/* Syncs nothing: it is not the power that fails here. */
int __wrap_fsync (int fd);
int __wrap_fsync (int fd)
{
    note_directory (fd);
    return is_hit () ? fail_call () : 0;
}

int __real_openat (int at, const char *name, int flags, mode_t mode);
int __wrap_openat (int at, const char *name, int flags, mode_t mode);
int __wrap_openat (int at, const char *name, int flags, mode_t mode)
{
    return is_hit () ? fail_call () : __real_openat (at, name, flags, mode);
}

ssize_t __real_write (int fd, const void *bytes, size_t size);
ssize_t __wrap_write (int fd, const void *bytes, size_t size);
ssize_t __wrap_write (int fd, const void *bytes, size_t size)
{
    if (!is_hit ())
        return __real_write (fd, bytes, size);
    return plan.fault == FAULT_ENOSPC ? __real_write (fd, bytes, size / 2)
                                      : fail_call ();
}

/* --- the play --- */

#define RECORDS 12
#define SHIPPED_FIRST 4
/* The collector will never take the record of this job. */
#define BAD_JOB 2

/* Shared with the process that is killed. */
struct written {
    size_t tried, count;
    unsigned char key[RECORDS][RECORD_KEY_SIZE];
};

struct fixture {
    char dir[64];
    listener_t *listener;
    struct written *written;
    gl_error_t error;
};

static int set_up (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));

    f->written = mmap (NULL, sizeof (*f->written), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    f->listener = calloc (1, sizeof (*f->listener));
    f->listener->mode = LISTEN_REFUSE_JOB;
    f->listener->bad_job = BAD_JOB;
    *state = f;
    return listener_start (f->listener);
}

static int tear_down (void **state)
{
    struct fixture *f = *state;

    plan.armed = false;
    listener_stop (f->listener);
    free (f->listener);
    munmap (f->written, sizeof (*f->written));
    free (f);
    return 0;
}

static void make_spool (struct fixture *f)
{
    strcpy (f->dir, "/tmp/gpuledger-fault.XXXXXX");
    assert_non_null (mkdtemp (f->dir));
    f->listener->count = 0;
    memset (f->written, 0, sizeof (*f->written));
}

static int remove_entry (const char *path, const struct stat *st, int type,
                         struct FTW *level)
{
    (void)st;
    (void)type;
    (void)level;
    return remove (path);
}

static void remove_spool (struct fixture *f)
{
    assert_int_equal (nftw (f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void append (struct fixture *f)
{
    struct written *w = f->written;
    record_t record;

    if (record_begin (&record, RECORD_JOB_START, NULL) < 0)
        return;
    record_set_number (&record, RECORD_FIELD_job_id, 1 + w->tried++);
    if (spool_append (f->dir, &record, NULL) < 0)
        return;
    memcpy (w->key[w->count], record.key, RECORD_KEY_SIZE);
    w->count++;
}

/* A new segment, the one before it old enough to go. */
static void turn_segment (struct fixture *f, unsigned number)
{
    const struct timespec old[2]
        = {{.tv_sec = time (NULL) - 100}, {.tv_sec = time (NULL) - 100}};
    char path[128];

    snprintf (path, sizeof (path), "%s/%08u.records", f->dir, number);
    utimensat (AT_FDCWD, path, old, 0);
    snprintf (path, sizeof (path), "%s/%08u.records", f->dir, number + 1);
    close (open (path, O_CREAT | O_WRONLY, 0600));
}

static int ship (struct fixture *f, int timeout_ms)
{
    const char *host = f->listener->address;
    const ship_config_t config = {.spool = f->dir,
                                  .cluster = "lab",
                                  .node = "g1",
                                  .hosts = &host,
                                  .host_count = 1,
                                  .retry_ms = 2,
                                  .retry_max_ms = 4,
                                  .look_ms = 2,
                                  .prices_ms = -1};
    ship_t *ship = ship_new (&config, &f->error);
    int rc = ship ? ship_all (ship, timeout_ms, &f->error) : -1;

    ship_free (ship);
    return rc;
}

/* Records, some of them shipped, a change of segments, a restart. */
static void play (struct fixture *f, int timeout_ms)
{
    for (int i = 0; i < SHIPPED_FIRST; i++)
        append (f);
    ship (f, timeout_ms);
    append (f);
    turn_segment (f, 1);
    append (f);
    ship (f, timeout_ms);
    append (f);
    ship (f, timeout_ms);
}

static bool arrived (const listener_t *listener, const unsigned char *key)
{
    for (size_t i = 0; i < listener->count; i++)
        if (memcmp (listener->key[i], key, RECORD_KEY_SIZE) == 0)
            return true;
    return false;
}

static int is_key (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    (void)error;
    return memcmp (entry->record.key, arg, RECORD_KEY_SIZE) == 0 ? -1 : 0;
}

static bool set_aside (const struct fixture *f, unsigned char *key)
{
    char path[128];

    snprintf (path, sizeof (path), "%s/refused", f->dir);
    return access (path, F_OK) == 0
           && spool_read_dir (path, is_key, key, NULL, NULL) < 0;
}

static void assert_nothing_lost (struct fixture *f, int at)
{
    if (ship (f, 10000) < 0)
        fail_msg ("call %d: %s", at, f->error.text);
    for (size_t i = 0; i < f->written->count; i++)
        if (!arrived (f->listener, f->written->key[i])
            && !set_aside (f, f->written->key[i]))
            fail_msg ("call %d: record %zu of %zu is lost", at, i,
                      f->written->count);
}

/* Returns whether there was such a call. */
static bool play_with_fault (struct fixture *f, fault_t fault, int at,
                             bool for_good)
{
    make_spool (f);
    plan.fault = fault;
    plan.at = at;
    plan.for_good = for_good;
    plan.calls = plan.hits = 0;
    plan.armed = true;
    play (f, for_good ? 20 : 5000);
    plan.armed = false;
    assert_nothing_lost (f, at);
    remove_spool (f);
    return plan.hits > 0;
}

static void each_call (void **state, fault_t fault, bool for_good, int step)
{
    int at = 0;

    while (play_with_fault (*state, fault, at, for_good))
        at += step;
    assert_true (at > 40); /* there are many, or the wraps do not work */
}

TEST_CASE (every_call__eio__nothing_lost)
{
    each_call (state, FAULT_EIO, false, 1);
}

TEST_CASE (every_call__enospc_after_half_a_write__nothing_lost)
{
    each_call (state, FAULT_ENOSPC, false, 1);
}

TEST_CASE (every_call__disk_gone_from_there_on__nothing_lost)
{
    each_call (state, FAULT_EIO, true, 3);
}

TEST_CASE (refused_record__file_is_new__its_directory_is_synced)
{
    struct fixture *f = *state;

    make_spool (f);
    synced_refused = 0;
    play (f, 5000);
    assert_true (synced_refused > 0);
    remove_spool (f);
}

/* --- killed --- */

static bool play_and_die (struct fixture *f, fault_t fault, int at)
{
    int status;
    pid_t pid;

    make_spool (f);
    pid = listener_fork (f->listener);
    if (pid == 0) {
        plan.fault = fault;
        plan.at = at;
        plan.armed = true;
        play (f, 5000);
        _exit (0);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_true (WIFEXITED (status));
    assert_nothing_lost (f, at);
    remove_spool (f);
    return WEXITSTATUS (status) == 9;
}

TEST_CASE (killed__before_every_call__nothing_lost)
{
    int at = 0;

    while (play_and_die (*state, FAULT_KILL, at))
        at++;
    assert_true (at > 40);
}

TEST_MAIN_EACH (set_up, tear_down)
