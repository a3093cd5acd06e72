/*
 * write_records DIR < TEXT: append records to a spool, one a line:
 *
 *     KIND TIME NAME=VALUE ...
 *
 * TIME is their stamp: 2026-10-01T10:00:00.123Z. Values hold no blanks.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"
#include "record/record.h"
#include "record/spool.h"

#define ROW_TEXT(number, member, size, name) {name, number, false},
#define ROW_NUMBER(number, member, name) {name, number, true},
static const struct {
    const char *name;
    record_field_t field;
    bool number;
} fields[] = {RECORD_FIELDS (ROW_TEXT, ROW_NUMBER)};

static int wrong (const char *what, const char *text)
{
    fprintf (stderr, "write_records: %s '%s'\n", what, text);
    return -1;
}

static unsigned kind_of (const char *name)
{
    for (unsigned kind = RECORD_JOB_START; record_kind_name (kind); kind++) {
        if (strcmp (record_kind_name (kind), name) == 0)
            return kind;
    }
    return 0;
}

static int read_time (const char *text, int64_t *ret_ns)
{
    civil_t civil;
    int ms = 0;

    if (sscanf (text, "%d-%d-%dT%d:%d:%d.%3d", &civil.year, &civil.month,
                &civil.day, &civil.hour, &civil.minute, &civil.second, &ms)
            < 6
        || !civil_valid (&civil))
        return wrong ("not a time:", text);
    *ret_ns = (civil_seconds (&civil) * 1000 + ms) * 1000000;
    return 0;
}

static int set_field (record_t *record, char *word)
{
    char *value = strchr (word, '=');
    int64_t number;

    if (!value)
        return wrong ("no value:", word);
    *value++ = '\0';
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (strcmp (fields[i].name, word) != 0)
            continue;
        if (!fields[i].number)
            record_set_text (record, fields[i].field, value);
        else if (number_i64_text (value, &number) == 0)
            record_set_number (record, fields[i].field, number);
        else
            return wrong ("not a number:", value);
        return 0;
    }
    return wrong ("no field", word);
}

static int write_line (const char *dir, char *line)
{
    char *kind = strtok (line, " \n"), *time = strtok (NULL, " \n"), *word;
    gl_error_t error;
    record_t record;

    if (!kind || *kind == '#')
        return 0;
    if (!kind_of (kind) || !time)
        return wrong ("no record:", kind);
    if (record_begin (&record, kind_of (kind), &error) < 0
        || read_time (time, &record.stamp) < 0)
        return -1;
    while ((word = strtok (NULL, " \n"))) {
        if (set_field (&record, word) < 0)
            return -1;
    }
    if (spool_append (dir, &record, &error) < 0)
        return wrong ("not appended:", error.text);
    return 0;
}

int main (int argc, char **argv)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    if (argc != 2)
        return wrong ("usage: write_records DIR < TEXT", "") + 3;
    while (rc == 0 && getline (&line, &size, stdin) > 0)
        rc = write_line (argv[1], line);
    free (line);
    return rc < 0;
}
