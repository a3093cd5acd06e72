#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <zlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "import/import_source.h"

/* One read of zlib; its own buffer is of that size too. */
#define CHUNK (128 * 1024)

/* What comes through a pipe is kept while it is read. A month of ten million jobs
 * is a tenth of it; what is longer has no end, or should be compressed. */
#define COPY_MAX (UINT64_C (16) << 30)

struct source {
    char *name;
    char *path; /* can be opened again by it; NULL: only through fd */
    int fd;     /* -1: at rest */
    gzFile gz;  /* reads plain files as they are */
    uint64_t size;
    uint64_t line;
    bool line_ended; /* the last byte given was the end of its line */
    unsigned char *data;
    size_t at;
    size_t length;
    buffer_t text; /* of source_line */
};

static int open_gz (source_t *s, gl_error_t *error)
{
    int fd = dup (s->fd); /* gzclose closes it */

    if (fd < 0 || !(s->gz = gzdopen (fd, "rb"))) {
        if (fd >= 0)
            close (fd);
        return gl_error (error, "cannot read %s: %s", s->name,
                         strerror (errno ? errno : ENOMEM));
    }
    gzbuffer (s->gz, CHUNK);
    s->at = s->length = 0;
    s->line = 1;
    s->line_ended = false;
    return 0;
}

/* 1: there is more than COPY_MAX of it. */
static int copy_fd (int from, int to)
{
    char data[65536];
    uint64_t copied = 0;
    ssize_t n;

    while ((n = read (from, data, sizeof (data))) != 0) {
        if (n < 0 && errno != EINTR)
            return -1;
        copied += n > 0 ? (uint64_t)n : 0;
        if (copied > COPY_MAX)
            return 1;
        if (n > 0 && file_write_all (to, data, (size_t)n) < 0)
            return -1;
    }
    return 0;
}

/* A pipe cannot be read twice; its bytes can. */
static int copy_pipe (int from, const char *name, gl_error_t *error)
{
    int rc;
    const char *dir = getenv ("TMPDIR");
    GL_AUTOFREE char *path
        = xasprintf ("%s/gpuledger.XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkostemp (path, O_CLOEXEC);

    if (fd < 0)
        return gl_error (error, "cannot make a temporary file %s: %s", path,
                         strerror (errno));
    unlink (path);
    rc = copy_fd (from, fd);
    if (rc != 0) {
        if (rc > 0)
            gl_error (error,
                      "%s has more than 16 GiB: give a file, or compress it; "
                      "maybe it has no end",
                      name);
        else
            gl_error (error,
                      "cannot copy %s to a temporary file %s: %s; is there "
                      "room? TMPDIR names another directory",
                      name, path, strerror (errno));
        close (fd);
        return -1;
    }
    return fd;
}

/* /dev/null, which is empty and often somebody's standard input. */
static bool is_null (const struct stat *st)
{
    return major (st->st_rdev) == 1 && minor (st->st_rdev) == 3;
}

/* *ret_reopen: the name will do to open it again. */
static int open_fd (const char *path, bool *ret_reopen, gl_error_t *error)
{
    bool input = strcmp (path, "-") == 0;
    struct stat st;
    int fd = input ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat (fd, &st) < 0) {
        gl_error (error, "cannot open %s: %s", input ? "standard input" : path,
                  strerror (errno));
        if (fd >= 0)
            close (fd);
        return -1;
    }
    if (S_ISDIR (st.st_mode)) {
        close (fd);
        return gl_error (error, "%s is a directory, not a file", path);
    }
    if (S_ISBLK (st.st_mode)
        || (S_ISCHR (st.st_mode) && !isatty (fd) && !is_null (&st))) {
        close (fd);
        return gl_error (error, "%s is a device, not a file",
                         input ? "standard input" : path);
    }
    *ret_reopen = S_ISREG (st.st_mode) && !input;
    if (!S_ISREG (st.st_mode)) {
        int copy = copy_pipe (fd, input ? "standard input" : path, error);
        close (fd);
        return copy;
    }
    return fd;
}

source_t *source_open (const char *path, gl_error_t *error)
{
    source_t *s = xcalloc (1, sizeof (*s));
    struct stat st;
    bool reopen = false;

    s->name = xstrdup (strcmp (path, "-") == 0 ? "standard input" : path);
    s->fd = open_fd (path, &reopen, error);
    if (reopen)
        s->path = xstrdup (path);
    if (s->fd < 0 || source_rewind (s, error) < 0) {
        source_close (s);
        return NULL;
    }
    if (fstat (s->fd, &st) == 0)
        s->size = st.st_size;
    return s;
}

static void close_fd (source_t *s)
{
    if (s->fd >= 0)
        close (s->fd);
    s->fd = -1;
}

void source_rest (source_t *s)
{
    if (s->gz)
        gzclose (s->gz);
    s->gz = NULL;
    if (s->path)
        close_fd (s);
    free (s->data);
    s->data = NULL;
    buffer_done (&s->text);
}

void source_close (source_t *s)
{
    if (s) {
        source_rest (s);
        close_fd (s);
        free (s->path);
        free (s->name);
        free (s);
    }
}

int source_rewind (source_t *s, gl_error_t *error)
{
    bool reopen;

    if (s->gz)
        gzclose (s->gz);
    s->gz = NULL;
    if (s->fd < 0 && (s->fd = open_fd (s->path, &reopen, error)) < 0)
        return -1;
    if (!s->data)
        s->data = xmalloc (CHUNK);
    if (lseek (s->fd, 0, SEEK_SET) < 0)
        return gl_error (error, "cannot read %s twice: %s", s->name,
                         strerror (errno));
    return open_gz (s, error);
}

const char *source_name (const source_t *s)
{
    return s->name;
}

uint64_t source_line_number (const source_t *s)
{
    return s->line;
}

uint64_t source_position (const source_t *s)
{
    z_off_t offset = gzoffset (s->gz);

    return offset > 0 ? offset : 0;
}

uint64_t source_size (const source_t *s)
{
    return s->size;
}

/* Fill the empty buffer. 1; 0 at the end; -1. */
static int fill (source_t *s, gl_error_t *error)
{
    int n = gzread (s->gz, s->data, CHUNK), code = Z_OK;
    const char *why = n > 0 ? NULL : gzerror (s->gz, &code);

    s->at = 0;
    s->length = n > 0 ? n : 0;
    if (n > 0)
        return 1;
    if (code == Z_OK || code == Z_STREAM_END)
        return 0;
    if (code == Z_BUF_ERROR)
        return gl_error (error,
                         "%s: the compressed data ends early; the file is cut "
                         "off: create or copy it again",
                         s->name);
    if (code == Z_ERRNO)
        return gl_error (error, "cannot read %s: %s", s->name,
                         strerror (errno));
    return gl_error (error, "%s: damaged compressed data (%s)", s->name, why);
}

/* The rest of the buffer up to and with the end of the line. */
static int add_interval (source_t *s, bool *ret_ended, gl_error_t *error)
{
    unsigned char *start = s->data + s->at;
    unsigned char *end = memchr (start, '\n', s->length - s->at);
    size_t n = end ? (size_t)(end - start) : s->length - s->at;

    if (s->text.length + n > SOURCE_LINE_MAX)
        return gl_error (error,
                         "%s:%llu: a line of more than %d bytes: neither "
                         "sacct text nor JSON has such lines",
                         s->name, (unsigned long long)s->line, SOURCE_LINE_MAX);
    if (memchr (start, 0, n))
        return gl_error (error, "%s:%llu: a NUL byte: this is not text",
                         s->name, (unsigned long long)s->line);
    buffer_add (&s->text, start, n);
    s->at += n + (end != NULL);
    *ret_ended = end != NULL;
    return 0;
}

int source_line (source_t *s, char **ret_line, size_t *ret_length,
                 gl_error_t *error)
{
    bool ended = false, any = false;

    if (s->line_ended)
        s->line++;
    s->line_ended = false;
    buffer_clear (&s->text);
    while (!ended) {
        int rc = s->at < s->length ? 1 : fill (s, error);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
        any = true;
        if (add_interval (s, &ended, error) < 0)
            return -1;
    }
    if (!any)
        return 0;
    s->line_ended = ended;
    if (s->text.length > 0 && s->text.data[s->text.length - 1] == '\r')
        s->text.data[--s->text.length] = '\0';
    buffer_reserve (&s->text, 0); /* an empty line has memory too */
    *ret_line = s->text.data;
    *ret_length = s->text.length;
    return 1;
}

int source_peek (source_t *s, gl_error_t *error)
{
    if (s->at == s->length) {
        int rc = fill (s, error);
        if (rc <= 0)
            return rc < 0 ? SOURCE_ERROR : SOURCE_END;
    }
    return s->data[s->at];
}

int source_byte (source_t *s, gl_error_t *error)
{
    int c = source_peek (s, error);

    if (c >= 0) {
        s->at++;
        s->line += s->line_ended;
        s->line_ended = c == '\n';
    }
    return c;
}
