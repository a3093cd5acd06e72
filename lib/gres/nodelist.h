/*
 * nodelist.h: Slurm's host list grammar: "g[001-008,012],login1",
 * "r[1-2]n[01-10]".
 *
 * A list is names separated by commas; in a name any number of brackets hold
 * numbers and ranges, each padded to the width in which its start is written.
 * Names come in the order of `scontrol show hostnames` (the last bracket runs
 * fastest, then the first, the second, ...), twice if written twice.
 *
 * Bounds, because lists arrive from files: NODELIST_MAX names, brackets of one
 * name NODELIST_BRACKETS_MAX, a name NODELIST_NAME_MAX bytes of printable ASCII
 * without blanks. Names are made one at a time; memory follows the length of
 * the text, not the number of names. An object belongs to one thread.
 */
#ifndef GL_GRES_NODELIST_H
#define GL_GRES_NODELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NODELIST_MAX 1000000
#define NODELIST_BRACKETS_MAX 8
#define NODELIST_NAME_MAX 255

typedef struct nodelist nodelist_t;

/* Parse and check the whole text. NULL, "", "None assigned" and "(null)" are
 * the empty list. NULL with an error that names the text. */
nodelist_t *nodelist_open (const char *text, gl_error_t *error);
/* Accepts NULL. */
void nodelist_close (nodelist_t *list);

/* How many names nodelist_next gives. */
uint64_t nodelist_count (const nodelist_t *list);
/* The next name, borrowed until the next call; NULL at the end. */
const char *nodelist_next (nodelist_t *list);
/* Start again with the first name. */
void nodelist_rewind (nodelist_t *list);
/* One of the names is `name`. Does not move nodelist_next. */
bool nodelist_contains (const nodelist_t *list, const char *name);

#endif /* !GL_GRES_NODELIST_H */
