#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"
#include "record/spool.h"

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
