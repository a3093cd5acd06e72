#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/nodelist.h"

/* The widest number in a bracket: 18 digits fit 64 bits with room to add. */
#define DIGITS_MAX 18

typedef struct {
    uint64_t low;
    uint64_t high;
    int width; /* zero-padded to this many digits */
} range_t;

/* A bracket: some of the list's ranges. */
typedef struct {
    size_t first;
    size_t count;
    uint64_t values;
} bracket_t;

/* A name with brackets: text[0] bracket[0] text[1] bracket[1] ... text[n]; the
 * texts are slices of the list's text. */
typedef struct {
    const char *text[NODELIST_BRACKETS_MAX + 1];
    size_t text_length[NODELIST_BRACKETS_MAX + 1];
    bracket_t bracket[NODELIST_BRACKETS_MAX];
    size_t brackets;
    uint64_t names;
} pattern_t;

struct nodelist {
    char *text;
    range_t *ranges;
    size_t range_count;
    pattern_t *patterns;
    size_t pattern_count;
    size_t pattern_size;
    uint64_t count;
    size_t at;     /* the pattern of the next name */
    uint64_t step; /* and which of its names */
    char name[NODELIST_NAME_MAX + 1];
};

static bool bad_byte (char c)
{
    return !isgraph ((unsigned char)c) || c == ']';
}

static int parse_bound (const char **cursor, uint64_t *ret_value,
                        int *ret_width, gl_error_t *error)
{
    size_t width = strspn (*cursor, "0123456789");

    if (width == 0 || width > DIGITS_MAX)
        return gl_error (error,
                         "a number of 1 to %d digits is missing at "
                         "'%.20s'",
                         DIGITS_MAX, *cursor);
    number_u64 (*cursor, width, ret_value);
    *ret_width = (int)width;
    *cursor += width;
    return 0;
}

static int parse_range (nodelist_t *list, const char **cursor,
                        bracket_t *bracket, gl_error_t *error)
{
    range_t range;
    int width;

    if (parse_bound (cursor, &range.low, &range.width, error) < 0)
        return -1;
    range.high = range.low;
    if (**cursor == '-') {
        ++*cursor;
        if (parse_bound (cursor, &range.high, &width, error) < 0)
            return -1;
    }
    if (range.high < range.low)
        return gl_error (error, "range %llu-%llu runs backwards",
                         (unsigned long long)range.low,
                         (unsigned long long)range.high);
    if (range.high - range.low >= NODELIST_MAX)
        return gl_error (error, "more than %d names", NODELIST_MAX);
    *GL_APPEND (list->ranges, list->range_count) = range;
    bracket->count++;
    bracket->values += range.high - range.low + 1;
    return 0;
}

/* At '['; leaves the cursor after ']'. */
static int parse_bracket (nodelist_t *list, const char **cursor,
                          bracket_t *bracket, gl_error_t *error)
{
    *bracket = (bracket_t){.first = list->range_count};
    do {
        ++*cursor;
        if (parse_range (list, cursor, bracket, error) < 0)
            return -1;
    } while (**cursor == ',');
    if (**cursor != ']')
        return gl_error (error, "']' is missing at '%.20s'", *cursor);
    ++*cursor;
    return 0;
}

/* The longest name of a pattern: what next_name may write. */
static size_t longest_name (const nodelist_t *list, const pattern_t *p)
{
    size_t length = 0;

    for (size_t i = 0; i <= p->brackets; i++)
        length += p->text_length[i];
    for (size_t i = 0; i < p->brackets; i++) {
        size_t widest = 0;
        for (size_t r = 0; r < p->bracket[i].count; r++) {
            const range_t *range = &list->ranges[p->bracket[i].first + r];
            size_t digits = snprintf (NULL, 0, "%0*llu", range->width,
                                      (unsigned long long)range->high);
            widest = digits > widest ? digits : widest;
        }
        length += widest;
    }
    return length;
}

static int count_names (nodelist_t *list, pattern_t *p, gl_error_t *error)
{
    size_t longest = longest_name (list, p);

    if (longest == 0 || longest > NODELIST_NAME_MAX)
        return gl_error (error, "a name of %zu bytes (1 to %d are possible)",
                         longest, NODELIST_NAME_MAX);
    p->names = 1;
    for (size_t i = 0; i < p->brackets; i++) {
        if (__builtin_mul_overflow (p->names, p->bracket[i].values, &p->names)
            || p->names > NODELIST_MAX)
            return gl_error (error, "more than %d names", NODELIST_MAX);
    }
    list->count += p->names;
    if (list->count > NODELIST_MAX)
        return gl_error (error, "more than %d names", NODELIST_MAX);
    return 0;
}

/* One name with its brackets; leaves the cursor at ',' or the end. */
static int parse_pattern (nodelist_t *list, const char **cursor, pattern_t *p,
                          gl_error_t *error)
{
    *p = (pattern_t){0};
    for (;;) {
        const char *start = *cursor;
        while (**cursor != '\0' && **cursor != ',' && **cursor != '[') {
            if (bad_byte (**cursor))
                return gl_error (error, "byte 0x%02x in a name",
                                 (unsigned char)**cursor);
            ++*cursor;
        }
        p->text[p->brackets] = start;
        p->text_length[p->brackets] = *cursor - start;
        if (**cursor != '[')
            return count_names (list, p, error);
        if (p->brackets == NODELIST_BRACKETS_MAX)
            return gl_error (error, "more than %d brackets in a name",
                             NODELIST_BRACKETS_MAX);
        if (parse_bracket (list, cursor, &p->bracket[p->brackets], error) < 0)
            return -1;
        p->brackets++;
    }
}

static int parse_list (nodelist_t *list, gl_error_t *error)
{
    const char *cursor = list->text;

    if (*cursor == '\0')
        return 0;
    for (;;) {
        if (list->pattern_count == list->pattern_size) {
            list->pattern_size
                = list->pattern_size ? 2 * list->pattern_size : 1;
            list->patterns = xreallocarray (list->patterns, list->pattern_size,
                                            sizeof (*list->patterns));
        }
        if (parse_pattern (list, &cursor, &list->patterns[list->pattern_count],
                           error)
            < 0)
            return -1;
        list->pattern_count++;
        if (*cursor == '\0')
            return 0;
        cursor++;
    }
}

static bool no_nodes (const char *text)
{
    return !text || strcmp (text, "None assigned") == 0
           || strcmp (text, "(null)") == 0;
}

nodelist_t *nodelist_open (const char *text, gl_error_t *error)
{
    nodelist_t *list = xcalloc (1, sizeof (*list));

    list->text = xstrdup (no_nodes (text) ? "" : text);
    if (parse_list (list, error) < 0) {
        gl_error_prefix (error, "node list '%.100s'", text);
        nodelist_close (list);
        return NULL;
    }
    return list;
}

void nodelist_close (nodelist_t *list)
{
    if (list) {
        free (list->text);
        free (list->ranges);
        free (list->patterns);
        free (list);
    }
}

uint64_t nodelist_count (const nodelist_t *list)
{
    return list->count;
}

void nodelist_rewind (nodelist_t *list)
{
    list->at = 0;
    list->step = 0;
}

/* The index-th number of a bracket. */
static size_t print_number (const nodelist_t *list, const bracket_t *bracket,
                            uint64_t index, char *to)
{
    for (size_t r = bracket->first; r < bracket->first + bracket->count; r++) {
        const range_t *range = &list->ranges[r];
        uint64_t values = range->high - range->low + 1;
        if (index < values)
            return number_write (to, range->low + index, (size_t)range->width);
        index -= values;
    }
    return 0;
}

static void print_name (nodelist_t *list, const pattern_t *p, uint64_t step)
{
    uint64_t index[NODELIST_BRACKETS_MAX];
    size_t length = 0;

    /* Slurm's order: the last bracket fastest, then from the left */
    for (size_t n = p->brackets; n > 0; n--) {
        size_t i = n == p->brackets ? n - 1 : p->brackets - 1 - n;
        index[i] = step % p->bracket[i].values;
        step /= p->bracket[i].values;
    }
    for (size_t i = 0; i <= p->brackets; i++) {
        memcpy (list->name + length, p->text[i], p->text_length[i]);
        length += p->text_length[i];
        if (i < p->brackets)
            length += print_number (list, &p->bracket[i], index[i],
                                    list->name + length);
    }
    list->name[length] = '\0';
}

const char *nodelist_next (nodelist_t *list)
{
    if (list->at == list->pattern_count)
        return NULL;
    print_name (list, &list->patterns[list->at], list->step);
    if (++list->step == list->patterns[list->at].names) {
        list->at++;
        list->step = 0;
    }
    return list->name;
}

/* `digits` is a number of the bracket as it would be printed. */
static bool number_in_bracket (const nodelist_t *list, const bracket_t *bracket,
                               const char *digits, size_t length)
{
    uint64_t value;

    if (length > DIGITS_MAX || number_u64 (digits, length, &value) < 0)
        return false;
    for (size_t r = bracket->first; r < bracket->first + bracket->count; r++) {
        const range_t *range = &list->ranges[r];
        bool padded = length == (size_t)range->width;
        bool grown = length > (size_t)range->width && digits[0] != '0';
        if (value >= range->low && value <= range->high && (padded || grown))
            return true;
    }
    return false;
}

/* Bracket i and all that follows match `name`. Brackets may adjoin, so each
 * number of leading digits is tried; at most DIGITS_MAX ^ brackets, in practice
 * a handful. */
static bool rest_matches (const nodelist_t *list, const pattern_t *p, size_t i,
                          const char *name)
{
    size_t length = p->text_length[i];

    if (strncmp (name, p->text[i], length) != 0)
        return false;
    name += length;
    if (i == p->brackets)
        return *name == '\0';
    for (size_t digits = 1;
         isdigit ((unsigned char)name[digits - 1]) && digits <= DIGITS_MAX;
         digits++) {
        if (number_in_bracket (list, &p->bracket[i], name, digits)
            && rest_matches (list, p, i + 1, name + digits))
            return true;
    }
    return false;
}

bool nodelist_contains (const nodelist_t *list, const char *name)
{
    return GL_ANY (list->patterns, list->pattern_count, it,
                   rest_matches (list, it, 0, name));
}
