#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "slurmdbd/slurmdbd_private.h"

/*
 * db_open() leaves bytes as they are stored; here text has to be UTF-8 whatever
 * character set slurmdbd's tables were made with. A limit meant for people at a
 * terminal, which a server may not know, must not cut a long first reading.
 */
static int prepare_session (db_t *db, gl_error_t *error)
{
    db_exec (db, "SET SESSION max_statement_time = 0", NULL);
    return db_exec (db, "SET NAMES utf8mb4", error);
}

/* Before the snapshot, so that it knows all that happened until then. */
static int read_clock (slurmdbd_t *dbd, gl_error_t *error)
{
    db_statement_t *row = db_query (dbd->db, "SELECT UNIX_TIMESTAMP()", error);
    int rc = row ? db_step (row, error) : -1;

    if (rc == 1)
        dbd->clock = db_column_i64 (row, 0);
    db_finalize (row);
    if (rc == 0)
        return gl_error (error, "%s: the server tells no time",
                         db_url (dbd->db));
    return rc < 0 ? -1 : 0;
}

static const slurmdbd_column_t cluster_columns[] = {
    {"name", NULL, true},
    {"deleted", NULL, true},
};

static int read_clusters (slurmdbd_t *dbd, gl_error_t *error)
{
    db_statement_t *rows = slurmdbd_rows (
        dbd->db, NULL, "cluster_table", SLURMDBD_COLUMNS (cluster_columns),
        "ORDER BY CAST(t.`name` AS BINARY)", error);
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1)
        *GL_APPEND (dbd->names, dbd->name_count) = (slurmdbd_name_t){
            xstrdup (db_column_text (rows, 0)), db_column_i64 (rows, 1) != 0};
    return slurmdbd_end (rows, rc);
}

slurmdbd_t *slurmdbd_open (const char *url, gl_error_t *error)
{
    slurmdbd_t *dbd = xcalloc (1, sizeof (*dbd));

    if (strncmp (url, "mysql:", 6) != 0) {
        gl_error (error, "%s: slurmdbd's database has a mysql:// URL", url);
        goto fail;
    }
    dbd->db = db_open (url, DB_READ_ONLY, error);
    if (!dbd->db)
        goto fail;
    if (prepare_session (dbd->db, error) < 0 || read_clock (dbd, error) < 0
        || db_begin_read (dbd->db, error) < 0 || read_clusters (dbd, error) < 0)
        goto fail;
    return dbd;
fail:
    slurmdbd_close (dbd);
    return NULL;
}

void slurmdbd_close (slurmdbd_t *dbd)
{
    if (!dbd)
        return;
    GL_FREE_EACH (dbd->names, dbd->name_count, it, free (it->name));
    db_close (dbd->db);
    free (dbd);
}

int64_t slurmdbd_clock (const slurmdbd_t *dbd)
{
    return dbd->clock;
}

const slurmdbd_name_t *slurmdbd_names (const slurmdbd_t *dbd, size_t *ret_count)
{
    *ret_count = dbd->name_count;
    return dbd->names;
}

/* The dictionaries: where they are kept, the table, its columns with the id
 * first, the order. */
static const struct dictionary {
    size_t offset; /* in slurmdbd_cluster_t */
    const char *table;
    bool shared; /* by all clusters */
    slurmdbd_column_t columns[3];
    size_t count;
    const char *order;
} dictionaries[] = {
    {offsetof (slurmdbd_cluster_t, tres),
     "tres_table",
     true,
     {{"id", NULL, true}, {"type", NULL, true}, {"name", NULL, true}},
     3,
     "ORDER BY t.`id`"},
    {offsetof (slurmdbd_cluster_t, qos),
     "qos_table",
     true,
     {{"id", NULL, true}, {"name", NULL, true}},
     2,
     "ORDER BY t.`id`"},
    {offsetof (slurmdbd_cluster_t, associations),
     "assoc_table",
     false,
     {{"id_assoc", NULL, true}, {"user", NULL, true}, {"acct", NULL, true}},
     3,
     "ORDER BY t.`id_assoc`"},
    {offsetof (slurmdbd_cluster_t, reservations),
     "resv_table",
     false,
     {{"id_resv", NULL, true}, {"resv_name", NULL, true}},
     2,
     "ORDER BY t.`id_resv`, t.`time_start`"},
};

static int load_dictionaries (slurmdbd_cluster_t *c, gl_error_t *error)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (dictionaries); i++) {
        const struct dictionary *d = &dictionaries[i];
        ids_t *ids = (ids_t *)(void *)((char *)c + d->offset);

        if (ids_load (ids,
                      slurmdbd_rows (c->db, d->shared ? NULL : c->name,
                                     d->table, d->columns, d->count, d->order,
                                     error),
                      error)
            < 0)
            return -1;
    }
    return 0;
}

/* Table names are only made of names that cluster_table holds. */
static int unknown_cluster (const slurmdbd_t *dbd, const char *name,
                            gl_error_t *error)
{
    BUFFER_AUTO list = BUFFER_INIT;

    for (size_t i = 0; i < dbd->name_count; i++)
        buffer_printf (&list, "%s%s", i ? ", " : "", dbd->names[i].name);
    return gl_error (error, "%s has no cluster '%s'; it has: %s",
                     db_url (dbd->db), name,
                     dbd->name_count ? buffer_text (&list) : "none");
}

static const slurmdbd_name_t *find_name (const slurmdbd_t *dbd,
                                         const char *name)
{
    return GL_FIND (dbd->names, dbd->name_count, it, !strcmp (it->name, name));
}

slurmdbd_cluster_t *slurmdbd_cluster_open (slurmdbd_t *dbd, const char *name,
                                           int64_t as_of, gl_error_t *error)
{
    const slurmdbd_name_t *found = find_name (dbd, name);
    slurmdbd_cluster_t *cluster;

    if (!found) {
        unknown_cluster (dbd, name, error);
        return NULL;
    }
    cluster = xcalloc (1, sizeof (*cluster));
    cluster->db = dbd->db;
    cluster->name = xstrdup (name);
    cluster->as_of = as_of;
    tres_cache_init (&cluster->alloc, &cluster->tres);
    tres_cache_init (&cluster->request, &cluster->tres);
    if (load_dictionaries (cluster, error) < 0
        || slurmdbd_tracked_load (cluster, error) < 0) {
        if (found->deleted)
            gl_error_prefix (error, "the cluster has been deleted in Slurm");
        slurmdbd_cluster_close (cluster);
        return NULL;
    }
    return cluster;
}

void slurmdbd_cluster_close (slurmdbd_cluster_t *cluster)
{
    if (!cluster)
        return;
    ids_done (&cluster->tres);
    ids_done (&cluster->associations);
    ids_done (&cluster->qos);
    ids_done (&cluster->reservations);
    tres_cache_done (&cluster->alloc);
    tres_cache_done (&cluster->request);
    free (cluster->tracked);
    free (cluster->name);
    free (cluster);
}

const slurmdbd_notes_t *slurmdbd_notes (const slurmdbd_cluster_t *cluster)
{
    return &cluster->notes;
}

char *slurmdbd_table (const slurmdbd_cluster_t *cluster, const char *suffix)
{
    return xasprintf ("%s_%s", cluster->name, suffix);
}

const char *slurmdbd_text (const db_statement_t *row, unsigned at)
{
    const char *text = db_column_text (row, at);

    return text && *text ? text : NULL;
}

/* Slurm stores a state as a base state or as one flag alone; should a later
 * one add flags to the base, the base says what happened. */
#define STATE_BASE 0xff

segment_state_t slurmdbd_state (uint64_t stored)
{
    segment_state_t state = (segment_state_t)stored;

    return strcmp (segment_state_name (state), "UNKNOWN")
               ? state
               : (segment_state_t)(stored & STATE_BASE);
}

static bool instant_possible (int64_t instant)
{
    return instant >= 0 && instant < INSTANT_END;
}

bool slurmdbd_row_possible (const segment_t *s)
{
    return s->id_job != 0 && instant_possible (s->time_submit)
           && instant_possible (s->time_start)
           && instant_possible (s->time_end);
}

const char *slurmdbd_id_name (const ids_t *ids, uint64_t id)
{
    const char *name = NULL;

    if (id == 0 || !ids_find (ids, id, &name, NULL) || !name || !*name)
        return NULL;
    return name;
}

const char *slurmdbd_account (const slurmdbd_cluster_t *c, const char *account,
                              uint64_t association)
{
    const char *of_association = NULL;

    if (account || association == 0
        || !ids_find (&c->associations, association, NULL, &of_association)
        || !of_association || !*of_association)
        return account;
    return of_association;
}

static void where_ids (buffer_t *sql, slurmdbd_window_t window)
{
    buffer_add_text (sql, "WHERE t.`id_job` IN (NULL");
    for (size_t i = 0; i < window.id_count; i++)
        buffer_printf (sql, ",%llu", (unsigned long long)window.ids[i]);
    buffer_add_char (sql, ')');
}

static void where_ended (buffer_t *sql, slurmdbd_window_t window)
{
    buffer_printf (sql, "WHERE t.`time_end` >= %lld",
                   (long long)(window.from > 0 ? window.from : 1));
    if (window.to)
        buffer_printf (sql, " AND t.`time_end` < %lld", (long long)window.to);
}

void slurmdbd_where (buffer_t *sql, slurmdbd_window_t window)
{
    switch (window.rows) {
    case SLURMDBD_ROWS_ALL:
        break;
    case SLURMDBD_ROWS_OPEN:
        buffer_add_text (sql, "WHERE t.`time_end` = 0");
        break;
    case SLURMDBD_ROWS_ENDED:
        where_ended (sql, window);
        break;
    case SLURMDBD_ROWS_OF_JOBS:
        where_ids (sql, window);
        break;
    }
}

void slurmdbd_note (slurmdbd_note_t *note, uint64_t id_job)
{
    if (note->count++ == 0)
        note->id_job = id_job;
}

void slurmdbd_forget_notes (slurmdbd_cluster_t *cluster)
{
    cluster->notes = (slurmdbd_notes_t){.deleted = {0}};
}
