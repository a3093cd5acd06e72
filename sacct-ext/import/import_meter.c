#include <string.h>

#include "base/exact.h"
#include "base/timespec.h"
#include "base/array.h"
#include "base/memory.h"
#include "import/import_meter.h"

#define LINE_SIZE 512
#define FIELDS_MAX 3
#define MWH_PER_KWH 1000000

/* The place of the reader. */
struct reader {
    const char *meter;
    const zone_t *zone;
    meter_file_t *file;
    bool counter; /* time,reading_kwh */
    bool before_known;
    int64_t before;
    uint64_t before_mwh;
};

/* "a,b,c" in place; how many, or FIELDS_MAX + 1 for more. */
static size_t split (char *line, char **fields)
{
    size_t count = 0;

    for (char *p = line; p && count < FIELDS_MAX; count++) {
        fields[count] = p;
        p = strchr (p, ',');
        if (p)
            *p++ = '\0';
        else
            return count + 1;
    }
    return FIELDS_MAX + 1;
}

static int energy_of (const char *text, uint64_t *ret_mwh, gl_error_t *error)
{
    mpq_t value, scale;
    int rc;

    mpq_inits (value, scale, NULL);
    rc = exact_parse (text, value, error);
    mpq_set_ui (scale, MWH_PER_KWH, 1);
    mpq_mul (value, value, scale);
    if (rc == 0
        && (mpq_sgn (value) < 0 || mpz_cmp_ui (mpq_denref (value), 1) != 0
            || mpz_sizeinbase (mpq_numref (value), 2) > 62))
        rc = gl_error (error,
                       "'%.60s' is not an energy in kWh, of at most six "
                       "decimals",
                       text);
    if (rc == 0)
        *ret_mwh = mpz_get_ui (mpq_numref (value));
    mpq_clears (value, scale, NULL);
    return rc;
}

static int add (struct reader *r, period_t period, uint64_t mwh,
                gl_error_t *error)
{
    meter_file_t *file = r->file;

    if (period.end <= period.start)
        return gl_error (error, "the interval ends before it begins");
    if (file->count > 0
        && period.start < file->reading[file->count - 1].period.end)
        return gl_error (error, "the interval begins before the one above "
                                "ends: put the rows in the order of time");
    *GL_APPEND (file->reading, file->count)
        = (meter_reading_t){r->meter, period, mwh};
    return 0;
}

static int take_interval (struct reader *r, char **fields, gl_error_t *error)
{
    period_t period;
    uint64_t mwh;

    if (instant_parse (fields[0], r->zone, &period.start, error) < 0
        || instant_parse (fields[1], r->zone, &period.end, error) < 0
        || energy_of (fields[2], &mwh, error) < 0)
        return -1;
    return add (r, period, mwh, error);
}

static int take_counter (struct reader *r, char **fields, gl_error_t *error)
{
    int64_t at;
    uint64_t mwh;
    int rc = 0;

    if (instant_parse (fields[0], r->zone, &at, error) < 0
        || energy_of (fields[1], &mwh, error) < 0)
        return -1;
    if (r->before_known && at <= r->before)
        return gl_error (error, "the time is not after the one above: put the "
                                "rows in the order of time");
    if (r->before_known && mwh < r->before_mwh)
        r->file->resets++;
    else if (r->before_known)
        rc = add (r, (period_t){r->before, at}, mwh - r->before_mwh, error);
    r->before_known = true;
    r->before = at;
    r->before_mwh = mwh;
    return rc;
}

static int take_header (struct reader *r, const char *line, gl_error_t *error)
{
    r->counter = strcmp (line, "time,reading_kwh") == 0;
    if (r->counter || strcmp (line, "start,end,kwh") == 0)
        return 0;
    return gl_error (error, "the first line must be start,end,kwh (the energy "
                            "of intervals) or time,reading_kwh (what a counter "
                            "showed)");
}

static int take_line (struct reader *r, int number, char *line,
                      gl_error_t *error)
{
    char *fields[FIELDS_MAX];
    size_t wanted = r->counter ? 2 : 3;

    if (number == 1)
        return take_header (r, line, error);
    if (*line == '\0')
        return 0;
    if (split (line, fields) != wanted)
        return gl_error (error, "not %zu fields", wanted);
    return r->counter ? take_counter (r, fields, error)
                      : take_interval (r, fields, error);
}

static int read_lines (struct reader *r, FILE *stream, const char *path,
                       gl_error_t *error)
{
    char line[LINE_SIZE];
    int number = 0;

    while (fgets (line, sizeof (line), stream)) {
        size_t length = strlen (line);
        number++;
        if (length + 1 == sizeof (line) && line[length - 1] != '\n')
            return gl_error (error, "%s:%d: a line this long is not a reading",
                             path, number);
        while (length > 0
               && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (take_line (r, number, line, error) < 0)
            return gl_error_prefix (error, "%s:%d", path, number);
    }
    if (ferror (stream))
        return gl_error (error, "cannot read %s", path);
    return number > 0 ? 0 : gl_error (error, "%s is empty", path);
}

int import_meter (FILE *stream, const char *path, const char *meter,
                  const zone_t *zone, meter_file_t *ret_file, gl_error_t *error)
{
    struct reader reader = {.meter = meter, .zone = zone, .file = ret_file};

    *ret_file = (meter_file_t){NULL, 0, 0};
    if (read_lines (&reader, stream, path, error) < 0) {
        import_meter_free (ret_file);
        return -1;
    }
    return 0;
}

void import_meter_free (meter_file_t *file)
{
    free (file->reading);
    *file = (meter_file_t){NULL, 0, 0};
}
