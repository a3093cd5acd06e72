/* evidence_private.h: what the files of the join share. */
#ifndef GL_EVIDENCE_EVIDENCE_PRIVATE_H
#define GL_EVIDENCE_EVIDENCE_PRIVATE_H

#include "evidence/evidence.h"

/* A started segment, and the allocation that it is part of: a resized job's
 * segments follow one another and share one. Times in milliseconds. */
struct span {
    const segment_t *segment;
    size_t index; /* in the input */
    int64_t start_ms;
    int64_t end_ms;
    size_t chain; /* number of the allocation */
};

/* From a segment's submission to its start. A segment that never started waits
 * until the next one of its JobId is submitted, if one of these started. */
struct wait {
    int64_t from_ms;
    int64_t to_ms;
    size_t span; /* that it led to; WAIT_NO_SPAN: none */
};

#define WAIT_NO_SPAN SIZE_MAX

/* The allocations as one node sees them: those spans that hold it. */
struct node_view {
    const char *node;
    const struct span **span; /* by start */
    size_t count;
    const struct wait **wait; /* those that led to none of these spans */
    size_t wait_count;
    int64_t tolerance_ms;
};

/* What an attempt of which only some is known looks for. */
struct quest {
    int64_t begin_ms;   /* or EVIDENCE_ALWAYS_START */
    int64_t end_ms;     /* or EVIDENCE_ALWAYS_END */
    int64_t anchor_ms;  /* a moment at which the job was surely there */
    int64_t time_start; /* of the attempt, as the controller says; 0: unknown */
    uint64_t sluid;     /* 0: unknown */
    uint32_t uid;       /* UINT32_MAX: unknown */
    bool begun;         /* begin_ms is a record, no mere bound */
    bool closed;        /* so is end_ms */
    bool recorded;      /* by prolog, epilog or step; false: measured only */
};

#define CHAIN_NONE SIZE_MAX

static inline bool wait_has (const struct wait *wait, int64_t at_ms)
{
    return at_ms >= wait->from_ms && at_ms < wait->to_ms;
}

static inline int64_t fact_ms (const node_fact_t *fact)
{
    return fact->stamp_ns / 1000000;
}

/* The allocation that the quest belongs to, or CHAIN_NONE. */
size_t chain_of (const struct node_view *view, const struct quest *quest);

/* Records of one node, in the order of their stamps -> attempts, appended to
 * *attempts (facts lists allocated). */
void pair_records (const struct node_view *view, const node_fact_t **fact,
                   size_t count, attempt_t **attempts, size_t *attempt_count);

/* Sets `idle` of its parts, which come by device, then time. */
void evidence_mark_idle (segment_evidence_t *evidence);

#endif /* !GL_EVIDENCE_EVIDENCE_PRIVATE_H */
