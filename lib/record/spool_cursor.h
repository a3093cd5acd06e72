/*
 * spool_cursor.h: a reader that comes back to a spool, for shipper and agent.
 *
 * A cursor knows, for each segment, up to where its reader is done. It believes
 * no place on a number's word: a mark names the last record that was done with
 * by its key, and when another one is there (the spool was restored from a
 * backup, emptied, or cut short by a power failure), the segment is read from
 * its beginning. So a reader may be given a record twice, and never misses one.
 *
 *     while ((n = spool_cursor_next (cursor, take, arg, &mark, &error)) > 0)
 *         spool_cursor_done (cursor, &mark);
 *
 * Damaged bytes are skipped as spool_read.h does. Bytes behind the last whole
 * record of a segment are left: perhaps they are a record that is being
 * written now. A segment that cannot be read is passed over and counted, for
 * the others must not wait for it.
 *
 * A cursor belongs to one thread. libc alone.
 */
#ifndef GL_RECORD_SPOOL_CURSOR_H
#define GL_RECORD_SPOOL_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"
#include "record/spool_read.h"

typedef struct spool_cursor spool_cursor_t;

/* Up to where a reader is done with a segment. */
typedef struct {
    uint32_t segment;
    uint64_t offset; /* of the first byte that it is not done with */
    uint64_t last;   /* of the last record before that; */
    unsigned char key[RECORD_KEY_SIZE]; /* its key */
    uint64_t skipped; /* bytes that are no record, passed on the way */
    int64_t done;     /* when spool_cursor_done() had it, seconds since 1970 */
} spool_mark_t;

/* A cursor at the beginning of the spool in `dir`, which need not exist yet. */
spool_cursor_t *spool_cursor_new (const char *dir, gl_error_t *error);
void spool_cursor_free (spool_cursor_t *cursor);

/*
 * Give the records that come next to `take`, all from one segment, until it
 * says 1 (this one is not taken, stop), -1 (give up, with an error) or the
 * segment ends. Returns how many it took; then *ret_mark is what
 * spool_cursor_done() wants when they are done with. 0: there is nothing new.
 * -1: the spool cannot be read, or `take` gave up. Until spool_cursor_done()
 * is called the same records come again.
 */
int spool_cursor_next (spool_cursor_t *cursor, spool_record_f take, void *arg,
                       spool_mark_t *ret_mark, gl_error_t *error);
void spool_cursor_done (spool_cursor_t *cursor, const spool_mark_t *mark);

/* Read all that is new with spool_read.h's kind of function, being done with
 * each segment's records when they were given. Returns how many, or -1. */
int spool_cursor_follow (spool_cursor_t *cursor, spool_record_f take, void *arg,
                         gl_error_t *error);

typedef struct {
    uint64_t segments;      /* that there are */
    uint64_t unread;        /* of these: not read to their end as they are */
    uint64_t pending_bytes; /* that are not done with, as the marks say */
    uint64_t skipped_bytes; /* that were no record, since spool_cursor_new() */
    uint64_t unreadable;    /* segments that the last call could not read */
    uint64_t removed;       /* segments, since spool_cursor_new() */
} spool_cursor_state_t;

/* Looks at the directory. */
int spool_cursor_look (spool_cursor_t *cursor, spool_cursor_state_t *ret_state,
                       gl_error_t *error);

/*
 * Remove the segments that are done with to their last whole record: not the
 * highest, not those of `keep` and above (0: no such bound), unchanged for a
 * minute, and open in no process for writing (where the file system can say).
 * A segment is retained for `retain_s` seconds after its last record was done
 * with, so that it can be read again, as far as SPOOL_RETAINED_MAX and
 * SPOOL_RETAINED_FREE allow. Returns how many, or -1 if one could not be
 * removed.
 */
int spool_cursor_remove (spool_cursor_t *cursor, uint32_t keep,
                         int64_t retain_s, gl_error_t *error);

/* The segment to be read next, for the `keep` of another cursor; 0: none. */
uint32_t spool_cursor_segment (const spool_cursor_t *cursor);

/* A cursor as text, one line for each segment, for a file of the reader's own;
 * yours to free. Reading it back: what is not such text leaves the cursor at
 * the beginning and returns -1. */
char *spool_cursor_print (const spool_cursor_t *cursor);
int spool_cursor_parse (spool_cursor_t *cursor, const char *text,
                        gl_error_t *error);

/* The same as a file DIR/state/NAME, replaced durably. A
 * file that is not there leaves the cursor at the beginning and is no error. */
int spool_cursor_load (spool_cursor_t *cursor, const char *name,
                       gl_error_t *error);
int spool_cursor_save (const spool_cursor_t *cursor, const char *name,
                       gl_error_t *error);

/*
 * Whoever stored the records has lost them: ask the reader that saves its
 * cursor as NAME to begin again, and look whether that was asked for. The
 * request is the file DIR/state/NAME.again, so that it outlives both.
 *
 * spool_cursor_begin_again() returns 1 if the cursor is at the beginning now,
 * also in its file; 0: nobody asked; -1: the request cannot be removed, and
 * the cursor is where it was.
 */
int spool_cursor_ask_again (const char *dir, const char *name,
                            gl_error_t *error);
int spool_cursor_begin_again (spool_cursor_t *cursor, const char *name,
                              gl_error_t *error);

#endif /* !GL_RECORD_SPOOL_CURSOR_H */
