/*
 * catalogue_files.h: the files of the catalogue of cloud prices: the one that comes
 * with the program, and the site's own.
 */
#ifndef GL_CATALOGUE_FILES_H
#define GL_CATALOGUE_FILES_H

#include "cli/cli.h"
#include "prices/catalogue.h"

/* The rows of both files, in order; the caller clears them. `findings` as of
 * catalogue_read(). CLI_OK, or the exit code after printing the reason. */
int catalogue_files_read (cli_t *cli, catalogue_t *ret_catalogue,
                          catalogue_findings_t *findings);
/* Add the rows of one file. A missing file is an error unless it `may_miss`. */
int catalogue_file_read (cli_t *cli, const char *file, bool may_miss,
                         catalogue_t *catalogue,
                         catalogue_findings_t *findings);

/* Price the entries of `clouds` that name an offer, as of an instant, or as of the
 * newest prices for BREAKEVEN_UNDATED. Without such entries no file is read.
 * CLI_OK, or the exit code after printing the reason. */
int catalogue_clouds (cli_t *cli, int64_t instant);

#endif /* !GL_CATALOGUE_FILES_H */
