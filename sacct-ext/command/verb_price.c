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

enum {
    OPTION_GRES = CLI_LONG + 1,
    OPTION_GPUS_PER_NODE,
    OPTION_CLUSTER,
    OPTION_POOL,
    OPTION_AT,
    OPTION_SKYPILOT,
};

/* sbatch's words: an option, its name in a question, its place. */
static const struct row {
    int option;
    const char *name;
    size_t offset;
} rows[] = {
    {'p', "partition", offsetof (price_words_t, partition)},
    {OPTION_GRES, "gres", offsetof (price_words_t, gres)},
    {'G', "gpus", offsetof (price_words_t, gpus)},
    {OPTION_GPUS_PER_NODE, "gpus-per-node",
     offsetof (price_words_t, gpus_per_node)},
    {'t', "time", offsetof (price_words_t, time)},
    {'N', "nodes", offsetof (price_words_t, nodes)},
    {'q', "qos", offsetof (price_words_t, qos)},
    {'A', "account", offsetof (price_words_t, account)},
    {OPTION_CLUSTER, "cluster", offsetof (price_words_t, cluster)},
    {OPTION_POOL, "pool", offsetof (price_words_t, pool)},
    {OPTION_AT, "at", SIZE_MAX},
};

struct price {
    price_words_t words;
    const char *at; /* --at */
    bool skypilot;  /* the whole list, not a request */
    output_t output;
    user_words_t question;
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
    if (!cli_site (cli))
        return CLI_FAILED;
    if (cli->site->pool_count > 0)
        return price_here (cli, price);
    return user_verb_ask (cli, VERB_PRICE, &price->question, &price->output);
}

static int take (cli_t *cli, struct price *price, int option, const char *value)
{
    int taken;

    if (option == OPTION_SKYPILOT) {
        price->skypilot = true;
        return 0;
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        if (rows[i].option != option)
            continue;
        if (rows[i].offset == SIZE_MAX)
            price->at = value;
        else
            *(const char **)((char *)&price->words + rows[i].offset) = value;
        return user_verb_word (cli, &price->question, rows[i].name, value);
    }
    taken = output_option (cli, &price->output, option, value);
    return taken < 0
               ? -1
               : user_verb_output_word (cli, &price->question, option, value);
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct price price = {.output = {.format = RENDER_TABLE}};
    const char *value;
    int option, rc;

    while ((option = cli_option (cli, argc, argv, &value)) > 0) {
        if (take (cli, &price, option, value) < 0) {
            option = -1;
            break;
        }
    }
    if (option < 0)
        rc = cli->exit_code;
    else if (optind != argc)
        rc = cli_usage (cli, "'%s' is too much: a request is made of options",
                        argv[optind]);
    else
        rc = price.skypilot ? list_for_skypilot (cli, &price)
                            : answer (cli, &price);
    user_words_done (&price.question);
    return rc;
}

static const cli_option_t options[] = {
    {'p', "partition", "NAME", "as in sbatch; pools are found by GPU type"},
    {OPTION_GRES, "gres", "LIST", "of each node: gpu:h100:4, gpu:2"},
    {'G', "gpus", "[TYPE:]N",
     "of the whole job; with --gpus-per-node or --gres: on as many nodes as\n"
     "that makes"},
    {OPTION_GPUS_PER_NODE, "gpus-per-node", "[TYPE:]N", "of each node"},
    {'N', "nodes", "N[-MAX]",
     "number of nodes (default: 1; with --gpus: as many as it takes)"},
    {'t', "time", "TIME",
     "MINUTES[:SECONDS], HOURS:MINUTES:SECONDS,\n"
     "DAYS-HOURS[:MINUTES[:SECONDS]]"},
    {'q', "qos", "NAME", "a QOS may have a rate, a multiplier or a subsidy"},
    {'A', "account", "NAME", "as in sbatch; what its team has is not in the price"},
    {OPTION_CLUSTER, "cluster", "NAME", "pools of this cluster only"},
    {OPTION_POOL, "pool", "NAME", "of this pool alone, or why it cannot run it"},
    {OPTION_AT, "at", "TIME", "prices of that moment (default: now)"},
    {OPTION_SKYPILOT, "skypilot", NULL,
     "instead of a request: the price of every GPU, in the columns of\n"
     "SkyPilot's catalogues (CSV)"},
    OUTPUT_OPTIONS,
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
