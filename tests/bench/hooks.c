/*
 * hooks PLUGIN.so SPOOL ROUNDS: what a plugin's hooks take inside the processes
 * of Slurm: loading is not counted, a fork for each call is.
 *
 * Calls the hooks in a forked process, as Slurm has them: prolog, the first
 * step of a job (whose devices are new), a later step, epilog. SPANK's
 * functions are those here and cost nothing. Prints "HOOK P50 P99" in
 * microseconds.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/spank.h>

typedef int (*hook_f) (spank_t sp, int ac, char *av[]);

static spank_context_t context;
static uint32_t job, step;

/* --- SPANK ------------------------------------------------------------- */

spank_context_t spank_context (void)
{
    return context;
}

spank_err_t spank_get_item (spank_t sp, spank_item_t item, ...)
{
    spank_err_t rc = ESPANK_SUCCESS;
    va_list ap;

    (void)sp;
    va_start (ap, item);
    if (item == S_SLURM_VERSION)
        *va_arg (ap, char **) = (char *)"22.05.8";
    else if (item == S_JOB_ID)
        *va_arg (ap, uint32_t *) = job;
    else if (item == S_JOB_STEPID)
        *va_arg (ap, uint32_t *) = step;
    else if (item == S_JOB_UID || item == S_JOB_GID)
        *va_arg (ap, uid_t *) = 1000;
    else
        rc = ESPANK_NOT_AVAIL;
    va_end (ap);
    return rc;
}

spank_err_t spank_getenv (spank_t sp, const char *name, char *buf, int len)
{
    (void)sp;
    if (strcmp (name, "SLURM_JOB_GPUS") != 0
        && strcmp (name, "SLURM_STEP_GPUS") != 0)
        return ESPANK_ENV_NOEXIST;
    snprintf (buf, (size_t)len, "0,1,2,3");
    return ESPANK_SUCCESS;
}

spank_err_t spank_setenv (spank_t sp, const char *name, const char *value,
                          int overwrite)
{
    (void)sp;
    (void)name;
    (void)value;
    (void)overwrite;
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv (spank_t sp, const char *name)
{
    (void)sp;
    (void)name;
    return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv (spank_t sp, const char *name,
                                      const char *value, int overwrite)
{
    return spank_setenv (sp, name, value, overwrite);
}

spank_err_t spank_option_register (spank_t sp, struct spank_option *option)
{
    (void)sp;
    (void)option;
    return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt (spank_t sp, struct spank_option *option,
                                 char **optarg)
{
    (void)sp;
    if (strcmp (option->name, "gpu-project") != 0)
        return ESPANK_ERROR;
    *optarg = (char *)"alpha";
    return ESPANK_SUCCESS;
}

void slurm_debug (const char *format, ...)
{
    (void)format;
}

/* A hook that fails quickly is no good time. */
void slurm_error (const char *format, ...)
{
    va_list ap;

    va_start (ap, format);
    vfprintf (stderr, format, ap);
    fputc ('\n', stderr);
    va_end (ap);
    _exit (1);
}

void slurm_spank_log (const char *format, ...)
{
    (void)format;
}

/* --- measuring --------------------------------------------------------- */

static const struct {
    const char *name;
    const char *symbol;
    spank_context_t context;
    uint32_t step;
} hooks[] = {
    {"prolog", "slurm_spank_job_prolog", S_CTX_JOB_SCRIPT, 0},
    {"first-step", "slurm_spank_init", S_CTX_REMOTE, 0xfffffffb},
    {"step", "slurm_spank_init", S_CTX_REMOTE, 0},
    {"same-step", "slurm_spank_init", S_CTX_REMOTE, 1},
    {"epilog", "slurm_spank_job_epilog", S_CTX_JOB_SCRIPT, 0},
};
#define HOOKS (sizeof (hooks) / sizeof (hooks[0]))

static int64_t clock_ns (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static int64_t measure (hook_f hook, char *spool, volatile int64_t *shared)
{
    char *arguments[] = {spool, NULL};
    int status;
    pid_t pid = fork ();

    if (pid == 0) {
        int64_t start = clock_ns ();
        if (hook)
            hook (NULL, 1, arguments);
        *shared = clock_ns () - start;
        _exit (0);
    }
    if (pid < 0 || waitpid (pid, &status, 0) < 0 || status != 0) {
        fprintf (stderr, "hooks: a hook failed\n");
        exit (1);
    }
    return *shared;
}

static int compare (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int main (int argc, char **argv)
{
    void *plugin = argc == 4 ? dlopen (argv[1], RTLD_NOW) : NULL;
    long rounds = argc == 4 ? atol (argv[3]) : 0;
    int64_t *times[HOOKS], *shared;
    char spool[4096];

    if (!plugin || rounds < 1) {
        fprintf (stderr, "usage: hooks PLUGIN.so SPOOL ROUNDS\n");
        return 2;
    }
    snprintf (spool, sizeof (spool), "spool=%s", argv[2]);
    shared = mmap (NULL, sizeof (*shared), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < HOOKS; i++)
        times[i] = calloc ((size_t)rounds, sizeof (int64_t));
    for (long round = 0; round < rounds; round++) {
        job = (uint32_t)(1000 + round);
        for (size_t i = 0; i < HOOKS; i++) {
            hook_f hook;
            *(void **)&hook = dlsym (plugin, hooks[i].symbol);
            context = hooks[i].context;
            step = hooks[i].step;
            times[i][round] = measure (hook, spool, shared);
        }
    }
    for (size_t i = 0; i < HOOKS; i++) {
        qsort (times[i], (size_t)rounds, sizeof (int64_t), compare);
        printf ("%s %.1f %.1f\n", hooks[i].name,
                (double)times[i][rounds / 2] / 1000,
                (double)times[i][rounds * 99 / 100] / 1000);
        free (times[i]);
    }
    return 0;
}
