/*
 * bills.h: the bill of a month (ledger/bill.h), from the store.
 *
 * What a statement, a journal or an export shows is bills_of_month(): of a closed
 * month the rows that were closed, which never move; of the open one what facts
 * and configuration make of it now, and the corrections of closed months.
 */
#ifndef GL_BILLS_H
#define GL_BILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ledger/bill.h"
#include "site/site.h"
#include "store/store.h"

/*
 * The bill of the calendar months that `period` touches, all clusters and pools,
 * the last month up to the latest as-of; as the facts in the store and the
 * configuration have it now, whatever was closed. Rollups answer where they can.
 */
int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error);

/* A cluster as billing asks for it: with the first of its facts where that says out of
 * which month something is carried of an entitlement. */
int bills_cluster (store_t *store, const site_t *site,
                   const store_cluster_t *from, report_cluster_t *ret_cluster,
                   gl_error_t *error);

/* Charges of all clusters and pools for any other purpose: the computed billing of
 * `period` by the keys, as bills_compute() makes one; of all, or (`filter`) of lines
 * that pass it. Returns 0, or -1 with an error, which it hands on. */
typedef int (*bills_billing_f) (const billing_t *billing, void *arg,
                                gl_error_t *error);
int bills_billing (store_t *store, const site_t *site, const char *by,
                   const usage_filter_t *filter, period_t period,
                   bills_billing_f callback, void *arg,
                   gl_error_t *error);

/* All that the billing is made of: rollups where they can tell it. */
int bills_give_facts (store_t *store, billing_t *billing, gl_error_t *error);

/* After the last fact: with what meters read, where demand is charged. */
int bills_finish (store_t *store, billing_t *billing, gl_error_t *error);

/* To a billing of rollups, after the last one: what jobs are given back for how
 * they ended, which no rollup tells. */
int bills_add_ended (store_t *store, const site_t *site, billing_t *billing,
                     gl_error_t *error);

#define BILLS_MONTH_SIZE 8 /* "2026-10" */
#define BILLS_HASH_SIZE 65 /* 64 hexadecimal digits */

typedef enum {
    BILLS_BEFORE,   /* before the first month that is billed */
    BILLS_LATER,    /* nothing was decided about it, and an earlier one is open */
    BILLS_OPEN,     /* the month that corrections and credits go to */
    BILLS_CLOSED,   /* its rows never move */
    BILLS_IMPORTED, /* closed without charges: before go-live */
} bills_state_t;

/* "before", "later", "open", "closed", "imported". */
const char *bills_state_word (bills_state_t state);

typedef struct {
    char month[BILLS_MONTH_SIZE];
    period_t period;
    bills_state_t state;
    uint32_t version; /* which closing of it this is, from 1 on; 0: open */
    char hash[BILLS_HASH_SIZE]; /* of that closing: the head of the chain then;
                                   "": open */
    int64_t closed;   /* when; 0: open */
    int64_t handover; /* when its review is over; 0: open */
    /*
     * charge, idle, credit, remainder: of the month itself. correction: of an
     * earlier one (row->month), or by hand. Manual credits too may be of an
     * earlier month. Of a closed month row i has the number i + 1, by which
     * people name it: "2026-10/17".
     */
    bill_t *bill;
    bool *disputed; /* row by row: not to be handed over, until it is decided */
    size_t disputed_count;
} bills_month_t;

/* `month`: "2026-10"; a month without facts has no rows. A closed one is in the
 * ledger's currency of today, or it is an error. */
int bills_of_month (store_t *store, const site_t *site, const char *month,
                    bills_month_t **ret_month, gl_error_t *error);
/* The same in whatever currency it was closed: for papers that say in which
 * (closed_site.h). */
int bills_as_closed (store_t *store, const site_t *site, const char *month,
                     bills_month_t **ret_month, gl_error_t *error);
/* To the bill of a computed month: what teams are charged by day (BILL_DAYS), of what
 * passes the filter (NULL: all). */
int bills_add_days (store_t *store, const site_t *site,
                    const usage_filter_t *filter, period_t period, bill_t *bill,
                    gl_error_t *error);
/* Of a month that is open, what closing it keeps: with other idle policies and days. */
int bills_to_close (store_t *store, const site_t *site, const char *month,
                    bills_month_t **ret_month, gl_error_t *error);
/* Accepts NULL. */
void bills_month_free (bills_month_t *month);

#endif /* !GL_BILLS_H */
