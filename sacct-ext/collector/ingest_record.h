/*
 * ingest_record.h: what a record of a node means to the store: the one place
 * that decides it, for `gpuledger ingest` and for the collector.
 *
 * A stretch of activity (job-usage) goes into its columns, and verbatim only if
 * these would lose something of it. Every other record is kept verbatim, beside
 * a job start what of it joins and names; so is a record of a newer gpuledger,
 * for a later build to understand. A record says of which cluster and node it
 * is; where it does not, whoever brings it does.
 *
 * To be called inside a transaction. Taking a record twice is the same as once.
 */
#ifndef GL_INGEST_RECORD_H
#define GL_INGEST_RECORD_H

#include <stdint.h>

#include "base/error.h"
#include "record/spool_read.h"
#include "store/store.h"

typedef struct {
    const char *cluster; /* of records that name none; NULL or "": unknown */
    const char *node;    /* the same */
    store_counts_t counts;
    uint64_t homeless; /* of no cluster: left out */
} ingest_t;

/* -1: the store failed. */
int ingest_record (store_t *store, ingest_t *ingest, const spool_entry_t *entry,
                   gl_error_t *error);

#endif /* !GL_INGEST_RECORD_H */
