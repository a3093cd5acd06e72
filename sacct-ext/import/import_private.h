/*
 * import_private.h: what the readers of the two formats share. A reader goes
 * through the whole source once and calls import_segment() for each job row.
 */
#ifndef GL_IMPORT_PRIVATE_H
#define GL_IMPORT_PRIVATE_H

#include "gres/tres.h"
#include "import/import.h"
#include "import/import_source.h"

struct import {
    source_t *source;
    const import_options_t *options;
    import_progress_f progress;
    void *progress_arg;
    int (*read) (struct import *import, gl_error_t *error);
    import_stats_t found; /* by the first pass; what import_stats() shows */

    /* of the pass that is going on */
    import_stats_t stats;
    int64_t newest;
    import_sink_f sink; /* NULL: the first pass */
    void *arg;

    /* of the clusters in the file: since when their rows name GPUs */
    struct import_tracked *tracked;
    size_t tracked_count;

    /* JSON names its cluster after the jobs: the first pass finds it */
    char *envelope_cluster;

    /* copies of a row's texts without control characters; see
     * import_replace_controls() */
    char **replaced;
    size_t replaced_count;

    /* reused from row to row */
    tres_t allocated;
    tres_t requested;
};

/* sacct text; JSON. The source is at its first byte. */
int import_read_text (struct import *import, gl_error_t *error);
int import_read_json (struct import *import, gl_error_t *error);

/* The cluster of a row that names `named` (NULL or "": none). Borrowed from
 * `named`, the import or its options; NULL with an error. */
const char *import_cluster (struct import *import, const char *named,
                            gl_error_t *error);

/* The submit line of the row asks for GPUs that its TRES would name if it held
 * them: no earlier row of the cluster names such GPUs. The first pass does not
 * know all of the file yet, and asks too often. */
bool import_submit_line_asks (const struct import *import, const char *line,
                              const segment_t *segment);

/* Set time_start and time_end from what the row says, by one rule for both
 * formats. `end` is 0 where the row has none. */
typedef struct {
    int64_t start, start_later; /* both readings of an ambiguous time */
    int64_t end, end_later;
    int64_t elapsed;   /* or SECONDS_UNKNOWN */
    int64_t suspended; /* or SECONDS_UNKNOWN: as in segment_t */
} import_times_t;
int import_times (struct import *import, const import_times_t *times,
                  segment_t *segment, gl_error_t *error);

/* Replace control characters in the texts that people or sites choose by
 * U+FFFD, and count the texts. The copies live until the next row. */
void import_replace_controls (struct import *import, segment_t *segment);

/* Check, count, and hand over. The segment is complete but for source-wide
 * fields: observed_at is set here. gres is import->allocated.gres. */
int import_segment (struct import *import, segment_t *segment,
                    gl_error_t *error);

#endif /* !GL_IMPORT_PRIVATE_H */
