/* cli_help.h: --help, made of the tables. Prints to standard output. */
#ifndef GL_CLI_HELP_H
#define GL_CLI_HELP_H

#include "cli/cli.h"

/* The verbs in the order of the help; ends with NULL. Stands in main.c. */
extern const verb_t *const cli_verbs[];

/* NULL: of the command itself. */
void cli_help (const verb_t *verb);

#endif /* !GL_CLI_HELP_H */
