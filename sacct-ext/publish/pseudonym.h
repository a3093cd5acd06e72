/*
 * pseudonym.h: other names for users, which only who has the site's key can make.
 *
 * A pseudonym is "user-" and the first 50 bits of HMAC-SHA-256 (RFC 2104) of the name
 * under the key, in base32 (RFC 4648) with small letters: user-wa2eyyoy3m. The same
 * key gives the same name the same pseudonym in every month and on every host. Who has
 * the key can try names, so that the key is as secret as the names are.
 */
#ifndef GL_PUBLISH_PSEUDONYM_H
#define GL_PUBLISH_PSEUDONYM_H

#include <stddef.h>

#include "base/error.h"

#define PSEUDONYM_KEY_MIN 16
#define PSEUDONYM_KEY_MAX 4096

typedef struct pseudonyms pseudonyms_t;

/* Names to be replaced, under a copy of the key. NULL: the key has fewer than
 * PSEUDONYM_KEY_MIN bytes or more than PSEUDONYM_KEY_MAX. Yours:
 * pseudonyms_free(). */
pseudonyms_t *pseudonyms_new (const void *key, size_t length,
                              gl_error_t *error);
/* The same under the bytes of a file, all of them: a newline at its end belongs to the
 * key. NULL also if it cannot be read, is no regular file, or if others than its owner
 * and group may read or write it. */
pseudonyms_t *pseudonyms_read (const char *path, gl_error_t *error);
/* Forgets the key. Accepts NULL. */
void pseudonyms_free (pseudonyms_t *pseudonyms);

/* The pseudonym of `name`, valid until pseudonyms_free(). NULL: another name that was
 * asked for before has the same one, and the error names both; or libcrypto cannot
 * compute it. */
const char *pseudonyms_of (pseudonyms_t *pseudonyms, const char *name,
                           gl_error_t *error);

#endif /* !GL_PUBLISH_PSEUDONYM_H */
