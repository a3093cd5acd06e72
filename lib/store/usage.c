#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store.h"
#include "store/usage.h"

#define AT(member) offsetof (device_usage_t, member)
#define NOTHING ((size_t)-1) /* no other field is likely to be the same */
#define LENGTH ((size_t)-2)  /* the length of the stretch is */

/* The order is the order of the bytes: only ever append. A field that nearly
 * always has the value of another one before it names that one. */
static const struct field {
    size_t offset;
    size_t same_as;
} fields[] = {
    {AT (samples), NOTHING},
    {AT (samples_expected), AT (samples)},
    {AT (energy_mj), NOTHING},
    {AT (energy_ms), LENGTH},
    {AT (energy_rule), NOTHING},
    {AT (counter_resets), NOTHING},
    {AT (utilization_sum), NOTHING},
    {AT (utilization_ms), AT (energy_ms)},
    {AT (utilization_max), NOTHING},
    {AT (memory_sum), NOTHING},
    {AT (memory_ms), AT (utilization_ms)},
    {AT (memory_max), NOTHING},
    {AT (power_sum), NOTHING},
    {AT (power_ms), AT (memory_ms)},
    {AT (power_max), NOTHING},
    {AT (clock_sum), NOTHING},
    {AT (clock_ms), AT (power_ms)},
    {AT (throttle_ms), AT (clock_ms)},
    {AT (throttled_ms), AT (throttle_ms)},
    {AT (throttle_reasons), NOTHING},
    {AT (processes_ms), AT (memory_ms)},
    {AT (processes_max), NOTHING},
    {AT (no_process_ms), AT (processes_ms)},
    {AT (idle_ms), AT (utilization_ms)},
    {AT (idle_longest_ms), AT (idle_ms)},
    {AT (idle_rule), NOTHING},
    {AT (holders), NOTHING},
};

/* What makes the device, stored apart. */
static const size_t device_numbers[] = {AT (gres_index), AT (memory_total)};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int64_t get (const device_usage_t *u, size_t offset)
{
    return *(const int64_t *)((const char *)u + offset);
}

static void set (device_usage_t *u, size_t offset, int64_t value)
{
    *(int64_t *)((char *)u + offset) = value;
}

static int check_numbers (const device_usage_t *u, gl_error_t *error)
{
    bool good = true;

    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++)
        good &= get (u, fields[i].offset) >= MEASURE_UNKNOWN;
    for (size_t i = 0; i < GL_ARRAY_SIZE (device_numbers); i++)
        good &= get (u, device_numbers[i]) >= MEASURE_UNKNOWN;
    return good ? 0 : gl_error (error, "a measure below zero");
}

int usage_check (const device_usage_t *u, gl_error_t *error)
{
    if (u->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)u->id_job);
    if (u->begin_ms < 0 || u->end_ms < u->begin_ms
        || u->end_ms - u->begin_ms > STORE_STRETCH_MAX_MS)
        return gl_error (error,
                         "a stretch from %lld to %lld ms is not possible",
                         (long long)u->begin_ms, (long long)u->end_ms);
    if (u->utilization_histogram
        && strnlen (u->utilization_histogram, USAGE_HISTOGRAM_MAX + 1)
               > USAGE_HISTOGRAM_MAX)
        return gl_error (error, "a histogram of more than %d bytes",
                         USAGE_HISTOGRAM_MAX);
    return check_numbers (u, error);
}

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static size_t put_number (uint8_t *p, uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        p[n++] = (uint8_t)(value | 0x80);
    p[n++] = (uint8_t)value;
    return n;
}

struct reader {
    const uint8_t *p;
    size_t left;
    bool damaged;
};

static uint64_t get_number (struct reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; r->left > 0 && shift < 64; shift += 7) {
        uint8_t byte = *r->p++;
        r->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->damaged = true;
    return 0;
}

/* 0: unknown. With another field to compare, 1: the same. */
static int64_t likely (const device_usage_t *u, size_t same_as)
{
    return same_as == LENGTH ? u->end_ms - u->begin_ms : get (u, same_as);
}

static size_t put_field (uint8_t *p, const device_usage_t *u,
                         const struct field *f)
{
    int64_t value = get (u, f->offset);

    if (value == MEASURE_UNKNOWN)
        return put_number (p, 0);
    if (f->same_as == NOTHING)
        return put_number (p, (uint64_t)value + 1);
    if (value == likely (u, f->same_as))
        return put_number (p, 1);
    return put_number (p, (uint64_t)value + 2);
}

static void get_field (struct reader *r, device_usage_t *u,
                       const struct field *f)
{
    uint64_t number = r->left > 0 ? get_number (r) : 0;
    int64_t value;

    if (number == 0)
        value = MEASURE_UNKNOWN;
    else if (f->same_as == NOTHING)
        value = (int64_t)(number - 1);
    else if (number == 1)
        value = likely (u, f->same_as);
    else
        value = (int64_t)(number - 2);
    if (value < MEASURE_UNKNOWN)
        r->damaged = true;
    set (u, f->offset, value);
}

/* A number as we would spell it: digits, no leading zero, below 2^63. */
static bool read_bin (const char **text, uint64_t *ret)
{
    const char *p = *text;
    uint64_t value = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > ((uint64_t)INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (p == *text || (**text == '0' && p - *text > 1))
        return false;
    *text = p;
    *ret = value;
    return true;
}

static bool read_bins (const char *text, uint64_t bins[USAGE_BINS])
{
    for (size_t i = 0; i < USAGE_BINS; i++) {
        if ((i > 0 && *text++ != ',') || !read_bin (&text, &bins[i]))
            return false;
    }
    return *text == '\0';
}

static int last_bin (const uint64_t bins[USAGE_BINS])
{
    int last = -1;

    for (int i = 0; i < USAGE_BINS; i++) {
        if (bins[i] > 0)
            last = i;
    }
    return last;
}

/* What is left for bin `last` if all of them sum to utilization_ms. */
static uint64_t rest_of (const device_usage_t *u,
                         const uint64_t bins[USAGE_BINS], int last)
{
    uint64_t rest = (uint64_t)u->utilization_ms;

    for (int i = 0; i < last; i++)
        rest -= bins[i];
    return rest;
}

/* 0: unknown; 1: a text, its length and bytes; else 2 and a bit for each bin
 * that is not empty, and what is in them: in the last one 0 for the rest. */
static size_t put_histogram (uint8_t *p, const device_usage_t *u)
{
    const char *text = u->utilization_histogram;
    uint64_t bins[USAGE_BINS], mask = 0;
    size_t n, length;
    int last;

    if (!text)
        return put_number (p, 0);
    if (!read_bins (text, bins)) {
        length = strlen (text);
        n = put_number (p, 1);
        n += put_number (p + n, length);
        memcpy (p + n, text, length);
        return n + length;
    }
    last = last_bin (bins);
    for (int i = 0; i <= last; i++)
        mask |= (uint64_t)(bins[i] > 0) << i;
    n = put_number (p, mask + 2);
    for (int i = 0; i < last; i++) {
        if (bins[i] > 0)
            n += put_number (p + n, bins[i]);
    }
    if (last >= 0)
        n += put_number (
            p + n, bins[last] == rest_of (u, bins, last) ? 0 : bins[last]);
    return n;
}

static void get_text (struct reader *r, char *text)
{
    uint64_t length = get_number (r);

    if (length > USAGE_HISTOGRAM_MAX || length > r->left) {
        r->damaged = true;
        return;
    }
    memcpy (text, r->p, length);
    text[length] = '\0';
    r->p += length;
    r->left -= length;
}

static void spell_bins (const uint64_t bins[USAGE_BINS], char *text)
{
    for (int i = 0; i < USAGE_BINS; i++)
        text += sprintf (text, "%s%llu", i ? "," : "",
                         (unsigned long long)bins[i]);
}

static void get_bins (struct reader *r, const device_usage_t *u, uint64_t mask,
                      char *text)
{
    uint64_t bins[USAGE_BINS] = {0};
    int last = -1;

    for (int i = 0; i < USAGE_BINS; i++) {
        if (!(mask >> i & 1))
            continue;
        bins[i] = get_number (r);
        last = i;
    }
    if (last >= 0 && bins[last] == 0)
        bins[last] = rest_of (u, bins, last);
    if (mask >> USAGE_BINS)
        r->damaged = true;
    spell_bins (bins, text);
}

static void get_histogram (struct reader *r, device_usage_t *u, char *text)
{
    uint64_t head = r->left > 0 ? get_number (r) : 0;

    u->utilization_histogram = head > 0 ? text : NULL;
    text[0] = '\0';
    if (head == 1)
        get_text (r, text);
    else if (head > 1)
        get_bins (r, u, head - 2, text);
}

size_t usage_pack (const device_usage_t *u, uint8_t bytes[USAGE_PACKED_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++)
        n += put_field (bytes + n, u, &fields[i]);
    return n + put_histogram (bytes + n, u);
}

int usage_unpack (device_usage_t *u, const void *bytes, size_t length,
                  char histogram[USAGE_HISTOGRAM_MAX + 1])
{
    struct reader r = {.p = bytes, .left = length};

    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++)
        get_field (&r, u, &fields[i]);
    get_histogram (&r, u, histogram);
    return r.damaged || r.left > 0 ? -1 : 0;
}

/* NULL before "" before everything else. */
static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return COMPARE (a != NULL, b != NULL);
    return strcmp (a, b);
}

int usage_compare (const device_usage_t *a, const device_usage_t *b)
{
    int order = COMPARE (a->end_ms, b->end_ms);

    if (order == 0)
        order = compare_texts (a->node, b->node);
    if (order == 0)
        order = compare_texts (a->gpu, b->gpu);
    if (order == 0)
        order = compare_texts (a->slice, b->slice);
    for (size_t i = 0; order == 0 && i < GL_ARRAY_SIZE (device_numbers); i++)
        order
            = COMPARE (get (a, device_numbers[i]), get (b, device_numbers[i]));
    for (size_t i = 0; order == 0 && i < GL_ARRAY_SIZE (fields); i++)
        order = COMPARE (get (a, fields[i].offset), get (b, fields[i].offset));
    if (order == 0)
        order = compare_texts (a->utilization_histogram,
                               b->utilization_histogram);
    return order;
}
