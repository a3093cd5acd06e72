#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "evidence/reconcile_private.h"

/* --- words ------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *title;
} sides[SIDE_COUNT] = {
    [SIDE_ACCOUNTING] = {"accounting", "Segments against slurmdbd's job rows"},
    [SIDE_USAGE] = {"usage", "Segments against slurmdbd's usage tables"},
    [SIDE_EVIDENCE] = {"evidence", "Segments against the nodes' records"},
    [SIDE_ROLLUPS] = {"rollups", "Cached rollups against segments"},
    [SIDE_REVISIONS]
    = {"revisions", "Segments that changed after they had been counted"},
};

const char *reconcile_side_name (reconcile_side_t side)
{
    return sides[side].name;
}

const char *reconcile_side_title (reconcile_side_t side)
{
    return sides[side].title;
}

#define NOTHING "nothing"
#define SYNC "gpuledger sync"
#define SYNC_FULL "gpuledger sync --full"

/* docs/guides/reconcile.md has the same table; a test compares them. */
static const reconcile_cause_text_t causes[CAUSE_COUNT] = {
    [CAUSE_OPEN_SINCE]
    = {"open_since",
       "The job was open at the last sync and has run on or ended since: the "
       "row ends after as-of, or is open still.",
       SYNC, true},
    [CAUSE_ENDED_LATE]
    = {"ended_late",
       "slurmdbd learned only after the last sync that the job had ended "
       "before it: the row was written after the store read it as open.",
       SYNC, true},
    [CAUSE_ARRIVED_LATE]
    = {"arrived_late",
       "slurmdbd learned of the job only after the last sync: the row was "
       "written after as-of.",
       SYNC, true},
    [CAUSE_EDITED]
    = {"edited",
       "The row was written again after the store read it: sacctmgr modify "
       "job, or a message that came late.",
       SYNC_FULL ", then see who did it: sacctmgr show transactions", true},
    [CAUSE_RUNAWAY]
    = {"runaway",
       "The row is open beyond what is believable: its limit and grace have "
       "passed, or every node of it recorded the job's end. What lies after "
       "that is in no figure.",
       "sacctmgr show runawayjobs", true},
    [CAUSE_RUNAWAY_FIXED]
    = {"runaway_fixed",
       "sacctmgr show runawayjobs has closed the row: it ends where it began "
       "and its time of change is as it was.",
       SYNC, true},
    [CAUSE_GONE]
    = {"purged",
       "slurmdbd has purged the row: the store noted it, or no ended row as "
       "old as it is left.",
       NOTHING ": the store keeps it", true},
    [CAUSE_DELETED_MARK]
    = {"deleted_mark",
       "The row is marked as deleted: slurmdbd is purging it just now.",
       "run the report again later", true},
    [CAUSE_NEVER_SYNCED]
    = {"never_synced",
       "The store has never read this database: what it knows of the cluster "
       "was imported.",
       SYNC, true},
    [CAUSE_OTHER_SOURCE]
    = {"other_source",
       "The store believes another source for this segment: what sacct or "
       "slurmrestd printed later than the last sync.",
       SYNC, true},
    [CAUSE_DATABASE_OLDER]
    = {"database_older",
       "The store read the segment later than this database's clock shows: the "
       "database is an older copy.",
       "compare with the database in use", true},
    [CAUSE_RESIZED_START]
    = {"resized_start",
       "The row of a resized job carries the start of the row before it (Slurm "
       "up to 22.05), so that both count the same time.",
       NOTHING, true},
    [CAUSE_REVERSED]
    = {"reversed", "The row ends before it starts; it counts as no time.",
       NOTHING, true},
    [CAUSE_NOT_ROLLED]
    = {"not_rolled",
       "slurmdbd has not rolled these hours up: they come after its last "
       "rolling, rollups are disabled, or usage has been purged.",
       "sacctmgr roll, if the hours are over", true},
    [CAUSE_ROLLED_BEFORE_CHANGE]
    = {"rolled_before_change",
       "A job row of the association was written after its hours were rolled "
       "last.",
       "sacctmgr roll for that time", true},
    [CAUSE_VANISHED]
    = {"vanished",
       "Usage that no job has any more: the hour was rolled again, and a "
       "rolling only ever writes rows, it never removes one.",
       NOTHING, true},
    [CAUSE_RESERVED_IDLE]
    = {"reserved_idle",
       "slurmdbd gives the idle time of a reservation to its associations, as "
       "if they had used it; recomputed by its rules it is exactly this.",
       NOTHING, true},
    [CAUSE_RESERVED]
    = {"reserved",
       "For the cluster slurmdbd counts whole reservations as allocated and "
       "not the jobs in them; recomputed by its rules it is exactly this.",
       NOTHING, true},
    [CAUSE_ELIGIBLE_ZERO]
    = {"eligible_zero",
       "slurmdbd's rollup leaves rows out whose time_eligible is 0.", NOTHING,
       true},
    [CAUSE_UNTOTALLED]
    = {"untotalled",
       "The row names GPU types without a total, or more of them than the "
       "total; slurmdbd rolls up the total alone.",
       "AccountingStorageTRES=gres/gpu in addition to the types", true},
    [CAUSE_NO_VALUE]
    = {"no_value",
       "The row has Slurm's \"no value\" as the count of GPUs; slurmdbd "
       "multiplies it by the time all the same, modulo 2^64.",
       NOTHING, true},
    [CAUSE_RENAMED]
    = {"renamed",
       "The job ran under another account than the one that its association "
       "has today.",
       NOTHING, true},
    [CAUSE_CLAMPED]
    = {"clamped",
       "More GPUs were in use than the cluster had registered; slurmdbd cuts "
       "that off.",
       "look for wrong GRES counts in slurm.conf", true},
    [CAUSE_UNKNOWN_GPU]
    = {"unknown_gpu",
       "The job asked for GPUs, and accounting names none; the nodes show "
       "which it used.",
       "AccountingStorageTRES=gres/gpu in slurm.conf", true},
    [CAUSE_TRES_EDITED]
    = {"tres_edited",
       "The segment's GRES was changed in slurmdbd after it had ended, and the "
       "store follows the change; the nodes recorded other devices.",
       "sacctmgr show transactions says who; gpuledger explain JOBID", true},
    [CAUSE_NODE_FAILED]
    = {"node_failed",
       "The node failed: accounting ends the job when that was noticed, the "
       "node when it was back.",
       NOTHING, true},
    [CAUSE_ENDED_SUSPENDED]
    = {"ended_suspended",
       "The job ended while it was suspended; Slurm lets the row end when the "
       "suspension began.",
       NOTHING, true},
    [CAUSE_EPILOG_LATE]
    = {"epilog_late",
       "The node recorded the end after accounting did: killing the "
       "processes or the epilog took that long.",
       NOTHING, true},
    [CAUSE_ENDED_ON_NODE]
    = {"ended_on_node",
       "Every node recorded the job's end long before accounting did, and "
       "slurmctld was away in between: it learned of the end, or remembered "
       "it, "
       "only later. Accounting's time is counted.",
       "to give it back: gpuledger credit --job JOBID --hours N, the hours "
       "between the two ends",
       true},
    [CAUSE_STARTED_AGAIN]
    = {"started_again",
       "The node recorded a start after the job was submitted and before the "
       "start in its row, or before the job was requeued where the row never "
       "got a start, or it recorded another user's job at most a day before "
       "the first job of that JobId was submitted: slurmctld lost the last "
       "seconds of its state and started the job again, or gave its JobId to "
       "another one. slurmdbd may have a row without a partition of it. The "
       "time of the first start is in no figure.",
       NOTHING, true},
    [CAUSE_AFTER_AS_OF]
    = {"after_as_of",
       "The record is from about as-of or later: its row was not there yet.",
       SYNC, true},
    [CAUSE_OVERLAP]
    = {"overlap",
       "Two segments of one JobId hold devices at the same time, which Slurm "
       "never lets a job do. Both are counted.",
       "sacct -D -j JOBID; if one row is wrong, correct it in slurmdbd", false},
    [CAUSE_ENERGY_REFUSED]
    = {"energy_refused",
       "The node reported more energy than a GPU of its model can draw. The "
       "energy of that time is unknown.",
       "look at the node: gpuledger doctor; the model is `gpu` of its pool",
       false},
    [CAUSE_REVISED]
    = {"revised",
       "slurmdbd said something else later of a segment that had been counted; "
       "the store follows it and keeps what it was before.",
       "gpuledger explain JOBID", true},
    [CAUSE_GRES_LOST]
    = {"gres_lost",
       "slurmdbd's row has lost all GRES, which an earlier view of it named: "
       "slurmctld sends ended jobs again without them. The earlier GRES are "
       "counted.",
       "restore tres_alloc of the row from a backup of slurmdbd's database, "
       "then " SYNC_FULL,
       false},
    [CAUSE_UNEXPLAINED]
    = {"unexplained", "Nothing that is known accounts for it.",
       "look into it: gpuledger explain JOBID, sacct -D -j JOBID", false},
};

const reconcile_cause_text_t *reconcile_cause (reconcile_cause_t cause)
{
    return &causes[cause];
}

const char *reconcile_number (__int128 value, char buf[RECONCILE_NUMBER])
{
    bool negative = value < 0;
    unsigned __int128 rest
        = negative ? -(unsigned __int128)value : (unsigned __int128)value;
    char digits[RECONCILE_NUMBER];
    size_t at = sizeof (digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (negative)
        digits[--at] = '-';
    return strcpy (buf, digits + at);
}

/* --- what was found ---------------------------------------------------- */

/* The kept rows are a heap with the least important one on top. */
struct reconcile {
    const zone_t *zone;
    reconcile_summary_t summary[SIDE_COUNT];
    reconcile_total_t *totals[SIDE_COUNT];
    size_t total_count[SIDE_COUNT];
    reconcile_row_t *row;
    size_t row_count;
    uint64_t row_all;
    bool sorted;
    reconcile_before_t before;
};

reconcile_t *reconcile_new (const zone_t *zone)
{
    reconcile_t *r = xcalloc (1, sizeof (*r));

    r->zone = zone;
    return r;
}

const zone_t *reconcile_zone (const reconcile_t *r)
{
    return r->zone;
}

reconcile_before_t *reconcile_before (reconcile_t *r)
{
    return &r->before;
}

static void clear_row (reconcile_row_t *row)
{
    free ((char *)row->cluster);
    free ((char *)row->who);
    free ((char *)row->what);
    free ((char *)row->ours);
    free ((char *)row->theirs);
}

void reconcile_free (reconcile_t *r)
{
    if (!r)
        return;
    GL_FREE_EACH (r->row, r->row_count, it, clear_row (it));
    free (r->before.cluster);
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        GL_FREE_EACH (r->totals[side], r->total_count[side], it,
                      free ((char *)it->kind));
    }
    free (r);
}

void reconcile_side (reconcile_t *r, reconcile_side_t side)
{
    r->summary[side].present = true;
}

void reconcile_compared (reconcile_t *r, reconcile_side_t side,
                         reconcile_cause_t cause)
{
    reconcile_summary_t *summary = &r->summary[side];

    summary->compared++;
    if (cause == CAUSE_COUNT)
        summary->equal++;
    else if (causes[cause].explained)
        summary->explained++;
    else
        summary->unexplained++;
}

static unsigned __int128 size_of (__int128 value)
{
    return value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
}

static int compare_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Below 0: `x` is to be read before `y`. */
static int compare_rows (const void *a, const void *b)
{
    const reconcile_row_t *x = a, *y = b;
    int order
        = COMPARE (causes[x->cause].explained, causes[y->cause].explained);

    if (!order)
        order = COMPARE (size_of (y->difference), size_of (x->difference));
    if (!order)
        order = COMPARE (x->side, y->side);
    if (!order)
        order = compare_text (x->cluster, y->cluster);
    if (!order)
        order = COMPARE (x->id_job, y->id_job);
    if (!order)
        order = COMPARE (x->time_submit, y->time_submit);
    if (!order)
        order = compare_text (x->who, y->who);
    if (!order)
        order = compare_text (x->what, y->what);
    if (!order)
        order = COMPARE (x->cause, y->cause);
    if (!order)
        order = compare_text (x->ours, y->ours);
    return order ? order : compare_text (x->theirs, y->theirs);
}

static void swap (reconcile_row_t *a, reconcile_row_t *b)
{
    reconcile_row_t kept = *a;

    *a = *b;
    *b = kept;
}

static void sink (reconcile_t *r, size_t at)
{
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < r->row_count
                && compare_rows (&r->row[child], &r->row[worst]) > 0)
                worst = child;
        if (worst == at)
            return;
        swap (&r->row[at], &r->row[worst]);
        at = worst;
    }
}

static void rise (reconcile_t *r, size_t at)
{
    while (at > 0 && compare_rows (&r->row[at], &r->row[(at - 1) / 2]) > 0) {
        swap (&r->row[at], &r->row[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static reconcile_row_t copy_row (const reconcile_row_t *row)
{
    reconcile_row_t copy = *row;

    copy.cluster = xstrdup (row->cluster);
    copy.who = xstrdup (row->who);
    copy.what = xstrdup (row->what);
    copy.ours = xstrdup (row->ours);
    copy.theirs = xstrdup (row->theirs);
    return copy;
}

static void keep_row (reconcile_t *r, const reconcile_row_t *row)
{
    r->sorted = false;
    if (r->row_count == RECONCILE_KEPT) {
        if (compare_rows (row, &r->row[0]) >= 0)
            return;
        clear_row (&r->row[0]);
        r->row[0] = copy_row (row);
        sink (r, 0);
        return;
    }
    *GL_APPEND (r->row, r->row_count) = copy_row (row);
    rise (r, r->row_count - 1);
}

void reconcile_add (reconcile_t *r, const reconcile_row_t *row)
{
    r->row_all++;
    r->summary[row->side].rows[row->cause]++;
    r->summary[row->side].difference[row->cause] += row->difference;
    keep_row (r, row);
}

void reconcile_total (reconcile_t *r, reconcile_side_t side, const char *kind,
                      unsigned __int128 ours, unsigned __int128 theirs)
{
    reconcile_total_t *list = r->totals[side];
    size_t count = r->total_count[side], at = 0;

    while (at < count && strcmp (list[at].kind, kind) < 0)
        at++;
    if (at == count || strcmp (list[at].kind, kind) != 0) {
        list = xreallocarray (list, count + 1, sizeof (*list));
        memmove (&list[at + 1], &list[at], (count - at) * sizeof (*list));
        list[at] = (reconcile_total_t){.kind = xstrdup (kind)};
        r->totals[side] = list;
        r->total_count[side]++;
    }
    list[at].ours += ours;
    list[at].theirs += theirs;
}

const reconcile_summary_t *reconcile_summary (const reconcile_t *r,
                                              reconcile_side_t side)
{
    return &r->summary[side];
}

uint64_t reconcile_side_unexplained (const reconcile_t *r,
                                     reconcile_side_t side)
{
    uint64_t count = 0;

    for (reconcile_cause_t cause = 0; cause < CAUSE_COUNT; cause++)
        if (!causes[cause].explained)
            count += r->summary[side].rows[cause];
    return count;
}

uint64_t reconcile_unexplained (const reconcile_t *r)
{
    uint64_t count = 0;

    for (reconcile_side_t side = 0; side < SIDE_COUNT; side++)
        count += reconcile_side_unexplained (r, side);
    return count;
}

const reconcile_row_t *reconcile_rows (reconcile_t *r, size_t *ret_count,
                                       uint64_t *ret_all)
{
    /* a sorted array, the last to be read first, is such a heap as well; but
     * who reads does not add any more */
    if (!r->sorted && r->row_count > 1)
        qsort (r->row, r->row_count, sizeof (*r->row), compare_rows);
    r->sorted = true;
    *ret_count = r->row_count;
    *ret_all = r->row_all;
    return r->row;
}

const reconcile_total_t *
reconcile_totals (reconcile_t *r, reconcile_side_t side, size_t *ret_count)
{
    *ret_count = r->total_count[side];
    return r->totals[side];
}

/* --- rollups ----------------------------------------------------------- */

void reconcile_rollup (reconcile_t *r, const char *cluster, const char *span,
                       bool is_day, unsigned __int128 kept,
                       unsigned __int128 fresh, bool same)
{
    char ours[RECONCILE_NUMBER], theirs[RECONCILE_NUMBER];
    reconcile_row_t row = {.side = SIDE_ROLLUPS,
                           .cluster = cluster,
                           .what = span,
                           .ours = reconcile_number ((__int128)kept, ours),
                           .theirs = reconcile_number ((__int128)fresh, theirs),
                           .difference = (__int128)kept - (__int128)fresh,
                           .cause = CAUSE_UNEXPLAINED};

    reconcile_compared (r, SIDE_ROLLUPS,
                        same ? CAUSE_COUNT : CAUSE_UNEXPLAINED);
    if (is_day)
        reconcile_total (r, SIDE_ROLLUPS, "", kept, fresh);
    if (!same)
        reconcile_add (r, &row);
}
