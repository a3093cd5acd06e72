#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/explain_private.h"

static explain_segment_t *last_segment (explain_t *explain)
{
    return &explain->segment[explain->segment_count - 1];
}

/* --- what was closed ---------------------------------------------------- */

static void add_row (explain_step_t *step, const char *month,
                     const posting_t *row, size_t number, int digits)
{
    const char *word = bill_kind_word (row->kind);
    GL_AUTOFREE char *title = xasprintf ("row that the job is in, a %s", word);
    GL_AUTOFREE char *name = xasprintf ("row_%s", word);

    explain_format (step, "row", title, "%s/%zu", month, number);
    explain_line (step, COLUMN_MONEY, name,
                  row->reference ? "due of that row"
                                 : "due of that row, of all its jobs",
                  exact_units_text (row->charge_units, digits));
}

void explain_billable (explain_t *explain, const char *month,
                       const bill_t *bill, const size_t *row, size_t count,
                       int digits)
{
    explain_step_t *step = explain_step (
        last_segment (explain), "billed",
        xasprintf ("On the bill of %s, which is closed", month));
    size_t all;
    const posting_t *rows = postings (bill, &all);

    explain_line (step, COLUMN_DATE, "month", "month", xstrdup (month));
    for (size_t i = 0; i < count; i++)
        add_row (step, month, &rows[row[i]], row[i] + 1, digits);
}

/* --- what was decided --------------------------------------------------- */

void explain_decided (explain_t *explain, const site_t *site,
                      const segment_t *s, const posting_t *row, const char *who,
                      int64_t when)
{
    GL_AUTOFREE char *reference = explain_reference (s);
    explain_step_t *step;

    if (!row->reference || strcmp (row->reference, reference) != 0)
        return;
    step = explain_step (last_segment (explain), "decided",
                         xasprintf ("Manual adjustments for %s", row->month));
    explain_line (step, COLUMN_MONEY, bill_kind_word (row->kind),
                  row->kind == BILL_CREDIT ? "manual credit"
                                           : "manually corrected",
                  exact_units_text (row->charge_units, site->currency_digits));
    explain_text (step, "reason", "reason", row->reason);
    explain_text (step, "who", "by", who);
    explain_stamp (step, site, "when", "on", when);
}
