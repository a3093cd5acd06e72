#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "ledger/fields.h"

/* --- members ----------------------------------------------------------- */

static char **text_of (const void *row, const field_t *f)
{
    return (char **)((char *)row + f->offset);
}

static mpq_ptr exact_of (const void *row, const field_t *f)
{
    return *(mpq_t *)((char *)row + f->offset);
}

static mpz_ptr units_of (const void *row, const field_t *f)
{
    return *(mpz_t *)((char *)row + f->offset);
}

static unsigned *word_of (const void *row, const field_t *f)
{
    return (unsigned *)((char *)row + f->offset);
}

static uint64_t *count_of (const void *row, const field_t *f)
{
    return (uint64_t *)((char *)row + f->offset);
}

static bool *flag_of (const void *row, const field_t *f)
{
    return (bool *)((char *)row + f->offset);
}

void fields_init (const fields_t *fields, void *row)
{
    memset (row, 0, fields->size);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].type == FIELD_EXACT)
            mpq_init (exact_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_UNITS)
            mpz_init (units_of (row, &fields->field[i]));
    }
}

void fields_clear (const fields_t *fields, void *row)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].type == FIELD_EXACT)
            mpq_clear (exact_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_UNITS)
            mpz_clear (units_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_TEXT)
            free (*text_of (row, &fields->field[i]));
    }
}

bool field_is_absent (const field_t *f, const void *row)
{
    switch (f->type) {
    case FIELD_WORD:
        return false;
    case FIELD_FLAG:
        return !*flag_of (row, f);
    case FIELD_TEXT:
        return *text_of (row, f) == NULL;
    case FIELD_EXACT:
        return mpq_sgn (exact_of (row, f)) == 0;
    case FIELD_UNITS:
        return mpz_sgn (units_of (row, f)) == 0;
    case FIELD_COUNT:
        return *count_of (row, f) == 0;
    }
    return true;
}

/* --- writing ----------------------------------------------------------- */

void fields_escape (const char *text, buffer_t *out)
{
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            buffer_add_text (out, "\\\\");
            break;
        case '\t':
            buffer_add_text (out, "\\t");
            break;
        case '\n':
            buffer_add_text (out, "\\n");
            break;
        default:
            buffer_add_char (out, *text);
        }
    }
}

void field_text (const field_t *f, const void *row, buffer_t *out)
{
    char *number = NULL;

    switch (f->type) {
    case FIELD_WORD:
        buffer_add_text (out, f->word (*word_of (row, f)));
        break;
    case FIELD_FLAG:
        buffer_add_char (out, '1');
        break;
    case FIELD_TEXT:
        fields_escape (*text_of (row, f), out);
        break;
    case FIELD_EXACT:
        number = mpq_get_str (NULL, 10, exact_of (row, f));
        break;
    case FIELD_UNITS:
        number = mpz_get_str (NULL, 10, units_of (row, f));
        break;
    case FIELD_COUNT:
        buffer_printf (out, "%" PRIu64, *count_of (row, f));
        break;
    }
    if (number)
        buffer_add_text (out, number);
    free (number);
}

void fields_text (const fields_t *fields, const void *row, buffer_t *out)
{
    const char *tab = "";

    for (size_t i = 0; i < fields->count; i++) {
        if (field_is_absent (&fields->field[i], row))
            continue;
        buffer_printf (out, "%s%s=", tab, fields->field[i].name);
        field_text (&fields->field[i], row, out);
        tab = "\t";
    }
}

/* --- reading ----------------------------------------------------------- */

char *fields_unescape (const char *text, size_t length)
{
    char *plain = xmalloc (length + 1), *to = plain;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            *to++ = text[i];
            continue;
        }
        i++;
        if (i == length || !strchr ("\\tn", text[i]) || !text[i]) {
            free (plain);
            return NULL;
        }
        *to++ = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return plain;
}

/* Only what is written here: in lowest terms, and no zero. */
static bool read_exact (const char *text, mpq_ptr value)
{
    GL_AUTOFREE char *again = NULL;

    if (mpq_set_str (value, text, 10) < 0
        || mpz_sgn (mpq_denref (value)) == 0)
        return false;
    mpq_canonicalize (value);
    again = mpq_get_str (NULL, 10, value);
    return !strcmp (again, text) && mpq_sgn (value) != 0;
}

static bool read_units (const char *text, mpz_ptr value)
{
    GL_AUTOFREE char *again = NULL;

    if (mpz_set_str (value, text, 10) < 0)
        return false;
    again = mpz_get_str (NULL, 10, value);
    return !strcmp (again, text) && mpz_sgn (value) != 0;
}

static bool read_count (const char *text, uint64_t *value)
{
    char again[24];

    *value = strtoull (text, NULL, 10);
    snprintf (again, sizeof (again), "%" PRIu64, *value);
    return !strcmp (again, text) && *value != 0;
}

static bool read_word (const char *text, const field_t *f, unsigned *value)
{
    for (*value = 0; f->word (*value); ++*value)
        if (!strcmp (f->word (*value), text))
            return true;
    *value = 0;
    return false;
}

/* Takes the value. */
static int read_value (void *row, const field_t *f, char *value,
                       gl_error_t *error)
{
    GL_AUTOFREE char *text = value;
    bool good = true;

    switch (f->type) {
    case FIELD_WORD:
        good = read_word (text, f, word_of (row, f));
        break;
    case FIELD_FLAG:
        good = *flag_of (row, f) = !strcmp (text, "1");
        break;
    case FIELD_TEXT:
        *text_of (row, f) = GL_TAKE (text);
        break;
    case FIELD_EXACT:
        good = read_exact (text, exact_of (row, f));
        break;
    case FIELD_UNITS:
        good = read_units (text, units_of (row, f));
        break;
    case FIELD_COUNT:
        good = read_count (text, count_of (row, f));
        break;
    }
    return good ? 0
                : gl_error (error,
                            "field '%s': '%.60s' is no value as written here",
                            f->name, text);
}

/* `at`: fields before it have been passed. */
static int read_field (const fields_t *fields, void *row, const char *name,
                       size_t name_length, char *value, size_t *at,
                       gl_error_t *error)
{
    while (*at < fields->count) {
        const field_t *f = &fields->field[(*at)++];
        if (strlen (f->name) == name_length
            && !strncmp (f->name, name, name_length))
            return read_value (row, f, value, error);
        if (f->type == FIELD_WORD)
            break;
    }
    free (value);
    return gl_error (error, "unexpected field '%.*s' in a %s", (int)name_length,
                     name, fields->what);
}

int fields_parse (const fields_t *fields, const char *text, size_t length,
                  void *row, gl_error_t *error)
{
    const char *end = text + length, *stop = text;
    size_t at = 0;

    for (; stop; text = stop ? stop + 1 : end) {
        stop = memchr (text, '\t', (size_t)(end - text));
        const char *limit = stop ? stop : end;
        const char *equals = memchr (text, '=', (size_t)(limit - text));
        char *value
            = equals ? fields_unescape (equals + 1, (size_t)(limit - equals - 1))
                     : NULL;
        if (!value)
            return gl_error (error, "'%.*s' is no field",
                             (int)(limit - text > 60 ? 60 : limit - text),
                             text);
        if (read_field (fields, row, text, (size_t)(equals - text), value, &at,
                        error)
            < 0)
            return -1;
    }
    return 0;
}

/* --- rows together ------------------------------------------------------ */

void field_copy (const field_t *f, void *to, const void *from)
{
    switch (f->type) {
    case FIELD_WORD:
        *word_of (to, f) = *word_of (from, f);
        break;
    case FIELD_FLAG:
        *flag_of (to, f) = *flag_of (from, f);
        break;
    case FIELD_TEXT:
        free (*text_of (to, f));
        *text_of (to, f) = xstrdup (*text_of (from, f));
        break;
    case FIELD_EXACT:
        mpq_set (exact_of (to, f), exact_of (from, f));
        break;
    case FIELD_UNITS:
        mpz_set (units_of (to, f), units_of (from, f));
        break;
    case FIELD_COUNT:
        *count_of (to, f) = *count_of (from, f);
        break;
    }
}

void fields_copy (const fields_t *fields, void *to, const void *from)
{
    for (size_t i = 0; i < fields->count; i++)
        field_copy (&fields->field[i], to, from);
}

/* A 0 is most often added: it costs nothing. */
void field_add (const field_t *f, void *to, const void *from, int sign)
{
    if (!field_is_measure (f) || field_is_absent (f, from))
        return;
    if (f->type == FIELD_EXACT)
        (sign < 0 ? mpq_sub : mpq_add) (exact_of (to, f), exact_of (to, f),
                                        exact_of (from, f));
    else if (f->type == FIELD_UNITS)
        (sign < 0 ? mpz_sub : mpz_add) (units_of (to, f), units_of (to, f),
                                        units_of (from, f));
    else if (sign < 0)
        *count_of (to, f) -= *count_of (from, f);
    else
        *count_of (to, f) += *count_of (from, f);
}

void fields_add (const fields_t *fields, void *to, const void *from, int sign)
{
    for (size_t i = 0; i < fields->count; i++)
        field_add (&fields->field[i], to, from, sign);
}

bool fields_are_zero (const fields_t *fields, const void *row)
{
    for (size_t i = 0; i < fields->count; i++)
        if (field_is_measure (&fields->field[i])
            && !field_is_absent (&fields->field[i], row))
            return false;
    return true;
}

const field_t *field_named (const fields_t *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (!strcmp (fields->field[i].name, name))
            return &fields->field[i];
    return NULL;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int field_compare (const field_t *f, const void *a, const void *b)
{
    switch (f->type) {
    case FIELD_WORD:
        return ORDER (*word_of (a, f), *word_of (b, f));
    case FIELD_FLAG:
        return ORDER (*flag_of (a, f), *flag_of (b, f));
    case FIELD_TEXT:
        return text_compare (*text_of (a, f), *text_of (b, f));
    case FIELD_EXACT:
        return mpq_cmp (exact_of (a, f), exact_of (b, f));
    case FIELD_UNITS:
        return mpz_cmp (units_of (a, f), units_of (b, f));
    case FIELD_COUNT:
        return ORDER (*count_of (a, f), *count_of (b, f));
    }
    return 0;
}
