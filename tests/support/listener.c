#include "support/listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "record/spool_read.h"
#include "wire/frame.h"

#define IN_MAX (FRAME_HEADER_SIZE + FRAME_BODY_MAX)

/* One client. */
struct session {
    listener_t *listener;
    int fd;
    unsigned char hello[FRAME_NONCE_SIZE];
    unsigned char *in;
    size_t have;
};

static int open_port (listener_t *listener)
{
    struct sockaddr_in address
        = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof (address);

    listener->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener->fd < 0
        || bind (listener->fd, (struct sockaddr *)&address, size) < 0
        || listen (listener->fd, 16) < 0
        || getsockname (listener->fd, (struct sockaddr *)&address, &size) < 0)
        return -1;
    snprintf (listener->address, sizeof (listener->address), "127.0.0.1:%u",
              ntohs (address.sin_port));
    return 0;
}

/* Wait for bytes, not for ever: the test may end. */
static bool readable (const listener_t *listener, int fd)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};

    while (!listener->stop)
        if (poll (&in, 1, 20) > 0)
            return true;
    return false;
}

static bool say (struct session *s, const void *bytes, size_t size)
{
    return size == 0
           || send (s->fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool say_frame (struct session *s, frame_type_t type, const void *body,
                       size_t length)
{
    unsigned char header[FRAME_HEADER_SIZE];

    frame_header (header, type, length);
    return say (s, header, sizeof (header)) && say (s, body, length);
}

static void wait_for_end (struct session *s)
{
    while (readable (s->listener, s->fd) && recv (s->fd, s->in, IN_MAX, 0) > 0)
        ;
}

static int64_t clock_ns (void)
{
    struct timespec now;

    clock_gettime (CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool greet (struct session *s)
{
    static const unsigned char huge[FRAME_HEADER_SIZE]
        = {0xf7, 'g', 'l', 'w', 1, FRAME_HELLO, 0, 0, 0xff, 0xff, 0xff, 0xff};

    switch (s->listener->mode) {
    case LISTEN_MUTE:
        return false;
    case LISTEN_GARBAGE:
        say (s, "HTTP/1.1 200 OK\r\n\r\n", 19);
        return false;
    case LISTEN_HUGE:
        say (s, huge, sizeof (huge));
        return false;
    default:
        s->listener->greeted_ns = clock_ns ();
        memset (s->hello, 0x40 + s->listener->connections % 64,
                sizeof (s->hello));
        return say_frame (s, FRAME_HELLO, s->hello, sizeof (s->hello));
    }
}

/* --- what is asked --- */

static int remember (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    listener_t *listener = arg;
    size_t count = listener->count;

    (void)error;
    if (count < LISTENER_KEYS_MAX)
        memcpy (listener->key[count], entry->record.key, RECORD_KEY_SIZE);
    listener->count = count + 1;
    return 0;
}

static int is_bad (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    listener_t *listener = arg;

    (void)error;
    return listener->bad_job < 0 || entry->record.job_id == listener->bad_job;
}

static int find_bad (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    return is_bad (entry, arg, error) ? -1 : 0;
}

static uint16_t commit (listener_t *listener, const request_t *request,
                        char *why, size_t size)
{
    batch_t batch;

    *why = '\0';
    if (listener->mode == LISTEN_LATER) {
        snprintf (why, size, "the store is asleep");
        return REPLY_LATER;
    }
    if (request->verb == VERB_PRICES) {
        snprintf (why, size, "%s", listener->prices ? listener->prices : "");
        return listener->prices ? REPLY_OK : REPLY_FAILED;
    }
    if (batch_read (request->body, request->length, &batch, NULL) < 0)
        abort ();
    strcpy (listener->node, batch.node);
    listener->sent_ns = batch.sent_ns;
    if (listener->mode == LISTEN_REFUSE_JOB
        && spool_read_buffer (batch.records, batch.length, find_bad, listener,
                              NULL, NULL)
               < 0) {
        snprintf (why, size, "bad\trecord");
        return REPLY_FAILED;
    }
    spool_read_buffer (batch.records, batch.length, remember, listener, NULL,
                       NULL);
    return listener->mode == LISTEN_PART ? REPLY_PART : REPLY_OK;
}

/* --- what is answered --- */

static bool answer_credential (struct session *s, const void *payload,
                               size_t size)
{
    listener_t *listener = s->listener;
    unsigned char header[FRAME_HEADER_SIZE];
    char *text = NULL;
    size_t cut = listener->cut;
    bool ok = false;

    if (credential_make (listener->credential, payload, size,
                         CREDENTIAL_ANYBODY, &text, NULL)
        < 0)
        return false;
    if ((listener->mode == LISTEN_REPLAY || listener->mode == LISTEN_BLIND)
        && listener->earlier) {
        free (text);
        text = strdup (listener->earlier);
    }
    frame_header (header, FRAME_REPLY, strlen (text));
    if (listener->mode != LISTEN_CUT_ANSWER)
        ok = say_frame (s, FRAME_REPLY, text, strlen (text));
    else if (cut <= sizeof (header))
        say (s, header, cut);
    else if (say (s, header, sizeof (header))) {
        cut -= sizeof (header);
        say (s, text, cut < strlen (text) ? cut : strlen (text) - 1);
    }
    free (listener->earlier);
    listener->earlier = text;
    return ok;
}

static bool answer (struct session *s, const request_t *request)
{
    unsigned char payload[REPLY_HEADER_SIZE + 4096];
    char *why = (char *)payload + REPLY_HEADER_SIZE;
    reply_t reply = {0};

    if (s->listener->mode == LISTEN_NO_ANSWER)
        return false;
    if (s->listener->mode == LISTEN_REFUSED) {
        say_frame (s, FRAME_REFUSED, "go away\33[2J", 11);
        return false;
    }
    reply.status = commit (s->listener, request, why, 4096);
    reply.length = strlen (why);
    memcpy (reply.nonce, request->nonce, FRAME_NONCE_SIZE);
    if (s->listener->mode == LISTEN_WRONG_NONCE)
        reply.nonce[0] ^= 1;
    reply_header (payload, &reply);
    if (s->listener->mode == LISTEN_CLEAR)
        return say_frame (s, FRAME_REPLY, payload,
                          REPLY_HEADER_SIZE + reply.length);
    return answer_credential (s, payload, REPLY_HEADER_SIZE + reply.length);
}

static bool answer_blindly (struct session *s)
{
    unsigned char payload[REPLY_HEADER_SIZE];
    const reply_t reply = {.status = REPLY_OK};

    reply_header (payload, &reply);
    return answer_credential (s, payload, sizeof (payload));
}

static bool handle (struct session *s, const frame_t *frame)
{
    char *text = strndup ((const char *)frame->body, frame->length);
    opened_t opened = {0};
    request_t request;
    bool ok = false;

    s->listener->requests++;
    if (s->listener->mode == LISTEN_BLIND) {
        free (text);
        return answer_blindly (s);
    }
    if (credential_open (s->listener->credential, text, &opened, NULL)
            == CREDENTIAL_OK
        && request_read (opened.payload, opened.length, &request, NULL) == 0
        && memcmp (request.hello, s->hello, FRAME_NONCE_SIZE) == 0)
        ok = answer (s, &request);
    free (opened.payload);
    free (text);
    return ok;
}

static void converse (struct session *s)
{
    listener_t *listener = s->listener;
    frame_t frame;
    int size;

    if (!greet (s)) {
        wait_for_end (s);
        return;
    }
    while (readable (listener, s->fd)) {
        ssize_t n = recv (s->fd, s->in + s->have, IN_MAX - s->have, 0);

        if (n <= 0)
            return;
        s->have += n;
        if (listener->mode == LISTEN_CUT_REQUEST && s->have >= listener->cut)
            return;
        while ((size = frame_read (s->in, s->have, &frame, NULL)) > 0) {
            if (!handle (s, &frame)) {
                if (listener->mode == LISTEN_NO_ANSWER)
                    wait_for_end (s);
                return;
            }
            s->have -= size;
            memmove (s->in, s->in + size, s->have);
        }
    }
}

static void *serve (void *arg)
{
    listener_t *listener = arg;
    int on = 1;

    pthread_mutex_lock (&listener->serving);
    if (listener->begin)
        listener->begin (listener);
    listener->ready = 1;
    pthread_mutex_unlock (&listener->serving);
    while (readable (listener, listener->fd)) {
        struct session s = {.listener = listener};

        pthread_mutex_lock (&listener->serving);
        s.fd = accept (listener->fd, NULL, NULL);
        if (s.fd >= 0) {
            setsockopt (s.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
            s.in = malloc (IN_MAX);
            listener->connections++;
            converse (&s);
            close (s.fd);
            free (s.in);
        }
        pthread_mutex_unlock (&listener->serving);
    }
    return NULL;
}

int listener_start (listener_t *listener)
{
    listener->credential = credential_new (listener->munge_socket, NULL);
    if (!listener->credential || open_port (listener) < 0)
        return -1;
    pthread_mutex_init (&listener->serving, NULL);
    if (pthread_create (&listener->thread, NULL, serve, listener))
        return -1;
    while (!listener->ready)
        usleep (1000);
    return 0;
}

pid_t listener_fork (listener_t *listener)
{
    pid_t pid;

    pthread_mutex_lock (&listener->serving);
    pid = fork ();
    pthread_mutex_unlock (&listener->serving);
    return pid;
}

void listener_stop (listener_t *listener)
{
    listener->stop = 1;
    pthread_join (listener->thread, NULL);
    pthread_mutex_destroy (&listener->serving);
    close (listener->fd);
    credential_free (listener->credential);
    free (listener->earlier);
}
