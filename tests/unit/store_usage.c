/* The bytes that the measures of a stretch are packed into. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

#include "base/memory.h"
#include "store/store.h"
#include "store/usage.h"

/* A small generator of our own, so that a seed means the same everywhere. */
static uint64_t seed;
static uint64_t dice (uint64_t sides)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (seed >> 20) % sides;
}

/* Unknown, likely, small, large, the largest. */
static int64_t random_measure (int64_t length)
{
    switch (dice (6)) {
    case 0:
        return MEASURE_UNKNOWN;
    case 1:
        return length;
    case 2:
        return (int64_t)dice (3);
    case 3:
        return INT64_MAX - (int64_t)dice (3);
    default:
        return (int64_t)(dice (UINT64_C (1) << 43));
    }
}

static int64_t *measures (device_usage_t *u, size_t *ret_count)
{
    *ret_count
        = (sizeof (*u) - offsetof (device_usage_t, samples)) / sizeof (int64_t);
    return &u->samples;
}

/* Everything but the histogram, and what is stored apart. */
static device_usage_t random_usage (void)
{
    device_usage_t u = {.begin_ms = 1000};
    size_t count;
    int64_t *p = measures (&u, &count);

    u.end_ms = u.begin_ms + (int64_t)dice (STORE_STRETCH_MAX_MS + 1);
    for (size_t i = 0; i < count; i++)
        p[i] = random_measure (u.end_ms - u.begin_ms);
    u.memory_total = u.gres_index = 0;
    u.utilization_histogram = NULL;
    return u;
}

static void random_bins (const device_usage_t *u, char *text)
{
    uint64_t rest = u->utilization_ms > 0 ? (uint64_t)u->utilization_ms : 0;

    for (int i = 0; i < USAGE_BINS; i++) {
        uint64_t bin = dice (3) ? 0 : dice (rest + 1);
        if (i == USAGE_BINS - 1 && dice (2))
            bin = rest;
        rest -= bin <= rest ? bin : 0;
        text += sprintf (text, "%s%llu", i ? "," : "", (unsigned long long)bin);
    }
}

static void assert_comes_out_the_same (const device_usage_t *u)
{
    device_usage_t out = {.begin_ms = u->begin_ms, .end_ms = u->end_ms};
    char histogram[USAGE_HISTOGRAM_MAX + 1];
    uint8_t bytes[USAGE_PACKED_MAX];
    gl_error_t error = {""};
    size_t length;

    if (usage_check (u, &error) < 0)
        fail_msg ("%s", error.text);
    length = usage_pack (u, bytes);
    assert_in_range (length, 1, sizeof (bytes));
    assert_int_equal (usage_unpack (&out, bytes, length, histogram), 0);
    assert_int_equal (usage_compare (u, &out), 0);
    /* one byte less or more is damage; but a last byte of 0 may be missing */
    if (bytes[length - 1] > 0x02)
        assert_int_equal (usage_unpack (&out, bytes, length - 1, histogram),
                          -1);
    bytes[length] = 0;
    assert_int_equal (usage_unpack (&out, bytes, length + 1, histogram), -1);
}

TEST_CASE (pack__any_measures__come_out_the_same)
{
    seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[USAGE_HISTOGRAM_MAX + 1];
        device_usage_t u = random_usage ();

        if (dice (4)) {
            random_bins (&u, text);
            u.utilization_histogram = text;
        }
        assert_comes_out_the_same (&u);
    }
}

TEST_CASE (pack__any_text_as_histogram__comes_out_the_same)
{
    char text[USAGE_HISTOGRAM_MAX + 1];
    static const char letters[] = "0123456789,,,,- x";
    device_usage_t u;

    seed = 2;
    for (int i = 0; i < 20000; i++) {
        size_t length = dice (dice (10) ? 60 : sizeof (text));
        for (size_t k = 0; k < length; k++)
            text[k] = letters[dice (sizeof (letters) - 1)];
        text[length] = '\0';
        u = random_usage ();
        u.utilization_histogram = text;
        assert_comes_out_the_same (&u);
    }
}

/* The measures above at their longest. */
TEST_CASE (pack__everything_at_its_longest__fits)
{
    char text[USAGE_HISTOGRAM_MAX + 1];
    device_usage_t u = {.begin_ms = 0, .end_ms = STORE_STRETCH_MAX_MS};
    size_t count;
    int64_t *p = measures (&u, &count);

    memset (text, '7', sizeof (text) - 1);
    text[sizeof (text) - 1] = '\0';
    for (size_t i = 0; i < count; i++)
        p[i] = INT64_MAX - (int64_t)i;
    u.memory_total = u.gres_index = 0;
    u.utilization_histogram = text;
    assert_comes_out_the_same (&u);
}

TEST_CASE (unpack__any_bytes__no_harm)
{
    char histogram[USAGE_HISTOGRAM_MAX + 1];
    int good = 0;

    seed = 3;
    for (int i = 0; i < 200000; i++) {
        size_t length = dice (dice (4) ? 64 : 1024);
        /* no byte more than there is, so that a reader past the end shows */
        uint8_t *bytes = xmalloc (length ? length : 1);
        device_usage_t u = {.begin_ms = 0, .end_ms = 3600000};

        for (size_t k = 0; k < length; k++)
            bytes[k] = (uint8_t)(dice (3) ? dice (8) : dice (256));
        if (usage_unpack (&u, bytes, length, histogram) == 0) {
            gl_error_t error;
            good++;
            assert_true (!u.utilization_histogram
                         || strlen (u.utilization_histogram)
                                <= USAGE_HISTOGRAM_MAX);
            u.memory_total = u.gres_index = 0;
            assert_int_equal (usage_check (&u, &error), 0);
        }
        free (bytes);
    }
    assert_true (good > 0);
}

/* Stored bytes keep their meaning. */
TEST_CASE (unpack__stored_bytes__read_as_ever)
{
    static const uint8_t bytes[]
        = {0xe9, 0x02, 0x01, 0xc1, 0x3d, 0x01, 0x02, 0x01, 0x81, 0x08,
           0x01, 0x91, 0x4e, 0x0b, 0x82, 0xb5, 0x18, 0x65, 0x00, 0x00,
           0x00, 0x15, 0x00, 0x03, 0x02, 0x05, 0x01, 0x02, 0x02, 0x04,
           0x01, 0x00, 0x02, 0x83, 0x80, 0x20, 0xe8, 0x07, 0x00};
    device_usage_t u = {.begin_ms = 1000, .end_ms = 3601000};
    char histogram[USAGE_HISTOGRAM_MAX + 1];
    uint8_t again[USAGE_PACKED_MAX];

    assert_int_equal (usage_unpack (&u, bytes, sizeof (bytes), histogram), 0);
    assert_int_equal (u.samples, 360);
    assert_int_equal (u.samples_expected, 360);
    assert_int_equal (u.energy_mj, 7872);
    assert_int_equal (u.energy_ms, 3600000);
    assert_int_equal (u.energy_rule, 1);
    assert_int_equal (u.counter_resets, 0);
    assert_int_equal (u.utilization_sum, 1024);
    assert_int_equal (u.utilization_ms, 3600000);
    assert_int_equal (u.utilization_max, 10000);
    assert_int_equal (u.memory_sum, 10);
    assert_int_equal (u.memory_ms, 400000);
    assert_int_equal (u.memory_max, 100);
    assert_int_equal (u.power_sum, MEASURE_UNKNOWN);
    assert_int_equal (u.power_ms, MEASURE_UNKNOWN);
    assert_int_equal (u.power_max, MEASURE_UNKNOWN);
    assert_int_equal (u.clock_sum, 20);
    assert_int_equal (u.clock_ms, MEASURE_UNKNOWN);
    assert_int_equal (u.throttle_ms, 1);
    assert_int_equal (u.throttled_ms, 0);
    assert_int_equal (u.throttle_reasons, 4);
    assert_int_equal (u.processes_ms, 400000);
    assert_int_equal (u.processes_max, 1);
    assert_int_equal (u.no_process_ms, 0);
    assert_int_equal (u.idle_ms, 2);
    assert_int_equal (u.idle_longest_ms, 2);
    assert_int_equal (u.idle_rule, MEASURE_UNKNOWN);
    assert_int_equal (u.holders, 1);
    assert_string_equal (u.utilization_histogram,
                         "1000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3599000");
    assert_int_equal (usage_pack (&u, again), sizeof (bytes));
    assert_memory_equal (again, bytes, sizeof (bytes));
}

TEST_CASE (compare__by_end_then_value__a_total_order)
{
    device_usage_t usages[60];

    seed = 4;
    for (size_t i = 0; i < GL_ARRAY_SIZE (usages); i++) {
        static const char *const words[] = {NULL, "", "a", "b"};
        usages[i] = (device_usage_t){.end_ms = (int64_t)dice (2),
                                     .node = words[dice (4)],
                                     .slice = words[dice (4)],
                                     .gres_index = (int64_t)dice (2),
                                     .holders = (int64_t)dice (2)};
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (usages); i++) {
        for (size_t k = 0; k < GL_ARRAY_SIZE (usages); k++) {
            int order = usage_compare (&usages[i], &usages[k]);
            assert_true ((order > 0)
                         == (usage_compare (&usages[k], &usages[i]) < 0));
            for (size_t l = 0; order > 0 && l < GL_ARRAY_SIZE (usages); l++) {
                if (usage_compare (&usages[k], &usages[l]) > 0)
                    assert_true (usage_compare (&usages[i], &usages[l]) > 0);
            }
        }
    }
    usages[0] = (device_usage_t){.end_ms = 2};
    usages[1] = (device_usage_t){.end_ms = 1, .holders = 9, .node = "z"};
    assert_true (usage_compare (&usages[0], &usages[1]) > 0);
}

TEST_MAIN (NULL, NULL)
