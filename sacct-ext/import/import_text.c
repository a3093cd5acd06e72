/*
 * sacct -P (--parsable2) and -p (--parsable) text. The header decides the order
 * of the columns; a header that ends with '|' is that of -p.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "import/import_fact.h"
#include "import/import_private.h"

/* sacct knows some 110 columns. */
#define COLUMNS_MAX 512

/* X (its name here, in the header, whether it is needed) */
#define COLUMNS(X)                            \
    X (ACCOUNT, "Account", true)              \
    X (ADMIN_COMMENT, "AdminComment", false)  \
    X (ALLOC_TRES, "AllocTRES", true)         \
    X (CLUSTER, "Cluster", false)             \
    X (DB_INDEX, "DBIndex", false)            \
    X (ELAPSED, "Elapsed", false)             \
    X (ELAPSED_RAW, "ElapsedRaw", false)      \
    X (END, "End", true)                      \
    X (JOB_ID, "JobID", false)                \
    X (JOB_ID_RAW, "JobIDRaw", true)          \
    X (JOB_NAME, "JobName", false)            \
    X (NODE_LIST, "NodeList", false)          \
    X (PARTITION, "Partition", false)         \
    X (QOS, "QOS", false)                     \
    X (REQ_GRES, "ReqGRES", false)            \
    X (REQ_TRES, "ReqTRES", false)            \
    X (RESERVATION, "Reservation", false)     \
    X (RESTARTS, "Restarts", false)           \
    X (START, "Start", true)                  \
    X (STATE, "State", true)                  \
    X (SUBMIT, "Submit", true)                \
    X (SUBMIT_LINE, "SubmitLine", false)      \
    X (SUSPENDED, "Suspended", false)         \
    X (TIME_LIMIT, "Timelimit", false)        \
    X (TIME_LIMIT_RAW, "TimelimitRaw", false) \
    X (UID, "UID", false)                     \
    X (USER, "User", true)                    \
    X (WCKEY, "WCKey", false)

#define AS_ENUM(id, name, required) id,
typedef enum { COLUMNS (AS_ENUM) COLUMN_COUNT, OTHER = COLUMN_COUNT } column_t;

#define AS_COLUMN(id, name, required) {name, required},
static const struct {
    const char *name;
    bool required;
} columns[COLUMN_COUNT] = {COLUMNS (AS_COLUMN)};

/* Columns whose text users choose (docs/formats/sacct.md says how each was
 * tried). sacct -P escapes nothing: a '|' or a line break in one makes columns
 * and rows, and no reader can tell such a row from one of Slurm's. With
 * --trust-text the last column may hold '|'. */
static const char *const free_texts[] = {
    "AdminComment", "Comment",    "Constraints",   "Container", "Extra",
    "JobName",      "McsLabel",   "QOSREQ",        "StdErr",    "StdIn",
    "StdOut",       "SubmitLine", "SystemComment", "WCKey",     "WorkDir",
};

#define COMMAND                                                              \
    "sacct -a -D -X -P -o JobIDRaw,JobID,Submit,Start,End,ElapsedRaw,State," \
    "AllocTRES,ReqTRES,User,Account,Partition,QOS,NodeList"

typedef struct {
    import_t *import;
    column_t column[COLUMNS_MAX]; /* what the n-th column is */
    size_t count;
    bool trailing;             /* each line ends with '|' */
    bool free_last;            /* the last column may hold '|' */
    char *field[COLUMN_COUNT]; /* of the current row; NULL: no such column */
} table_t;

static column_t find_column (const char *name)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (strcasecmp (columns[i].name, name) == 0)
            return i;
    }
    return OTHER;
}

static bool is_free_text (const char *name)
{
    return GL_ANY (free_texts, GL_ARRAY_SIZE (free_texts), it,
                   strcasecmp (*it, name) == 0);
}

static int check_required (const table_t *t, gl_error_t *error)
{
    BUFFER_AUTO missing = BUFFER_INIT;

    for (int i = 0; i < COLUMN_COUNT; i++) {
        bool found = !columns[i].required;
        for (size_t n = 0; n < t->count && !found; n++)
            found = t->column[n] == (column_t)i;
        if (!found)
            buffer_printf (&missing, "%s%s", missing.length ? ", " : "",
                           columns[i].name);
    }
    if (missing.length > 0)
        return gl_error (error, "the header lacks %s; run " COMMAND,
                         buffer_text (&missing));
    return 0;
}

static bool is_text (const char *line)
{
    return fact_printable (line) && strchr (line, '|') != NULL;
}

static int refuse_free_text (const buffer_t *found, gl_error_t *error)
{
    return gl_error (error,
                     "column %s holds text that users choose, and sacct -P "
                     "escapes nothing: a line break in it makes a row of any "
                     "content. Use sacct --json; or leave the column out; or, "
                     "if every user of the cluster is trusted, give "
                     "--trust-text",
                     buffer_text (found));
}

static int parse_header (table_t *t, char *line, size_t length,
                         gl_error_t *error)
{
    BUFFER_AUTO users = BUFFER_INIT;
    char *name;

    if (!is_text (line))
        return gl_error (error, "neither sacct text with '|' between its "
                                "columns nor JSON; run " COMMAND);
    t->trailing = line[length - 1] == '|';
    if (t->trailing)
        line[length - 1] = '\0';
    while ((name = strsep (&line, "|"))) {
        column_t column = find_column (name);
        if (t->count == COLUMNS_MAX)
            return gl_error (error, "the header has more than %d columns",
                             COLUMNS_MAX);
        t->column[t->count++] = column;
        t->free_last = is_free_text (name);
        if (t->free_last)
            buffer_printf (&users, "%s%s", users.length ? ", " : "", name);
    }
    for (size_t i = 0; i < t->count; i++) {
        if (t->column[i] != JOB_ID_RAW)
            continue;
        if (users.length > 0 && !t->import->options->trust_text)
            return refuse_free_text (&users, error);
        return check_required (t, error);
    }
    return gl_error (error, "the first line is not a header with JobIDRaw "
                            "(sacct without -n prints one); run " COMMAND);
}

/* A column that is there twice says the same twice. */
static int put_field (table_t *t, column_t column, char *cell,
                      gl_error_t *error)
{
    if (column == OTHER)
        return 0;
    if (t->field[column] && strcmp (t->field[column], cell) != 0)
        return gl_error (error,
                         "column %s is given twice, as '%.40s' and '%.40s'",
                         columns[column].name, t->field[column], cell);
    t->field[column] = cell;
    return 0;
}

static int split_row (table_t *t, char *line, size_t length, gl_error_t *error)
{
    size_t n = 0;
    char *p = line;

    memset (t->field, 0, sizeof (t->field));
    if (t->trailing) {
        if (length == 0 || line[length - 1] != '|')
            return gl_error (error, "the line does not end with '|' as the "
                                    "header does: cut off?");
        line[length - 1] = '\0';
    }
    while (p) {
        char *cell = p;
        p = n + 1 == t->count && t->free_last ? NULL : strchr (p, '|');
        if (p)
            *p++ = '\0';
        if (n < t->count && put_field (t, t->column[n], cell, error) < 0)
            return -1;
        n++;
    }
    if (n != t->count)
        return gl_error (error,
                         "%zu columns, but the header has %zu: %s. Use sacct "
                         "--json, or look at the job in this line and the one "
                         "before",
                         n, t->count,
                         n < t->count ? "the line is cut off, or a text in it "
                                        "has a line break"
                                      : "a text in it has '|'");
    return 0;
}

/* NULL for a column that is not there or says "none". */
static const char *text_of (const table_t *t, column_t column)
{
    const char *text = t->field[column];

    return text && !fact_none (text) ? text : NULL;
}

/* People may call a job "None". */
static const char *free_text_of (const table_t *t, column_t column)
{
    const char *text = t->field[column];

    return text && *text ? text : NULL;
}

static int parse_u64 (const table_t *t, column_t column, uint64_t max,
                      uint64_t *ret_value, gl_error_t *error)
{
    uint64_t value;

    if (!text_of (t, column))
        return 0;
    if (number_u64_text (t->field[column], &value) < 0 || value > max)
        return gl_error (error, "%s '%.40s' is not a number in range",
                         columns[column].name, t->field[column]);
    *ret_value = value;
    return 0;
}

static int parse_time (const table_t *t, column_t column, const zone_t *zone,
                       int64_t *ret_time, int64_t *ret_later, gl_error_t *error)
{
    if (fact_time (t->field[column], zone, ret_time, ret_later, error) < 0)
        return gl_error_prefix (error, "%s", columns[column].name);
    return 0;
}

/* Seconds in one column, or the clock form in another. */
static int parse_seconds (const table_t *t, column_t raw, int64_t unit,
                          column_t clock, int64_t *ret_seconds,
                          gl_error_t *error)
{
    uint64_t value = UINT64_MAX;

    /* a billion minutes are 1900 years */
    if (raw != OTHER && text_of (t, raw)
        && strspn (t->field[raw], "0123456789") > 0) {
        if (parse_u64 (t, raw, 1000000000, &value, error) < 0)
            return -1;
        *ret_seconds = (int64_t)value * unit;
    } else if (text_of (t, clock)
               && strspn (t->field[clock], "0123456789") > 0) {
        if (fact_duration (t->field[clock], ret_seconds, error) < 0)
            return gl_error_prefix (error, "%s", columns[clock].name);
    }
    return 0;
}

/* "39889258_1426" (array task), "39889258_[1-9]" (pending tasks together),
 * "1234+1" (component of a het job) */
static void parse_job_id (const char *text, segment_t *s)
{
    size_t digits = strspn (text, "0123456789");
    uint64_t first, second;

    if (number_u64 (text, digits, &first) < 0 || text[digits] == '\0')
        return;
    if (text[digits] == '_') {
        s->array_job = first;
        if (number_u64_text (text + digits + 1, &second) == 0
            && second < TASK_NONE)
            s->array_task = (uint32_t)second;
    } else if (text[digits] == '+'
               && number_u64_text (text + digits + 1, &second) == 0
               && second < TASK_NONE) {
        s->het_job = first;
        s->het_offset = (uint32_t)second;
    }
}

static int parse_when (table_t *t, const zone_t *zone, segment_t *s,
                       gl_error_t *error)
{
    import_times_t times
        = {.elapsed = SECONDS_UNKNOWN, .suspended = SECONDS_UNKNOWN};
    int64_t later;

    if (parse_time (t, SUBMIT, zone, &s->time_submit, &later, error) < 0
        || parse_time (t, START, zone, &times.start, &times.start_later, error)
               < 0
        || parse_time (t, END, zone, &times.end, &times.end_later, error) < 0
        || parse_seconds (t, ELAPSED_RAW, 1, ELAPSED, &times.elapsed, error) < 0
        || parse_seconds (t, OTHER, 1, SUSPENDED, &times.suspended, error) < 0
        || parse_seconds (t, TIME_LIMIT_RAW, 60, TIME_LIMIT, &s->time_limit,
                          error)
               < 0)
        return -1;
    /* while suspended Slurm keeps something else in it */
    if (s->state == SEGMENT_SUSPENDED)
        times.suspended = SECONDS_UNKNOWN;
    s->suspended = times.suspended;
    t->import->stats.ambiguous += later != s->time_submit;
    return import_times (t->import, &times, s, error);
}

static int parse_what (table_t *t, segment_t *s, gl_error_t *error)
{
    tres_t *allocated = &t->import->allocated;
    tres_t *requested = &t->import->requested;

    if (tres_parse (allocated, t->field[ALLOC_TRES], NULL, NULL, error) < 0)
        return gl_error_prefix (error, "AllocTRES");
    s->gres = allocated->gres;
    s->cpus = allocated->cpus;
    s->memory_mb = allocated->memory_mb;
    s->nodes = allocated->nodes;
    s->gpu_asked
        = gres_any (s->gres) || allocated->gpu_without_count
          || import_submit_line_asks (t->import, t->field[SUBMIT_LINE], s);
    if (t->field[REQ_TRES]) {
        if (tres_parse (requested, t->field[REQ_TRES], NULL, NULL, error) < 0)
            return gl_error_prefix (error, "ReqTRES");
        s->gres_requested = requested->gres;
        s->gpu_asked |= requested->gpu_without_count;
    } else if (t->field[REQ_GRES]) {
        /* until 20.11; per node, so that it only tells that GPUs were asked */
        tres_begin (requested);
        if (tres_add_gres (requested, t->field[REQ_GRES], error) < 0)
            return gl_error_prefix (error, "ReqGRES");
        tres_end (requested);
        s->gpu_asked |= gres_any (requested->gres);
    }
    s->gpu_asked |= gres_any (s->gres_requested);
    return 0;
}

static int parse_who (table_t *t, segment_t *s, gl_error_t *error)
{
    uint64_t uid = UINT32_MAX, restarts = UINT64_MAX;

    if (parse_u64 (t, JOB_ID_RAW, INT64_MAX, &s->id_job, error) < 0
        || parse_u64 (t, DB_INDEX, UINT64_MAX, &s->job_db_inx, error) < 0
        || parse_u64 (t, UID, UINT32_MAX, &uid, error) < 0
        || parse_u64 (t, RESTARTS, INT32_MAX, &restarts, error) < 0)
        return -1;
    if (s->id_job == 0)
        return gl_error (error, "JobIDRaw '%.40s' is not a job id",
                         t->field[JOB_ID_RAW]);
    if (t->field[JOB_ID])
        parse_job_id (t->field[JOB_ID], s);
    s->uid = (uint32_t)uid;
    s->restart_count = restarts == UINT64_MAX ? -1 : (int32_t)restarts;
    s->user = text_of (t, USER);
    s->account = text_of (t, ACCOUNT);
    s->partition = text_of (t, PARTITION);
    s->qos = text_of (t, QOS);
    s->wckey = text_of (t, WCKEY);
    s->reservation = text_of (t, RESERVATION);
    s->nodelist = text_of (t, NODE_LIST);
    s->job_name = free_text_of (t, JOB_NAME);
    s->admin_comment = free_text_of (t, ADMIN_COMMENT);
    return 0;
}

static int parse_row (table_t *t, gl_error_t *error)
{
    const import_options_t *o = t->import->options;
    segment_t s = {
        .source = SOURCE_SACCT_TEXT,
        .suspended = SECONDS_UNKNOWN,
        .time_limit = SECONDS_UNKNOWN,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
    };
    const char *state = t->field[STATE];

    if (!(s.cluster = import_cluster (t->import, t->field[CLUSTER], error)))
        return -1;
    if (segment_state_parse (state, strlen (state), &s.state) < 0)
        return gl_error (error, "unknown State '%.40s'", state);
    if (parse_who (t, &s, error) < 0
        || parse_when (t, o->zone (s.cluster, o->zone_arg), &s, error) < 0
        || parse_what (t, &s, error) < 0)
        return -1;
    s.cancelled_by = segment_cancelled_text (state, s.uid);
    return import_segment (t->import, &s, error);
}

static int read_row (table_t *t, char *line, size_t length, gl_error_t *error)
{
    const char *id;

    if (length == 0)
        return 0;
    t->import->stats.rows++;
    if (split_row (t, line, length, error) < 0)
        return -1;
    id = t->field[JOB_ID_RAW];
    if (strchr (id, '.')) {
        t->import->stats.steps++;
        return 0;
    }
    if (parse_row (t, error) < 0)
        return gl_error_prefix (error, "job %.40s", id);
    return 0;
}

static int read_table (table_t *t, gl_error_t *error)
{
    source_t *source = t->import->source;
    char *line;
    size_t length;
    int rc;

    /* the header is the first line that is not empty */
    do {
        if ((rc = source_line (source, &line, &length, error)) <= 0)
            return rc;
    } while (length == 0);
    rc = parse_header (t, line, length, error);
    if (rc < 0)
        return gl_error_prefix (
            error, "%s:%llu", source_name (source),
            (unsigned long long)source_line_number (source));
    while ((rc = source_line (source, &line, &length, error)) > 0) {
        if (read_row (t, line, length, error) < 0)
            return gl_error_prefix (
                error, "%s:%llu", source_name (source),
                (unsigned long long)source_line_number (source));
    }
    return rc;
}

int import_read_text (import_t *import, gl_error_t *error)
{
    table_t *t = xcalloc (1, sizeof (*t));
    int rc;

    t->import = import;
    rc = read_table (t, error);
    free (t);
    return rc;
}
