/* Not the collector: whatever may listen where it should. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "client.h"

static void send_frame (int fd, frame_type_t type, const void *body,
                        size_t length)
{
    unsigned char header[FRAME_HEADER_SIZE];

    frame_header (header, type, length);
    send_all (fd, header, sizeof (header));
    send_all (fd, body, length);
}

/* It can be read by the sender alone, so it is not known what it answers. */
static void send_lie (int fd)
{
    unsigned char header[REPLY_HEADER_SIZE];
    reply_t reply = {.status = REPLY_OK};
    char *text;

    new_nonce (reply.nonce);
    reply_header (header, &reply);
    text = make (header, sizeof (header), CREDENTIAL_ANYBODY);
    send_frame (fd, FRAME_REPLY, text, strlen (text));
    free (text);
}

/* Opens the request, where it may, and answers as the collector would: only
 * the user is another one. */
static void send_answer (int fd, const frame_t *frame)
{
    GL_AUTOFREE char *text
        = xstrndup ((const char *)frame->body, frame->length);
    unsigned char header[REPLY_HEADER_SIZE];
    reply_t reply = {.status = REPLY_OK};
    request_t request;
    opened_t opened;
    char *answer;

    if (credential_open (client.credential, text, &opened, NULL)
            != CREDENTIAL_OK
        || request_read (opened.payload, opened.length, &request, NULL) < 0) {
        send_lie (fd);
        return;
    }
    memcpy (reply.nonce, request.nonce, sizeof (reply.nonce));
    reply_header (header, &reply);
    answer = make (header, sizeof (header), CREDENTIAL_ANYBODY);
    send_frame (fd, FRAME_REPLY, answer, strlen (answer));
    free (answer);
    free (opened.payload);
}

static void talk (int fd, const char *mode)
{
    unsigned char hello[FRAME_NONCE_SIZE] = {0};
    BUFFER_AUTO bytes = BUFFER_INIT;
    frame_t frame;

    if (!strcmp (mode, "garbage"))
        send_all (fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    else if (!strcmp (mode, "refuse"))
        send_frame (fd, FRAME_REFUSED, "no", 2);
    else
        send_frame (fd, FRAME_HELLO, hello, sizeof (hello));
    while (receive (fd, &bytes, &frame)) {
        if (!strcmp (mode, "echo"))
            send_frame (fd, FRAME_REPLY, frame.body, frame.length);
        else if (!strcmp (mode, "nonce"))
            send_lie (fd);
        else if (!strcmp (mode, "lie"))
            send_answer (fd, &frame);
    }
}

void listen_as (int port, const char *mode)
{
    struct sockaddr_in here = loopback (client.from, port);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof (one));
    if (bind (fd, (struct sockaddr *)&here, sizeof (here)) < 0
        || listen (fd, 64) < 0)
        die ("listen");
    puts ("listening");
    fflush (stdout);
    for (;;) {
        int caller = accept (fd, NULL, NULL);

        if (caller < 0)
            die ("accept");
        talk (caller, mode);
        close (caller);
    }
}
