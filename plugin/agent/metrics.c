#include <config.h>

#include <fcntl.h>
#include <string.h>

#include "base/exposition.h"
#include "base/file.h"
#include "base/memory.h"

#include "metrics.h"

/* "config", "driver". */
static const char *problem_name (problem_t problem)
{
    static const char *const names[PROBLEMS] = {
        [PROBLEM_CONFIG] = "config", [PROBLEM_DRIVER] = "driver",
        [PROBLEM_GRES] = "gres",     [PROBLEM_SPOOL] = "spool",
        [PROBLEM_STATE] = "state",   [PROBLEM_METRICS] = "metrics",
        [PROBLEM_CLOCK] = "clock",   [PROBLEM_LOST] = "lost",
        [PROBLEM_SHIP] = "ship",
        [PROBLEM_COUNTERS] = "counters",
    };

    return names[problem];
}

/* The value of a metric without labels of its own. */
static void plain (exposition_t *e, const char *name, exposition_type_t type,
                   const char *help, uint64_t number)
{
    exposition_family (e, name, type, help);
    exposition_number (e, (int64_t)number, 1);
}

/*
 * The devices.
 */

static void device_labels (exposition_t *e, const track_t *track)
{
    exposition_label (e, "gpu", track->gpu_uuid);
    exposition_label (e, "slice", track->slice ? track->uuid : "");
}

/* Only devices that Slurm can allocate, not the rest of a partitioned GPU. */
static bool is_device (const track_t *track)
{
    return !track->cut_up;
}

static bool is_allocated (const track_t *track)
{
    return track->hold[0].job != 0;
}

static void print_info (const tracks_t *tracks, exposition_t *e)
{
    exposition_family (e, "slurm_gpuledger_device_info", EXPOSITION_GAUGE,
                       "A device that Slurm can allocate, always 1");
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        if (!is_device (track))
            continue;
        device_labels (e, track);
        exposition_label (e, "model", track->model);
        exposition_label (e, "profile", track->profile);
        if (track->gres_index == DEVICE_UNKNOWN)
            exposition_label (e, "index", "");
        else
            exposition_label_number (e, "index", track->gres_index);
        exposition_number (e, 1, 1);
    }
}

typedef enum {
    STATE_FREE,
    STATE_ACTIVE,
    STATE_IDLE,
    STATE_UNKNOWN,
    STATES
} use_t;

static use_t use_of (const tracks_t *tracks, const track_t *track)
{
    int64_t utilization = track->sample.utilization;

    if (!is_allocated (track))
        return STATE_FREE;
    if (utilization < 0)
        return STATE_UNKNOWN;
    return idle_below (&tracks->rule, utilization) ? STATE_IDLE : STATE_ACTIVE;
}

static void print_counts (const tracks_t *tracks, exposition_t *e)
{
    static const char *const names[STATES]
        = {"free", "active", "idle", "unknown"};
    int64_t count[STATES] = {0};

    for (size_t i = 0; i < tracks->count; i++) {
        if (is_device (&tracks->track[i]))
            count[use_of (tracks, &tracks->track[i])]++;
    }
    exposition_family (e, "slurm_gpuledger_devices", EXPOSITION_GAUGE,
                       "Devices of the node: free, or allocated and active, "
                       "idle (below the threshold) or of unknown utilization");
    for (int i = 0; i < STATES; i++) {
        exposition_label (e, "state", names[i]);
        exposition_number (e, count[i], 1);
    }
}

static void holder_labels (exposition_t *e, const track_t *track,
                           const holders_job_t *job)
{
    device_labels (e, track);
    exposition_label_number (e, "job_id", job->id);
    exposition_label (e, "user", job->user);
    exposition_label (e, "account", job->account);
    exposition_label (e, "project", job->project);
}

/* Call for each job on each device. */
static void each_hold (const metrics_t *metrics, exposition_t *e,
                       void (*print) (exposition_t *e, const track_t *track,
                                      const hold_t *hold,
                                      const holders_job_t *job))
{
    for (size_t i = 0; i < metrics->tracks->count; i++) {
        const track_t *track = &metrics->tracks->track[i];
        for (size_t j = 0; j < track->hold_count; j++) {
            const hold_t *hold = &track->hold[j];
            const holders_job_t *job
                = hold->job ? holders_job (metrics->holders, hold->job) : NULL;
            if (job)
                print (e, track, hold, job);
        }
    }
}

static void print_hold (exposition_t *e, const track_t *track,
                        const hold_t *hold, const holders_job_t *job)
{
    (void)hold;
    holder_labels (e, track, job);
    exposition_number (e, 1, 1);
}

static void print_rule (exposition_t *e, const track_t *track,
                        const hold_t *hold, const holders_job_t *job)
{
    static const struct {
        unsigned bit;
        const char *name;
    } rules[] = {{RECORD_IDLE_UTILIZATION, "utilization"},
                 {RECORD_IDLE_NO_PROCESS, "no_process"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rules); i++) {
        holder_labels (e, track, job);
        exposition_label (e, "rule", rules[i].name);
        exposition_number (e, (hold->idle & rules[i].bit) != 0, 1);
    }
}

static void print_holders (const metrics_t *metrics, exposition_t *e)
{
    exposition_family (e, "slurm_gpuledger_device_allocated", EXPOSITION_GAUGE,
                       "A job that is allocated the device, always 1");
    each_hold (metrics, e, print_hold);
    exposition_family (e, "slurm_gpuledger_device_idle_rule", EXPOSITION_GAUGE,
                       "1 while the job has left the device idle for longer "
                       "than the site's rule allows, else 0");
    each_hold (metrics, e, print_rule);
}

/* A value of the last sample, for all devices of which it is known. */
struct gauge {
    const char *name;
    exposition_type_t type;
    const char *help;
    size_t offset; /* in sample_t */
    int64_t factor, unit;
};

static const struct gauge gauges[] = {
    {"slurm_gpuledger_device_utilization_ratio", EXPOSITION_GAUGE,
     "Utilization at the last sample, 0 to 1", offsetof (sample_t, utilization),
     1, 10000},
    {"slurm_gpuledger_device_memory_used_bytes", EXPOSITION_GAUGE,
     "Memory in use", offsetof (sample_t, memory_used), 1048576, 1},
    {"slurm_gpuledger_device_processes", EXPOSITION_GAUGE,
     "Processes on the device", offsetof (sample_t, processes), 1, 1},
    {"slurm_gpuledger_gpu_power_watts", EXPOSITION_GAUGE,
     "Power that the physical GPU draws", offsetof (sample_t, power), 1, 1000},
    {"slurm_gpuledger_gpu_energy_joules_total", EXPOSITION_COUNTER,
     "Energy that the physical GPU has used since its driver was loaded",
     offsetof (sample_t, energy), 1, 1000},
    {"slurm_gpuledger_gpu_clock_hertz", EXPOSITION_GAUGE,
     "Clock of the processors of the physical GPU", offsetof (sample_t, clock),
     1000000, 1},
};

static void print_gauge (const tracks_t *tracks, const struct gauge *gauge,
                         exposition_t *e)
{
    exposition_family (e, gauge->name, gauge->type, gauge->help);
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        int64_t number;
        memcpy (&number, (const char *)&track->sample + gauge->offset,
                sizeof (number));
        if (number < 0 || number > INT64_MAX / gauge->factor)
            continue;
        device_labels (e, track);
        exposition_number (e, number * gauge->factor, gauge->unit);
    }
}

/* Why the clock of a physical GPU is lowered; several reasons may apply. An
 * idle GPU is not throttled (RECORD_THROTTLE_IDLE). */
static void print_throttle (const tracks_t *tracks, exposition_t *e)
{
    static const struct {
        const char *reason;
        int64_t bits;
    } reasons[] = {
        {"power", RECORD_THROTTLE_POWER},
        {"thermal", RECORD_THROTTLE_THERMAL},
        {"hardware", RECORD_THROTTLE_HARDWARE},
        {"settings", RECORD_THROTTLE_SETTINGS},
    };

    exposition_family (e, "slurm_gpuledger_gpu_throttled", EXPOSITION_GAUGE,
                       "1 while the clock of the physical GPU is lowered for "
                       "this reason, else 0");
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        for (size_t j = 0;
             track->sample.throttle >= 0 && j < GL_ARRAY_SIZE (reasons); j++) {
            device_labels (e, track);
            exposition_label (e, "reason", reasons[j].reason);
            exposition_number (
                e, (track->sample.throttle & reasons[j].bits) != 0, 1);
        }
    }
}

static void print_memory (const tracks_t *tracks, exposition_t *e)
{
    exposition_family (e, "slurm_gpuledger_device_memory_bytes",
                       EXPOSITION_GAUGE, "Memory of the device");
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        if (track->memory_total < 0
            || track->memory_total > INT64_MAX / 1048576)
            continue;
        device_labels (e, track);
        exposition_number (e, track->memory_total * 1048576, 1);
    }
}

/*
 * The agent.
 */

static void print_time (exposition_t *e, const char *name, const char *help,
                        int64_t ms)
{
    exposition_family (e, name, EXPOSITION_GAUGE, help);
    if (ms > 0)
        exposition_number (e, ms, 1000);
}

/* A counter by its label. */
static void print_count (exposition_t *e, const char *label, const char *value,
                         uint64_t count)
{
    exposition_label (e, label, value);
    exposition_number (e, (int64_t)count, 1);
}

static void print_problems (const metrics_t *metrics, exposition_t *e)
{
    exposition_family (e, "slurm_gpuledger_agent_problems_total",
                       EXPOSITION_COUNTER,
                       "Failures of the agent's work, by cause");
    for (int i = 0; i < PROBLEMS; i++)
        print_count (e, "cause", problem_name (i), metrics->problems[i]);
}

static void print_pairing (const holders_t *holders, exposition_t *e)
{
    const holders_counts_t *counts = holders_counts (holders);

    exposition_family (e, "slurm_gpuledger_agent_record_anomalies_total",
                       EXPOSITION_COUNTER,
                       "Job records of the spool that do not match, by kind");
    print_count (e, "kind", "start_repeated", counts->repeated);
    print_count (e, "kind", "end_without_start", counts->unpaired);
    print_count (e, "kind", "end_unknown", counts->end_unknown);
    print_count (e, "kind", "step_not_trusted", counts->unbelieved);
    print_count (e, "kind", "other_node", counts->other_node);
}

static void print_agent (const metrics_t *metrics, exposition_t *e)
{
    exposition_family (e, "slurm_gpuledger_agent_info", EXPOSITION_GAUGE,
                       "The running agent, always 1");
    exposition_label (e, "version", metrics->version);
    exposition_number (e, 1, 1);
    print_time (e, "slurm_gpuledger_agent_last_sample_timestamp_seconds",
                "When the devices were last sampled", metrics->last_look_ms);
    plain (e, "slurm_gpuledger_agent_samples_total", EXPOSITION_COUNTER,
           "Samples that were taken of the devices", metrics->looks);
    plain (e, "slurm_gpuledger_agent_records_total", EXPOSITION_COUNTER,
           "Records that were written to the spool", metrics->records);
    plain (e, "slurm_gpuledger_agent_records_waiting", EXPOSITION_GAUGE,
           "Records that could not be written yet", metrics->waiting);
    plain (e, "slurm_gpuledger_jobs", EXPOSITION_GAUGE, "Jobs on the node",
           holders_open (metrics->holders));
    plain (e, "slurm_gpuledger_devices_unidentified", EXPOSITION_GAUGE,
           "Allocated devices that Slurm's names do not identify",
           holders_unnamed (metrics->holders));
    print_problems (metrics, e);
    print_pairing (metrics->holders, e);
}

static void print_ship (const ship_health_t *ship, exposition_t *e)
{
    plain (e, "slurm_gpuledger_agent_records_shipped_total", EXPOSITION_COUNTER,
           "Records that a collector has acknowledged", ship->shipped_records);
    plain (e, "slurm_gpuledger_agent_records_refused_total", EXPOSITION_COUNTER,
           "Records that the collector has refused for good",
           ship->refused_records);
    plain (e, "slurm_gpuledger_agent_spool_pending_bytes", EXPOSITION_GAUGE,
           "Bytes of the spool that are not acknowledged yet",
           ship->pending_bytes);
    plain (e, "slurm_gpuledger_agent_spool_segments", EXPOSITION_GAUGE,
           "Segments of the spool, at most 64", ship->segments);
    print_time (e, "slurm_gpuledger_agent_last_ship_timestamp_seconds",
                "When a collector last acknowledged records",
                ship->last_success_ms);
    exposition_family (e, "slurm_gpuledger_agent_ship_errors_total",
                       EXPOSITION_COUNTER,
                       "Requests to a collector that failed, by cause");
    for (int i = 0; i < SHIP_CAUSES; i++)
        print_count (e, "cause", ship_cause_name (i), ship->errors[i]);
}

void metrics_print (const metrics_t *metrics, buffer_t *out)
{
    exposition_t e
        = {.out = out, .common_name = "node", .common_value = metrics->node};

    print_info (metrics->tracks, &e);
    print_counts (metrics->tracks, &e);
    print_holders (metrics, &e);
    print_memory (metrics->tracks, &e);
    for (size_t i = 0; i < GL_ARRAY_SIZE (gauges); i++)
        print_gauge (metrics->tracks, &gauges[i], &e);
    print_throttle (metrics->tracks, &e);
    print_agent (metrics, &e);
    if (metrics->ship)
        print_ship (metrics->ship, &e);
    exposition_end (&e);
}

/* The directory belongs to the exporter: an existing file with this name may be
 * a FIFO, or a link to an important file. Not synced, because it is soon
 * written again. */
int metrics_write (const char *path, const buffer_t *text, gl_error_t *error)
{
    const file_target_t file = {
        .at = AT_FDCWD,
        .name = path,
        .mode = 0644, /* others read it, whatever the umask */
        .sync = FILE_LOOSE,
    };

    return file_replace (&file, path, text->data, text->length, error);
}
