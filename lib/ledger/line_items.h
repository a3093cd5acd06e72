/*
 * line_items.h: what the bill of a month is made of, row by row: each segment
 * on each local day with each kind of its devices; the time that was not
 * allocated, by pool and day; and what else stands on the bill.
 *
 * Amounts have 10 decimals. Those of one line of the bill are handed out in the
 * order in which the rows come: row i gets floor (S(i)) - floor (S(i-1)) of the
 * line's amount shared by priced seconds, so that the rows of a line add up to
 * its exact amount rounded to 10 decimals, whatever tiers, subsidies or
 * entitlements made that amount. One further row for each statement is the
 * difference to the cents that were billed:
 *
 *   sum of `billed` of a statement's rows = what the bill charges it, exactly
 *
 * Nothing is collected but the lines of the bill and pools x days: segments
 * stream through. Pure. An object belongs to one thread.
 */
#ifndef GL_LEDGER_LINE_ITEMS_H
#define GL_LEDGER_LINE_ITEMS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "ledger/bill.h"
#include "ledger/billing.h"
#include "usage/rollup.h"

#define LINE_ITEM_DIGITS 10

typedef enum {
    LINE_ITEM_JOB,      /* a segment, a day, a kind of device */
    LINE_ITEM_CAPACITY, /* time of a pool on a day that no line bears; no charge
                         */
    LINE_ITEM_IDLE,     /* as in bill_kind_t, one row each */
    LINE_ITEM_CREDIT,
    LINE_ITEM_CORRECTION,
    LINE_ITEM_TAX,
    LINE_ITEM_ROUNDING, /* of a statement: exact amounts to smallest units */
    LINE_ITEM_COST,     /* of an estate (owner_cost.h) alone: a line of the cost
                           book */
    LINE_ITEM_PURCHASE, /* the same: an asset */
    LINE_ITEM_UNUSED,   /* what a team was entitled to and has expired */
    LINE_ITEM_ENTITLEMENT, /* what it paid for what it is entitled to */
    LINE_ITEM_SETTLEMENT,
    LINE_ITEM_SERVICE,     /* of another service; as in bill_kind_t */
    LINE_ITEM_KIND_COUNT,
} line_item_kind_t;

/* "job", "capacity", "idle", "credit", "correction", "tax", "rounding",
 * "cost", "purchase", "unused", "entitlement", "service". */
const char *line_item_kind_word (line_item_kind_t kind);

/* Texts are borrowed: valid during the call that hands the row over. NULL, and
 * 0 where nothing else is said, are "none" or "not known". */
typedef struct {
    line_item_kind_t kind;
    const char *month;     /* of the time that it is for, "2026-10" */
    const char *statement; /* whom it is addressed to: the team, or the account
                              at a site without teams */
    const char *team;
    const char *cost_center; /* of the team */
    const char *pool;
    const char *gpu;     /* model */
    const char *profile; /* of a MIG slice */
    const char *account;
    const char *cluster;
    const char *user;
    const char *project;
    const char *qos;
    const char *partition;
    const char *gres_type;
    const char *what;      /* class of capacity; else as in posting_t */
    const char *reference; /* as in posting_t */
    const char *fund;      /* of the estate: who pays for it; not kept */
    /* the segment */
    const char *job_name;
    const char *state;
    const char *labels;      /* "k=v,k=v" */
    const char *reservation; /* name */
    uint64_t reservation_id;
    uint64_t id_job;
    int64_t submit;
    uint64_t array_job; /* and array_task + 1: 0 is no array */
    uint64_t array_task_1;
    uint64_t het_job; /* and het_offset + 1: 0 is no het job */
    uint64_t het_offset_1;
    uint64_t job_db_inx;
    uint64_t sluid;
    /* time: the local day, or of rows without one the month */
    int64_t start;
    int64_t end;
    int64_t slice_start; /* of the day: where the segment lies */
    int64_t slice_end;
    /* quantity */
    uint64_t devices;
    mpq_t gpu_seconds;   /* physical GPUs, without what is free */
    mpq_t price_seconds; /* by price weights */
    /* in units of 10^-10: hours of devices, GPUs and priced GPUs; money */
    mpz_t device_hours;
    mpz_t gpu_hours;
    mpz_t price_hours;
    mpz_t list_rate; /* per priced GPU-hour, before tiers and the like */
    mpz_t rate;      /* after them */
    mpz_t billed;
    mpz_t full_cost; /* of the time, at the owned rate */
    /* what agents measured, where energy_ms or utilization_ms are not 0 */
    uint64_t energy_mj;
    uint64_t energy_ms;
    uint64_t utilization_sum; /* hundredths of a percent x ms */
    uint64_t utilization_ms;
    const char *rate_card; /* what it was priced by: first day of the published
                              rate, "undated", or "full-cost" */
    const char *origin;    /* as in posting_t */
    const char *reason;    /* as in posting_t; of settlement the cost object or
                              the other team */
    mpz_t cloud_cost; /* of a job: gpu_hours at the newest cloud price of the
                         model of no later day, 10^-10 */
    const char
        *cloud_date; /* of that price, "2026-09-01"; NULL: there is none */
    /* of idle: how that class of time in the pool is shared out */
    const char *method; /* "idle-proportional-v1"; NULL: it is not */
    const char *unit;   /* what decides it, and how much of it there is here: */
    mpz_t counted;      /* 10^-10 */
    mpz_t ratio;        /* the part that falls to this row, 10^-10 of all: those
                           of one pool, cluster and class add up to 1 */
    const char *commitment; /* the entitlement that its time may draw on,
                               "TEAM/POOL"; NULL: none */
    mpz_t consumed_hours;   /* of it, by which this draws on it, 10^-10; of
                            LINE_ITEM_ENTITLEMENT: bought */
    mpz_t committed_hours;  /* of price_hours: paid by that, and not billed */
    mpz_t committed_rate; /* of these: what would be due for an hour; `rate` is
                             then of the others */
    mpz_t prepaid; /* consumed of a prepaid amount, in addition to `billed`; the
                      prepayment itself is negative */
    uint64_t preemptible; /* 1: priced as time that may be taken back */
    const char *service_category; /* of a service, as in posting_t; its quantity is
                                     price_hours of `unit`, its description `reason` */
    const char *service_charge;   /* likewise */
} line_item_t;

/* The name of an entitlement: "vision/h100"; yours to free. */
char *line_items_commitment (const char *team, const char *pool);
/* Hours of an entitlement, in units of 10^-10, half to even. */
void line_items_hours_of (mpz_t ret, mpq_srcptr seconds);

void line_item_init (line_item_t *row);
void line_item_clear (line_item_t *row);
/* Texts stay borrowed. Into an initialised row. */
void line_item_copy (line_item_t *to, const line_item_t *from);
/* As after init. */
void line_item_reset (line_item_t *row);

/* The canonical text, as that of posting_t: "kind=job" and "\tname=value"
 * fields in the order of the struct, absent texts and zeros left out. Names
 * never change; new fields come last. */
void line_item_text (const line_item_t *row, buffer_t *out);
/*
 * Reading such texts. Most readers of a month want few of its rows and few of
 * their fields; all others are skipped, because parsing takes most of the time.
 * LINE_ITEM_FIELD() names a field, and lists of fields end with 0. The kind is
 * always read.
 */
#define LINE_ITEM_FIELD(name) offsetof (line_item_t, name)
typedef struct {
    const size_t *keys; /* of which `wants` can be sure; NULL: the kind alone */
    bool (*wants) (const line_item_t *row, void *arg); /* NULL: every row is */
    const size_t *fields; /* what is read as well; NULL: all, and that there is
                             nothing else */
    bool
        jobs; /* LINE_ITEM_JOB alone, `wants` looks at nothing but keys of a
                  line of the bill, and `fields` has no amounts and hours but billed,
                  gpu_seconds and price_seconds: nothing else need be made */
} line_item_want_t;

typedef struct line_items_reader line_item_reader_t;

/* `want` NULL: all of every row. What is not wanted of a row is absent. */
line_item_reader_t *line_item_reader_new (const line_item_want_t *want);
/* Accepts NULL. */
void line_item_reader_free (line_item_reader_t *reader);
/* 1 with the row, valid until the next; its texts lie in `text`, which is
 * changed. 0: it is not wanted. -1 with what is wrong in it. */
int line_item_reader_read (line_item_reader_t *reader, char *text, void *arg,
                           const line_item_t **ret_row, gl_error_t *error);

/* Returns 0, or -1 with an error to end it. */
typedef int (*line_item_f) (const line_item_t *row, void *arg,
                            gl_error_t *error);

typedef struct detail line_items_t;

/* What the billing's query has to group by for the detail of that month: the
 * keys of a bill, by days where a price changes within the month. */
const char *line_items_keys (const site_t *site, period_t month);

/* Of a computed billing of one month by line_items_keys(), without filters,
 * which must outlive it. */
/* `want` as above, NULL: all rows; it spares work, and what is not wanted may come
 * nevertheless. */
line_items_t *line_items_new (const billing_t *billing,
                              const line_item_want_t *want, void *arg);
/* Accepts NULL. */
void line_items_free (line_items_t *detail);

/* First, while it is computed: the lines of each pool-month. */
void line_items_add_pool (line_items_t *detail, const pool_month_t *pool_month);
/* No others are wanted: of what follows segments alone need be added. */
bool line_items_wants_jobs (const line_items_t *detail);
/* Then: what tells the numbers of reservations. */
void line_items_add_reservation (line_items_t *detail,
                                 const reservation_t *reservation);
/* Of the bill, rows that are no charges; copied, if somebody pays for them. */
void line_items_add_row (line_items_t *detail, const posting_t *row);
/* Of the bill, too: what a team was entitled to in the month. */
void line_items_add_entitlement (line_items_t *detail,
                                 const bill_entitlement_t *entitlement);
/* The capacity of all pools and clusters, day by day; `instant` is in the day. */
void line_items_add_capacity (line_items_t *detail, const char *cluster,
                              int64_t instant,
                              const rollup_capacity_t *capacity);
/* All segments that the billing had, in the same order. */
int line_items_add_segment (line_items_t *detail, const segment_t *segment,
                            const suspension_t *suspensions, size_t count,
                            const project_t *project,
                            const segment_evidence_t *evidence,
                            line_item_f callback, void *arg, gl_error_t *error);
/* Then the rest: capacity by pool, day and class; further rows in the bill's
 * order; rounding by statement. -1 also where the segments were not those of
 * the billing. */
int line_items_finish (line_items_t *detail, line_item_f callback, void *arg,
                       gl_error_t *error);

/* GRES-seconds of segments on devices of no pool: no row has them. */
uint64_t line_items_poolless (const line_items_t *detail);

#endif /* !GL_LEDGER_LINE_ITEMS_H */
