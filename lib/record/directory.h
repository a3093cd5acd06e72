/*
 * directory.h: opening and walking a spool's directories, shared by spool.c
 * and spool_state.c.
 */
#ifndef GL_RECORD_DIRECTORY_H
#define GL_RECORD_DIRECTORY_H

#include "base/error.h"

/* Open `name` below `at` if it belongs to the effective user and nobody else
 * can write to it. `path` is for messages. Returns a descriptor to close. */
int directory_open (int at, const char *name, const char *path,
                    gl_error_t *error);

/* Called with the name of an entry; other than 0 ends the walk. */
typedef int (*directory_see_f) (int fd, const char *name, void *arg);

/* Call `see` for each entry that does not begin with a dot; `fd` stays open.
 * More entries than SPOOL_ENTRIES_MAX are an error. */
int directory_walk (int fd, const char *path, directory_see_f see, void *arg,
                    gl_error_t *error);

#endif /* !GL_RECORD_DIRECTORY_H */
