/*
 * charges_import.h: gpuledger import --charges: reads the files, and stores their rows in
 * one transaction. Messages and progress go to the user.
 */
#ifndef GL_CHARGES_IMPORT_H
#define GL_CHARGES_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "site/site.h"

typedef struct {
    char **paths;
    size_t count;
    int64_t now;
    bool force; /* dates to come, too */
    bool dry_run;
} charges_request_t;

/* An exit code. All files are stored, or nothing. */
int import_charges (cli_t *cli, const site_t *site,
                    const charges_request_t *request);

/* In verb_import.c: who runs this, and texts one a line (yours). */
const char *import_who (char text[64]);
char *import_lines (char *const *text, size_t count);

#endif /* !GL_CHARGES_IMPORT_H */
