/* What a request would cost: Slurm's words, rates, slices, candidates. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/timespec.h"
#include "base/memory.h"
#include "config/config.h"
#include "users/price.h"
#include "users/prices.h"
#include "ledger/billing.h"

static const char site_text[]
    = "ledger:   {timezone: UTC, currency: USD}\n"
      "pools:\n"
      "  - {name: h100, cluster: lab, nodes: 'g[1-2]', gres: [h100], gpu: "
      "H100-SXM5-80GB, gpus_per_node: 8}\n"
      "  - {name: mig, cluster: lab, nodes: 'g2,m1', gres: [1g.10gb, 3g.40gb], "
      "gpu: H100-SXM5-80GB, gpus_per_node: 2}\n"
      "  - {name: old, cluster: lab, nodes: o1, gres: [v100], gpu: V100, "
      "gpus_per_node: 4}\n"
      "  - {name: cpu-free, cluster: other, nodes: x1, gpu: A100-SXM4-80GB, "
      "gpus_per_node: 4}\n"
      "  - {name: gone, cluster: lab, nodes: g9, gres: [h100], gpu: "
      "H100-SXM5-80GB, gpus_per_node: 8, to: 2026-01-01}\n"
      "rates:\n"
      "  - {pool: h100, per_gpu_hour: 3.60, from: 2026-01-01, to: 2026-07-01}\n"
      "  - {pool: h100, per_gpu_hour: 3.90, from: 2026-07-01}\n"
      "  - {pool: h100, qos: scavenger, per_gpu_hour: 1.20, from: 2026-01-01}\n"
      "  - {pool: mig, per_gpu_hour: 7, mig_price: max}\n"
      "  - {pool: cpu-free, per_gpu_hour: 2}\n"
      "qos:\n"
      "  - {name: high, multiplier: 1.5, to: 2026-07-01}\n"
      "  - {name: high, pool: h100, multiplier: 2, subsidy: 25%, from: "
      "2026-07-01}\n"
      "  - {name: free, subsidy: 100%}\n";

static site_t *site;

static int64_t at (const char *text)
{
    int64_t instant = 0;

    assert_int_equal (instant_parse (text, site->zone, &instant, NULL), 0);
    return instant;
}

static int open_site (void **state)
{
    gl_error_t error;

    (void)state;
    if (config_load_text ("test", site_text, strlen (site_text), &site, &error)
        == 0)
        return 0;
    print_error ("%s\n", error.text);
    return -1;
}

static int close_site (void **state)
{
    (void)state;
    site_free (site);
    return 0;
}

/* Rows as "TYPE POOL DEVICES HOUR TOTAL", then the totals; "!why" instead. */
static const char *ask (const price_words_t *words, const char *when)
{
    static char text[4096];
    size_t length = 0;
    gl_error_t error;
    report_t *report = price_report (site, words, at (when), &error);

    if (!report) {
        snprintf (text, sizeof (text), "!%s", error.text);
        return text;
    }
    text[0] = '\0';
    for (size_t row = 0; row < report->row_count; row++) {
        static const size_t columns[] = {0, 1, 2, 4, 5};
        for (size_t i = 0; i < 5; i++) {
            const char *cell = report_cell (report, row, columns[i]);
            length += (size_t)snprintf (text + length, sizeof (text) - length,
                                        "%s%s",
                                        i     ? " "
                                        : row ? "; "
                                              : "",
                                        cell ? cell : "-");
        }
    }
    if (report->total)
        snprintf (text + length, sizeof (text) - length, " = %s %s",
                  report->total[4] ? report->total[4] : "-",
                  report->total[5] ? report->total[5] : "-");
    report_free (report);
    return text;
}

TEST_CASE (time__slurms_grammar__is_seconds)
{
    static const struct {
        const char *text;
        int64_t seconds; /* 0: refused */
    } cases[] = {
        {"1", 60},
        {"90", 5400},
        {"1:30", 90},
        {"0:30", 30},
        {"12:00:00", 43200},
        {"1:2:3", 3723},
        {"2-0", 172800},
        {"1-12", 129600},
        {"1-12:30", 131400},
        {"1-12:30:15", 131415},
        {"0-1", 3600},
        {"100:00", 6000},
        {"", 0},
        {"0", 0},
        {"-1", 0},
        {"1-", 0},
        {"-", 0},
        {"1:2:3:4", 0},
        {"1-2-3", 0},
        {":30", 0},
        {"1:", 0},
        {"1h", 0},
        {" 1", 0},
        {"+1", 0},
        {"UNLIMITED", 0},
        {"99999999999999999999", 0},
        {"9999999999", 0},
        {"36501-0", 0},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        int64_t seconds = 0;
        int rc = price_time (cases[i].text, &seconds, NULL);
        if (rc != (cases[i].seconds ? 0 : -1) || seconds != cases[i].seconds)
            fail_msg ("'%s': %d, %lld", cases[i].text, rc, (long long)seconds);
    }
}

TEST_CASE (request__typed__has_the_rate_in_force)
{
    price_words_t w = {.gres = "gpu:h100:4", .time = "12:00:00"};

    assert_string_equal (ask (&w, "2026-03-01"),
                         "h100 h100 4 14.4000 172.80 = 14.4000 172.80");
    assert_string_equal (ask (&w, "2026-07-01"),
                         "h100 h100 4 15.6000 187.20 = 15.6000 187.20");
    w.qos = "scavenger";
    assert_string_equal (ask (&w, "2026-03-01"),
                         "h100 h100 4 4.8000 57.60 = 4.8000 57.60");
    w.qos = "normal";
    w.nodes = "2-4";
    assert_string_equal (ask (&w, "2026-03-01"),
                         "h100 h100 8 28.8000 345.60 = 28.8000 345.60");
    /* x 1.5; x 2 x 75 %; nothing */
    w.qos = "high";
    assert_string_equal (ask (&w, "2026-03-01"),
                         "h100 h100 8 43.2000 518.40 = 43.2000 518.40");
    assert_string_equal (ask (&w, "2026-07-01"),
                         "h100 h100 8 46.8000 561.60 = 46.8000 561.60");
    w.qos = "free";
    assert_string_equal (ask (&w, "2026-07-01"),
                         "h100 h100 8 0.0000 0.00 = 0.0000 0.00");
}

TEST_CASE (request__its_three_forms__count_alike)
{
    const price_words_t same[]
        = {{.gres = "gpu:h100:3", .nodes = "2"},
           {.gres = "license:x,gres/gpu:h100:3,craynetwork:1", .nodes = "2"},
           {.gpus_per_node = "h100:3", .nodes = "2"},
           {.gpus_per_node = "h100:2,h100", .nodes = "2"},
           {.gpus = "h100:6", .nodes = "2"},
           {.gpus = "h100:6", .nodes = "1-2"},
           {.gpus = "h100:6", .gpus_per_node = "h100:3"},
           {.gpus = "h100:6", .gpus_per_node = "h100:3", .nodes = "2"},
           {.gpus = "h100:6", .gres = "gpu:h100:3", .nodes = "1-4"},
           {.gpus = "h100:6"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (same); i++)
        assert_string_equal (ask (&same[i], "2026-03-01"),
                             "h100 h100 6 21.6000 - = 21.6000 -");
    assert_string_equal (
        ask (&(price_words_t){.gres = "gpu:h100"}, "2026-03-01"),
        "h100 h100 1 3.6000 - = 3.6000 -");
}

TEST_CASE (request__slices__cost_their_part)
{
    price_words_t w = {.gres = "gpu:1g.10gb:3,gpu:3g.40gb:1", .time = "60"};

    /* 3 x 7 x 1/7 and 7 x 4/8: max of compute and memory */
    assert_string_equal (ask (&w, "2026-03-01"),
                         "1g.10gb mig 3 3.0000 3.00; 3g.40gb mig 1 3.5000 3.50 "
                         "= 6.5000 6.50");
}

TEST_CASE (request__untyped__lists_the_pools)
{
    price_words_t w = {.gpus = "2", .cluster = "lab"};

    assert_string_equal (ask (&w, "2026-03-01"),
                         "h100 h100 2 7.2000 -; 1g.10gb mig 2 2.0000 -; "
                         "3g.40gb mig 2 7.0000 -; v100 old 2 - -");
    w.cluster = "other";
    assert_string_equal (ask (&w, "2026-03-01"),
                         "(untyped) cpu-free 2 4.0000 - = 4.0000 -");
    w.gpus = "a100:2"; /* no pool lists it, one takes every type */
    assert_string_equal (ask (&w, "2026-03-01"),
                         "a100 cpu-free 2 4.0000 - = 4.0000 -");
}

TEST_CASE (request__wrong__says_what_to_write)
{
    static const struct {
        price_words_t words;
        const char *why;
    } cases[] = {
        {{.time = "1"}, "!say which GPUs by --gres"},
        {{.gres = "gpu:1", .gpus_per_node = "1"}, "!say which GPUs by --gres"},
        {{.gpus = "h100:7", .gpus_per_node = "h100:4"},
         "!--gpus=h100:7 is not a multiple of the GPUs of a node, h100:4"},
        {{.gpus = "8", .gres = "gpu:h100:4"},
         "!--gpus=8 is not a multiple of the GPUs of a node, gpu:h100:4"},
        {{.gpus = "h100:8,v100:4", .gpus_per_node = "h100:4,v100:4"},
         "!--gpus=h100:8,v100:4 is not a multiple"},
        {{.gpus = "8", .gpus_per_node = "4", .nodes = "3"},
         "!--gpus=8 with 4 on each node are 2 nodes, not --nodes=3"},
        {{.gpus = "1", .nodes = "2"},
         "!1 GPUs are fewer than 2 nodes: sbatch wants one or more on each"},
        {{.gpus = "h100:2", .nodes = "1k"},
         "!2 GPUs of type h100 are fewer than 1024 nodes"},
        {{.gpus = "4", .nodes = "4-2"}, "!'4-2' is not a number of nodes"},
        {{.gres = "license:x"}, "!the request asks for no GPU"},
        {{.gres = "gpu:0"}, "!the request asks for no GPU"},
        {{.gres = "shard:2"}, "!shards and MPS have no price"},
        {{.gres = "gpu:h100:x"}, "!'h100:x' is not a number of GPUs"},
        {{.gpus = ""}, "!'' is not a number of GPUs"},
        {{.gpus = "1", .nodes = "0"}, "!'0' is not a number of nodes"},
        {{.gpus = "1", .nodes = "2-x"}, "!'2-x' is not a number of nodes"},
        {{.gpus = "1", .time = "UNLIMITED"}, "!'UNLIMITED' has no total"},
        {{.gpus = "1", .time = "soon"}, "!'soon' is not a time in Slurm's form"},
        {{.gpus = "1000001"}, "!no cluster has so many GPUs"},
        {{.gres = "gpu:1000", .nodes = "1001"}, "!no cluster has so many"},
        {{.gpus = "b200:1", .cluster = "lab"}, "!no pool has GPUs of type"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        const char *answer = ask (&cases[i].words, "2026-03-01");
        if (strncmp (answer, cases[i].why, strlen (cases[i].why)) != 0)
            fail_msg ("%zu: %s", i, answer);
    }
}

/* What no node has is not offered, and the reason is given. */
TEST_CASE (request__beyond_a_pool__is_not_offered)
{
    static const struct {
        price_words_t words;
        const char *answer;
    } cases[] = {
        {{.gpus = "8", .cluster = "lab"},
         "h100 h100 8 28.8000 -; 1g.10gb mig 8 8.0000 -; "
         "3g.40gb mig 8 28.0000 -"},
        {{.gpus_per_node = "8", .cluster = "lab"},
         "h100 h100 8 28.8000 -; 1g.10gb mig 8 8.0000 -"},
        {{.gpus_per_node = "8", .nodes = "2", .cluster = "lab"},
         "h100 h100 16 57.6000 -; 1g.10gb mig 16 16.0000 -"},
        {{.gpus = "h100:16"}, "h100 h100 16 57.6000 - = 57.6000 -"},
        {{.gpus = "h100:17"},
         "!no pool can run this: pool h100, h100: 17 are asked for, and 2 "
         "nodes of it have 16"},
        {{.gpus = "h100:9", .nodes = "1"},
         "!no pool can run this: pool h100, h100: 9 on a node are asked for, "
         "and its nodes have 8"},
        {{.gpus = "v100:4", .nodes = "2"},
         "!no pool can run this: pool old, v100: 2 nodes are asked for, and "
         "it has 1"},
        {{.gres = "gpu:1g.10gb:15"},
         "!no pool can run this: pool mig, 1g.10gb: 15 on a node are asked "
         "for, and its nodes have 14"},
        {{.gres = "gpu:1g.10gb:7,gpu:3g.40gb:3"},
         "!no pool can run this: pool mig, 1g.10gb: all that is asked for of "
         "a node is more than its 2 GPUs"},
        {{.gres = "gpu:h100:1,gpu:1g.10gb:7"},
         "h100 h100 1 3.6000 -; 1g.10gb mig 7 7.0000 - = 10.6000 -"},
        {{.gres = "gpu:h100:1,gpu:1g.10gb:7", .nodes = "2"},
         "!no pool can run this: pool h100, h100: too few of its nodes have "
         "the other GPUs, too"},
        {{.gpus = "h100:1,v100:1"},
         "!no pool can run this: pool h100, h100: too few of its nodes have "
         "the other GPUs, too"},
        {{.gpus = "h200:1", .cluster = "other"},
         "!no pool can run this: pool cpu-free, h200: its GPUs are "
         "A100-SXM4-80GB"},
        {{.gpus = "8", .pool = "old"},
         "!no pool can run this: pool old, v100: 8 are asked for, and 1 node "
         "of it has 4"},
        {{.gpus = "h100:8", .pool = "h100"},
         "h100 h100 8 28.8000 - = 28.8000 -"},
        {{.gpus = "h100:8", .pool = "old"},
         "!pool old has no GPUs of type 'h100'"},
        {{.gpus = "1", .pool = "nosuch"},
         "!pool nosuch has no GPUs of type 'gpu'"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++)
        assert_string_equal (ask (&cases[i].words, "2026-03-01"),
                             cases[i].answer);
}

TEST_CASE (request__part_of_the_pools__says_which_are_left_out)
{
    price_words_t w = {.gpus_per_node = "5", .cluster = "lab"};
    report_t *report = price_report (site, &w, at ("2026-03-01"), NULL);

    assert_non_null (report);
    assert_string_equal (
        report->note[0].text,
        "Left out: pool mig, 3g.40gb: 5 on a node are asked for, and its "
        "nodes have 4; pool old, v100: 5 on a node are asked for, and its "
        "nodes have 4.");
    report_free (report);
}

static const char *file (const char *node, const char *const *types,
                         size_t count, const char *when)
{
    static char text[4096];
    buffer_t out = BUFFER_INIT;

    assert_int_equal (
        prices_make (site, "lab", node, types, count, at (when), &out, NULL),
        0);
    snprintf (text, sizeof (text), "%s", buffer_text (&out));
    buffer_done (&out);
    return text;
}

/* --- a price is what is billed later ------------------------------------ */

#define REQUESTS 500

static uint64_t next (uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C (6364136223846793005) + 1442695040888963407U;
    return (*seed >> 33) % below;
}

static const char *one_of (uint64_t *seed, const char *const *words)
{
    size_t count = 0;

    while (words[count])
        count++;
    return words[next (seed, count)];
}

static const char *const bills[] = {
    "",
    ", bill: dominant, cpus_per_gpu: 12, memory_per_gpu: 100000",
    ", bill: max, gpu_weight: 7, cpu_weight: 0.3, memory_weight: 0.21",
    ", bill: sum, gpu_weight: 7, cpu_weight: 0.3, memory_weight: 0.21",
    ", bill: sum-or-memory, gpu_weight: 7, cpu_weight: 0.3, memory_weight: 0.1",
    NULL};
static const char *const terms[]
    = {"",
       "",
       ", minimum: 0.37",
       ", minimum_gpu_hours: 0.5, round_hours: 15m",
       ", round_hours: 1h",
       ", per_cpu_hour: 0.031, included_cpus: 4, gb: decimal",
       ", per_gb_hour: 0.0043, included_gb: 17, minimum: 0.2",
       ", per_cpu_hour: 0.02, cpu_steps: [{above: 8, per_cpu_hour: 0.05}]",
       NULL};
static const char *const who[] = {"",
                                  "class: industry, ",
                                  "plan: gold, ",
                                  "partition: fast, ",
                                  "qos: high, ",
                                  "gpus: 2+, ",
                                  "gpus: 1-3, ",
                                  "reservation: course, ",
                                  "class: industry, gpus: 4+, ",
                                  NULL};

/* Prices of CPUs are for pools that weigh them. */
static void add_rate (buffer_t *out, uint64_t *seed, const char *pool,
                      const char *bill, const char *of)
{
    bool weighs = strstr (bill, "gpu_weight") != NULL;
    const char *extra = one_of (seed, terms);

    buffer_printf (out, "  - {pool: %s, %sper_gpu_hour: %u.%03u%s}\n", pool, of,
                   (unsigned)next (seed, 4), (unsigned)(1 + next (seed, 999)),
                   weighs || !strstr (extra, "per_") ? extra : "");
}

static site_t *make_prices (uint64_t *seed)
{
    BUFFER_AUTO out = BUFFER_INIT;
    const char *of_a = one_of (seed, bills), *of_m = one_of (seed, bills);
    gl_error_t error;
    site_t *made;

    buffer_printf (&out,
                   "ledger: {timezone: UTC, currency: USD}\n"
                   "policy: {minimum: %us, increment: %us, grace: %us}\n"
                   "pools:\n"
                   "  - {name: a, nodes: 'g[1-4]', gres: [h100], gpu: "
                   "H100-SXM5-80GB, gpus_per_node: 8%s}\n"
                   "  - {name: m, nodes: 'g[1-4]', gres: [3g.40gb], gpu: "
                   "H100-SXM5-80GB, gpus_per_node: 2%s}\n"
                   "  - {name: c, resource: cpu, nodes: 'g[1-4]', "
                   "cpus_per_node: 64, cpu_jobs: %s}\n",
                   (unsigned)(next (seed, 3) * 700),
                   (unsigned)(1 + next (seed, 2) * 900),
                   (unsigned)(next (seed, 3) * 60), of_a, of_m,
                   next (seed, 2) ? "all" : "without_gpus");
    buffer_printf (
        &out,
        "teams: [{name: t, accounts: [acc], class: %s, plan: %s%s}]\n"
        "qos: [{name: low, subsidy: 25%%, multiplier: 1.1}]\n"
        "rates:\n  - {pool: c, per_cpu_hour: 0.0%u%s}\n",
        next (seed, 2) ? "industry" : "academic",
        next (seed, 2) ? "gold" : "iron",
        next (seed, 2) ? ", surcharge: 12%, overhead: 7.5%" : "",
        (unsigned)(1 + next (seed, 98)),
        next (seed, 2) ? ", minimum: 0.05" : "");
    add_rate (&out, seed, "a", of_a, "");
    add_rate (&out, seed, "m", of_m, "");
    add_rate (&out, seed, next (seed, 2) ? "a" : "m", "",
              who[1 + next (seed, 4)]);
    add_rate (&out, seed, "a", of_a, who[5 + next (seed, 4)]);
    if (config_load_text ("random", buffer_text (&out), out.length, &made,
                          &error)
        < 0)
        fail_msg ("%s\n%s", error.text, buffer_text (&out));
    return made;
}

/* The words of sbatch, and what Slurm allocates for them. */
struct request {
    price_words_t words;
    segment_t segment;
    char gres[64], allocated[80], tasks[8], cpus[8], mem[16], time[16],
        nodes[8], nodelist[16];
};

static void make_request (struct request *r, uint64_t *seed, int64_t start)
{
    uint64_t gpus = next (seed, 5), slices = next (seed, 3),
             nodes = 1 + next (seed, 3), tasks = 1 + next (seed, 5),
             cpus = 1 + next (seed, 12), memory = 1000 * (1 + next (seed, 300)),
             seconds = 1 + next (seed, 9000);

    *r = (struct request){.words = {.account = "acc", .gres = r->gres}};
    snprintf (r->nodes, sizeof (r->nodes), "%u", (unsigned)nodes);
    snprintf (r->nodelist, sizeof (r->nodelist), "g[1-%u]", (unsigned)nodes);
    snprintf (r->tasks, sizeof (r->tasks), "%u", (unsigned)tasks);
    snprintf (r->cpus, sizeof (r->cpus), "%u", (unsigned)cpus);
    snprintf (r->mem, sizeof (r->mem), "%u", (unsigned)memory);
    snprintf (r->time, sizeof (r->time), "0:%u", (unsigned)seconds);
    snprintf (r->gres, sizeof (r->gres), "%s%u%s%u",
              "gpu:h100:", (unsigned)gpus, ",gpu:3g.40gb:", (unsigned)slices);
    snprintf (r->allocated, sizeof (r->allocated),
              "gpu=%u,gpu:3g.40gb=%u,gpu:h100=%u",
              (unsigned)((gpus + slices) * nodes), (unsigned)(slices * nodes),
              (unsigned)(gpus * nodes));
    r->words.gres = gpus + slices ? r->gres : NULL;
    r->words.nodes = r->nodes;
    r->words.time = r->time;
    r->words.ntasks = r->tasks;
    r->words.cpus_per_task = r->cpus;
    r->words.mem = r->mem;
    r->words.qos = next (seed, 3) ? next (seed, 2) ? "low" : "high" : NULL;
    r->words.partition = next (seed, 2) ? "fast" : NULL;
    r->words.reservation = next (seed, 2) ? "course" : NULL;
    r->segment = (segment_t){.cluster = "lab",
                             .id_job = 1,
                             .time_submit = start,
                             .time_start = start,
                             .time_end = start + (int64_t)seconds,
                             .observed_at = start + 86400,
                             .state = SEGMENT_COMPLETED,
                             .user = "ann",
                             .account = "acc",
                             .partition = r->words.partition,
                             .qos = r->words.qos,
                             .reservation = r->words.reservation,
                             .gres = gpus + slices ? r->allocated : "",
                             .gpu_asked = gpus + slices > 0,
                             .nodelist = r->nodelist,
                             .nodes = nodes,
                             .cpus = tasks * cpus,
                             .memory_mb = memory * nodes,
                             .array_task = TASK_NONE,
                             .het_offset = TASK_NONE};
}

static void add_units (const billing_line_t *line, void *arg)
{
    if (line->in_period && line->line->kind == CHARGE_USED)
        mpz_add (arg, arg, line->line->charge_units);
}

static char *billed (const site_t *made, const struct request *r)
{
    report_cluster_t lab
        = {.name = "lab", .as_of = r->segment.observed_at + 40 * 86400};
    report_query_t query = {
        .site = made,
        .period = zone_unit (made->zone, CALENDAR_MONTH, r->segment.time_start),
        .by = {.id = {KEY_GRES_TYPE}, .count = 1},
        .clusters = &lab,
        .cluster_count = 1};
    billing_t *billing = billing_new (&query);
    project_t project = {.project = ""};
    gl_error_t error;
    char *text;
    mpz_t units;

    mpz_init (units);
    billing_add (billing, &r->segment, NULL, 0, &project);
    if (billing_compute (billing, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    billing_each (billing, add_units, units);
    text = exact_units_text (units, 2);
    mpz_clear (units);
    billing_free (billing);
    return text;
}

TEST_CASE (request__random_price_lists__is_what_the_job_is_billed)
{
    size_t priced = 0;

    for (uint64_t n = 1; n <= REQUESTS; n++) {
        uint64_t seed = n * 977;
        site_t *made = make_prices (&seed);
        int64_t start
            = at ("2026-10-05T10:00:00") + (int64_t)next (&seed, 86400);
        struct request request;
        gl_error_t error;
        report_t *report;
        make_request (&request, &seed, start);
        report = price_report (made, &request.words, start, &error);
        if (!report && !strstr (error.text, "no pool can run this"))
            fail_msg ("%llu: %s", (unsigned long long)n, error.text);
        if (report) {
            GL_AUTOFREE char *charge = billed (made, &request);
            if (!report->total || strcmp (report->total[5], charge) != 0)
                fail_msg ("request %llu: price %s, billed %s",
                          (unsigned long long)n,
                          report->total ? report->total[5] : "none", charge);
            priced++;
        }
        report_free (report);
        site_free (made);
    }
    assert_true (priced > REQUESTS / 2);
}

TEST_CASE (file__of_a_node__has_its_pools_alone)
{
    static const char *const types[]
        = {"h100", "1g.10gb", "a100", "x y", "gpu"};

    assert_string_equal (file ("g1", NULL, 0, "2026-03-01"),
                         "gpuledger-prices 1\nnode g1\ncurrency USD\n"
                         "until 1772409600\nprice 36000 h100\n"
                         "price 12000 h100 scavenger\nprice 54000 h100 high\n"
                         "price 0 h100 free\nend\n");
    assert_string_equal (file ("g2", types, 5, "2026-03-01"),
                         "gpuledger-prices 1\nnode g2\ncurrency USD\n"
                         "until 1772409600\nprice 36000 h100\n"
                         "price 12000 h100 scavenger\nprice 54000 h100 high\n"
                         "price 0 h100 free\nprice 10000 1g.10gb\n"
                         "price 15000 1g.10gb high\nprice 0 1g.10gb free\n"
                         "end\n");
    assert_string_equal (file ("o1", NULL, 0, "2026-03-01"),
                         "gpuledger-prices 1\nnode o1\ncurrency USD\n"
                         "until 1772409600\nend\n");
    /* the only pool of its node takes an untyped device */
    assert_string_equal (file ("g1", types + 4, 1, "2026-03-01"),
                         "gpuledger-prices 1\nnode g1\ncurrency USD\n"
                         "until 1772409600\nprice 36000 gpu\n"
                         "price 12000 gpu scavenger\nprice 54000 gpu high\n"
                         "price 0 gpu free\nend\n");
}

TEST_CASE (file__before_a_change_of_rates__ends_there)
{
    assert_non_null (strstr (file ("g1", NULL, 0, "2026-06-30T18:00Z"),
                             "\nuntil 1782864000\nprice 36000 h100\n"));
    assert_non_null (strstr (file ("g1", NULL, 0, "2026-07-01T00:00Z"),
                             "\nuntil 1782950400\nprice 39000 h100\n"));
}

TEST_CASE (file__of_a_hostile_name__is_none)
{
    buffer_t out = BUFFER_INIT;

    assert_int_equal (
        prices_make (site, "lab", "g1\nprice 0 h100", NULL, 0, 1, &out, NULL),
        -1);
    assert_int_equal (out.length, 0);
    buffer_done (&out);
}

TEST_MAIN (open_site, close_site)
