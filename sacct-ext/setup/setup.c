#include "setup/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/program.h"
#include "config/config.h"
#include "setup/answers.h"
#include "setup/sql.h"
#include "setup/store_place.h"
#include "site/site.h"

/* --- what steps share ---------------------------------------------------- */

const char *setup_own (setup_t *setup, char *text)
{
    *GL_APPEND (setup->own, setup->own_count) = text;
    return text;
}

void setup_load_site (setup_t *setup)
{
    gl_error_t error;

    site_free (setup->site);
    free (setup->site_problem);
    setup->site = NULL;
    setup->site_problem = NULL;
    if (access (setup->cli->config, F_OK) < 0)
        setup->site = site_default ();
    else if (config_load (setup->cli->config, &setup->site, &error) < 0)
        setup->site_problem = xstrdup (error.text);
}

/* --- Slurm's files ------------------------------------------------------- */

/* One that was named has to be there. */
static int read_conf (const char *given, const char *name,
                      slurm_conf_t **ret_conf, gl_error_t *error)
{
    GL_AUTOFREE char *found = given ? xstrdup (given) : slurm_conf_find (name);

    *ret_conf = found ? slurm_conf_read (found, error) : NULL;
    return found && !*ret_conf ? -1 : 0;
}

static int read_slurm (setup_t *setup, gl_error_t *error)
{
    const setup_options_t *o = &setup->options;

    if (read_conf (o->slurm_conf, "slurm.conf", &setup->slurm, error) < 0
        || read_conf (o->slurmdbd_conf, "slurmdbd.conf", &setup->slurmdbd,
                      error)
               < 0)
        return -1;
    return setup->slurm ? found_pools_read (setup->slurm, &setup->found, error)
                        : 0;
}

void setup_done (setup_t *setup)
{
    slurm_conf_free (setup->slurm);
    slurm_conf_free (setup->slurmdbd);
    found_pools_done (&setup->found);
    site_free (setup->site);
    free (setup->site_problem);
    made_done (&setup->changes.made);
    buffer_done (&setup->changes.log);
    texts_clear (&setup->sql_files);
    GL_FREE_EACH (setup->own, setup->own_count, it, free (*it));
}

static int setup_open (setup_t *setup, gl_error_t *error)
{
    setup->changes.dry_run = setup->options.dry_run;
    setup->changes.image = setup->options.root;
    if (setup->changes
            .image) /* systemctl asks no systemd, even if it finds one */
        setenv ("SYSTEMD_OFFLINE", "1", 1);
    setup_load_site (setup);
    store_place_url (setup);
    if (made_read (&setup->changes.made, error) < 0)
        return -1;
    return read_slurm (setup, error);
}

/* What cannot be read is no answer; the steps say what is missing. */
void setup_look_only (setup_t *setup, cli_t *cli)
{
    *setup = (setup_t){.cli = cli, .options = {.yes = true, .dry_run = true}};
    setup_open (setup, NULL);
    answers_propose (setup);
}

/* --- the table ----------------------------------------------------------- */

static void print_lines (const char *text)
{
    while (*text) {
        size_t length = strcspn (text, "\n");
        printf ("             %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* A line for the step, then what was changed or is to be done. */
static void print_step (setup_t *setup, const setup_step_t *step,
                        const char *word, const char *finding)
{
    size_t first = strcspn (finding, "\n");

    if (!setup->cli->quiet) {
        printf ("%-12s %s%s%.*s\n", word, step->sentence, first ? ": " : "",
                (int)first, finding);
        print_lines (buffer_text (&setup->changes.log));
        print_lines (finding + first + (finding[first] == '\n'));
        fflush (stdout);
    }
    buffer_clear (&setup->changes.log);
}

/* How a run went. */
struct counts {
    size_t made, yours, waiting, failed;
};

/* The word for a step that make() or undo() has handled. */
static const char *word_of (const setup_t *setup, bool undo)
{
    bool dry = setup->options.dry_run;

    if (!setup->changes.log.length)
        return "left";
    if (undo)
        return dry ? "would undo" : "undone";
    return dry ? "would do" : "done now";
}

static void say_yours (setup_t *setup, const setup_step_t *step,
                       const char *reason, const char *finding)
{
    GL_AUTOFREE char *text
        = xasprintf ("%s%s%s", reason, *reason ? "\n" : "", finding);

    print_step (setup, step, "to do", text);
}

/* `reason`: what look() has found. */
static void act (setup_t *setup, const setup_step_t *step, const char *reason,
                 struct counts *counts)
{
    bool undo = setup->options.remove;
    BUFFER_AUTO finding = BUFFER_INIT;
    gl_error_t error = {""};
    setup_result_t result = undo ? step->undo (setup, &finding, &error)
                                 : step->make (setup, &finding, &error);

    counts->failed += result == SETUP_FAILED;
    counts->yours += result == SETUP_YOURS;
    counts->made += result == SETUP_MADE && setup->changes.log.length > 0;
    if (result == SETUP_FAILED)
        print_step (setup, step, "failed", error.text);
    else if (result == SETUP_YOURS)
        say_yours (setup, step, reason, buffer_text (&finding));
    else if (!undo || setup->changes.log.length || finding.length)
        print_step (setup, step, word_of (setup, undo), buffer_text (&finding));
}

static void make_step (setup_t *setup, const setup_step_t *step,
                       struct counts *counts)
{
    BUFFER_AUTO finding = BUFFER_INIT;
    setup_state_t state = step->look (setup, &finding);

    if (state == SETUP_TO_DO) {
        act (setup, step, buffer_text (&finding), counts);
        return;
    }
    counts->waiting += state == SETUP_WAITING;
    if (state != SETUP_UNNEEDED)
        print_step (setup, step, state == SETUP_DONE ? "done" : "waiting",
                    buffer_text (&finding));
}

#define STEPS_MAX 32

/* The rows of all tables; returns their number. */
static size_t list_steps (const setup_step_t *const *kind,
                          const setup_step_t **ret_steps)
{
    size_t count = 0;

    for (const setup_step_t *const *table = kind; *table; table++) {
        if (kind == setup_accounting && *table == setup_node_steps
            && !program_exists ("gpuledger-agent"))
            continue;
        for (const setup_step_t *step = *table; step->name; step++)
            ret_steps[count++] = step;
    }
    return count;
}

static void run_steps (setup_t *setup, const setup_step_t *const *kind,
                       struct counts *counts)
{
    const setup_step_t *steps[STEPS_MAX];
    size_t count = list_steps (kind, steps);

    for (size_t i = 0; i < count && !counts->failed; i++) {
        if (!setup->options.remove)
            make_step (setup, steps[i], counts);
        else if (steps[count - 1 - i]->undo)
            act (setup, steps[count - 1 - i], "", counts);
    }
}

/* The last line, and the exit code. */
static int conclude (setup_t *setup, const struct counts *counts)
{
    cli_t *cli = setup->cli;

    if (counts->failed)
        return cli_failf (cli, "a step failed; the steps before it are done, "
                               "and gpuledger setup goes on from there");
    if (counts->yours || counts->waiting)
        cli_say (cli, "%zu step%s left to you; then run gpuledger setup again",
                 counts->yours + counts->waiting,
                 counts->yours + counts->waiting == 1 ? " is" : "s are");
    else if (!counts->made)
        cli_say (cli, setup->options.remove
                          ? "nothing to remove: setup has made nothing here"
                          : "nothing to do: all steps are done");
    return counts->yours || counts->waiting ? CLI_LOOK : CLI_OK;
}

int setup_run (cli_t *cli, const setup_options_t *options,
               const setup_step_t *const *kind)
{
    setup_t setup = {.cli = cli, .options = *options};
    struct counts counts = {0};
    gl_error_t error;
    int rc = setup_open (&setup, &error);

    if (rc < 0)
        rc = cli_fail (cli, &error);
    else if (options->remove)
        answers_propose (&setup);
    else
        rc = answers_ask (&setup, kind);
    if (rc == CLI_OK) {
        run_steps (&setup, kind, &counts);
        rc = sql_tidy (&setup, &error) < 0 ? cli_fail (cli, &error)
                                           : conclude (&setup, &counts);
    }
    setup_done (&setup);
    return rc;
}
