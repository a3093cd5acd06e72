/* slurmd.c: the slurmd of this node, and what its -G prints. */
#include "gres_table.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/process.h"
#include "base/program.h"

#define OUTPUT_MAX (1 << 20)
#define ARGUMENTS_MAX (64 << 10)

bool slurmd_same (const slurmd_t *a, const slurmd_t *b)
{
    return a->pid == b->pid && a->birth == b->birth
           && !strcmp (a->boot_id, b->boot_id);
}

bool slurmd_alive (const slurmd_t *slurmd)
{
    int64_t parent, birth;

    return slurmd->pid > 0
           && process_stat ("/proc", slurmd->pid, &parent, &birth) == 0
           && birth == slurmd->birth;
}

/* -------------------------------------------------------------- arguments */

/* Options whose value slurmd -G must be given, too. */
static const struct {
    const char *word;
    bool glued; /* the value may follow without a blank: -Nname */
    size_t offset;
    size_t size;
} options[] = {
    {"-N", true, offsetof (slurmd_t, node), sizeof (((slurmd_t *)0)->node)},
    {"-f", true, offsetof (slurmd_t, conf), sizeof (((slurmd_t *)0)->conf)},
    {"--conf-server", false, offsetof (slurmd_t, server),
     sizeof (((slurmd_t *)0)->server)},
    {"--conf-server=", true, offsetof (slurmd_t, server),
     sizeof (((slurmd_t *)0)->server)},
};

/* Takes the option's value; returns how many arguments that were, 0: another
 * option. */
static int take_option (slurmd_t *slurmd, const char *argument,
                        const char *next)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (options); i++) {
        size_t length = strlen (options[i].word);
        char *value = (char *)slurmd + options[i].offset;

        if (strncmp (argument, options[i].word, length) != 0)
            continue;
        if (argument[length] && options[i].glued) {
            snprintf (value, options[i].size, "%s", argument + length);
            return 1;
        }
        if (!argument[length] && next) {
            snprintf (value, options[i].size, "%s", next);
            return 2;
        }
    }
    return 0;
}

/* Runs of slurmd that print and end are no slurmd. */
static bool only_prints (const char *argument)
{
    static const char *const words[] = {"-G", "-C", "-V", "-h", "-F"};

    return GL_ANY (words, GL_ARRAY_SIZE (words), it, !strcmp (argument, *it));
}

static int read_arguments (const char *proc, slurmd_t *slurmd)
{
    GL_AUTOFREE char *text = xmalloc (ARGUMENTS_MAX);
    char path[320];
    ssize_t length;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/cmdline", proc,
              slurmd->pid);
    length = file_read_small (path, text, ARGUMENTS_MAX);
    if (length <= 0)
        return -1;
    for (char *at = text, *end = text + length; at < end;) {
        char *next = at + strlen (at) + 1;
        int taken = at == text
                        ? 1
                        : take_option (slurmd, at, next < end ? next : NULL);

        if (taken == 0 && only_prints (at))
            return -1;
        at = taken == 2 ? next + strlen (next) + 1 : next;
    }
    return 0;
}

/* SLURM_CONF as slurmd has it; -f is stronger. */
static void read_environment (const char *proc, slurmd_t *slurmd)
{
    GL_AUTOFREE char *text = xmalloc (ARGUMENTS_MAX);
    static const char name[] = "SLURM_CONF=";
    char path[320];
    ssize_t length;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/environ", proc,
              slurmd->pid);
    length = *slurmd->conf ? 0 : file_read_small (path, text, ARGUMENTS_MAX);
    for (ssize_t at = 0; at < length; at += (ssize_t)strlen (text + at) + 1)
        if (!strncmp (text + at, name, sizeof (name) - 1))
            snprintf (slurmd->conf, sizeof (slurmd->conf), "%s",
                      text + at + sizeof (name) - 1);
}

/* The path of the program; that of an upgraded one ends with " (deleted)" and
 * then the new program is there. */
static void read_program (const char *proc, slurmd_t *slurmd)
{
    static const char deleted[] = " (deleted)";
    char path[320];
    ssize_t length;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/exe", proc, slurmd->pid);
    length = readlink (path, slurmd->program, sizeof (slurmd->program) - 1);
    if (length <= 0) {
        strcpy (slurmd->program, "/usr/sbin/slurmd");
        return;
    }
    slurmd->program[length] = '\0';
    if ((size_t)length > strlen (deleted)
        && !strcmp (slurmd->program + length - strlen (deleted), deleted))
        slurmd->program[(size_t)length - strlen (deleted)] = '\0';
}

static void read_boot (const char *proc, slurmd_t *slurmd)
{
    char path[320];

    snprintf (path, sizeof (path), "%.256s/sys/kernel/random/boot_id", proc);
    if (file_read_small (path, slurmd->boot_id, sizeof (slurmd->boot_id)) < 0)
        slurmd->boot_id[0] = '\0';
    slurmd->boot_id[strcspn (slurmd->boot_id, "\n")] = '\0';
}

/* ------------------------------------------------------------------- find */

/* 0: the process is a slurmd that serves a node. */
static int read_slurmd (const char *proc, int64_t pid, slurmd_t *ret)
{
    slurmd_t slurmd = {.pid = pid};
    int64_t parent;

    if (!process_is_named (proc, pid, "slurmd")
        || !process_is_trusted (proc, pid)
        || process_stat (proc, pid, &parent, &slurmd.birth) < 0
        || process_is_named (proc, parent,
                             "slurmd") /* it is about to be a slurmstepd */
        || read_arguments (proc, &slurmd) < 0)
        return -1;
    read_environment (proc, &slurmd);
    read_program (proc, &slurmd);
    read_boot (proc, &slurmd);
    *ret = slurmd;
    return 0;
}

static bool same_file (const char *a, const char *b)
{
    struct stat left, right;

    return !strcmp (a, b)
           || (stat (a, &left) == 0 && stat (b, &right) == 0
               && left.st_dev == right.st_dev && left.st_ino == right.st_ino);
}

/* Another configuration than that we were started with is another cluster's:
 * several may run on one machine, with nodes of the same names. */
static bool is_foreign (const slurmd_t *slurmd)
{
    const char *conf = getenv ("SLURM_CONF");

    return conf && *conf && *slurmd->conf && !same_file (slurmd->conf, conf);
}

/* How well it fits: better when it was started as this node, and better still
 * with our configuration. 0: it is another node's. */
static int fits (const slurmd_t *slurmd, const char *node)
{
    int fit = *slurmd->conf && getenv ("SLURM_CONF") ? 3 : 1;

    if (!node || !*node || !*slurmd->node)
        return fit;
    return strcmp (slurmd->node, node) ? 0 : fit + 1;
}

static int refuse_foreign (const slurmd_t *slurmd, gl_error_t *error)
{
    return gl_error (error,
                     "slurmd (process %" PRId64 ") runs with the configuration "
                     "%s, this agent with SLURM_CONF=%s: if that slurmd is the "
                     "node's, set SLURM_CONF of the agent to its file",
                     slurmd->pid, slurmd->conf, getenv ("SLURM_CONF"));
}

int slurmd_find (const char *proc, const char *node, slurmd_t *ret_slurmd,
                 gl_error_t *error)
{
    DIR *dir = opendir (proc);
    struct dirent *entry;
    slurmd_t slurmd, foreign = {0};
    int best = 0, count = 0;
    int64_t pid;

    if (!dir)
        return gl_error (error, "%s: %s", proc, strerror (errno));
    while ((entry = readdir (dir))) {
        int fit;

        if (number_i64_text (entry->d_name, &pid) < 0 || pid <= 0
            || read_slurmd (proc, pid, &slurmd) < 0)
            continue;
        fit = fits (&slurmd, node);
        if (fit && is_foreign (&slurmd)) {
            foreign = slurmd;
            continue;
        }
        if (fit > best || (fit == best && fit && !count)) {
            best = fit;
            count = 1;
            *ret_slurmd = slurmd;
        } else if (fit && fit == best) {
            count++;
        }
    }
    closedir (dir);
    if (count > 1)
        return gl_error (error,
                         "%d slurmd processes run here: to select one, set "
                         "node: in agent:, or the SLURM_CONF of that slurmd",
                         count);
    return count == 0 && foreign.pid ? refuse_foreign (&foreign, error) : count;
}

/* -------------------------------------------------------------------- run */

int gres_table_run (const slurmd_t *slurmd, int timeout_ms,
                    gres_table_t *ret_table, gl_error_t *error)
{
    /* by this name only does it read its own node's lines: run as slurmd-wlm,
     * which is what Debian's slurmd links to, it takes no line for its own */
    const char *argv[8] = {"slurmd", "-G"};
    char conf[sizeof ("SLURM_CONF=") + sizeof (slurmd->conf)];
    const char *envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                          *slurmd->conf ? conf : NULL, NULL};
    const program_t program = {.argv = argv,
                               .path = slurmd->program,
                               .envp = envp,
                               .input = -1,
                               .timeout_ms = timeout_ms,
                               .output_max = OUTPUT_MAX,
                               .errors_too = true};
    GL_AUTOFREE char *output = NULL;
    size_t argc = 2;

    if (*slurmd->node) {
        argv[argc++] = "-N";
        argv[argc++] = slurmd->node;
    }
    if (*slurmd->server) {
        argv[argc++] = "--conf-server";
        argv[argc++] = slurmd->server;
    }
    snprintf (conf, sizeof (conf), "SLURM_CONF=%s", slurmd->conf);
    if (!(output = program_run (&program, error)))
        return gl_error_prefix (error, "slurmd -G");
    return gres_table_parse (output, strlen (output), ret_table, error);
}
