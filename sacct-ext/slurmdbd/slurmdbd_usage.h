/*
 * slurmdbd_usage.h: what `report reconcile` reads of slurmdbd's database in
 * addition to the facts: job rows as they are written, nothing mended, in the
 * order of the store's segments; and slurmdbd's own usage tables, from which
 * nothing is ever billed (docs/formats/slurmdbd.md). Needs last_ran_table,
 * usage_hour_table and assoc_usage_hour_table where they are asked for.
 *
 * The rules of slurmdbd.h hold: one snapshot, one thread, callbacks that do not
 * read from the same slurmdbd_t.
 */
#ifndef GL_SLURMDBD_USAGE_H
#define GL_SLURMDBD_USAGE_H

#include "base/zone.h"
#include "evidence/reconcile.h"
#include "slurmdbd/slurmdbd.h"

/* `tres`: tres_alloc as it is stored, or NULL. */
typedef int (*slurmdbd_row_f) (const job_row_t *row, const char *tres,
                               void *arg, gl_error_t *error);

/* The rows with time in the period, by id_job, then time_submit. */
int slurmdbd_job_rows (slurmdbd_cluster_t *cluster, period_t period,
                       slurmdbd_row_f fn, void *arg, gl_error_t *error);
/* All rows of these job ids, in the same order. */
int slurmdbd_job_rows_of (slurmdbd_cluster_t *cluster, const uint64_t *ids,
                          size_t count, slurmdbd_row_f fn, void *arg,
                          gl_error_t *error);
/* The first end among rows that ended; 0: none did. */
int slurmdbd_oldest_end (slurmdbd_cluster_t *cluster, int64_t *ret_end,
                         gl_error_t *error);

/* Hands hours, reservations, associations and usage of gres/gpu to `rolled`.
 * Nothing is handed over where slurmdbd has no TRES gres/gpu. */
int slurmdbd_rolled (slurmdbd_cluster_t *cluster, period_t period,
                     rolled_t *rolled, gl_error_t *error);

#endif /* !GL_SLURMDBD_USAGE_H */
