/*
 * trace.c: a SPANK plugin that writes down which hooks run, as whom, and what
 * they see: one line each, appended to the file that its argument names. The
 * prolog and the epilog also say a line on standard output, to find where that
 * goes. For tests/live/release.sh.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN (trace, 1)

extern char **environ;

static char line[16384];
static size_t length;

__attribute__ ((format (printf, 1, 2))) static void add (const char *format,
                                                         ...)
{
    va_list ap;
    int n;

    va_start (ap, format);
    n = vsnprintf (line + length, sizeof (line) - length, format, ap);
    va_end (ap);
    if (n > 0 && length + n < sizeof (line))
        length += n;
}

static void add_job (spank_t sp)
{
    uint32_t job;

    if (spank_get_item (sp, S_JOB_ID, &job) == ESPANK_SUCCESS)
        add (" job=%u", job);
}

/* In prolog and epilog: everything that slurmd set. */
static void add_environment (void)
{
    for (char **entry = environ; *entry; entry++)
        if (!strchr (*entry, '\n') && strncmp (*entry, "SPANK_", 6) != 0)
            add ("\t%s", *entry);
}

static void add_of_job (spank_t sp)
{
    static const char *const names[]
        = {"SLURM_JOB_GPUS",       "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE",
           "CUDA_VISIBLE_DEVICES", "SLURM_JOB_SLUID", "SLURM_RESTART_COUNT"};
    char value[512];

    for (size_t i = 0; i < sizeof (names) / sizeof (names[0]); i++)
        if (spank_getenv (sp, names[i], value, sizeof (value))
            == ESPANK_SUCCESS)
            add ("\t%s=%s", names[i], value);
    if (getenv ("SLURMD_NODENAME"))
        add ("\tSLURMD_NODENAME=%s", getenv ("SLURMD_NODENAME"));
}

static void keep (int ac, char *av[])
{
    int fd = ac == 1 ? open (av[0], O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    add ("\n");
    if (fd >= 0 && write (fd, line, length) < 0)
        slurm_error ("trace: %s cannot be written", av[0]);
    if (fd >= 0)
        close (fd);
}

static int trace (const char *hook, spank_t sp, int ac, char *av[])
{
    length = 0;
    add ("%s context=%d euid=%d", hook, (int)spank_context (), (int)geteuid ());
    add_job (sp);
    if (spank_context () == S_CTX_JOB_SCRIPT) {
        add_environment ();
        printf ("trace says %s\n", hook);
        fflush (stdout);
    } else if (spank_context () == S_CTX_REMOTE) {
        add_of_job (sp);
    }
    keep (ac, av);
    return 0;
}

#define HOOK(name)                                          \
    int slurm_spank_##name (spank_t sp, int ac, char *av[]) \
    {                                                       \
        return trace (#name, sp, ac, av);                   \
    }
HOOK (init)
HOOK (init_post_opt)
HOOK (job_prolog)
HOOK (job_epilog)
HOOK (user_init)
HOOK (task_init_privileged)
HOOK (task_init)
HOOK (task_post_fork)
HOOK (task_exit)
HOOK (exit)
HOOK (slurmd_exit)
HOOK (local_user_init)
