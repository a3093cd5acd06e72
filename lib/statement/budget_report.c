#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "statement/budget_report.h"

budget_alert_t budget_alert (const budget_t *b)
{
    return (budget_alert_t){.threshold = b->threshold, .over = b->over};
}

char *budget_scope (const site_budget_t *entry)
{
    return entry->team      ? xasprintf ("team %s", entry->team)
           : entry->project ? xasprintf ("project %s", entry->project)
           : entry->account ? xasprintf ("account %s", entry->account)
                            : xasprintf ("pool %s", entry->pool);
}

/* --- columns ----------------------------------------------------------- */

typedef enum {
    AT_NAME,
    AT_SCOPE,
    AT_PERIOD,
    AT_UNIT,
    AT_AMOUNT,
    AT_CARRIED,
    AT_SPENT,
    AT_SPENT_PCT,
    AT_LEFT,
    AT_RATE,
    AT_ENCUMBERED,
    AT_RUN_RATE,
    AT_RUN_RATE_PCT,
    AT_RUN_RATE_ERROR,
    AT_SEASONAL,
    AT_LOW,
    AT_HIGH,
    AT_SEASONAL_ERROR,
    AT_EXHAUSTED,
    AT_ALERT,
    AT_OWNER,
    AT_LARGEST,
    AT_COUNT,
} column_t;

static const column_info_t columns[AT_COUNT] = {
    [AT_NAME] = {"budget", "Budget", COLUMN_TEXT, true, false, ""},
    [AT_SCOPE] = {"scope", "Scope", COLUMN_TEXT, true, false,
                  "The accounts, team, user or project that the budget "
                  "limits."},
    [AT_PERIOD] = {"period", "Period", COLUMN_DATE, true, false,
                   "The month, or the quarter of a fiscal year, or the fiscal "
                   "year."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "The unit of all amounts in the row."},
    [AT_AMOUNT] = {"amount", "Amount", COLUMN_MONEY, false, false,
                   "The budget of the period, with its rollover."},
    [AT_CARRIED] = {"rollover", "Rollover", COLUMN_MONEY, false, true,
                    "The part of the amount that was left unspent in the last "
                    "period."},
    [AT_SPENT]
    = {"spent", "Spent", COLUMN_MONEY, false, false,
       "Spent so far in the period, before taxes. Empty: some usage has no "
       "price."},
    [AT_SPENT_PCT]
    = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false, "As a percentage of the amount."},
    [AT_LEFT]
    = {"left", "Left", COLUMN_MONEY, false, true, "Amount less spent."},
    [AT_RATE] = {"daily_rate", "A day", COLUMN_MONEY, false, true,
                 "The mean spending of the window's full days."},
    [AT_ENCUMBERED] = {"encumbered", "Encumbered", COLUMN_MONEY, false, true,
                       "The most that running jobs can still cost within the "
                       "period: up to their time limits, at list prices."},
    [AT_RUN_RATE] = {"run_rate", "Forecast", COLUMN_MONEY, false, false,
                     "The amount spent plus the daily rate for each remaining "
                     "day."},
    [AT_RUN_RATE_PCT] = {"run_rate_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "As a percentage of the amount."},
    [AT_RUN_RATE_ERROR]
    = {"run_rate_error_pct", "Error %", COLUMN_PERCENT, false, true,
       "Mean absolute error of this forecast in up to six earlier months, "
       "made on the same day of the month. Empty: no earlier months."},
    [AT_SEASONAL] = {"seasonal", "By weekday", COLUMN_MONEY, false, true,
                     "The amount spent plus, for each remaining day, the mean "
                     "of its weekday in the last four weeks."},
    [AT_LOW]
    = {"seasonal_low", "Low", COLUMN_MONEY, false, true,
       "The same, with the remaining days scaled to the lowest of these weeks."},
    [AT_HIGH] = {"seasonal_high", "High", COLUMN_MONEY, false, true,
                 "The same, with the remaining days scaled to the highest of these "
                 "weeks."},
    [AT_SEASONAL_ERROR]
    = {"seasonal_error_pct", "Error %", COLUMN_PERCENT, false, true,
       "Mean absolute error of the forecast by weekday, measured like the "
       "other one."},
    [AT_EXHAUSTED] = {"exhausted_on", "Exhausted on", COLUMN_DATE, false, false,
                      "The day on which spending at the daily rate, with "
                      "encumbrances, reaches the amount, or on which it did."},
    [AT_ALERT] = {"alert", "Alert", COLUMN_TEXT, false, true,
                  "The latest alert: 50, 75, 90 or 100 percent is spent, or "
                  "the forecast exceeds 100 percent."},
    [AT_OWNER] = {"owner", "Owner", COLUMN_TEXT, false, true, ""},
    [AT_LARGEST] = {"largest", "Largest", COLUMN_TEXT, false, true,
                    "The three users who spent the most."},
};

/* --- rows -------------------------------------------------------------- */

static void put_amount (report_t *report, column_t at, const budget_t *b,
                        mpq_srcptr value)
{
    GL_AUTOFREE char *text = budget_text (b, value);

    report_put_text (report, at, text);
}

static void put_figure (report_t *report, column_t at, const budget_t *b,
                        const budget_figure_t *figure)
{
    if (figure->known)
        put_amount (report, at, b, figure->value);
}

static void put_percent (report_t *report, column_t at, mpq_srcptr value,
                         mpq_srcptr whole)
{
    GL_AUTOFREE char *text = report_percent_text (value, whole);

    report_put_text (report, at, text);
}

static void put_error (report_t *report, column_t at,
                       const budget_figure_t *figure)
{
    mpq_t one;

    if (!figure->known)
        return;
    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    put_percent (report, at, figure->value, one);
    mpq_clear (one);
}

char *budget_alert_text (const budget_alert_t *alert)
{
    if (alert->threshold && alert->over)
        return xasprintf ("%d %% spent, forecast above 100 %%",
                          alert->threshold);
    if (alert->threshold)
        return xasprintf ("%d %% spent", alert->threshold);
    return alert->over ? xstrdup ("forecast above 100 %") : NULL;
}

static char *largest_text (const budget_t *b)
{
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < b->part_count && i < BUDGET_CONTRIBUTORS; i++) {
        GL_AUTOFREE char *value = budget_text (b, b->part[i].value);
        buffer_printf (&out, "%s%s %s", i ? "; " : "", b->part[i].name, value);
    }
    return out.length ? buffer_take (&out) : NULL;
}

static void put_spent (report_t *report, const budget_t *b)
{
    mpq_t left;

    if (!b->known)
        return;
    mpq_init (left);
    mpq_sub (left, b->amount, b->spent);
    put_amount (report, AT_SPENT, b, b->spent);
    put_percent (report, AT_SPENT_PCT, b->spent, b->amount);
    put_amount (report, AT_LEFT, b, left);
    put_amount (report, AT_ENCUMBERED, b, b->encumbered);
    mpq_clear (left);
}

static void put_row (report_t *report, const site_t *site, const budget_t *b,
                     const budget_alert_t *alert)
{
    GL_AUTOFREE char *scope = budget_scope (b->budget);
    GL_AUTOFREE char *told = budget_alert_text (alert);
    GL_AUTOFREE char *largest = b->known ? largest_text (b) : NULL;
    char day[ZONE_STAMP_SIZE];

    report_row (report);
    report_put_text (report, AT_NAME, b->budget->name);
    report_put_text (report, AT_SCOPE, scope);
    report_put_text (report, AT_PERIOD, b->period_name);
    report_put_text (report, AT_UNIT, budget_unit (b, site));
    put_amount (report, AT_AMOUNT, b, b->amount);
    put_amount (report, AT_CARRIED, b, b->carried);
    put_spent (report, b);
    put_figure (report, AT_RATE, b, &b->rate);
    put_figure (report, AT_RUN_RATE, b, &b->run_rate);
    if (b->run_rate.known)
        put_percent (report, AT_RUN_RATE_PCT, b->run_rate.value, b->amount);
    put_error (report, AT_RUN_RATE_ERROR, &b->run_rate_error);
    put_figure (report, AT_SEASONAL, b, &b->seasonal);
    put_figure (report, AT_LOW, b, &b->low);
    put_figure (report, AT_HIGH, b, &b->high);
    put_error (report, AT_SEASONAL_ERROR, &b->seasonal_error);
    if (b->exhausted)
        report_put_text (report, AT_EXHAUSTED,
                         zone_unit_name (site->zone, CALENDAR_DAY,
                                         b->exhausted, day));
    report_put_text (report, AT_ALERT, told);
    report_put_text (report, AT_OWNER, b->budget->owner);
    report_put_text (report, AT_LARGEST, largest);
}

/* For who reads the table, which is kept narrow. */
static void note_alert (report_t *report, const budget_t *b,
                        const budget_alert_t *alert)
{
    GL_AUTOFREE char *told = budget_alert_text (alert);

    if (told)
        report_note (report, NOTE_INFORMATION, "Budget %s: %s.",
                     b->budget->name, told);
}

report_t *budget_report_make (const report_query_t *query,
                              budget_t *const *budgets,
                              const budget_alert_t *alerts, size_t count,
                              uint64_t unlimited)
{
    report_t *report = report_begin (query, "budget", "Budgets");

    report_columns (report, columns, AT_COUNT);
    for (size_t i = 0; i < count; i++) {
        put_row (report, query->site, budgets[i], &alerts[i]);
        note_alert (report, budgets[i], &alerts[i]);
        if (!budgets[i]->known)
            report_note (report, NOTE_WARNING,
                         "The spending of budget %s is unknown, because a pool "
                         "has neither a cost nor a rate: there is no forecast "
                         "and no alert. Give the pool assets, costs or a rate.",
                         budgets[i]->budget->name);
    }
    if (unlimited > 0)
        report_note (report, NOTE_INFORMATION,
                     "The time limit of %llu running job%s is unknown: "
                     "encumbrances do not include them.",
                     (unsigned long long)unlimited, unlimited == 1 ? "" : "s");
    return report;
}

/* --- in one line ------------------------------------------------------- */

char *budget_percent (const budget_t *b, mpq_srcptr value)
{
    char *text;
    mpq_t ratio;

    if (mpq_sgn (b->amount) == 0)
        return xstrdup ("?");
    mpq_init (ratio);
    mpq_div (ratio, value, b->amount);
    mpz_mul_ui (mpq_numref (ratio), mpq_numref (ratio), 100);
    mpq_canonicalize (ratio);
    text = exact_text (ratio, 1);
    mpq_clear (ratio);
    return text;
}

char *budget_summary (const budget_t *b)
{
    GL_AUTOFREE char *spent = budget_percent (b, b->spent);
    GL_AUTOFREE char *forecast
        = b->run_rate.known ? budget_percent (b, b->run_rate.value) : NULL;

    if (!b->known)
        return xstrdup ("unknown");
    return forecast ? xasprintf ("%s %% spent, forecast %s %%", spent,
                                 forecast)
                    : xasprintf ("%s %% spent", spent);
}
