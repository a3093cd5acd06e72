/*
 * meter.h: what was measured in addition to the GPUs' own counters, and how it adds up
 * (docs/guides/cost-book.md):
 *
 *   devices under jobs + devices idle + rest of the nodes + residual
 *     = energy of the machines, by their meters;   x PUE = the utility's bill
 *
 * The residual is stated, never spread. What nobody measured has no figure, and
 * is never 0. Readings that lie in a period in part count by time. Pure.
 */
#ifndef GL_MONEY_METER_H
#define GL_MONEY_METER_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "site/segment.h"
#include "site/site.h"

/* All meters of one sort together, in a period. */
typedef struct {
    bool known;         /* the site has one, and something was read */
    mpq_t kwh;
    mpq_t covered;      /* share of the period that readings speak of, of all
                           these meters on average */
} meter_sum_t;

typedef struct {
    mpq_t allocated; /* kWh of GPUs, by their counters */
    mpq_t idle;
    mpq_t unmatched; /* under jobs that accounting does not have */
    bool devices_known;
    bool rest_known; /* rest of the nodes: by BMCs, else as `power` has it */
    bool rest_metered;
    mpq_t rest;
    meter_sum_t nodes;
    meter_sum_t machines;
    meter_sum_t facility;
    mpq_t residual; /* machines less all of the above */
    bool priced;    /* one PUE and one tariff hold wherever power is drawn */
    mpq_t with_pue; /* kWh: machines x PUE */
    mpq_t bill;     /* and its price */
} meter_balance_t;

void meter_balance_init (meter_balance_t *balance);
void meter_balance_clear (meter_balance_t *balance);

/*
 * Into an initialised balance whose `allocated`, `idle`, `unmatched` and `devices_known`
 * are set. Readings of meters that the site does not name count nothing. -1 if
 * a node list cannot be read.
 */
int meter_balance (const site_t *site, period_t period,
                   const meter_reading_t *readings, size_t count,
                   meter_balance_t *balance, gl_error_t *error);

#endif /* !GL_MONEY_METER_H */
