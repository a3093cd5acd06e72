/*
 * facts_inventory.h: what the nodes' inventories in the store say.
 */
#ifndef GL_FACTS_INVENTORY_H
#define GL_FACTS_INVENTORY_H

#include "base/error.h"
#include "record/layout.h"
#include "site/segment.h"
#include "store/store.h"
#include "usage/capacity.h"

/* All inventories of a cluster (NULL: of all). Yours to close with
 * layout_close(); NULL with an error. */
layout_t *facts_inventory (store_t *store, const char *cluster,
                           gl_error_t *error);

/* The GPUs of each node and how they were cut, to the capacity. */
int facts_add_inventory (store_t *store, const char *cluster,
                         capacity_t *capacity, gl_error_t *error);

/* Type, profile and model of a device that the segment held, as the inventory of its
 * node said when it began: by index where that is told (0 and up), else by UUID.
 * What nothing tells is left as it is. Texts are the layout's. */
void facts_inventory_tell (layout_t *layout, const segment_t *s,
                           const char *node, int64_t gres_index,
                           const char *uuid, allocated_device_t *held);

#endif /* !GL_FACTS_INVENTORY_H */
