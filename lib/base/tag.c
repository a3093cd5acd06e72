#include <string.h>

#include "base/tag.h"

static bool is_alnum (char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || (c >= '0' && c <= '9');
}

bool tag_valid (const char *text, size_t length)
{
    if (length < 1 || length > TAG_MAX || !is_alnum (text[0]))
        return false;
    for (size_t i = 1; i < length; i++) {
        char c = text[i];
        if (!is_alnum (c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool labels_next (const char **cursor, const char **ret_key,
                  size_t *ret_key_length, const char **ret_value,
                  size_t *ret_value_length)
{
    const char *p = *cursor;
    size_t pair, key;

    if (*p == '\0')
        return false;
    pair = strcspn (p, ",");
    for (key = 0; key < pair && p[key] != '='; key++)
        ;
    *ret_key = p;
    *ret_key_length = key;
    *ret_value = key < pair ? p + key + 1 : p + pair;
    *ret_value_length = key < pair ? pair - key - 1 : 0;
    *cursor = p + pair + (p[pair] == ',');
    return true;
}

/* An earlier pair has the key, too. */
static bool key_seen_before (const char *labels, const char *key, size_t length)
{
    const char *cursor = labels, *k, *v;
    size_t klen, vlen;

    while (cursor < key && labels_next (&cursor, &k, &klen, &v, &vlen)) {
        if (k < key && klen == length && memcmp (k, key, length) == 0)
            return true;
    }
    return false;
}

const char *labels_problem (const char *text)
{
    const char *cursor = text, *key, *value;
    size_t length = strnlen (text, LABELS_MAX + 1), klen, vlen;
    int pairs = 0;

    if (length == 0)
        return "it is empty";
    if (length > LABELS_MAX)
        return "it is longer than 512 bytes";
    if (text[length - 1] == ',')
        return "it ends with a comma";
    while (labels_next (&cursor, &key, &klen, &value, &vlen)) {
        if (++pairs > LABEL_PAIRS_MAX)
            return "it has more than 8 pairs";
        if (!tag_valid (key, klen))
            return "a key is not 1-64 characters of A-Z a-z 0-9 . _ - "
                   "beginning with a letter or digit";
        if (key[klen] != '=')
            return "a pair has no '='; write KEY=VALUE[,KEY=VALUE...]";
        if (!tag_valid (value, vlen))
            return "a value is not 1-64 characters of A-Z a-z 0-9 . _ - "
                   "beginning with a letter or digit";
        if (key_seen_before (text, key, klen))
            return "a key is given twice";
    }
    return NULL;
}
