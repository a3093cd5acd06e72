/*
 * month.h: a month of the ledger, from the store: what every statement, report,
 * journal and export of money is made of.
 *
 * month_read() gives the same object whether the month is closed or not: of a
 * closed month what was written when it was closed, which never moves and is
 * verified while it is read; of another one what facts and configuration make
 * of it now, with the corrections of closed months in it. Views print its state
 * and do not ask for it.
 */
#ifndef GL_MONTH_MONTH_H
#define GL_MONTH_MONTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "facts/facts.h"
#include "ledger/bill.h"
#include "ledger/line_items.h"
#include "month/closed_site.h"
#include "month/periods.h"
#include "usage/query.h"
#include "usage/rollup.h"

typedef enum {
    MONTH_BEFORE, /* before the first month that is billed */
    MONTH_LATER,  /* nothing was decided about it, and an earlier one is open */
    MONTH_OPEN,   /* the month that corrections and credits go to */
    MONTH_CLOSED, /* its rows never move */
    MONTH_IMPORTED, /* closed without charges: before go-live */
} month_state_t;

/* "before", "later", "open", "closed", "imported". */
const char *month_state_word (month_state_t state);

typedef struct ledger_month {
    char name[MONTH_SIZE]; /* "2026-10" */
    period_t period;       /* in the zone of the site that it was read with */
    month_state_t state;
    uint32_t version; /* which closing of it this is, from 1 on; 0: open */
    char hash[MONTH_HASH_SIZE]; /* of that closing: the head of the chain then;
                                   "": open */
    int64_t closed;             /* when; 0: open */
    int64_t handover;           /* when its review is over; 0: open */
    /*
     * charge, idle, credit, remainder: of the month itself. correction: of an
     * earlier one (row->month), or by hand. Manual credits too may be of an
     * earlier month. Of a closed month row i has the number i + 1, by which
     * people name it: "2026-10/17".
     */
    bill_t *bill;
    bool *disputed; /* row by row: not to be handed over, until it is decided */
    size_t disputed_count;
    const site_t
        *paper; /* zone, currency and issuer, as papers of it name them; of
                   an open month the site that it was read with */
    period_t paper_period; /* in its zone */
    int64_t first; /* with days: an instant of the first that anything was
                      charged for; 0: there is none */
    bool by_team;  /* its days, if it has any, are by team alone */
    struct month_source *source; /* of month.c */
} month_t;

/* How it is read; NULL and zeros: as it is. */
typedef struct {
    const periods_t
        *periods;      /* read before, and outlives it; NULL: reads them */
    bool any_currency; /* whatever the ledger's is today: for papers that say in
                          which; else another one is an error */
    bool compared;     /* with other idle policies, as closing keeps them */
    bool days; /* with what is charged by day (BILL_DAYS) */
    bool team_days; /* with days, which may be by team alone */
    const usage_filter_t *filter; /* at least of what passes it, and by what it is
                                     of; NULL: of all */
    bool billed; /* a month before the ledger begins has no rows; months_each()
                    leaves it out */
    struct ledger_month
        *had;      /* months_each(): it was read before, in the same way */
    int64_t until; /* of a month that is not closed only what is before: rows
                      outside are marked so, and its period ends there; 0: all
                      of it */
} month_how_t;

/* `month`: "2026-10"; without facts it has no rows. The store and the site must
 * outlive it. */
int month_read (store_t *store, const site_t *site, const char *month,
                const month_how_t *how, month_t **ret_month, gl_error_t *error);
/* Accepts NULL. */
void month_free (month_t *month);

/* The months that the period touches, in their order; each is freed after the
 * call. The callback returns 0, or -1 with an error to end it. */
typedef int (*month_f) (month_t *month, void *arg, gl_error_t *error);
int months_each (store_t *store, const site_t *site, period_t period,
                 const month_how_t *how, month_f callback, void *arg,
                 gl_error_t *error);

/* Its figures may still change. For what pages and exports print of its state.
 */
static inline bool month_is_provisional (const month_t *month)
{
    return month->version == 0;
}

/* The facts of the query do not reach its end. */
bool month_goes_on (const month_t *month, const report_query_t *query);

/* The day on which it was closed; NULL: it is not. */
const char *month_closed_day (const month_t *month, const zone_t *zone,
                              char ret_day[ZONE_STAMP_SIZE]);
/* For people: "closed 2026-11-05, version 1", "not closed". Yours to free. */
char *month_state_text (const month_t *month, const zone_t *zone);

/* It was closed without charges, before go-live: it has no rows. */
static inline bool month_is_uncharged (const month_t *month)
{
    return month->state == MONTH_IMPORTED;
}

/* Up to when it speaks: when it was closed, else up to where the query's facts
 * go. */
int64_t month_updated (const month_t *month, const report_query_t *query);

/* The configuration that priced it: of the closing, or the site it was read
 * with. NULL: this program cannot read that of the closing any more. Borrowed.
 */
const site_t *month_site (month_t *month, gl_error_t *error);

/* The configuration that priced a period: where all its months are closed that
 * of the last of these closings, for site_free(). *ret_site NULL: the
 * configuration of today, since a month of it is not closed, or this program
 * cannot read that of the closing any more. */
int months_site (store_t *store, const site_t *site, period_t period,
                 site_t **ret_site, gl_error_t *error);

/* How a query is put to its usage: site, period, accounts and as-of are those
 * of the closing; of a month that is not closed the query stays as it is.
 * Borrowed. */
int month_query (month_t *month, report_query_t *query, gl_error_t *error);

/* The clusters of the query and their as-of: where it is of whole closed
 * months, as the last of them was closed. *ret_clusters: for
 * closed_clusters_free(), with the query's count; or NULL. */
int months_as_of (store_t *store, report_query_t *query,
                  report_cluster_t **ret_clusters, gl_error_t *error);

/* Its usage: as rollups, or where these do not have what the query asks for as
 * facts. */
typedef struct {
    rollup_f rollup;
    fact_f fact;
    void *arg;
} month_usage_t;
int month_usage (month_t *month, const report_query_t *query,
                 const month_usage_t *to, gl_error_t *error);

/* The number of a team's statement (NULL: of no team): "2026-10-" and the begin of the hash of its
 * rows, so that another content has another name. Borrowed of the month; NULL: an error. */
const char *month_statement (month_t *month, const char *team,
                             gl_error_t *error);

/* Its energy and CO2e, as BILL_CARBON of its bill, once: of a month that is not closed a
 * pass over its usage. None where the configuration says nothing of energy. */
int month_carbon (month_t *month, gl_error_t *error);

/* A list that closing alone makes (month_retained.h), onto `out`. *ret_retained false: it is not closed, and
 * facts say it. */
int month_retained (month_t *month, bill_list_t list, bill_t *out, bool *ret_retained,
                gl_error_t *error);

/* Its rows by job and day (ledger/line_items.h), in their order. `want` NULL:
 * all of each row. *ret_poolless: GRES-seconds on devices of no pool, which no
 * row has; may be NULL. Of a month that is not closed: a pass over its segments,
 * and where rollups cannot tell its bill and capacity one more for each of them;
 * memory holds the bill's lines, and then the segments of a day. */
int month_line_items (month_t *month, const line_item_want_t *want,
                      line_item_f callback, void *arg, uint64_t *ret_poolless,
                      gl_error_t *error);

/* Teams and pools that a closed month was billed for, which the configuration
 * of today may not have any more. `key` is KEY_TEAM or KEY_POOL. *ret_is: some
 * row of a closed month has it. */
int billed_name (store_t *store, key_id_t key, const char *name, bool *ret_is,
                 gl_error_t *error);

/* What a team is called in the month: the name itself if something is billed to it, else
 * the team that it is an alias of then, or is now. `then`: month_site(). Borrowed of
 * the arguments; NULL has no name. */
const char *month_team (const month_t *month, const site_t *then,
                        const site_t *today, const char *name);

#endif /* !GL_MONTH_MONTH_H */
