/* frame.c: any bytes as a frame, and as what is inside one: request, reply,
 * texts, batch. What is read lies within the bytes and writes the same bytes
 * again; a beginning of what is whole is never refused. */
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "wire/frame.h"

static const unsigned char magic[4] = {0xf7, 'g', 'l', 'w'};

/* `part` lies within the bytes and reaches to their end. */
static void check_rest (const unsigned char *bytes, size_t size,
                        const unsigned char *part, size_t length)
{
    REQUIRE (part >= bytes && part + length == bytes + size);
}

static void check_frame (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    unsigned char header[FRAME_HEADER_SIZE];
    frame_t frame;
    int rc = frame_read (bytes, size, &frame, &error);

    REQUIRE (rc >= -1 && (rc <= 0 || (size_t)rc <= size));
    REQUIRE (rc != -1 || error.text[0]);
    if (rc <= 0)
        return;
    REQUIRE (frame.length <= FRAME_BODY_MAX);
    check_rest (bytes, rc, frame.body, frame.length);
    REQUIRE ((size_t)rc == FRAME_HEADER_SIZE + frame.length);
    frame_header (header, frame.type, frame.length);
    REQUIRE (memcmp (header, bytes, sizeof (header)) == 0);
    for (int cut = 0; cut < rc; cut += cut < FRAME_HEADER_SIZE ? 1 : 97)
        REQUIRE (frame_read (bytes, cut, &frame, NULL) == 0);
}

/* The bytes of a header that a fuzzer need not guess. */
static void make_frame (unsigned char *bytes, size_t size)
{
    if (size < FRAME_HEADER_SIZE)
        return;
    memcpy (bytes, magic, sizeof (magic));
    bytes[4] = FRAME_VERSION;
    bytes[5] = 1 + bytes[5] % 4;
    bytes[6] = bytes[7] = bytes[10] = bytes[11] = 0;
}

static void check_request (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    unsigned char header[REQUEST_HEADER_SIZE];
    request_t request;

    if (request_read (bytes, size, &request, &error) < 0) {
        REQUIRE (error.text[0]);
        return;
    }
    check_rest (bytes, size, request.body, request.length);
    request_header (header, &request);
    REQUIRE (memcmp (header, bytes, sizeof (header)) == 0);
}

static void check_reply (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    unsigned char header[REPLY_HEADER_SIZE];
    reply_t reply;

    if (reply_read (bytes, size, &reply, &error) < 0) {
        REQUIRE (error.text[0]);
        return;
    }
    check_rest (bytes, size, reply.body, reply.length);
    reply_header (header, &reply);
    REQUIRE (memcmp (header, bytes, sizeof (header)) == 0);
}

static void check_texts (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    unsigned char *again;
    char **texts = NULL;
    size_t count = 0;

    if (texts_read (bytes, size, TEXTS_MAX, &texts, &count, &error) < 0) {
        REQUIRE (error.text[0]);
        return;
    }
    REQUIRE (count <= TEXTS_MAX && !texts[count]);
    REQUIRE (texts_size ((const char *const *)texts, count) == size);
    again = malloc (size + 1);
    REQUIRE (again);
    texts_write (again, (const char *const *)texts, count);
    REQUIRE (memcmp (again, bytes, size) == 0);
    free (again);
    free (texts);
}

static void check_name (const char *name, size_t size)
{
    REQUIRE (strnlen (name, size) < size);
    for (; *name; name++)
        REQUIRE ((unsigned char)*name >= ' ' && *name != 0x7f);
}

static void check_batch (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    unsigned char header[BATCH_HEADER_MAX];
    batch_t batch = {0};
    size_t length;

    if (batch_read (bytes, size, &batch, &error) < 0) {
        REQUIRE (error.text[0]);
        return;
    }
    check_name (batch.cluster, sizeof (batch.cluster));
    check_name (batch.node, sizeof (batch.node));
    REQUIRE (batch.node[0]);
    check_rest (bytes, size, batch.records, batch.length);
    length = batch_header (header, &batch);
    REQUIRE (length <= sizeof (header) && length == size - batch.length);
    REQUIRE (memcmp (header, bytes, length) == 0);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *bytes = fuzz_copy (data, size);

    check_frame (bytes, size);
    check_request (bytes, size);
    check_reply (bytes, size);
    check_texts (bytes, size);
    check_batch (bytes, size);
    make_frame (bytes, size);
    check_frame (bytes, size);
    free (bytes);
    return 0;
}
