/* What the files of the break-even report share. */
#ifndef GL_REPORT_BREAKEVEN_PRIVATE_H
#define GL_REPORT_BREAKEVEN_PRIVATE_H

#include "report/breakeven_report.h"

struct breakeven_columns {
    size_t pool;
    size_t kind;
    size_t item;
    size_t per_year;
    size_t per_hour;
    size_t share;
    size_t breakeven;
    size_t billed;
    size_t term;
    size_t as_of;
    size_t age;
    size_t source;
    size_t difference;
    size_t against;
};

/* A pool, and what is asked of it. */
typedef struct {
    const site_t *site;
    int64_t at;
    const breakeven_query_t *query;
    const breakeven_t *breakeven;
} breakeven_subject_t;

void breakeven_begin_row (report_t *report, const struct breakeven_columns *c,
                          const breakeven_t *b, const char *kind,
                          const char *item);
void breakeven_put_percent (report_t *report, size_t at, const mpq_t ratio);
/* A ratio as "54.2"; yours to free. */
char *breakeven_percent_text (const mpq_t ratio);

/* breakeven_change.c: the hour at other utilizations, and with other inputs. */
void breakeven_add_utilizations (report_t *report,
                                 const struct breakeven_columns *c,
                                 const breakeven_t *b);
int breakeven_add_changes (report_t *report, const struct breakeven_columns *c,
                           const breakeven_subject_t *subject,
                           gl_error_t *error);

/* breakeven_printed.c: the published figure, if there is one. */
int breakeven_add_printed (report_t *report, const struct breakeven_columns *c,
                           const breakeven_subject_t *subject,
                           gl_error_t *error);

#endif /* !GL_REPORT_BREAKEVEN_PRIVATE_H */
