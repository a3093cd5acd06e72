/*
 * ship_refused.h: SPOOL/refused, itself a spool: records that the collector
 * will never take, kept for people. `gpuledger ingest SPOOL/refused` tries them
 * again on the host.
 */
#ifndef GL_AGENT_SHIP_REFUSED_H
#define GL_AGENT_SHIP_REFUSED_H

#include <stddef.h>

#include "base/error.h"

/* 16 files of 1 MiB are some 50,000 records: not a bad record here and there,
 * but a mistake that somebody has to look at. Then no more are given up. */
#define REFUSED_FILE_MAX (1 << 20)
#define REFUSED_FILES_MAX 16

/* Keep the bytes of a record; they are on disk when this returns 0. */
int refused_keep (const char *spool, const void *bytes, size_t size,
                  gl_error_t *error);

#endif /* !GL_AGENT_SHIP_REFUSED_H */
