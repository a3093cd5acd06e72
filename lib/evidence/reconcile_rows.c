/* Segments against slurmdbd's job rows, one by one. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "evidence/reconcile_private.h"
#include "gres/tres.h"

/* --- quantities -------------------------------------------------------- */

unsigned __int128 device_seconds (uint64_t devices, int64_t start, int64_t end,
                                  period_t period)
{
    period_t in = period_clip ((period_t){start, end}, period);

    return (unsigned __int128)devices * (uint64_t)period_seconds (in);
}

uint64_t segment_devices (const segment_t *s)
{
    return s->gres ? gres_devices (s->gres, NULL, NULL, NULL) : 0;
}

unsigned __int128 segment_device_seconds (const segment_t *s, period_t period)
{
    return s->time_start ? device_seconds (segment_devices (s), s->time_start,
                                           segment_end (s), period)
                         : 0;
}

segment_t job_row_segment (const job_row_t *row)
{
    segment_t s = row->segment;

    if (s.time_start > 0 && s.time_start < s.time_submit
        && (s.time_end == 0 || s.time_end >= s.time_submit))
        s.time_start = s.time_submit;
    if (s.time_end != 0 && s.time_start > s.time_end)
        s.time_start = s.time_end;
    return s;
}

/* --- fields ------------------------------------------------------------ */

typedef enum {
    FIELD_GRES,
    FIELD_START,
    FIELD_END,
    FIELD_ACCOUNT,
    FIELD_USER,
    FIELD_STATE,
    FIELD_PARTITION,
    FIELD_QOS,
    FIELD_COUNT,
} field_t;

/* Those that move time come first: the difference is shown with the first. */
static const char *const field_names[FIELD_COUNT] = {
    [FIELD_GRES] = "gres",
    [FIELD_START] = "start",
    [FIELD_END] = "end",
    [FIELD_ACCOUNT] = "account",
    [FIELD_USER] = "user",
    [FIELD_STATE] = "state",
    [FIELD_PARTITION] = "partition",
    [FIELD_QOS] = "qos",
};

/* Texts of the fields; stamps are written to `stamp`. */
static const char *field_text (const reconcile_t *r, const segment_t *s,
                               field_t field, char stamp[ZONE_STAMP_SIZE])
{
    switch (field) {
    case FIELD_GRES:
        return s->gres;
    case FIELD_START:
        return s->time_start
                   ? zone_stamp (reconcile_zone (r), s->time_start, stamp)
                   : NULL;
    case FIELD_END:
        return s->time_end ? zone_stamp (reconcile_zone (r), s->time_end, stamp)
                           : "open";
    case FIELD_ACCOUNT:
        return s->account;
    case FIELD_USER:
        return s->user;
    case FIELD_STATE:
        return segment_state_name (s->state);
    case FIELD_PARTITION:
        return s->partition;
    case FIELD_QOS:
        return s->qos;
    case FIELD_COUNT:
        break;
    }
    return NULL;
}

/* Unknown never replaced known: what the row does not tell is no difference. */
static bool text_differs (const char *ours, const char *theirs)
{
    return theirs && (!ours || strcmp (ours, theirs) != 0);
}

static bool field_differs (const segment_t *ours, const segment_t *theirs,
                           field_t field)
{
    switch (field) {
    case FIELD_GRES:
        return strcmp (ours->gres ? ours->gres : "",
                       theirs->gres ? theirs->gres : "")
               != 0;
    case FIELD_START:
        return ours->time_start != theirs->time_start;
    case FIELD_END:
        return ours->time_end != theirs->time_end;
    case FIELD_ACCOUNT:
        return text_differs (ours->account, theirs->account);
    case FIELD_USER:
        return text_differs (ours->user, theirs->user);
    case FIELD_STATE:
        return ours->state != theirs->state;
    case FIELD_PARTITION:
        return text_differs (ours->partition, theirs->partition);
    case FIELD_QOS:
        return text_differs (ours->qos, theirs->qos);
    case FIELD_COUNT:
        break;
    }
    return false;
}

static unsigned fields_of (const segment_t *ours, const segment_t *theirs)
{
    unsigned fields = 0;

    for (field_t f = 0; f < FIELD_COUNT; f++)
        if (field_differs (ours, theirs, f))
            fields |= 1u << f;
    return fields;
}

/* --- causes ------------------------------------------------------------ */

/* Which of the two was looked at last. */
static reconcile_cause_t judge_source (const reconcile_cluster_t *c,
                                       const segment_t *ours)
{
    if (ours->observed_at > c->clock)
        return CAUSE_DATABASE_OLDER;
    if (ours->source != SOURCE_SLURMDBD)
        return c->synced == 0                  ? CAUSE_NEVER_SYNCED
               : ours->observed_at > c->synced ? CAUSE_OTHER_SOURCE
                                               : CAUSE_UNEXPLAINED;
    return CAUSE_UNEXPLAINED;
}

static reconcile_cause_t judge_missing_row (const reconcile_cluster_t *c,
                                            const segment_t *ours,
                                            unsigned revised)
{
    if (revised & REVISED_GONE)
        return CAUSE_GONE;
    if (judge_source (c, ours) != CAUSE_UNEXPLAINED)
        return judge_source (c, ours);
    if (ours->time_end != 0 && ours->time_end < c->oldest_end)
        return CAUSE_GONE;
    return CAUSE_UNEXPLAINED;
}

static reconcile_cause_t judge_missing_segment (const reconcile_cluster_t *c,
                                                const job_row_t *theirs)
{
    if (!c->synced)
        return CAUSE_NEVER_SYNCED;
    if (theirs->mod_time > c->as_of)
        return CAUSE_ARRIVED_LATE;
    return theirs->deleted ? CAUSE_DELETED_MARK : CAUSE_UNEXPLAINED;
}

/* What "fix" of sacctmgr's runaway jobs leaves behind. */
static bool is_fixed_runaway (const job_row_t *row)
{
    const segment_t *s = &row->segment;
    int64_t latest = s->time_start;

    if (row->time_eligible > latest && row->time_eligible < UINT32_MAX)
        latest = row->time_eligible;
    if (s->time_submit > latest)
        latest = s->time_submit;
    return s->time_end == latest
           && (s->state == SEGMENT_COMPLETED || s->state == SEGMENT_FAILED);
}

/* The store has it open, the database not any more. */
static reconcile_cause_t judge_ended (const segment_t *ours,
                                      const job_row_t *theirs)
{
    if (theirs->segment.time_end >= ours->observed_at)
        return CAUSE_OPEN_SINCE;
    if (theirs->mod_time > ours->observed_at)
        return CAUSE_ENDED_LATE;
    return is_fixed_runaway (theirs) ? CAUSE_RUNAWAY_FIXED : CAUSE_UNEXPLAINED;
}

/* Suspend and resume change an open row without a mark. */
static bool only_state_of_open (const segment_t *ours, const segment_t *theirs)
{
    return ours->time_end == 0 && theirs->time_end == 0
           && fields_of (ours, theirs) == 1u << FIELD_STATE;
}

/* The row has begun and names no GRES any more. */
static bool has_lost_gres (const segment_t *ours, const segment_t *row)
{
    return ours->gres && ours->gres[0] && !(row->gres && row->gres[0])
           && row->time_start != 0;
}

static reconcile_cause_t judge_changed (const reconcile_cluster_t *c,
                                        const segment_t *ours,
                                        const job_row_t *theirs)
{
    reconcile_cause_t cause = judge_source (c, ours);
    segment_t row = job_row_segment (theirs);

    if (has_lost_gres (ours, &row))
        return CAUSE_GRES_LOST;
    if (cause != CAUSE_UNEXPLAINED)
        return cause;
    if (ours->time_end == 0 && row.time_end != 0)
        return judge_ended (ours, theirs);
    if (theirs->mod_time > ours->observed_at)
        return CAUSE_EDITED;
    if (only_state_of_open (ours, &row) && c->clock > ours->observed_at)
        return CAUSE_OPEN_SINCE;
    return theirs->deleted ? CAUSE_DELETED_MARK : CAUSE_UNEXPLAINED;
}

reconcile_cause_t reconcile_judge (const reconcile_cluster_t *c,
                                   const segment_t *ours,
                                   const job_row_t *theirs, unsigned revised)
{
    segment_t row;

    if (!theirs)
        return judge_missing_row (c, ours, revised);
    if (!ours)
        return judge_missing_segment (c, theirs);
    row = job_row_segment (theirs);
    if (fields_of (ours, &row))
        return judge_changed (c, ours, theirs);
    if (ours->time_end == 0 && ours->believed_end != 0
        && ours->believed_end < ours->observed_at)
        return CAUSE_RUNAWAY;
    if (ours->time_end == 0 && ours->time_start != 0
        && segment_end (ours) < c->period.end)
        return judge_source (c, ours); /* not seen at as-of */
    return CAUSE_COUNT;
}

/* --- totals ------------------------------------------------------------ */

struct totals {
    reconcile_t *reconcile;
    int64_t seconds;
    bool ours;
};

static void add_kind (const char *type, size_t length, uint64_t count,
                      void *arg)
{
    struct totals *t = arg;
    GL_AUTOFREE char *kind = type ? xstrndup (type, length) : xstrdup ("");
    unsigned __int128 sum = (unsigned __int128)count * (uint64_t)t->seconds;

    reconcile_total (t->reconcile, SIDE_ACCOUNTING, kind, t->ours ? sum : 0,
                     t->ours ? 0 : sum);
}

static void add_totals (reconcile_t *r, const segment_t *s, period_t period,
                        bool ours)
{
    period_t in
        = period_clip ((period_t){s->time_start, segment_end (s)}, period);
    struct totals t = {r, period_seconds (in), ours};

    if (s->time_start && s->gres && t.seconds > 0)
        gres_devices (s->gres, add_kind, &t, NULL);
}

/* --- one pair ---------------------------------------------------------- */

static bool is_in (const segment_t *s, period_t period)
{
    return s->time_start != 0 && s->time_start < period.end
           && (segment_end (s) > period.start || s->time_start >= period.start);
}

static void add_fields (reconcile_t *r, reconcile_row_t *row,
                        const segment_t *ours, const segment_t *theirs)
{
    unsigned fields = fields_of (ours, theirs);
    char a[ZONE_STAMP_SIZE], b[ZONE_STAMP_SIZE];

    for (field_t f = 0; f < FIELD_COUNT; f++) {
        if (!(fields & 1u << f))
            continue;
        row->what = field_names[f];
        row->ours = field_text (r, ours, f, a);
        row->theirs = field_text (r, theirs, f, b);
        reconcile_add (r, row);
        row->difference = 0; /* it is shown once */
    }
}

/* The same fields, but counted to another end. */
static void add_counted_end (reconcile_t *r, reconcile_row_t *row,
                             const segment_t *ours)
{
    char stamp[ZONE_STAMP_SIZE];

    row->what = "counted_to";
    row->ours = zone_stamp (reconcile_zone (r), segment_end (ours), stamp);
    row->theirs = "open";
    reconcile_add (r, row);
}

static void add_whole (reconcile_t *r, reconcile_row_t *row, bool ours)
{
    row->what = "segment";
    row->ours = ours ? "there" : NULL;
    row->theirs = ours ? NULL : "there";
    reconcile_add (r, row);
}

/* What mending took away of the row is a difference of its own. */
static void add_mended (reconcile_t *r, reconcile_row_t *row,
                        const reconcile_cluster_t *c, const job_row_t *theirs,
                        const segment_t *mended)
{
    const segment_t *raw = &theirs->segment;
    char a[ZONE_STAMP_SIZE], b[ZONE_STAMP_SIZE];
    unsigned __int128 as_written, counted;

    if (raw->time_start == mended->time_start)
        return;
    counted = segment_device_seconds (mended, c->period);
    as_written
        = device_seconds (segment_devices (raw), raw->time_start,
                          raw->time_end ? raw->time_end : c->as_of, c->period);
    row->cause = raw->time_end != 0 && raw->time_end < raw->time_start
                     ? CAUSE_REVERSED
                     : CAUSE_RESIZED_START;
    row->what = "start";
    row->ours = zone_stamp (reconcile_zone (r), mended->time_start, a);
    row->theirs = zone_stamp (reconcile_zone (r), raw->time_start, b);
    row->difference = (__int128)counted - (__int128)as_written;
    reconcile_add (r, row);
}

void reconcile_gres_lost (reconcile_t *r, const reconcile_cluster_t *c,
                          const segment_t *s)
{
    char stamp[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *what
        = xasprintf ("gres, last seen without %s",
                     zone_stamp (reconcile_zone (r), s->gres_lost, stamp));
    reconcile_row_t row
        = {.side = SIDE_REVISIONS,
           .cluster = c->cluster,
           .id_job = s->id_job,
           .time_submit = s->time_submit,
           .what = what,
           .ours = s->gres,
           .difference = (__int128)segment_device_seconds (s, c->period),
           .cause = CAUSE_GRES_LOST};

    reconcile_compared (r, SIDE_REVISIONS, CAUSE_GRES_LOST);
    reconcile_add (r, &row);
}

void reconcile_segment (reconcile_t *r, const reconcile_cluster_t *c,
                        const segment_t *ours, const job_row_t *theirs,
                        unsigned revised)
{
    const segment_t *key = ours ? ours : &theirs->segment;
    reconcile_row_t row = {.side = SIDE_ACCOUNTING,
                           .cluster = c->cluster,
                           .id_job = key->id_job,
                           .time_submit = key->time_submit};
    segment_t mended = {0};

    if (theirs) {
        mended = job_row_segment (theirs);
        mended.observed_at = c->as_of;
    }
    if (!(ours && is_in (ours, c->period))
        && !(theirs && is_in (&mended, c->period)))
        return;
    row.cause = reconcile_judge (c, ours, theirs, revised);
    if (ours) {
        add_totals (r, ours, c->period, true);
        row.difference += (__int128)segment_device_seconds (ours, c->period);
    }
    if (theirs) {
        add_totals (r, &mended, c->period, false);
        row.difference -= (__int128)segment_device_seconds (&mended, c->period);
    }
    reconcile_compared (r, SIDE_ACCOUNTING, row.cause);
    if (row.cause != CAUSE_COUNT) {
        if (!ours || !theirs)
            add_whole (r, &row, ours != NULL);
        else if (fields_of (ours, &mended))
            add_fields (r, &row, ours, &mended);
        else
            add_counted_end (r, &row, ours);
    }
    if (theirs)
        add_mended (r, &row, c, theirs, &mended);
}
