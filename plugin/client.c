/* client.c: in srun (LOCAL), sbatch and salloc (ALLOCATOR): read the tag, ask
 * the policy, hand the tag on. Runs as the user. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "contexts.h"
#include "once.h"
#include "options.h"
#include "policy.h"
#include "request.h"

void client_init (spank_t sp, int ac, char **av)
{
    args_t args;

    if (!once_claim ())
        return;
    args_parse (&args, ac, av, slurm_error);
    options_save_inherited ();
    options_register (sp);
}

static bool is_new_allocation (void)
{
    if (spank_context () == S_CTX_ALLOCATOR)
        return true;
    return !getenv ("SLURM_JOB_ID") && !getenv ("SLURM_JOBID")
           && !request_names_a_job ();
}

/* The name as the allow-list spells it, or the number of a user without. */
static const char *user_name (void)
{
    static char number[16];
    const struct passwd *entry = getpwuid (getuid ());

    if (entry && entry->pw_name)
        return entry->pw_name;
    snprintf (number, sizeof (number), "%u", (unsigned)getuid ());
    return number;
}

/* What the list says; without one, every well-formed project is known. A list
 * that cannot be read is reported and does not count against the user. */
static policy_answer_t ask (const args_t *args, const char *project)
{
    policy_answer_t answer = {.known = true};
    gl_error_t error;

    if (args->projects
        && policy_ask (args->projects, user_name (), project, &answer, &error)
               < 0) {
        answer = (policy_answer_t){.known = true};
        slurm_error ("gpuledger: projects are not checked: %s", error.text);
    }
    return answer;
}

static void complain (const args_t *args, const char *project,
                      const policy_answer_t *answer, bool refused)
{
    void (*say) (const char *format, ...)
        __attribute__ ((format (printf, 1, 2)));
    const char *before = "; you have none", *after = "";

    say = refused ? slurm_error : slurm_spank_log;
    if (answer->yours[0]) {
        before = "; yours are: ";
        after = answer->yours;
    }
    else if (!args->projects)
        before = "";
    if (project[0])
        say ("gpuledger: unknown project '%s'%s%s", project, before, after);
    else
        say ("gpuledger: no project given: use --gpu-project=NAME or set %s%s%s",
             options_environment (OPTION_PROJECT), before, after);
}

/* Only requests for GPUs are refused, for each component of a het job on its
 * own. Others pass; the user is told that a project is unknown. exit() because a
 * plugin marked `optional` cannot refuse by its return value. */
static void check (const args_t *args, const char *project, size_t component)
{
    static bool told;
    policy_answer_t answer = ask (args, project[0] ? project : NULL);
    bool gpus, refused;

    if (project[0] && answer.known)
        return;
    gpus = request_asks_for_gpus (component);
    refused = gpus && args->policy == POLICY_REQUIRE;
    if (refused || (!told && (gpus || project[0]))) {
        complain (args, project, &answer, refused);
        told = true;
    }
    if (refused)
        exit (1);
}

static void tell_rejected (option_t which, const option_value_t *value)
{
    if (value->rejected)
        slurm_error ("gpuledger: %s holds no valid value; ignored",
                     options_environment (which));
}

static void tell_all_rejected (const option_value_t values[])
{
    for (int i = 0; i < OPTION_COUNT; i++)
        tell_rejected (i, &values[i]);
}

static void quiet (const char *format, ...)
{
    (void)format;
}

/* Once for each component of a het job. */
void client_init_post_opt (spank_t sp, int ac, char **av)
{
    static unsigned calls;
    static size_t component;
    option_value_t values[OPTION_COUNT];
    args_t args;

    once_unmark ();
    if (!once_turn (&calls))
        return;
    args_parse (&args, ac, av, quiet);
    for (int i = 0; i < OPTION_COUNT; i++)
        options_resolve (i, &values[i]);
    if (component == 0)
        tell_all_rejected (values);
    if (args.policy != POLICY_OFF && is_new_allocation ())
        check (&args, values[OPTION_PROJECT].text, component);
    component++;
    for (int i = 0; i < OPTION_COUNT; i++) {
        options_hand_on (sp, i, &values[i]);
        if (spank_context () == S_CTX_LOCAL)
            options_export (i, &values[i]);
    }
}
