/* How a charge of another service came about: the imports that had it, and where it is
 * billed. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/explain_private.h"

static explain_segment_t *last_segment (explain_t *explain)
{
    return &explain->segment[explain->segment_count - 1];
}

/* --- the row ------------------------------------------------------------ */

static void add_text (explain_step_t *step, const char *name, const char *title,
                      const char *value)
{
    if (value)
        explain_text (step, name, title, value);
}

static void add_product (explain_step_t *step, const service_t *s)
{
    mpq_t quantity, price;

    mpq_inits (quantity, price, NULL);
    exact_parse (s->quantity, quantity, NULL);
    exact_parse (s->price, price, NULL);
    mpq_mul (price, quantity, price);
    explain_line (step, COLUMN_TEXT, "product", "quantity x unit price",
                  exact_shortest (price));
    mpq_clears (quantity, price, NULL);
}

static char *units_text (const char *units, int digits)
{
    mpz_t value;
    char *text;

    mpz_init_set_str (value, units, 10);
    text = exact_units_text (value, digits);
    mpz_clear (value);
    return text;
}

static void add_row (explain_segment_t *segment, const site_t *site,
                     const service_t *s)
{
    explain_step_t *step
        = explain_step (segment, "service", xstrdup ("Imported row"));

    explain_text (step, "service", "service", s->service);
    add_text (step, "description", "description", s->description);
    add_text (step, "service_category", "category", s->service_category);
    add_text (step, "charge", "charge", s->charge);
    explain_line (step, COLUMN_DATE, "date", "date", xstrdup (s->day));
    explain_text (step, "quantity", "quantity", s->quantity);
    explain_text (step, "unit", "unit", s->unit);
    explain_text (step, "unit_price", "unit price", s->price);
    add_product (step, s);
    explain_line (step, COLUMN_MONEY, "amount", "amount, rounded by its system",
                  units_text (s->amount, site->currency_digits));
    explain_text (step, "currency", "currency", site->currency);
    explain_text (step, "team", "team in the row",
                  s->team ? s->team : "(none)");
    explain_text (step, "account", "account in the row",
                  s->account ? s->account : "(none)");
    add_text (step, "user", "user", s->user);
    add_text (step, "project", "project", s->project);
    add_text (step, "cost_object", "cost object", s->cost_object);
}

static void add_import (explain_segment_t *segment, const site_t *site,
                        const explain_import_t *i, bool in_force)
{
    explain_step_t *step
        = explain_step (segment, "import",
                        xasprintf ("Import %" PRIu64 ", %s", i->service->import,
                                   i->undone  ? "taken back"
                                   : in_force ? "in force"
                                              : "replaced by a later import"));

    explain_format (step, "source", "file and line", "%s:%" PRIu64,
                    i->service->file, i->service->line);
    explain_stamp (step, site, "time", "imported at", i->time);
    explain_text (step, "who", "imported by", i->who);
    explain_line (step, COLUMN_MONEY, "amount", "amount in this import",
                  units_text (i->service->amount, site->currency_digits));
    if (!i->undone)
        return;
    explain_stamp (step, site, "undone", "undone at", i->undone);
    explain_text (step, "undone_by", "undone by", i->undone_by);
}

void explain_service (explain_t *explain, const site_t *site,
                      const explain_import_t *imports, size_t count)
{
    explain_segment_t *segment
        = GL_APPEND (explain->segment, explain->segment_count);
    size_t in_force = count;

    *segment = (explain_segment_t){
        .title
        = xasprintf ("Charge %s:%s of another service",
                     imports->service->source, imports->service->reference)};
    for (size_t i = 0; i < count; i++)
        if (!imports[i].undone)
            in_force = i;
    if (in_force < count)
        add_row (segment, site, imports[in_force].service);
    for (size_t i = count; i-- > 0;)
        add_import (segment, site, &imports[i], i == in_force);
}

/* --- where it is billed --------------------------------------------------- */

/* It was changed after its month was closed. */
static bool is_correction (const posting_t *row)
{
    const char *word = bill_kind_word (BILL_SERVICE);

    return row->kind == BILL_CORRECTION && row->origin
           && !strncmp (row->origin, word, strlen (word));
}

static void add_billed (explain_segment_t *segment, const explain_bill_t *b,
                        size_t at, const posting_t *row)
{
    bool correction = row->kind == BILL_CORRECTION;
    explain_step_t *step = explain_step (
        segment, "billed",
        xasprintf ("%s %s, which is %s",
                   correction ? "Correction on the bill of" : "On the bill of",
                   b->month, b->state));

    explain_line (step, COLUMN_DATE, "month", "month", xstrdup (b->month));
    if (b->numbered)
        explain_format (step, "row", "row", "%s/%zu", b->month, at + 1);
    explain_text (step, "team", "team", row->team ? row->team : "(none)");
    if (b->import && !b->import->service->team)
        explain_format (step, "reason", "why this team",
                        row->team ? "it owns account %s on %s"
                                  : "no team owns account %s on %s",
                        b->import->service->account, b->import->service->day);
    if (correction) {
        explain_line (step, COLUMN_DATE, "corrected_month", "corrected month",
                      xstrdup (row->month));
        explain_line (
            step, COLUMN_MONEY, "before", "billed before",
            exact_units_text (posting_extra (row)->before_units, b->digits));
        explain_line (
            step, COLUMN_MONEY, "after", "amount now",
            exact_units_text (posting_extra (row)->after_units, b->digits));
    }
    explain_line (step, COLUMN_MONEY, "due", "amount due before taxes",
                  exact_units_text (row->charge_units, b->digits));
    if (row->team)
        explain_format (step, "command", "its statement",
                        "gpuledger statement %s --month %s", row->team,
                        b->month);
}

void explain_service_billed (explain_t *explain, const explain_bill_t *b,
                             const char *reference)
{
    explain_segment_t *segment = last_segment (explain);
    size_t count;
    const posting_t *rows = postings (b->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const posting_t *row = &rows[i];
        if (!row->reference || strcmp (row->reference, reference) != 0
            || (row->kind != BILL_SERVICE && !is_correction (row)))
            continue;
        add_billed (segment, b, i, row);
        if (row->kind == BILL_SERVICE)
            explain_settlement (segment, b->bill, row, b->digits);
    }
}
