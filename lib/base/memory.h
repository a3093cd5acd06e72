/*
 * memory.h: allocation for commands.
 *
 * The x* functions never return NULL: when memory is exhausted they print one
 * line to stderr and exit with status 1. Nothing that runs inside Slurm's
 * processes (plugin/, lib/record, lib/base/tag) may use them.
 *
 * One ownership rule in the whole tree: `const char *` is borrowed (valid
 * until the next call on the object that gave it), `char *` is yours to free.
 */
#ifndef GL_BASE_MEMORY_H
#define GL_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

void *xmalloc (size_t size);
void *xcalloc (size_t count, size_t size);
void *xrealloc (void *ptr, size_t size);
/* count * size, checked for overflow */
void *xreallocarray (void *ptr, size_t count, size_t size);
/* Gives free pages back to the system, after much was freed: blocks of a month leave holes
 * between those that stay, in which larger ones have no room. */
void memory_trim (void);
/* NULL gives NULL */
char *xstrdup (const char *s);
char *xstrndup (const char *s, size_t n);
char *xasprintf (const char *fmt, ...) __attribute__ ((format (printf, 1, 2)));

/* Free at the end of the scope: `GL_AUTOFREE char *text = NULL;` */
static inline void gl_autofree_cb (void *pp)
{
    free (*(void **)pp);
}
#define GL_AUTOFREE __attribute__ ((cleanup (gl_autofree_cb)))

/* Hand a pointer over: returns it and leaves NULL behind. */
#define GL_TAKE(ptr)                                                           \
    ({                                                                         \
        __typeof__ (ptr) _taken = (ptr);                                       \
        (ptr) = NULL;                                                          \
        _taken;                                                                \
    })

#define GL_ARRAY_SIZE(a) (sizeof (a) / sizeof ((a)[0]))

#endif /* !GL_BASE_MEMORY_H */
