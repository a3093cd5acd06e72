#include "import/imports.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "facts/chunks.h"
#include "sync/sync.h"

/* --- a view as a line -------------------------------------------------------- */

#define VIEW 'V' /* what a file said */
#define BASE 'B' /* what slurmdbd had said before */

enum kind { TEXT, I64, U64, U32, I32, FLAG };

/* Tab-separated behind the letter, in this order. Kept in stores: only append. */
#define FIELD(kind, member)                \
    {                                      \
        kind, offsetof (segment_t, member) \
    }
static const struct field {
    enum kind kind;
    size_t offset;
} fields[] = {
    FIELD (TEXT, cluster),      FIELD (U64, id_job),
    FIELD (I64, time_submit),   FIELD (I64, time_start),
    FIELD (I64, time_end),      FIELD (I64, observed_at),
    FIELD (I64, suspended),     FIELD (I64, time_limit),
    FIELD (U32, state),         FIELD (U32, source),
    FIELD (TEXT, user),         FIELD (U32, uid),
    FIELD (TEXT, account),      FIELD (TEXT, partition),
    FIELD (TEXT, qos),          FIELD (TEXT, wckey),
    FIELD (TEXT, reservation),  FIELD (TEXT, nodelist),
    FIELD (TEXT, job_name),     FIELD (TEXT, admin_comment),
    FIELD (TEXT, gres),         FIELD (TEXT, gres_requested),
    FIELD (FLAG, gpu_asked),    FIELD (U64, cpus),
    FIELD (U64, memory_mb),     FIELD (U64, nodes),
    FIELD (U64, array_job),     FIELD (U32, array_task),
    FIELD (U64, het_job),       FIELD (U32, het_offset),
    FIELD (U64, job_db_inx),    FIELD (U64, sluid),
    FIELD (I32, restart_count), FIELD (U32, cancelled_by),
};
_Static_assert(sizeof (segment_state_t) == sizeof (uint32_t)
                   && sizeof (segment_source_t) == sizeof (uint32_t)
                   && sizeof (cancelled_by_t) == sizeof (uint32_t),
               "enums are written as 32 bits");

/* "=" and the text, in which tab, line end and backslash are \t, \n, \\; "-": NULL */
static void add_text (buffer_t *line, const char *text)
{
    buffer_add_char (line, text ? '=' : '-');
    for (; text && *text; text++) {
        if (*text == '\t')
            buffer_add_text (line, "\\t");
        else if (*text == '\n')
            buffer_add_text (line, "\\n");
        else if (*text == '\\')
            buffer_add_text (line, "\\\\");
        else
            buffer_add_char (line, *text);
    }
}

static void view_line (buffer_t *line, char letter, const segment_t *s)
{
    buffer_clear (line);
    buffer_add_char (line, letter);
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        const void *p = (const char *)s + fields[i].offset;
        buffer_add_char (line, '\t');
        switch (fields[i].kind) {
        case TEXT:
            add_text (line, *(const char *const *)p);
            break;
        case I64:
            buffer_printf (line, "%" PRId64, *(const int64_t *)p);
            break;
        case U64:
            buffer_printf (line, "%" PRIu64, *(const uint64_t *)p);
            break;
        case U32:
            buffer_printf (line, "%" PRIu32, *(const uint32_t *)p);
            break;
        case I32:
            buffer_printf (line, "%" PRId32, *(const int32_t *)p);
            break;
        case FLAG:
            buffer_add_char (line, *(const bool *)p ? '1' : '0');
            break;
        }
    }
}

/* In place; -1: no such text. */
static int unescape (char *text)
{
    char *to = text;

    for (; *text; text++) {
        char c = *text;
        if (c == '\\') {
            c = *++text;
            if (c != 't' && c != 'n' && c != '\\')
                return -1;
            c = c == 't' ? '\t' : c == 'n' ? '\n' : '\\';
        }
        *to++ = c;
    }
    *to = '\0';
    return 0;
}

static int parse_field (char *text, const struct field *f, segment_t *s)
{
    void *p = (char *)s + f->offset;
    uint64_t number = 0;
    int64_t value = 0;

    switch (f->kind) {
    case TEXT:
        if ((*text != '=' && *text != '-') || unescape (text) < 0)
            return -1;
        *(const char **)p = *text == '=' ? text + 1 : NULL;
        return 0;
    case I64:
        return number_i64_text (text, p);
    case U64:
        return number_u64_text (text, p);
    case U32:
        if (number_u64_text (text, &number) < 0 || number > UINT32_MAX)
            return -1;
        *(uint32_t *)p = (uint32_t)number;
        return 0;
    case I32:
        if (number_i64_text (text, &value) < 0 || value < INT32_MIN
            || value > INT32_MAX)
            return -1;
        *(int32_t *)p = (int32_t)value;
        return 0;
    case FLAG:
        *(bool *)p = *text == '1';
        return 0;
    }
    return -1;
}

/* The strings of the segment are in the line. */
static int view_parse (char *line, char *ret_letter, segment_t *ret,
                       gl_error_t *error)
{
    char *at = line + 2, *end = at;
    bool good = (*line == VIEW || *line == BASE) && line[1] == '\t';

    *ret = (segment_t){.gres_lost = 0};
    *ret_letter = *line;
    for (size_t i = 0; good && i < GL_ARRAY_SIZE (fields); i++, at = end + 1) {
        end = strchrnul (at, '\t');
        good = *end == '\t' || i + 1 == GL_ARRAY_SIZE (fields);
        *end = '\0';
        good = good && parse_field (at, &fields[i], ret) == 0;
    }
    return good ? 0 : gl_error (error, "what an import keeps is damaged");
}

/* --- recording ----------------------------------------------------------------- */

struct imports_record {
    store_t *store;
    uint64_t id;
    uint64_t part;
    chunks_t *chunks;
    EVP_MD_CTX *digest;
    buffer_t line;
    buffer_t base; /* empty: slurmdbd had said nothing */
    uint64_t segments;
    char *cluster; /* of the last segment, */
    bool synced;   /* and whether slurmdbd was ever read of it */
};

static int put_part (const buffer_t *chunk, void *arg, gl_error_t *error)
{
    imports_record_t *r = arg;

    return store_import_part_add (r->store, r->id, r->part++, chunk->data,
                                  chunk->length, error);
}

imports_record_t *imports_record_new (store_t *store, gl_error_t *error)
{
    imports_record_t *r;
    store_import_t *imports;
    size_t count;

    if (store_imports (store, &imports, &count, error) < 0)
        return NULL;
    r = xcalloc (1, sizeof (*r));
    r->store = store;
    r->id = count ? imports[count - 1].id + 1 : 1;
    store_imports_free (imports, count);
    r->chunks = chunks_new (put_part, r);
    r->digest = EVP_MD_CTX_new ();
    if (!r->digest || EVP_DigestInit_ex (r->digest, EVP_sha256 (), NULL) != 1) {
        gl_error (error, "SHA-256 is not available");
        imports_record_free (r);
        return NULL;
    }
    return r;
}

void imports_record_free (imports_record_t *r)
{
    if (!r)
        return;
    chunks_free (r->chunks);
    EVP_MD_CTX_free (r->digest);
    buffer_done (&r->line);
    buffer_done (&r->base);
    free (r->cluster);
    free (r);
}

static int find_synced (imports_record_t *r, const char *cluster,
                        gl_error_t *error)
{
    int64_t mark;

    if (r->cluster && !strcmp (r->cluster, cluster))
        return 0;
    if (store_get_mark (r->store, cluster, SYNC_MARK_FULL, &mark, error) < 0)
        return -1;
    free (r->cluster);
    r->cluster = xstrdup (cluster);
    r->synced = mark > 0;
    return 0;
}

static int keep_base (const segment_t *view, void *arg, gl_error_t *error)
{
    imports_record_t *r = arg;

    (void)error;
    view_line (&r->base, BASE, view);
    return 0;
}

int imports_record_before (imports_record_t *r, const segment_t *s,
                           gl_error_t *error)
{
    buffer_clear (&r->base);
    if (find_synced (r, s->cluster, error) < 0)
        return -1;
    return r->synced ? store_slurmdbd_view (r->store, s, keep_base, r, error)
                     : 0;
}

int imports_record_after (imports_record_t *r, const segment_t *s,
                          gl_error_t *error)
{
    if (r->base.length
        && chunks_add (r->chunks, r->base.data, r->base.length, error) < 0)
        return -1;
    r->segments++;
    view_line (&r->line, VIEW, s);
    if (EVP_DigestUpdate (r->digest, r->line.data, r->line.length) != 1)
        return gl_error (error, "SHA-256 is not available");
    return chunks_add (r->chunks, r->line.data, r->line.length, error);
}

static int is_known (imports_record_t *r, const uint8_t *digest,
                     bool *ret_known, gl_error_t *error)
{
    store_import_t *imports;
    size_t count;

    *ret_known = false;
    if (store_imports (r->store, &imports, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!imports[i].undone
            && !memcmp (imports[i].digest, digest, STORE_DIGEST_SIZE))
            *ret_known = true;
    store_imports_free (imports, count);
    return 0;
}

int imports_record_end (imports_record_t *r, const store_import_t *what,
                        uint64_t *ret_id, gl_error_t *error)
{
    store_import_t import = *what;
    bool known;

    *ret_id = 0;
    import.id = r->id;
    import.segments = r->segments;
    if (EVP_DigestFinal_ex (r->digest, import.digest, NULL) != 1)
        return gl_error (error, "SHA-256 is not available");
    if (is_known (r, import.digest, &known, error) < 0)
        return -1;
    if (known || r->segments == 0)
        return store_import_forget_parts (r->store, r->id, error);
    if (chunks_end (r->chunks, error) < 0)
        return -1;
    *ret_id = r->id;
    return store_import_add (r->store, &import, error);
}

/* --- taking back ------------------------------------------------------------------ */

struct key {
    size_t cluster;
    uint64_t id_job;
    int64_t time_submit;
};

struct cluster {
    char *name;
    int64_t as_of; /* of the other imports in force */
};

struct undoing {
    store_t *store;
    const imports_undo_t *undo;
    struct cluster *clusters;
    size_t cluster_count;
    struct key *keys; /* sorted, once all are there */
    size_t count;
    size_t services;
    bool live; /* the import that is read is in force, and another one */
};

typedef int (*view_f) (struct undoing *u, char letter, const segment_t *s,
                       gl_error_t *error);
struct reading {
    struct undoing *undoing;
    view_f fn;
};

static int read_line (char *line, void *arg, gl_error_t *error)
{
    struct reading *r = arg;
    segment_t segment;
    char letter;

    if (view_parse (line, &letter, &segment, error) < 0)
        return -1;
    return r->fn (r->undoing, letter, &segment, error);
}

static int each_view (struct undoing *u, uint64_t id, view_f fn,
                      gl_error_t *error)
{
    struct reading reading = {u, fn};
    BUFFER_AUTO body = BUFFER_INIT;
    int rc;

    for (uint64_t part = 0;
         (rc = store_import_part (u->store, id, part, &body, error)) == 1;
         part++)
        if (chunks_each (body.data, body.length, read_line, &reading, error)
            < 0)
            return gl_error_prefix (error, "import %" PRIu64, id);
    return rc;
}

/* Its place; `count` where it is not there. */
static size_t cluster_at (const struct undoing *u, const char *name)
{
    size_t i = 0;

    while (i < u->cluster_count && strcmp (u->clusters[i].name, name) != 0)
        i++;
    return i;
}

static int compare_keys (const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    if (x->id_job != y->id_job)
        return x->id_job < y->id_job ? -1 : 1;
    return (x->time_submit > y->time_submit)
           - (x->time_submit < y->time_submit);
}

static bool is_wanted (const struct undoing *u, const segment_t *s)
{
    struct key key = {cluster_at (u, s->cluster), s->id_job, s->time_submit};

    return bsearch (&key, u->keys, u->count, sizeof (key), compare_keys);
}

static int take_key (struct undoing *u, char letter, const segment_t *s,
                     gl_error_t *error)
{
    size_t cluster = cluster_at (u, s->cluster);
    char stamp[ZONE_STAMP_SIZE];

    if (letter != VIEW)
        return 0;
    if (s->time_start && s->time_start < u->undo->closed_until)
        return gl_error (
            error,
            "import %" PRIu64 " has job %" PRIu64
            ", which ran before %s, in a closed month: credit "
            "the charges with gpuledger credit, or reopen the "
            "month (gpuledger reopen)",
            u->undo->id, s->id_job,
            zone_stamp (u->undo->zone, u->undo->closed_until, stamp));
    if (cluster == u->cluster_count) {
        *GL_APPEND (u->clusters, u->cluster_count)
            = (struct cluster){.name = xstrdup (s->cluster)};
    }
    *GL_APPEND (u->keys, u->count)
        = (struct key){cluster, s->id_job, s->time_submit};
    return 0;
}

static int strip_view (struct undoing *u, char letter, const segment_t *s,
                       gl_error_t *error)
{
    return letter == VIEW ? store_strip_segment (u->store, s, error) : 0;
}

static int put_view (struct undoing *u, char letter, const segment_t *s,
                     gl_error_t *error)
{
    size_t cluster = cluster_at (u, s->cluster);

    if (cluster == u->cluster_count || (letter == VIEW && !u->live))
        return 0;
    if (letter == VIEW && s->observed_at > u->clusters[cluster].as_of)
        u->clusters[cluster].as_of = s->observed_at;
    return is_wanted (u, s) ? store_put_segment (u->store, s, NULL, error) : 0;
}

/* The as-of without the import; and sync reads all again. */
static int reset_cluster (struct undoing *u, const struct cluster *c,
                          gl_error_t *error)
{
    int64_t as_of = c->as_of, sync, full;

    if (store_get_mark (u->store, c->name, SYNC_MARK, &sync, error) < 0
        || store_get_mark (u->store, c->name, SYNC_MARK_FULL, &full, error) < 0
        || (sync
            && store_put_mark (u->store, c->name, SYNC_MARK, 0, error) < 0))
        return -1;
    if (sync > as_of)
        as_of = sync;
    if (full > as_of)
        as_of = full;
    return store_lower_as_of (u->store, c->name, as_of, error);
}

static int find_import (const store_import_t *imports, size_t count,
                        const imports_undo_t *undo, gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (imports[i].id != undo->id)
            continue;
        if (!imports[i].undone)
            return 0;
        return gl_error (error,
                         "import %" PRIu64 " was already undone, %s by "
                         "%s",
                         undo->id,
                         zone_stamp (undo->zone, imports[i].undone, stamp),
                         imports[i].undone_by ? imports[i].undone_by : "?");
    }
    return gl_error (error,
                     "there is no import %" PRIu64 "; see gpuledger import "
                     "--list",
                     undo->id);
}

/* Charges of other services: versions of an import that is not in force do not
 * count. */
static int undo_services (struct undoing *u, gl_error_t *error)
{
    service_t *services;

    if (store_import_services (u->store, u->undo->id, &services, &u->services,
                               error)
        < 0)
        return -1;
    for (size_t i = 0; i < u->services; i++)
        store_service_changed (u->store, &services[i]);
    store_services_free (services, u->services);
    return 0;
}

static int undo_among (struct undoing *u, const store_import_t *imports,
                       size_t count, gl_error_t *error)
{
    if (find_import (imports, count, u->undo, error) < 0
        || each_view (u, u->undo->id, take_key, error) < 0)
        return -1;
    if (u->count)
        qsort (u->keys, u->count, sizeof (*u->keys), compare_keys);
    if (each_view (u, u->undo->id, strip_view, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        u->live = !imports[i].undone && imports[i].id != u->undo->id;
        if (each_view (u, imports[i].id, put_view, error) < 0)
            return -1;
    }
    for (size_t i = 0; i < u->cluster_count; i++)
        if (reset_cluster (u, &u->clusters[i], error) < 0)
            return -1;
    if (undo_services (u, error) < 0)
        return -1;
    return store_import_undone (u->store, u->undo->id, u->undo->time,
                                u->undo->who, error);
}

static void clear (struct undoing *u)
{
    GL_FREE_EACH (u->clusters, u->cluster_count, it, free (it->name));
    free (u->keys);
    u->clusters = NULL;
    u->keys = NULL;
    u->cluster_count = u->count = 0;
}

static int undo_now (store_t *store, void *arg, gl_error_t *error)
{
    struct undoing *u = arg;
    store_import_t *imports;
    size_t count;
    int rc;

    clear (u);
    if (store_imports (store, &imports, &count, error) < 0)
        return -1;
    rc = undo_among (u, imports, count, error);
    store_imports_free (imports, count);
    return rc;
}

int imports_undo (store_t *store, const imports_undo_t *undo,
                  uint64_t *ret_segments, uint64_t *ret_services,
                  gl_error_t *error)
{
    struct undoing u = {.store = store, .undo = undo};
    int rc = store_transaction (store, undo_now, &u, error);

    *ret_segments = u.count;
    *ret_services = u.services;
    clear (&u);
    return rc;
}
