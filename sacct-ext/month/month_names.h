/*
 * month_names.h: teams and pools that a closed month was billed for. The
 * configuration of today may not have them any more; their bills stand.
 */
#ifndef GL_MONTH_NAMES_H
#define GL_MONTH_NAMES_H

#include <stdbool.h>

#include "store/store.h"
#include "usage/key.h"

/* `key` is KEY_TEAM or KEY_POOL. *ret_is: some row of a closed month has it. */
int billed_name (store_t *store, key_id_t key, const char *name, bool *ret_is,
                 gl_error_t *error);

#endif /* !GL_MONTH_NAMES_H */
