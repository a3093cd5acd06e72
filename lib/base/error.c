#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

int gl_error (gl_error_t *error, const char *fmt, ...)
{
    int saved = errno;
    char text[GL_ERROR_SIZE];
    va_list ap;

    if (error) {
        /* through a copy: an argument may point into the old text */
        va_start (ap, fmt);
        vsnprintf (text, sizeof (text), fmt, ap);
        va_end (ap);
        memcpy (error->text, text, sizeof (text));
    }
    errno = saved;
    return -1;
}

int gl_error_prefix (gl_error_t *error, const char *fmt, ...)
{
    int saved = errno;
    char text[GL_ERROR_SIZE];
    va_list ap;
    int n;

    if (error) {
        va_start (ap, fmt);
        n = vsnprintf (text, sizeof (text), fmt, ap);
        va_end (ap);
        if (n >= 0 && (size_t)n + 2 < sizeof (text)) {
            memcpy (text + n, ": ", 2);
            n += 2;
            memccpy (text + n, error->text, 0, sizeof (text) - n);
            text[sizeof (text) - 1] = 0;
        }
        memcpy (error->text, text, sizeof (text));
    }
    errno = saved;
    return -1;
}
