/*
 * calendar.h: the proleptic Gregorian calendar, without zones and clocks.
 *
 * Pure functions. Day numbers count from 1970-01-01 = 0; a civil time counts
 * seconds as if its clock were UTC.
 */
#ifndef GL_BASE_CALENDAR_H
#define GL_BASE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int year;   /* 1..9999 */
    int month;  /* 1..12 */
    int day;    /* 1..31 */
    int hour;   /* 0..23 */
    int minute; /* 0..59 */
    int second; /* 0..59 */
} civil_t;

bool calendar_leap_year (int year);
int calendar_days_in_month (int year, int month);
/* The date exists and the time of day is in range. */
bool civil_valid (const civil_t *civil);

int64_t calendar_day_number (int year, int month, int day);
/* Fills the date, sets the time of day to 0. */
civil_t calendar_civil_of_day (int64_t day_number);

/* Seconds since 1970-01-01T00:00:00 on the civil clock itself. */
int64_t civil_seconds (const civil_t *civil);
civil_t civil_of_seconds (int64_t seconds);

/* The day number `at` is so many months behind the day `from`, or more. */
bool calendar_is_past (int64_t from, int months, int64_t at);

/* A date plus whole months or years; a day that does not exist becomes the
 * last of its month (29 February plus a year is 28 February). */
civil_t civil_add_months (civil_t civil, int months);

/* Exactly two digits at the beginning of the text. 0 or -1. */
int calendar_two_digits (const char *text, int *ret_value);
/* "2026-10-05": exactly this form and an existing date. 0 or -1. */
int calendar_parse_date (const char *text, size_t length, civil_t *ret_civil);
/* "2026-10". The day is 1. */
int calendar_parse_month (const char *text, size_t length, civil_t *ret_civil);

/* The first day of a day, month or year: "2026-10-05", "2026-10", "2026". */
int calendar_first_day (const char *text, civil_t *ret_civil);

#endif /* !GL_BASE_CALENDAR_H */
