/*
 * charges.h: files with charges of other services, read and checked: CSV with the
 * columns of docs/formats/charges.md, or FOCUS.
 *
 * Every row that is wrong is said, with its file and line and what to do, not only the
 * first one. Rows are unique by source and reference over all files.
 */
#ifndef GL_CHARGES_H
#define GL_CHARGES_H

#include <stdbool.h>
#include <stdio.h>

#include "site/site.h"
#include "store/store.h"

typedef struct {
    const site_t *site;
    store_t *store;      /* for the accounts that it knows */
    int64_t until;       /* no row is of a day from then on */
    int64_t ledger;      /* nor of one before: the ledger bills nothing of it */
    void (*problem) (const char *text, void *arg); /* "FILE:LINE: ..." */
    void *arg;
} charges_options_t;

typedef struct {
    service_t *row; /* texts are its own */
    size_t *line;
    const char **path; /* borrowed */
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
