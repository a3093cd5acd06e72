#include "month/anchor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "month/periods.h"

/* A line is some 250 bytes. */
#define FILE_MAX ((size_t)64 << 20)

/* --- the line ----------------------------------------------------------- */

/* The URL by which the lines of this store are known: without its parameters, and
 * of a file the absolute path. Yours. */
static char *name_of_store (const store_t *store)
{
    const char *url = store_url (store);
    GL_AUTOFREE char *file = store_file (url);
    char path[PATH_MAX];

    if (file && realpath (file, path))
        return xasprintf ("sqlite:%s", path);
    return xstrndup (url, strcspn (url, "?"));
}

static char *line_of (const store_t *store, const anchor_t *a)
{
    GL_AUTOFREE char *name = name_of_store (store);
    BUFFER_AUTO line = BUFFER_INIT;
    char hash[MONTH_HASH_SIZE], stamp[32];
    struct tm tm;

    hash_text (a->head.hash, hash);
    gmtime_r (&(time_t){a->when}, &tm);
    strftime (stamp, sizeof (stamp), "%Y-%m-%dT%H:%M:%SZ", &tm);
    buffer_printf (&line, "entry=%" PRIu64 " hash=%s event=%s", a->head.number,
                   hash, a->event);
    if (a->month)
        buffer_printf (&line, " month=%s", a->month);
    if (a->version)
        buffer_printf (&line, " version=%" PRIu32, a->version);
    buffer_printf (&line, " when=%s by=%s store=%s", stamp, a->who, name);
    return buffer_take (&line);
}

/* --- writing ------------------------------------------------------------ */

static int sync_directory (const char *path)
{
    const char *slash = strrchr (path, '/');
    GL_AUTOFREE char *name = xstrndup (path, (size_t)(slash - path) + 1);
    int fd = open (name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

    if (fd < 0)
        return -1;
    rc = fsync (fd);
    close (fd);
    return rc;
}

/* A line that a full disk cut off is ended first. */
static int append (int fd, const char *path, const char *line)
{
    GL_AUTOFREE char *text = NULL;
    struct stat st;
    char last = '\n';

    if (fstat (fd, &st) < 0
        || (st.st_size > 0 && pread (fd, &last, 1, st.st_size - 1) != 1))
        return -1;
    text = xasprintf ("%s%s\n", last == '\n' ? "" : "\n", line);
    if (file_write_all (fd, text, strlen (text)) < 0 || fsync (fd) < 0)
        return -1;
    return st.st_size == 0 ? sync_directory (path) : 0;
}

static const char **argv_of (const text_list_t *list)
{
    const char **argv = xcalloc (list->count + 1, sizeof (*argv));

    memcpy (argv, list->item, list->count * sizeof (*argv));
    return argv;
}

/* Of the whole file, as FILE.sig. */
static int sign (const site_close_t *close, int fd, gl_error_t *error)
{
    GL_AUTOFREE char *name = xasprintf ("%s.sig", close->anchor);
    GL_AUTOFREE const char **argv = argv_of (&close->sign);
    const file_target_t target
        = {.at = AT_FDCWD, .name = name, .mode = 0644, .sync = FILE_WHOLE};
    GL_AUTOFREE char *signature = NULL;

    if (lseek (fd, 0, SEEK_SET) < 0)
        return gl_error (error, "%s: %s", close->anchor, strerror (errno));
    signature = program_run (&(program_t){.argv = argv, .input = fd}, error);
    if (!signature)
        return gl_error_prefix (error, "close.sign");
    if (!*signature)
        return gl_error (error, "close.sign: %s wrote no signature", argv[0]);
    return file_replace (&target, name, signature, strlen (signature), error);
}

/* The lock keeps the order of two writers, and the signature beside its file. */
static int put_file (const site_close_t *c, const char *line, gl_error_t *error)
{
    int fd
        = open (c->anchor,
                O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
                0644),
        rc;

    if (fd < 0)
        return gl_error (error, "%s: %s", c->anchor, strerror (errno));
    rc = flock (fd, LOCK_EX) < 0 || append (fd, c->anchor, line) < 0
             ? gl_error (error, "%s: %s", c->anchor, strerror (errno))
             : 0;
    if (rc == 0 && c->sign.count)
        rc = sign (c, fd, error);
    close (fd);
    return rc;
}

/* The line fits a pipe, so that it can be there before anybody reads. */
static int put_command (const site_close_t *c, const char *line,
                        gl_error_t *error)
{
    GL_AUTOFREE const char **argv = argv_of (&c->anchor_command);
    GL_AUTOFREE char *text = xasprintf ("%s\n", line);
    GL_AUTOFREE char *said = NULL;
    int ends[2], rc = 0;

    if (pipe2 (ends, O_CLOEXEC) < 0)
        return gl_error (error, "close.anchor_command: %s", strerror (errno));
    if (strlen (text) > PIPE_BUF
        || file_write_all (ends[1], text, strlen (text)) < 0)
        rc = gl_error (error, "close.anchor_command: the line is too long");
    close (ends[1]);
    if (rc == 0
        && !(said = program_run (&(program_t){.argv = argv, .input = ends[0]},
                                 error)))
        rc = gl_error_prefix (error, "close.anchor_command");
    close (ends[0]);
    return rc;
}

int anchor_put (store_t *store, const site_close_t *c, const anchor_t *anchor,
                gl_error_t *error)
{
    GL_AUTOFREE char *line = line_of (store, anchor);
    gl_error_t second;
    int rc = 0;

    openlog ("gpuledger", LOG_PID, LOG_AUTHPRIV);
    syslog (LOG_NOTICE, "%s", line);
    closelog ();
    if (c->anchor)
        rc = put_file (c, line, error);
    if (c->anchor_command.count && put_command (c, line, &second) < 0) {
        if (rc == 0)
            *error = second;
        else
            gl_error_prefix (error, "%s", second.text);
        rc = -1;
    }
    return rc;
}

/* --- comparing ---------------------------------------------------------- */

struct line {
    uint64_t number; /* of the entry */
    size_t at;       /* in the file, from 1 on */
    uint8_t hash[STORE_DIGEST_SIZE];
    const char *text; /* behind the hash */
};

struct comparing {
    store_t *store;
    const char *path;
    const char *name; /* of the store */
    anchor_f callback;
    void *arg;
    struct line *item;
    size_t count;
};

static void say (const struct comparing *c, bool bad, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));

static void say (const struct comparing *c, bool bad, const char *fmt, ...)
{
    GL_AUTOFREE char *text = NULL;
    va_list ap;

    va_start (ap, fmt);
    if (vasprintf (&text, fmt, ap) < 0)
        text = NULL;
    va_end (ap);
    if (text)
        c->callback (text, bad, c->arg);
}

static bool parse_line (char *text, struct line *ret)
{
    char *end, hash[MONTH_HASH_SIZE];

    if (strncmp (text, "entry=", 6) != 0)
        return false;
    ret->number = strtoull (text + 6, &end, 10);
    if (ret->number == 0 || strncmp (end, " hash=", 6) != 0
        || strlen (end) < 6 + MONTH_HASH_SIZE)
        return false;
    snprintf (hash, sizeof (hash), "%s", end + 6);
    ret->text = end + 6 + MONTH_HASH_SIZE - 1;
    return hash_parse (hash, ret->hash) == 0 && *ret->text++ == ' ';
}

/* Lines of other stores may be in the same file. */
static void take_lines (struct comparing *c, char *text)
{
    size_t at = 0;

    for (char *line = strsep (&text, "\n"); line; line = strsep (&text, "\n")) {
        struct line found;
        const char *store;
        at++;
        if (!*line)
            continue;
        if (!parse_line (line, &found)
            || !(store = strstr (found.text, "store="))) {
            say (
                c, true,
                "line %zu of %s is not what gpuledger writes: somebody changed "
                "it, or a full disk cut it off",
                at, c->path);
            continue;
        }
        if (strcmp (store + strlen ("store="), c->name) != 0)
            continue;
        found.at = at;
        c->item = xreallocarray (c->item, c->count + 1, sizeof (*c->item));
        c->item[c->count++] = found;
    }
}

static int by_number (const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The first anchored entry that the store has otherwise. */
static int check_same (const struct comparing *c, const chain_head_t *head,
                       gl_error_t *error)
{
    for (size_t i = 0; i < c->count && c->item[i].number <= head->number; i++) {
        const struct line *line = &c->item[i];
        uint8_t hash[STORE_DIGEST_SIZE];
        char is[MONTH_HASH_SIZE] = "none", was[MONTH_HASH_SIZE];
        int rc = store_chain_hash (c->store, line->number, hash, error);
        if (rc < 0)
            return -1;
        if (rc == 1 && !memcmp (hash, line->hash, sizeof (hash)))
            continue;
        if (rc == 1)
            hash_text (hash, is);
        hash_text (line->hash, was);
        say (c, true,
             "the store is not the one that was anchored: line %zu of %s has "
             "entry %" PRIu64 " with the hash %s (%s), and the store has %s: "
             "its entries were rewritten, or follow an old "
             "copy",
             line->at, c->path, line->number, was, line->text, is);
        return 0;
    }
    return 0;
}

static void check_end (const struct comparing *c, const chain_head_t *head)
{
    const struct line *last = c->count ? &c->item[c->count - 1] : NULL;
    char is[MONTH_HASH_SIZE], was[MONTH_HASH_SIZE];

    hash_text (head->hash, is);
    if (last)
        hash_text (last->hash, was);
    if (last && last->number > head->number)
        say (c, true,
             "the store is behind its anchor: line %zu of %s has entry %" PRIu64
             " with the hash %s (%s), and the store ends with entry %" PRIu64
             ", hash %s: entries were deleted, or an old copy was restored",
             last->at, c->path, last->number, was, last->text, head->number,
             is);
    else if (last && last->number < head->number)
        say (c, false,
             "entries %" PRIu64 " to %" PRIu64 " are not in %s: `gpuledger "
             "verify --since %s` lists them; if they are right, `gpuledger "
             "verify --anchor` anchors them",
             last->number + 1, head->number, c->path, was);
    else if (!last && head->number > 0)
        say (
            c, false,
            "%s has no line of %s, whose latest hash is %s: if gpuledger "
            "verify finds nothing else, `gpuledger verify --anchor` writes one",
            c->path, c->name, is);
}

static int compare (struct comparing *c, gl_error_t *error)
{
    chain_head_t head;

    if (c->count > 1)
        qsort (c->item, c->count, sizeof (*c->item), by_number);
    if (store_chain_head (c->store, &head, error) < 0
        || check_same (c, &head, error) < 0)
        return -1;
    check_end (c, &head);
    return 0;
}

int anchor_check (store_t *store, const site_close_t *close, anchor_f callback,
                  void *arg, size_t *ret_lines, gl_error_t *error)
{
    GL_AUTOFREE char *name = name_of_store (store);
    GL_AUTOFREE char *text = NULL;
    struct comparing c = {.store = store,
                          .path = close->anchor,
                          .name = name,
                          .callback = callback,
                          .arg = arg};
    size_t size;
    int rc;

    *ret_lines = 0;
    if (!close->anchor)
        return 0;
    text = file_read (AT_FDCWD, close->anchor, close->anchor, FILE_MAX, &size,
                      error);
    if (!text && errno != ENOENT)
        return -1;
    if (text && strlen (text) != size)
        return gl_error (error, "%s holds a NUL: it is not a file of anchors",
                         close->anchor);
    if (text)
        take_lines (&c, text);
    rc = compare (&c, error);
    *ret_lines = c.count;
    free (c.item);
    return rc;
}
