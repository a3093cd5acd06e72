/* gpuledger doctor: checks of this host, and how to fix what they find. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/output.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "site/site.h"
#include "store/store.h"

struct request {
    doctor_t doctor;
    output_t output;
};

static const doctor_check_t *const tables[]
    = {doctor_node_checks, doctor_slurm_checks, doctor_host_checks};

/* --- what there is to look at ------------------------------------------ */

/* Broken ones are findings, so nothing here ends the command. */
static void open_site (doctor_t *d)
{
    cli_t *cli = d->cli;
    gl_error_t error;

    if (!cli->config_given && access (cli->config, F_OK) < 0)
        cli->site = site_default ();
    else if (config_load (cli->config, &cli->site, &error) < 0) {
        cli->site = NULL;
        d->config_problem = xstrdup (error.text);
    }
}

static void open_store (doctor_t *d)
{
    cli_t *cli = d->cli;
    gl_error_t error;

    d->here = user_verb_here (d->cli);
    if (!d->here)
        return;
    d->cli->store
        = store_open (cli->site ? cli_store_url (cli) : STORE_DEFAULT_URL,
                      STORE_READ_ONLY, &error);
    if (!d->cli->store)
        d->store_problem = xstrdup (error.text);
}

static void close_all (doctor_t *d)
{
    free ((char *)d->config_problem);
    free ((char *)d->store_problem);
    if (!d->slurm_missing)
        free ((char *)d->slurm_problem);
    free (d->slurm);
    free (d->nodes);
    if (d->setup)
        setup_done (d->setup);
    free (d->setup);
}

/* --- the table --------------------------------------------------------- */

enum { AT_NAME, AT_STATE, AT_MESSAGE, AT_EXPECTED, AT_REMEDY };

static const column_info_t columns[] = {
    {"name", "Check", COLUMN_TEXT, true, false, ""},
    {"state", "State", COLUMN_TEXT, false, false,
     "ok; warn: works, but check it; fail; unknown: cannot be determined; "
     "skipped: does not apply here."},
    {"message", "Finding", COLUMN_TEXT, false, false, ""},
    {"expected", "Expected", COLUMN_TEXT, false, true, ""},
    {"remedy", "How to fix it", COLUMN_TEXT, false, false, ""},
};

static void put_row (report_t *report, const doctor_check_t *check,
                     doctor_state_t state, const char *finding)
{
    report_row (report);
    report_put_text (report, AT_NAME, check->name);
    report_put_text (report, AT_STATE, doctor_state_name (state));
    report_put_text (report, AT_MESSAGE, finding);
    report_put_text (report, AT_EXPECTED, check->what);
    if (state == DOCTOR_WARN || state == DOCTOR_FAIL)
        report_put_text (report, AT_REMEDY, check->mend);
}

static doctor_state_t add_check (doctor_t *d, report_t *report,
                                 const doctor_check_t *check)
{
    BUFFER_AUTO finding = BUFFER_INIT;
    doctor_state_t state = check->look (d, &finding);

    put_row (report, check, state, buffer_text (&finding));
    return state;
}

/* A step of setup that no other check proves. */
static doctor_state_t add_step (doctor_t *d, report_t *report,
                                const setup_step_t *step)
{
    BUFFER_AUTO finding = BUFFER_INIT;
    GL_AUTOFREE char *name = xasprintf ("setup.%s", step->name);
    doctor_state_t state = doctor_look_step (d, step, &finding);

    put_row (report,
             &(doctor_check_t){
                 .name = name, .what = step->sentence, .mend = step->remedy},
             state, buffer_text (&finding));
    return state;
}

/* Returns how many things need looking at. */
static size_t fill (doctor_t *d, report_t *report)
{
    size_t count[DOCTOR_SKIPPED + 1] = {0}, wrong;

    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (const setup_step_t *const *table = setup_accounting; *table; table++)
        for (const setup_step_t *step = *table; step->name; step++)
            if (!step->check)
                count[add_step (d, report, step)]++;
    for (size_t i = 0; i < GL_ARRAY_SIZE (tables); i++) {
        for (const doctor_check_t *check = tables[i]; check->name; check++)
            count[add_check (d, report, check)]++;
    }
    wrong = count[DOCTOR_WARN] + count[DOCTOR_FAIL] + count[DOCTOR_UNKNOWN];
    report_note (report, NOTE_INFORMATION,
                 "%zu ok, %zu warn, %zu fail, %zu unknown, %zu skipped.",
                 count[DOCTOR_OK], count[DOCTOR_WARN], count[DOCTOR_FAIL],
                 count[DOCTOR_UNKNOWN], count[DOCTOR_SKIPPED]);
    return wrong;
}

static int examine (cli_t *cli, doctor_t *d, const output_t *output)
{
    report_t *report = report_new ("doctor", "Health of gpuledger on this "
                                             "host");
    size_t wrong;
    int rc;

    d->cli = cli;
    d->now = time (NULL);
    open_site (d);
    open_store (d);
    if (!d->spool)
        d->spool = cli->site && cli->site->agent.spool ? cli->site->agent.spool
                                                       : LOCALSTATEDIR
                       "/spool/gpuledger";
    wrong = fill (d, report);
    rc = output_report (cli, output, report);
    report_free (report);
    close_all (d);
    return rc == CLI_OK && wrong ? CLI_LOOK : rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    return examine (cli, &request.doctor, &request.output);
}

static const cli_option_t options[] = {
    {0, "spool", "DIR", "the node's spool (default: agent.spool)",
     CLI_AT (struct request, doctor.spool)},
    {0, "plugstack", "FILE", "Slurm's plugstack.conf (default: as Slurm says)",
     CLI_AT (struct request, doctor.plugstack)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_doctor = {
    .name = "doctor",
    .run = run,
    .without_prices = true,
    .synopsis = "[OPTION]...",
    .summary = "checks of this host, and how to fix what they find",
    .help = "Checks the node, Slurm's settings and the store, as far as they "
            "are on this host, and changes nothing. The exit code is 3 if "
            "something needs attention.",
    .options = options,
    .example = "gpuledger doctor",
};
