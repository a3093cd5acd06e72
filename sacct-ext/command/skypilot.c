#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "command/skypilot.h"
#include "money/charge.h"
#include "users/price.h"

/* The columns of a catalogue, in its order. */
enum {
    INSTANCE_TYPE,
    ACCELERATOR_NAME,
    ACCELERATOR_COUNT,
    VCPUS,
    MEMORY_GIB,
    PRICE,
    SPOT_PRICE,
    REGION,
    AVAILABILITY_ZONE,
    GPU_INFO,
    COLUMN_COUNT_OF_CATALOGUE,
};

static const struct {
    const char *name;
    column_type_t type;
} columns[COLUMN_COUNT_OF_CATALOGUE] = {
    [INSTANCE_TYPE] = {"InstanceType", COLUMN_TEXT},
    [ACCELERATOR_NAME] = {"AcceleratorName", COLUMN_TEXT},
    [ACCELERATOR_COUNT] = {"AcceleratorCount", COLUMN_COUNT},
    [VCPUS] = {"vCPUs", COLUMN_RATE},
    [MEMORY_GIB] = {"MemoryGiB", COLUMN_RATE},
    [PRICE] = {"Price", COLUMN_RATE},
    [SPOT_PRICE] = {"SpotPrice", COLUMN_RATE},
    [REGION] = {"Region", COLUMN_TEXT},
    [AVAILABILITY_ZONE] = {"AvailabilityZone", COLUMN_TEXT},
    [GPU_INFO] = {"GpuInfo", COLUMN_TEXT},
};

struct catalogue {
    const site_t *site;
    int64_t now;
    report_t *report;
};

/* The part of a node's resource that goes with so many of its GPUs. */
static char *share_of_node (int64_t of_node, int64_t per_unit,
                            const site_pool_t *pool, uint64_t gpus)
{
    mpq_t value, part;
    char *text;

    if (of_node == 0)
        return NULL;
    mpq_inits (value, part, NULL);
    exact_set_i64 (value, of_node, pool->gpus_per_node * per_unit);
    mpq_set_ui (part, (unsigned long)gpus, 1);
    mpq_mul (value, value, part);
    text = exact_shortest (value);
    mpq_clears (value, part, NULL);
    return text;
}

static void add_row (const struct catalogue *c, const site_pool_t *pool,
                     const char *region, const char *type, uint64_t count,
                     const device_price_t *price)
{
    GL_AUTOFREE char *cpus
        = share_of_node (pool->cpus_per_node, 1, pool, count);
    GL_AUTOFREE char *memory
        = share_of_node (pool->memory_per_node, 1024, pool, count);
    GL_AUTOFREE char *instance
        = cpus && memory ? xasprintf ("%sCPU--%sGB--%s:%" PRIu64, cpus, memory,
                                      type, count)
                         : xasprintf ("%s:%" PRIu64, type, count);
    mpq_t amount;

    report_row (c->report);
    report_put_text (c->report, INSTANCE_TYPE, instance);
    report_put_text (c->report, ACCELERATOR_NAME, type);
    report_put_count (c->report, ACCELERATOR_COUNT, count);
    if (cpus)
        report_put_text (c->report, VCPUS, cpus);
    if (memory)
        report_put_text (c->report, MEMORY_GIB, memory);
    mpq_init (amount);
    exact_add_scaled (amount, price->per_hour, (int64_t)count, 1);
    report_put_exact (c->report, PRICE, amount, 4);
    mpq_clear (amount);
    report_put_text (c->report, REGION, region);
    report_put_text (c->report, GPU_INFO, pool->gpu);
}

/* 1, 2, 4 ... and all of a node; of a slice, one. */
static void add_counts (const struct catalogue *c, const site_pool_t *pool,
                        const char *region, const char *type,
                        const device_price_t *price)
{
    uint64_t most = price->weight.num == price->weight.den
                        ? (uint64_t)pool->gpus_per_node
                        : 1;

    for (uint64_t count = 1; count < most; count *= 2)
        add_row (c, pool, region, type, count, price);
    add_row (c, pool, region, type, most, price);
}

static void add_type (const struct catalogue *c, const site_pool_t *pool,
                      const char *region, const char *type)
{
    device_price_t price;
    gl_error_t error;

    device_price_init (&price);
    if (device_price (c->site, pool, strcmp (type, "gpu") ? type : NULL,
                      (rate_subject_t){.instant = c->now}, &price, &error)
        == 0)
        add_counts (c, pool, region, type, &price);
    else
        report_note (c->report, NOTE_WARNING, "%s in pool %s has no price: %s.",
                     type, pool->name, error.text);
    device_price_clear (&price);
}

static void add_pool (const struct catalogue *c, const site_pool_t *pool,
                      const char *region)
{
    for (size_t i = 0; i < pool->gres.count; i++)
        add_type (c, pool, region, pool->gres.item[i]);
    if (pool->gres.count == 0)
        report_note (c->report, NOTE_WARNING,
                     "Pool %s takes every type of GPU and names none: list "
                     "them as its 'gres'.",
                     pool->name);
}

/* A pool of no cluster is in each. */
static void add_regions (const struct catalogue *c, const site_pool_t *pool,
                         const char *cluster)
{
    const site_t *site = c->site;

    if (!period_has (pool->valid, c->now))
        return;
    if (pool->cluster || site->cluster_count == 0) {
        const char *region = pool->cluster ? pool->cluster : cluster;
        if (!cluster || strcmp (cluster, region) == 0)
            add_pool (c, pool, region);
        return;
    }
    for (size_t i = 0; i < site->cluster_count; i++)
        if (!cluster || strcmp (cluster, site->clusters[i].name) == 0)
            add_pool (c, pool, site->clusters[i].name);
}

report_t *skypilot_report (const site_t *site, const char *cluster, int64_t now)
{
    struct catalogue c
        = {site, now, report_new ("skypilot", "What GPUs cost an hour")};

    for (size_t i = 0; i < COLUMN_COUNT_OF_CATALOGUE; i++)
        report_column (c.report, columns[i].name, columns[i].name,
                       columns[i].type, false);
    for (size_t i = 0; i < site->pool_count; i++)
        if (site->pools[i].resource == RESOURCE_GPU)
            add_regions (&c, &site->pools[i], cluster);
    return c.report;
}
