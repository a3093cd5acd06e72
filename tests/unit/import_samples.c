/*
 * samples.tsv: tricky cases met in the field. Each row of it must have its
 * place in the table here, with what we make of the sample.
 */
#include "support/test.h"

#include "base/buffer.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "gres/tres.h"
#include "support/data.h"
#include "support/segments.h"

/* The sample of the case that is being checked. */
typedef void (*check_f) (const char *sample, const void *arg);

/* AllocTRES within the sample: from `text` on, as it stands there. */
typedef struct {
    const char *text;
    const char *gres;
    uint64_t devices;
} tres_case_t;

static void check_tres (const char *sample, const void *arg)
{
    const tres_case_t *c = arg;
    tres_t tres = TRES_INIT;
    gl_error_t error = {""};

    assert_non_null (strstr (sample, c->text));
    if (tres_parse (&tres, c->text, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    assert_string_equal (tres.gres, c->gres);
    assert_true (gres_devices (tres.gres, NULL, NULL, NULL) == c->devices);
    tres_done (&tres);
}

/* Lists within the sample, and how many nodes they are. */
typedef struct {
    const char *list;
    uint64_t count;
    const char *last;
} nodes_case_t;

static void check_nodes (const char *sample, const void *arg)
{
    for (const nodes_case_t *c = arg; c->list; c++) {
        nodelist_t *list = nodelist_open (c->list, NULL);
        assert_non_null (strstr (sample, c->list));
        assert_non_null (list);
        assert_true (nodelist_count (list) == c->count);
        assert_true (nodelist_contains (list, c->last));
        nodelist_close (list);
    }
}

/* A row of sacct made of what the sample says, imported; `words` must stand in
 * the sample. */
typedef struct {
    const char *words;
    const char *job_id, *raw, *submit, *start, *end, *elapsed, *state, *tres;
    int64_t started, seconds; /* expected; seconds until segment_end */
    const char *gres;
    uint64_t array_job;
    uint32_t array_task;
} row_case_t;

static void check_row (const char *sample, const void *arg)
{
    const row_case_t *c = arg;
    GL_AUTOFREE char *text = xasprintf (
        "JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|"
        "Account\n%s|%s|%s|%s|%s|%s|%s|%s|u|a\n",
        c->job_id, c->raw, c->submit, c->start, c->end, c->elapsed, c->state,
        c->tres);
    segments_t all = {0};
    import_stats_t stats;
    gl_error_t error = {""};
    const segment_t *s;

    if (!strstr (sample, c->words))
        fail_msg ("'%s' is not in '%s'", c->words, sample);
    if (segments_import_bytes (text, strlen (text), "UTC", 0, &all, &stats,
                               &error)
        < 0)
        fail_msg ("%s", error.text);
    s = all.segment;
    assert_int_equal (all.count, 1);
    assert_int_equal (s->time_start > 0, c->started);
    assert_int_equal (s->time_start ? segment_end (s) - s->time_start : 0,
                      c->seconds);
    assert_string_equal (s->gres, c->gres);
    assert_true (s->array_job == c->array_job);
    assert_true (s->array_task == c->array_task);
    segments_free (&all);
}

/* The slices of the sample's GRES weigh together num/den GPUs. */
typedef struct {
    const char *gres; /* canonical */
    const char *model;
    mig_basis_t basis;
    int num, den; /* den 0: an error with this word */
    const char *word;
} mig_case_t;

typedef struct {
    const mig_case_t *c;
    mpq_t sum;
    bool failed;
    gl_error_t error;
} weigh_t;

static void weigh (const char *type, size_t length, uint64_t count, void *arg)
{
    weigh_t *w = arg;
    fraction_t f;
    mpq_t one;

    if (mig_type_weight (NULL, w->c->model, type, length, w->c->basis, &f,
                         &w->error)
        < 0) {
        w->failed = true;
        return;
    }
    mpq_init (one);
    exact_set_fraction (one, f);
    exact_add_scaled (w->sum, one, (int64_t)count, 1);
    mpq_clear (one);
}

static void check_mig (const char *sample, const void *arg)
{
    for (const mig_case_t *c = arg; c->gres; c++) {
        weigh_t w = {.c = c};
        const char *cursor = c->gres;
        gres_item_t item;

        while (gres_next (&cursor, &item)) {
            GL_AUTOFREE char *type
                = xstrndup (item.type ? item.type : "gpu",
                            item.type ? item.type_length : 3);
            assert_non_null (strstr (sample, type));
        }
        mpq_init (w.sum);
        gres_devices (c->gres, weigh, &w, NULL);
        assert_int_equal (w.failed, c->den == 0);
        if (c->den)
            assert_int_equal (mpq_cmp_si (w.sum, c->num, c->den), 0);
        else
            assert_non_null (strstr (w.error.text, c->word));
        mpq_clear (w.sum);
    }
}

/* The state as sacct prints it. */
static void check_state (const char *sample, const void *arg)
{
    segment_state_t state;

    assert_int_equal (segment_state_parse (sample, strlen (sample), &state), 0);
    assert_int_equal (state, *(const int *)arg);
}

/* Job 1902893 has three rows in the file, each with gres/gpu=4. */
static void check_steps (const char *sample, const void *arg)
{
    GL_AUTOFREE char *path = test_data (arg);
    segments_t all = {0};
    int found = 0;

    assert_non_null (strstr (sample, "JobID 1902893 / .interactive / .extern"));
    assert_int_equal (segments_import (path, "UTC", 0, &all, NULL, NULL), 0);
    for (size_t i = 0; i < all.count; i++) {
        if (all.segment[i].id_job == 1902893) {
            assert_string_equal (all.segment[i].gres, "gpu=4,gpu:a100_80=4");
            found++;
        }
    }
    assert_int_equal (found, 1);
    segments_free (&all);
}

/* Memory that was asked for is nobody's bill; any text there will do. */
static void check_req_mem (const char *sample, const void *arg)
{
    GL_AUTOFREE char *text = xasprintf (
        "JobIDRaw|ReqMem|Submit|Start|End|State|AllocTRES|User|Account\n"
        "7|%s|2026-03-01T00:00:00|None|Unknown|PENDING||u|a\n",
        sample);
    segments_t all = {0};

    (void)arg;
    assert_int_equal (
        segments_import_bytes (text, strlen (text), "UTC", 0, &all, NULL, NULL),
        0);
    assert_true (all.segment->memory_mb == COUNT_UNKNOWN);
    segments_free (&all);
}

/* 43974388 ended at 02:02:39 though its step went on; 43977780 has no end and
 * lasted 17 s. */
static void check_aalto (const char *sample, const void *arg)
{
    GL_AUTOFREE char *path = test_data ("slurm/slurm2sql_test-data1.psv");
    const int64_t *expected = arg; /* id, start, seconds */
    segments_t all = {0};
    gl_error_t error = {""};
    GL_AUTOFREE char *id = xasprintf ("%lld", (long long)expected[0]);
    bool found = false;

    assert_non_null (strstr (sample, id));
    if (segments_import (path, "UTC", 0, &all, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    for (size_t i = 0; i < all.count; i++) {
        const segment_t *s = &all.segment[i];
        if ((int64_t)s->id_job != expected[0])
            continue;
        found = true;
        assert_int_equal (s->time_start, expected[1]);
        assert_int_equal (s->time_end - s->time_start, expected[2]);
        assert_int_equal (s->state, SEGMENT_CANCELLED);
    }
    assert_true (found);
    segments_free (&all);
}

/* Two polls in one file, either way round: all rows reach the store, which
 * takes a closed one for newer at the same moment. */
static void check_polls (const char *sample, const void *arg)
{
    static const char text[]
        = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account\n"
          "5|2025-05-03T00:00:00|2025-05-03T00:00:00|Unknown|60|RUNNING||u|a\n"
          "5|2025-05-03T00:00:00|2025-05-03T00:00:00|2025-05-03T00:02:00|120|"
          "COMPLETED||u|a\n";
    segments_t all = {0};

    (void)sample;
    (void)arg;
    assert_int_equal (
        segments_import_bytes (text, strlen (text), "UTC", 0, &all, NULL, NULL),
        0);
    assert_int_equal (all.count, 2);
    assert_int_equal (all.segment[0].id_job, all.segment[1].id_job);
    assert_int_equal (all.segment[0].time_submit, all.segment[1].time_submit);
    assert_int_equal (all.segment[0].observed_at, all.segment[1].observed_at);
    assert_int_equal (all.segment[0].time_end, 0);
    assert_true (all.segment[1].time_end > 0);
    segments_free (&all);
}

/* One JSON job with the sample's piece in it. */
typedef struct {
    const char *piece; /* stands in the sample */
    const char *job;   /* printf format with one %s */
    int64_t seconds;
    const char *gres;
    bool unknown;
} json_case_t;

static void check_json (const char *sample, const void *arg)
{
    const json_case_t *c = arg;
    GL_AUTOFREE char *text = NULL;
    BUFFER_AUTO b = BUFFER_INIT;
    const char *mark = strstr (c->job, "%s");
    segments_t all = {0};
    import_stats_t stats;
    gl_error_t error = {""};

    assert_non_null (strstr (sample, c->piece));
    buffer_add (&b, c->job, mark - c->job);
    buffer_add_text (&b, c->piece);
    buffer_add_text (&b, mark + 2);
    text = buffer_take (&b);
    if (segments_import_bytes (text, strlen (text), "UTC", 0, &all, &stats,
                               &error)
        < 0)
        fail_msg ("%s", error.text);
    assert_int_equal (segment_end (all.segment) - all.segment->time_start,
                      c->seconds);
    assert_string_equal (all.segment->gres, c->gres);
    assert_int_equal (stats.unknown_gpu, c->unknown);
    segments_free (&all);
}

#define TRES(text, gres, devices)    \
    check_tres, &(const tres_case_t) \
    {                                \
        text, gres, devices          \
    }
#define MIG(...)                            \
    check_mig, (const mig_case_t[])         \
    {                                       \
        __VA_ARGS__,                        \
        {                                   \
            NULL, NULL, MIG_MAX, 0, 0, NULL \
        }                                   \
    }
#define ROW(...)                   \
    check_row, &(const row_case_t) \
    {                              \
        __VA_ARGS__                \
    }
#define JSON(...)                    \
    check_json, &(const json_case_t) \
    {                                \
        __VA_ARGS__                  \
    }

static const struct {
    const char *name; /* the first column of samples.tsv */
    check_f check;
    const void *arg;
} cases[] = {
    {"typed+untyped",
     TRES ("billing=78,cpu=48,gres/gpu:a100_80=4,gres/gpu=4,mem=384G,node=1",
           "gpu=4,gpu:a100_80=4", 4)},
    {"steps repeat GRES", check_steps, "slurm/fox_2025-09-26.sacct.gz"},
    {"MIG without type",
     TRES ("billing=12,cpu=8,gres/gpu=1,mem=64G,node=1", "gpu=1", 1)},
    {"cancelled before start",
     ROW ("Start=None", "1956890", "1956890", "2025-09-26T08:00:00", "None",
          "2025-09-26T08:02:35", "0", "CANCELLED by 7", "", 0, 0, "", 0,
          TASK_NONE)},
    {"running", ROW ("End=Unknown", "1879824", "1879824", "2025-09-07T22:16:06",
                     "2025-09-12T14:06:12", "Unknown", "1192379", "RUNNING",
                     "gres/gpu=1", 1, 1192379, "gpu=1", 0, TASK_NONE)},
    {"pending",
     ROW ("Start=Unknown End=Unknown", "9", "9", "2025-09-07T22:16:06",
          "Unknown", "Unknown", "0", "PENDING", "", 0, 0, "", 0, TASK_NONE)},
    {"multi-node hostlist", check_nodes,
     (const nodes_case_t[]){
         {"c1-[9-10]", 2, "c1-10"},
         {"cpn-f13-03-[01-02],cpn-f13-04-[01-02]", 4, "cpn-f13-04-02"},
         {NULL, 0, NULL}}},
    {"month+year boundary with GPUs",
     ROW ("2023-12-22T07:00:00|2024-01-01T20:30:00", "900001", "900001",
          "2023-12-22T06:00:00", "2023-12-22T07:00:00", "2024-01-01T20:30:00",
          "912600", "COMPLETED", "billing=12,cpu=12,gres/gpu=2,mem=64G,node=1",
          1, (4660 + 410) * 3600 / 20, "gpu=2", 0, TASK_NONE)},
    {"ReqTRES lacks the GPU",
     TRES ("billing=12,cpu=12,gres/gpu=2,mem=64G,node=1", "gpu=2", 2)},
    {"ReqMem overflow", check_req_mem, NULL},
    {"state with uid", check_state, &(const int){SEGMENT_CANCELLED}},
    {"PREEMPTED",
     ROW ("PREEMPTED", "9", "9", "2025-09-07T22:16:06", "2025-09-07T22:16:06",
          "2025-09-07T22:17:06", "60", "PREEMPTED", "gres/gpu=1", 1, 60,
          "gpu=1", 0, TASK_NONE)},
    {"zero length", ROW ("Start=End", "9", "9", "2025-09-07T22:16:06",
                         "2025-09-07T22:17:06", "2025-09-07T22:17:06", "0",
                         "FAILED", "gres/gpu=1", 1, 0, "gpu=1", 0, TASK_NONE)},
    {"array",
     ROW ("39889258_1426|39895850", "39889258_1426", "39895850",
          "2025-09-07T22:16:06", "2025-09-07T22:16:06", "2025-09-07T22:17:06",
          "60", "COMPLETED", "", 1, 60, "", 39889258, 1426)},
    {"array, index in brackets",
     ROW ("6116638[10]", "6116638[10]", "6116648", "2025-09-07T22:16:06",
          "2025-09-07T22:16:06", "2025-09-07T22:17:06", "60", "COMPLETED", "",
          1, 60, "", 0, TASK_NONE)},
    {"pending array range",
     ROW ("14729857_[737-999]", "14729857_[737-999]", "14729857",
          "2025-09-07T22:16:06", "Unknown", "Unknown", "0", "PENDING", "", 0, 0,
          "", 14729857, TASK_NONE)},
    {"step outlives job", check_aalto,
     (const int64_t[]){43974388, 1564612154, 12805}},
    {"cancelled, End=Unknown", check_aalto,
     (const int64_t[]){43977780, 1564619727, 17}},
    {"snapshot duplicates", check_polls, NULL},
    {"submit after start",
     ROW ("Submit 2025-05-18 Start 2025-04-28", "1621683", "1621683",
          "2025-05-18T18:38:08", "2025-04-28T03:43:51", "Unknown", "450920",
          "RUNNING", "gres/gpu:a100=4,gres/gpu=4", 1, 450920,
          "gpu=4,gpu:a100=4", 0, TASK_NONE)},
    {"MIG typed, short model",
     MIG ({"gpu=1,gpu:a100_1g.5gb=1", NULL, MIG_COMPUTE, 1, 7, NULL},
          {"gpu=1,gpu:a100_1g.5gb=1", NULL, MIG_MEMORY, 1, 8, NULL})},
    {"MIG typed, NVML long name",
     MIG ({"gpu=1,gpu:nvidia_h100_80gb_hbm3_3g.40gb=1", NULL, MIG_COMPUTE, 3, 7,
           NULL},
          {"gpu=1,gpu:nvidia_h100_80gb_hbm3_3g.40gb=1", NULL, MIG_MEMORY, 4, 8,
           NULL})},
    {"MIG typed, profile only",
     MIG ({"gpu=1,gpu:1g.10gb=1", NULL, MIG_MEMORY, 0, 0, "ambiguous"},
          {"gpu=1,gpu:1g.10gb=1", "A100-SXM4-40GB", MIG_MEMORY, 2, 8, NULL},
          {"gpu=1,gpu:1g.10gb=1", "H100-SXM5-80GB", MIG_MEMORY, 1, 8, NULL})},
    {"MIG mixed in one TRES", MIG ({"gpu=3,gpu:3g.40gb=2,gpu:4g.40gb=1",
                                    "H100-80GB", MIG_COMPUTE, 10, 7, NULL})},
    {"typed only, no total",
     MIG ({"gpu:a100=2,gpu:a100_1g.5gb=2", NULL, MIG_COMPUTE, 16, 7, NULL})},
    {"MIG node inflates counts",
     MIG ({"gpu=22,gpu:h100_pcie_1g.10gb=16,gpu:h100_pcie_2g.20gb=6",
           "H100-PCIe-80GB", MIG_COMPUTE, 4, 1, NULL})},
    {"three models in one node",
     TRES ("gres/gpu=8,gres/gpu:rtx4000=4,gres/gpu:rtx8000=2,gres/gpu:v100=2",
           "gpu=8,gpu:rtx4000=4,gpu:rtx8000=2,gpu:v100=2", 8)},
    {"type with dashes", TRES ("gres/gpu:nvidia_a100-sxm4-80gb=1,gres/gpu=1",
                               "gpu=1,gpu:nvidia_a100-sxm4-80gb=1", 1)},
    {"shard",
     TRES ("billing=10,cpu=10,gres/shard:nvidia_gb10=40,gres/shard=40,mem=50G,"
           "node=1",
           "shard=40,shard:nvidia_gb10=40", 0)},
    {"QOS cap", TRES ("gres/gpu:nvidia_h100_nvl_1g.12gb=14",
                      "gpu:nvidia_h100_nvl_1g.12gb=14", 14)},
    {"GPU job, TRES not tracked",
     JSON ("[\"gpu:h100:1(IDX:0)\"]",
           "{\"job_id\":1,\"job_state\":\"COMPLETED\",\"submit_time\":1000,"
           "\"start_time\":2000,\"end_time\":2060,\"gres_detail\":%s,"
           "\"tres_alloc_str\":\"cpu=1,mem=512M,node=1,billing=1\"}",
           60, "", true)},
    {"energy sentinel",
     JSON ("{\"type\":\"energy\",\"id\":3,\"count\":-2}",
           "{\"job_id\":1,\"state\":{\"current\":[\"COMPLETED\"]},\"time\":{"
           "\"submission\":1000,\"start\":2000,\"end\":2060},\"tres\":{"
           "\"allocated\":[%s]}}",
           60, "", false)},
    {"RUNNING in JSON",
     JSON ("\"end\": 0, \"elapsed\": 1",
           "{\"job_id\":1,\"state\":{\"current\":\"RUNNING\"},\"time\":{"
           "\"submission\":1000,\"start\":2000,%s}}",
           1, "", false)},
    {"sacct --json gres",
     JSON ("{\"type\":\"gres\",\"name\":\"gpu:a100\",\"count\":1}",
           "{\"job_id\":1,\"state\":{\"current\":[\"COMPLETED\"]},\"time\":{"
           "\"submission\":1000,\"start\":2000,\"end\":2060},\"tres\":{"
           "\"allocated\":[%s]}}",
           60, "gpu:a100=1", false)},
};

static void check_sample (const char *name, const char *sample)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        if (strcmp (cases[i].name, name) == 0) {
            cases[i].check (sample, cases[i].arg);
            return;
        }
    }
    fail_msg ("the case '%s' of samples.tsv has no check", name);
}

TEST_CASE (samples__every_case__as_it_must_be_read)
{
    GL_AUTOFREE char *path = test_data ("slurm/samples.tsv");
    FILE *f = fopen (path, "r");
    char line[4096];
    size_t count = 0;

    assert_non_null (f);
    assert_non_null (fgets (line, sizeof (line), f)); /* the header */
    while (fgets (line, sizeof (line), f)) {
        char *p = line;
        const char *name = strsep (&p, "\t");
        const char *sample = strsep (&p, "\t");
        assert_non_null (sample);
        check_sample (name, sample);
        count++;
    }
    fclose (f);
    assert_int_equal (count, GL_ARRAY_SIZE (cases));
}

TEST_MAIN (NULL, NULL)
