#include <string.h>

#include "base/memory.h"
#include "render/json.h"
#include "render/render_private.h"

static const char *const type_names[] = {
    [COLUMN_TEXT] = "text",     [COLUMN_DATE] = "text",
    [COLUMN_WORDS] = "text",    [COLUMN_COUNT] = "count",
    [COLUMN_HOURS] = "hours",   [COLUMN_MONEY] = "money",
    [COLUMN_RATE] = "rate",     [COLUMN_PERCENT] = "percent",
    [COLUMN_ENERGY] = "energy", [COLUMN_MASS] = "mass",
};

/* Money and rates are strings: a reader that makes doubles of numbers would
 * change them. */
static void put_value (json_t *json, const char *key, column_type_t type,
                       const char *value)
{
    if (!report_is_number (type) || type == COLUMN_MONEY || type == COLUMN_RATE)
        json_string (json, key, value);
    else
        json_number (json, key, value);
}

static void put_pairs (json_t *json, const char *key, char *(*pair)[2],
                       size_t count)
{
    json_object (json, key);
    for (size_t i = 0; i < count; i++)
        json_string (json, pair[i][0], pair[i][1]);
    json_end_object (json);
}

static void put_columns (json_t *json, const report_t *report)
{
    json_array (json, "columns");
    for (size_t i = 0; i < report->order_count; i++) {
        const report_column_t *column = &report->column[report->order[i]];
        json_object (json, NULL);
        json_string (json, "name", column->name);
        json_string (json, "title", column->title);
        json_string (json, "type", type_names[column->type]);
        json_bool (json, "key", column->is_key);
        json_end_object (json);
    }
    json_end_array (json);
}

static void put_rows (json_t *json, const report_t *report,
                      const render_options_t *options)
{
    buffer_t *key = xcalloc (report->order_count + 1, sizeof (*key));

    for (size_t i = 0; i < report->order_count; i++)
        json_quote (&key[i], report->column[report->order[i]].name);
    json_array (json, "rows");
    for (size_t row = 0; row < report->row_count; row++) {
        json_object (json, NULL);
        for (size_t i = 0; i < report->order_count; i++) {
            size_t at = report->order[i];
            json_key (json, &key[i]);
            put_value (json, NULL, report->column[at].type,
                       report_cell (report, row, at));
        }
        json_end_object (json);
        render_drain (options, json->out);
    }
    json_end_array (json);
    for (size_t i = 0; i < report->order_count; i++)
        buffer_done (&key[i]);
    free (key);
}

static bool is_named_total (const report_t *report, const char *name)
{
    for (size_t i = 0; i < report->named_total_count; i++) {
        if (!strcmp (report->named_total[i].name, name))
            return true;
    }
    return false;
}

/* A name stands once: a total that the report names goes before the sum of the
 * column of that name. */
static void put_totals (json_t *json, const report_t *report)
{
    json_object (json, "totals");
    for (size_t i = 0; report->total && i < report->order_count; i++) {
        size_t at = report->order[i];
        if (!report->column[at].is_key && report->total[at]
            && !is_named_total (report, report->column[at].name))
            put_value (json, report->column[at].name, report->column[at].type,
                       report->total[at]);
    }
    for (size_t i = 0; i < report->named_total_count; i++) {
        const report_total_t *total = &report->named_total[i];
        put_value (json, total->name, total->type, total->value);
    }
    json_end_object (json);
}

/* The answer, where the report has one in a few words. */
static void put_figures (json_t *json, const report_t *report)
{
    if (report->figure_count == 0)
        return;
    json_array (json, "figures");
    for (size_t i = 0; i < report->figure_count; i++) {
        json_object (json, NULL);
        json_string (json, "title", report->figure[i].title);
        json_string (json, "value", report->figure[i].value);
        json_string (json, "hint", report->figure[i].hint);
        if (report->figure[i].sure)
            json_string (json, "sure", report->figure[i].sure);
        json_end_object (json);
    }
    json_end_array (json);
}

static void put_notes (json_t *json, const report_t *report)
{
    json_array (json, "notes");
    for (size_t i = 0; i < report->note_count; i++) {
        json_object (json, NULL);
        json_string (json, "level",
                     note_is_warning (report->note[i].level) ? "warning"
                                                             : "information");
        json_string (json, "text", report->note[i].text);
        json_end_object (json);
    }
    json_end_array (json);
}

static void put_proofs (json_t *json, const report_t *report)
{
    json_array (json, "proof");
    for (size_t i = 0; i < report->proof_count; i++) {
        const report_proof_t *proof = &report->proof[i];
        json_object (json, NULL);
        json_string (json, "title", proof->title);
        json_bool (json, "holds", proof->holds);
        json_array (json, "lines");
        for (size_t k = 0; k < proof->line_count; k++) {
            json_object (json, NULL);
            json_string (json, "label", proof->line[k][0]);
            json_string (json, "value", proof->line[k][1]);
            json_end_object (json);
        }
        json_end_array (json);
        json_end_object (json);
    }
    json_end_array (json);
}

/* Percentages. */
static void put_coverage (json_t *json, const report_t *report)
{
    json_object (json, "coverage");
    for (size_t i = 0; i < report->coverage_count; i++)
        json_number (json, report->coverage[i][0], report->coverage[i][1]);
    json_end_object (json);
}

void render_json (const report_t *report, const render_options_t *options,
                  buffer_t *out)
{
    json_t json = JSON_INIT (out);

    json_object (&json, NULL);
    json_string (&json, "report", report->name);
    json_string (&json, "title", report->title);
    put_pairs (&json, "parameters", report->parameter, report->parameter_count);
    put_figures (&json, report);
    put_columns (&json, report);
    put_rows (&json, report, options);
    put_totals (&json, report);
    put_notes (&json, report);
    put_proofs (&json, report);
    put_coverage (&json, report);
    put_pairs (&json, "provenance", report->provenance,
               report->provenance_count);
    json_end_object (&json);
}
