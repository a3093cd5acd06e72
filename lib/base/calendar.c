#include <string.h>

#include "base/calendar.h"
#include "base/number.h"

#define DAY 86400

bool calendar_leap_year (int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int calendar_days_in_month (int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && calendar_leap_year (year) ? 29 : days[month - 1];
}

bool civil_valid (const civil_t *c)
{
    return c->year >= 1 && c->year <= 9999 && c->month >= 1 && c->month <= 12
           && c->day >= 1
           && c->day <= calendar_days_in_month (c->year, c->month)
           && c->hour >= 0 && c->hour <= 23 && c->minute >= 0 && c->minute <= 59
           && c->second >= 0 && c->second <= 59;
}

/* Days are counted in eras of 400 years that begin on 1 March, so that the
 * leap day is the last of its year. */
int64_t calendar_day_number (int year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year
        = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era
        = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

civil_t calendar_civil_of_day (int64_t day_number)
{
    int64_t z = day_number + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    civil_t c = {0};

    c.day = doy - (153 * mp + 2) / 5 + 1;
    c.month = mp < 10 ? mp + 3 : mp - 9;
    c.year = yoe + era * 400 + (c.month <= 2);
    return c;
}

int64_t civil_seconds (const civil_t *c)
{
    return calendar_day_number (c->year, c->month, c->day) * DAY
           + c->hour * 3600 + c->minute * 60 + c->second;
}

civil_t civil_of_seconds (int64_t seconds)
{
    int64_t day = seconds >= 0 ? seconds / DAY : -((DAY - 1 - seconds) / DAY);
    int rest = seconds - day * DAY;
    civil_t c = calendar_civil_of_day (day);

    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    return c;
}

civil_t civil_add_months (civil_t c, int months)
{
    int64_t count = (int64_t)c.year * 12 + c.month - 1 + months;
    int last;

    c.year = count / 12;
    c.month = count % 12 + 1;
    last = calendar_days_in_month (c.year, c.month);
    if (c.day > last)
        c.day = last;
    return c;
}

bool calendar_is_past (int64_t from, int months, int64_t at)
{
    civil_t end = civil_add_months (calendar_civil_of_day (from), months);

    return calendar_day_number (end.year, end.month, end.day) <= at;
}

static int digits (const char *text, size_t length, int *ret_value)
{
    uint64_t value;

    if (number_u64 (text, length, &value) < 0)
        return -1;
    *ret_value = value;
    return 0;
}

int calendar_parse_date (const char *text, size_t length, civil_t *ret_civil)
{
    civil_t c = {0};

    if (length != 10 || text[4] != '-' || text[7] != '-'
        || digits (text, 4, &c.year) < 0 || digits (text + 5, 2, &c.month) < 0
        || digits (text + 8, 2, &c.day) < 0 || !civil_valid (&c))
        return -1;
    *ret_civil = c;
    return 0;
}

int calendar_parse_month (const char *text, size_t length, civil_t *ret_civil)
{
    civil_t c = {.day = 1};

    if (length != 7 || text[4] != '-' || digits (text, 4, &c.year) < 0
        || digits (text + 5, 2, &c.month) < 0 || !civil_valid (&c))
        return -1;
    *ret_civil = c;
    return 0;
}

int calendar_two_digits (const char *text, int *ret_value)
{
    uint64_t value;

    if (strnlen (text, 2) < 2 || number_u64 (text, 2, &value) < 0)
        return -1;
    *ret_value = (int)value;
    return 0;
}

int calendar_first_day (const char *text, civil_t *ret_civil)
{
    civil_t civil = {.month = 1, .day = 1};
    size_t length = strlen (text);

    if (length != 4)
        return length == 7 ? calendar_parse_month (text, length, ret_civil)
                           : calendar_parse_date (text, length, ret_civil);
    if (digits (text, 4, &civil.year) < 0 || !civil_valid (&civil))
        return -1;
    *ret_civil = civil;
    return 0;
}
