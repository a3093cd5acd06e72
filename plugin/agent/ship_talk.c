#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/network.h"
#include "ship_talk.h"

#define IN_MIN 4096
#define IN_MAX (FRAME_HEADER_SIZE + FRAME_BODY_MAX)
/* Of a foreign text that is shown. */
#define SHOWN_MAX 200

int64_t talk_clock (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void talk_clean (char *text)
{
    for (size_t i = 0; text[i]; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
}

void talk_close (talk_t *talk)
{
    if (talk->fd >= 0)
        close (talk->fd);
    talk->fd = -1;
    free (talk->in);
    talk->in = NULL;
    talk->have = talk->room = 0;
}

/* "return fail (...);" as with gl_error(), which sets the text. */
static int fail (talk_t *talk, ship_cause_t cause, int rc)
{
    talk->cause = cause;
    talk_close (talk);
    return rc;
}

/* --- waiting --- */

static void drain (int fd)
{
    eventfd_t count;

    eventfd_read (fd, &count);
}

static int time_left (talk_t *talk, int64_t deadline)
{
    int64_t until = atomic_load (&talk->until), now = talk_clock ();

    if (until < deadline)
        deadline = until;
    return deadline > now ? (int)(deadline - now) : 0;
}

int talk_wait (talk_t *talk, int fd, short events, int64_t deadline)
{
    struct pollfd fds[2]
        = {{.fd = fd, .events = events}, {.fd = talk->wake, .events = POLLIN}};

    for (;;) {
        int left = time_left (talk, deadline);
        int n = poll (fds, 2, left);

        if (n > 0 && fds[0].revents)
            return 1;
        if (n > 0 && fds[1].revents) {
            drain (talk->wake);
            if (fd < 0)
                return 1;
        }
        if (left == 0)
            return 0;
    }
}

/* --- connecting --- */

static int connect_address (talk_t *talk, const struct addrinfo *address,
                            int64_t deadline)
{
    int failed = 0, on = 1;
    socklen_t size = sizeof (failed);
    int fd = socket (address->ai_family,
                     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect (fd, address->ai_addr, address->ai_addrlen) < 0) {
        if (errno != EINPROGRESS)
            failed = errno;
        else if (talk_wait (talk, fd, POLLOUT, deadline) == 0)
            failed = ETIMEDOUT;
        else if (getsockopt (fd, SOL_SOCKET, SO_ERROR, &failed, &size) < 0)
            failed = errno;
    }
    if (failed) {
        close (fd);
        errno = failed;
        return -1;
    }
    setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
    return fd;
}

/* Each address gets its share of the time: one that swallows packets must not
 * eat that of the next. */
static int connect_first (talk_t *talk, const struct addrinfo *addresses,
                          int64_t deadline)
{
    int left = 0, fd = -1;

    for (const struct addrinfo *a = addresses; a; a = a->ai_next)
        left++;
    for (const struct addrinfo *a = addresses; a && fd < 0;
         a = a->ai_next, left--) {
        int64_t now = talk_clock ();

        fd = connect_address (talk, a, now + (deadline - now) / left);
    }
    return fd;
}

static int dial (talk_t *talk, const char *text, int64_t deadline,
                 gl_error_t *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses;
    const char *host, *port;
    char parts[512];
    int rc;

    if (strlen (text) >= sizeof (parts))
        return fail (talk, SHIP_CAUSE_NAME,
                     gl_error (error, "the name of a collector is too long"));
    strcpy (parts, text);
    network_split_host (parts, &host, &port);
    if ((rc = getaddrinfo (host, port ? port : SHIP_DEFAULT_PORT, &hints,
                           &addresses))
        != 0)
        return fail (talk, SHIP_CAUSE_NAME,
                     gl_error (error, "%s: %s", text, gai_strerror (rc)));
    talk->fd = connect_first (talk, addresses, deadline);
    rc = errno;
    freeaddrinfo (addresses);
    if (talk->fd >= 0)
        return 0;
    return fail (talk,
                 rc == ETIMEDOUT ? SHIP_CAUSE_TIMEOUT : SHIP_CAUSE_CONNECT,
                 gl_error (error, "%s: %s", text, strerror (rc)));
}

/* --- frames --- */

static int make_room (talk_t *talk)
{
    size_t room = talk->room ? 2 * talk->room : IN_MIN;
    unsigned char *in;

    if (talk->have < talk->room)
        return 0;
    if (room > IN_MAX)
        room = IN_MAX;
    if (talk->have == room || !(in = realloc (talk->in, room)))
        return -1;
    talk->in = in;
    talk->room = room;
    return 0;
}

/* Take in what has arrived; waits for it. */
static int receive (talk_t *talk, int64_t deadline, gl_error_t *error)
{
    ssize_t n;

    if (make_room (talk) < 0)
        return fail (talk, SHIP_CAUSE_PROTOCOL,
                     gl_error (error, "an answer that does not end"));
    n = recv (talk->fd, talk->in + talk->have, talk->room - talk->have, 0);
    if (n > 0) {
        talk->have += n;
        return 0;
    }
    if (n == 0)
        return fail (talk, SHIP_CAUSE_CONNECT,
                     gl_error (error, "the connection was closed"));
    if (errno != EAGAIN && errno != EINTR)
        return fail (talk, SHIP_CAUSE_CONNECT,
                     gl_error (error, "%s", strerror (errno)));
    if (talk_wait (talk, talk->fd, POLLIN, deadline) == 0)
        return fail (talk, SHIP_CAUSE_TIMEOUT, gl_error (error, "no answer"));
    return 0;
}

static int refused (talk_t *talk, const frame_t *frame, gl_error_t *error)
{
    char why[SHOWN_MAX + 1];
    size_t length = frame->length < SHOWN_MAX ? frame->length : SHOWN_MAX;

    memcpy (why, frame->body, length);
    why[length] = '\0';
    talk_clean (why);
    return fail (talk, SHIP_CAUSE_REFUSED,
                 gl_error (error, "refused: %s", why));
}

/* A frame of this type at the beginning of talk->in; *ret_size is the size of
 * all of it. */
static int receive_frame (talk_t *talk, frame_type_t type, int64_t deadline,
                          frame_t *ret_frame, int *ret_size, gl_error_t *error)
{
    int size;

    do {
        size = talk->have ? frame_read (talk->in, talk->have, ret_frame, error)
                          : 0;
        if (size == 0 && receive (talk, deadline, error) < 0)
            return -1;
    } while (size == 0);
    if (size < 0)
        return fail (talk, SHIP_CAUSE_PROTOCOL, -1);
    if (ret_frame->type == FRAME_REFUSED)
        return refused (talk, ret_frame, error);
    if (ret_frame->type != type)
        return fail (talk, SHIP_CAUSE_PROTOCOL,
                     gl_error (error, "a frame of type %d, not %d",
                               ret_frame->type, type));
    *ret_size = size;
    return 0;
}

static void forget_frame (talk_t *talk, int size)
{
    talk->have -= size;
    memmove (talk->in, talk->in + size, talk->have);
}

static int greet (talk_t *talk, int64_t deadline, gl_error_t *error)
{
    frame_t frame;
    int size;

    if (receive_frame (talk, FRAME_HELLO, deadline, &frame, &size, error) < 0)
        return -1;
    if (frame.length < FRAME_NONCE_SIZE)
        return fail (talk, SHIP_CAUSE_PROTOCOL,
                     gl_error (error, "a greeting without a nonce"));
    memcpy (talk->hello, frame.body, FRAME_NONCE_SIZE);
    forget_frame (talk, size);
    return 0;
}

int talk_open (talk_t *talk, const char *host, gl_error_t *error)
{
    int64_t deadline = talk_clock () + talk->connect_ms;

    talk_close (talk);
    if (dial (talk, host, deadline, error) < 0)
        return -1;
    if (greet (talk, deadline, error) == 0)
        return 0;
    return gl_error_prefix (error, "%s", host);
}

/* --- one request --- */

static int send_all (talk_t *talk, const void *bytes, size_t size,
                     int64_t deadline, gl_error_t *error)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t n = send (talk->fd, at, size, MSG_NOSIGNAL);

        if (n >= 0) {
            at += n;
            size -= n;
        } else if (errno != EAGAIN && errno != EINTR)
            return fail (talk, SHIP_CAUSE_CONNECT,
                         gl_error (error, "%s", strerror (errno)));
        else if (talk_wait (talk, talk->fd, POLLOUT, deadline) == 0)
            return fail (talk, SHIP_CAUSE_TIMEOUT,
                         gl_error (error, "it accepts no more data"));
    }
    return 0;
}

static int send_request (talk_t *talk, const void *payload, size_t size,
                         int64_t deadline, gl_error_t *error)
{
    unsigned char header[FRAME_HEADER_SIZE];
    char *text = NULL;
    int rc;

    if (credential_make (talk->credential, payload, size, talk->collector,
                         &text, error)
        < 0)
        return fail (talk, SHIP_CAUSE_MUNGE, -1);
    if (strlen (text) > FRAME_BODY_MAX)
        rc = fail (talk, SHIP_CAUSE_MUNGE,
                   gl_error (error, "the munge credential is too large"));
    else {
        frame_header (header, FRAME_REQUEST, strlen (text));
        rc = send_all (talk, header, sizeof (header), deadline, error);
        if (rc == 0)
            rc = send_all (talk, text, strlen (text), deadline, error);
    }
    free (text);
    return rc;
}

static const ship_cause_t cause_of[] = {
    [CREDENTIAL_UNREACHABLE] = SHIP_CAUSE_MUNGE,
    [CREDENTIAL_REPLAYED] = SHIP_CAUSE_IMPOSTOR,
    [CREDENTIAL_EXPIRED] = SHIP_CAUSE_CLOCK,
    [CREDENTIAL_REFUSED] = SHIP_CAUSE_IMPOSTOR,
    [CREDENTIAL_INVALID] = SHIP_CAUSE_IMPOSTOR,
};

static int open_credential (talk_t *talk, const frame_t *frame,
                            opened_t *ret_opened, gl_error_t *error)
{
    char *text = strndup ((const char *)frame->body, frame->length);
    credential_status_t status;

    if (!text)
        return fail (talk, SHIP_CAUSE_MUNGE, gl_error (error, "out of memory"));
    status = credential_open (talk->credential, text, ret_opened, error);
    free (text);
    return status == CREDENTIAL_OK ? 0 : fail (talk, cause_of[status], -1);
}

static int take_body (talk_t *talk, const reply_t *reply, answer_t *ret_answer,
                      gl_error_t *error)
{
    char *body = malloc (reply->length + 1);

    if (!body)
        return fail (talk, SHIP_CAUSE_MUNGE, gl_error (error, "out of memory"));
    if (reply->length)
        memcpy (body, reply->body, reply->length);
    body[reply->length] = '\0';
    *ret_answer = (answer_t){reply->status, body, reply->length};
    return 0;
}

/* Who said it, and to what. */
static int judge (talk_t *talk, const opened_t *opened,
                  const unsigned char nonce[FRAME_NONCE_SIZE],
                  answer_t *ret_answer, gl_error_t *error)
{
    reply_t reply;

    if (opened->uid != talk->collector)
        return fail (
            talk, SHIP_CAUSE_IMPOSTOR,
            gl_error (error, "user %u answers, not the collector's user %u",
                      (unsigned)opened->uid, (unsigned)talk->collector));
    if (reply_read (opened->payload, opened->length, &reply, error) < 0)
        return fail (talk, SHIP_CAUSE_PROTOCOL, -1);
    if (memcmp (reply.nonce, nonce, FRAME_NONCE_SIZE) != 0)
        return fail (talk, SHIP_CAUSE_IMPOSTOR,
                     gl_error (error, "an answer to another request"));
    return take_body (talk, &reply, ret_answer, error);
}

static int receive_answer (talk_t *talk,
                           const unsigned char nonce[FRAME_NONCE_SIZE],
                           int64_t deadline, answer_t *ret_answer,
                           gl_error_t *error)
{
    opened_t opened = {0};
    frame_t frame;
    int size, rc;

    if (receive_frame (talk, FRAME_REPLY, deadline, &frame, &size, error) < 0
        || open_credential (talk, &frame, &opened, error) < 0)
        return -1;
    rc = judge (talk, &opened, nonce, ret_answer, error);
    free (opened.payload);
    if (rc == 0)
        forget_frame (talk, size);
    return rc;
}

int talk_ask (talk_t *talk, verb_code_t verb, unsigned char *payload,
              size_t size, answer_t *ret_answer, gl_error_t *error)
{
    int64_t deadline = talk_clock () + talk->reply_ms;
    request_t request = {.verb = verb};

    memcpy (request.hello, talk->hello, FRAME_NONCE_SIZE);
    if (getrandom (request.nonce, FRAME_NONCE_SIZE, 0) != FRAME_NONCE_SIZE)
        return fail (talk, SHIP_CAUSE_MUNGE,
                     gl_error (error, "no random numbers"));
    request_header (payload, &request);
    if (send_request (talk, payload, size, deadline, error) < 0)
        return -1;
    return receive_answer (talk, request.nonce, deadline, ret_answer, error);
}
