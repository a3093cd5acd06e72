#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/tag.h"
#include "record/prices.h"
#include "record/spool_state.h"

#include "announce.h"
#include "options.h"

#define PRICE "GPULEDGER_PRICE_PER_HOUR"
#define CURRENCY "GPULEDGER_PRICE_CURRENCY"
#define QOS_MAX 256

/* "" where there is none, or none that fits. */
static void look_up (spank_t sp, const char *name, char *ret_value, int size)
{
    ret_value[0] = '\0';
    if (spank_getenv (sp, name, ret_value, size) != ESPANK_SUCCESS)
        ret_value[0] = '\0';
    ret_value[size - 1] = '\0';
}

/* --- the project --- */

/* The text of GPULEDGER_PROJECT, and whether a plugin put it there. */
struct present {
    char project[OPTION_TEXT_MAX + 1];
    char user[OPTION_TEXT_MAX + 1]; /* the user's own default, put aside */
    bool ours;
};

static struct present look_at_project (spank_t sp)
{
    struct present present;
    char mark[OPTION_TEXT_MAX + 1];

    look_up (sp, options_environment (OPTION_PROJECT), present.project,
             sizeof (present.project));
    look_up (sp, OPTION_PROJECT_MARK, mark, sizeof (mark));
    look_up (sp, OPTION_PROJECT_USER, present.user, sizeof (present.user));
    present.ours = mark[0] && strcmp (mark, present.project) == 0;
    return present;
}

static void set_project (spank_t sp, const char *project,
                         const struct present *present)
{
    if (!present->ours && present->project[0])
        spank_setenv (sp, OPTION_PROJECT_USER, present->project, 1);
    else if (!present->ours)
        spank_unsetenv (sp, OPTION_PROJECT_USER);
    spank_setenv (sp, options_environment (OPTION_PROJECT), project, 1);
    spank_setenv (sp, OPTION_PROJECT_MARK, project, 1);
}

/* An untagged job that was submitted in a tagged one: what that one was told
 * is not this job's. */
static void take_back (spank_t sp, const struct present *present)
{
    const char *variable = options_environment (OPTION_PROJECT);

    if (!present->ours)
        return;
    if (present->user[0])
        spank_setenv (sp, variable, present->user, 1);
    else
        spank_unsetenv (sp, variable);
    spank_unsetenv (sp, OPTION_PROJECT_MARK);
    spank_unsetenv (sp, OPTION_PROJECT_USER);
}

void announce_project (spank_t sp, const char *spool, uint32_t job)
{
    struct present present = look_at_project (sp);
    char project[TAG_MAX + 2];

    if (spool_state_get_project (spool, job, project, sizeof (project)) == 0)
        set_project (sp, project, &present);
    else
        take_back (sp, &present);
}

/* --- the price --- */

void announce_price (spank_t sp, const char *spool, const char *gpus)
{
    char qos[QOS_MAX], text[PRICES_TEXT_SIZE];
    prices_answer_t answer;
    gl_error_t error;
    int known = 0;

    look_up (sp, "SLURM_JOB_QOS", qos, sizeof (qos));
    if (gpus)
        known = prices_of_devices (spool, gpus, qos, time (NULL), &answer,
                                   &error);
    if (known < 0)
        slurm_debug ("gpuledger: no price: %s", error.text);
    if (known <= 0) {
        spank_unsetenv (sp, PRICE);
        spank_unsetenv (sp, CURRENCY);
        return;
    }
    prices_text (answer.per_hour, text);
    spank_setenv (sp, PRICE, text, 1);
    spank_setenv (sp, CURRENCY, answer.currency, 1);
}
