/*
 * rate_card.h: the price of a job in a pool at an instant: the published rate, the
 * rule of the QOS, the surcharge of an external team; and the idle policy of a pool
 * in a month. All of it is read from the configuration and borrowed from it. Pure.
 */
#ifndef GL_SITE_RATE_CARD_H
#define GL_SITE_RATE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "site/kind.h"
#include "site/site.h"

/* What is priced. NULL: one without a rate or a rule of its own. */
typedef struct {
    const char *pool;
    const char *qos;
    const char *partition;
    const char *team;
    const char *reservation; /* of one job, as the GPUs; a line has none */
    uint64_t gpus;
    int64_t instant;
} rate_subject_t;

/* How GPU time of a pool is priced at an instant. */
typedef struct {
    const site_rate_t *rate; /* published; NULL: full cost */
    mig_basis_t mig_price;
    const site_qos_t *rule;  /* what the QOS does to it; NULL: nothing */
    const site_team_t *team; /* see rate_card_team() */
} rate_card_price_t;

/* The rate that fits with the first of: plan, class, reservation, partition, QOS,
 * number of GPUs (then with the second, and so on; of two numbers the one that begins
 * higher), else the one of the pool alone, else full cost and the policy's
 * mig_price; the rule of the QOS for the pool, else for every pool; the entry of the
 * team. */
rate_card_price_t rate_card_price (const site_t *site, rate_subject_t of);

/* What the rate is for, beyond its pool: "class industry, QOS high", or "". Yours to
 * free. */
char *rate_conditions (const site_t *site, const site_rate_t *rate);

/* The price before tiers. */
mpq_srcptr rate_list_price (const site_rate_t *rate);

/* Whether jobs that one rate is for, by what it says of lines (not of reservations and
 * GPUs), are ones that another is for: of the same pool, at whatever time. */
typedef enum {
    RATE_FITS_NEVER,
    RATE_FITS_SOME,
    RATE_FITS_ALWAYS,
} rate_fit_t;
rate_fit_t rate_fits (const site_rate_t *of, const site_rate_t *other);

/* Of two rates for a job the one with the higher rank applies. */
int64_t rate_rank (const site_rate_t *rate);

/* The rate is for single jobs, by reservation or number of GPUs: no line has it. */
bool rate_of_jobs (const site_rate_t *rate);

/* Or it has a smallest charge of a job, or rounds the hours of each: what is billed depends on each of them. */
bool rate_of_one_job (const site_rate_t *rate);

/* It has prices of CPUs and memory, instead of the weights of the pool. */
bool rate_has_weights (const site_rate_t *rate);

/* The entry at that instant of a team whose prices differ: by a surcharge, a class or
 * a plan; NULL: those of any other team. */
const site_team_t *rate_card_team (const site_t *site, const char *team,
                                   int64_t instant);

/* The weight of a device in the price; of a kind whose own weight is known. -1 if
 * the basis has none. `error` may be NULL. */
int rate_card_weight (const site_t *site, const device_kind_t *kind,
                         mig_basis_t basis, fraction_t *ret_weight,
                         gl_error_t *error);

/* The instants inside `period` at which any published rate, rule of a QOS,
 * surcharge, class or plan begins or ends, ascending, each once: give them to usage as cuts, so
 * that a cell lies under one price. *ret_cuts is yours to free; returns how
 * many. */
size_t rate_card_cuts (const site_t *site, period_t period, int64_t **ret_cuts);

/* When the next rate of that pool for the same begins, at or after the end of
 * `rate`; 0: none does. */
int64_t rate_next_start (const site_t *site, const site_rate_t *rate);

/* A time in which a rate is not followed by one for the same, although it ended: often a `to` that was meant to be the last day. */
typedef struct {
    const site_rate_t *rate;
    int64_t ended;
    int64_t next; /* when the next one begins; 0: none does */
} rate_gap_t;

/* Those that lie in `period`, whole, where the pool is in force when they begin.
 * *ret_gaps is yours to free; returns how many. */
size_t rate_card_gaps (const site_t *site, period_t period,
                       rate_gap_t **ret_gaps);
/* It is meant so: the rate has `after_end: not_billed`. */
bool rate_gap_is_free (const rate_gap_t *gap);
/* A sentence about one, yours to free. */
char *rate_gap_text (const site_t *site, const rate_gap_t *gap);

/* The policy that holds for the pool in the whole month: that of its entry at
 * the beginning (else its first within the month), else the site's. */
idle_policy_t site_idle_policy (const site_t *site, const char *pool,
                                  period_t month);
/* "in-rate", and what it does, for people: "carried by the hours billed". */
const char *idle_policy_word (idle_policy_t policy);
const char *idle_policy_title (idle_policy_t policy);

#endif /* !GL_SITE_RATE_CARD_H */
