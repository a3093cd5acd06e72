/*
 * facts_inventory.h: what the nodes' inventories in the store say.
 */
#ifndef GL_FACTS_INVENTORY_H
#define GL_FACTS_INVENTORY_H

#include "acct/capacity.h"
#include "base/error.h"
#include "record/layout.h"
#include "store/store.h"

/* All inventories of a cluster (NULL: of all). Yours to close with
 * layout_close(); NULL with an error. */
layout_t *facts_inventory (store_t *store, const char *cluster,
                           gl_error_t *error);

/* The GPUs of each node and how they were cut, to the capacity. */
int facts_add_inventory (store_t *store, const char *cluster,
                         capacity_t *capacity, gl_error_t *error);

#endif /* !GL_FACTS_INVENTORY_H */
