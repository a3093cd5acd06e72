/*
 * watch.h: the current devices of the node: a source, the inventory of its last
 * scan, Slurm's names for the devices, and the last sample. A missing or
 * failing driver is tried again; until then all values are unknown. One thread.
 */
#ifndef GL_AGENT_WATCH_H
#define GL_AGENT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#include "devices/device.h"
#include "devices/gres_table.h"
#include "devices/replay.h"
#include "devices/source.h"

/* Time between two attempts to open a driver, and between two searches for
 * another slurmd. */
#define WATCH_RETRY_MS 60000

typedef struct {
    const char *replay; /* borrowed; NULL: the node's own devices */
    const char *spool;  /* borrowed */
    const char *node;   /* borrowed */
    bool alone;         /* use only Slurm's stored table: do not run slurmd */
    source_t *source;
    int64_t retry_ms;
    gl_error_t problem; /* why there is no source */
    inventory_t inventory;
    inventory_t before; /* the last scan */
    sample_t *samples;  /* one for each device of it */
    char boot_id[37]; /* of the last scan; of the machine when that has none */
    char machine_boot_id[37];
    bool due; /* a scan */
    slurmd_t slurmd;
    gres_table_t gres;
    bool gres_known;
    int64_t gres_ms; /* when slurmd is to be looked for again */
    replay_writer_t *writer;
} watch_t;

void watch_open (watch_t *watch, const char *replay, const char *spool,
                 const char *node, bool alone);
void watch_close (watch_t *watch);

/* 1: the inventory is another one (or Slurm's names are); 0; -1: nothing can be
 * known now: all samples say so. With 1 and 0 `error` says which devices cannot be
 * read, "" if all can. A warning about Slurm's table goes to `gres_error`, "" if
 * there is none. */
int watch_look (watch_t *watch, int64_t now, gl_error_t *error,
                gl_error_t *gres_error);

#endif /* !GL_AGENT_WATCH_H */
