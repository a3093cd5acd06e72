#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/replace.h"

static int write_all (int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write (fd, data, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        data += n;
        size -= n;
    }
    return 0;
}

static int write_beside (int at, const char *beside, const void *data,
                         size_t size)
{
    int fd = openat (at, beside,
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
                         | O_NONBLOCK,
                     0600),
        rc;

    if (fd < 0)
        return -1;
    rc = write_all (fd, data, size) == 0 && fsync (fd) == 0 ? 0 : -1;
    return close (fd) < 0 ? -1 : rc;
}

int replace_file (int at, const char *name, const char *path, const void *data,
                  size_t size, gl_error_t *error)
{
    char beside[256];

    if (snprintf (beside, sizeof (beside), "%s.new", name)
        >= (int)sizeof (beside))
        return gl_error (error, "%s: the name is too long", path);
    if (write_beside (at, beside, data, size) == 0
        && renameat (at, beside, at, name) == 0 && fsync (at) == 0)
        return 0;
    gl_error (error, "%s: %s", path, strerror (errno));
    unlinkat (at, beside, 0);
    return -1;
}

/* One byte more than allowed is asked for, so that too long shows. */
static ssize_t read_all (int fd, char *data, size_t max)
{
    size_t have = 0;
    ssize_t n;

    while (have < max && (n = read (fd, data + have, max - have)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        have += n;
    }
    return have;
}

static char *read_fd (int fd, const char *path, size_t max, size_t *ret_size,
                      gl_error_t *error)
{
    char *data = malloc (max + 2);
    ssize_t size = data ? read_all (fd, data, max + 1) : -1;

    if (size < 0)
        gl_error (error, "%s: %s", path, strerror (errno));
    else if ((size_t)size > max)
        gl_error (error, "%s: more than %zu bytes", path, max);
    else {
        data[size] = '\0';
        *ret_size = size;
        return data;
    }
    free (data);
    errno = EIO;
    return NULL;
}

char *read_file (int at, const char *name, const char *path, size_t max,
                 size_t *ret_size, gl_error_t *error)
{
    int fd = openat (at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char *data = NULL;

    if (fd < 0) {
        gl_error (error, "%s: %s", path, strerror (errno));
        return NULL;
    }
    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode))
        data = read_fd (fd, path, max, ret_size, error);
    else {
        gl_error (error, "%s: not a regular file", path);
        errno = EIO;
    }
    close (fd);
    return data;
}
