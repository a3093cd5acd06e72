/*
 * frame.h: what nodes, users and the collector say to each other over TCP.
 * Pure: bytes in, bytes out; docs/formats/wire.md draws them.
 *
 * A frame is 12 bytes and a body:
 *
 *      0   4   magic    f7 "glw"
 *      4   1   version  1
 *      5   1   type     frame_type_t
 *      6   2   zero
 *      8   4   length   of the body, little-endian, at most FRAME_BODY_MAX
 *
 * The collector speaks first: HELLO, in clear, with a nonce of this connection.
 * Then each REQUEST is a munge credential of the client, whose payload begins
 * with that nonce and one of its own; each REPLY is a munge credential of the
 * collector's user, whose payload begins with the client's nonce. So a
 * credential replayed on another connection, or to another collector, whose
 * munged has not seen it, is refused; and nobody but the collector can say that
 * a batch is in the ledger. REFUSED, in clear, is a hint for people: it is
 * never a reason to forget a record.
 */
#ifndef GL_WIRE_FRAME_H
#define GL_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define FRAME_VERSION 1
#define FRAME_HEADER_SIZE 12
/* A credential of this size is what munged still accepts (its limit is 1 MiB,
 * and a payload grows by a third). */
#define FRAME_BODY_MAX (640 << 10)
#define FRAME_NONCE_SIZE 16

typedef enum {
    FRAME_HELLO = 1,
    FRAME_REQUEST = 2,
    FRAME_REPLY = 3,
    FRAME_REFUSED = 4, /* body: one line of text */
} frame_type_t;

typedef struct {
    frame_type_t type;
    const unsigned char *body; /* within the bytes that were read */
    size_t length;
} frame_t;

void frame_header (unsigned char header[FRAME_HEADER_SIZE], frame_type_t type,
                   size_t length);

/*
 * What stands at the beginning of `bytes`, of which `size` are there:
 * > 0 a whole frame of that many bytes;
 *   0 it may become one when more bytes arrive;
 *  -1 no frame of this protocol: wrong magic, version, type, or too long.
 */
int frame_read (const unsigned char *bytes, size_t size, frame_t *ret_frame,
                gl_error_t *error);

/* The payload of a request, inside its credential. */
typedef enum {
    VERB_BATCH = 1,  /* body: batch.h: records of a node */
    VERB_PRICES = 2, /* body: cluster, node: texts; reply: lines of a price
                        file (docs/formats/prices.md) */
    VERB_TAG = 3,    /* user verbs: body: texts, the arguments */
    VERB_MINE = 4,
    VERB_PRICE = 5,
    VERB_STATUS = 6, /* how the collector is: lines of text */
    VERB_UNITS = 7,  /* a user verb */
} verb_code_t;

typedef struct {
    unsigned char hello[FRAME_NONCE_SIZE]; /* of the connection */
    unsigned char nonce[FRAME_NONCE_SIZE]; /* of the request */
    uint16_t verb; /* a verb_code_t, or one that is not known */
    const unsigned char *body;
    size_t length;
} request_t;

typedef enum {
    REPLY_OK = 0,     /* a batch: committed */
    REPLY_FAILED = 1, /* this request will never be granted; body: why */
    REPLY_LATER = 2,  /* not now; body: why */
    REPLY_PART = 3,   /* ok, and more of the answer follows */
} reply_status_t;

typedef struct {
    unsigned char nonce[FRAME_NONCE_SIZE]; /* of the request */
    uint16_t status;
    const unsigned char *body;
    size_t length;
} reply_t;

/* Bytes of the fixed part; the body follows. */
#define REQUEST_HEADER_SIZE 36 /* two nonces, verb, zero */
#define REPLY_HEADER_SIZE 20   /* nonce, status, zero */

void request_header (unsigned char header[REQUEST_HEADER_SIZE],
                     const request_t *request);
int request_read (const void *payload, size_t size, request_t *ret_request,
                  gl_error_t *error);
void reply_header (unsigned char header[REPLY_HEADER_SIZE],
                   const reply_t *reply);
int reply_read (const void *payload, size_t size, reply_t *ret_reply,
                gl_error_t *error);

/*
 * Texts in a body: a 16-bit length and so many bytes without NUL, one behind
 * the other. texts_read() gives NUL-terminated copies in one block; free that
 * with free(). -1 for what is not texts, or more than `max` of them.
 */
#define TEXTS_MAX 64
size_t texts_size (const char *const *texts, size_t count);
void texts_write (unsigned char *bytes, const char *const *texts, size_t count);
int texts_read (const unsigned char *bytes, size_t length, size_t max,
                char ***ret_texts, size_t *ret_count, gl_error_t *error);

/* The body of VERB_BATCH: sent_ns, the node's clock when it was sent (signed,
 * 8 bytes); cluster and node as two texts; then records one behind the other,
 * as record_encode() made them. */
typedef struct {
    int64_t sent_ns;
    char cluster[129];
    char node[129];
    const unsigned char *records;
    size_t length;
} batch_t;

#define BATCH_HEADER_MAX (8 + 2 * (2 + 128))
size_t batch_header (unsigned char header[BATCH_HEADER_MAX],
                     const batch_t *batch);
int batch_read (const unsigned char *body, size_t length, batch_t *ret_batch,
                gl_error_t *error);

#endif /* !GL_WIRE_FRAME_H */
