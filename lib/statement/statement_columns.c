/* The columns of a statement. */
#include <string.h>

#include "statement/statement_private.h"

static const column_info_t columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true, ""},
    [AT_LINE] = {"line", "Line", COLUMN_TEXT, true, false,
                 "Its name on this statement; the commands below show its parts."},
    [AT_NAME] = {"name", "Name", COLUMN_TEXT, true, false, ""},
    [AT_POOL] = {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    [AT_QOS] = {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    [AT_PROFILE] = {"profile", "Slice", COLUMN_TEXT, true, false,
                    "The MIG profile; none: whole GPUs."},
    [AT_MONTH] = {"month", "Month", COLUMN_TEXT, true, false,
                  "The month of the usage, if it is an earlier one."},
    [AT_JOBS] = {"jobs", "Jobs", COLUMN_COUNT, false, false,
                 "Distinct JobIds with time in the line."},
    [AT_GPU_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                      "Hours of physical GPUs allocated to jobs, busy or not; a MIG "
                      "slice counts its fraction of one."},
    [AT_RATE] = {"rate", "Rate", COLUMN_RATE, false, false,
                 "The amount due per GPU hour: the average of the line, before "
                 "rounding."},
    [AT_LIST] = {"list", "List price", COLUMN_MONEY, false, false,
                 "Before subsidies, tiers, entitlements and surcharges."},
    [AT_ADJUSTMENT] = {"adjustment", "Adjustment", COLUMN_MONEY, false, false,
                       "Due less list price: negative where the time is "
                       "subsidised or prepaid, positive where a surcharge is "
                       "added."},
    [AT_BEFORE] = {"before", "Was", COLUMN_MONEY, false, false,
                   "The amount of the corrected line as billed."},
    [AT_AFTER] = {"after", "Is", COLUMN_MONEY, false, false,
                  "Its amount by the facts known now."},
    [AT_CHARGE] = {"charge", "Due", COLUMN_MONEY, false, false,
                   "The amount to be paid."},
    [AT_IDLE] = {"margin_over_cost", "Margin over cost", COLUMN_MONEY, false, true,
                 "The part of the charge above what the same time cost; below "
                 "0: a shortfall."},
    [AT_IDLE_PCT] = {"margin_over_cost_pct", "Margin %", COLUMN_PERCENT, false,
                     false,
                     "Margin over cost in percent of the charge: idle time in "
                     "the rate, and the margin of a published rate."},
    [AT_BUDGET] = {"budget", "Budget", COLUMN_MONEY, false, false,
                   "The budget of the period with its rollover, in money or GPU "
                   "hours."},
    [AT_SPENT] = {"spent", "Spent", COLUMN_MONEY, false, false,
                  "Spent in the period so far, in the same unit."},
    [AT_SPENT_PCT] = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false,
                      "Of the budget."},
    [AT_FORECAST] = {"forecast", "Forecast", COLUMN_MONEY, false, false,
                     "Spent at the period's end if the daily rate of the last 28 "
                     "days continues (run rate)."},
    [AT_FORECAST_PCT] = {"forecast_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "Of the budget."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "The unit of budget, spent and forecast."},
    [AT_REASON] = {"reason", "Reason", COLUMN_TEXT, false, false, ""},
    [AT_REFERENCE] = {"reference", "Refers to", COLUMN_TEXT, false, false,
                      "The job (cluster/JobId/submit time), or the row of an "
                      "earlier month."},
    [AT_ROW] = {"row", "Row", COLUMN_TEXT, false, false,
                "The numbers of its rows in the closed month; gpuledger dispute "
                "takes one."},
    [AT_DISPUTED] = {"disputed", "Disputed", COLUMN_TEXT, false, false,
                     "Not to be paid until the dispute is resolved."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_SHOW] = {"show", "Command", COLUMN_TEXT, false, true, ""},
    [AT_HASH] = {"hash", "Latest hash", COLUMN_TEXT, false, true,
                 "The latest hash of closed months and manual adjustments: "
                 "gpuledger verify --head HASH checks against it."},
    [AT_OF] = {"of", "Of", COLUMN_TEXT, true, true,
               "The line of this statement that includes the job."},
    [AT_JOB] = {"job", "Job", COLUMN_TEXT, true, false,
                "Cluster and JobId: gpuledger explain JOBID shows how its charge "
                "is computed."},
    [AT_USER] = {"user", "User", COLUMN_TEXT, true, false, ""},
    [AT_PROJECT] = {"project", "Project", COLUMN_TEXT, true, false, ""},
    [AT_DAYS] = {"days", "Days", COLUMN_COUNT, false, false,
                 "Days with usage in the line."},
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
