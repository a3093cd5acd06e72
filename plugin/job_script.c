/* job_script.c: a job's prolog and epilog on this node. Each is a process of
 * its own, as root, with an environment of job variables only: no PATH, no
 * standard input; every variable may be missing, and those with SPANK_ before
 * their name are the user's. */
#include <stdlib.h>
#include <string.h>

#include "record/spool.h"
#include "record/spool_state.h"

#include "args.h"
#include "contexts.h"
#include "node.h"
#include "once.h"
#include "options.h"

#define TEXT(variable, field) {variable, RECORD_FIELD_##field, false}
#define NUMBER(variable, field) {variable, RECORD_FIELD_##field, true}

/* Which release sets which variable: 22.05 unless noted. */
static const node_row_t both[] = {
    TEXT ("SLURM_CLUSTER_NAME", cluster),
    TEXT ("SLURM_JOB_ACCOUNT", account),
    TEXT ("SLURM_JOB_PARTITION", partition),
    TEXT ("SLURM_JOB_RESERVATION", reservation),
    NUMBER ("SLURM_JOB_START_TIME", start_time), /* 23.02 */
    NUMBER ("SLURM_JOB_END_TIME", end_time),     /* 23.02 */
    TEXT ("SLURM_JOB_SLUID", sluid),             /* 25.11 */
    NUMBER ("SLURM_JOB_RESTART_COUNT", restart_count),
    NUMBER ("SLURM_HET_JOB_ID", het_job_id),
    TEXT ("SLURM_JOB_GPUS", gpus),
    TEXT ("CUDA_VISIBLE_DEVICES", visible_devices),
    TEXT ("ROCR_VISIBLE_DEVICES", visible_devices),
    TEXT ("ZE_AFFINITY_MASK", visible_devices),
    TEXT ("GPU_DEVICE_ORDINAL", visible_devices),
};

static const node_row_t end_only[] = {
    NUMBER ("SLURM_JOB_EXIT_CODE", exit_code),
    NUMBER ("SLURM_JOB_DERIVED_EC", derived_ec),
};

#define COUNT(rows) (sizeof (rows) / sizeof ((rows)[0]))

/* 20.11 has no SLURM_JOB_GPUS here, and what it has in its place is numbers: of
 * the device files, which on a node of one type are the same. With MPS the
 * variable speaks of a share. */
static void fill_gpus (record_t *record)
{
    const char *visible = getenv ("CUDA_VISIBLE_DEVICES");

    if (!record_has (record, gpus) && visible && visible[0]
        && visible[strspn (visible, "0123456789,")] == '\0'
        && !getenv ("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"))
        record_set_text (record, RECORD_FIELD_gpus, visible);
}

static const char *process_environment (spank_t sp, const char *name)
{
    (void)sp;
    return getenv (name);
}

/* When slurmctld aborts a job that it does not know any more, the epilog runs
 * with the job's id alone, and the user's reads as 0: unknown, not root. */
static bool has_credential (const record_t *record)
{
    return record_has (record, account) || record_has (record, partition);
}

static void fill_identity (record_t *record, spank_t sp)
{
    uint32_t job;
    uid_t uid;
    gid_t gid;

    if (spank_get_item (sp, S_JOB_ID, &job) == ESPANK_SUCCESS)
        record_set_number (record, RECORD_FIELD_job_id, job);
    if (spank_get_item (sp, S_JOB_UID, &uid) == ESPANK_SUCCESS
        && (uid != 0 || has_credential (record)))
        record_set_number (record, RECORD_FIELD_uid, uid);
    if (!record_has (record, uid))
        return;
    record_set_text (record, RECORD_FIELD_user, getenv ("SLURM_JOB_USER"));
    if (spank_get_item (sp, S_JOB_GID, &gid) == ESPANK_SUCCESS)
        record_set_number (record, RECORD_FIELD_gid, gid);
}

static void fill_tag (record_t *record, spank_t sp, const args_t *args)
{
    option_value_t project, labels;
    int64_t rejected;

    options_read_job (sp, OPTION_PROJECT, &project);
    options_read_job (sp, OPTION_LABELS, &labels);
    if (project.text[0])
        record_set_text (record, RECORD_FIELD_project, project.text);
    else if (args->fallback == DEFAULT_ACCOUNT)
        project.source = RECORD_SOURCE_DEFAULT;
    record_set_number (record, RECORD_FIELD_project_source, project.source);
    if (labels.text[0]) {
        record_set_text (record, RECORD_FIELD_labels, labels.text);
        record_set_number (record, RECORD_FIELD_labels_source, labels.source);
    }
    rejected = (project.rejected ? RECORD_REJECTED_PROJECT : 0)
               | (labels.rejected ? RECORD_REJECTED_LABELS : 0)
               | (project.source_rejected || labels.source_rejected
                      ? RECORD_REJECTED_SOURCE
                      : 0);
    if (rejected)
        record_set_number (record, RECORD_FIELD_rejected, rejected);
}

/* Where slurmctld's credential came along, a prolog without any variable of
 * devices tells that the job has none here, of whatever type. */
static void fill_worth (record_t *record, record_kind_t kind)
{
    if (record_has (record, gpus))
        record_set_number (record, RECORD_FIELD_devices,
                           RECORD_DEVICES_LAST_TYPE);
    else if (kind == RECORD_JOB_START && has_credential (record)
             && !record_has (record, visible_devices) && !record->omitted)
        record_set_number (record, RECORD_FIELD_devices,
                           RECORD_DEVICES_COMPLETE);
}

static int make_record (record_t *record, record_kind_t kind, spank_t sp,
                        const args_t *args, gl_error_t *error)
{
    if (record_begin (record, kind, error) < 0)
        return -1;
    node_describe (record, sp);
    node_fill (record, sp, process_environment, both, COUNT (both));
    if (kind == RECORD_JOB_END)
        node_fill (record, sp, process_environment, end_only,
                   COUNT (end_only));
    fill_gpus (record);
    fill_worth (record, kind);
    fill_identity (record, sp);
    fill_tag (record, sp, args);
    return 0;
}

/* For the steps of the job, which Slurm does not tell. */
static void leave_project (const args_t *args, const record_t *record)
{
    if (record_has (record, job_id) && record_has (record, project))
        spool_state_set_project (args->spool, record->job_id, record->project,
                                 NULL);
}

/* Who we are, for the steps: slurmd tells it to these hooks. */
static void leave_names (const args_t *args, const record_t *record)
{
    if (record_has (record, cluster))
        spool_state_set_cluster (args->spool, record->cluster, NULL);
    if (getenv ("SLURMD_NODENAME"))
        spool_state_set_node (args->spool, record->node, NULL);
}

/* One line of log at most. What the steps of the job left to be remembered
 * goes in any case: at the end it is of no use, at a start it is of an attempt
 * whose epilog never ran. */
static void write_record (record_kind_t kind, spank_t sp, int ac, char **av)
{
    gl_error_t error;
    record_t record;
    args_t args;

    if (!once_claim ())
        return;
    args_parse (&args, ac, av, slurm_debug);
    if (make_record (&record, kind, sp, &args, &error) < 0
        || spool_append (args.spool, &record, &error) < 0)
        slurm_error ("gpuledger: %s of job %lld is not recorded: %s",
                     record_kind_name (kind), (long long)record.job_id,
                     error.text);
    else
        leave_names (&args, &record);
    if (record_has (&record, job_id))
        spool_state_forget_job (args.spool, record.job_id);
    if (kind == RECORD_JOB_START)
        leave_project (&args, &record);
}

void job_script_prolog (spank_t sp, int ac, char **av)
{
    write_record (RECORD_JOB_START, sp, ac, av);
}

void job_script_epilog (spank_t sp, int ac, char **av)
{
    write_record (RECORD_JOB_END, sp, ac, av);
}
