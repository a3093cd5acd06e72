/* An explanation as a value: its steps and their lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/explain_private.h"

explain_t *explain_new (const char *what, const char *name)
{
    explain_t *explain = xcalloc (1, sizeof (*explain));

    explain->what = what;
    explain->name = xstrdup (name);
    return explain;
}

static void free_segment (explain_segment_t *segment)
{
    for (size_t i = 0; i < segment->step_count; i++) {
        explain_step_t *step = &segment->step[i];
        for (size_t k = 0; k < step->line_count; k++) {
            free (step->line[k].name);
            free (step->line[k].title);
            free (step->line[k].value);
        }
        free (step->line);
        free (step->title);
    }
    free (segment->step);
    texts_clear (&segment->answer);
    free (segment->title);
    free (segment->reference);
    free (segment->user);
    free (segment->job_name);
}

void explain_free (explain_t *explain)
{
    if (!explain)
        return;
    GL_FREE_EACH (explain->segment, explain->segment_count, it,
                  free_segment (it));
    free (explain->name);
    free (explain);
}

explain_step_t *explain_step (explain_segment_t *segment, const char *name,
                              char *title)
{
    explain_step_t *step;

    step = GL_APPEND (segment->step, segment->step_count);
    *step = (explain_step_t){.name = name, .title = title};
    return step;
}

static bool has_line (const explain_step_t *step, const char *name)
{
    return GL_ANY (step->line, step->line_count, it, !strcmp (it->name, name));
}

/* Names are members of an object: what occurs again is numbered. */
static char *line_name (const explain_step_t *step, const char *name)
{
    char *unique = xstrdup (name);

    for (unsigned n = 2; has_line (step, unique); n++) {
        free (unique);
        unique = xasprintf ("%s_%u", name, n);
    }
    return unique;
}

/* Yours. */
static char *of_resource (const explain_step_t *step, const char *text)
{
    char *copy = xstrdup (text);

    for (char *at = copy; step->of_cpus && *at; at++)
        if (!strncmp (at, "GPU", 3) || !strncmp (at, "gpu", 3))
            *at = *at == 'G' ? 'C' : 'c';
    return copy;
}

void explain_line (explain_step_t *step, column_type_t type, const char *name,
                   const char *title, char *value)
{
    GL_AUTOFREE char *word = of_resource (step, name);
    char *unique = line_name (step, word);

    *GL_APPEND (step->line, step->line_count)
        = (explain_line_t){unique, of_resource (step, title), value, type};
}

void explain_text (explain_step_t *step, const char *name, const char *title,
                   const char *value)
{
    explain_line (step, COLUMN_TEXT, name, title, xstrdup (value));
}

void explain_format (explain_step_t *step, const char *name, const char *title,
                     const char *fmt, ...)
{
    char *value;
    va_list ap;

    va_start (ap, fmt);
    if (vasprintf (&value, fmt, ap) < 0)
        abort ();
    va_end (ap);
    explain_line (step, COLUMN_TEXT, name, title, value);
}

void explain_stamp (explain_step_t *step, const site_t *site, const char *name,
                    const char *title, int64_t instant)
{
    char stamp[ZONE_STAMP_SIZE];

    explain_line (step, COLUMN_DATE, name, title,
                  xstrdup (zone_stamp (site->zone, instant, stamp)));
}

void explain_exact (explain_step_t *step, column_type_t type, const char *name,
                    const char *title, const mpq_t value, int digits)
{
    explain_line (step, type, name, title, exact_text (value, digits));
}

/* --- the billable quantity ---------------------------------------------- */

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
                  row->reference ? "amount due of that row"
                                 : "amount due of that row, of all its jobs",
                  exact_units_text (row->charge_units, digits));
}

/* --- settlement --------------------------------------------------------- */

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

static bool same_line (const posting_t *row, const posting_t *line)
{
    return same_text (row->month, line->month)
           && same_text (row->pool, line->pool)
           && same_text (row->team, line->team)
           && same_text (posting_key (row, KEY_ACCOUNT),
                         posting_key (line, KEY_ACCOUNT))
           && same_text (posting_key (row, KEY_PROJECT),
                         posting_key (line, KEY_PROJECT))
           && (!posting_key (row, KEY_USER)
               || same_text (posting_key (row, KEY_USER),
                             posting_key (line, KEY_USER)));
}

static bool has_step (const explain_segment_t *segment, size_t count,
                      const char *title)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp (segment->step[i].title, title))
            return true;
    return false;
}

static void add_settlement (explain_segment_t *segment, const posting_t *row,
                            char *title, int digits)
{
    explain_step_t *step = explain_step (segment, "settlement", title);

    explain_line (step, COLUMN_DATE, "month", "month", xstrdup (row->month));
    explain_text (step, "rule", "rule of settlement", row->reference);
    explain_text (step, "what", "kind of rule", row->what);
    if (row->cost_object)
        explain_text (step, "cost_object", "cost object", row->cost_object);
    else
        explain_text (step, "counterparty",
                      !row->counterparty                ? "other side"
                      : mpz_sgn (row->charge_units) < 0 ? "paid by"
                                                        : "paid for",
                      row->counterparty ? row->counterparty : "the site");
    explain_line (step, COLUMN_MONEY, "amount",
                  posting_key (row, KEY_USER)
                      ? "amount of that rule for all jobs of the user in the "
                        "account and project"
                  : row->pool ? "amount of that rule for all jobs of the "
                                "account and project"
                              : "amount of that rule for all services of the "
                                "account and project",
                  exact_units_text (row->charge_units, digits));
}

void explain_settlement (explain_segment_t *segment, const bill_t *bill,
                         const posting_t *line, int digits)
{
    size_t had = segment->step_count, count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        char *title;
        if (rows[i].kind != BILL_SETTLEMENT || !same_line (&rows[i], line))
            continue;
        title = xasprintf ("Settlement of %s in %s, rule %s",
                           line->pool ? line->pool : "other services",
                           line->month, rows[i].reference);
        if (has_step (segment, had, title))
            free (title);
        else
            add_settlement (segment, &rows[i], title, digits);
    }
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
    for (size_t i = 0; i < count; i++)
        if (rows[row[i]].kind == BILL_CHARGE)
            explain_settlement (last_segment (explain), bill, &rows[row[i]],
                                digits);
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
