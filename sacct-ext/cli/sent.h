/*
 * sent.h: which alerts were sent, so that each is sent once: the file of --once.
 *
 * A text file: a head, then a line for each alert, NAME TAB PERIOD TAB WHAT, with names
 * as in the canonical text of a bill. Verbs may share it.
 */
#ifndef GL_CLI_SENT_H
#define GL_CLI_SENT_H

#include "base/buffer.h"
#include "cli/cli.h"

/* The file's text; of one that does not exist, the head. Returns an exit code. */
int sent_read (cli_t *cli, const char *path, buffer_t *text);
/* True the first time; then it is in the text. */
bool sent_is_new (buffer_t *text, const char *name, const char *period,
                  const char *what);
/* It may be sent again. */
void sent_forget (buffer_t *text, const char *name, const char *period,
                  const char *what);
/* Replaces the file. Returns an exit code. */
int sent_write (cli_t *cli, const char *path, const buffer_t *text);

#endif /* !GL_CLI_SENT_H */
