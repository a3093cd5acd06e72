/* step.c: in slurmstepd, as root, once for each step and node: which devices
 * the step's environment shows. And tell the step what they cost.
 *
 * With several GPU types on a node Slurm shows prolog and epilog the last type
 * only (20.11 all steps, too), while a batch or interactive step sees all devices of the job and a
 * step of srun its own, which is a lower bound. Where Slurm set no such
 * variable the user may have: this is evidence, never a quantity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/spool.h"
#include "record/spool_state.h"

#include "announce.h"
#include "args.h"
#include "contexts.h"
#include "node.h"
#include "once.h"
#include "options.h"

/* Step ids as slurm.h numbers them, the same since 20.11. */
#define STEP_BATCH 0xfffffffbu
#define STEP_EXTERN 0xfffffffcu
#define STEP_INTERACTIVE 0xfffffffau

/* The longest list that a record takes, and one byte that shows a longer. */
#define VALUE_SIZE (sizeof (((record_t *)0)->gpus) + 1)

static const node_row_t whole_job[] = {
    {"SLURM_JOB_GPUS", RECORD_FIELD_gpus, false},
    {"SLURM_GPUS_ON_NODE", RECORD_FIELD_gpus_on_node, true},
};

/* srun hands on the environment of the batch step, which is of another node:
 * only the step's own list counts. */
static const node_row_t one_step[] = {
    {"SLURM_STEP_GPUS", RECORD_FIELD_gpus, false},
    {"SLURM_GPUS_ON_NODE", RECORD_FIELD_gpus_on_node, true},
};

#define COUNT(rows) (sizeof (rows) / sizeof ((rows)[0]))

static const char *job_environment (spank_t sp, const char *name)
{
    static char value[VALUE_SIZE];
    spank_err_t rc = spank_getenv (sp, name, value, sizeof (value));

    if (rc == ESPANK_NOSPACE)
        memset (value, '.', sizeof (value) - 1); /* too long: left out */
    else if (rc != ESPANK_SUCCESS)
        return NULL;
    value[sizeof (value) - 1] = '\0';
    return value;
}

static bool shows_whole_job (uint32_t step)
{
    return step == STEP_BATCH || step == STEP_INTERACTIVE;
}

/* What a list of devices is worth. 20.11 shows a batch step the last type only,
 * like its prolog; it has no count next to the list either. */
static record_devices_t worth (const record_t *record, spank_t sp, bool whole)
{
    if (!record_has (record, gpus))
        return RECORD_DEVICES_UNKNOWN;
    if (!whole)
        return RECORD_DEVICES_LOWER_BOUND;
    if (!record_has (record, gpus_on_node)
        && !job_environment (sp, "SLURM_SHARDS_ON_NODE"))
        return RECORD_DEVICES_LAST_TYPE;
    return RECORD_DEVICES_COMPLETE;
}

static void fill_devices (record_t *record, spank_t sp, uint32_t step)
{
    bool whole = shows_whole_job (step);

    if (whole)
        node_fill (record, sp, job_environment, whole_job, COUNT (whole_job));
    else
        node_fill (record, sp, job_environment, one_step, COUNT (one_step));
    record_set_number (record, RECORD_FIELD_devices, worth (record, sp, whole));
}

/* There is something to say: devices, or that there are some unseen. */
static bool shows_devices (const record_t *record)
{
    return record_has (record, gpus) || record->omitted
           || (record_has (record, gpus_on_node) && record->gpus_on_node > 0);
}

/* The cluster's name, and where slurmd does not name the node to its steps
 * (before 22.05) that too: as the prolog saw them. */
static void fill_names (record_t *record, const char *spool)
{
    char cluster[sizeof (record->cluster)], node[sizeof (record->node)];

    if (spool_state_get_cluster (spool, cluster, sizeof (cluster)) == 0)
        record_set_text (record, RECORD_FIELD_cluster, cluster);
    if (!getenv ("SLURMD_NODENAME")
        && spool_state_get_node (spool, node, sizeof (node)) == 0)
        record_set_text (record, RECORD_FIELD_node, node);
}

static void fill_identity (record_t *record, spank_t sp, uint32_t job,
                           uint32_t step, const char *spool)
{
    uid_t uid;
    gid_t gid;

    record_set_number (record, RECORD_FIELD_job_id, job);
    record_set_number (record, RECORD_FIELD_step_id, step);
    if (spank_get_item (sp, S_JOB_UID, &uid) == ESPANK_SUCCESS)
        record_set_number (record, RECORD_FIELD_uid, uid);
    if (spank_get_item (sp, S_JOB_GID, &gid) == ESPANK_SUCCESS)
        record_set_number (record, RECORD_FIELD_gid, gid);
    fill_names (record, spool);
}

/* Write the record if its set of devices is new for the job on this node. The
 * marker is made first, so that of two steps at once one writes. */
static int write_if_new (const char *spool, const record_t *record,
                         gl_error_t *error)
{
    char set[sizeof (record->node) + sizeof (record->gpus) + 64];
    int rc;

    snprintf (set, sizeof (set), "%s/%lld/%lld/%s", record->node,
              (long long)record->devices, (long long)record->gpus_on_node,
              record->gpus);
    rc = spool_state_add_set (spool, record->job_id, set, error);
    if (rc <= 0)
        return rc;
    if (spool_append (spool, record, error) == 0)
        return 0;
    spool_state_remove_set (spool, record->job_id, set);
    return -1;
}

static void record_devices (spank_t sp, uint32_t job, uint32_t step,
                            const char *spool)
{
    gl_error_t error;
    record_t record;

    if (record_begin (&record, RECORD_STEP_DEVICES, &error) == 0) {
        fill_devices (&record, sp, step);
        if (!shows_devices (&record))
            return;
        node_describe (&record, sp);
        fill_identity (&record, sp, job, step, spool);
        if (write_if_new (spool, &record, &error) == 0)
            return;
    }
    slurm_error ("gpuledger: devices of job %u are not recorded: %s", job,
                 error.text);
}

static void announce (spank_t sp, uint32_t job, uint32_t step,
                      const char *spool)
{
    const node_row_t *rows = shows_whole_job (step) ? whole_job : one_step;

    announce_project (sp, spool, job);
    announce_price (sp, spool, job_environment (sp, rows[0].variable));
}

void step_init (spank_t sp, int ac, char **av)
{
    uint32_t job, step;
    args_t args;

    if (!once_claim ())
        return;
    options_register (sp);
    args_parse (&args, ac, av, slurm_debug);
    if (spank_get_item (sp, S_JOB_ID, &job) != ESPANK_SUCCESS
        || spank_get_item (sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS
        || step == STEP_EXTERN)
        return;
    record_devices (sp, job, step, args.spool);
    announce (sp, job, step, args.spool);
}
