/*
 * error.h: an error is -1 plus a text for the person at the terminal.
 *
 * A function that can fail takes a `gl_error_t *` as its last argument and
 * returns -1 (or NULL). The text says what happened, with which value, where
 * (file:line of input) and what to do; it has no trailing newline and no
 * program name. Library code never prints: the text travels to the command,
 * which prints it once. On success the text is left untouched. NULL is
 * accepted everywhere in place of an error. errno survives every call.
 */
#ifndef GL_BASE_ERROR_H
#define GL_BASE_ERROR_H

/* Long enough for a path (PATH_MAX is cut, the end matters less) and a
 * sentence; longer texts are cut, never overrun. */
#define GL_ERROR_SIZE 1024

typedef struct {
    char text[GL_ERROR_SIZE];
} gl_error_t;

/* Set the text. Always returns -1: `return gl_error (error, "...");` */
int gl_error (gl_error_t *error, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Put "PREFIX: " before the text that is there (e.g. file:line, when the
 * callee did not know where its input came from). Always returns -1. */
int gl_error_prefix (gl_error_t *error, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

#endif /* !GL_BASE_ERROR_H */
