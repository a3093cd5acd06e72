#include "support/test.h"

#include <zlib.h>

#include "base/buffer.h"
#include "support/data.h"
#include "support/segments.h"

#define HEADER                                                                 \
    "JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account|" \
    "NodeList|JobName\n"
#define ROW(id, submit, start, end, elapsed, state, tres)                 \
    id "|" id "|" submit "|" start "|" end "|" elapsed "|" state "|" tres \
       "|u|a|n1|job\n"
#define GOOD                                                \
    ROW ("7", "2026-03-01T00:00:00", "2026-03-01T00:00:10", \
         "2026-03-01T01:00:10", "3600", "COMPLETED", "gres/gpu=2")

static int import_text_of (const char *text, segments_t *all,
                           import_stats_t *stats, gl_error_t *error)
{
    return segments_import_bytes (text, strlen (text), "UTC", 0, all, stats,
                                  error);
}

static segments_t good_text (const char *text, const char *zone,
                             import_stats_t *stats)
{
    segments_t all = {0};
    gl_error_t error = {""};

    if (segments_import_bytes (text, strlen (text), zone, 0, &all, stats,
                               &error)
        < 0)
        fail_msg ("%s", error.text);
    return all;
}

TEST_CASE (import__bad_text__refused_with_line_and_remedy)
{
    static const struct {
        const char *text;
        const char *words[3];
    } cases[] = {
        {"", {"is empty"}},
        {"\n\n", {"is empty"}},
        {"hello\n", {":1:", "neither sacct text", "sacct -a"}},
        {"JobID|User\n1|u\n", {":1:", "not a header with JobIDRaw", "-o"}},
        {"1|1|u|a\n", {":1:", "not a header"}},
        {"JobIDRaw|Submit|Start|State|User\n",
         {":1:", "lacks Account, AllocTRES, End", "-o"}},
        {HEADER "7|7|2026-03-01T00:00:00\n",
         {":2:", "3 columns, but the header has 12", "cut"}},
        {HEADER GOOD ROW ("8", "2026-02-30T00:00:00", "None", "Unknown", "0",
                          "PENDING", ""),
         {":3: job 8: Submit", "2026-02-30T00:00:00", "not a valid time"}},
        {HEADER ROW ("8", "2026-03-01T24:00:00", "None", "Unknown", "0",
                     "PENDING", ""),
         {":2: job 8: Submit", "not a valid time", ""}},
        {HEADER ROW ("8", "Unknown", "None", "Unknown", "0", "PENDING", ""),
         {":2: job 8:", "no submit time", ""}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "2026-03-01T00:00:10",
                     "2026-03-01T00:00:09", "0", "FAILED", ""),
         {":2: job 8:", "ends 1 s before it starts", "remove"}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "2026-03-01T00:00:10",
                     "Unknown", "", "RUNNING", ""),
         {":2: job 8:", "no elapsed time", "ElapsedRaw"}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "2026-03-01T00:00:10",
                     "Unknown", "-5", "RUNNING", ""),
         {":2: job 8:", "", ""}},
        {HEADER ROW ("8x", "2026-03-01T00:00:00", "None", "Unknown", "0",
                     "PENDING", ""),
         {":2: job 8x:", "JobIDRaw '8x'", ""}},
        {HEADER ROW ("99999999999999999999", "2026-03-01T00:00:00", "None",
                     "Unknown", "0", "PENDING", ""),
         {":2:", "JobIDRaw", "range"}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "None", "Unknown", "0",
                     "DREAMING", ""),
         {":2: job 8:", "State 'DREAMING'", ""}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "None", "Unknown", "0",
                     "PENDING", "gres/gpu=18446744073709551616"),
         {":2: job 8: AllocTRES", "18446744073709551616", ""}},
        {HEADER ROW ("8", "2026-03-01T00:00:00", "None", "Unknown", "0",
                     "PENDING", "gres/gpu"),
         {":2: job 8: AllocTRES", "NAME=COUNT", ""}},
        {"JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList\n"
         "8|2026-03-01T00:00:00|None|None|PENDING||u|a|n[1-99999999]\n",
         {":2: job 8: node list", "more than", ""}},
        {"JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account\n"
         "8|2026-03-01T00:00:00|None|None|PENDING||u\x1b[31m|a\n",
         {":2: job 8:", "user has a control character", ""}},
        {"JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|\n"
         "8|2026-03-01T00:00:00|None|None|PENDING||u|a\n",
         {":2:", "does not end with '|'", "cut off"}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segments_t all = {0};
        gl_error_t error = {""};
        assert_int_equal (import_text_of (cases[i].text, &all, NULL, &error),
                          -1);
        for (int w = 0; w < 3 && cases[i].words[w]; w++) {
            if (!strstr (error.text, cases[i].words[w]))
                fail_msg ("'%s' is not in '%s'", cases[i].words[w], error.text);
        }
        /* nothing was handed over, not even the good rows before */
        assert_int_equal (all.count, 0);
    }
}

TEST_CASE (import__binary_or_a_long_line__refused)
{
    static const char binary[] = HEADER "7|\0|x\n";
    size_t size = 3 << 20;
    char *longest = malloc (size);
    segments_t all = {0};
    gl_error_t error;

    assert_int_equal (segments_import_bytes (binary, sizeof (binary) - 1, "UTC",
                                             0, &all, NULL, &error),
                      -1);
    assert_non_null (strstr (error.text, ":2: a NUL byte"));
    memset (longest, 'x', size);
    memcpy (longest, HEADER, strlen (HEADER));
    assert_int_equal (
        segments_import_bytes (longest, size, "UTC", 0, &all, NULL, &error),
        -1);
    assert_non_null (strstr (error.text, ":2: a line of more than"));
    free (longest);
    assert_int_equal (segments_import_bytes ("\x7f"
                                             "ELF\2\1\1\0",
                                             8, "UTC", 0, &all, NULL, &error),
                      -1);
    assert_int_equal (all.count, 0);
}

/* Every length of a gzip file but the whole one is an error. */
TEST_CASE (import__gzip_cut_anywhere__refused)
{
    GL_AUTOFREE char *path = test_data ("slurm/fox_2024-11-13.sacct.gz");
    FILE *f = fopen (path, "rb");
    char data[8192];
    size_t length;

    assert_non_null (f);
    length = fread (data, 1, sizeof (data), f);
    fclose (f);
    assert_true (length > 4000 && length < sizeof (data));
    for (size_t cut = 1; cut < length; cut += cut < 40 ? 1 : 97) {
        segments_t all = {0};
        gl_error_t error = {""};
        assert_int_equal (
            segments_import_bytes (data, cut, "UTC", 0, &all, NULL, &error),
            -1);
        assert_int_equal (all.count, 0);
        assert_string_not_equal (error.text, "");
    }
    data[length / 2] ^= 0x55;
    assert_int_equal (segments_import_bytes (data, length, "UTC", 0,
                                             &(segments_t){0}, NULL, NULL),
                      -1);
}

TEST_CASE (import__any_order_and_p__the_same_segment)
{
    static const char *const texts[] = {
        "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|JobName\n"
        "7|2026-03-01T00:00:00|2026-03-01T00:00:10|2026-03-01T01:00:10|"
        "COMPLETED|gres/gpu=2|u|a|x|y\n",
        "\n\nUser|Account|AllocTRES|State|End|Start|Submit|JobIDRaw|Unheard|"
        "JobName|\r\n"
        "u|a|gres/gpu=2|COMPLETED|2026-03-01T01:00:10Z|1772323210|"
        "2026-03-01T01:00:00+0100|7|zzz|x|y|\r\n",
        "jobidraw|Submit|Start|End|state|AllocTRES|User|Account|JobName\n"
        "7|2026-03-01T01:00:00+01:00|2026-02-28T19:00:10-05:00|"
        "2026-03-01 01:00:10|COMPLETED|gres/gpu=2|u|a|x|y", /* no line end */
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        segments_t all = good_text (texts[i], "UTC", NULL);
        const segment_t *s = all.segment;
        assert_int_equal (all.count, 1);
        assert_int_equal (s->id_job, 7);
        assert_int_equal (s->time_submit, 1772323200);
        assert_int_equal (s->time_start, 1772323210);
        assert_int_equal (s->time_end, 1772326810);
        assert_int_equal (s->observed_at, 1772326810);
        assert_int_equal (s->state, SEGMENT_COMPLETED);
        assert_string_equal (s->gres, "gpu=2");
        assert_true (s->gpu_asked);
        assert_string_equal (s->user, "u");
        assert_string_equal (s->account, "a");
        assert_string_equal (s->job_name, "x|y");
        assert_string_equal (s->cluster, "test");
        assert_int_equal (s->source, SOURCE_SACCT_TEXT);
        /* what the file does not say is not known */
        assert_null (s->partition);
        assert_null (s->nodelist);
        assert_null (s->gres_requested);
        assert_true (s->uid == UINT32_MAX);
        assert_true (s->suspended == SECONDS_UNKNOWN);
        assert_true (s->time_limit == SECONDS_UNKNOWN);
        assert_int_equal (s->restart_count, -1);
        segments_free (&all);
    }
}

TEST_CASE (import__every_column__in_its_field)
{
    static const char text[]
        = "JobID|JobIDRaw|Submit|Start|End|State|AllocTRES|ReqTRES|User|UID|"
          "Account|Partition|QOS|WCKey|Reservation|NodeList|Suspended|"
          "Timelimit|"
          "Cluster|DBIndex|Restarts|AdminComment|ElapsedRaw|JobName|"
          "SubmitLine\n"
          "12_3|15|2026-03-01T00:00:00|2026-03-01T00:00:10|2026-03-01T01:00:10|"
          "CANCELLED by 1001|cpu=8,gres/gpu:h100=2,gres/gpu=2,mem=1G,node=1|"
          "cpu=8,gres/gpu=4|u|1001|a|p|q|w|r|g[1-2]|00:01:40|1-00:00:00|fox|"
          "18446744073709551000|3|tag-1|3500|None|sbatch x | y\n"
          "30+1|31|2026-03-01T00:00:00|None|2026-03-01T00:00:05|CANCELLED|||u|"
          "1001|a|p|q|||None assigned|00:00:00|UNLIMITED|fox||||0||\n"
          "40_[1-9]|40|2026-03-01T00:00:00|Unknown|Unknown|PENDING|||u|"
          "1001|a|p|q|||None assigned|00:00:00|Partition_Limit|fox||||0||"
          "sbatch -G 1 x\n";
    import_stats_t stats;
    segments_t all = good_text (text, "UTC", &stats);
    const segment_t *s = all.segment;

    assert_int_equal (all.count, 3);
    assert_int_equal (s->array_job, 12);
    assert_int_equal (s->array_task, 3);
    assert_int_equal (s->state, SEGMENT_CANCELLED);
    assert_string_equal (s->gres, "gpu=2,gpu:h100=2");
    assert_string_equal (s->gres_requested, "gpu=4");
    assert_int_equal (s->cpus, 8);
    assert_int_equal (s->memory_mb, 1024);
    assert_int_equal (s->nodes, 1);
    assert_int_equal (s->uid, 1001);
    assert_string_equal (s->partition, "p");
    assert_string_equal (s->qos, "q");
    assert_string_equal (s->wckey, "w");
    assert_string_equal (s->reservation, "r");
    assert_string_equal (s->nodelist, "g[1-2]");
    assert_int_equal (s->suspended, 100);
    assert_int_equal (s->time_limit, 86400);
    assert_string_equal (s->cluster, "fox");
    assert_true (s->job_db_inx == UINT64_C (18446744073709551000));
    assert_int_equal (s->restart_count, 3);
    assert_int_equal (s->cancelled_by, CANCELLED_BY_USER);
    assert_string_equal (s->admin_comment, "tag-1");
    assert_string_equal (s->job_name, "None");
    /* a component of a het job that was cancelled while pending */
    s++;
    assert_int_equal (s->het_job, 30);
    assert_int_equal (s->het_offset, 1);
    assert_int_equal (s->array_task, TASK_NONE);
    assert_int_equal (s->time_start, 0);
    assert_int_equal (s->cancelled_by, CANCELLED_BY_UNKNOWN);
    assert_int_equal (segment_end (s), 0);
    assert_null (s->nodelist);
    assert_string_equal (s->gres, "");
    assert_false (s->gpu_asked);
    /* pending tasks together */
    s++;
    assert_int_equal (s->array_job, 40);
    assert_int_equal (s->array_task, TASK_NONE);
    assert_int_equal (s->time_start, 0);
    assert_int_equal (s->time_end, 0);
    assert_false (s->gpu_asked); /* the first row shows gres/gpu tracked */
    assert_int_equal (stats.never_started, 2);
    assert_int_equal (stats.unknown_gpu, 0);
    segments_free (&all);
}

TEST_CASE (import__submit_lines__ask_for_what_is_not_tracked)
{
    static const char text[]
        = "JobIDRaw|Submit|Start|End|State|AllocTRES|ReqTRES|User|Account|"
          "SubmitLine\n"
          "1|100|100|200|COMPLETED|cpu=1|cpu=1|u|a|sbatch -G 1 x\n"
          "2|100|100|200|COMPLETED|cpu=1|cpu=1|u|a|sbatch -p cpu x -G 1\n"
          "3|200|200|300|COMPLETED|cpu=1|cpu=1,gres/gpu=1|u|a|sbatch x\n"
          "4|200|200|300|COMPLETED|cpu=1|cpu=1|u|a|sbatch -G 1 x\n"
          "5|300|300|400|COMPLETED|cpu=1|cpu=1|u|a|sbatch -G 1 x\n"
          "6|300|300|400|COMPLETED|cpu=1|cpu=1|u|a|sbatch --gres=shard x\n";
    static const bool asked[] = {true, false, true, false, false, true};
    import_stats_t stats;
    segments_t all = good_text (text, "UTC", &stats);

    assert_int_equal (all.count, GL_ARRAY_SIZE (asked));
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal (all.segment[i].gpu_asked, asked[i]);
    assert_int_equal (stats.unknown_gpu, 3);
    segments_free (&all);
}

TEST_CASE (import__open_rows__end_at_the_newest_knowledge)
{
    static const char text[]
        = HEADER ROW ("1", "2026-03-01T00:00:00", "2026-03-01T00:00:10",
                      "Unknown", "100", "RUNNING", "gres/gpu=1")
            ROW ("2", "2026-03-01T00:00:00", "2026-03-01T00:00:10", "Unknown",
                 "250", "RUNNING", "gres/gpu=1")
                ROW ("3", "2026-03-01T00:04:00", "Unknown", "Unknown", "0",
                     "PENDING", "");
    segments_t all = {0};
    import_stats_t stats;

    all = good_text (text, "UTC", &stats);
    assert_int_equal (stats.as_of, 1772323210 + 250);
    assert_int_equal (stats.open, 2);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal (all.segment[i].observed_at, stats.as_of);
    assert_int_equal (segment_end (&all.segment[0]), stats.as_of);
    segments_free (&all);
    assert_int_equal (segments_import_bytes (text, strlen (text), "UTC",
                                             1772400000, &all, &stats, NULL),
                      0);
    assert_int_equal (stats.as_of, 1772400000);
    assert_int_equal (segment_end (&all.segment[0]), 1772400000);
    segments_free (&all);
}

/* Slurm's Elapsed leaves suspended time out. */
TEST_CASE (import__a_finished_row_without_end__lasts_its_elapsed_time)
{
    static const char text[]
        = "JobIDRaw|Submit|Start|End|Elapsed|Suspended|State|AllocTRES|User|"
          "Account\n"
          "1|2026-03-01T00:00:00|2026-03-01T00:00:10|Unknown|00:00:17|00:00:00|"
          "CANCELLED by 5||u|a\n"
          "2|2026-03-01T00:00:00|2026-03-01T00:00:10|Unknown|1-00:00:17|"
          "00:01:00|FAILED||u|a\n";
    segments_t all = good_text (text, "UTC", NULL);

    assert_int_equal (all.segment[0].time_end, 1772323210 + 17);
    assert_int_equal (all.segment[1].time_end, 1772323210 + 86400 + 17 + 60);
    segments_free (&all);
}

/* On 2026-10-25 the clock of Oslo shows 02:00 to 03:00 twice; on 2026-03-29 it
 * skips that hour. */
TEST_CASE (import__days_of_clock_changes__lengths_by_elapsed_time)
{
    static const struct {
        const char *start, *end, *elapsed;
        int64_t seconds;
        unsigned ambiguous;
    } cases[] = {
        /* from the first 02:30 to the second */
        {"2026-10-25T02:30:00", "2026-10-25T02:30:00", "3600", 3600, 0},
        {"2026-10-25T02:30:00", "2026-10-25T02:30:00", "0", 0, 0},
        /* only forwards through the change */
        {"2026-10-25T02:50:00", "2026-10-25T02:10:00", "1200", 1200, 0},
        {"2026-10-25T02:50:00", "2026-10-25T02:10:00", "", 1200, 1},
        {"2026-10-25T01:00:00", "2026-10-25T02:30:00", "9000", 9000, 0},
        {"2026-10-25T01:00:00", "2026-10-25T02:30:00", "", 5400, 1},
        {"2026-10-25T00:00:00", "2026-10-26T00:00:00", "", 25 * 3600, 0},
        {"2026-03-29T00:00:00", "2026-03-30T00:00:00", "", 23 * 3600, 0},
    };
    segments_t all = {0};
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = xasprintf (
            HEADER "1|1|2026-01-01T00:00:00|%s|%s|%s|COMPLETED||u|a|n1|j\n",
            cases[i].start, cases[i].end, cases[i].elapsed);
        import_stats_t stats;
        all = good_text (text, "Europe/Oslo", &stats);
        assert_int_equal (all.segment->time_end - all.segment->time_start,
                          cases[i].seconds);
        assert_int_equal (stats.ambiguous, cases[i].ambiguous);
        segments_free (&all);
    }
    assert_int_equal (
        segments_import_bytes (
            HEADER ROW ("1", "2026-03-29T02:30:00", "None", "Unknown", "0",
                        "PENDING", ""),
            strlen (HEADER ROW ("1", "2026-03-29T02:30:00", "None", "Unknown",
                                "0", "PENDING", "")),
            "Europe/Oslo", 0, &all, NULL, &error),
        -1);
    assert_non_null (strstr (error.text, "--tz"));
}

/* Both lines have as many columns as the header, wherever the text stands. */
TEST_CASE (import__columns_of_users__refused_unless_trusted)
{
#define COLUMNS "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account"
#define REAL "1|100|100|200|COMPLETED||u|a"
#define FORGED "777|100|100|576100|COMPLETED|gres/gpu=1|news|nlp"
    static const struct {
        const char *text;
        const char *column; /* NULL: read in any case */
    } cases[] = {
        {COLUMNS "|Comment\n" REAL "|x\n" FORGED "|y\n", "column Comment "},
        {COLUMNS "|WCKey\n" REAL "|x\n" FORGED "|y\n", "column WCKey "},
        {COLUMNS "|submitline|\n" REAL "|x|\n", "column submitline "},
        {"JobName|" COLUMNS "|NodeList|WorkDir\nx|" FORGED "|g1|y\n",
         "column JobName, WorkDir "},
        {"JobName|JobIDRaw\n", "column JobName "},
        {COLUMNS "|NodeList|QOS\n" REAL "|g1|normal\n", NULL},
    };
    GL_AUTOFREE char *path = xasprintf ("/tmp/gl_import.%d", (int)getpid ());
    zone_t *utc = zone_open ("UTC", NULL);
    import_options_t options
        = {.cluster = "lab", .zone = segments_zone, .zone_arg = utc};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        gl_error_t error = {""};
        FILE *f = fopen (path, "w");
        import_t *import;
        fputs (cases[i].text, f);
        fclose (f);
        import = import_open (path, &options, NULL, NULL, &error);
        assert_int_equal (import == NULL, cases[i].column != NULL);
        import_close (import);
        if (!cases[i].column)
            continue;
        if (!strstr (error.text, cases[i].column)
            || !strstr (error.text, "sacct --json")
            || !strstr (error.text, "leave the column out")
            || !strstr (error.text, "--trust-text"))
            fail_msg ("'%s': %s", cases[i].column, error.text);
    }
    unlink (path);
    zone_close (utc);
}

TEST_CASE (import__of_one_cluster__refuses_another)
{
    static const char text[]
        = "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Cluster\n"
          "1|2026-03-01T00:00:00|None|None|PENDING||u|a|fox\n";
    GL_AUTOFREE char *path = xasprintf ("/tmp/gl_import.%d", (int)getpid ());
    zone_t *utc = zone_open ("UTC", NULL);
    import_options_t options = {.cluster = "hen",
                                .cluster_only = true,
                                .zone = segments_zone,
                                .zone_arg = utc};
    gl_error_t error;
    FILE *f = fopen (path, "w");

    fputs (text, f);
    fclose (f);
    assert_null (import_open (path, &options, NULL, NULL, &error));
    assert_non_null (strstr (error.text, "cluster 'fox', but --cluster is"));
    options.cluster = "fox";
    import_close (import_open (path, &options, NULL, NULL, &error));
    unlink (path);
    zone_close (utc);
}

TEST_MAIN (NULL, NULL)
