/*
 * changes.h: by how much something changes at instants of a period: GPUs in use, and
 * GPUs waited for. Four bytes for each change: changes by the same amount are one list
 * of instants. Add all of them, then read them in order of time. Pure. An object
 * belongs to one thread.
 */
#ifndef GL_DEMAND_CHANGES_H
#define GL_DEMAND_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What changes. */
#define CHANGES_KINDS 2

typedef struct changes changes_t;

/* From `start` on, up to 136 years: times of periods are between 1970 and 2099. Yours:
 * changes_free(). */
changes_t *changes_new (int64_t start);
/* Accepts NULL. */
void changes_free (changes_t *changes);
/* `at` is not before the start; `kind` is below CHANGES_KINDS. */
void changes_add (changes_t *changes, int64_t at, unsigned kind, int64_t by);

/* The next instant with a change, and the sum of its changes of each kind; false: there
 * is none. Nothing can be added any more. */
bool changes_next (changes_t *changes, int64_t *ret_at,
                   int64_t ret_by[CHANGES_KINDS]);

#endif /* !GL_DEMAND_CHANGES_H */
