/*
 * close.h: what has to be in order before a month is closed, and closing it.
 *
 * Nothing here reads a clock: who closes, and when, comes from the verb.
 */
#ifndef GL_CLOSE_H
#define GL_CLOSE_H

#include "month/month.h"
#include "month/periods.h"
#include "report/report.h"
#include "site/site.h"
#include "store/store.h"

typedef enum {
    CHECK_OK,
    CHECK_UNKNOWN, /* could not be checked; says why */
    CHECK_WARNING, /* closing does not ask */
    CHECK_FINDING,    /* closing asks: only with a reason */
    CHECK_ERROR,   /* no reason helps */
} check_state_t;

/* "ok", "unknown", "warning", "finding", "error". */
const char *check_state_word (check_state_t state);

typedef struct {
    check_state_t state;
    const char *name; /* a word: over, fresh, reconcile, ... */
    char *figure;     /* what was found, in words */
    const char *remedy; /* who does what; NULL: what its name says */
} check_t;

typedef struct {
    check_t *item;
    size_t count;
    char *due; /* from all teams for the month, as of now: "28160.29" */
    const char *currency; /* of the site, borrowed */
    report_t *amounts; /* month_amounts() as of now */
    char stale[ZONE_STAMP_SIZE]; /* closed later than this, so many checks more are
                                    findings; "": not known */
    size_t stale_count;
} checks_t;

/* How many are in that state. */
size_t checks_in (const checks_t *checks, check_state_t state);
void checks_clear (checks_t *checks);

/* Of a month that is not closed, as of `now`. 0: what the store alone says, without the age
 * of the facts and without slurmdbd. `had`: the month, if it was read before; NULL: it is read.
 * -1: a check could not even be tried. */
int close_check (store_t *store, const site_t *site, const char *month,
                 int64_t now, month_t *had, checks_t *ret_checks,
                 gl_error_t *error);

/* As a report; report_free() it. `amounts`: with what is to be posted, as a section. */
report_t *checks_report (const checks_t *checks, const char *month,
                         bool amounts);

typedef struct {
    const char *month;
    const char *who;
    int64_t now;
    const char *accept;     /* why findings are accepted; NULL */
    const checks_t *checks; /* as close_check() gave them */
} close_request_t;

typedef struct {
    uint32_t version;
    size_t rows;
    size_t corrections; /* among them */
    size_t imported;    /* months before go-live that were closed with it */
    chain_head_t head;  /* the entry that closes it */
    char hash[MONTH_HASH_SIZE];
    int64_t handover;
} close_done_t;

/* All of it in one transaction, in which no fact can be put. -1: it is closed
 * already, or is not the month to be closed next. */
int close_month (store_t *store, const site_t *site,
                 const close_request_t *request, close_done_t *ret_done,
                 gl_error_t *error);

/*
 * A decision, in a transaction of its own. Of `decision` kind, who, when, reason,
 * reference and row are read, and month: "" is the open one. `check` is asked in
 * the transaction, before anything is written, and may fill what it has not been
 * given; NULL: nothing to ask. *ret_head gets the entry.
 */
typedef int (*close_check_f) (store_t *store, const site_t *site,
                              const periods_t *periods, decision_t *decision,
                              void *arg, gl_error_t *error);
int close_decide (store_t *store, const site_t *site, decision_t *decision,
                  close_check_f check, void *arg, chain_head_t *ret_head,
                  gl_error_t *error);

#endif /* !GL_CLOSE_H */
