/*
 * gres_table.h: Slurm's order of a node's GPUs, as slurmd itself prints it.
 *
 * The index in SLURM_JOB_GPUS is a position in slurmd's list of devices, not
 * the N of /dev/nvidiaN and not the driver's order. `slurmd -G` prints that
 * list: one line for each line of configuration, in order, with the files of
 * its devices; position 0 is the first device of the first gpu line. (The
 * "Index=" it also prints is the number that the file's name ends with.) How
 * this was found: docs/decisions/device-identity.md.
 *
 * The table is that of slurmd's start: Slurm changes it at no other time. It
 * is read again when slurmd's process is another one, and kept in a file in
 * between, so that an agent that starts later knows what slurmd knows.
 *
 * Plain data, one thread. Errors are texts.
 */
#ifndef GL_AGENT_GRES_TABLE_H
#define GL_AGENT_GRES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device.h"

/* A slice of gres.conf's MultipleFiles= has three: the GPU and the two
 * capabilities of nvidia-caps. */
#define GRES_FILES_MAX 8
/* slurmd -G asks the driver where AutoDetect is on, which takes seconds on a
 * node with many GPUs, and more of them under a quota. */
#define GRES_TABLE_TIMEOUT_MS 60000

typedef struct {
    char type[64]; /* "" for an untyped one */
    char file[GRES_FILES_MAX][128];
    size_t file_count; /* 0: the line names none */
    uint64_t shards;   /* gres/shard of it; 0: it has none */
} gres_device_t;

typedef struct {
    gres_device_t *device; /* the position is Slurm's index */
    size_t count;
    /* why positions mean nothing, as when a line does not say how many files
     * make one device; then count is 0. "" normally. */
    char problem[256];
} gres_table_t;

/* The slurmd process of the table. */
typedef struct {
    int64_t pid;
    int64_t birth; /* field 22 of /proc/PID/stat, ticks since boot */
    char boot_id[37];
    char program[256];
    /* its options that `slurmd -G` needs, too */
    char conf[256];   /* SLURM_CONF or -f */
    char server[256]; /* --conf-server */
    char node[128];   /* -N */
} slurmd_t;

void gres_table_clear (gres_table_t *table);

/* Read what slurmd -G printed; `text` may hold anything. -1 with a text only
 * when no line could be understood as a list (too long, too many); a list whose
 * positions mean nothing is a table with a problem. No gpu line: empty. */
int gres_table_parse (const char *text, size_t length, gres_table_t *ret_table,
                      gl_error_t *error);

/* The slurmd of `node` on this machine (NULL or "": any), run by root or by our
 * own user; among several, the one that runs with our own SLURM_CONF. One with
 * another SLURM_CONF is another cluster's and never taken. `proc`: "/proc". 1
 * found, 0 there is none, -1 several, and which is ours is unknown, or only
 * another cluster's. */
int slurmd_find (const char *proc, const char *node, slurmd_t *ret_slurmd,
                 gl_error_t *error);
bool slurmd_same (const slurmd_t *a, const slurmd_t *b);
/* The process still runs: one look at /proc/PID/stat. */
bool slurmd_alive (const slurmd_t *slurmd);

/* Run `slurmd -G` with the options of `slurmd`, no shell, a clean environment,
 * at most `timeout_ms` and 1 MiB of output. */
int gres_table_run (const slurmd_t *slurmd, int timeout_ms,
                    gres_table_t *ret_table, gl_error_t *error);

/* Keep it together with its process; read it back. The file is written
 * under a temporary name and renamed. load: 1 read, 0 there is none. */
int gres_table_save (const char *path, const slurmd_t *slurmd,
                     const gres_table_t *table, gl_error_t *error);
int gres_table_load (const char *path, slurmd_t *ret_slurmd,
                     gres_table_t *ret_table, gl_error_t *error);

/*
 * All of it, for the agent's tick: the table of the slurmd that runs now.
 * Cheap while the slurmd that is known runs; else it walks /proc.
 * `known` is what the last call left, zeroed at first.
 *  1: it is another slurmd than known: *known and *table are new (from `path`
 *     when that speaks of this slurmd, else from slurmd -G, then kept there);
 *  0: nothing changed, or no slurmd runs (the old table stays as it is);
 * -1: the table could not be had; *known and *table are as before.
 */
int gres_table_follow (const char *path, const char *node, slurmd_t *known,
                       gres_table_t *table, gl_error_t *error);

#endif /* !GL_AGENT_GRES_TABLE_H */
