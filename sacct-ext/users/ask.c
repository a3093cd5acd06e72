#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/network.h"
#include "users/ask.h"
#include "wire/credential.h"

/* Of a foreign text that is shown. */
#define SHOWN_MAX 500
/* Before the messages of the command that the collector runs. */
#define PROGRAM "gpuledger: "

struct ask {
    const site_t *site;
    const char *host; /* as configured: for messages */
    uid_t collector;
    credential_t *credential;
    int fd;
    buffer_t in;
    unsigned char hello[FRAME_NONCE_SIZE];
    unsigned char nonce[FRAME_NONCE_SIZE];
    int64_t skew; /* of this host against the last answer */
};

int ask_possible (const site_t *site)
{
    return site->collector.hosts.count > 0;
}

/* --- connecting -------------------------------------------------------- */

static int64_t clock_seconds (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void set_timeout (int fd, int option, time_t seconds)
{
    struct timeval limit = {.tv_sec = seconds > 0 ? seconds : 1};

    setsockopt (fd, SOL_SOCKET, option, &limit, sizeof (limit));
}

/* SO_SNDTIMEO bounds connect() as well. */
static int connect_to (const struct addrinfo *address)
{
    int fd = socket (address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    set_timeout (fd, SO_SNDTIMEO, ASK_CONNECT_SECONDS);
    if (connect (fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS)
        errno = ETIMEDOUT;
    close (fd);
    return -1;
}

static int dial (const char *text, gl_error_t *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    GL_AUTOFREE char *parts = xstrdup (text);
    struct addrinfo *addresses;
    const char *host, *port;
    int fd = -1, rc;

    network_split_host (parts, &host, &port);
    if ((rc = getaddrinfo (host, port ? port : ASK_PORT, &hints, &addresses))
        != 0)
        return gl_error (error, "%s: %s", text, gai_strerror (rc));
    for (const struct addrinfo *a = addresses; a && fd < 0; a = a->ai_next) {
        if ((fd = connect_to (a)) < 0)
            gl_error (error, "%s: %s", text, strerror (errno));
    }
    freeaddrinfo (addresses);
    return fd;
}

/* --- frames ------------------------------------------------------------ */

static int receive (struct ask *ask, int64_t deadline, gl_error_t *error)
{
    char *room = buffer_reserve (&ask->in, 16384);
    int64_t left = deadline - clock_seconds ();
    ssize_t n;

    if (left <= 0)
        return gl_error (error, "%s: no answer", ask->host);
    set_timeout (ask->fd, SO_RCVTIMEO, left);
    n = recv (ask->fd, room, 16384, 0);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return gl_error (error, "%s: %s", ask->host,
                         errno == EAGAIN ? "no answer" : strerror (errno));
    if (n == 0)
        return gl_error (error, "%s: the connection was closed", ask->host);
    ask->in.length += (size_t)n;
    return 0;
}

/* Bytes of somebody on that port: none reaches a terminal as it is. */
static char *clean (const void *bytes, size_t length)
{
    char *text = xstrndup (bytes, length < SHOWN_MAX ? length : SHOWN_MAX);

    for (char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    }
    return text;
}

static int refused (const struct ask *ask, const frame_t *frame,
                    gl_error_t *error)
{
    GL_AUTOFREE char *why = clean (frame->body, frame->length);

    return gl_error (error, "%s refused: %s", ask->host, why);
}

/* The next frame, of this type; its size in *ret_size, to forget it. */
static int next_frame (struct ask *ask, frame_type_t type, int64_t deadline,
                       frame_t *ret_frame, size_t *ret_size, gl_error_t *error)
{
    int size = 0;

    while (size == 0) {
        if (ask->in.length > 0)
            size = frame_read ((unsigned char *)ask->in.data, ask->in.length,
                               ret_frame, error);
        if (size < 0)
            return gl_error_prefix (error, "%s", ask->host);
        if (size == 0 && receive (ask, deadline, error) < 0)
            return -1;
    }
    if (ret_frame->type == FRAME_REFUSED)
        return refused (ask, ret_frame, error);
    if (ret_frame->type != type)
        return gl_error (error, "%s is not a gpuledger-collector", ask->host);
    *ret_size = (size_t)size;
    return 0;
}

static void forget_frame (struct ask *ask, size_t size)
{
    ask->in.length -= size;
    memmove (ask->in.data, ask->in.data + size, ask->in.length);
}

static int greet (struct ask *ask, gl_error_t *error)
{
    frame_t frame;
    size_t size;

    if (next_frame (ask, FRAME_HELLO, clock_seconds () + ASK_CONNECT_SECONDS,
                    &frame, &size, error)
        < 0)
        return -1;
    if (frame.length < FRAME_NONCE_SIZE)
        return gl_error (error, "%s greets without a nonce", ask->host);
    memcpy (ask->hello, frame.body, FRAME_NONCE_SIZE);
    forget_frame (ask, size);
    return 0;
}

static void hang_up (struct ask *ask)
{
    if (ask->fd >= 0)
        close (ask->fd);
    ask->fd = -1;
    buffer_clear (&ask->in);
}

/* The first collector that greets. With several, the last one's reason. */
static int connect_first (struct ask *ask, gl_error_t *error)
{
    const text_list_t *hosts = &ask->site->collector.hosts;

    for (size_t i = 0; i < hosts->count; i++) {
        ask->host = hosts->item[i];
        if ((ask->fd = dial (ask->host, error)) >= 0 && greet (ask, error) == 0)
            return 0;
        hang_up (ask);
    }
    return gl_error_prefix (error, "no collector answers");
}

/* --- the request ------------------------------------------------------- */

static int send_all (struct ask *ask, const void *bytes, size_t length,
                     gl_error_t *error)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t n = send (ask->fd, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gl_error (error, "%s: %s", ask->host, strerror (errno));
        at += n;
        length -= (size_t)n;
    }
    return 0;
}

static int make_payload (struct ask *ask, verb_code_t verb,
                         const char *const *texts, size_t count,
                         buffer_t *payload, gl_error_t *error)
{
    size_t length = texts_size (texts, count);
    request_t request = {.verb = (uint16_t)verb, .length = length};
    char *room = buffer_reserve (payload, REQUEST_HEADER_SIZE + length);

    if (getrandom (ask->nonce, sizeof (ask->nonce), 0)
        != (ssize_t)sizeof (ask->nonce))
        return gl_error (error, "no random numbers: %s", strerror (errno));
    memcpy (request.hello, ask->hello, sizeof (request.hello));
    memcpy (request.nonce, ask->nonce, sizeof (request.nonce));
    request_header ((unsigned char *)room, &request);
    texts_write ((unsigned char *)room + REQUEST_HEADER_SIZE, texts, count);
    payload->length = REQUEST_HEADER_SIZE + length;
    return 0;
}

static int send_request (struct ask *ask, verb_code_t verb,
                         const char *const *texts, size_t count,
                         gl_error_t *error)
{
    unsigned char header[FRAME_HEADER_SIZE];
    BUFFER_AUTO payload = BUFFER_INIT;
    GL_AUTOFREE char *text = NULL;

    if (make_payload (ask, verb, texts, count, &payload, error) < 0
        || credential_make (ask->credential, payload.data, payload.length,
                            ask->collector, &text, error)
               < 0)
        return -1;
    frame_header (header, FRAME_REQUEST, strlen (text));
    return send_all (ask, header, sizeof (header), error) < 0
                   || send_all (ask, text, strlen (text), error) < 0
               ? -1
               : 0;
}

/* --- the answer -------------------------------------------------------- */

/* Only what the collector's user said, to this question. */
static int check_answer (const struct ask *ask, const opened_t *opened,
                         const reply_t *reply, gl_error_t *error)
{
    if (opened->uid != ask->collector)
        return gl_error (error,
                         "%s answers as user %u, not as the collector's (%u): "
                         "it is another program, or collector.user is wrong",
                         ask->host, (unsigned)opened->uid,
                         (unsigned)ask->collector);
    if (memcmp (reply->nonce, ask->nonce, sizeof (ask->nonce)) != 0)
        return gl_error (error, "%s answers another question", ask->host);
    return 0;
}

static int take_reply (const reply_t *reply, buffer_t *out, gl_error_t *error)
{
    GL_AUTOFREE char *why = NULL;

    if (reply->status == REPLY_OK || reply->status == REPLY_PART) {
        if (out->length + reply->length > ASK_ANSWER_MAX)
            return gl_error (error, "the answer is larger than %d MiB",
                             ASK_ANSWER_MAX >> 20);
        buffer_add (out, reply->body, reply->length);
        return reply->status == REPLY_PART;
    }
    why = clean (reply->body, reply->length);
    if (strncmp (why, PROGRAM, strlen (PROGRAM)) == 0)
        memmove (why, why + strlen (PROGRAM),
                 strlen (why + strlen (PROGRAM)) + 1);
    if (reply->status == REPLY_LATER)
        return gl_error (error, "not now, try again later%s%s",
                         why[0] ? ": " : "", why);
    return gl_error (error, "%s", why[0] ? why : "the collector refused");
}

/* 1: more follows; 0: that was all. */
static int take_credential (struct ask *ask, const frame_t *frame,
                            buffer_t *out, gl_error_t *error)
{
    GL_AUTOFREE char *text
        = xstrndup ((const char *)frame->body, frame->length);
    opened_t opened;
    reply_t reply;
    int rc;

    if (credential_open (ask->credential, text, &opened, error)
        != CREDENTIAL_OK)
        return gl_error_prefix (error, "the answer of %s", ask->host);
    ask->skew = (int64_t)opened.opened - (int64_t)opened.made;
    rc = reply_read (opened.payload, opened.length, &reply, error);
    if (rc == 0)
        rc = check_answer (ask, &opened, &reply, error);
    if (rc == 0)
        rc = take_reply (&reply, out, error);
    free (opened.payload);
    return rc;
}

static int read_answer (struct ask *ask, buffer_t *out, gl_error_t *error)
{
    int more = 1;

    while (more > 0) {
        frame_t frame;
        size_t size;
        if (next_frame (ask, FRAME_REPLY, clock_seconds () + ASK_ANSWER_SECONDS,
                        &frame, &size, error)
            < 0)
            return -1;
        more = take_credential (ask, &frame, out, error);
        forget_frame (ask, size);
    }
    return more;
}

/* --- all of it --------------------------------------------------------- */

static int find_collector (struct ask *ask, gl_error_t *error)
{
    const char *name = ask->site->collector.user;
    const struct passwd *entry = name ? getpwnam (name) : NULL;

    if (!ask_possible (ask->site))
        return gl_error (error, "the configuration names no collector: set "
                                "collector.hosts");
    if (name && !entry)
        return gl_error (error,
                         "there is no user '%s' on this host "
                         "(collector.user)",
                         name);
    ask->collector = entry ? entry->pw_uid : 0;
    ask->credential = credential_new (ask->site->collector.munge_socket, error);
    return ask->credential ? 0 : -1;
}

static int ask_one (struct ask *ask, verb_code_t verb, const char *const *texts,
                    size_t count, buffer_t *out, gl_error_t *error)
{
    int rc = find_collector (ask, error);

    if (rc == 0)
        rc = connect_first (ask, error);
    if (rc == 0)
        rc = send_request (ask, verb, texts, count, error);
    if (rc == 0)
        rc = read_answer (ask, out, error);
    hang_up (ask);
    buffer_done (&ask->in);
    credential_free (ask->credential);
    return rc;
}

int ask_collector (const site_t *site, verb_code_t verb,
                   const char *const *texts, size_t count, buffer_t *out,
                   gl_error_t *error)
{
    struct ask ask = {.site = site, .fd = -1, .in = BUFFER_INIT};

    return ask_one (&ask, verb, texts, count, out, error);
}

int ask_status (const site_t *site, buffer_t *out, int64_t *ret_skew,
                const char **ret_host, gl_error_t *error)
{
    struct ask ask = {.site = site, .fd = -1, .in = BUFFER_INIT};
    int rc = ask_one (&ask, VERB_STATUS, NULL, 0, out, error);

    if (rc == 0) {
        *ret_skew = ask.skew;
        *ret_host = ask.host;
    }
    return rc;
}
