/*
 * month_digest.h: what the entry that closes a month says of its rows: how many
 * there are, their digest, and for each field the digest of its values. So that
 * of a row that was tampered with the field can be told.
 */
#ifndef GL_MONTH_DIGEST_H
#define GL_MONTH_DIGEST_H

#include "base/buffer.h"
#include "base/error.h"
#include "ledger/bill.h"

typedef struct digest month_digest_t;

month_digest_t *month_digest_new (void);
/* Accepts NULL. */
void month_digest_free (month_digest_t *digest);

/* The next row, and its text. `row` NULL: the text cannot be read. */
void month_digest_add (month_digest_t *digest, const posting_t *row,
                       const char *text, size_t length);

/* Lines rows=, digest=, field.NAME= of the body, once, after the last row. */
int month_digest_put (month_digest_t *digest, buffer_t *body,
                      gl_error_t *error);

/* Instead: the names of the fields in which the rows differ from what the body
 * says, separated by commas, onto `out`; the number of rows it says. `body` may
 * lack fields, which were added later. */
int month_digest_differs (month_digest_t *digest, const char *body,
                          buffer_t *out, uint64_t *ret_rows, gl_error_t *error);

#endif /* !GL_MONTH_DIGEST_H */
