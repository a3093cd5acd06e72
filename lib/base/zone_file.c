/* A file of the zone database: RFC 9636. */
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/zone_table.h"

#define HEADER_SIZE 44
#define TYPE_SIZE 6

struct reader {
    const uint8_t *bytes;
    size_t length;
};

/* A header and the offsets of its data block's parts. */
struct block {
    char version;
    size_t time_size; /* of an instant: 4 or 8 bytes */
    size_t times;     /* how many changes */
    size_t types;
    size_t time_at;
    size_t index_at;
    size_t type_at;
    size_t end;
};

static uint64_t big_endian (const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

static int64_t instant_at (const struct reader *r, const struct block *b,
                           size_t i)
{
    uint64_t value = big_endian (r->bytes + b->time_at + i * b->time_size,
                                 b->time_size);

    return b->time_size == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static int offset_of (const struct reader *r, const struct block *b,
                      size_t type)
{
    return (int32_t)(uint32_t)big_endian (
        r->bytes + b->type_at + type * TYPE_SIZE, 4);
}

static bool read_block (const struct reader *r, size_t at, size_t time_size,
                        struct block *ret)
{
    const uint8_t *header = r->bytes + at;
    size_t count[6]; /* UT and standard indicators, leaps, changes, types,
                        letters */

    if (r->length - at < HEADER_SIZE || memcmp (header, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < 6; i++)
        count[i] = big_endian (header + 20 + 4 * i, 4);
    *ret = (struct block){.version = (char)header[4],
                          .time_size = time_size,
                          .times = count[3],
                          .types = count[4],
                          .time_at = at + HEADER_SIZE};
    ret->index_at = ret->time_at + ret->times * time_size;
    ret->type_at = ret->index_at + ret->times;
    ret->end = ret->type_at + ret->types * TYPE_SIZE + count[5]
               + count[2] * (time_size + 4) + count[1] + count[0];
    return ret->types > 0 && ret->end <= r->length;
}

/* 0: no instant lies before the one in front of it. */
static int add_changes (const struct reader *r, const struct block *b,
                        zone_table_t *table)
{
    zone_table_add (table, 0, offset_of (r, b, 0));
    for (size_t i = 0; i < b->times; i++) {
        size_t type = r->bytes[b->index_at + i];
        if (type >= b->types
            || (i > 0 && instant_at (r, b, i) < instant_at (r, b, i - 1)))
            return -1;
        zone_table_add (table, instant_at (r, b, i), offset_of (r, b, type));
    }
    return 0;
}

/* The line behind the data; empty: nobody knows what comes after. */
static int add_footer (const struct reader *r, const struct block *b,
                       zone_table_t *table)
{
    const char *line = (const char *)r->bytes + b->end;
    size_t left = r->length - b->end;
    const char *end = left > 1 ? memchr (line + 1, '\n', left - 1) : NULL;
    GL_AUTOFREE char *rule = NULL;

    if (!end || *line++ != '\n')
        return -1;
    rule = xstrndup (line, (size_t)(end - line));
    if (rule[0] == '\0')
        return 0;
    return zone_table_add_rule (
        table, rule, b->times ? instant_at (r, b, b->times - 1) : 0);
}

int zone_table_add_file (zone_table_t *table, const void *bytes, size_t length)
{
    const struct reader r = {bytes, length};
    struct block b;

    if (!read_block (&r, 0, 4, &b))
        return -1;
    if (b.version < '2')
        return add_changes (&r, &b, table);
    if (!read_block (&r, b.end, 8, &b) || add_changes (&r, &b, table) < 0)
        return -1;
    return add_footer (&r, &b, table);
}
