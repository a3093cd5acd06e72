/* The checks before a month is closed as a report: what was found, and who does what. */
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "month/close.h"
#include "report/report.h"

enum { AT_STATE, AT_CHECK, AT_FIGURE, AT_EFFECT, AT_REMEDY };

/* Who mends it, and how, and whether what teams owe changes then. */
static const struct {
    const char *check;
    const char *effect;
    const char *text;
} remedies[] = {
    {"order", "perhaps", "Close the months before it first."},
    {"over", "perhaps",
     "Wait until the month is over; an administrator then runs "
     "'gpuledger sync'."},
    {"fresh", "perhaps", "An administrator runs 'gpuledger sync'."},
    {"reconcile", "perhaps",
     "An administrator reads 'gpuledger report reconcile'."},
    {"gres", "perhaps",
     "An administrator compares these jobs with their owners' scripts."},
    {"runaways", "perhaps",
     "An administrator ends them: 'sacctmgr show runaway'."},
    {"coverage", "no",
     "An administrator looks at the agents of the nodes: "
     "'gpuledger doctor'."},
    {"gpus", "perhaps",
     "An administrator sets AccountingStorageTRES=gres/gpu in "
     "slurm.conf."},
    {"pools", "yes",
     "An administrator adds the devices to a pool. Amounts due "
     "change."},
    {"shards", "yes",
     "An administrator mends shards_per_gpu. Amounts due change."},
    {"untagged", "by rounding at most",
     "Users of these jobs run 'gpuledger tag JOBID PROJECT' before "
     "the month is closed, or an administrator does. What teams "
     "owe changes by rounding at most."},
    {"capacity", "no",
     "An administrator runs 'gpuledger sync' before the month is "
     "closed, because a closed month keeps what was known then."},
    {"book", "perhaps",
     "Whoever answers for the rates decides; an administrator sets "
     "policy.book. With recoverable, amounts due fall."},
    {"costs", "perhaps",
     "An administrator enters the costs. Amounts due may change."},
    {"rates", "yes", "An administrator adds the rate. Amounts due change."},
    {"accounts", "perhaps", "An administrator gives the account to a team."},
    {"centers", "no",
     "An administrator sets cost_center of the team under teams, "
     "unless the team is sent an invoice. No amount due changes."},
    {"credits", "perhaps",
     "An administrator reduces the credit: 'gpuledger correct'."},
    {"names", "perhaps", "An administrator mends the name."},
};

/* NULL: there is nothing to mend. */
static const char *effect_of (const check_t *check)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (remedies); i++)
        if (check->state != CHECK_OK
            && !strcmp (remedies[i].check, check->name))
            return remedies[i].effect;
    return NULL;
}

static const char *remedy_of (const check_t *check)
{
    if (check->remedy && check->state != CHECK_OK)
        return check->remedy;
    for (size_t i = 0; i < GL_ARRAY_SIZE (remedies); i++)
        if (check->state != CHECK_OK
            && !strcmp (remedies[i].check, check->name))
            return remedies[i].text;
    return NULL;
}

static const column_info_t columns[] = {
    {"state", "State", COLUMN_TEXT, false, false,
     "ok; warning: closing does not ask about it; finding: closing needs a "
     "reason; error: closing is refused; unknown: the check has no result yet, "
     "because it is made when the month is closed, or has nothing to compare "
     "with."},
    {"check", "Check", COLUMN_TEXT, true, false,
     "What was checked. The check gpus is about GPU jobs for which "
     "accounting has no GPU; capacity is about GPUs without jobs for which no "
     "source says whether they were up."},
    {"figure", "What was found", COLUMN_WORDS, false, false, ""},
    {"changes_due", "Changes amounts due", COLUMN_TEXT, false, false,
     "Whether what teams owe changes when it is mended."},
    {"remedy", "What to do", COLUMN_WORDS, false, false,
     "Who mends it and how."},
};

static void figure_answer (report_t *report, const checks_t *checks)
{
    size_t findings = checks_in (checks, CHECK_FINDING),
           errors = checks_in (checks, CHECK_ERROR),
           warnings = checks_in (checks, CHECK_WARNING),
           unknown = checks_in (checks, CHECK_UNKNOWN);
    GL_AUTOFREE char *warned = warnings
                                   ? xasprintf ("%zu warning%s, ", warnings,
                                                warnings == 1 ? "" : "s")
                                   : xstrdup ("");
    GL_AUTOFREE char *counts
        = xasprintf ("%s%s%zu without a result (unknown), %zu ok",
                     findings + errors ? "; " : ", ", warned, unknown,
                     checks_in (checks, CHECK_OK));
    GL_AUTOFREE char *later
        = *checks->stale
              ? xasprintf (" (%zu if closed after %s)",
                           findings + checks->stale_count, checks->stale)
              : xstrdup ("");
    GL_AUTOFREE char *finding
        = errors ? xasprintf ("%zu error%s must be mended first", errors,
                              errors == 1 ? "" : "s")
          : findings
              ? xasprintf ("%zu finding%s%s: mend %s, or close with a reason",
                           findings, findings == 1 ? "" : "s", later,
                           findings == 1 ? "it" : "them")
              : xasprintf ("no finding%s", later);
    GL_AUTOFREE char *hint = xasprintf ("%s%s", finding, counts);
    GL_AUTOFREE char *amount
        = xasprintf ("%s; closing makes it final", checks->currency);

    report_figure (report, "Answer",
                   errors     ? "No"
                   : findings ? "Not yet, or with a reason"
                              : "Yes",
                   hint, COLUMN_TEXT);
    report_figure (report, "Due from teams", checks->due, amount, COLUMN_MONEY);
}

static void put_check (report_t *report, const check_t *check)
{
    report_row (report);
    report_put_text (report, AT_STATE, check_state_word (check->state));
    report_put_text (report, AT_CHECK, check->name);
    report_put_text (report, AT_FIGURE, check->figure);
    report_put_text (report, AT_EFFECT, effect_of (check));
    report_put_text (report, AT_REMEDY, remedy_of (check));
}

/* Findings first. */
static void put_checks (report_t *report, const checks_t *checks)
{
    for (int state = CHECK_ERROR; state >= CHECK_OK; state--)
        for (size_t i = 0; i < checks->count; i++)
            if (checks->item[i].state == (check_state_t)state)
                put_check (report, &checks->item[i]);
}

report_t *checks_report (const checks_t *checks, const char *month,
                         bool amounts)
{
    GL_AUTOFREE char *title = xasprintf ("Can %s be closed?", month);
    report_t *report = report_new ("close", title);
    size_t first = 0;

    amounts = amounts && checks->amounts->row_count > 0;
    report_parameter (report, "month", month);
    report_provenance (report, "program", "gpuledger");
    for (size_t i = 0; i < checks->amounts->provenance_count; i++)
        if (!strcmp (checks->amounts->provenance[i][0], "as of"))
            report_provenance (report, "as of",
                               checks->amounts->provenance[i][1]);
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    if (amounts)
        first = report_take_columns (report, checks->amounts);
    figure_answer (report, checks);
    if (amounts)
        report_section (report, "Checks", "");
    put_checks (report, checks);
    if (amounts) {
        report_section (report, checks->amounts->title,
                        "A row for each team and cost center, as of now, and "
                        "one for the part of the cost that teams do not pay. "
                        "Net amounts add up to the cost of the pools and what "
                        "else is billed in the month.");
        report_take_rows (report, checks->amounts, first);
    }
    return report;
}
