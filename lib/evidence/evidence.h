/*
 * evidence.h: the join: what the nodes saw of a job id, against what accounting
 * says of it (docs/decisions/evidence-join.md).
 *
 * The records of a node are paired to attempts: [prolog, epilog) of the job on
 * that node. An attempt belongs to the allocation (a segment, or a resized
 * job's segments that follow one another) whose nodes hold the node and that it
 * overlaps; within that it serves every segment that it overlaps. Start time
 * and SLUID, where both sides carry them, decide; the restart count never does.
 * Each stretch of device usage goes the way of its attempt and is cut in time
 * where its segments are. What fits nothing is kept apart, with a reason.
 *
 * Pure, and the order of the input does not matter, the segments' included. All
 * pointers of the input must outlive the result. Not for two threads at once.
 */
#ifndef GL_EVIDENCE_EVIDENCE_H
#define GL_EVIDENCE_EVIDENCE_H

#include "site/segment.h"

#define EVIDENCE_KEY_SIZE 16

/* Between the controller's clock and a node's, and between a controller's
 * decision and what it makes a node do, milliseconds. slurmd itself refuses
 * credentials older than this. A node that is known to be further off has more.
 */
#define EVIDENCE_TOLERANCE_MS 120000

/* How long after devices were cut anew their node's inventory may say so, seconds.
 * The agent looks every few seconds; a job may be quicker. */
#define INVENTORY_LATE_SECONDS 3600

/* The numbers are those of the records (docs/formats/record.md). */
typedef enum {
    NODE_FACT_START = 1, /* the prolog */
    NODE_FACT_END = 2,   /* the epilog */
    NODE_FACT_STEP = 3,  /* a step's environment */
} node_fact_kind_t;

/* What a list of devices is worth; numbers as in the record. */
typedef enum {
    DEVICES_UNKNOWN = 0,
    DEVICES_COMPLETE = 1,    /* all of the job's on this node; none are named:
                                it has none */
    DEVICES_LOWER_BOUND = 2, /* at least these */
    DEVICES_LAST_TYPE = 3,   /* all, if the node has one GPU type */
} devices_worth_t;

/* One record of a node about a job. */
typedef struct {
    node_fact_kind_t kind;
    uint8_t key[EVIDENCE_KEY_SIZE];
    int64_t stamp_ns; /* the node's clock */
    uint64_t sluid;   /* of the attempt; 0: not known */
    devices_worth_t worth;
    evidence_t seen; /* node, uid, time_start, gpus; of a start also the tag */
} node_fact_t;

/* How far a node's clock is from the collector's. */
typedef struct {
    const char *node;
    int64_t skew_ms;  /* either sign */
    int64_t bound_ms; /* how far from the truth that may be */
} node_skew_t;

typedef struct {
    const segment_t *segments; /* all of one (cluster, id_job) */
    size_t segment_count;
    const node_fact_t *facts;
    size_t fact_count;
    const device_usage_t *usage;
    size_t usage_count;
    const retag_t *retags;
    size_t retag_count;
    const node_skew_t *skews; /* those that are known */
    size_t skew_count;
} evidence_input_t;

/* Why something belongs to no segment. */
typedef enum {
    EVIDENCE_MATCHED,
    EVIDENCE_NO_SEGMENT, /* accounting has none of this id that started */
    EVIDENCE_OTHER_NODE, /* none of them was on this node */
    EVIDENCE_OTHER_USER, /* those that did are another user's */
    EVIDENCE_OTHER_TIME, /* those ran at another time */
    EVIDENCE_FORGOTTEN,  /* of a start that slurmctld forgot: after the
                            submission of a segment and before its start,
                            or before the next submission if that segment
                            never started */
    EVIDENCE_GIVEN_AGAIN, /* of a job that slurmctld forgot: another user's,
                             at most a day before the first submission of those
                             that have its JobId now */
    EVIDENCE_REASON_COUNT,
} evidence_reason_t;

/* "accounting knows no segment of that job id", for people. */
const char *evidence_reason_name (evidence_reason_t reason);

/* What is unusual about an attempt: bits. */
#define ATTEMPT_START_MISSING 0x01 /* no prolog was recorded */
#define ATTEMPT_END_MISSING                         \
    0x02 /* no epilog, and another attempt began or \
            the segment is over */
#define ATTEMPT_START_REPEATED 0x04
#define ATTEMPT_END_REPEATED 0x08
#define ATTEMPT_END_LATE 0x10  /* long after the segment's end */
#define ATTEMPT_END_EARLY 0x20 /* long before it */
#define ATTEMPT_PROBLEMS 6
/* The bit's words: "no epilog was recorded". */
const char *attempt_problem_name (unsigned bit);

#define EVIDENCE_ALWAYS_START INT64_MIN
#define EVIDENCE_ALWAYS_END INT64_MAX

/* One attempt of the job on one node. */
typedef struct {
    const char *node;
    const node_fact_t *start; /* the first prolog; NULL: missing */
    const node_fact_t *end;   /* the first epilog; NULL: missing */
    size_t start_count;
    size_t end_count;
    int64_t
        begin_ms; /* [begin, end), the node's clock; EVIDENCE_ALWAYS_* where */
    int64_t end_ms; /* unknown */
    unsigned problems;
    evidence_reason_t reason;
    const node_fact_t **fact; /* its records, by stamp */
    size_t fact_count;
} attempt_t;

/* Why an allocated device was idle, for reports of waste; the first that applies. */
typedef enum {
    IDLE_SPARE, /* never busy, while another device of the segment was */
    IDLE_AFTER, /* after the device's last work, until the segment ended */
    IDLE_NO_PROCESS, /* no process was on it */
    IDLE_OTHER,      /* a process was on it, or nobody counted processes */
    IDLE_CAUSES,
} idle_cause_t;

/* A stretch of usage, or a part of one: measure it with usage_share(). */
typedef struct {
    const device_usage_t *usage;
    int64_t from_ms; /* [from, to) of the node's clock, within the stretch */
    int64_t to_ms;
    evidence_reason_t reason;
    idle_cause_t idle; /* of its idle time; IDLE_OTHER: the stretch says it */
} usage_part_of_t;

/* The devices that a node's records show for a segment; with a count of 0 they
 * show that it had none. */
typedef struct {
    const char *node;
    char **device; /* SLURM_JOB_GPUS' entries, each once, in Slurm's order */
    size_t count;
    devices_worth_t worth; /* that of the best record */
} node_devices_t;

/* What a segment has. Arrays are ordered by node, then time. */
typedef struct {
    const segment_t *segment;
    const evidence_t *record; /* that tags it; NULL: none */
    bool recorded; /* some node has an attempt of it; else `record` is that
                      of an earlier segment of the job */
    const retag_t *retag;   /* the one in force; NULL: none */
    const retag_t **retags; /* all of it, by stamp */
    size_t retag_count;
    const attempt_t **attempt;
    size_t attempt_count;
    usage_part_of_t **part; /* by node, device, time */
    size_t part_count;
    node_devices_t *node;
    size_t node_count;
    uint64_t device_count; /* over all nodes */
} segment_evidence_t;

/* What came of one job id. */
typedef struct {
    segment_evidence_t *segment; /* as in the input */
    size_t segment_count;
    attempt_t *attempt; /* all, the unmatched included; by node, then time */
    size_t attempt_count;
    usage_part_of_t *part; /* all; by node, device, time */
    size_t part_count;
    struct evidence_private *private;
} evidence_join_t;

/* What many joins came to: by reason, EVIDENCE_MATCHED for what has a segment. */
typedef struct {
    uint64_t segments;
    uint64_t recorded; /* of these: with records of a node */
    uint64_t attempts[EVIDENCE_REASON_COUNT];
    uint64_t problems[ATTEMPT_PROBLEMS]; /* attempts that have it, by bit */
    uint64_t usage_ms[EVIDENCE_REASON_COUNT]; /* device time */
    uint64_t energy_mj[EVIDENCE_REASON_COUNT];
    bool skew_known; /* some node's clock was measured */
    int64_t skew_ms; /* the largest, without sign, of each node's newest */
} evidence_counts_t;

/* What an inventory says of a device (Slurm's index, or -1 and a UUID) of a node
 * while the segment held it: sets gres_type, profile and model where it knows
 * them. Asked only where accounting does not tell the type. */
typedef void (*device_lookup_f) (const segment_t *segment, const char *node,
                                 int64_t gres_index, const char *uuid,
                                 allocated_device_t *device, void *arg);

/*
 * The devices of the segment, if the records tell all of them (as many as
 * accounting counts) and of which type each is. Returns how many; 0: they do
 * not, or they say no more than accounting does. *ret_allocated is yours to
 * free; its texts are those of the evidence and of the lookup.
 */
size_t evidence_allocated (const segment_evidence_t *evidence,
                           device_lookup_f lookup, void *arg,
                           allocated_device_t **ret_allocated);

/* Devices of the segment that were busy for some time, of those of which it is known. */
uint64_t evidence_busy_devices (const segment_evidence_t *evidence,
                                uint64_t *ret_known);

/* The records of every node of the segment tell all devices that it had there,
 * which may be none. */
bool evidence_tells_all (const segment_evidence_t *evidence);

/* Yours to free with evidence_free(), which accepts NULL. */
evidence_join_t *evidence_join (const evidence_input_t *input);
void evidence_free (evidence_join_t *join);

/* "s" + 13 digits as Slurm prints a SLUID, or a number; 0 for anything else. */
uint64_t sluid_parse (const char *text);

/*
 * What a stretch measured in [from_ms, to_ms) of it: sums and counts by time,
 * maxima as they are. Shares are differences of rounded running sums, so that
 * the shares of parts that make up the whole add up to it exactly, however
 * often it is cut (as exact_share_in_order() does for money). The histogram is
 * written to `histogram`, or left out where that is NULL.
 */
#define USAGE_HISTOGRAM_STEPS 20
#define USAGE_HISTOGRAM_SIZE 421
void usage_share (const device_usage_t *usage, int64_t from_ms, int64_t to_ms,
                  device_usage_t *ret_share,
                  char histogram[USAGE_HISTOGRAM_SIZE]);

/* The same of one number that grew evenly over the stretch; not negative. */
int64_t usage_share_number (const device_usage_t *usage, int64_t value,
                            int64_t from_ms, int64_t to_ms);

#endif /* !GL_EVIDENCE_EVIDENCE_H */
