/* The columns of a statement. */
#include <string.h>

#include "statement/statement_private.h"

static const column_info_t columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true, ""},
    [AT_LINE] = {"line", "Line", COLUMN_TEXT, true, false,
                 "Its name on this statement. What it is made of: below."},
    [AT_NAME] = {"name", "What", COLUMN_TEXT, true, false, ""},
    [AT_POOL] = {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    [AT_QOS] = {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    [AT_PROFILE] = {"profile", "Slice", COLUMN_TEXT, true, false,
                    "The MIG profile; none: whole GPUs."},
    [AT_MONTH] = {"month", "Month", COLUMN_TEXT, true, false,
                  "The month of the usage, where it is an earlier one."},
    [AT_JOBS] = {"jobs", "Jobs", COLUMN_COUNT, false, false,
                 "Distinct JobIds with time in the line."},
    [AT_GPU_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                      "Hours of physical GPUs held by jobs, busy or not; a MIG "
                      "slice counts its fraction of one."},
    [AT_RATE] = {"rate", "Rate", COLUMN_RATE, false, false,
                 "What is due per GPU hour, on average over the line, before "
                 "rounding."},
    [AT_LIST] = {"list", "List price", COLUMN_MONEY, false, false,
                 "Before subsidies, tiers, entitlements and surcharges."},
    [AT_ADJUSTMENT] = {"adjustment", "Adjustment", COLUMN_MONEY, false, false,
                       "Due less list price: negative where the time is "
                       "subsidised or prepaid, positive where a surcharge is "
                       "added."},
    [AT_BEFORE] = {"before", "Was", COLUMN_MONEY, false, false,
                   "What was due of the corrected line."},
    [AT_AFTER] = {"after", "Is", COLUMN_MONEY, false, false,
                  "What is due of it by what is known now."},
    [AT_CHARGE] = {"charge", "Due", COLUMN_MONEY, false, false,
                   "What is to be paid."},
    [AT_IDLE] = {"idle", "For idle time", COLUMN_MONEY, false, true,
                 "The part of it that pays for time that nobody held."},
    [AT_IDLE_PCT] = {"idle_pct", "Idle %", COLUMN_PERCENT, false, false,
                     "How much of what is due pays for time that nobody held: "
                     "the price beyond what an owned hour cost, at a published "
                     "rate with its margin; whatever the policy."},
    [AT_BUDGET] = {"budget", "Budget", COLUMN_MONEY, false, false,
                   "Of the period, with what was carried over; money, or GPU "
                   "hours."},
    [AT_SPENT] = {"spent", "Spent", COLUMN_MONEY, false, false,
                  "In the period so far, in the same unit."},
    [AT_SPENT_PCT] = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false,
                      "Of the budget."},
    [AT_FORECAST] = {"forecast", "Forecast", COLUMN_MONEY, false, false,
                     "At the period's end, at the daily rate of the last 28 "
                     "days (run rate)."},
    [AT_FORECAST_PCT] = {"forecast_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "Of the budget."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "Of budget, spent and forecast."},
    [AT_REASON] = {"reason", "Reason", COLUMN_TEXT, false, false, ""},
    [AT_REFERENCE] = {"reference", "Refers to", COLUMN_TEXT, false, false,
                      "The job (cluster/JobId/submit time), or the row of an "
                      "earlier bill."},
    [AT_ROW] = {"row", "Row", COLUMN_TEXT, false, false,
                "On the closed bill: its number there, or those of the rows that "
                "it is made of. A row is disputed by it."},
    [AT_DISPUTED] = {"disputed", "Disputed", COLUMN_TEXT, false, false,
                     "Not to be paid before that is decided."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_SHOW] = {"show", "Command", COLUMN_TEXT, false, true, ""},
    [AT_HASH] = {"hash", "Latest hash", COLUMN_TEXT, false, true,
                 "Of all that was closed and decided: gpuledger verify --head "
                 "HASH looks for it."},
    [AT_OF] = {"of", "Of", COLUMN_TEXT, true, true,
               "The line of this statement that the job is a part of."},
    [AT_JOB] = {"job", "Job", COLUMN_TEXT, true, false,
                "Cluster and JobId: gpuledger explain JOBID says how its charge "
                "came about."},
    [AT_USER] = {"user", "User", COLUMN_TEXT, true, false, ""},
    [AT_PROJECT] = {"project", "Project", COLUMN_TEXT, true, false, ""},
    [AT_DAYS] = {"days", "Days", COLUMN_COUNT, false, false,
                 "On which it held something in the line."},
};

/* What jobs have stands behind the name of the line. */
static void order_columns (report_t *report)
{
    size_t jobs = AT_COUNT - AT_OF, order[AT_COUNT];

    memcpy (order, report->order, sizeof (order));
    memcpy (&report->order[AT_NAME], &order[AT_OF], jobs * sizeof (*order));
    memcpy (&report->order[AT_NAME + jobs], &order[AT_NAME],
            (AT_OF - AT_NAME) * sizeof (*order));
}

void statement_columns (page_t *page)
{
    bool jobs = page->s->list != NULL;

    report_columns (page->report, columns, jobs ? AT_COUNT : AT_OF);
    if (jobs)
        order_columns (page->report);
}
