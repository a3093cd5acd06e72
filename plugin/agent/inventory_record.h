/*
 * inventory_record.h: an inventory as records: one for each device, sharing
 * the snapshot's number (the moment it was taken), part 1..parts. A node
 * without devices is one record with parts 0. lib/record/layout.h reads them.
 */
#ifndef GL_AGENT_INVENTORY_RECORD_H
#define GL_AGENT_INVENTORY_RECORD_H

#include "base/error.h"
#include "device.h"
#include "record/record.h"

/* How many records an inventory is: at least 1. */
size_t inventory_record_count (const inventory_t *inventory);

/* Fill record `part` (0 .. count - 1): kind, key, stamp = snapshot and all
 * fields but cluster and node, which the caller sets. -1 when the system gives
 * no random key. */
int inventory_record (const inventory_t *inventory, size_t part,
                      int64_t snapshot, record_t *ret_record,
                      gl_error_t *error);

#endif /* !GL_AGENT_INVENTORY_RECORD_H */
