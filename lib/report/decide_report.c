#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis.h"
#include "report/decide_report.h"

struct columns {
    size_t analysis;
    size_t kind;
    size_t row;
    size_t item;
    size_t value;
    size_t unit;
    size_t as_of;
    size_t source;
    size_t how;
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

    c.analysis = column (report, "analysis", "Analysis", COLUMN_TEXT, true, "");
    c.kind = column (report, "kind", "Kind", COLUMN_TEXT, true,
                     "What is asked, a kind of `analyses`.");
    c.row = column (report, "row", "Row", COLUMN_TEXT, true,
                    "input: taken as given; default: not given; result: what "
                    "follows.");
    c.item = column (report, "item", "Item", COLUMN_TEXT, true, "");
    c.value = column (report, "value", "Value", COLUMN_RATE, false,
                      "Missing: there is none.");
    c.unit = column (report, "unit", "Unit", COLUMN_TEXT, false, "");
    c.as_of = column (report, "as_of", "Price of", COLUMN_TEXT, false,
                      "When a price was read.");
    c.source = column (report, "source", "Source", COLUMN_TEXT, false,
                       "Where a price was read.");
    c.how = column (report, "formula", "Formula", COLUMN_TEXT, false,
                    "How a result follows from the inputs.");
    report->column[c.kind].detail = true;
    report->column[c.source].detail = true;
    return c;
}

static void put_optional (report_t *report, size_t at, const char *text)
{
    if (text)
        report_put_text (report, at, text);
}

static void begin_row (report_t *report, const struct columns *c,
                       const site_analysis_t *entry, const analysis_t *a,
                       const char *row, const char *item)
{
    report_row (report);
    report_put_text (report, c->analysis, entry->name);
    report_put_text (report, c->kind, a->word);
    report_put_text (report, c->row, row);
    report_put_text (report, c->item, item);
}

static void put_unit (report_t *report, size_t at, const site_t *site,
                      const analysis_unit_t *unit)
{
    GL_AUTOFREE char *text
        = xasprintf ("%s%s%s", unit->money ? site->currency : "",
                     unit->money && unit->text[0] ? " " : "", unit->text);

    report_put_text (report, at, text);
}

static void add_input (report_t *report, const struct columns *c,
                       const site_t *site, const site_analysis_t *entry,
                       const analysis_t *a, const analysis_input_value_t *input)
{
    GL_AUTOFREE char *value = exact_shortest (input->value);

    begin_row (report, c, entry, a, input->fallback ? "default" : "input",
               input->name);
    report_put_text (report, c->value, value);
    put_unit (report, c->unit, site, &input->unit);
    put_optional (report, c->as_of, input->as_of);
    put_optional (report, c->source, input->source);
}

static void add_figure (report_t *report, const struct columns *c,
                        const site_t *site, const site_analysis_t *entry,
                        const analysis_t *a, const analysis_figure_t *figure)
{
    int digits = figure->unit.digits < 0 ? site->currency_digits
                                         : figure->unit.digits;

    begin_row (report, c, entry, a, "result",
               figure->label ? figure->label : figure->name);
    if (!figure->never)
        report_put_exact (report, c->value, figure->value, digits);
    put_unit (report, c->unit, site, &figure->unit);
    report_put_text (report, c->how, figure->how);
}

static void note_work (report_t *report, const site_analysis_t *entry,
                       const analysis_t *a)
{
    GL_AUTOFREE char *owned = exact_text (a->work_owned, 0);
    GL_AUTOFREE char *rented = exact_text (a->work_rented, 0);

    report_note (report, NOTE_WARNING,
                 "%s compares different amounts of work: what is owned does %s "
                 "GPU-hours a day, what is rented %s. Leave `rent_per_year` out "
                 "to rent the work that is owned, or change `gpus` or "
                 "`utilization`.",
                 entry->name, owned, rented);
}

static void add_notes (report_t *report, const site_analysis_t *entry,
                       const analysis_t *a)
{
    report_note (report, NOTE_INFORMATION, "%s leaves out: %s.", entry->name,
                 a->left_out);
    if (!a->dated)
        report_note (report, NOTE_WARNING,
                     "%s has a price without a date (%s:%d). Prices move by a "
                     "third to a half within two years: give `as_of` and "
                     "`source`.",
                     entry->name, entry->place.file, entry->place.line);
    if (a->unequal)
        note_work (report, entry, a);
    if (a->poor)
        report_note (report, NOTE_WARNING,
                     "%s: below 60 %% most of what is added is wasted.",
                     entry->name);
}

static int add_analysis (report_t *report, const struct columns *c,
                         const site_t *site, const site_analysis_t *entry,
                         int64_t known, gl_error_t *error)
{
    GL_AUTOFREE char *title = NULL;
    analysis_t a;

    if (analysis_make (site, entry, known, &a, error) < 0)
        return -1;
    title = xasprintf ("%s: %s", entry->name, a.title);
    report_section (report, title, "");
    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (a.input[i].used)
            add_input (report, c, site, entry, &a, &a.input[i]);
    for (size_t i = 0; i < a.figure_count; i++)
        add_figure (report, c, site, entry, &a, &a.figure[i]);
    add_notes (report, entry, &a);
    analysis_clear (&a);
    return 0;
}

report_t *decide_report_make (const site_t *site, int64_t known,
                              gl_error_t *error)
{
    report_t *report;
    struct columns c;

    if (site->analysis_count == 0) {
        gl_error (error, "the configuration has no `analyses`: write what is to "
                         "be decided, as docs/guides/decisions.md shows");
        return NULL;
    }
    report = report_new ("decide", "What is to be decided");
    report_parameter (report, "currency", site->currency);
    report_provenance (report, "program", "gpuledger");
    c = add_columns (report);
    for (size_t i = 0; i < site->analysis_count; i++) {
        if (add_analysis (report, &c, site, &site->analyses[i], known, error)
            < 0) {
            report_free (report);
            return NULL;
        }
    }
    return report;
}
