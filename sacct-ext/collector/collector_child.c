/* Programs that answer for users, a few at a time, one of each user. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "collector/collector.h"
#include "collector/collector_verbs.h"

#define WAITING_MAX 32
#define ERRORS_MAX 4096

enum { OUTPUT, ERRORS, PIPES };

struct child {
    struct children *children;
    asking_t *asking;
    char **argv;
    pid_t pid; /* 0: waits for its turn */
    struct event *read[PIPES];
    int fd[PIPES];
    buffer_t text[PIPES];
    struct event *timer;
    int status;
    bool ended;
    const char *gave_up; /* why it was killed */
    struct child *prev, *next;
};

struct children {
    collector_t *collector;
    struct event *ended;
    struct child *list;
    size_t running, waiting;
};

static void free_argv (char **argv)
{
    for (size_t i = 0; argv[i]; i++)
        free (argv[i]);
    free (argv);
}

static void close_pipe (struct child *child, int which)
{
    if (child->read[which])
        event_free (child->read[which]);
    child->read[which] = NULL;
    if (child->fd[which] >= 0)
        close (child->fd[which]);
    child->fd[which] = -1;
}

static void child_free (struct child *child)
{
    DL_DELETE (child->children->list, child);
    for (int i = 0; i < PIPES; i++) {
        close_pipe (child, i);
        buffer_done (&child->text[i]);
    }
    if (child->timer)
        event_free (child->timer);
    free_argv (child->argv);
    free (child);
}

static void give_up (struct child *child, const char *why)
{
    if (!child->gave_up)
        child->gave_up = why;
    if (!child->ended)
        kill (-child->pid, SIGKILL);
}

/* The first line of what it complained about. */
static void answer_failure (struct child *child)
{
    buffer_t *errors = &child->text[ERRORS];
    char *end = errors->length ? strchr (errors->data, '\n') : NULL;

    if (end)
        *end = '\0';
    asking_replyf (GL_TAKE (child->asking), REPLY_FAILED, "%s",
                   child->gave_up            ? child->gave_up
                   : buffer_text (errors)[0] ? buffer_text (errors)
                                             : "the answer failed");
}

static void start_next (struct children *children);

/* It has ended and its pipes are empty. */
static void finish (struct child *child)
{
    struct children *children = child->children;
    bool good = !child->gave_up && WIFEXITED (child->status)
                && (WEXITSTATUS (child->status) == 0
                    || WEXITSTATUS (child->status) == 3);

    if (good)
        asking_reply (GL_TAKE (child->asking), REPLY_OK,
                      buffer_text (&child->text[OUTPUT]),
                      child->text[OUTPUT].length);
    else
        answer_failure (child);
    children->running--;
    child_free (child);
    start_next (children);
}

static void finish_if_done (struct child *child)
{
    if (child->ended && child->fd[OUTPUT] < 0 && child->fd[ERRORS] < 0)
        finish (child);
}

static void keep (struct child *child, int which, const char *bytes,
                  size_t size)
{
    buffer_t *text = &child->text[which];

    if (which == ERRORS && text->length + size > ERRORS_MAX)
        size = ERRORS_MAX - text->length;
    buffer_add (text, bytes, size);
    if (which == OUTPUT && text->length > COLLECTOR_ANSWER_MAX)
        give_up (child, "the answer is too long");
}

static void on_output (evutil_socket_t fd, short what, void *arg)
{
    struct child *child = arg;
    int which = fd == child->fd[OUTPUT] ? OUTPUT : ERRORS;
    char bytes[16384];
    ssize_t size = read (fd, bytes, sizeof (bytes));

    (void)what;
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size > 0 && !child->gave_up) {
        keep (child, which, bytes, (size_t)size);
        return;
    }
    if (size > 0)
        return;
    close_pipe (child, which);
    finish_if_done (child);
}

static void on_late (evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    give_up (arg, "the answer took too long");
}

static void on_ended (evutil_socket_t fd, short what, void *arg)
{
    struct children *children = arg;
    struct child *child, *next;

    (void)fd;
    (void)what;
    DL_FOREACH_SAFE (children->list, child, next)
    if (child->pid > 0 && !child->ended
        && waitpid (child->pid, &child->status, WNOHANG) == child->pid) {
        child->ended = true;
        finish_if_done (child);
    }
}

static int spawn (struct child *child, int out, int err)
{
    static char locale[] = "LC_ALL=C.UTF-8", path[] = "PATH=/usr/bin:/bin";
    char *environment[] = {locale, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int rc;

    sigfillset (&all);
    sigemptyset (&none);
    posix_spawn_file_actions_init (&actions);
    posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2 (&actions, out, 1);
    posix_spawn_file_actions_adddup2 (&actions, err, 2);
    posix_spawnattr_init (&attributes);
    posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP
                                               | POSIX_SPAWN_SETSIGDEF
                                               | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault (&attributes, &all);
    posix_spawnattr_setsigmask (&attributes, &none);
    rc = posix_spawn (&child->pid, child->argv[0], &actions, &attributes,
                      child->argv, environment);
    posix_spawn_file_actions_destroy (&actions);
    posix_spawnattr_destroy (&attributes);
    if (rc != 0)
        child->pid = 0;
    return rc;
}

static int start_with_pipes (struct child *child, int ends[PIPES])
{
    struct event_base *base = child->children->collector->base;
    const struct timeval late = {COLLECTOR_CHILD_SECONDS, 0};
    int rc = spawn (child, ends[OUTPUT], ends[ERRORS]);

    if (rc != 0)
        return rc;
    for (int i = 0; i < PIPES; i++) {
        child->read[i] = event_new (base, child->fd[i], EV_READ | EV_PERSIST,
                                    on_output, child);
        event_add (child->read[i], NULL);
    }
    child->timer = event_new (base, -1, 0, on_late, child);
    event_add (child->timer, &late);
    return 0;
}

/* errno's number, or 0 */
static int start (struct child *child)
{
    int ends[PIPES] = {-1, -1}, pair[2], rc = 0;

    for (int i = 0; i < PIPES && rc == 0; i++) {
        if (pipe2 (pair, O_CLOEXEC) < 0) {
            rc = errno;
        } else {
            child->fd[i] = pair[0];
            ends[i] = pair[1];
            fcntl (pair[0], F_SETFL, O_NONBLOCK);
        }
    }
    if (rc == 0)
        rc = start_with_pipes (child, ends);
    for (int i = 0; i < PIPES; i++)
        if (ends[i] >= 0)
            close (ends[i]);
    return rc;
}

/* Turns */

bool requester_same (const requester_t *a, const requester_t *b)
{
    return a->is_user && b->is_user && a->uid == b->uid
           && a->address == b->address;
}

static bool is_running (const struct children *children,
                        const requester_t *requester)
{
    const struct child *child;

    DL_FOREACH (children->list, child)
    if (child->pid > 0 && requester_same (&child->asking->requester, requester))
        return true;
    return false;
}

static size_t questions_of (const struct children *children,
                            const requester_t *requester)
{
    size_t count = server_unread (children->collector->server, requester);
    const struct child *child;

    DL_FOREACH (children->list, child)
    count += requester_same (&child->asking->requester, requester);
    return count;
}

static void start_next (struct children *children)
{
    struct child *child, *next;

    DL_FOREACH_SAFE (children->list, child, next)
    {
        int rc;

        if (children->running == COLLECTOR_CHILDREN)
            return;
        if (child->pid != 0 || is_running (children, &child->asking->requester))
            continue;
        children->waiting--;
        rc = child->asking->connection ? start (child) : ECANCELED;
        if (rc == 0) {
            children->running++;
            continue;
        }
        asking_replyf (GL_TAKE (child->asking), REPLY_LATER,
                       "cannot start %s: %s", child->argv[0], strerror (rc));
        child_free (child);
    }
}

void children_run (struct children *children, asking_t *asking, char **argv)
{
    struct child *child;

    if (questions_of (children, &asking->requester)
        >= COLLECTOR_USER_QUESTIONS) {
        free_argv (argv);
        asking_decline (asking, REASON_USER, REPLY_LATER,
                        "%d of your requests wait for their answer, or you "
                        "have not read it; try again when one of them is done",
                        COLLECTOR_USER_QUESTIONS);
        return;
    }
    /* answers that nobody fetches count, too */
    if (children->waiting == WAITING_MAX
        || children->collector->count.bytes > COLLECTOR_BYTES_MAX / 2) {
        free_argv (argv);
        asking_decline (asking, REASON_QUEUE, REPLY_LATER,
                        "too many requests are waiting");
        return;
    }
    child = xcalloc (1, sizeof (*child));
    child->children = children;
    child->asking = asking;
    child->argv = argv;
    child->fd[OUTPUT] = child->fd[ERRORS] = -1;
    DL_APPEND (children->list, child);
    children->waiting++;
    start_next (children);
}

struct children *children_new (collector_t *collector)
{
    struct children *children = xcalloc (1, sizeof (*children));

    children->collector = collector;
    children->ended
        = evsignal_new (collector->base, SIGCHLD, on_ended, children);
    event_add (children->ended, NULL);
    return children;
}

void children_free (struct children *children)
{
    struct child *child, *next;

    if (!children)
        return;
    DL_FOREACH_SAFE (children->list, child, next)
    {
        if (child->pid > 0 && !child->ended) {
            kill (-child->pid, SIGKILL);
            waitpid (child->pid, NULL, 0);
        }
        asking_replyf (GL_TAKE (child->asking), REPLY_LATER,
                       "the collector is stopping");
        child_free (child);
    }
    event_free (children->ended);
    free (children);
}
