/*
 * render_opencost.h: the bill of a month in the form of OpenCost's allocations
 * (docs/formats/opencost.md).
 */
#ifndef GL_RENDER_OPENCOST_H
#define GL_RENDER_OPENCOST_H

#include <stddef.h>

#include "base/buffer.h"
#include "ledger/bill.h"
#include "render/json.h"
#include "report/usage_report.h"

/* A month: its bill, and its cells by bill_keys, of which efficiency is known. */
typedef struct {
    const site_t *site;
    period_t period;
    const bill_t *bill;
    const usage_cell_t *cells;
    size_t cell_count;
} opencost_month_t;

/* All up to the first month: then render_opencost_month() for each, in order,
 * and the end. */
void render_opencost_begin (json_t *json, const site_t *site);
void render_opencost_month (json_t *json, const opencost_month_t *month);
void render_opencost_end (json_t *json);

#endif /* !GL_RENDER_OPENCOST_H */
