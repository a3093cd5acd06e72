/*
 * ship_batch.h: the data for the collector: the next batch, the search for a
 * record that the collector will never accept, and the request for prices.
 *
 * A batch belongs to one node: its records come from one segment and name the
 * same cluster and node, or none.
 */
#ifndef GL_AGENT_SHIP_BATCH_H
#define GL_AGENT_SHIP_BATCH_H

#include <stddef.h>

#include "base/error.h"
#include "record/spool_cursor.h"
#include "wire/frame.h"

/* Bytes of records: as a credential 350 KiB, which munged takes in some
 * milliseconds. */
#define BATCH_RECORDS_MAX (256 << 10)

typedef struct {
    unsigned char *payload; /* of the request, with room for its header */
    size_t size;
    batch_t header; /* as in the payload */
    int records;
    const unsigned char *first; /* the record that it begins with */
    size_t first_size;
    spool_mark_t mark; /* when all of it is acknowledged */
} batch_out_t;

void batch_out_free (batch_out_t *batch);

/* How many records the next batch may hold. */
typedef struct {
    int suspects; /* so many of the next records hold one that is refused; 0:
                   * nothing is suspected */
} bisect_t;

/* 1: *ret_batch has the next batch; 0: nothing is new; -1. `cluster` and `node`
 * apply to records that name none. */
int batch_out_read (spool_cursor_t *cursor, const char *cluster,
                    const char *node, const bisect_t *bisect,
                    batch_out_t *ret_batch, gl_error_t *error);

/* It is sent now: the collector measures the node's clock by that, and wants
 * the moment to lie behind its greeting. */
void batch_out_stamp (batch_out_t *batch);

void bisect_accepted (bisect_t *bisect, const batch_out_t *batch);
/* 1: the batch is the one refused record. 0: try a smaller one. */
int bisect_refused (bisect_t *bisect, const batch_out_t *batch);

/*
 * SPOOL/refused is itself a spool: it has records that the collector will never
 * accept, for the administrator. `gpuledger ingest SPOOL/refused` tries them
 * again on the host. 16 files of 1 MiB are about 50,000 records: not a few bad
 * records, but a mistake that needs attention. After that no more records are
 * given up.
 */
#define REFUSED_FILE_MAX (1 << 20)
#define REFUSED_FILES_MAX 16
/* Keep the bytes of a record; they are on disk when this returns 0. */
int refused_keep (const char *spool, const void *bytes, size_t size,
                  gl_error_t *error);

/* The payload of VERB_PRICES (docs/formats/prices.md), with room for the
 * request's header: cluster, node, and the types of devices that
 * SPOOL/state/devices names. Yours to free; NULL when cluster or node are
 * unknown. */
unsigned char *prices_request (const char *spool, const char *cluster,
                               const char *node, size_t *ret_size);

#endif /* !GL_AGENT_SHIP_BATCH_H */
