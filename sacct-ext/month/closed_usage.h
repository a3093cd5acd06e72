/*
 * closed_usage.h: the usage of a closed month, as it was when the month was closed:
 * its rollups (usage/rollup.h) and Slurm's tree of accounts. So a page of a
 * closed month counts jobs, hours and energy as it did before.
 *
 * Format (docs/formats/period.md): one stream of records, cut into zlib streams of
 * at most a megabyte of text each, an entry of the chain for each. A record is a
 * letter, its length in decimal, a line end, and that many bytes.
 */
#ifndef GL_MONTH_CLOSED_USAGE_H
#define GL_MONTH_CLOSED_USAGE_H

#include "base/buffer.h"
#include "site/account.h"
#include "site/site.h"
#include "store/store.h"
#include "usage/rollup.h"

/* A whole piece; its bytes are borrowed for the call. */
typedef int (*closed_usage_put_f) (const buffer_t *piece, void *arg,
                                   gl_error_t *error);

/* Of all clusters, from the store. */
int closed_usage_write (store_t *store, const site_t *site, period_t month,
                        closed_usage_put_f put, void *arg, gl_error_t *error);

/* Where the usage of closed months goes. */
typedef struct {
    accounts_t *accounts;      /* accounts are added; may be NULL */
    rollup_f rollup;
    void *arg;
} closed_usage_sink_t;

typedef struct closed_usage closed_usage_t;

/* The sink must outlive it. */
closed_usage_t *closed_usage_new (const closed_usage_sink_t *sink);
/* Accepts NULL. */
void closed_usage_free (closed_usage_t *usage);
/* The next piece, in their order. */
int closed_usage_read (closed_usage_t *usage, const void *piece, size_t length,
                       gl_error_t *error);
/* After the last piece: -1 if it ends within a record. */
int closed_usage_end (const closed_usage_t *usage, gl_error_t *error);

#endif /* !GL_MONTH_CLOSED_USAGE_H */
