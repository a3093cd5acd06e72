/*
 * program.h: other programs, run for what they print.
 */
#ifndef GL_PROGRAM_H
#define GL_PROGRAM_H

#include "base/error.h"

#define PROGRAM_OUTPUT_MAX (64 << 20)
#define PROGRAM_SECONDS 20

/*
 * Runs the program, found in PATH unless its name has a slash, and returns what it
 * wrote to standard output; yours to free. `input` is its standard input, a
 * descriptor that the caller keeps; -1: nothing. It is an error, with the first
 * line of standard error, if the program fails, writes more than
 * PROGRAM_OUTPUT_MAX bytes, or takes more than PROGRAM_SECONDS: then it is killed
 * with all processes of its group.
 */
char *program_run (const char *const *argv, int input, gl_error_t *error);

#endif /* !GL_PROGRAM_H */
