/*
 * program.h: other programs, run for what they print.
 */
#ifndef GL_PROGRAM_H
#define GL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PROGRAM_OUTPUT_MAX (64 << 20)
#define PROGRAM_SECONDS 20

typedef struct {
    const char *const *argv;
    const char *path;        /* its file; NULL: argv[0], found in PATH unless it
                              * has a slash */
    const char *const *envp; /* NULL: ours */
    int input;         /* a descriptor that the caller keeps; -1: nothing */
    int timeout_ms;    /* 0: PROGRAM_SECONDS */
    size_t output_max; /* 0: PROGRAM_OUTPUT_MAX */
    bool errors_too;   /* standard error is output, too */
    size_t *ret_length; /* bytes of the output, which may have zeros; or NULL */
} program_t;

/*
 * Runs the program, without a shell, and returns what it wrote to standard
 * output; yours to free. It is an error, with the first line of standard error,
 * if the program fails, writes more than `output_max` bytes, or takes longer
 * than `timeout_ms`: then it is killed with all processes of its group. No
 * signal is blocked or ignored in the program.
 */
char *program_run (const program_t *program, gl_error_t *error);

/* A file without a name that has these bytes, for `input`: a program that reads none of them does
 * not stop us. Close it. -1 with errno. */
int program_input (const void *data, size_t length);
/* A directory of PATH has a program of that name. */
bool program_exists (const char *name);

#endif /* !GL_PROGRAM_H */
