/*
 * tariff.h: the price of energy at every instant.
 *
 * A tariff has a price, and times of use: hours of some days of its zone at
 * another price, the first of which counts. All is computed on instants: a day
 * is what the zone's clock says, of 23, 24 or 25 hours, and hours that a clock
 * skips or shows twice are as long as they are. Hours that pass midnight belong
 * to the day on which they begin. Pure.
 */
#ifndef GL_MONEY_TARIFF_H
#define GL_MONEY_TARIFF_H

#include "site/site.h"

/* Each stretch of `period` (within the tariff's own) in which one price holds, in
 * the order of time: 0 that of the tariff, i + 1 that of times[i]. */
typedef void (*tariff_f) (period_t period, size_t price, void *arg);
void tariff_each (const site_t *site, const site_tariff_t *tariff,
                  period_t period, tariff_f callback, void *arg);

/* Seconds of `period` (within the tariff's own) for each price: [0] that of the
 * tariff, [i + 1] that of times[i]. `ret_seconds` has time_count + 1. */
void tariff_seconds (const site_t *site, const site_tariff_t *tariff,
                     period_t period, int64_t *ret_seconds);
mpq_srcptr tariff_price (const site_tariff_t *tariff, size_t i);

/* The mean price of a kWh of even load over the period; the period is not
 * empty. */
void tariff_mean_price (const site_t *site, const site_tariff_t *tariff,
                        period_t period, mpq_t ret_price);

#endif /* !GL_MONEY_TARIFF_H */
