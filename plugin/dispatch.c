/* dispatch.c: the hooks that Slurm calls; nothing but a table. Exported are
 * the symbols here and those of SPANK_PLUGIN (gpuledger.map). */
#include <config.h>

#include <stddef.h>

#include "contexts.h"

SPANK_PLUGIN (gpuledger, 1)

#if !HAVE_DECL_ESPANK_JOB_FAILURE /* 25.05 and later; before, nobody reads it */
#define ESPANK_JOB_FAILURE ESPANK_ERROR
#endif

/* A failure to load us is the job's trouble, never a reason to drain. */
extern int slurm_spank_init_failure_mode;
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;

enum hook { INIT, INIT_POST_OPT, JOB_PROLOG, JOB_EPILOG, HOOKS };

static const context_f table[][HOOKS] = {
    [S_CTX_LOCAL] = {[INIT] = client_init,
                     [INIT_POST_OPT] = client_init_post_opt},
    [S_CTX_ALLOCATOR] = {[INIT] = client_init,
                         [INIT_POST_OPT] = client_init_post_opt},
    [S_CTX_REMOTE] = {[INIT] = step_init},
    [S_CTX_SLURMD] = {[INIT] = daemon_init},
    [S_CTX_JOB_SCRIPT] = {[JOB_PROLOG] = job_script_prolog,
                          [JOB_EPILOG] = job_script_epilog},
};

static int dispatch (enum hook hook, spank_t sp, int ac, char **av)
{
    unsigned context = spank_context ();

    if (context < sizeof (table) / sizeof (table[0]) && table[context][hook])
        table[context][hook](sp, ac, av);
    return 0;
}

int slurm_spank_init (spank_t sp, int ac, char *av[])
{
    return dispatch (INIT, sp, ac, av);
}

int slurm_spank_init_post_opt (spank_t sp, int ac, char *av[])
{
    return dispatch (INIT_POST_OPT, sp, ac, av);
}

int slurm_spank_job_prolog (spank_t sp, int ac, char *av[])
{
    return dispatch (JOB_PROLOG, sp, ac, av);
}

int slurm_spank_job_epilog (spank_t sp, int ac, char *av[])
{
    return dispatch (JOB_EPILOG, sp, ac, av);
}
