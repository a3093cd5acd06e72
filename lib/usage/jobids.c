#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "usage/jobids.h"

#define VARINT_MAX 10 /* bytes of 64 bits */

/* The union is a bitmap over the range of the ids, unless that has so many
 * words for each id that sorting is less work. */
#define WORDS_PER_ID 16

struct jobids_work {
    uint64_t *word; /* the bitmap; all 0 between calls */
    size_t word_size;
    uint64_t *id; /* for sorting */
    size_t id_size;
};

/* --- varints ----------------------------------------------------------- */

/* Returns the end of it; there is room for VARINT_MAX bytes. */
static inline char *put_varint (char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (char)value;
    return at;
}

void varint_add (buffer_t *out, uint64_t value)
{
    char *at = buffer_reserve (out, VARINT_MAX);

    out->length += (size_t)(put_varint (at, value) - at);
}

const uint8_t *varint_read (const uint8_t *at, const uint8_t *end,
                            uint64_t *ret_value)
{
    uint64_t value = 0;

    for (unsigned shift = 0; at < end && shift < 64; shift += 7, at++) {
        uint64_t bits = *at & 0x7f;
        if (shift == 63 && bits > 1)
            return NULL;
        value |= bits << shift;
        if (*at < 0x80) {
            *ret_value = value;
            return at + 1;
        }
    }
    return NULL;
}

/* Of bytes that were checked. Nearly all ids are one or two bytes. */
static inline const uint8_t *next_id (const uint8_t *at, uint64_t *id)
{
    uint64_t value = *at & 0x7f;

    if (*at++ & 0x80) {
        value |= (uint64_t)(*at & 0x7f) << 7;
        for (unsigned shift = 14; *at++ & 0x80; shift += 7)
            value |= (uint64_t)(*at & 0x7f) << shift;
    }
    *id += value;
    return at;
}

/* --- one set ----------------------------------------------------------- */

void jobids_append (jobids_list_t *list, uint64_t id)
{
    if (list->count > 0 && id == list->last)
        return;
    varint_add (&list->packed, id - list->last);
    list->last = id;
    list->count++;
}

jobids_t jobids_of_list (const jobids_list_t *list)
{
    return (jobids_t){(const uint8_t *)list->packed.data, list->packed.length,
                      list->count, list->last};
}

void jobids_list_done (jobids_list_t *list)
{
    buffer_done (&list->packed);
    list->count = list->last = 0;
}

int jobids_check (const jobids_t *set)
{
    const uint8_t *at = set->bytes, *end = at + set->length;
    uint64_t id = 0, step = 0, count = 0;

    for (; at < end; count++) {
        if (*at < 0x80)
            step = *at++;
        else if (at + 1 < end && at[1] < 0x80) {
            step = (*at & 0x7f) | (uint64_t)at[1] << 7;
            at += 2;
        } else
            at = varint_read (at, end, &step);
        if (!at || (step == 0 && count > 0) || step > UINT64_MAX - id)
            return -1;
        id += step;
    }
    return count == set->count && id == set->last ? 0 : -1;
}

/* --- several ----------------------------------------------------------- */

jobids_work_t *jobids_work_new (void)
{
    return xcalloc (1, sizeof (jobids_work_t));
}

void jobids_work_free (jobids_work_t *work)
{
    if (!work)
        return;
    free (work->word);
    free (work->id);
    free (work);
}

/* What the sets span. */
struct span {
    uint64_t first;
    uint64_t last;
    uint64_t count; /* ids, repetitions included */
};

static struct span span_of (const jobids_t *sets, size_t count)
{
    struct span span = {.first = UINT64_MAX};

    for (size_t i = 0; i < count; i++) {
        uint64_t first = 0;
        if (sets[i].count == 0)
            continue;
        next_id (sets[i].bytes, &first);
        if (first < span.first)
            span.first = first;
        if (sets[i].last > span.last)
            span.last = sets[i].last;
        span.count += sets[i].count;
    }
    return span;
}

static bool suits_bitmap (const struct span *span)
{
    return (span->last - span->first) / 64 <= span->count * WORDS_PER_ID;
}

static void grow (void **memory, size_t *size, size_t wanted)
{
    size_t old = *size;

    if (wanted <= old)
        return;
    *size = wanted + wanted / 2;
    *memory = xreallocarray (*memory, *size, sizeof (uint64_t));
    memset ((uint64_t *)*memory + old, 0, (*size - old) * sizeof (uint64_t));
}

/* Returns how many bits were set. */
static uint64_t set_bits (jobids_work_t *work, const struct span *span,
                          const jobids_t *sets, size_t count)
{
    size_t words = (size_t)((span->last - span->first) / 64 + 1);
    uint64_t fresh = 0;

    grow ((void **)&work->word, &work->word_size, words);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = sets[i].bytes, *end = at + sets[i].length;
        uint64_t id = 0 - span->first;
        while (at < end) {
            uint64_t bit, *word;
            at = next_id (at, &id);
            word = &work->word[id / 64];
            bit = UINT64_C (1) << (id % 64);
            fresh += (*word & bit) == 0;
            *word |= bit;
        }
    }
    return fresh;
}

static void clear_bits (jobids_work_t *work, const struct span *span)
{
    memset (work->word, 0,
            (size_t)((span->last - span->first) / 64 + 1) * sizeof (uint64_t));
}

static int by_value (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sort_ids (jobids_work_t *work, const struct span *span,
                      const jobids_t *sets, size_t count)
{
    size_t n = 0;

    grow ((void **)&work->id, &work->id_size, (size_t)span->count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = sets[i].bytes, *end = at + sets[i].length;
        uint64_t id = 0;
        while (at < end) {
            at = next_id (at, &id);
            work->id[n++] = id;
        }
    }
    qsort (work->id, n, sizeof (*work->id), by_value);
}

uint64_t jobids_count (jobids_work_t *work, const jobids_t *sets, size_t count)
{
    struct span span = span_of (sets, count);
    uint64_t distinct = 0;

    if (span.count == 0 || count == 1)
        return span.count;
    if (suits_bitmap (&span)) {
        distinct = set_bits (work, &span, sets, count);
        clear_bits (work, &span);
        return distinct;
    }
    sort_ids (work, &span, sets, count);
    for (size_t i = 0; i < span.count; i++)
        distinct += i == 0 || work->id[i] != work->id[i - 1];
    return distinct;
}

static void list_bits (const jobids_work_t *work, const struct span *span,
                       jobids_list_t *list)
{
    size_t words = (size_t)((span->last - span->first) / 64 + 1);

    for (size_t i = 0; i < words; i++) {
        char *start, *at;
        if (work->word[i] == 0)
            continue;
        start = at = buffer_reserve (
            &list->packed,
            (size_t)__builtin_popcountll (work->word[i]) * VARINT_MAX);
        for (uint64_t word = work->word[i]; word; word &= word - 1) {
            uint64_t id = span->first + i * 64
                          + (uint64_t)__builtin_ctzll (word);
            at = put_varint (at, id - list->last);
            list->last = id;
            list->count++;
        }
        list->packed.length += (size_t)(at - start);
    }
}

void jobids_union (jobids_work_t *work, const jobids_t *sets, size_t count,
                   jobids_list_t *list)
{
    struct span span = span_of (sets, count);

    if (span.count == 0)
        return;
    if (count == 1) {
        buffer_add (&list->packed, sets->bytes, sets->length);
        list->count = sets->count;
        list->last = sets->last;
    } else if (suits_bitmap (&span)) {
        set_bits (work, &span, sets, count);
        list_bits (work, &span, list);
        clear_bits (work, &span);
    } else {
        sort_ids (work, &span, sets, count);
        for (size_t i = 0; i < span.count; i++)
            jobids_append (list, work->id[i]);
    }
}
