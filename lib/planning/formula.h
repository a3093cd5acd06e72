/*
 * formula.h: the table of planning formulas.
 *
 * A formula answers one question: it takes named inputs and computes steps, one
 * after the other, each an expression (planning/expression.h) over the inputs
 * and the steps before it. To add a formula, add a row to the table in
 * formula.c; the kinds of `analyses` are its first rows, by analysis_kind_t.
 * docs/guides/decisions.md has the formulas F1 to F16 with worked examples.
 * Exact. Pure.
 */
#ifndef GL_PLANNING_FORMULA_H
#define GL_PLANNING_FORMULA_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planning/expression.h"

#define FORMULA_STEPS 26
#define VALUES_MAX 72

/* What a value is counted in. */
typedef struct {
    const char *text; /* "per GPU-hour"; "%" is of a ratio */
    bool money;       /* the currency precedes it */
    int digits;       /* -1: those of the currency */
} unit_t;

typedef struct {
    const char *id; /* its name in later steps and in reports */
    const char
        *value; /* the expression. A division by 0: there is no such value */
    const char *title; /* for people; NULL: an intermediate step */
    unit_t unit;
    const char *how;    /* the formula for people */
    const char *given;  /* only if this input is given; NULL: always */
    const char *absent; /* only if this input is not given; NULL: always */
    const char *when;   /* only if this expression is not 0; NULL: always */
    const char
        *after; /* an expression: years that the title ends with; or NULL */
} step_t;

typedef struct {
    const char *name;      /* "interruptible" */
    const char *source;    /* "F8" of docs/guides/decisions.md */
    const char *needs[9];  /* names of inputs */
    const char *takes[12]; /* inputs that may be given too; else they are 0 */
    const char *together[2][3]; /* inputs of which all are given, or none */
    const char *title;          /* of a kind of `analyses` */
    const char *left_out;       /* what the values do not count, a sentence */
    step_t step[FORMULA_STEPS];
} formula_t;

/* Numbers by name, which are borrowed. values_init() before use, values_clear()
 * after. */
typedef struct {
    expression_name_t name[VALUES_MAX];
    mpq_t number[VALUES_MAX];
    bool given[VALUES_MAX];
    size_t count;
} values_t;

void values_init (values_t *values);
void values_clear (values_t *values);
/* The latest of a name counts. */
void values_set (values_t *values, const char *name, mpq_srcptr number);
void values_set_i64 (values_t *values, const char *name, int64_t number);
void values_set_text (values_t *values, const char *name, const char *decimal);
/* NULL: there is none. */
mpq_srcptr values_get (const values_t *values, const char *name);
/* Not 0. */
bool values_true (const values_t *values, const char *name);
/* An expression over the values: false if it has no value, which is then 0. */
bool values_compute (const values_t *values, const char *expression,
                     mpq_t ret_value);
/* A text in which {NAME} is replaced by the number. Yours to free. */
char *values_text (const values_t *values, const char *text);

/* The row of that name; there is one. */
const formula_t *formula_named (const char *name);
/* The i-th row. */
const formula_t *formula_at (size_t i);
/* The name is one of a list that ends with NULL. */
bool formula_lists (const char *const *names, const char *name);

/* Computes the steps that apply, into `values`. `ret_made` (NULL: of no
 * interest) has room for FORMULA_STEPS; a step made without a value has none in
 * `values`. */
size_t formula_solve (const formula_t *formula, values_t *values,
                      const step_t *ret_made[FORMULA_STEPS]);

#endif /* !GL_PLANNING_FORMULA_H */
