#include <stdio.h>
#include <string.h>

#include <uthash.h>

#include "acct/usage.h"
#include "base/memory.h"

/* Texts are interned, so that a cell's key is a few small integers. Id 0 is
 * the absent text. */
struct text_entry {
    uint32_t id;
    char *text;
    UT_hash_handle hh;
};

struct cell_key {
    uint32_t text[KEYS_MAX];
    uint32_t cut;
};

struct cell {
    struct cell_key key;
    usage_cell_t cell;
    uint32_t last_cluster; /* of the last segment that had time here */
    uint64_t last_job;
    int64_t last_submit;
    bool last_job_unknown;
    UT_hash_handle hh;
};

struct usage {
    const usage_query_t *query;
    kinds_t *kinds;
    bool by_node;
    bool has_unit[3]; /* hour, day, month is among the keys */
    int64_t *changes; /* where pools and teams change, and the query's cuts */
    size_t change_count;
    struct text_entry *texts;
    char **text_of; /* by id */
    uint32_t text_count, text_size;
    struct cell *cells;
    usage_cell_t *sorted;
    measured_t unplaced;
};

/* One segment on its way into the cells. */
struct piece {
    const segment_t *segment;
    const suspension_t *suspensions;
    size_t suspension_count;
    const project_t *project;
    uint32_t cluster;
    bool whole;      /* the piece is the whole segment */
    period_t period; /* of this piece */
    size_t cut;
};

static const struct {
    key_id_t key;
    calendar_unit_t unit;
} unit_keys[] = {
    {KEY_HOUR, CALENDAR_HOUR},
    {KEY_DAY, CALENDAR_DAY},
    {KEY_MONTH, CALENDAR_MONTH},
};

/* --- texts ------------------------------------------------------------- */

static uint32_t intern (usage_t *u, const char *text)
{
    struct text_entry *entry;

    if (!text || !text[0])
        return 0;
    HASH_FIND_STR (u->texts, text, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->id = u->text_count;
        entry->text = xstrdup (text);
        HASH_ADD_KEYPTR (hh, u->texts, entry->text, strlen (entry->text),
                         entry);
        if (u->text_count == u->text_size) {
            u->text_size *= 2;
            u->text_of = xreallocarray (u->text_of, u->text_size,
                                        sizeof (*u->text_of));
        }
        u->text_of[u->text_count++] = entry->text;
    }
    return entry->id;
}

/* --- keys -------------------------------------------------------------- */

static const char *key_text (usage_t *u, key_id_t key, const char *label,
                             const struct piece *p, const holding_t *h,
                             char buf[TAG_MAX + 1])
{
    const segment_t *s = p->segment;
    const device_kind_t *kind = h ? h->kind : NULL;
    const site_team_t *team;

    switch (key) {
    case KEY_CLUSTER:
        return s->cluster;
    case KEY_TEAM:
        team = team_of_account (u->query->site, u->query->accounts, s->cluster,
                                s->account, p->period.start);
        return team ? team->name : NULL;
    case KEY_ACCOUNT:
        return s->account;
    case KEY_USER:
        return s->user;
    case KEY_PROJECT:
        return p->project ? p->project->project : NULL;
    case KEY_LABEL:
        return p->project && label_value (p->project->labels, label, buf)
                   ? buf
                   : NULL;
    case KEY_QOS:
        return s->qos;
    case KEY_PARTITION:
        return s->partition;
    case KEY_POOL:
        return kind && kind->pool ? kind->pool->name : NULL;
    case KEY_GPU:
        return kind && kind->pool ? kind->pool->gpu : NULL;
    case KEY_GRES_TYPE:
        return kind ? kind->type : NULL;
    case KEY_PROFILE:
        return kind ? kind->profile : NULL;
    case KEY_NODE:
        return h ? h->node : NULL;
    case KEY_STATE:
        return segment_state_name (s->state);
    case KEY_HOUR:
    case KEY_DAY:
    case KEY_MONTH:
        return zone_unit_name (u->query->site->zone,
                               key == KEY_HOUR  ? CALENDAR_HOUR
                               : key == KEY_DAY ? CALENDAR_DAY
                                                : CALENDAR_MONTH,
                               p->period.start, buf);
    case KEY_COUNT:
        break;
    }
    return NULL;
}

static bool filter_passes (usage_t *u, const usage_filter_t *f,
                           const struct piece *p, const holding_t *h)
{
    char buf[TAG_MAX + 1];
    const char *text = key_text (u, f->key, f->label, p, h, buf);

    if (!text || !text[0])
        text = key_info (f->key)->absent;
    for (size_t i = 0; i < f->values.count; i++) {
        if (!strcmp (f->values.item[i], text))
            return true;
    }
    return false;
}

static bool passes (usage_t *u, const struct piece *p, const holding_t *h)
{
    for (size_t i = 0; i < u->query->filter_count; i++) {
        if (!filter_passes (u, &u->query->filters[i], p, h))
            return false;
    }
    return true;
}

/* --- cells ------------------------------------------------------------- */

static struct cell *cell_get (usage_t *u, const struct piece *p,
                              const holding_t *h)
{
    struct cell_key key = {.cut = p->cut};
    struct cell *cell;
    char buf[TAG_MAX + 1];

    for (size_t i = 0; i < u->query->by.count; i++)
        key.text[i] = intern (
            u, key_text (u, u->query->by.id[i], u->query->by.label, p, h, buf));
    HASH_FIND (hh, u->cells, &key, sizeof (key), cell);
    if (!cell) {
        cell = xcalloc (1, sizeof (*cell));
        cell->key = key;
        cell->cell.cut = p->cut;
        cell->cell.suspended_known = true;
        HASH_ADD (hh, u->cells, key, sizeof (cell->key), cell);
    }
    return cell;
}

/* Segments come in the order of their keys, so that a job or segment that is
 * new to a cell differs from the last one there. */
static void count_job (struct cell *c, const struct piece *p, bool unknown)
{
    const segment_t *s = p->segment;
    bool first = c->cell.segments == 0;
    bool new_job
        = first || c->last_cluster != p->cluster || c->last_job != s->id_job;

    if (new_job || c->last_submit != s->time_submit)
        c->cell.segments++;
    if (new_job) {
        c->cell.jobs++;
        c->last_job_unknown = false;
    }
    if (unknown && !c->last_job_unknown) {
        c->cell.unknown_jobs++;
        c->last_job_unknown = true;
    }
    c->last_cluster = p->cluster;
    c->last_job = s->id_job;
    c->last_submit = s->time_submit;
}

static usage_part_t *part_get (usage_cell_t *cell, const device_kind_t *kind)
{
    for (size_t i = 0; i < cell->part_count; i++) {
        if (cell->part[i].kind == kind)
            return &cell->part[i];
    }
    cell->part = xreallocarray (cell->part, cell->part_count + 1,
                                sizeof (*cell->part));
    cell->part[cell->part_count] = (usage_part_t){.kind = kind};
    measured_init (&cell->part[cell->part_count].measured);
    return &cell->part[cell->part_count++];
}

/* Seconds of the piece in which the segment was suspended; false if that
 * cannot be told: a total is known, and the piece is not all of it. */
static bool suspended_seconds (const struct piece *p, int64_t *ret_seconds)
{
    int64_t sum = 0;

    for (size_t i = 0; i < p->suspension_count; i++) {
        period_t s = {p->suspensions[i].start, p->suspensions[i].end};
        if (s.end == 0)
            s.end = segment_end (p->segment);
        sum += period_seconds (period_clip (s, p->period));
    }
    *ret_seconds = sum;
    if (p->suspension_count > 0 || p->segment->suspended == 0)
        return true;
    if (p->segment->suspended == SECONDS_UNKNOWN || !p->whole)
        return false;
    *ret_seconds = p->segment->suspended;
    return true;
}

static void add_holding (usage_t *u, const struct piece *p, const holding_t *h)
{
    struct cell *c = cell_get (u, p, h);
    int64_t suspended = 0;
    usage_part_t *part;

    count_job (c, p, false);
    part = part_get (&c->cell, h->kind);
    part->gres_seconds += h->devices * period_seconds (p->period);
    if (suspended_seconds (p, &suspended))
        part->suspended_gres_seconds += h->devices * suspended;
    else
        c->cell.suspended_known = false;
}

static void add_piece (usage_t *u, const struct piece *p)
{
    size_t count;
    const holding_t *h = kinds_of_segment (u->kinds, p->segment,
                                           p->period.start, u->by_node, &count);

    if (count == 0 && p->segment->gpu_asked && passes (u, p, NULL))
        count_job (cell_get (u, p, NULL), p, true);
    for (size_t i = 0; i < count; i++) {
        if (passes (u, p, &h[i]))
            add_holding (u, p, &h[i]);
    }
}

/* --- time -------------------------------------------------------------- */

/* The end of the piece that begins at `start`: nothing that a key or a price
 * depends on changes within it. */
static int64_t piece_end (const usage_t *u, int64_t start, int64_t end)
{
    for (size_t i = 0; i < u->change_count; i++) {
        if (u->changes[i] > start) {
            if (u->changes[i] < end)
                end = u->changes[i];
            break;
        }
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (unit_keys); i++) {
        period_t unit;
        if (!u->has_unit[i])
            continue;
        unit = zone_unit (u->query->site->zone, unit_keys[i].unit, start);
        if (unit.end < end)
            end = unit.end;
    }
    return end;
}

static size_t cut_index (const usage_query_t *q, int64_t instant)
{
    size_t i = 0;

    while (i < q->cut_count && q->cuts[i] <= instant)
        i++;
    return i;
}

void usage_add (usage_t *u, const segment_t *s, const suspension_t *suspensions,
                size_t count, const project_t *project)
{
    period_t whole = {s->time_start, segment_end (s)}, in;
    struct piece p = {.segment = s,
                      .suspensions = suspensions,
                      .suspension_count = count,
                      .project = project};

    if (s->time_start == 0 || ((!s->gres || !s->gres[0]) && !s->gpu_asked))
        return;
    in = period_clip (whole, u->query->period);
    p.cluster = intern (u, s->cluster);
    while (in.start < in.end) {
        p.period = (period_t){in.start, piece_end (u, in.start, in.end)};
        p.whole = p.period.start == whole.start && p.period.end == whole.end;
        p.cut = cut_index (u->query, in.start);
        add_piece (u, &p);
        in.start = p.period.end;
    }
}

/* --- what was measured ------------------------------------------------- */

/* A device of which its node has several kinds, and nobody tells which one. */
static const device_kind_t some_device
    = {.problem = "its node does not tell which of its devices it was"};

static bool needs_kind (key_id_t key)
{
    return key == KEY_POOL || key == KEY_GPU || key == KEY_GRES_TYPE
           || key == KEY_PROFILE;
}

static bool asks_for_kind (const usage_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (needs_kind (q->by.id[i]))
            return true;
    for (size_t i = 0; i < q->filter_count; i++)
        if (needs_kind (q->filters[i].key))
            return true;
    return false;
}

/* Where the stretches of one segment go: those of one device follow one
 * another, so that the last answer mostly serves the next one. */
struct placing {
    struct piece piece;
    period_t whole; /* the segment, as far as it lies in the query's period */
    int64_t from_ms, to_ms; /* what counts as its time */
    const char *node;
    int64_t gres_index;
    measured_t *measured; /* of the cell; NULL: it does not pass */
};

static measured_t *place (usage_t *u, struct placing *at)
{
    const struct piece *p = &at->piece;
    const device_kind_t *kind = kinds_of_device (
        u->kinds, p->segment, p->period.start, at->node, at->gres_index);
    holding_t h = {.kind = kind ? kind : &some_device, .node = at->node};

    if (!kind && asks_for_kind (u->query))
        return &u->unplaced;
    if (!passes (u, p, &h))
        return NULL;
    return &part_get (&cell_get (u, p, &h)->cell, h.kind)->measured;
}

static void move_to (usage_t *u, struct placing *at,
                     const device_usage_t *usage, int64_t instant)
{
    bool same_piece
        = at->piece.period.start <= instant && instant < at->piece.period.end;

    if (same_piece && at->node && at->gres_index == usage->gres_index
        && !strcmp (at->node, usage->node))
        return;
    at->node = usage->node;
    at->gres_index = usage->gres_index;
    if (!same_piece) {
        /* from its beginning, not from where this stretch begins in it */
        int64_t start = at->piece.period.end <= instant ? at->piece.period.end
                                                        : at->whole.start;
        int64_t end = piece_end (u, start, at->whole.end);
        while (end <= instant) {
            start = end;
            end = piece_end (u, start, at->whole.end);
        }
        at->piece.period = (period_t){start, end};
        at->piece.cut = cut_index (u->query, start);
    }
    at->measured = place (u, at);
}

/* A part of a stretch, cut where cells change. What lies a little outside of
 * the segment counts with its first or last moment. */
static void measure_part (usage_t *u, struct placing *at,
                          const usage_part_of_t *part)
{
    int64_t from = part->from_ms > at->from_ms ? part->from_ms : at->from_ms;
    int64_t to = part->to_ms < at->to_ms ? part->to_ms : at->to_ms;

    while (from < to) {
        int64_t instant = from / 1000, next = to;
        if (instant < at->whole.start)
            instant = at->whole.start;
        if (instant >= at->whole.end)
            instant = at->whole.end - 1;
        move_to (u, at, part->usage, instant);
        if (at->piece.period.end < at->whole.end
            && at->piece.period.end * 1000 < to)
            next = at->piece.period.end * 1000;
        if (at->measured)
            measured_add (at->measured, part->usage, from, next, at->whole);
        from = next;
    }
}

void usage_measure (usage_t *u, const segment_t *s, const project_t *project,
                    const segment_evidence_t *evidence)
{
    period_t whole = {s->time_start, segment_end (s)};
    struct placing at = {.piece = {.segment = s, .project = project},
                         .whole = period_clip (whole, u->query->period),
                         .from_ms = INT64_MIN,
                         .to_ms = INT64_MAX};

    if (!evidence || evidence->part_count == 0 || s->time_start == 0
        || at.whole.start >= at.whole.end)
        return;
    if (at.whole.start > whole.start)
        at.from_ms = at.whole.start * 1000;
    if (at.whole.end < whole.end)
        at.to_ms = at.whole.end * 1000;
    at.piece.period = (period_t){at.whole.start, at.whole.start};
    for (size_t i = 0; i < evidence->part_count; i++)
        measure_part (u, &at, evidence->part[i]);
}

const measured_t *usage_unplaced (const usage_t *u)
{
    return &u->unplaced;
}

void usage_cell_measured (const usage_cell_t *cell, measured_t *ret)
{
    measured_init (ret);
    for (size_t i = 0; i < cell->part_count; i++)
        measured_sum (ret, &cell->part[i].measured);
}

/* Adds weight x value, in seconds, for the parts of which `known` is not 0. */
static bool add_weighted (const usage_cell_t *cell, size_t value, size_t known,
                          uint64_t scale, mpq_t ret)
{
    bool any = false, all = true;
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret, 0, 1);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *p = &cell->part[i];
        const char *measured = (const char *)&p->measured;
        if (*(const uint64_t *)(measured + known) == 0)
            continue;
        any = true;
        all = all && p->kind->weight_known;
        if (!p->kind->weight_known)
            continue;
        exact_set_fraction (part, p->kind->weight);
        mpz_mul_ui (mpq_numref (part), mpq_numref (part),
                    *(const uint64_t *)(measured + value));
        mpz_mul_ui (mpq_denref (part), mpq_denref (part), scale);
        mpq_canonicalize (part);
        mpq_add (ret, ret, part);
    }
    mpq_clear (part);
    return any && all;
}

bool usage_cell_active_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, utilization_sum),
                         offsetof (measured_t, utilization_ms), 10000 * 1000,
                         ret_value);
}

bool usage_cell_known_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, utilization_ms),
                         offsetof (measured_t, utilization_ms), 1000,
                         ret_value);
}

bool usage_cell_idle_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, idle_ms),
                         offsetof (measured_t, idle_known_ms), 1000, ret_value);
}

/* --- life ------------------------------------------------------------- */

usage_t *usage_new (const usage_query_t *query)
{
    usage_t *u = xcalloc (1, sizeof (*u));

    u->query = query;
    measured_init (&u->unplaced);
    u->kinds = kinds_new (query->site);
    u->text_size = 64;
    u->text_count = 1;
    u->text_of = xcalloc (u->text_size, sizeof (*u->text_of));
    u->changes = site_changes (query->site, query->period, &u->change_count);
    u->changes
        = xreallocarray (u->changes, u->change_count + query->cut_count + 1,
                         sizeof (*u->changes));
    for (size_t i = 0; i < query->cut_count; i++)
        u->changes[u->change_count++] = query->cuts[i];
    u->change_count = instants_sort (u->changes, u->change_count);
    for (size_t i = 0; i < query->by.count + query->filter_count; i++) {
        key_id_t key = i < query->by.count
                           ? query->by.id[i]
                           : query->filters[i - query->by.count].key;
        if (key == KEY_NODE)
            u->by_node = true;
        for (size_t k = 0; k < GL_ARRAY_SIZE (unit_keys); k++) {
            if (unit_keys[k].key == key)
                u->has_unit[k] = true;
        }
    }
    return u;
}

void usage_free (usage_t *u)
{
    struct cell *cell, *next_cell;
    struct text_entry *text, *next_text;

    if (!u)
        return;
    HASH_ITER (hh, u->cells, cell, next_cell)
    {
        HASH_DEL (u->cells, cell);
        free (cell->cell.part);
        free (cell);
    }
    HASH_ITER (hh, u->texts, text, next_text)
    {
        HASH_DEL (u->texts, text);
        free (text->text);
        free (text);
    }
    kinds_free (u->kinds);
    free (u->text_of);
    free (u->changes);
    free (u->sorted);
    free (u);
}

/* --- results ----------------------------------------------------------- */

static int by_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int by_key (const void *a, const void *b)
{
    const usage_cell_t *x = a, *y = b;

    for (size_t i = 0; i < KEYS_MAX; i++) {
        int order = by_text (x->key[i], y->key[i]);
        if (order)
            return order;
    }
    return (x->cut > y->cut) - (x->cut < y->cut);
}

static int by_kind (const void *a, const void *b)
{
    const device_kind_t *x = ((const usage_part_t *)a)->kind;
    const device_kind_t *y = ((const usage_part_t *)b)->kind;
    int order = by_text (x->pool ? x->pool->name : NULL,
                         y->pool ? y->pool->name : NULL);

    if (order == 0)
        order = by_text (x->type, y->type);
    if (order == 0)
        order = by_text (x->seen, y->seen);
    if (order == 0)
        order = by_text (x->model, y->model);
    return order ? order : x->weight_known - y->weight_known;
}

const usage_cell_t *usage_cells (usage_t *u, size_t *ret_count)
{
    size_t count = 0;
    struct cell *cell, *next;

    free (u->sorted);
    u->sorted = xcalloc (HASH_COUNT (u->cells), sizeof (*u->sorted));
    HASH_ITER (hh, u->cells, cell, next)
    {
        for (size_t i = 0; i < u->query->by.count; i++)
            cell->cell.key[i] = u->text_of[cell->key.text[i]];
        if (cell->cell.part_count > 1)
            qsort (cell->cell.part, cell->cell.part_count,
                   sizeof (*cell->cell.part), by_kind);
        u->sorted[count++] = cell->cell;
    }
    qsort (u->sorted, count, sizeof (*u->sorted), by_key);
    *ret_count = count;
    return u->sorted;
}

uint64_t usage_cell_gres_seconds (const usage_cell_t *cell)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < cell->part_count; i++)
        sum += cell->part[i].gres_seconds;
    return sum;
}

uint64_t usage_cell_suspended (const usage_cell_t *cell)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < cell->part_count; i++)
        sum += cell->part[i].suspended_gres_seconds;
    return sum;
}

bool usage_cell_gpu_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    bool known = true;
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret_value, 0, 1);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *p = &cell->part[i];
        if (p->gres_seconds == 0)
            continue;
        if (!p->kind->weight_known) {
            known = false;
            continue;
        }
        exact_set_fraction (part, p->kind->weight);
        mpz_mul_ui (mpq_numref (part), mpq_numref (part), p->gres_seconds);
        mpq_canonicalize (part);
        mpq_add (ret_value, ret_value, part);
    }
    mpq_clear (part);
    return known;
}
