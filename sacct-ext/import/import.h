/*
 * import.h: segments out of what Slurm's own commands print.
 *
 * Read are `sacct -P` (and -p) text with its header, in any order of columns,
 * and JSON: of `sacct --json`, of slurmrestd's /slurmdb/.../jobs and
 * /slurm/.../jobs (data_parser v0.0.39 to v0.0.44), a list of such jobs, or one
 * job object a line. Any of them gzipped; "-" is standard input.
 *
 * A file is read twice: import_open() reads all of it, so that a mistake in the
 * last line is found before anything is stored, and so that each segment can
 * carry the file's newest knowledge as its observed_at; import_run() reads it
 * again and hands the segments over. Memory does not grow with the file. A pipe
 * is copied to an unnamed file in $TMPDIR, else /tmp.
 *
 * Steps are counted and left out: they repeat the devices of their job. Each
 * row of a job is a segment of its own: read files of `sacct -D` to have the
 * rows of requeued jobs. The store joins rows that occur twice.
 *
 * An import_t belongs to one thread.
 */
#ifndef GL_IMPORT_H
#define GL_IMPORT_H

#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "site/segment.h"

typedef struct import import_t;

typedef struct {
    /* Rows that name no cluster are of this one; required. */
    const char *cluster;
    /* Rows that name another one are an error (--cluster was given). */
    bool cluster_only;
    /* The zone of times without offset in text, by cluster; required. */
    const zone_t *(*zone) (const char *cluster, void *arg);
    void *zone_arg;
    /* Read text with columns that users fill in (docs/formats/sacct.md), as if
     * every line were a row of Slurm's; else such text is an error. */
    bool trust_text;
    /* The moment that the files speak of; 0: their own newest knowledge, which
     * is the latest of all times in them, and of start plus elapsed time of
     * open jobs. */
    int64_t as_of;
} import_options_t;

typedef struct {
    uint64_t rows;     /* lines without the header, or job objects */
    uint64_t steps;    /* of these: steps, left out */
    uint64_t segments; /* of these: handed over */
    uint64_t never_started;
    uint64_t open;
    uint64_t unknown_gpu;    /* asked for GPUs, accounting names none */
    uint64_t contradictions; /* more typed GPUs than their total */
    uint64_t replaced;       /* texts of JSON with control characters */
    uint64_t ambiguous; /* with a time of the hour that a clock showed twice */
    uint64_t misfits;   /* whose elapsed time is not that from start to end */
    uint64_t misfit_job; /* the first of these */
    int64_t earliest;   /* the first start; 0: none */
    int64_t newest;     /* the latest moment that the file knows of; 0: none */
    uint64_t newest_job; /* the first job that has it; 0: none has */
    int64_t as_of;      /* newest, or the moment that was given */
} import_stats_t;

/* What `segment` points to is borrowed until the return. -1 with an error ends
 * the reading. */
typedef int (*import_sink_f) (const segment_t *segment, void *arg,
                              gl_error_t *error);

/* Now and then while reading: bytes of the file read so far, and its size (0:
 * not known). Counts from 0 again when import_run() begins. */
typedef void (*import_progress_f) (uint64_t done, uint64_t size, void *arg);

/* Read and check all of the file. `options` is borrowed until import_close().
 * NULL with an error that names file, line, value and remedy. `progress` may
 * be NULL. */
import_t *import_open (const char *path, const import_options_t *options,
                       import_progress_f progress, void *progress_arg,
                       gl_error_t *error);
/* What has been found. */
const import_stats_t *import_stats (const import_t *import);
/* Hand all segments over. Can be called again. */
int import_run (import_t *import, import_sink_f sink, void *arg,
                gl_error_t *error);
/* Accepts NULL. */
void import_close (import_t *import);

#endif /* !GL_IMPORT_H */
