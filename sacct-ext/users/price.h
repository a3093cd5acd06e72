/*
 * price.h: what a device costs an hour now, and what a request of sbatch's
 * words would cost. Pure: the site and the instant are given.
 */
#ifndef GL_PRICE_H
#define GL_PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "planning/breakeven.h"
#include "report/report.h"
#include "site/rate_card.h"

/* The price of one device of a pool. */
typedef struct {
    const site_rate_t *rate; /* published; NULL: full cost at the planning
                                utilization, as `report breakeven` has it */
    const site_qos_t *rule;  /* what the QOS does to it; NULL: nothing */
    fraction_t weight;       /* in physical GPUs, by the price's basis */
    mpq_t per_hour;
} device_price_t;

void device_price_init (device_price_t *price);
void device_price_clear (device_price_t *price);

/* `type` as Slurm has it, NULL: untyped; the pool of `of` is that one. -1 if it has no price: neither rate nor cost, or a weight that is not
 * known; the error says which. */
int device_price (const site_t *site, const site_pool_t *pool, const char *type,
                  rate_subject_t of, device_price_t *price, gl_error_t *error);

/* The words of the command line; NULL: not given. */
typedef struct {
    const char *partition;
    const char *gres;          /* gpu:h100:4,..., per node */
    const char *gpus;          /* [TYPE:]N,..., of the job; with one of the
                                  others: how many nodes that makes */
    const char *gpus_per_node; /* [TYPE:]N,... */
    const char *time;          /* Slurm's time grammar */
    const char *nodes;         /* N, or MIN-MAX; N may be 1k */
    const char *ntasks, *ntasks_per_node, *cpus_per_task, *cpus_per_gpu;
    const char *mem; /* of each node: 128G; MB without a unit; this or: */
    const char *mem_per_cpu, *mem_per_gpu;
    const char *qos;
    const char *reservation;
    const char *account;
    const char *cluster;
    const char *pool; /* this one alone */
} price_words_t;

/* Slurm's time: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS,
 * DAYS-HOURS:MINUTES, DAYS-HOURS:MINUTES:SECONDS. -1 for anything else, and for
 * UNLIMITED, which has no price. */
#define PRICE_DAYS_MAX 36500
int price_time (const char *text, int64_t *ret_seconds, gl_error_t *error);

/* A table: one row for each pool that can run a part of the request (its nodes
 * are enough and have enough such devices), with price per hour, total, basis;
 * notes say why the others of that type cannot. CPUs have a row in pools of CPUs. A total
 * is what a job with that allocation is billed, without tiers and entitlements: rounded to
 * the currency half to even, from the exact price; the sum is that of the rows. NULL with an error that says what to write.
 * Yours: report_free(). */
report_t *price_report (const site_t *site, const price_words_t *words,
                        int64_t now, gl_error_t *error);

#endif /* !GL_PRICE_H */
