/* text.h: texts that may be absent (NULL), which are before all others. */
#ifndef GL_BASE_TEXT_H
#define GL_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Bytewise: <0, 0, >0. */
static inline int text_compare (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) : (a != NULL) - (b != NULL);
}

static inline bool text_same (const char *a, const char *b)
{
    return text_compare (a, b) == 0;
}

#endif /* !GL_BASE_TEXT_H */
