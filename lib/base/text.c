#include "base/text.h"

#include <strings.h>

#include "base/array.h"

bool text_in_list (const char *list, const char *word)
{
    size_t length = strlen (word);

    for (const char *at = list ? list : ""; *at;) {
        size_t n = strcspn (at, ",");
        if (n == length && strncasecmp (at, word, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

void texts_add (text_list_t *list, const char *text)
{
    *GL_APPEND (list->item, list->count) = xstrdup (text);
}

bool texts_add_new (text_list_t *list, const char *text)
{
    bool is_new = !texts_have (list, text);

    if (is_new)
        texts_add (list, text);
    return is_new;
}

bool texts_have (const text_list_t *list, const char *text)
{
    return text && GL_ANY (list->item, list->count, it, !strcmp (*it, text));
}

void texts_clear (text_list_t *list)
{
    GL_FREE_EACH (list->item, list->count, it, free (*it));
    *list = (text_list_t){NULL, 0};
}
