#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "record/directory.h"
#include "record/prices.h"
#include "ship_batch.h"
#include "wire/frame.h"

/* Room in front of the records. */
#define HEADERS_MAX (REQUEST_HEADER_SIZE + BATCH_HEADER_MAX)

void batch_out_free (batch_out_t *batch)
{
    free (batch->payload);
    *batch = (batch_out_t){0};
}

/* --- reading --- */

struct gathering {
    unsigned char *bytes; /* headers, then records */
    size_t length;        /* of the records */
    size_t first_size;
    int records, limit;
    char cluster[129], node[129]; /* "": none of the records names one */
};

/* The name that both have, if they agree: one that is empty agrees with all. */
static bool agree (const char *batch, const char *record)
{
    return !*batch || !*record || strcmp (batch, record) == 0;
}

static bool fits (const struct gathering *g, const spool_entry_t *entry)
{
    return g->records < g->limit && g->length + entry->size <= BATCH_RECORDS_MAX
           && agree (g->cluster, entry->record.cluster)
           && agree (g->node, entry->record.node);
}

static int gather (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    struct gathering *g = arg;

    (void)error;
    if (!fits (g, entry))
        return 1;
    memcpy (g->bytes + HEADERS_MAX + g->length, entry->bytes, entry->size);
    g->length += entry->size;
    if (g->records++ == 0)
        g->first_size = entry->size;
    if (*entry->record.cluster)
        strcpy (g->cluster, entry->record.cluster);
    if (*entry->record.node)
        strcpy (g->node, entry->record.node);
    return 0;
}

static int64_t clock_ns (void)
{
    struct timespec now;

    clock_gettime (CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- the request --- */

static void name (char ret_name[129], const char *own, const char *other)
{
    const char *text = *own ? own : other ? other : "";
    size_t length = strnlen (text, 128);

    memcpy (ret_name, text, length);
    ret_name[length] = '\0';
}

/* The headers are written as near to the records as their size allows. */
static void finish (struct gathering *g, const char *cluster, const char *node,
                    batch_out_t *ret_batch)
{
    unsigned char header[BATCH_HEADER_MAX];
    size_t size;

    name (ret_batch->header.cluster, g->cluster, cluster);
    name (ret_batch->header.node, g->node, node);
    size = batch_header (header, &ret_batch->header);
    memcpy (g->bytes + REQUEST_HEADER_SIZE, header, size);
    memmove (g->bytes + REQUEST_HEADER_SIZE + size, g->bytes + HEADERS_MAX,
             g->length);
    ret_batch->payload = g->bytes;
    ret_batch->size = REQUEST_HEADER_SIZE + size + g->length;
    ret_batch->records = g->records;
    ret_batch->first = g->bytes + REQUEST_HEADER_SIZE + size;
    ret_batch->first_size = g->first_size;
}

void batch_out_stamp (batch_out_t *batch)
{
    unsigned char header[BATCH_HEADER_MAX];
    size_t size;

    batch->header.sent_ns = clock_ns ();
    size = batch_header (header, &batch->header);
    memcpy (batch->payload + REQUEST_HEADER_SIZE, header, size);
}

static int limit_of (const bisect_t *bisect)
{
    return bisect->suspects > 0 ? (bisect->suspects + 1) / 2 : INT_MAX;
}

int batch_out_read (spool_cursor_t *cursor, const char *cluster,
                    const char *node, const bisect_t *bisect,
                    batch_out_t *ret_batch, gl_error_t *error)
{
    struct gathering g = {.bytes = malloc (HEADERS_MAX + BATCH_RECORDS_MAX),
                          .limit = limit_of (bisect)};
    int n;

    if (!g.bytes)
        return gl_error (error, "out of memory");
    n = spool_cursor_next (cursor, gather, &g, &ret_batch->mark, error);
    if (n > 0) {
        finish (&g, cluster, node, ret_batch);
        return 1;
    }
    free (g.bytes);
    return n;
}

/* --- refusals --- */

void bisect_accepted (bisect_t *bisect, const batch_out_t *batch)
{
    bisect->suspects -= batch->records;
    if (bisect->suspects < 0)
        bisect->suspects = 0;
}

int bisect_refused (bisect_t *bisect, const batch_out_t *batch)
{
    bisect->suspects = batch->records > 1 ? batch->records : 0;
    return batch->records == 1;
}

/* --- prices ------------------------------------------------------------- */

#define DEVICES_FILE "state/devices"

struct texts {
    const char *text[TEXTS_MAX];
    size_t count;
};

static void add_once (struct texts *texts, const char *text)
{
    for (size_t i = 2; i < texts->count; i++) /* behind cluster and node */
        if (strcmp (texts->text[i], text) == 0)
            return;
    if (texts->count < TEXTS_MAX)
        texts->text[texts->count++] = text;
}

/* "INDEX TYPE" lines between the title and "end". */
static void add_types (struct texts *texts, char *file)
{
    char *rest, *line = strtok_r (file, "\n", &rest);

    while (line && (line = strtok_r (NULL, "\n", &rest))) {
        char *type = strchr (line, ' ');

        if (type && type[1])
            add_once (texts, type + 1);
    }
}

static char *read_devices (const char *spool)
{
    char path[PATH_MAX];
    size_t size;

    snprintf (path, sizeof (path), "%s/" DEVICES_FILE, spool);
    return file_read (AT_FDCWD, path, path, PRICES_FILE_MAX, &size, NULL);
}

unsigned char *prices_request (const char *spool, const char *cluster,
                               const char *node, size_t *ret_size)
{
    struct texts texts = {.text = {cluster, node}, .count = 2};
    unsigned char *payload;
    char *devices;

    if (!cluster || !*cluster || !node || !*node)
        return NULL;
    if ((devices = read_devices (spool)))
        add_types (&texts, devices);
    *ret_size = REQUEST_HEADER_SIZE + texts_size (texts.text, texts.count);
    if ((payload = malloc (*ret_size)))
        texts_write (payload + REQUEST_HEADER_SIZE, texts.text, texts.count);
    free (devices);
    return payload;
}

/* --- refused records ---------------------------------------------------- */

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
                            "the collector refuses too many records, see its "
                            "log",
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
