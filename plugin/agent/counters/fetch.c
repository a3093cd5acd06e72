#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/network.h"
#include "fetch.h"

static const char request[]
    = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nUser-Agent: "
      "gpuledger-agent\r\nAccept: text/plain\r\nAccept-Encoding: identity\r\n"
      "Connection: close\r\n\r\n";

static int64_t now_ms (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

static void leave (fetch_t *f)
{
    if (f->fd >= 0)
        close (f->fd);
    f->fd = -1;
}

/* A connection on this machine is made at once, or not at all; the request fits into
 * an empty buffer. */
static void begin (fetch_t *f)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons (f->port),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};

    f->done = false;
    f->error.text[0] = '\0';
    f->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (f->fd >= 0
        && (connect (f->fd, (struct sockaddr *)&address, sizeof (address)) == 0
            || errno == EINPROGRESS))
        return;
    gl_error (&f->error, "%s", strerror (errno));
    leave (f);
}

/* Connected: the request goes, once. */
static void send_request (fetch_t *f, bool *sent)
{
    ssize_t length = send (f->fd, request, sizeof (request) - 1, MSG_NOSIGNAL);

    *sent = true;
    if (length == (ssize_t)sizeof (request) - 1)
        return;
    gl_error (&f->error, "%s", length < 0 ? strerror (errno) : "cut off");
    leave (f);
}

static void receive (fetch_t *f)
{
    char bytes[16384];
    ssize_t length = recv (f->fd, bytes, sizeof (bytes), 0);
    int rc;

    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length < 0) {
        gl_error (&f->error, "%s", strerror (errno));
        leave (f);
        return;
    }
    rc = length > 0 ? scrape_feed (f->scrape, bytes, (size_t)length, &f->error)
                    : (scrape_end (f->scrape, &f->error) == 0 ? 1 : -1);
    f->done = rc > 0;
    if (rc != 0)
        leave (f);
}

static size_t fill (const fetch_t *fetch, const bool *sent, size_t count,
                    struct pollfd *fds)
{
    size_t open = 0;

    for (size_t i = 0; i < count; i++) {
        fds[i] = (struct pollfd){.fd = fetch[i].fd,
                                 .events = sent[i] ? POLLIN : POLLOUT};
        open += fetch[i].fd >= 0;
    }
    return open;
}

void fetch_all (fetch_t *fetch, size_t count, int timeout_ms)
{
    int64_t end = now_ms () + timeout_ms, left;
    bool sent[PORTS_MAX] = {false};
    struct pollfd fds[PORTS_MAX];

    for (size_t i = 0; i < count; i++)
        begin (&fetch[i]);
    while (fill (fetch, sent, count, fds) > 0 && (left = end - now_ms ()) > 0) {
        if (poll (fds, count, (int)left) < 0 && errno != EINTR)
            break;
        for (size_t i = 0; i < count; i++) {
            if (fetch[i].fd < 0 || fds[i].revents == 0)
                continue;
            if (sent[i])
                receive (&fetch[i]);
            else
                send_request (&fetch[i], &sent[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (fetch[i].fd >= 0)
            gl_error (&fetch[i].error, "no complete answer within %d ms",
                      timeout_ms);
        leave (&fetch[i]);
    }
}
