#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int file_write_all (int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t n = write (fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

/* --- replaced ------------------------------------------------------------ */

struct file_draft {
    file_target_t target;
    int fd;
    int failed;    /* errno of what went wrong first */
    char beside[]; /* the name it is written under */
};

#define SUFFIX_MAX 8 /* ".new", or '.' and six digits */
/* Of 16 million names hardly one is taken. */
#define TRIES 8

static int make (file_draft_t *draft)
{
    const file_target_t *to = &draft->target;

    return openat (to->at, draft->beside,
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                   to->mode ? to->mode : 0666);
}

static int make_shared (file_draft_t *draft, char *suffix)
{
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; i < TRIES && fd < 0 && errno == EEXIST; i++) {
        unsigned random;

        if (getrandom (&random, sizeof (random), 0) != sizeof (random))
            return -1;
        snprintf (suffix, SUFFIX_MAX, ".%06x", random & 0xffffff);
        fd = make (draft);
    }
    return fd;
}

static int make_alone (file_draft_t *draft, char *suffix)
{
    int fd;

    strcpy (suffix, ".new");
    fd = make (draft);
    if (fd < 0 && errno == EEXIST
        && unlinkat (draft->target.at, draft->beside, 0) == 0)
        fd = make (draft);
    return fd;
}

/* The first failure is the one that is reported. */
static int note (file_draft_t *draft, int rc)
{
    if (rc < 0 && !draft->failed)
        draft->failed = errno;
    return rc;
}

file_draft_t *file_draft_open (const file_target_t *target)
{
    size_t length = strlen (target->name);
    file_draft_t *draft = calloc (1, sizeof (*draft) + length + SUFFIX_MAX);

    if (!draft)
        return NULL;
    draft->target = *target;
    memcpy (draft->beside, target->name, length);
    draft->fd = target->shared ? make_shared (draft, draft->beside + length)
                               : make_alone (draft, draft->beside + length);
    if (draft->fd < 0) {
        int failed = errno;

        free (draft);
        errno = failed;
        return NULL;
    }
    if (target->mode)
        note (draft, fchmod (draft->fd, target->mode));
    return draft;
}

int file_draft_write (file_draft_t *draft, const void *data, size_t size)
{
    if (!draft->failed)
        note (draft, file_write_all (draft->fd, data, size));
    errno = draft->failed;
    return draft->failed ? -1 : 0;
}

int file_draft_close (file_draft_t *draft, bool complete)
{
    const file_target_t *to = &draft->target;
    int failed;

    if (complete && !draft->failed && to->sync != FILE_LOOSE)
        note (draft, fsync (draft->fd));
    note (draft, close (draft->fd));
    if (complete && !draft->failed)
        note (draft, renameat (to->at, draft->beside, to->at, to->name));
    if (!complete || draft->failed)
        unlinkat (to->at, draft->beside, 0);
    else if (to->sync == FILE_DURABLE)
        note (draft, fsync (to->at));
    failed = draft->failed;
    free (draft);
    errno = failed;
    return complete && failed ? -1 : 0;
}

int file_replace (const file_target_t *target, const char *path,
                  const void *data, size_t size, gl_error_t *error)
{
    file_draft_t *draft = file_draft_open (target);

    if (draft) {
        file_draft_write (draft, data, size);
        if (file_draft_close (draft, true) == 0)
            return 0;
    }
    return gl_error (error, "%s: %s", path, strerror (errno));
}

/* --- read ---------------------------------------------------------------- */

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
        char *fit = realloc (data, (size_t)size + 1);
        data = fit ? fit : data;
        data[size] = '\0';
        *ret_size = size;
        return data;
    }
    free (data);
    errno = EIO;
    return NULL;
}

char *file_read (int at, const char *name, const char *path, size_t max,
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

ssize_t file_read_small (const char *path, char *ret_text, size_t size)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read_all (fd, ret_text, size - 1);

    ret_text[length < 0 ? 0 : length] = '\0';
    if (fd >= 0)
        close (fd);
    return length;
}
