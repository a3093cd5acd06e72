/*
 * periods.h: the chain (store/chain.h) read: which months are closed, and what
 * was decided. Bodies of the entries: docs/formats/period.md.
 */
#ifndef GL_PERIODS_H
#define GL_PERIODS_H

#include "base/buffer.h"
#include "ledger/bill.h"
#include "ledger/line_items.h"
#include "month/closed_usage.h"
#include "site/site.h"
#include "store/chain.h"

#define MONTH_SIZE 8       /* "2026-10" */
#define MONTH_HASH_SIZE 65 /* 64 hexadecimal digits */

/* --- bodies: a line "name=value" each ----------------------------------- */

/* Nothing is written of a NULL. */
void body_put (buffer_t *body, const char *name, const char *value);
void body_put_number (buffer_t *body, const char *name, int64_t value);
/* Yours to free; NULL: it does not say. */
char *body_get (const char *body, const char *name);
/* 0: it does not say. */
int64_t body_get_number (const char *body, const char *name);

void hash_text (const uint8_t hash[STORE_DIGEST_SIZE],
                char ret_text[MONTH_HASH_SIZE]);
/* -1: these are not 64 lowercase hexadecimal digits. */
int hash_parse (const char *text, uint8_t ret_hash[STORE_DIGEST_SIZE]);

/* --- what the chain says ------------------------------------------------ */

/* A month that was closed, once for each time it was. */
typedef struct {
    char month[MONTH_SIZE];
    uint32_t version;
    uint64_t number; /* of the entry that closed it */
    uint64_t first;  /* of the entries of the month, which lead up to it */
    uint8_t before[STORE_DIGEST_SIZE]; /* the hash before that one */
    char hash[MONTH_HASH_SIZE];
    int64_t when;
    char *who;
    bool imported;
    bool reopened; /* later: it does not hold any more */
    char *body;
} closing_t;

/* What somebody decided otherwise. */
typedef struct {
    uint64_t number; /* of its entry, by which it is named */
    chain_kind_t kind;
    char month[MONTH_SIZE]; /* that was open, or was opened again */
    int64_t when;
    char *who;
    char *reason;
    char *reference; /* a row "2026-10/17", the number of a dispute; NULL */
    posting_t *row;  /* that it brings; NULL */
} decision_t;

typedef struct {
    closing_t *closings; /* in the order of the chain */
    size_t closing_count;
    decision_t *decisions; /* likewise */
    size_t decision_count;
    chain_head_t head;
} periods_t;

/* Checks every closing and decision against its hash, the columns and numbers
 * of all entries, that the entries of a month end with its closing, and that no
 * month is closed twice. periods_bill() and those below check what they read of the
 * month. */
int periods_read (store_t *store, periods_t **ret_periods, gl_error_t *error);
/* Accepts NULL. */
void periods_free (periods_t *periods);

/* Of a month that was closed in spite of findings: "Reason: REASON. Findings: CHECK: WHAT; ..."; NULL: there
 * was none. Yours to free. */
char *closing_reason_text (const closing_t *closing);

/* The closing that holds; NULL: the month is not closed. */
const closing_t *periods_closing (const periods_t *periods, const char *month);
/* How often it was closed. */
uint32_t periods_versions (const periods_t *periods, const char *month);
/* The last closed month's closing; NULL: none is closed. */
const closing_t *periods_last (const periods_t *periods);

/* The month that corrections and credits go to, and that is closed next: the one
 * after the last closed month; else that of go-live; else the first that was ever
 * closed; else that of the first fact. "" if there is nothing of these. */
int periods_open_month (store_t *store, const site_t *site,
                        const periods_t *periods, char ret_month[MONTH_SIZE],
                        gl_error_t *error);

/* "2026-10" as instants of the site's zone. */
int periods_month (const site_t *site, const char *month, period_t *ret_period,
                   gl_error_t *error);
/* The month that begins at or holds the instant. */
void periods_month_of (const site_t *site, int64_t instant,
                       char ret_month[MONTH_SIZE]);

/* The stored lists of a closing, but for days. */
int periods_bill (store_t *store, const closing_t *closing, bill_t **ret_bill,
                  gl_error_t *error);

/* The rows that are of a month, wherever they are billed: in its closing and in
 * those after it of months before `before`, in the order of the closings, onto
 * `out`. */
int periods_rows (store_t *store, const periods_t *periods, const char *month,
                  const char *before, bill_t *out, gl_error_t *error);

/* Its usage. */
int periods_usage (store_t *store, const closing_t *closing,
                   const closed_usage_sink_t *sink, gl_error_t *error);

/* The rows that lay below them when it was closed, by job and day
 * (ledger/line_items.h), in their order; `want` NULL: all of them. -1 also of a
 * month that was closed without them. */
int periods_line_items (store_t *store, const closing_t *closing,
                        const line_item_want_t *want, line_item_f callback,
                        void *arg, gl_error_t *error);

/* --- disputes ----------------------------------------------------------- */

typedef enum {
    DISPUTE_RAISED,
    DISPUTE_UPHELD,
    DISPUTE_REJECTED,
    DISPUTE_LAPSED, /* its month was opened again: there is no such row any more */
} dispute_state_t;
const char *dispute_state_word (dispute_state_t state);
/* `decided`: what decided it, or opened its month again; may be NULL. */
dispute_state_t periods_dispute (const periods_t *periods,
                                 const decision_t *dispute,
                                 const decision_t **ret_decided);

/* "2026-10/17": row 17 of the month. -1 with what is wrong. */
int periods_row_parse (const char *text, char ret_month[MONTH_SIZE],
                       size_t *ret_row, gl_error_t *error);

#endif /* !GL_PERIODS_H */
