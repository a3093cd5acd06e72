#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"
#include "ship_batch.h"

#define REFUSED_DIR "refused"

/* What is new in a directory is on the disk only when that is, too. */
static int open_directory (const char *spool, const char *path,
                           gl_error_t *error)
{
    int at = directory_open (AT_FDCWD, spool, spool, error), fd = -1, made;

    if (at < 0)
        return -1;
    made = mkdirat (at, REFUSED_DIR, 0700);
    if ((made < 0 && errno != EEXIST) || (made == 0 && fsync (at) < 0))
        gl_error (error, "%s: %s", path, strerror (errno));
    else
        fd = directory_open (at, REFUSED_DIR, path, error);
    close (at);
    return fd;
}

int refused_keep (const char *spool, const void *bytes, size_t size,
                  gl_error_t *error)
{
    char path[PATH_MAX];
    int at, fd, rc = 0;
    off_t unused;
    ssize_t n;

    snprintf (path, sizeof (path), "%s/" REFUSED_DIR, spool);
    if ((at = open_directory (spool, path, error)) < 0)
        return -1;
    fd = segment_open_last (at, path, REFUSED_FILE_MAX, REFUSED_FILES_MAX,
                            "the collector refuses record after record, see "
                            "its log",
                            &unused, error);
    if (fd < 0) {
        close (at);
        return -1;
    }
    n = write (fd, bytes, size);
    if (n != (ssize_t)size || fsync (fd) < 0 || fsync (at) < 0)
        rc = gl_error (error, "%s: %s", path,
                       n < 0 || n == (ssize_t)size ? strerror (errno)
                                                   : "the disk is full");
    close (fd);
    close (at);
    return rc;
}
