#include "amd_metrics.h"

#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#include "device.h"

/* ---------------------------------------------------------- versions 1.1 - 1.8 */

#define NONE 0 /* no value has this offset: the header is there */

/* Offsets in bytes. Each version has the clocks of its dies in a row. */
static const struct layout {
    uint8_t content;
    uint16_t size;      /* 0: by version; `partitions` says the rest */
    uint8_t power;      /* u16, watts */
    uint8_t activity;   /* u16, percent */
    uint16_t energy;    /* u64, 2^-16 joules */
    uint16_t clock;     /* u16, MHz */
    uint8_t clocks;     /* how many */
    uint16_t throttle;  /* u64, bits of all GPUs */
    uint16_t status;    /* u32, bits of the MI300 series */
    uint16_t residency; /* u32, five of them */
    uint16_t partitions;
} layouts[] = {
    {1, 96, 22, 16, 24, 54, 1, NONE, NONE, NONE, NONE},
    {2, 104, 22, 16, 24, 54, 1, NONE, NONE, NONE, NONE},
    {3, 120, 22, 16, 24, 54, 1, 112, NONE, NONE, NONE},
    {4, 288, 10, 12, 24, 240, 8, NONE, 40, NONE, NONE},
    {5, 360, 10, 12, 88, 312, 8, NONE, 104, NONE, NONE},
    {6, 0, 10, 12, 16, 264, 8, NONE, NONE, 36, 312},
    {7, 0, 10, 12, 24, 296, 8, NONE, NONE, 44, 344},
    {8, 0, 10, 12, 24, 296, 8, NONE, NONE, 44, 344},
};

/* After the partitions comes one number, with padding. */
#define AFTER_PARTITIONS 8
/* A partition begins with the activity of its dies, u32 each. */
#define DIES 8

static uint64_t number_at (const unsigned char *bytes, size_t offset,
                           size_t size)
{
    uint64_t number = 0;

    memcpy (&number, bytes + offset, size); /* of the machine's own order */
    return number;
}

static bool is_all_ones (uint64_t number, size_t size)
{
    return number == UINT64_MAX >> (64 - 8 * size);
}

/* The number x factor; unknown if the GPU does not have it. */
static int64_t value_at (const unsigned char *bytes, size_t offset, size_t size,
                         int64_t factor)
{
    uint64_t number = number_at (bytes, offset, size);

    if (offset == NONE || is_all_ones (number, size)
        || number > (uint64_t)(INT64_MAX / factor))
        return DEVICE_UNKNOWN;
    return (int64_t)number * factor;
}

/* 2^-16 joules to millijoules. */
static int64_t energy_of (uint64_t number)
{
    unsigned __int128 millijoules = (unsigned __int128)number * 1000 >> 16;

    if (is_all_ones (number, sizeof (number)))
        return DEVICE_UNKNOWN;
    return millijoules > INT64_MAX ? INT64_MAX : (int64_t)millijoules;
}

/* Of those that are known. */
static int64_t mean_at (const unsigned char *bytes, size_t offset, size_t size,
                        size_t count, int64_t factor)
{
    int64_t sum = 0, known = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t value = value_at (bytes, offset + i * size, size, factor);
        if (value == DEVICE_UNKNOWN
            || __builtin_add_overflow (sum, value, &sum))
            continue;
        known++;
    }
    return known ? sum / known : DEVICE_UNKNOWN;
}

typedef struct {
    uint64_t bits;
    int64_t reason;
} reason_t;

static int64_t reasons_of (uint64_t bits, const reason_t *reasons, size_t count)
{
    int64_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (bits & reasons[i].bits)
            found |= reasons[i].reason;
        bits &= ~reasons[i].bits;
    }
    return bits ? found | RECORD_THROTTLE_HARDWARE : found;
}

/* SMU_THROTTLER_*_BIT of amdgpu_smu.h: from 0 power, from 16 currents, from 32
 * temperatures, 44 and 45 voltage regulators that are hot. */
static const reason_t general[] = {
    {UINT64_C (0x000000ffffff), RECORD_THROTTLE_POWER},
    {UINT64_C (0x3fff00000000), RECORD_THROTTLE_THERMAL},
};
/* THROTTLER_*_BIT of the MI300 series: 0 PROCHOT, 1 power, 2 to 4 temperatures of
 * socket, regulators and memory. */
static const reason_t of_mi300[] = {
    {0x02, RECORD_THROTTLE_POWER},
    {0x1c, RECORD_THROTTLE_THERMAL},
};

static int64_t throttle_of (const unsigned char *bytes,
                            const struct layout *layout)
{
    uint64_t bits = number_at (bytes, layout->throttle, 8);
    uint64_t status = number_at (bytes, layout->status, 4);

    if (layout->throttle && !is_all_ones (bits, 8))
        return reasons_of (bits, general, GL_ARRAY_SIZE (general));
    if (layout->status && !is_all_ones (status, 4))
        return reasons_of (status, of_mi300, GL_ARRAY_SIZE (of_mi300));
    return DEVICE_UNKNOWN;
}

/* Known only if all are. */
static void read_residencies (const unsigned char *bytes, size_t offset,
                              size_t size, amd_metrics_t *ret)
{
    ret->residency_known = offset != NONE;
    for (size_t i = 0; ret->residency_known && i < AMD_RESIDENCIES; i++) {
        ret->residency[i] = number_at (bytes, offset + i * size, size);
        ret->residency_known = !is_all_ones (ret->residency[i], size);
    }
}

/* What one partition has grew from version to version: the size of all tells. */
static void read_partitions (const unsigned char *bytes, size_t size,
                             size_t offset, amd_metrics_t *ret)
{
    size_t each = (size - offset - AFTER_PARTITIONS) / AMD_PARTITIONS_MAX;

    if (offset == NONE || each < DIES * sizeof (uint32_t))
        return;
    for (size_t i = 0; i < AMD_PARTITIONS_MAX; i++)
        ret->partition_activity[i]
            = mean_at (bytes, offset + i * each, sizeof (uint32_t), DIES, 100);
}

static bool is_whole (const struct layout *layout, size_t size)
{
    return layout->size ? layout->size == size
                        : size >= (size_t)layout->partitions + AFTER_PARTITIONS;
}

static void read_fixed (const unsigned char *bytes, size_t size,
                        amd_metrics_t *ret)
{
    const struct layout *layout
        = GL_FIND (layouts, GL_ARRAY_SIZE (layouts), it,
                   it->content == ret->content && is_whole (it, size));

    if (!layout) {
        ret->format = 0;
        return;
    }
    ret->power = value_at (bytes, layout->power, 2, 1000);
    ret->activity = value_at (bytes, layout->activity, 2, 100);
    ret->energy = energy_of (number_at (bytes, layout->energy, 8));
    ret->clock = mean_at (bytes, layout->clock, 2, layout->clocks, 1);
    ret->throttle = throttle_of (bytes, layout);
    read_residencies (bytes, layout->residency, 4, ret);
    read_partitions (bytes, size, layout->partitions, ret);
}

/* ----------------------------------------------------------------- version 1.9 */

/* The numbers of attributes (enum amdgpu_metrics_attr_id). */
enum {
    ATTRIBUTE_POWER = 3,
    ATTRIBUTE_ACTIVITY = 4,
    ATTRIBUTE_ENERGY = 7,
    ATTRIBUTE_RESIDENCY = 10, /* the first of five */
    ATTRIBUTE_CLOCK = 33,
};

typedef struct {
    unsigned id;
    size_t size; /* of one value */
    size_t count;
    size_t at; /* where the values begin */
} attribute_t;

/* An encoding: bits 0 to 9 how many values, 10 to 19 which attribute, 20 to 23
 * their type: 0 and 1 a byte, then two, four, eight bytes. False: it reaches
 * beyond the table. */
static bool next_attribute (const unsigned char *bytes, size_t size, size_t *at,
                            attribute_t *ret)
{
    uint64_t encoding;

    if (size - *at < sizeof (encoding))
        return false;
    encoding = number_at (bytes, *at, sizeof (encoding));
    if ((encoding >> 20 & 0xf) > 7)
        return false;
    *ret = (attribute_t){.id = encoding >> 10 & 0x3ff,
                         .size = (size_t)1 << (encoding >> 21 & 0x3),
                         .count = encoding & 0x3ff,
                         .at = *at + sizeof (encoding)};
    if (ret->size * ret->count > size - ret->at)
        return false;
    *at = ret->at + ret->size * ret->count;
    return true;
}

static void take_attribute (const unsigned char *bytes, const attribute_t *a,
                            unsigned *residencies, amd_metrics_t *ret)
{
    uint64_t first = a->count ? number_at (bytes, a->at, a->size) : 0;
    size_t residency = a->id - ATTRIBUTE_RESIDENCY;

    if (!a->count)
        return;
    if (a->id == ATTRIBUTE_POWER)
        ret->power = value_at (bytes, a->at, a->size, 1000);
    else if (a->id == ATTRIBUTE_ACTIVITY)
        ret->activity = value_at (bytes, a->at, a->size, 100);
    else if (a->id == ATTRIBUTE_ENERGY && a->size == sizeof (first))
        ret->energy = energy_of (first);
    else if (a->id == ATTRIBUTE_CLOCK)
        ret->clock = mean_at (bytes, a->at, a->size, a->count, 1);
    else if (residency < AMD_RESIDENCIES && !is_all_ones (first, a->size)) {
        ret->residency[residency] = first;
        *residencies |= 1u << residency;
    }
}

/* Whole only if all attributes are there that it says it has. */
static void read_attributes (const unsigned char *bytes, size_t size,
                             amd_metrics_t *ret)
{
    uint64_t count = size < 8 ? 0 : number_at (bytes, 4, 4);
    unsigned residencies = 0;
    size_t at = 8;

    for (; count > 0; count--) {
        attribute_t attribute;
        if (!next_attribute (bytes, size, &at, &attribute))
            break;
        take_attribute (bytes, &attribute, &residencies, ret);
    }
    ret->residency_known = residencies == (1u << AMD_RESIDENCIES) - 1;
    if (count > 0 || size < 8)
        ret->format = 0;
}

/* ---------------------------------------------------------------------- tables */

static amd_metrics_t unknown (unsigned format, unsigned content)
{
    amd_metrics_t metrics = {.format = format,
                             .content = content,
                             .energy = DEVICE_UNKNOWN,
                             .activity = DEVICE_UNKNOWN,
                             .power = DEVICE_UNKNOWN,
                             .clock = DEVICE_UNKNOWN,
                             .throttle = DEVICE_UNKNOWN};

    for (size_t i = 0; i < AMD_PARTITIONS_MAX; i++)
        metrics.partition_activity[i] = DEVICE_UNKNOWN;
    return metrics;
}

void amd_metrics_read (const void *bytes, size_t size, amd_metrics_t *ret)
{
    const unsigned char *table = bytes;

    *ret = unknown (0, 0);
    /* a table may be shorter than the file, never longer */
    if (size < 4 || number_at (table, 0, 2) < 4
        || number_at (table, 0, 2) > size)
        return;
    size = number_at (table, 0, 2);
    *ret = unknown (table[2], table[3]);
    if (ret->format != 1)
        return;
    if (ret->content == 9)
        read_attributes (table, size, ret);
    else
        read_fixed (table, size, ret);
    if (ret->format == 0)
        *ret = unknown (0, 0);
}

int64_t amd_metrics_throttle (const amd_metrics_t *before,
                              const amd_metrics_t *now)
{
    static const int64_t reasons[AMD_RESIDENCIES] = {
        RECORD_THROTTLE_HARDWARE,                          /* PROCHOT */
        RECORD_THROTTLE_POWER,    RECORD_THROTTLE_THERMAL, /* of the socket */
        RECORD_THROTTLE_THERMAL, /* of voltage regulators */
        RECORD_THROTTLE_THERMAL, /* of the memory */
    };
    int64_t found = 0;

    if (!before->residency_known || !now->residency_known)
        return DEVICE_UNKNOWN;
    for (size_t i = 0; i < AMD_RESIDENCIES; i++)
        if (before->residency[i] != now->residency[i])
            found |= reasons[i];
    return found;
}
