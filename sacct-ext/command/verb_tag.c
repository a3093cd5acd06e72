/* gpuledger tag: the project of a job that is in the ledger already. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/rollups_keep.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "site/site.h"
#include "users/retag.h"

struct tag {
    retag_request_t request;
    const char *as; /* --for */
    buffer_t labels;
};

static void say_done (const struct tag *tag, const retag_done_t *done)
{
    const char *before = done->previous[0] ? done->previous : "(untagged)";

    progress_end ();
    if (done->segments == 0)
        printf ("job %s of %s already belongs to %s\n", tag->request.of.job,
                done->cluster, tag->request.project);
    else
        printf ("job %s of %s: %s -> %s (%zu segment%s)\n", tag->request.of.job,
                done->cluster, before, tag->request.project, done->segments,
                done->segments == 1 ? "" : "s");
}

/* With the rights of --for, else of whoever runs this; root, who can write to
 * the store anyway, has all. A collector says --for=root for the root of any
 * host: that is one user among others. */
static int tag_here (cli_t *cli, const struct tag *tag)
{
    job_person_t person = {0};
    retag_done_t done;
    gl_error_t error;

    person.user = user_verb_person (cli, tag->as, &person.uid);
    person.root = person.uid == 0 && !tag->as;
    if (!person.user || !cli_site (cli) || !cli_store (cli, 0))
        return CLI_FAILED;
    if (retag (cli->store, cli->site, &person, &tag->request, time (NULL),
               &done, &error)
        < 0)
        return cli_fail (cli, &error);
    say_done (tag, &done);
    rollups_keep (cli);
    return CLI_OK;
}

static int tag_there (cli_t *cli, const struct tag *tag)
{
    const output_t output = {.format = RENDER_TABLE};
    user_words_t words = {.count = 0};
    gl_error_t error;
    int rc = user_verb_not_for (cli, tag->as);

    if (rc == CLI_OK
        && (user_words_add (&words, VERB_TAG, "job", tag->request.of.job,
                            &error)
                < 0
            || user_words_add (&words, VERB_TAG, "project",
                               tag->request.project, &error)
                   < 0))
        rc = cli_usage (cli, "%s", error.text);
    if (rc == CLI_OK)
        rc = user_verb_ask (cli, VERB_TAG, &words, &output);
    user_words_done (&words);
    return rc;
}

static int take_label (cli_t *cli, void *into, const cli_option_t *option,
                       const char *value)
{
    buffer_t *labels = into;

    (void)cli, (void)option;
    buffer_printf (labels, "%s%s", labels->length ? "," : "", value);
    return 0;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct tag tag = {.labels = BUFFER_INIT};
    int rc;

    if (cli_options (cli, argc, argv, &tag) < 0)
        rc = cli->exit_code;
    else if (optind != argc - 2)
        rc = cli_usage (cli, "give a job and a project");
    else {
        tag.request.of.job = argv[optind];
        tag.request.project = argv[optind + 1];
        if (tag.labels.length)
            tag.request.labels = buffer_text (&tag.labels);
        rc = user_verb_here (cli) ? tag_here (cli, &tag)
                                  : tag_there (cli, &tag);
    }
    buffer_done (&tag.labels);
    return rc;
}

static const cli_option_t options[] = {
    {0, "submit", "TIME",
     "the job submitted at that time, because JobIds recur\n(default: the "
     "latest, with its requeues)",
     CLI_AT (struct tag, request.of.submit)},
    {0, "label", "KEY=VALUE",
     "a label of the job; all given labels replace its old ones; may "
     "be\nrepeated",
     CLI_AT (struct tag, labels), .take = take_label},
    {0, "cluster", "NAME", "the job of this cluster",
     CLI_AT (struct tag, request.of.cluster)},
    USER_FOR_OPTION (struct tag, as),
    {0},
};

const verb_t verb_tag = {
    .name = "tag",
    .run = run,
    .without_prices = true,
    .synopsis = "JOBID[_TASK|+OFFSET] PROJECT [OPTION]...",
    .summary = "change the project of a job that has been recorded",
    .help = "Gives one of your jobs another project, if you or the job's "
            "account could charge that project when the job ran. Use it for a "
            "forgotten or wrong tag. Each change is recorded with user and "
            "time. On the accounting host, root writes to the store. On other "
            "hosts the collector does it, and munge proves who you are.",
    .options = options,
    .example = "gpuledger tag 4711 segmentation",
};
