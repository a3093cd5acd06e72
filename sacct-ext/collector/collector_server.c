/* Connections: who may have one, and where they are listened for. */
#include <errno.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/network.h"
#include "collector/collector_connection.h"

/* Descriptors for the store, munge, children, and the like. */
#define DESCRIPTORS_KEPT 64

int64_t collector_now_ms (void)
{
    struct timespec t;

    clock_gettime (CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t collector_clock_ns (void)
{
    struct timespec t;

    clock_gettime (CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Peers */

static struct peer *find_peer (struct server *server,
                               const struct sockaddr *address, socklen_t length)
{
    char text[INET6_ADDRSTRLEN] = "?";
    struct peer *peer;

    getnameinfo (address, length, text, sizeof (text), NULL, 0, NI_NUMERICHOST);
    HASH_FIND_STR (server->peers, text, peer);
    if (!peer) {
        peer = xcalloc (1, sizeof (*peer));
        strcpy (peer->address, text);
        HASH_ADD_STR (server->peers, address, peer);
    }
    return peer;
}

void peer_leave (struct server *server, struct peer *peer)
{
    if (peer->count > 0)
        return;
    HASH_DEL (server->peers, peer);
    free (peer);
}

/* New connections */

/* Strangers and users who ask nothing now, whatever they have begun to send;
 * then nodes that ask nothing now: they come again. */
static bool is_spare (const connection_t *c, bool nodes)
{
    if (c->known != nodes)
        return false;
    return c->state == CONNECTION_LINGERS
           || (c->state == CONNECTION_ASKS && !(nodes && c->begun));
}

/* The oldest one that can be spared, of `peer` or of all, makes room. */
static bool evict_one (struct server *server, const struct peer *peer,
                       bool nodes)
{
    connection_t *c;

    DL_FOREACH (server->connections, c)
    {
        if (!is_spare (c, nodes) || (peer && c->peer != peer))
            continue;
        connection_count (c, REASON_EVICTED,
                          "idle, closed to make room for another");
        connection_free (c);
        return true;
    }
    return false;
}

static bool evict (struct server *server, const struct peer *peer)
{
    return evict_one (server, peer, false) || evict_one (server, peer, true);
}

/* The new one counts with its peer already, and not with all. */
static bool has_room (struct server *server, struct peer *peer,
                      reason_t *ret_reason)
{
    *ret_reason = REASON_PEER;
    if (peer->count > server->peer_max && !evict (server, peer))
        return false;
    *ret_reason = REASON_CLIENTS;
    return server->count < server->max || evict (server, NULL);
}

static void turn_away (struct server *server, evutil_socket_t fd,
                       reason_t reason, const struct peer *peer)
{
    static const char text[] = "too many connections";
    unsigned char frame[FRAME_HEADER_SIZE + sizeof (text) - 1];

    frame_header (frame, FRAME_REFUSED, sizeof (text) - 1);
    memcpy (frame + FRAME_HEADER_SIZE, text, sizeof (text) - 1);
    if (send (fd, frame, sizeof (frame), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* a hint, no more */
    evutil_closesocket (fd);
    count_refused (&server->collector->count, reason, collector_now_ms (),
                   peer->address, text);
}

static void on_accept (struct evconnlistener *listener, evutil_socket_t fd,
                       struct sockaddr *address, int length, void *arg)
{
    struct server *server = arg;
    struct peer *peer = find_peer (server, address, (socklen_t)length);
    reason_t reason;

    (void)listener;
    peer->count++; /* keep it while others are evicted */
    if (!has_room (server, peer, &reason)) {
        turn_away (server, fd, reason, peer);
        peer->count--;
        peer_leave (server, peer);
        return;
    }
    peer->count--;
    connection_open (server, fd, peer);
}

static void on_accept_error (struct evconnlistener *listener, void *arg)
{
    (void)listener;
    (void)arg;
    /* out of descriptors, most likely: those of the limit are kept for this */
    collector_log (3, "cannot accept: %s", strerror (errno));
}

/* Listening */

static int listen_on (struct server *server, const struct addrinfo *address,
                      const char *text, gl_error_t *error)
{
    unsigned flags
        = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC;
    struct evconnlistener *listener;

    /* the wildcards of both families side by side */
    if (address->ai_family == AF_INET6)
        flags |= LEV_OPT_BIND_IPV6ONLY;
    listener = evconnlistener_new_bind (server->collector->base, on_accept,
                                        server, flags, 1024, address->ai_addr,
                                        (int)address->ai_addrlen);
    if (!listener)
        return gl_error (error, "cannot listen on %s: %s", text,
                         strerror (errno));
    evconnlistener_set_error_cb (listener, on_accept_error);
    *GL_APPEND (server->listeners, server->listener_count) = listener;
    return 0;
}

static int listen_at (struct server *server, const char *text,
                      gl_error_t *error)
{
    struct addrinfo hints
        = {.ai_flags = AI_PASSIVE | AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM};
    GL_AUTOFREE char *parts = xstrdup (text);
    const char *address, *port;
    struct addrinfo *found;
    size_t before = server->listener_count;
    int rc;

    network_split_host (parts, &address, &port);
    rc = getaddrinfo (strcmp (address, "*") != 0 ? address : NULL,
                      port ? port : COLLECTOR_PORT, &hints, &found);
    if (rc != 0)
        return gl_error (error, "cannot listen on %s: %s", text,
                         gai_strerror (rc));
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        listen_on (server, a, text, error);
    freeaddrinfo (found);
    return server->listener_count > before ? 0 : -1;
}

/* As many descriptors as the clients need; fewer clients where there are not
 * as many. */
static void raise_descriptors (struct server *server)
{
    struct rlimit limit;
    rlim_t wanted = server->max + DESCRIPTORS_KEPT;

    if (getrlimit (RLIMIT_NOFILE, &limit) < 0)
        return;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit (RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < wanted && limit.rlim_cur > 2 * DESCRIPTORS_KEPT) {
        server->max = limit.rlim_cur - DESCRIPTORS_KEPT;
        collector_log (4,
                       "the limit of open files allows %zu clients: raise "
                       "LimitNOFILE",
                       server->max);
    }
}

struct server *server_new (collector_t *collector, gl_error_t *error)
{
    static const char everywhere[] = "*:" COLLECTOR_PORT;
    struct server *server = xcalloc (1, sizeof (*server));
    const text_list_t *listen = &collector->site->collector.listen;

    server->collector = collector;
    server->max = (size_t)collector->site->collector.clients;
    raise_descriptors (server);
    server->peer_max = server->max / PEER_SHARE;
    if (server->peer_max < PEER_MIN)
        server->peer_max = PEER_MIN;
    server->resume
        = event_new (collector->base, -1, 0, connections_resume, server);
    collector->server = server;
    if (listen->count == 0)
        return listen_at (server, everywhere, error) < 0 ? NULL : server;
    for (size_t i = 0; i < listen->count; i++)
        if (listen_at (server, listen->item[i], error) < 0)
            return NULL;
    return server;
}

void server_stop (struct server *server)
{
    connection_t *c, *next;

    server->stopped = true;
    for (size_t i = 0; i < server->listener_count; i++)
        evconnlistener_free (server->listeners[i]);
    server->listener_count = 0;
    DL_FOREACH_SAFE (server->connections, c, next)
    if (c->state == CONNECTION_ASKS || c->state == CONNECTION_LINGERS)
        connection_free (c);
}

size_t server_unread (const struct server *server, const requester_t *requester)
{
    const connection_t *c;
    size_t count = 0;

    DL_FOREACH (server->connections, c)
    count += c->state == CONNECTION_READS
             && requester_same (&c->requester, requester);
    return count;
}

bool server_quiet (const struct server *server)
{
    return server->connections == NULL;
}

void server_free (struct server *server)
{
    connection_t *c, *next;

    if (!server)
        return;
    server_stop (server);
    DL_FOREACH_SAFE (server->connections, c, next)
    connection_free (c);
    free (server->listeners);
    event_free (server->resume);
    free (server);
}
