/*
 * unowned.h: accounts that no team of the configuration owns, and accounts of
 * teams that Slurm does not know.
 *
 * Both are mostly one mistake: a name mistyped in `accounts` of a team, or an
 * account that Slurm got later. Its time is billed to no team.
 */
#ifndef GL_UNOWNED_H
#define GL_UNOWNED_H

#include <gmp.h>

#include "site/site.h"
#include "store/store.h"

typedef struct unowned unowned_t;

/* `site` is borrowed. */
unowned_t *unowned_new (const site_t *site);
void unowned_free (unowned_t *unowned);

/* Time of an account (NULL: of none) that belongs to no team, and what is charged
 * for it, in the smallest unit of the currency. `units` NULL: that is unknown, and
 * the seconds are of devices as Slurm counts them. */
void unowned_add (unowned_t *unowned, const char *account, mpq_srcptr seconds,
                  mpz_srcptr units);

/* A sentence for each account, by name; the nearest account of a team is named. */
typedef void (*unowned_f) (const char *sentence, void *arg);
void unowned_each (unowned_t *unowned, unowned_f callback, void *arg);

/* A sentence for each account of a team in force at `instant` that no job and no
 * association of the store ever had. *ret_known: how many accounts the store has. */
int unowned_each_unseen (store_t *store, const site_t *site, int64_t instant,
                         unowned_f callback, void *arg, size_t *ret_known,
                         gl_error_t *error);

#endif /* !GL_UNOWNED_H */
