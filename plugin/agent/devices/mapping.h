/*
 * mapping.h: maps Slurm's device names to devices.
 *
 * By UUID if Slurm gives one; otherwise by slurmd's own table (gres_table.h):
 * index -> device file -> minor number -> GPU, and a slice by the minors of its
 * nvidia-caps files, because all slices of a GPU share /dev/nvidiaN. Nothing is
 * guessed from an order: an ambiguous device is unknown, and `problem` of the
 * device says why in a sentence for `gpuledger doctor`
 * (docs/decisions/device-identity.md).
 *
 * Pure functions over plain data.
 */
#ifndef GL_AGENT_MAPPING_H
#define GL_AGENT_MAPPING_H

#include "base/error.h"
#include "device.h"
#include "gres_table.h"

/* Fill gres_index, gres_type and problem of every device (and file, where the
 * table's is the only one known). Call it after each scan and whenever the
 * table is new. A whole GPU that is cut into slices has no index and that is
 * no problem. `table` NULL: slurmd's table is not known; then every device
 * has that problem. Entries of the table without a device go to `error`, which
 * is a warning here; returns how many. */
size_t mapping_fill (inventory_t *inventory, const gres_table_t *table,
                     gl_error_t *error);

/*
 * The device that one word means, or DEVICE_NONE with a text: an index in gres
 * order, "GPU-uuid" (or a beginning of it that only one device has, as CUDA
 * takes it), "MIG-uuid", "MIG-GPU-uuid/gi/ci", or a device file. `length`
 * bytes, hostile.
 */
size_t mapping_find (const inventory_t *inventory, const char *token,
                     size_t length, gl_error_t *error);

/* The same for a list as in SLURM_JOB_GPUS: words separated by commas, blanks
 * around them allowed, and ranges of indices ("0-3"), as scontrol writes them.
 * Devices come in the list's order, each once, at most DEVICES_MAX. Returns how
 * many; *ret_unknown (may be NULL) counts the words without a device, `error`
 * says why of the first. */
size_t mapping_find_list (const inventory_t *inventory, const char *list,
                          size_t ret_devices[DEVICES_MAX], size_t *ret_unknown,
                          gl_error_t *error);

/* A job's devices from the two lists of a record: UUIDs in `visible_devices`
 * come first; its indices are never used, because in a step they may count
 * from 0 within the job. Else the indices of `gpus`. Either may be "". */
size_t mapping_find_job (const inventory_t *inventory, const char *gpus,
                         const char *visible_devices,
                         size_t ret_devices[DEVICES_MAX], size_t *ret_unknown,
                         gl_error_t *error);

#endif /* !GL_AGENT_MAPPING_H */
