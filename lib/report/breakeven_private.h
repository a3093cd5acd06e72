/* What the files of the break-even report share. */
#ifndef GL_REPORT_BREAKEVEN_PRIVATE_H
#define GL_REPORT_BREAKEVEN_PRIVATE_H

#include "report/breakeven_report.h"

/* Its columns. */
enum {
    C_POOL,
    C_KIND,
    C_ITEM,
    C_PER_YEAR,
    C_PER_HOUR,
    C_SHARE,
    C_BREAKEVEN,
    C_BILLED,
    C_TERM,
    C_AS_OF,
    C_AGE,
    C_SOURCE,
    C_DIFFERENCE,
    C_AGAINST,
};

/* A pool, and what is asked of it. */
struct breakeven_view {
    report_t *report;
    const site_t *site;
    int64_t at;
    const breakeven_query_t *query;
    const breakeven_t *b;
};

void breakeven_begin_row (const struct breakeven_view *view, const char *kind,
                          const char *item);
/* By the type of the column; NULL is none. */
void breakeven_put (const struct breakeven_view *view, size_t column,
                    mpq_srcptr value);

/* breakeven_printed.c: the published figure, if there is one. */
int breakeven_add_printed (const struct breakeven_view *view, gl_error_t *error);

#endif /* !GL_REPORT_BREAKEVEN_PRIVATE_H */
