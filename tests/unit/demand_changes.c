/* Changes at instants, in order of time, against a table of every second; and quantiles
 * of counts against a sorted list. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "demand/changes.h"
#include "demand/tally.h"

#define START INT64_C (1764547200)
#define SECONDS 20000
#define CHANGES 5000

static uint64_t random_state;

static uint64_t number (uint64_t below)
{
    random_state
        = random_state * UINT64_C (6364136223846793005) + 1442695040888963407U;
    return (random_state >> 33) % below;
}

TEST_CASE (changes__of_any_order__come_in_that_of_time)
{
    static const int64_t by[] = {50400, 100800, 7200, INT64_C (50400) * 100000};
    static int64_t wanted[SECONDS + 1][CHANGES_KINDS];

    for (uint64_t seed = 1; seed <= 20; seed++) {
        changes_t *c = changes_new (START);
        int64_t at, sum[CHANGES_KINDS], last = -1;
        memset (wanted, 0, sizeof (wanted));
        random_state = seed;
        for (size_t i = 0; i < CHANGES; i++) {
            int64_t when = (int64_t)number (SECONDS + 1);
            unsigned kind = (unsigned)number (CHANGES_KINDS);
            int64_t value = by[number (GL_ARRAY_SIZE (by))];
            value = number (2) ? value : -value;
            if (seed % 5 == 0) /* most of the time nothing */
                when = when / 8000 * 8000;
            changes_add (c, START + when, kind, value);
            wanted[when][kind] += value;
        }
        while (changes_next (c, &at, sum)) {
            at -= START;
            assert_true (at > last && at <= SECONDS);
            for (int64_t i = last + 1; i < at; i++)
                assert_true (wanted[i][0] == 0 && wanted[i][1] == 0);
            assert_int_equal (sum[0], wanted[at][0]);
            assert_int_equal (sum[1], wanted[at][1]);
            last = at;
        }
        for (int64_t i = last + 1; i <= SECONDS; i++)
            assert_true (wanted[i][0] == 0 && wanted[i][1] == 0);
        changes_free (c);
    }
}

TEST_CASE (changes__none__end_at_once)
{
    changes_t *c = changes_new (START);
    int64_t at, sum[CHANGES_KINDS];

    assert_false (changes_next (c, &at, sum));
    changes_free (c);
    changes_free (NULL);
}

TEST_CASE (changes__far_from_the_start__are_exact)
{
    const int64_t far = INT64_C (4000000000); /* 126 years */
    changes_t *c = changes_new (START);
    int64_t at, sum[CHANGES_KINDS];

    changes_add (c, START + far, 1, -7);
    assert_true (changes_next (c, &at, sum));
    assert_int_equal (at, START + far);
    assert_int_equal (sum[1], -7);
    assert_false (changes_next (c, &at, sum));
    changes_free (c);
}

static int compare (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

TEST_CASE (tally__quantiles__are_the_nearest_rank)
{
    static int64_t all[3 * CHANGES];

    for (uint64_t seed = 1; seed <= 20; seed++) {
        tally_t t = {0};
        size_t count = 0;
        random_state = seed;
        for (size_t i = 0; i < CHANGES; i++) {
            int64_t key = (int64_t)number (seed % 2 ? 50 : 1000000);
            uint64_t times = 1 + number (3);
            tally_add (&t, key, times);
            while (times-- > 0)
                all[count++] = key;
        }
        qsort (all, count, sizeof (*all), compare);
        assert_int_equal (tally_total (&t), count);
        for (unsigned percent = 1; percent <= 100; percent++)
            assert_int_equal (tally_quantile (&t, percent, 100),
                              all[(count * percent + 99) / 100 - 1]);
        tally_clear (&t);
    }
}

TEST_CASE (tally__large_counts_and_keys__are_kept)
{
    tally_t t = {0};

    assert_int_equal (tally_quantile (&t, 50, 100), 0);
    for (size_t i = 0; i < 100; i++)
        tally_add (&t, 7, UINT64_C (3000000000));
    tally_add (&t, INT64_C (1) << 40, UINT64_C (300000000000));
    assert_int_equal (tally_total (&t), UINT64_C (600000000000));
    assert_int_equal (tally_quantile (&t, 50, 100), 7);
    assert_int_equal (tally_quantile (&t, 51, 100), UINT32_MAX);
    tally_clear (&t);
}

TEST_MAIN (NULL, NULL)
