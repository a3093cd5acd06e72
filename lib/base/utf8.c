#include "base/utf8.h"

size_t utf8_decode (const char *text, int32_t *ret_code)
{
    const unsigned char *p = (const unsigned char *)text;
    static const struct {
        unsigned char mask, mark;
        int32_t least;
    } forms[] = {{0x80, 0x00, 0},
                 {0xe0, 0xc0, 0x80},
                 {0xf0, 0xe0, 0x800},
                 {0xf8, 0xf0, 0x10000}};

    for (size_t n = 0; n < 4; n++) {
        int32_t code;
        if ((p[0] & forms[n].mask) != forms[n].mark)
            continue;
        code = p[0] & ~forms[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((p[i] & 0xc0) != 0x80) /* also the end of the text */
                goto wrong;
            code = code << 6 | (p[i] & 0x3f);
        }
        if (code < forms[n].least || code > 0x10ffff
            || (code >= 0xd800 && code < 0xe000))
            goto wrong;
        *ret_code = code;
        return n + 1;
    }
wrong:
    *ret_code = -1;
    return 1;
}
