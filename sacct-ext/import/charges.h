/*
 * charges.h: files with charges of other services, read and checked: CSV with the
 * columns of docs/formats/charges.md, or FOCUS.
 *
 * Each wrong row of such CSV is reported with its file, line and what to do; a file of
 * FOCUS ends at its first wrong row. Rows are unique by source and reference over all
 * files. Amounts are checked to be quantity x price, in the ledger's currency. An object
 * belongs to one thread.
 */
#ifndef GL_CHARGES_H
#define GL_CHARGES_H

#include <stdbool.h>
#include <stdio.h>

#include "site/site.h"
#include "store/store.h"

/* At most so many rows in one import: all are in memory until they are stored together. */
#define CHARGES_MAX 5000000

typedef struct {
    const site_t *site;
    store_t *store; /* for the accounts that it knows */
    int64_t until;  /* no row is of a day from then on */
    int64_t ledger; /* nor of one before: the ledger bills nothing of it */
    void (*problem) (const char *text, void *arg); /* "FILE:LINE: ..." */
    void *arg;
} charges_options_t;

typedef struct {
    service_t *row; /* texts are its own; `file` is borrowed */
    size_t count;
    struct charges_key *keys;
    struct charges_focus *focus; /* rows that are to be added up */
    size_t problems;
} charges_t;

/* Onto what was read before. -1: the file cannot be read as such a file at all. */
int charges_read (charges_t *charges, const charges_options_t *options,
                  FILE *stream, const char *path, gl_error_t *error);
/* After the last file: what rows of FOCUS add up to. */
int charges_finish (charges_t *charges, const charges_options_t *options,
                    gl_error_t *error);
void charges_clear (charges_t *charges);

#endif /* !GL_CHARGES_H */
