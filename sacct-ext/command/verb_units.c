/* gpuledger units: what a job has produced. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "users/report_units.h"

struct units {
    report_units_request_t request;
    const char *as; /* --for */
    char **word;    /* UNIT=QUANTITY */
    size_t count;
};

static void say_unit (const unit_count_t *unit, int64_t before, const char *job,
                      const char *cluster)
{
    if (before == unit->quantity)
        printf ("job %s of %s already has %" PRId64 " %s\n", job, cluster,
                before, unit->name);
    else if (before < 0)
        printf ("job %s of %s: %" PRId64 " %s\n", job, cluster, unit->quantity,
                unit->name);
    else
        printf ("job %s of %s: %" PRId64 " %s instead of %" PRId64 "\n", job,
                cluster, unit->quantity, unit->name, before);
}

static int read_words (cli_t *cli, struct units *units)
{
    gl_error_t error;

    for (size_t i = 0; i < units->count; i++)
        if (report_units_add (cli->site, units->word[i], &units->request,
                              &error)
            < 0)
            return cli_fail (cli, &error);
    return CLI_OK;
}

/* With the rights of --for, else of whoever runs this, as in verb_tag.c. */
static int units_here (cli_t *cli, struct units *units)
{
    const report_units_request_t *request = &units->request;
    job_person_t person = {0};
    report_units_done_t done;
    gl_error_t error;
    int rc;

    person.user = user_verb_person (cli, units->as, &person.uid);
    person.root = person.uid == 0 && !units->as;
    if (!person.user || !cli_site (cli) || !cli_store (cli, 0))
        return CLI_FAILED;
    rc = read_words (cli, units);
    if (rc != CLI_OK)
        return rc;
    if (report_units (cli->store, cli->site, &person, request, time (NULL),
                      &done, &error)
        < 0)
        return cli_fail (cli, &error);
    progress_end ();
    for (size_t i = 0; i < request->count; i++)
        say_unit (&request->unit[i], done.before[i], request->of.job,
                  done.cluster);
    return CLI_OK;
}

static int units_there (cli_t *cli, const struct units *units)
{
    const output_t output = {.format = RENDER_TABLE};
    user_words_t words = {.count = 0};
    gl_error_t error;
    int rc = user_verb_not_for (cli, units->as);

    if (rc == CLI_OK
        && user_words_add (&words, VERB_UNITS, "job", units->request.of.job,
                           &error)
               < 0)
        rc = cli_usage (cli, "%s", error.text);
    for (size_t i = 0; i < units->count && rc == CLI_OK; i++)
        if (user_words_add (&words, VERB_UNITS, "units", units->word[i], &error)
            < 0)
            rc = cli_usage (cli, "%s", error.text);
    if (rc == CLI_OK)
        rc = user_verb_ask (cli, VERB_UNITS, &words, &output);
    user_words_done (&words);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct units units = {.count = 0};

    if (cli_options (cli, argc, argv, &units) < 0)
        return cli->exit_code;
    if (argc - optind < 2)
        return cli_usage (cli, "give a job and what it produced, such as "
                               "tokens=1.2e9");
    units.request.of.job = argv[optind];
    units.word = argv + optind + 1;
    units.count = (size_t)(argc - optind - 1);
    return user_verb_here (cli) ? units_here (cli, &units)
                                : units_there (cli, &units);
}

static const cli_option_t options[] = {
    {0, "submit", "TIME",
     "the job submitted at that time, because JobIds recur\n(default: the "
     "latest, with its requeues)",
     CLI_AT (struct units, request.of.submit)},
    {0, "cluster", "NAME", "the job of this cluster",
     CLI_AT (struct units, request.of.cluster)},
    USER_FOR_OPTION (struct units, as),
    {0},
};

const verb_t verb_units = {
    .name = "units",
    .run = run,
    .without_prices = true,
    .synopsis = "JOBID[_TASK|+OFFSET] UNIT=QUANTITY... [OPTION]...",
    .summary = "report what a job has produced: tokens, images, runs",
    .help = "Records how many units one of your jobs has made in all, for the "
            "cost per unit in 'gpuledger report results'. A later report of "
            "the same unit counts instead of an earlier one, which stays in "
            "the ledger, and 0 takes it back. Root can report for any job. On "
            "other hosts than the accounting host the collector does it, and "
            "munge proves who you are.",
    .options = options,
    .example = "gpuledger units 4711 tokens=1.2e9 training-run=1",
};
