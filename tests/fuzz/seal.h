/*
 * seal.h: make bytes a record that passes for undamaged. A fuzzer cannot guess
 * a checksum, so the targets give what it made a right one.
 */
#ifndef GL_TESTS_FUZZ_SEAL_H
#define GL_TESTS_FUZZ_SEAL_H

#include "record/crc32c.h"
#include "record/record.h"

static const unsigned char seal_magic[4] = {0xf7, 'g', 'l', 'r'};

static inline void seal_put (unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = value >> (8 * i);
}

static inline uint32_t seal_get (const unsigned char *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void seal_checksum (unsigned char *bytes, size_t size)
{
    seal_put (bytes + size - 4, crc32c (bytes, size - 4));
}

/* One record of all these bytes, at least RECORD_MIN. */
static inline void seal_record (unsigned char *bytes, size_t size)
{
    memcpy (bytes, seal_magic, sizeof (seal_magic));
    seal_put (bytes + 8, size);
    seal_checksum (bytes, size);
}

/* Each place that begins like a record of a length that fits becomes one. */
static inline void seal_records (unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + RECORD_MIN <= size;) {
        uint32_t length = seal_get (bytes + at + 8);
        if (memcmp (bytes + at, seal_magic, sizeof (seal_magic)) == 0
            && length >= RECORD_MIN && length <= RECORD_MAX
            && length <= size - at) {
            seal_checksum (bytes + at, length);
            at += length;
        } else {
            at++;
        }
    }
}

#endif /* !GL_TESTS_FUZZ_SEAL_H */
