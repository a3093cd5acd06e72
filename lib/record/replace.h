/*
 * replace.h: a small file, changed as a whole or not at all.
 */
#ifndef GL_RECORD_REPLACE_H
#define GL_RECORD_REPLACE_H

#include <stddef.h>

#include "base/error.h"

/* Write `size` bytes to NAME.new in the directory `at`, sync it, rename it to
 * NAME (mode 0600) and sync the directory. A reader sees the former or the new
 * file, also after a kill or a power cut. `path` names the file in messages. On
 * failure the former file stands. */
int replace_file (int at, const char *name, const char *path, const void *data,
                  size_t size, gl_error_t *error);

/* All of a regular file, with a NUL behind it, at most `max` bytes; yours to
 * free. NULL with errno ENOENT when there is none. */
char *read_file (int at, const char *name, const char *path, size_t max,
                 size_t *ret_size, gl_error_t *error);

#endif /* !GL_RECORD_REPLACE_H */
