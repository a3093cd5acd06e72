/*
 * publish_private.h: what the files of publish.h share. publish.c reads the months and writes the
 * pages of each; then site_pages.c writes those of the site.
 */
#ifndef GL_PUBLISH_PUBLISH_PRIVATE_H
#define GL_PUBLISH_PUBLISH_PRIVATE_H

#include "cli/query_options.h"
#include "month/month.h"
#include "month/statements.h"
#include "publish/month_pages.h"
#include "publish/publish.h"
#include "publish/verdicts.h"

/* A month of the site. */
struct known_month {
    char name[MONTH_SIZE];
    char hash[MONTH_HASH_SIZE]; /* of its closing; "": open */
    char *disputes;             /* rows, as text */
};

/* The site in the making; all borrowed or owned by publish_site(). */
struct publishing {
    cli_t *cli;
    const publish_t *of;
    const site_t *site;
    store_t *store;
    periods_t *periods;
    query_options_t options;
    report_query_t query; /* of all months, for as-of and clusters */
    struct known_month *month;
    size_t month_count;
    page_site_t pages;
    char *logo;
    bool labelled; /* results_labelled() */
    period_t last;              /* month that is complete */
    statements_series_t series; /* of months whose pages were written, */
    wastes_sums_t wasted;       /* and what the last one wasted */
    char *waits; /* how long jobs waited, from that page; NULL: not known */
    char waited[MONTH_SIZE];   /* in that month */
    char closable[MONTH_SIZE]; /* the next month to close; "": none */
    size_t findings;           /* of its checks, with errors */
    top_list_t untagged;       /* its largest jobs without a project */
    report_t *
        decisions; /* of the last month that is over; NULL: not made, or none */
    verdicts_t verdicts; /* of the month whose decisions were made last */
};

/* Prints the error; the exit status. */
int publish_fail (const struct publishing *p, const gl_error_t *error);

/* The files that follow are for the readers of a team, or of the site (NULL), where access is by
 * groups; `arg`: struct publishing. */
int publish_own_files (void *arg, const char *team, gl_error_t *error);

/* Frees the report. An exit status, as those below. */
int publish_page (struct publishing *p, const page_t *page, report_t *report);

/* The last month with a page of decisions: it is over, so that its demand is that of a month. NULL:
 * none is, or the site has no GPUs to decide on. Borrowed. */
const struct known_month *publish_last_decided (const struct publishing *p);

/* Makes `decisions`, if they are not made yet. */
int publish_know_decisions (struct publishing *p, gl_error_t *error);

/* The site has a month that is complete: the page of demand is of the last one. */
bool publish_has_demand (const struct publishing *p);

/* The pages of the site, the first page last. */
int site_pages_write (struct publishing *p);

#endif /* !GL_PUBLISH_PUBLISH_PRIVATE_H */
