#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/timespec.h"
#include "carbon/series.h"

enum { CELL_START, CELL_END, CELL_VALUE, CELL_COUNT };
static const char *const header[CELL_COUNT] = {"start", "end", "g_per_kwh"};

struct interval {
    period_t period;
    mpq_t value;
    int64_t milligrams;
};

struct series {
    struct interval *interval; /* in the order of time */
    size_t count;
};

/* --- reading ------------------------------------------------------------------ */

static bool is_header (const csv_t *csv)
{
    bool same = csv->count == CELL_COUNT;

    for (size_t i = 0; i < CELL_COUNT && same; i++)
        same = !strcmp (csv->cell[i], header[i]);
    return same;
}

static int read_period (const series_t *s, const csv_t *csv, const zone_t *zone,
                        period_t *ret, gl_error_t *error)
{
    if (instant_parse (csv->cell[CELL_START], zone, &ret->start, error) < 0
        || instant_parse (csv->cell[CELL_END], zone, &ret->end, error) < 0)
        return -1;
    if (ret->end <= ret->start)
        return gl_error (error, "the interval ends before it begins");
    if (s->count > 0 && ret->start < s->interval[s->count - 1].period.end)
        return gl_error (error, "the interval begins before the one above "
                                "ends: put the rows in the order of time");
    return 0;
}

static int read_value (const char *text, mpq_t ret, gl_error_t *error)
{
    if (exact_parse (text, ret, error) < 0)
        return -1;
    return mpq_sgn (ret) < 0
               ? gl_error (error,
                           "'%.40s' is no carbon intensity: it is below "
                           "0",
                           text)
               : 0;
}

static int take_row (series_t *s, const csv_t *csv, const zone_t *zone,
                     gl_error_t *error)
{
    struct interval *at;
    period_t period;
    mpq_t value;
    int rc;

    if (csv->count != CELL_COUNT)
        return gl_error (error, "%zu cells, not start,end,g_per_kwh",
                         csv->count);
    if (read_period (s, csv, zone, &period, error) < 0)
        return -1;
    if (csv->cell[CELL_VALUE][0] == '\0')
        return 0;
    mpq_init (value);
    rc = read_value (csv->cell[CELL_VALUE], value, error);
    if (rc == 0) {
        at = GL_APPEND (s->interval, s->count);
        at->period = period;
        mpq_init (at->value);
        mpq_set (at->value, value);
        at->milligrams = series_round (value);
    }
    mpq_clear (value);
    return rc;
}

static int read_rows (series_t *s, csv_t *csv, const zone_t *zone,
                      gl_error_t *error)
{
    int more = csv_next (csv, error);

    if (more > 0 && !is_header (csv))
        return gl_error (error, "the first line must be start,end,g_per_kwh");
    while (more > 0 && (more = csv_next (csv, error)) > 0)
        if (take_row (s, csv, zone, error) < 0)
            return -1;
    return more;
}

series_t *series_read (FILE *stream, const zone_t *zone, gl_error_t *error)
{
    series_t *s = xcalloc (1, sizeof (*s));
    csv_t csv = CSV_INIT (stream);
    gl_error_t inner;

    if (read_rows (s, &csv, zone, &inner) < 0) {
        gl_error (error, "line %zu: %s", csv.line, inner.text);
        series_free (s);
        s = NULL;
    }
    csv_done (&csv);
    return s;
}

void series_free (series_t *s)
{
    if (!s)
        return;
    GL_FREE_EACH (s->interval, s->count, it, mpq_clear (it->value));
    free (s);
}

/* More than anything on earth: so that sums stay integers of 128 bits. */
#define MILLIGRAMS_MOST 1000000000000

int64_t series_round (mpq_srcptr grams)
{
    int64_t milligrams;
    mpz_t units;

    mpz_init (units);
    exact_round (units, grams, 3);
    milligrams = mpz_cmp_si (units, MILLIGRAMS_MOST) > 0 ? MILLIGRAMS_MOST
                                                         : mpz_get_si (units);
    mpz_clear (units);
    return milligrams;
}

/* --- asking --------------------------------------------------------------------- */

/* The first interval that ends after the instant. */
static size_t first_after (const series_t *s, int64_t instant)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->interval[middle].period.end > instant)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t series_mean (const series_t *s, period_t period, mpq_t ret_mean)
{
    int64_t known = 0;

    mpq_set_ui (ret_mean, 0, 1);
    for (size_t i = first_after (s, period.start);
         i < s->count && s->interval[i].period.start < period.end; i++) {
        int64_t seconds
            = period_seconds (period_clip (s->interval[i].period, period));
        exact_add_scaled (ret_mean, s->interval[i].value, seconds, 1);
        known += seconds;
    }
    if (known > 0) {
        mpz_mul_ui (mpq_denref (ret_mean), mpq_denref (ret_mean),
                    (unsigned long)known);
        mpq_canonicalize (ret_mean);
    }
    return known;
}

int64_t series_milligrams (const series_t *s, period_t period, int64_t rest)
{
    __int128 sum = 0;
    int64_t left = period_seconds (period);

    for (size_t i = first_after (s, period.start);
         i < s->count && s->interval[i].period.start < period.end; i++) {
        int64_t seconds
            = period_seconds (period_clip (s->interval[i].period, period));
        sum += (__int128)s->interval[i].milligrams * seconds;
        left -= seconds;
    }
    sum += (__int128)rest * left;
    return (int64_t)(sum / period_seconds (period));
}
