/* Dates and quantities as people read them. CSV and JSON have the texts that
 * this file reads: 2026-10, 2026-10-31, 2026-10-31T23:30:00-04:00 or without
 * seconds, hours with six decimals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/render_private.h"

/* --- dates ---------------------------------------------------------------- */

static const char *const months[]
    = {"January", "February", "March",     "April",   "May",      "June",
       "July",    "August",   "September", "October", "November", "December"};

typedef struct {
    int month;
    int day;  /* 0: a month */
    int hour; /* -1: a day */
    int minute;
    int second;
    const char *offset; /* "Z", "-04:00"; NULL: none */
} date_t;

/* `text` has the pattern, in which 0 is any digit. */
static bool is_like (const char *text, const char *pattern)
{
    for (; *pattern; text++, pattern++)
        if (*pattern == '0' ? *text < '0' || *text > '9' : *text != *pattern)
            return false;
    return true;
}

/* The number that two digits are. */
static int pair (const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

/* The length of the date that the text begins with; 0: none. */
static size_t date_read (const char *text, date_t *date)
{
    size_t length;

    *date = (date_t){.hour = -1};
    if (!is_like (text, "0000-00"))
        return 0;
    date->month = pair (text + 5);
    if (date->month < 1 || date->month > 12)
        return 0;
    if (!is_like (text + 7, "-00"))
        return 7;
    date->day = pair (text + 8);
    if (!is_like (text + 10, "T00:00"))
        return 10;
    date->hour = pair (text + 11);
    date->minute = pair (text + 14);
    length = is_like (text + 16, ":00") ? 19 : 16;
    date->second = length == 19 ? pair (text + 17) : 0;
    date->offset = text + length;
    if (*date->offset == 'Z')
        return length + 1;
    if (is_like (date->offset, "+00:00") || is_like (date->offset, "-00:00"))
        return length + 6;
    date->offset = NULL;
    return length;
}

/* "UTC-4", "UTC+5:30", "UTC" */
static void add_offset (buffer_t *out, const char *offset)
{
    int minutes = *offset == 'Z' ? 0 : pair (offset + 4);

    buffer_add_text (out, "UTC");
    if (*offset == 'Z' || (pair (offset + 1) == 0 && minutes == 0))
        return;
    buffer_printf (out, "%c%d", *offset, pair (offset + 1));
    if (minutes != 0)
        buffer_printf (out, ":%02d", minutes);
}

static void add_time (buffer_t *out, const date_t *date, const char *blank)
{
    buffer_printf (out, "%s%02d:%02d", blank, date->hour, date->minute);
    if (date->second != 0)
        buffer_printf (out, ":%02d", date->second);
    if (date->offset) {
        buffer_add_text (out, blank);
        add_offset (out, date->offset);
    }
}

/* A month alone is written in full, "Oct" where there is little room. */
static void add_date (buffer_t *out, const char *text, const date_t *date,
                      bool brief, const char *blank)
{
    const char *month = months[date->month - 1];

    if (date->day > 0) {
        buffer_add_number (out, (uint64_t)date->day);
        buffer_add_text (out, blank);
    }
    buffer_add (out, month, brief || date->day > 0 ? 3 : strlen (month));
    buffer_add_text (out, blank);
    buffer_add (out, text, 4);
    if (date->hour >= 0)
        add_time (out, date, blank);
}

/* --- quantities ----------------------------------------------------------- */

#define DECIMALS 6
#define TENTH ((uint64_t)100000)

/* The length of the number with six decimals that the text begins with; 0:
 * none. */
static size_t quantity_read (const char *text, uint64_t *ret)
{
    size_t sign = *text == '-';
    size_t whole = strspn (text + sign, "0123456789");
    const char *decimals = text + sign + whole + 1;

    if (whole == 0 || whole > 12 || decimals[-1] != '.'
        || strspn (decimals, "0123456789") != DECIMALS)
        return 0;
    *ret = strtoull (text + sign, NULL, 10) * TENTH * 10
           + strtoull (decimals, NULL, 10);
    return sign + whole + 1 + DECIMALS;
}

/* Half to even. */
static uint64_t to_tenths (uint64_t value)
{
    uint64_t tenths = value / TENTH, rest = value % TENTH;

    return tenths
           + (rest > TENTH / 2 || (rest == TENTH / 2 && tenths % 2 == 1));
}

/* One decimal. What is too little for that is not shown as 0. */
static void add_quantity (buffer_t *out, uint64_t value, bool negative)
{
    uint64_t tenths = to_tenths (value);

    if (value > 0 && tenths == 0) {
        buffer_add_text (out, negative ? ">-0.1" : "<0.1");
        return;
    }
    if (negative)
        buffer_add_char (out, '-');
    buffer_add_number (out, tenths / 10);
    buffer_add_char (out, '.');
    buffer_add_number (out, tenths % 10);
}

/* --- texts ---------------------------------------------------------------- */

/* The word ends after so many bytes, or a punctuation mark ends it. */
static bool ends (const char *text)
{
    text += strspn (text, ",;:.?)");
    return *text == '\0' || *text == ' ' || *text == '\n';
}

static bool has_unit (const char *text)
{
    return strncmp (text, " GPU hours", 10) == 0
           || strncmp (text, " GRES hours", 11) == 0
           || strncmp (text, " kWh", 4) == 0;
}

/* The length of the number with decimals that the text begins with; 0: none. */
static size_t amount_read (const char *text)
{
    size_t sign = *text == '-' || *text == '+';
    size_t whole = strspn (text + sign, "0123456789");
    size_t decimals;

    if (whole == 0 || text[sign + whole] != '.')
        return 0;
    decimals = strspn (text + sign + whole + 1, "0123456789");
    return decimals ? sign + whole + 1 + decimals : 0;
}

/* On a page its digits are grouped. */
static void add_amount (buffer_t *out, const char *text, size_t length,
                        const char *blank)
{
    GL_AUTOFREE char *number = xstrndup (text, length);

    if (*blank == ' ' || !render_number (out, number))
        buffer_add_text (out, number);
}

/* Writes the date, the quantity and its unit, or the amount that the text begins with.
 * Returns the length of what it wrote otherwise; 0: there is none. */
static size_t add_readable (buffer_t *out, const char *text, bool brief,
                            const char *blank)
{
    BUFFER_AUTO quantity = BUFFER_INIT;
    uint64_t value;
    date_t date;
    size_t length = date_read (text, &date);

    if (length > 0 && ends (text + length)) {
        add_date (out, text, &date, brief, blank);
        return length;
    }
    length = quantity_read (text, &value);
    if (length > 0 && has_unit (text + length)) {
        add_quantity (&quantity, value, *text == '-');
        add_amount (out, buffer_text (&quantity), quantity.length, blank);
        return length;
    }
    length = amount_read (text);
    if (length == 0 || !ends (text + length))
        return 0;
    add_amount (out, text, length, blank);
    return length;
}

/* After this word come arguments that are typed as they are: an option, or the
 * program's name. `is` is the state before the word. */
static bool in_command (bool is, const char *word, size_t length)
{
    const char *name = word + (*word == '\'');

    if (strncmp (name, "gpuledger ", 10) == 0)
        return true;
    if (is && length > 0 && strchr ("'.;,", word[length - 1]))
        return false;
    return is;
}

void render_readable_text (buffer_t *out, const char *text, bool brief,
                           const char *blank)
{
    bool command = false, option = false;

    while (*text) {
        size_t length = strspn (text, " \n(");
        buffer_add (out, text, length);
        text += length;
        if (!command && !option)
            text += add_readable (out, text, brief, blank);
        length = strcspn (text, " \n");
        buffer_add (out, text, length);
        command = in_command (command, text, length);
        option = text[0] == '-' && length > 1
                 && !(text[1] >= '0' && text[1] <= '9');
        text += length;
    }
}

static bool is_quantity (column_type_t type)
{
    return type == COLUMN_HOURS || type == COLUMN_ENERGY || type == COLUMN_MASS;
}

void render_readable_value (buffer_t *out, const char *text, column_type_t type,
                            const char *blank)
{
    uint64_t value;

    if (type == COLUMN_DATE || type == COLUMN_WORDS)
        render_readable_text (out, text, true, blank);
    else if (is_quantity (type) && quantity_read (text, &value) > 0)
        add_quantity (out, value, *text == '-');
    else
        buffer_add_text (out, text);
}

/* --- totals --------------------------------------------------------------- */

static int64_t shown_tenths (const char *text)
{
    uint64_t value = 0;

    if (!text || quantity_read (text, &value) == 0)
        return 0;
    return (*text == '-' ? -1 : 1) * (int64_t)to_tenths (value);
}

/* The rounded rows differ from the rounded total, by no more than rounding does. */
static bool column_differs (const report_t *report, const render_rows_t *rows,
                            size_t column)
{
    int64_t rest = -shown_tenths (rows->total[column]);

    for (size_t row = rows->first; row < rows->first + rows->shown; row++)
        rest += shown_tenths (report_cell (report, row, column));
    if (rows->rest)
        rest += shown_tenths (rows->rest[column]);
    return rest != 0 && 2 * llabs (rest) <= (int64_t)rows->shown + 2;
}

const char *render_rounding (const report_t *report, const render_rows_t *rows)
{
    for (size_t i = 0; rows->total && i < rows->order_count; i++) {
        size_t column = rows->order[i];
        if (is_quantity (report->column[column].type) && rows->total[column]
            && column_differs (report, rows, column))
            return "Rows are rounded to one decimal; totals are computed from "
                   "exact values.";
    }
    return NULL;
}

/* --- names ---------------------------------------------------------------- */

void render_parameter_name (buffer_t *out, const char *name)
{
    size_t length = strlen (name);
    bool percent = length > 4 && !strcmp (name + length - 4, "_pct");

    for (size_t i = 0; i < (percent ? length - 4 : length); i++)
        buffer_add_char (out, name[i] == '_' ? ' ' : name[i]);
    if (percent)
        buffer_add_text (out, " %");
}
