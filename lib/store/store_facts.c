/*
 * Facts with one row for each key, where the better observation replaces the
 * other: suspensions, node events, reservations, accounts, retags and units.
 */
#include <string.h>

#include "base/memory.h"
#include "site/units.h"
#include "store/store_private.h"

/* --- suspensions ---------------------------------------------------------- */

static const column_t suspension_columns[] = {
    COLUMN (CLUSTER, suspension_t, cluster, KEY),
    COLUMN (U64, suspension_t, id_job, KEY),
    COLUMN (I64, suspension_t, time_submit, KEY),
    COLUMN_AS ("time_start", I64, suspension_t, start, KEY),
    COLUMN_AS ("time_end", I64, suspension_t, end),
};
static const row_type_t suspension_rows
    = ROW_TYPE ("suspension", suspension_columns, suspension_t);
static const struct walk_plan suspension_plan = {.rows = &suspension_rows,
                                                 .jobs = "t.id_job",
                                                 .by_job = true,
                                                 .sparse = true};
const struct iter_class suspension_iter
    = {.fact_size = sizeof (suspension_t), .plan = &suspension_plan};

/* A row that is of a job and of no moment. */
static int put_of_job (store_t *store, const row_type_t *type,
                       const char *cluster, uint64_t id_job, const void *row,
                       store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);
    int verdict;

    if (!c)
        return -1;
    verdict
        = row_put_better (store, &(struct row_put){type, c->id, NOT_SEEN, 0},
                          row, NULL, NULL, counts, error);
    if (verdict < 0
        || (verdict != ROW_STANDS && forget_job (store, c, id_job, error) < 0))
        return -1;
    return 0;
}

int store_put_suspension (store_t *store, const suspension_t *s,
                          store_counts_t *counts, gl_error_t *error)
{
    return put_of_job (store, &suspension_rows, s->cluster, s->id_job, s,
                       counts, error);
}

/* --- retags --------------------------------------------------------------- */

static const column_t retag_columns[] = {
    COLUMN (CLUSTER, retag_t, cluster, KEY), COLUMN (U64, retag_t, id_job, KEY),
    COLUMN (I64, retag_t, time_submit, KEY), COLUMN (I64, retag_t, stamp, KEY),
    COLUMN (NAME, retag_t, who, KEY),        COLUMN (NAME, retag_t, project),
    COLUMN (NAME, retag_t, previous),        COLUMN (NAME, retag_t, labels),
};
static const row_type_t retag_rows = ROW_TYPE ("retag", retag_columns, retag_t);
static const struct walk_plan retag_plan
    = {.rows = &retag_rows, .jobs = "t.id_job", .by_job = true, .sparse = true};
const struct iter_class retag_iter
    = {.fact_size = sizeof (retag_t), .plan = &retag_plan};

static int check_retag (const retag_t *r, gl_error_t *error)
{
    if (r->id_job == 0 || r->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)r->id_job);
    if (store_check_name ("user", r->who, error) < 0
        || store_check_name ("project", r->project, error) < 0
        || (r->previous
            && store_check_name ("project", r->previous, error) < 0))
        return -1;
    if (r->labels && strnlen (r->labels, 1025) > 1024)
        return gl_error (error, "labels of more than 1024 bytes");
    return 0;
}

int store_put_retag (store_t *store, const retag_t *r, store_counts_t *counts,
                     gl_error_t *error)
{
    if (check_retag (r, error) < 0)
        return -1;
    return put_of_job (store, &retag_rows, r->cluster, r->id_job, r, counts,
                       error);
}

/* --- units that jobs have produced ------------------------------------------ */

static const column_t units_columns[] = {
    COLUMN (CLUSTER, job_units_t, cluster, KEY),
    COLUMN (U64, job_units_t, id_job, KEY),
    COLUMN (I64, job_units_t, time_submit, KEY),
    COLUMN (I64, job_units_t, stamp, KEY),
    COLUMN (NAME, job_units_t, who, KEY),
    COLUMN (NAME, job_units_t, unit, KEY),
    COLUMN (I64, job_units_t, quantity),
};
static const row_type_t units_rows
    = ROW_TYPE ("job_units", units_columns, job_units_t);
static const struct walk_plan units_plan
    = {.rows = &units_rows, .jobs = "t.id_job", .by_job = true, .sparse = true};
const struct iter_class units_iter
    = {.fact_size = sizeof (job_units_t), .plan = &units_plan};

/* 1: added, 0: it is there. The account that writes them may INSERT alone, so that the
 * statement must not have a word of UPDATE; writers follow one another. */
static int add_units (store_t *store, uint64_t cluster, const job_units_t *u,
                      gl_error_t *error)
{
    job_units_t stored;
    int rc = row_get (store, &units_rows, cluster, u, &stored, error);

    row_release (store, &units_rows);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return row_add (store, &units_rows, cluster, u, error) < 0 ? -1 : 1;
}

/* No usage changes with it, so nothing that was counted is forgotten. */
int store_put_units (store_t *store, const job_units_t *u,
                     store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *cluster;
    int fresh;

    if (u->id_job == 0 || u->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)u->id_job);
    if (u->quantity < 0 || u->quantity > UNIT_QUANTITY_MAX)
        return gl_error (error, "%lld %.64s are not possible",
                         (long long)u->quantity, u->unit);
    if (store_check_name ("user", u->who, error) < 0
        || store_check_name ("unit", u->unit, error) < 0
        || !(cluster = store_cluster (store, u->cluster, error)))
        return -1;
    fresh = add_units (store, cluster->id, u, error);
    if (fresh < 0)
        return -1;
    store_count (counts, fresh, false);
    return 0;
}

/* --- events and reservations ---------------------------------------------- */

struct event_row {
    node_event_t event;
    int64_t seen;
};

/* The end is the first column behind the key. */
#define END_COLUMN 3
static const column_t event_columns[] = {
    COLUMN (CLUSTER, node_event_t, cluster, KEY),
    COLUMN_AS ("time_start", I64, node_event_t, start, KEY),
    COLUMN (NAME, node_event_t, node, .flags = COLUMN_KEY | COLUMN_EMPTY),
    [END_COLUMN] = COLUMN_AS ("time_end", I64, node_event_t, end),
    COLUMN (U32, node_event_t, state),
    COLUMN (TEXT, node_event_t, gres),
    COLUMN (TEXT, node_event_t, nodelist),
    COLUMN (TEXT, node_event_t, reason),
    COLUMN_AS ("observed_at", I64, struct event_row, seen, HIDDEN),
};
static const row_type_t event_rows
    = ROW_TYPE ("event", event_columns, struct event_row);

struct reservation_row {
    reservation_t reservation;
    int64_t seen;
};

static const column_t reservation_columns[] = {
    COLUMN (CLUSTER, reservation_t, cluster, KEY),
    COLUMN_AS ("time_start", I64, reservation_t, start, KEY),
    COLUMN (U64, reservation_t, id, KEY),
    [END_COLUMN] = COLUMN_AS ("time_end", I64, reservation_t, end),
    COLUMN (U64, reservation_t, flags),
    COLUMN (TEXT, reservation_t, name),
    COLUMN (TEXT, reservation_t, nodelist),
    COLUMN (TEXT, reservation_t, accounts),
    COLUMN_AS ("observed_at", I64, struct reservation_row, seen, HIDDEN),
};
static const row_type_t reservation_rows
    = ROW_TYPE ("reservation", reservation_columns, struct reservation_row);

#define OVERLAPS                                                         \
    .period = "t.time_start < ? AND "                                    \
              "CASE WHEN t.time_end = 0 THEN ? ELSE t.time_end END > ?", \
    .period_binds = "eas"
static const struct walk_plan event_plan = {.rows = &event_rows, OVERLAPS};
const struct iter_class event_iter
    = {.fact_size = sizeof (node_event_t), .plan = &event_plan};
static const struct walk_plan reservation_plan
    = {.rows = &reservation_rows, OVERLAPS};
const struct iter_class reservation_iter
    = {.fact_size = sizeof (reservation_t), .plan = &reservation_plan};

/* The time in which the row that was put is another one than the one that stood
 * there, and differed so; what is open has no end. */
static period_t changed_time (row_verdict_t verdict, uint64_t differ,
                              int64_t start, int64_t end, int64_t old_end)
{
    int64_t first = end ? end : INT64_MAX;
    int64_t second = old_end ? old_end : INT64_MAX;

    if (verdict == ROW_INSERTED)
        return (period_t){start, first};
    if (verdict != ROW_REPLACED)
        return (period_t){0, 0};
    if (differ == 1u << END_COLUMN)
        return first < second ? (period_t){first, second}
                              : (period_t){second, first};
    return (period_t){start, first > second ? first : second};
}

/* What a node's row tells of its shards holds for segments that begin later
 * too. */
static bool tells_shards (const node_event_t *event)
{
    return event->node && event->gres && strstr (event->gres, "shard");
}

int store_put_event (store_t *store, const node_event_t *event,
                     int64_t observed_at, store_counts_t *counts,
                     gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, event->cluster, error);
    const struct event_row fresh = {*event, observed_at};
    struct event_row old;
    period_t changed;
    uint64_t differ;
    int verdict;

    if (!c
        || (event->node && store_check_name ("node", event->node, error) < 0))
        return -1;
    verdict = row_put_better (
        store,
        &(struct row_put){&event_rows, c->id, offsetof (struct event_row, seen),
                          c->reread},
        &fresh, &old, &differ, counts, error);
    if (verdict < 0)
        return -1;
    if (verdict == ROW_INSERTED) /* one without length is a first moment, too */
        cached_forget (store, event->start);
    store_cluster_seen (c, observed_at, 0);
    changed = changed_time (verdict, differ, event->start, event->end,
                            verdict == ROW_INSERTED ? 0 : old.event.end);
    if (changed.start < changed.end && tells_shards (event))
        changed = (period_t){event->start, INT64_MAX};
    return forget_time (store, c, changed.start, changed.end, error);
}

int store_put_reservation (store_t *store, const reservation_t *r,
                           int64_t observed_at, store_counts_t *counts,
                           gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, r->cluster, error);
    const struct reservation_row fresh = {*r, observed_at};
    struct reservation_row old;
    period_t changed;
    uint64_t differ;
    int verdict;

    if (!c)
        return -1;
    verdict = row_put_better (
        store,
        &(struct row_put){&reservation_rows, c->id,
                          offsetof (struct reservation_row, seen), c->reread},
        &fresh, &old, &differ, counts, error);
    if (verdict < 0)
        return -1;
    store_cluster_seen (c, observed_at, 0);
    changed = changed_time (verdict, differ, r->start, r->end,
                            verdict == ROW_INSERTED ? 0 : old.reservation.end);
    return forget_time (store, c, changed.start, changed.end, error);
}

/* --- accounts ------------------------------------------------------------- */

struct account_row {
    store_account_t account;
    int64_t seen;
};

static const column_t account_columns[] = {
    COLUMN (CLUSTER, store_account_t, cluster, KEY),
    COLUMN (NAME, store_account_t, name, KEY),
    COLUMN (TEXT, store_account_t, parent),
    COLUMN_AS ("observed_at", I64, struct account_row, seen, HIDDEN),
};
static const row_type_t account_rows
    = ROW_TYPE ("account", account_columns, struct account_row);
static const struct walk_plan account_plan = {.rows = &account_rows};
const struct iter_class account_iter
    = {.fact_size = sizeof (store_account_t), .plan = &account_plan};

int store_put_account (store_t *store, const store_account_t *a,
                       int64_t observed_at, store_counts_t *counts,
                       gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, a->cluster, error);
    const struct account_row fresh = {*a, observed_at};

    if (!c || store_check_name ("account", a->name, error) < 0)
        return -1;
    return row_put_better (store,
                           &(struct row_put){
                               &account_rows, c->id,
                               offsetof (struct account_row, seen), c->reread},
                           &fresh, NULL, NULL, counts, error)
                   < 0
               ? -1
               : 0;
}

#define NAMES_OF_JOBS(column)                             \
    "SELECT DISTINCT " column " FROM party WHERE " column \
    " IS NOT NULL ORDER BY 1"

int store_each_name (store_t *store, store_name_t kind, store_name_f callback,
                     void *arg, gl_error_t *error)
{
    static const char *const sql[STORE_NAME_COUNT]
        = {[STORE_NAME_ACCOUNT]
           = "SELECT account FROM party WHERE account IS NOT NULL "
             "UNION SELECT name FROM account ORDER BY 1",
           [STORE_NAME_USER] = NAMES_OF_JOBS ("user_name"),
           [STORE_NAME_QOS] = NAMES_OF_JOBS ("qos"),
           [STORE_NAME_PARTITION] = NAMES_OF_JOBS ("partition_name"),
           [STORE_NAME_RESERVATION]
           = "SELECT reservation FROM party WHERE reservation IS NOT NULL "
             "UNION SELECT value FROM text JOIN reservation "
             "ON reservation.name = text.id ORDER BY 1"};
    db_statement_t *st = store_prepare (store, sql[kind], error);
    int rc = -1;

    while (st && (rc = db_step (st, error)) == 1)
        callback (db_column_text (st, 0), arg);
    db_reset (st);
    return rc;
}

int store_has_text (store_t *store, const char *part, bool *ret_has,
                    gl_error_t *error)
{
    int64_t has = 0;

    if (store_number (
            store,
            "SELECT EXISTS (SELECT 1 FROM text WHERE instr(value, ?) > 0) "
            "OR EXISTS (SELECT 1 FROM retag WHERE instr(labels, ?) > 0)",
            ARGS (as_text (part), as_text (part)), &has, error)
        < 0)
        return -1;
    *ret_has = has != 0;
    return 0;
}
