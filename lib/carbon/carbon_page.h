/*
 * carbon_page.h: energy and CO2e on pages: the columns, cells and notes that report
 * carbon, statements and the summary share. Pure.
 */
#ifndef GL_CARBON_CARBON_PAGE_H
#define GL_CARBON_CARBON_PAGE_H

#include "ledger/bill.h"
#include "ledger/cube.h"
#include "report/report.h"

/* Measured, modelled and facility energy, emissions, embodied emissions. The first of
 * them; they come before rows. */
#define CARBON_COLUMNS 6
size_t carbon_columns (report_t *report);
/* Behind these where wanted: factor and source, of rows by carbon_by_factor(). */
size_t carbon_factor_columns (report_t *report);

/* The cells of a row or a sum; what is unknown is left out. */
void carbon_put (report_t *report, size_t first, const bill_carbon_t *row);
void carbon_put_factor (report_t *report, size_t first,
                        const bill_carbon_t *row);
/* Neither counters nor `power` have any of it: a 0 would mean nothing. */
bool carbon_energy_is_unknown (const bill_carbon_t *row);
void carbon_put_kg (report_t *report, size_t column, mpq_srcptr grams);

/* "Emissions", in kg, with the energy and what `before` has, last month's sum; NULL: with
 * neither, and also where no grid has the emissions of any energy. */
void carbon_emissions_figure (report_t *report, const bill_carbon_t *now,
                              const bill_carbon_t *before, const char *month);

/* Rows by their grid and what is said of it. */
cube_t *carbon_by_factor (void);

/* Where figures come from, and what is missing: on a page that is of other things, too,
 * the latter as information, and without a word of `grid` at a site that has none. */
typedef enum {
    CARBON_REPORT,
    CARBON_PAGE,
    CARBON_LINES, /* a page with carbon_factor_columns() */
} carbon_form_t;
void carbon_notes (report_t *report, const bill_carbon_t *rows, size_t count,
                   carbon_form_t form);

#endif /* !GL_CARBON_CARBON_PAGE_H */
