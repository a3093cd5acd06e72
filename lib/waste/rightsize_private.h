/* rightsize_private.h: between rightsize.c (families from facts), rightsize_advice.c and
 * rightsize_report.c (the page). */
#ifndef GL_WASTE_RIGHTSIZE_PRIVATE_H
#define GL_WASTE_RIGHTSIZE_PRIVATE_H

#include <uthash.h>

#include "ledger/cube.h"
#include "waste/rightsize.h"

/* Of families without a name of their own, which are not judged. */
#define RIGHTSIZE_OTHER_NAMES "(other names)"

typedef enum {
    ADVICE_NONE,
    ADVICE_FEWER_GPUS,
    ADVICE_HALF_GPUS,
    ADVICE_FEWER_SCALING,
    ADVICE_SLICE,
    ADVICE_SMALLER_GPU,
    ADVICE_PIPELINE,
    ADVICE_COUNT,
} advice_id_t;

typedef struct {
    advice_id_t id;
    char *text;  /* "Ask for 2 GPUs instead of 4."; NULL: none */
    mpq_t share; /* of the hours that it saves; 0: nothing that can be told */
} advice_t;

struct family {
    char *key; /* all of the following, with line ends between */
    char *user, *account, *name, *pool, *profile;
    uint64_t devices;
    char *gpu;     /* model of the pool; NULL: not told */
    bool is_whole; /* GPUs, not slices or shards */
    uint64_t jobs;
    uint64_t busy_most; /* devices that were busy in a job, at most */
    bool busy_unsure;   /* of some job not all devices were measured */
    mpq_t seconds;      /* of physical GPUs */
    mpq_t known;        /* of them: activity is known */
    mpq_t active;       /* of these: activity x time */
    mpq_t value;        /* of the seconds, in smallest units; 0: no price */
    mpq_t elapsed;      /* seconds of run time of all jobs */
    int64_t memory_max, memory_total; /* MiB; -1: not known */
    advice_t advice;
    UT_hash_handle hh;
};

struct price {
    char *pool, *gpu;
    mpq_t hour; /* the average list price of a GPU hour, in smallest units */
};

struct rightsize {
    const report_query_t *query;
    struct rightsize_month **month;
    size_t month_count;
    cube_t *prices; /* of the month */
    struct family *families;
    struct price *price; /* of pools, as of the last month that has one */
    size_t price_count;
    const struct family *same; /* the first of the same work, by key */
    /* the segment in hand */
    const segment_t *segment;
    uint64_t busy, watched; /* devices */
    uint64_t last_job;
    char *name;
};

/* A share of its hours, and of its value in smallest units, rounded; known: of the part
 * that was measured. */
void rightsize_saving (const struct family *family, bool known, mpq_t ret_seconds,
                       mpz_t ret_units);
/* "fewer_gpus"; NULL: none. */
const char *rightsize_word (advice_id_t advice);
/* Enough jobs or hours, of which at least half were measured. */
bool rightsize_known (const struct family *family);
/* Chooses the advice of each family that is known well enough. */
void rightsize_advise (rightsize_t *rightsize);

#endif /* !GL_WASTE_RIGHTSIZE_PRIVATE_H */
