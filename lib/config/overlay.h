/*
 * overlay.h: a configuration laid over another one: what it says takes the place
 * of what is said there.
 *
 *   - a key of a mapping (ledger, policy, ...) takes the place of that key;
 *   - an entry of a list takes the place of all entries that its naming keys
 *     (SCHEMA_IDENTITY: pool and qos of a rate, name of an asset, ...) name,
 *     whatever their dates;
 *   - everything else stays.
 *
 * What is replaced is taken out of the trees before anything is read, so that
 * the overlay is then one more file, checked as any other. What cannot be
 * compared here, because it has the wrong shape, stays, and is an error then.
 */
#ifndef GL_CONFIG_OVERLAY_H
#define GL_CONFIG_OVERLAY_H

#include "config/schema.h"
#include "config/tree.h"

/* Takes out of a file's tree what the overlay's replaces. */
void overlay_take_out (tree_t *tree, const tree_t *overlay);

#endif /* !GL_CONFIG_OVERLAY_H */
