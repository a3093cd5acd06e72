/*
 * book_staff.h: the staff of a site as a stranger may read it.
 *
 * Books of closed months are kept in the store. They have to give the same costs
 * again, and who reads the store is not to learn what somebody is paid. Costs of
 * staff are linear in people, shares and pay, so entries that sum them up by pool
 * price every period as the originals do (docs/guides/cost-book.md):
 *
 *   {name: POOL, fte: 1, loaded_salary: sum of fte x loaded_salary x share, ...}
 *
 * one for each stretch of time between two dates, and one more for what rates do
 * not recover.
 */
#ifndef GL_CONFIG_BOOK_STAFF_H
#define GL_CONFIG_BOOK_STAFF_H

#include "base/buffer.h"
#include "site/site.h"

/* The entries of the section, each after a line end. */
void book_staff (const site_t *site, buffer_t *out);

#endif /* !GL_CONFIG_BOOK_STAFF_H */
