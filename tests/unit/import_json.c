#include "support/test.h"

#include "base/buffer.h"
#include "support/data.h"
#include "support/segments.h"

static segments_t good_file (const char *name, import_stats_t *stats)
{
    GL_AUTOFREE char *path = test_data (name);
    segments_t all = {0};
    gl_error_t error = {""};

    /* the zone must not matter */
    if (segments_import (path, "Asia/Kathmandu", 0, &all, stats, &error) < 0)
        fail_msg ("%s", error.text);
    return all;
}

static segments_t good_text (const char *text, import_stats_t *stats)
{
    segments_t all = {0};
    gl_error_t error = {""};

    if (segments_import_bytes (text, strlen (text), "UTC", 0, &all, stats,
                               &error)
        < 0)
        fail_msg ("%s", error.text);
    return all;
}

/* What real daemons of four releases say, by hand from the files. None of
 * their accounting names a GPU. */
TEST_CASE (import__answers_of_slurmrestd__one_segment_each)
{
    static const struct {
        const char *file;
        uint64_t id;
        int64_t submit, start, end, as_of;
        segment_state_t state;
        bool asked;
        const char *user, *nodelist, *submitted_as;
    } cases[] = {
        {"24.05_slurmdb-job-timeout", 649717, 1747754465, 1747754466,
         1747754549, 1747754549, SEGMENT_TIMEOUT, false, "user12", "cn001",
         "no GPU"},
        {"24.11_slurmdb-job-gpus-archived", 6354, 0, 1762788123, 1762788153,
         1762788153, SEGMENT_COMPLETED, true, NULL, NULL, "--gpus 6"},
        {"25.05_slurmdb-job-gpus-completed", 4747, 0, 1762789129, 1762789160,
         1762789160, SEGMENT_COMPLETED, true, NULL, NULL, "--gpus 4"},
        {"25.11_slurmdb-job-gpus-multi-types", 4716, 1762783613, 1762783613, 0,
         0, SEGMENT_RUNNING, true, "user01", "gpu1", "--gpus-per-node h100:1"},
        {"25.11_slurmdb-job-gpus-pending", 4965, 0, 0, 0, 0, SEGMENT_PENDING,
         true, NULL, NULL, "--gpus 4 --begin now+1hour"},
        /* slurmctld: an end in the future and a start that is a forecast */
        {"24.11_slurm-job-gpus-multi-types", 6356, 0, 1762788764, 0, 1762788764,
         SEGMENT_RUNNING, true, NULL, NULL, "gres_detail"},
        {"24.11_slurm-job-gpus-pending", 6376, 0, 0, 0, 1762788934,
         SEGMENT_PENDING, true, NULL, NULL, "--gpus 6"},
        {"25.11_slurm-job-gpus-multi-nodes", 5679, 0, 1762788040, 0, 1762788041,
         SEGMENT_RUNNING, true, NULL, NULL, "gres_detail"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *name
            = xasprintf ("slurm/slurmrestd/%s.json", cases[i].file);
        import_stats_t stats;
        segments_t all = good_file (name, &stats);
        const segment_t *s = all.segment;
        assert_int_equal (all.count, 1);
        assert_int_equal (s->id_job, cases[i].id);
        assert_true (s->time_submit > 1700000000);
        if (cases[i].submit)
            assert_int_equal (s->time_submit, cases[i].submit);
        assert_int_equal (s->time_start, cases[i].start);
        assert_int_equal (s->time_end, cases[i].end);
        assert_int_equal (s->observed_at, stats.as_of);
        if (cases[i].as_of)
            assert_int_equal (stats.as_of, cases[i].as_of);
        assert_int_equal (s->state, cases[i].state);
        assert_string_equal (s->gres, "");
        assert_int_equal (s->gpu_asked, cases[i].asked);
        assert_int_equal (stats.unknown_gpu,
                          cases[i].asked && cases[i].start > 0);
        assert_string_equal (s->cluster, "hpc");
        assert_int_equal (s->source, SOURCE_JSON);
        if (cases[i].user)
            assert_string_equal (s->user, cases[i].user);
        if (cases[i].nodelist)
            assert_string_equal (s->nodelist, cases[i].nodelist);
        segments_free (&all);
    }
}

/* slurmdbd's answer and slurmctld's speak of one job. */
TEST_CASE (import__both_daemons__the_same_key)
{
    segments_t dbd = good_file (
        "slurm/slurmrestd/25.11_slurmdb-job-gpus-multi-types.json", NULL);
    segments_t ctld = good_file (
        "slurm/slurmrestd/25.11_slurm-job-gpus-multi-types.json", NULL);

    assert_int_equal (dbd.segment->id_job, ctld.segment->id_job);
    assert_int_equal (dbd.segment->time_submit, ctld.segment->time_submit);
    assert_string_equal (dbd.segment->cluster, ctld.segment->cluster);
    assert_string_equal (dbd.segment->account, ctld.segment->account);
    assert_string_equal (dbd.segment->user, ctld.segment->user);
    assert_int_equal (ctld.segment->uid, 10008);
    assert_true (dbd.segment->uid == UINT32_MAX);
    segments_free (&dbd);
    segments_free (&ctld);
}

TEST_CASE (import__nothing_found__no_segment_and_no_as_of)
{
    import_stats_t stats;
    segments_t all = good_file ("slurm/slurmrestd/25.11_slurmdb-job-unfound"
                                ".json",
                                &stats);

    assert_int_equal (all.count, 0);
    assert_int_equal (stats.as_of, 0);
}

TEST_CASE (import__sacct_envelope__typed_gres_and_no_steps)
{
    import_stats_t stats;
    segments_t all = good_file ("slurm/sarc_raisin.json.gz", &stats);
    size_t with_gpu = 0;

    assert_int_equal (all.count, 7);
    assert_int_equal (stats.rows, 7);
    for (size_t i = 0; i < all.count; i++) {
        assert_string_equal (all.segment[i].cluster, "raisin");
        with_gpu += strncmp (all.segment[i].gres, "gpu:", 4) == 0;
    }
    assert_true (with_gpu > 0);
    segments_free (&all);
}

#define JOB(members)                                                         \
    "{\"job_id\":5,\"account\":\"a\",\"user\":\"u\",\"cluster\":\"c\","      \
    "\"state\":{\"current\":[\"COMPLETED\"]},\"time\":{\"submission\":1000," \
    "\"start\":2000,\"end\":3000}" members "}"

TEST_CASE (import__integers_from_two_to_the_63__read_exactly)
{
    static const char text[] = "{\"jobs\":[" JOB (
        ",\"db_index\":18446744073709551001,"
        "\"name\":\"n \\\" 18446744073709551614 [\","
        "\"tres\":{\"allocated\":["
        "{\"type\":\"cpu\",\"name\":\"\",\"count\":18446744073709551614},"
        "{\"type\":\"gres\",\"name\":\"gpu\",\"count\":"
        "18446744073709551614},"
        "{\"type\":\"energy\",\"name\":\"\",\"count\":-2},"
        "{\"type\":\"gres\",\"name\":\"gpu:a100\",\"count\":"
        "{\"set\":true,\"infinite\":false,\"number\":3}}]}") "]}";
    segments_t all = good_text (text, NULL);

    assert_true (all.segment->job_db_inx == UINT64_C (18446744073709551001));
    assert_string_equal (all.segment->gres, "gpu:a100=3");
    assert_true (all.segment->cpus == COUNT_UNKNOWN);
    /* inside a string nothing changes */
    assert_string_equal (all.segment->job_name, "n \" 18446744073709551614 [");
    segments_free (&all);
}

TEST_CASE (import__forms_of_a_list__the_same_job)
{
    static const char *const texts[] = {
        "{\"jobs\":[" JOB ("") "]}",
        "  {\n \"errors\" : [ ] , \"jobs\" : [ " JOB ("") " ] }\n",
        "[" JOB ("") "]",
        JOB ("") "\n",
        JOB (",\"x\":null,\"y\":[true,false,1.5e3,-7]"),
        "{\"jobs\":[]}\n{\"jobs\":[" JOB ("") "]}",
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        segments_t all = good_text (texts[i], NULL);
        assert_int_equal (all.count, 1);
        assert_int_equal (all.segment->id_job, 5);
        assert_int_equal (all.segment->time_end, 3000);
        segments_free (&all);
    }
}

TEST_CASE (import__states_and_flags__as_slurmdbd_stores_them)
{
    static const struct {
        const char *state;
        const char *end;
        segment_state_t expected;
    } cases[] = {
        {"\"COMPLETED\"", "3000", SEGMENT_COMPLETED},
        {"[\"COMPLETED\",\"COMPLETING\"]", "3000", SEGMENT_COMPLETED},
        {"[\"PENDING\",\"REQUEUED\"]", "3000", SEGMENT_REQUEUED},
        {"[\"REQUEUED\"]", "3000", SEGMENT_REQUEUED},
        {"[\"RUNNING\",\"RESIZING\"]", "3000", SEGMENT_RESIZING},
        {"[\"RUNNING\",\"RESIZING\"]", "0", SEGMENT_RUNNING},
        {"[\"RESIZING\",\"RUNNING\"]", "0", SEGMENT_RUNNING},
        {"[\"OUT_OF_MEMORY\"]", "3000", SEGMENT_OUT_OF_MEMORY},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = xasprintf (
            "{\"job_id\":5,\"cluster\":\"c\",\"state\":{\"current\":%s},"
            "\"time\":{\"submission\":1000,\"start\":2000,\"end\":%s,"
            "\"elapsed\":1000}}",
            cases[i].state, cases[i].end);
        segments_t all = good_text (text, NULL);
        assert_int_equal (all.segment->state, cases[i].expected);
        segments_free (&all);
    }
}

/* What 24.11.5 and 26.05.5 print of a job cancelled while it waited. */
TEST_CASE (import__start_of_no_value__never_started)
{
    static const char text[]
        = "{\"job_id\":5,\"cluster\":\"c\",\"state\":{\"current\":[\"CANCELLED\"]},"
          "\"time\":{\"submission\":1000,\"start\":4294967294,\"end\":3000,"
          "\"elapsed\":0}}";
    segments_t all = good_text (text, NULL);

    assert_int_equal (all.count, 1);
    assert_int_equal (all.segment->time_start, 0);
    assert_int_equal (all.segment->time_end, 3000);
    assert_int_equal (all.segment->state, SEGMENT_CANCELLED);
    segments_free (&all);
}

/* As 22.05 and later write who it was: a name, null or "". */
TEST_CASE (import__kill_request_user__who_cancelled)
{
    static const struct {
        const char *more, *state;
        cancelled_by_t expected;
    } cases[] = {
        {",\"kill_request_user\":\"anna\"", "CANCELLED", CANCELLED_BY_USER},
        {",\"kill_request_user\":\"root\"", "CANCELLED", CANCELLED_BY_OTHER},
        {",\"kill_request_user\":null", "CANCELLED", CANCELLED_BY_NOBODY},
        {",\"kill_request_user\":\"\"", "CANCELLED", CANCELLED_BY_NOBODY},
        {"", "CANCELLED", CANCELLED_BY_UNKNOWN},
        {",\"kill_request_user\":\"root\"", "FAILED", CANCELLED_BY_UNKNOWN},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = xasprintf (
            "{\"job_id\":5,\"cluster\":\"c\",\"user\":\"anna\","
            "\"state\":{\"current\":[\"%s\"]},"
            "\"time\":{\"submission\":1000,\"start\":2000,\"end\":3000,"
            "\"elapsed\":1000}%s}",
            cases[i].state, cases[i].more);
        segments_t all = good_text (text, NULL);
        assert_int_equal (all.segment->cancelled_by, cases[i].expected);
        segments_free (&all);
    }
}

TEST_CASE (import__broken_or_wrong_json__refused)
{
    static const struct {
        const char *text;
        const char *word;
    } cases[] = {
        {"{", "cut off"},
        {"{\"jobs\":[", "cut off"},
        {"{\"jobs\":[" JOB (""), "cut off"},
        {"{\"jobs\":[" JOB ("") "]", "cut off"},
        {"{\"jobs\":[" JOB ("") "}", "',' or ']'"},
        {"{\"jobs\":[" JOB ("") ",]}", "bracket too many"},
        {"{\"jobs\":[" JOB (",\"a\":\xff") "]}", "decode byte"},
        {"{\"jobs\":[{\"job_id\":1,}]}", "broken JSON"},
        {"{\"jobs\":[nonsense]}", "broken JSON"},
        {"{\"jobs\":[1]}", "job_id"},
        {"{\"jobs\":[{}]}", "job_id"},
        {"{\"job_id\":\"\"}", "job_id"},
        {"{\"hello\":1}", "neither"},
        {"{\"jobs\":[]}}", "'{' or '['"},
        {"{\"jobs\" 1}", "':'"},
        {"{1:2}", "name of a member"},
        {"{\"errors\":[{\"description\":\"no such user\"}],\"jobs\":[]}",
         "no such user"},
        {"{\"errors\":[{\"error\":\"Unspecified\"}]}", "Unspecified"},
        {"{\"job_id\":5,\"state\":{\"current\":[]},\"time\":{\"submission\":1}"
         "}",
         "no state"},
        {"{\"job_id\":5,\"state\":{\"current\":[\"FAILED\"]},"
         "\"time\":{\"submission\":1,\"start\":20,\"end\":10}}",
         "job 5: it ends 10 s before"},
        {"{\"job_id\":5,\"state\":{\"current\":[\"RUNNING\"]},"
         "\"time\":{\"submission\":1,\"start\":99999999999999}}",
         "time.start"},
        {"{\"job_id\":5,\"state\":{\"current\":[\"RUNNING\"]},"
         "\"time\":{\"submission\":1,\"start\":20}}",
         "no elapsed time"},
        {"{\"job_id\":5,\"state\":{\"current\":[\"PENDING\"]},\"time\":{}}",
         "no submit time"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segments_t all = {0};
        gl_error_t error = {""};
        int rc = segments_import_bytes (cases[i].text, strlen (cases[i].text),
                                        "UTC", 0, &all, NULL, &error);
        if (rc == 0 || !strstr (error.text, cases[i].word))
            fail_msg ("%s: '%s' is not in '%s'", cases[i].text, cases[i].word,
                      error.text);
        assert_int_equal (all.count, 0);
    }
}

/* What users put into names must not stop the import of all others. */
TEST_CASE (import__control_characters__replaced_and_counted)
{
    static const char text[]
        = "{\"jobs\":[" JOB (",\"name\":\"a\\n777|x\\u001b[31m\\u007f\","
                             "\"wckey\":{\"wckey\":\"\\t*k\"},\"partition\":"
                             "\"p\\r\","
                             "\"comment\":{\"administrator\":\"c\\u0001\","
                             "\"job\":\"\\n\"}") "," JOB (",\"name\":"
                                                          "\"raw\xff\xc3\n\xc3"
                                                          "\xbc\",\"x\":"
                                                          "\"\x1b\"") "]}";
    import_stats_t stats;
    segments_t all = good_text (text, &stats);

    assert_int_equal (all.count, 2);
    assert_string_equal (all.segment[0].job_name,
                         "a\xef\xbf\xbd"
                         "777|x\xef\xbf\xbd[31m\xef\xbf\xbd");
    assert_string_equal (all.segment[0].wckey, "\xef\xbf\xbd*k");
    assert_string_equal (all.segment[0].partition, "p\xef\xbf\xbd");
    assert_string_equal (all.segment[0].admin_comment, "c\xef\xbf\xbd");
    /* bytes that are no JSON text, in strings that are read or not */
    assert_string_equal (all.segment[1].job_name,
                         "raw\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xbc");
    assert_int_equal (stats.replaced, 4 + 2);
    segments_free (&all);
}

/* A hundred thousand open brackets must not recurse; a job of many steps is
 * one value. */
TEST_CASE (import__deep_and_large_values__bounded)
{
    BUFFER_AUTO text = BUFFER_INIT;
    segments_t all = {0};
    gl_error_t error;

    buffer_add_text (&text, "{\"jobs\":[{\"job_id\":1,\"x\":");
    for (int i = 0; i < 100000; i++)
        buffer_add_char (&text, '[');
    assert_int_equal (segments_import_bytes (text.data, text.length, "UTC", 0,
                                             &all, NULL, &error),
                      -1);
    for (int i = 0; i < 100000; i++)
        buffer_add_char (&text, ']');
    buffer_add_text (&text, "}]}");
    assert_int_equal (segments_import_bytes (text.data, text.length, "UTC", 0,
                                             &all, NULL, &error),
                      -1);
    assert_non_null (strstr (error.text, "depth"));
    buffer_clear (&text);
    buffer_add_text (&text, "{\"jobs\":[" JOB (",\"steps\":[0"));
    text.length--; /* the job goes on */
    for (int i = 0; i < 100000; i++)
        buffer_add_text (&text, ",{\"tres\":{\"allocated\":[]}}");
    buffer_add_text (&text, "]}]}");
    assert_int_equal (segments_import_bytes (text.data, text.length, "UTC", 0,
                                             &all, NULL, &error),
                      0);
    assert_int_equal (all.count, 1);
    segments_free (&all);
}

TEST_MAIN (NULL, NULL)
