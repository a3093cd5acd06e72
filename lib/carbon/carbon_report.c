#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon_page.h"
#include "carbon/carbon_report.h"
#include "ledger/cube.h"
#include "ledger/slice_keys.h"

static const fields_t *const fields = &bill_fields[BILL_CARBON];

int carbon_report_check (const report_query_t *query, gl_error_t *error)
{
    return slice_keys_check (query, "carbon", error);
}

/* The columns behind the keys. */
struct places {
    size_t hours;
    size_t energy; /* the first of carbon_columns() */
    size_t least;
};

static struct places add_columns (report_t *report, const report_query_t *query)
{
    struct places at;

    report_key_columns (report, query);
    at.hours
        = report_column (report, "gpu_hours", "GPU hours", COLUMN_HOURS, false);
    report_column_help (report, at.hours,
                        "Hours of physical GPUs that jobs had.");
    at.energy = carbon_columns (report);
    at.least = report_column (report, "best_start_co2e_kg",
                              "At best start kg CO2e", COLUMN_MASS, false);
    report_column_help (report, at.least,
                        "The least that the energy would have caused if each "
                        "job had begun some hours later.");
    return at;
}

static void put_row (report_t *report, const struct places *at,
                     const bill_carbon_t *row)
{
    report_put_hours (report, at->hours, row->gpu_seconds);
    carbon_put (report, at->energy, row);
    if (mpq_sgn (row->least_grams) > 0 && mpq_sgn (row->unknown_kwh) == 0)
        carbon_put_kg (report, at->least, row->least_grams);
}

static void put_keys (report_t *report, const report_query_t *query,
                      const bill_carbon_t *row)
{
    const char *text[KEYS_MAX];

    for (size_t i = 0; i < query->by.count; i++)
        text[i] = carbon_row_key (row, query->by.id[i]);
    report_put_keys (report, query, text);
}

static void add_figures (report_t *report, const bill_carbon_t *all)
{
    GL_AUTOFREE char *kwh = exact_text (all->facility_kwh, 6);
    GL_AUTOFREE char *known
        = report_coverage_text (all->known_seconds, all->gpu_seconds);
    GL_AUTOFREE char *hint
        = xasprintf ("kWh with PUE; the energy of %s %% of the GPU hours was "
                     "measured",
                     known ? known : "0.00");

    carbon_emissions_figure (report, all, NULL, NULL);
    report_figure (report, "Energy",
                   carbon_energy_is_unknown (all) ? NULL : kwh, hint,
                   COLUMN_ENERGY);
}

/* --- other hours -------------------------------------------------------------- */

static void note_best (report_t *report, const bill_carbon_t *all,
                       int64_t within)
{
    mpq_t less, kg;

    if (mpq_sgn (all->series_kwh) == 0)
        return;
    mpq_inits (less, kg, NULL);
    mpq_sub (less, all->grams, all->least_grams);
    exact_add_scaled (kg, less, 1, 1000);
    GL_AUTOFREE char *percent = report_percent_text (less, all->grams);
    GL_AUTOFREE char *text = exact_text (kg, 1);
    report_note (
        report, NOTE_INFORMATION,
        "If each job had begun at the best full hour of the next %lld, "
        "the energy would have caused at most %s kg CO2e less (%s "
        "%%). Whether GPUs were free then is not considered; hours in "
        "gaps of the series have the factor.",
        (long long)within, text, percent ? percent : "0.00");
    mpq_clears (less, kg, NULL);
}

/* --- the page ------------------------------------------------------------------- */

static bool passes (const void *row, void *arg)
{
    const report_query_t *query = arg;

    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *filter = &query->filters[i];
        if (carbon_key_field (filter->key)
            && !report_filter_passes (filter,
                                      carbon_row_key (row, filter->key)))
            return false;
    }
    return true;
}

static cube_t *rows_by (const char *names, const report_query_t *query,
                        const bill_t *bill)
{
    cube_t *cube = cube_new (fields, names);
    size_t count;
    const bill_carbon_t *rows = bill_carbon (bill, &count);

    cube_where_wanted (cube, passes, (void *)query);
    cube_add_list (cube, rows, count);
    return cube;
}

static char *names_of (const report_query_t *query)
{
    buffer_t names = BUFFER_INIT;

    for (size_t i = 0; i < query->by.count; i++)
        buffer_printf (&names, "%s%s", i ? "," : "",
                       carbon_key_field (query->by.id[i]));
    return buffer_take (&names);
}

/* Of the rows that pass, as far as notes name it. */
static void add_notes (report_t *report, const report_query_t *query,
                       const bill_t *bill)
{
    cube_t *rows = rows_by (
        "month,pool,grid,factor,source,series,series_hours,gap_hours,"
        "embodied,embodied_source",
        query, bill);
    bill_carbon_t *row = xcalloc (cube_count (rows) + 1, sizeof (*row));
    size_t count = cube_count (rows);

    for (size_t i = 0; i < count; i++)
        row[i] = *(const bill_carbon_t *)cube_row (rows, i);
    carbon_notes (report, row, count, CARBON_REPORT);
    free (row);
    cube_free (rows);
}

report_t *carbon_report_make (const report_query_t *query, const bill_t *bill,
                              int64_t within)
{
    report_t *report = report_begin (query, "carbon", "GPU energy and CO2e");
    struct places at = add_columns (report, query);
    GL_AUTOFREE char *names = names_of (query);
    cube_t *rows = rows_by (names, query, bill);
    bill_carbon_t all;

    fields_init (fields, &all);
    cube_sum (rows, 0, cube_count (rows), &all);
    add_figures (report, &all);
    for (size_t i = 0; i < cube_count (rows); i++) {
        const bill_carbon_t *row = cube_row (rows, i);
        report_row (report);
        put_keys (report, query, row);
        put_row (report, &at, row);
    }
    report_totals (report);
    put_row (report, &at, &all);
    add_notes (report, query, bill);
    note_best (report, &all, within);
    report_sort (report);
    fields_clear (fields, &all);
    cube_free (rows);
    return report;
}
