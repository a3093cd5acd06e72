/* A connection: frames in, frames out, and its limits. */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "collector/collector_connection.h"

/* After REFUSED the other side has this long to read it. */
#define LINGER_SECONDS 1
/* Part of an answer in one credential. */
#define PART_MAX (256 << 10)
#define REFUSED_TEXT_MAX 200

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

void connections_resume (evutil_socket_t fd, short what, void *arg)
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

void connection_free (connection_t *c)
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
    peer_leave (server, c->peer);
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

void connection_count (connection_t *c, reason_t reason, const char *why)
{
    count_refused (&c->server->collector->count, reason, collector_now_ms (),
                   c->peer->address, why);
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
    count_refused (&c->server->collector->count, reason, collector_now_ms (),
                   who, why);
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
    c->requester = asking->requester;
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
        refuse (c, REASON_TYPE, "only requests are accepted");
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
        connection_count (c, REASON_TORN,
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
        connection_count (c, REASON_DEAF, "it does not read its answer");
        connection_free (c);
    } else if (c->begun) {
        refuse (c, REASON_SLOW, "the request took too long");
    } else if (c->asked) {
        refuse (c, REASON_IDLE, "no request for a long time");
    } else {
        refuse (c, REASON_SILENT, "no request");
    }
}

/* Its beginning */

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

void connection_open (struct server *server, evutil_socket_t fd,
                      struct peer *peer)
{
    connection_t *c = connection_new (server, fd, peer);

    send_frame (c, FRAME_HELLO, c->hello, sizeof (c->hello));
    bufferevent_enable (c->channel, EV_READ | EV_WRITE);
    wait_for (c, server->collector->patience_seconds);
}
