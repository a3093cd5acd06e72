/*
 * verdicts.h: what the decisions of a month (report/plan.h) say of each pool, next to what those
 * of the month before say: every page that has the decisions says the same.
 *
 * Pure. An object belongs to one thread.
 */
#ifndef GL_PUBLISH_VERDICTS_H
#define GL_PUBLISH_VERDICTS_H

#include "month/periods.h"
#include "report/report.h"

/* Of a month by itself. Begins as zeros; verdicts_clear() frees it. */
typedef struct {
    char month[MONTH_SIZE]; /* "": of none */
    struct verdict *item;
    size_t count;
} verdicts_t;

/* What the figures of the report say, in place of what was there, and whether the month before
 * (none: what begins as zeros) says so, too. */
void verdicts_take (verdicts_t *verdicts, const verdicts_t *before,
                    const char *month, const report_t *decisions);
/* Says in the figures of `month` whether the month before agrees, and so how sure they are. What
 * gives something up waits until a month and the one before it give up as much: `after` is the next
 * one that may. */
void verdicts_compare (const verdicts_t *before, const char *month,
                       const char *after, report_t *decisions);
void verdicts_clear (verdicts_t *verdicts);

/* What people read first of the decisions that were compared, as a table: what to do with each pool,
 * what that saves in a year, how sure that is, and what it depends on. Nothing where no pool has a
 * decision. `month`: theirs. `waits`: whether jobs waited, a sentence; NULL: another page has it. */
void verdicts_table (const report_t *decisions, const char *currency,
                     const char *month, const char *waits, list_place_t place,
                     report_t *to);
/* The first sentences of a text. Yours to free. */
char *verdicts_brief (const char *text, size_t sentences);

#endif /* !GL_PUBLISH_VERDICTS_H */
