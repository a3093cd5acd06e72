#include <string.h>

#include "base/memory.h"
#include "report/reconcile_report.h"

enum {
    AT_SIDE,
    AT_CLUSTER,
    AT_JOB,
    AT_SUBMIT,
    AT_WHO,
    AT_WHAT,
    AT_OURS,
    AT_THEIRS,
    AT_DIFFERENCE,
    AT_CAUSE,
    AT_ADVICE
};

static const column_info_t columns[] = {
    {"side", "Side", COLUMN_TEXT, false, false,
     "What the store's segments are compared with: accounting (slurmdbd's "
     "job rows), usage (its usage tables), evidence (the nodes' records), "
     "rollups (what the store keeps summed up), revisions (what was "
     "counted before)."},
    {"cluster", "Cluster", COLUMN_TEXT, false, false, "Slurm's name of it."},
    {"job", "Job", COLUMN_TEXT, false, false,
     "Slurm's JobId; empty for a sum."},
    {"submit", "Submitted", COLUMN_TEXT, false, false,
     "With the JobId it names one segment."},
    {"who", "Account/user", COLUMN_TEXT, false, false,
     "For a sum, the association."},
    {"what", "What", COLUMN_TEXT, false, false, "The field that differs."},
    {"ours", "Ours", COLUMN_TEXT, false, false, "What the store has."},
    {"theirs", "Theirs", COLUMN_TEXT, false, false, "What the other side has."},
    {"gres_seconds", "GRES seconds", COLUMN_COUNT, false, false,
     "The effect in the period: ours minus theirs. If several fields of a "
     "segment differ, the first one shows it."},
    {"cause", "Cause", COLUMN_TEXT, false, false,
     "One of a closed list (docs/guides/reconcile.md), proven; or "
     "unexplained."},
    {"to_do", "What to do", COLUMN_TEXT, false, false,
     "How to resolve the difference."},
};

static void put (report_t *report, size_t column, const char *text)
{
    if (text)
        report_put_text (report, column, text);
}

static void add_row (report_t *report, const zone_t *zone,
                     const reconcile_row_t *row)
{
    const reconcile_cause_text_t *cause = reconcile_cause (row->cause);
    char number[RECONCILE_NUMBER], stamp[ZONE_STAMP_SIZE];

    report_row (report);
    put (report, AT_SIDE, reconcile_side_name (row->side));
    put (report, AT_CLUSTER, row->cluster);
    if (row->id_job)
        put (report, AT_JOB, reconcile_number ((__int128)row->id_job, number));
    if (row->time_submit)
        put (report, AT_SUBMIT, zone_stamp (zone, row->time_submit, stamp));
    put (report, AT_WHO, row->who);
    put (report, AT_WHAT, row->what);
    put (report, AT_OURS, row->ours);
    put (report, AT_THEIRS, row->theirs);
    put (report, AT_DIFFERENCE, reconcile_number (row->difference, number));
    put (report, AT_CAUSE, cause->word);
    put (report, AT_ADVICE, cause->advice);
}

static void add_rows (report_t *report, const report_query_t *query,
                      reconcile_t *reconcile)
{
    uint64_t all;
    size_t count;
    const reconcile_row_t *rows = reconcile_rows (reconcile, &count, &all);

    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < count; i++)
        add_row (report, query->site->zone, &rows[i]);
    report->rows_shown = RECONCILE_ROWS_SHOWN;
    if (all > count)
        report_note (report, NOTE_WARNING,
                     "There are %llu differences; the %zu largest are listed, "
                     "all are counted.",
                     (unsigned long long)all, count);
}

/* --- how it adds up ---------------------------------------------------- */

static void add_count (report_proof_t *proof, const char *label, uint64_t count)
{
    char number[RECONCILE_NUMBER];

    report_proof_line (proof, label,
                       reconcile_number ((__int128)count, number));
}

static void add_total (report_proof_t *proof, const reconcile_total_t *total)
{
    char ours[RECONCILE_NUMBER], theirs[RECONCILE_NUMBER],
        difference[RECONCILE_NUMBER];
    GL_AUTOFREE char *label
        = xasprintf ("GRES seconds%s%s: ours, theirs, difference",
                     total->kind[0] ? " of " : "", total->kind);
    GL_AUTOFREE char *value = xasprintf (
        "%s, %s, %s", reconcile_number ((__int128)total->ours, ours),
        reconcile_number ((__int128)total->theirs, theirs),
        reconcile_number ((__int128)total->ours - (__int128)total->theirs,
                          difference));

    report_proof_line (proof, label, value);
}

static void add_cause (report_proof_t *proof, reconcile_cause_t cause,
                       uint64_t rows, __int128 difference)
{
    char number[RECONCILE_NUMBER];
    GL_AUTOFREE char *value
        = xasprintf ("%llu, %s GRES seconds", (unsigned long long)rows,
                     reconcile_number (difference, number));

    report_proof_line (proof, reconcile_cause (cause)->word, value);
}

static const char *compared_label (reconcile_side_t side)
{
    static const char *const labels[SIDE_COUNT] = {
        [SIDE_ACCOUNTING] = "segments compared",
        [SIDE_USAGE] = "associations and sums compared",
        [SIDE_EVIDENCE] = "segments with or due to have records",
        [SIDE_ROLLUPS] = "days and months compared",
        [SIDE_REVISIONS] = "revisions",
    };

    return labels[side];
}

static void add_side (report_t *report, reconcile_t *reconcile,
                      reconcile_side_t side)
{
    const reconcile_summary_t *s = reconcile_summary (reconcile, side);
    report_proof_t *proof = report_proof (report, reconcile_side_title (side));
    size_t count;
    const reconcile_total_t *totals
        = reconcile_totals (reconcile, side, &count);

    proof->holds = reconcile_side_unexplained (reconcile, side) == 0;
    add_count (proof, compared_label (side), s->compared);
    if (side != SIDE_REVISIONS) {
        add_count (proof, "equal", s->equal);
        add_count (proof, "different, explained", s->explained);
        add_count (proof, "different, unexplained", s->unexplained);
    }
    for (size_t i = 0; i < count; i++)
        add_total (proof, &totals[i]);
    for (reconcile_cause_t cause = 0; cause < CAUSE_COUNT; cause++)
        if (s->rows[cause] > 0 && cause != CAUSE_REVISED)
            add_cause (proof, cause, s->rows[cause], s->difference[cause]);
}

/* What the words of this report mean. */
static void note_causes (report_t *report, const reconcile_t *reconcile)
{
    for (reconcile_cause_t cause = 0; cause < CAUSE_COUNT; cause++) {
        const reconcile_cause_text_t *text = reconcile_cause (cause);
        uint64_t rows = 0;
        for (reconcile_side_t side = 0; side < SIDE_COUNT; side++)
            rows += reconcile_summary (reconcile, side)->rows[cause];
        if (rows > 0)
            report_note (report,
                         text->explained ? NOTE_INFORMATION : NOTE_WARNING,
                         "%s (%llu): %s", text->word, (unsigned long long)rows,
                         text->sentence);
    }
}

report_t *reconcile_report_make (const report_query_t *query,
                                 reconcile_t *reconcile,
                                 const char *without_database)
{
    report_t *report = report_begin (query, "reconcile", "Reconciliation");
    uint64_t unexplained = reconcile_unexplained (reconcile);
    char number[RECONCILE_NUMBER];

    add_rows (report, query, reconcile);
    report_figure (report, "Unexplained",
                   reconcile_number ((__int128)unexplained, number),
                   "differences without a proven cause", COLUMN_COUNT);
    for (reconcile_side_t side = 0; side < SIDE_COUNT; side++)
        if (reconcile_summary (reconcile, side)->present)
            add_side (report, reconcile, side);
    if (without_database)
        report_note (report, NOTE_WARNING, "%s", without_database);
    note_causes (report, reconcile);
    return report;
}
