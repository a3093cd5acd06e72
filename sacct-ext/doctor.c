#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

extern char **environ;

const char *doctor_state_name (doctor_state_t state)
{
    static const char *const names[] = {
        [DOCTOR_OK] = "ok",           [DOCTOR_WARN] = "warn",
        [DOCTOR_FAIL] = "fail",       [DOCTOR_UNKNOWN] = "unknown",
        [DOCTOR_SKIPPED] = "skipped",
    };

    return names[state];
}

doctor_state_t doctor_say (buffer_t *finding, doctor_state_t state,
                           const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;

    va_start (ap, fmt);
    if (vasprintf (&text, fmt, ap) >= 0)
        buffer_add_text (finding, text);
    va_end (ap);
    free (text);
    return state;
}

/* --- other programs ---------------------------------------------------- */

static int spawn (const char *const *argv, int output, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init (&actions);
    posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2 (&actions, output, 1);
    posix_spawn_file_actions_adddup2 (&actions, output, 2);
    rc = posix_spawnp (ret_pid, argv[0], &actions, NULL, (char *const *)argv,
                       environ);
    posix_spawn_file_actions_destroy (&actions);
    return rc;
}

static int64_t clock_ms (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 0 at the end of its output, -1 when that takes too long or is too much. */
static int read_output (int fd, buffer_t *out)
{
    int64_t deadline = clock_ms () + DOCTOR_COMMAND_SECONDS * 1000;
    struct pollfd poller = {.fd = fd, .events = POLLIN};

    while (out->length < DOCTOR_OUTPUT_MAX) {
        int64_t left = deadline - clock_ms ();
        ssize_t n;
        if (left <= 0 || poll (&poller, 1, (int)left) == 0)
            return -1;
        n = read (fd, buffer_reserve (out, 65536), 65536);
        if (n == 0)
            return 0;
        if (n > 0)
            out->length += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return -1;
}

static char *first_line (const char *text)
{
    return xstrndup (text, strcspn (text, "\n"));
}

static int finish (const char *name, pid_t pid, int ended, const buffer_t *out,
                   gl_error_t *error)
{
    GL_AUTOFREE char *line = first_line (buffer_text (out));
    int status = 0;

    if (ended < 0)
        kill (pid, SIGKILL);
    while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (ended < 0)
        return gl_error (error, "%s did not answer in %d s", name,
                         DOCTOR_COMMAND_SECONDS);
    if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
        return gl_error (error, "%s failed: %s", name, line);
    return 0;
}

char *doctor_run (const char *const *argv, gl_error_t *error)
{
    BUFFER_AUTO out = BUFFER_INIT;
    int ends[2], rc;
    pid_t pid;

    if (pipe2 (ends, O_CLOEXEC) < 0) {
        gl_error (error, "%s: %s", argv[0], strerror (errno));
        return NULL;
    }
    rc = spawn (argv, ends[1], &pid);
    close (ends[1]);
    if (rc == 0)
        rc = finish (argv[0], pid, read_output (ends[0], &out), &out, error);
    else
        rc = gl_error (error, "%s: %s", argv[0], strerror (rc));
    close (ends[0]);
    return rc == 0 ? buffer_take (&out) : NULL;
}

/* --- Slurm ------------------------------------------------------------- */

static bool in_path (const char *program)
{
    const char *path = getenv ("PATH");

    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn (at, ":");
        GL_AUTOFREE char *file
            = xasprintf ("%.*s/%s", (int)length, at, program);
        if (access (file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void ask_slurm (doctor_t *d)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    static const char *const nodes[] = {"scontrol", "show", "node", NULL};
    gl_error_t error = {""};

    if (!in_path ("scontrol")) {
        d->slurm_missing = true;
        d->slurm_problem = "scontrol is not on this host";
        return;
    }
    d->slurm = doctor_run (config, &error);
    if (d->slurm)
        d->nodes = doctor_run (nodes, &error);
    if (!d->slurm || !d->nodes)
        d->slurm_problem = xstrdup (error.text);
}

bool doctor_ask_slurm (doctor_t *d, buffer_t *finding,
                       doctor_state_t *ret_state)
{
    if (!d->slurm && !d->slurm_problem)
        ask_slurm (d);
    if (!d->slurm_problem)
        return true;
    *ret_state = doctor_say (finding,
                             d->slurm_missing ? DOCTOR_SKIPPED : DOCTOR_UNKNOWN,
                             "%s", d->slurm_problem);
    return false;
}

char *doctor_slurm_value (const doctor_t *d, const char *key)
{
    size_t length = strlen (key);

    for (const char *line = d->slurm; line && *line;) {
        size_t end = strcspn (line, "\n");
        const char *at = line + length;
        if (end > length && strncasecmp (line, key, length) == 0
            && (*at == ' ' || *at == '=')) {
            at += strspn (at, " =");
            return xstrndup (at, (size_t)(line + end - at));
        }
        line += end + (line[end] == '\n');
    }
    return NULL;
}
