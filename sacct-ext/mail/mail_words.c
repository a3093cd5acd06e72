#include "mail/mail_words.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "render/render.h"

/* So that the line of a header has room for it, whatever the letters become. */
#define NAME_LETTERS 60

char *mail_month_text (const char *month)
{
    buffer_t text = BUFFER_INIT;

    render_readable_text (&text, month, false, " ");
    return buffer_take (&text);
}

char *mail_file_name (const char *kind, const char *period, const char *name)
{
    const char *end = name;
    int32_t code;

    for (size_t letters = 0; *end && letters < NAME_LETTERS; letters++)
        end += utf8_decode (end, &code);
    return xasprintf ("%s-%s%s%.*s.csv", kind, period, *name ? "-" : "",
                      (int)(end - name), name);
}
