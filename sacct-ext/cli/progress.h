/*
 * progress.h: the one line that says on a terminal that a command works, and how far
 * it is.
 *
 * cli_store() begins it for every verb: whatever takes longer than a second says so,
 * with no line of code in the verb. A verb that knows how far it is says that with
 * progress_say(). The line is on standard error, is rewritten in place, and is wiped
 * before a message, before output to the terminal, and at the end. Where standard error
 * is no terminal, and with --quiet, nothing is ever written and no thread runs.
 *
 * A thread of its own writes the line, so that it moves while a database or a sum takes
 * long. There is one for the process. These functions belong to the thread that runs the
 * verb.
 */
#ifndef GL_CLI_PROGRESS_H
#define GL_CLI_PROGRESS_H

#include <stdbool.h>

#include "cli/cli.h"

/* From now on. Nothing happens where it has begun. */
void progress_begin (const cli_t *cli);
/* What is done so far, in place of the time that has passed: "file 1 of 3: 40 %". */
void progress_say (const char *fmt, ...)
    __attribute__ ((format (printf, 1, 2)));
/* Nothing is known any more of how far it is: another step begins. */
void progress_clear (void);
/* For who counts at some cost: whether progress_say() does anything. */
bool progress_is_shown (void);
/* The line is wiped, and does not come back before progress_resume(): for those who
 * write to the terminal. Calls may be nested. */
void progress_pause (void);
void progress_resume (void);
/* The line is wiped for good. Nothing happens where it has not begun. */
void progress_end (void);

#endif /* !GL_CLI_PROGRESS_H */
