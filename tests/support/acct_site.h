/* acct_site.h: a small site and segments for tests of the rooms from lib/site to lib/planning, made without
 * any file. */
#ifndef GL_TESTS_SUPPORT_ACCT_SITE_H
#define GL_TESTS_SUPPORT_ACCT_SITE_H

#include "support/test.h"

#include "site/segment.h"
#include "site/site.h"

static const period_t always = {SITE_ALWAYS_START, SITE_ALWAYS_END};

static char *mixed_gres[] = {(char *)"1g.10gb", (char *)"3g.40gb"};
static char *h100_gres[] = {(char *)"h100"};
static char *hidden_gres[] = {(char *)"1g.10gb"};

/* g1, g2: 8 x h100 each; m1: one GPU cut into 4 x 1g.10gb + 1 x 3g.40gb and
 * two whole ones; m2: one GPU of which 2 x 3g.40gb leave 1/7; h1: seven slices
 * that accounting shows as plain gpu. */
static site_pool_t test_pools[] = {
    {.name = (char *)"h100", .nodes = (char *)"g[1-2]",
     .gres = {h100_gres, 1}, .gpu = (char *)"H100-SXM5-80GB",
     .gpus_per_node = 8},
    {.name = (char *)"mig", .nodes = (char *)"m1", .gres = {mixed_gres, 2},
     .gpu = (char *)"H100-SXM5-80GB", .gpus_per_node = 1,
     .layout = (char *)"1g.10gb:4,3g.40gb:1"},
    {.name = (char *)"mixed", .nodes = (char *)"m1", .gres = {h100_gres, 1},
     .gpu = (char *)"H100-SXM5-80GB", .gpus_per_node = 2},
    {.name = (char *)"halves", .nodes = (char *)"m2", .gres = {mixed_gres, 2},
     .gpu = (char *)"H100-SXM5-80GB", .gpus_per_node = 1,
     .layout = (char *)"3g.40gb:2"},
    {.name = (char *)"hidden", .nodes = (char *)"h1", .gres = {hidden_gres, 1},
     .gpu = (char *)"A100-SXM4-80GB", .gpus_per_node = 1},
};

static inline void test_site (site_t *site, const char *zone)
{
    gl_error_t error;

    memset (site, 0, sizeof (*site));
    site->zone = zone_open (zone, &error);
    if (!site->zone)
        fail_msg ("%s", error.text);
    strcpy (site->currency, "USD");
    site->currency_digits = 2;
    site->pools = test_pools;
    site->pool_count = sizeof (test_pools) / sizeof (test_pools[0]);
    for (size_t i = 0; i < site->pool_count; i++)
        test_pools[i].valid = always;
}

static inline segment_t test_segment (uint64_t id, int64_t start, int64_t end,
                                      const char *gres, const char *nodes)
{
    return (segment_t){
        .cluster = "lab",
        .id_job = id,
        .time_submit = start - 10,
        .time_start = start,
        .time_end = end,
        .observed_at = end ? end : start + 1000,
        .time_limit = SECONDS_UNKNOWN,
        .state = end ? SEGMENT_COMPLETED : SEGMENT_RUNNING,
        .source = SOURCE_SLURMDBD,
        .user = "ann",
        .uid = 1000,
        .account = "vision",
        .partition = "gpu",
        .nodelist = nodes,
        .gres = gres,
        .gpu_asked = true,
        .cpus = COUNT_UNKNOWN,
        .memory_mb = COUNT_UNKNOWN,
        .nodes = COUNT_UNKNOWN,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
        .restart_count = -1,
    };
}

#endif /* !GL_TESTS_SUPPORT_ACCT_SITE_H */
