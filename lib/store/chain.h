/*
 * chain.h: closed months and manual adjustments, in their order. Entries are
 * never changed or deleted.
 *
 * The chain is a list of entries, numbered from 1 on without a gap. Each has a
 * kind, a month, the number of the closing of that month (version, from 1), a
 * body of bytes, and a hash over all of these and the previous hash:
 *
 *   SHA-256 (HEX "\n" NUMBER " " WORD " " MONTH " " VERSION " " LENGTH "\n" BODY)
 *
 * HEX is the previous hash in 64 lowercase digits (zeros for the first entry),
 * WORD the word of the kind; numbers are decimal. So the latest hash covers
 * everything that was ever closed or adjusted. The caller defines the bodies
 * (docs/formats/period.md).
 *
 * A closed month is a sequence of entries that ends with CHAIN_CLOSE, all with
 * the same month and version, written in one transaction. There is no function
 * that changes or deletes an entry. The lists of the month are rows of tables
 * with a column for each field; the closing has their number and digest.
 */
#ifndef GL_STORE_CHAIN_H
#define GL_STORE_CHAIN_H

#include "base/buffer.h"
#include "store/store.h"

/* The numbers are those of the table: they never change. */
typedef enum {
    CHAIN_USAGE = 1,  /* a chunk of the usage of a closed month: opaque bytes */
    CHAIN_DETAIL = 2, /* a chunk of its rows by job and day: opaque bytes */
    CHAIN_CLOSE
    = 3, /* the end of a closed month, with the digests of its lists */
    CHAIN_REOPEN = 4,  /* the month is open again */
    CHAIN_CORRECT = 5, /* a manual correction, in the open month */
    CHAIN_CREDIT = 6,  /* a manual credit, likewise */
    CHAIN_DISPUTE = 7, /* of a row of a closed month */
    CHAIN_UPHOLD = 8,  /* the dispute was right */
    CHAIN_REJECT = 9,  /* it was not */
    CHAIN_KIND_COUNT,
} chain_kind_t;

/* "usage", "detail", ... NULL: there is no such kind. */
const char *chain_kind_word (chain_kind_t kind);

/* Far below max_allowed_packet. */
#define CHAIN_BODY_MAX ((size_t)1 << 20)

typedef struct {
    uint64_t number;
    chain_kind_t kind;
    const char *month; /* 2026-10 */
    uint32_t version;
    const void *body;
    size_t length;
    uint8_t hash[STORE_DIGEST_SIZE];
    /* Read with `lenient`: which column holds a value that gpuledger never writes,
     * as a sentence; else NULL. A column with such a value reads as 0 or "?".
     * Borrowed until the next entry is read. */
    const char *fault;
} chain_entry_t;

/* Its last entry; number 0 and zeros where there is none. */
typedef struct {
    uint64_t number;
    uint8_t hash[STORE_DIGEST_SIZE];
} chain_head_t;

/* Also inside a transaction: what it has put counts. */
int store_chain_head (store_t *store, chain_head_t *ret_head,
                      gl_error_t *error);

/* The hash of an entry, as stored: 1. 0: there is no such entry, or its hash is
 * none. */
int store_chain_hash (store_t *store, uint64_t number,
                      uint8_t ret_hash[STORE_DIGEST_SIZE], gl_error_t *error);

/* In a transaction: appends an entry after `head`, which store_chain_head()
 * returned in the same transaction. Reads kind, month, version and body of the
 * entry, and sets `head` to it. */
int store_chain_add (store_t *store, const chain_entry_t *entry,
                     chain_head_t *head, gl_error_t *error);

/* Computes the hash that the entry must have; the entry's own hash is not read.
 * -1: SHA-256 is not available. */
int chain_hash (const uint8_t before[STORE_DIGEST_SIZE],
                const chain_entry_t *entry, uint8_t ret_hash[STORE_DIGEST_SIZE],
                gl_error_t *error);

/*
 * The only reader of the chain: committed entries in the order of their
 * numbers. It selects only by number, never by a column that could have been
 * changed, and checks each entry: every column holds what gpuledger writes, no
 * number is missing, and the hash is that of the entry. The first wrong entry
 * is an error that names the month, the entry and the fault. Used like the
 * iterators of store.h.
 */
#define CHAIN_BIT(kind) (1u << (kind))
typedef struct {
    uint64_t first, last; /* numbers of entries; 0: from 1 on, up to the end */
    /* of the entry before `first`; NULL: zeros */
    const uint8_t *before;
    /* Bodies of these kinds are read, a set of CHAIN_BIT(); 0: of all. The hash of
     * an entry whose body is not read is not checked, and its body is NULL. */
    unsigned bodies;
    bool lenient; /* go on: see chain_entry_t.fault; nothing else is checked */
} chain_query_t;
typedef struct store_chain_iter store_chain_iter_t;
store_chain_iter_t *store_chain_iter_open (store_t *store,
                                           const chain_query_t *query,
                                           gl_error_t *error);
int store_chain_iter_next (store_chain_iter_t *iter, chain_entry_t *ret_entry,
                           gl_error_t *error);
void store_chain_iter_close (store_chain_iter_t *iter);
/* The error for a wrong entry, for callers that check more than the iterator.
 * Returns -1. */
int chain_damaged (const char *month, uint64_t number, const char *what,
                   gl_error_t *error);

/*
 * The lists of closed months: tables with a column for each field. A row is
 * identified by month, version and number, which starts at 1 in each list of a
 * closing. Its text is NAME=VALUE of each column that is not NULL, in their
 * order, separated by tabs, with \ \t \n escaped (buffer_add_escaped()); its
 * hash is the SHA-256 of the text.
 */
#define CLOSED_COLUMNS_MAX 48
typedef struct {
    const char *table;
    const char *column[CLOSED_COLUMNS_MAX];
    unsigned count;
} closed_table_t;
typedef struct {
    const char *month;
    uint32_t version;
    uint64_t number;
    const char *value[CLOSED_COLUMNS_MAX]; /* NULL: absent */
    buffer_t text;                         /* of the values */
    uint8_t hash[STORE_DIGEST_SIZE];       /* as stored */
} closed_row_t;
/* In a transaction. Reads month, version, number and values of the row; sets
 * its text and hash. */
int store_closed_add (store_t *store, const closed_table_t *table,
                      closed_row_t *row, gl_error_t *error);
/* The rows of a closing in the order of their numbers. The callback must not use the
 * store; -1 ends it. */
typedef int (*closed_row_f) (const closed_row_t *row, void *arg,
                             gl_error_t *error);
int store_closed_each (store_t *store, const closed_table_t *table,
                       const char *month, uint32_t version,
                       closed_row_f callback, void *arg, gl_error_t *error);
/* 1: its text has its hash; 0; -1: SHA-256 is not available. */
int closed_row_is_whole (const closed_row_t *row, gl_error_t *error);
/* Each month and version in the table, with its number of rows. Called
 * likewise. */
typedef int (*closed_count_f) (const char *month, uint32_t version,
                               uint64_t rows, void *arg, gl_error_t *error);
int store_closed_counts (store_t *store, const closed_table_t *table,
                         closed_count_f callback, void *arg, gl_error_t *error);

/*
 * The configuration that priced a month, as text, kept once. The entry that
 * closes the month has its digest. Call store_put_snapshot() in a transaction.
 * *ret_text is yours to free; NULL: there is no such snapshot.
 */
int store_put_snapshot (store_t *store, const char *text,
                        uint8_t ret_digest[STORE_DIGEST_SIZE],
                        gl_error_t *error);
int store_get_snapshot (store_t *store, const uint8_t digest[STORE_DIGEST_SIZE],
                        char **ret_text, gl_error_t *error);
/* 1: the text has this digest; 0: it was changed; -1. */
int chain_snapshot_is (const char *text,
                       const uint8_t digest[STORE_DIGEST_SIZE],
                       gl_error_t *error);

/* 1: the account that writes facts could write the chain, too, and *ret_why,
 * yours, says where; 0: it could not. */
int store_chain_exposed (store_t *store, char **ret_why, gl_error_t *error);

/* Foreign objects and damage in the database, a sentence for each: the engine's
 * own check of its tables, and every difference from the schema that gpuledger
 * creates. */
typedef void (*chain_problem_f) (const char *text, void *arg);
int store_chain_check (store_t *store, chain_problem_f callback, void *arg,
                       gl_error_t *error);

#endif /* !GL_STORE_CHAIN_H */
