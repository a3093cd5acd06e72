#include <arpa/inet.h>
#include <errno.h>
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "client.h"

void die (const char *what)
{
    fprintf (stderr, "client: %s: %s\n", what, strerror (errno));
    exit (1);
}

void pause_ms (long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep (&t, NULL);
}

struct sockaddr_in loopback (const char *address, int port)
{
    struct sockaddr_in a
        = {.sin_family = AF_INET, .sin_port = htons ((uint16_t)port)};

    inet_pton (AF_INET, address ? address : "127.0.0.1", &a.sin_addr);
    return a;
}

int try_to_connect (int port)
{
    const struct timeval patience = {60, 0};
    struct sockaddr_in there = loopback (NULL, port),
                       here = loopback (client.from, 0);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof (patience));
    setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof (patience));
    if (client.from && bind (fd, (struct sockaddr *)&here, sizeof (here)) < 0)
        die ("bind");
    if (connect (fd, (struct sockaddr *)&there, sizeof (there)) == 0)
        return fd;
    close (fd);
    return -1;
}

int connect_to (int port)
{
    int fd = try_to_connect (port);

    if (fd < 0)
        die ("connect");
    return fd;
}

int send_all (int fd, const void *bytes, size_t size)
{
    const char *p = bytes;

    while (size) {
        ssize_t sent = send (fd, p, size, MSG_NOSIGNAL);

        if (sent < 0)
            return -1;
        p += sent;
        size -= (size_t)sent;
    }
    return 0;
}

/* What is missing of the frame that begins in `bytes`: its header first. */
static size_t missing (const buffer_t *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes->data;

    if (bytes->length < FRAME_HEADER_SIZE)
        return FRAME_HEADER_SIZE - bytes->length;
    return FRAME_HEADER_SIZE + b[8] + ((size_t)b[9] << 8)
           + ((size_t)b[10] << 16) - bytes->length;
}

int receive (int fd, buffer_t *bytes, frame_t *frame)
{
    gl_error_t error = {""};
    int rc;

    buffer_clear (bytes);
    while ((rc = frame_read ((const unsigned char *)buffer_text (bytes),
                             bytes->length, frame, &error))
           == 0) {
        size_t size = missing (bytes);
        ssize_t got = recv (fd, buffer_reserve (bytes, size), size, 0);

        if (got <= 0)
            return 0;
        bytes->length += (size_t)got;
    }
    if (rc < 0)
        die (error.text);
    return 1;
}

int greeted (int fd, unsigned char hello[FRAME_NONCE_SIZE])
{
    BUFFER_AUTO bytes = BUFFER_INIT;
    frame_t frame;

    if (!receive (fd, &bytes, &frame)) {
        puts ("closed");
        return 0;
    }
    if (frame.type == FRAME_HELLO) {
        memcpy (hello, frame.body, FRAME_NONCE_SIZE);
        return 1;
    }
    printf ("refused: %.*s\n", (int)frame.length, (const char *)frame.body);
    return 0;
}

static char *make_in_clear (const void *payload, size_t length)
{
    munge_ctx_t context = munge_ctx_create ();
    char *text = NULL;

    if (client.munge_socket)
        munge_ctx_set (context, MUNGE_OPT_SOCKET, client.munge_socket);
    munge_ctx_set (context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_NONE);
    if (munge_encode (&text, context, payload, (int)length) != EMUNGE_SUCCESS)
        die (munge_ctx_strerror (context));
    munge_ctx_destroy (context);
    return text;
}

char *make (const void *payload, size_t length, uid_t for_whom)
{
    gl_error_t error = {""};
    char *text;

    if (client.in_clear)
        return make_in_clear (payload, length);
    if (credential_make (client.credential, payload, length, for_whom, &text,
                         &error)
        < 0)
        die (error.text);
    return text;
}

void new_nonce (unsigned char nonce[FRAME_NONCE_SIZE])
{
    if (getrandom (nonce, FRAME_NONCE_SIZE, 0) != FRAME_NONCE_SIZE)
        die ("getrandom");
}

void make_request (const unsigned char hello[FRAME_NONCE_SIZE], uint16_t verb,
                   const void *body, size_t length, buffer_t *out,
                   unsigned char nonce[FRAME_NONCE_SIZE])
{
    BUFFER_AUTO payload = BUFFER_INIT;
    unsigned char header[REQUEST_HEADER_SIZE], head[FRAME_HEADER_SIZE];
    request_t request = {.verb = verb};
    char *text;

    new_nonce (nonce);
    memcpy (request.hello, hello, FRAME_NONCE_SIZE);
    memcpy (request.nonce, nonce, FRAME_NONCE_SIZE);
    request_header (header, &request);
    buffer_add (&payload, header, sizeof (header));
    buffer_add (&payload, body, length);
    text = make (payload.data, payload.length, client.reader);
    frame_header (head, FRAME_REQUEST, strlen (text));
    buffer_add (out, head, sizeof (head));
    buffer_add_text (out, text);
    free (text);
}

int print_answer (int fd, const unsigned char nonce[FRAME_NONCE_SIZE])
{
    static const char *const words[] = {"ok", "failed", "later", "part"};
    BUFFER_AUTO bytes = BUFFER_INIT;
    frame_t frame;
    gl_error_t error = {""};
    opened_t opened;
    reply_t reply;

    do {
        if (!receive (fd, &bytes, &frame))
            return puts ("closed"), 1;
        if (frame.type == FRAME_REFUSED)
            return printf ("refused: %.*s\n", (int)frame.length,
                           (const char *)frame.body),
                   1;
        {
            GL_AUTOFREE char *text
                = xstrndup ((const char *)frame.body, frame.length);

            if (credential_open (client.credential, text, &opened, &error)
                != CREDENTIAL_OK)
                return printf ("unreadable: %s\n", error.text), 1;
        }
        if (reply_read (opened.payload, opened.length, &reply, &error) < 0
            || memcmp (reply.nonce, nonce, FRAME_NONCE_SIZE) != 0
            || reply.status > REPLY_PART)
            return puts ("wrong reply"), 1;
        if (reply.status != REPLY_PART && reply.status != REPLY_OK)
            printf ("%s: ", words[reply.status]);
        fwrite (reply.body, 1, reply.length, stdout);
        if (reply.status == REPLY_OK && reply.length == 0)
            fputs ("ok", stdout);
        free (opened.payload);
    } while (reply.status == REPLY_PART);
    putchar ('\n');
    return reply.status != REPLY_OK;
}

int64_t clock_ns (void)
{
    struct timespec t;

    clock_gettime (CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
