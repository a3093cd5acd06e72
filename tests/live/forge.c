/*
 * forge.c: what a user can load into the own srun, sbatch and salloc in place
 * of gpuledger.so: it sends the text of FORGED_PROJECT along as the project,
 * unchecked. slurmctld hands it to job_submit and to root's prolog.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include <slurm/spank.h>

SPANK_PLUGIN (forge, 1)

int slurm_spank_init_post_opt (spank_t sp, int ac, char *av[])
{
    const char *text = getenv ("FORGED_PROJECT");

    (void)ac;
    (void)av;
    if (!text || spank_context () == S_CTX_REMOTE)
        return 0;
    return spank_job_control_setenv (
               sp, "_SLURM_SPANK_OPTION_gpuledger_gpu_project", text, 1)
                   == ESPANK_SUCCESS
               ? 0
               : -1;
}
