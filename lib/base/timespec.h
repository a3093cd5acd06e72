/*
 * timespec.h: a moment in sacct's grammar, as -S and -E take it.
 *
 *   a day, a time of day, or both, in either order, with a blank, '-' or 'T'
 *   between:
 *     YYYY-MM-DD
 *     MM/DD[/YY]               also MM/DD/YYYY and with '.' for '/'
 *     MMDD[YY]
 *     today, tomorrow
 *     HH:MM[:SS][AM|PM]
 *     midnight, noon, elevenses (11:00), fika (15:00), teatime (16:00)
 *   now, now+COUNT[UNIT], now-COUNT[UNIT]; UNIT is seconds (the default),
 *   minutes, hours, days or weeks, or a beginning of one; a day is 24 hours
 *   here, as for Slurm. Also of the other words, with a unit: today-1day
 *   utsSECONDS, @SECONDS       since 1970
 *   what instant_parse() takes: YYYY-MM, and a date or moment with Z, +HH:MM or
 *   -HH:MM at its end
 *
 * Stricter than Slurm where Slurm guesses: a date that does not exist, a second
 * day or time of day, and separators at the ends are refused, and so is
 * YYYY-MM-DD-HH:MM, which is a time of day there and an offset from UTC here.
 * tests/slurm/grammar.c compares both and lists what differs.
 *
 * `now` is given, because reports do not read the clock: it is the moment that
 * the facts speak of. A date without a year is the last such month up to now's,
 * as sacct looks into the past; a time without a day is of now's. midnight and
 * today are the day's first instant; a time that the clock skips is the moment
 * of the jump, of one that it shows twice the earlier one is meant.
 */
#ifndef GL_BASE_TIMESPEC_H
#define GL_BASE_TIMESPEC_H

#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

/*
 *   DATE[THH:MM[:SS]][Z|+HH:MM|-HH:MM]     DATE: YYYY-MM-DD or YYYY-MM
 *   @SECONDS                               since 1970 UTC, as date(1) has it
 *
 * Without Z or an offset the time is that of `zone`'s clock. This is what can
 * be typed where the result must not depend on the clock.
 *
 * The errors of both name the text. Only 1970 to 2099.
 */
int instant_parse (const char *text, const zone_t *zone, int64_t *ret_instant,
                   gl_error_t *error);
int timespec_parse (const char *text, const zone_t *zone, int64_t now,
                    int64_t *ret_instant, gl_error_t *error);

#endif /* !GL_BASE_TIMESPEC_H */
