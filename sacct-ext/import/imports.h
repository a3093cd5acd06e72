/*
 * imports.h: imports that can be taken back.
 *
 * Each import keeps what its files said of segments: a line for each view, and one for
 * what slurmdbd had said of a segment before the import changed it, in compressed
 * parts (docs/formats/store.md). To take one back, its segments are reduced to what
 * slurmdbd said, and all other imports in force say what they said of them again. As
 * merging is a maximum, that gives what the store would be without the import. What
 * slurmdbd said of an earlier time than an import is not kept anywhere: the next sync
 * reads everything.
 *
 * The same content again is no other import.
 */
#ifndef GL_IMPORTS_H
#define GL_IMPORTS_H

#include "base/zone.h"
#include "store/store.h"

typedef struct imports_record imports_record_t;

/* In the transaction of the import. NULL with an error. */
imports_record_t *imports_record_new (store_t *store, gl_error_t *error);
/* Accepts NULL. */
void imports_record_free (imports_record_t *record);
/* Before and after a segment is put. */
int imports_record_before (imports_record_t *record, const segment_t *segment,
                           gl_error_t *error);
int imports_record_after (imports_record_t *record, const segment_t *segment,
                          gl_error_t *error);
/* After the last one. Of `what` time, who, files, clusters, zone and as_of are
 * given. *ret_id 0: there was nothing, or the store has the same import already. */
int imports_record_end (imports_record_t *record, const store_import_t *what,
                        uint64_t *ret_id, gl_error_t *error);

typedef struct {
    uint64_t id;
    int64_t time;
    const char *who;
    int64_t closed_until; /* the end of the last closed month; 0: none is */
    const zone_t *zone;   /* of messages */
} imports_undo_t;

/* *ret_segments, *ret_services: how many segments and charges of other services the
 * import had said something of. */
int imports_undo (store_t *store, const imports_undo_t *undo,
                  uint64_t *ret_segments, uint64_t *ret_services,
                  gl_error_t *error);

#endif /* !GL_IMPORTS_H */
