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
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "record/record.h"
#include "wire/credential.h"
#include "wire/frame.h"

static const char *munge_socket, *from;
static uid_t reader = CREDENTIAL_ANYBODY;
static int in_clear;
static credential_t *credential;

__attribute__ ((noreturn)) static void die (const char *what)
{
    fprintf (stderr, "client: %s: %s\n", what, strerror (errno));
    exit (1);
}

static void pause_ms (long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep (&t, NULL);
}

static struct sockaddr_in loopback (const char *address, int port)
{
    struct sockaddr_in a
        = {.sin_family = AF_INET, .sin_port = htons ((uint16_t)port)};

    inet_pton (AF_INET, address ? address : "127.0.0.1", &a.sin_addr);
    return a;
}

/* -1: nobody listens. */
static int try_to_connect (int port)
{
    const struct timeval patience = {60, 0};
    struct sockaddr_in there = loopback (NULL, port), here = loopback (from, 0);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof (patience));
    setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof (patience));
    if (from && bind (fd, (struct sockaddr *)&here, sizeof (here)) < 0)
        die ("bind");
    if (connect (fd, (struct sockaddr *)&there, sizeof (there)) == 0)
        return fd;
    close (fd);
    return -1;
}

static int connect_to (int port)
{
    int fd = try_to_connect (port);

    if (fd < 0)
        die ("connect");
    return fd;
}

/* A broken pipe is an answer, too. */
static int send_all (int fd, const void *bytes, size_t size)
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

/* The next frame into `bytes`; its body stays there. 0: none came. */
static int receive (int fd, buffer_t *bytes, frame_t *frame)
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

static int greeted (int fd, unsigned char hello[FRAME_NONCE_SIZE])
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

    if (munge_socket)
        munge_ctx_set (context, MUNGE_OPT_SOCKET, munge_socket);
    munge_ctx_set (context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_NONE);
    if (munge_encode (&text, context, payload, (int)length) != EMUNGE_SUCCESS)
        die (munge_ctx_strerror (context));
    munge_ctx_destroy (context);
    return text;
}

static char *make (const void *payload, size_t length, uid_t for_whom)
{
    gl_error_t error = {""};
    char *text;

    if (in_clear)
        return make_in_clear (payload, length);
    if (credential_make (credential, payload, length, for_whom, &text, &error)
        < 0)
        die (error.text);
    return text;
}

static void new_nonce (unsigned char nonce[FRAME_NONCE_SIZE])
{
    if (getrandom (nonce, FRAME_NONCE_SIZE, 0) != FRAME_NONCE_SIZE)
        die ("getrandom");
}

/* A whole frame that asks `verb`, for the connection with this nonce. */
static void make_request (const unsigned char hello[FRAME_NONCE_SIZE],
                          uint16_t verb, const void *body, size_t length,
                          buffer_t *out, unsigned char nonce[FRAME_NONCE_SIZE])
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
    text = make (payload.data, payload.length, reader);
    frame_header (head, FRAME_REQUEST, strlen (text));
    buffer_add (out, head, sizeof (head));
    buffer_add_text (out, text);
    free (text);
}

/* Prints what comes back until the answer is whole. */
static int print_answer (int fd, const unsigned char nonce[FRAME_NONCE_SIZE])
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

            if (credential_open (credential, text, &opened, &error)
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

static int64_t clock_ns (void)
{
    struct timespec t;

    clock_gettime (CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
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

/* A backlog */

#define DAY_BEGIN_MS INT64_C (1790812800000) /* 2026-10-01T00:00:00Z */
#define HOUR_MS INT64_C (3600000)
#define DEVICES 8

static void set (record_t *r, record_field_t field, int64_t value)
{
    record_set_number (r, field, value);
}

/* One device in one hour, with all that an agent says of it. */
static void fill_usage (record_t *r, int node, int hour, int device,
                        int64_t day)
{
    char text[96];
    int64_t begin = DAY_BEGIN_MS + (day * 24 + hour) * HOUR_MS;

    r->kind = RECORD_JOB_USAGE;
    r->stamp = (begin + HOUR_MS) * 1000000;
    snprintf (text, sizeof (text), "GPU-%08x-0000-4000-8000-%012d", node,
              device);
    record_set_text (r, RECORD_FIELD_gpu, text);
    record_set_text (r, RECORD_FIELD_utilization_histogram,
                     "0,0,0,0,0,0,0,120000,0,0,0,0,60000,0,0,0,240000,780000,"
                     "1200000,1200000");
    set (r, RECORD_FIELD_job_id, node * 100 + hour / 3 + 1);
    set (r, RECORD_FIELD_gres_index, device);
    set (r, RECORD_FIELD_begin_ms, begin);
    set (r, RECORD_FIELD_end_ms, begin + HOUR_MS);
    set (r, RECORD_FIELD_samples, 360);
    set (r, RECORD_FIELD_samples_expected, 360);
    set (r, RECORD_FIELD_energy_mj, 2016000000 + node * 7 + hour);
    set (r, RECORD_FIELD_energy_ms, HOUR_MS);
    set (r, RECORD_FIELD_energy_rule, RECORD_ENERGY_WHOLE);
    set (r, RECORD_FIELD_counter_resets, 0);
    set (r, RECORD_FIELD_utilization_sum, 8700 * HOUR_MS + device);
    set (r, RECORD_FIELD_utilization_ms, HOUR_MS);
    set (r, RECORD_FIELD_utilization_max, 10000);
    set (r, RECORD_FIELD_memory_sum, 61000 * HOUR_MS);
    set (r, RECORD_FIELD_memory_ms, HOUR_MS);
    set (r, RECORD_FIELD_memory_max, 71234);
    set (r, RECORD_FIELD_memory_total, 81559);
    set (r, RECORD_FIELD_power_sum, 560000 * HOUR_MS);
    set (r, RECORD_FIELD_power_ms, HOUR_MS);
    set (r, RECORD_FIELD_power_max, 700000);
    set (r, RECORD_FIELD_clock_sum, 1755 * HOUR_MS);
    set (r, RECORD_FIELD_clock_ms, HOUR_MS);
    set (r, RECORD_FIELD_throttled_ms, 12000);
    set (r, RECORD_FIELD_throttle_ms, HOUR_MS);
    set (r, RECORD_FIELD_throttle_reasons, 4);
    set (r, RECORD_FIELD_processes_ms, HOUR_MS);
    set (r, RECORD_FIELD_processes_max, 1);
    set (r, RECORD_FIELD_no_process_ms, 0);
    set (r, RECORD_FIELD_idle_ms, 0);
    set (r, RECORD_FIELD_idle_longest_ms, 0);
    set (r, RECORD_FIELD_idle_rule, 0);
    set (r, RECORD_FIELD_holders, 1);
    set (r, RECORD_FIELD_interval_ms, 10000);
}

static void fill_job (record_t *r, int node, int job, int64_t day)
{
    char text[64];

    r->kind = job % 2 ? RECORD_JOB_END : RECORD_JOB_START;
    r->stamp
        = (DAY_BEGIN_MS + (day * 24 + job / 2 * 3) * HOUR_MS) * 1000000 + job;
    snprintf (text, sizeof (text), "user%d", node % 500);
    record_set_text (r, RECORD_FIELD_user, text);
    record_set_text (r, RECORD_FIELD_account, "vision");
    record_set_text (r, RECORD_FIELD_partition, "gpu");
    record_set_text (r, RECORD_FIELD_project, "alpha");
    record_set_text (r, RECORD_FIELD_gpus, "0,1,2,3,4,5,6,7");
    set (r, RECORD_FIELD_job_id, node * 100 + job / 2 + 1);
    set (r, RECORD_FIELD_uid, 1000 + node % 500);
}

/* Record `number` of a node's day: 192 of devices, then those of 8 jobs. */
static size_t day_record (const char *name, int node, int number, int64_t day,
                          unsigned char bytes[RECORD_MAX])
{
    record_t r = {.version = RECORD_VERSION};
    int32_t key[4] = {node, number, (int32_t)day, 0x6c6f6164};

    /* a random key as a real one: it is where in the index a row goes */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            key[i] = (int32_t)((uint32_t)key[i] * 2654435761u
                               + (uint32_t)key[(i + 1) % 4] * 40503u + 1);
    memcpy (r.key, key, sizeof (r.key));
    r.kind = RECORD_JOB_USAGE;
    record_set_text (&r, RECORD_FIELD_cluster, "lab");
    record_set_text (&r, RECORD_FIELD_node, name);
    record_set_text (&r, RECORD_FIELD_boot_id,
                     "0d0a7b1e-8b0f-4c52-9a3e-6f1f0b7c2d11");
    if (number < 24 * DEVICES)
        fill_usage (&r, node, number / DEVICES, number % DEVICES, day);
    else
        fill_job (&r, node, number - 24 * DEVICES, day);
    return record_encode (&r, bytes);
}

static void make_day (buffer_t *body, int node, int records, int64_t day)
{
    unsigned char bytes[RECORD_MAX], header[BATCH_HEADER_MAX];
    batch_t batch = {.sent_ns = clock_ns (), .cluster = "lab"};

    snprintf (batch.node, sizeof (batch.node), "n%05d", node);
    buffer_clear (body);
    buffer_add (body, header, batch_header (header, &batch));
    for (int i = 0; i < records; i++)
        buffer_add (body, bytes, day_record (batch.node, node, i, day, bytes));
}

/* A node's turn; 0 when it was taken. */
static int ship_day (int port, const buffer_t *body)
{
    unsigned char hello[FRAME_NONCE_SIZE], nonce[FRAME_NONCE_SIZE];
    BUFFER_AUTO frame = BUFFER_INIT;
    int fd = try_to_connect (port), rc = 1;

    if (fd < 0)
        return 1;
    if (greeted (fd, hello)) {
        make_request (hello, VERB_BATCH, body->data, body->length, &frame,
                      nonce);
        send_all (fd, frame.data, frame.length);
        rc = print_answer (fd, nonce);
    }
    close (fd);
    return rc;
}

static void load_some (int port, int first, int step, int last, int records,
                       int64_t day)
{
    BUFFER_AUTO body = BUFFER_INIT;

    for (int node = first; node <= last; node += step) {
        make_day (&body, node, records, day);
        while (ship_day (port, &body) != 0)
            pause_ms (200);
    }
}

static int load (int port, int nodes, int records, int processes, int64_t day)
{
    for (int i = 1; i <= processes; i++)
        if (fork () == 0) {
            load_some (port, i, processes, nodes, records, day);
            fflush (stdout);
            _exit (0);
        }
    while (wait (NULL) > 0)
        ;
    return 0;
}

/* Not the collector */

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

    if (credential_open (credential, text, &opened, NULL) != CREDENTIAL_OK
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

static void listen_as (int port, const char *mode)
{
    struct sockaddr_in here = loopback (from, port);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof (one));
    if (bind (fd, (struct sockaddr *)&here, sizeof (here)) < 0
        || listen (fd, 64) < 0)
        die ("listen");
    puts ("listening");
    fflush (stdout);
    for (;;) {
        int client = accept (fd, NULL, NULL);

        if (client < 0)
            die ("accept");
        talk (client, mode);
        close (client);
    }
}

static int run (int port, char **argv)
{
    const char *command = argv[0];

    if (!strcmp (command, "status"))
        return ask (port, VERB_STATUS, "", 0);
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
        {"clear", no_argument, &in_clear, 1},
        {NULL, 0, NULL, 0},
    };
    gl_error_t error = {""};
    int option, rc;

    while ((option = getopt_long (argc, argv, "+m:b:r:", options, NULL))
           != -1) {
        if (option == 'm')
            munge_socket = optarg;
        else if (option == 'b')
            from = optarg;
        else if (option == 'r')
            reader = (uid_t)strtoul (optarg, NULL, 10);
        else if (option == '?')
            return 2;
    }
    if (argc - optind < 2)
        return 2;
    credential = credential_new (munge_socket, &error);
    if (!credential)
        die (error.text);
    rc = run (atoi (argv[optind]), argv + optind + 1);
    credential_free (credential);
    return rc;
}
