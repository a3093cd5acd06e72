#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/segment.h"
#include "record/spool.h"

#define STATE_DIR "state"

/* --- the directory --- */

/* Only a directory that nobody else can write to is ours: whoever may rename
 * in it could lead root's write elsewhere. */
static int check_owner (int fd, const char *dir, gl_error_t *error)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    if (st.st_uid != geteuid ())
        return gl_error (error, "%s belongs to user %u, not to user %u", dir,
                         (unsigned)st.st_uid, (unsigned)geteuid ());
    if (st.st_mode & 022)
        return gl_error (error, "%s is writable by group or others (mode %o)",
                         dir, (unsigned)st.st_mode & 07777);
    return 0;
}

static int open_directory (int at, const char *name, const char *dir,
                           gl_error_t *error)
{
    int fd = openat (at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    if (check_owner (fd, dir, error) == 0)
        return fd;
    close (fd);
    return -1;
}

/* Call `see` for each entry, until it returns other than 0. Consumes fd. */
static int each_entry (int fd, const char *dir,
                       int (*see) (int fd, const char *name, void *arg),
                       void *arg, gl_error_t *error)
{
    DIR *stream = fdopendir (fd);
    struct dirent *entry;
    int count = 0, rc = 0;

    if (!stream) {
        gl_error (error, "%s: %s", dir, strerror (errno));
        close (fd);
        return -1;
    }
    while (rc == 0 && (entry = readdir (stream))) {
        if (++count > SPOOL_ENTRIES_MAX)
            rc = gl_error (error, "%s: more than %d entries", dir,
                           SPOOL_ENTRIES_MAX);
        else
            rc = see (fd, entry->d_name, arg);
    }
    closedir (stream);
    return rc;
}

/* --- segments --- */

struct segments {
    uint32_t highest; /* 0: none */
    int count;
};

static int see_segment (int fd, const char *name, void *arg)
{
    struct segments *segments = arg;
    uint32_t number = segment_number (name);

    (void)fd;
    if (number > segments->highest)
        segments->highest = number;
    segments->count += number > 0;
    return 0;
}

static int count_segments (int fd, const char *dir,
                           struct segments *ret_segments, gl_error_t *error)
{
    struct segments segments = {0};
    int copy = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (copy < 0)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    if (each_entry (copy, dir, see_segment, &segments, error) < 0)
        return -1;
    *ret_segments = segments;
    return 0;
}

/* O_NONBLOCK: never wait, should someone have put a FIFO there. */
static int open_segment (int at, const char *dir, uint32_t number,
                         off_t *ret_size, gl_error_t *error)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat st;
    int fd;

    segment_name (number, name);
    fd = openat (at, name,
                 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW
                     | O_NONBLOCK,
                 0600);
    if (fd < 0)
        return gl_error (error, "%s/%s: %s", dir, name, strerror (errno));
    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode)) {
        *ret_size = st.st_size;
        return fd;
    }
    close (fd);
    return gl_error (error, "%s/%s: not a regular file", dir, name);
}

/* The segment to append to: the highest, or the next when that is full. Two
 * processes that do this at once open the same next one. */
static int open_current (int at, const char *dir, off_t *ret_size,
                         gl_error_t *error)
{
    struct segments segments;
    int fd;

    if (count_segments (at, dir, &segments, error) < 0)
        return -1;
    if (segments.highest > 0) {
        fd = open_segment (at, dir, segments.highest, ret_size, error);
        if (fd < 0 || *ret_size < SPOOL_SEGMENT_MAX)
            return fd;
        close (fd);
    }
    if (segments.count >= SPOOL_SEGMENTS_MAX
        || segments.highest >= SEGMENT_NUMBER_MAX)
        return gl_error (error, "%s is full: %d segments, and nobody takes them",
                         dir, segments.count);
    return open_segment (at, dir, segments.highest + 1, ret_size, error);
}

/* Past RLIMIT_FSIZE a write raises SIGXFSZ, which would kill the process that
 * we are a guest in. */
static int check_limit (off_t size, size_t more, gl_error_t *error)
{
    struct rlimit limit;

    if (getrlimit (RLIMIT_FSIZE, &limit) == 0
        && limit.rlim_cur != RLIM_INFINITY
        && (rlim_t)size + more > limit.rlim_cur)
        return gl_error (error, "the file size limit of this process is "
                                "reached");
    return 0;
}

static int write_once (int fd, const char *dir, off_t size,
                       const record_t *record, gl_error_t *error)
{
    unsigned char bytes[RECORD_MAX];
    size_t length = record_encode (record, bytes);
    ssize_t n;

    if (check_limit (size, length, error) < 0)
        return gl_error_prefix (error, "%s", dir);
    n = write (fd, bytes, length);
    if (n < 0)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    if ((size_t)n != length)
        return gl_error (error, "%s: %zd of %zu bytes written, the disk is full",
                         dir, n, length);
    return 0;
}

int spool_append (const char *dir, const record_t *record, gl_error_t *error)
{
    int at = open_directory (AT_FDCWD, dir, dir, error), fd, rc = -1;
    off_t size = 0;

    if (at < 0)
        return -1;
    if ((fd = open_current (at, dir, &size, error)) >= 0) {
        rc = write_once (fd, dir, size, record, error);
        close (fd);
    }
    close (at);
    return rc;
}

/* --- device sets already recorded --- */

#define MARKER_SIZE 64

/* FNV-1a, 64 bits: two of a job's few sets fall together by chance once in
 * 10^16 jobs. */
static uint64_t hash (const char *text)
{
    uint64_t h = 14695981039346656037u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static void marker_name (int64_t job, const char *set, char name[MARKER_SIZE])
{
    snprintf (name, MARKER_SIZE, "%" PRId64 ".%" PRIu64, job, hash (set));
}

static int open_state (const char *dir, gl_error_t *error)
{
    int at = open_directory (AT_FDCWD, dir, dir, error), fd;

    if (at < 0)
        return -1;
    if (mkdirat (at, STATE_DIR, 0700) < 0 && errno != EEXIST) {
        gl_error (error, "%s/" STATE_DIR ": %s", dir, strerror (errno));
        close (at);
        return -1;
    }
    fd = open_directory (at, STATE_DIR, dir, error);
    close (at);
    return fd;
}

struct markers {
    char prefix[MARKER_SIZE]; /* "42." */
    time_t expired;           /* remove what was made before */
    int all, of_job;
};

static void markers_of (int64_t job, struct markers *ret_markers)
{
    *ret_markers = (struct markers){.expired = time (NULL)
                                               - SPOOL_SET_LIFETIME};
    snprintf (ret_markers->prefix, MARKER_SIZE, "%" PRId64 ".", job);
}

static bool is_of_job (const struct markers *markers, const char *name)
{
    return strncmp (name, markers->prefix, strlen (markers->prefix)) == 0;
}

static int see_marker (int fd, const char *name, void *arg)
{
    struct markers *markers = arg;

    (void)fd;
    if (name[0] == '.')
        return 0;
    markers->all++;
    markers->of_job += is_of_job (markers, name);
    return 0;
}

static int see_expired (int fd, const char *name, void *arg)
{
    struct markers *markers = arg;
    struct stat st;

    if (name[0] != '.' && fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0
        && st.st_mtime < markers->expired && unlinkat (fd, name, 0) == 0)
        markers->all--;
    return 0;
}

static int see_forget (int fd, const char *name, void *arg)
{
    if (is_of_job (arg, name))
        unlinkat (fd, name, 0);
    return 0;
}

static int walk_state (const char *dir,
                       int (*see) (int fd, const char *name, void *arg),
                       void *arg, gl_error_t *error)
{
    int fd = open_state (dir, error);

    return fd < 0 ? -1 : each_entry (fd, dir, see, arg, error);
}

/* 1: there is room for one more marker of the job; 0: not for this job. */
static int room_for_marker (const char *dir, int64_t job, gl_error_t *error)
{
    struct markers markers;

    markers_of (job, &markers);
    if (walk_state (dir, see_marker, &markers, error) < 0)
        return -1;
    if (markers.of_job >= SPOOL_SETS_PER_JOB)
        return 0;
    if (markers.all >= SPOOL_SETS_MAX
        && walk_state (dir, see_expired, &markers, error) < 0)
        return -1;
    if (markers.all >= SPOOL_SETS_MAX)
        return gl_error (error, "%s/" STATE_DIR " holds %d markers already",
                         dir, markers.all);
    return 1;
}

/* O_EXCL decides which of two steps at once is the first. */
static int make_marker (int at, const char *dir, const char *name,
                        gl_error_t *error)
{
    int fd = openat (at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return gl_error (error, "%s/" STATE_DIR ": %s", dir, strerror (errno));
    close (fd);
    return 1;
}

int spool_set_add (const char *dir, int64_t job, const char *set,
                   gl_error_t *error)
{
    char name[MARKER_SIZE];
    struct stat st;
    int at = open_state (dir, error), rc;

    if (at < 0)
        return -1;
    marker_name (job, set, name);
    if (fstatat (at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        rc = 0;
    else if ((rc = room_for_marker (dir, job, error)) == 1)
        rc = make_marker (at, dir, name, error);
    close (at);
    return rc;
}

void spool_set_remove (const char *dir, int64_t job, const char *set)
{
    char name[MARKER_SIZE];
    int at = open_state (dir, NULL);

    if (at < 0)
        return;
    marker_name (job, set, name);
    unlinkat (at, name, 0);
    close (at);
}

void spool_sets_forget (const char *dir, int64_t job)
{
    struct markers markers;

    markers_of (job, &markers);
    walk_state (dir, see_forget, &markers, NULL);
}
