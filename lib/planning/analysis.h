/*
 * analysis.h: what is to be decided from prices and a few inputs (`analyses` of
 * the configuration): which inputs each kind takes, and the figures that follow.
 *
 * The formulas are those of planning/decision.h and planning/cash.h; a kind only says
 * which of them answer its question. docs/guides/decisions.md has them with
 * worked examples. An input of 0 is one that was not given. Exact. Pure.
 */
#ifndef GL_PLANNING_ANALYSIS_H
#define GL_PLANNING_ANALYSIS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "site/site.h"

#define ANALYSIS_FIGURES_MAX 16

/* What a value is counted in. */
typedef struct {
    const char *text; /* "per GPU-hour" */
    bool money;       /* the currency stands before it */
    int digits;       /* -1: those of the currency */
} analysis_unit_t;

typedef struct {
    const char *name; /* for people */
    char *label;      /* the same, where it has a number in it; else NULL */
    const char *how;  /* the formula, in the words of the guide */
    analysis_unit_t unit;
    bool never; /* there is no such value */
    mpq_t value;
} analysis_figure_t;

/* An input as it was taken. */
typedef struct {
    const char *name; /* the key of the configuration */
    analysis_unit_t unit;
    bool used;     /* it was given, or has a default */
    bool fallback; /* it was not given */
    bool committed; /* a price with a term: every hour is paid, used or not */
    mpq_t value;
    const char *as_of; /* of a price; NULL: not told. Borrowed */
    char *source;      /* where a price is from; NULL: not told */
} analysis_input_value_t;

typedef struct {
    const char *word;     /* the kind: "interruptible" */
    const char *title;    /* "Interruptible capacity" */
    const char *left_out; /* what the figures do not count, a sentence */
    bool dated;           /* every price has a date */
    bool poor;            /* below what is thought worth it: look */
    bool unequal; /* of cash: both sides do work_owned and work_rented, GPU-hours
                     a day, and these differ by more than a hundredth */
    mpq_t work_owned;
    mpq_t work_rented;
    analysis_input_value_t input[ANALYSIS_INPUTS];
    analysis_figure_t figure[ANALYSIS_FIGURES_MAX];
    size_t figure_count;
} analysis_t;

/* Whether the entry has what its kind needs and nothing that says nothing there.
 * The error names file and line. */
int analysis_check (const site_analysis_t *entry, gl_error_t *error);

/*
 * The figures of a checked entry. A price is a number, or a name: of `clouds`
 * (its latest as_of), or of a pool, whose productive hour it then is
 * (planning/breakeven.h). -1: there is no such name, or the pool has no cost. Into a
 * struct that need not be initialised; clear it after success. `known`: as
 * breakeven_instant() has it.
 */
int analysis_make (const site_t *site, const site_analysis_t *entry,
                   int64_t known, analysis_t *ret_analysis, gl_error_t *error);
void analysis_clear (analysis_t *analysis);

#endif /* !GL_PLANNING_ANALYSIS_H */
