/* agent_watch.c: when a source and slurmd are looked for again. */
#include <config.h>

#include <stdio.h>
#include <unistd.h>

#include "support/test.h"

#include "watch.h"

#define SECOND INT64_C (1000000000)
#define T0 (INT64_C (1760000000) * SECOND)

struct place {
    char spool[64];
    char replay[96];
    watch_t watch;
};

static int set_up (void **state)
{
    struct place *place = calloc (1, sizeof (*place));

    strcpy (place->spool, "/tmp/gpuledger-watch.XXXXXX");
    if (!mkdtemp (place->spool))
        return -1;
    snprintf (place->replay, sizeof (place->replay), "%s/replay", place->spool);
    watch_open (&place->watch, place->replay, place->spool, "n1", true);
    *state = place;
    return 0;
}

static int tear_down (void **state)
{
    struct place *place = *state;
    char command[128];

    watch_close (&place->watch);
    snprintf (command, sizeof (command), "rm -rf '%s'", place->spool);
    free (place);
    return system (command);
}

static void write_replay (const struct place *place)
{
    FILE *file = fopen (place->replay, "w");

    assert_non_null (file);
    fputs ("replay 1\ngpu g0 uuid=GPU-0 minor=0\nat +0s\ng0 utilization=5\n",
           file);
    assert_int_equal (fclose (file), 0);
}

static int look (struct place *place, int64_t now)
{
    gl_error_t error, gres_error;

    return watch_look (&place->watch, now, &error, &gres_error);
}

TEST_CASE (watch_look__no_source__tried_again_after_a_pause)
{
    struct place *place = *state;

    assert_int_equal (look (place, T0), -1);
    write_replay (place);
    assert_int_equal (look (place, T0 + 30 * SECOND), -1);
    assert_int_equal (look (place, T0 + 60 * SECOND), 1);
}

/* A node boots with a wrong clock, which is then set. */
TEST_CASE (watch_look__clock_set_back__tried_again)
{
    struct place *place = *state;

    assert_int_equal (look (place, T0 + 3600 * SECOND), -1);
    write_replay (place);
    assert_int_equal (look (place, T0), 1);
}

TEST_CASE (watch_look__clock_set_back__slurmd_looked_for)
{
    struct place *place = *state;

    write_replay (place);
    assert_int_equal (look (place, T0 + 3600 * SECOND), 1);
    look (place, T0);
    assert_int_equal (place->watch.gres_ms, T0 / 1000000 + WATCH_RETRY_MS);
}

TEST_MAIN_EACH (set_up, tear_down)
