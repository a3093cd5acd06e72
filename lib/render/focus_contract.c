/* The dataset Contract Commitment: what teams are entitled to, month by month. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "render/focus_contract.h"
#include "render/focus_private.h"

/* Of FOCUS, by name; then what a month has of the one before, and leaves. */
static const char *const columns[] = {"BillingCurrency",
                                      "ContractCommitmentCategory",
                                      "ContractCommitmentCost",
                                      "ContractCommitmentDescription",
                                      "ContractCommitmentId",
                                      "ContractCommitmentPeriodEnd",
                                      "ContractCommitmentPeriodStart",
                                      "ContractCommitmentQuantity",
                                      "ContractCommitmentType",
                                      "ContractCommitmentUnit",
                                      "ContractId",
                                      "ContractPeriodEnd",
                                      "ContractPeriodStart",
                                      "x_CarriedInQuantity",
                                      "x_CarriedOutQuantity"};

void focus_render_contract_header (buffer_t *out)
{
    focus_add_names (out, columns, GL_ARRAY_SIZE (columns));
}

static void put_hours (focus_line_t *line, focus_t *f, mpq_srcptr seconds)
{
    line_items_hours_of (f->product, seconds);
    buffer_clear (&f->scratch);
    focus_add_units (f, &f->scratch, f->product, LINE_ITEM_DIGITS);
    focus_put_cell (line, buffer_text (&f->scratch), false);
}

/* Nothing where nothing is paid. */
static void put_cost (focus_line_t *line, focus_t *f,
                      const bill_entitlement_t *e)
{
    buffer_clear (&f->scratch);
    if (mpq_sgn (e->fee) > 0) {
        exact_round (f->product, e->fee, LINE_ITEM_DIGITS);
        focus_add_units (f, &f->scratch, f->product, LINE_ITEM_DIGITS);
    }
    focus_put_cell (line, buffer_text (&f->scratch), false);
}

static void put_description (focus_line_t *line, focus_t *f,
                             const bill_entitlement_t *e)
{
    buffer_clear (&f->scratch);
    buffer_printf (&f->scratch, "%s time that team %s has in pool %s, %s",
                   focus_resource (f, e->pool), e->team, e->pool, e->month);
    focus_put_cell (line, buffer_text (&f->scratch), true);
}

void focus_render_contract (focus_t *f, const bill_entitlement_t *e,
                            buffer_t *out)
{
    focus_line_t line = {out, false};
    GL_AUTOFREE char *commitment = NULL;
    buffer_t id = {0};

    if (strcmp (e->month, f->month_name) != 0)
        return;
    commitment = line_items_commitment (e->team, e->pool);
    focus_add_contract (f, &id, commitment);
    focus_put_cell (&line, f->site->currency, true);
    focus_put_cell (&line, "Usage", true);
    put_cost (&line, f, e);
    put_description (&line, f, e);
    focus_put_cell (&line, buffer_text (&id), true);
    focus_put_instant (&line, f, f->month.end);
    focus_put_instant (&line, f, f->month.start);
    put_hours (&line, f, e->bought);
    focus_put_cell (&line, focus_commitment_type, true);
    focus_put_cell (&line, focus_hours (f, e->pool), true);
    focus_put_cell (&line, buffer_text (&id), true);
    focus_put_instant (&line, f, f->month.end);
    focus_put_instant (&line, f, f->month.start);
    put_hours (&line, f, e->rollover_in);
    put_hours (&line, f, e->rollover_out);
    buffer_add_char (out, '\n');
    buffer_done (&id);
}
