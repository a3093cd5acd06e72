/*
 * cost_peak.h: the highest load in a month of all that is paid by one tariff, by
 * meters or modelled, and what a pool drew just then. Private to cost_*.c.
 */
#ifndef GL_MONEY_COST_PEAK_H
#define GL_MONEY_COST_PEAK_H

#include "money/cost_private.h"

/* All that is drawn in a month by the pools that pay by one tariff. */
struct demand {
    const site_t *site;
    const cost_inputs_t *inputs;
    const char *tariff;
    period_t month;
    struct drawn { /* evenly */
        const char *pool;
        period_t period;
        mpq_t kw; /* with PUE */
    } *drawn;
    size_t consumed_count;
    struct metered { /* by GPUs, by quarter of an hour */
        const site_power_t *power;
        const pool_load_t *load;
        mpz_t weight; /* PUE x `scale` */
    } *metered;
    size_t metered_count;
    mpz_t scale;
};

/* The highest load. */
struct peak {
    mpq_t kw;
    period_t period;
    bool by_meters;
    int64_t read; /* seconds of the month that these tell */
};

/* Into a demand whose first four members are set. demand_clear after, even of one
 * that failed. */
int demand_init (struct demand *demand, gl_error_t *error);
void demand_clear (struct demand *demand);

/* The first entry of its name, of a pool that pays by the tariff. */
bool demand_payer (const struct demand *demand, size_t pool);

/* The utility's meter, else those of the machines with PUE; where none tells,
 * and without any, the modelled load. Into an initialised peak. */
void demand_peak (const struct demand *demand, struct peak *peak);

/* kW of a pool, or of all (NULL), at the beginning of a period of whole quarters of
 * an hour; of what was measured, the mean of the period. */
void demand_kw (const struct demand *demand, const char *pool, period_t period,
                mpq_t ret_kw);
/* The quarters that an interval touches. */
period_t demand_quarters (period_t period);
/* The part of the month of which facts speak. */
period_t demand_known (const struct demand *demand);

#endif /* !GL_MONEY_COST_PEAK_H */
