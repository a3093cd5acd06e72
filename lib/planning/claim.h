/*
 * claim.h: published figures judged: do they follow from their inputs?
 *
 * A claim is a case: inputs, and figures that are computed from them one after
 * the other (a later one may use an earlier one), some of which have been printed
 * somewhere. docs/formats/claims.md is its form in a file. Of each figure the
 * finding is
 *
 *   unprinted   nothing was printed for it
 *   follows     the printed figure is within its own rounding of the value
 *   rounded     it is not, but it follows from another figure of the claim that
 *               prints the same, and the rounding of the numbers written in that
 *               one's expression accounts for the difference: parts were added
 *               that had been rounded before
 *   unit        the number follows, its printed unit is not the figure's
 *   differs     none of these
 *
 * and of the whole claim the verdict is the first that holds:
 *
 *   stated        there is no figure to compute
 *   inconsistent  some figure differs or has another unit, or what a gap of the
 *                 text must have held is not the value
 *   verified_with_rounding_flag  some figure is rounded
 *   verified      all that was printed follows
 *   derived       nothing was printed: the values are computed, and there is
 *                 nothing to compare them with
 *
 * Inputs, expressions and printed figures decide, nothing else: neither what a
 * case or a figure is called, nor what a file says of itself (kind, status, values).
 * Exact. Pure.
 */
#ifndef GL_PLANNING_CLAIM_H
#define GL_PLANNING_CLAIM_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum {
    CLAIM_UNPRINTED,
    CLAIM_FOLLOWS,
    CLAIM_ROUNDED,
    CLAIM_UNIT,
    CLAIM_DIFFERS,
} claim_finding_t;

typedef enum {
    CLAIM_STATED,
    CLAIM_INCONSISTENT,
    CLAIM_VERIFIED_ROUNDED,
    CLAIM_VERIFIED,
    CLAIM_DERIVED,
} claim_verdict_t;

/* "follows"; "verified_with_rounding_flag". */
const char *claim_finding_word (claim_finding_t finding);
const char *claim_verdict_word (claim_verdict_t verdict);

/* A number that may not be there. */
typedef struct {
    bool given;
    mpq_t value; /* initialised whenever the figure is */
} claim_number_t;

typedef struct {
    char *name;
    char *expression;
    char *unit;         /* NULL: not told */
    char *printed_unit; /* NULL: that of the figure */
    claim_number_t printed;
    claim_number_t printed_tolerance; /* not given: 0 */
    claim_number_t lost;       /* what a gap of the text must have held */
    claim_number_t told;       /* the value as the file has it */
    claim_number_t tolerance;  /* of `told` and `lost`; not given: 0 */
    /* computed */
    mpq_t value;
    claim_finding_t finding;
    bool told_differs; /* the file's own value is another */
} claim_figure_t;

typedef struct {
    char *name;
    mpq_t value;
} claim_input_t;

typedef struct {
    char *id;
    char *statement; /* NULL: none */
    char *note;
    char *status; /* as the file has it; NULL: it has none */
    claim_input_t *input;
    size_t input_count;
    claim_figure_t *figure;
    size_t figure_count;
    claim_verdict_t verdict; /* computed */
} claim_t;

/* A zeroed claim is empty. What is added belongs to it and is zeroed but for its
 * numbers; valid until the next of its kind. Texts are the caller's to set,
 * allocated. */
claim_input_t *claim_add_input (claim_t *claim);
claim_figure_t *claim_add_figure (claim_t *claim);
void claim_clear (claim_t *claim);

/* Fills in what is computed. -1: an expression cannot be evaluated; the error
 * names claim and figure. */
int claim_judge (claim_t *claim, gl_error_t *error);

/* False: the file's own status contradicts the verdict. A status in words that are
 * no verdict's, and one of a claim of which nothing was printed, says nothing that
 * figures could contradict. */
bool claim_status_agrees (const claim_t *claim);

#endif /* !GL_PLANNING_CLAIM_H */
