#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"
#include "evidence/evidence.h"

/* What grows with time. The others are maxima, bits, or constant. */
static const size_t sums[] = {
    offsetof (device_usage_t, samples),
    offsetof (device_usage_t, samples_expected),
    offsetof (device_usage_t, energy_mj),
    offsetof (device_usage_t, energy_ms),
    offsetof (device_usage_t, counter_resets),
    offsetof (device_usage_t, utilization_sum),
    offsetof (device_usage_t, utilization_ms),
    offsetof (device_usage_t, memory_sum),
    offsetof (device_usage_t, memory_ms),
    offsetof (device_usage_t, power_sum),
    offsetof (device_usage_t, power_ms),
    offsetof (device_usage_t, clock_sum),
    offsetof (device_usage_t, clock_ms),
    offsetof (device_usage_t, throttled_ms),
    offsetof (device_usage_t, throttle_ms),
    offsetof (device_usage_t, processes_ms),
    offsetof (device_usage_t, no_process_ms),
    offsetof (device_usage_t, idle_ms),
};

struct window {
    int64_t from; /* since the beginning of the stretch */
    int64_t to;
    int64_t whole;
};

/* The running sum at `at`, rounded down. */
static int64_t running (int64_t value, int64_t at, int64_t whole)
{
    return (int64_t)((__int128)value * at / whole);
}

static int64_t share (int64_t value, const struct window *w)
{
    if (value < 0)
        return MEASURE_UNKNOWN;
    return running (value, w->to, w->whole)
           - running (value, w->from, w->whole);
}

static void share_histogram (const char *text, const struct window *w,
                             char histogram[USAGE_HISTOGRAM_SIZE])
{
    size_t used = 0;

    histogram[0] = '\0';
    for (size_t i = 0; i < USAGE_HISTOGRAM_STEPS; i++) {
        int64_t value = 0;
        while (*text >= '0' && *text <= '9' && value < INT64_MAX / 20)
            value = value * 10 + (*text++ - '0');
        if (*text == ',')
            text++;
        used += (size_t)snprintf (histogram + used, USAGE_HISTOGRAM_SIZE - used,
                                  "%s%" PRId64, i ? "," : "", share (value, w));
    }
}

int64_t usage_share_number (const device_usage_t *usage, int64_t value,
                            int64_t from_ms, int64_t to_ms)
{
    struct window w = {from_ms - usage->begin_ms, to_ms - usage->begin_ms,
                       usage->end_ms - usage->begin_ms};

    return share (value, &w);
}

void usage_share (const device_usage_t *usage, int64_t from_ms, int64_t to_ms,
                  device_usage_t *ret, char histogram[USAGE_HISTOGRAM_SIZE])
{
    struct window w = {from_ms - usage->begin_ms, to_ms - usage->begin_ms,
                       usage->end_ms - usage->begin_ms};

    *ret = *usage;
    ret->begin_ms = from_ms;
    ret->end_ms = to_ms;
    if (w.from == 0 && w.to == w.whole)
        return;
    ret->utilization_histogram = NULL;
    for (size_t i = 0; i < GL_ARRAY_SIZE (sums); i++) {
        int64_t *value = (int64_t *)((char *)ret + sums[i]);
        *value = share (*value, &w);
    }
    if (usage->utilization_histogram && histogram) {
        share_histogram (usage->utilization_histogram, &w, histogram);
        ret->utilization_histogram = histogram;
    }
}
