/*
 * spool_state.h: what the hooks of one node must remember from process to
 * process, in the directory DIR/state of a spool (made when first needed):
 *
 *     42.14695981039346656037  empty: job 42 had the device set of this hash
 *     42.project               the tag of job 42, as its prolog saw it
 *     cluster                  the node's cluster, as slurmd names it
 *     node                     the node's name, the same
 *
 * Losing it costs repeated records, nothing else. Same rules as spool.h.
 */
#ifndef GL_RECORD_SPOOL_STATE_H
#define GL_RECORD_SPOOL_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Device sets remembered of one job, and of all jobs of a node: more than any
 * job has, and a bound on what a user can make us write. */
#define SPOOL_STATE_SETS_PER_JOB 64
#define SPOOL_STATE_SETS_MAX 1024
/* A marker this old belongs to a job whose epilog never ran; it goes when room
 * is needed. Removing that of a job still running costs one repeated record. */
#define SPOOL_STATE_LIFETIME (30 * 24 * 3600)

/* Remember that `job` had the device set `set` (any text).
 * 1: it is new, remembered now; 0: it was known, or this job has had
 * SPOOL_STATE_SETS_PER_JOB already; -1: it cannot be remembered. */
int spool_state_add_set (const char *dir, int64_t job, const char *set,
                         gl_error_t *error);
/* Forget one set (the record about it could not be written). */
void spool_state_remove_set (const char *dir, int64_t job, const char *set);
/* Forget all sets and the tag of a job (it ended here, or begins anew). */
void spool_state_forget_job (const char *dir, int64_t job);

/* The project tag of a job, for its steps: what the prolog knows from
 * slurmctld. */
int spool_state_set_project (const char *dir, int64_t job, const char *project,
                             gl_error_t *error);
/* Returns -1 and "" when there is none, or no valid one. `size` > TAG_MAX. */
int spool_state_get_project (const char *dir, int64_t job, char *ret_project,
                             size_t size);

/* The cluster's name: prolog and epilog have it from slurmd, a step only from
 * the job's environment, which is the user's. Writing happens when it differs.
 */
int spool_state_set_cluster (const char *dir, const char *cluster,
                             gl_error_t *error);
/* Returns -1 and "" when it is not known. */
int spool_state_get_cluster (const char *dir, char *ret_cluster, size_t size);

/* The node's name, likewise: slurmd names it to prolog and epilog, but since
 * 22.05 only also to steps. */
int spool_state_set_node (const char *dir, const char *node, gl_error_t *error);
int spool_state_get_node (const char *dir, char *ret_node, size_t size);

#endif /* !GL_RECORD_SPOOL_STATE_H */
