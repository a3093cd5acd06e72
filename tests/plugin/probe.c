/*
 * probe.c: a second SPANK plugin for the tests. Listed after ours, it shows in
 * a client what ours handed on to the job, on standard error; with the argument
 * `stop` it then ends the client with status 3, which spares the seconds that
 * it would look for a controller.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <slurm/spank.h>

SPANK_PLUGIN (probe, 1)

static const char *const names[] = {
    "_SLURM_SPANK_OPTION_gpuledger_gpu_project",
    "GPULEDGER_SOURCE",
    "_SLURM_SPANK_OPTION_gpuledger_gpu_label",
    "GPULEDGER_LABELS_SOURCE",
};

int slurm_spank_init_post_opt (spank_t sp, int ac, char *av[])
{
    char value[1024];

    fprintf (stderr, "probe:");
    for (size_t i = 0; i < sizeof (names) / sizeof (names[0]); i++) {
        if (spank_job_control_getenv (sp, names[i], value, sizeof (value))
            != ESPANK_SUCCESS)
            value[0] = '\0';
        fprintf (stderr, " [%s]", value);
    }
    fprintf (stderr, " mark[%s]\n", getenv ("GPULEDGER_LOADED") ? "left" : "");
    if (ac == 1 && strcmp (av[0], "stop") == 0)
        exit (3);
    return 0;
}
