/*
 * Segments against slurmdbd's usage tables. What its rollup makes of the job
 * rows as they stand is computed by its own rules (as_mysql_hourly_rollup),
 * each rule that is not ours being a cause with the amount that it moves; what
 * is left over between that and the tables has to be proven otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "acct/reconcile_private.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/nodelist.h"

#define HOUR INT64_C (3600)
/* Slurm's "no value" of a TRES count, and what lies above it. */
#define TRES_NO_VALUE UINT64_C (0xfffffffffffffffd)
#define SLURM_NO_VAL64 UINT64_C (0xfffffffffffffffe)

typedef unsigned __int128 amount_t;

/* An association's account and user, or the cluster (both ""). */
struct cell {
    char *key; /* account, \001, user */
    char *who; /* for people */
    amount_t ours;
    amount_t theirs;
    amount_t expected; /* by slurmdbd's rules, of the rows as they are now */
    amount_t left_alone;
    bool voids;       /* rows without a count are among them */
    uint64_t wrapped; /* what these come to, modulo 2^64 */
    amount_t changed; /* what rows that changed since the rolling may move */
    __int128 moved[CAUSE_COUNT]; /* expected - ours, by cause */
    UT_hash_handle hh;
};

struct association {
    uint64_t id;
    struct cell *cell;
    UT_hash_handle hh;
};

struct tres_count {
    uint64_t id;
    uint64_t count;
};

struct reservation {
    uint64_t id;
    int64_t start, end;
    nodelist_t *nodes;
    uint64_t flags;
    uint64_t *associations;
    size_t association_count;
    struct tres_count *tres;
    size_t tres_count;
    size_t first; /* hour */
    size_t hours;
    uint64_t *used; /* by hour, by TRES: seconds x the reservation's count */
    uint64_t *lost; /* likewise: to outages */
};

struct rolled {
    const reconcile_cluster_t *cluster;
    int64_t base;    /* the first whole hour of the period */
    size_t hours;    /* whole ones */
    bool *done;      /* rolled, by hour */
    int64_t *when;   /* last, by hour; 0: not known */
    int64_t *before; /* rolled seconds before each hour; made when first asked
                        for */
    bool any;
    struct cell *cells;
    struct cell whole; /* the cluster */
    bool whole_known;
    bool full;        /* all of its GPUs were in use in some hour */
    amount_t outside; /* ours, in hours that were not rolled */
    struct association *associations;
    struct reservation *reservation;
    size_t reservation_count;
    uint64_t gpu;
};

/* --- hours ------------------------------------------------------------- */

rolled_t *rolled_new (const reconcile_cluster_t *cluster)
{
    rolled_t *r = xcalloc (1, sizeof (*r));
    int64_t end = cluster->period.end / HOUR;

    r->cluster = cluster;
    r->base = (cluster->period.start + HOUR - 1) / HOUR * HOUR;
    r->hours = end > r->base / HOUR ? (size_t)(end - r->base / HOUR) : 0;
    r->done = xcalloc (r->hours + 1, sizeof (*r->done));
    r->when = xcalloc (r->hours + 1, sizeof (*r->when));
    return r;
}

static void free_reservation (struct reservation *v)
{
    free (v->associations);
    free (v->tres);
    free (v->used);
    free (v->lost);
    nodelist_close (v->nodes);
}

void rolled_free (rolled_t *r)
{
    struct cell *cell, *next;
    struct association *a, *next_a;

    if (!r)
        return;
    HASH_ITER (hh, r->associations, a, next_a)
    {
        HASH_DEL (r->associations, a);
        free (a);
    }
    HASH_ITER (hh, r->cells, cell, next)
    {
        HASH_DEL (r->cells, cell);
        free (cell->key);
        free (cell->who);
        free (cell);
    }
    for (size_t i = 0; i < r->reservation_count; i++)
        free_reservation (&r->reservation[i]);
    free (r->reservation);
    free (r->done);
    free (r->when);
    free (r->before);
    free (r);
}

/* The hour of that instant; `hours` or more: none of the period's. */
static size_t hour_of (const rolled_t *r, int64_t instant)
{
    return instant < r->base ? SIZE_MAX : (size_t)((instant - r->base) / HOUR);
}

void rolled_hour (rolled_t *r, int64_t start, int64_t when)
{
    size_t hour = hour_of (r, start);

    if (hour >= r->hours)
        return;
    r->done[hour] = r->any = true;
    if (when > r->when[hour])
        r->when[hour] = when;
}

void rolled_gpu (rolled_t *r, uint64_t id)
{
    r->gpu = id;
}

bool rolled_is_empty (const rolled_t *r)
{
    return !r->any;
}

static void count_before (rolled_t *r)
{
    int64_t sum = 0;

    r->before = xcalloc (r->hours + 1, sizeof (*r->before));
    for (size_t i = 0; i < r->hours; i++) {
        r->before[i] = sum;
        sum += r->done[i] ? HOUR : 0;
    }
    r->before[r->hours] = sum;
}

/* Rolled seconds of the period before the instant. */
static int64_t seconds_before (rolled_t *r, int64_t instant)
{
    size_t hour = hour_of (r, instant);

    if (!r->before)
        count_before (r);
    if (instant <= r->base)
        return 0;
    if (hour >= r->hours)
        return r->before[r->hours];
    return r->before[hour]
           + (r->done[hour] ? instant - r->base - (int64_t)hour * HOUR : 0);
}

static amount_t held (rolled_t *r, uint64_t devices, int64_t start, int64_t end)
{
    if (start == 0 || end <= start)
        return 0;
    return (amount_t)devices
           * (uint64_t)(seconds_before (r, end) - seconds_before (r, start));
}

/* --- cells ------------------------------------------------------------- */

static struct cell *cell_of (rolled_t *r, const char *account, const char *user)
{
    GL_AUTOFREE char *key
        = xasprintf ("%s\001%s", account ? account : "", user ? user : "");
    struct cell *cell;

    HASH_FIND_STR (r->cells, key, cell);
    if (cell)
        return cell;
    cell = xcalloc (1, sizeof (*cell));
    cell->key = xstrdup (key);
    cell->who = xasprintf ("%s/%s", account ? account : "", user ? user : "");
    HASH_ADD_KEYPTR (hh, r->cells, cell->key, strlen (cell->key), cell);
    return cell;
}

/* One that assoc_table does not have is a cell of its own. */
static struct cell *cell_of_association (rolled_t *r, uint64_t id,
                                         const char *account, const char *user)
{
    GL_AUTOFREE char *number
        = xasprintf ("association %llu", (unsigned long long)id);
    struct association *a;

    HASH_FIND (hh, r->associations, &id, sizeof (id), a);
    if (a)
        return a->cell;
    a = xcalloc (1, sizeof (*a));
    a->id = id;
    a->cell = account ? cell_of (r, account, user) : cell_of (r, number, NULL);
    HASH_ADD (hh, r->associations, id, sizeof (a->id), a);
    return a->cell;
}

void rolled_association (rolled_t *r, uint64_t id, const char *account,
                         const char *user)
{
    cell_of_association (r, id, account, user);
}

void rolled_usage (rolled_t *r, uint64_t association, const char *account,
                   const char *user, int64_t start, uint64_t seconds,
                   int64_t when)
{
    size_t hour = hour_of (r, start);
    struct cell *cell;

    if (hour >= r->hours || !r->done[hour])
        return;
    cell = cell_of_association (r, association, account, user);
    cell->theirs += seconds;
    if (when < r->when[hour])
        cell->left_alone += seconds;
}

void rolled_cluster (rolled_t *r, int64_t start, uint64_t seconds, bool full)
{
    size_t hour = hour_of (r, start);

    if (hour >= r->hours || !r->done[hour])
        return;
    r->whole_known = true;
    r->whole.theirs += seconds;
    r->full |= full;
}

/* --- reservations ------------------------------------------------------ */

/* "1=8,1001=4" */
static struct tres_count *parse_tres (const char *text, size_t *ret_count)
{
    struct tres_count *list = NULL;
    size_t count = 0;

    for (const char *p = text; p && *p; p = *p ? p + 1 : p) {
        size_t id_length = strcspn (p, "=,"), length;
        const char *value = p + id_length + 1;
        uint64_t id, number;
        if (p[id_length] == '=' && number_u64 (p, id_length, &id) == 0
            && number_u64 (value, length = strcspn (value, ","), &number) == 0
            && number > 0 && number < TRES_NO_VALUE) {
            list = xreallocarray (list, count + 1, sizeof (*list));
            list[count++] = (struct tres_count){id, number};
        }
        p += strcspn (p, ",");
    }
    *ret_count = count;
    return list;
}

/* What stands behind the id, as it is; 0: nothing. */
static uint64_t raw_count (const char *text, uint64_t wanted)
{
    for (const char *p = text; p && *p; p = *p ? p + 1 : p) {
        size_t length = strcspn (p, "=,");
        uint64_t id, count;
        if (p[length] == '=' && number_u64 (p, length, &id) == 0 && id == wanted
            && number_u64 (p + length + 1, strcspn (p + length + 1, ","),
                           &count)
                   == 0)
            return count;
        p += strcspn (p, ",");
    }
    return 0;
}

static void parse_associations (struct reservation *v, const char *text)
{
    for (const char *p = text; p && *p; p = *p ? p + 1 : p) {
        size_t length = strcspn (p, ",");
        uint64_t id;
        if (number_u64 (p, length, &id) == 0) {
            v->associations
                = xreallocarray (v->associations, v->association_count + 1,
                                 sizeof (*v->associations));
            v->associations[v->association_count++] = id;
        }
        p += length;
    }
}

/* Nodes and energy are not rolled up by reservation. */
#define TRES_NODE 4

static void drop_nodes (struct reservation *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->tres_count; i++)
        if (v->tres[i].id != TRES_NODE)
            v->tres[kept++] = v->tres[i];
    v->tres_count = kept;
}

void rolled_reservation (rolled_t *r, const resv_row_t *row)
{
    struct reservation v
        = {.id = row->id,
           .start = row->force > row->start ? row->force : row->start,
           .end = row->end,
           .flags = row->flags};
    int64_t from = v.start > r->base ? v.start : r->base;
    int64_t to = r->base + (int64_t)r->hours * HOUR;

    if (v.end < to)
        to = v.end;
    if (from >= to)
        return;
    v.first = hour_of (r, from);
    v.hours = hour_of (r, to - 1) + 1 - v.first;
    v.tres = parse_tres (row->tres, &v.tres_count);
    drop_nodes (&v);
    parse_associations (&v, row->associations);
    v.used = xcalloc (v.hours * v.tres_count + 1, sizeof (*v.used));
    v.lost = xcalloc (v.hours * v.tres_count + 1, sizeof (*v.lost));
    v.nodes = nodelist_open (row->nodelist, NULL);
    r->reservation = xreallocarray (r->reservation, r->reservation_count + 1,
                                    sizeof (*r->reservation));
    r->reservation[r->reservation_count++] = v;
}

/* [start, end) within the hour */
static int64_t in_hour (const rolled_t *r, size_t hour, int64_t start,
                        int64_t end)
{
    int64_t from = r->base + (int64_t)hour * HOUR;

    return period_seconds (
        period_clip ((period_t){start, end}, (period_t){from, from + HOUR}));
}

static uint64_t count_of (const struct tres_count *list, size_t count,
                          uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return list[i].count;
    return 0;
}

static void lose (rolled_t *r, struct reservation *v, int64_t start,
                  int64_t end, const struct tres_count *node, size_t count)
{
    int64_t from = start > v->start ? start : v->start;
    int64_t to = end < v->end ? end : v->end;

    for (size_t h = 0; h < v->hours; h++) {
        int64_t seconds = in_hour (r, v->first + h, from, to);
        for (size_t t = 0; t < v->tres_count && seconds > 0; t++)
            v->lost[h * v->tres_count + t]
                += (uint64_t)seconds * count_of (node, count, v->tres[t].id);
    }
}

void rolled_outage (rolled_t *r, const char *node, int64_t start, int64_t end,
                    const char *tres)
{
    struct tres_count *list = NULL;
    size_t count = 0;

    for (size_t i = 0; i < r->reservation_count; i++) {
        struct reservation *v = &r->reservation[i];
        if (!v->nodes || !nodelist_contains (v->nodes, node))
            continue;
        if (!list)
            list = parse_tres (tres, &count);
        lose (r, v, start, end ? end : r->cluster->period.end, list, count);
    }
    free (list);
}

/* What the reservation has of a TRES in the hour. */
static uint64_t total_in (const rolled_t *r, const struct reservation *v,
                          size_t h, size_t t)
{
    uint64_t seconds = (uint64_t)in_hour (r, v->first + h, v->start, v->end);
    uint64_t total = v->tres[t].count * seconds;
    uint64_t lost = v->lost[h * v->tres_count + t];

    return lost >= total ? 0 : total - lost;
}

/* A job takes the whole of what the reservation has of a TRES, however little
 * of it it holds: slurmdbd multiplies by the reservation's count. */
static void use_reservation (rolled_t *r, struct reservation *v, int64_t start,
                             int64_t end, const struct tres_count *job,
                             size_t job_count)
{
    int64_t from = start > v->start ? start : v->start;
    int64_t to = end < v->end ? end : v->end;

    for (size_t h = 0; h < v->hours; h++) {
        int64_t seconds = in_hour (r, v->first + h, from, to);
        for (size_t t = 0; t < v->tres_count && seconds > 0; t++)
            if (count_of (job, job_count, v->tres[t].id) > 0)
                v->used[h * v->tres_count + t]
                    += (uint64_t)seconds * v->tres[t].count;
    }
}

static uint64_t gpus_in (const rolled_t *r, const struct reservation *v,
                         size_t h)
{
    for (size_t t = 0; t < v->tres_count; t++)
        if (v->tres[t].id == r->gpu)
            return total_in (r, v, h, t);
    return 0;
}

/* The cluster's part of a job in a reservation: none but where the reservation
 * lets other jobs be. */
static amount_t in_reservations (rolled_t *r, const job_row_t *row,
                                 int64_t start, int64_t end, const char *tres)
{
    size_t count;
    struct tres_count *job = parse_tres (tres, &count);
    amount_t apart = 0;

    for (size_t i = 0; i < r->reservation_count; i++) {
        struct reservation *v = &r->reservation[i];
        if (v->id != row->id_resv)
            continue;
        use_reservation (r, v, start, end, job, count);
        if (v->flags & RESERVATION_IGNORE_JOBS)
            apart
                += held (r, row->gpu_total, start > v->start ? start : v->start,
                         end < v->end ? end : v->end);
    }
    free (job);
    return apart;
}

/* What one reservation leaves unused of GPUs in an hour, as slurmdbd reckons:
 * it stops at the first TRES of which nothing is left. */
static uint64_t idle_gpus (const rolled_t *r, const struct reservation *v,
                           size_t h)
{
    for (size_t t = 0; t < v->tres_count; t++) {
        int64_t idle = (int64_t)total_in (r, v, h, t)
                       - (int64_t)v->used[h * v->tres_count + t];
        if (idle <= 0)
            return 0;
        if (v->tres[t].id == r->gpu)
            return (uint64_t)idle;
    }
    return 0;
}

static void share_idle (rolled_t *r, const struct reservation *v, size_t h)
{
    int32_t share = (int32_t)(uint32_t)idle_gpus (r, v, h);

    if (v->association_count == 0)
        return;
    share /= (int32_t)v->association_count;
    for (size_t i = 0; i < v->association_count; i++) {
        uint64_t id = v->associations[i];
        struct association *a;
        HASH_FIND (hh, r->associations, &id, sizeof (id), a);
        if (a)
            a->cell->moved[CAUSE_RESERVED_IDLE] += share;
    }
}

static void finish_reservations (rolled_t *r)
{
    for (size_t i = 0; i < r->reservation_count; i++) {
        const struct reservation *v = &r->reservation[i];
        bool counts
            = !(v->flags & (RESERVATION_IGNORE_JOBS | RESERVATION_MAINT));
        for (size_t h = 0; h < v->hours; h++) {
            if (!r->done[v->first + h])
                continue;
            share_idle (r, v, h);
            if (counts)
                r->whole.moved[CAUSE_RESERVED] += (__int128)gpus_in (r, v, h);
        }
    }
}

/* --- segments ---------------------------------------------------------- */

static void move (rolled_t *r, struct cell *cell, reconcile_cause_t cause,
                  amount_t from, amount_t to)
{
    __int128 amount = (__int128)to - (__int128)from;

    if (amount == 0)
        return;
    cell->moved[cause] += amount;
    r->whole.moved[cause] += amount;
}

/* The row was written after the hour of its end was rolled. */
static void note_change (rolled_t *r, struct cell *cell, const job_row_t *row,
                         uint64_t devices)
{
    const segment_t *s = &row->segment;
    size_t hour = hour_of (r, s->time_end);

    if (s->time_end == 0 || s->time_start == 0 || hour >= r->hours
        || !r->done[hour] || r->when[hour] == 0
        || row->mod_time <= r->when[hour])
        return;
    if (row->gpu_total > devices)
        devices = row->gpu_total;
    cell->changed += held (r, devices ? devices : 1, s->time_start,
                           r->cluster->period.end);
}

/* "1001=18446744073709551614" */
static void note_void (rolled_t *r, struct cell *cell, const job_row_t *row,
                       const char *tres)
{
    const segment_t *s = &row->segment;
    int64_t start = s->time_start, eligible = row->time_eligible / HOUR * HOUR;
    int64_t end = s->time_end ? s->time_end : r->cluster->period.end;
    uint64_t count = raw_count (tres, r->gpu);

    if (count < TRES_NO_VALUE || row->time_eligible == 0)
        return;
    cell->voids = r->whole.voids = true;
    if (eligible > start)
        start = eligible;
    for (size_t h = 0; h < r->hours && s->time_start != 0; h++) {
        uint64_t product
            = r->done[h] ? count * (uint64_t)in_hour (r, h, start, end) : 0;
        if (product == SLURM_NO_VAL64) /* that is left out */
            continue;
        cell->wrapped += product;
        r->whole.wrapped += product;
    }
}

/* From what we count of the row to what slurmdbd counts, rule by rule. */
static void follow_row (rolled_t *r, struct cell *cell, amount_t ours,
                        reconcile_cause_t cause, const job_row_t *row,
                        const char *tres)
{
    const segment_t *raw = &row->segment;
    segment_t mended = job_row_segment (row);
    uint64_t devices = segment_devices (raw);
    int64_t end = raw->time_end ? raw->time_end : r->cluster->period.end;
    int64_t start = raw->time_start;
    amount_t counted = held (r, devices, mended.time_start, end);
    amount_t as_written = held (r, devices, start, end);
    amount_t total = held (r, row->gpu_total, start, end);
    amount_t rolled;

    if (row->time_eligible / HOUR * HOUR > start)
        start = row->time_eligible / HOUR * HOUR;
    rolled = row->time_eligible == 0 ? 0 : held (r, row->gpu_total, start, end);
    move (r, cell, cause == CAUSE_COUNT ? CAUSE_UNEXPLAINED : cause, ours,
          counted);
    move (r, cell, start > end ? CAUSE_REVERSED : CAUSE_RESIZED_START, counted,
          as_written);
    move (r, cell, CAUSE_UNTOTALLED, as_written, total);
    move (r, cell, CAUSE_ELIGIBLE_ZERO, total, rolled);
    cell->expected += rolled;
    if (row->id_resv != 0 && row->time_eligible != 0)
        r->whole.moved[CAUSE_RESERVED]
            += (__int128)in_reservations (r, row, raw->time_start, end, tres)
               - (__int128)rolled;
    note_void (r, cell, row, tres);
    note_change (r, cell, row, devices);
}

static struct cell *cell_of_row (rolled_t *r, const job_row_t *row)
{
    return cell_of_association (r, row->association, row->association_account,
                                row->association_user);
}

void rolled_segment (rolled_t *r, const segment_t *ours,
                     const job_row_t *theirs, unsigned revised,
                     const char *tres)
{
    reconcile_cause_t cause
        = reconcile_judge (r->cluster, ours, theirs, revised);
    struct cell *mine = NULL, *cell;
    amount_t held_by_us = 0;

    if (ours) {
        mine = theirs && !theirs->association_account
                   ? cell_of_row (r, theirs)
                   : cell_of (r, ours->account, ours->user);
        held_by_us = held (r, segment_devices (ours), ours->time_start,
                           segment_end (ours));
        mine->ours += held_by_us;
        r->whole.ours += held_by_us;
        r->outside
            += segment_device_seconds (ours, r->cluster->period) - held_by_us;
        if (!theirs) {
            move (r, mine, cause, held_by_us, 0);
            return;
        }
    }
    cell = cell_of_row (r, theirs);
    if (mine && mine != cell) {
        mine->moved[CAUSE_RENAMED] -= (__int128)held_by_us;
        cell->moved[CAUSE_RENAMED] += (__int128)held_by_us;
    }
    follow_row (r, cell, held_by_us, cause, theirs, tres);
}

/* --- the end ----------------------------------------------------------- */

static void add_cause (const rolled_t *r, reconcile_t *reconcile,
                       const struct cell *cell, const char *who,
                       reconcile_cause_t cause, __int128 moved)
{
    char ours[RECONCILE_NUMBER], theirs[RECONCILE_NUMBER];
    reconcile_row_t row
        = {.side = SIDE_USAGE,
           .cluster = r->cluster->cluster,
           .who = who,
           .what = "gres_seconds",
           .ours = reconcile_number ((__int128)cell->ours, ours),
           .theirs = reconcile_number ((__int128)cell->theirs, theirs),
           .difference = -moved,
           .cause = cause};

    reconcile_add (reconcile, &row);
}

static amount_t absolute (__int128 value)
{
    return value < 0 ? -(amount_t)value : (amount_t)value;
}

/* Rows without a count, multiplied: exactly that. The cluster's hours are cut
 * off besides, where that makes them more than there is. */
static bool is_wrapped (const rolled_t *r, const struct cell *cell,
                        __int128 rest)
{
    uint64_t taken = -cell->wrapped;

    if (!cell->voids || rest == 0)
        return false;
    if ((uint64_t)rest == cell->wrapped)
        return true;
    return cell == &r->whole && (r->full || (rest < 0 && -rest <= taken));
}

/* What the rules leave over between the rows and the table. */
static void explain_rest (const rolled_t *r, struct cell *cell)
{
    __int128 rest = (__int128)cell->theirs - (__int128)cell->ours;

    for (size_t i = 0; i < CAUSE_COUNT; i++)
        rest -= cell->moved[i];
    /* what a purge takes stays rolled up, until its hours are rolled again */
    if (rest > 0 && rest <= -cell->moved[CAUSE_GONE]) {
        cell->moved[CAUSE_GONE] += rest;
        rest = 0;
    }
    if (rest != 0 && cell->left_alone > 0
        && rest >= (__int128)cell->left_alone) {
        cell->moved[CAUSE_VANISHED] += (__int128)cell->left_alone;
        rest -= (__int128)cell->left_alone;
    }
    if (is_wrapped (r, cell, rest)) {
        cell->moved[CAUSE_NO_VALUE] += rest;
        rest = 0;
    }
    if (rest == 0)
        return;
    if (cell == &r->whole && rest < 0 && r->full)
        cell->moved[CAUSE_CLAMPED] += rest;
    else if (cell->changed > 0 && absolute (rest) <= cell->changed)
        cell->moved[CAUSE_ROLLED_BEFORE_CHANGE] += rest;
    else
        cell->moved[CAUSE_UNEXPLAINED] += rest;
}

static void finish_cell (const rolled_t *r, reconcile_t *reconcile,
                         struct cell *cell, const char *who)
{
    reconcile_cause_t worst = CAUSE_COUNT;

    explain_rest (r, cell);
    for (reconcile_cause_t c = 0; c < CAUSE_COUNT; c++) {
        if (cell->moved[c] == 0)
            continue;
        worst = c; /* CAUSE_UNEXPLAINED is the last */
        add_cause (r, reconcile, cell, who, c, cell->moved[c]);
    }
    reconcile_compared (reconcile, SIDE_USAGE, worst);
}

static int by_key (struct cell *a, struct cell *b)
{
    return strcmp (a->key, b->key);
}

static void add_not_rolled (const rolled_t *r, reconcile_t *reconcile)
{
    char ours[RECONCILE_NUMBER];
    reconcile_row_t row
        = {.side = SIDE_USAGE,
           .cluster = r->cluster->cluster,
           .what = "gres_seconds",
           .ours = reconcile_number ((__int128)r->outside, ours),
           .difference = (__int128)r->outside,
           .cause = CAUSE_NOT_ROLLED};

    if (r->outside == 0)
        return;
    reconcile_compared (reconcile, SIDE_USAGE, CAUSE_NOT_ROLLED);
    reconcile_add (reconcile, &row);
}

void rolled_finish (rolled_t *r, reconcile_t *reconcile)
{
    struct cell *cell, *next;
    amount_t theirs = 0;

    finish_reservations (r);
    HASH_SORT (r->cells, by_key);
    HASH_ITER (hh, r->cells, cell, next)
    {
        r->whole.changed += cell->changed;
        theirs += cell->theirs;
        if (cell->ours || cell->theirs || cell->expected)
            finish_cell (r, reconcile, cell, cell->who);
    }
    if (r->whole_known)
        finish_cell (r, reconcile, &r->whole, NULL);
    add_not_rolled (r, reconcile);
    reconcile_total (reconcile, SIDE_USAGE, "", r->whole.ours, theirs);
}
