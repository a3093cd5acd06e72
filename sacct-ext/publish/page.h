/*
 * page.h: one page of a published site: its HTML within the site's frame, and its data as CSV
 * and JSON next to it.
 *
 * Paths are those of the page without an ending, from the site's root, with '/' between parts:
 * "team/vision/2026-10". Names in them are the plain letters, digits and _ - of a name, and other
 * bytes as =2F, so that a path is the same in a URL, a web server's rules and the file system.
 * An object belongs to one thread.
 */
#ifndef GL_PUBLISH_PAGE_H
#define GL_PUBLISH_PAGE_H

#include "base/buffer.h"
#include "pages/pages.h"
#include "publish/pseudonym.h"
#include "publish/tree.h"
#include "render/render.h"
#include "report/explain.h"
#include "report/report.h"
#include "site/site.h"

/* What the pages of a site share. Everything is borrowed. */
typedef struct {
    tree_t *tree;
    const site_t *site;
    pages_t *pages;      /* which months, teams and pools there are */
    const char *logo;    /* a data: URI; NULL: none */
    pseudonyms_t *users; /* NULL: users have their names */
    bool restricted;     /* who reads a team's pages may not see the others */
    bool pdf;            /* pages that are printed have a PDF, too */
    bool fresh;          /* all files are made again */
    struct page_names *known; /* pages of the month that is written */
    struct page_names *jobs;  /* its jobs that have one, by CLUSTER/JOBID */
} page_site_t;

/* A page. */
typedef struct {
    const char *path;
    const char *title; /* in the trail of the pages below it */
    const char *month; /* that it is of; NULL: of none */
    const char *team;  /* likewise; "(none)": of no team */
    const render_link_t
        *up; /* the pages above it, by path, without the index */
    size_t up_count;
    const render_link_t *near; /* other pages, by path */
    size_t near_count;
    const render_link_t *file; /* a file of another page, with its ending; NULL: none */
    const char *decisions; /* the page to which rows that repeat a decision lead */
    bool printed; /* it goes to people who want it on paper */
} page_t;

/* Adds a name as a part of a path. */
void page_path_name (buffer_t *out, const char *name);
/* "team/TEAM/MONTH"; month NULL: the history of the team. The caller frees all of these. */
char *page_path_team (const char *team, const char *month);
/* "team/TEAM/MONTH-KIND-NAME": of a job its page; of a user or project what page_know() leads
 * to a section of "team/TEAM/MONTH-users" or "-projects". */
char *page_path_part (const char *team, const char *month, const char *kind,
                      const char *name);
char *page_path_pool (const char *pool);
char *page_path_month (const char *month);
/* "month/MONTH-waste" */
char *page_path_waste (const char *month);
/* "month/MONTH-amounts" */
char *page_path_amounts (const char *month);
/* "month/MONTH-results", "team/TEAM/MONTH-results"; team NULL: of all. */
char *page_path_results (const char *team, const char *month);
/* "month/MONTH-decisions" */
char *page_path_decisions (const char *month);

/* The name of a user as pages show it; borrowed. NULL: pseudonyms_of() failed. */
const char *page_user (const page_site_t *site, const char *user,
                       gl_error_t *error);

/* Links to `path` lead to `to`, a file with its ending and perhaps a section, from now on until
 * page_forget(). */
void page_know (page_site_t *site, const char *path, const char *to);
/* The same of the page of a job, CLUSTER/JOBID, by its path. */
void page_know_job (page_site_t *site, const char *job, const char *path);
void page_forget (page_site_t *site);

/* Writes PATH.html, PATH.csv, PATH.json and, if the site has PDFs and the page is printed, PATH.pdf.
 * That is made where the bytes of PATH.html differ. The report is changed to what the site shows. */
int page_write (const page_site_t *site, const page_t *page, report_t *report,
                gl_error_t *error);
/* Writes PATH.html and PATH.json. */
int page_write_explanation (const page_site_t *site, const page_t *page,
                            const explain_t *explain, gl_error_t *error);

#endif /* !GL_PUBLISH_PAGE_H */
