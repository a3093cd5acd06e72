/* Connections: frames in, frames out, and every limit on them. */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <uthash.h>
#include <utlist.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/network.h"
#include "collector.h"

/* One address may hold a sixteenth of all connections, and some. */
#define PEER_SHARE 16
#define PEER_MIN 16
/* After REFUSED the other side has this long to read it. */
#define LINGER_SECONDS 1
/* Part of an answer in one credential. */
#define PART_MAX (256 << 10)
/* Descriptors for the store, munge, children, and the like. */
#define DESCRIPTORS_KEPT 64
#define REFUSED_TEXT_MAX 200

typedef enum {
    CONNECTION_ASKS,    /* a frame is to come */
    CONNECTION_WAITS,   /* its request is being dealt with */
    CONNECTION_READS,   /* its answer goes out */
    CONNECTION_LINGERS, /* refused */
} connection_state_t;

struct peer {
    char address[INET6_ADDRSTRLEN];
    size_t count;
    size_t bytes; /* in the buffers of its connections */
    UT_hash_handle hh;
};

typedef struct connection {
    struct server *server;
    struct bufferevent *channel;
    struct event *timer;
    struct peer *peer;
    connection_state_t state;
    bool known;   /* a node asked, for itself */
    bool asked;   /* something that munge vouched for */
    bool begun;   /* the first bytes of a frame are there */
    bool paused;  /* for want of memory */
    size_t bytes; /* in its buffers */
    unsigned char hello[FRAME_NONCE_SIZE];
    int64_t told_ns;  /* when it was last told something */
    int64_t heard_ns; /* when the frame began */
    asking_t *asking;
    /* an answer that goes out in parts */
    asking_t *answered;
    buffer_t answer; /* counted in `bytes` */
    size_t sent;
    reply_status_t status;
    struct connection *prev, *next; /* the oldest first */
} connection_t;

struct server {
    collector_t *collector;
    struct evconnlistener **listeners;
    size_t listener_count;
    struct event *resume;
    connection_t *connections;
    struct peer *peers;
    size_t count;
    size_t max, peer_max;
    bool stopped;
};

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

static void leave_peer (struct server *server, struct peer *peer)
{
    if (peer->count > 0)
        return;
    HASH_DEL (server->peers, peer);
    free (peer);
}

/* Memory */

static void hold_bytes (connection_t *c, int64_t more)
{
    c->bytes += (size_t)more;
    c->peer->bytes += (size_t)more;
    c->server->collector->count.bytes += (uint64_t)more;
}

static void on_bytes (struct evbuffer *buffer,
                      const struct evbuffer_cb_info *info, void *arg)
{
    (void)buffer;
    hold_bytes (arg, (int64_t)info->n_added - (int64_t)info->n_deleted);
}

/* Above the limit nobody is read from until some of it is gone: answered, or
 * given up by its deadline. The last quarter is for addresses that hold little:
 * a few others that send and never end cannot keep them out. */
static bool is_full (const connection_t *c)
{
    uint64_t bytes = c->server->collector->count.bytes;

    return bytes > COLLECTOR_BYTES_MAX
           || (bytes > COLLECTOR_BYTES_MAX / 4 * 3
               && c->peer->bytes > COLLECTOR_BYTES_MAX / PEER_SHARE);
}

static void pause_reading (connection_t *c)
{
    static const struct timeval soon = {0, 50000};

    bufferevent_disable (c->channel, EV_READ);
    c->paused = true;
    if (!event_pending (c->server->resume, EV_TIMEOUT, NULL))
        event_add (c->server->resume, &soon);
}

static void on_resume (evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval soon = {0, 50000};
    struct server *server = arg;
    bool again = false;
    connection_t *c;

    (void)fd;
    (void)what;
    DL_FOREACH (server->connections, c)
    {
        if (!c->paused)
            continue;
        if (is_full (c)) {
            again = true;
            continue;
        }
        c->paused = false;
        if (c->state == CONNECTION_ASKS)
            bufferevent_enable (c->channel, EV_READ);
    }
    if (again)
        event_add (server->resume, &soon);
}

/* Connections */

static void wait_for (connection_t *c, int seconds)
{
    const struct timeval t = {seconds, 0};

    event_add (c->timer, &t);
}

static void asking_free (asking_t *asking)
{
    if (!asking)
        return;
    asking->collector->count.bytes -= asking->opened.length;
    free (asking->opened.payload);
    free (asking);
}

static void connection_free (connection_t *c)
{
    struct server *server = c->server;

    if (c->asking)
        c->asking->connection = NULL;
    asking_free (c->answered);
    buffer_done (&c->answer);
    server->collector->count.bytes -= c->bytes;
    c->peer->bytes -= c->bytes;
    server->collector->count.clients--;
    server->count--;
    DL_DELETE (server->connections, c);
    c->peer->count--;
    leave_peer (server, c->peer);
    event_free (c->timer);
    bufferevent_free (c->channel);
    free (c);
}

static void send_frame (connection_t *c, frame_type_t type, const void *body,
                        size_t length)
{
    unsigned char header[FRAME_HEADER_SIZE];

    frame_header (header, type, length);
    bufferevent_write (c->channel, header, sizeof (header));
    bufferevent_write (c->channel, body, length);
    c->told_ns = collector_clock_ns ();
}

static void count_for (connection_t *c, reason_t reason, const char *who,
                       const char *why)
{
    count_refused (&c->server->collector->count, reason, collector_now_ms (),
                   who, why);
}

/* Say why, then close. What still comes is thrown away, so that the refusal is
 * not lost to a reset. */
static void refuse_as (connection_t *c, reason_t reason, const char *who,
                       const char *why)
{
    struct evbuffer *input = bufferevent_get_input (c->channel);
    char text[REFUSED_TEXT_MAX];
    int length
        = snprintf (text, sizeof (text), "%s: %s", reason_name (reason), why);

    if (length >= (int)sizeof (text))
        length = sizeof (text) - 1;
    count_for (c, reason, who, why);
    evbuffer_drain (input, evbuffer_get_length (input));
    c->state = CONNECTION_LINGERS;
    c->paused = false;
    send_frame (c, FRAME_REFUSED, text, (size_t)length);
    bufferevent_enable (c->channel, EV_READ);
    wait_for (c, LINGER_SECONDS);
}

static void refuse (connection_t *c, reason_t reason, const char *why)
{
    refuse_as (c, reason, c->peer->address, why);
}

/* The next frame may come. */
static void ask_again (connection_t *c);

/* Answers */

static int make_reply (connection_t *c, const asking_t *asking,
                       reply_status_t status, const void *body, size_t length,
                       gl_error_t *error)
{
    BUFFER_AUTO payload = BUFFER_INIT;
    unsigned char header[REPLY_HEADER_SIZE];
    reply_t reply = {.status = (uint16_t)status};
    char *text;

    memcpy (reply.nonce, asking->request.nonce, sizeof (reply.nonce));
    reply_header (header, &reply);
    buffer_add (&payload, header, sizeof (header));
    buffer_add (&payload, body, length);
    if (credential_make (c->server->collector->credential, payload.data,
                         payload.length, asking->opened.uid, &text, error)
        < 0)
        return -1;
    send_frame (c, FRAME_REPLY, text, strlen (text));
    free (text);
    return 0;
}

static void send_part (connection_t *c)
{
    size_t rest = c->answer.length - c->sent;
    bool last = rest <= PART_MAX;
    size_t length = last ? rest : PART_MAX;
    gl_error_t error = {""};

    if (make_reply (c, c->answered, last ? c->status : REPLY_PART,
                    buffer_text (&c->answer) + c->sent, length, &error)
        < 0) {
        refuse (c, REASON_MUNGE_DOWN, error.text);
        return;
    }
    c->sent += length;
    if (last) {
        asking_free (GL_TAKE (c->answered));
        hold_bytes (c, -(int64_t)c->answer.length);
        buffer_done (&c->answer);
    }
    wait_for (c, c->server->collector->patience_seconds);
}

void asking_reply (asking_t *asking, reply_status_t status, const void *body,
                   size_t length)
{
    connection_t *c = asking->connection;

    if (!c) {
        asking_free (asking);
        return;
    }
    c->asking = NULL;
    c->answered = asking;
    c->status = status;
    c->sent = 0;
    buffer_add (&c->answer, body, length);
    hold_bytes (c, (int64_t)length);
    c->state = CONNECTION_READS;
    send_part (c);
}

void asking_replyf (asking_t *asking, reply_status_t status, const char *fmt,
                    ...)
{
    char text[GL_ERROR_SIZE];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    asking_reply (asking, status, text, strlen (text));
}

void asking_decline (asking_t *asking, reason_t reason, reply_status_t status,
                     const char *fmt, ...)
{
    char text[GL_ERROR_SIZE];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    count_refused (&asking->collector->count, reason, collector_now_ms (),
                   asking->who, text);
    asking_reply (asking, status, text, strlen (text));
}

void asking_refuse (asking_t *asking, reason_t reason, const char *fmt, ...)
{
    char text[GL_ERROR_SIZE];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    if (asking->connection) {
        asking->connection->asking = NULL;
        refuse_as (asking->connection, reason, asking->who, text);
    } else {
        count_refused (&asking->collector->count, reason, collector_now_ms (),
                       asking->who, text);
    }
    asking_free (asking);
}

void asking_is_of_node (asking_t *asking)
{
    if (asking->connection)
        asking->connection->known = true;
}

/* Requests */

static reason_t reason_of (credential_status_t status)
{
    switch (status) {
    case CREDENTIAL_REPLAYED:
        return REASON_REPLAYED;
    case CREDENTIAL_EXPIRED:
        return REASON_EXPIRED;
    case CREDENTIAL_REFUSED:
        return REASON_UNREADABLE;
    case CREDENTIAL_UNREACHABLE:
        return REASON_MUNGE_DOWN;
    default:
        return REASON_INVALID;
    }
}

/* Who asks what: the credential, the nonce of this connection, the request. */
static asking_t *open_request (connection_t *c, const char *text)
{
    collector_t *collector = c->server->collector;
    asking_t *asking = xcalloc (1, sizeof (*asking));
    gl_error_t error = {""};
    credential_status_t status = credential_open (collector->credential, text,
                                                  &asking->opened, &error);
    char origin[INET_ADDRSTRLEN] = "?";

    asking->collector = collector;
    collector->count.bytes += asking->opened.length;
    if (status != CREDENTIAL_OK)
        refuse (c, reason_of (status), error.text);
    else if (request_read (asking->opened.payload, asking->opened.length,
                           &asking->request, &error)
             < 0)
        refuse (c, REASON_MALFORMED, error.text);
    else if (memcmp (asking->request.hello, c->hello, sizeof (c->hello)) != 0)
        refuse (c, REASON_NONCE,
                "the credential was made for another connection");
    else {
        inet_ntop (AF_INET, &asking->opened.origin, origin, sizeof (origin));
        snprintf (asking->who, sizeof (asking->who), "uid %u at %s",
                  asking->opened.uid, origin);
        asking->heard_ns = c->heard_ns;
        asking->waited_ns = c->heard_ns - c->told_ns;
        return asking;
    }
    asking_free (asking);
    return NULL;
}

static void on_request (connection_t *c, size_t length)
{
    struct evbuffer *input = bufferevent_get_input (c->channel);
    GL_AUTOFREE char *text = xmalloc (length + 1);
    asking_t *asking;

    evbuffer_drain (input, FRAME_HEADER_SIZE);
    evbuffer_remove (input, text, length);
    text[length] = '\0';
    event_del (c->timer);
    c->begun = false;
    asking = open_request (c, text);
    if (!asking)
        return;
    c->asked = true;
    c->state = CONNECTION_WAITS;
    c->asking = asking;
    asking->connection = c;
    bufferevent_disable (c->channel, EV_READ);
    c->server->collector->count.requests++;
    request_answer (asking);
}

/* Frames */

static size_t body_length (const unsigned char *header)
{
    return header[8] | (size_t)header[9] << 8 | (size_t)header[10] << 16
           | (size_t)header[11] << 24;
}

/* Which of its rules a header breaks: all but its length is in its first 8
 * bytes. */
static void refuse_header (connection_t *c, const unsigned char *header,
                           size_t size, const gl_error_t *error)
{
    frame_t frame;
    bool begins_well
        = frame_read (header, size < 8 ? size : 8, &frame, NULL) == 0;

    refuse (c, begins_well ? REASON_LENGTH : REASON_GARBAGE, error->text);
}

static void look_at_frame (connection_t *c)
{
    struct evbuffer *input = bufferevent_get_input (c->channel);
    size_t there = evbuffer_get_length (input);
    size_t size = there < FRAME_HEADER_SIZE ? there : FRAME_HEADER_SIZE;
    unsigned char header[FRAME_HEADER_SIZE];
    gl_error_t error = {""};
    frame_t frame;

    evbuffer_copyout (input, header, size);
    if (frame_read (header, size, &frame, &error) < 0)
        refuse_header (c, header, size, &error);
    else if (size > 5 && header[5] != FRAME_REQUEST)
        refuse (c, REASON_TYPE, "only requests are taken here");
    else if (size == FRAME_HEADER_SIZE
             && there - FRAME_HEADER_SIZE >= body_length (header))
        on_request (c, body_length (header));
    else if (is_full (c))
        pause_reading (c);
}

static void on_read (struct bufferevent *channel, void *arg)
{
    struct evbuffer *input = bufferevent_get_input (channel);
    connection_t *c = arg;

    if (c->state == CONNECTION_LINGERS) {
        evbuffer_drain (input, evbuffer_get_length (input));
        return;
    }
    if (c->state != CONNECTION_ASKS || evbuffer_get_length (input) == 0)
        return;
    if (!c->begun) {
        c->begun = true;
        c->heard_ns = collector_clock_ns ();
        wait_for (c, c->server->collector->patience_seconds);
    }
    look_at_frame (c);
}

static void ask_again (connection_t *c)
{
    if (c->server->stopped) {
        connection_free (c);
        return;
    }
    c->state = CONNECTION_ASKS;
    c->begun = false;
    wait_for (c, c->known ? COLLECTOR_IDLE_SECONDS
                          : c->server->collector->patience_seconds);
    bufferevent_enable (c->channel, EV_READ);
    /* it may have come already */
    if (evbuffer_get_length (bufferevent_get_input (c->channel)))
        bufferevent_trigger (c->channel, EV_READ, BEV_TRIG_DEFER_CALLBACKS);
}

/* All that was to be sent is in the kernel's hands. */
static void on_written (struct bufferevent *channel, void *arg)
{
    connection_t *c = arg;

    (void)channel;
    if (c->state == CONNECTION_LINGERS)
        shutdown (bufferevent_getfd (c->channel), SHUT_WR);
    else if (c->state == CONNECTION_READS && c->answered)
        send_part (c);
    else if (c->state == CONNECTION_READS)
        ask_again (c);
}

static void on_event (struct bufferevent *channel, short what, void *arg)
{
    connection_t *c = arg;

    (void)what;
    if (c->state == CONNECTION_ASKS
        && evbuffer_get_length (bufferevent_get_input (channel)))
        count_for (c, REASON_TORN, c->peer->address,
                   "the connection ended within a frame");
    connection_free (c);
}

static void on_timer (evutil_socket_t fd, short what, void *arg)
{
    connection_t *c = arg;

    (void)fd;
    (void)what;
    if (c->state == CONNECTION_LINGERS) {
        connection_free (c);
    } else if (c->state == CONNECTION_READS) {
        count_for (c, REASON_DEAF, c->peer->address,
                   "it does not read its answer");
        connection_free (c);
    } else if (c->begun) {
        refuse (c, REASON_SLOW, "the request took too long to come");
    } else if (c->asked) {
        refuse (c, REASON_IDLE, "nothing was asked for a long time");
    } else {
        refuse (c, REASON_SILENT, "nothing was asked");
    }
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
        count_for (c, REASON_EVICTED, c->peer->address,
                   "asked nothing and made room for another");
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

static connection_t *connection_new (struct server *server, evutil_socket_t fd,
                                     struct peer *peer)
{
    connection_t *c = xcalloc (1, sizeof (*c));

    c->server = server;
    c->peer = peer;
    c->channel = bufferevent_socket_new (server->collector->base, fd,
                                         BEV_OPT_CLOSE_ON_FREE);
    c->timer = event_new (server->collector->base, -1, 0, on_timer, c);
    if (!c->channel || !c->timer
        || getrandom (c->hello, sizeof (c->hello), 0)
               != (ssize_t)sizeof (c->hello)) {
        collector_log (3, "no memory or no random numbers for a connection");
        exit (1);
    }
    peer->count++;
    server->count++;
    server->collector->count.clients++;
    server->collector->count.connections++;
    DL_APPEND (server->connections, c);
    evbuffer_add_cb (bufferevent_get_input (c->channel), on_bytes, c);
    evbuffer_add_cb (bufferevent_get_output (c->channel), on_bytes, c);
    bufferevent_setwatermark (c->channel, EV_READ, 0,
                              FRAME_HEADER_SIZE + FRAME_BODY_MAX);
    bufferevent_setcb (c->channel, on_read, on_written, on_event, c);
    return c;
}

static void on_accept (struct evconnlistener *listener, evutil_socket_t fd,
                       struct sockaddr *address, int length, void *arg)
{
    struct server *server = arg;
    struct peer *peer = find_peer (server, address, (socklen_t)length);
    reason_t reason;
    connection_t *c;

    (void)listener;
    peer->count++; /* keep it while others are evicted */
    if (!has_room (server, peer, &reason)) {
        turn_away (server, fd, reason, peer);
        peer->count--;
        leave_peer (server, peer);
        return;
    }
    peer->count--;
    c = connection_new (server, fd, peer);
    send_frame (c, FRAME_HELLO, c->hello, sizeof (c->hello));
    bufferevent_enable (c->channel, EV_READ | EV_WRITE);
    wait_for (c, server->collector->patience_seconds);
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
    server->listeners
        = xreallocarray (server->listeners, server->listener_count + 1,
                         sizeof (struct evconnlistener *));
    server->listeners[server->listener_count++] = listener;
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
    server->resume = event_new (collector->base, -1, 0, on_resume, server);
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
