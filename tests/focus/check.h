/* check.h: the checks of a FOCUS file; each tells what is wrong on standard
 * output, one line each, "RULE: what", and returns how much it was. */
#ifndef GL_TESTS_FOCUS_CHECK_H
#define GL_TESTS_FOCUS_CHECK_H

#include "tests/focus/table.h"

/* The published rules (MODEL, currency codes). Ends with "rules: N pass, N skip, N
 * fail". */
size_t check_rules (const table_t *table, const char *model,
                    const char *currencies);

/* What the published rules do not see: invariants that the file has to keep. The
 * zone is that of TZ. `pools`: "POOL=GPUS ..." whose time has to be complete. */
size_t check_invariants (const table_t *table, const char *subcategories,
                         const char *pools);

/* What versions after 1.2 add, of a file that has it. */
size_t check_later (const table_t *table);
/* The datasets above the charges. */
size_t check_periods_file (const table_t *table);
size_t check_invoices_file (const table_t *table, const table_t *charges);
/* The objects that tell what is drawn on commitments; their dataset. */
size_t check_commitments (const table_t *table);
size_t check_contracts_file (const table_t *table, const table_t *charges);

/* "TEAM<TAB>SUM" of BilledCost by the tag `team`, "(none)" without; bytewise. */
void print_sums (const table_t *table);

/* "HOURS MONEY" of these rows, rounded, whose id holds that text. */
void print_commitment (const table_t *table, const char *id, const char *status);

/* "POOL CATEGORY" of the price of each row of a job. */
void print_priced (const table_t *table);

/* The column's sum in units of 10^-10, over rows whose kind is in the list. */
void print_total (const table_t *table, const char *column, const char *kinds);

#endif /* !GL_TESTS_FOCUS_CHECK_H */
