/*
 * change.h: the changes that setup makes to a host, a function for each kind.
 *
 * A change is complete or has not happened: files are replaced as a whole (base/file.h).
 * What was made is noted (setup/made.h) as soon as it is made. With `dry_run` nothing
 * changes. Each function adds to `log` what it did or would do, a line each, with the
 * difference for a file; what is secret is not shown.
 */
#ifndef GL_SETUP_CHANGE_H
#define GL_SETUP_CHANGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "setup/made.h"

typedef struct {
    bool dry_run;
    bool image; /* of a host that boots later: nothing is started */
    made_t made;
    buffer_t log;
} changes_t;

typedef struct {
    const char *path;
    mode_t mode;
    const char *owner; /* name of a user; NULL: root */
    const char *group; /* NULL: root */
    bool secret;       /* its content is not shown */
    bool shared; /* somebody else's file, in which we change lines: it keeps
                          owner and mode, and is not ours to remove */
} change_file_t;

/* Both make the directory of the file, if it is missing. */
int change_write (changes_t *changes, const change_file_t *file,
                  const char *text, gl_error_t *error);
/* A directory with this owner and mode; an existing one gets them. */
int change_directory (changes_t *changes, const change_file_t *directory,
                      gl_error_t *error);
/* Runs a program. `what` is noted under `kind` if that is not NULL. */
int change_run (changes_t *changes, const char *const *argv, const char *kind,
                const char *what, gl_error_t *error);

/* Takes back: a file that setup made and nobody has changed since. *ret_left: it was
 * changed, so it is left. A file that setup did not make is left without a word. */
int change_remove (changes_t *changes, const char *path, bool *ret_left,
                   gl_error_t *error);
/* The same, but the file gets the text that was there before. */
int change_restore (changes_t *changes, const change_file_t *file,
                    const char *text, bool *ret_left, gl_error_t *error);

/* Adds "would VERB WHAT" or, after the fact, "PAST WHAT" to the log. */
void change_log (changes_t *changes, const char *verb, const char *past,
                 const char *what);

/* Setup no longer vouches for it; nothing with `dry_run`. */
int change_forget (changes_t *changes, const char *kind, const char *name,
                   gl_error_t *error);

/* The whole text of a file, yours; NULL: it is missing, or cannot be read (the error
 * then has a text). */
char *change_read (const char *path, gl_error_t *error);

#endif /* !GL_SETUP_CHANGE_H */
