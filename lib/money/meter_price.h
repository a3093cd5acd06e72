/*
 * meter_price.h: what a bill by meters is made of: the machines' energy, with PUE,
 * at each price that their tariff has in the period. Pure.
 */
#ifndef GL_MONEY_METER_PRICE_H
#define GL_MONEY_METER_PRICE_H

#include "money/meter.h"

typedef struct {
    mpq_t per_kwh;
    mpq_t kwh; /* with PUE; within a reading evenly */
} meter_price_t;

typedef struct {
    meter_price_t *price; /* the dearest first */
    size_t count;
} meter_prices_t;

/* Of a balance that is `priced`: kWh and kWh x price add up to its with_pue and
 * bill. Freed by meter_prices_free(). */
void meter_prices (const site_t *site, period_t period,
                   const meter_reading_t *readings, size_t count,
                   meter_prices_t *ret_prices);
void meter_prices_free (meter_prices_t *prices);

#endif /* !GL_MONEY_METER_PRICE_H */
