/*
 * account.h: the tree of Slurm's accounts, for teams that own a subtree.
 *
 * The tree is a fact of the accounting database, as of the last sync. Texts are
 * copied. Reading is safe from any number of threads.
 */
#ifndef GL_SITE_ACCOUNT_H
#define GL_SITE_ACCOUNT_H

typedef struct accounts accounts_t;

accounts_t *accounts_new (void);
/* Accepts NULL. */
void accounts_free (accounts_t *accounts);
/* `parent` NULL: the root. A second entry for an account replaces the first. */
void accounts_add (accounts_t *accounts, const char *cluster,
                   const char *account, const char *parent);
/* The parent; NULL for the root, for an account that the tree does not know,
 * and for `accounts` NULL. */
const char *accounts_parent (const accounts_t *accounts, const char *cluster,
                             const char *account);

#endif /* !GL_SITE_ACCOUNT_H */
