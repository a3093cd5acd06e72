/*
 * seal.h: what the entry that closes a month says of its rows: how many there
 * are, their digest, and for each field the digest of its values. So that of a row
 * that was tampered with the field can be told.
 */
#ifndef GL_SEAL_H
#define GL_SEAL_H

#include "base/buffer.h"
#include "base/error.h"
#include "ledger/bill.h"

typedef struct seal seal_t;

seal_t *seal_new (void);
/* Accepts NULL. */
void seal_free (seal_t *seal);

/* The next row, and its text. `row` NULL: the text cannot be read. */
void seal_add (seal_t *seal, const bill_row_t *row, const char *text,
               size_t length);

/* Lines rows=, digest=, field.NAME= of the body, once, after the last row. */
int seal_put (seal_t *seal, buffer_t *body, gl_error_t *error);

/* Instead: the names of the fields in which the rows differ from what the body
 * says, separated by commas, onto `out`; the number of rows it says. `body` may
 * lack fields, which were added later. */
int seal_differs (seal_t *seal, const char *body, buffer_t *out,
                  uint64_t *ret_rows, gl_error_t *error);

#endif /* !GL_SEAL_H */
