/* agent_metrics.c: the text that node_exporter reads. */
#include <config.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "metrics.h"

static int find (void *arg, const char *token, char uuid[HOLDERS_UUID_SIZE])
{
    (void)arg;
    snprintf (uuid, HOLDERS_UUID_SIZE, "%s", token);
    return 0;
}

static void ignore (void *arg, const record_t *record)
{
    (void)arg;
    (void)record;
}

/* The text of a node with one GPU, held by job 7 of `account`. */
static char *text_of (const char *account, int64_t utilization)
{
    device_t device = {.uuid = "GPU-a",
                       .model = "M",
                       .gres_index = DEVICE_UNKNOWN,
                       .memory_total = 2,
                       .power_limit = DEVICE_UNKNOWN};
    inventory_t inventory = {.device = &device, .count = 1};
    sample_t sample = {.present = true,
                       .utilization = utilization,
                       .memory_used = 1,
                       .power = 250500,
                       .energy = 1234567,
                       .clock = DEVICE_UNKNOWN,
                       .throttle = DEVICE_UNKNOWN,
                       .processes = DEVICE_UNKNOWN};
    tracks_t tracks = {.interval_ms = 10000,
                       .cut_ms = 3600000,
                       .rule = {50000, 100000, 1800000},
                       .emit = ignore};
    holders_t *holders = holders_new ("n1", find, NULL);
    metrics_t metrics = {.version = "1",
                         .node = "n1",
                         .last_look_ms = 1500,
                         .tracks = &tracks,
                         .holders = holders};
    buffer_t out = BUFFER_INIT;
    record_t start;

    assert_int_equal (record_begin (&start, RECORD_JOB_START, NULL), 0);
    record_set_number (&start, RECORD_FIELD_job_id, 7);
    record_set_text (&start, RECORD_FIELD_gpus, "GPU-a");
    memcpy (start.account, account, strlen (account) + 1);
    start.present[0] |= UINT64_C (1) << RECORD_FIELD_account;
    holders_queue (holders, &start, 1000);
    holders_apply (holders, 1000);
    tracks_update (&tracks, &inventory, holders, 1000);
    tracks_look (&tracks, &inventory, &sample, 1000);
    metrics_print (&metrics, &out);
    tracks_done (&tracks);
    holders_free (holders);
    return buffer_take (&out);
}

static void has (const char *text, const char *line)
{
    if (!strstr (text, line))
        fail_msg ("'%s' is not in:\n%s", line, text);
}

TEST_CASE (metrics_print__a_job__its_lines)
{
    char *text = text_of ("vision", 499);

    has (text, "\nslurm_gpuledger_device_allocated{node=\"n1\",gpu=\"GPU-a\","
               "slice=\"\",job_id=\"7\","
               "user=\"\",account=\"vision\",project=\"\"} 1\n");
    has (text, "\nslurm_gpuledger_devices{node=\"n1\",state=\"idle\"} 1\n");
    has (text, "\nslurm_gpuledger_devices{node=\"n1\",state=\"free\"} 0\n");
    has (text, "} 0.0499\n");
    has (text, "\nslurm_gpuledger_device_memory_used_bytes{node=\"n1\",gpu="
               "\"GPU-a\",slice=\"\"} "
               "1048576\n");
    has (text, "\nslurm_gpuledger_gpu_power_watts{node=\"n1\",gpu=\"GPU-a\","
               "slice=\"\"} 250.500\n");
    has (text, "\nslurm_gpuledger_gpu_energy_joules_total{node=\"n1\",gpu="
               "\"GPU-a\",slice=\"\"} "
               "1234.567\n");
    has (text, "\nslurm_gpuledger_agent_last_sample_timestamp_seconds{node="
               "\"n1\"} 1.500\n");
    assert_string_equal (text + strlen (text) - 6, "# EOF\n");
    free (text);
}

TEST_CASE (metrics_print__unknown__no_line)
{
    char *text = text_of ("vision", DEVICE_UNKNOWN);

    has (text, "\nslurm_gpuledger_devices{node=\"n1\",state=\"unknown\"} 1\n");
    assert_null (strstr (text, "\nslurm_gpuledger_device_utilization_ratio{"));
    assert_null (strstr (text, "\nslurm_gpuledger_device_processes{"));
    free (text);
}

TEST_CASE (metrics_print__hostile_label__escaped)
{
    char *text = text_of ("a\"} 1\\\xff\xc3\xbc\xed\xa0\x80", 1);

    has (text, "account=\"a\\\"} 1\\\\\xef\xbf\xbd\xc3\xbc\xef\xbf\xbd\xef\xbf"
               "\xbd\xef\xbf\xbd\"");
    free (text);
}

TEST_CASE (metrics_print__shipper__its_health)
{
    tracks_t tracks = {0};
    ship_health_t health = {.pending_bytes = 512,
                            .segments = 3,
                            .shipped_records = 40,
                            .refused_records = 2,
                            .last_success_ms = 2500};
    holders_t *holders = holders_new ("n1", find, NULL);
    metrics_t metrics = {.version = "1",
                         .node = "n1",
                         .tracks = &tracks,
                         .holders = holders,
                         .ship = &health};
    buffer_t out = BUFFER_INIT;

    metrics_print (&metrics, &out);
    has (out.data, "_records_shipped_total{node=\"n1\"} 40\n");
    has (out.data, "_records_refused_total{node=\"n1\"} 2\n");
    has (out.data, "_spool_pending_bytes{node=\"n1\"} 512\n");
    has (out.data, "_spool_segments{node=\"n1\"} 3\n");
    has (out.data, "_last_ship_timestamp_seconds{node=\"n1\"} 2.500\n");
    /* never: not 1970 */
    assert_null (strstr (out.data, "_last_sample_timestamp_seconds"));
    buffer_done (&out);
    holders_free (holders);
}

TEST_CASE (metrics_print__every_line__comment_or_sample)
{
    char *text = text_of ("vision", 5000), *line, *rest = NULL;

    for (line = strtok_r (text, "\n", &rest); line;
         line = strtok_r (NULL, "\n", &rest)) {
        const char *space = strrchr (line, ' ');
        if (*line == '#')
            continue;
        assert_int_equal (strncmp (line, "slurm_gpuledger_", 16), 0);
        assert_non_null (space);
        assert_int_equal (strspn (space + 1, "0123456789."),
                          strlen (space + 1));
    }
    free (text);
}

TEST_CASE (metrics_write__replaced__whole_and_readable)
{
    char path[] = "/tmp/gpuledger-metrics.XXXXXX";
    BUFFER_AUTO text = BUFFER_INIT;
    struct stat st;
    int fd = mkstemp (path);

    assert_true (fd >= 0);
    close (fd);
    umask (077);
    buffer_add_text (&text, "# EOF\n");
    assert_int_equal (metrics_write (path, &text, NULL), 0);
    assert_int_equal (stat (path, &st), 0);
    assert_int_equal (st.st_size, 6);
    assert_int_equal (st.st_mode & 0777, 0644);
    unlink (path);
    assert_int_equal (metrics_write ("/nonexistent/x", &text, NULL), -1);
}

/* By whoever may write in the directory. */
TEST_CASE (metrics_write__name_taken_by_others__left_alone)
{
    char path[] = "/tmp/gpuledger-metrics.XXXXXX", beside[64], other[64];
    BUFFER_AUTO text = BUFFER_INIT;
    struct stat st;
    int fd = mkstemp (path);

    assert_true (fd >= 0);
    assert_int_equal (write (fd, "secret", 6), 6);
    close (fd);
    snprintf (beside, sizeof (beside), "%s.new", path);
    snprintf (other, sizeof (other), "%s.other", path);
    assert_int_equal (rename (path, other), 0);
    buffer_add_text (&text, "# EOF\n...\n");
    assert_int_equal (link (other, beside), 0);
    assert_int_equal (metrics_write (path, &text, NULL), 0);
    assert_int_equal (stat (other, &st), 0);
    assert_int_equal (st.st_size, 6);
    assert_int_equal (st.st_mode & 0777, 0600);
    assert_int_equal (mkfifo (beside, 0600), 0);
    alarm (10);
    assert_int_equal (metrics_write (path, &text, NULL), 0);
    alarm (0);
    unlink (other);
    unlink (path);
}

TEST_MAIN (NULL, NULL)
