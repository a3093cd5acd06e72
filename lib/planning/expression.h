/*
 * expression.h: small arithmetic over named exact numbers, as printed figures
 * are said to follow from their inputs.
 *
 *   numbers      12, 0.56, 1e9, 2.5e-3: as written, never a binary fraction
 *   names        letters, digits and '_', not beginning with a digit
 *   + - * / **   with the usual precedence; ** binds to the right, its exponent
 *                is a whole number of at most 64 either way
 *   comparisons  < <= > >= == != give 1 or 0; chained, a < b < c holds if both do
 *   ceil (x), floor (x), min (a, b ...), max (a, b ...); parentheses as usual
 *
 * Anything else is an error that says where. Text, nesting and numbers are
 * bounded, so that no text takes long. Pure.
 */
#ifndef GL_PLANNING_EXPRESSION_H
#define GL_PLANNING_EXPRESSION_H

#include <gmp.h>
#include <stddef.h>

#include "base/error.h"

typedef struct {
    const char *name; /* borrowed */
    mpq_srcptr value; /* borrowed */
} expression_name_t;

typedef struct {
    const expression_name_t *name;
    size_t count;
} expression_scope_t;

/* -1 with an error: what is not understood, an unknown name, a division by 0. */
int expression_value (const char *text, const expression_scope_t *scope,
                      mpq_t ret_value, gl_error_t *error);

/*
 * How far the value may be off if every number with a decimal point in the text
 * was rounded to the digits that are written: the sum, over these numbers, of
 * the larger change that half a unit of its last digit makes (exact where each
 * stands once and nothing but sums is around it).
 */
int expression_rounding (const char *text, const expression_scope_t *scope,
                         mpq_t ret_bound, gl_error_t *error);

/* "12", "-0.5", "1.5e-3" -> exactly; the numbers of the grammar with a sign. */
int expression_number (const char *text, mpq_t ret_value, gl_error_t *error);

#endif /* !GL_PLANNING_EXPRESSION_H */
