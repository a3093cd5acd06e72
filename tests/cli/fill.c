/*
 * fill URL: puts a small month of made-up facts into a store: October 2026 of
 * the cluster "lab" of golden/site.yaml. Whole GPUs, slices, an array, a het
 * job, a requeue, a suspension, a job over the month's end, one still running,
 * tags from nodes, an outage, maintenance, a reservation, and names that mean
 * harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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
        .time_start = start,
        .time_end = job->hours > 0 ? start + (int64_t)(job->hours * HOUR) : 0,
        .time_seen = AS_OF,
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

static void put_record (store_t *store, const struct job *job)
{
    int64_t start = OCTOBER + (int64_t)(job->start_day * DAY);
    evidence_t evidence = {.uid = 1000,
                           .time_start = start,
                           .project = job->project[0] ? job->project : NULL,
                           .source = job->project[0] ? TAG_OPTION : TAG_NONE,
                           .labels = job->labels,
                           .gpus = "0,1"};
    unsigned char bytes[RECORD_MAX];
    record_t seen = {.version = RECORD_VERSION, .kind = RECORD_JOB_START};
    node_record_t record = {.kind = RECORD_JOB_START,
                            .cluster = "lab",
                            .node = "g001",
                            .id_job = job->id,
                            .stamp = start + 1,
                            .payload = bytes,
                            .evidence = &evidence};
    gl_error_t error;

    seen.stamp = record.stamp * 1000000000;
    record_set_text (&seen, RECORD_FIELD_node, record.node);
    record_set_text (&seen, RECORD_FIELD_gpus, evidence.gpus);
    record_set_number (&seen, RECORD_FIELD_devices, RECORD_DEVICES_LAST_TYPE);
    record.payload_length = record_encode (&seen, bytes);
    memcpy (record.key, &job->id, sizeof (job->id));
    if (store_put_record (store, &record, NULL, &error) < 0)
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
            put_record (store, &jobs[i]);
    }
    put_special (store);
    put_events (store);
    if (store_put_as_of (store, "lab", AS_OF, &error) < 0
        || store_commit (store, &error) < 0)
        fail (&error);
    store_close (store);
    return 0;
}
