/* What the files of the report share. */
#ifndef GL_DEMAND_DEMAND_PRIVATE_H
#define GL_DEMAND_DEMAND_PRIVATE_H

#include <uthash.h>

#include "demand/demand.h"
#include "demand/changes.h"
#include "demand/tally.h"
#include "planning/seasonal.h"

/* GPUs are integers of this part of a GPU: slices of 1 to 10 and of 100 parts are exact,
 * others are rounded. */
#define GPU_PARTS 50400

/* --- waits ------------------------------------------------------------------ */

typedef enum {
    WAIT_STARTED,
    WAIT_WAITING,   /* at the end of the period */
    WAIT_CANCELLED, /* it left the queue without a start */
    WAIT_COUNT,
} wait_end_t;

/* Jobs with one partition, size or team. */
typedef struct {
    char *name;
    size_t order; /* of sizes */
    uint64_t jobs[WAIT_COUNT];
    tally_t waits; /* seconds: how many jobs, without cancelled ones */
    unsigned __int128 part_seconds; /* that they waited within the period */
    UT_hash_handle hh;
} wait_group_t;

typedef enum {
    WAITS_BY_PARTITION,
    WAITS_BY_SIZE,
    WAITS_BY_TEAM,
    WAITS_OF_ALL,
    WAITS_COUNT,
} waits_by_t;

/* --- demand ------------------------------------------------------------------ */

enum { DEMAND_RUNNING, DEMAND_WAITING, DEMAND_SUM, DEMAND_COUNT };

/* Parts of GPUs x seconds of a full hour. */
typedef struct {
    int64_t start;
    int64_t seconds;
    int64_t part_seconds[DEMAND_COUNT];
} demand_hour_t;

typedef struct {
    demand_hour_t *hour;
    size_t count;
    int64_t most[DEMAND_COUNT]; /* parts of GPUs at one moment, */
    int64_t when[DEMAND_COUNT]; /* and its first time */
    __int128 running; /* part-seconds of the period */
    __int128 waiting;
} demand_curve_t;

/* demand_curve.c: from what changes at each instant, within the period. */
void demand_curve_make (demand_curve_t *curve, const zone_t *zone,
                        period_t period, changes_t *changes);
void demand_curve_clear (demand_curve_t *curve);
/* The value that at least `percent` of the hours are not above; parts of GPUs x seconds
 * of an hour of full length. */
int64_t demand_curve_quantile (const demand_curve_t *curve, unsigned which,
                               unsigned percent);

/* --- forecast ----------------------------------------------------------------- */

/* Days at the end whose time down is that to plan with. */
#define DOWN_DAYS 28
/* Days of the forecast. */
#define FORECAST_DAYS 90
/* Nothing is said about later years. */
#define YEARS_AHEAD 10

/* Of a pool, what was and what is to be expected. Times are milliseconds of a GPU. */
typedef struct {
    char *name;     /* NULL: no pool covers it */
    int64_t *day;   /* of each day of the history */
    size_t first;   /* the first of them with usage */
    size_t end;     /* behind the last full one */
    int64_t last_day; /* the last with a capacity, */
    mpq_t capacity; /* and that of it, in GPU-seconds */
    mpq_t gpus;     /* and in GPUs */
    mpq_t all, down; /* capacity of DOWN_DAYS, and of it down */
    bool tested;
    seasonal_test_t test;
    bool tested_ahead; /* likewise of FORECAST_DAYS */
    seasonal_test_t test_ahead;
    seasonal_t fit; /* where it was tested: by the best method */
} demand_pool_t;

/* demand_forecast.c: the days from `first` on; 0: none. */
static inline const int64_t *demand_pool_days (const demand_pool_t *pool,
                                               size_t *ret_count)
{
    *ret_count = pool->end > pool->first ? pool->end - pool->first : 0;
    return pool->day + pool->first;
}
void demand_pool_add (demand_pool_t *pool, size_t at, const mpq_t gpu_seconds);
void demand_pool_capacity (demand_pool_t *pool, period_t day, bool recent,
                           const capacity_sum_t *sum);
/* After the last day. */
void demand_pool_test (demand_pool_t *pool);

/* --- all ------------------------------------------------------------------------ */

struct demand {
    report_query_t query; /* the caller's, of full hours up to as-of */
    const plan_query_t *asked;
    kinds_t *kinds;
    wait_group_t *waits[WAITS_COUNT]; /* by name */
    changes_t *changes; /* of running, of waiting */
    demand_curve_t curve;
    period_t history;
    demand_pool_t *pool;
    size_t pool_count;
    char *last_cluster; /* of the last segment, */
    uint64_t last_job;  /* its job, */
    int64_t resized;    /* and when it went on as another; 0: it did not */
    uint64_t from_submission; /* jobs of which the source does not say since when they
                                 could start */
    uint64_t on_hold;     /* jobs that could not start yet at the end */
    uint64_t unplaced;  /* jobs that started, without a time from which they could */
    uint64_t nameless;  /* jobs that waited for an unknown number of GPUs */
    bool slices;
    bool weights_known;
};

/* --- the page --------------------------------------------------------------------- */

#define BLOCK_HOURS 3
#define BLOCKS (24 / BLOCK_HOURS)

enum {
    AT_SECTION,
    AT_POOL,
    AT_ITEM,
    AT_TIME,
    AT_STARTED,
    AT_WAITING,
    AT_CANCELLED,
    AT_MEDIAN,
    AT_P95,
    AT_MEDIAN_SECONDS,
    AT_P95_SECONDS,
    AT_WAIT_HOURS,
    AT_WAIT_SHARE,
    AT_GPUS, /* in the order of DEMAND_RUNNING ... */
    AT_BLOCK = AT_GPUS + DEMAND_COUNT,
    AT_LEVEL = AT_BLOCK + BLOCKS,
    AT_LIMIT,
    AT_MONTHS,
    AT_REACHED,
    AT_HOURS,
    AT_PER_DAY,
    AT_CAPACITY,
    AT_HORIZON,
    AT_ORIGINS,
    AT_ERROR,
    AT_ERROR_SHARE,
    AT_TOTAL_SHARE,
    AT_USED,
    AT_COUNT,
};

typedef struct {
    demand_t *d;
    report_t *report;
    const char *section;
} demand_page_t;

/* demand_page.c: columns; a row of the section; cells. */
void demand_columns (report_t *report);
void demand_row (const demand_page_t *page, const char *item);
/* Parts of GPUs x seconds, as GPU-seconds. */
void demand_set_parts (mpq_t ret_seconds, __int128 part_seconds);
void demand_put_parts (const demand_page_t *page, size_t column,
                       __int128 part_seconds);
/* Milliseconds of a GPU / divisor. */
void demand_put_ms (const demand_page_t *page, size_t column,
                    unsigned __int128 value, uint64_t divisor);
/* Hours with one decimal, for sentences; yours to free. */
char *demand_hours_text (__int128 part_seconds);
char *demand_ms_text (unsigned __int128 value, uint64_t divisor);
/* Percent with two decimals; NULL: the whole is 0. */
char *demand_share_text (unsigned __int128 part, unsigned __int128 whole);

/* Its name, or the words for none. */
const char *demand_pool_name (const demand_pool_t *pool);

/* demand_outlook.c: when the limits are reached, the next days, the back-test. */
void demand_outlook (demand_page_t *page);

/* demand_report.c */
report_t *demand_report (demand_t *demand);

#endif /* !GL_DEMAND_DEMAND_PRIVATE_H */
