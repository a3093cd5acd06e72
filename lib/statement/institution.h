/*
 * institution.h: what each team of an institution has to pay in a month, and the sum, for the
 * bill that goes to it; and what all teams have to pay, with what the site pays, for the
 * journal.
 *
 * Made of the rows that the statements of these teams are made of, so that it has their
 * amounts; each team's statement says how its amount comes about. Pure.
 */
#ifndef GL_STATEMENT_INSTITUTION_H
#define GL_STATEMENT_INSTITUTION_H

#include "ledger/bill.h"
#include "report/heading.h"
#include "report/report.h"

/* Everything is borrowed. */
typedef struct {
    const report_query_t *query; /* the month */
    const site_t *site;          /* the configuration of the month */
    const char *name;    /* NULL: teams of no institution, and no team */
    const char *month;   /* 2026-10 */
    const bill_t *bill;  /* of the month, taxes included */
    bool provisional;    /* it is not closed */
    const char *state;   /* "closed 2026-11-05, version 1" */
    const char *hash;    /* of the closed period; NULL: none */
    const site_t *paper; /* with the issuer; for institution_all() */
} institution_t;

/* Its teams in the month that are billed, by name, "(none)" for no team. */
void institution_teams (const site_t *site, const char *name, const char *month,
                        const bill_t *bill, text_list_t *ret_teams);

/* `ids`: of the statements of these teams, in their order. Yours: report_free(). */
report_t *institution_make (const institution_t *institution,
                            const text_list_t *teams, const text_list_t *ids);

/* The report "amounts": a row for each team and cost center (of its configuration, or the cost
 * object that a rule of settlement books an amount to), then one for the part of the cost that
 * the site pays, and one each for prepaid money and fees, so that net amounts add up to the cost of the pools and what else is billed in
 * the month: a proof has the parts. `disputed`: of each posting of the bill, or NULL.
 * `teams`, `ids`: as above, of all teams; `name` is not read. Yours: report_free(). */
report_t *institution_all (const institution_t *institution,
                           const bool *disputed, const text_list_t *teams,
                           const text_list_t *ids);

#endif /* !GL_STATEMENT_INSTITUTION_H */
