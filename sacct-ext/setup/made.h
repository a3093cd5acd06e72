/*
 * made.h: what setup has made on this host, so that --remove removes that and nothing
 * else.
 *
 * A file of lines "KIND DIGEST NAME" (docs/gpuledger.1). A file that was changed since
 * has another digest than its line: it is somebody's, and stays.
 */
#ifndef GL_SETUP_MADE_H
#define GL_SETUP_MADE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define MADE_FILE SYSCONFDIR "/gpuledger/setup.made"

/* SHA-256 in hexadecimal digits, and a NUL. */
#define MADE_DIGEST_SIZE 65

typedef struct {
    char *kind;   /* "file", "directory", "unit", "user", "account" */
    char *digest; /* of a file; "-" */
    char *name;
} made_row_t;

typedef struct {
    made_row_t *row;
    size_t count;
} made_t;

/* A missing file is an empty list. */
int made_read (made_t *ret_made, gl_error_t *error);
/* Replaces the file; an empty list removes it. */
int made_write (const made_t *made, gl_error_t *error);
void made_done (made_t *made);

/* Replaces the row of that kind and name. `digest` NULL: "-". */
void made_note (made_t *made, const char *kind, const char *name,
                const char *digest);
void made_forget (made_t *made, const char *kind, const char *name);
/* NULL: setup did not make it. */
const made_row_t *made_find (const made_t *made, const char *kind,
                             const char *name);

void made_digest (const char *text, size_t length,
                  char ret_digest[MADE_DIGEST_SIZE]);

#endif /* !GL_SETUP_MADE_H */
