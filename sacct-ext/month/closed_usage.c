#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "month/closed_usage.h"

/* Of a piece before it is compressed: what zlib makes of it stays below
 * CHAIN_BODY_MAX. */
#define PIECE_SIZE ((size_t)1000000)

enum { RECORD_ACCOUNT = 'A', RECORD_ROLLUP = 'R' };

/* --- writing ------------------------------------------------------------ */

struct writing {
    closed_usage_put_f put;
    void *arg;
    buffer_t stream; /* not put yet */
    buffer_t piece;
    buffer_t record;
};

static int put_interval (struct writing *w, size_t length, gl_error_t *error)
{
    uLongf size = compressBound (length);

    buffer_clear (&w->piece);
    if (compress2 ((Bytef *)buffer_reserve (&w->piece, size), &size,
                   (const Bytef *)w->stream.data, length, Z_DEFAULT_COMPRESSION)
        != Z_OK)
        return gl_error (error, "zlib cannot compress the usage of the month");
    w->piece.length = size;
    memmove (w->stream.data, w->stream.data + length,
             w->stream.length - length);
    w->stream.length -= length;
    return w->put (&w->piece, w->arg, error);
}

/* `record`, which is empty then. */
static int put_record (struct writing *w, char letter, gl_error_t *error)
{
    buffer_printf (&w->stream, "%c%zu\n", letter, w->record.length);
    buffer_add (&w->stream, w->record.data, w->record.length);
    buffer_clear (&w->record);
    while (w->stream.length > PIECE_SIZE)
        if (put_interval (w, PIECE_SIZE, error) < 0)
            return -1;
    return 0;
}

static int put_accounts (struct writing *w, store_t *store, gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_ACCOUNTS, NULL, error);
    store_account_t account;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &account, error)) > 0) {
        buffer_printf (&w->record, "%s\n%s\n%s", account.cluster, account.name,
                       account.parent ? account.parent : "");
        if (put_record (w, RECORD_ACCOUNT, error) < 0) {
            more = -1;
            break;
        }
    }
    store_iter_close (iter);
    return more;
}

static int put_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct writing *w = arg;

    rollup_encode (rollup, &w->record);
    return put_record (w, RECORD_ROLLUP, error);
}

/* The month at once, or day by day where pools or teams change within it. */
static int put_rollups (struct writing *w, store_t *store, const site_t *site,
                        period_t month, gl_error_t *error)
{
    report_query_t query = {.site = site, .period = month};
    rollups_query_t rollups = {.query = &query, .period = month};
    report_cluster_t *clusters;
    store_cluster_t *stored;
    int64_t *changes;
    int rc;

    if (store_clusters (store, &stored, &query.cluster_count, error) < 0)
        return -1;
    clusters = xcalloc (query.cluster_count + 1, sizeof (*clusters));
    for (size_t i = 0; i < query.cluster_count; i++)
        clusters[i] = (report_cluster_t){.name = stored[i].name,
                                         .as_of = stored[i].as_of};
    query.clusters = clusters;
    rollups.cuts = changes = site_changes (site, month, &rollups.cut_count);
    rc = rollups_each (store, &rollups, put_rollup, w, error);
    free (changes);
    free (clusters);
    store_clusters_free (stored, query.cluster_count);
    return rc;
}

int closed_usage_write (store_t *store, const site_t *site, period_t month,
                        closed_usage_put_f put, void *arg, gl_error_t *error)
{
    struct writing w = {.put = put, .arg = arg};
    int rc = put_accounts (&w, store, error);

    if (rc == 0)
        rc = put_rollups (&w, store, site, month, error);
    if (rc == 0 && w.stream.length > 0)
        rc = put_interval (&w, w.stream.length, error);
    buffer_done (&w.stream);
    buffer_done (&w.piece);
    buffer_done (&w.record);
    return rc;
}

/* --- reading ------------------------------------------------------------ */

struct closed_usage {
    const closed_usage_sink_t *sink;
    buffer_t stream; /* the beginning of the next record */
};

closed_usage_t *closed_usage_new (const closed_usage_sink_t *sink)
{
    closed_usage_t *u = xcalloc (1, sizeof (*u));

    u->sink = sink;
    return u;
}

void closed_usage_free (closed_usage_t *u)
{
    if (!u)
        return;
    buffer_done (&u->stream);
    free (u);
}

static int is_damaged (gl_error_t *error)
{
    return gl_error (error, "the usage of the month is damaged: run gpuledger "
                            "verify");
}

static int take_account (closed_usage_t *u, const char *bytes, size_t length,
                         gl_error_t *error)
{
    GL_AUTOFREE char *cluster = xstrndup (bytes, length);
    char *name = strchr (cluster, '\n');
    char *parent = name ? strchr (name + 1, '\n') : NULL;

    if (!parent)
        return is_damaged (error);
    *name = *parent = '\0';
    if (u->sink->accounts)
        accounts_add (u->sink->accounts, cluster, name + 1,
                      parent[1] ? parent + 1 : NULL);
    return 0;
}

static int take_rollup (closed_usage_t *u, const char *bytes, size_t length,
                        gl_error_t *error)
{
    rollup_t *rollup = rollup_decode (bytes, length, error);
    int rc;

    if (!rollup)
        return -1;
    rc = u->sink->rollup (rollup, u->sink->arg, error);
    rollup_free (rollup);
    return rc;
}

static int ingest_record (closed_usage_t *u, char letter, const char *bytes,
                          size_t length, gl_error_t *error)
{
    switch (letter) {
    case RECORD_ACCOUNT:
        return take_account (u, bytes, length, error);
    case RECORD_ROLLUP:
        return take_rollup (u, bytes, length, error);
    default:
        return is_damaged (error);
    }
}

/* All whole records; what is left stays for the next piece. */
static int take_records (closed_usage_t *u, gl_error_t *error)
{
    const char *at = u->stream.data, *end = at + u->stream.length;

    while (at < end) {
        const char *line = memchr (at, '\n', (size_t)(end - at));
        uint64_t length;
        if (!line)
            break;
        if (number_u64 (at + 1, (size_t)(line - at - 1), &length) < 0)
            return is_damaged (error);
        if (length > (uint64_t)(end - line - 1))
            break;
        if (ingest_record (u, *at, line + 1, (size_t)length, error) < 0)
            return -1;
        at = line + 1 + length;
    }
    u->stream.length = (size_t)(end - at);
    memmove (u->stream.data, at, u->stream.length);
    return 0;
}

int closed_usage_read (closed_usage_t *u, const void *piece, size_t length,
                       gl_error_t *error)
{
    uLongf size = PIECE_SIZE;

    if (uncompress ((Bytef *)buffer_reserve (&u->stream, PIECE_SIZE), &size,
                    piece, length)
        != Z_OK)
        return is_damaged (error);
    u->stream.length += size;
    return take_records (u, error);
}

int closed_usage_end (const closed_usage_t *u, gl_error_t *error)
{
    return u->stream.length > 0 ? is_damaged (error) : 0;
}
