#include <getopt.h>
#include <string.h>

#include "analysis/job_waste.h"
#include "analysis/results.h"
#include "cli/output.h"
#include "command/explain_charge.h"
#include "command/verb.h"
#include "month/job_explain.h"
#include "render/render_explain.h"

int write_explanation (cli_t *cli, const output_t *output,
                       const explain_t *explain)
{
    BUFFER_AUTO out = BUFFER_INIT;

    if (output->format == RENDER_JSON)
        render_explain_json (explain, &out);
    else
        render_explain_text (explain, &out);
    return output_bytes (cli, output, out.data, out.length);
}

static int explain (cli_t *cli, const job_name_t *job, const output_t *output)
{
    explain_t *explanation;
    gl_error_t error;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (jobs_explain (cli->store, cli->site, job, 1, NULL, NULL, &explanation,
                      &error) < 0)
        return cli_fail (cli, &error);
    if (results_explain (cli->store, cli->site, explanation, &error) < 0
        || job_waste_explain (cli->store, cli->site, explanation, &error) < 0) {
        explain_free (explanation);
        return cli_fail (cli, &error);
    }
    rc = write_explanation (cli, output, explanation);
    explain_free (explanation);
    return rc;
}

struct request {
    job_name_t job;
    output_t output;
};

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind != argc - 1)
        return cli_usage (cli, "give one job (JOBID, JOBID_TASK or "
                               "JOBID+OFFSET), or one charge of another "
                               "service (SOURCE:REFERENCE)");
    if (strchr (argv[optind], ':'))
        return request.job.cluster
                   ? cli_usage (cli, "-M is for jobs: leave it out")
                   : explain_charge (cli, argv[optind], &request.output);
    if (job_name_parse (argv[optind], &request.job) < 0)
        return cli_usage (cli,
                          "'%s' is not a job: write JOBID, JOBID_TASK or "
                          "JOBID+OFFSET; a charge of another service is "
                          "SOURCE:REFERENCE",
                          argv[optind]);
    return explain (cli, &request.job, &request.output);
}

static const cli_option_t options[] = {
    {'M', "clusters", "NAME", "the job of this cluster only",
     CLI_AT (struct request, job.cluster)},
    CLI_GROUP (output_file_options, struct request, output),
    {0},
};

const verb_t verb_explain = {
    .name = "explain",
    .run = run,
    .synopsis = "{JOBID[_TASK|+OFFSET] | SOURCE:REFERENCE} [OPTION]...",
    .summary = "how the charge of a job or another service is computed",
    .help = "Shows where a charge comes from and how it is computed, and the "
            "lines and rows that bill it. A job is named by its JobId, a "
            "charge of another service as statements name it.",
    .options = options,
    .example = "gpuledger explain 4711\n"
               "gpuledger explain netapp:vision/2026-10",
};
