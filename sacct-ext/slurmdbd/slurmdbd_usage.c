#include <string.h>

#include "base/memory.h"
#include "gres/tres.h"
#include "slurmdbd/slurmdbd_private.h"
#include "slurmdbd/slurmdbd_usage.h"

/* --- job rows ---------------------------------------------------------- */

#define ROW_COLUMNS(COLUMN)                   \
    COLUMN (ID_JOB, "id_job", true)           \
    COLUMN (TIME_SUBMIT, "time_submit", true) \
    COLUMN (TIME_START, "time_start", true)   \
    COLUMN (TIME_END, "time_end", true)       \
    COLUMN (ELIGIBLE, "time_eligible", true)  \
    COLUMN (MOD_TIME, "mod_time", false)      \
    COLUMN (STATE, "state", true)             \
    COLUMN (ID_ASSOC, "id_assoc", true)       \
    COLUMN (ACCOUNT, "account", true)         \
    COLUMN (PARTITION, "partition", false)    \
    COLUMN (ID_QOS, "id_qos", false)          \
    COLUMN (ID_RESV, "id_resv", false)        \
    COLUMN (TRES_ALLOC, "tres_alloc", true)   \
    COLUMN (DELETED, "deleted", false)

#define AS_ENUM(id, name, required) ROW_##id,
enum { ROW_COLUMNS (AS_ENUM) };

#define AS_COLUMN(id, name, required) {name, NULL, required},
static const slurmdbd_column_t row_columns[] = {ROW_COLUMNS (AS_COLUMN)};

/* The count of gres/gpu itself, apart from its types. */
static uint64_t total_of (const char *gres)
{
    const char *cursor = gres;
    gres_item_t item;

    while (gres && gres_next (&cursor, &item))
        if (!item.type && item.name_length == 3
            && memcmp (item.name, "gpu", 3) == 0)
            return item.count;
    return 0;
}

static void read_row (slurmdbd_cluster_t *c, const db_statement_t *st,
                      job_row_t *row)
{
    segment_t *s = &row->segment;
    uint64_t association = db_column_u64 (st, ROW_ID_ASSOC);
    const tres_facts_t *alloc
        = tres_cache_get (&c->alloc, db_column_text (st, ROW_TRES_ALLOC));

    *row = (job_row_t){
        .time_eligible = db_column_i64 (st, ROW_ELIGIBLE),
        .mod_time = db_column_i64 (st, ROW_MOD_TIME),
        .deleted = db_column_i64 (st, ROW_DELETED) != 0,
        .id_resv = db_column_u64 (st, ROW_ID_RESV),
        .association = association,
        .gpu_total = total_of (alloc->gres),
    };
    *s = (segment_t){
        .cluster = c->name,
        .id_job = db_column_u64 (st, ROW_ID_JOB),
        .time_submit = db_column_i64 (st, ROW_TIME_SUBMIT),
        .time_start = db_column_i64 (st, ROW_TIME_START),
        .time_end = db_column_i64 (st, ROW_TIME_END),
        .observed_at = c->as_of,
        .state = slurmdbd_state (db_column_u64 (st, ROW_STATE)),
        .source = SOURCE_SLURMDBD,
        .suspended = SECONDS_UNKNOWN,
        .time_limit = SECONDS_UNKNOWN,
        .account
        = slurmdbd_account (c, slurmdbd_text (st, ROW_ACCOUNT), association),
        .partition = slurmdbd_text (st, ROW_PARTITION),
        .qos = slurmdbd_id_name (&c->qos, db_column_u64 (st, ROW_ID_QOS)),
        .gres = alloc->gres,
    };
    if (ids_find (&c->associations, association, &row->association_user,
                  &row->association_account)
        && row->association_user && row->association_user[0])
        s->user = row->association_user;
}

/* A row that is not possible is left out, as the reader of facts does. */
static int each_row (slurmdbd_cluster_t *c, const char *where,
                     slurmdbd_row_f fn, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *rest
        = xasprintf ("WHERE %s ORDER BY t.`id_job`, t.`time_submit`", where);
    db_statement_t *st
        = slurmdbd_rows (c->db, c->name, "job_table",
                         SLURMDBD_COLUMNS (row_columns), rest, error);
    job_row_t row;
    int rc;

    while ((rc = slurmdbd_next (st, error)) == 1) {
        read_row (c, st, &row);
        if (slurmdbd_row_possible (&row.segment)
            && fn (&row, db_column_text (st, ROW_TRES_ALLOC), arg, error) < 0)
            break;
    }
    return slurmdbd_end (st, rc);
}

int slurmdbd_job_rows (slurmdbd_cluster_t *c, period_t period,
                       slurmdbd_row_f fn, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *where
        = xasprintf ("(t.`time_end` = 0 OR t.`time_end` >= %lld)"
                     " AND t.`time_start` > 0 AND t.`time_start` < %lld",
                     (long long)period.start, (long long)period.end);

    return each_row (c, where, fn, arg, error);
}

int slurmdbd_job_rows_of (slurmdbd_cluster_t *c, const uint64_t *ids,
                          size_t count, slurmdbd_row_f fn, void *arg,
                          gl_error_t *error)
{
    BUFFER_AUTO where = BUFFER_INIT;

    for (size_t i = 0; i < count; i++)
        buffer_printf (&where, "%s%llu", i ? "," : "t.`id_job` IN (",
                       (unsigned long long)ids[i]);
    buffer_add_char (&where, ')');
    return each_row (c, buffer_text (&where), fn, arg, error);
}

/* --- single numbers ---------------------------------------------------- */

static char *quoted_table (slurmdbd_cluster_t *c, const char *suffix)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, suffix);

    return db_quote_identifier (c->db, table);
}

int slurmdbd_oldest_end (slurmdbd_cluster_t *c, int64_t *ret_end,
                         gl_error_t *error)
{
    GL_AUTOFREE char *table = quoted_table (c, "job_table");
    GL_AUTOFREE char *sql = xasprintf (
        "SELECT MIN(`time_end`) FROM %s WHERE `time_end` > 0", table);

    return slurmdbd_number (c->db, sql, ret_end, error);
}

/* --- usage tables ------------------------------------------------------ */

static const slurmdbd_column_t last_ran_columns[] = {
    {"hourly_rollup", NULL, true},
};
static const slurmdbd_column_t cluster_usage_columns[] = {
    {"time_start", NULL, true}, {"id_tres", NULL, true},
    {"mod_time", NULL, true},   {"alloc_secs", NULL, true},
    {"idle_secs", NULL, true},  {"down_secs", NULL, true},
    {"pdown_secs", NULL, true},
};
static const slurmdbd_column_t usage_columns[] = {
    {"time_start", NULL, true}, {"id_tres", NULL, true},
    {"mod_time", NULL, true},   {"alloc_secs", NULL, true},
    {"id", NULL, true},
};
static const slurmdbd_column_t reservation_columns[] = {
    {"id_resv", NULL, true},     {"time_start", NULL, true},
    {"time_end", NULL, true},    {"flags", NULL, true},
    {"assoclist", NULL, true},   {"tres", NULL, true},
    {"time_force", NULL, false}, {"nodelist", NULL, false},
};

/* What is read of the usage tables: whole hours of [from, to). */
struct usage {
    slurmdbd_cluster_t *cluster;
    rolled_t *rolled;
    int64_t from;
    int64_t to;
    uint64_t gpu;
};

typedef void (*usage_row_f) (struct usage *u, const db_statement_t *row);

static int each_usage (struct usage *u, const char *table,
                       const slurmdbd_column_t *columns, size_t count,
                       const char *where, usage_row_f fn, gl_error_t *error)
{
    db_statement_t *rows = slurmdbd_rows (u->cluster->db, u->cluster->name,
                                          table, columns, count, where, error);
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1)
        fn (u, rows);
    return slurmdbd_end (rows, rc);
}

static void take_last_ran (struct usage *u, const db_statement_t *row)
{
    int64_t until = db_column_i64 (row, 0);

    if (until < u->to)
        u->to = until;
}

static void take_hour (struct usage *u, const db_statement_t *row)
{
    rolled_hour (u->rolled, db_column_i64 (row, 0), db_column_i64 (row, 2));
}

static void take_cluster_gpus (struct usage *u, const db_statement_t *row)
{
    uint64_t seconds = db_column_u64 (row, 3);
    bool rest = db_column_u64 (row, 4) > 0 || db_column_u64 (row, 5) > 0
                || db_column_u64 (row, 6) > 0;

    rolled_cluster (u->rolled, db_column_i64 (row, 0), seconds,
                    seconds > 0 && !rest);
}

static void take_usage (struct usage *u, const db_statement_t *row)
{
    uint64_t id = db_column_u64 (row, 4);
    const char *user = NULL, *account = NULL;

    ids_find (&u->cluster->associations, id, &user, &account);
    rolled_usage (u->rolled, id, account, user, db_column_i64 (row, 0),
                  db_column_u64 (row, 3), db_column_i64 (row, 2));
}

static void take_reservation (struct usage *u, const db_statement_t *row)
{
    resv_row_t v = {.id = db_column_u64 (row, 0),
                    .start = db_column_i64 (row, 1),
                    .end = db_column_i64 (row, 2),
                    .flags = db_column_u64 (row, 3),
                    .associations = db_column_text (row, 4),
                    .tres = db_column_text (row, 5),
                    .force = db_column_i64 (row, 6),
                    .nodelist = db_column_text (row, 7)};
    const char *user, *account;

    rolled_reservation (u->rolled, &v);
    for (const char *p = v.associations; p && *p; p = *p ? p + 1 : p) {
        uint64_t id = strtoull (p, NULL, 10);
        if (ids_find (&u->cluster->associations, id, &user, &account))
            rolled_association (u->rolled, id, account, user);
        p += strcspn (p, ",");
    }
}

static const slurmdbd_column_t event_columns[] = {
    {"node_name", NULL, true},
    {"time_start", NULL, true},
    {"time_end", NULL, true},
    {"tres", NULL, true},
};

static void take_outage (struct usage *u, const db_statement_t *row)
{
    rolled_outage (u->rolled, db_column_text (row, 0), db_column_i64 (row, 1),
                   db_column_i64 (row, 2), db_column_text (row, 3));
}

static char *hours_where (const struct usage *u, bool gpu_only)
{
    GL_AUTOFREE char *only = gpu_only ? xasprintf (" AND t.`id_tres` = %llu",
                                                   (unsigned long long)u->gpu)
                                      : xstrdup ("");

    return xasprintf (
        "WHERE t.`time_start` >= %lld AND t.`time_start` < %lld%s",
        (long long)u->from, (long long)u->to, only);
}

static int read_hours (struct usage *u, gl_error_t *error)
{
    GL_AUTOFREE char *all = NULL;

    if (each_usage (u, "last_ran_table", SLURMDBD_COLUMNS (last_ran_columns),
                    "", take_last_ran, error)
        < 0)
        return -1;
    all = hours_where (u, false);
    if (each_usage (u, "usage_hour_table",
                    SLURMDBD_COLUMNS (cluster_usage_columns), all, take_hour,
                    error)
        < 0)
        return -1;
    return each_usage (u, "assoc_usage_hour_table",
                       SLURMDBD_COLUMNS (usage_columns), all, take_hour, error);
}

static int read_gpus (struct usage *u, gl_error_t *error)
{
    GL_AUTOFREE char *gpus = hours_where (u, true);
    GL_AUTOFREE char *outages
        = xasprintf ("WHERE t.`node_name` <> '' AND NOT (t.`state` & %u)"
                     " AND t.`time_start` < %lld"
                     " AND (t.`time_end` = 0 OR t.`time_end` >= %lld)",
                     NODE_STATE_MAINT, (long long)u->to, (long long)u->from);
    GL_AUTOFREE char *reservations
        = xasprintf ("WHERE t.`time_start` < %lld AND t.`time_end` >= %lld"
                     " ORDER BY t.`time_start`",
                     (long long)u->to, (long long)u->from);

    if (each_usage (u, "usage_hour_table",
                    SLURMDBD_COLUMNS (cluster_usage_columns), gpus,
                    take_cluster_gpus, error)
            < 0
        || each_usage (u, "assoc_usage_hour_table",
                       SLURMDBD_COLUMNS (usage_columns), gpus, take_usage,
                       error)
               < 0)
        return -1;
    if (each_usage (u, "resv_table", SLURMDBD_COLUMNS (reservation_columns),
                    reservations, take_reservation, error)
        < 0)
        return -1;
    return each_usage (u, "event_table", SLURMDBD_COLUMNS (event_columns),
                       outages, take_outage, error);
}

int slurmdbd_rolled (slurmdbd_cluster_t *c, period_t period, rolled_t *rolled,
                     gl_error_t *error)
{
    struct usage u = {.cluster = c,
                      .rolled = rolled,
                      .from = (period.start + 3599) / 3600 * 3600,
                      .to = period.end / 3600 * 3600};
    int64_t gpu;

    if (slurmdbd_number (c->db,
                         "SELECT `id` FROM `tres_table`"
                         " WHERE `type` = 'gres' AND `name` = 'gpu'",
                         &gpu, error)
        < 0)
        return -1;
    u.gpu = (uint64_t)gpu;
    if (gpu == 0)
        return 0;
    rolled_gpu (rolled, u.gpu);
    return read_hours (&u, error) < 0 ? -1 : read_gpus (&u, error);
}
