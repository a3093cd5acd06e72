/*
 * timespec.h: a moment in sacct's whole grammar, as -S and -E take it.
 *
 *   what instant.h takes: YYYY-MM-DD[THH:MM[:SS]][Z|+HH:MM|-HH:MM], @SECONDS
 *   MM/DD[/YY][-HH:MM[:SS]]   also MM/DD/YYYY and with '.' for '/'
 *   MMDD[YY][-HH:MM[:SS]]
 *   HH:MM[:SS] [AM|PM]        on the day of `now`
 *   now, today, midnight, noon, fika (15:00), teatime (16:00), tomorrow
 *   ... each of these words with +COUNT[UNIT] or -COUNT[UNIT]; UNIT is
 *   seconds (the default), minutes, hours, days or weeks, or a beginning of
 *   one; a day is 24 hours here, as for Slurm
 *
 * `now` is given, because reports do not read the clock: it is the moment that
 * the facts speak of. A date without a year is the last such month up to now's,
 * as sacct looks into the past. midnight and today are the day's first instant.
 */
#ifndef GL_BASE_TIMESPEC_H
#define GL_BASE_TIMESPEC_H

#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

int timespec_parse (const char *text, const zone_t *zone, int64_t now,
                    int64_t *ret_instant, gl_error_t *error);

#endif /* !GL_BASE_TIMESPEC_H */
