/*
 * shifted.h: jobs that the store has already, with all their times shifted, or in
 * another cluster.
 *
 * A segment is known by cluster, JobId and submit time. Text that is read in another
 * time zone than before (a forgotten --tz) has other submit times, and each of its
 * jobs would be charged a second time. It is known by its times: submit, start and
 * end of many jobs lie off by one constant of whole quarters of an hour. Of a job
 * that was requeued, the segments do not.
 *
 * A file that is read for another cluster than before (a wrong --cluster) brings each
 * job a second time, too. It is known by JobId, submit, start and end, which are the
 * same in both.
 *
 * Some thousand segments of a file are looked at, evenly spread, before any is put.
 */
#ifndef GL_SHIFTED_H
#define GL_SHIFTED_H

#include <stdbool.h>

#include "store/store.h"

typedef struct shifted shifted_t;

/* `clusters`: all of the store, borrowed until shifted_free(); `segments`: how many
 * will be shown. */
shifted_t *shifted_new (store_t *store, const store_cluster_t *clusters,
                        size_t count, uint64_t segments);
void shifted_free (shifted_t *shifted);

/* One of the file; in a transaction. */
int shifted_look (shifted_t *shifted, const segment_t *segment,
                  gl_error_t *error);

typedef struct {
    const char *cluster; /* borrowed */
    uint64_t jobs;       /* so many are shifted alike */
    uint64_t same;       /* so many are just as in the store */
    int64_t seconds;     /* from the file's times to those of the store */
    uint64_t id_job;     /* one of them, */
    int64_t start;       /* and its start in the file */
} shift_t;

/* Whether the file is shifted; the shift that most jobs have. */
bool shifted_found (const shifted_t *shifted, shift_t *ret_shift);

typedef struct {
    const char *cluster; /* borrowed: of the file */
    const char *other;   /* borrowed: the one that has the jobs */
    uint64_t jobs;       /* so many are in both */
    uint64_t id_job;     /* the first of them */
} twins_t;

/* Whether jobs of the file are those of another cluster; the cluster that has most. */
bool shifted_found_twins (const shifted_t *shifted, twins_t *ret_twins);

/* "2 hours", "5 hours 30 minutes" into text, which it returns. */
#define SHIFT_TEXT_SIZE 48
const char *shift_text (int64_t seconds, char text[SHIFT_TEXT_SIZE]);

#endif /* !GL_SHIFTED_H */
