/*
 * segment.h: the facts that the ledger is computed from. Plain data; no
 * function here does anything but name, compare or classify.
 *
 * Strings are borrowed: they are valid during the call that hands the struct
 * over, no longer. NULL is "not known" everywhere, and so are the *_UNKNOWN
 * numbers: unknown is never 0. Instants are seconds since 1970 UTC.
 */
#ifndef GL_SITE_SEGMENT_H
#define GL_SITE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/zone.h"

#define COUNT_UNKNOWN UINT64_MAX
#define SECONDS_UNKNOWN INT64_MIN
#define TASK_NONE UINT32_MAX /* no array task, no het component */

/* Slurm's job states as the database stores them (slurm.h, enum job_states;
 * the flags are stored as the whole value). The order is Slurm's. */
typedef enum {
    SEGMENT_PENDING = 0,
    SEGMENT_RUNNING = 1,
    SEGMENT_SUSPENDED = 2,
    SEGMENT_COMPLETED = 3,
    SEGMENT_CANCELLED = 4,
    SEGMENT_FAILED = 5,
    SEGMENT_TIMEOUT = 6,
    SEGMENT_NODE_FAIL = 7,
    SEGMENT_PREEMPTED = 8,
    SEGMENT_BOOT_FAIL = 9,
    SEGMENT_DEADLINE = 10,
    SEGMENT_OUT_OF_MEMORY = 11,
    SEGMENT_REQUEUED = 1024,
    SEGMENT_RESIZING = 8192,
    SEGMENT_REVOKED = 524288,
} segment_state_t;

/* Those above, in their order: false behind the last. */
bool segment_state_at (size_t index, segment_state_t *ret_state);
/* sacct's word ("OUT_OF_MEMORY"); "UNKNOWN" for a number Slurm never stores. */
const char *segment_state_name (segment_state_t state);
/* A bit of its own for each state, 1 << 0 to 1 << 31; 0 for a number that Slurm
 * never stores. Not stored. */
uint32_t segment_state_bit (segment_state_t state);
/* What became of the time of a segment that is over, for reports of waste. Anything
 * that Slurm does not call an end of its own is LOSS_NONE. */
typedef enum {
    LOSS_NONE, /* it completed, or goes on */
    LOSS_FAILED,
    LOSS_TIMEOUT, /* DEADLINE, too */
    LOSS_OUT_OF_MEMORY,
    LOSS_NODE_FAIL, /* BOOT_FAIL, too */
    LOSS_REQUEUED,  /* PREEMPTED, too: a later segment began again */
    LOSS_CANCELLED_BY_USER, /* perhaps wanted: interactive sessions end so */
    LOSS_CANCELLED_BY_OTHER,
    LOSS_CANCELLED_BY_NOBODY,
    LOSS_CANCELLED, /* it is not known by whom */
    LOSS_COUNT,
} segment_loss_t;
/* From sacct's word, "CANCELLED by 1000" and "CANCELLED+" included. 0 or -1. */
int segment_state_parse (const char *text, size_t length,
                         segment_state_t *ret_state);

/* Who cancelled a segment, by kill_requid of slurmdbd: the user id of who ended it.
 * Stored: never renumber. */
typedef enum {
    CANCELLED_BY_UNKNOWN = 0, /* not cancelled, or not known */
    CANCELLED_BY_USER = 1,    /* the user of the job */
    CANCELLED_BY_OTHER = 2,   /* root, an operator, a coordinator; also Slurm where it
                                 acts as root or SlurmUser */
    CANCELLED_BY_NOBODY = 3,  /* accounting names nobody: Slurm itself, as after
                                 a cold start of slurmctld */
} cancelled_by_t;
/* `uid`: of the job, `who`: of who ended it; UINT32_MAX: not known. */
cancelled_by_t segment_cancelled_by (segment_state_t state, uint32_t uid,
                                     uint32_t who);
/* From sacct's "CANCELLED by 1000". Without "by" it is not known: files lose the
 * end of the text. */
cancelled_by_t segment_cancelled_text (const char *text, uint32_t uid);

/* Who told. A higher number knows more: where two sources disagree about the
 * same moment, the higher one is believed. */
typedef enum {
    SOURCE_SACCT_TEXT = 1,
    SOURCE_JSON = 2,
    SOURCE_SLURMDBD = 3,
} segment_source_t;

/* A device that the records of the nodes show a segment to have held. */
typedef struct {
    const char *node;
    int64_t gres_index;    /* Slurm's; -1: not known */
    const char *type;      /* as accounting has it; NULL: untyped */
    const char *gres_type; /* as the inventory has it, or NULL */
    const char *profile;   /* by the inventory; "": a whole GPU; NULL: unknown */
    const char *model;     /* by the inventory, or NULL */
} allocated_device_t;

/* What accounting told of a node's shared GPUs when a segment began there. */
typedef struct {
    const char *node;
    uint64_t shards; /* gres/shard of the node, not 0 */
    uint64_t gpus;   /* gres/gpu of the node, not 0 */
} node_shards_t;

/*
 * One row of slurmdbd's job table: one uninterrupted allocation with fixed
 * TRES. Its key is (cluster, id_job, time_submit), which Slurm keeps unique
 * and every source has.
 */
typedef struct {
    /* the key */
    const char *cluster;
    uint64_t id_job; /* Slurm's raw JobId, of the array task or component */
    int64_t time_submit;

    /* the interval: [time_start, time_end) */
    int64_t time_start; /* 0: never started */
    int64_t time_end;   /* 0: open when the source looked */
    int64_t observed_at; /* as-of: the moment the source speaks of; an open
                          segment ends there */
    int64_t suspended;  /* total seconds, or SECONDS_UNKNOWN */
    int64_t time_limit; /* seconds, or SECONDS_UNKNOWN */
    segment_state_t state;
    segment_source_t source;

    /* who and where */
    const char *user;
    uint32_t uid; /* UINT32_MAX: not known */
    const char *account;
    const char *partition;
    const char *qos;
    const char *wckey;
    const char *reservation;
    const char *nodelist; /* Slurm's bracketed form */
    const char *job_name;
    const char *admin_comment;

    /*
     * What. Only the GPU part of the TRES, without "gres/", sorted bytewise,
     * job totals: "gpu=4,gpu:a100=4", "shard=2". "" is "accounting names no
     * GPU". `gpu` is the total and `gpu:TYPE` its breakdown.
     */
    const char *gres;
    const char *gres_requested; /* the same form; NULL: not known */
    /* Accounting lost the GRES: `gres` is what an earlier view named, and at this
     * moment the last view that names none was seen. 0: nothing is lost. */
    int64_t gres_lost;
    /* The job asked for GPUs by any sign (request, submit line, gres detail),
     * so that an empty `gres` means unknown, not none. */
    bool gpu_asked;
    uint64_t cpus;      /* or COUNT_UNKNOWN */
    uint64_t memory_mb; /* or COUNT_UNKNOWN */
    uint64_t nodes;     /* or COUNT_UNKNOWN */

    /* other identities */
    uint64_t array_job;    /* 0: no array */
    uint32_t array_task;   /* or TASK_NONE */
    uint64_t het_job;      /* 0: no het job */
    uint32_t het_offset;   /* or TASK_NONE */
    uint64_t job_db_inx;   /* unsigned, all 64 bits count; 0: not known */
    uint64_t sluid;        /* of the attempt, where it is told (Slurm 26.05) and is
                              not job_db_inx; else 0: see segment_sluid() */
    int32_t restart_count; /* -1: not known */
    cancelled_by_t cancelled_by;

    /* Which devices, where the join of the nodes' records tells all of them; else
     * NULL. No source and no store has it. */
    const allocated_device_t *allocated;
    size_t allocated_count;

    /* Accounting neither names a GPU nor a sign of a request, and the nodes' records
     * show some: `gpu_asked` is set, so that they are unknown and not none. No
     * source and no store has it. */
    bool gpu_shown;

    /* How many shards a GPU of its nodes had, of the nodes of which that is
     * told. No source and no store has it. */
    const node_shards_t *shards;
    size_t shards_count;

    /* Where an open segment is believed to have ended, before observed_at (see
     * evidence/runaway.h); 0: no doubt. No source and no store has it. */
    int64_t believed_end;
} segment_t;

/* What became of its time. */
segment_loss_t segment_loss (const segment_t *segment);

/* The end for counting: time_end; where the segment is open, observed_at, or
 * believed_end if that is earlier; 0 if it never started. Never before
 * time_start. */
int64_t segment_end (const segment_t *segment);

/* What the nodes know the attempt by: its SLUID, which up to Slurm 25.11 only the
 * row key tells (of a resized job that of its first segment). 0: not known. */
uint64_t segment_sluid (const segment_t *segment);

/* An interval in which a segment was suspended. end 0: open. */
typedef struct {
    const char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t start;
    int64_t end;
} suspension_t;

/* A row of slurmdbd's event table. node NULL: the cluster registered itself,
 * `gres` being its GPUs and `nodelist` its nodes in that time. */
typedef struct {
    const char *cluster;
    const char *node;
    int64_t start;
    int64_t end;          /* 0: open */
    uint32_t state;       /* node state with flags, as stored */
    const char *gres;     /* as in segment_t */
    const char *nodelist; /* registrations only */
    const char *reason;
} node_event_t;

/* Flags of slurmdbd's event.state and resv.flags that we read (slurm.h). */
#define NODE_STATE_BASE 0x000f
#define NODE_STATE_DOWN 1
#define NODE_STATE_FUTURE 6
#define NODE_STATE_CLOUD 0x0080
#define NODE_STATE_DRAIN 0x0200
#define NODE_STATE_POWERED_DOWN 0x1000
#define NODE_STATE_FAIL 0x2000
#define NODE_STATE_MAINT 0x8000
#define RESERVATION_MAINT 0x1
#define RESERVATION_IGNORE_JOBS 0x40

/* A row of slurmdbd's reservation table. */
typedef struct {
    const char *cluster;
    uint64_t id;
    int64_t start;
    int64_t end;
    uint64_t flags;
    const char *name;
    const char *nodelist;
    const char *accounts; /* comma-separated, sorted; NULL: not known */
} reservation_t;

/* Where a project tag came from. The order is the record's (docs/formats). */
typedef enum {
    TAG_NONE = 0,
    TAG_OPTION = 1,      /* --gpu-project, also as #SBATCH */
    TAG_ENVIRONMENT = 2, /* GPULEDGER_PROJECT */
    TAG_INHERITED = 3,   /* from the job that submitted this one */
    TAG_DEFAULT = 4,     /* plugin says: the account's default applies */
    TAG_UNKNOWN = 5,     /* a tag whose source did not arrive */
} tag_source_t;

/* What a node saw of a job: one job-start record, reduced to what joins and
 * names. Several per job (nodes, repetitions) are normal. */
typedef struct {
    const char *cluster;
    uint64_t id_job;
    uint32_t uid;
    const char *node;
    int64_t stamp;       /* the node's clock, seconds */
    int64_t time_start;  /* SLURM_JOB_START_TIME, or 0 */
    const char *project; /* NULL: untagged */
    tag_source_t source;
    const char *labels; /* "k=v,k=v" or NULL */
    const char *gpus;   /* SLURM_JOB_GPUS as seen; NULL: none shown */
} evidence_t;

/*
 * What the agent measured of one device for one job in one stretch of time
 * (docs/formats/record.md, job-usage): sums over time, in the units there. -1
 * (MEASURE_UNKNOWN) is "not known".
 */
#define MEASURE_UNKNOWN (-1)
typedef struct {
    const char *cluster;
    const char *node;
    uint64_t id_job;    /* 0: time in which no job held the device */
    const char *gpu;    /* UUID of the physical GPU */
    const char *slice;  /* UUID of the slice; NULL: a whole GPU */
    int64_t gres_index; /* Slurm's */
    int64_t begin_ms;   /* [begin_ms, end_ms), since 1970, the node's clock */
    int64_t end_ms;
    int64_t samples;
    int64_t samples_expected;
    int64_t energy_mj;
    int64_t energy_ms;
    int64_t energy_rule; /* record_energy_t */
    int64_t energy_refused_mj; /* what the node reported instead of an energy that is
                                * possible (energy_bound.h); 0: nothing. Not kept */
    int64_t counter_resets;
    int64_t utilization_sum; /* hundredths of a percent x ms */
    int64_t utilization_ms;
    int64_t utilization_max;
    const char *utilization_histogram; /* 20 numbers of ms, or NULL */
    int64_t memory_sum;                /* MiB x ms */
    int64_t memory_ms;
    int64_t memory_max;
    int64_t memory_total;
    int64_t power_sum; /* mW x ms */
    int64_t power_ms;
    int64_t power_max;
    int64_t clock_sum; /* MHz x ms */
    int64_t clock_ms;
    int64_t throttled_ms;
    int64_t throttle_ms;
    int64_t throttle_reasons;
    int64_t processes_ms;
    int64_t processes_max;
    int64_t no_process_ms;
    int64_t idle_ms;
    int64_t idle_longest_ms;
    int64_t idle_rule;
    int64_t holders;
} device_usage_t;

/* An audited change of a job's project. The last one by stamp stands. */
typedef struct {
    const char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t stamp;        /* when, the collector's clock */
    const char *who;      /* user name, as munge and the host say */
    const char *previous; /* the project before, or NULL: untagged */
    const char *project;
    const char *labels; /* "k=v,k=v", or NULL: unchanged */
} retag_t;

/* What a job has produced, as somebody reported it: so many units in all since the
 * segment began. Of the reports of one unit the last one by stamp counts; 0: none. */
typedef struct {
    const char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t stamp; /* when, the collector's clock */
    const char *who;
    const char *unit;
    int64_t quantity;
} job_units_t;

/* Energy of one meter in an interval. */
typedef struct {
    const char *meter;
    period_t period;
    uint64_t energy_mwh; /* milliwatt-hours */
} meter_reading_t;

#endif /* !GL_SITE_SEGMENT_H */
