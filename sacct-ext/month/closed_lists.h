/*
 * closed_lists.h: the lists of closed months (ledger/bill.h), which are rows of tables
 * with a column for each field (store/chain.h). The entry that closes a month says of
 * each list how many rows it has and their digest, and of the postings the digest of
 * the values of each field, so that of a row that was changed the field can be named.
 * A list that is read is checked against them.
 */
#ifndef GL_MONTH_CLOSED_LISTS_H
#define GL_MONTH_CLOSED_LISTS_H

#include "base/buffer.h"
#include "ledger/bill.h"
#include "month/periods.h"
#include "store/chain.h"

/* In a transaction: writes a list of the bill (NULL: it has no rows), and adds the
 * lines LIST.rows=, LIST.digest= and field.NAME= of the closing to `body`. The lists
 * may be written in any order; the closing has their lines in that of bill_list_t. */
int closed_list_write (store_t *store, const char *month, uint32_t version,
                       const bill_t *bill, bill_list_t list, buffer_t *body,
                       gl_error_t *error);

/* Reads one of them onto the bill: BILL_TEAM_DAYS onto its BILL_DAYS. -1 also if it is
 * not what was closed. */
int closed_list_read (store_t *store, const closing_t *closing,
                      bill_list_t list, bill_t *bill, gl_error_t *error);

/* Likewise: of the postings those that are of `month` ("2026-10"). */
int closed_postings_read (store_t *store, const closing_t *closing,
                          const char *month, bill_t *bill, gl_error_t *error);

/* The postings that a closing says it has. */
uint64_t closed_postings (const closing_t *closing);

/* All rows of all lists against these closings, of which month, version and body are
 * read: a sentence for each difference. */
int closed_lists_check (store_t *store, const closing_t *closings, size_t count,
                        chain_problem_f callback, void *arg, gl_error_t *error);

#endif /* !GL_MONTH_CLOSED_LISTS_H */
