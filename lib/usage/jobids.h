/*
 * jobids.h: sets of JobIds, packed: ascending, each as a varint of its distance
 * to the one before (the first one: to 0). A month of a million jobs takes some
 * 1.3 bytes an id, and the union of any number of sets is counted exactly.
 *
 * Pure.
 */
#ifndef GL_USAGE_JOBIDS_H
#define GL_USAGE_JOBIDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Borrows its bytes. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
    uint64_t count;
    uint64_t last; /* the greatest id; 0 without any */
} jobids_t;

/* A set in the making: ids in ascending order, repetitions allowed. */
typedef struct {
    buffer_t packed;
    uint64_t count;
    uint64_t last;
} jobids_list_t;

void jobids_append (jobids_list_t *list, uint64_t id);
jobids_t jobids_of_list (const jobids_list_t *list);
void jobids_list_done (jobids_list_t *list);

/* 0 if the bytes are what `set` says, else -1: nothing below may be called with
 * bytes from outside that were not checked. */
int jobids_check (const jobids_t *set);

/* Memory to work in, reused from call to call. */
typedef struct jobids_work jobids_work_t;
jobids_work_t *jobids_work_new (void);
void jobids_work_free (jobids_work_t *work); /* accepts NULL */

/* How many different ids the sets have together. */
uint64_t jobids_count (jobids_work_t *work, const jobids_t *sets, size_t count);
/* Their union; `list` is empty before. */
void jobids_union (jobids_work_t *work, const jobids_t *sets, size_t count,
                   jobids_list_t *list);

/* One varint: seven bits a byte, the low ones first. The read gives NULL where
 * the bytes end before it does, or where it has more than 64 bits. */
void varint_add (buffer_t *out, uint64_t value);
const uint8_t *varint_read (const uint8_t *at, const uint8_t *end,
                            uint64_t *ret_value);

#endif /* !GL_USAGE_JOBIDS_H */
