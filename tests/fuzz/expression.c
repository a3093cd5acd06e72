/* expression.c: any text as arithmetic over a few names. What has a value has
 * the same one in parentheses, and a bound of its rounding that is not below 0. */
#include "fuzz/fuzz.h"
#include "planning/expression.h"

static void check_value (const char *text, const expression_scope_t *scope)
{
    gl_error_t error = {0};
    char *inside = malloc (strlen (text) + 3);
    mpq_t value, again;
    int rc;

    REQUIRE (inside);
    sprintf (inside, "(%s)", text);
    mpq_inits (value, again, NULL);
    rc = expression_value (text, scope, value, &error);
    REQUIRE (rc == 0 || error.text[0]);
    /* longer and deeper by one: it may be refused for that */
    if (rc == 0 && expression_value (inside, scope, again, &error) == 0)
        REQUIRE (mpq_equal (value, again));
    if (rc == 0 && expression_rounding (text, scope, again, &error) == 0)
        REQUIRE (mpq_sgn (again) >= 0);
    mpq_clears (value, again, NULL);
    free (inside);
}

/* What is a number alone is one as an expression, too. */
static void check_number (const char *text, const expression_scope_t *scope)
{
    gl_error_t error = {0};
    mpq_t number, value;

    mpq_inits (number, value, NULL);
    if (expression_number (text, number, &error) < 0)
        REQUIRE (error.text[0]);
    else if (expression_value (text, scope, value, &error) == 0)
        REQUIRE (mpq_equal (number, value));
    mpq_clears (number, value, NULL);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    char *text = calloc (size + 1, 1);
    mpq_t third, zero;
    expression_name_t names[] = {{"third", third}, {"zero", zero}};
    const expression_scope_t scope = {names, 2};

    REQUIRE (text);
    if (size > 0)
        memcpy (text, data, size);
    mpq_inits (third, zero, NULL);
    mpq_set_ui (third, 1, 3);
    check_value (text, &scope);
    check_number (text, &scope);
    mpq_clears (third, zero, NULL);
    free (text);
    return 0;
}
