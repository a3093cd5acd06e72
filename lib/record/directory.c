#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"

#define STATE_DIR "state"
#define DIGITS 8

/* Whoever may rename in a directory could lead root's write elsewhere. */
static int check_owner (int fd, const char *path, gl_error_t *error)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    if (st.st_uid != geteuid ())
        return gl_error (error, "%s belongs to user %u, not to user %u", path,
                         (unsigned)st.st_uid, (unsigned)geteuid ());
    if (st.st_mode & 022)
        return gl_error (error, "%s is writable by group or others (mode %o)",
                         path, (unsigned)st.st_mode & 07777);
    return 0;
}

int directory_open (int at, const char *name, const char *path,
                    gl_error_t *error)
{
    int fd = openat (at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    if (check_owner (fd, path, error) == 0)
        return fd;
    close (fd);
    return -1;
}

int directory_open_state (const char *spool, bool make, gl_error_t *error)
{
    int at = directory_open (AT_FDCWD, spool, spool, error), fd;

    if (at < 0)
        return -1;
    if (make && mkdirat (at, STATE_DIR, 0700) < 0 && errno != EEXIST) {
        gl_error (error, "%s/" STATE_DIR ": %s", spool, strerror (errno));
        close (at);
        return -1;
    }
    fd = directory_open (at, STATE_DIR, spool, error);
    close (at);
    return fd;
}

static DIR *open_stream (int fd)
{
    int copy = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir (copy);

    if (!stream && copy >= 0)
        close (copy);
    return stream;
}

int directory_walk (int fd, const char *path, directory_see_f see, void *arg,
                    gl_error_t *error)
{
    DIR *stream = open_stream (fd);
    struct dirent *entry;
    int count = 0, rc = 0;

    if (!stream)
        return gl_error (error, "%s: %s", path, strerror (errno));
    while (rc == 0 && (entry = readdir (stream))) {
        if (entry->d_name[0] == '.')
            continue;
        if (++count > SPOOL_ENTRIES_MAX)
            rc = gl_error (error, "%s: more than %d entries", path,
                           SPOOL_ENTRIES_MAX);
        else
            rc = see (fd, entry->d_name, arg);
    }
    closedir (stream);
    return rc;
}

/* --- segments --- */

/* The number of a segment's name, 0 for any other name. */
static uint32_t segment_number (const char *name)
{
    uint32_t number = 0;

    for (int i = 0; i < DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 0;
        number = number * 10 + (name[i] - '0');
    }
    return strcmp (name + DIGITS, SPOOL_SUFFIX) == 0 ? number : 0;
}

void segment_name (uint32_t number, char ret_name[SEGMENT_NAME_SIZE])
{
    snprintf (ret_name, SEGMENT_NAME_SIZE, "%08u" SPOOL_SUFFIX, number);
}

static int see_segment (int fd, const char *name, void *arg)
{
    segments_t *segments = arg;
    uint32_t number = segment_number (name);

    (void)fd;
    if (number > 0) /* directory_walk() bounds how many */
        segments->number[segments->count++] = number;
    return 0;
}

static int by_number (const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

int segments_list (int fd, const char *path, segments_t *ret_segments,
                   gl_error_t *error)
{
    ret_segments->count = 0;
    if (directory_walk (fd, path, see_segment, ret_segments, error) < 0)
        return -1;
    qsort (ret_segments->number, ret_segments->count,
           sizeof (*ret_segments->number), by_number);
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

int segment_open_last (int at, const char *dir, off_t room, size_t most,
                       const char *reason, off_t *ret_size, gl_error_t *error)
{
    segments_t segments;
    uint32_t highest = 0;
    int fd;

    if (segments_list (at, dir, &segments, error) < 0)
        return -1;
    if (segments.count > 0) {
        highest = segments.number[segments.count - 1];
        fd = open_segment (at, dir, highest, ret_size, error);
        if (fd < 0 || *ret_size < room)
            return fd;
        close (fd);
    }
    if (segments.count >= most || highest >= SEGMENT_NUMBER_MAX)
        return gl_error (error, "%s is full: %zu segments, and %s", dir,
                         segments.count, reason);
    return open_segment (at, dir, highest + 1, ret_size, error);
}
