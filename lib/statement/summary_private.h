/* The parts of summary.c. */
#ifndef GL_STATEMENT_SUMMARY_PRIVATE_H
#define GL_STATEMENT_SUMMARY_PRIVATE_H

#include "base/text.h"
#include "ledger/cube.h"
#include "statement/summary.h"
#include "waste/waste.h"

/* Of summary_usage_keys. */
enum { KEY_AT_POOL, KEY_AT_TEAM, KEY_AT_PROJECT, KEY_AT_QOS };

enum {
    AT_SECTION,
    AT_TEAM,
    AT_POOL,
    AT_NAME,
    AT_BEFORE,
    AT_AFTER,
    AT_AMOUNT,
    AT_CHANGE,
    AT_CHANGE_PCT,
    AT_PART, /* a column for each part of the change */
    AT_GPU_HOURS = AT_PART + CHANGE_COUNT,
    AT_DUE_SHARE,
    AT_COST_SHARE,
    AT_COMMAND,
    AT_COUNT,
};

/* The page in the making. */
typedef struct {
    const summary_t *s;
    report_t *report;
    int digits;
    const char *currency;
    text_list_t teams; /* "" is no team; by what is due, the largest first */
    const variance_t **variance; /* of each */
    variance_t all;
    size_t energy; /* the first of carbon_columns(); 0: there are none */
} page_t;

char *summary_money (const page_t *page, const mpz_t units);
void summary_put_money (page_t *page, size_t column, const mpz_t units);
/* Takes the text; NULL: nothing is put. */
void summary_put_made (page_t *page, size_t column, char *text);
/* Of the pools in the month. */
void summary_costs (const page_t *page, mpz_t ret);

/* summary_change.c */
int summary_split (page_t *page, gl_error_t *error);
void summary_changes (page_t *page);
void summary_charts (page_t *page);
/* Why the amount due, the cost of the pools and what their owner pays differ from those of the
 * month before, in a sentence each. */
void summary_notes (page_t *page);
/* What the pools cost, by kind, and who pays it: with those of the month before where there is
 * one. */
void summary_list_costs (page_t *page);

/* summary_waste.c */
void summary_waste (page_t *page);
void summary_actions (page_t *page);

/* The energy of each team, and what it caused: where anything is known of it. */
void summary_carbon (page_t *page);

#endif /* !GL_STATEMENT_SUMMARY_PRIVATE_H */
