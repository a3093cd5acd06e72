/* The checks before a month is closed as a report: what was found, and who does what. */
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "month/close.h"
#include "report/report.h"

enum { AT_STATE, AT_CHECK, AT_FIGURE, AT_EFFECT, AT_REMEDY };

/* Whether what teams owe changes when it is mended. */
typedef enum {
    EFFECT_NONE, /* nothing is to be mended */
    EFFECT_NO,
    EFFECT_ROUNDING,
    EFFECT_PERHAPS,
    EFFECT_YES,
} effect_t;

static const struct {
    const char *word; /* in the column */
    const char *mending; /* changes them: in a sentence */
} effects[] = {[EFFECT_NONE] = {NULL, NULL},
               [EFFECT_NO] = {"no", "does not change it"},
               [EFFECT_ROUNDING]
               = {"by rounding at most", "changes it by rounding at most"},
               [EFFECT_PERHAPS] = {"perhaps", "may change it"},
               [EFFECT_YES] = {"yes", "changes it"}};

/* Who mends it, and how. */
static const struct {
    const char *check;
    effect_t effect;
    const char *text;
} remedies[] = {
    {"order", EFFECT_PERHAPS, "Close the months before it first."},
    {"over", EFFECT_PERHAPS,
     "Wait until the month is over; an administrator then runs "
     "'gpuledger sync'."},
    {"fresh", EFFECT_PERHAPS, "An administrator runs 'gpuledger sync'."},
    {"reconcile", EFFECT_PERHAPS,
     "An administrator reads 'gpuledger report reconcile'."},
    {"gres", EFFECT_PERHAPS,
     "An administrator compares these jobs with their owners' scripts."},
    {"runaways", EFFECT_PERHAPS,
     "An administrator ends them: 'sacctmgr show runaway'."},
    {"coverage", EFFECT_NO,
     "An administrator looks at the agents of the nodes: "
     "'gpuledger doctor'."},
    {"gpus", EFFECT_PERHAPS,
     "An administrator sets AccountingStorageTRES=gres/gpu in "
     "slurm.conf."},
    {"pools", EFFECT_YES,
     "An administrator adds the devices to a pool. Amounts due "
     "change."},
    {"shards", EFFECT_YES,
     "An administrator mends shards_per_gpu. Amounts due change."},
    {"untagged", EFFECT_ROUNDING,
     "Users of these jobs run 'gpuledger tag JOBID PROJECT' before "
     "the month is closed, or an administrator does. What teams "
     "owe changes by rounding at most."},
    {"capacity", EFFECT_NO,
     "An administrator runs 'gpuledger sync' before the month is "
     "closed, because a closed month keeps what was known then."},
    {"book", EFFECT_PERHAPS,
     "Whoever answers for the rates decides; an administrator sets "
     "policy.book. With recoverable, amounts due fall."},
    {"costs", EFFECT_PERHAPS,
     "An administrator enters the costs. Amounts due may change."},
    {"rates", EFFECT_YES, "An administrator adds the rate. Amounts due change."},
    {"accounts", EFFECT_PERHAPS, "An administrator gives the account to a team."},
    {"centers", EFFECT_NO,
     "An administrator sets cost_center of the team under teams, "
     "unless the team is sent an invoice. No amount due changes."},
    {"credits", EFFECT_PERHAPS,
     "An administrator reduces the credit: 'gpuledger correct'."},
    {"names", EFFECT_PERHAPS, "An administrator mends the name."},
};

static effect_t effect_of (const check_t *check)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (remedies); i++)
        if (check->state != CHECK_OK
            && !strcmp (remedies[i].check, check->name))
            return remedies[i].effect;
    return EFFECT_NONE;
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

/* The largest effect of the checks in that state. */
static effect_t effect_in (const checks_t *checks, check_state_t state)
{
    effect_t largest = EFFECT_NONE;

    for (size_t i = 0; i < checks->count; i++)
        if (checks->item[i].state == state
            && effect_of (&checks->item[i]) > largest)
            largest = effect_of (&checks->item[i]);
    return largest;
}

/* "; mending the findings changes it by rounding at most; new facts may change it" */
static char *later_text (const checks_t *checks)
{
    effect_t findings = effect_in (checks, CHECK_FINDING),
             errors = effect_in (checks, CHECK_ERROR),
             warnings = effect_in (checks, CHECK_WARNING);
    BUFFER_AUTO text = BUFFER_INIT;

    if (errors > findings)
        findings = errors;
    if (findings != EFFECT_NONE)
        buffer_printf (&text, "; mending the findings %s",
                       effects[findings].mending);
    if (warnings > EFFECT_NO)
        buffer_printf (&text, "; deciding on the warnings %s",
                       effects[warnings].mending);
    if (effect_in (checks, CHECK_UNKNOWN) > EFFECT_NO)
        buffer_add_text (&text, "; new facts may change it");
    return xstrdup (buffer_text (&text));
}

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
    GL_AUTOFREE char *later_changes = later_text (checks);
    GL_AUTOFREE char *amount = xasprintf ("%s; closing makes it final%s",
                                          checks->currency, later_changes);

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
    report_put_text (report, AT_EFFECT, effects[effect_of (check)].word);
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
