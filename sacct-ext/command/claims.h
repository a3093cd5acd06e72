/*
 * claims.h: files of published figures (docs/formats/claims.md) -> claims.
 */
#ifndef GL_CLAIMS_H
#define GL_CLAIMS_H

#include <stddef.h>

#include "base/error.h"
#include "planning/claim.h"

/*
 * All claims of a file, judged. "-": standard input. Numbers are read as they are
 * written. -1: no such file, broken JSON, another form, an expression that cannot
 * be evaluated; the error names the file, and the claim where there is one.
 */
int claims_read (const char *path, claim_t **ret_claims, size_t *ret_count,
                 gl_error_t *error);
void claims_free (claim_t *claims, size_t count);

#endif /* !GL_CLAIMS_H */
