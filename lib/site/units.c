#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "site/units.h"

#define TOKENS "tokens"
#define MILLION 1000000

static const site_unit_t *find (const site_t *site, const char *name)
{
    return GL_FIND (site->units, site->unit_count, it,
                    !strcmp (it->name, name));
}

bool unit_known (const site_t *site, const char *name)
{
    return site->unit_count == 0 || find (site, name);
}

static bool ends_in_tokens (const char *name)
{
    size_t length = strlen (name), end = strlen (TOKENS);

    return length >= end && !strcmp (name + length - end, TOKENS);
}

int64_t unit_per (const site_t *site, const char *name)
{
    const site_unit_t *unit = find (site, name);

    if (unit && unit->per)
        return unit->per;
    return ends_in_tokens (name) ? MILLION : 1;
}

char *unit_title (const site_t *site, const char *name)
{
    int64_t per = unit_per (site, name);
    size_t length = strlen (name);

    if (per == MILLION)
        return xasprintf ("million %s", name);
    if (per > 1)
        return xasprintf ("%lld %s", (long long)per, name);
    if (length > 1 && name[length - 1] == 's' && name[length - 2] != 's')
        length--;
    return xasprintf ("%.*s", (int)length, name);
}

/* --- reading ------------------------------------------------------------------- */

static int parse_quantity (const char *text, size_t length, int64_t *ret,
                           gl_error_t *error)
{
    uint64_t whole;
    bool exact;

    if (number_decimal (text, length, &whole, &exact) < 0
        || whole > UNIT_QUANTITY_MAX)
        return gl_error (error,
                         "'%.*s' is not a quantity: write a number from 0 to "
                         "1e18, such as 1.2e9",
                         (int)(length < 40 ? length : 40), text);
    if (!exact)
        return gl_error (error,
                         "'%.*s' is not a whole number of units: choose a "
                         "smaller unit",
                         (int)(length < 40 ? length : 40), text);
    *ret = (int64_t)whole;
    return 0;
}

static int parse (const char *name, size_t name_length, const char *value,
                  size_t value_length, unit_count_t *ret, gl_error_t *error)
{
    if (!tag_valid (name, name_length))
        return gl_error (error,
                         "'%.*s' is not a unit: 1-64 characters of A-Z a-z "
                         "0-9 . _ -, beginning with a letter or digit",
                         (int)(name_length < 64 ? name_length : 64), name);
    memcpy (ret->name, name, name_length);
    ret->name[name_length] = '\0';
    return parse_quantity (value, value_length, &ret->quantity, error);
}

static int refuse_unit (const site_t *site, const char *name, gl_error_t *error)
{
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < site->unit_count && names.length < 512; i++)
        buffer_printf (&names, "%s%s", i ? ", " : "", site->units[i].name);
    return gl_error (error,
                     "unknown unit '%s'; the units of this site are: %s "
                     "(units in the configuration)",
                     name, buffer_text (&names));
}

int unit_parse (const site_t *site, const char *text, unit_count_t *ret,
                gl_error_t *error)
{
    const char *equals = strchrnul (text, '=');

    if (!*equals)
        return gl_error (
            error, "'%.64s' is not UNIT=QUANTITY, such as tokens=1.2e9", text);
    if (parse (text, (size_t)(equals - text), equals + 1, strlen (equals + 1),
               ret, error)
        < 0)
        return -1;
    return unit_known (site, ret->name) ? 0
                                        : refuse_unit (site, ret->name, error);
}

bool unit_next_label (const site_t *site, const char **cursor,
                      unit_count_t *ret)
{
    const size_t prefix = strlen (UNIT_LABEL_PREFIX);
    const char *key, *value;
    size_t length, value_length;
    gl_error_t error;

    while (*cursor
           && labels_next (cursor, &key, &length, &value, &value_length))
        if (length > prefix && !memcmp (key, UNIT_LABEL_PREFIX, prefix)
            && parse (key + prefix, length - prefix, value, value_length, ret,
                      &error)
                   == 0
            && unit_known (site, ret->name))
            return true;
    return false;
}
