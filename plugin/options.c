#include <stdlib.h>
#include <string.h>

#include "options.h"

#define VARIABLE "_SLURM_SPANK_OPTION_gpuledger_"
#define EXPORTED "SLURM_SPANK_"
#define ARRIVED "SPANK_"

static int project_callback (int val, const char *optarg, int remote);
static int labels_callback (int val, const char *optarg, int remote);
static const char *project_problem (const char *text);

/* The casts: spank.h of every release has `char *` there and only reads. */
static struct option {
    struct spank_option spank;
    const char *exported;    /* the parent's value in a client's environment */
    const char *environment; /* the user's default */
    const char *mark; /* the same text there: set for a step, no default */
    const char *user; /* the default then */
    const char *source;      /* job variable that says where it came from */
    const char *(*problem) (const char *text);
    char given[OPTION_TEXT_MAX + 1];     /* by option; "": not */
    char inherited[OPTION_TEXT_MAX + 1]; /* from the parent; "": nothing */
} options[OPTION_COUNT] = {
    [OPTION_PROJECT] =
        {
            .spank = {.name = (char *)"gpu-project",
                      .arginfo = (char *)"NAME",
                      .usage = (char *)"project that the GPU time is charged to",
                      .has_arg = 1,
                      .val = OPTION_PROJECT,
                      .cb = project_callback},
            .exported = EXPORTED VARIABLE "gpu_project",
            .environment = "GPULEDGER_PROJECT",
            .mark = OPTION_PROJECT_MARK,
            .user = OPTION_PROJECT_USER,
            .source = "GPULEDGER_SOURCE",
            .problem = project_problem,
        },
    [OPTION_LABELS] =
        {
            .spank = {.name = (char *)"gpu-label",
                      .arginfo = (char *)"KEY=VALUE[,...]",
                      .usage = (char *)"labels of the GPU time, at most 8",
                      .has_arg = 1,
                      .val = OPTION_LABELS,
                      .cb = labels_callback},
            .exported = EXPORTED VARIABLE "gpu_label",
            .environment = "GPULEDGER_LABELS",
            .source = "GPULEDGER_LABELS_SOURCE",
            .problem = labels_problem,
        },
};

/* The name that Slurm gives the job's variable. */
static const char *job_variable (const struct option *option)
{
    return option->exported + strlen (EXPORTED);
}

static const char *project_problem (const char *text)
{
    if (tag_valid (text, strnlen (text, TAG_MAX + 1)))
        return NULL;
    return "it is not 1-64 characters of A-Z a-z 0-9 . _ - beginning with a "
           "letter or digit";
}

const char *options_environment (option_t which)
{
    return options[which].environment;
}

/* --- given by option --- */

/* Slurm calls this for each place that gives the option, the strongest last.
 * In slurmstepd the value changes nothing any more and nothing may fail. The
 * refused text is not repeated: it may hold anything. */
static int take (struct option *option, const char *value, int remote)
{
    const char *problem;

    if (remote)
        return 0;
    problem = value ? option->problem (value) : "it is empty";
    if (problem) {
        slurm_error ("gpuledger: --%s: the value is refused: %s",
                     option->spank.name, problem);
        return -1;
    }
    strcpy (option->given, value);
    return 0;
}

static int project_callback (int val, const char *optarg, int remote)
{
    (void)val;
    return take (&options[OPTION_PROJECT], optarg, remote);
}

static int labels_callback (int val, const char *optarg, int remote)
{
    (void)val;
    return take (&options[OPTION_LABELS], optarg, remote);
}

void options_register (spank_t sp)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (spank_option_register (sp, &options[i].spank) != ESPANK_SUCCESS)
            slurm_error ("gpuledger: --%s is not available: Slurm refused to "
                         "register it",
                         options[i].spank.name);
    }
}

/* --- in a client --- */

/* The job's value as the plugin told this step; NULL: it did not. */
static const char *told (const struct option *option)
{
    const char *mark = option->mark ? getenv (option->mark) : NULL;
    const char *text = getenv (option->environment);

    return mark && text && strcmp (mark, text) == 0 ? text : NULL;
}

/* Slurm before 24.05 loses its copy under --export=NONE. */
void options_save_inherited (void)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        struct option *option = &options[i];
        const char *value = getenv (option->exported);
        if (!value)
            value = told (option);
        if (value && !option->problem (value))
            strcpy (option->inherited, value);
        unsetenv (option->exported);
    }
}

static bool from_environment (const struct option *option,
                              option_value_t *value)
{
    const char *text
        = getenv (told (option) ? option->user : option->environment);

    if (!text || text[0] == '\0')
        return false;
    if (option->problem (text)) {
        value->rejected = true;
        return false;
    }
    strcpy (value->text, text);
    value->source = RECORD_SOURCE_ENVIRONMENT;
    return true;
}

void options_resolve (option_t which, option_value_t *ret_value)
{
    const struct option *option = &options[which];
    option_value_t value = {.source = RECORD_SOURCE_NONE};

    if (option->given[0]) {
        strcpy (value.text, option->given);
        value.source = RECORD_SOURCE_OPTION;
    }
    else if (!from_environment (option, &value) && option->inherited[0]) {
        strcpy (value.text, option->inherited);
        value.source = RECORD_SOURCE_INHERITED;
    }
    *ret_value = value;
}

/* Slurm hands on an option that was given by itself; setting it again is
 * harmless and the same for all sources. */
void options_hand_on (spank_t sp, option_t which, const option_value_t *value)
{
    const struct option *option = &options[which];

    if (value->text[0] == '\0')
        return;
    if (spank_job_control_setenv (sp, job_variable (option), value->text, 1)
            != ESPANK_SUCCESS
        || spank_job_control_setenv (sp, option->source,
                                     record_source_name (value->source), 1)
               != ESPANK_SUCCESS)
        slurm_error ("gpuledger: %s cannot be handed on to the job",
                     option->environment);
}

void options_export (option_t which, const option_value_t *value)
{
    if (value->text[0])
        setenv (options[which].exported, value->text, 1);
}

/* --- in the job's prolog and epilog --- */

/* Only a client's init_post_opt names a source, and only one of three. */
static void read_source (const struct option *option, option_value_t *value)
{
    char name[64] = ARRIVED;
    int source;

    value->source = RECORD_SOURCE_UNKNOWN;
    strncat (name, option->source, sizeof (name) - sizeof (ARRIVED));
    if (!getenv (name))
        return;
    source = record_source_number (getenv (name));
    if (source == RECORD_SOURCE_OPTION || source == RECORD_SOURCE_ENVIRONMENT
        || source == RECORD_SOURCE_INHERITED)
        value->source = source;
    else
        value->source_rejected = true;
}

void options_read_job (spank_t sp, option_t which, option_value_t *ret_value)
{
    struct option *option = &options[which];
    option_value_t value = {.source = RECORD_SOURCE_NONE};
    char *text = NULL;

    if (spank_option_getopt (sp, &option->spank, &text) == ESPANK_SUCCESS
        && text) {
        if (option->problem (text))
            value.rejected = true;
        else {
            strcpy (value.text, text);
            read_source (option, &value);
        }
    }
    *ret_value = value;
}
