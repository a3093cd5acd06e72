#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const unsigned char magic[4] = {0xf7, 'g', 'l', 'w'};

/* Little-endian, as records are. */
static void put (unsigned char *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get (const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* Frames */

void frame_header (unsigned char header[FRAME_HEADER_SIZE], frame_type_t type,
                   size_t length)
{
    memcpy (header, magic, sizeof (magic));
    header[4] = FRAME_VERSION;
    header[5] = (unsigned char)type;
    put (header + 6, 0, 2);
    put (header + 8, length, 4);
}

/* The bytes of a header are judged as they come: a stranger is known by its
 * first byte. */
static int check_header (const unsigned char *bytes, size_t size,
                         gl_error_t *error)
{
    size_t known = size < sizeof (magic) ? size : sizeof (magic);

    if (known && memcmp (bytes, magic, known) != 0)
        return gl_error (error, "these bytes are not gpuledger's");
    if (size > 4 && bytes[4] != FRAME_VERSION)
        return gl_error (error,
                         "the other side speaks version %u of the protocol, "
                         "this one %u",
                         bytes[4], FRAME_VERSION);
    if (size > 5 && (bytes[5] < FRAME_HELLO || bytes[5] > FRAME_REFUSED))
        return gl_error (error, "a frame of type %u is not known", bytes[5]);
    for (size_t i = 6; i < 8 && i < size; i++)
        if (bytes[i] != 0)
            return gl_error (error, "byte %zu of a frame is not zero", i);
    return 0;
}

int frame_read (const unsigned char *bytes, size_t size, frame_t *ret_frame,
                gl_error_t *error)
{
    uint64_t length;

    if (check_header (bytes, size, error) < 0)
        return -1;
    if (size < FRAME_HEADER_SIZE)
        return 0;
    length = get (bytes + 8, 4);
    if (length > FRAME_BODY_MAX)
        return gl_error (error, "a frame of %llu bytes is too long, at most %d",
                         (unsigned long long)length, FRAME_BODY_MAX);
    if (size - FRAME_HEADER_SIZE < length)
        return 0;
    ret_frame->type = (frame_type_t)bytes[5];
    ret_frame->body = bytes + FRAME_HEADER_SIZE;
    ret_frame->length = (size_t)length;
    return (int)(FRAME_HEADER_SIZE + length);
}

/* Requests and replies */

void request_header (unsigned char header[REQUEST_HEADER_SIZE],
                     const request_t *request)
{
    memcpy (header, request->hello, FRAME_NONCE_SIZE);
    memcpy (header + FRAME_NONCE_SIZE, request->nonce, FRAME_NONCE_SIZE);
    put (header + 2 * FRAME_NONCE_SIZE, request->verb, 2);
    put (header + 2 * FRAME_NONCE_SIZE + 2, 0, 2);
}

int request_read (const void *payload, size_t size, request_t *ret_request,
                  gl_error_t *error)
{
    const unsigned char *bytes = payload;

    if (size < REQUEST_HEADER_SIZE)
        return gl_error (error, "a request of %zu bytes is too short", size);
    if (get (bytes + 2 * FRAME_NONCE_SIZE + 2, 2) != 0)
        return gl_error (error, "bytes 34 and 35 of a request are not zero");
    memcpy (ret_request->hello, bytes, FRAME_NONCE_SIZE);
    memcpy (ret_request->nonce, bytes + FRAME_NONCE_SIZE, FRAME_NONCE_SIZE);
    ret_request->verb = (uint16_t)get (bytes + 2 * FRAME_NONCE_SIZE, 2);
    ret_request->body = bytes + REQUEST_HEADER_SIZE;
    ret_request->length = size - REQUEST_HEADER_SIZE;
    return 0;
}

void reply_header (unsigned char header[REPLY_HEADER_SIZE],
                   const reply_t *reply)
{
    memcpy (header, reply->nonce, FRAME_NONCE_SIZE);
    put (header + FRAME_NONCE_SIZE, reply->status, 2);
    put (header + FRAME_NONCE_SIZE + 2, 0, 2);
}

int reply_read (const void *payload, size_t size, reply_t *ret_reply,
                gl_error_t *error)
{
    const unsigned char *bytes = payload;

    if (size < REPLY_HEADER_SIZE)
        return gl_error (error, "a reply of %zu bytes is too short", size);
    if (get (bytes + FRAME_NONCE_SIZE + 2, 2) != 0)
        return gl_error (error, "bytes 18 and 19 of a reply are not zero");
    memcpy (ret_reply->nonce, bytes, FRAME_NONCE_SIZE);
    ret_reply->status = (uint16_t)get (bytes + FRAME_NONCE_SIZE, 2);
    ret_reply->body = bytes + REPLY_HEADER_SIZE;
    ret_reply->length = size - REPLY_HEADER_SIZE;
    return 0;
}

/* Texts */

/* The text at *offset, which moves behind it; NULL if none is there. */
static const unsigned char *next_text (const unsigned char *bytes,
                                       size_t length, size_t *offset,
                                       size_t *ret_length, gl_error_t *error)
{
    const unsigned char *text;
    size_t rest = length - *offset;

    if (rest < 2 || get (bytes + *offset, 2) > rest - 2) {
        gl_error (error, "a text at byte %zu is cut off", *offset);
        return NULL;
    }
    *ret_length = (size_t)get (bytes + *offset, 2);
    text = bytes + *offset + 2;
    if (memchr (text, '\0', *ret_length)) {
        gl_error (error, "the text at byte %zu holds a NUL", *offset);
        return NULL;
    }
    *offset += 2 + *ret_length;
    return text;
}

/* A text longer than its 16-bit length can tell is cut. */
static size_t text_length (const char *text)
{
    size_t length = strlen (text);

    return length < UINT16_MAX ? length : UINT16_MAX;
}

size_t texts_size (const char *const *texts, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += 2 + text_length (texts[i]);
    return size;
}

void texts_write (unsigned char *bytes, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = text_length (texts[i]);

        put (bytes, length, 2);
        memcpy (bytes + 2, texts[i], length);
        bytes += 2 + length;
    }
}

/* How many there are; -1 if they do not fill `length` bytes exactly. */
static int count_texts (const unsigned char *bytes, size_t length, size_t max,
                        size_t *ret_count, gl_error_t *error)
{
    size_t offset = 0, size;

    for (*ret_count = 0; offset < length; ++*ret_count) {
        if (*ret_count == max)
            return gl_error (error, "there are more than %zu texts", max);
        if (!next_text (bytes, length, &offset, &size, error))
            return -1;
    }
    return 0;
}

int texts_read (const unsigned char *bytes, size_t length, size_t max,
                char ***ret_texts, size_t *ret_count, gl_error_t *error)
{
    size_t count, offset = 0;
    char **texts, *copy;

    if (count_texts (bytes, length, max, &count, error) < 0)
        return -1;
    /* one block: the pointers, NULL behind the last, then the copies; two
     * bytes of length make room for the NUL of each */
    texts = xmalloc ((count + 1) * sizeof (*texts) + length);
    copy = (char *)(texts + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const unsigned char *text
            = next_text (bytes, length, &offset, &size, NULL);

        texts[i] = memcpy (copy, text, size);
        texts[i][size] = '\0';
        copy += size + 1;
    }
    texts[count] = NULL;
    *ret_texts = texts;
    *ret_count = count;
    return 0;
}

/* Batches */

size_t batch_header (unsigned char header[BATCH_HEADER_MAX],
                     const batch_t *batch)
{
    const char *names[] = {batch->cluster, batch->node};

    put (header, (uint64_t)batch->sent_ns, 8);
    texts_write (header + 8, names, GL_ARRAY_SIZE (names));
    return 8 + texts_size (names, GL_ARRAY_SIZE (names));
}

/* A name goes into messages and comparisons: short, without control
 * characters. */
static int read_name (const unsigned char *body, size_t length, size_t *offset,
                      const char *what, char *ret_name, size_t size,
                      gl_error_t *error)
{
    size_t name_length;
    const unsigned char *name
        = next_text (body, length, offset, &name_length, error);

    if (!name)
        return -1;
    if (name_length >= size)
        return gl_error (error, "the %s's name is longer than %zu bytes", what,
                         size - 1);
    for (size_t i = 0; i < name_length; i++)
        if (name[i] < ' ' || name[i] == 0x7f)
            return gl_error (error, "the %s's name holds a control character",
                             what);
    memcpy (ret_name, name, name_length);
    ret_name[name_length] = '\0';
    return 0;
}

int batch_read (const unsigned char *body, size_t length, batch_t *ret_batch,
                gl_error_t *error)
{
    size_t offset = 8;

    if (length < offset)
        return gl_error (error, "a batch of %zu bytes is too short", length);
    ret_batch->sent_ns = (int64_t)get (body, 8);
    if (read_name (body, length, &offset, "cluster", ret_batch->cluster,
                   sizeof (ret_batch->cluster), error)
            < 0
        || read_name (body, length, &offset, "node", ret_batch->node,
                      sizeof (ret_batch->node), error)
               < 0)
        return -1;
    if (!ret_batch->node[0])
        return gl_error (error, "the batch names no node");
    ret_batch->records = body + offset;
    ret_batch->length = length - offset;
    return 0;
}
