/* What the files of the plan share: what was measured of a pool. */
#ifndef GL_REPORT_PLAN_PRIVATE_H
#define GL_REPORT_PLAN_PRIVATE_H

#include "report/breakeven_report.h"
#include "report/plan.h"

typedef struct {
    const site_pool_t *pool; /* its first entry; borrowed */
    capacity_sum_t capacity;
    mpq_t allocated; /* GPU-seconds */
    mpq_t active;  /* of these: the devices' activity x time */
    mpq_t known;   /* and for how long it is known */
    mpq_t *demand; /* GPUs allocated, of each hour of the period */
    size_t hours;
    mpq_t *month;  /* GPU-hours a day, of each whole month of the period */
    size_t months;
    bool weights_known; /* of all devices that were allocated */
    bool has_cost;
    breakeven_t cost; /* where it has */
    const breakeven_cloud_t *cloud; /* compared with; NULL: none */
} plan_pool_t;

/* plan_report.c: the columns and sections of all pools. */
void plan_fill (report_t *report, const site_t *site,
                const plan_pool_t *pools, size_t count);

#endif /* !GL_REPORT_PLAN_PRIVATE_H */
