/*
 * focus.h: billing line items as rows of FOCUS, the FinOps Open Cost and Usage
 * Specification (https://focus.finops.org), followed by gpuledger's own
 * columns. docs/formats/focus.md defines each column and its source.
 *
 * For teams it is the statement export: the customer is the team, the issuer
 * the site. For the organisation it is the owner cost report, made from
 * ledger/owner_cost.h: on no invoice. One object for a billing period; a row's
 * cells are valid until the next one. Pure.
 */
#ifndef GL_RENDER_FOCUS_H
#define GL_RENDER_FOCUS_H

#include <stdbool.h>

#include "ledger/line_items.h"

typedef enum {
    FOCUS_1_2,
    FOCUS_1_3,
    FOCUS_1_4,
    FOCUS_VERSION_COUNT,
} focus_version_t;

typedef enum {
    FOCUS_TEAMS,
    FOCUS_ORGANISATION,
} focus_customer_t;

/* "1.2", "1.3", "1.4"; NULL is the first. 0 or -1. */
int focus_version_parse (const char *text, focus_version_t *ret_version);

typedef struct {
    const char *name;
    bool is_number; /* digits with a point, or nothing; else text */
} focus_column_t;

typedef struct focus focus_t;

/* `month`: the billing period. `site`: who issues it, and its zone and currency; `book`:
 * the configuration that priced it, with pools and teams. Both must outlive it. */
focus_t *focus_new (const site_t *site, const site_t *book, period_t month,
                    bool provisional, focus_version_t version,
                    focus_customer_t customer);
/* Accepts NULL. */
void focus_free (focus_t *focus);

/* The names, as the first line of a file. */
void focus_render_header (const focus_t *focus, buffer_t *out);
/* Writes the row as a line of CSV (RFC 4180, LF), or as two: the prepaid part
 * and the rest. Text that a spreadsheet would run as a formula gets a leading
 * ', as in all CSV output; identifiers, numbers, times and JSON never begin in
 * this way. */
void focus_render_row (focus_t *focus, const line_item_t *row, buffer_t *out);
/* One text for each; "" is null. Not escaped for anything. */
const char *const *focus_cells (focus_t *focus, const line_item_t *row);

#endif /* !GL_RENDER_FOCUS_H */
