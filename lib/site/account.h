/*
 * account.h: the tree of Slurm's accounts, for teams that own a subtree.
 *
 * The tree is a fact of the accounting database, as of the last sync; a closed
 * month has the tree of its closing. Texts are copied. Reading is safe from any number of threads.
 */
#ifndef GL_SITE_ACCOUNT_H
#define GL_SITE_ACCOUNT_H

#include <stdint.h>

#include "base/buffer.h"

typedef struct accounts accounts_t;

accounts_t *accounts_new (void);
/* Accepts NULL. */
void accounts_free (accounts_t *accounts);
/* Another tree is in force from the instant on, later than that of the one before;
 * accounts that are added from now on are of it. */
void accounts_begin (accounts_t *accounts, int64_t instant);
/* `parent` NULL: the root. A second entry for an account replaces the first. */
void accounts_add (accounts_t *accounts, const char *cluster,
                   const char *account, const char *parent);
/* The parent at the instant; NULL for the root, for an account that the tree does not
 * know, and for `accounts` NULL. */
const char *accounts_parent (const accounts_t *accounts, const char *cluster,
                             const char *account, int64_t instant);

/* All of it, appended: other trees have other texts. */
void accounts_text (const accounts_t *accounts, buffer_t *out);

#endif /* !GL_SITE_ACCOUNT_H */
