/* charges_private.h: charges.c (columns, checks) and charges_focus.c (FOCUS). */
#ifndef GL_CHARGES_PRIVATE_H
#define GL_CHARGES_PRIVATE_H

#include "base/csv.h"
#include "import/charges.h"

typedef enum {
    IN_DATE,
    IN_TEAM,
    IN_ACCOUNT,
    IN_USER,
    IN_PROJECT,
    IN_SERVICE,
    IN_DESCRIPTION,
    IN_QUANTITY,
    IN_UNIT,
    IN_PRICE,
    IN_AMOUNT,
    IN_CURRENCY,
    IN_SOURCE,
    IN_REFERENCE,
    IN_COST_OBJECT,
    IN_SERVICE_CATEGORY,
    IN_CHARGE,
    IN_COUNT,
} column_id_t;

/* --- charges_focus.c -------------------------------------------------------- */

/* The header in hand is one of FOCUS. */
bool charges_focus_is_header (const csv_t *csv);
/* All rows behind that header, added up in charges->focus. */
int charges_focus_read (charges_t *charges, const site_t *site, csv_t *csv,
                        const char *path, gl_error_t *error);
/* What they add up to: the cells of a row of ours, borrowed, and where the first of its
 * rows is. */
typedef void (*focus_row_f) (const char *const cells[IN_COUNT],
                             const char *path, size_t line, void *arg);
void charges_focus_each (charges_t *charges, const site_t *site,
                         focus_row_f callback, void *arg);
/* Accepts NULL. */
void charges_focus_free (struct charges_focus *focus);

/* The error of an import beyond CHARGES_MAX. */
int charges_too_many (gl_error_t *error);

#endif /* !GL_CHARGES_PRIVATE_H */
