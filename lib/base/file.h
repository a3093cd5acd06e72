/*
 * file.h: small files, read as a whole and replaced as a whole.
 *
 * The new content is written under another name in the same directory, then
 * renamed: a reader sees the old content or the new one, never a part of it,
 * also when the writer is killed in between. On failure the old file stays and
 * the other one is removed. A link that has the name is replaced, not followed,
 * and the other name is always of a new file: a link or a FIFO that others put
 * there is not written to.
 *
 * Of libc alone. Names are borrowed; what is given back is yours to free.
 */
#ifndef GL_BASE_FILE_H
#define GL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* What a power cut leaves. */
typedef enum {
    FILE_LOOSE,   /* maybe an empty file: it is soon written again */
    FILE_WHOLE,   /* the former content or the new one */
    FILE_DURABLE, /* the new one; `at` is then an open directory */
} file_sync_t;

typedef struct {
    int at;           /* a directory, or AT_FDCWD */
    const char *name; /* in it; valid until the draft is closed */
    mode_t mode;      /* whatever the umask is; 0: 0666 less the umask */
    file_sync_t sync;
    /* Several may replace it at a time: each writes under a name of its own,
     * which stays behind when it is killed. Otherwise under NAME.new, which
     * the next one takes away. */
    bool shared;
} file_target_t;

/* Replace it by `size` bytes. `path` is the file's name in messages. */
int file_replace (const file_target_t *target, const char *path,
                  const void *data, size_t size, gl_error_t *error);

/* The same for content that comes bit by bit; errno says what went wrong. */
typedef struct file_draft file_draft_t;
/* NULL when the new file cannot be made. */
file_draft_t *file_draft_open (const file_target_t *target);
/* -1 after a failure, which is kept: all that follows fails likewise. */
int file_draft_write (file_draft_t *draft, const void *data, size_t size);
/* Rename it, or throw it away when it is not complete; frees the draft. -1: it
 * was to replace the file and does not, or may not after a power cut. */
int file_draft_close (file_draft_t *draft, bool complete);

/* Write all of it to a descriptor, however often that takes; -1 with errno. */
int file_write_all (int fd, const void *data, size_t size);

/* All of a regular file of at most `max` bytes, with a NUL behind them; yours to
 * free. A link is not followed. NULL with errno ENOENT when there is none. */
char *file_read (int at, const char *name, const char *path, size_t max,
                 size_t *ret_size, gl_error_t *error);

/* A small file whose size nothing says, as in /proc: at most `size` - 1 bytes,
 * which a NUL follows ("" on failure). How many, or -1 with errno. */
ssize_t file_read_small (const char *path, char *ret_text, size_t size);

#endif /* !GL_BASE_FILE_H */
