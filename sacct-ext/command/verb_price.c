/* gpuledger price: what a request would cost, before it is submitted. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/timespec.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "money/charge.h"
#include "report/report.h"
#include "site/site.h"
#include "users/price.h"

/* --- SkyPilot's catalogue ----------------------------------------------- */

/*
 * What a cluster's GPUs cost, in the columns of SkyPilot's catalogues
 * (docs/formats/skypilot.md). Pure: the site and the instant are given.
 */

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
    GL_AUTOFREE char *instance = cpus && memory
                                     ? xasprintf ("%sCPU--%sGB--%s:%" PRIu64,
                                                  cpus, memory, type, count)
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
                     "Pool %s accepts every type of GPU and names none: list "
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

/* A row for each cluster, pool, type of device and count that fits a node, at
 * the prices in force at `now`; of one cluster, or NULL: all. What has no price
 * has no row, and a note says why. Yours: report_free(). */
static report_t *skypilot_report (const site_t *site, const char *cluster,
                                  int64_t now)
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

/* --- what a request costs ----------------------------------------------- */

struct price {
    price_words_t words;
    const char *at; /* --at */
    bool skypilot;  /* the whole list, not a request */
    output_t output;
};

static int instant (cli_t *cli, const struct price *price, int64_t *ret_now)
{
    gl_error_t error;

    *ret_now = time (NULL);
    if (!price->at
        || timespec_parse (price->at, cli->site->zone, *ret_now, ret_now,
                           &error)
               == 0)
        return CLI_OK;
    return cli_usage (cli, "%s", error.text);
}

static int no_prices (cli_t *cli, const struct price *price,
                      const report_t *report)
{
    for (size_t i = 0; i < report->note_count; i++)
        cli_warn (cli, "%s", report->note[i].text);
    return cli_failf (cli, "no pool%s%s has a price then",
                      price->words.cluster ? " of cluster " : "",
                      price->words.cluster ? price->words.cluster : "");
}

/* Of the words of a request the cluster says which part of the list. */
static int list_for_skypilot (cli_t *cli, struct price *price)
{
    price_words_t of_cluster = {.cluster = price->words.cluster};
    report_t *report;
    int64_t now;
    int rc;

    if (memcmp (&price->words, &of_cluster, sizeof (of_cluster)) != 0
        || price->output.fields || price->output.format_given)
        return cli_usage (cli, "--skypilot lists the price of every GPU, as "
                               "CSV: it takes --cluster, --at and --output");
    if (!cli_site (cli))
        return CLI_FAILED;
    if (cli->site->pool_count == 0)
        return cli_failf (cli,
                          "%s has no pools, so nothing has a price: "
                          "--skypilot needs the ledger's configuration",
                          cli->config);
    rc = instant (cli, price, &now);
    if (rc != CLI_OK)
        return rc;
    price->output.format = RENDER_CSV;
    report = skypilot_report (cli->site, price->words.cluster, now);
    if (report->row_count == 0)
        rc = no_prices (cli, price, report);
    else
        rc = output_selected (cli, &price->output, report);
    report_free (report);
    return rc;
}

static int price_here (cli_t *cli, const struct price *price)
{
    report_t *report;
    gl_error_t error;
    int64_t now;
    int rc = instant (cli, price, &now);

    if (rc != CLI_OK)
        return rc;
    report = price_report (cli->site, &price->words, now, &error);
    if (!report)
        return cli_fail (cli, &error);
    rc = output_report (cli, &price->output, report);
    report_free (report);
    return rc;
}

/* The configuration of a login host may name the collector alone. */
static int answer (cli_t *cli, const struct price *price)
{
    user_words_t words = {.count = 0};
    int rc;

    if (!cli_site (cli))
        return CLI_FAILED;
    if (cli->site->pool_count > 0)
        return price_here (cli, price);
    rc = user_verb_ask (cli, VERB_PRICE, &words, &price->output);
    user_words_done (&words);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct price price = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &price) < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli,
                          "unexpected argument '%s': a request consists "
                          "of options",
                          argv[optind]);
    return price.skypilot ? list_for_skypilot (cli, &price)
                          : answer (cli, &price);
}

#define REQUEST(member) CLI_AT (struct price, words.member)

static const cli_option_t options[] = {
    {'p', "partition", "NAME", "as in sbatch; pools are found by GPU type",
     REQUEST (partition)},
    {0, "gres", "LIST", "of each node: gpu:h100:4, gpu:2", REQUEST (gres)},
    {'G', "gpus", "[TYPE:]N",
     "of the entire job; --gpus-per-node or --gres then gives the\nnumber of "
     "nodes",
     REQUEST (gpus)},
    {0, "gpus-per-node", "[TYPE:]N", "of each node", REQUEST (gpus_per_node)},
    {'N', "nodes", "N[-MAX]",
     "number of nodes (default: 1; with --gpus: as many as it takes)",
     REQUEST (nodes)},
    {0, "ntasks", "N", "number of tasks (default: one on each node)",
     REQUEST (ntasks)},
    {0, "ntasks-per-node", "N", "tasks on each node",
     REQUEST (ntasks_per_node)},
    {'c', "cpus-per-task", "N",
     "CPUs of a task (default: 1); --ntasks or this without GPUs is\n"
     "priced in the pools of CPUs",
     REQUEST (cpus_per_task)},
    {0, "cpus-per-gpu", "N", "instead: CPUs of each GPU",
     REQUEST (cpus_per_gpu)},
    {0, "mem", "SIZE", "memory of each node: 128G; MB without a unit",
     REQUEST (mem)},
    {0, "mem-per-cpu", "SIZE", "instead: of each CPU", REQUEST (mem_per_cpu)},
    {0, "mem-per-gpu", "SIZE", "instead: of each GPU", REQUEST (mem_per_gpu)},
    {'t', "time", "TIME",
     "MINUTES[:SECONDS], HOURS:MINUTES:SECONDS,\n"
     "DAYS-HOURS[:MINUTES[:SECONDS]]",
     REQUEST (time)},
    {'q', "qos", "NAME", "a QOS may have a rate, a multiplier or a subsidy",
     REQUEST (qos)},
    {0, "reservation", "NAME", "a reservation may have a rate",
     REQUEST (reservation)},
    {'A', "account", "NAME",
     "as in sbatch: the rates of its team's class and plan, and the team's\n"
     "surcharge",
     REQUEST (account)},
    {0, "cluster", "NAME", "pools of this cluster only", REQUEST (cluster)},
    {0, "pool", "NAME",
     "only this pool; if it cannot run the request, the "
     "reason",
     REQUEST (pool)},
    {0, "at", "TIME", "prices at that time (default: now)",
     CLI_AT (struct price, at)},
    {0, "skypilot", NULL,
     "instead of a request: the price of every GPU, in the columns of\n"
     "SkyPilot's catalogues (CSV)",
     CLI_AT (struct price, skypilot)},
    CLI_GROUP (output_options, struct price, output),
    {0},
};

const verb_t verb_price = {
    .name = "price",
    .run = run,
    .synopsis
    = "--gres=LIST|--gpus=N|--gpus-per-node=N|--cpus-per-task=N [OPTION]...",
    .summary = "what a request would cost",
    .help
    = "Takes the options of sbatch and prints what the GPUs would cost: at the "
      "published rate in force, else at full cost and the planned utilization. "
      "For each pool whose nodes cannot run the request, the reason is printed "
      "instead. A host whose configuration has no pools asks the collector.",
    .options = options,
    .example = "gpuledger price -p gpu --gres=gpu:h100:4 -t 12:00:00",
};
