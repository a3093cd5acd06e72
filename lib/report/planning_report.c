#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis.h"
#include "report/planning_report.h"

enum {
    C_ANALYSIS,
    C_KIND,
    C_ROW,
    C_ITEM,
    C_VALUE,
    C_UNIT,
    C_AS_OF,
    C_SOURCE,
    C_HOW,
};

static const column_info_t columns[] = {
    {"analysis", "Analysis", COLUMN_TEXT, true, false, ""},
    {"kind", "Kind", COLUMN_TEXT, true, true,
     "The question, a kind of `analyses`."},
    {"row", "Row", COLUMN_TEXT, true, false,
     "input: taken as given; default: not given; result: what follows."},
    {"item", "Item", COLUMN_TEXT, true, false, ""},
    {"value", "Value", COLUMN_RATE, false, false, "Missing: there is none."},
    {"unit", "Unit", COLUMN_TEXT, false, false, ""},
    {"as_of", "Price of", COLUMN_DATE, false, false, "When a price was read."},
    {"source", "Source", COLUMN_TEXT, false, true, "Where a price was read."},
    {"formula", "Formula", COLUMN_TEXT, false, false,
     "How a result follows from the inputs."},
};

/* An analysis on its way into the report. */
struct view {
    report_t *report;
    const site_t *site;
    const site_analysis_t *entry;
    analysis_t a;
};

static void begin_row (const struct view *v, const char *row, const char *item,
                       const unit_t *unit)
{
    GL_AUTOFREE char *text
        = xasprintf ("%s%s%s", unit->money ? v->site->currency : "",
                     unit->money && unit->text[0] ? " " : "", unit->text);

    report_row (v->report);
    report_put_text (v->report, C_ANALYSIS, v->entry->name);
    report_put_text (v->report, C_KIND, v->a.formula->name);
    report_put_text (v->report, C_ROW, row);
    report_put_text (v->report, C_ITEM, item);
    report_put_text (v->report, C_UNIT, text);
}

static void add_input (const struct view *v,
                       const analysis_input_value_t *input)
{
    GL_AUTOFREE char *value = exact_shortest (input->value);

    begin_row (v, input->fallback ? "default" : "input", input->name,
               &input->unit);
    report_put_text (v->report, C_VALUE, value);
    if (input->as_of)
        report_put_text (v->report, C_AS_OF, input->as_of);
    if (input->source)
        report_put_text (v->report, C_SOURCE, input->source);
}

/* "saving after 3 years" */
static char *title_of (const struct view *v, const step_t *step)
{
    char *title;
    mpq_t years;

    if (!step->after)
        return xstrdup (step->title);
    mpq_init (years);
    values_compute (&v->a.values, step->after, years);
    GL_AUTOFREE char *count = exact_shortest (years);
    title = xasprintf ("%s after %s year%s", step->title, count,
                       mpq_cmp_ui (years, 1, 1) == 0 ? "" : "s");
    mpq_clear (years);
    return title;
}

static void add_step (const struct view *v, const step_t *step)
{
    mpq_srcptr value = values_get (&v->a.values, step->id);
    GL_AUTOFREE char *title = NULL;
    mpq_t shown;

    if (!step->title)
        return;
    title = title_of (v, step);
    begin_row (v, "result", title, &step->unit);
    report_put_text (v->report, C_HOW, step->how);
    if (!value)
        return;
    mpq_init (shown);
    exact_add_scaled (shown, value, step->unit.text[0] == '%' ? 100 : 1, 1);
    report_put_exact (v->report, C_VALUE, shown,
                      step->unit.digits < 0 ? v->site->currency_digits
                                            : step->unit.digits);
    mpq_clear (shown);
}

static void add_notes (const struct view *v)
{
    const char *name = v->entry->name;

    report_note (v->report, NOTE_INFORMATION, "%s leaves out: %s.", name,
                 v->a.formula->left_out);
    if (!v->a.dated)
        report_note (v->report, NOTE_WARNING,
                     "%s has a price without a date (%s:%d). Prices move by a "
                     "third to a half within two years: give `as_of` and "
                     "`source`.",
                     name, v->entry->place.file, v->entry->place.line);
    if (values_true (&v->a.values, "unequal")) {
        GL_AUTOFREE char *owned
            = exact_text (values_get (&v->a.values, "owned_work"), 0);
        GL_AUTOFREE char *rented
            = exact_text (values_get (&v->a.values, "rented_work"), 0);
        report_note (v->report, NOTE_WARNING,
                     "%s compares different amounts of work: what is owned "
                     "does %s GPU-hours a day, what is rented %s. Leave "
                     "`rent_per_year` out to rent the work that is owned, or "
                     "change `gpus` or `utilization`.",
                     name, owned, rented);
    }
    if (values_true (&v->a.values, "poor"))
        report_note (v->report, NOTE_WARNING,
                     "%s: below 60 %% most of the added GPUs are wasted.",
                     name);
}

static int add_analysis (report_t *report, const site_t *site,
                         const site_analysis_t *entry, int64_t known,
                         gl_error_t *error)
{
    struct view v = {.report = report, .site = site, .entry = entry};
    GL_AUTOFREE char *title = NULL;

    if (analysis_make (site, entry, known, &v.a, error) < 0)
        return -1;
    title = xasprintf ("%s: %s", entry->name, v.a.formula->title);
    report_section (report, title, "");
    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (v.a.input[i].used)
            add_input (&v, &v.a.input[i]);
    for (size_t i = 0; i < v.a.made_count; i++)
        add_step (&v, v.a.made[i]);
    add_notes (&v);
    analysis_clear (&v.a);
    return 0;
}

report_t *planning_report_make (const site_t *site, int64_t known,
                                gl_error_t *error)
{
    report_t *report;

    if (site->analysis_count == 0) {
        gl_error (error,
                  "the configuration has no `analyses`: write what is to "
                  "be decided, as docs/guides/decisions.md shows");
        return NULL;
    }
    report = report_new ("decide", "Planning questions");
    report_parameter (report, "currency", site->currency);
    report_provenance (report, "program", "gpuledger");
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < site->analysis_count; i++) {
        if (add_analysis (report, site, &site->analyses[i], known, error) < 0) {
            report_free (report);
            return NULL;
        }
    }
    return report;
}
