/*
 * catalogue.h: dated prices of GPU instances of clouds, from CSV files
 * (docs/guides/prices.md):
 *
 *   provider,instance,region,gpu,gpus,plan,price_per_hour,currency,as_of,source,licence
 *
 * provider, instance, region and plan name an offer, and as_of its version: an
 * old price stays, so that an old report can be made again. A price has a date
 * and a source, or it is no row. `price` is of the whole instance, `gpus` the
 * GPUs in it. Days are day numbers (base/calendar.h). Prices are exact.
 *
 * A file of kind CATALOGUE_EGRESS has prices of traffic to the internet, by tiers
 * of a month: what is above `above` units (GB, GiB) costs `price_per_gb` each:
 *
 *   provider,region,above,unit,price_per_gb,currency,as_of,source,licence
 *
 * Read the files, then call catalogue_sort(): all other functions need the
 * order. The caller opens and closes the files and says which day it is. Pure.
 */
#ifndef GL_PRICES_CATALOGUE_H
#define GL_PRICES_CATALOGUE_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "site/site.h"

/* The cells of a row, in the order of the file. */
typedef enum {
    CELL_PROVIDER,
    CELL_INSTANCE,
    CELL_REGION, /* "": not stated, or one price everywhere */
    CELL_GPU,
    CELL_GPUS,
    CELL_PLAN, /* on-demand, spot, committed (term not stated), committed-1y */
    CELL_PRICE,
    CELL_CURRENCY,
    CELL_AS_OF,
    CELL_SOURCE,
    CELL_LICENCE, /* of the source; "": not known */
    CATALOGUE_CELLS,
    /* of prices of traffic, whose other cells are "" */
    CELL_ABOVE = CELL_PLAN,
    CELL_UNIT = CELL_GPU,
} catalogue_cell_t;

typedef enum { CATALOGUE_GPUS, CATALOGUE_EGRESS } catalogue_kind_t;

/* The first line of a file, without its line end. */
#define CATALOGUE_EGRESS_HEADER \
    "provider,region,above,unit,price_per_gb,currency,as_of,source,licence"
#define CATALOGUE_HEADER                                                    \
    "provider,instance,region,gpu,gpus,plan,price_per_hour,currency,as_of," \
    "source,licence"

typedef struct {
    char *cell[CATALOGUE_CELLS]; /* as they are in the file */
    int64_t gpus;
    mpq_t above;        /* of traffic: units of a month before this price */
    mpq_t per_hour;     /* of the instance; of traffic: of a unit */
    mpq_t per_gpu_hour; /* of one of its GPUs */
    int64_t day;        /* of as_of: of a month or year its first */
    const char *file;   /* borrowed from the catalogue */
    size_t line;
} catalogue_row_t;

typedef struct {
    catalogue_kind_t kind; /* of the files that are read */
    catalogue_row_t *row;
    size_t count;
    text_list_t files;
} catalogue_t;

/* Something that is wrong with a row or file. */
typedef struct {
    const char *word; /* too-old, no-source, ...; static */
    char *place;      /* FILE:LINE */
    char *text;       /* which value is wrong, and what to do */
} catalogue_finding_t;

typedef struct {
    catalogue_finding_t *item;
    size_t count;
} catalogue_findings_t;

void catalogue_findings_clear (catalogue_findings_t *findings);

/* Add the rows of a file, whose name is for messages. With `findings` a wrong
 * row becomes a finding and is left out; with NULL it is an error, which names
 * file and line. -1 in either case where the file is no catalogue. */
int catalogue_read (catalogue_t *catalogue, FILE *stream, const char *file,
                    catalogue_findings_t *findings, gl_error_t *error);
void catalogue_sort (catalogue_t *catalogue);
void catalogue_clear (catalogue_t *catalogue);

/* By provider, instance, region and plan: the same offer, at another date. */
bool catalogue_same_offer (const catalogue_row_t *a, const catalogue_row_t *b);
/* <0, 0, >0 by offer and date. */
int catalogue_compare (const catalogue_row_t *a, const catalogue_row_t *b);

/* The row of the same offer and day; NULL. */
const catalogue_row_t *catalogue_find (const catalogue_t *catalogue,
                                       const catalogue_row_t *row);

/* The offer that begins at row `at` ends before this row. */
size_t catalogue_offer_end (const catalogue_t *catalogue, size_t at);
/* The newest of the rows [from, to) of an offer on or before the day; NULL. */
const catalogue_row_t *catalogue_newest (const catalogue_t *catalogue,
                                         size_t from, size_t to, int64_t day);

/* --- how old a price is ---------------------------------------------------- */

typedef enum {
    PRICE_CURRENT,
    PRICE_AGEING,  /* older than CATALOGUE_WARN_DAYS */
    PRICE_EXPIRED, /* a year old or more: it is no price of that day */
} catalogue_age_t;

#define CATALOGUE_WARN_DAYS 90
#define CATALOGUE_MAX_MONTHS 12

/* In days; 0 for a price of that day or later. */
int64_t catalogue_age_days (const catalogue_row_t *row, int64_t day);
catalogue_age_t catalogue_age (const catalogue_row_t *row, int64_t day);

/* --- finding --------------------------------------------------------------- */

/* "PROVIDER[/INSTANCE[/REGION]]" names the row; of traffic "PROVIDER[/REGION]". */
bool catalogue_in_path (const catalogue_row_t *row, const char *path);
/* All parts of a name between '-' are parts of the model: H100 is in
 * H100-SXM5-80GB and H100-PCIe-80GB, L4 is not in L40S. ASCII case is ignored.
 */
bool catalogue_is_gpu (const char *model, const char *name);
/* on-demand, spot, committed (of any term) or committed-1y. */
bool catalogue_has_plan (const catalogue_row_t *row, const char *plan);
/* What a plan looks like; else an error that says so. */
int catalogue_check_plan (const char *plan, gl_error_t *error);

/* --- checks (catalogue_check.c) ---------------------------------------------- */

/* Findings of rows that can be read: several prices for one offer and date, an
 * unknown GPU model, a newest price that is too old or of the future, several
 * currencies. */
void catalogue_check (const catalogue_t *catalogue, int64_t day,
                      catalogue_findings_t *findings);
void catalogue_add_finding (catalogue_findings_t *findings, const char *word,
                            const char *file, size_t line, const char *fmt, ...)
    __attribute__ ((format (printf, 5, 6)));

/* --- the configuration's `clouds` (catalogue_clouds.c) ------------------------ */

/* Fill price, date and source of each entry that names an offer: its newest
 * price on or before the entry's as_of, else before or on the day. It may be
 * called again for another day. */
int catalogue_fill_clouds (const catalogue_t *catalogue, site_t *site,
                           int64_t day, gl_error_t *error);
/* Fill the price of traffic of each entry that names an offer with a region, from
 * a catalogue of kind CATALOGUE_EGRESS: the newest tiers on or before the day.
 * An entry without such a price, or with one in another currency, has none. */
void catalogue_fill_egress (const catalogue_t *catalogue, site_t *site,
                            int64_t day);

#endif /* !GL_PRICES_CATALOGUE_H */
