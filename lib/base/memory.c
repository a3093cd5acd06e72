#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static void *check (void *ptr)
{
    if (!ptr) {
        fputs ("gpuledger: out of memory\n", stderr);
        exit (1);
    }
    return ptr;
}

void *xmalloc (size_t size)
{
    return check (malloc (size ? size : 1));
}

void *xcalloc (size_t count, size_t size)
{
    return check (calloc (count ? count : 1, size ? size : 1));
}

void *xrealloc (void *ptr, size_t size)
{
    return check (realloc (ptr, size ? size : 1));
}

void *xreallocarray (void *ptr, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow (count, size, &bytes))
        return check (NULL);
    return xrealloc (ptr, bytes);
}

void memory_trim (void)
{
#ifdef __GLIBC__
    malloc_trim (0);
#endif
}

char *xstrdup (const char *s)
{
    return s ? check (strdup (s)) : NULL;
}

char *xstrndup (const char *s, size_t n)
{
    return s ? check (strndup (s, n)) : NULL;
}

char *xasprintf (const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start (ap, fmt);
    n = vasprintf (&s, fmt, ap);
    va_end (ap);
    return check (n < 0 ? NULL : s);
}
