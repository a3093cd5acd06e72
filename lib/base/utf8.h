/* utf8.h: the characters of a text whose bytes may be anything. */
#ifndef GL_BASE_UTF8_H
#define GL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What replaces a character that cannot be shown: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Decode the first character of a text that is not empty and ends with NUL.
 * *ret_code is -1 for a byte that begins none (too short, too long, a
 * surrogate, above U+10FFFF). Returns its length in bytes. */
size_t utf8_decode (const char *text, int32_t *ret_code);

#endif /* !GL_BASE_UTF8_H */
