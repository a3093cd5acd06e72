#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"
#include "record/segment.h"
#include "record/spool.h"

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
    struct segments segments = {0};
    int fd;

    if (directory_walk (at, dir, see_segment, &segments, error) < 0)
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
static int check_limit (off_t size, size_t more, const char *dir,
                        gl_error_t *error)
{
    struct rlimit limit;

    if (getrlimit (RLIMIT_FSIZE, &limit) == 0
        && limit.rlim_cur != RLIM_INFINITY
        && (rlim_t)size + more > limit.rlim_cur)
        return gl_error (error, "%s: a segment has reached the file size limit "
                                "of this process (%llu bytes)",
                         dir, (unsigned long long)limit.rlim_cur);
    return 0;
}

static int write_once (int fd, const char *dir, off_t size,
                       const record_t *record, gl_error_t *error)
{
    unsigned char bytes[RECORD_MAX];
    size_t length = record_encode (record, bytes);
    ssize_t n;

    if (check_limit (size, length, dir, error) < 0)
        return -1;
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
    int at = directory_open (AT_FDCWD, dir, dir, error), fd, rc = -1;
    off_t size = 0;

    if (at < 0)
        return -1;
    fd = open_current (at, dir, &size, error);
    /* Leased: a reader removes it (spool_cursor.h), for since we looked a higher
     * one was begun. */
    if (fd < 0 && errno == EWOULDBLOCK)
        fd = open_current (at, dir, &size, error);
    if (fd >= 0) {
        rc = write_once (fd, dir, size, record, error);
        close (fd);
    }
    close (at);
    return rc;
}
