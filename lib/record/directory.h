/*
 * directory.h: a spool's directories and the names of its segments,
 * "00000001.records"; shared by all that reads and writes a spool. libc alone.
 */
#ifndef GL_RECORD_DIRECTORY_H
#define GL_RECORD_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/spool.h"

/* Open `name` below `at` if it belongs to the effective user and nobody else
 * can write to it. `path` is for messages. Returns a descriptor to close. */
int directory_open (int at, const char *name, const char *path,
                    gl_error_t *error);

/* SPOOL/state, made if `make`; the same. */
int directory_open_state (const char *spool, bool make, gl_error_t *error);

/* Called with the name of an entry; other than 0 ends the walk. */
typedef int (*directory_see_f) (int fd, const char *name, void *arg);

/* Call `see` for each entry that does not begin with a dot; `fd` stays open.
 * More entries than SPOOL_ENTRIES_MAX are an error. */
int directory_walk (int fd, const char *path, directory_see_f see, void *arg,
                    gl_error_t *error);

#define SEGMENT_NAME_SIZE 32
#define SEGMENT_NUMBER_MAX 99999999

void segment_name (uint32_t number, char ret_name[SEGMENT_NAME_SIZE]);

/* The segments of a directory, ascending. */
typedef struct {
    uint32_t number[SPOOL_ENTRIES_MAX];
    size_t count;
} segments_t;
int segments_list (int fd, const char *path, segments_t *ret_segments,
                   gl_error_t *error);

/* The segment to append to: the highest while it has less than `room` bytes,
 * else the next one of at most `most`; then "is full: N segments, and"
 * `reason`. Two processes that do this at once open the same next one. Never
 * waits. Returns a descriptor. */
int segment_open_last (int at, const char *dir, off_t room, size_t most,
                       const char *reason, off_t *ret_size, gl_error_t *error);

#endif /* !GL_RECORD_DIRECTORY_H */
