/*
 * statements.h: the statements of a month (statement/statement.h,
 * statement/institution.h), from one reading of the store: of a closed month from what was
 * closed, of others from facts and configuration.
 *
 *   statements_open (store, &query, NULL, &statements, &error);
 *   statements_team (statements, "vision", false, &report, &error);
 *   statements_close (statements);
 *
 * A query filtered by one team reads what this team's page needs, and no other page can be
 * made then. An object belongs to one thread; reports are the caller's, report_free().
 */
#ifndef GL_STATEMENTS_H
#define GL_STATEMENTS_H

#include "base/text.h"
#include "ledger/cube.h"
#include "ledger/variance.h"
#include "month/budget_cache.h"
#include "month/month.h"
#include "report/report.h"
#include "statement/budget.h"
#include "store/store.h"
#include "usage/query.h"

typedef struct statements statements_t;

/* `query`: a calendar month, borrowed with all that it points to, as is `periods` (NULL:
 * they are read). -1 with an error also where the facts have not reached the month. */
int statements_open (store_t *store, const report_query_t *query,
                     const periods_t *periods, statements_t **ret_statements,
                     gl_error_t *error);
/* Accepts NULL. */
void statements_close (statements_t *statements);

/* What one month leaves for the next, of which pages are made one after the other. At first all
 * zeros. */
typedef struct {
    month_t *month; /* whose pages were made last; NULL: none */
    cube_t *waste;  /* what it wasted, by cause; NULL: not made */
    budget_cache_t *budgets;
} statements_series_t;

void statements_series_clear (statements_series_t *series);

/* The same for a month of a series, which must outlive it: the month before is not read again.
 * An open month comes with what it would be under other idle policies, for chargebacks_make(). */
int statements_open_next (store_t *store, const report_query_t *query,
                          const periods_t *periods, statements_series_t *series,
                          statements_t **ret_statements, gl_error_t *error);
/* Closes them. */
void statements_keep_month (statements_t *statements,
                            statements_series_t *series);

/* The statements that follow are pages of a site: with links in place of commands, and without
 * the latest hash of the chain, which other closings change. `user_name`: what sentences call a
 * user. */
void statements_link (statements_t *statements,
                      const char *(*user_name) (const char *user, void *arg),
                      void *arg);

/* It, and the month before it. Borrowed, the latter until it is set aside. */
month_t *statements_month (statements_t *statements);
int statements_before (statements_t *statements, month_t **ret_before,
                       gl_error_t *error);
/* The month before is not wanted for a while in which much memory is: it is freed if reading
 * it again, when it is asked for, is little work next to computing this one. */
void statements_set_aside (statements_t *statements);
/* The two are compared: something is known of the month before, and of a site's page this one is
 * over. */
bool statements_compared (const statements_t *statements);
/* Of its teams, since the month before where they are compared, which must not be set aside.
 * Borrowed. */
variances_t *statements_variances (statements_t *statements);
/* Budgets of all teams at the end of the month, or of its facts. Borrowed. */
int statements_budgets (statements_t *statements, budget_t *const **ret_budgets,
                        size_t *ret_count, gl_error_t *error);
/* The query, with the as-of of the month. Borrowed. */
const report_query_t *statements_query (const statements_t *statements);

/* Teams with something due or a balance in the month, by name; "(none)": no team. */
void statements_teams (const statements_t *statements, text_list_t *ret_teams);

/* `team` NULL: what is of none. `jobs`: with a line for each job, for which the month is
 * read once more. */
int statements_team (statements_t *statements, const char *team, bool jobs,
                     report_t **ret_report, gl_error_t *error);

/* The page of an institution, NULL: of teams without one, whose statements add up to it. -1
 * with an error also where nobody knows such an institution: neither the month nor today's
 * configuration. */
int statements_institution (statements_t *statements, const char *name,
                            report_t **ret_report, gl_error_t *error);

/* What all teams have to pay of a month, and the part that the site pays (institution_all()).
 * `query`: the month, without keys and filters. */
int month_amounts (month_t *month, const report_query_t *query,
                   report_t **ret_report, gl_error_t *error);

#endif /* !GL_STATEMENTS_H */
