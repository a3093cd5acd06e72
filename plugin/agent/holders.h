/*
 * holders.h: which job has which device of this node, and since when.
 *
 * The spool's records say this: job-start names devices, step-devices adds
 * devices that the prolog could not see, job-end closes the job
 * (docs/guides/agent.md has the rules of pairing). Records wait in a queue
 * until the accounted time reaches their stamp, so that a change applies when
 * it happened, not when it was read.
 *
 * Slurm's words for devices are resolved by a function of the caller's, to the
 * UUID of one device or not at all; what was not found is tried again by
 * holders_resolve() when the devices change. Times are milliseconds since 1970.
 * One thread.
 */
#ifndef GL_AGENT_HOLDERS_H
#define GL_AGENT_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "record/record.h"

#define HOLDERS_UUID_SIZE 96
/* Limit of open jobs on one node; if there are more, ends were lost, and the
 * oldest job is closed. */
#define HOLDERS_JOBS_MAX 4096
/* Jobs on one device at once: Slurm's shards of one GPU. */
#define HOLDERS_SHARE_MAX 256
#define HOLDERS_FOREVER INT64_MAX
/* If this long after its expected end no end has arrived, a job is closed by a
 * later job on its device. */
#define HOLDERS_GRACE_MS (600 * INT64_C (1000))

typedef struct holders holders_t;

/* `token` as Slurm wrote it: an index, "GPU-...", "MIG-...". 0, or -1 when it
 * is not known for certain. */
typedef int (*holders_find_f) (void *arg, const char *token,
                               char ret_uuid[HOLDERS_UUID_SIZE]);

typedef struct {
    char token[HOLDERS_UUID_SIZE];
    char uuid[HOLDERS_UUID_SIZE]; /* "": not known */
} holders_device_t;

typedef struct {
    int64_t id;
    int64_t from_ms;
    int64_t start_time;    /* seconds, as slurmctld says; 0: not said */
    int64_t end_time;      /* the expected one; 0: not said */
    int64_t restart_count; /* -1: not said */
    int64_t claimed;       /* devices that Slurm showed in its longest list */
    char boot_id[37];
    char sluid[33];
    char user[129];
    char account[129];
    char project[65];
    holders_device_t *device;
    size_t device_count;
} holders_job_t;

typedef struct {
    uint64_t repeated;    /* starts of an attempt that is open already */
    uint64_t unpaired;    /* ends without a start, or of another attempt */
    uint64_t end_unknown; /* jobs closed without their end */
    uint64_t unbelieved;  /* devices named by a step of a job without any */
    uint64_t other_node;  /* records of other nodes in this spool */
} holders_counts_t;

/* `node`: records of this node count, and records without a node. Copied. */
holders_t *holders_new (const char *node, holders_find_f find, void *arg);
void holders_free (holders_t *holders);
/* Devices here are never shared (no shards, no MPS): a later job on a device
 * closes the earlier one. */
void holders_set_exclusive (holders_t *holders, bool exclusive);

/* Adds a record of the spool. A stamp after `latest_ms` (the clock was set
 * back) counts as `latest_ms`. Other kinds are ignored. */
void holders_queue (holders_t *holders, const record_t *record,
                    int64_t latest_ms);
/* The node rebooted as `boot_id` at some time in (from, to]: queued records of
 * the boot `before` come first, then jobs of other boots are closed. */
void holders_reboot (holders_t *holders, const char *before,
                     const char *boot_id, int64_t from_ms, int64_t to_ms);
/* At the agent's start: closes jobs of all boots except these two. */
void holders_forget_boots (holders_t *holders, const char *boot_id,
                           const char *other);

/* The clock was set back to `now_ms`: later changes happen now, and ends with
 * later times do not affect the next starts. */
void holders_set_back (holders_t *holders, int64_t now_ms);

/* When the next change is due; HOLDERS_FOREVER: nothing is queued. */
int64_t holders_next (const holders_t *holders);
/* Applies all changes up to and at `at_ms`. Returns whether there were any. */
bool holders_apply (holders_t *holders, int64_t at_ms);
/* A queued change in (from, to) affects this device. */
bool holders_will_change (const holders_t *holders, const char *uuid,
                          int64_t from_ms, int64_t to_ms);
/* The devices have changed: looks up unnamed devices again. */
void holders_resolve (holders_t *holders);

/* The ids of the jobs on a device, ascending; at most `max`. */
size_t holders_on (const holders_t *holders, const char *uuid, int64_t *ret_ids,
                   size_t max);
const holders_job_t *holders_job (const holders_t *holders, int64_t id);
size_t holders_open (const holders_t *holders);
/* The open jobs, in no order; borrowed until the next change. */
const holders_job_t *holders_at (const holders_t *holders, size_t index);
/* The number of unnamed devices of jobs. */
size_t holders_unnamed (const holders_t *holders);
const holders_counts_t *holders_counts (const holders_t *holders);

/* As lines for the state file, and back: 1 the line was taken, 0 it is not
 * one of these, -1 it is damaged. */
void holders_print (const holders_t *holders, buffer_t *out);
int holders_parse (holders_t *holders, const char *line);

#endif /* !GL_AGENT_HOLDERS_H */
