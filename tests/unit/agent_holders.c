/* agent_holders.c: who holds what, by the rules of pairing. */
#include <config.h>

#include <stdio.h>

#include "support/test.h"

#include "holders.h"

#define BOOT_A "aaaaaaaa-0000-0000-0000-000000000000"
#define BOOT_B "bbbbbbbb-0000-0000-0000-000000000000"

/* What the mapping knows in a test: index 9 to nothing, the others to D<n>. */
static int find (void *arg, const char *token, char uuid[HOLDERS_UUID_SIZE])
{
    const bool *blind = arg;

    if ((blind && *blind) || strcmp (token, "9") == 0)
        return -1;
    if (strncmp (token, "GPU-", 4) == 0)
        snprintf (uuid, HOLDERS_UUID_SIZE, "D%s", token + 4);
    else
        snprintf (uuid, HOLDERS_UUID_SIZE, "D%s", token);
    return 0;
}

static record_t record (record_kind_t kind, int64_t job, int64_t ms,
                        const char *gpus)
{
    record_t made;

    assert_int_equal (record_begin (&made, kind, NULL), 0);
    made.stamp = ms * 1000000;
    record_set_text (&made, RECORD_FIELD_node, "n1");
    record_set_text (&made, RECORD_FIELD_boot_id, BOOT_A);
    record_set_number (&made, RECORD_FIELD_job_id, job);
    if (kind != RECORD_JOB_END)
        record_set_text (&made, RECORD_FIELD_gpus, gpus);
    return made;
}

static void queue (holders_t *holders, record_kind_t kind, int64_t job,
                   int64_t ms, const char *gpus)
{
    record_t made = record (kind, job, ms, gpus);

    holders_queue (holders, &made, HOLDERS_FOREVER);
}

static void begin (holders_t *holders, int64_t job, int64_t ms,
                   const char *gpus)
{
    queue (holders, RECORD_JOB_START, job, ms, gpus);
}

static void end (holders_t *holders, int64_t job, int64_t ms)
{
    queue (holders, RECORD_JOB_END, job, ms, NULL);
}

/* "1,2" for the jobs on a device. */
static const char *on (const holders_t *holders, const char *uuid)
{
    static char text[128];
    int64_t ids[16];
    size_t count = holders_on (holders, uuid, ids, 16), at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf (text + at, sizeof (text) - at, "%s%lld",
                                i ? "," : "", (long long)ids[i]);
    return text;
}

static int set_up (void **state)
{
    *state = holders_new ("n1", find, NULL);
    return 0;
}

static int tear_down (void **state)
{
    holders_free (*state);
    return 0;
}

TEST_CASE (holders_apply__start_and_end__held_in_between)
{
    holders_t *holders = *state;

    end (holders, 1, 300);
    begin (holders, 1, 100, "0,2");
    assert_int_equal (holders_next (holders), 100);
    assert_false (holders_apply (holders, 99));
    assert_string_equal (on (holders, "D0"), "");
    assert_true (holders_apply (holders, 100));
    assert_string_equal (on (holders, "D0"), "1");
    assert_string_equal (on (holders, "D1"), "");
    assert_string_equal (on (holders, "D2"), "1");
    assert_int_equal (holders_next (holders), 300);
    holders_apply (holders, 300);
    assert_string_equal (on (holders, "D2"), "");
    assert_int_equal (holders_next (holders), HOLDERS_FOREVER);
}

TEST_CASE (holders_apply__uuids__better_than_indices)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 1, 100, "7");

    record_set_text (&start, RECORD_FIELD_visible_devices, "GPU-3");
    holders_queue (holders, &start, HOLDERS_FOREVER);
    holders_apply (holders, 100);
    assert_string_equal (on (holders, "D3"), "1");
    assert_string_equal (on (holders, "D7"), "");
}

TEST_CASE (holders_apply__step__completes_the_list)
{
    holders_t *holders = *state;

    begin (holders, 1, 100, "4");
    queue (holders, RECORD_STEP_DEVICES, 1, 200, "0,1,4,5");
    holders_apply (holders, 150);
    assert_string_equal (on (holders, "D0"), "");
    holders_apply (holders, 200);
    assert_string_equal (on (holders, "D0"), "1");
    assert_string_equal (on (holders, "D5"), "1");
    assert_int_equal (holders_unnamed (holders), 0);
}

TEST_CASE (holders_apply__step_of_a_job_without__not_believed)
{
    holders_t *holders = *state;

    begin (holders, 1, 100, NULL);
    queue (holders, RECORD_STEP_DEVICES, 1, 200, "0");
    queue (holders, RECORD_STEP_DEVICES, 2, 200, "0");
    holders_apply (holders, 300);
    assert_string_equal (on (holders, "D0"), "");
    assert_int_equal (holders_counts (holders)->unbelieved, 2);
}

TEST_CASE (holders_apply__second_prolog__changes_nothing)
{
    holders_t *holders = *state;

    begin (holders, 1, 100, "0");
    begin (holders, 1, 200, "0");
    holders_apply (holders, 200);
    assert_int_equal (holders_open (holders), 1);
    assert_int_equal (holders_at (holders, 0)->from_ms, 100);
    assert_int_equal (holders_counts (holders)->repeated, 1);
    assert_int_equal (holders_counts (holders)->end_unknown, 0);
}

TEST_CASE (holders_apply__other_attempt__closes_the_old)
{
    holders_t *holders = *state;
    record_t again = record (RECORD_JOB_START, 1, 200, "1");
    record_t first = record (RECORD_JOB_START, 1, 100, "0");

    record_set_number (&first, RECORD_FIELD_start_time, 10);
    record_set_number (&again, RECORD_FIELD_start_time, 20);
    holders_queue (holders, &first, HOLDERS_FOREVER);
    holders_queue (holders, &again, HOLDERS_FOREVER);
    holders_apply (holders, 200);
    assert_string_equal (on (holders, "D0"), "");
    assert_string_equal (on (holders, "D1"), "1");
    assert_int_equal (holders_counts (holders)->end_unknown, 1);
}

TEST_CASE (holders_apply__end_of_other_attempt__unpaired)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 1, 100, "0");
    record_t stop = record (RECORD_JOB_END, 1, 200, NULL);

    record_set_text (&start, RECORD_FIELD_sluid, "sABC");
    record_set_text (&stop, RECORD_FIELD_sluid, "sXYZ");
    holders_queue (holders, &start, HOLDERS_FOREVER);
    holders_queue (holders, &stop, HOLDERS_FOREVER);
    end (holders, 5, 250);
    holders_apply (holders, 300);
    assert_string_equal (on (holders, "D0"), "1");
    assert_int_equal (holders_counts (holders)->unpaired, 2);
}

TEST_CASE (holders_apply__restart_count_differs_at_end__pairs)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 1, 100, "0");
    record_t stop = record (RECORD_JOB_END, 1, 200, NULL);

    record_set_number (&start, RECORD_FIELD_restart_count, 0);
    record_set_number (&stop, RECORD_FIELD_restart_count, 1);
    holders_queue (holders, &start, HOLDERS_FOREVER);
    holders_queue (holders, &stop, HOLDERS_FOREVER);
    holders_apply (holders, 300);
    assert_string_equal (on (holders, "D0"), "");
}

TEST_CASE (holders_apply__two_jobs_on_one__both_hold_it)
{
    holders_t *holders = *state;

    begin (holders, 7, 100, "0");
    begin (holders, 3, 200, "0");
    holders_apply (holders, 200);
    assert_string_equal (on (holders, "D0"), "3,7");
}

TEST_CASE (holders_apply__later_job_past_the_end__closes_it)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 7, 100, "0");

    record_set_number (&start, RECORD_FIELD_end_time, 10);
    holders_queue (holders, &start, HOLDERS_FOREVER);
    begin (holders, 8, 10000 + HOLDERS_GRACE_MS, "0");
    begin (holders, 9, 10001 + HOLDERS_GRACE_MS, "0");
    holders_apply (holders, 10000 + HOLDERS_GRACE_MS);
    assert_string_equal (on (holders, "D0"), "7,8");
    holders_apply (holders, 10001 + HOLDERS_GRACE_MS);
    assert_string_equal (on (holders, "D0"), "8,9");
    assert_int_equal (holders_counts (holders)->end_unknown, 1);
}

TEST_CASE (holders_apply__exclusive_devices__later_job_closes)
{
    holders_t *holders = *state;

    holders_set_exclusive (holders, true);
    begin (holders, 7, 100, "0,1");
    begin (holders, 8, 200, "1");
    holders_apply (holders, 200);
    assert_string_equal (on (holders, "D0"), "");
    assert_string_equal (on (holders, "D1"), "8");
    end (holders, 7, 300);
    holders_apply (holders, 300);
    assert_int_equal (holders_counts (holders)->unpaired, 1);
}

TEST_CASE (holders_apply__start_read_twice__does_not_reopen)
{
    holders_t *holders = *state;

    begin (holders, 1, 100, "0");
    end (holders, 1, 200);
    holders_apply (holders, 300);
    begin (holders, 1, 100, "0");
    holders_apply (holders, 400);
    assert_string_equal (on (holders, "D0"), "");
}

TEST_CASE (holders_reboot__boots_in_the_queue__told_apart)
{
    holders_t *holders = *state;
    record_t after = record (RECORD_JOB_START, 3, 900, "2");

    begin (holders, 1, 100, "0");
    begin (holders, 2, 100, "1");
    holders_apply (holders, 150);
    end (holders, 1, 500);
    record_set_text (&after, RECORD_FIELD_boot_id, BOOT_B);
    holders_queue (holders, &after, HOLDERS_FOREVER);
    holders_reboot (holders, BOOT_A, BOOT_B, 150, 1000);
    holders_apply (holders, 499);
    assert_string_equal (on (holders, "D0"), "1");
    holders_apply (holders, 500);
    assert_string_equal (on (holders, "D0"), "");
    assert_string_equal (on (holders, "D1"), "");
    assert_int_equal (holders_counts (holders)->end_unknown, 1);
    holders_apply (holders, 1000);
    assert_string_equal (on (holders, "D2"), "3");
}

TEST_CASE (holders_resolve__devices_appear__held_then)
{
    bool blind = true;
    holders_t *holders = holders_new ("n1", find, &blind);

    begin (holders, 1, 100, "0,9");
    holders_apply (holders, 100);
    assert_int_equal (holders_unnamed (holders), 2);
    blind = false;
    holders_resolve (holders);
    assert_int_equal (holders_unnamed (holders), 1);
    assert_string_equal (on (holders, "D0"), "1");
    holders_free (holders);
}

TEST_CASE (holders_queue__other_node__not_taken)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 1, 100, "0");

    record_set_text (&start, RECORD_FIELD_node, "n2");
    holders_queue (holders, &start, HOLDERS_FOREVER);
    assert_int_equal (holders_next (holders), HOLDERS_FOREVER);
    assert_int_equal (holders_counts (holders)->other_node, 1);
}

TEST_CASE (holders_queue__stamp_of_tomorrow__counts_from_now)
{
    holders_t *holders = *state;
    record_t start = record (RECORD_JOB_START, 1, 100000, "0");

    holders_queue (holders, &start, 500);
    assert_int_equal (holders_next (holders), 500);
}

TEST_CASE (holders_will_change__events_of_others__no)
{
    holders_t *holders = *state;

    begin (holders, 1, 100, "0");
    holders_apply (holders, 100);
    end (holders, 1, 200);
    begin (holders, 2, 300, "1");
    assert_true (holders_will_change (holders, "D0", 100, 300));
    assert_false (holders_will_change (holders, "D0", 200, 400));
    assert_true (holders_will_change (holders, "D1", 100, 400));
    assert_false (holders_will_change (holders, "D1", 100, 300));
    assert_false (holders_will_change (holders, "D2", 0, 1000));
}

TEST_CASE (holders_parse__what_was_printed__the_same)
{
    holders_t *holders = *state, *read = holders_new ("n1", find, NULL);
    BUFFER_AUTO first = BUFFER_INIT, second = BUFFER_INIT;
    record_t start = record (RECORD_JOB_START, 1, 100, "0,9");
    char *line, *rest;

    record_set_text (&start, RECORD_FIELD_account, "a b%c\xc3\xbc");
    record_set_text (&start, RECORD_FIELD_project, "p");
    holders_queue (holders, &start, HOLDERS_FOREVER);
    holders_apply (holders, 100);
    begin (holders, 2, 900, "1");
    holders_print (holders, &first);
    rest = strdup (buffer_text (&first));
    for (line = strtok (rest, "\n"); line; line = strtok (NULL, "\n"))
        assert_int_equal (holders_parse (read, line), 1);
    free (rest);
    holders_print (read, &second);
    assert_string_equal (buffer_text (&second), buffer_text (&first));
    assert_string_equal (holders_job (read, 1)->account, "a b%c\xc3\xbc");
    assert_int_equal (holders_next (read), 900);
    holders_free (read);
}

TEST_CASE (holders_parse__damaged__refused)
{
    holders_t *holders = *state;

    assert_int_equal (holders_parse (holders, "gpu X"), 0);
    assert_int_equal (holders_parse (holders, "job 1 2"), -1);
    assert_int_equal (holders_parse (holders, "job 1 2 3 4 5 6 % % % % % 99"),
                      -1);
    assert_int_equal (holders_parse (holders, "queued 5 zz"), -1);
}

TEST_CASE (holders_set_back__start_after_it__held)
{
    holders_t *holders = *state;

    begin (holders, 1, 100000, "0");
    end (holders, 1, 200000);
    holders_apply (holders, 200000);
    begin (holders, 2, 203000, "1");
    holders_set_back (holders, 50000);
    begin (holders, 1, 51000, "0");
    assert_true (holders_apply (holders, 51000));
    assert_string_equal (on (holders, "D0"), "1");
    assert_string_equal (on (holders, "D1"), "2");
    assert_int_equal (holders_job (holders, 1)->from_ms, 51000);
}

TEST_MAIN_EACH (set_up, tear_down)
