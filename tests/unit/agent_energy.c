/* agent_energy.c: what a counter's difference is worth, and its parts. */
#include <config.h>

#include "support/test.h"

#include "base/memory.h"

#include "devices/device.h"
#include "energy.h"

static int64_t sum (const int64_t *parts, size_t count)
{
    int64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += parts[i];
    return total;
}

TEST_CASE (energy_plausible__around_the_cap__judged)
{
    /* 700 W for 10 s, and one of slack, half as much again: 11550 J */
    assert_true (energy_plausible (11550000, 10000, 700000));
    assert_false (energy_plausible (11550001, 10000, 700000));
    assert_true (energy_plausible (0, 0, 700000));
    assert_false (energy_plausible (-1, 10000, 700000));
    /* seen in the wild */
    assert_false (
        energy_plausible (INT64_C (9223372036854775794), 10000, 700000));
    assert_false (energy_plausible (INT64_MAX, INT64_MAX - ENERGY_SLACK_MS, 1));
}

TEST_CASE (energy_plausible__limit_unknown__two_kilowatts)
{
    assert_true (energy_plausible (33000000, 10000, DEVICE_UNKNOWN));
    assert_false (energy_plausible (33000001, 10000, DEVICE_UNKNOWN));
}

TEST_CASE (energy_until__any_cuts__differences_sum)
{
    const int64_t cuts[] = {1, 777, 3333, 3334, 9999, 10000};
    int64_t before = 0, total = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cuts); i++) {
        int64_t until = energy_until (1234567, cuts[i], 10000);
        total += until - before;
        assert_true (until >= before);
        before = until;
    }
    assert_int_equal (total, 1234567);
}

TEST_CASE (energy_until__large_values__no_overflow)
{
    assert_int_equal (energy_until (INT64_MAX, INT64_MAX / 2, INT64_MAX / 2),
                      INT64_MAX);
}

TEST_CASE (energy_divide__table__largest_remainder)
{
    static const struct {
        int64_t total, weights[4], parts[4];
    } rows[] = {
        {100, {1, 2, 3, 1}, {14, 29, 43, 14}}, /* .29 .57 .86 .29 */
        {10, {1, 1, 1, 0}, {4, 3, 3, 0}},      /* a tie: the first */
        {11, {1, 1, 1, 0}, {4, 4, 3, 0}},      {0, {1, 2, 3, 4}, {0, 0, 0, 0}},
        {1, {0, 0, 0, 7}, {0, 0, 0, 1}},
    };
    int64_t parts[4];

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        assert_true (energy_divide (rows[i].total, rows[i].weights, 4, parts));
        assert_memory_equal (parts, rows[i].parts, sizeof (parts));
        assert_int_equal (sum (parts, 4), rows[i].total);
    }
}

TEST_CASE (energy_divide__no_weight__nothing_divided)
{
    int64_t weights[2] = {0, 0}, parts[2];

    assert_false (energy_divide (5, weights, 2, parts));
}

TEST_MAIN (NULL, NULL)
