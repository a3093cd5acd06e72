#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "import/import_fact.h"
#include "import/import_json.h"

bool json_number_of (const json_t *value, uint64_t *ret_number)
{
    if (json_is_object (value)) {
        if (json_is_true (json_object_get (value, "infinite"))
            || json_is_false (json_object_get (value, "set")))
            return false;
        value = json_object_get (value, "number");
    }
    if (json_is_integer (value) && json_integer_value (value) >= 0) {
        *ret_number = (uint64_t)json_integer_value (value);
        return true;
    }
    return json_is_string (value)
           && number_u64_text (json_string_value (value), ret_number) == 0;
}

/* A member by its path: "time.start"; NULL if any part is missing. */
static const json_t *member (const json_t *object, const char *path)
{
    char name[32];
    size_t length;

    while (object && *path) {
        length = strcspn (path, ".");
        memcpy (name, path, length);
        name[length] = '\0';
        object = json_object_get (object, name);
        path += length + (path[length] == '.');
    }
    return object;
}

/* Text that says something, of the first path that has any. */
static const char *text_at (const json_t *job, const char *path,
                            const char *other)
{
    const char *text = json_string_value (member (job, path));

    if (text && !fact_none (text))
        return text;
    return other ? text_at (job, other, NULL) : NULL;
}

static const char *free_text_at (const json_t *job, const char *path)
{
    const char *text = json_string_value (member (job, path));

    return text && *text ? text : NULL;
}

static int64_t seconds_at (const json_t *job, const char *path, int64_t unit)
{
    uint64_t number;

    /* more than 2^40 is one of Slurm's "no value" */
    if (!json_number_of (member (job, path), &number) || number >> 40)
        return SECONDS_UNKNOWN;
    return (int64_t)number * unit;
}

/* NO_VAL and INFINITE of slurm.h: 24.11 to 26.05 write the first one as the start
 * of a job that was cancelled while it waited. */
static bool is_no_value (uint64_t number)
{
    return number == 0xfffffffe || number == 0xffffffff;
}

static int time_at (const json_t *job, const char *path, int64_t *ret_time,
                    gl_error_t *error)
{
    const json_t *value = member (job, path);
    uint64_t number;

    *ret_time = 0;
    if (!value || json_is_null (value)
        || (json_is_object (value) && !json_number_of (value, &number)))
        return 0;
    if (json_number_of (value, &number) && is_no_value (number))
        return 0;
    if (!json_number_of (value, &number) || number >= INSTANT_END)
        return gl_error (error, "%s is not a time between 1970 and 2099", path);
    *ret_time = (int64_t)number;
    return 0;
}

static uint32_t index_at (const json_t *job, const char *path)
{
    uint64_t number;

    if (!json_number_of (member (job, path), &number) || number >= TASK_NONE)
        return TASK_NONE;
    return (uint32_t)number;
}

static uint64_t id_at (const json_t *job, const char *path)
{
    uint64_t number;

    return json_number_of (member (job, path), &number) ? number : 0;
}

/* Where a shape keeps what: slurmdbd's, which is that of `sacct --json` too,
 * and slurmctld's. */
#define PATHS(X)                                                \
    X (submit, "time.submission", "submit_time")                \
    X (start, "time.start", "start_time")                       \
    X (end, "time.end", "end_time")                             \
    X (elapsed, "time.elapsed", "elapsed")                      \
    X (suspended, "time.suspended", "suspended")                \
    X (limit, "time.limit", "time_limit")                       \
    X (state, "state.current", "job_state")                     \
    X (user, "user", "user_name")                               \
    X (user_other, "association.user", "user")                  \
    X (reservation, "reservation.name", "resv_name")            \
    X (wckey, "wckey.wckey", "wckey")                           \
    X (wckey_other, "wckey", NULL)                              \
    X (admin_comment, "comment.administrator", "admin_comment") \
    X (array_job, "array.job_id", "array_job_id")               \
    X (array_task, "array.task_id", "array_task_id")            \
    X (het_job, "het.job_id", "het_job_id")                     \
    X (het_offset, "het.job_offset", "het_job_offset")

#define AS_MEMBER(name, slurmdbd, slurmctld) const char *name;
typedef struct {
    bool controller; /* slurmctld: a pending job's start is a forecast, and a
                        running one's end its limit */
    PATHS (AS_MEMBER)
} shape_t;

#define OF_SLURMDBD(name, slurmdbd, slurmctld) .name = slurmdbd,
static const shape_t shape_slurmdbd = {PATHS (OF_SLURMDBD)};

#define OF_SLURMCTLD(name, slurmdbd, slurmctld) .name = slurmctld,
static const shape_t shape_slurmctld
    = {.controller = true, PATHS (OF_SLURMCTLD)};

static bool is_flag (segment_state_t state)
{
    return state > SEGMENT_OUT_OF_MEMORY;
}

/* A word, or a list of a state and flags. Words that are no state (COMPLETING,
 * CONFIGURING) are flags of the moment. A finished row whose flag says why it
 * ended (REQUEUED, RESIZING) has it as its state, as slurmdbd stores it. */
static int parse_state (const json_t *value, bool finished,
                        segment_state_t *ret_state, gl_error_t *error)
{
    size_t n = json_is_array (value) ? json_array_size (value) : 1;
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        const json_t *word
            = json_is_array (value) ? json_array_get (value, i) : value;
        const char *text = json_string_value (word);
        segment_state_t state;
        if (!text || segment_state_parse (text, strlen (text), &state) < 0)
            continue;
        if (!found || (is_flag (state) && finished)
            || (is_flag (*ret_state) && !finished)) {
            *ret_state = state;
            found = true;
        }
    }
    return found ? 0 : gl_error (error, "it has no state that Slurm knows");
}

/* [{"type":"gres","name":"gpu:a100","count":1}, ...] */
static int parse_tres_list (tres_t *tres, const json_t *list, gl_error_t *error)
{
    size_t i;
    json_t *item;

    tres_begin (tres);
    json_array_foreach ((json_t *)list, i, item)
    {
        const char *type = json_string_value (json_object_get (item, "type"));
        const char *name = json_string_value (json_object_get (item, "name"));
        uint64_t count;
        if (!json_number_of (json_object_get (item, "count"), &count))
            count = TRES_UNKNOWN; /* null, -2, not set */
        if (type && tres_add (tres, type, name, count, error) < 0)
            return -1;
    }
    tres_end (tres);
    return 0;
}

/* Either form: a list of objects, or text. 1; 0 where there is none; -1. */
static int parse_tres (tres_t *tres, const json_t *job, const char *list_path,
                       const char *text_path, gl_error_t *error)
{
    const json_t *list = member (job, list_path);
    const char *text = json_string_value (member (job, text_path));
    int rc = 0;

    if (json_is_array (list))
        rc = parse_tres_list (tres, list, error);
    else if (text)
        rc = tres_parse (tres, text, NULL, NULL, error);
    else
        return tres_parse (tres, NULL, NULL, NULL, error);
    return rc < 0 ? gl_error_prefix (error, "TRES") : 1;
}

/* Text or a list of texts in Slurm's GRES notation names a GPU. Unreadable
 * ones are only a missing sign. */
static bool gres_text_asks (tres_t *scratch, const json_t *value)
{
    bool asks = false;

    for (size_t i = 0; i < json_array_size (value) && !asks; i++)
        asks = gres_text_asks (scratch, json_array_get (value, i));
    if (json_is_string (value)) {
        tres_begin (scratch);
        if (tres_add_gres (scratch, json_string_value (value), NULL) == 0) {
            tres_end (scratch);
            asks = gres_any (scratch->gres);
        }
    }
    return asks;
}

static bool gpu_asked (import_t *import, const json_t *job, const segment_t *s)
{
    static const char *const notations[] = {
        "gres_detail",   "tres_per_job",    "tres_per_node",
        "tres_per_task", "tres_per_socket", "used_gres",
    };
    tres_t scratch = TRES_INIT;
    bool asks
        = gres_any (import->allocated.gres) || gres_any (import->requested.gres)
          || import->allocated.gpu_without_count
          || import->requested.gpu_without_count
          || import_submit_line_asks (
              import, json_string_value (json_object_get (job, "submit_line")),
              s);

    for (size_t i = 0; i < GL_ARRAY_SIZE (notations) && !asks; i++)
        asks = gres_text_asks (&scratch, json_object_get (job, notations[i]));
    tres_done (&scratch);
    return asks;
}

static int parse_what (import_t *import, const json_t *job, segment_t *s,
                       gl_error_t *error)
{
    tres_t *allocated = &import->allocated, *requested = &import->requested;
    int rc;

    if (parse_tres (allocated, job, "tres.allocated", "tres_alloc_str", error)
        < 0)
        return -1;
    rc = parse_tres (requested, job, "tres.requested", "tres_req_str", error);
    if (rc < 0)
        return -1;
    s->gres = allocated->gres;
    s->cpus = allocated->cpus;
    s->memory_mb = allocated->memory_mb;
    s->nodes = allocated->nodes;
    s->gres_requested = rc > 0 ? requested->gres : NULL;
    s->gpu_asked = gpu_asked (import, job, s);
    return 0;
}

/* What slurmctld says of a job that has not begun, or not ended, is a plan. */
static void drop_forecasts (const shape_t *shape, const segment_t *s,
                            import_times_t *times)
{
    if (shape->controller && s->state == SEGMENT_PENDING)
        times->start = 0;
    if (shape->controller
        && (s->state == SEGMENT_PENDING || s->state == SEGMENT_RUNNING
            || s->state == SEGMENT_SUSPENDED))
        times->end = 0;
}

static int parse_when (import_t *import, const shape_t *shape,
                       const json_t *job, segment_t *s, gl_error_t *error)
{
    import_times_t times;

    if (time_at (job, shape->submit, &s->time_submit, error) < 0
        || time_at (job, shape->start, &times.start, error) < 0
        || time_at (job, shape->end, &times.end, error) < 0
        || parse_state (member (job, shape->state),
                        times.end > 0 && !shape->controller, &s->state, error)
               < 0)
        return -1;
    drop_forecasts (shape, s, &times);
    times.start_later = times.start;
    times.end_later = times.end;
    times.elapsed = seconds_at (job, shape->elapsed, 1);
    times.suspended = seconds_at (job, shape->suspended, 1);
    if (s->state == SEGMENT_SUSPENDED)
        times.suspended = SECONDS_UNKNOWN;
    /* slurmctld gives no elapsed time; the envelope says when it looked */
    if (shape->controller && times.elapsed == SECONDS_UNKNOWN)
        times.elapsed = 0;
    s->suspended = times.suspended;
    s->time_limit = seconds_at (job, shape->limit, 60);
    return import_times (import, &times, s, error);
}

/* Its name: "root", or nothing where accounting has nobody. */
static cancelled_by_t cancelled_by (const json_t *job, const segment_t *s)
{
    const json_t *value = json_object_get (job, "kill_request_user");
    const char *who = json_string_value (value);

    if (!value || s->state != SEGMENT_CANCELLED)
        return CANCELLED_BY_UNKNOWN;
    if (!who || !*who)
        return CANCELLED_BY_NOBODY;
    if (!s->user)
        return CANCELLED_BY_UNKNOWN;
    return !strcmp (who, s->user) ? CANCELLED_BY_USER : CANCELLED_BY_OTHER;
}

static void parse_who (const shape_t *shape, const json_t *job, segment_t *s)
{
    uint64_t number;

    s->user = text_at (job, shape->user, shape->user_other);
    s->uid = index_at (job, "user_id"); /* UINT32_MAX: not known, as here */
    s->account = text_at (job, "account", "association.account");
    s->partition = text_at (job, "partition", NULL);
    s->qos = text_at (job, "qos", NULL);
    s->wckey = text_at (job, shape->wckey, shape->wckey_other);
    s->reservation = text_at (job, shape->reservation, NULL);
    s->nodelist = text_at (job, "nodes", NULL);
    s->job_name = free_text_at (job, "name");
    s->admin_comment = free_text_at (job, shape->admin_comment);
    s->array_job = id_at (job, shape->array_job);
    s->array_task
        = s->array_job ? index_at (job, shape->array_task) : TASK_NONE;
    s->het_job = id_at (job, shape->het_job);
    s->het_offset = s->het_job ? index_at (job, shape->het_offset) : TASK_NONE;
    s->restart_count = -1;
    if (json_number_of (json_object_get (job, "restart_cnt"), &number)
        && number <= INT32_MAX)
        s->restart_count = (int32_t)number;
    s->job_db_inx = id_at (job, "db_index");
    s->cancelled_by = cancelled_by (job, s);
}

int import_json_job (import_t *import, const json_t *job, gl_error_t *error)
{
    const shape_t *shape = json_object_get (job, "job_state") ? &shape_slurmctld
                                                              : &shape_slurmdbd;
    segment_t s = {.source = SOURCE_JSON};
    const char *named = text_at (job, "cluster", "association.cluster");

    s.id_job = id_at (job, "job_id");
    if (s.id_job == 0 || s.id_job > INT64_MAX)
        return gl_error (error, "a job without job_id");
    if (!(s.cluster = import_cluster (import, named, error))
        || parse_when (import, shape, job, &s, error) < 0
        || parse_what (import, job, &s, error) < 0) {
        return gl_error_prefix (error, "job %llu",
                                (unsigned long long)s.id_job);
    }
    parse_who (shape, job, &s);
    import_replace_controls (import, &s);
    if (import_segment (import, &s, error) < 0)
        return gl_error_prefix (error, "job %llu",
                                (unsigned long long)s.id_job);
    return 0;
}
