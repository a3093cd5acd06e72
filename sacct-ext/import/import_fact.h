/*
 * import_fact.h: the words in which Slurm's commands print times.
 */
#ifndef GL_IMPORT_FACT_H
#define GL_IMPORT_FACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

/* "2025-09-26T09:19:11" in the zone, the same with Z, +02:00 or +0200, or
 * seconds since 1970 (SLURM_TIME_FORMAT=%s). "", "Unknown", "None", "N/A" and
 * "0" are 0. Of a time that the zone's clock shows twice the earlier one, and
 * *ret_later gets the other (else the same); may be NULL. A time that does not
 * exist, or that the zone's clock skips, is an error. */
int fact_time (const char *text, const zone_t *zone, int64_t *ret_time,
               int64_t *ret_later, gl_error_t *error);

/* "[DAYS-]HH:MM:SS", "MM:SS", either with a fraction that is dropped. */
int fact_duration (const char *text, int64_t *ret_seconds, gl_error_t *error);

/* Slurm's placeholders for "none": "", "Unknown", "None", "None assigned",
 * "(null)", "N/A". */
bool fact_none (const char *text);

/* Tasks of an array that wait together: "[1-9,12-20:2%4]", with or without brackets;
 * 0 where the text is no such list. Slurm shortens a long one with "...": it is counted
 * as far as it goes. */
uint32_t fact_waiting_tasks (const char *text);

/* The text has no byte below 0x20 and no 0x7f. */
bool fact_printable (const char *text);

#endif /* !GL_IMPORT_FACT_H */
