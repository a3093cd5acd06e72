#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "truth.h"

#define HOURS_MAX 1600
#define DAYS_MAX 100
#define MONTHS_MAX 6
#define STATES_MAX 16

static const struct {
    const char *name, *file;
} zones[] = {
    {"America/New_York", "New_York"},
    {"Asia/Kolkata", "Kolkata"},
    {"Australia/Lord_Howe", "Lord_Howe"},
    {"Pacific/Chatham", "Chatham"},
    {"UTC", "UTC"},
};
#define ZONES (sizeof (zones) / sizeof (zones[0]))

typedef enum {
    HOUR,
    DAY,
    MONTH,
    UNITS,
} unit_kind_t;

static const struct {
    const char *file;
    size_t max;
} unit_kinds[UNITS] = {
    {"hour", HOURS_MAX},
    {"day", DAYS_MAX},
    {"month", MONTHS_MAX},
};

typedef struct {
    uint64_t jobs, segments, unknown_jobs;
    uint64_t device_seconds, suspended;
    bool suspended_unknown, has_told;
    uint64_t last_id, last_stay, last_unknown;
} cell_t;

/* What the units of a zone cut. */
typedef struct {
    unit_t *unit[UNITS];
    size_t units[UNITS];
    cell_t *by[UNITS];
    cell_t (*account_day)[DAYS_MAX];
    cell_t (*user_month)[MONTHS_MAX];
} zone_truth_t;

struct truth {
    unsigned users;
    uint64_t stays;
    nodes_truth_t *nodes;
    zone_truth_t zone[ZONES];
    cell_t account[ACCOUNTS];
    cell_t *user;
    const char *state_name[STATES_MAX];
    cell_t state[STATES_MAX];
    cell_t type[TYPES], pool[POOLS + 1];
    cell_t node[NODES + 1]; /* 0: nobody knows which */
};

/* --- calendar ----------------------------------------------------------- */

/* An hour that the clock shows twice has two offsets. */
static void unit_name (int64_t at, unit_kind_t kind, char name[32])
{
    time_t t = at;
    struct tm tm;

    localtime_r (&t, &tm);
    if (kind == HOUR)
        strftime (name, 32, "%Y-%m-%dT%H:00", &tm);
    else
        strftime (name, 32, kind == DAY ? "%Y-%m-%d" : "%Y-%m", &tm);
    if (kind == HOUR) {
        char offset[8];
        strftime (offset, sizeof (offset), "%z", &tm);
        sprintf (name + strlen (name), "%.3s:%s", offset, offset + 3);
    }
}

/* The first second after `at` whose name is another one; at most `end`. */
static int64_t next_change (int64_t at, int64_t end, unit_kind_t kind)
{
    char here[32], there[32];
    int64_t low = at, high;

    unit_name (at, kind, here);
    do {
        high = low + (kind == HOUR ? 900 : 3600);
        unit_name (high, kind, there);
        if (strcmp (here, there) != 0)
            break;
        low = high;
    } while (low < end);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        unit_name (middle, kind, there);
        if (strcmp (here, there) == 0)
            low = middle;
        else
            high = middle;
    }
    return high < end ? high : end;
}

static size_t make_units (unit_t *unit, span_t all, unit_kind_t kind)
{
    size_t count = 0;

    for (int64_t at = all.from; at < all.to; at = unit[count++].span.to) {
        if (count == unit_kinds[kind].max)
            errx (1, "more than %zu units", unit_kinds[kind].max);
        unit_name (at, kind, unit[count].name);
        unit[count].span = (span_t){at, next_change (at, all.to, kind)};
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

/* The day with which that pool begins. */
static int64_t late_from (const zone_truth_t *z)
{
    size_t i = 0;

    while (strcmp (z->unit[DAY][i].name, "2025-10-15") != 0)
        i++;
    return z->unit[DAY][i].span.from;
}

truth_t *truth_new (span_t all, unsigned user_count)
{
    truth_t *truth = make_cells (1, sizeof (*truth));

    truth->users = user_count;
    truth->user = make_cells (user_count, sizeof (*truth->user));
    truth->nodes = nodes_new (all);
    for (size_t i = 0; i < ZONES; i++) {
        zone_truth_t *z = &truth->zone[i];
        setenv ("TZ", zones[i].name, 1);
        tzset ();
        for (unit_kind_t k = 0; k < UNITS; k++) {
            z->unit[k] = make_cells (unit_kinds[k].max, sizeof (unit_t));
            z->by[k] = make_cells (unit_kinds[k].max, sizeof (cell_t));
            z->units[k] = make_units (z->unit[k], all, k);
        }
        z->account_day = make_cells (ACCOUNTS, sizeof (*z->account_day));
        z->user_month = make_cells (user_count, sizeof (*z->user_month));
    }
    nodes_begin_late (late_from (&truth->zone[ZONES - 1]));
    return truth;
}

void truth_free (truth_t *truth)
{
    for (size_t i = 0; i < ZONES; i++) {
        for (unit_kind_t k = 0; k < UNITS; k++) {
            free (truth->zone[i].unit[k]);
            free (truth->zone[i].by[k]);
        }
        free (truth->zone[i].account_day);
        free (truth->zone[i].user_month);
    }
    nodes_free (truth->nodes);
    free (truth->user);
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

/* What of so many devices of the stay lies in a cell that is the span `in`. */
static void put_devices (cell_t *cell, const truth_t *truth, const stay_t *stay,
                         uint64_t devices, span_t in)
{
    span_t held = clip (stay->allocated, in);

    if (length (held) == 0 || (stay->told && devices == 0))
        return;
    count_job (cell, truth, stay);
    if (!stay->told)
        return;
    cell->has_told = true;
    cell->device_seconds += devices * (uint64_t)length (held);
    if (stay->only_total && length (held) != length (stay->allocated))
        cell->suspended_unknown = true;
    for (size_t i = 0; i < stay->pause_count; i++)
        cell->suspended
            += devices * (uint64_t)length (clip (stay->pauses[i], held));
}

static uint64_t all_devices (const stay_t *stay)
{
    uint64_t sum = 0;

    for (type_t t = 0; t < TYPES; t++)
        sum += stay->devices[t];
    return sum;
}

static void put (cell_t *cell, const truth_t *truth, const stay_t *stay,
                 span_t in)
{
    put_devices (cell, truth, stay, all_devices (stay), in);
}

static size_t unit_of (const zone_truth_t *z, unit_kind_t kind, int64_t at)
{
    size_t low = 0, high = z->units[kind];

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (z->unit[kind][middle].span.from <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t truth_midnight (const truth_t *truth, uint64_t number, int64_t at)
{
    const zone_truth_t *z = &truth->zone[number % ZONES];

    return z->unit[DAY][unit_of (z, DAY, at)].span.from;
}

static void put_units (zone_truth_t *z, const truth_t *truth,
                       const stay_t *stay, unit_kind_t kind)
{
    for (size_t i = unit_of (z, kind, stay->allocated.from); i < z->units[kind];
         i++) {
        span_t span = z->unit[kind][i].span;
        if (span.from >= stay->allocated.to)
            break;
        put (&z->by[kind][i], truth, stay, span);
        if (kind == DAY)
            put (&z->account_day[stay->account][i], truth, stay, span);
        if (kind == MONTH)
            put (&z->user_month[stay->user][i], truth, stay, span);
    }
}

static void put_state (truth_t *truth, const stay_t *stay)
{
    size_t i = 0;

    while (truth->state_name[i]
           && strcmp (truth->state_name[i], stay->state) != 0)
        i++;
    truth->state_name[i] = stay->state;
    put (&truth->state[i], truth, stay, stay->allocated);
}

/* Before and after the pool has begun. */
static void put_pools (truth_t *truth, const stay_t *stay, unsigned node,
                       type_t type, uint64_t devices)
{
    span_t in = stay->allocated;

    while (in.from < in.to) {
        unsigned pool = nodes_pool (node, type, in.from);
        span_t part = in;
        for (unsigned p = 0; p < POOLS; p++)
            if (nodes_pool_from (p) > part.from
                && nodes_pool_from (p) < part.to)
                part.to = nodes_pool_from (p);
        put_devices (&truth->pool[pool], truth, stay, devices, part);
        in.from = part.to;
    }
}

static void put_places (truth_t *truth, const stay_t *stay)
{
    for (type_t t = 0; t < TYPES; t++) {
        put_devices (&truth->type[t], truth, stay, stay->devices[t],
                     stay->allocated);
        for (unsigned i = 0; i < stay->nodes; i++) {
            uint64_t share = nodes_share (stay, t, i);
            unsigned node = stay->node + i;
            put_devices (&truth->node[node], truth, stay, share,
                         stay->allocated);
            put_pools (truth, stay, node, t, share);
            nodes_hold (truth->nodes, node, t, share, stay->allocated);
        }
    }
}

void truth_add (truth_t *truth, const stay_t *stay)
{
    if (length (stay->allocated) <= 0
        || (stay->told && all_devices (stay) == 0))
        return;
    truth->stays++;
    put (&truth->account[stay->account], truth, stay, stay->allocated);
    put (&truth->user[stay->user], truth, stay, stay->allocated);
    put_state (truth, stay);
    if (stay->told)
        put_places (truth, stay);
    else {
        put (&truth->type[UNTYPED], truth, stay, stay->allocated);
        put (&truth->node[0], truth, stay, stay->allocated);
        put (&truth->pool[POOLS], truth, stay, stay->allocated);
    }
    for (size_t i = 0; i < ZONES; i++)
        for (unit_kind_t k = 0; k < UNITS; k++)
            put_units (&truth->zone[i], truth, stay, k);
}

void truth_add_state (truth_t *truth, unsigned node, node_state_t state,
                      span_t span)
{
    nodes_add_state (truth->nodes, node, state, span);
}

/* --- files -------------------------------------------------------------- */

/* zone NULL: it does not matter */
static FILE *open_file (const char *dir, const char *zone, const char *keys)
{
    char path[4096];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%s%s%s", dir, zone ? zone : "",
              zone ? "." : "", keys);
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

static void write_states (const truth_t *truth, const char *dir)
{
    FILE *file = open_file (dir, NULL, "state");

    for (size_t i = 0; i < STATES_MAX && truth->state_name[i]; i++)
        write_cell (file, truth->state_name[i], NULL, &truth->state[i]);
    close_file (file);
}

static void write_places (const truth_t *truth, const char *dir)
{
    static const char *const types[TYPES]
        = {"(untyped)", "h100", "a100-sxm4_80", "1g.10gb+me", "shard"};
    FILE *type = open_file (dir, NULL, "gres_type");
    FILE *node = open_file (dir, NULL, "node");
    FILE *pool = open_file (dir, NULL, "pool");

    for (type_t t = 0; t < TYPES; t++)
        write_cell (type, types[t], NULL, &truth->type[t]);
    for (unsigned n = 0; n <= NODES; n++) {
        char name[16] = "(none)";
        if (n)
            snprintf (name, sizeof (name), "g%u", n);
        write_cell (node, name, NULL, &truth->node[n]);
    }
    for (unsigned p = 0; p <= POOLS; p++)
        write_cell (pool, nodes_pool_name (p), NULL, &truth->pool[p]);
    close_file (type);
    close_file (node);
    close_file (pool);
}

static void write_zone (const truth_t *truth, size_t zone, const char *dir)
{
    const zone_truth_t *z = &truth->zone[zone];
    const char *name = zones[zone].file;

    nodes_begin_late (late_from (z));
    nodes_count (truth->nodes);
    for (unit_kind_t k = 0; k < UNITS; k++) {
        FILE *file = open_file (dir, name, unit_kinds[k].file);
        char keys[32];
        for (size_t i = 0; i < z->units[k]; i++)
            write_cell (file, z->unit[k][i].name, NULL, &z->by[k][i]);
        close_file (file);
        snprintf (keys, sizeof (keys), "pool-%s", unit_kinds[k].file);
        nodes_write (truth->nodes, dir, name, keys, z->unit[k], z->units[k],
                     false);
    }
    nodes_write (truth->nodes, dir, name, "node-month", z->unit[MONTH],
                 z->units[MONTH], true);
}

static void write_accounts (const truth_t *truth, size_t zone, const char *dir,
                            void (*account_name) (unsigned, char[32]))
{
    const zone_truth_t *z = &truth->zone[zone];
    FILE *days = open_file (dir, zones[zone].file, "account-day");
    char name[32];

    for (unsigned a = 0; a < ACCOUNTS; a++) {
        account_name (a, name);
        for (size_t i = 0; i < z->units[DAY]; i++)
            write_cell (days, name, z->unit[DAY][i].name,
                        &z->account_day[a][i]);
    }
    close_file (days);
}

static void write_users (const truth_t *truth, size_t zone, const char *dir,
                         void (*user_name) (unsigned, char[32]))
{
    const zone_truth_t *z = &truth->zone[zone];
    FILE *months = open_file (dir, zones[zone].file, "user-month");
    char name[32];

    for (unsigned u = 0; u < truth->users; u++) {
        user_name (u, name);
        for (size_t i = 0; i < z->units[MONTH]; i++)
            write_cell (months, name, z->unit[MONTH][i].name,
                        &z->user_month[u][i]);
    }
    close_file (months);
}

static void write_people (const truth_t *truth, const char *dir,
                          void (*user_name) (unsigned, char[32]),
                          void (*account_name) (unsigned, char[32]))
{
    FILE *user = open_file (dir, NULL, "user");
    FILE *account = open_file (dir, NULL, "account");
    char name[32];

    for (unsigned u = 0; u < truth->users; u++) {
        user_name (u, name);
        write_cell (user, name, NULL, &truth->user[u]);
    }
    for (unsigned a = 0; a < ACCOUNTS; a++) {
        account_name (a, name);
        write_cell (account, name, NULL, &truth->account[a]);
    }
    close_file (user);
    close_file (account);
}

void truth_write (const truth_t *truth, const char *dir,
                  void (*user_name) (unsigned, char[32]),
                  void (*account_name) (unsigned, char[32]))
{
    nodes_write_pools (dir);
    write_people (truth, dir, user_name, account_name);
    write_states (truth, dir);
    write_places (truth, dir);
    for (size_t i = 0; i < ZONES; i++) {
        write_zone (truth, i, dir);
        write_accounts (truth, i, dir, account_name);
        write_users (truth, i, dir, user_name);
    }
}
