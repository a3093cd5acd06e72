/* gpuledger fits: which GPUs have the memory that a model needs. */
#include <getopt.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "import/catalogue_files.h"
#include "prices/fits.h"
#include "site/site.h"

struct request {
    const char *date, *recompute;
    bool train, serve;
    fits_query_t query;
    output_t output;
};

static int take_recompute (cli_t *cli, struct request *r)
{
    static const char *const words[] = {[RECOMPUTE_NONE] = "none",
                                        [RECOMPUTE_ATTENTION] = "attention",
                                        [RECOMPUTE_ALL] = "all"};

    r->query.recompute = RECOMPUTE_ATTENTION;
    if (!r->recompute)
        return CLI_OK;
    if (!r->train)
        return cli_usage (cli, "--recompute is for --train");
    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++)
        if (strcmp (words[i], r->recompute) == 0) {
            r->query.recompute = (recompute_t)i;
            return CLI_OK;
        }
    return cli_usage (cli,
                      "--recompute: '%.40s' is not one of none, attention, all",
                      r->recompute);
}

static int check (cli_t *cli, struct request *r)
{
    if (!r->query.parameters)
        return cli_usage (cli, "give the size of the model: --parameters 70e9");
    if (r->train == r->serve)
        return cli_usage (cli, "give --train or --serve");
    r->query.train = r->train;
    return take_recompute (cli, r);
}

static int show (cli_t *cli, const struct request *r)
{
    catalogue_t catalogue;
    gl_error_t error;
    report_t *report = NULL;
    int rc;

    rc = catalogue_files_read (cli->site, &catalogue, NULL, &error);
    if (rc == 0)
        report = fits_report (cli->site, &catalogue, &r->query, &error);
    rc = report ? output_report (cli, &r->output, report)
                : cli_fail (cli, &error);
    report_free (report);
    catalogue_clear (&catalogue);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    rc = check (cli, &r);
    if (rc == CLI_OK && !cli_site (cli))
        rc = CLI_FAILED;
    if (rc == CLI_OK)
        rc = query_option_day (cli, r.date, &r.query.day);
    return rc == CLI_OK ? show (cli, &r) : rc;
}

static const cli_option_t options[] = {
    {0, "parameters", "NUMBER", "of the model: 70e9, 70B, 700M",
     CLI_AT (struct request, query.parameters)},
    {0, "train", NULL, "memory to train it", CLI_AT (struct request, train)},
    {0, "serve", NULL, "memory to serve it", CLI_AT (struct request, serve)},
    {0, "precision", "WORD",
     "fp32, bf16, fp16; with --serve fp8, int8, int4, too\n(default: bf16)",
     CLI_AT (struct request, query.precision)},
    {0, "context", "TOKENS", "length of a sequence (default: 4096)",
     CLI_AT (struct request, query.context)},
    {0, "batch", "NUMBER", "sequences at once (default: 1)",
     CLI_AT (struct request, query.batch)},
    {0, "layers", "NUMBER",
     "shape of the model (default: that of the published\n"
     "model nearest in size)",
     CLI_AT (struct request, query.layers)},
    {0, "hidden", "NUMBER", "width of a layer",
     CLI_AT (struct request, query.hidden)},
    {0, "heads", "NUMBER", "heads of attention",
     CLI_AT (struct request, query.heads)},
    {0, "kv-heads", "NUMBER", "heads with keys and values (default: all heads)",
     CLI_AT (struct request, query.kv_heads)},
    {0, "recompute", "WORD",
     "activations that are computed again: none, attention,\n"
     "all (default: attention)",
     CLI_AT (struct request, recompute)},
    {0, "optimizer-bytes", "NUMBER",
     "optimizer states of a parameter (default: 12, with fp32 8)",
     CLI_AT (struct request, query.optimizer_bytes)},
    {0, "headroom", "SHARE",
     "share of a GPU's memory that stays free (default: 10%)",
     CLI_AT (struct request, query.headroom)},
    {0, "gpu", "MODEL", "GPUs with these parts of a name: H100, H100-PCIe",
     CLI_AT (struct request, query.gpu)},
    {0, "date", "DAY", "prices of that day (default: today)",
     CLI_AT (struct request, date)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_fits = {
    .name = "fits",
    .run = run,
    .synopsis = "--parameters NUMBER --train|--serve [OPTION]...",
    .summary = "the GPUs that have the memory for a model, and their price",
    .help
    = "The memory that a language model needs to be trained or served, with "
      "the formula of each part, and the GPUs and MIG slices that have it: how "
      "many, what they cost in your pools, and what they cost to rent.",
    .options = options,
    .example = "gpuledger fits --parameters 70e9 --serve --context 8192 "
               "--batch 16\n"
               "gpuledger fits --parameters 7B --train --recompute none",
};
