/*
 * waste_private.h: between waste_report.c, which counts the wasted time of jobs, and
 * waste_page.c, which makes the page and the lines of it. The report owns all of this.
 */
#ifndef GL_WASTE_WASTE_PRIVATE_H
#define GL_WASTE_WASTE_PRIVATE_H

#include "waste/waste_report.h"

struct group; /* of waste_report.c, as struct cause is */

/* A job with what it wasted in a month by one cause. */
struct job {
    const char *what, *month, *pool, *team, *user;
    char *cluster;
    uint64_t id_job;
    uint64_t devices; /* at most at a time */
    char *others;     /* its other causes, with hours; NULL: none */
    mpq_t seconds;
    mpz_t units;
};

/* The jobs that wasted most by a cause, the largest first. */
struct top {
    const char *what;
    struct job job[WASTE_JOBS];
    size_t count;
};

/* A month in the making, whose usage has the texts of all rows. */
struct month {
    usage_query_t usage_query;
    usage_t *usage;
    char *name;
};

/* There are a million jobs, with a row or two each. */
struct causes {
    struct cause *item; /* `size` of them are initialised */
    size_t count, size;
};

struct waste_report {
    const report_query_t *query;
    struct month **month;
    size_t month_count;
    cube_t *prices;            /* of the month */
    struct group *groups;      /* of the month */
    size_t group_by[KEYS_MAX]; /* keys of a slice */
    size_t group_by_count;
    struct causes of_job;
    cube_t *waste;     /* with prices, of all months */
    cube_t *allocated; /* by the same keys */
    text_list_t pools; /* of capacity */
    struct top *top;
    size_t top_count;
    struct top largest; /* by all causes; `what` of a job is its largest one */
    uint64_t id_job;    /* the current one; 0: none */
    char *cluster;
    uint64_t devices;
};

/* The largest jobs of the cause; empty: none is known. */
struct top *waste_top_of (waste_report_t *waste, const char *what);
/* Hours with two decimals. Yours to free. */
char *waste_hours_text (mpq_srcptr seconds);

#endif /* !GL_WASTE_WASTE_PRIVATE_H */
