/*
 * zone.h: time zones and the periods that a calendar cuts.
 *
 * A zone is a table of offsets read once from the zone database, so that any
 * number of zones live side by side and a conversion neither touches the
 * environment nor takes a lock. Instants are seconds since 1970 UTC, from
 * 1970-01-01 to 2100-01-01. Opening a zone reads its file (of $TZDIR, else of
 * /usr/share/zoneinfo); everything else is pure.
 *
 * A local day begins at its first instant: it has 23, 24 or 25 hours (24.5
 * where a zone shifts by half an hour), or begins at 01:00 where midnight is
 * skipped.
 */
#ifndef GL_BASE_ZONE_H
#define GL_BASE_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/calendar.h"
#include "base/error.h"

/* Instants are before 2100-01-01. */
#define INSTANT_END INT64_C (4102444800)

typedef struct zone zone_t;

/* NAME is a name of the zone database ("Europe/Oslo", "UTC") or a POSIX rule
 * ("CET-1CEST,M3.5.0,M10.5.0/3"). NULL with an error for anything else. */
zone_t *zone_open (const char *name, gl_error_t *error);
/* Accepts NULL. */
void zone_close (zone_t *zone);
/* The name it was opened with. */
const char *zone_name (const zone_t *zone);

/* "Z", "+HH:MM" or "-HH:MM", all of the text; `bare`: the colon may be missing.
 * Seconds east of UTC, at most 14:59 hours. 0 or -1. */
int zone_parse_offset (const char *text, bool bare, int *ret_seconds);
/* Seconds east of UTC at that instant. */
int zone_offset (const zone_t *zone, int64_t instant);
civil_t zone_civil (const zone_t *zone, int64_t instant);
/* The instant of a local time: the earlier one where the clock shows it twice,
 * the moment of the jump where it is skipped. */
int64_t zone_instant (const zone_t *zone, const civil_t *civil);

/* Half-open: start <= t < end. */
typedef struct {
    int64_t start;
    int64_t end;
} period_t;

typedef enum {
    CALENDAR_HOUR,
    CALENDAR_DAY,
    CALENDAR_MONTH,
} calendar_unit_t;

/* The hour, day or month of the zone's clock that contains the instant. */
period_t zone_unit (const zone_t *zone, calendar_unit_t unit, int64_t instant);

/* The part of `period` inside `within`; empty periods have start == end. */
period_t period_clip (period_t period, period_t within);
/* They have an instant in common. */
static inline bool period_overlaps (period_t a, period_t b)
{
    return a.start < b.end && b.start < a.end;
}

static inline bool period_has (period_t p, int64_t instant)
{
    return p.start <= instant && instant < p.end;
}
static inline int64_t period_seconds (period_t p)
{
    return p.end > p.start ? p.end - p.start : 0;
}

/* Put instants in ascending order, each once; returns how many are left. */
size_t instants_sort (int64_t *instants, size_t count);

/* "2026-10-05T14:00:00-04:00", "Z" for UTC's own zone; for people, JSON and
 * notes. Writes at most ZONE_STAMP_SIZE bytes. */
#define ZONE_STAMP_SIZE 32
const char *zone_stamp (const zone_t *zone, int64_t instant,
                        char buf[ZONE_STAMP_SIZE]);
/* The key of a unit: "2026-10", "2026-10-05", "2026-10-05T14:00-04:00". */
const char *zone_unit_name (const zone_t *zone, calendar_unit_t unit,
                            int64_t instant, char buf[ZONE_STAMP_SIZE]);

#endif /* !GL_BASE_ZONE_H */
