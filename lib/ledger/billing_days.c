#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/billing_private.h"

/* A line, and what of it days have been given: exact_share_in_order(), a day at a
 * time. `until` is what they have when all of this has passed by:
 * floor (before + second x seen). */
struct day_line {
    char *key;
    mpq_t before;
    mpq_t second; /* in smallest units: what one of `seen` is charged */
    mpq_t seen;   /* price seconds at this price */
    mpz_t units;  /* all of the line */
    mpz_t given;
    rate_card_price_t price;
    UT_hash_handle hh;
};

struct day {
    period_t time;
    char name[ZONE_STAMP_SIZE];
};

struct billing_days {
    billing_t *billing;
    usage_query_t query;
    usage_t *usage;
    size_t length; /* of a path, up to its time */
    struct day_line *lines;
    struct day *days; /* of the month of a pool, which is: */
    size_t day_count;
    period_t month;
    bool wrong; /* days of a line that was shared evenly do not add up to it */
    buffer_t key;
    billing_f callback;
    void *arg;
};

/* --- lines ---------------------------------------------------------------- */

static struct day_line *find_line (billing_days_t *d, const pool_month_t *pm,
                                   const char *const *path)
{
    struct day_line *line;

    buffer_clear (&d->key);
    buffer_add (&d->key, &pm, sizeof (pm));
    for (size_t i = 0; i < d->length; i++) {
        if (path[i])
            buffer_add_text (&d->key, path[i]);
        buffer_add_char (&d->key, path[i] ? '\n' : '\t');
    }
    HASH_FIND (hh, d->lines, d->key.data, d->key.length, line);
    return line;
}

static struct day_line *get_line (billing_days_t *d, const pool_month_t *pm,
                                  const char *const *path)
{
    struct day_line *line = find_line (d, pm, path);

    if (line)
        return line;
    line = xcalloc (1, sizeof (*line));
    line->key = xmalloc (d->key.length);
    memcpy (line->key, d->key.data, d->key.length);
    mpq_inits (line->before, line->second, line->seen, NULL);
    mpq_set_ui (line->before, 1, 2);
    mpz_inits (line->units, line->given, NULL);
    HASH_ADD_KEYPTR (hh, d->lines, line->key, d->key.length, line);
    return line;
}

static void scale (const billing_days_t *d, mpq_t amount)
{
    for (int i = 0; i < d->billing->query->site->currency_digits; i++)
        mpz_mul_ui (mpq_numref (amount), mpq_numref (amount), 10);
    mpq_canonicalize (amount);
}

static bool passes (const billing_days_t *d, const pool_month_t *pm,
                    const char *const *path)
{
    const usage_filter_t *filter = d->billing->days_filter;

    return billing_path_passes (d->billing, filter, filter != NULL, pm, path);
}

/* A line in smallest units, and what with 1/2 is before its first second:
 * (integer - exact) / 2. */
static void begin_line (const billing_days_t *d, const charge_line_t *line,
                        mpq_t exact, mpq_t ret_before)
{
    mpq_set (exact, line->charge);
    scale (d, exact);
    mpz_mul (mpq_numref (ret_before), mpq_denref (exact), line->charge_units);
    mpz_sub (mpq_numref (ret_before), mpq_numref (ret_before),
             mpq_numref (exact));
    mpz_mul_2exp (mpq_denref (ret_before), mpq_denref (exact), 1);
    mpq_canonicalize (ret_before);
}

/* Of all parts of its time. */
static void take_used (billing_days_t *d, const billing_line_t *from)
{
    struct day_line *line = get_line (d, from->pool_month, from->line->path);
    mpq_t exact, before;

    mpq_inits (exact, before, NULL);
    mpz_add (line->units, line->units, from->line->charge_units);
    begin_line (d, from->line, exact, before);
    exact_add (line->before, before);
    mpq_clears (exact, before, NULL);
}

static size_t day_of_path (const billing_t *b)
{
    size_t at = 0;

    while (b->path[at] != KEY_DAY)
        at++;
    return at;
}

static void list_days (billing_days_t *d, period_t month)
{
    const zone_t *zone = d->billing->query->site->zone;

    if (d->month.start == month.start && d->month.end == month.end)
        return;
    free (GL_TAKE (d->days));
    d->day_count = 0;
    d->month = month;
    for (int64_t at = month.start; at < month.end;) {
        struct day *day = GL_APPEND (d->days, d->day_count);
        day->time = period_clip (zone_unit (zone, CALENDAR_DAY, at), month);
        zone_unit_name (zone, CALENDAR_DAY, at, day->name);
        at = day->time.end;
    }
}

/* What it has up to an instant is floor ((before + second x seconds) / divisor). */
struct even {
    mpz_t before, second, divisor;
};

static void even_init (const billing_days_t *d, const charge_line_t *line,
                       struct even *even)
{
    unsigned long seconds = (unsigned long)(d->month.end - d->month.start);
    mpq_t exact, before, half;

    mpz_inits (even->before, even->second, even->divisor, NULL);
    mpq_inits (exact, before, half, NULL);
    begin_line (d, line, exact, before);
    mpq_set_ui (half, 1, 2);
    exact_add (before, half);
    mpz_mul (even->before, mpq_numref (before), mpq_denref (exact));
    mpz_mul_ui (even->before, even->before, seconds);
    mpz_mul (even->second, mpq_numref (exact), mpq_denref (before));
    mpz_mul (even->divisor, mpq_denref (exact), mpq_denref (before));
    mpz_mul_ui (even->divisor, even->divisor, seconds);
    mpq_clears (exact, before, half, NULL);
}

/* A line whose month is one stretch (billing_idle.h), to the callback by its days:
 * exact_share_in_order() of what each second is charged. */
static void share_evenly (billing_days_t *d, const billing_line_t *from)
{
    const billing_t *b = d->billing;
    const char *path[PATH_MAX_LENGTH], *keys[KEYS_MAX];
    size_t at = day_of_path (b);
    charge_line_t part = {.kind = from->line->kind, .path = path};
    billing_line_t line = *from;
    struct even even;
    mpz_t given, next;

    memcpy (path, from->line->path, b->path_length * sizeof (*path));
    line.keys = keys;
    line.line = &part;
    list_days (d, from->pool_month->month);
    even_init (d, from->line, &even);
    mpq_init (part.gpu_seconds);
    mpz_inits (part.charge_units, given, next, NULL);
    for (size_t i = 0; i < d->day_count; i++) {
        int64_t end = d->days[i].time.end;
        mpz_set (next, even.before);
        mpz_addmul_ui (next, even.second,
                       (unsigned long)(end - d->month.start));
        mpz_fdiv_q (next, next, even.divisor);
        mpz_sub (part.charge_units, next, given);
        mpz_set (given, next);
        path[at] = d->days[i].name;
        billing_line_keys (b, from->pool_month, path, keys);
        d->callback (&line, d->arg);
    }
    d->wrong = d->wrong || mpz_cmp (given, from->line->charge_units) != 0;
    mpz_clears (even.before, even.second, even.divisor, given, next,
                part.charge_units, NULL);
    mpq_clear (part.gpu_seconds);
}

static void take_line (const billing_line_t *from, void *arg)
{
    billing_days_t *d = arg;

    if (!passes (d, from->pool_month, from->line->path))
        return;
    if (from->line->kind == CHARGE_USED)
        take_used (d, from);
    else if (!billing_path_text (d->billing, from->line->path, KEY_DAY))
        share_evenly (d, from);
    else
        d->callback (from, d->arg);
}

static void free_line (struct day_line *line)
{
    mpq_clears (line->before, line->second, line->seen, NULL);
    mpz_clears (line->units, line->given, NULL);
    free (line->key);
    free (line);
}

/* --- life ----------------------------------------------------------------- */

static bool is_apart (const usage_filter_t *filter, key_id_t key)
{
    return key == KEY_POOL || key == KEY_MONTH || key == KEY_DAY
           || key == filter->key;
}

/* Of what does not pass only the first day is looked for. */
static void make_usage (billing_days_t *d)
{
    const usage_filter_t *filter = d->billing->days_filter;
    usage_query_t *u = &d->query;

    usage_free (d->usage);
    *u = d->billing->usage_query;
    u->period = d->billing->asked;
    u->apart = filter;
    u->apart_count = filter != NULL;
    for (size_t i = 0; i < u->by.count && filter; i++)
        if (!is_apart (filter, u->by.id[i]))
            u->apart_keys |= 1U << u->by.id[i];
    d->usage = usage_new (u);
}

static bool is_of_time (key_id_t key)
{
    return key == KEY_COUNT || key == KEY_DAY;
}

billing_days_t *billing_days_new (billing_t *billing, billing_f callback,
                                  void *arg)
{
    billing_days_t *d = xcalloc (1, sizeof (*d));

    d->billing = billing;
    d->callback = callback;
    d->arg = arg;
    while (!is_of_time (billing->path[d->length]))
        d->length++;
    make_usage (d);
    return d;
}

void billing_days_add_pool (billing_days_t *d, const pool_month_t *pool_month)
{
    billing_each_of (d->billing, pool_month, take_line, d);
}

void billing_days_free (billing_days_t *d)
{
    struct day_line *line, *next;

    if (!d)
        return;
    HASH_ITER (hh, d->lines, line, next)
    {
        HASH_DEL (d->lines, line);
        free_line (line);
    }
    usage_free (d->usage);
    buffer_done (&d->key);
    free (d->days);
    free (d);
}

period_t billing_days_period (const billing_days_t *d)
{
    return d->billing->asked;
}

/* --- cells ---------------------------------------------------------------- */

/* What was seen at the former price goes to what was before. */
static void change_price (const billing_days_t *d, const pool_month_t *pm,
                          const char *const *path,
                          const rate_card_price_t *price, struct day_line *line)
{
    mpq_mul (line->second, line->second, line->seen);
    exact_add (line->before, line->second);
    mpq_set_ui (line->seen, 0, 1);
    line->price = *price;
    charge_per_second (pm->charge, price, path[CHARGE_TEAM], path[0],
                       line->second);
    scale (d, line->second);
}

static bool same_price (const rate_card_price_t *a, const rate_card_price_t *b)
{
    return a->rate == b->rate && a->rule == b->rule && a->team == b->team;
}

static int take_part (const billing_days_t *d, const pool_month_t *pm,
                      const char *const *path, int64_t instant,
                      const usage_part_t *from, struct day_line *line,
                      mpq_t gpu_seconds, gl_error_t *error)
{
    charge_part_t part;
    int rc;

    charge_part_init (&part);
    rc = charge_part_measure (d->billing->query->site,
                              billing_subject (d->billing, path, instant), from,
                              &part, error);
    if (mpq_sgn (line->seen) == 0 || !same_price (&line->price, &part.price))
        change_price (d, pm, path, &part.price, line);
    exact_add (line->seen, part.price_seconds);
    exact_add (gpu_seconds, part.gpu_seconds);
    charge_part_clear (&part);
    return rc;
}

/* floor (before + second x seen) less what is given, without a common divisor. */
static void give (struct day_line *line, mpz_t ret_units)
{
    mpq_t until;
    mpz_t other;

    mpq_init (until);
    mpz_init (other);
    mpz_mul (mpq_numref (until), mpq_numref (line->second),
             mpq_numref (line->seen));
    mpz_mul (mpq_denref (until), mpq_denref (line->second),
             mpq_denref (line->seen));
    mpz_mul (other, mpq_denref (until), mpq_numref (line->before));
    mpz_mul (mpq_numref (until), mpq_numref (until), mpq_denref (line->before));
    mpz_add (other, other, mpq_numref (until));
    mpz_mul (mpq_denref (until), mpq_denref (until), mpq_denref (line->before));
    mpz_fdiv_q (other, other, mpq_denref (until));
    mpz_sub (ret_units, other, line->given);
    mpz_set (line->given, other);
    mpz_clear (other);
    mpq_clear (until);
}

static int take_parts (const billing_days_t *d, const pool_month_t *pm,
                       const char *const *path, int64_t instant,
                       const usage_cell_t *cell, struct day_line *line,
                       gl_error_t *error)
{
    const char *keys[KEYS_MAX];
    charge_line_t of = {.kind = CHARGE_USED, .path = path};
    billing_line_t day = {pm, keys, &of, .passes = true};
    int rc = 0;

    mpq_init (of.gpu_seconds);
    mpz_init (of.charge_units);
    for (size_t i = 0; i < cell->part_count && rc == 0; i++)
        rc = take_part (d, pm, path, instant, &cell->part[i], line,
                        of.gpu_seconds, error);
    give (line, of.charge_units);
    day.in_period = billing_line_in_period (d->billing, path);
    billing_line_keys (d->billing, pm, path, keys);
    d->callback (&day, d->arg);
    mpq_clear (of.gpu_seconds);
    mpz_clear (of.charge_units);
    return rc;
}

static int take_cell (billing_days_t *d, const usage_cell_t *cell,
                      gl_error_t *error)
{
    billing_t *b = d->billing;
    const char *path[PATH_MAX_LENGTH];
    int64_t instant;
    const pool_month_t *pm = billing_cell (b, &d->query, cell, path, &instant);
    struct day_line *line;

    if (!pm || cell->part_count == 0)
        return 0;
    billing_take_first (b, cell);
    if (!passes (d, pm, path))
        return 0;
    line = find_line (d, pm, path);
    return line ? take_parts (d, pm, path, instant, cell, line, error)
                : gl_error (error,
                            "a day of account %.60s in pool %s is on no line "
                            "of the bill (this is a defect, please report it)",
                            path[0] ? path[0] : "(none)", pm->pool);
}

/* All that has passed by, which is in the order of time for each line. */
static int take_usage (billing_days_t *d, gl_error_t *error)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (d->usage, &count);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = take_cell (d, &cells[i], error);
    make_usage (d);
    return rc;
}

/* --- the door ------------------------------------------------------------- */

int billing_days_add_rollup (billing_days_t *d, const rollup_t *rollup,
                             gl_error_t *error)
{
    usage_add_rollup (d->usage, rollup, ROLLUP_COUNTED);
    d->query.in_any_order = true; /* a line has one cell in a day */
    return take_usage (d, error);
}

void billing_days_add (billing_days_t *d, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project)
{
    usage_add (d->usage, segment, suspensions, count, project);
}

int billing_days_finish (billing_days_t *d, gl_error_t *error)
{
    if (take_usage (d, error) < 0)
        return -1;
    for (struct day_line *line = d->lines; line; line = line->hh.next)
        d->wrong = d->wrong || mpz_cmp (line->given, line->units) != 0;
    return d->wrong ? gl_error (error, "the days of a line do not add up to it "
                                       "(this is a defect, please report it)")
                    : 0;
}
