/* agent_keep.c: the shipper may remove what the agent has read only when that
 * is in the state file, too. In the shipper's place stands a spy. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "record/spool.h"

#include "agent.h"

struct ship {
    int unused;
};

static struct ship spy;
static char spool[64];
static uint32_t kept; /* the last segment that was named */
static bool early;    /* one was given free that the state does not know */

const char *ship_cause_name (ship_cause_t cause)
{
    (void)cause;
    return "";
}

ship_t *ship_new (const ship_config_t *config, gl_error_t *error)
{
    (void)config;
    (void)error;
    return &spy;
}

int ship_start (ship_t *ship, gl_error_t *error)
{
    (void)ship;
    (void)error;
    return 0;
}

void ship_free (ship_t *ship)
{
    (void)ship;
}

void ship_stop (ship_t *ship, int grace_ms)
{
    (void)ship;
    (void)grace_ms;
}

void ship_nudge (ship_t *ship)
{
    (void)ship;
}

void ship_health (ship_t *ship, ship_health_t *ret_health)
{
    (void)ship;
    *ret_health = (ship_health_t){0};
}

/* "00000001 OFFSET LAST KEY" in the state: the segment was read up to there. */
static bool state_knows (uint32_t segment)
{
    char path[96], text[65536], mark[16];
    size_t length;
    FILE *file;

    snprintf (path, sizeof (path), "%s/state/agent", spool);
    if (!(file = fopen (path, "r")))
        return false;
    length = fread (text, 1, sizeof (text) - 1, file);
    fclose (file);
    text[length] = '\0';
    snprintf (mark, sizeof (mark), "\n%08u ", (unsigned)segment);
    return strstr (text, mark) != NULL;
}

void ship_keep (ship_t *ship, uint32_t segment)
{
    (void)ship;
    kept = segment;
    if (segment > 1 && !state_knows (segment - 1))
        early = true;
}

static void append (int64_t job)
{
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_START, NULL), 0);
    record_set_number (&record, RECORD_FIELD_job_id, job);
    assert_int_equal (spool_append (spool, &record, NULL), 0);
}

static void write_file (const char *name, const char *text)
{
    char path[96];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%s", spool, name);
    file = fopen (path, "w");
    assert_non_null (file);
    fputs (text, file);
    assert_int_equal (fclose (file), 0);
}

static int set_up (void **state)
{
    (void)state;
    strcpy (spool, "/tmp/gpuledger-keep.XXXXXX");
    return mkdtemp (spool) ? 0 : -1;
}

static int tear_down (void **state)
{
    char command[96];

    (void)state;
    snprintf (command, sizeof (command), "rm -rf '%s'", spool);
    return system (command);
}

TEST_CASE (agent_look__whole_segment_read__kept_until_noted)
{
    char config[96], replay[96];
    agent_options_t options = {.config = config,
                               .spool = spool,
                               .node = "n1",
                               .cluster = "lab",
                               .replay = replay};
    gl_error_t error;
    agent_t agent;

    snprintf (config, sizeof (config), "%s/state.yaml", spool);
    snprintf (replay, sizeof (replay), "%s/state.replay", spool);
    write_file ("state.yaml", "collector: {hosts: [nowhere]}\n");
    write_file ("state.replay", "replay 1\ngpu g0 uuid=GPU-0 minor=0\n"
                                "at +0s\ng0 utilization=5\n");
    append (1);
    write_file ("00000002.records", "");
    append (2);
    assert_int_equal (agent_init (&agent, &options, &error), 0);
    assert_int_equal (agent_start (&agent, &error), 0);
    assert_int_equal (kept, 1);
    agent_look (&agent);
    assert_int_equal (kept, 2);
    assert_false (early);
    agent_done (&agent);
}

TEST_MAIN_EACH (set_up, tear_down)
