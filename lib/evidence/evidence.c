#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/evidence_private.h"
#include "gres/nodelist.h"

/* A segment may rely on the tag of an earlier one of the same job id: slurmctld
 * keeps the tag over a requeue, and one start record may be lost. Ids recur
 * only after MaxJobId (67,108,863) jobs; no cluster runs that many in a year.
 */
#define EARLIER_RECORD_MAX_MS (366 * INT64_C (86400000))
#define GIVEN_AGAIN_MS INT64_C (86400000)

struct evidence_private {
    struct span *span; /* by start */
    size_t span_count;
    nodelist_t **nodes; /* of each span; NULL: not known */
    struct wait *wait;
    size_t wait_count;
    const struct span **view_span; /* of the node in hand */
    const struct wait **view_wait;
    const node_fact_t **fact;     /* by node, then stamp */
    const device_usage_t **usage; /* by node, device, begin */
    struct serving *serving;      /* attempt -> segment */
    size_t serving_count;
    size_t *owner; /* part -> segment, or SIZE_MAX */
    size_t part_size;
};

struct serving {
    size_t attempt;
    size_t segment;
};

/* The join in the making. */
struct joiner {
    const evidence_input_t *in;
    evidence_join_t *join;
    struct evidence_private *p;
};

/* --- names ------------------------------------------------------------- */

const char *evidence_reason_name (evidence_reason_t reason)
{
    static const char *const names[EVIDENCE_REASON_COUNT] = {
        [EVIDENCE_MATCHED] = "matched",
        [EVIDENCE_NO_SEGMENT] = "accounting knows no such job that started",
        [EVIDENCE_OTHER_NODE] = "the job was not on that node",
        [EVIDENCE_OTHER_USER] = "the job was another user's",
        [EVIDENCE_OTHER_TIME] = "the job ran at another time",
        [EVIDENCE_FORGOTTEN] = "slurmctld forgot that start and started the "
                               "job again",
        [EVIDENCE_GIVEN_AGAIN] = "slurmctld forgot that job and gave its JobId "
                                 "to another user's",
    };

    return names[reason];
}

const char *attempt_problem_name (unsigned bit)
{
    static const char *const names[ATTEMPT_PROBLEMS] = {
        "no prolog was recorded",       "no epilog was recorded",
        "the prolog ran several times", "the epilog ran several times",
        "the epilog ran late",          "the epilog ran early",
    };
    size_t i = 0;

    while (i + 1 < ATTEMPT_PROBLEMS && !(bit >> i & 1))
        i++;
    return names[i];
}

uint64_t sluid_parse (const char *text)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t value = 0;

    if (!text)
        return 0;
    if (number_u64_text (text, &value) == 0)
        return value;
    if (text[0] != 's' || strlen (text) != 14)
        return 0;
    for (const char *at = text + 1; *at; at++) {
        char c = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        const char *digit;
        c = c == 'O' ? '0' : c == 'I' || c == 'L' ? '1' : c;
        digit = strchr (digits, c);
        if (!digit)
            return 0;
        value = value << 5 | (uint64_t)(digit - digits);
    }
    return value;
}

/* --- what accounting says ---------------------------------------------- */

static int compare_i64 (int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_start (const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = compare_i64 (x->start_ms, y->start_ms);

    if (order == 0)
        order = compare_i64 (x->end_ms, y->end_ms);
    return order
               ? order
               : compare_i64 (x->segment->time_submit, y->segment->time_submit);
}

/* A resized job's next segment begins where this one ends. */
static bool goes_on (const struct span *span, const struct span *next)
{
    return span->segment->state == SEGMENT_RESIZING
           && next->start_ms >= span->end_ms
           && next->start_ms - span->end_ms <= 1000;
}

static void make_spans (struct joiner *j)
{
    struct evidence_private *p = j->p;

    p->span = xcalloc (j->in->segment_count + 1, sizeof (*p->span));
    p->nodes = xcalloc (j->in->segment_count + 1, sizeof (*p->nodes));
    p->view_span = xcalloc (j->in->segment_count + 1, sizeof (*p->view_span));
    p->view_wait = xcalloc (j->in->segment_count + 1, sizeof (*p->view_wait));
    for (size_t i = 0; i < j->in->segment_count; i++) {
        const segment_t *s = &j->in->segments[i];
        if (s->time_start > 0)
            p->span[p->span_count++]
                = (struct span){.segment = s,
                                .index = i,
                                .start_ms = s->time_start * 1000,
                                .end_ms = segment_end (s) * 1000};
    }
    if (p->span_count > 1)
        qsort (p->span, p->span_count, sizeof (*p->span), by_start);
    for (size_t i = 0; i < p->span_count; i++) {
        p->span[i].chain = i > 0 && goes_on (&p->span[i - 1], &p->span[i])
                               ? p->span[i - 1].chain
                               : i;
        p->nodes[i] = nodelist_open (p->span[i].segment->nodelist, NULL);
    }
}

/* When the job was submitted again after a segment that never started; 0: it
 * never started since. */
static int64_t submitted_again (const struct joiner *j, const segment_t *s)
{
    int64_t next = 0;
    bool started = false;

    for (size_t i = 0; i < j->in->segment_count; i++) {
        const segment_t *of = &j->in->segments[i];
        if (of->time_submit <= s->time_submit)
            continue;
        started |= of->time_start > 0;
        if (next == 0 || of->time_submit < next)
            next = of->time_submit;
    }
    return started ? next : 0;
}

static void make_waits (struct joiner *j)
{
    struct evidence_private *p = j->p;

    p->wait = xcalloc (j->in->segment_count + 1, sizeof (*p->wait));
    for (size_t i = 0; i < p->span_count; i++)
        p->wait[p->wait_count++] = (struct wait){
            p->span[i].segment->time_submit * 1000, p->span[i].start_ms, i};
    for (size_t i = 0; i < j->in->segment_count; i++) {
        const segment_t *s = &j->in->segments[i];
        if (s->time_start == 0)
            p->wait[p->wait_count++]
                = (struct wait){s->time_submit * 1000,
                                submitted_again (j, s) * 1000, WAIT_NO_SPAN};
    }
}

/* A list that is not known, or that does not parse, excludes nothing. */
static bool span_holds (const struct evidence_private *p, size_t i,
                        const char *node)
{
    return !p->nodes[i] || nodelist_count (p->nodes[i]) == 0
           || nodelist_contains (p->nodes[i], node);
}

static int64_t tolerance_of (const struct joiner *j, const char *node)
{
    int64_t tolerance = EVIDENCE_TOLERANCE_MS;

    for (size_t i = 0; i < j->in->skew_count; i++) {
        const node_skew_t *skew = &j->in->skews[i];
        int64_t off = llabs (skew->skew_ms) + skew->bound_ms;
        if (!strcmp (skew->node, node) && off > tolerance)
            tolerance = off;
    }
    return tolerance;
}

static struct node_view view_of (struct joiner *j, const char *node)
{
    struct evidence_private *p = j->p;
    struct node_view view = {.node = node,
                             .span = p->view_span,
                             .wait = p->view_wait,
                             .tolerance_ms = tolerance_of (j, node)};

    for (size_t i = 0; i < p->wait_count; i++) {
        size_t span = p->wait[i].span;
        if (span != WAIT_NO_SPAN && span_holds (p, span, node))
            p->view_span[view.count++] = &p->span[span];
        else
            p->view_wait[view.wait_count++] = &p->wait[i];
    }
    return view;
}

/* --- attempts -> segments ---------------------------------------------- */

/* A job starts once for each submit time, as a requeue has a new one. A start, or
 * an end, before the start in its row is of one that slurmctld lost with the last
 * seconds of its state. The JobId may belong to another user's job by now. */
static bool was_forgotten (const struct joiner *j, const struct quest *q)
{
    return q->recorded
           && GL_ANY (j->p->wait, j->p->wait_count, it,
                      wait_has (it, q->anchor_ms));
}

/* JobIds are given in order, once. slurmctld gives those again that it forgot with
 * the last seconds of its state, as the first ones after its start; that JobIds
 * come round takes longer than a day. */
static bool was_given_again (const struct joiner *j, const struct quest *q)
{
    int64_t first_ms = INT64_MAX;

    if (!q->recorded || q->uid == UINT32_MAX)
        return false;
    for (size_t i = 0; i < j->in->segment_count; i++) {
        const segment_t *s = &j->in->segments[i];
        if (s->uid == UINT32_MAX || s->uid == q->uid)
            return false;
        if (s->time_submit * 1000 < first_ms)
            first_ms = s->time_submit * 1000;
    }
    return q->anchor_ms < first_ms && first_ms - q->anchor_ms <= GIVEN_AGAIN_MS;
}

static evidence_reason_t reason_of (const struct joiner *j,
                                    const struct node_view *view,
                                    const struct quest *q)
{
    uint32_t uid = q->uid;

    if (j->in->segment_count > 0 && was_given_again (j, q))
        return EVIDENCE_GIVEN_AGAIN;
    if (j->p->span_count == 0)
        return EVIDENCE_NO_SEGMENT;
    if (was_forgotten (j, q))
        return EVIDENCE_FORGOTTEN;
    if (view->count == 0)
        return EVIDENCE_OTHER_NODE;
    for (size_t i = 0; i < view->count; i++) {
        uint32_t owner = view->span[i]->segment->uid;
        if (owner == UINT32_MAX || uid == UINT32_MAX || owner == uid)
            return EVIDENCE_OTHER_TIME;
    }
    return EVIDENCE_OTHER_USER;
}

static struct quest quest_of (const attempt_t *a)
{
    struct quest q = {.begin_ms = a->begin_ms,
                      .end_ms = a->end_ms,
                      .anchor_ms = fact_ms (a->fact[0]),
                      .uid = UINT32_MAX,
                      .recorded = true,
                      .begun = a->start != NULL,
                      .closed = a->end != NULL};

    for (size_t i = 0; i < a->fact_count; i++) {
        const node_fact_t *fact = a->fact[i];
        if (!q.sluid)
            q.sluid = fact->sluid;
        if (!q.time_start)
            q.time_start = fact->seen.time_start;
        if (q.uid == UINT32_MAX)
            q.uid = fact->seen.uid;
    }
    return q;
}

static int64_t overlap_ms (int64_t a, int64_t b, int64_t from, int64_t to)
{
    int64_t start = a > from ? a : from, end = b < to ? b : to;

    return end > start ? end - start : 0;
}

static void serve (struct joiner *j, size_t attempt, const struct span *span)
{
    struct evidence_private *p = j->p;

    *GL_APPEND (p->serving, p->serving_count)
        = (struct serving){attempt, span->index};
}

static void judge_end (attempt_t *a, const struct span *last,
                       int64_t tolerance_ms)
{
    bool over = last->segment->time_end != 0;

    if (!a->end && (over || a->end_ms != EVIDENCE_ALWAYS_END))
        a->problems |= ATTEMPT_END_MISSING;
    if (a->end && over && a->end_ms > last->end_ms + tolerance_ms)
        a->problems |= ATTEMPT_END_LATE;
    if (a->end && a->end_ms < last->end_ms - tolerance_ms)
        a->problems |= ATTEMPT_END_EARLY;
}

/* The segments of the allocation that it overlaps; at least the nearest. */
static void serve_chain (struct joiner *j, size_t index,
                         const struct node_view *view, size_t chain)
{
    attempt_t *a = &j->join->attempt[index];
    const struct span *nearest = NULL, *last = NULL;
    int64_t anchor = fact_ms (a->fact[0]);

    for (size_t i = 0; i < view->count; i++) {
        const struct span *span = view->span[i];
        if (span->chain != chain)
            continue;
        if (!nearest || span->start_ms <= anchor)
            nearest = span;
        if (overlap_ms (a->begin_ms, a->end_ms, span->start_ms, span->end_ms)
            == 0)
            continue;
        serve (j, index, span);
        last = span;
    }
    if (!last)
        serve (j, index, last = nearest);
    judge_end (a, last, view->tolerance_ms);
}

static void match_attempt (struct joiner *j, size_t index,
                           const struct node_view *view, size_t *ret_chain)
{
    attempt_t *a = &j->join->attempt[index];
    struct quest q = quest_of (a);

    *ret_chain = chain_of (view, &q);
    if (*ret_chain != CHAIN_NONE) {
        serve_chain (j, index, view, *ret_chain);
        return;
    }
    a->reason = reason_of (j, view, &q);
    if (!a->end)
        a->problems |= ATTEMPT_END_MISSING;
}

/* --- usage -> segments ------------------------------------------------- */

static void add_part (struct joiner *j, const device_usage_t *usage,
                      int64_t from, int64_t to, size_t segment,
                      evidence_reason_t reason)
{
    evidence_join_t *join = j->join;

    if (from >= to)
        return;
    if (join->part_count == j->p->part_size) {
        j->p->part_size = j->p->part_size * 2 + 16;
        join->part
            = xreallocarray (join->part, j->p->part_size, sizeof (*join->part));
        j->p->owner = xreallocarray (j->p->owner, j->p->part_size,
                                     sizeof (*j->p->owner));
    }
    j->p->owner[join->part_count] = segment;
    join->part[join->part_count++]
        = (usage_part_of_t){usage, from, to, reason, IDLE_OTHER};
}

/* Cut where the segments of the allocation are. Clocks differ and a job's end
 * takes time: what is within the tolerance belongs to its first or last
 * segment, what is further off to none. */
static void cut_usage (struct joiner *j, const device_usage_t *usage,
                       const struct node_view *view, size_t chain)
{
    int64_t from = usage->begin_ms;
    const struct span *span = NULL;
    int64_t until;

    for (size_t i = 0; i < view->count && from < usage->end_ms; i++) {
        if (view->span[i]->chain != chain)
            continue;
        until = view->span[i]->start_ms - (span ? 0 : view->tolerance_ms);
        if (until > usage->end_ms)
            until = usage->end_ms;
        if (until > from) {
            add_part (j, usage, from, until, span ? span->index : SIZE_MAX,
                      span ? EVIDENCE_MATCHED : EVIDENCE_OTHER_TIME);
            from = until;
        }
        span = view->span[i];
    }
    if (!span || from >= usage->end_ms)
        return;
    until = span->end_ms + view->tolerance_ms;
    if (until > usage->end_ms)
        until = usage->end_ms;
    add_part (j, usage, from, until, span->index, EVIDENCE_MATCHED);
    add_part (j, usage, until > from ? until : from, usage->end_ms, SIZE_MAX,
              EVIDENCE_OTHER_TIME);
}

/* Where the attempts of the node in hand went. */
struct roads {
    size_t first; /* attempt */
    const size_t *chain;
    size_t count;
};

static void match_usage (struct joiner *j, const device_usage_t *usage,
                         const struct node_view *view,
                         const struct roads *roads)
{
    const attempt_t *attempts = j->join->attempt + roads->first;
    struct quest q = {.begin_ms = usage->begin_ms,
                      .end_ms = usage->end_ms,
                      .anchor_ms = usage->begin_ms,
                      .uid = UINT32_MAX,
                      .begun = true,
                      .closed = true};
    size_t best = SIZE_MAX, chain;
    int64_t most = 0;

    for (size_t i = 0; i < roads->count; i++) {
        int64_t ms = overlap_ms (attempts[i].begin_ms, attempts[i].end_ms,
                                 usage->begin_ms, usage->end_ms);
        if (ms > most) {
            most = ms;
            best = i;
        }
    }
    chain = best == SIZE_MAX ? CHAIN_NONE : roads->chain[best];
    /* an attempt that began with a segment out of sight */
    if (best == SIZE_MAX || attempts[best].reason == EVIDENCE_OTHER_TIME)
        chain = chain_of (view, &q);
    if (chain == CHAIN_NONE)
        add_part (j, usage, usage->begin_ms, usage->end_ms, SIZE_MAX,
                  best == SIZE_MAX ? reason_of (j, view, &q)
                                   : attempts[best].reason);
    else
        cut_usage (j, usage, view, chain);
}

/* --- node by node ------------------------------------------------------ */

static int kind_rank (node_fact_kind_t kind)
{
    return kind == NODE_FACT_START ? 0 : kind == NODE_FACT_STEP ? 1 : 2;
}

static int by_node_and_stamp (const void *a, const void *b)
{
    const node_fact_t *x = *(const node_fact_t *const *)a;
    const node_fact_t *y = *(const node_fact_t *const *)b;
    int order = strcmp (x->seen.node, y->seen.node);

    if (order == 0)
        order = compare_i64 (x->stamp_ns, y->stamp_ns);
    if (order == 0)
        order = kind_rank (x->kind) - kind_rank (y->kind);
    return order ? order : memcmp (x->key, y->key, sizeof (x->key));
}

static int compare_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int by_node_and_device (const void *a, const void *b)
{
    const device_usage_t *x = *(const device_usage_t *const *)a;
    const device_usage_t *y = *(const device_usage_t *const *)b;
    int order = strcmp (x->node, y->node);

    if (order == 0)
        order = compare_text (x->gpu, y->gpu);
    if (order == 0)
        order = compare_text (x->slice, y->slice);
    if (order == 0)
        order = compare_i64 (x->begin_ms, y->begin_ms);
    if (order == 0)
        order = compare_i64 (x->end_ms, y->end_ms);
    return order ? order : compare_i64 (x->energy_mj, y->energy_mj);
}

static void sort_input (struct joiner *j)
{
    const evidence_input_t *in = j->in;
    struct evidence_private *p = j->p;

    p->fact = xcalloc (in->fact_count + 1, sizeof (*p->fact));
    p->usage = xcalloc (in->usage_count + 1, sizeof (*p->usage));
    for (size_t i = 0; i < in->fact_count; i++)
        p->fact[i] = &in->facts[i];
    for (size_t i = 0; i < in->usage_count; i++)
        p->usage[i] = &in->usage[i];
    qsort (p->fact, in->fact_count, sizeof (*p->fact), by_node_and_stamp);
    qsort (p->usage, in->usage_count, sizeof (*p->usage), by_node_and_device);
}

static void join_node (struct joiner *j, const char *node,
                       const node_fact_t **fact, size_t fact_count,
                       const device_usage_t **usage, size_t usage_count)
{
    struct node_view view = view_of (j, node);
    struct roads roads = {.first = j->join->attempt_count};
    GL_AUTOFREE size_t *chain = NULL;

    pair_records (&view, fact, fact_count, &j->join->attempt,
                  &j->join->attempt_count);
    roads.count = j->join->attempt_count - roads.first;
    roads.chain = chain = xcalloc (roads.count + 1, sizeof (*chain));
    for (size_t i = 0; i < roads.count; i++)
        match_attempt (j, roads.first + i, &view, &chain[i]);
    for (size_t i = 0; i < usage_count; i++)
        match_usage (j, usage[i], &view, &roads);
}

/* Records and usage are both ordered by node. */
static void join_nodes (struct joiner *j)
{
    const struct evidence_private *p = j->p;
    size_t fact = 0, usage = 0;

    while (fact < j->in->fact_count || usage < j->in->usage_count) {
        size_t fact_end = fact, usage_end = usage;
        const char *node
            = fact < j->in->fact_count ? p->fact[fact]->seen.node : NULL;
        if (usage < j->in->usage_count
            && (!node || strcmp (p->usage[usage]->node, node) < 0))
            node = p->usage[usage]->node;
        while (fact_end < j->in->fact_count
               && !strcmp (p->fact[fact_end]->seen.node, node))
            fact_end++;
        while (usage_end < j->in->usage_count
               && !strcmp (p->usage[usage_end]->node, node))
            usage_end++;
        join_node (j, node, p->fact + fact, fact_end - fact, p->usage + usage,
                   usage_end - usage);
        fact = fact_end;
        usage = usage_end;
    }
}

/* --- what each segment has --------------------------------------------- */

static void hand_attempts (struct joiner *j)
{
    const struct evidence_private *p = j->p;

    for (size_t i = 0; i < p->serving_count; i++)
        j->join->segment[p->serving[i].segment].attempt_count++;
    for (size_t i = 0; i < j->join->segment_count; i++) {
        segment_evidence_t *e = &j->join->segment[i];
        e->attempt = xcalloc (e->attempt_count + 1, sizeof (*e->attempt));
        e->attempt_count = 0;
    }
    for (size_t i = 0; i < p->serving_count; i++) {
        segment_evidence_t *e = &j->join->segment[p->serving[i].segment];
        e->attempt[e->attempt_count++]
            = &j->join->attempt[p->serving[i].attempt];
        e->recorded = true;
    }
}

static void hand_parts (struct joiner *j)
{
    const size_t *owner = j->p->owner;

    for (size_t i = 0; i < j->join->part_count; i++)
        if (owner[i] != SIZE_MAX)
            j->join->segment[owner[i]].part_count++;
    for (size_t i = 0; i < j->join->segment_count; i++) {
        segment_evidence_t *e = &j->join->segment[i];
        e->part = xcalloc (e->part_count + 1, sizeof (*e->part));
        e->part_count = 0;
    }
    for (size_t i = 0; i < j->join->part_count; i++) {
        segment_evidence_t *e;
        if (owner[i] == SIZE_MAX)
            continue;
        e = &j->join->segment[owner[i]];
        e->part[e->part_count++] = &j->join->part[i];
    }
    for (size_t i = 0; i < j->join->segment_count; i++)
        evidence_mark_idle (&j->join->segment[i]);
}

/* Of two records of one attempt of the job, the one that carries a tag; then
 * the earlier one: without PrologFlags=Alloc a later prolog shows what a step
 * asked for. */
static bool tags_better (const node_fact_t *a, const node_fact_t *b)
{
    if ((a->seen.project != NULL) != (b->seen.project != NULL))
        return a->seen.project != NULL;
    if (a->stamp_ns != b->stamp_ns)
        return a->stamp_ns < b->stamp_ns;
    return memcmp (a->key, b->key, sizeof (a->key)) < 0;
}

static const node_fact_t *own_record (const segment_evidence_t *e)
{
    const node_fact_t *best = NULL;

    for (size_t i = 0; i < e->attempt_count; i++) {
        const attempt_t *a = e->attempt[i];
        for (size_t k = 0; k < a->fact_count; k++)
            if (a->fact[k]->kind == NODE_FACT_START
                && (!best || tags_better (a->fact[k], best)))
                best = a->fact[k];
    }
    return best;
}

static const node_fact_t *earlier_record (const struct joiner *j,
                                          const segment_t *s)
{
    int64_t start_ms = s->time_start * 1000;
    const node_fact_t *best = NULL;

    for (size_t i = 0; i < j->in->fact_count; i++) {
        const node_fact_t *fact = j->p->fact[i];
        int64_t at = fact_ms (fact);
        if (fact->kind != NODE_FACT_START || at > start_ms
            || at < start_ms - EARLIER_RECORD_MAX_MS
            || (s->uid != UINT32_MAX && fact->seen.uid != UINT32_MAX
                && s->uid != fact->seen.uid))
            continue;
        if (!best || fact->stamp_ns > best->stamp_ns
            || (fact->stamp_ns == best->stamp_ns && tags_better (fact, best)))
            best = fact;
    }
    return best;
}

static void hand_record (struct joiner *j, segment_evidence_t *e)
{
    const node_fact_t *fact = own_record (e);

    if (!fact && e->segment->time_start > 0)
        fact = earlier_record (j, e->segment);
    e->record = fact ? &fact->seen : NULL;
}

static int by_stamp (const void *a, const void *b)
{
    const retag_t *x = *(const retag_t *const *)a;
    const retag_t *y = *(const retag_t *const *)b;
    int order = compare_i64 (x->stamp, y->stamp);

    if (order == 0)
        order = compare_text (x->who, y->who);
    return order ? order : compare_text (x->project, y->project);
}

static void hand_retags (const struct joiner *j, segment_evidence_t *e)
{
    for (size_t i = 0; i < j->in->retag_count; i++) {
        const retag_t *retag = &j->in->retags[i];
        if (retag->time_submit != e->segment->time_submit)
            continue;
        *GL_APPEND (e->retags, e->retag_count) = retag;
    }
    if (e->retag_count == 0)
        return;
    qsort (e->retags, e->retag_count, sizeof (*e->retags), by_stamp);
    e->retag = e->retags[e->retag_count - 1];
}

/* --- devices ----------------------------------------------------------- */

/* From little to all, so that the better one wins. */
static int worth_rank (devices_worth_t worth)
{
    static const int ranks[] = {
        [DEVICES_UNKNOWN] = 0,
        [DEVICES_LAST_TYPE] = 1,
        [DEVICES_LOWER_BOUND] = 2,
        [DEVICES_COMPLETE] = 3,
    };

    return (size_t)worth < GL_ARRAY_SIZE (ranks) ? ranks[worth] : 0;
}

/* Indices by value, and they before UUIDs of equal length. */
static int compare_devices (const char *a, const char *b)
{
    size_t x = strlen (a), y = strlen (b);

    return x != y ? (x > y) - (x < y) : strcmp (a, b);
}

static void add_device (node_devices_t *node, const char *text, size_t length)
{
    char *device = xstrndup (text, length);
    size_t at = 0;

    while (at < node->count && compare_devices (node->device[at], device) < 0)
        at++;
    if (at < node->count && !strcmp (node->device[at], device)) {
        free (device);
        return;
    }
    node->device
        = xreallocarray (node->device, node->count + 1, sizeof (*node->device));
    memmove (node->device + at + 1, node->device + at,
             (node->count - at) * sizeof (*node->device));
    node->device[at] = device;
    node->count++;
}

/* A record that names devices is better than one that says there are none. */
static void add_devices (node_devices_t *node, const node_fact_t *fact)
{
    const char *text = fact->seen.gpus;
    bool first = node->count == 0;

    if (!text) {
        if (first)
            node->worth = fact->worth;
        return;
    }
    while (*text) {
        size_t length = strcspn (text, ",");
        if (length > 0)
            add_device (node, text, length);
        text += length + (text[length] == ',');
    }
    if (first || worth_rank (fact->worth) > worth_rank (node->worth))
        node->worth = fact->worth;
}

/* Attempts come node by node. */
static node_devices_t *devices_get (segment_evidence_t *e, const char *node)
{
    if (e->node_count == 0 || strcmp (e->node[e->node_count - 1].node, node)) {
        *GL_APPEND (e->node, e->node_count) = (node_devices_t){.node = node};
    }
    return &e->node[e->node_count - 1];
}

static void hand_devices (segment_evidence_t *e)
{
    for (size_t i = 0; i < e->attempt_count; i++) {
        const attempt_t *a = e->attempt[i];
        for (size_t k = 0; k < a->fact_count; k++)
            if (a->fact[k]->seen.gpus
                || a->fact[k]->worth == DEVICES_COMPLETE)
                add_devices (devices_get (e, a->node), a->fact[k]);
    }
    for (size_t i = 0; i < e->node_count; i++)
        e->device_count += e->node[i].count;
}

bool evidence_tells_all (const segment_evidence_t *e)
{
    nodelist_t *nodes = nodelist_open (e->segment->nodelist, NULL);
    bool all = nodes && nodelist_count (nodes) > 0
               && nodelist_count (nodes) == e->node_count;

    nodelist_close (nodes);
    for (size_t i = 0; i < e->node_count && all; i++)
        all = e->node[i].worth == DEVICES_COMPLETE;
    return all;
}

static void hand_out (struct joiner *j)
{
    evidence_join_t *join = j->join;

    join->segment_count = j->in->segment_count;
    join->segment = xcalloc (join->segment_count + 1, sizeof (*join->segment));
    for (size_t i = 0; i < join->segment_count; i++)
        join->segment[i].segment = &j->in->segments[i];
    hand_attempts (j);
    hand_parts (j);
    for (size_t i = 0; i < join->segment_count; i++) {
        hand_record (j, &join->segment[i]);
        hand_retags (j, &join->segment[i]);
        hand_devices (&join->segment[i]);
    }
}

/* --- the whole --------------------------------------------------------- */

evidence_join_t *evidence_join (const evidence_input_t *input)
{
    struct joiner j = {.in = input};

    j.join = xcalloc (1, sizeof (*j.join));
    j.join->private = j.p = xcalloc (1, sizeof (*j.p));
    make_spans (&j);
    make_waits (&j);
    sort_input (&j);
    join_nodes (&j);
    hand_out (&j);
    return j.join;
}

static void free_segment (segment_evidence_t *e)
{
    for (size_t i = 0; i < e->node_count; i++) {
        GL_FREE_EACH (e->node[i].device, e->node[i].count, it, free (*it));
    }
    free (e->node);
    free (e->attempt);
    free (e->part);
    free (e->retags);
}

void evidence_free (evidence_join_t *join)
{
    struct evidence_private *p;

    if (!join)
        return;
    p = join->private;
    for (size_t i = 0; i < join->segment_count; i++)
        free_segment (&join->segment[i]);
    for (size_t i = 0; i < join->attempt_count; i++)
        free (join->attempt[i].fact);
    for (size_t i = 0; i < p->span_count; i++)
        nodelist_close (p->nodes[i]);
    free (p->span);
    free (p->nodes);
    free (p->view_span);
    free (p->view_wait);
    free (p->wait);
    free (p->fact);
    free (p->usage);
    free (p->serving);
    free (p->owner);
    free (p);
    free (join->segment);
    free (join->attempt);
    free (join->part);
    free (join);
}
