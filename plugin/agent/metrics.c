#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

#include "metrics.h"

const char *problem_name (problem_t problem)
{
    static const char *const names[PROBLEMS] = {
        [PROBLEM_CONFIG] = "config", [PROBLEM_DRIVER] = "driver",
        [PROBLEM_GRES] = "gres",     [PROBLEM_SPOOL] = "spool",
        [PROBLEM_STATE] = "state",   [PROBLEM_METRICS] = "metrics",
        [PROBLEM_CLOCK] = "clock",   [PROBLEM_LOST] = "lost",
        [PROBLEM_SHIP] = "ship",
    };

    return names[problem];
}

/*
 * The format.
 */

static void family (buffer_t *out, const char *name, const char *type,
                    const char *help)
{
    buffer_printf (out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Length of the UTF-8 sequence at `text`, 0 if there is none. */
static size_t sequence (const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_from, second_to, length;
    } rows[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        if (text[0] < rows[i].first || text[0] > rows[i].last)
            continue;
        if (text[1] < rows[i].second_from || text[1] > rows[i].second_to)
            return 0;
        for (size_t j = 2; j < rows[i].length; j++) {
            if ((text[j] & 0xc0) != 0x80)
                return 0;
        }
        return rows[i].length;
    }
    return 0;
}

/* A value between quotes: hostile text, valid UTF-8 afterwards. */
static void add_escaped (buffer_t *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        size_t length = *at < 0x80 ? 1 : sequence (at);
        if (*at == '\\' || *at == '"')
            buffer_printf (out, "\\%c", *at);
        else if (*at == '\n')
            buffer_add_text (out, "\\n");
        else if (length == 0 || *at < ' ' || *at == 0x7f)
            buffer_add_text (out, "\xef\xbf\xbd"); /* U+FFFD */
        else
            buffer_add (out, at, length);
        at += length ? length : 1;
    }
}

static void label (buffer_t *out, const char *name, const char *value)
{
    char last = out->length ? out->data[out->length - 1] : '\0';

    buffer_printf (out, "%s%s=\"", last == '"' ? "," : "{", name);
    add_escaped (out, value);
    buffer_add_char (out, '"');
}

static void label_number (buffer_t *out, const char *name, int64_t value)
{
    char text[24];

    snprintf (text, sizeof (text), "%" PRId64, value);
    label (out, name, text);
}

/* The end of a line; a `{` is open if there was a label. */
static void value (buffer_t *out, int64_t number, int64_t unit)
{
    char last = out->data[out->length - 1];
    int digits = 0;

    if (last == '"')
        buffer_add_char (out, '}');
    for (int64_t i = unit; i > 1; i /= 10)
        digits++;
    buffer_printf (out, " %" PRId64, number / unit);
    if (digits)
        buffer_printf (out, ".%0*" PRId64, digits, number % unit);
    buffer_add_char (out, '\n');
}

static void plain (buffer_t *out, const char *name, const char *type,
                   const char *help, uint64_t number)
{
    family (out, name, type, help);
    buffer_add_text (out, name);
    if (strcmp (type, "counter") == 0)
        buffer_add_text (out, "_total");
    buffer_printf (out, " %" PRIu64 "\n", number);
}

/*
 * The devices.
 */

static void device_labels (buffer_t *out, const track_t *track)
{
    label (out, "gpu", track->gpu_uuid);
    label (out, "slice", track->slice ? track->uuid : "");
}

/* What Slurm can allocate: not the rest of a GPU that is cut up. */
static bool is_device (const track_t *track)
{
    return !track->cut_up;
}

static bool is_held (const track_t *track)
{
    return track->hold[0].job != 0;
}

static void print_info (const tracks_t *tracks, buffer_t *out)
{
    family (out, "gpuledger_device", "info",
            "A device that Slurm can allocate");
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        if (!is_device (track))
            continue;
        buffer_add_text (out, "gpuledger_device_info");
        device_labels (out, track);
        label (out, "model", track->model);
        label (out, "profile", track->profile);
        if (track->gres_index == DEVICE_UNKNOWN)
            label (out, "index", "");
        else
            label_number (out, "index", track->gres_index);
        value (out, 1, 1);
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

    if (!is_held (track))
        return STATE_FREE;
    if (utilization < 0)
        return STATE_UNKNOWN;
    return idle_below (&tracks->rule, utilization) ? STATE_IDLE : STATE_ACTIVE;
}

static void print_counts (const tracks_t *tracks, buffer_t *out)
{
    static const char *const names[STATES]
        = {"free", "active", "idle", "unknown"};
    int64_t count[STATES] = {0};

    for (size_t i = 0; i < tracks->count; i++) {
        if (is_device (&tracks->track[i]))
            count[use_of (tracks, &tracks->track[i])]++;
    }
    family (out, "gpuledger_devices", "gauge",
            "Devices of the node: free, or allocated and active, idle (below "
            "the threshold) or of unknown utilization");
    for (int i = 0; i < STATES; i++) {
        buffer_add_text (out, "gpuledger_devices");
        label (out, "state", names[i]);
        value (out, count[i], 1);
    }
}

static void holder_labels (buffer_t *out, const track_t *track,
                           const holders_job_t *job)
{
    device_labels (out, track);
    label_number (out, "job", job->id);
    label (out, "user", job->user);
    label (out, "account", job->account);
    label (out, "project", job->project);
}

/* Call for each job on each device. */
static void each_hold (const metrics_t *metrics, buffer_t *out,
                       void (*print) (buffer_t *out, const track_t *track,
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
                print (out, track, hold, job);
        }
    }
}

static void print_hold (buffer_t *out, const track_t *track, const hold_t *hold,
                        const holders_job_t *job)
{
    (void)hold;
    buffer_add_text (out, "gpuledger_device_allocated");
    holder_labels (out, track, job);
    value (out, 1, 1);
}

static void print_rule (buffer_t *out, const track_t *track, const hold_t *hold,
                        const holders_job_t *job)
{
    static const struct {
        unsigned bit;
        const char *name;
    } rules[] = {{RECORD_IDLE_UTILIZATION, "utilization"},
                 {RECORD_IDLE_NO_PROCESS, "no_process"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rules); i++) {
        buffer_add_text (out, "gpuledger_device_idle_rule");
        holder_labels (out, track, job);
        label (out, "rule", rules[i].name);
        value (out, (hold->idle & rules[i].bit) != 0, 1);
    }
}

static void print_holders (const metrics_t *metrics, buffer_t *out)
{
    family (out, "gpuledger_device_allocated", "gauge", "A job on a device");
    each_hold (metrics, out, print_hold);
    family (out, "gpuledger_device_idle_rule", "gauge",
            "1: the job has let the device lie idle for longer than the site's "
            "rule allows");
    each_hold (metrics, out, print_rule);
}

/* One value of the last look, of all devices that know it. */
struct gauge {
    const char *name;
    const char *type;
    const char *suffix;
    const char *help;
    size_t offset; /* in sample_t */
    int64_t factor, unit;
};

static const struct gauge gauges[] = {
    {"gpuledger_device_utilization_ratio", "gauge", "",
     "Utilization, 0 to 1, at the last look", offsetof (sample_t, utilization),
     1, 10000},
    {"gpuledger_device_memory_used_bytes", "gauge", "", "Memory in use",
     offsetof (sample_t, memory_used), 1048576, 1},
    {"gpuledger_device_processes", "gauge", "", "Processes on the device",
     offsetof (sample_t, processes), 1, 1},
    {"gpuledger_gpu_power_watts", "gauge", "", "Power of the physical GPU",
     offsetof (sample_t, power), 1, 1000},
    {"gpuledger_gpu_energy_joules", "counter", "_total",
     "Energy counter of the physical GPU since its driver was loaded",
     offsetof (sample_t, energy), 1, 1000},
};

static void print_gauge (const tracks_t *tracks, const struct gauge *gauge,
                         buffer_t *out)
{
    family (out, gauge->name, gauge->type, gauge->help);
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        int64_t number;
        memcpy (&number, (const char *)&track->sample + gauge->offset,
                sizeof (number));
        if (number < 0 || number > INT64_MAX / gauge->factor)
            continue;
        buffer_printf (out, "%s%s", gauge->name, gauge->suffix);
        device_labels (out, track);
        value (out, number * gauge->factor, gauge->unit);
    }
}

static void print_memory (const tracks_t *tracks, buffer_t *out)
{
    family (out, "gpuledger_device_memory_bytes", "gauge",
            "Memory of the device");
    for (size_t i = 0; i < tracks->count; i++) {
        const track_t *track = &tracks->track[i];
        if (track->memory_total < 0
            || track->memory_total > INT64_MAX / 1048576)
            continue;
        buffer_add_text (out, "gpuledger_device_memory_bytes");
        device_labels (out, track);
        value (out, track->memory_total * 1048576, 1);
    }
}

/*
 * The agent.
 */

static void print_time (buffer_t *out, const char *name, const char *help,
                        int64_t ms)
{
    family (out, name, "gauge", help);
    if (ms <= 0)
        return;
    buffer_add_text (out, name);
    value (out, ms, 1000);
}

static void print_problems (const metrics_t *metrics, buffer_t *out)
{
    const char *name = "gpuledger_agent_problems";

    family (out, name, "counter", "What went wrong, by where");
    for (int i = 0; i < PROBLEMS; i++) {
        buffer_printf (out, "%s_total", name);
        label (out, "cause", problem_name (i));
        value (out, (int64_t)metrics->problems[i], 1);
    }
}

static void print_pairing (const holders_t *holders, buffer_t *out)
{
    const holders_counts_t *counts = holders_counts (holders);
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"start_repeated", counts->repeated},
        {"end_without_start", counts->unpaired},
        {"end_unknown", counts->end_unknown},
        {"step_unbelieved", counts->unbelieved},
        {"other_node", counts->other_node},
    };

    family (out, "gpuledger_agent_odd_records", "counter",
            "Records of the spool that do not pair");
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        buffer_add_text (out, "gpuledger_agent_odd_records_total");
        label (out, "case", rows[i].name);
        value (out, (int64_t)rows[i].count, 1);
    }
}

static void print_agent (const metrics_t *metrics, buffer_t *out)
{
    family (out, "gpuledger_agent", "info", "The agent");
    buffer_add_text (out, "gpuledger_agent_info");
    label (out, "version", metrics->version);
    value (out, 1, 1);
    print_time (out, "gpuledger_agent_last_look_timestamp_seconds",
                "When the devices were last looked at", metrics->last_look_ms);
    plain (out, "gpuledger_agent_looks", "counter", "Looks at the devices",
           metrics->looks);
    plain (out, "gpuledger_agent_records", "counter",
           "Records written to the spool", metrics->records);
    plain (out, "gpuledger_agent_records_waiting", "gauge",
           "Records that could not be written yet", metrics->waiting);
    plain (out, "gpuledger_jobs", "gauge", "Jobs on the node",
           holders_open (metrics->holders));
    plain (out, "gpuledger_devices_unnamed", "gauge",
           "Devices that jobs hold and that could not be told from Slurm's "
           "words",
           holders_unnamed (metrics->holders));
    print_problems (metrics, out);
    print_pairing (metrics->holders, out);
}

static void print_ship (const ship_health_t *ship, buffer_t *out)
{
    const char *errors = "gpuledger_agent_ship_errors";

    plain (out, "gpuledger_agent_records_shipped", "counter",
           "Records that a collector has acknowledged", ship->shipped_records);
    plain (out, "gpuledger_agent_records_refused", "counter",
           "Records that a collector will never take", ship->refused_records);
    plain (out, "gpuledger_agent_spool_pending_bytes", "gauge",
           "Bytes of the spool that are not acknowledged", ship->pending_bytes);
    plain (out, "gpuledger_agent_spool_segments", "gauge",
           "Segments of the spool, of at most 64", ship->segments);
    print_time (out, "gpuledger_agent_last_ship_timestamp_seconds",
                "When a collector last acknowledged records",
                ship->last_success_ms);
    family (out, errors, "counter", "Requests that failed, by cause");
    for (int i = 0; i < SHIP_CAUSES; i++) {
        buffer_printf (out, "%s_total", errors);
        label (out, "cause", ship_cause_name (i));
        value (out, (int64_t)ship->errors[i], 1);
    }
}

void metrics_print (const metrics_t *metrics, buffer_t *out)
{
    print_info (metrics->tracks, out);
    print_counts (metrics->tracks, out);
    print_holders (metrics, out);
    print_memory (metrics->tracks, out);
    for (size_t i = 0; i < GL_ARRAY_SIZE (gauges); i++)
        print_gauge (metrics->tracks, &gauges[i], out);
    print_agent (metrics, out);
    if (metrics->ship)
        print_ship (metrics->ship, out);
    buffer_add_text (out, "# EOF\n");
}

/* The directory is the exporter's: what stands there under our name may be a
 * FIFO, or another name of a file that matters. Not synced: it is written again
 * soon. */
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
