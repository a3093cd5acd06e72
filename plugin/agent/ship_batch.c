#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ship_batch.h"

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
