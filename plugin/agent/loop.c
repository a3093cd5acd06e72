/* The agent's time: the machine's clock and signals, or a replay. */
#include <config.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "sync.h"

/* One datagram to $NOTIFY_SOCKET (sd_notify(3)): "READY=1". */
static void notify_systemd (const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv ("NOTIFY_SOCKET");
    size_t length = path ? strlen (path) : 0;
    int fd;

    if (length < 2 || length >= sizeof (address.sun_path)
        || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy (address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto (fd, state, strlen (state), MSG_NOSIGNAL | MSG_DONTWAIT,
                (struct sockaddr *)&address,
                (socklen_t)(offsetof (struct sockaddr_un, sun_path) + length))
        < 0)
        (void)0; /* systemd will say so */
    close (fd);
}

/*
 * A replay, from its first moment to its last.
 */

static int run_through (agent_t *agent, gl_error_t *error)
{
    source_t *source = source_open_replay (agent->replay, 0, error);
    int64_t first, last, interval = agent->tracks.interval_ms * CLOCK_NS_PER_MS;

    if (!source)
        return -1;
    if (source_replay_span (source, &first, &last) < 0) {
        source_close (source);
        return gl_error (error, "%s: --through needs absolute times",
                         agent->replay);
    }
    source_close (source);
    clock_through (&agent->clock, first, last);
    do
        agent_look (agent);
    while (
        !agent->options->once
        && clock_advance (&agent->clock, clock_next (&agent->clock, interval)));
    return 0;
}

/*
 * The machine's clock.
 */

struct loop {
    agent_t *agent;
    int signals;
    int64_t look_ns; /* when the next sample is due, by the wall clock */
    int64_t sync_ns; /* and the next sync, by one that is never set; 0: none */
    bool stop;
};

static int64_t steady_now (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static int open_signals (void)
{
    sigset_t set;

    sigemptyset (&set);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGINT);
    sigaddset (&set, SIGHUP);
    signal (SIGPIPE, SIG_IGN);
    signal (SIGXFSZ, SIG_IGN);
    if (sigprocmask (SIG_BLOCK, &set, NULL) < 0)
        return -1;
    return signalfd (-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void plan_look (struct loop *loop)
{
    loop->look_ns = clock_next (
        &loop->agent->clock, loop->agent->tracks.interval_ms * CLOCK_NS_PER_MS);
}

static void take_signals (struct loop *loop)
{
    struct signalfd_siginfo info;

    while (read (loop->signals, &info, sizeof (info)) == sizeof (info)) {
        if (info.ssi_signo != SIGHUP) {
            loop->stop = true;
            continue;
        }
        notify_systemd ("RELOADING=1");
        agent_reload (loop->agent);
        plan_look (loop);
        notify_systemd ("READY=1");
    }
}

/* Milliseconds until something is due, rounded up; a clock that was set back
 * must not let it sleep for longer than an interval. */
static int time_left (const struct loop *loop)
{
    int64_t look = loop->look_ns - clock_now (&loop->agent->clock);
    int64_t interval = loop->agent->tracks.interval_ms * CLOCK_NS_PER_MS;
    int64_t left = look < interval ? look : interval;

    if (loop->sync_ns && loop->sync_ns - steady_now () < left)
        left = loop->sync_ns - steady_now ();
    if (left <= 0)
        return 0;
    left = (left + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;
    return left < 60000 ? (int)left : 60000;
}

static void wait_for_work (struct loop *loop)
{
    struct pollfd fds[] = {{.fd = loop->signals, .events = POLLIN},
                           {.fd = loop->agent->sync.watch, .events = POLLIN}};

    if (poll (fds, 2, time_left (loop)) < 0 && errno != EINTR)
        agent_say (3, "poll: %s", strerror (errno));
    take_signals (loop);
}

/* From the first sign of a change a little later, with what else comes. */
static void sync_when_due (struct loop *loop)
{
    bool watched = loop->agent->sync.watch >= 0;
    int64_t delay = watched ? SYNC_DELAY_MS : SYNC_POLL_MS;

    if (sync_changed (&loop->agent->sync) && !loop->sync_ns)
        loop->sync_ns = steady_now () + delay * CLOCK_NS_PER_MS;
    if (!loop->sync_ns || steady_now () < loop->sync_ns)
        return;
    loop->sync_ns = 0;
    agent_sync (loop->agent);
}

/* A clock that was set back far makes the planned time meaningless. */
static bool look_is_due (const struct loop *loop)
{
    int64_t left = loop->look_ns - clock_now (&loop->agent->clock);

    return left <= 0
           || left > 2 * loop->agent->tracks.interval_ms * CLOCK_NS_PER_MS;
}

static int run_on (agent_t *agent, gl_error_t *error)
{
    struct loop loop = {.agent = agent};

    clock_real (&agent->clock);
    loop.signals = open_signals ();
    if (loop.signals < 0)
        return gl_error (error, "signalfd: %s", strerror (errno));
    agent_look (agent);
    agent_sync (agent);
    notify_systemd ("READY=1");
    plan_look (&loop);
    while (!loop.stop && !agent->options->once) {
        wait_for_work (&loop);
        sync_when_due (&loop);
        if (!loop.stop && look_is_due (&loop)) {
            agent_look (agent);
            plan_look (&loop);
        }
    }
    notify_systemd ("STOPPING=1");
    if (!agent->options->once)
        agent_look (agent);
    close (loop.signals);
    return 0;
}

int loop_run (agent_t *agent, gl_error_t *error)
{
    int rc = agent->options->through ? run_through (agent, error)
                                     : run_on (agent, error);

    if (rc == 0)
        agent_stop (agent);
    return rc;
}
