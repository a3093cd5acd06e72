/*
 * verify.h: whether the chain is what was written: every hash is computed again.
 *
 * What is found is told by month, row and field. A chain has no key: whoever owns
 * the database can compute all of it anew. So the head is printed on statements,
 * and a head that was once printed is looked for here.
 */
#ifndef GL_VERIFY_H
#define GL_VERIFY_H

#include "month/periods.h"

typedef struct {
    uint64_t entries;
    uint64_t rows;    /* of bills */
    uint64_t months;  /* closings */
    chain_head_t head;
    bool has_head; /* the one that was looked for is in the chain */
    uint64_t head_number; /* of its entry */
    char **problem; /* a sentence each */
    size_t count;
} verified_t;

/* One more problem. */
void verified_add (verified_t *verified, const char *problem);

/* `head`: a hash from a statement, or NULL. */
int verify_chain (store_t *store, const uint8_t *head, verified_t *ret,
                  gl_error_t *error);
void verified_clear (verified_t *verified);

#endif /* !GL_VERIFY_H */
