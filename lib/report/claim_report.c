#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/claim_report.h"

#define VERDICTS (CLAIM_DERIVED + 1)

struct columns {
    size_t id;
    size_t verdict;
    size_t figure;
    size_t value;
    size_t printed;
    size_t unit;
    size_t finding;
    size_t status;
    size_t statement;
    size_t note;
};

static size_t column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key, const char *help)
{
    size_t index = report_column (report, name, title, type, is_key);

    report_column_help (report, index, help);
    return index;
}

static struct columns add_columns (report_t *report)
{
    struct columns c;

    c.id = column (report, "case", "Case", COLUMN_TEXT, true, "");
    c.figure = column (report, "figure", "Figure", COLUMN_TEXT, true, "");
    c.value = column (report, "value", "Value", COLUMN_RATE, false,
                      "What follows from the inputs.");
    c.printed = column (report, "printed", "Printed", COLUMN_RATE, false,
                        "What was published.");
    c.unit = column (report, "unit", "Unit", COLUMN_TEXT, false, "");
    c.finding = column (report, "finding", "Finding", COLUMN_TEXT, false,
                        "follows: from the inputs; rounded: only if rounded "
                        "parts are added; unit: the number, but of something "
                        "else; differs: no; unprinted: nothing to compare.");
    c.verdict = column (report, "verdict", "Verdict", COLUMN_TEXT, false,
                        "Of the whole case: see docs/formats/claims.md.");
    c.status = column (report, "status", "Status", COLUMN_TEXT, false,
                       "What the file itself says of the case.");
    c.statement = column (report, "statement", "Statement", COLUMN_TEXT, false,
                          "What was published, in words.");
    c.note = column (report, "note", "Note", COLUMN_TEXT, false,
                     "What the file says about it.");
    report->column[c.status].detail = true;
    report->column[c.statement].detail = true;
    report->column[c.note].detail = true;
    return c;
}

static void put_optional (report_t *report, size_t at, const char *text)
{
    if (text)
        report_put_text (report, at, text);
}

static void put_number (report_t *report, size_t at, mpq_srcptr value)
{
    GL_AUTOFREE char *text = exact_shortest (value);

    report_put_text (report, at, text);
}

static void begin_row (report_t *report, const struct columns *c,
                       const claim_t *claim)
{
    report_row (report);
    report_put_text (report, c->id, claim->id);
    report_put_text (report, c->verdict, claim_verdict_word (claim->verdict));
    put_optional (report, c->status, claim->status);
    put_optional (report, c->statement, claim->statement);
    put_optional (report, c->note, claim->note);
}

static void add_figure (report_t *report, const struct columns *c,
                        const claim_t *claim, const claim_figure_t *f)
{
    begin_row (report, c, claim);
    report_put_text (report, c->figure, f->name);
    put_number (report, c->value, f->value);
    if (f->printed.given)
        put_number (report, c->printed, f->printed.value);
    put_optional (report, c->unit, f->unit);
    report_put_text (report, c->finding, claim_finding_word (f->finding));
}

/* Where the published figure does not stand. */
static void note_figure (report_t *report, const claim_t *claim,
                         const claim_figure_t *f)
{
    GL_AUTOFREE char *value = exact_shortest (f->value);
    GL_AUTOFREE char *printed = exact_shortest (f->printed.value);
    GL_AUTOFREE char *told = exact_shortest (f->told.value);

    if (f->finding == CLAIM_DIFFERS)
        report_note (report, NOTE_INFORMATION,
                     "%s: %s is printed as %s; %s = %s.", claim->id, f->name,
                     printed, f->expression, value);
    if (f->finding == CLAIM_ROUNDED)
        report_note (report, NOTE_INFORMATION,
                     "%s: %s is printed as %s, which follows only if parts are "
                     "rounded before they are added; it is %s.",
                     claim->id, f->name, printed, value);
    if (f->finding == CLAIM_UNIT)
        report_note (report, NOTE_INFORMATION,
                     "%s: %s is %s %s, not %s.", claim->id, f->name, value,
                     f->unit, f->printed_unit);
    if (f->told_differs)
        report_note (report, NOTE_WARNING,
                     "%s: the file has %s for %s, which is %s.", claim->id,
                     told, f->name, value);
}

static void note_status (report_t *report, const claim_t *claim)
{
    const char *verdict = claim_verdict_word (claim->verdict);

    if (!claim_status_agrees (claim))
        report_note (report, NOTE_WARNING,
                     "%s: the file calls it %s; by its figures it is %s.",
                     claim->id, claim->status, verdict);
}

static void note_counts (report_t *report, const claim_t *claims, size_t count)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t counts[VERDICTS] = {0};

    for (size_t i = 0; i < count; i++)
        counts[claims[i].verdict]++;
    for (size_t v = 0; v < VERDICTS; v++)
        if (counts[v] > 0)
            buffer_printf (&text, "%s%zu %s", text.length ? ", " : "",
                           counts[v], claim_verdict_word ((claim_verdict_t)v));
    report_note (report, NOTE_INFORMATION, "%zu cases: %s.", count,
                 buffer_text (&text));
}

report_t *claim_report_make (const claim_t *claims, size_t count,
                             const char *name)
{
    report_t *report = report_new ("claims", "Published figures");
    struct columns c;

    report_parameter (report, "file", name);
    report_provenance (report, "program", "gpuledger");
    c = add_columns (report);
    note_counts (report, claims, count);
    for (size_t i = 0; i < count; i++) {
        if (claims[i].figure_count == 0)
            begin_row (report, &c, &claims[i]);
        for (size_t k = 0; k < claims[i].figure_count; k++) {
            add_figure (report, &c, &claims[i], &claims[i].figure[k]);
            note_figure (report, &claims[i], &claims[i].figure[k]);
        }
        note_status (report, &claims[i]);
    }
    return report;
}
