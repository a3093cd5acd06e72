#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "carbon/carbon_page.h"

#define GRAMS_PER_KG 1000

static const fields_t *const fields = &bill_fields[BILL_CARBON];

/* --- columns and cells ------------------------------------------------------- */

enum { AT_MEASURED, AT_MODELLED, AT_FACILITY, AT_KNOWN, AT_CO2E, AT_EMBODIED };

static const column_info_t columns[] = {
    {"measured_kwh", "Measured kWh", COLUMN_ENERGY, false, false,
     "Energy by the counters of the GPUs."},
    {"modelled_kwh", "Modelled kWh", COLUMN_ENERGY, false, false,
     "Energy by `power` of the configuration: of the time that no counter "
     "covers, and of the rest of the nodes."},
    {"facility_kwh", "With PUE kWh", COLUMN_ENERGY, false, false,
     "Measured and modelled energy times the power usage effectiveness."},
    {"known_pct", "Measured %", COLUMN_PERCENT, false, false,
     "The share of the GPU hours whose energy was measured."},
    {"co2e_kg", "kg CO2e", COLUMN_MASS, false, false,
     "The energy with PUE times the carbon intensity of the grid."},
    {"embodied_co2e_kg", "Embodied kg CO2e", COLUMN_MASS, false, false,
     "The share of the making of the GPUs, spread evenly over their life. In "
     "addition to the emissions of energy."},
};

static const column_info_t factors[] = {
    {"factor", "Factor", COLUMN_WORDS, false, false,
     "Grams of CO2e for a kilowatt-hour of the grid."},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the factor comes from."},
};

static size_t add_columns (report_t *report, const column_info_t *infos,
                           size_t count)
{
    size_t first = report->column_count;

    report_columns (report, infos, count);
    return first;
}

size_t carbon_columns (report_t *report)
{
    _Static_assert(GL_ARRAY_SIZE (columns) == CARBON_COLUMNS,
                   "as pages expect them");
    return add_columns (report, columns, GL_ARRAY_SIZE (columns));
}

size_t carbon_factor_columns (report_t *report)
{
    return add_columns (report, factors, GL_ARRAY_SIZE (factors));
}

void carbon_put_kg (report_t *report, size_t column, mpq_srcptr grams)
{
    mpq_t kg;

    mpq_init (kg);
    exact_add_scaled (kg, grams, 1, GRAMS_PER_KG);
    report_put_exact (report, column, kg, 6);
    mpq_clear (kg);
}

bool carbon_energy_is_unknown (const bill_carbon_t *row)
{
    return mpq_sgn (row->facility_kwh) == 0 && mpq_sgn (row->gpu_seconds) > 0
           && mpq_cmp (row->unknown_seconds, row->gpu_seconds) >= 0;
}

/* All of that has a grid. */
static bool grams_are_known (const bill_carbon_t *row)
{
    return !carbon_energy_is_unknown (row) && mpq_sgn (row->unknown_kwh) == 0;
}

/* In kg; NULL: unknown. */
static char *kg_text (const bill_carbon_t *row, int digits)
{
    char *text;
    mpq_t kg;

    if (!grams_are_known (row))
        return NULL;
    mpq_init (kg);
    exact_add_scaled (kg, row->grams, 1, GRAMS_PER_KG);
    text = exact_text (kg, digits);
    mpq_clear (kg);
    return text;
}

void carbon_emissions_figure (report_t *report, const bill_carbon_t *now,
                              const bill_carbon_t *before, const char *month)
{
    GL_AUTOFREE char *kg = kg_text (now, 6);
    GL_AUTOFREE char *kwh = exact_text (now->facility_kwh, 1);
    GL_AUTOFREE char *last = before ? kg_text (before, 1) : NULL;
    GL_AUTOFREE char *measured
        = report_coverage_text (now->known_seconds, now->gpu_seconds);
    BUFFER_AUTO hint = BUFFER_INIT;

    if (before && mpq_equal (now->facility_kwh, now->unknown_kwh))
        return;
    buffer_add_text (&hint, "kg CO2e of the energy");
    if (before && !carbon_energy_is_unknown (now))
        buffer_printf (&hint, ", %s kWh, measured for %s %% of the GPU time",
                       kwh, measured ? measured : "0.00");
    if (last && mpq_sgn (before->gpu_seconds) > 0)
        buffer_printf (&hint, "; %s in %s", last, month);
    report_figure (report, "Emissions", kg, buffer_text (&hint), COLUMN_MASS);
}

void carbon_put (report_t *report, size_t first, const bill_carbon_t *row)
{
    if (!carbon_energy_is_unknown (row)) {
        report_put_exact (report, first + AT_MEASURED, row->measured_kwh, 6);
        report_put_exact (report, first + AT_MODELLED, row->modelled_kwh, 6);
        report_put_exact (report, first + AT_FACILITY, row->facility_kwh, 6);
    }
    report_put_made (
        report, first + AT_KNOWN,
        report_coverage_text (row->known_seconds, row->gpu_seconds));
    if (grams_are_known (row))
        carbon_put_kg (report, first + AT_CO2E, row->grams);
    if (mpq_sgn (row->embodied_seconds) > 0)
        carbon_put_kg (report, first + AT_EMBODIED, row->embodied_grams);
}

/* "335.4 g/kWh", "series gb.csv for 700.00 h, else 335.4 g/kWh for 44.00 h" */
void carbon_put_factor (report_t *report, size_t first,
                        const bill_carbon_t *row)
{
    if (!row->grid)
        return;
    report_put_made (
        report, first,
        row->series ? xasprintf ("series %s for %s hours; %s g/kWh for its "
                                 "gaps of %s hours",
                                 row->series, row->series_hours, row->factor,
                                 row->gap_hours)
                    : xasprintf ("%s g/kWh", row->factor));
    report_put_text (report, first + 1, row->source);
}

cube_t *carbon_by_factor (void)
{
    return cube_new (fields, "month,grid,factor,source,series,series_hours,"
                             "gap_hours");
}

/* --- notes --------------------------------------------------------------------- */

/* "Germany: 335.4 g CO2e per kWh. Source: Ember 2024. Location-based." */
static void note_factors (report_t *report, const bill_carbon_t *rows,
                          size_t count)
{
    cube_t *grids = cube_new (fields, "grid,factor,source,series");

    cube_add_list (grids, rows, count);
    for (size_t i = 0; i < cube_count (grids); i++) {
        const bill_carbon_t *g = cube_row (grids, i);
        if (g->grid)
            report_note (report, NOTE_SOURCE,
                         "%s: %s g CO2e per kWh%s. Source: %s. Location-based.",
                         g->grid, g->factor,
                         g->series ? " where the series has no value" : "",
                         g->source);
    }
    cube_free (grids);
}

static void note_series (report_t *report, const bill_carbon_t *rows,
                         size_t count, const bill_carbon_t *all)
{
    cube_t *grids = carbon_by_factor ();
    GL_AUTOFREE char *share
        = report_percent_text (all->series_kwh, all->facility_kwh);

    cube_add_list (grids, rows, count);
    for (size_t i = 0; i < cube_count (grids); i++) {
        const bill_carbon_t *g = cube_row (grids, i);
        if (g->series)
            report_note (report, NOTE_SOURCE,
                         "%s: the series %s has values for %s hours of %s; "
                         "%s hours are gaps.",
                         g->grid, g->series, g->series_hours, g->month,
                         g->gap_hours);
    }
    if (mpq_sgn (all->series_kwh) > 0)
        report_note (report, NOTE_SOURCE,
                     "The series of the grid has the intensity of %s %% of "
                     "the energy.",
                     share);
    cube_free (grids);
}

static bool is_gpu_time (const bill_carbon_t *row)
{
    return mpq_sgn (row->gpu_seconds) > 0;
}

static void note_embodied (report_t *report, const bill_carbon_t *rows,
                           size_t count, const bill_carbon_t *all)
{
    cube_t *pools = cube_new (fields, "pool,embodied,embodied_source");

    cube_add_list (pools, rows, count);
    for (size_t i = 0;
         mpq_sgn (all->embodied_seconds) > 0 && i < cube_count (pools); i++) {
        const bill_carbon_t *p = cube_row (pools, i);
        const char *pool = p->pool ? p->pool : key_info (KEY_POOL)->absent;
        if (p->embodied)
            report_note (report, NOTE_SOURCE,
                         "Embodied, pool %s: %s for each GPU. Source: %s.",
                         pool, p->embodied, p->embodied_source);
        else if (is_gpu_time (p))
            report_note_pool (report, NOTE_SOURCE, pool,
                              "not in the embodied CO2e, for lack of an entry "
                              "of `embodied`.");
    }
    cube_free (pools);
}

static void note_power (report_t *report, const bill_carbon_t *rows,
                        size_t count, note_level_t level)
{
    cube_t *pools = cube_new (fields, "pool");

    cube_add_list (pools, rows, count);
    for (size_t i = 0; i < cube_count (pools); i++) {
        const bill_carbon_t *p = cube_row (pools, i);
        GL_AUTOFREE char *share
            = report_percent_text (p->unknown_seconds, p->gpu_seconds);
        if (mpq_sgn (p->unknown_seconds) > 0)
            report_note (report, level,
                         "Pool %s has no entry of `power`: the energy of %s %% "
                         "of its GPU hours, which no counter measured, is "
                         "missing, and so is the PUE.",
                         p->pool ? p->pool : key_info (KEY_POOL)->absent,
                         share);
    }
    cube_free (pools);
}

/* The mean of the month, where `power` has one. */
static void note_pue (report_t *report, const bill_carbon_t *rows, size_t count)
{
    cube_t *pools = cube_new (fields, "pool");
    mpq_t q;

    mpq_init (q);
    cube_add_list (pools, rows, count);
    for (size_t i = 0; i < cube_count (pools); i++) {
        const bill_carbon_t *p = cube_row (pools, i);
        mpq_add (q, p->measured_kwh, p->modelled_kwh);
        if (mpq_sgn (q) <= 0 || mpq_equal (q, p->facility_kwh))
            continue;
        mpq_div (q, p->facility_kwh, q);
        GL_AUTOFREE char *pue = exact_text (q, 2);
        report_note_pool (report, NOTE_SOURCE,
                          p->pool ? p->pool : key_info (KEY_POOL)->absent,
                          "the power usage effectiveness (PUE) is %s.", pue);
    }
    report_note (report, NOTE_SOURCE,
                 "The energy is that of jobs: what GPUs draw while no job has "
                 "them is in no figure.");
    mpq_clear (q);
    cube_free (pools);
}

static void note_grid (report_t *report, const bill_carbon_t *all,
                       note_level_t level)
{
    GL_AUTOFREE char *kwh = exact_text (all->unknown_kwh, 1);

    if (mpq_sgn (all->unknown_kwh) > 0)
        report_note (report, level,
                     "No entry of `grid` says what %s kWh cause: add one for "
                     "this time and cluster.",
                     kwh);
}

void carbon_notes (report_t *report, const bill_carbon_t *rows, size_t count,
                   carbon_form_t form)
{
    note_level_t level
        = form == CARBON_REPORT ? NOTE_WARNING : NOTE_SOURCE;
    bill_carbon_t all;

    fields_init (fields, &all);
    for (size_t i = 0; i < count; i++)
        fields_add (fields, &all, &rows[i], 1);
    if (form == CARBON_REPORT || GL_ANY (rows, count, it, it->grid))
        note_grid (report, &all, level);
    note_power (report, rows, count, level);
    if (form != CARBON_LINES) {
        note_pue (report, rows, count);
        note_factors (report, rows, count);
        note_series (report, rows, count, &all);
    }
    note_embodied (report, rows, count, &all);
    fields_clear (fields, &all);
}
