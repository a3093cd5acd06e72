/*
 * Slurm's GRES notation (tres.h).
 */
#include <string.h>

#include "base/number.h"
#include "gres/tres.h"

/* "2", "1K"; the count of "gpu:h100:2" */
static bool is_count (const char *text, size_t length)
{
    size_t digits = strspn (text, "0123456789");

    return digits > 0
           && (digits >= length
               || (digits + 1 == length && strchr ("KM", text[digits])));
}

static int parse_count (const char *text, size_t length, uint64_t *ret_count,
                        gl_error_t *error)
{
    char suffix = text[length - 1];
    uint64_t factor = suffix == 'K' ? 1024 : suffix == 'M' ? 1024 * 1024 : 1;
    uint64_t count;

    if (number_u64 (text, factor > 1 ? length - 1 : length, &count) < 0
        || __builtin_mul_overflow (count, factor, ret_count))
        return gl_error (error, "count '%.*s' is beyond 64 bits",
                         (int)(length > 64 ? 64 : length), text);
    return 0;
}

/* NAME[:TYPE][:COUNT] without the text in parentheses */
static int add_one (tres_t *tres, const char *item, size_t length,
                    gl_error_t *error)
{
    const char *name = item, *colon, *last;
    size_t word, whole = length;
    uint64_t count = 1;

    if (length > 5 && memcmp (item, "gres", 4) == 0
        && (item[4] == '/' || item[4] == ':')) {
        name += 5;
        whole -= 5;
    }
    colon = memchr (name, ':', whole);
    if (!colon)
        colon = memchr (name, '=', whole);
    word = colon ? (size_t)(colon - name) : whole;
    last = memrchr (name, ':', whole);
    if (!last || memrchr (name, '=', whole) > (void *)last)
        last = memrchr (name, '=', whole);
    if (last && is_count (last + 1, name + whole - last - 1)) {
        if (parse_count (last + 1, name + whole - last - 1, &count, error) < 0)
            return -1;
        whole = last - name;
    }
    if (word == 0)
        return gl_error (error, "'%.*s' is not NAME[:TYPE][:COUNT]",
                         (int)(length > 64 ? 64 : length), item);
    if (whole > word
        && tres_add_gres_name (tres, name, whole, count, error) < 0)
        return -1;
    return tres_add_gres_name (tres, name, word, count, error);
}

int tres_add_gres (tres_t *tres, const char *text, gl_error_t *error)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn (p, ",(");
        if (length > 0 && add_one (tres, p, length, error) < 0)
            return gl_error_prefix (error, "GRES '%.200s'", text);
        p += length;
        if (*p == '(') {
            p += strcspn (p, ")");
            if (*p == '\0')
                return gl_error (error, "GRES '%.200s': '(' without ')'", text);
            p++;
        }
        p += *p == ',';
    }
    return 0;
}
