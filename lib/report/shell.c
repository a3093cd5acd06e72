#include <string.h>

#include "report/shell.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+,=-";

void shell_word (buffer_t *out, const char *word)
{
    buffer_add_char (out, ' ');
    if (*word && word[strspn (word, plain)] == '\0') {
        buffer_add_text (out, word);
        return;
    }
    buffer_add_char (out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buffer_add_text (out, "'\\''");
        else
            buffer_add_char (out, *word);
    }
    buffer_add_char (out, '\'');
}
