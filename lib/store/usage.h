/*
 * usage.h: the measures of a stretch of device usage as few bytes, and which of
 * two stretches under one key stands. Pure; the bytes are drawn in
 * docs/formats/store.md.
 */
#ifndef GL_STORE_USAGE_H
#define GL_STORE_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "site/segment.h"

#define USAGE_BINS 20
#define USAGE_HISTOGRAM_MAX 512
/* every number at its longest, and a histogram that is kept as text */
#define USAGE_PACKED_MAX 1024

/* Is it a stretch and are its numbers measures? 0 or -1. */
int usage_check (const device_usage_t *usage, gl_error_t *error);

/* Everything but cluster, id_job, begin_ms, end_ms and what makes the device
 * (node, gpu, slice, gres_index, memory_total); of what passed usage_check().
 * Returns how many bytes. */
size_t usage_pack (const device_usage_t *usage,
                   uint8_t bytes[USAGE_PACKED_MAX]);
/* The reverse, into a usage whose begin_ms and end_ms are set. A histogram is
 * spelled into `histogram`, which the usage then borrows. Bytes that were not
 * packed so are damage: -1. */
int usage_unpack (device_usage_t *usage, const void *bytes, size_t length,
                  char histogram[USAGE_HISTOGRAM_MAX + 1]);

/* The order of two stretches that share cluster, id_job, begin_ms and key: the
 * later end, then the greater value, field by field. 0: they are the same. */
int usage_compare (const device_usage_t *a, const device_usage_t *b);

#endif /* !GL_STORE_USAGE_H */
