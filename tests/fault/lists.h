/*
 * lists.h: what the writers say they wrote against what the ledger holds.
 */
#ifndef GL_TESTS_FAULT_LISTS_H
#define GL_TESTS_FAULT_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/record.h"

typedef struct {
    unsigned char (*key)[RECORD_KEY_SIZE];
    size_t count;
} list_t;

/* A file of keys, one behind the other; sorted. */
int list_read (const char *path, list_t *ret_list, gl_error_t *error);
/* The keys of all that nodes sent, by SQL alone; sorted. `plugin`: only of what
 * plugins write. */
int list_stored (const char *url, bool plugin, list_t *ret_list,
                 gl_error_t *error);
void list_sort (list_t *list);
void list_free (list_t *list);

/* Keys of `list` that `other` has not; and how often a key comes again. */
size_t list_missing (const list_t *list, const list_t *other);
size_t list_repeated (const list_t *list);

#endif /* !GL_TESTS_FAULT_LISTS_H */
