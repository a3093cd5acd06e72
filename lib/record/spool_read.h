/*
 * spool_read.h: the reading side of a spool, for agent and host.
 *
 * Every whole record is given to a function, in the order of the segments.
 * Damaged bytes are skipped: reading goes on at the next place where a record
 * with a right checksum begins. What was skipped is counted. Nothing is
 * changed on disk, so a spool may be read while it is written to.
 *
 *     static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
 *     {
 *         if (entry->understood && entry->record.kind == RECORD_JOB_START)
 *             printf ("%" PRId64 "\n", entry->record.job_id);
 *         return 0;
 *     }
 *     ...
 *     if (spool_read_dir (dir, take, NULL, &stats, &error) < 0)
 *         fprintf (stderr, "gpuledger: %s\n", error.text);
 */
#ifndef GL_RECORD_SPOOL_READ_H
#define GL_RECORD_SPOOL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"

typedef struct {
    record_t record;
    bool understood; /* false: newer version or kind; envelope members only */
    const unsigned char *bytes; /* the record, unchanged; borrowed until the
                                 * function returns */
    size_t size;
    const char *file; /* path of the segment, "" when read from memory */
    uint64_t offset;  /* where in it */
} spool_entry_t;

/* Counted up, never reset by the readers: begin with a zeroed struct. */
typedef struct {
    uint64_t segments;      /* files read */
    uint64_t bytes;         /* bytes read */
    uint64_t records;       /* records given to the function */
    uint64_t unknown;       /* of these: not understood by this build */
    uint64_t malformed;     /* right checksum but against the table of fields:
                             * skipped, and counted in skipped_bytes */
    uint64_t damaged;       /* stretches of bytes that are no record */
    uint64_t skipped_bytes; /* bytes in all of these, tails included */
    uint64_t tail_bytes;    /* of these: at the very end of a segment, perhaps a
                             * record that is being written now */
} spool_stats_t;

/* Called for each record. 0 goes on; 1 ends reading, which then returns 0; -1
 * with a text ends it, too, and it returns -1 with that text. */
typedef int (*spool_record_f) (const spool_entry_t *entry, void *arg,
                               gl_error_t *error);

/* Read all segments of a directory, by number; other files are not touched.
 * A directory without segments is an empty spool. `stats` may be NULL. */
int spool_read_dir (const char *dir, spool_record_f take, void *arg,
                    spool_stats_t *stats, gl_error_t *error);
int spool_read_file (const char *path, spool_record_f take, void *arg,
                     spool_stats_t *stats, gl_error_t *error);
int spool_read_buffer (const void *data, size_t size, spool_record_f take,
                       void *arg, spool_stats_t *stats, gl_error_t *error);

#endif /* !GL_RECORD_SPOOL_READ_H */
