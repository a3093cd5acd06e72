/*
 * energy_balance.h: how what the GPUs counted, the rest of the nodes and a stated
 * residual add up to what the site's meters counted, and that to the utility's
 * bill: a block of the energy report.
 */
#ifndef GL_REPORT_ENERGY_BALANCE_H
#define GL_REPORT_ENERGY_BALANCE_H

#include "money/meter_price.h"
#include "report/heading.h"

/* Adds the block, and its figures as named totals, if some meter of machines or
 * of the facility was read in the period; of a bill at several prices, what falls on
 * each. */
void energy_balance_put (report_t *report, const report_query_t *query,
                         const meter_balance_t *balance,
                         const meter_prices_t *prices);

#endif /* !GL_REPORT_ENERGY_BALANCE_H */
