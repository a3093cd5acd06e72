/*
 * series.h: the carbon intensity of a grid by intervals, from a CSV file:
 *
 *   start,end,g_per_kwh
 *   2026-10-01T00:00Z,2026-10-01T00:30Z,183
 *   2026-10-01T00:30Z,2026-10-01T01:00Z,          (no value: not known)
 *
 * in the order of time, without overlap; intervals of any length, gaps, and zeros, which
 * are values. Times without a zone are those of the ledger. Exact. Pure.
 */
#ifndef GL_CARBON_SERIES_H
#define GL_CARBON_SERIES_H

#include <gmp.h>
#include <stdio.h>

#include "base/error.h"
#include "base/zone.h"

typedef struct series series_t;

/* NULL with an error that names the line. The stream stays the caller's. */
series_t *series_read (FILE *stream, const zone_t *zone, gl_error_t *error);
/* Accepts NULL. */
void series_free (series_t *series);

/* The mean intensity of the part of the period that has values, into an initialised
 * number, and how many seconds that is; 0: none of it, and the mean is 0. */
int64_t series_mean (const series_t *series, period_t period, mpq_t ret_mean);

/* About the same in whole milligrams, to compare times by; time without a value has
 * `rest`. */
int64_t series_milligrams (const series_t *series, period_t period,
                           int64_t rest);
/* A number of grams likewise. */
int64_t series_round (mpq_srcptr grams);

#endif /* !GL_CARBON_SERIES_H */
