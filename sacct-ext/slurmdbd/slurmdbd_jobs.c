#include <string.h>

#include "base/memory.h"
#include "slurmdbd/slurmdbd_private.h"

/* One list: the columns of the job table, in the order in which they are
 * selected. before: the column's name in older databases. */
#define JOB_COLUMNS(COLUMN)                                         \
    COLUMN (ID_JOB, "id_job", NULL, true)                           \
    COLUMN (TIME_SUBMIT, "time_submit", NULL, true)                 \
    COLUMN (TIME_START, "time_start", NULL, true)                   \
    COLUMN (TIME_END, "time_end", NULL, true)                       \
    COLUMN (TIME_SUSPENDED, "time_suspended", NULL, false)          \
    COLUMN (TIME_LIMIT, "timelimit", NULL, false)                   \
    COLUMN (STATE, "state", NULL, true)                             \
    COLUMN (ID_USER, "id_user", NULL, false)                        \
    COLUMN (ID_ASSOC, "id_assoc", NULL, true)                       \
    COLUMN (ACCOUNT, "account", NULL, true)                         \
    COLUMN (PARTITION, "partition", NULL, false)                    \
    COLUMN (ID_QOS, "id_qos", NULL, false)                          \
    COLUMN (WCKEY, "wckey", NULL, false)                            \
    COLUMN (ID_RESV, "id_resv", NULL, false)                        \
    COLUMN (NODELIST, "nodelist", NULL, false)                      \
    COLUMN (JOB_NAME, "job_name", NULL, false)                      \
    COLUMN (ADMIN_COMMENT, "admin_comment", NULL, false)            \
    COLUMN (TRES_ALLOC, "tres_alloc", NULL, true)                   \
    COLUMN (TRES_REQ, "tres_req", NULL, false)                      \
    COLUMN (SUBMIT_LINE, "submit_line", NULL, false)                \
    COLUMN (GRES_REQ, "gres_req", NULL, false)                      \
    COLUMN (ARRAY_JOB, "id_array_job", NULL, false)                 \
    COLUMN (ARRAY_TASK, "id_array_task", NULL, false)               \
    COLUMN (HET_JOB, "het_job_id", "pack_job_id", false)            \
    COLUMN (HET_OFFSET, "het_job_offset", "pack_job_offset", false) \
    COLUMN (JOB_DB_INX, "job_db_inx", NULL, true)                   \
    COLUMN (SLUID, "sluid", NULL, false)                            \
    COLUMN (RESTARTS, "restart_cnt", NULL, false)                   \
    COLUMN (KILLED_BY, "kill_requid", NULL, false)                  \
    COLUMN (DELETED, "deleted", NULL, false)

#define AS_ENUM(id, name, before, required) JOB_##id,
enum { JOB_COLUMNS (AS_ENUM) JOB_COLUMN_COUNT };

#define AS_COLUMN(id, name, before, required) {name, before, required},
static const slurmdbd_column_t job_columns[] = {JOB_COLUMNS (AS_COLUMN)};

/* While a job is suspended the column holds no duration but an intermediate
 * value of Slurm's. */
static int64_t read_suspended (const db_statement_t *row, segment_state_t state)
{
    if (state == SEGMENT_SUSPENDED
        || db_column_is_null (row, JOB_TIME_SUSPENDED))
        return SECONDS_UNKNOWN;
    return db_column_i64 (row, JOB_TIME_SUSPENDED);
}

/* Minutes; NO_VAL is the partition's limit, INFINITE none, 0 unknown. */
static int64_t read_time_limit (const db_statement_t *row)
{
    uint64_t minutes = db_column_u64 (row, JOB_TIME_LIMIT);

    if (minutes == 0 || minutes >= SLURM_NO_VAL)
        return SECONDS_UNKNOWN;
    return (int64_t)minutes * 60;
}

static void read_times (const slurmdbd_cluster_t *c, const db_statement_t *row,
                        segment_t *s)
{
    s->time_submit = db_column_i64 (row, JOB_TIME_SUBMIT);
    s->time_start = db_column_i64 (row, JOB_TIME_START);
    s->time_end = db_column_i64 (row, JOB_TIME_END);
    s->observed_at = c->as_of;
    s->state = slurmdbd_state (db_column_u64 (row, JOB_STATE));
    s->suspended = read_suspended (row, s->state);
    s->time_limit = read_time_limit (row);
    s->source = SOURCE_SLURMDBD;
}

static uint32_t read_index (const db_statement_t *row, unsigned at)
{
    uint64_t value = db_column_u64 (row, at);

    if (db_column_is_null (row, at) || value >= SLURM_NO_VAL)
        return TASK_NONE;
    return value;
}

static void read_identities (const db_statement_t *row, segment_t *s)
{
    s->id_job = db_column_u64 (row, JOB_ID_JOB);
    s->array_job = db_column_u64 (row, JOB_ARRAY_JOB);
    s->array_task = read_index (row, JOB_ARRAY_TASK);
    s->het_job = db_column_u64 (row, JOB_HET_JOB);
    s->het_offset = read_index (row, JOB_HET_OFFSET);
    if (!s->het_job)
        s->het_offset = TASK_NONE;
    s->job_db_inx = db_column_u64 (row, JOB_JOB_DB_INX);
    s->sluid = db_column_u64 (row, JOB_SLUID);
    if (s->sluid == s->job_db_inx)
        s->sluid = 0;
    s->restart_count = db_column_is_null (row, JOB_RESTARTS)
                           ? -1
                           : (int32_t)db_column_i64 (row, JOB_RESTARTS);
}

/* A row whose start slurmdbd never heard of has no account and the user id 0,
 * which nobody wrote. */
static uint32_t read_uid (const db_statement_t *row)
{
    uint64_t uid = db_column_u64 (row, JOB_ID_USER);

    if (db_column_is_null (row, JOB_ID_USER)
        || (uid == 0 && !slurmdbd_text (row, JOB_ACCOUNT)))
        return UINT32_MAX;
    return (uint32_t)uid;
}

/* Nobody is NULL, and -1 before 22.05. */
static cancelled_by_t read_cancelled_by (const slurmdbd_cluster_t *c,
                                         const db_statement_t *row,
                                         const segment_t *s)
{
    uint32_t who = (uint32_t)db_column_i64 (row, JOB_KILLED_BY);

    if (s->state != SEGMENT_CANCELLED || !c->tells_killer)
        return CANCELLED_BY_UNKNOWN;
    if (db_column_is_null (row, JOB_KILLED_BY) || who == UINT32_MAX)
        return CANCELLED_BY_NOBODY;
    return segment_cancelled_by (s->state, s->uid, who);
}

static void read_names (const slurmdbd_cluster_t *c, const db_statement_t *row,
                        segment_t *s)
{
    s->cluster = c->name;
    s->user = slurmdbd_id_name (&c->associations,
                                db_column_u64 (row, JOB_ID_ASSOC));
    s->uid = read_uid (row);
    s->cancelled_by = read_cancelled_by (c, row, s);
    s->account = slurmdbd_account (c, slurmdbd_text (row, JOB_ACCOUNT),
                                   db_column_u64 (row, JOB_ID_ASSOC));
    s->partition = slurmdbd_text (row, JOB_PARTITION);
    s->qos = slurmdbd_id_name (&c->qos, db_column_u64 (row, JOB_ID_QOS));
    s->wckey = slurmdbd_text (row, JOB_WCKEY);
    s->reservation
        = slurmdbd_id_name (&c->reservations, db_column_u64 (row, JOB_ID_RESV));
    s->nodelist = slurmdbd_text (row, JOB_NODELIST);
    if (s->nodelist && !strcmp (s->nodelist, "None assigned"))
        s->nodelist = NULL;
    s->job_name = slurmdbd_text (row, JOB_JOB_NAME);
    s->admin_comment = slurmdbd_text (row, JOB_ADMIN_COMMENT);
}

/* 20.11 and older keep the request as GRES text, "gpu:a100:2". */
static bool read_gres_request (const db_statement_t *row)
{
    const char *text = db_column_text (row, JOB_GRES_REQ);

    return text && gres_list_asked (text, strlen (text));
}

/* What the submit line asks for is in the TRES where the cluster tracks it: its
 * absence means that the job held none. A row without a node count is one that
 * Slurm damaged (docs/decisions/lost-gres.md), and its absence means nothing.
 */
static bool read_submit_line (const slurmdbd_cluster_t *c,
                              const db_statement_t *row, const segment_t *s)
{
    unsigned asked
        = gres_in_submit_line (db_column_text (row, JOB_SUBMIT_LINE));
    int64_t when = s->time_start ? s->time_start : s->time_submit;

    if (asked && s->nodes != TRES_UNKNOWN)
        asked &= ~slurmdbd_tracked (c, when);
    return asked != 0;
}

/* An allocated GPU that is named with "no value" or with 0, as an edit leaves
 * it, was held as well; a request for 0 is none. Text that cannot be read must
 * not become "no GPU": the job then counts among those of which nobody knows
 * how many they held. */
static bool read_asked (const slurmdbd_cluster_t *c, const db_statement_t *row,
                        const tres_facts_t *alloc, const tres_facts_t *request,
                        const segment_t *s)
{
    return alloc->gpu_named || alloc->unreadable || request->gres[0]
           || request->gpu_without_count || read_submit_line (c, row, s)
           || read_gres_request (row);
}

static void read_tres (slurmdbd_cluster_t *c, const db_statement_t *row,
                       segment_t *s)
{
    const char *text = slurmdbd_text (row, JOB_TRES_REQ);
    const char *allocated = db_column_text (row, JOB_TRES_ALLOC);
    const tres_facts_t *alloc = tres_cache_get (&c->alloc, allocated);
    /* mostly a job got what it asked for: one text, parsed once */
    const tres_facts_t *request = text && allocated && !strcmp (text, allocated)
                                      ? alloc
                                      : tres_cache_get (&c->request, text);

    s->gres = alloc->gres;
    s->cpus = alloc->cpus;
    s->memory_mb = alloc->memory_mb;
    s->nodes = alloc->nodes;
    s->gres_requested = text && !request->unreadable ? request->gres : NULL;
    s->gpu_asked = read_asked (c, row, alloc, request, s);
    if (alloc->unreadable)
        slurmdbd_note (&c->notes.unreadable, s->id_job);
    if (alloc->unresolved)
        slurmdbd_note (&c->notes.unresolved, s->id_job);
    if (alloc->contradicting)
        slurmdbd_note (&c->notes.contradicting, s->id_job);
}

/* After a resize, Slurm up to 22.05 gives the new row the start of the old one:
 * both would count the time before. A row begins where it was submitted.
 * A row that ends before it starts is shown by sacct with no time as well. */
static void mend_times (slurmdbd_cluster_t *c, segment_t *s)
{
    if (s->time_start > 0 && s->time_start < s->time_submit
        && (s->time_end == 0 || s->time_end >= s->time_submit))
        s->time_start = s->time_submit;
    if (s->time_end == 0 || s->time_start <= s->time_end)
        return;
    slurmdbd_note (&c->notes.reversed, s->id_job);
    s->time_start = s->time_end;
}

static int read_row (slurmdbd_cluster_t *c, const db_statement_t *row,
                     slurmdbd_segment_f fn, void *arg, gl_error_t *error)
{
    segment_t segment = {0};

    read_identities (row, &segment);
    read_times (c, row, &segment);
    if (!slurmdbd_row_possible (&segment)) {
        slurmdbd_note (&c->notes.impossible, segment.id_job);
        return 0;
    }
    mend_times (c, &segment);
    if (db_column_i64 (row, JOB_DELETED))
        slurmdbd_note (&c->notes.deleted, segment.id_job);
    read_names (c, row, &segment);
    read_tres (c, row, &segment);
    return fn (&segment, arg, error);
}

/* Rows in one query, and the time in which the rows of one query ended: of a
 * site with ten million jobs a month some 80,000. */
#define ROWS_PER_QUERY 100000
#define SECONDS_PER_QUERY (6 * 3600)

/* The job table of a cluster, being read. */
struct reading {
    slurmdbd_cluster_t *cluster;
    char *table;
    buffer_t select;   /* SELECT ... FROM ... AS t */
    buffer_t by_end;   /* FORCE INDEX ... */
    uint64_t rows;     /* of the last query */
    uint64_t last_inx; /* of its last row */
    slurmdbd_segment_f fn;
    void *arg;
};

static int read_rows (struct reading *r, const char *sql, gl_error_t *error)
{
    db_statement_t *rows = db_query (r->cluster->db, sql, error);
    int rc;

    r->rows = 0;
    while ((rc = slurmdbd_next (rows, error)) == 1) {
        r->rows++;
        r->last_inx = db_column_u64 (rows, JOB_JOB_DB_INX);
        if (read_row (r->cluster, rows, r->fn, r->arg, error) < 0)
            break;
    }
    return slurmdbd_end (rows, rc);
}

static int read_window (struct reading *r, slurmdbd_window_t window,
                        gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;

    buffer_add_text (&sql, buffer_text (&r->select));
    if (window.rows != SLURMDBD_ROWS_OF_JOBS)
        buffer_add_text (&sql, buffer_text (&r->by_end));
    slurmdbd_where (&sql, window);
    return read_rows (r, buffer_text (&sql), error);
}

/* Along the primary key. */
static int read_all (struct reading *r, gl_error_t *error)
{
    int rc;

    do {
        BUFFER_AUTO sql = BUFFER_INIT;
        buffer_add_text (&sql, buffer_text (&r->select));
        if (r->rows)
            buffer_printf (&sql, "WHERE t.`job_db_inx` > %llu ",
                           (unsigned long long)r->last_inx);
        buffer_printf (&sql, "ORDER BY t.`job_db_inx` LIMIT %d",
                       ROWS_PER_QUERY);
        rc = read_rows (r, buffer_text (&sql), error);
    } while (rc == 0 && r->rows == ROWS_PER_QUERY);
    return rc;
}

/* The first end in a window, so that empty time costs nothing; 0: none. */
static int find_end (struct reading *r, slurmdbd_window_t window,
                     int64_t *ret_end, gl_error_t *error)
{
    GL_AUTOFREE char *quoted = db_quote_identifier (r->cluster->db, r->table);
    BUFFER_AUTO sql = BUFFER_INIT;

    buffer_printf (&sql, "SELECT MIN(t.`time_end`) FROM %s AS t ", quoted);
    slurmdbd_where (&sql, window);
    return slurmdbd_number (r->cluster->db, buffer_text (&sql), ret_end, error);
}

static int64_t end_of_interval (int64_t from, int64_t to)
{
    if (from >= INSTANT_END - SECONDS_PER_QUERY)
        return to;
    if (to == 0 || to - from > SECONDS_PER_QUERY)
        return from + SECONDS_PER_QUERY;
    return to;
}

/* Along the index on time_end. */
static int read_ended (struct reading *r, slurmdbd_window_t window,
                       gl_error_t *error)
{
    slurmdbd_window_t piece = window;
    int64_t end;

    while (window.to == 0 || window.from < window.to) {
        if (find_end (r, window, &end, error) < 0)
            return -1;
        if (end == 0)
            break;
        piece.from = end > 0 && end < INSTANT_END ? end : INSTANT_END;
        piece.to = end_of_interval (piece.from, window.to);
        if (read_window (r, piece, error) < 0)
            return -1;
        if (piece.to == window.to)
            break;
        window.from = piece.to;
    }
    return 0;
}

static int start_reading (struct reading *r, gl_error_t *error)
{
    r->table = slurmdbd_table (r->cluster, "job_table");
    if (slurmdbd_select (r->cluster->db, r->table, job_columns,
                         JOB_COLUMN_COUNT, &r->select, error)
        < 0)
        return -1;
    /* a column that is not there reads as NULL */
    r->cluster->tells_killer
        = strstr (buffer_text (&r->select), "`kill_requid`") != NULL;
    return slurmdbd_along (r->cluster->db, r->table, "time_end", &r->by_end,
                           error);
}

static void end_reading (struct reading *r)
{
    free (r->table);
    buffer_done (&r->select);
    buffer_done (&r->by_end);
}

int slurmdbd_segments (slurmdbd_cluster_t *c, slurmdbd_window_t window,
                       slurmdbd_segment_f fn, void *arg, gl_error_t *error)
{
    struct reading r = {.cluster = c,
                        .select = BUFFER_INIT,
                        .by_end = BUFFER_INIT,
                        .fn = fn,
                        .arg = arg};
    slurmdbd_notes_t notes = c->notes;
    int rc = start_reading (&r, error);

    if (rc == 0)
        rc = window.rows == SLURMDBD_ROWS_ALL ? read_all (&r, error)
             : window.rows == SLURMDBD_ROWS_ENDED
                 ? read_ended (&r, window, error)
                 : read_window (&r, window, error);
    end_reading (&r);
    if (window.again)
        c->notes = notes;
    return rc;
}

/* Of a whole table what the server knows without counting. */
static char *estimate_query (slurmdbd_cluster_t *c, slurmdbd_window_t window)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, "job_table");
    GL_AUTOFREE char *quoted = db_quote_identifier (c->db, table);
    buffer_t sql = BUFFER_INIT;

    if (window.rows == SLURMDBD_ROWS_ALL)
        return xstrdup ("SELECT table_rows FROM information_schema.tables"
                        " WHERE table_schema = DATABASE() AND table_name = ?");
    buffer_printf (&sql, "SELECT COUNT(*) FROM %s AS t ", quoted);
    slurmdbd_where (&sql, window);
    return buffer_take (&sql);
}

int slurmdbd_estimate (slurmdbd_cluster_t *c, slurmdbd_window_t window,
                       uint64_t *ret_rows, gl_error_t *error)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, "job_table");
    GL_AUTOFREE char *sql = estimate_query (c, window);
    db_statement_t *row = db_prepare (c->db, sql, error);
    int rc;

    *ret_rows = 0;
    if (!row)
        return -1;
    if (window.rows == SLURMDBD_ROWS_ALL)
        db_bind_text (row, 0, table);
    rc = db_step (row, error);
    if (rc == 1)
        *ret_rows = db_column_u64 (row, 0);
    db_finalize (row);
    return rc < 0 ? -1 : 0;
}

/* The job table comes first and gives t.*, so that the window applies. */
static char *suspension_query (slurmdbd_cluster_t *c, slurmdbd_window_t window)
{
    GL_AUTOFREE char *jobs = slurmdbd_table (c, "job_table");
    GL_AUTOFREE char *suspensions = slurmdbd_table (c, "suspend_table");
    GL_AUTOFREE char *jobs_quoted = db_quote_identifier (c->db, jobs);
    GL_AUTOFREE char *quoted = db_quote_identifier (c->db, suspensions);
    buffer_t sql = BUFFER_INIT;

    buffer_printf (&sql,
                   "SELECT t.`id_job`, t.`time_submit`, s.`time_start`,"
                   " s.`time_end` FROM %s AS s JOIN %s AS t"
                   " ON t.`job_db_inx` = s.`job_db_inx` ",
                   quoted, jobs_quoted);
    slurmdbd_where (&sql, window);
    return buffer_take (&sql);
}

static const slurmdbd_column_t suspension_columns[] = {
    {"job_db_inx", NULL, true},
    {"time_start", NULL, true},
    {"time_end", NULL, true},
};

static int check_suspensions (slurmdbd_cluster_t *c, gl_error_t *error)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, "suspend_table");
    BUFFER_AUTO unused = BUFFER_INIT;

    return slurmdbd_select (c->db, table, suspension_columns,
                            GL_ARRAY_SIZE (suspension_columns), &unused, error);
}

static suspension_t read_suspension (const slurmdbd_cluster_t *c,
                                     const db_statement_t *row)
{
    return (suspension_t){
        .cluster = c->name,
        .id_job = db_column_u64 (row, 0),
        .time_submit = db_column_i64 (row, 1),
        .start = db_column_i64 (row, 2),
        .end = db_column_i64 (row, 3),
    };
}

int slurmdbd_suspensions (slurmdbd_cluster_t *c, slurmdbd_window_t window,
                          slurmdbd_suspension_f fn, void *arg,
                          gl_error_t *error)
{
    GL_AUTOFREE char *sql = NULL;
    db_statement_t *rows;
    int rc;

    if (check_suspensions (c, error) < 0)
        return -1;
    sql = suspension_query (c, window);
    rows = db_query (c->db, sql, error);
    while ((rc = slurmdbd_next (rows, error)) == 1) {
        suspension_t suspension = read_suspension (c, rows);
        if (fn (&suspension, arg, error) < 0)
            break;
    }
    return slurmdbd_end (rows, rc);
}
