/* gpuledger whatif: what past months would have been charged under another
 * configuration. Reads alone. */
#include <getopt.h>
#include <string.h>

#include "base/memory.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "config/config.h"
#include "month/bills.h"
#include "month/settled.h"
#include "site/site.h"
#include "statement/whatif.h"

struct request {
    query_options_t options;
    output_t output;
    bool neutral; /* --revenue-neutral */
    const char *file;
};

/* The other configuration and what it makes of the months. */
struct other {
    site_t *site;
    whatif_sums_t *sums;
};

/* --- the other configuration ------------------------------------------- */

static int load (cli_t *cli, const struct request *request, struct other *other)
{
    const site_t *site = cli->site;
    gl_error_t error;

    if (config_load_overlay (cli->config, request->file, &other->site, &error)
        < 0) {
        other->site = NULL;
        return cli_fail (cli, &error);
    }
    if (strcmp (other->site->currency, site->currency) != 0
        || strcmp (zone_name (other->site->zone), zone_name (site->zone)) != 0)
        return cli_failf (cli,
                          "%s changes the ledger's currency or zone: amounts "
                          "and months could not be compared",
                          request->file);
    return CLI_OK;
}

static void other_done (struct other *other)
{
    whatif_sums_free (other->sums);
    site_free (other->site);
}

/* --- one side ---------------------------------------------------------- */

/* The sums of the months' bill, by one of the two configurations. */
static int sum_months (cli_t *cli, const report_query_t *query,
                       const struct other *other, const site_t *site,
                       whatif_sums_t **ret_sums)
{
    gl_error_t error;
    bill_t *bill;

    if (settled_bill (cli->store, site, query->period, NULL, &bill, &error) < 0)
        return cli_fail (cli, &error);
    *ret_sums = whatif_sums_new (bill, whatif_by_team (cli->site, other->site));
    bill_free (bill);
    return CLI_OK;
}

/* --- rates that leave the sum as it is --------------------------------- */

/* What is billed by the file's rates times `factor`. `scale`: how they stand. */
static int bill_at (cli_t *cli, const report_query_t *query,
                    struct other *other, mpq_t scale, mpq_srcptr factor,
                    mpq_t ret_revenue)
{
    mpq_t step;
    int rc;

    mpq_init (step);
    mpq_div (step, factor, scale);
    whatif_scale (other->site, step);
    mpq_set (scale, factor);
    mpq_clear (step);
    whatif_sums_free (GL_TAKE (other->sums));
    rc = sum_months (cli, query, other, other->site, &other->sums);
    if (rc == CLI_OK)
        mpq_set (ret_revenue, whatif_revenue (other->sums));
    return rc;
}

/* Charges grow with the rates on straight lines that meet where a tier of
 * spending begins: the secant finds the factor exactly, mostly at once. */
#define STEPS_MAX 12

/* f0, r0 and f1, r1 are two factors and what they bring; `wanted` is asked for.
 * False: nothing is proportional to the rates, or not to rates above 0. */
static bool secant (mpq_t f0, const mpq_t r0, const mpq_t f1, const mpq_t r1,
                    mpq_srcptr wanted, mpq_t ret_next)
{
    mpq_t slope, rise;
    bool found;

    mpq_inits (slope, rise, NULL);
    mpq_sub (rise, r1, r0);
    found = mpq_sgn (rise) != 0;
    if (found) {
        mpq_sub (slope, f1, f0);
        mpq_div (slope, slope, rise);
        mpq_sub (rise, wanted, r1);
        mpq_mul (rise, rise, slope);
        mpq_add (ret_next, f1, rise);
        found = mpq_sgn (ret_next) > 0;
    }
    mpq_clears (slope, rise, NULL);
    return found;
}

static int find_factor (cli_t *cli, const report_query_t *query,
                        struct other *other, mpq_srcptr wanted, mpq_t factor)
{
    mpq_t scale, f0, r0, r1, next;
    bool more = true;
    int rc;

    mpq_inits (scale, f0, r0, r1, next, NULL);
    mpq_set_ui (scale, 1, 1);
    mpq_set_ui (f0, 1, 1);
    mpq_set_ui (factor, 1, 1);
    rc = bill_at (cli, query, other, scale, f0, r0);
    mpq_set (r1, r0);
    if (rc == CLI_OK && !mpq_equal (r0, wanted)) {
        mpq_set_ui (factor, 2, 1);
        rc = bill_at (cli, query, other, scale, factor, r1);
    }
    for (int i = 0;
         rc == CLI_OK && more && !mpq_equal (r1, wanted) && i < STEPS_MAX;
         i++) {
        more = secant (f0, r0, factor, r1, wanted, next);
        if (!more)
            break;
        mpq_set (f0, factor);
        mpq_set (r0, r1);
        mpq_set (factor, next);
        rc = bill_at (cli, query, other, scale, factor, r1);
    }
    if (rc == CLI_OK && !mpq_equal (r1, wanted))
        rc = cli_failf (cli, more
                                 ? "no factor of the published rates keeps the "
                                   "sum of the charges unchanged"
                                 : "no positive factor of the published rates "
                                   "keeps the sum of the charges unchanged: "
                                   "published rates charge too little in these "
                                   "months");
    mpq_clears (scale, f0, r0, r1, next, NULL);
    return rc;
}

/* --- the report -------------------------------------------------------- */

static int compare (cli_t *cli, struct request *request,
                    const report_query_t *query, struct other *other)
{
    whatif_t whatif
        = {.query = query, .site_after = other->site, .file = request->file};
    whatif_sums_t *before = NULL;
    mpq_t factor;
    int rc;

    mpq_init (factor);
    rc = sum_months (cli, query, other, cli->site, &before);
    if (rc == CLI_OK)
        rc = request->neutral
                 ? find_factor (cli, query, other, whatif_revenue (before),
                                factor)
                 : sum_months (cli, query, other, other->site, &other->sums);
    if (rc == CLI_OK) {
        report_t *report;
        whatif.before = before;
        whatif.after = other->sums;
        whatif.factor = request->neutral ? factor : NULL;
        report = whatif_report_make (&whatif);
        rc = output_report (cli, &request->output, report);
        report_free (report);
    }
    whatif_sums_free (before);
    mpq_clear (factor);
    return rc;
}

static int whatif (cli_t *cli, struct request *request)
{
    struct other other = {0};
    store_t *store;
    report_query_t query;
    int rc;

    if (!cli_site (cli) || !(store = cli_store (cli, STORE_READ_ONLY)))
        return CLI_FAILED;
    if (cli->site->pool_count == 0)
        return cli_failf (cli, "%s has no pools, so nothing has a price",
                          cli->config);
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "team", &query);
    if (rc != CLI_OK)
        return rc;
    query.by.count = 0;
    rc = query_months_over (cli, &query, "whatif");
    if (rc == CLI_OK)
        rc = load (cli, request, &other);
    if (rc == CLI_OK)
        rc = compare (cli, request, &query, &other);
    other_done (&other);
    return rc;
}

/* --- the verb ---------------------------------------------------------- */

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if (optind != argc - 1)
        rc = cli_usage (cli, "give one file with the changes, in the form of "
                             "the configuration");
    else {
        request.file = argv[optind];
        rc = whatif (cli, &request);
    }
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    CLI_GROUP (query_period_options, struct request, options),
    {0, "revenue-neutral", NULL,
     "scale the published rates of the other configuration so that\nthe sum of "
     "the charges stays the same",
     CLI_AT (struct request, neutral)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_whatif = {
    .name = "whatif",
    .run = run,
    .synopsis = "FILE [OPTION]...",
    .summary = "charges of past months by another configuration",
    .help = "FILE is a part of a configuration (rates, policy, pools, assets "
            "...). Its keys and entries replace those of the same name in the "
            "site's configuration. Past months are priced again with the "
            "result, and nothing is written.",
    .options = options,
    .example = "gpuledger whatif new-rates.yaml --month 2026-10 "
               "--revenue-neutral",
};
