/* gpuledger price: what a request would cost, before it is submitted. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/timespec.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "money/charge.h"
#include "report/report.h"
#include "site/site.h"
#include "users/price.h"

/* --- SkyPilot's prices --------------------------------------------------- */

/*
 * What an accelerator costs an hour on each cluster, as SkyPilot's configuration file
 * has it (docs/formats/skypilot.md). Pure: the site and the instant are given.
 */

typedef struct {
    const char *cluster, *type; /* borrowed; "": the site names no clusters */
    const site_pool_t *pool;
    mpq_t per_hour;
} sky_price_t;

struct sky {
    cli_t *cli;
    int64_t now;
    sky_price_t *price; /* in the order of clusters and pools */
    size_t count;
};

static void sky_done (struct sky *s)
{
    for (size_t i = 0; i < s->count; i++)
        mpq_clear (s->price[i].per_hour);
    free (s->price);
}

static sky_price_t *find_price (const struct sky *s, const char *cluster,
                                const char *type)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp (s->price[i].cluster, cluster) == 0
            && strcasecmp (s->price[i].type, type) == 0)
            return &s->price[i];
    return NULL;
}

/* SkyPilot knows one price of a type on a cluster, whatever its case: two pools with
 * two prices become the higher one. */
static void add_price (struct sky *s, const site_pool_t *pool,
                       const char *cluster, const char *type, mpq_srcptr price)
{
    sky_price_t *had = find_price (s, cluster, type);

    if (!had) {
        had = GL_APPEND (s->price, s->count);
        *had = (sky_price_t){.cluster = cluster, .type = type, .pool = pool};
        mpq_init (had->per_hour);
        mpq_set (had->per_hour, price);
        return;
    }
    if (mpq_equal (had->per_hour, price))
        return;
    cli_warn (s->cli,
              "%s costs one price in pool %s and another in pool %s of cluster "
              "%s, and SkyPilot has one: the higher one is written",
              type, had->pool->name, pool->name, cluster);
    if (mpq_cmp (price, had->per_hour) > 0)
        mpq_set (had->per_hour, price);
}

static void add_type (struct sky *s, const site_pool_t *pool,
                      const char *cluster, const char *type)
{
    device_price_t price;
    gl_error_t error;

    device_price_init (&price);
    if (device_price (s->cli->site, pool, strcmp (type, "gpu") ? type : NULL,
                      (rate_subject_t){.instant = s->now}, &price, &error)
        == 0)
        add_price (s, pool, cluster, type, price.per_hour);
    else
        cli_warn (s->cli, "%s in pool %s has no price: %s", type, pool->name,
                  error.text);
    device_price_clear (&price);
}

static void add_pool (struct sky *s, const site_pool_t *pool,
                      const char *cluster)
{
    for (size_t i = 0; i < pool->gres.count; i++)
        add_type (s, pool, cluster, pool->gres.item[i]);
    if (pool->gres.count == 0)
        cli_warn (s->cli,
                  "pool %s takes every type of GPU and names none: list them "
                  "as its 'gres'",
                  pool->name);
}

/* A pool of no cluster is in each. */
static void add_cluster (struct sky *s, const char *cluster)
{
    const site_t *site = s->cli->site;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *pool = &site->pools[i];
        if (pool->resource == RESOURCE_GPU && period_has (pool->valid, s->now)
            && (!pool->cluster || strcmp (pool->cluster, cluster) == 0))
            add_pool (s, pool, cluster);
    }
}

/* In quotes: a type such as 4090 is a text, too. */
static void put_key (buffer_t *out, int indent, const char *key)
{
    buffer_printf (out, "%*s\"", indent, "");
    for (; *key; key++) {
        if (*key == '"' || *key == '\\')
            buffer_add_char (out, '\\');
        buffer_add_char (out, *key);
    }
    buffer_printf (out, "\":");
}

static void put_prices (const struct sky *s, buffer_t *out)
{
    const char *cluster = NULL;

    buffer_printf (out,
                   "# Prices of GPUs, in %s for an hour, for SkyPilot's "
                   "config.yaml;\n# made by gpuledger price --skypilot.\n"
                   "slurm:\n%s",
                   s->cli->site->currency,
                   *s->price->cluster ? "  cluster_configs:\n"
                                      : "  pricing:\n    accelerators:\n");
    for (size_t i = 0; i < s->count; i++) {
        const sky_price_t *price = &s->price[i];
        GL_AUTOFREE char *amount = exact_text (price->per_hour, 4);
        if (*price->cluster
            && (!cluster || strcmp (cluster, price->cluster) != 0)) {
            cluster = price->cluster;
            put_key (out, 4, cluster);
            buffer_printf (out, "\n      pricing:\n        accelerators:\n");
        }
        put_key (out, cluster ? 10 : 6, price->type);
        buffer_printf (out, " %s\n", amount);
    }
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

/* Of the words of a request the cluster says which part of the list. */
static int list_for_skypilot (cli_t *cli, struct price *price)
{
    price_words_t of_cluster = {.cluster = price->words.cluster};
    struct sky sky = {.cli = cli};
    BUFFER_AUTO text = BUFFER_INIT;
    int rc;

    if (memcmp (&price->words, &of_cluster, sizeof (of_cluster)) != 0
        || price->output.fields || price->output.format_given)
        return cli_usage (cli, "--skypilot lists the price of every GPU, as "
                               "YAML: it takes --cluster, --at and --output");
    if (!cli_site (cli))
        return CLI_FAILED;
    if (cli->site->pool_count == 0)
        return cli_failf (cli,
                          "%s has no pools, so that nothing has a price "
                          "here: --skypilot needs the ledger's "
                          "configuration",
                          cli->config);
    rc = instant (cli, price, &sky.now);
    if (rc != CLI_OK)
        return rc;
    for (size_t i = 0; i < cli->site->cluster_count; i++)
        if (!of_cluster.cluster
            || strcmp (of_cluster.cluster, cli->site->clusters[i].name) == 0)
            add_cluster (&sky, cli->site->clusters[i].name);
    if (cli->site->cluster_count == 0)
        add_cluster (&sky, of_cluster.cluster ? of_cluster.cluster : "");
    if (sky.count == 0)
        rc = cli_failf (cli, "no pool%s%s has a price then",
                        of_cluster.cluster ? " of cluster " : "",
                        of_cluster.cluster ? of_cluster.cluster : "");
    else {
        put_prices (&sky, &text);
        rc = output_bytes (cli, &price->output, buffer_text (&text),
                           text.length);
    }
    sky_done (&sky);
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
     "instead of a request: the price of every GPU, for the configuration\n"
     "file of SkyPilot (YAML)",
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
