/* Addresses: what is neither a program's option nor a second line of a header. */
#include "base/address.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

/* RFC 5321, 4.5.3.1: a local part, a host name; both and "@" in a path. */
#define LOCAL_MAX 64
#define ADDRESS_MAX 254
#define LABEL_MAX 63

#define ALPHANUMERIC                                       \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
    "0123456789"

/* Without % and !, which old mailers read as a route. */
static const char local_letters[] = ALPHANUMERIC "#$&'*+-/=?^_`{|}~.";
static const char first_letters[] = ALPHANUMERIC "_";

static bool is_local (const char *text, size_t length)
{
    return length > 0 && length <= LOCAL_MAX && strchr (first_letters, *text)
           && strspn (text, local_letters) == length && text[length - 1] != '.'
           && !memmem (text, length, "..", 2);
}

static bool is_label (const char *text, size_t length)
{
    return length > 0 && length <= LABEL_MAX && *text != '-'
           && text[length - 1] != '-'
           && strspn (text, ALPHANUMERIC "-") >= length;
}

static bool is_host (const char *text)
{
    for (size_t length;; text += length + 1) {
        length = strcspn (text, ".");
        if (!is_label (text, length))
            return false;
        if (!text[length])
            return true;
    }
}

static bool is_address (const char *text)
{
    const char *at = strchr (text, '@');

    return at && strlen (text) <= ADDRESS_MAX
           && is_local (text, (size_t)(at - text)) && is_host (at + 1);
}

static bool has_controls (const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Without blanks and a pair of quotes around it; NULL: nothing is left. */
static char *name_of (const char *text, size_t length)
{
    while (length > 0 && *text == ' ')
        text++, length--;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length >= 2 && *text == '"' && text[length - 1] == '"')
        text++, length -= 2;
    return length > 0 ? xstrndup (text, length) : NULL;
}

int address_parse (const char *text, address_t *ret_address, gl_error_t *error)
{
    size_t length = strlen (text);
    const char *open = strrchr (text, '<');
    bool named = open && length > 0 && text[length - 1] == '>';
    GL_AUTOFREE char *address
        = named ? xstrndup (open + 1, (size_t)(text + length - 1 - open - 1))
                : xstrdup (text);

    if (has_controls (text) || !is_address (address))
        return gl_error (error,
                         "'%s' is no e-mail address; write one in ASCII, as in "
                         "ada@example.org or Ada Lovelace <ada@example.org>",
                         text);
    ret_address->name = named ? name_of (text, (size_t)(open - text)) : NULL;
    ret_address->address = address;
    ret_address->host = strchr (address, '@') + 1;
    address = NULL;
    return 0;
}

void address_clear (address_t *address)
{
    free (address->name);
    free (address->address);
    *address = (address_t){.name = NULL};
}
