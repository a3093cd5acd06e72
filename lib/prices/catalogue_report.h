/*
 * catalogue_report.h: the pages of gpuledger prices.
 *
 * Each is a new report of the caller's. Texts are copied.
 */
#ifndef GL_PRICES_CATALOGUE_REPORT_H
#define GL_PRICES_CATALOGUE_REPORT_H

#include "prices/catalogue.h"
#include "report/report.h"

/* Which rows, and the day of the report. NULL: any. */
typedef struct {
    int64_t day;
    const char *gpu;         /* as of catalogue_is_gpu() */
    const char *provider;    /* its name */
    const char *plan;        /* as of catalogue_has_plan() */
    const char *path;        /* as of catalogue_in_path() */
    const catalogue_t *only; /* offers and days that are in it, too */
} catalogue_query_t;

/* The day's price of one GPU for an hour, by model, cheapest first: a row for each
 * provider, instance and region with its plans side by side. Prices that have
 * expired are left out, and a warning says how many. */
report_t *catalogue_list_report (const catalogue_t *catalogue,
                                 const catalogue_query_t *query);
/* Every row, with the change from the one before of the same offer. */
report_t *catalogue_history_report (const catalogue_t *catalogue,
                                    const catalogue_query_t *query);
/* The same of a catalogue of kind CATALOGUE_EGRESS: a row for each provider, region
 * and tier. */
report_t *catalogue_egress_list (const catalogue_t *catalogue,
                                 const catalogue_query_t *query);
report_t *catalogue_egress_history (const catalogue_t *catalogue,
                                    const catalogue_query_t *query);
report_t *catalogue_check_report (const catalogue_findings_t *findings,
                                  int64_t day);

#endif /* !GL_PRICES_CATALOGUE_REPORT_H */
