/*
 * catalogue_files.h: the files of the catalogue of cloud prices: the one that comes
 * with the program, and the site's own (`prices` of the configuration).
 */
#ifndef GL_CATALOGUE_FILES_H
#define GL_CATALOGUE_FILES_H

#include "base/error.h"
#include "prices/catalogue.h"
#include "site/site.h"

/* The rows of both files, in order; the caller clears them, after an error, too.
 * `findings` as of catalogue_read(). */
int catalogue_files_read (const site_t *site, catalogue_t *ret_catalogue,
                          catalogue_findings_t *findings, gl_error_t *error);
/* The prices of traffic that come with the program; none where the file is
 * missing. */
int catalogue_egress_read (const site_t *site, catalogue_t *ret_catalogue,
                           catalogue_findings_t *findings, gl_error_t *error);
/* Add the rows of one file. A missing file is an error unless it `may_miss`. */
int catalogue_file_read (const char *file, bool may_miss,
                         catalogue_t *catalogue, catalogue_findings_t *findings,
                         gl_error_t *error);

/* Price the entries of `clouds` that name an offer, and their traffic, as of an instant, or as of the
 * newest prices for BREAKEVEN_UNDATED. Without such entries no file is read. */
int catalogue_price_clouds (site_t *site, int64_t instant, gl_error_t *error);

#endif /* !GL_CATALOGUE_FILES_H */
