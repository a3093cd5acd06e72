#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "truth.h"

#define DAYS_MAX 200
#define MONTHS_MAX 12

static const struct {
    const char *name, *file;
} zones[] = {
    {"America/New_York", "New_York"},
    {"Asia/Kolkata", "Kolkata"},
    {"Australia/Lord_Howe", "Lord_Howe"},
    {"UTC", "UTC"},
};
#define ZONES (sizeof (zones) / sizeof (zones[0]))

/* A day or a month of a zone. */
typedef struct {
    span_t span;
    char name[16];
} unit_t;

typedef struct {
    uint64_t jobs, segments, unknown_jobs;
    uint64_t device_seconds, suspended;
    bool suspended_unknown, has_told;
    uint64_t last_id, last_stay, last_unknown;
} cell_t;

typedef struct {
    unit_t day[DAYS_MAX], month[MONTHS_MAX];
    size_t days, months;
    cell_t account[ACCOUNTS];
    cell_t by_day[DAYS_MAX], by_month[MONTHS_MAX];
    cell_t account_day[ACCOUNTS][DAYS_MAX];
    cell_t *user;
    cell_t (*user_month)[MONTHS_MAX];
} zone_truth_t;

struct truth {
    unsigned users;
    uint64_t stays;
    zone_truth_t zone[ZONES];
};

/* --- calendar ----------------------------------------------------------- */

static void unit_name (int64_t at, bool month, char name[16])
{
    time_t t = at;
    struct tm tm;

    localtime_r (&t, &tm);
    if (month)
        strftime (name, 16, "%Y-%m", &tm);
    else
        strftime (name, 16, "%Y-%m-%d", &tm);
}

/* The first second after `at` whose name is another one; at most `end`. */
static int64_t next_change (int64_t at, int64_t end, bool month)
{
    char here[16], there[16];
    int64_t low = at, high;

    unit_name (at, month, here);
    do {
        high = low + 3600;
        unit_name (high, month, there);
        if (strcmp (here, there) != 0)
            break;
        low = high;
    } while (low < end);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        unit_name (middle, month, there);
        if (strcmp (here, there) == 0)
            low = middle;
        else
            high = middle;
    }
    return high < end ? high : end;
}

static size_t make_units (unit_t *unit, size_t max, span_t all, bool month)
{
    size_t count = 0;

    for (int64_t at = all.from; at < all.to; at = unit[count++].span.to) {
        if (count == max)
            errx (1, "more than %zu days or months", max);
        unit_name (at, month, unit[count].name);
        unit[count].span = (span_t){at, next_change (at, all.to, month)};
    }
    return count;
}

static void *make_cells (size_t count, size_t size)
{
    void *cells = calloc (count, size);

    if (!cells)
        err (1, "memory");
    return cells;
}

truth_t *truth_new (span_t all, unsigned user_count)
{
    truth_t *truth = make_cells (1, sizeof (*truth));

    truth->users = user_count;
    for (size_t i = 0; i < ZONES; i++) {
        zone_truth_t *z = &truth->zone[i];
        setenv ("TZ", zones[i].name, 1);
        tzset ();
        z->days = make_units (z->day, DAYS_MAX, all, false);
        z->months = make_units (z->month, MONTHS_MAX, all, true);
        z->user = make_cells (user_count, sizeof (*z->user));
        z->user_month = make_cells (user_count, sizeof (*z->user_month));
    }
    return truth;
}

void truth_free (truth_t *truth)
{
    for (size_t i = 0; i < ZONES; i++) {
        free (truth->zone[i].user);
        free (truth->zone[i].user_month);
    }
    free (truth);
}

/* --- counting ----------------------------------------------------------- */

static span_t clip (span_t a, span_t b)
{
    span_t both
        = {a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};

    if (both.to < both.from)
        both.to = both.from;
    return both;
}

static int64_t length (span_t span)
{
    return span.to - span.from;
}

static void count_job (cell_t *cell, const truth_t *truth, const stay_t *stay)
{
    if (cell->last_stay != truth->stays)
        cell->segments++;
    if (cell->last_id != stay->id)
        cell->jobs++;
    if (!stay->told && cell->last_unknown != stay->id) {
        cell->unknown_jobs++;
        cell->last_unknown = stay->id;
    }
    cell->last_stay = truth->stays;
    cell->last_id = stay->id;
}

/* What of the stay lies in a cell that is the span `in`. */
static void put (cell_t *cell, const truth_t *truth, const stay_t *stay,
                 span_t in)
{
    span_t held = clip (stay->held, in);

    if (length (held) == 0)
        return;
    count_job (cell, truth, stay);
    if (!stay->told)
        return;
    cell->has_told = true;
    cell->device_seconds += stay->devices * (uint64_t)length (held);
    if (stay->only_total && length (held) != length (stay->held))
        cell->suspended_unknown = true;
    for (size_t i = 0; i < stay->pause_count; i++)
        cell->suspended
            += stay->devices * (uint64_t)length (clip (stay->pauses[i], held));
}

static size_t day_of (const zone_truth_t *z, int64_t at)
{
    size_t low = 0, high = z->days;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (z->day[middle].span.from <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t truth_midnight (const truth_t *truth, uint64_t number, int64_t at)
{
    const zone_truth_t *z = &truth->zone[number % ZONES];

    return z->day[day_of (z, at)].span.from;
}

static void put_days (zone_truth_t *z, const truth_t *truth, const stay_t *stay)
{
    for (size_t i = day_of (z, stay->held.from); i < z->days; i++) {
        if (z->day[i].span.from >= stay->held.to)
            break;
        put (&z->by_day[i], truth, stay, z->day[i].span);
        put (&z->account_day[stay->account][i], truth, stay, z->day[i].span);
    }
}

void truth_add (truth_t *truth, const stay_t *stay)
{
    if (stay->told && stay->devices == 0)
        return;
    truth->stays++;
    for (size_t i = 0; i < ZONES; i++) {
        zone_truth_t *z = &truth->zone[i];
        put (&z->account[stay->account], truth, stay, stay->held);
        put (&z->user[stay->user], truth, stay, stay->held);
        put_days (z, truth, stay);
        for (size_t m = 0; m < z->months; m++) {
            put (&z->by_month[m], truth, stay, z->month[m].span);
            put (&z->user_month[stay->user][m], truth, stay, z->month[m].span);
        }
    }
}

/* --- files -------------------------------------------------------------- */

static FILE *open_file (const char *dir, const char *zone, const char *keys)
{
    char path[4096];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%s.%s", dir, zone, keys);
    file = fopen (path, "w");
    if (!file)
        err (1, "%s", path);
    return file;
}

static void close_file (FILE *file)
{
    if (fflush (file) != 0 || ferror (file))
        err (1, "writing");
    fclose (file);
}

/* What is not known is empty. */
static void write_cell (FILE *file, const char *key, const char *more,
                        const cell_t *c)
{
    if (c->segments == 0)
        return;
    fprintf (file, "%s%s%s|%llu|%llu|%llu|", key, more ? "|" : "",
             more ? more : "", (unsigned long long)c->jobs,
             (unsigned long long)c->segments,
             (unsigned long long)c->unknown_jobs);
    if (c->has_told)
        fprintf (file, "%llu", (unsigned long long)c->device_seconds);
    fputc ('|', file);
    if (c->has_told && !c->suspended_unknown)
        fprintf (file, "%llu", (unsigned long long)c->suspended);
    fputc ('\n', file);
}

static void write_units (const char *dir, const char *zone, const char *keys,
                         const unit_t *unit, const cell_t *cell, size_t count)
{
    FILE *file = open_file (dir, zone, keys);

    for (size_t i = 0; i < count; i++)
        write_cell (file, unit[i].name, NULL, &cell[i]);
    close_file (file);
}

static void write_accounts (const zone_truth_t *z, const char *dir,
                            const char *zone,
                            void (*account_name) (unsigned, char[32]))
{
    FILE *file = open_file (dir, zone, "account");
    FILE *days = open_file (dir, zone, "account-day");
    char name[32];

    for (unsigned a = 0; a < ACCOUNTS; a++) {
        account_name (a, name);
        write_cell (file, name, NULL, &z->account[a]);
        for (size_t i = 0; i < z->days; i++)
            write_cell (days, name, z->day[i].name, &z->account_day[a][i]);
    }
    close_file (file);
    close_file (days);
}

static void write_users (const truth_t *truth, const zone_truth_t *z,
                         const char *dir, const char *zone,
                         void (*user_name) (unsigned, char[32]))
{
    FILE *file = open_file (dir, zone, "user");
    FILE *months = open_file (dir, zone, "user-month");
    char name[32];

    for (unsigned u = 0; u < truth->users; u++) {
        user_name (u, name);
        write_cell (file, name, NULL, &z->user[u]);
        for (size_t i = 0; i < z->months; i++)
            write_cell (months, name, z->month[i].name, &z->user_month[u][i]);
    }
    close_file (file);
    close_file (months);
}

void truth_write (const truth_t *truth, const char *dir,
                  void (*user_name) (unsigned, char[32]),
                  void (*account_name) (unsigned, char[32]))
{
    for (size_t i = 0; i < ZONES; i++) {
        const zone_truth_t *z = &truth->zone[i];
        const char *zone = zones[i].file;
        write_units (dir, zone, "day", z->day, z->by_day, z->days);
        write_units (dir, zone, "month", z->month, z->by_month, z->months);
        write_accounts (z, dir, zone, account_name);
        write_users (truth, z, dir, zone, user_name);
    }
}
