/* A backlog: what agents and plugins of many nodes have to say of a day. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "record/record.h"

#define DAY_BEGIN_MS INT64_C (1790812800000) /* 2026-10-01T00:00:00Z */
#define HOUR_MS INT64_C (3600000)
#define DEVICES 8

static void set (record_t *r, record_field_t field, int64_t value)
{
    record_set_number (r, field, value);
}

/* One device in one hour, with all that an agent says of it. */
static void fill_usage (record_t *r, int node, int hour, int device,
                        int64_t day)
{
    char text[96];
    int64_t begin = DAY_BEGIN_MS + (day * 24 + hour) * HOUR_MS;

    r->kind = RECORD_JOB_USAGE;
    r->stamp = (begin + HOUR_MS) * 1000000;
    snprintf (text, sizeof (text), "GPU-%08x-0000-4000-8000-%012d", node,
              device);
    record_set_text (r, RECORD_FIELD_gpu, text);
    record_set_text (r, RECORD_FIELD_utilization_histogram,
                     "0,0,0,0,0,0,0,120000,0,0,0,0,60000,0,0,0,240000,780000,"
                     "1200000,1200000");
    set (r, RECORD_FIELD_job_id, node * 100 + hour / 3 + 1);
    set (r, RECORD_FIELD_gres_index, device);
    set (r, RECORD_FIELD_begin_ms, begin);
    set (r, RECORD_FIELD_end_ms, begin + HOUR_MS);
    set (r, RECORD_FIELD_samples, 360);
    set (r, RECORD_FIELD_samples_expected, 360);
    set (r, RECORD_FIELD_energy_mj, 2016000000 + node * 7 + hour);
    set (r, RECORD_FIELD_energy_ms, HOUR_MS);
    set (r, RECORD_FIELD_energy_rule, RECORD_ENERGY_WHOLE);
    set (r, RECORD_FIELD_counter_resets, 0);
    set (r, RECORD_FIELD_utilization_sum, 8700 * HOUR_MS + device);
    set (r, RECORD_FIELD_utilization_ms, HOUR_MS);
    set (r, RECORD_FIELD_utilization_max, 10000);
    set (r, RECORD_FIELD_memory_sum, 61000 * HOUR_MS);
    set (r, RECORD_FIELD_memory_ms, HOUR_MS);
    set (r, RECORD_FIELD_memory_max, 71234);
    set (r, RECORD_FIELD_memory_total, 81559);
    set (r, RECORD_FIELD_power_sum, 560000 * HOUR_MS);
    set (r, RECORD_FIELD_power_ms, HOUR_MS);
    set (r, RECORD_FIELD_power_max, 700000);
    set (r, RECORD_FIELD_clock_sum, 1755 * HOUR_MS);
    set (r, RECORD_FIELD_clock_ms, HOUR_MS);
    set (r, RECORD_FIELD_throttled_ms, 12000);
    set (r, RECORD_FIELD_throttle_ms, HOUR_MS);
    set (r, RECORD_FIELD_throttle_reasons, 4);
    set (r, RECORD_FIELD_processes_ms, HOUR_MS);
    set (r, RECORD_FIELD_processes_max, 1);
    set (r, RECORD_FIELD_no_process_ms, 0);
    set (r, RECORD_FIELD_idle_ms, 0);
    set (r, RECORD_FIELD_idle_longest_ms, 0);
    set (r, RECORD_FIELD_idle_rule, 0);
    set (r, RECORD_FIELD_holders, 1);
    set (r, RECORD_FIELD_interval_ms, 10000);
}

static void fill_job (record_t *r, int node, int job, int64_t day)
{
    char text[64];

    r->kind = job % 2 ? RECORD_JOB_END : RECORD_JOB_START;
    r->stamp
        = (DAY_BEGIN_MS + (day * 24 + job / 2 * 3) * HOUR_MS) * 1000000 + job;
    snprintf (text, sizeof (text), "user%d", node % 500);
    record_set_text (r, RECORD_FIELD_user, text);
    record_set_text (r, RECORD_FIELD_account, "vision");
    record_set_text (r, RECORD_FIELD_partition, "gpu");
    record_set_text (r, RECORD_FIELD_project, "alpha");
    record_set_text (r, RECORD_FIELD_gpus, "0,1,2,3,4,5,6,7");
    set (r, RECORD_FIELD_job_id, node * 100 + job / 2 + 1);
    set (r, RECORD_FIELD_uid, 1000 + node % 500);
}

/* Record `number` of a node's day: 192 of devices, then those of 8 jobs. */
static size_t day_record (const char *name, int node, int number, int64_t day,
                          unsigned char bytes[RECORD_MAX])
{
    record_t r = {.version = RECORD_VERSION};
    int32_t key[4] = {node, number, (int32_t)day, 0x6c6f6164};

    /* a random key as a real one: it is where in the index a row goes */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            key[i] = (int32_t)((uint32_t)key[i] * 2654435761u
                               + (uint32_t)key[(i + 1) % 4] * 40503u + 1);
    memcpy (r.key, key, sizeof (r.key));
    r.kind = RECORD_JOB_USAGE;
    record_set_text (&r, RECORD_FIELD_cluster, "lab");
    record_set_text (&r, RECORD_FIELD_node, name);
    record_set_text (&r, RECORD_FIELD_boot_id,
                     "0d0a7b1e-8b0f-4c52-9a3e-6f1f0b7c2d11");
    if (number < 24 * DEVICES)
        fill_usage (&r, node, number / DEVICES, number % DEVICES, day);
    else
        fill_job (&r, node, number - 24 * DEVICES, day);
    return record_encode (&r, bytes);
}

static void make_day (buffer_t *body, int node, int records, int64_t day)
{
    unsigned char bytes[RECORD_MAX], header[BATCH_HEADER_MAX];
    batch_t batch = {.sent_ns = clock_ns (), .cluster = "lab"};

    snprintf (batch.node, sizeof (batch.node), "n%05d", node);
    buffer_clear (body);
    buffer_add (body, header, batch_header (header, &batch));
    for (int i = 0; i < records; i++)
        buffer_add (body, bytes, day_record (batch.node, node, i, day, bytes));
}

/* A node's turn; 0 when it was taken. */
static int ship_day (int port, const buffer_t *body)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = try_to_connect (port), rc = 1;

    if (fd < 0)
        return 1;
    if (greeted (fd, hello)) {
        make_request (hello, VERB_BATCH, body->data, body->length, &frame,
                      nonce);
        send_all (fd, frame.data, frame.length);
        rc = print_answer (fd, nonce);
    }
    close (fd);
    return rc;
}

static void load_some (int port, int first, int step, int last, int records,
                       int64_t day)
{
    BUFFER_AUTO body = BUFFER_INIT;

    for (int node = first; node <= last; node += step) {
        make_day (&body, node, records, day);
        while (ship_day (port, &body) != 0)
            pause_ms (200);
    }
}

int load (int port, int nodes, int records, int processes, int64_t day)
{
    for (int i = 1; i <= processes; i++)
        if (fork () == 0) {
            load_some (port, i, processes, nodes, records, day);
            fflush (stdout);
            _exit (0);
        }
    while (wait (NULL) > 0)
        ;
    return 0;
}
