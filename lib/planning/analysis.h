/*
 * analysis.h: what is to be decided from prices and a few inputs (`analyses` of
 * the configuration). A kind is a row of the table of formulas
 * (planning/formula.h), its inputs are those of site/analysis_inputs.h; an
 * input of 0 is one that was not given. Exact. Pure.
 */
#ifndef GL_PLANNING_ANALYSIS_H
#define GL_PLANNING_ANALYSIS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "planning/formula.h"
#include "site/site.h"

/* An input as it was taken. */
typedef struct {
    const char *name; /* the key of the configuration */
    unit_t unit;
    bool used;      /* it was given, or has a default */
    bool fallback;  /* it was not given */
    bool committed; /* a price with a term: every hour is paid, used or not */
    mpq_t value;
    const char *as_of; /* of a price; NULL: not known. Borrowed */
    char *source;      /* where a price is from; NULL: not known */
} analysis_input_value_t;

typedef struct {
    const formula_t *formula;
    bool dated; /* every price has a date */
    analysis_input_value_t input[ANALYSIS_INPUTS];
    values_t values;
    const step_t *made[FORMULA_STEPS];
    size_t made_count;
} analysis_t;

/* Whether the entry has what its kind needs and nothing that is not used by it.
 * The error names file and line. */
int analysis_check (const site_analysis_t *entry, gl_error_t *error);

/*
 * The values of a checked entry. A price is a number, or a name: of `clouds`
 * (its latest as_of), or of a pool, whose productive hour it then is
 * (planning/breakeven.h). -1: there is no such name, or the pool has no cost.
 * Into a struct that need not be initialised; clear it after success. `known`:
 * as breakeven_instant() has it.
 */
int analysis_make (const site_t *site, const site_analysis_t *entry,
                   int64_t known, analysis_t *ret_analysis, gl_error_t *error);
void analysis_clear (analysis_t *analysis);

#endif /* !GL_PLANNING_ANALYSIS_H */
