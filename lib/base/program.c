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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"

extern char **environ;

enum { OUTPUT, ERRORS, PIPES };

struct running {
    const char *name;
    pid_t pid;
    int fd[PIPES]; /* what it writes; -1: ended */
    buffer_t text[PIPES];
};

static int spawn (struct running *r, const char *const *argv, int input,
                  const int ends[PIPES])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc;

    posix_spawn_file_actions_init (&actions);
    posix_spawnattr_init (&attributes);
    if (input < 0)
        posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY,
                                          0);
    else
        posix_spawn_file_actions_adddup2 (&actions, input, 0);
    posix_spawn_file_actions_adddup2 (&actions, ends[OUTPUT], 1);
    posix_spawn_file_actions_adddup2 (&actions, ends[ERRORS], 2);
    posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP);
    rc = posix_spawnp (&r->pid, argv[0], &actions, &attributes,
                       (char *const *)argv, environ);
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
    ssize_t n = read (r->fd[which], buffer_reserve (&r->text[which], 65536),
                      65536);

    if (n > 0)
        r->text[which].length += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        close (r->fd[which]);
        r->fd[which] = -1;
    }
}

/* Up to the end of what it writes; false when that takes too long or is too
 * much. */
static bool read_all (struct running *r)
{
    int64_t deadline = clock_ms () + PROGRAM_SECONDS * 1000;

    while (r->fd[OUTPUT] >= 0 || r->fd[ERRORS] >= 0) {
        struct pollfd poller[PIPES] = {{r->fd[OUTPUT], POLLIN, 0},
                                       {r->fd[ERRORS], POLLIN, 0}};
        int64_t left = deadline - clock_ms ();
        if (left <= 0
            || r->text[OUTPUT].length + r->text[ERRORS].length
                   >= PROGRAM_OUTPUT_MAX)
            return false;
        if (poll (poller, PIPES, (int)left) < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < PIPES; i++)
            if (r->fd[i] >= 0 && poller[i].revents)
                take_output (r, i);
    }
    return true;
}

static int finish (struct running *r, gl_error_t *error)
{
    bool done = read_all (r);
    const char *said = buffer_text (&r->text[ERRORS]);
    int status = 0;

    if (!done)
        kill (-r->pid, SIGKILL);
    while (waitpid (r->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!done)
        return gl_error (error, "%s did not end in %d s, or wrote too much",
                         r->name, PROGRAM_SECONDS);
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

char *program_run (const char *const *argv, int input, gl_error_t *error)
{
    struct running r = {.name = argv[0],
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
        rc = spawn (&r, argv, input, ends);
    for (int i = 0; i < PIPES; i++)
        if (ends[i] >= 0)
            close (ends[i]);
    rc = rc == 0 ? finish (&r, error)
                 : gl_error (error, "%s: %s", argv[0], strerror (rc));
    for (int i = 0; i < PIPES; i++)
        if (r.fd[i] >= 0)
            close (r.fd[i]);
    buffer_done (&r.text[ERRORS]);
    if (rc == 0)
        return buffer_take (&r.text[OUTPUT]);
    buffer_done (&r.text[OUTPUT]);
    return NULL;
}
