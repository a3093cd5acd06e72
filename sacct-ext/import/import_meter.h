/*
 * import_meter.h: readings of a meter (a PDU, a BMC, the utility's), from CSV.
 *
 * The header says what a row is:
 *   start,end,kwh       the energy of an interval
 *   time,reading_kwh    what a counter showed: the energy between two rows is
 *                       their difference. Where it shows less than before it
 *                       was exchanged or began anew: that interval is unknown.
 * Times as everywhere (base/timespec.h); numbers are plain decimals, exact to a
 * milliwatt-hour.
 */
#ifndef GL_IMPORT_METER_H
#define GL_IMPORT_METER_H

#include <stdio.h>

#include "base/error.h"
#include "base/zone.h"
#include "money/meter.h"

typedef struct {
    meter_reading_t *reading; /* by time, without overlap */
    size_t count;
    size_t resets; /* intervals that are unknown */
} meter_file_t;

/* `path` is for messages, with the line; `meter` is borrowed by the readings. -1:
 * some line is wrong, and *ret_file is empty. */
int import_meter (FILE *stream, const char *path, const char *meter,
                  const zone_t *zone, meter_file_t *ret_file,
                  gl_error_t *error);
void import_meter_free (meter_file_t *file);

#endif /* !GL_IMPORT_METER_H */
