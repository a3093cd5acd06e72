/*
 * contexts.h: what the plugin does in each of Slurm's contexts. dispatch.c
 * calls these; none can fail, since no hook of ours ever fails a job.
 */
#ifndef GL_PLUGIN_CONTEXTS_H
#define GL_PLUGIN_CONTEXTS_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

typedef void (*context_f) (spank_t sp, int ac, char **av);

/* client.c: srun, sbatch, salloc, as the user */
void client_init (spank_t sp, int ac, char **av);
void client_init_post_opt (spank_t sp, int ac, char **av);

/* job_script.c: a process of its own for each prolog and epilog, as root */
void job_script_prolog (spank_t sp, int ac, char **av);
void job_script_epilog (spank_t sp, int ac, char **av);

/* step.c: slurmstepd, one for each step and node, as root */
void step_init (spank_t sp, int ac, char **av);

/* daemon.c: slurmd, once when it starts */
void daemon_init (spank_t sp, int ac, char **av);

#endif /* !GL_PLUGIN_CONTEXTS_H */
