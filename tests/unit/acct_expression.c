#include <stdio.h>

#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "planning/expression.h"

static const char *value_of (const char *text)
{
    static char result[GL_ERROR_SIZE];
    expression_name_t names[2];
    expression_scope_t scope = {names, 2};
    gl_error_t error;
    mpq_t a, b, value;

    mpq_inits (a, b, value, NULL);
    exact_set_i64 (a, 7, 2);
    exact_set_i64 (b, -3, 1);
    names[0] = (expression_name_t){"a", a};
    names[1] = (expression_name_t){"b_2", b};
    if (expression_value (text, &scope, value, &error) < 0)
        snprintf (result, sizeof (result), "%s", error.text);
    else {
        GL_AUTOFREE char *decimal = exact_shortest (value);
        snprintf (result, sizeof (result), "%s", decimal);
    }
    mpq_clears (a, b, value, NULL);
    return result;
}

TEST_CASE (expression_value__what_the_grammar_has__is_exact)
{
    static const char *const cases[][2] = {
        {"1+2*3", "7"},         {"(1+2)*3", "9"},
        {"10-4-3", "3"},        {"24/4/2", "3"},
        {"2**3**2", "512"},     {"2**-2", "0.25"},
        {"-2**2", "-4"},        {"(-2)**2", "4"},
        {"0.1+0.2", "0.3"},     {"0.1+0.2==0.3", "1"},
        {"1e9", "1000000000"},  {"2.5e-3", "0.0025"},
        {"1024**3", "1073741824"}, {"a*2", "7"},
        {"a+b_2", "0.5"},       {"--3", "3"},
        {"2*-3", "-6"},         {"ceil(7/2)", "4"},
        {"ceil(-3.5)", "-3"},   {"ceil ( 4 )", "4"},
        {" 1 + 1 ", "2"},       {"1<2", "1"},
        {"1<2<3", "1"},         {"1<3<2", "0"},
        {"3>=3>2!=5", "1"},     {"2<=1", "0"},
        {"a>b_2", "1"},         {"1/3", "0.333333"},
        {".5*2", "1"},          {"0**0", "1"},
        {"floor(7/2)", "3"},    {"floor(-3.5)", "-4"},
        {"min(3, 1, 2)", "1"},  {"max(a, b_2, -9)", "3.5"},
        {"max(1<2, 0)", "1"},   {"min(max(5, 2), 4) * 2", "8"},
        {"max ( 7 )", "7"},     {"2 * min(1, 2) ** 2", "2"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++)
        if (strcmp (value_of (cases[i][0]), cases[i][1]) != 0)
            fail_msg ("%s is %s, not %s", cases[i][0], value_of (cases[i][0]),
                      cases[i][1]);
}

TEST_CASE (expression_value__anything_else__is_refused_with_its_place)
{
    static const char *const cases[][2] = {
        {"", "a number is expected at character 1"},
        {"1+", "a number is expected at character 3"},
        {"1 2", "unexpected text at character 3"},
        {"(1", "')' is expected at character 3"},
        {"c+1", "unknown name at character 1"},
        {"aa", "unknown name at character 1"},
        {"round(1)", "unknown name"},
        {"floor(1, 2)", "')' is expected"},
        {"max(1, )", "a number is expected"},
        {"min()", "a number is expected"},
        {"min(1, 2", "')' is expected"},
        {"ceil 1", "unknown name"},
        {"1/0", "a division by 0"},
        {"1/(a-3.5)", "a division by 0"},
        {"0**-1", "a division by 0"},
        {"2**0.5", "whole number of at most 64"},
        {"2**65", "whole number of at most 64"},
        {"9**64**2", "whole number"},
        {"1e99", "the exponent is too large"},
        {"1e", "an exponent has no digits"},
        {"1;2", "unexpected text at character 2"},
        {"__import__('os')", "unknown name"},
        {"1.2.3", "unexpected text"},
        {"((((((((((((((((((((((((((((((((((1", "too many parentheses"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++)
        if (!strstr (value_of (cases[i][0]), cases[i][1]))
            fail_msg ("%s: %s", cases[i][0], value_of (cases[i][0]));
}

/* Squares of squares: stopped before they fill the memory. */
TEST_CASE (expression_value__numbers_that_grow__are_stopped)
{
    assert_non_null (
        strstr (value_of ("(((3**64)**64)**64)**64"), "too large"));
}

TEST_CASE (expression_rounding__each_decimal__counts_half_a_unit)
{
    static const expression_scope_t nothing = {NULL, 0};
    static const char *const cases[][2] = {
        {"2.53+0.84+0.091+0.10", "0.0155"}, {"3", "0"},
        {"3560*2.5", "178"},                {"0.5-0.25", "0.055"},
        {"2.5e3", "50"},
    };
    gl_error_t error;
    mpq_t bound;

    mpq_init (bound);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        char *text;
        assert_int_equal (
            expression_rounding (cases[i][0], &nothing, bound, &error), 0);
        text = exact_shortest (bound);
        assert_string_equal (text, cases[i][1]);
        free (text);
    }
    mpq_clear (bound);
}

TEST_CASE (expression_number__a_number_alone__is_taken)
{
    gl_error_t error;
    mpq_t value;

    mpq_init (value);
    assert_int_equal (expression_number ("-1.5e-1", value, &error), 0);
    assert_int_equal (mpq_cmp_si (value, -3, 20), 0);
    assert_int_equal (expression_number ("1+1", value, &error), -1);
    assert_int_equal (expression_number ("", value, &error), -1);
    assert_int_equal (expression_number ("-", value, &error), -1);
    assert_int_equal (expression_number ("1 ", value, &error), -1);
    mpq_clear (value);
}

TEST_MAIN (NULL, NULL)
