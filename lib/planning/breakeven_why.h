/*
 * breakeven_why.h: what was done to the parts of a cost so that a published
 * figure came out.
 *
 * Tried for each part: taken whole; left out; divided by the GPUs of a node once
 * more, as it is, or as its hourly figure in cents over all hours of the year
 * (as if it were worth the same in hours that produce nothing). Of what gives the
 * figure, the one with the fewest parts divided counts, then the fewest left
 * out, then the nearest. An answer is arithmetic, not a proof of what somebody
 * did; but a figure to a unit in ten thousand is rarely met by chance. Pure.
 */
#ifndef GL_PLANNING_BREAKEVEN_WHY_H
#define GL_PLANNING_BREAKEVEN_WHY_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "planning/breakeven.h"

/* More parts than this are not looked into. */
#define BREAKEVEN_WHY_PARTS 8

typedef enum {
    WHY_WHOLE,
    WHY_LEFT_OUT,
    WHY_DIVIDED,      /* per year / GPUs of a node */
    WHY_DIVIDED_HOUR, /* cents per hour / GPUs of a node x all hours */
    WHY_COUNT,
} why_part_t;

typedef struct {
    bool found;
    int treated; /* 0: every part whole, the figure follows. Divided parts count for
                    more than all that are left out */
    why_part_t part[BREAKEVEN_WHY_PARTS]; /* as breakeven_t.part */
    mpq_t per_gpu_year;
} breakeven_why_t;

/* What gives `per_gpu_year`, within `tolerance`. Into a struct that need not be
 * initialised; clear it. */
void breakeven_why (const breakeven_t *breakeven, mpq_srcptr per_gpu_year,
                    mpq_srcptr tolerance, breakeven_why_t *ret_why);
void breakeven_why_clear (breakeven_why_t *why);

/* What the year costs by a part under one of the treatments. */
void breakeven_why_part (const breakeven_t *breakeven, size_t part,
                         why_part_t treatment, mpq_t ret_per_gpu_year);
/* The hourly figure in cents that WHY_DIVIDED_HOUR begins with. */
void breakeven_why_hourly (const breakeven_t *breakeven, size_t part,
                           mpq_t ret_per_hour);

#endif /* !GL_PLANNING_BREAKEVEN_WHY_H */
