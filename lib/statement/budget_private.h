/* budget_private.h: shared by budget.c and budget_forecast.c. */
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

/* Of one month. */
struct budget_month {
    int64_t start;
    bool known;             /* false: of some of it the price is not known */
    struct budget_day *day; /* in any order */
    size_t count;
    mpq_t dayless; /* of none of its days */
    budget_part_t *part;
    size_t part_count;
};

/* Fills rate, forecasts, band and errors; `spent` is there. */
void budget_forecast (budget_t *budget, budget_window_t window, int64_t first);

#endif /* !GL_STATEMENT_BUDGET_PRIVATE_H */
