#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/directory.h"
#include "record/spool.h"

static int open_current (int at, const char *dir, off_t *ret_size,
                         gl_error_t *error)
{
    return segment_open_last (at, dir, SPOOL_SEGMENT_MAX, SPOOL_SEGMENTS_MAX,
                              "nobody takes them", ret_size, error);
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
