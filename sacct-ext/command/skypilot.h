/*
 * skypilot.h: what a cluster's GPUs cost, in the columns of SkyPilot's catalogues
 * (docs/formats/skypilot.md). Pure: the site and the instant are given.
 */
#ifndef GL_SKYPILOT_H
#define GL_SKYPILOT_H

#include <stdint.h>

#include "report/report.h"
#include "site/site.h"

/* A row for each cluster, pool, type of device and count that fits a node, at
 * the prices in force at `now`; of one cluster, or NULL: all. What has no price
 * has no row, and a note says why. Yours: report_free(). */
report_t *skypilot_report (const site_t *site, const char *cluster,
                           int64_t now);

#endif /* !GL_SKYPILOT_H */
