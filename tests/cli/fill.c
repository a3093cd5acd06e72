/*
 * fill URL: puts a small month of made-up facts into a store: October 2026 of
 * the cluster "lab" of golden/site.yaml. Whole GPUs, slices, an array, a het
 * job, a requeue, a suspension, a job over the month's end, one still running,
 * tags from nodes, what an agent measured, a re-tag, an outage, maintenance, a
 * reservation, and names that mean harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gres/nodelist.h"
#include "record/record.h"
#include "store/store.h"

#define OCTOBER INT64_C (1790827200) /* 2026-10-01T00:00:00-04:00 */
#define HOUR 3600
#define DAY (24 * HOUR)
#define AS_OF (OCTOBER + 34 * DAY)

struct job {
    uint64_t id;
    double start_day; /* since OCTOBER */
    double hours;     /* 0: still running */
    const char *user;
    const char *account;
    const char *partition;
    const char *gres;
    const char *nodes;
    segment_state_t state;
    const char *project; /* on the node; NULL: no record */
    const char *labels;
};

static const struct job jobs[] = {
    {101, -2, 96, "ann", "vision", "gpu", "gpu=8,gpu:h100=8", "g001",
     SEGMENT_COMPLETED, "segmentation", "experiment=a1"},
    {102, 3, 120, "ann", "vision", "gpu", "gpu=4,gpu:h100=4", "g001",
     SEGMENT_COMPLETED, "segmentation", "experiment=a2"},
    {103, 3.5, 200.25, "bob", "vision", "gpu", "gpu=4,gpu:h100=4", "g002",
     SEGMENT_TIMEOUT, "corpus", NULL},
    {104, 12, 250, "cy", "nlp", "gpu", "gpu=16,gpu:h100=16", "g[001-002]",
     SEGMENT_FAILED, "corpus", NULL},
    {105, 14, 30, "cy", "nlp", "mig", "gpu=7,gpu:1g.10gb=7", "m001",
     SEGMENT_COMPLETED, NULL, NULL},
    {106, 15, 100, "dee", "speech", "mig", "gpu=3,gpu:1g.10gb=1,gpu:3g.40gb=2",
     "m001", SEGMENT_COMPLETED, "", NULL},
    {107, 24, 0, "dee", "speech", "gpu", "gpu=2,gpu:h100=2", "g002",
     SEGMENT_RUNNING, "", NULL},
    {108, 5, 3, "=cmd()", "a|b,\"c", "gpu", "gpu=1,gpu:h100=1", "g002",
     SEGMENT_CANCELLED, NULL, NULL},
    {109, 5, 2, "\x1b[31mred", "<script>alert(1)</script>", "gpu",
     "gpu=1,gpu:h100=1", "g002", SEGMENT_COMPLETED, NULL, NULL},
    {110, 6, 10.5, "eve\nroot", "vision", "gpu", "gpu=1,gpu:v100=1", "o001",
     SEGMENT_OUT_OF_MEMORY, NULL, NULL},
    {111, 7, 1, "ann", "vision", "gpu", "", "g001", SEGMENT_COMPLETED, NULL,
     NULL},
    {112, 8, 6, "bob", "vision", "gpu", "gpu=2,gpu:9z.99gb=2", "x001",
     SEGMENT_COMPLETED, NULL, NULL},
};

static void fail (const gl_error_t *error)
{
    fprintf (stderr, "fill: %s\n", error->text);
    exit (1);
}

static segment_t segment_of (const struct job *job)
{
    int64_t start = OCTOBER + (int64_t)(job->start_day * DAY);

    return (segment_t){
        .cluster = "lab",
        .id_job = job->id,
        .time_submit = start - 60,
        .time_eligible = start - 45,
        .time_start = start,
        .time_end = job->hours > 0 ? start + (int64_t)(job->hours * HOUR) : 0,
        .observed_at = AS_OF,
        .suspended = 0,
        .time_limit = 10 * DAY,
        .state = job->state,
        .source = SOURCE_SLURMDBD,
        .user = job->user,
        .uid = 1000,
        .account = job->account,
        .partition = job->partition,
        .qos = "normal",
        .nodelist = job->nodes,
        .job_name = "train",
        .gres = job->gres,
        .gpu_asked = true,
        .cpus = 8,
        .memory_mb = 1024,
        .nodes = 1,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
        .restart_count = -1,
    };
}

static void put_segment (store_t *store, const segment_t *segment)
{
    gl_error_t error;

    if (store_put_segment (store, segment, NULL, &error) < 0)
        fail (&error);
}

static const char *devices_of (const struct job *job)
{
    if (job->id == 106) /* of two types, of which a prolog shows the last */
        return "5,6";
    return !strncmp (job->gres, "gpu=4", 5)   ? "0,1,2,3"
           : !strncmp (job->gres, "gpu=2", 5) ? "0,1"
                                              : "0,1,2,3,4,5,6,7";
}

static void put_one_record (store_t *store, const struct job *job,
                            record_kind_t kind, const char *node, int64_t stamp,
                            const char *gpus)
{
    int64_t start = OCTOBER + (int64_t)(job->start_day * DAY);
    evidence_t evidence = {.uid = 1000,
                           .time_start = start,
                           .project = job->project[0] ? job->project : NULL,
                           .source = job->project[0] ? TAG_OPTION : TAG_NONE,
                           .labels = job->labels,
                           .gpus = gpus};
    unsigned char bytes[RECORD_MAX];
    record_t seen = {.version = RECORD_VERSION, .kind = kind};
    node_record_t record
        = {.kind = kind,
           .cluster = "lab",
           .node = node,
           .id_job = job->id,
           .stamp = stamp,
           .payload = bytes,
           .evidence = kind == RECORD_JOB_START ? &evidence : NULL};
    gl_error_t error;

    seen.stamp = stamp * 1000000000;
    record_set_text (&seen, RECORD_FIELD_node, node);
    record_set_number (&seen, RECORD_FIELD_job_id, (int64_t)job->id);
    record_set_text (&seen, RECORD_FIELD_gpus, gpus);
    record_set_number (&seen, RECORD_FIELD_devices,
                       kind == RECORD_STEP_DEVICES ? RECORD_DEVICES_COMPLETE
                                                   : RECORD_DEVICES_LAST_TYPE);
    if (kind != RECORD_STEP_DEVICES) {
        record_set_number (&seen, RECORD_FIELD_uid, 1000);
        record_set_number (&seen, RECORD_FIELD_start_time, start);
        record_set_text (&seen, RECORD_FIELD_project, evidence.project);
        record_set_number (&seen, RECORD_FIELD_project_source, evidence.source);
        record_set_text (&seen, RECORD_FIELD_labels, evidence.labels);
    }
    record.payload_length = record_encode (&seen, bytes);
    memcpy (record.key, &job->id, sizeof (job->id));
    record.key[8] = (uint8_t)kind;
    memcpy (record.key + 9, node, 4);
    if (store_put_record (store, &record, NULL, &error) < 0)
        fail (&error);
}

/* What the plugin writes on each node of the job. */
static void put_records (store_t *store, const struct job *job)
{
    int64_t start = OCTOBER + (int64_t)(job->start_day * DAY);
    int64_t end = start + (int64_t)(job->hours * HOUR);
    nodelist_t *nodes = nodelist_open (job->nodes, NULL);
    const char *node, *gpus = devices_of (job);

    while ((node = nodelist_next (nodes))) {
        put_one_record (store, job, RECORD_JOB_START, node, start + 1, gpus);
        if (job->id == 106)
            put_one_record (store, job, RECORD_STEP_DEVICES, node, start + 3,
                            "0,5,6");
        if (job->hours > 0 && job->id != 103) /* its epilog is lost */
            put_one_record (store, job, RECORD_JOB_END, node, end + 2, gpus);
    }
    nodelist_close (nodes);
}

/* What the agent of g001 measured of job 102 (four GPUs; one does not tell its
 * utilization, one is idle) and of m001 of job 106 (energy by slices, activity
 * unknown), and of the first day of g002, in which nobody held its first GPU.
 * Hour by hour; in one hour no agent ran. */
static void put_usage (store_t *store, const struct job *job, const char *node,
                       int index, int64_t energy_w, int64_t percent)
{
    int64_t begin
        = job ? OCTOBER + (int64_t)(job->start_day * DAY) + 1 : OCTOBER;
    int64_t end
        = job ? begin + (int64_t)(job->hours * HOUR) + 1 : OCTOBER + DAY;
    char gpu[32], slice[32];
    gl_error_t error;

    snprintf (gpu, sizeof (gpu), "GPU-%s-%d", node,
              job && job->id == 106 ? 0 : index);
    snprintf (slice, sizeof (slice), "MIG-%s-%d", node, index);
    for (int64_t at = begin, to; at < end; at = to) {
        device_usage_t u;
        uint8_t key[STORE_KEY_SIZE] = {0};
        int64_t ms;
        to = at - at % HOUR + HOUR < end ? at - at % HOUR + HOUR : end;
        ms = (to - at) * 1000;
        if ((at - begin) / HOUR == 5)
            continue;
        memset (&u, 0xff, sizeof (u)); /* every number unknown */
        u.cluster = "lab";
        u.node = node;
        u.id_job = job ? job->id : 0;
        u.gpu = gpu;
        u.slice = job && job->id == 106 ? slice : NULL;
        u.gres_index = index;
        u.utilization_histogram = NULL;
        u.begin_ms = at * 1000;
        u.end_ms = to * 1000;
        u.samples = u.samples_expected = (to - at + 9) / 10;
        u.energy_mj = energy_w * ms;
        u.energy_ms = ms;
        u.energy_rule = u.slice ? RECORD_ENERGY_SLICES : RECORD_ENERGY_WHOLE;
        if (percent >= 0) {
            u.utilization_sum = percent * 100 * ms;
            u.utilization_ms = ms;
            u.utilization_max = percent * 100;
            u.idle_ms = percent < 5 ? ms : 0;
            u.idle_longest_ms = percent < 5 ? (to - begin) * 1000 : 0;
            u.idle_rule = percent < 5 ? RECORD_IDLE_NO_PROCESS : 0;
            u.processes_ms = ms;
            u.no_process_ms = percent < 5 ? ms : 0;
        }
        memcpy (key, &u.begin_ms, sizeof (u.begin_ms));
        memcpy (key + 8, node, 4);
        key[12] = (uint8_t)index;
        key[13] = (uint8_t)u.id_job;
        if (store_put_usage (store, key, &u, NULL, &error) < 0)
            fail (&error);
    }
}

/* m001: seven small slices and two large ones on two GPUs. */
static void put_inventory (store_t *store)
{
    gl_error_t error;

    for (int i = 0; i < 9; i++) {
        bool large = i == 5 || i == 6;
        record_t r = {.version = RECORD_VERSION, .kind = RECORD_INVENTORY};
        unsigned char bytes[RECORD_MAX];
        char slice[32];
        node_record_t record = {.kind = RECORD_INVENTORY,
                                .cluster = "lab",
                                .node = "m001",
                                .stamp = OCTOBER - 5 * DAY,
                                .payload = bytes};
        snprintf (slice, sizeof (slice), "MIG-m001-%d", i);
        r.stamp = record.stamp * 1000000000;
        record_set_text (&r, RECORD_FIELD_cluster, "lab");
        record_set_text (&r, RECORD_FIELD_node, "m001");
        record_set_text (&r, RECORD_FIELD_gpu,
                         large ? "GPU-m001-0" : "GPU-m001-1");
        record_set_text (&r, RECORD_FIELD_slice, slice);
        record_set_text (&r, RECORD_FIELD_model, "NVIDIA H100 80GB HBM3");
        record_set_text (&r, RECORD_FIELD_profile,
                         large ? "3g.40gb" : "1g.10gb");
        record_set_text (&r, RECORD_FIELD_gres_type,
                         large ? "3g.40gb" : "1g.10gb");
        record_set_number (&r, RECORD_FIELD_gres_index, i);
        record_set_number (&r, RECORD_FIELD_snapshot, r.stamp);
        record_set_number (&r, RECORD_FIELD_part, i + 1);
        record_set_number (&r, RECORD_FIELD_parts, 9);
        record_set_number (&r, RECORD_FIELD_partitioned, 1);
        memset (r.key, 0xee, sizeof (r.key));
        r.key[0] = (unsigned char)i;
        memcpy (record.key, r.key, sizeof (record.key));
        record.payload_length = record_encode (&r, bytes);
        if (store_put_record (store, &record, NULL, &error) < 0)
            fail (&error);
    }
}

static const struct job *job_of (uint64_t id)
{
    const struct job *job = jobs;

    while (job->id != id)
        job++;
    return job;
}

/* The clock of g002, which is 1.25 s behind. */
static void put_skew (store_t *store)
{
    record_t r = {.version = RECORD_VERSION, .kind = RECORD_SKEW};
    unsigned char bytes[RECORD_MAX];
    node_record_t record = {.kind = RECORD_SKEW,
                            .cluster = "lab",
                            .node = "g002",
                            .stamp = AS_OF - DAY,
                            .payload = bytes};
    gl_error_t error;

    r.stamp = record.stamp * 1000000000;
    record_set_text (&r, RECORD_FIELD_node, "g002");
    record_set_number (&r, RECORD_FIELD_skew_ns, -1250000000);
    record_set_number (&r, RECORD_FIELD_skew_bound_ns, 1000000);
    memset (record.key, 0xdd, sizeof (record.key));
    record.payload_length = record_encode (&r, bytes);
    if (store_put_record (store, &record, NULL, &error) < 0)
        fail (&error);
}

/* A job that accounting does not have. */
static const struct job forgotten
    = {199,  9,  2, "ann", "vision", "gpu", "gpu=1", "g002", SEGMENT_COMPLETED,
       NULL, NULL};

static void put_measured (store_t *store)
{
    retag_t retag = {.cluster = "lab",
                     .id_job = 105,
                     .time_submit = segment_of (job_of (105)).time_submit,
                     .stamp = AS_OF - DAY,
                     .who = "cy",
                     .project = "corpus"};
    gl_error_t error;

    put_usage (store, job_of (102), "g001", 0, 600, 90);
    put_usage (store, job_of (102), "g001", 1, 500, 75);
    put_usage (store, job_of (102), "g001", 2, 400, -1);
    put_usage (store, job_of (102), "g001", 3, 90, 1);
    put_usage (store, job_of (106), "m001", 0, 50, -1);
    put_usage (store, job_of (106), "m001", 5, 150, -1);
    put_usage (store, NULL, "g002", 0, 80, 0);
    put_usage (store, &forgotten, "g002", 7, 300, 50);
    put_skew (store);
    if (store_put_retag (store, &retag, NULL, &error) < 0)
        fail (&error);
}

/* An array task, a het component, a requeued job with two segments, a job that
 * was suspended, a job without GPUs. */
static void put_special (store_t *store)
{
    static const struct job plain = {201,
                                     9,
                                     5,
                                     "ann",
                                     "vision",
                                     "gpu",
                                     "gpu=1,gpu:h100=1",
                                     "g001",
                                     SEGMENT_COMPLETED,
                                     NULL,
                                     NULL};
    segment_t s = segment_of (&plain);
    suspension_t pause;
    gl_error_t error;

    s.array_job = 200;
    s.array_task = 7;
    put_segment (store, &s);
    s = segment_of (&plain);
    s.id_job = 211;
    s.het_job = 210;
    s.het_offset = 1;
    put_segment (store, &s);
    s = segment_of (&plain);
    s.id_job = 220;
    s.state = SEGMENT_REQUEUED;
    put_segment (store, &s);
    s.time_submit = s.time_end;
    s.time_start = s.time_end + 600;
    s.time_end = s.time_start + HOUR;
    s.state = SEGMENT_COMPLETED;
    put_segment (store, &s);
    s = segment_of (&plain);
    s.id_job = 230;
    s.suspended = 1800;
    put_segment (store, &s);
    pause = (suspension_t){"lab", 230, s.time_submit, s.time_start + HOUR,
                           s.time_start + HOUR + 1800};
    if (store_put_suspension (store, &pause, NULL, &error) < 0)
        fail (&error);
    s = segment_of (&plain);
    s.id_job = 240;
    s.gres = "";
    s.gpu_asked = false;
    put_segment (store, &s);
}

static void put_events (store_t *store)
{
    static const char nodes[] = "g[001-002],m001,o001";
    const node_event_t events[] = {
        {"lab", NULL, OCTOBER - 10 * DAY, 0, 0, "gpu=29", nodes, NULL},
        {"lab", "g002", OCTOBER + 1 * DAY, OCTOBER + 2 * DAY, NODE_STATE_DOWN,
         "gpu=8", NULL, "power supply"},
        {"lab", "m001", OCTOBER + 20 * DAY, OCTOBER + 20 * DAY + 6 * HOUR,
         NODE_STATE_DRAIN, "gpu=9", NULL, "Maintenance"},
    };
    const reservation_t maintenance = {"lab",
                                       2,
                                       OCTOBER + 23 * DAY,
                                       OCTOBER + 23 * DAY + 8 * HOUR,
                                       RESERVATION_MAINT,
                                       "firmware",
                                       "g[001-002]",
                                       NULL};
    const reservation_t course
        = {"lab",  1,       OCTOBER + 28 * DAY, OCTOBER + 30 * DAY, 0, "course",
           "g001", "vision"};
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (events); i++)
        if (store_put_event (store, &events[i], AS_OF, NULL, &error) < 0)
            fail (&error);
    if (store_put_reservation (store, &maintenance, AS_OF, NULL, &error) < 0
        || store_put_reservation (store, &course, AS_OF, NULL, &error) < 0)
        fail (&error);
}

int main (int argc, char **argv)
{
    gl_error_t error;
    store_t *store;

    if (argc != 2)
        return 2;
    if (store_init (argv[1], NULL, &error) < 0
        || !(store = store_open (argv[1], 0, &error))
        || store_begin (store, &error) < 0)
        fail (&error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (jobs); i++) {
        segment_t segment = segment_of (&jobs[i]);
        put_segment (store, &segment);
        if (jobs[i].project)
            put_records (store, &jobs[i]);
    }
    put_special (store);
    put_measured (store);
    put_inventory (store);
    put_events (store);
    if (store_put_as_of (store, "lab", AS_OF, &error) < 0
        || store_commit (store, &error) < 0)
        fail (&error);
    store_close (store);
    return 0;
}
