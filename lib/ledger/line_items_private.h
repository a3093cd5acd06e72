/*
 * line_items_private.h: between line_items.c (lines of the bill, and segments)
 * and line_items_unallocated.c (all other rows), line_items_commitment.c
 * (entitlements) and line_items_split.c (how time that was not allocated is shared
 * out).
 */
#ifndef GL_LEDGER_DETAIL_PRIVATE_H
#define GL_LEDGER_DETAIL_PRIVATE_H

#include <uthash.h>

#include "ledger/cube.h"
#include "ledger/line_items.h"

/* Of a line: what a row has in addition to its time and what is billed of it. */
struct line_items_figures {
    mpz_t cost; /* in units of 10^-10 */
    mpz_t list_rate, rate;
    char *commitment; /* of an entitlement; NULL: none. And what is drawn: */
    mpz_t drawn, committed, prepaid, committed_rate;
    mpz_t given_drawn, given_committed, given_prepaid;
    mpq_t gres_seen;
    mpz_t given_cost, given_device_hours, given_gpu_hours, given_price_hours;
};

/* A line, and how much of it has been handed out. */
struct line_items_line {
    char *key;
    size_t pool;                      /* of detail.pool_months */
    mpq_t gpu_seconds, price_seconds; /* all of it, as below */
    mpq_t gpu_seen, price_seen;
    mpz_t billed, given_billed; /* in units of 10^-10 */
    struct line_items_figures *figures; /* NULL: jobs alone are wanted */
    UT_hash_handle hh;
};

/* A row in the making: of a line, in a piece of the current segment. */
struct line_items_pending {
    struct line_items_line *line;
    period_t period;
    const char *key[KEYS_MAX];
    uint64_t devices;
    mpq_t gres_seconds, gpu_seconds, price_seconds;
    const site_rate_t *rate;
    bool preemptible;
    measured_t measured;
};

/* The segment in hand. */
struct line_items_segment {
    line_items_t *detail;
    const segment_t *segment;
    const project_t *project;
    line_item_f callback;
    void *arg;
};

struct line_items_statement {
    char *name; /* NULL: on no statement */
    mpz_t owes; /* what the bill charges, in smallest units */
    mpz_t has;  /* what rows have, in units of 10^-10 */
};

/* Time that was not allocated and that is shared out: of a pool and class. */
struct line_items_origin {
    const char *pool, *cluster, *what; /* of rows of the bill */
    mpq_t whole, seen;                 /* GPU-seconds */
    mpz_t given;                       /* of 10^10 parts */
};

/* What one reservation kept unused. */
struct line_items_reserved {
    char *cluster, *name, *account;
    uint64_t id;
    mpq_t gpu_seconds;
};

/* A pool on a day. */
struct line_items_day {
    capacity_sum_t sum;
    mpq_t allocated; /* by job rows */
    mpq_t suspended;
    struct line_items_reserved *reserved;
    size_t reserved_count;
};

/* A job that a credit goes back to, and what else its segment tells. */
struct line_items_credited {
    char *reference;   /* CLUSTER/JOBID/SUBMIT */
    segment_t segment; /* numbers alone */
    UT_hash_handle hh;
};

/* An amount, and how much of it has been handed out, in units of 10^-10. */
struct line_items_portion {
    mpz_t total, given;
    mpq_t whole, seen;
};

/* What an entitlement has in the month, and its value where it is paid: handed
 * out in the order of lines, rows of the bill, and what has expired. */
struct line_items_value {
    const charge_payer_t *payer;
    bool is_paid;
    struct line_items_portion hours, money;
};

struct line_items_reservation {
    char *key; /* cluster, name */
    struct {
        uint64_t id;
        period_t period;
    } * at;
    size_t count;
    UT_hash_handle hh;
};

/* An account with a line. */
struct line_items_account {
    char *key; /* cluster, account */
    UT_hash_handle hh;
};

struct detail {
    const billing_t *billing;
    const report_query_t *query;
    const line_item_want_t *want; /* NULL: all rows */
    void *want_arg;
    struct line_items_account *accounts; /* where lines are wanted or not */
    period_t month, whole; /* whole: up to as-of */
    char month_name[ZONE_STAMP_SIZE];
    const pool_month_t *pool_months;
    size_t pool_count;
    size_t key_count; /* of the billing */
    buffer_t key;
    struct line_items_line *lines;
    usage_query_t usage_query;
    char *label;
    usage_t *usage;
    struct line_items_pending *pending;
    size_t pending_count, pending_size;
    cube_t *statements;
    int64_t *day_start;
    size_t day_count;
    struct line_items_day *days; /* pool by pool */
    struct line_items_reservation *reservations;
    struct line_items_credited *credited;
    bill_t *extra; /* rows that are no charges; entitlements that expire */
    struct line_items_origin *origins;
    size_t origin_count;
    cube_t *allocated; /* under no published rate: pool, account, cluster */
    char *commitment;  /* of the current row */
    struct line_items_value *values;
    size_t value_count;
    line_item_t row;
    char rate_card[ZONE_STAMP_SIZE]; /* of it */
    uint64_t poolless;
};

/* The team, or the account at a site without teams; NULL: none. */
const char *line_items_statement_of (const line_items_t *detail,
                                     const char *team, const char *account);
void line_items_statement_owes (line_items_t *detail, const char *statement,
                                mpz_srcptr units);
void line_items_statement_has (line_items_t *detail, const char *statement,
                               mpz_srcptr units);

/* Which job it is. */
void line_items_put_segment (line_item_t *row, const segment_t *segment);
/* A row of nothing but its kind and month. */
/* Of the team in the month. */
const char *line_items_cost_center (const line_items_t *detail, const char *team);
void line_item_begin (line_items_t *detail, line_item_kind_t kind);
int line_items_emit (line_items_t *detail, line_item_f callback, void *arg,
                     gl_error_t *error);
/* floor (seen in hours) less what has been given of it, in units of 10^-10 */
void line_items_hours (mpz_t ret, mpq_srcptr seen, mpz_t given);

/* money / seconds, for an hour, in units of 10^-10; 0 where there is no time */
void line_items_hourly (mpz_t units, mpq_srcptr money, mpq_srcptr seconds);

uint64_t line_items_reservation_id (const line_items_t *detail,
                                    const char *cluster, const char *name,
                                    int64_t instant);
/* The segment has a row; a credit may want to know. */
void line_items_note_credited (line_items_t *detail, const segment_t *segment);
void line_items_capacity_init (line_items_t *detail);
/* A job row has this of the pool on that day. */
void line_items_capacity_held (line_items_t *detail, size_t pool,
                               int64_t instant, const charge_part_t *part);
int line_items_each_capacity (line_items_t *detail, line_item_f callback,
                              void *arg, gl_error_t *error);
int line_items_each_extra (line_items_t *detail, line_item_f callback,
                           void *arg, gl_error_t *error);
int line_items_each_rounding (line_items_t *detail, line_item_f callback,
                              void *arg, gl_error_t *error);
/* --- line_items_commitment.c --- */

/* What the line draws on an entitlement, with a rate of its own for the rest. */
void line_items_figures_draw (line_items_t *detail,
                              struct line_items_figures *figures,
                              const billing_line_t *from, const char *team);
/* A row's part of that; of a row of the bill. */
void line_items_put_drawn (line_items_t *detail, struct line_items_line *line);
void line_items_put_reserved (line_items_t *detail, const posting_t *from);
/* The price of an entitlement, or a correction of it. */
void line_items_put_bought (line_items_t *detail, const posting_t *from);
int line_items_each_unused (line_items_t *detail, line_item_f callback,
                            void *arg, gl_error_t *error);
void line_items_commitment_free (line_items_t *detail);
/* floor (total x seen / whole) less what has been given of it. */
void line_items_share (mpz_t ret, mpz_srcptr total, mpq_srcptr seen,
                       mpq_srcptr whole, mpz_t given);

/* --- line_items_split.c --- */

/* A job row has this of a pool. */
void line_items_split_held (line_items_t *detail, size_t pool,
                            const char *account, const char *cluster,
                            const charge_part_t *part);
/* All rows of the bill that are no charges, before the first one is handed out.
 */
void line_items_split_begin (line_items_t *detail, const posting_t *rows,
                             size_t count);
/* In the order of these: how the time of this one was found. */
void line_items_split_put (line_items_t *detail, const posting_t *from);
void line_items_split_free (line_items_t *detail);

void line_items_unallocated_free (line_items_t *detail);

#endif /* !GL_LEDGER_DETAIL_PRIVATE_H */
