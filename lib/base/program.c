#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

extern char **environ;

enum { OUTPUT, ERRORS, PIPES };

struct running {
    const program_t *program;
    const char *name;
    int64_t deadline;
    pid_t pid;
    int fd[PIPES]; /* what it writes; -1: ended */
    buffer_t text[PIPES];
};

static int spawn (struct running *r, const int ends[PIPES])
{
    const program_t *p = r->program;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int rc;

    sigemptyset (&none);
    sigfillset (&all);
    posix_spawn_file_actions_init (&actions);
    posix_spawnattr_init (&attributes);
    if (p->input < 0)
        posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY,
                                          0);
    else
        posix_spawn_file_actions_adddup2 (&actions, p->input, 0);
    posix_spawn_file_actions_adddup2 (&actions, ends[OUTPUT], 1);
    posix_spawn_file_actions_adddup2 (&actions,
                                      ends[p->errors_too ? OUTPUT : ERRORS], 2);
    posix_spawnattr_setsigmask (&attributes, &none);
    posix_spawnattr_setsigdefault (&attributes, &all);
    posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP
                                               | POSIX_SPAWN_SETSIGMASK
                                               | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawnp (&r->pid, r->name, &actions, &attributes,
                       (char *const *)p->argv,
                       p->envp ? (char *const *)p->envp : environ);
    posix_spawn_file_actions_destroy (&actions);
    posix_spawnattr_destroy (&attributes);
    return rc;
}

static int64_t clock_ms (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void take_output (struct running *r, int which)
{
    char *at = buffer_reserve (&r->text[which], 65536);
    ssize_t n = read (r->fd[which], at, 65536);

    if (n > 0) {
        r->text[which].length += (size_t)n;
        at[n] = '\0';
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close (r->fd[which]);
        r->fd[which] = -1;
    }
}

/* Up to the end of what it writes; false when that takes too long or is too
 * much. */
static bool read_all (struct running *r)
{
    size_t most
        = r->program->output_max ? r->program->output_max : PROGRAM_OUTPUT_MAX;

    while (r->fd[OUTPUT] >= 0 || r->fd[ERRORS] >= 0) {
        struct pollfd poller[PIPES]
            = {{r->fd[OUTPUT], POLLIN, 0}, {r->fd[ERRORS], POLLIN, 0}};
        int64_t left = r->deadline - clock_ms ();
        if (left <= 0
            || r->text[OUTPUT].length + r->text[ERRORS].length >= most)
            return false;
        if (poll (poller, PIPES, (int)left) < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < PIPES; i++)
            if (r->fd[i] >= 0 && poller[i].revents)
                take_output (r, i);
    }
    return true;
}

/* It closed its output, so its end is near; but nobody waits for ever. */
static bool wait_for (const struct running *r, bool done, int *ret_status)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    while (done && waitpid (r->pid, ret_status, WNOHANG) == 0) {
        done = clock_ms () < r->deadline;
        nanosleep (&pause, NULL);
    }
    if (done)
        return true;
    kill (-r->pid, SIGKILL);
    while (waitpid (r->pid, ret_status, 0) < 0 && errno == EINTR)
        continue;
    return false;
}

static int finish (struct running *r, int timeout_ms, gl_error_t *error)
{
    bool done = read_all (r);
    const char *said = buffer_text (&r->text[ERRORS]);
    int status = 0;

    if (!wait_for (r, done, &status))
        return gl_error (error, "%s did not end in %g s, or wrote too much",
                         r->name, timeout_ms / 1000.0);
    if (WIFSIGNALED (status))
        return gl_error (error, "%s was ended by signal %d", r->name,
                         WTERMSIG (status));
    if (WEXITSTATUS (status) == 0)
        return 0;
    /* some programs say on standard output why they fail */
    if (!*said)
        said = buffer_text (&r->text[OUTPUT]);
    return gl_error (error, "%s failed with exit code %d: %.*s", r->name,
                     WEXITSTATUS (status), (int)strcspn (said, "\n"), said);
}

int program_input (const void *data, size_t length)
{
    int fd = memfd_create ("input", MFD_CLOEXEC);

    if (fd >= 0
        && (file_write_all (fd, data, length) < 0
            || lseek (fd, 0, SEEK_SET) < 0)) {
        close (fd);
        return -1;
    }
    return fd;
}

char *program_run (const program_t *program, gl_error_t *error)
{
    int timeout_ms
        = program->timeout_ms ? program->timeout_ms : PROGRAM_SECONDS * 1000;
    struct running r
        = {.program = program,
           .name = program->path ? program->path : program->argv[0],
           .deadline = clock_ms () + timeout_ms,
           .fd = {-1, -1},
           .text = {BUFFER_INIT, BUFFER_INIT}};
    int pair[2], ends[PIPES] = {-1, -1}, rc = 0;

    for (int i = 0; i < PIPES && rc == 0; i++) {
        if (pipe2 (pair, O_CLOEXEC) < 0)
            rc = errno;
        else {
            r.fd[i] = pair[0];
            ends[i] = pair[1];
        }
    }
    if (rc == 0)
        rc = spawn (&r, ends);
    for (int i = 0; i < PIPES; i++)
        if (ends[i] >= 0)
            close (ends[i]);
    rc = rc == 0 ? finish (&r, timeout_ms, error)
                 : gl_error (error, "%s: %s", r.name, strerror (rc));
    for (int i = 0; i < PIPES; i++)
        if (r.fd[i] >= 0)
            close (r.fd[i]);
    buffer_done (&r.text[ERRORS]);
    if (rc == 0 && program->ret_length)
        *program->ret_length = r.text[OUTPUT].length;
    if (rc == 0)
        return buffer_take (&r.text[OUTPUT]);
    buffer_done (&r.text[OUTPUT]);
    return NULL;
}

bool program_exists (const char *name)
{
    const char *path = getenv ("PATH");

    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn (at, ":");
        GL_AUTOFREE char *file = xasprintf ("%.*s/%s", (int)length, at, name);
        if (access (file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}
