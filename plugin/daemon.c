/* daemon.c: in slurmd, once when it starts: say in its log what is wrong with
 * our line of plugstack.conf. */
#include "args.h"
#include "contexts.h"

void daemon_init (spank_t sp, int ac, char **av)
{
    args_t args;

    (void)sp;
    args_parse (&args, ac, av, slurm_error);
}
