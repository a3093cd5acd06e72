/* client.c: in srun (LOCAL), sbatch and salloc (ALLOCATOR): read the tag, ask
 * the policy, hand the tag on. Runs as the user. */
#include <fcntl.h>
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

/* Command lines longer than this are looked at in part. */
#define COMMAND_LINE_MAX (64 * 1024)

void client_init (spank_t sp, int ac, char **av)
{
    args_t args;

    if (!once_claim ())
        return;
    args_parse (&args, ac, av, slurm_error);
    options_save_inherited ();
    options_register (sp);
}

/* `srun --jobid=7` runs a step in a job that is there. Slurm has not told us
 * its options at this point, so look for the word; taking one of the program's
 * own arguments for it only spares a question. */
static bool has_jobid_option (void)
{
    static char words[COMMAND_LINE_MAX];
    int fd = open ("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (fd < 0)
        return true;
    size = read (fd, words, sizeof (words) - 1);
    close (fd);
    for (ssize_t at = 0; at < size; at += strlen (words + at) + 1) {
        if (strncmp (words + at, "--jobi", 6) == 0)
            return true;
    }
    return false;
}

static bool is_new_allocation (void)
{
    if (spank_context () == S_CTX_ALLOCATOR)
        return true;
    return !getenv ("SLURM_JOB_ID") && !getenv ("SLURM_JOBID")
           && !has_jobid_option ();
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
 * that cannot be read is told and not held against the user. */
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
                      const policy_answer_t *answer)
{
    void (*say) (const char *format, ...)
        __attribute__ ((format (printf, 1, 2)));
    const char *before = "; you have none", *after = "";

    say = args->policy == POLICY_REQUIRE ? slurm_error : slurm_spank_log;
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

/* exit() because a plugin marked `optional` cannot refuse by its return
 * value. */
static void check (const args_t *args, const char *project)
{
    policy_answer_t answer = ask (args, project[0] ? project : NULL);

    if (project[0] && answer.known)
        return;
    complain (args, project, &answer);
    if (args->policy == POLICY_REQUIRE)
        exit (1);
}

static void tell_rejected (option_t which, const option_value_t *value)
{
    if (value->rejected)
        slurm_error ("gpuledger: %s holds no valid value; ignored",
                     options_environment (which));
}

/* Once per component of a het job: the first one speaks for all. */
static void check_once (const args_t *args, const option_value_t values[])
{
    static bool checked;

    if (checked)
        return;
    checked = true;
    for (int i = 0; i < OPTION_COUNT; i++)
        tell_rejected (i, &values[i]);
    if (args->policy != POLICY_OFF && is_new_allocation ())
        check (args, values[OPTION_PROJECT].text);
}

static void quiet (const char *format, ...)
{
    (void)format;
}

void client_init_post_opt (spank_t sp, int ac, char **av)
{
    static unsigned calls;
    option_value_t values[OPTION_COUNT];
    args_t args;

    once_unmark ();
    if (!once_turn (&calls))
        return;
    args_parse (&args, ac, av, quiet);
    for (int i = 0; i < OPTION_COUNT; i++)
        options_resolve (i, &values[i]);
    check_once (&args, values);
    for (int i = 0; i < OPTION_COUNT; i++) {
        options_hand_on (sp, i, &values[i]);
        if (spank_context () == S_CTX_LOCAL)
            options_export (i, &values[i]);
    }
}
