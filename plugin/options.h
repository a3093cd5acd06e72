/*
 * options.h: --gpu-project and --gpu-label, and the roads on which their
 * values travel.
 *
 * Slurm keeps an option's value as the variable
 * _SLURM_SPANK_OPTION_gpuledger_gpu_project of the job: slurmctld stores it,
 * the prolog and epilog see it, and the job itself finds a copy with the prefix
 * SLURM_SPANK_ in its environment. A job submitted from inside that job would
 * take the copy as an option of its own, one that beats its #SBATCH line. So a
 * client takes the copy away first, and hands on what is to apply at the end.
 *
 * What applies, first that answers: command line, #SBATCH directive,
 * GPULEDGER_PROJECT (GPULEDGER_LABELS), the parent job's.
 */
#ifndef GL_PLUGIN_OPTIONS_H
#define GL_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "base/tag.h"
#include "record/record.h"

typedef enum { OPTION_PROJECT, OPTION_LABELS, OPTION_COUNT } option_t;

#define OPTION_TEXT_MAX LABELS_MAX

/* A value and where it came from. "" with a source of NONE: there is none. */
typedef struct {
    char text[OPTION_TEXT_MAX + 1];
    record_source_t source;
    bool rejected;        /* something was given that is no such value */
    bool source_rejected; /* something that names no source */
} option_value_t;

/* Make both options known; right in init of every context that has an init,
 * as a static table breaks the prolog's spank_option_getopt(). */
void options_register (spank_t sp);

/* In a client's init: save and remove the parent job's values. */
void options_save_inherited (void);
/* In a client's init_post_opt: what applies. A malformed default in the
 * environment counts as none and sets `rejected`. */
void options_resolve (option_t which, option_value_t *ret_value);
/* In a client's init_post_opt: give `value` to the job, with its source. */
void options_hand_on (spank_t sp, option_t which, const option_value_t *value);
/* In srun: leave the copy that a job in this job inherits from. */
void options_export (option_t which, const option_value_t *value);

/* In the job's prolog and epilog: what arrived. Everything there was chosen by
 * a user, with or without the client's checks. */
void options_read_job (spank_t sp, option_t which, option_value_t *ret_value);

/* A step finds its job's project in GPULEDGER_PROJECT as well
 * (announce.h). The same text in the first of these says that it is not the
 * user's; the second keeps the user's. */
#define OPTION_PROJECT_MARK "GPULEDGER_PROJECT_JOB"
#define OPTION_PROJECT_USER "GPULEDGER_PROJECT_USER"

/* The variable of the environment that gives the default, for messages. */
const char *options_environment (option_t which);

#endif /* !GL_PLUGIN_OPTIONS_H */
