/*
 * address.h: an e-mail address as people write it: "ada@example.org" or
 * "Ada Lovelace <ada@example.org>".
 *
 * Accepted is what a header of a message and an argument of a program can hold
 * without quotes: a dot-atom of RFC 5322, in ASCII, that begins with a letter, a
 * digit or '_', and a host name. A name may have any letters, but no controls.
 */
#ifndef GL_BASE_ADDRESS_H
#define GL_BASE_ADDRESS_H

#include "base/error.h"

typedef struct {
    char *name;       /* NULL: none */
    char *address;    /* "ada@example.org" */
    const char *host; /* in it: "example.org" */
} address_t;

/* -1 with an error that says what is wrong with the text. address_clear() it. */
int address_parse (const char *text, address_t *ret_address, gl_error_t *error);
void address_clear (address_t *address);

#endif /* !GL_BASE_ADDRESS_H */
