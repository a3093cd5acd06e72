/* budget_private.h: shared by budget.c, budget_closed.c and budget_forecast.c. */
#ifndef GL_STATEMENT_BUDGET_PRIVATE_H
#define GL_STATEMENT_BUDGET_PRIVATE_H

#include "statement/budget.h"
#include "usage/key.h"

/* On how many months before this one the forecasts are measured. */
#define BUDGET_MONTHS_MEASURED 6

struct budget_day {
    int64_t start;
    mpq_t value;
};

struct budget_days {
    const site_t *site;
    struct budget_day *day; /* in any order */
    size_t count;
    struct budget_day *month; /* of the month, of no day */
    size_t month_count;
};

/* The two halves of budget_add(): the day, and whose it is. */
void budget_add_day (budget_t *budget, int64_t day, mpq_srcptr value);
void budget_add_part (budget_t *budget, int64_t instant, const char *who,
                      mpq_srcptr value, bool known);

/* Fills rate, forecasts, band and errors; `spent` is there. */
void budget_forecast (budget_t *budget, budget_window_t window, int64_t first);

#endif /* !GL_STATEMENT_BUDGET_PRIVATE_H */
