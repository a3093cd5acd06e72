#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"

#include "sync.h"

void sync_open (sync_t *sync, const char *spool)
{
    *sync = (sync_t){.spool = spool, .size = {-1, -1}};
    sync->watch = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
    if (sync->watch >= 0
        && inotify_add_watch (sync->watch, spool, IN_MODIFY | IN_CREATE) < 0)
        sync_close (sync);
}

void sync_close (sync_t *sync)
{
    if (sync->watch >= 0)
        close (sync->watch);
    sync->watch = -1;
}

bool sync_changed (sync_t *sync)
{
    char events[4096];
    bool changed = sync->watch < 0;

    while (sync->watch >= 0 && read (sync->watch, events, sizeof (events)) > 0)
        changed = true;
    return changed;
}

static int64_t known_size (const sync_t *sync, uint32_t number)
{
    for (int i = 0; i < 2; i++) {
        if (sync->segment[i] == number)
            return sync->size[i];
    }
    return -1;
}

/* Sync a segment that is not of its known size. 1 done, 0 not needed, -1. */
static int sync_segment (const sync_t *sync, int at, uint32_t number,
                         int64_t *ret_size, gl_error_t *error)
{
    char name[SEGMENT_NAME_SIZE];
    int64_t known = known_size (sync, number);
    struct stat st;
    int fd, rc = 0;

    *ret_size = known;
    segment_name (number, name);
    fd = openat (at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0
                               : gl_error (error, "%s/%s: %s", sync->spool,
                                           name, strerror (errno));
    if (fstat (fd, &st) < 0 || (st.st_size != known && fdatasync (fd) < 0))
        rc = gl_error (error, "%s/%s: %s", sync->spool, name, strerror (errno));
    else if (st.st_size != known)
        rc = 1;
    close (fd);
    if (rc > 0)
        *ret_size = st.st_size;
    return rc;
}

static int sync_segments (sync_t *sync, int at, gl_error_t *error)
{
    uint32_t highest[2] = {0, 0};
    int64_t size[2] = {-1, -1};
    segments_t segments;
    int changed = 0;

    if (segments_list (at, sync->spool, &segments, error) < 0)
        return -1;
    for (size_t i = 0; i < 2 && i < segments.count; i++)
        highest[i] = segments.number[segments.count - 1 - i];
    for (int i = 0; i < 2 && highest[i]; i++) {
        int rc = sync_segment (sync, at, highest[i], &size[i], error);
        if (rc < 0)
            return -1;
        changed |= rc;
    }
    if (highest[0] != sync->segment[0] && fsync (at) < 0)
        return gl_error (error, "%s: %s", sync->spool, strerror (errno));
    memcpy (sync->segment, highest, sizeof (highest));
    memcpy (sync->size, size, sizeof (size));
    return changed;
}

int sync_spool (sync_t *sync, gl_error_t *error)
{
    int at = directory_open (AT_FDCWD, sync->spool, sync->spool, error), rc;

    if (at < 0)
        return -1;
    rc = sync_segments (sync, at, error);
    close (at);
    return rc;
}
