/*
 * client: whatever may knock at the collector's door.
 *
 *     client [OPTION]... PORT COMMAND [ARGUMENT]...
 *
 * Options: --munge SOCKET (of the munged that makes its credentials), --bind
 * ADDRESS (of 127.0.0.0/8, where it comes from), --reader UID (who may open its
 * credentials), --clear (credentials that are not encrypted).
 *
 * Commands, each prints one line, or the answer:
 *     status              what the collector counts
 *     often COUNT         COUNT times the status: all requests are made first,
 *                         then asked one after the other
 *     verb NUMBER TEXT... any verb with texts
 *     deaf NUMBER TEXT... the same, but nobody reads the answer until standard
 *                         input ends
 *     batch CLUSTER NODE COUNT [FIRST [NODE-OF-RECORDS [CLUSTER-OF-RECORDS]]]
 *     twice               one credential two times, here and on a connection of
 *                         its own
 *     stale               a credential that was made for another connection
 *     elsewhere PORT      the same, to another collector
 *     raw                 standard input as it is
 *     length NUMBER       a header that promises so many bytes
 *     torn                half a frame
 *     slow                a frame, a byte each 50 ms
 *     hold COUNT BYTES    COUNT connections that send BYTES of a long frame and
 *                         no more, until standard input ends; BYTES -1: that
 *                         ask how the collector is and then stay
 *     load NODES RECORDS PROCESSES [DAY]   a day of each node n00001, n00002,
 * ... and a listener that is not the collector, until it is killed: listen MODE
 * silent, garbage, refuse, lie (a reply of this user), echo (the request's own
 * credential), nonce (a reply to another request)
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "client.h"
#include "record/record.h"

struct client client = {.reader = CREDENTIAL_ANYBODY};

static int ask (int port, uint16_t verb, const void *body, size_t length)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = connect_to (port), rc;

    if (!greeted (fd, hello))
        return 1;
    make_request (hello, verb, body, length, &frame, nonce);
    send_all (fd, frame.data, frame.length);
    rc = print_answer (fd, nonce);
    close (fd);
    return rc;
}

static void ask_deaf (int port, uint16_t verb, const void *body, size_t length)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = connect_to (port), small = 4096;

    setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof (small));
    if (greeted (fd, hello)) {
        make_request (hello, verb, body, length, &frame, nonce);
        send_all (fd, frame.data, frame.length);
        while (getchar () != EOF)
            ;
    }
    close (fd);
}

static int ask_texts (int port, uint16_t verb, char **texts, int count,
                      int is_deaf)
{
    const char *const *list = (const char *const *)texts;
    size_t size = texts_size (list, (size_t)count);
    GL_AUTOFREE unsigned char *body = xmalloc (size + 1);

    texts_write (body, list, (size_t)count);
    if (!is_deaf)
        return ask (port, verb, body, size);
    ask_deaf (port, verb, body, size);
    return 0;
}

/* Making a request takes longer than asking it. */
static int ask_often (int port, int count)
{
    unsigned char hello[FRAME_NONCE_SIZE];
    unsigned char (*nonces)[FRAME_NONCE_SIZE]
        = xcalloc ((size_t)count, sizeof (*nonces));
    buffer_t *frames = xcalloc ((size_t)count, sizeof (*frames));
    int fd = connect_to (port), rc = !greeted (fd, hello);

    for (int i = 0; rc == 0 && i < count; i++)
        make_request (hello, VERB_STATUS, "", 0, &frames[i], nonces[i]);
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = send_all (fd, frames[i].data, frames[i].length) < 0;
        rc = rc ? rc : print_answer (fd, nonces[i]);
    }
    for (int i = 0; i < count; i++)
        buffer_done (&frames[i]);
    close (fd);
    free (frames);
    free (nonces);
    return rc;
}

/* Job starts that are the same for the same number: key, job and stamp. */
static void add_records (buffer_t *out, const char *cluster, const char *node,
                         int first, int count)
{
    for (int i = first; i < first + count; i++) {
        unsigned char bytes[RECORD_MAX];
        record_t r = {.version = RECORD_VERSION, .kind = RECORD_JOB_START};

        memcpy (r.key, node, strnlen (node, 8));
        memcpy (r.key + 8, &i, sizeof (i));
        r.stamp = (INT64_C (1790000000) + i) * 1000000000;
        record_set_text (&r, RECORD_FIELD_cluster, cluster);
        record_set_text (&r, RECORD_FIELD_node, node);
        record_set_number (&r, RECORD_FIELD_job_id, i + 1);
        record_set_text (&r, RECORD_FIELD_project, "alpha");
        buffer_add (out, bytes, record_encode (&r, bytes));
    }
}

static const char *argument (char **argv, int at, const char *otherwise)
{
    for (int i = 0; i < at; i++)
        if (!argv[i])
            return otherwise;
    return argv[at] ? argv[at] : otherwise;
}

static int send_batch (int port, char **argv)
{
    const char *cluster = argument (argv, 0, ""),
               *node = argument (argv, 1, "");
    unsigned char header[BATCH_HEADER_MAX];
    BUFFER_AUTO body = BUFFER_INIT;
    const char *skew = getenv ("CLIENT_SKEW_MS");
    batch_t batch
        = {.sent_ns = clock_ns () + (skew ? atoll (skew) * 1000000 : 0)};

    snprintf (batch.cluster, sizeof (batch.cluster), "%s", cluster);
    snprintf (batch.node, sizeof (batch.node), "%s", node);
    buffer_add (&body, header, batch_header (header, &batch));
    add_records (&body, argument (argv, 5, cluster), argument (argv, 4, node),
                 atoi (argument (argv, 3, "0")),
                 atoi (argument (argv, 2, "1")));
    return ask (port, VERB_BATCH, body.data, body.length);
}

static int ask_twice (int port)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = connect_to (port);

    if (!greeted (fd, hello))
        return 1;
    make_request (hello, VERB_STATUS, "", 0, &frame, nonce);
    send_all (fd, frame.data, frame.length);
    print_answer (fd, nonce);
    send_all (fd, frame.data, frame.length);
    print_answer (fd, nonce);
    close (fd);
    fd = connect_to (port);
    if (!greeted (fd, hello))
        return 1;
    send_all (fd, frame.data, frame.length);
    print_answer (fd, nonce);
    close (fd);
    return 0;
}

/* A credential for the nonce of one connection, on another. */
static int ask_stale (int port, int other)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = connect_to (port), there = connect_to (other);

    if (!greeted (fd, hello))
        return 1;
    make_request (hello, VERB_STATUS, "", 0, &frame, nonce);
    if (!greeted (there, hello))
        return 1;
    send_all (there, frame.data, frame.length);
    print_answer (there, nonce);
    close (there);
    close (fd);
    return 0;
}

static int send_raw (int port, const void *bytes, size_t size, int end)
{
    unsigned char hello[FRAME_NONCE_SIZE];
    int fd = connect_to (port), rc;

    if (!greeted (fd, hello))
        return 1;
    send_all (fd, bytes, size);
    if (end)
        shutdown (fd, SHUT_WR);
    rc = print_answer (fd, hello);
    close (fd);
    return rc;
}

static int send_input (int port)
{
    BUFFER_AUTO bytes = BUFFER_INIT;
    char part[65536];
    size_t size;

    while ((size = fread (part, 1, sizeof (part), stdin)) > 0)
        buffer_add (&bytes, part, size);
    return send_raw (port, bytes.data, bytes.length, 0);
}

static int send_length (int port, const char *number, int end)
{
    unsigned char header[FRAME_HEADER_SIZE];

    frame_header (header, FRAME_REQUEST, strtoul (number, NULL, 0));
    return send_raw (port, header, sizeof (header), end);
}

static int send_slowly (int port)
{
    unsigned char hello[FRAME_NONCE_SIZE], header[FRAME_HEADER_SIZE];
    int fd = connect_to (port), rc;

    if (!greeted (fd, hello))
        return 1;
    frame_header (header, FRAME_REQUEST, 100000);
    send_all (fd, header, sizeof (header));
    while (recv (fd, hello, 1, MSG_PEEK | MSG_DONTWAIT) < 0
           && (errno == EAGAIN || errno == EWOULDBLOCK)
           && send_all (fd, "x", 1) == 0)
        pause_ms (50);
    rc = print_answer (fd, hello);
    close (fd);
    return rc;
}

static void ask_status_and_stay (int fd)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT, answer = BUFFER_INIT;
    frame_t reply;

    if (!greeted (fd, hello))
        return;
    make_request (hello, VERB_STATUS, "", 0, &frame, nonce);
    send_all (fd, frame.data, frame.length);
    receive (fd, &answer, &reply);
}

static int hold (int port, int count, int bytes)
{
    unsigned char header[FRAME_HEADER_SIZE];
    char *body = xcalloc (1, bytes > 0 ? (size_t)bytes : 1);
    int *fds = xcalloc ((size_t)count, sizeof (*fds)), full = 0;

    frame_header (header, FRAME_REQUEST, FRAME_BODY_MAX);
    for (int i = 0; i < count; i++) {
        const struct timeval patience = {1, 0};

        fds[i] = connect_to (port);
        setsockopt (fds[i], SOL_SOCKET, SO_SNDTIMEO, &patience,
                    sizeof (patience));
        if (bytes < 0)
            ask_status_and_stay (fds[i]);
        if (bytes > 0) {
            send_all (fds[i], header, sizeof (header));
            /* one that takes no more is not waited for twice */
            if (full)
                send (fds[i], body, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
            else
                full = send_all (fds[i], body, (size_t)bytes) < 0;
        }
    }
    printf ("holding\n");
    fflush (stdout);
    while (getchar () != EOF)
        ;
    for (int i = 0; i < count; i++)
        close (fds[i]);
    free (fds);
    free (body);
    return 0;
}

static int run (int port, char **argv)
{
    const char *command = argv[0];

    if (!strcmp (command, "status"))
        return ask (port, VERB_STATUS, "", 0);
    if (!strcmp (command, "often") && argv[1])
        return ask_often (port, atoi (argv[1]));
    if ((!strcmp (command, "verb") || !strcmp (command, "deaf")) && argv[1]) {
        int count = 0;

        while (argv[2 + count])
            count++;
        return ask_texts (port, (uint16_t)atoi (argv[1]), argv + 2, count,
                          command[0] == 'd');
    }
    if (!strcmp (command, "batch"))
        return send_batch (port, argv + 1);
    if (!strcmp (command, "twice"))
        return ask_twice (port);
    if (!strcmp (command, "stale"))
        return ask_stale (port, port);
    if (!strcmp (command, "elsewhere") && argv[1])
        return ask_stale (port, atoi (argv[1]));
    if (!strcmp (command, "raw"))
        return send_input (port);
    if (!strcmp (command, "length") && argv[1])
        return send_length (port, argv[1], 0);
    if (!strcmp (command, "torn"))
        return send_length (port, "100", 1);
    if (!strcmp (command, "slow"))
        return send_slowly (port);
    if (!strcmp (command, "hold") && argv[1] && argv[2])
        return hold (port, atoi (argv[1]), atoi (argv[2]));
    if (!strcmp (command, "load") && argv[1] && argv[2] && argv[3])
        return load (port, atoi (argv[1]), atoi (argv[2]), atoi (argv[3]),
                     atoll (argument (argv, 4, "0")));
    if (!strcmp (command, "listen") && argv[1])
        listen_as (port, argv[1]);
    fprintf (stderr, "client: what is '%s'?\n", command);
    return 2;
}

int main (int argc, char **argv)
{
    static const struct option options[] = {
        {"munge", required_argument, NULL, 'm'},
        {"bind", required_argument, NULL, 'b'},
        {"reader", required_argument, NULL, 'r'},
        {"clear", no_argument, &client.in_clear, 1},
        {NULL, 0, NULL, 0},
    };
    gl_error_t error = {""};
    int option, rc;

    while ((option = getopt_long (argc, argv, "+m:b:r:", options, NULL))
           != -1) {
        if (option == 'm')
            client.munge_socket = optarg;
        else if (option == 'b')
            client.from = optarg;
        else if (option == 'r')
            client.reader = (uid_t)strtoul (optarg, NULL, 10);
        else if (option == '?')
            return 2;
    }
    if (argc - optind < 2)
        return 2;
    client.credential = credential_new (client.munge_socket, &error);
    if (!client.credential)
        die (error.text);
    rc = run (atoi (argv[optind]), argv + optind + 1);
    credential_free (client.credential);
    return rc;
}
