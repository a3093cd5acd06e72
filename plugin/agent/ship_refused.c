#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"
#include "record/segment.h"
#include "ship_refused.h"

#define REFUSED_DIR "refused"

struct files {
    uint32_t highest;
    int count;
};

static int see_file (int fd, const char *name, void *arg)
{
    struct files *files = arg;
    uint32_t number = segment_number (name);

    (void)fd;
    files->count += number > 0;
    if (number > files->highest)
        files->highest = number;
    return 0;
}

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

static int open_number (int at, uint32_t number, const char *path,
                        gl_error_t *error)
{
    char name[SEGMENT_NAME_SIZE];
    int fd;

    segment_name (number, name);
    fd = openat (at, name,
                 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW
                     | O_NONBLOCK,
                 0600);
    if (fd < 0)
        gl_error (error, "%s/%s: %s", path, name, strerror (errno));
    return fd;
}

/* The highest file while it has room, else the next. */
static int open_file (int at, const char *path, gl_error_t *error)
{
    struct files files = {0};
    struct stat st;
    int fd;

    if (directory_walk (at, path, see_file, &files, error) < 0)
        return -1;
    if (files.highest > 0) {
        fd = open_number (at, files.highest, path, error);
        if (fd < 0 || (fstat (fd, &st) == 0 && st.st_size < REFUSED_FILE_MAX))
            return fd;
        close (fd);
    }
    if (files.count >= REFUSED_FILES_MAX)
        return gl_error (error,
                         "%s is full: the collector refuses record after "
                         "record, see its log",
                         path);
    return open_number (at, files.highest + 1, path, error);
}

int refused_keep (const char *spool, const void *bytes, size_t size,
                  gl_error_t *error)
{
    char path[PATH_MAX];
    int at, fd, rc = 0;
    ssize_t n;

    snprintf (path, sizeof (path), "%s/" REFUSED_DIR, spool);
    if ((at = open_directory (spool, path, error)) < 0)
        return -1;
    fd = open_file (at, path, error);
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
