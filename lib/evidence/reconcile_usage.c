/*
 * Segments against slurmdbd's usage tables. What its rollup makes of the job
 * rows as they are is computed by its own rules (as_mysql_hourly_rollup),
 * each rule that is not ours being a cause with the amount that it moves; what
 * is left over between that and the tables has to be proven otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/reconcile_rolled.h"

/* What slurmdbd takes for no value, and leaves out. */
#define SLURM_NO_VAL64 UINT64_C (0xfffffffffffffffe)

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
    GL_FREE_EACH (r->reservation, r->reservation_count, it,
                  reserved_clear (it));
    free (r->done);
    free (r->when);
    free (r->before);
    free (r);
}

size_t rolled_hour_of (const rolled_t *r, int64_t instant)
{
    return instant < r->base ? SIZE_MAX : (size_t)((instant - r->base) / HOUR);
}

int64_t rolled_in_hour (const rolled_t *r, size_t hour, int64_t start,
                        int64_t end)
{
    int64_t from = r->base + (int64_t)hour * HOUR;

    return period_seconds (
        period_clip ((period_t){start, end}, (period_t){from, from + HOUR}));
}

void rolled_hour (rolled_t *r, int64_t start, int64_t when)
{
    size_t hour = rolled_hour_of (r, start);

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
    size_t hour = rolled_hour_of (r, instant);

    if (!r->before)
        count_before (r);
    if (instant <= r->base)
        return 0;
    if (hour >= r->hours)
        return r->before[r->hours];
    return r->before[hour]
           + (r->done[hour] ? instant - r->base - (int64_t)hour * HOUR : 0);
}

amount_t rolled_held (rolled_t *r, uint64_t devices, int64_t start,
                      int64_t end)
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
    size_t hour = rolled_hour_of (r, start);
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
    size_t hour = rolled_hour_of (r, start);

    if (hour >= r->hours || !r->done[hour])
        return;
    r->whole_known = true;
    r->whole.theirs += seconds;
    r->full |= full;
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
    size_t hour = rolled_hour_of (r, s->time_end);

    if (s->time_end == 0 || s->time_start == 0 || hour >= r->hours
        || !r->done[hour] || r->when[hour] == 0
        || row->mod_time <= r->when[hour])
        return;
    if (row->gpu_total > devices)
        devices = row->gpu_total;
    cell->changed += rolled_held (r, devices ? devices : 1, s->time_start,
                           r->cluster->period.end);
}

/* The count of the id, as it is; 0: none. */
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
            = r->done[h]
                  ? count * (uint64_t)rolled_in_hour (r, h, start, end)
                  : 0;
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
    amount_t counted = rolled_held (r, devices, mended.time_start, end);
    amount_t as_written = rolled_held (r, devices, start, end);
    amount_t total = rolled_held (r, row->gpu_total, start, end);
    amount_t rolled;

    if (row->time_eligible / HOUR * HOUR > start)
        start = row->time_eligible / HOUR * HOUR;
    rolled = row->time_eligible == 0
                 ? 0
                 : rolled_held (r, row->gpu_total, start, end);
    move (r, cell, cause == CAUSE_COUNT ? CAUSE_UNEXPLAINED : cause, ours,
          counted);
    move (r, cell, start > end ? CAUSE_REVERSED : CAUSE_RESIZED_START, counted,
          as_written);
    move (r, cell, CAUSE_UNTOTALLED, as_written, total);
    move (r, cell, CAUSE_ELIGIBLE_ZERO, total, rolled);
    cell->expected += rolled;
    if (row->id_resv != 0 && row->time_eligible != 0)
        r->whole.moved[CAUSE_RESERVED]
            += (__int128)reserved_use (r, row, raw->time_start, end, tres)
               - (__int128)rolled;
    note_void (r, cell, row, tres);
    note_change (r, cell, row, devices);
    if (cause == CAUSE_GRES_LOST) /* its hours may have been rolled before */
        cell->changed += ours;
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
        held_by_us = rolled_held (r, segment_devices (ours), ours->time_start,
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
 * off in addition, where that makes them more than there is. */
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

    reserved_finish (r);
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
