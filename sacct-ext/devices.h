/*
 * devices.h: which devices the nodes' records show for a segment.
 *
 * With several GPU types on a node, prolog and epilog see the last type only;
 * the job's steps complete the list. So a node's devices are the union of what
 * its records in the segment's time show, and the best of them says what the
 * list is worth.
 */
#ifndef GL_DEVICES_H
#define GL_DEVICES_H

#include "acct/segment.h"
#include "base/error.h"
#include "report/explain.h"
#include "store/store.h"

/* The nodes with records, ordered bytewise; free with devices_free(). A store
 * without records of the segment gives none. */
int devices_of_segment (store_t *store, const segment_t *segment,
                        explain_devices_t **ret_devices, size_t *ret_count,
                        gl_error_t *error);
void devices_free (explain_devices_t *devices, size_t count);

#endif /* !GL_DEVICES_H */
