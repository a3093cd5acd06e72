/*
 * prices.h: the price file of a node (docs/formats/prices.md), made from the
 * configuration. Pure: `now` is given.
 */
#ifndef GL_SACCT_PRICES_H
#define GL_SACCT_PRICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "site/site.h"

/* Appends the file for `node` of `cluster` at `now`. `types`: Slurm's types of
 * its devices ("gpu": untyped); none: those that its pools name. A node of no
 * pool gets a file without prices. -1 only for a damaged node list or name. */
int prices_make (const site_t *site, const char *cluster, const char *node,
                 const char *const *types, size_t type_count, int64_t now,
                 buffer_t *out, gl_error_t *error);

#endif /* !GL_SACCT_PRICES_H */
