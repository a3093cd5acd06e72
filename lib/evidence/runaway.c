#include <string.h>

#include "base/memory.h"
#include "evidence/runaway.h"
#include "gres/nodelist.h"

/* --- the limit --------------------------------------------------------- */

/* The instant at which the job will have run for `seconds`. A suspension that
 * begins after that does not count; one that goes on ends at `now`. */
static int64_t instant_after (const segment_t *s, int64_t seconds,
                              const suspension_t *suspensions, size_t count)
{
    int64_t at = s->time_start + seconds, done = s->time_start;

    for (size_t i = 0; i < count; i++) { /* they come by start */
        int64_t from = suspensions[i].start;
        int64_t to = suspensions[i].end ? suspensions[i].end : s->observed_at;
        if (from < done)
            from = done;
        if (from >= at)
            break;
        if (to > from) {
            at += to - from;
            done = to;
        }
    }
    return at;
}

/* The last moment at which a node showed the job to be alive; 0: none did. */
static int64_t last_sign (const segment_evidence_t *evidence)
{
    int64_t last = 0;

    for (size_t i = 0; evidence && i < evidence->part_count; i++)
        if (evidence->part[i]->to_ms / 1000 > last)
            last = evidence->part[i]->to_ms / 1000;
    for (size_t i = 0; evidence && i < evidence->attempt_count; i++) {
        const attempt_t *a = evidence->attempt[i];
        for (size_t k = 0; k < a->fact_count; k++)
            if (a->fact[k]->kind != NODE_FACT_END
                && a->fact[k]->seen.stamp > last)
                last = a->fact[k]->seen.stamp;
    }
    return last;
}

static runaway_t judge_limit (const segment_t *s,
                              const suspension_t *suspensions, size_t count,
                              const segment_evidence_t *evidence, int64_t grace)
{
    runaway_t limit = {RUNAWAY_LIMIT, 0};
    int64_t seconds, sign = last_sign (evidence);

    if (s->time_limit == SECONDS_UNKNOWN
        || (s->state == SEGMENT_SUSPENDED && count == 0))
        return (runaway_t){RUNAWAY_NONE, 0};
    seconds = s->time_limit + grace;
    if (count == 0 && s->suspended > 0)
        seconds += s->suspended;
    limit.end = instant_after (s, seconds, suspensions, count);
    if (sign > limit.end)
        limit.end = sign;
    return limit;
}

/* --- the epilogs ------------------------------------------------------- */

/* The end that the node recorded last, in seconds, rounded up; 0: the job's
 * last attempt there has none. */
static int64_t node_end (const segment_evidence_t *evidence, const char *node)
{
    const attempt_t *last = NULL;

    for (size_t i = 0; i < evidence->attempt_count; i++) /* by node, time */
        if (!strcmp (evidence->attempt[i]->node, node))
            last = evidence->attempt[i];
    return last && last->end ? (last->end_ms + 999) / 1000 : 0;
}

static runaway_t judge_epilog (const segment_t *s,
                               const segment_evidence_t *evidence)
{
    runaway_t epilog = {RUNAWAY_EPILOG, 0};
    nodelist_t *nodes;
    const char *node;

    if (!evidence || evidence->attempt_count == 0 || !s->nodelist
        || !(nodes = nodelist_open (s->nodelist, NULL)))
        return (runaway_t){RUNAWAY_NONE, 0};
    while ((node = nodelist_next (nodes))) {
        int64_t end = node_end (evidence, node);
        if (end == 0) {
            epilog = (runaway_t){RUNAWAY_NONE, 0};
            break;
        }
        if (end > epilog.end)
            epilog.end = end;
    }
    nodelist_close (nodes);
    return epilog.end ? epilog : (runaway_t){RUNAWAY_NONE, 0};
}

int64_t runaway_epilog (const segment_t *s, const segment_evidence_t *evidence)
{
    return judge_epilog (s, evidence).end;
}

/* --- both -------------------------------------------------------------- */

runaway_t runaway_judge (const segment_t *s, const suspension_t *suspensions,
                         size_t count, const segment_evidence_t *evidence,
                         int64_t grace)
{
    runaway_t verdict = {RUNAWAY_NONE, 0};
    runaway_t found[2];

    if (s->time_end != 0 || s->time_start == 0)
        return verdict;
    found[0] = judge_epilog (s, evidence);
    found[1] = judge_limit (s, suspensions, count, evidence, grace);
    for (size_t i = 0; i < GL_ARRAY_SIZE (found); i++) {
        if (found[i].reason == RUNAWAY_NONE)
            continue;
        if (found[i].end < s->time_start)
            found[i].end = s->time_start;
        if (found[i].end < s->observed_at
            && (verdict.reason == RUNAWAY_NONE || found[i].end < verdict.end))
            verdict = found[i];
    }
    return verdict;
}

period_t runaway_quarantined (const segment_t *s, period_t period)
{
    if (s->time_end != 0 || s->time_start == 0 || s->believed_end == 0
        || s->believed_end >= s->observed_at)
        return (period_t){period.start, period.start};
    return period_clip ((period_t){segment_end (s), s->observed_at}, period);
}
