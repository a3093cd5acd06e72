/*
 * utilization_private.h: shared by the files of the utilization report:
 *
 *   utilization.c         what is added, and capacity by the keys of the rows
 *   utilization_report.c  columns, rows, how they add up, notes and figures
 *
 * Time is in GPU-seconds, exact. Texts of keys are copies, freed with the
 * utilization; nothing here fails.
 */
#ifndef GL_REPORT_UTILIZATION_PRIVATE_H
#define GL_REPORT_UTILIZATION_PRIVATE_H

#include <uthash.h>

#include "report/utilization.h"

/* Capacity by the texts of some keys. */
struct group {
    char *id;            /* the texts, joined */
    char *key[KEYS_MAX]; /* NULL: absent */
    capacity_sum_t sum;
    bool cpus_told; /* some pool tells the CPUs or memory of its nodes */
    UT_hash_handle hh;
};

/* What one reservation kept and no job used. */
struct kept {
    char *id; /* its number, name and accounts, joined */
    char *name;
    char *accounts;
    mpq_t gpu_seconds;
    UT_hash_handle hh;
};

struct utilization {
    report_query_t asked;        /* its period ends with the facts */
    const report_query_t *query; /* `asked` */
    bool goes_on;                /* the period was longer */
    kinds_t *kinds;
    capacity_t *capacity;
    usage_query_t usage_query;
    usage_t *usage;
    key_list_t by;        /* the query's keys that capacity has */
    struct group *groups; /* by these */
    struct group *pools;  /* by pool */
    struct kept *kept;
    bool of_rollups;      /* which bring the capacity */
    bool of_cpus;         /* pools of CPUs alone: hours are CPU-hours */
};

/* Time without a job has the key, too. */
bool utilization_has_key (key_id_t key);
/* So it has all that the query groups and filters by: rows are of capacity, else
 * of what was allocated to jobs. */
bool utilization_of_capacity (const report_query_t *query);

/* After the last fact, unless rollups brought it: capacity into `groups`, `pools`
 * and `kept`. */
void utilization_group (utilization_t *utilization);
/* The group of these texts, in the order of `by`; NULL: there is none. Borrowed. */
struct group *utilization_find (const utilization_t *utilization,
                                const char *const *key, size_t count);

#endif /* !GL_REPORT_UTILIZATION_PRIVATE_H */
