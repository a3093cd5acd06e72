/*
 * waste_private.h: between waste_report.c, which counts the wasted time of jobs, and
 * waste_page.c, which makes the page and the lines of it, and waste_rows.c, which has it as
 * rows of a month. The report owns all of this.
 */
#ifndef GL_WASTE_WASTE_PRIVATE_H
#define GL_WASTE_WASTE_PRIVATE_H

#include "waste/waste_report.h"

struct group; /* of waste_report.c, as struct cause is */

/* A job with what it wasted in a month by one cause. */
struct job {
    const char *what, *month, *team, *user;
    char *cluster;
    uint64_t id_job;
    uint64_t devices; /* at most at a time */
    char *others;     /* "failed=5400,idle_spare=1/2": seconds of its other causes, or of
                         all of them where `what` is the largest one; NULL: none */
    mpq_t seconds;
    mpz_t units;
};

/* The jobs that wasted most by a cause, the largest first. */
struct top {
    const char *what;
    struct job job[WASTE_JOBS];
    size_t count;
};

/* A month in the making; its usage, or the rows that it was given, have the texts of all rows. */
struct month {
    usage_query_t usage_query;
    usage_t *usage;
    bill_t *rows;
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
/* The list takes the job, or frees it where it has larger ones. */
void waste_top_take (struct top *top, struct job *job);
/* Hours with two decimals. Yours to free. */
char *waste_hours_text (mpq_srcptr seconds);

#endif /* !GL_WASTE_WASTE_PRIVATE_H */
