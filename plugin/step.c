/* step.c: in slurmstepd, as root, once for each step and node: which devices
 * the step's environment shows. And tell the step what they cost.
 *
 * With several GPU types on a node Slurm shows prolog and epilog the last type
 * only (20.11 all steps, too), while a batch or interactive step sees all devices of the job and a
 * step of srun its own, which is a lower bound. Where Slurm set no such
 * variable the user may have: this is evidence, never a quantity. */
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "base/tag.h"
#include "args.h"
#include "contexts.h"
#include "node.h"
#include "once.h"
#include "options.h"
#include "record/prices.h"
#include "record/spool.h"
#include "record/spool_state.h"

/* --- the announcement --------------------------------------------------- */

/*
 * What a step finds in its environment: the job's project and
 * what its devices on this node cost an hour (docs/formats/prices.md). From
 * local files that the prolog and the agent keep; nothing here can fail a step.
 */

#define PRICE "GPULEDGER_PRICE_PER_HOUR"
#define CURRENCY "GPULEDGER_PRICE_CURRENCY"
#define QOS_MAX 256

/* "" where there is none, or none that fits. */
static void look_up (spank_t sp, const char *name, char *ret_value, int size)
{
    ret_value[0] = '\0';
    if (spank_getenv (sp, name, ret_value, size) != ESPANK_SUCCESS)
        ret_value[0] = '\0';
    ret_value[size - 1] = '\0';
}

/* --- the project --- */

/* The text of GPULEDGER_PROJECT, and whether a plugin put it there. */
struct present {
    char project[OPTION_TEXT_MAX + 1];
    char user[OPTION_TEXT_MAX + 1]; /* the user's own default, put aside */
    bool ours;
};

static struct present look_at_project (spank_t sp)
{
    struct present present;
    char mark[OPTION_TEXT_MAX + 1];

    look_up (sp, options_environment (OPTION_PROJECT), present.project,
             sizeof (present.project));
    look_up (sp, OPTION_PROJECT_MARK, mark, sizeof (mark));
    look_up (sp, OPTION_PROJECT_USER, present.user, sizeof (present.user));
    present.ours = mark[0] && strcmp (mark, present.project) == 0;
    return present;
}

static void set_project (spank_t sp, const char *project,
                         const struct present *present)
{
    if (!present->ours && present->project[0])
        spank_setenv (sp, OPTION_PROJECT_USER, present->project, 1);
    else if (!present->ours)
        spank_unsetenv (sp, OPTION_PROJECT_USER);
    spank_setenv (sp, options_environment (OPTION_PROJECT), project, 1);
    spank_setenv (sp, OPTION_PROJECT_MARK, project, 1);
}

/* An untagged job that was submitted in a tagged one: what that one was told
 * is not this job's. */
static void take_back (spank_t sp, const struct present *present)
{
    const char *variable = options_environment (OPTION_PROJECT);

    if (!present->ours)
        return;
    if (present->user[0])
        spank_setenv (sp, variable, present->user, 1);
    else
        spank_unsetenv (sp, variable);
    spank_unsetenv (sp, OPTION_PROJECT_MARK);
    spank_unsetenv (sp, OPTION_PROJECT_USER);
}

/* Set GPULEDGER_PROJECT, so that a submission in this step takes it for
 * inherited and the user's own default still is what it was (options.h). */
static void announce_project (spank_t sp, const char *spool, uint32_t job)
{
    struct present present = look_at_project (sp);
    char project[TAG_MAX + 2];

    if (spool_state_get_project (spool, job, project, sizeof (project)) == 0)
        set_project (sp, project, &present);
    else
        take_back (sp, &present);
}

/* --- the price --- */

/* Set GPULEDGER_PRICE_PER_HOUR of the devices `gpus`, Slurm's indices; take
 * away what an outer step was told where the price is not known. NULL: none. */
static void announce_price (spank_t sp, const char *spool, const char *gpus)
{
    char qos[QOS_MAX], text[PRICES_TEXT_SIZE];
    prices_answer_t answer;
    gl_error_t error;
    int known = 0;

    look_up (sp, "SLURM_JOB_QOS", qos, sizeof (qos));
    if (gpus)
        known = prices_of_devices (spool, gpus, qos, time (NULL), &answer,
                                   &error);
    if (known < 0)
        slurm_debug ("gpuledger: no price: %s", error.text);
    if (known <= 0) {
        spank_unsetenv (sp, PRICE);
        spank_unsetenv (sp, CURRENCY);
        return;
    }
    prices_text (answer.per_hour, text);
    spank_setenv (sp, PRICE, text, 1);
    spank_setenv (sp, CURRENCY, answer.currency, 1);
}

/* --- the hooks ---------------------------------------------------------- */

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
