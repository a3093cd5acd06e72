/*
 * spool_scan.h: reading a segment from some place on, shared by spool_read.c
 * and spool_cursor.c.
 */
#ifndef GL_RECORD_SPOOL_SCAN_H
#define GL_RECORD_SPOOL_SCAN_H

#include <stdint.h>

#include "base/error.h"
#include "record/spool_read.h"

/* A reading under way: its function, and what is counted. */
typedef struct {
    spool_record_f take;
    void *arg;
    spool_stats_t *stats;
    gl_error_t *error;
    const char *file;
    uint64_t offset;  /* of the next byte to be looked at */
    uint64_t damaged; /* bytes just passed that are no record */
} spool_scan_t;

/* Opens regular files only, and waits for none of the others. */
int spool_scan_open (int dir, const char *name, const char *path,
                     gl_error_t *error);

/* Give away all records from the descriptor's place on. 0: to the end; 1: the
 * function said stop; -1: it or read(2) failed. */
int spool_scan_fd (spool_scan_t *scan, int fd);

#endif /* !GL_RECORD_SPOOL_SCAN_H */
