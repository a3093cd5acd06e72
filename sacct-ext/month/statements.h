/*
 * statements.h: a team's statement (statement/statement.h), from the store: of a
 * closed month from what was closed, of others from facts and configuration.
 */
#ifndef GL_STATEMENTS_H
#define GL_STATEMENTS_H

#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

typedef struct {
    store_t *store;
    const report_query_t *query; /* a calendar month, filtered by the team */
    const char *team;            /* NULL: what is of none */
    bool jobs;                   /* with a line for each job */
} statements_query_t;

/* report_free() it. */
int statements_make (const statements_query_t *query, report_t **ret_report,
                     gl_error_t *error);

/* The page of an institution (statement/institution.h), NULL: of teams without one, in
 * the query's month, whose statements add up to it. -1 with an error also where nobody
 * knows such an institution: neither the month nor today's configuration. */
int statements_institution (store_t *store, const report_query_t *query,
                            const char *name, report_t **ret_report,
                            gl_error_t *error);

#endif /* !GL_STATEMENTS_H */
