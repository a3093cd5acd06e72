/*
 * publish.h: the published site: static pages of all months in one directory, for a web server
 * or a file share, which need no program and no script to be read.
 *
 *   index                    the site: its months, teams and pools
 *   month/2026-10            the month on one page, which may have a PDF next to it, as statements
 *                            have; month/2026-10-chargeback, month/2026-10-waste; if it is over
 *                            month/2026-10-decisions
 *   team/TEAM/index          what the team had to pay, month by month
 *   team/TEAM/2026-10        its statement; 2026-10-users, 2026-10-projects: their jobs;
 *                            2026-10-job-CLUSTER/JOBID: how the charge of a job is computed
 *   pool/POOL                what the pool cost and recovered
 *   utilization              of the last months
 *   closing                  whether the next month can be closed
 *   definitions, verify      terms, and hashes of closed months
 *
 * Closed months are written once: as long as nothing that they are made of changes, their files
 * stay. The same store and configuration give the same bytes.
 */
#ifndef GL_PUBLISH_PUBLISH_H
#define GL_PUBLISH_PUBLISH_H

#include "cli/cli.h"
#include "report/report.h"
#include "usage/query.h"

/* A report that verbs print, "utilization" or "demand", for the query's period, without keys.
 * An exit code; the reason has been reported. */
typedef int (*publish_report_f) (cli_t *cli, const char *name,
                                 const report_query_t *query,
                                 report_t **ret_report);

typedef struct {
    const char *dir;
    bool fresh; /* all pages are made again */
    bool pdf;   /* as publish.pdf */
    publish_report_f report;
    /* Of clouds as they were known at that instant, into the site. */
    int (*prices) (site_t *site, int64_t instant, gl_error_t *error);
} publish_t;

/* An exit code; the reason has been reported. */
int publish_site (cli_t *cli, const publish_t *publish);

#endif /* !GL_PUBLISH_PUBLISH_H */
