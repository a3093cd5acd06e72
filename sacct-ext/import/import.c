#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "gres/nodelist.h"
#include "import/import_fact.h"
#include "import/import_private.h"

/* How many rows between two calls of the progress function. */
#define PROGRESS_ROWS 4096

const char *import_cluster (import_t *import, const char *named,
                            gl_error_t *error)
{
    const import_options_t *o = import->options;

    if (!named || !*named)
        named = import->envelope_cluster;
    if (!named || !*named)
        return o->cluster;
    if (!fact_printable (named)) {
        gl_error (error, "the name of the cluster has a control character");
        return NULL;
    }
    if (o->cluster_only && strcmp (named, o->cluster) != 0) {
        gl_error (error,
                  "the row belongs to cluster '%.64s', but --cluster is "
                  "'%.64s'; leave --cluster out to use the names in the file",
                  named, o->cluster);
        return NULL;
    }
    return named;
}

/* A cluster whose rows name GPUs in their TRES, by name: since this submit
 * time, 0 for never. From then on its accounting tracks them. */
#define NAMES 3
struct import_tracked {
    char *cluster;
    int64_t since[NAMES];
};

static struct import_tracked *find_tracked (const import_t *import,
                                            const char *cluster)
{
    return GL_FIND (import->tracked, import->tracked_count, it,
                    strcmp (it->cluster, cluster) == 0);
}

static struct import_tracked *add_tracked (import_t *import,
                                           const char *cluster)
{
    struct import_tracked *tracked = find_tracked (import, cluster);

    if (tracked)
        return tracked;
    tracked = GL_APPEND (import->tracked, import->tracked_count);
    *tracked = (struct import_tracked){.cluster = xstrdup (cluster)};
    return tracked;
}

/* Typed GPUs alone ("gpu:a100=1") do not show that others are tracked. */
static void note_tracked (import_t *import, const segment_t *s,
                          const char *gres)
{
    gres_item_t item;

    while (gres && gres_next (&gres, &item)) {
        unsigned name = gres_name_asked (item.name, item.name_length);
        for (int i = 0; i < NAMES && !item.type; i++) {
            int64_t *since;
            if (name != 1u << i)
                continue;
            since = &add_tracked (import, s->cluster)->since[i];
            if (*since == 0 || s->time_submit < *since)
                *since = s->time_submit;
        }
    }
}

bool import_submit_line_asks (const import_t *import, const char *line,
                              const segment_t *s)
{
    unsigned asked = gres_in_submit_line (line);
    const struct import_tracked *tracked
        = asked ? find_tracked (import, s->cluster) : NULL;

    for (int i = 0; tracked && i < NAMES; i++) {
        if (tracked->since[i] && tracked->since[i] <= s->time_submit)
            asked &= ~(1u << i);
    }
    return asked != 0;
}

static bool state_is_open (segment_state_t state)
{
    return state == SEGMENT_PENDING || state == SEGMENT_RUNNING
           || state == SEGMENT_SUSPENDED;
}

/* Slurm's elapsed time leaves suspended time out. */
static int64_t wall_seconds (const import_times_t *t)
{
    if (t->elapsed == SECONDS_UNKNOWN)
        return SECONDS_UNKNOWN;
    return t->elapsed + (t->suspended > 0 ? t->suspended : 0);
}

/* Which readings of two local times belong together: those that the elapsed
 * time confirms, else the first in which time goes forward. */
static bool pair_times (const import_times_t *t, segment_t *s,
                        bool *ret_confirmed)
{
    const int64_t starts[] = {t->start, t->start_later};
    const int64_t ends[] = {t->end, t->end_later};
    bool found = false;

    *ret_confirmed = false;
    for (int i = 0; i < 4 && !*ret_confirmed; i++) {
        int64_t start = starts[i / 2], end = ends[i % 2];
        *ret_confirmed = end - start == wall_seconds (t);
        if (*ret_confirmed || (!found && end >= start)) {
            s->time_start = start;
            s->time_end = end;
            found = true;
        }
    }
    return found;
}

/* Slurm computes the elapsed time from start, end and suspension of the row. Where it
 * does not know how long the job was suspended, it may be less. */
static bool elapsed_fits (const import_times_t *t, const segment_t *s)
{
    int64_t length = s->time_end - s->time_start;

    return t->elapsed == SECONDS_UNKNOWN
           || (t->suspended == SECONDS_UNKNOWN ? t->elapsed <= length
                                               : wall_seconds (t) == length);
}

static int closed_times (import_t *import, const import_times_t *t,
                         segment_t *s, gl_error_t *error)
{
    bool ambiguous = t->start != t->start_later || t->end != t->end_later;
    bool confirmed;

    if (!pair_times (t, s, &confirmed))
        return gl_error (error,
                         "it ends %lld s before it starts; correct or remove "
                         "the row",
                         (long long)(t->start - t->end));
    import->stats.ambiguous += ambiguous && !confirmed;
    if (!ambiguous && !elapsed_fits (t, s) && import->stats.misfits++ == 0)
        import->stats.misfit_job = s->id_job;
    return 0;
}

/* After a resize, Slurm up to 22.05 shows the new row with the start of the old
 * one (docs/guides/slurm-versions.md): a row begins where it was submitted. A
 * submission after all that is known of the row is another mistake, and says
 * nothing of its start. */
static void begin_at_submission (const import_t *import, int64_t known,
                                 segment_t *s)
{
    int64_t end = s->time_end ? s->time_end
                  : known     ? known
                              : import->options->as_of;

    if (s->time_start > 0 && s->time_start < s->time_submit
        && s->time_submit <= end)
        s->time_start = s->time_submit;
}

/* The file knows of this moment, by this job. */
static void know (import_t *import, int64_t time, const segment_t *s)
{
    if (time <= import->newest)
        return;
    import->newest = time;
    import->stats.newest_job = s->id_job;
}

int import_times (import_t *import, const import_times_t *t, segment_t *s,
                  gl_error_t *error)
{
    int64_t known = 0;

    s->time_start = t->start;
    s->time_end = t->end;
    if (t->start > 0 && t->end > 0) {
        if (closed_times (import, t, s, error) < 0)
            return -1;
    } else if (t->start > 0) {
        import->stats.ambiguous += t->start != t->start_later;
        if (t->elapsed != SECONDS_UNKNOWN)
            known = t->start + wall_seconds (t);
        else if (import->options->as_of == 0)
            return gl_error (error,
                             "it has no end and no elapsed time, so its "
                             "duration is unknown; add ElapsedRaw to sacct's "
                             "columns, or give --as-of");
        /* over, though Slurm never wrote the end */
        if (!state_is_open (s->state))
            s->time_end = known;
    }
    begin_at_submission (import, known, s);
    know (import, known, s);
    return 0;
}

static int check_texts (const segment_t *s, gl_error_t *error)
{
    const struct {
        const char *name;
        const char *text;
    } texts[] = {
        {"user", s->user},           {"account", s->account},
        {"partition", s->partition}, {"QOS", s->qos},
        {"WCKey", s->wckey},         {"reservation", s->reservation},
        {"node list", s->nodelist},
    };
    nodelist_t *list;

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        if (texts[i].text && !fact_printable (texts[i].text))
            return gl_error (error,
                             "the %s has a control character; use sacct "
                             "--json, in which it is replaced",
                             texts[i].name);
    }
    if (s->nodelist) {
        if (!(list = nodelist_open (s->nodelist, error)))
            return -1;
        nodelist_close (list);
    }
    return 0;
}

static bool is_control (unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

static void forget_replaced (import_t *import)
{
    for (size_t i = 0; i < import->replaced_count; i++)
        free (import->replaced[i]);
    import->replaced_count = 0;
}

static const char *without_controls (import_t *import, const char *text)
{
    BUFFER_AUTO clean = BUFFER_INIT;

    for (const char *p = text; *p; p++) {
        if (is_control ((unsigned char)*p))
            buffer_add_text (&clean, UTF8_REPLACEMENT);
        else
            buffer_add_char (&clean, *p);
    }
    import->stats.replaced++;
    return *GL_APPEND (import->replaced, import->replaced_count)
           = buffer_take (&clean);
}

void import_replace_controls (import_t *import, segment_t *s)
{
    const char **texts[]
        = {&s->user,  &s->account,     &s->partition, &s->qos,
           &s->wckey, &s->reservation, &s->job_name,  &s->admin_comment};

    forget_replaced (import);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        if (*texts[i] && !fact_printable (*texts[i]))
            *texts[i] = without_controls (import, *texts[i]);
    }
}

/* The submit time of a job that has begun says nothing new, and where Slurm has
 * set it anew (it may then be weeks after the start) nothing true. */
static void note_times (import_t *import, const segment_t *s)
{
    const int64_t times[]
        = {s->time_start ? 0 : s->time_submit, s->time_start, s->time_end};

    for (size_t i = 0; i < GL_ARRAY_SIZE (times); i++)
        know (import, times[i], s);
}

static void count (import_stats_t *stats, const segment_t *s)
{
    bool contradiction;

    gres_devices (s->gres, NULL, NULL, &contradiction);
    stats->segments++;
    stats->contradictions += contradiction;
    stats->never_started += s->time_start == 0;
    if (s->time_start && (!stats->earliest || s->time_start < stats->earliest))
        stats->earliest = s->time_start;
    stats->open += s->time_start > 0 && s->time_end == 0;
    stats->unknown_gpu
        += s->time_start > 0 && s->gpu_asked && s->gres[0] == '\0';
}

static void show_progress (import_t *import)
{
    if (import->progress && import->stats.rows % PROGRESS_ROWS == 0)
        import->progress (source_position (import->source),
                          source_size (import->source), import->progress_arg);
}

int import_segment (import_t *import, segment_t *s, gl_error_t *error)
{
    if (s->time_submit <= 0)
        return gl_error (error, "it has no submit time");
    if (check_texts (s, error) < 0)
        return -1;
    note_times (import, s);
    note_tracked (import, s, s->gres);
    note_tracked (import, s, s->gres_requested);
    count (&import->stats, s);
    show_progress (import);
    s->observed_at = import->found.as_of;
    return import->sink ? import->sink (s, import->arg, error) : 0;
}

/* The first byte says which format it is. */
static int find_format (import_t *import, gl_error_t *error)
{
    int c;

    while ((c = source_peek (import->source, error)) == ' ' || c == '\t'
           || c == '\r' || c == '\n')
        source_byte (import->source, error);
    if (c == SOURCE_ERROR)
        return -1;
    if (c == SOURCE_END)
        return gl_error (error, "%s is empty", source_name (import->source));
    import->read = c == '{' || c == '[' ? import_read_json : import_read_text;
    return 0;
}

static int read_all (import_t *import, gl_error_t *error)
{
    import->stats = (import_stats_t){0};
    import->newest = 0;
    if (source_rewind (import->source, error) < 0
        || import->read (import, error) < 0)
        return -1;
    import->stats.newest = import->newest;
    source_rest (import->source);
    return 0;
}

import_t *import_open (const char *path, const import_options_t *options,
                       import_progress_f progress, void *progress_arg,
                       gl_error_t *error)
{
    import_t *import = xcalloc (1, sizeof (*import));

    import->options = options;
    import->progress = progress;
    import->progress_arg = progress_arg;
    import->allocated = import->requested = (tres_t)TRES_INIT;
    if (!(import->source = source_open (path, error))
        || find_format (import, error) < 0 || read_all (import, error) < 0) {
        import_close (import);
        return NULL;
    }
    import->found = import->stats;
    import->found.as_of = options->as_of ? options->as_of : import->newest;
    return import;
}

const import_stats_t *import_stats (const import_t *import)
{
    return &import->found;
}

int import_run (import_t *import, import_sink_f sink, void *arg,
                gl_error_t *error)
{
    import->sink = sink;
    import->arg = arg;
    if (read_all (import, error) < 0)
        return -1;
    if (import->stats.rows != import->found.rows
        || import->stats.newest != import->found.newest)
        return gl_error (error,
                         "%s changed while it was read; import it again when "
                         "it is complete",
                         source_name (import->source));
    import->found.unknown_gpu = import->stats.unknown_gpu;
    return 0;
}

void import_close (import_t *import)
{
    if (import) {
        source_close (import->source);
        free (import->envelope_cluster);
        forget_replaced (import);
        free (import->replaced);
        GL_FREE_EACH (import->tracked, import->tracked_count, it,
                      free (it->cluster));
        tres_done (&import->allocated);
        tres_done (&import->requested);
        free (import);
    }
}
