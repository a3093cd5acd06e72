/* text.h: texts that may be absent (NULL), which are before all others; lists. */
#ifndef GL_BASE_TEXT_H
#define GL_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Bytewise: <0, 0, >0. */
static inline int text_compare (const char *a, const char *b)
{
    return a == b ? 0 : a && b ? strcmp (a, b) : (a != NULL) - (b != NULL);
}

static inline bool text_same (const char *a, const char *b)
{
    return text_compare (a, b) == 0;
}

/* The word is one of a list with commas, whatever its case. A list of NULL is empty. */
bool text_in_list (const char *list, const char *word);

/* Owned texts. Grows by texts_add() alone. */
typedef struct {
    char **item;
    size_t count;
} text_list_t;

void texts_add (text_list_t *list, const char *text);
/* Unless it has it already: then false. */
bool texts_add_new (text_list_t *list, const char *text);
/* NULL is in no list. */
bool texts_have (const text_list_t *list, const char *text);
void texts_clear (text_list_t *list);

#endif /* !GL_BASE_TEXT_H */
