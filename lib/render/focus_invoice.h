/*
 * focus_invoice.h: the two datasets of FOCUS 1.4 that summarise charges.
 *
 * Billing Period: the month, and whether it is closed. Invoice Detail: the
 * lines of its statements, each the sum of the BilledCost of its charges,
 * exactly: those with its InvoiceId and InvoiceDetailId. Lines of 0 are left
 * out; the effect of rounding a statement to the smallest unit of the currency
 * is a line. Pure.
 */
#ifndef GL_RENDER_FOCUS_INVOICE_H
#define GL_RENDER_FOCUS_INVOICE_H

#include "render/focus.h"

/* `updated`: when the month was closed; for an open month, the as-of of the
 * facts. */
void focus_render_period_header (buffer_t *out);
void focus_render_period (focus_t *focus, int64_t updated, buffer_t *out);

typedef struct focus_invoices focus_invoices_t;

/* Of the month of `focus`, which must outlive it. */
focus_invoices_t *focus_invoices_new (focus_t *focus, int64_t updated);
/* Accepts NULL. */
void focus_invoices_free (focus_invoices_t *invoices);
/* All rows of the month. */
void focus_invoices_add (focus_invoices_t *invoices, const line_item_t *row);
void focus_render_invoice_header (buffer_t *out);
/* Then the lines, by invoice and id. */
void focus_render_invoices (focus_invoices_t *invoices, buffer_t *out);

#endif /* !GL_RENDER_FOCUS_INVOICE_H */
