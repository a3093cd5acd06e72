/*
 * spool.h: the node's spool, writing side.
 *
 * A spool is one directory, owned by root, writable by nobody else, made by
 * the package or the admin and never by us:
 *
 *     DIR/00000001.records    segments: records, one behind the other
 *     DIR/00000002.records    the highest number is appended to
 *     DIR/state/              what hooks remember (spool_state.h)
 *
 * Many processes append at once without a lock: a segment is opened with
 * O_APPEND and each record is exactly one write(2). A record that a full disk
 * or a power cut tears stays where it is; readers find the next one by its
 * magic (spool_read.h). Nobody truncates. A reader may remove any segment but
 * the one with the highest number, a minute after its last change.
 *
 * All calls are local file operations, bounded in number: none waits for a
 * lock, a network or another process. libc alone, no allocation that lasts,
 * safe in any process and thread. An error is a text for one line of log.
 */
#ifndef GL_RECORD_SPOOL_H
#define GL_RECORD_SPOOL_H

#include "base/error.h"
#include "record/record.h"

/* A segment is full from this size on; the next number begins. Small enough
 * to be read into memory whole, large enough for some 10,000 records. */
#define SPOOL_SEGMENT_MAX (4 << 20)
/* At most 64 segments, 256 MiB: a job costs about 1 KiB on a node (start, end,
 * devices), so a node that starts a job every minute fills it in half a year
 * without a reader. Then records are refused and the disk is safe. */
#define SPOOL_SEGMENTS_MAX 64
/* Acknowledged segments are retained for a while (spool_cursor_remove()), but
 * only up to so many in all, which leaves three quarters for new records, */
#define SPOOL_RETAINED_MAX (SPOOL_SEGMENTS_MAX / 4)
/* and only while so many bytes of the disk are free: a full spool. */
#define SPOOL_RETAINED_FREE ((uint64_t)SPOOL_SEGMENTS_MAX * SPOOL_SEGMENT_MAX)
/* A directory with more entries than this is not a spool. */
#define SPOOL_ENTRIES_MAX 4096

#define SPOOL_SUFFIX ".records"

/* Append one record. Returns -1 when the directory is missing, is not owned by
 * the caller's effective user (root in all hooks) or is writable by others,
 * when it is full, or when the write failed. */
int spool_append (const char *dir, const record_t *record, gl_error_t *error);

#endif /* !GL_RECORD_SPOOL_H */
