/* gpuledger idle: running jobs whose GPUs are idle, and what is done about them. */
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timespec.h"
#include "cli/output.h"
#include "command/verb.h"
#include "facts/facts.h"
#include "mail/idle_warning.h"
#include "waste/idle_jobs.h"

struct request {
    output_t output;
    const char *minutes, *cluster, *as_of, *mbox;
    bool mail, run, dry_run;
};

enum {
    AT_CLUSTER,
    AT_JOB,
    AT_USER,
    AT_ACCOUNT,
    AT_GPUS,
    AT_SINCE,
    AT_MINUTES,
    AT_UNTIL,
    AT_STATE,
    AT_COUNT,
};
static const column_info_t columns[AT_COUNT] = {
    {"cluster", "Cluster", COLUMN_TEXT, true, false, "The cluster of the job."},
    {"job", "Job", COLUMN_TEXT, true, false, "The JobId."},
    {"user", "User", COLUMN_TEXT, false, false, "Who submitted the job."},
    {"account", "Account", COLUMN_TEXT, false, false,
     "The account of the job."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false,
     "Devices that the job has, all of them idle."},
    {"idle_since", "Idle since", COLUMN_DATE, false, false,
     "When the last of them became idle, or earlier."},
    {"idle_minutes", "Idle minutes", COLUMN_COUNT, false, false,
     "From then until the last measurement."},
    {"measured_until", "Measured until", COLUMN_DATE, false, true,
     "The last measurement of all its GPUs."},
    {"warning", "Warning", COLUMN_TEXT, false, false,
     "to be warned; warned (less than idle_jobs.again ago); mailed; command "
     "run; no address; failed."},
};

static const char *const outcomes[] = {[IDLE_TO_DO] = "to be warned",
                                       [IDLE_BEFORE] = "warned",
                                       [IDLE_NO_ADDRESS] = "no address",
                                       [IDLE_FAILED] = "failed"};
static const char *const done[]
    = {[IDLE_MAIL] = "mailed", [IDLE_COMMAND] = "command run"};

struct job {
    segment_t segment; /* its texts are copies */
    idle_job_t idle;
};

struct making {
    cli_t *cli;
    const struct request *request;
    int64_t now, after;
    struct job *job;
    size_t count;
    uint64_t unknown; /* running jobs */
    report_t *report;
    bool failed, look;
};

static char *copy_of (const char *text)
{
    return text ? xstrdup (text) : NULL;
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    const segment_t *s = fact->segment;
    idle_job_t idle;
    idle_job_state_t state = idle_job_of (s, fact->evidence, m->now, &idle);

    (void)error;
    m->unknown += state == IDLE_JOB_UNKNOWN;
    if (state != IDLE_JOB_IDLE || idle.until - idle.since < m->after)
        return 0;
    *GL_APPEND (m->job, m->count)
        = (struct job){.segment = {.cluster = xstrdup (s->cluster),
                                   .id_job = s->id_job,
                                   .time_submit = s->time_submit,
                                   .user = copy_of (s->user),
                                   .account = copy_of (s->account),
                                   .nodelist = copy_of (s->nodelist),
                                   .job_name = copy_of (s->job_name)},
                       .idle = idle};
    return 0;
}

static void job_clear (struct job *job)
{
    free ((char *)job->segment.cluster);
    free ((char *)job->segment.user);
    free ((char *)job->segment.account);
    free ((char *)job->segment.nodelist);
    free ((char *)job->segment.job_name);
}

/* Acted on after the pass over the store, which must not be written meanwhile. */
static int put_job (struct making *m, const struct job *job, gl_error_t *error)
{
    const segment_t *s = &job->segment;
    idle_action_t action = m->request->run ? IDLE_COMMAND : IDLE_MAIL;
    bool act = (m->request->run || m->request->mail) && !m->request->dry_run;
    idle_outcome_t outcome = IDLE_TO_DO;
    GL_AUTOFREE char *id = xasprintf ("%llu", (unsigned long long)s->id_job);
    const idle_warning_t warning = {.segment = s,
                                    .since = job->idle.since,
                                    .until = job->idle.until,
                                    .gpus = job->idle.gpus};
    const zone_t *zone = m->cli->site->zone;
    char stamp[ZONE_STAMP_SIZE];

    if ((m->request->run || m->request->mail)
        && idle_warn (m->cli, &warning, action, act, m->request->mbox, m->now,
                      &outcome, error)
               < 0)
        return -1;
    m->failed = m->failed || outcome == IDLE_FAILED;
    m->look = m->look || outcome == IDLE_NO_ADDRESS;
    report_row (m->report);
    report_put_text (m->report, AT_CLUSTER, s->cluster);
    report_put_text (m->report, AT_JOB, id);
    report_put_text (m->report, AT_USER, s->user);
    report_put_text (m->report, AT_ACCOUNT, s->account);
    report_put_count (m->report, AT_GPUS, job->idle.gpus);
    report_put_text (m->report, AT_SINCE,
                     zone_stamp (zone, job->idle.since, stamp));
    report_put_count (m->report, AT_MINUTES,
                      (uint64_t)(job->idle.until - job->idle.since) / 60);
    report_put_text (m->report, AT_UNTIL,
                     zone_stamp (zone, job->idle.until, stamp));
    report_put_text (m->report, AT_STATE,
                     outcome == IDLE_DONE ? done[action] : outcomes[outcome]);
    return 0;
}

static int make (struct making *m, gl_error_t *error)
{
    /* measurements of two days: who is idle for longer is idle for so long at least */
    const store_query_t running = {.cluster = m->request->cluster,
                                   .start = m->now - 2 * 86400,
                                   .end = m->now + 1,
                                   .gpu_only = true,
                                   .open_only = true};

    if (facts_each (m->cli->store, m->cli->site, &running, take_fact, m, error)
        < 0)
        return -1;
    for (size_t i = 0; i < m->count; i++)
        if (put_job (m, &m->job[i], error) < 0)
            return -1;
    if (m->unknown > 0)
        report_note (m->report, NOTE_INFORMATION,
                     "Of %llu running job%s it is unknown whether the GPUs are "
                     "idle: agents, or 'gpuledger sync', did not report in the "
                     "last %d hours.",
                     (unsigned long long)m->unknown, m->unknown == 1 ? "" : "s",
                     IDLE_JOB_FRESH / 3600);
    return 0;
}

static int check_times (cli_t *cli, struct making *m)
{
    const struct request *request = m->request;
    gl_error_t error;
    uint64_t minutes;

    m->now = time (NULL);
    if (request->as_of
        && timespec_parse (request->as_of, cli->site->zone, m->now, &m->now,
                           &error)
               < 0)
        return cli_usage (cli, "--as-of: %s", error.text);
    m->after = cli->site->idle_jobs.after;
    if (!request->minutes)
        return CLI_OK;
    if (number_u64_text (request->minutes, &minutes) < 0 || minutes == 0
        || minutes > 2 * 1440)
        return cli_usage (cli,
                          "--minutes '%s' is no number from 1 to %d; "
                          "measurements of two days are read",
                          request->minutes, 2 * 1440);
    m->after = (int64_t)minutes * 60;
    return CLI_OK;
}

static int idle (cli_t *cli, const struct request *request)
{
    struct making m = {.cli = cli, .request = request};
    bool writes = (request->mail || request->run) && !request->dry_run;
    gl_error_t error;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, writes ? 0 : STORE_READ_ONLY))
        return CLI_FAILED;
    rc = check_times (cli, &m);
    if (rc == CLI_OK && (request->mail || request->run))
        rc = idle_warning_check (cli, request->run ? IDLE_COMMAND : IDLE_MAIL);
    if (rc != CLI_OK)
        return rc;
    m.report = report_new ("idle_jobs", "Running jobs with idle GPUs");
    report_columns (m.report, columns, AT_COUNT);
    rc = make (&m, &error) < 0
             ? cli_fail (cli, &error)
             : output_report (cli, &request->output, m.report);
    if (rc == CLI_OK && m.failed)
        rc = CLI_FAILED;
    else if (rc == CLI_OK && m.look)
        rc = CLI_LOOK;
    report_free (m.report);
    GL_FREE_EACH (m.job, m.count, it, job_clear (it));
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    if (request.mail && request.run)
        return cli_usage (cli, "--mail and --run exclude each other");
    if (request.mbox && !request.mail)
        return cli_usage (cli, "--mbox is of --mail");
    if (request.mbox && !*request.mbox)
        return cli_usage (cli, "--mbox needs the name of a file");
    return idle (cli, &request);
}

static const cli_option_t options[] = {
    {0, "minutes", "N",
     "jobs whose GPUs were all idle for N minutes or longer (default:\n"
     "idle_jobs.after of the configuration, 60)",
     CLI_AT (struct request, minutes)},
    {'M', "clusters", "NAME", "jobs of this cluster only",
     CLI_AT (struct request, cluster)},
    {0, "mail", NULL, "mail the owner of each job, once in idle_jobs.again",
     CLI_AT (struct request, mail)},
    {0, "run", NULL,
     "run idle_jobs.command of the configuration for each job, with\n"
     "its JobId as last argument, once in idle_jobs.again",
     CLI_AT (struct request, run)},
    {0, "dry-run", NULL,
     "with --mail or --run: list what would be done, and do nothing",
     CLI_AT (struct request, dry_run)},
    {0, "mbox", "FILE",
     "append the mail to FILE in mbox form ('-': print it) instead of\n"
     "sending it",
     CLI_AT (struct request, mbox)},
    {0, "as-of", "TIME", "as if it were that time (default: now)",
     CLI_AT (struct request, as_of)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_idle = {
    .name = "idle",
    .run = run,
    .synopsis = "[OPTION]...",
    .summary = "running jobs with idle GPUs, and warnings to their owners",
    .help = "Lists running jobs whose GPUs are all idle, as agents measured "
            "last. Nothing is done about\nthem without --mail or --run, and "
            "no job is ended but by the command that you configure.",
    .options = options,
    .example = "gpuledger idle --minutes 120\n"
               "gpuledger idle --mail --dry-run",
};
