/*
 * runaway.h: open segments that have long ended.
 *
 * slurmdbd keeps a row open for ever when the message of the job's end was
 * lost. An open segment is believed as long as nothing speaks against it; what
 * does:
 *
 *   epilog   every node of the segment recorded the job's end: the last of
 * these limit    the time limit, the time it was suspended within that, and a
 * grace (policy.runaway_grace: what OverTimeLimit, KillWait and clocks may add)
 * have passed; or the last moment at which an agent measured the job or a node
 * began a step of it, if that is later
 *
 * Without a limit and without epilogs there is no doubt. A resized job's limit
 * is counted from the start of each of its segments: too late rather than too
 * early. Suspended time that no source reports is taken for none, unless the
 * job is suspended now: then its limit tells nothing.
 *
 * Time beyond the end that is believed is quarantined: in no figure of usage,
 * counted in notes and listed by `report reconcile`. The believed end never
 * depends on when the row was looked at, so that what was counted stays
 * counted.
 *
 * Pure.
 */
#ifndef GL_EVIDENCE_RUNAWAY_H
#define GL_EVIDENCE_RUNAWAY_H

#include "base/zone.h"
#include "evidence/evidence.h"
#include "site/segment.h"

typedef enum {
    RUNAWAY_NONE, /* the segment is not open, or nothing speaks against it */
    RUNAWAY_LIMIT,
    RUNAWAY_EPILOG,
    RUNAWAY_REASON_COUNT,
} runaway_reason_t;

typedef struct {
    runaway_reason_t reason;
    int64_t end; /* that is believed, before observed_at; 0 without a reason */
} runaway_t;

/* `suspensions`: the segment's own. `evidence`: of the segment, or NULL.
 * `grace` in seconds. Where both reasons hold, the earlier end counts. */
runaway_t runaway_judge (const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const segment_evidence_t *evidence, int64_t grace);

/* The last of the ends that all nodes of the segment recorded, open or not; 0: some
 * node has recorded none. */
int64_t runaway_epilog (const segment_t *segment,
                        const segment_evidence_t *evidence);

/* What is left out of the segment in the period, for its believed_end. */
period_t runaway_quarantined (const segment_t *segment, period_t period);

#endif /* !GL_EVIDENCE_RUNAWAY_H */
