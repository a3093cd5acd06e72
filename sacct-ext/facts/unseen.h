/*
 * unseen.h: QOS, partitions, reservations and accounts that prices and rules of the
 * configuration name and no job of the store ever had.
 *
 * Mostly a mistyped name: the price or rule then applies to no job, and nothing else
 * shows it. A name may also be newer than its first job, so it is no error.
 */
#ifndef GL_UNSEEN_H
#define GL_UNSEEN_H

#include "site/site.h"
#include "store/store.h"

/* "QOS 'hgih' of `rates` (FILE:12)"; `nearest`: the known name that was meant, NULL:
 * none is near. Borrowed for the call. */
typedef void (*unseen_f) (const char *sentence, const char *nearest, void *arg);

/* Of entries in force in the period, each name of a section once. *ret_count: how many
 * names were looked up. Nothing is looked up in a store without jobs. */
int unseen_each (store_t *store, const site_t *site, period_t period,
                 unseen_f callback, void *arg, size_t *ret_count,
                 gl_error_t *error);

#endif /* !GL_UNSEEN_H */
