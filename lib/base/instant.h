/*
 * instant.h: a moment, as people type it on a command line.
 *
 *   DATE[THH:MM[:SS]][Z|+HH:MM|-HH:MM]     DATE: YYYY-MM-DD or YYYY-MM
 *   @SECONDS                               since 1970 UTC, as date(1) has it
 *
 * Without Z or an offset the time is that of `zone`'s clock: the earlier one
 * where the clock shows it twice, the moment of the jump where it is skipped.
 * This is sacct's grammar without its relative forms (now, today, now-1day) and
 * those without a year: what is asked for must not depend on the clock.
 */
#ifndef GL_BASE_INSTANT_H
#define GL_BASE_INSTANT_H

#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

/* The error names the text and the form. Only 1970 to 2099. */
int instant_parse (const char *text, const zone_t *zone, int64_t *ret_instant,
                   gl_error_t *error);

#endif /* !GL_BASE_INSTANT_H */
