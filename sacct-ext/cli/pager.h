/*
 * pager.h: output at a terminal, a screen at a time.
 *
 * The command is $GPULEDGER_PAGER, else $PAGER, else less, as git has it: run
 * by sh with the output as its standard input, with LESS=FRX if LESS is not
 * set, so that what fits on the screen is just printed. An empty command or cat
 * is none. Under sudo, pkexec and doas less is asked not to run other programs
 * (LESSSECURE). While it runs, the keyboard's signals are the pager's.
 */
#ifndef GL_PAGER_H
#define GL_PAGER_H

#include <stddef.h>

#include "cli/cli.h"

typedef struct pager pager_t;

/* NULL: print without one. Asks the environment; standard output is a terminal.
 */
pager_t *pager_start (cli_t *cli);
/* -1 with errno. A pager that was left takes no more, which is no error. */
int pager_write (pager_t *pager, const void *data, size_t length);
/* Waits until the reader has left. Returns an exit code; failure has been
 * reported. */
int pager_end (cli_t *cli, pager_t *pager);

#endif /* !GL_PAGER_H */
