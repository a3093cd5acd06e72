/* empty_plugin.c: a SPANK plugin that does nothing, to compare ours with. */
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

SPANK_PLUGIN (empty, 1)

int slurm_spank_job_prolog (spank_t sp, int ac, char *av[])
{
    (void)sp;
    (void)ac;
    (void)av;
    return 0;
}
