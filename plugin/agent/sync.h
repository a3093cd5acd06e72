/*
 * sync.h: syncs records that the hooks append to the spool to disk within a
 * second. Only the two highest segments change: appends go to the highest, and
 * to the one before it by a writer that had just opened it. One thread.
 */
#ifndef GL_AGENT_SYNC_H
#define GL_AGENT_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* From the first sign of a change to the sync: others come with it. */
#define SYNC_DELAY_MS 250
/* Where the file system does not tell of changes. */
#define SYNC_POLL_MS 500

typedef struct {
    const char *spool; /* borrowed */
    int watch;         /* inotify; -1: none */
    uint32_t segment[2];
    int64_t size[2];
} sync_t;

/* Never fails: without a watch there is polling. */
void sync_open (sync_t *sync, const char *spool);
void sync_close (sync_t *sync);
/* Clear what the watch has reported. True: there was something, or that is
 * unknown. */
bool sync_changed (sync_t *sync);
/* Syncs segments that have grown. Returns 1 if any had, 0, or -1. */
int sync_spool (sync_t *sync, gl_error_t *error);

#endif /* !GL_AGENT_SYNC_H */
