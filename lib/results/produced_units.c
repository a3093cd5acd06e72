#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "gres/nodelist.h"
#include "results/produced_units.h"

/* --- the object ------------------------------------------------------------------ */

/* A report of a segment, which waits for it. */
struct report {
    int64_t submit;
    char *unit;
    int64_t quantity;
};

/* What a node counted; it waits for a segment that ran there. */
struct counted {
    char *node;
    char *unit;
    int64_t quantity;
    bool taken;
};

struct unit {
    char *name;
    bool has[UNITS_SOURCES];
    int64_t quantity[UNITS_SOURCES];
};

struct job {
    UT_hash_handle hh;
    struct report *report;
    size_t report_count;
    struct counted *counted;
    size_t counted_count;
    struct unit *unit;
    size_t unit_count;
    struct job_key {
        uint64_t id_job;
        char cluster[]; /* with its NUL: the key ends with it */
    } key;
};

struct produced_units {
    const site_t *site;
    period_t month;
    int64_t until;
    uint64_t late;
    struct job *jobs;
};

const char *units_source_word (units_source_t source)
{
    static const char *const words[UNITS_SOURCES]
        = {[UNITS_REPORTED] = "report",
           [UNITS_COUNTED] = "counter",
           [UNITS_LABEL] = "label"};

    return words[source];
}

produced_units_t *produced_units_new (const site_t *site, period_t month,
                                      int64_t until)
{
    produced_units_t *u = xcalloc (1, sizeof (*u));

    u->site = site;
    u->month = month;
    u->until = until;
    return u;
}

static void free_job (struct job *job)
{
    for (size_t i = 0; i < job->report_count; i++)
        free (job->report[i].unit);
    for (size_t i = 0; i < job->counted_count; i++) {
        free (job->counted[i].node);
        free (job->counted[i].unit);
    }
    for (size_t i = 0; i < job->unit_count; i++)
        free (job->unit[i].name);
    free (job->report);
    free (job->counted);
    free (job->unit);
    free (job);
}

void produced_units_free (produced_units_t *u)
{
    struct job *job, *next;

    if (!u)
        return;
    HASH_ITER (hh, u->jobs, job, next)
    {
        HASH_DEL (u->jobs, job);
        free_job (job);
    }
    free (u);
}

/* --- jobs ------------------------------------------------------------------------- */

static unsigned key_length (size_t name)
{
    return (unsigned)(offsetof (struct job_key, cluster) + name + 1);
}

static struct job *find_job (const produced_units_t *u, const char *cluster,
                             uint64_t id_job)
{
    size_t length = strlen (cluster);
    GL_AUTOFREE struct job_key *key = NULL;
    struct job *job;

    if (!u->jobs)
        return NULL;
    key = xcalloc (1, key_length (length));
    key->id_job = id_job;
    memcpy (key->cluster, cluster, length);
    HASH_FIND (hh, u->jobs, key, key_length (length), job);
    return job;
}

static struct job *need_job (produced_units_t *u, const char *cluster,
                             uint64_t id_job)
{
    struct job *job = find_job (u, cluster, id_job);
    size_t length = strlen (cluster);

    if (job)
        return job;
    job = xcalloc (1, sizeof (*job) + length + 1);
    job->key.id_job = id_job;
    memcpy (job->key.cluster, cluster, length);
    HASH_ADD (hh, u->jobs, key, key_length (length), job);
    return job;
}

static void add_unit (struct job *job, const char *name, units_source_t source,
                      int64_t quantity)
{
    struct unit *unit
        = GL_FIND (job->unit, job->unit_count, it, !strcmp (it->name, name));

    if (!unit) {
        unit = GL_APPEND (job->unit, job->unit_count);
        *unit = (struct unit){.name = xstrdup (name)};
    }
    unit->has[source] = true;
    if (__builtin_add_overflow (unit->quantity[source], quantity,
                                &unit->quantity[source])
        || unit->quantity[source] > UNIT_QUANTITY_MAX)
        unit->quantity[source] = UNIT_QUANTITY_MAX;
}

/* --- facts in ---------------------------------------------------------------------- */

void produced_units_report (produced_units_t *u, const job_units_t *r)
{
    struct job *job;
    struct report *report;

    if (u->until && r->stamp > u->until) {
        u->late++;
        return;
    }
    job = need_job (u, r->cluster, r->id_job);
    report
        = GL_FIND (job->report, job->report_count, it,
                   it->submit == r->time_submit && !strcmp (it->unit, r->unit));
    if (!report) {
        report = GL_APPEND (job->report, job->report_count);
        *report = (struct report){r->time_submit, xstrdup (r->unit), 0};
    }
    report->quantity = r->quantity;
}

void produced_units_count (produced_units_t *u, const char *cluster,
                           uint64_t id_job, const char *node, const char *unit,
                           int64_t quantity)
{
    struct job *job;

    if (quantity <= 0 || quantity > UNIT_QUANTITY_MAX
        || !tag_valid (unit, strnlen (unit, TAG_MAX + 1))
        || !unit_known (u->site, unit))
        return;
    job = need_job (u, cluster, id_job);
    *GL_APPEND (job->counted, job->counted_count)
        = (struct counted){xstrdup (node), xstrdup (unit), quantity, false};
}

/* The part of `quantity` in the month, by the time of the segment. */
static int64_t part_of (const produced_units_t *u, const segment_t *s,
                        int64_t as_of, int64_t quantity)
{
    const int64_t end = s->time_end ? s->time_end : as_of;
    const period_t life = {s->time_start, end};
    const period_t in = period_clip (life, u->month);

    if (s->time_start == 0 || end <= s->time_start || in.end <= in.start)
        return 0;
    return (int64_t)((__int128)quantity * (in.end - life.start)
                     / (end - life.start))
           - (int64_t)((__int128)quantity * (in.start - life.start)
                       / (end - life.start));
}

static void take_reports (const produced_units_t *u, struct job *job,
                          const segment_t *s, int64_t as_of)
{
    for (size_t i = 0; i < job->report_count; i++) {
        const struct report *r = &job->report[i];
        if (r->submit == s->time_submit)
            add_unit (job, r->unit, UNITS_REPORTED,
                      part_of (u, s, as_of, r->quantity));
    }
}

static void take_counted (struct job *job, const segment_t *s)
{
    nodelist_t *nodes = nodelist_open (s->nodelist, NULL);

    for (size_t i = 0; nodes && i < job->counted_count; i++) {
        struct counted *c = &job->counted[i];
        if (c->taken || !nodelist_contains (nodes, c->node))
            continue;
        c->taken = true;
        add_unit (job, c->unit, UNITS_COUNTED, c->quantity);
    }
    nodelist_close (nodes);
}

void produced_units_segment (produced_units_t *u, const segment_t *s,
                             const char *labels, int64_t as_of)
{
    struct job *job = find_job (u, s->cluster, s->id_job);
    const char *cursor = labels;
    unit_count_t unit;

    if (job) {
        take_reports (u, job, s, as_of);
        if (job->counted_count > 0)
            take_counted (job, s);
    }
    if (s->state != SEGMENT_COMPLETED)
        return;
    while (unit_next_label (u->site, &cursor, &unit)) {
        if (!job)
            job = need_job (u, s->cluster, s->id_job);
        add_unit (job, unit.name, UNITS_LABEL,
                  part_of (u, s, as_of, unit.quantity));
    }
}

/* --- units out ---------------------------------------------------------------------- */

uint64_t produced_units_late (const produced_units_t *u)
{
    return u->late;
}

bool produced_units_any (const produced_units_t *u)
{
    return u->jobs != NULL;
}

/* 0 as reported takes back what others say, too. */
static bool value_of (const struct unit *unit, produced_unit_t *ret)
{
    for (units_source_t source = 0; source < UNITS_SOURCES; source++) {
        if (!unit->has[source])
            continue;
        *ret = (produced_unit_t){unit->name, source, unit->quantity[source]};
        return ret->quantity > 0;
    }
    return false;
}

bool produced_units_next (const produced_units_t *u, const char *cluster,
                          uint64_t id_job, size_t *cursor, produced_unit_t *ret)
{
    const struct job *job = find_job (u, cluster, id_job);

    while (job && *cursor < job->unit_count)
        if (value_of (&job->unit[(*cursor)++], ret))
            return true;
    return false;
}
