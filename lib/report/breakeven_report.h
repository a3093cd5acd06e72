/*
 * breakeven_report.h: what a productive GPU hour of each pool costs, and from
 * which utilization on owning is cheaper than renting
 * (docs/guides/decisions.md).
 *
 * Needs the configuration, and until when facts tell. Pure.
 */
#ifndef GL_REPORT_BREAKEVEN_REPORT_H
#define GL_REPORT_BREAKEVEN_REPORT_H

#include "planning/breakeven.h"
#include "report/report.h"

#define BREAKEVEN_ANY_AGE (-1)

typedef struct {
    const text_list_t *pools; /* these only; NULL: all */
    const char *against; /* a name of `clouds`: the price that changes are
                            looked at with; NULL: of each pool the lowest price
                            that owning can still beat */
    int max_age; /* months that a price may be old; 0: BREAKEVEN_MAX_AGE;
                    BREAKEVEN_ANY_AGE */
    const char *printed; /* a published figure to be explained: "40.5%", a
                            break-even, or "18628", a year of one GPU */
} breakeven_query_t;

/*
 * Rows by kind: part and total (of the cost of owning), price (of renting),
 * utilization (the hour at 10 % to 100 %), change (another input), and with
 * `printed` without (a part left out).
 *
 * `known`: see breakeven_instant(). NULL with an error where the book cannot be
 * applied, or has no such pool or price, or `printed` is no number.
 */
report_t *breakeven_report_make (const site_t *site, int64_t known,
                                 const breakeven_query_t *query,
                                 gl_error_t *error);

/* Months from which on a price is old, by max_age of a query; 0: none is. */
int breakeven_max_months (int max_age);
/* breakeven_set_ages() by a query's max_age, with a note of what is left out and
 * how to compare with it. */
void breakeven_leave_old (report_t *report, breakeven_t *breakeven,
                          const site_t *site, int64_t known, int max_age);

/* There is nothing to compare: no pool of those that were `named`, or none at all. -1. */
int breakeven_no_pools (bool named, gl_error_t *error);

/* A ratio as "54.2"; yours to free. */
char *breakeven_percent_text (mpq_srcptr ratio);

#endif /* !GL_REPORT_BREAKEVEN_REPORT_H */
