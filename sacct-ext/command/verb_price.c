/* gpuledger price: what a request would cost, before it is submitted. */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/timespec.h"
#include "command/skypilot.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "site/site.h"
#include "users/price.h"

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
        return cli_failf (cli, "%s has no pools, so that nothing has a price "
                               "here: --skypilot needs the ledger's "
                               "configuration",
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
        return cli_usage (cli, "'%s' is too much: a request is made of options",
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
     "of the whole job; with --gpus-per-node or --gres: on as many nodes as\n"
     "that makes",
     REQUEST (gpus)},
    {0, "gpus-per-node", "[TYPE:]N", "of each node", REQUEST (gpus_per_node)},
    {'N', "nodes", "N[-MAX]",
     "number of nodes (default: 1; with --gpus: as many as it takes)",
     REQUEST (nodes)},
    {'t', "time", "TIME",
     "MINUTES[:SECONDS], HOURS:MINUTES:SECONDS,\n"
     "DAYS-HOURS[:MINUTES[:SECONDS]]",
     REQUEST (time)},
    {'q', "qos", "NAME", "a QOS may have a rate, a multiplier or a subsidy",
     REQUEST (qos)},
    {0, "reservation", "NAME", "a reservation may have a rate",
     REQUEST (reservation)},
    {'A', "account", "NAME",
     "as in sbatch: the rates of its team's class and plan", REQUEST (account)},
    {0, "cluster", "NAME", "pools of this cluster only", REQUEST (cluster)},
    {0, "pool", "NAME", "of this pool alone, or why it cannot run it",
     REQUEST (pool)},
    {0, "at", "TIME", "prices of that moment (default: now)",
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
    .synopsis = "--gres=LIST|--gpus=N|--gpus-per-node=N [OPTION]...",
    .summary = "what a request would cost",
    .help = "Takes the words of sbatch and says what the GPUs would cost: by "
            "the published rate in\nforce, else at full cost at the planned "
            "utilization. Pools whose nodes cannot\nrun the request are left "
            "out, and the reason is given. A host whose configuration\nhas no "
            "pools asks the collector.",
    .options = options,
    .example = "gpuledger price -p gpu --gres=gpu:h100:4 -t 12:00:00",
};
