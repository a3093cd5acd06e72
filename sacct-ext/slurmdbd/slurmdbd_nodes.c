#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "slurmdbd/slurmdbd_private.h"

enum {
    EVENT_START,
    EVENT_END,
    EVENT_NODE,
    EVENT_CLUSTER_NODES,
    EVENT_REASON,
    EVENT_STATE,
    EVENT_TRES,
};
static const slurmdbd_column_t event_columns[] = {
    [EVENT_START] = {"time_start", NULL, true},
    [EVENT_END] = {"time_end", NULL, true},
    [EVENT_NODE] = {"node_name", NULL, true},
    [EVENT_CLUSTER_NODES] = {"cluster_nodes", NULL, false},
    [EVENT_REASON] = {"reason", NULL, false},
    [EVENT_STATE] = {"state", NULL, true},
    [EVENT_TRES] = {"tres", NULL, true},
};

static int read_event (slurmdbd_cluster_t *c, const db_statement_t *row,
                       slurmdbd_event_f fn, void *arg, gl_error_t *error)
{
    node_event_t event = {
        .cluster = c->name,
        .node = slurmdbd_text (row, EVENT_NODE),
        .start = db_column_i64 (row, EVENT_START),
        .end = db_column_i64 (row, EVENT_END),
        .state = db_column_u64 (row, EVENT_STATE),
        .reason = slurmdbd_text (row, EVENT_REASON),
    };

    if (event.start < 0 || event.start >= INSTANT_END || event.end < 0
        || event.end >= INSTANT_END)
        return 0;
    if (!event.node)
        event.nodelist = slurmdbd_text (row, EVENT_CLUSTER_NODES);
    event.gres
        = tres_cache_get (&c->alloc, db_column_text (row, EVENT_TRES))->gres;
    return fn (&event, arg, error);
}

static void where_events (buffer_t *sql, const slurmdbd_events_t *which)
{
    if (which->since <= 0)
        return;
    buffer_printf (sql, "WHERE t.`time_end` = 0 OR t.`time_end` > %lld",
                   (long long)which->since);
    for (size_t i = 0; i < which->start_count; i++)
        buffer_printf (sql, "%s%lld", i ? "," : " OR t.`time_start` IN (",
                       (long long)which->starts[i]);
    if (which->start_count)
        buffer_add_char (sql, ')');
}

int slurmdbd_events (slurmdbd_cluster_t *c, const slurmdbd_events_t *which,
                     slurmdbd_event_f fn, void *arg, gl_error_t *error)
{
    BUFFER_AUTO where = BUFFER_INIT;
    db_statement_t *rows;
    int rc;

    where_events (&where, which);
    rows = slurmdbd_rows (c->db, c->name, "event_table",
                          SLURMDBD_COLUMNS (event_columns),
                          buffer_text (&where), error);
    while ((rc = slurmdbd_next (rows, error)) == 1
           && read_event (c, rows, fn, arg, error) >= 0)
        ;
    return slurmdbd_end (rows, rc);
}

/* "gpu=8,gpu:a100=8": the names that have a total. */
static unsigned names_of (const char *gres)
{
    gres_item_t item;
    unsigned names = 0;

    while (gres_next (&gres, &item)) {
        if (!item.type)
            names |= gres_name_asked (item.name, item.name_length);
    }
    return names;
}

static void add_tracked (slurmdbd_cluster_t *c, const db_statement_t *row)
{
    const tres_facts_t *tres
        = tres_cache_get (&c->alloc, db_column_text (row, EVENT_TRES));

    *GL_APPEND (c->tracked, c->tracked_count) = (slurmdbd_tracked_t){
        db_column_i64 (row, EVENT_START), names_of (tres->gres)};
}

int slurmdbd_tracked_load (slurmdbd_cluster_t *c, gl_error_t *error)
{
    /* state 1: slurmctld was gone (TrackSlurmctldDown) */
    db_statement_t *rows = slurmdbd_rows (
        c->db, c->name, "event_table", SLURMDBD_COLUMNS (event_columns),
        "WHERE t.`node_name` = '' AND t.`state` = 0 ORDER BY t.`time_start`",
        error);
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1)
        add_tracked (c, rows);
    return slurmdbd_end (rows, rc);
}

unsigned slurmdbd_tracked (const slurmdbd_cluster_t *c, int64_t when)
{
    size_t low = 0, high = c->tracked_count;

    /* the last row that begins at `when` or before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->tracked[middle].start <= when)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? c->tracked[low - 1].names : 0;
}

enum {
    RESERVATION_ID,
    RESERVATION_START,
    RESERVATION_END,
    RESERVATION_FLAGS,
    RESERVATION_NAME,
    RESERVATION_NODELIST,
    RESERVATION_ASSOCIATIONS,
};
static const slurmdbd_column_t reservation_columns[] = {
    [RESERVATION_ID] = {"id_resv", NULL, true},
    [RESERVATION_START] = {"time_start", NULL, true},
    [RESERVATION_END] = {"time_end", NULL, true},
    [RESERVATION_FLAGS] = {"flags", NULL, true},
    [RESERVATION_NAME] = {"resv_name", NULL, true},
    [RESERVATION_NODELIST] = {"nodelist", NULL, true},
    [RESERVATION_ASSOCIATIONS] = {"assoclist", NULL, false},
};

/* A list of texts that borrows from the dictionaries. */
struct texts {
    const char **item;
    size_t count;
};

static int compare_texts (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* ",12,15,": the accounts of the associations. One that is excluded ("-12")
 * owns nothing. */
static void find_accounts (const slurmdbd_cluster_t *c, const char *list,
                           struct texts *accounts)
{
    const char *account;
    uint64_t id;

    while (list && *list) {
        size_t length = strcspn (list, ",");
        if (number_u64 (list, length, &id) == 0
            && ids_find (&c->associations, id, NULL, &account) && account)
            *GL_APPEND (accounts->item, accounts->count) = account;
        list += length + (list[length] == ',');
    }
}

static char *account_list (const slurmdbd_cluster_t *c, const char *list)
{
    struct texts accounts = {NULL, 0};
    buffer_t text = BUFFER_INIT;

    find_accounts (c, list, &accounts);
    if (accounts.count)
        qsort (accounts.item, accounts.count, sizeof (*accounts.item),
               compare_texts);
    for (size_t i = 0; i < accounts.count; i++) {
        if (i && !strcmp (accounts.item[i], accounts.item[i - 1]))
            continue;
        if (i)
            buffer_add_char (&text, ',');
        buffer_add_text (&text, accounts.item[i]);
    }
    free (accounts.item);
    return accounts.count ? buffer_take (&text) : NULL;
}

static int read_reservation (slurmdbd_cluster_t *c, const db_statement_t *row,
                             slurmdbd_reservation_f fn, void *arg,
                             gl_error_t *error)
{
    GL_AUTOFREE char *accounts
        = account_list (c, db_column_text (row, RESERVATION_ASSOCIATIONS));
    reservation_t reservation = {
        .cluster = c->name,
        .id = db_column_u64 (row, RESERVATION_ID),
        .start = db_column_i64 (row, RESERVATION_START),
        .end = db_column_i64 (row, RESERVATION_END),
        .flags = db_column_u64 (row, RESERVATION_FLAGS),
        .name = slurmdbd_text (row, RESERVATION_NAME),
        .nodelist = slurmdbd_text (row, RESERVATION_NODELIST),
        .accounts = accounts,
    };

    if (reservation.start < 0 || reservation.start > c->as_of
        || reservation.end < 0)
        return 0;
    return fn (&reservation, arg, error);
}

int slurmdbd_reservations (slurmdbd_cluster_t *c, slurmdbd_reservation_f fn,
                           void *arg, gl_error_t *error)
{
    db_statement_t *rows
        = slurmdbd_rows (c->db, c->name, "resv_table",
                         SLURMDBD_COLUMNS (reservation_columns), "", error);
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1
           && read_reservation (c, rows, fn, arg, error) >= 0)
        ;
    return slurmdbd_end (rows, rc);
}

enum {
    ACCOUNT_NAME,
    ACCOUNT_PARENT,
    ACCOUNT_USER,
    ACCOUNT_DELETED,
};
static const slurmdbd_column_t account_columns[] = {
    [ACCOUNT_NAME] = {"acct", NULL, true},
    [ACCOUNT_PARENT] = {"parent_acct", NULL, true},
    [ACCOUNT_USER] = {"user", NULL, true},
    [ACCOUNT_DELETED] = {"deleted", NULL, true},
};

static int read_account (const db_statement_t *row, slurmdbd_account_f fn,
                         void *arg, gl_error_t *error)
{
    const char *account = slurmdbd_text (row, ACCOUNT_NAME);

    return account
               ? fn (account, slurmdbd_text (row, ACCOUNT_PARENT), arg, error)
               : 0;
}

int slurmdbd_accounts (slurmdbd_cluster_t *c, slurmdbd_account_f fn, void *arg,
                       gl_error_t *error)
{
    db_statement_t *rows = slurmdbd_rows (
        c->db, c->name, "assoc_table", SLURMDBD_COLUMNS (account_columns),
        "WHERE t.`user` = '' ORDER BY t.`deleted` DESC, t.`id_assoc`", error);
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1
           && read_account (rows, fn, arg, error) >= 0)
        ;
    return slurmdbd_end (rows, rc);
}
