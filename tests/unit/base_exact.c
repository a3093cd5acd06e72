#include "support/test.h"

#include <stdio.h>

#include "base/exact.h"
#include "base/limbs.h"
#include "base/memory.h"
#include "base/number.h"

static void check_text (const char *input, int digits, const char *expected)
{
    mpq_t q;
    gl_error_t error;
    char *text;

    mpq_init (q);
    assert_int_equal (exact_parse (input, q, &error), 0);
    text = exact_text (q, digits);
    assert_string_equal (text, expected);
    free (text);
    mpq_clear (q);
}

TEST_CASE (exact_text__halves__go_to_the_even_neighbour)
{
    check_text ("0.005", 2, "0.00");
    check_text ("0.015", 2, "0.02");
    check_text ("-0.015", 2, "-0.02");
    check_text ("-0.005", 2, "0.00");
    check_text ("2.5", 0, "2");
    check_text ("3.5", 0, "4");
    check_text ("425000", 2, "425000.00");
    check_text ("0.1", 10, "0.1000000000");
}

TEST_CASE (exact_parse__other_texts__are_refused)
{
    static const char *const texts[]
        = {"",      "-",
           ".5",    "5.",
           "1.2.3", "1e3",
           " 1",    "1 ",
           "0x10",  "1,5",
           "nan",   "--1",
           "+1",    "11111111111111111111111111111111111111111"};
    gl_error_t error;
    mpq_t q;

    mpq_init (q);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        assert_int_equal (exact_parse (texts[i], q, &error), -1);
    mpq_clear (q);
}

/* Expected results: docs/decisions/exact-rationals.md. */
TEST_CASE (exact_share__published_splits__are_reproduced)
{
    static const struct {
        int64_t total;
        int count;
        int64_t weights[7];
        int64_t expected[7];
    } cases[] = {
        {1000, 3, {3, 3, 1}, {429, 428, 143}},
        {10000, 3, {1, 1, 1}, {3334, 3333, 3333}},
        {5, 7, {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 0, 0}},
        {-1000, 3, {1, 1, 1}, {-334, -333, -333}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        mpq_t parts[7];
        mpz_t units[7], total;
        gl_error_t error;
        int64_t sum = 0;

        mpz_init_set_si (total, cases[i].total);
        for (int k = 0; k < cases[i].count; k++)
            sum += cases[i].weights[k];
        for (int k = 0; k < cases[i].count; k++) {
            mpq_init (parts[k]);
            mpz_init (units[k]);
            exact_set_i64 (parts[k], cases[i].total * cases[i].weights[k], sum);
        }
        assert_int_equal (exact_share (total, (const mpq_t *)parts,
                                       cases[i].count, units, &error),
                          0);
        for (int k = 0; k < cases[i].count; k++) {
            assert_int_equal (mpz_get_si (units[k]), cases[i].expected[k]);
            mpq_clear (parts[k]);
            mpz_clear (units[k]);
        }
        mpz_clear (total);
    }
}

/* Any amounts, also negative ones among them: the parts add up, none is off by
 * a unit or more. */
TEST_CASE (exact_share__seeded_amounts__add_up)
{
    enum { N = 40 };
    mpq_t parts[N], sum, difference;
    mpz_t units[N], total, check;
    gl_error_t error;

    srand (20261005);
    mpq_inits (sum, difference, NULL);
    mpz_inits (total, check, NULL);
    for (int i = 0; i < N; i++) {
        mpq_init (parts[i]);
        mpz_init (units[i]);
    }
    for (int round = 0; round < 2000; round++) {
        int count = 1 + rand () % N;
        mpq_set_ui (sum, 0, 1);
        for (int i = 0; i < count; i++) {
            exact_set_i64 (parts[i], rand () % 200000 - 50000,
                           1 + rand () % 977);
            mpq_add (sum, sum, parts[i]);
        }
        exact_round (total, sum, 0);
        assert_int_equal (
            exact_share (total, (const mpq_t *)parts, count, units, &error), 0);
        mpz_set_ui (check, 0);
        for (int i = 0; i < count; i++) {
            mpz_add (check, check, units[i]);
            mpq_set_z (difference, units[i]);
            mpq_sub (difference, difference, parts[i]);
            mpq_abs (difference, difference);
            assert_true (mpq_cmp_ui (difference, 1, 1) <= 0);
        }
        assert_int_equal (mpz_cmp (check, total), 0);
    }
    for (int i = 0; i < N; i++) {
        mpq_clear (parts[i]);
        mpz_clear (units[i]);
    }
    mpq_clears (sum, difference, NULL);
    mpz_clears (total, check, NULL);
}

/* Ten days of 0.29 cents are 2.9 cents: 3 in all, and so are their parts. */
TEST_CASE (exact_share_in_order__parts_put_together__are_the_same)
{
    mpq_t parts[10], joined[3];
    mpz_t units[10], joined_units[3], total;
    gl_error_t error;

    mpz_init_set_ui (total, 3);
    for (int i = 0; i < 10; i++) {
        mpq_init (parts[i]);
        mpz_init (units[i]);
        mpq_set_ui (parts[i], 29, 100);
    }
    for (int i = 0; i < 3; i++) {
        mpq_init (joined[i]);
        mpz_init (joined_units[i]);
        mpq_set_ui (joined[i], i == 1 ? 4 * 29 : 3 * 29, 100);
    }
    assert_int_equal (
        exact_share_in_order (total, (const mpq_t *)parts, 10, units, &error),
        0);
    assert_int_equal (exact_share_in_order (total, (const mpq_t *)joined, 3,
                                            joined_units, &error),
                      0);
    for (int i = 0, day = 0; i < 3; i++) {
        for (int n = 0; n < (i == 1 ? 4 : 3); n++, day++) {
            assert_in_range (mpz_get_ui (units[day]), 0, 1);
            mpz_sub (joined_units[i], joined_units[i], units[day]);
            mpz_sub (total, total, units[day]);
        }
        assert_int_equal (mpz_sgn (joined_units[i]), 0);
    }
    assert_int_equal (mpz_sgn (total), 0);
    mpz_set_ui (total, 4);
    assert_int_equal (
        exact_share_in_order (total, (const mpq_t *)parts, 10, units, &error),
        -1);
    for (int i = 0; i < 10; i++) {
        mpq_clear (parts[i]);
        mpz_clear (units[i]);
    }
    for (int i = 0; i < 3; i++) {
        mpq_clear (joined[i]);
        mpz_clear (joined_units[i]);
    }
    mpz_clear (total);
}

/* One sum in three ways, of integers and of parts of 7, 9, 60 and 2^70; large
 * numbers leave the pool of limbs, and come back to it. */
TEST_CASE (exact_gather__a_long_sum__is_that_of_mpq_add)
{
    static const unsigned parts[] = {1, 7, 1, 9, 60, 1};
    mpq_t value, plain, added, gathered;

    mpq_inits (value, plain, added, gathered, NULL);
    for (unsigned i = 0; i < 600; i++) {
        mpq_set_si (value, (long)(i * 7919) - 2000000, 1);
        mpz_set_ui (mpq_denref (value), parts[i % GL_ARRAY_SIZE (parts)]);
        if (i % 100 == 99)
            mpz_mul_2exp (mpq_denref (value), mpq_denref (value), i / 2);
        mpq_canonicalize (value);
        mpq_add (plain, plain, value);
        exact_add (added, value);
        exact_gather (gathered, value);
        assert_true (mpq_equal (plain, added));
    }
    mpq_canonicalize (gathered);
    assert_true (mpq_equal (plain, gathered));
    mpq_clears (value, plain, added, gathered, NULL);
}

/* Equal denominators, whose sums have common divisors; integers to fractions, and
 * fractions to integers. */
TEST_CASE (exact_add__then_subtracted__is_as_mpq_add_and_mpq_sub)
{
    static const long start[][2] = {{0, 1}, {5, 1}, {1, 6}, {-7, 12}};
    mpq_t value, plain, sum;

    mpq_inits (value, plain, sum, NULL);
    for (size_t s = 0; s < GL_ARRAY_SIZE (start); s++)
        for (long i = -40; i <= 40; i++)
            for (unsigned long parts = 1; parts <= 12; parts++) {
                mpq_set_si (value, i, parts);
                mpq_canonicalize (value);
                mpq_set_si (sum, start[s][0], (unsigned long)start[s][1]);
                mpq_add (plain, sum, value);
                exact_add (sum, value);
                assert_true (mpq_equal (plain, sum));
                mpq_set_si (sum, start[s][0], (unsigned long)start[s][1]);
                mpq_sub (plain, sum, value);
                exact_subtract (sum, value);
                assert_true (mpq_equal (plain, sum));
                exact_subtract (sum, sum);
                assert_true (mpq_sgn (sum) == 0
                             && mpz_cmp_ui (mpq_denref (sum), 1) == 0);
            }
    mpq_clears (value, plain, sum, NULL);
}

/* Around the size of a word, at which integers of the machine are too small: by the definition, and as
 * GMP writes it. */
TEST_CASE (exact_round__small_and_large__is_the_nearest_even)
{
    mpz_t units, exact, scale;
    mpq_t value;

    mpz_inits (units, exact, scale, NULL);
    mpq_init (value);
    for (unsigned i = 0; i < 20000; i++) {
        int digits = (int)(i % 11), order;
        GL_AUTOFREE char *text = NULL;
        char wanted[80];
        mpz_set_ui (mpq_numref (value), (unsigned long)rand () * 2654435761U);
        mpz_mul_2exp (mpq_numref (value), mpq_numref (value), i % 40);
        if (i % 2)
            mpz_neg (mpq_numref (value), mpq_numref (value));
        mpz_set_ui (mpq_denref (value), 1 + (unsigned long)rand () % 64);
        mpz_mul_2exp (mpq_denref (value), mpq_denref (value), i % 67);
        exact_round (units, value, digits);
        mpz_ui_pow_ui (scale, 10, (unsigned long)digits);
        mpz_mul (exact, mpq_numref (value), scale);
        mpz_submul (exact, units, mpq_denref (value));
        mpz_mul_2exp (exact, exact, 1);
        order = mpz_cmpabs (exact, mpq_denref (value));
        assert_true (order < 0 || (order == 0 && mpz_even_p (units)));
        text = exact_units_text (units, 0);
        gmp_snprintf (wanted, sizeof (wanted), "%Zd", units);
        assert_string_equal (text, wanted);
    }
    mpz_clears (units, exact, scale, NULL);
    mpq_clear (value);
}

TEST_CASE (exact_units_text__a_static_zero__is_zero)
{
    static const mpz_t none;
    GL_AUTOFREE char *text = exact_units_text (none, 2);

    assert_string_equal (text, "0.00");
}

TEST_CASE (number_write__any_number_and_width__is_as_printf_writes_it)
{
    static const uint64_t numbers[] = {0, 9, 10, 99, 100, 12345, UINT64_MAX};

    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++)
        for (int digits = 0; digits <= 24; digits++) {
            char wanted[32], text[32] = "";
            snprintf (wanted, sizeof (wanted), "%0*llu", digits,
                      (unsigned long long)numbers[i]);
            assert_int_equal (number_write (text, numbers[i], (size_t)digits),
                              strlen (wanted));
            assert_string_equal (text, wanted);
        }
}

TEST_CASE (exact_fraction_text__a_negative__keeps_its_terms)
{
    GL_AUTOFREE char *text = NULL;
    mpq_t value;

    mpq_init (value);
    mpq_set_si (value, -1234567, 1000);
    text = exact_fraction_text (value);
    assert_string_equal (text, "-1234567/1000");
    mpq_clear (value);
}

static int setup (void **state)
{
    (void)state;
    limbs_pool ();
    return 0;
}

TEST_MAIN (setup, NULL)
