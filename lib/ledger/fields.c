#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "ledger/fields.h"

/* --- members ----------------------------------------------------------- */

static void **block_of (const fields_apart_t *apart, const void *row)
{
    return (void **)((char *)row + apart->at);
}

static void *member (const void *row, const field_t *f)
{
    const char *in = row;

    if (f->apart) {
        in = *block_of (f->apart, row);
        in = in ? in : f->apart->absent;
    }
    return (char *)in + f->offset;
}

void *fields_block (const fields_apart_t *apart, void *row)
{
    void **block = block_of (apart, row);

    if (!*block) {
        *block = xmalloc (apart->block.size);
        fields_init (&apart->block, *block);
    }
    return *block;
}

/* Before it is written. */
static void own (const field_t *f, void *row)
{
    if (f->apart)
        fields_block (f->apart, row);
}

static char **text_of (const void *row, const field_t *f)
{
    return member (row, f);
}

static mpq_ptr exact_of (const void *row, const field_t *f)
{
    return *(mpq_t *)member (row, f);
}

static mpz_ptr units_of (const void *row, const field_t *f)
{
    return *(mpz_t *)member (row, f);
}

static unsigned *word_of (const void *row, const field_t *f)
{
    return member (row, f);
}

static uint64_t *count_of (const void *row, const field_t *f)
{
    return member (row, f);
}

static bool *flag_of (const void *row, const field_t *f)
{
    return member (row, f);
}

void fields_init (const fields_t *fields, void *row)
{
    memset (row, 0, fields->size);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].apart)
            continue;
        if (fields->field[i].type == FIELD_EXACT)
            mpq_init (exact_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_UNITS)
            mpz_init (units_of (row, &fields->field[i]));
    }
}

static void free_block (const fields_apart_t *apart, void *row)
{
    void **block = block_of (apart, row);

    if (*block)
        fields_clear (&apart->block, *block);
    free (*block);
    *block = NULL;
}

void fields_clear (const fields_t *fields, void *row)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].apart)
            free_block (fields->field[i].apart, row);
        else if (fields->field[i].type == FIELD_EXACT)
            mpq_clear (exact_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_UNITS)
            mpz_clear (units_of (row, &fields->field[i]));
        else if (fields->field[i].type == FIELD_TEXT)
            free (*text_of (row, &fields->field[i]));
    }
}

/* Of a row without the block they are absent. */
static bool is_missing (const field_t *f, const void *row)
{
    return f->apart && !*block_of (f->apart, row);
}

char **field_text_at (const field_t *f, void *row)
{
    return is_missing (f, row) ? NULL : text_of (row, f);
}

char **field_own_text (const field_t *f, void *row)
{
    own (f, row);
    return text_of (row, f);
}

void field_reset (const field_t *f, void *row)
{
    if (is_missing (f, row))
        return;
    switch (f->type) {
    case FIELD_WORD:
        *word_of (row, f) = 0;
        break;
    case FIELD_FLAG:
        *flag_of (row, f) = false;
        break;
    case FIELD_TEXT:
        free (*text_of (row, f)); /* fall through */
    case FIELD_NAME:
        *text_of (row, f) = NULL;
        break;
    case FIELD_EXACT:
        mpq_set_ui (exact_of (row, f), 0, 1);
        break;
    case FIELD_UNITS:
        mpz_set_ui (units_of (row, f), 0);
        break;
    case FIELD_COUNT:
        *count_of (row, f) = 0;
        break;
    }
}

void fields_reset (const fields_t *fields, void *row)
{
    for (size_t i = 0; i < fields->count; i++)
        field_reset (&fields->field[i], row);
}

bool field_is_absent (const field_t *f, const void *row)
{
    if (is_missing (f, row))
        return true;
    switch (f->type) {
    case FIELD_WORD:
        return false;
    case FIELD_FLAG:
        return !*flag_of (row, f);
    case FIELD_NAME:
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

static void add_units (buffer_t *out, mpz_srcptr value)
{
    char *room;

    if (mpz_size (value) <= 1) {
        if (mpz_sgn (value) < 0)
            buffer_add_char (out, '-');
        buffer_add_number (out, mpz_get_ui (value));
        return;
    }
    room = buffer_reserve (out, mpz_sizeinbase (value, 10) + 2);
    mpz_get_str (room, 10, value);
    out->length += strlen (room);
}

void field_value (const field_t *f, const void *row, buffer_t *out)
{
    switch (f->type) {
    case FIELD_WORD:
        buffer_add_text (out, f->word (*word_of (row, f)));
        break;
    case FIELD_FLAG:
        buffer_add_char (out, '1');
        break;
    case FIELD_NAME:
    case FIELD_TEXT:
        buffer_add_text (out, *text_of (row, f));
        break;
    case FIELD_EXACT:
        add_units (out, mpq_numref (exact_of (row, f)));
        if (mpz_cmp_ui (mpq_denref (exact_of (row, f)), 1) != 0) {
            buffer_add_char (out, '/');
            add_units (out, mpq_denref (exact_of (row, f)));
        }
        break;
    case FIELD_UNITS:
        add_units (out, units_of (row, f));
        break;
    case FIELD_COUNT:
        buffer_add_number (out, *count_of (row, f));
        break;
    }
}

void field_text (const field_t *f, const void *row, buffer_t *out)
{
    if (f->type == FIELD_TEXT || f->type == FIELD_NAME)
        buffer_add_escaped (out, *text_of (row, f), strlen (*text_of (row, f)));
    else
        field_value (f, row, out);
}

void fields_text (const fields_t *fields, const void *row, buffer_t *out)
{
    bool first = true;

    for (size_t i = 0; i < fields->count; i++) {
        if (field_is_absent (&fields->field[i], row))
            continue;
        if (!first)
            buffer_add_char (out, '\t');
        buffer_add_text (out, fields->field[i].name);
        buffer_add_char (out, '=');
        field_text (&fields->field[i], row, out);
        first = false;
    }
}

/* --- reading ----------------------------------------------------------- */

/* In place; false for a backslash that no writer has made. */
static bool unescape (char *text)
{
    char *to;

    text = strchrnul (text, '\\');
    for (to = text; *text; text++) {
        if (*text != '\\') {
            *to++ = *text;
            continue;
        }
        text++;
        if (!*text || !strchr ("\\tn", *text))
            return false;
        *to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return true;
}

char *fields_unescape (const char *text, size_t length)
{
    char *plain = xstrndup (text, length);

    if (unescape (plain))
        return plain;
    free (plain);
    return NULL;
}

/* Without a zero in front, and so never 0. */
static bool read_number (const char *text, size_t length, uint64_t *value)
{
    return *text != '0' && number_u64 (text, length, value) == 0;
}

static bool read_large (const char *text, size_t length, mpz_ptr value)
{
    GL_AUTOFREE char *digits = xstrndup (text, length);

    return *digits >= '1' && *digits <= '9'
           && strspn (digits, "0123456789") == length
           && mpz_set_str (value, digits, 10) == 0;
}

static bool read_units (const char *text, size_t length, mpz_ptr value)
{
    size_t sign = *text == '-';
    uint64_t small;

    if (read_number (text + sign, length - sign, &small))
        mpz_set_ui (value, small);
    else if (!read_large (text + sign, length - sign, value))
        return false;
    if (sign)
        mpz_neg (value, value);
    return true;
}

static bool in_lowest_terms (mpq_srcptr value)
{
    mpz_t common;
    bool lowest;

    if (mpz_cmp_ui (mpq_denref (value), 1) == 0)
        return false;
    if (mpz_fits_ulong_p (mpq_denref (value)))
        return mpz_gcd_ui (NULL, mpq_numref (value),
                           mpz_get_ui (mpq_denref (value)))
               == 1;

    mpz_init (common);
    mpz_gcd (common, mpq_numref (value), mpq_denref (value));
    lowest = mpz_cmp_ui (common, 1) == 0;
    mpz_clear (common);
    return lowest;
}

static bool read_exact (const char *text, size_t length, mpq_ptr value)
{
    const char *slash = memchr (text, '/', length);
    size_t whole = slash ? (size_t)(slash - text) : length;

    return read_units (text, whole, mpq_numref (value))
           && (!slash
               || (slash[1] != '-'
                   && read_units (slash + 1, length - whole - 1,
                                  mpq_denref (value))
                   && in_lowest_terms (value)));
}

static bool read_word (const char *text, const field_t *f, unsigned *value)
{
    for (*value = 0; f->word (*value); ++*value)
        if (!strcmp (f->word (*value), text))
            return true;
    *value = 0;
    return false;
}

bool field_set (const field_t *f, void *row, const char *text, size_t length)
{
    own (f, row);
    switch (f->type) {
    case FIELD_WORD:
        return read_word (text, f, word_of (row, f));
    case FIELD_FLAG:
        return *flag_of (row, f) = !strcmp (text, "1");
    case FIELD_NAME: /* would not own its copy */
        return false;
    case FIELD_TEXT:
        *text_of (row, f) = xstrndup (text, length);
        return true;
    case FIELD_EXACT:
        return read_exact (text, length, exact_of (row, f));
    case FIELD_UNITS:
        return read_units (text, length, units_of (row, f));
    case FIELD_COUNT:
        return read_number (text, length, count_of (row, f));
    }
    return false;
}

bool field_read (const field_t *f, void *row, char *text, size_t length)
{
    own (f, row);
    if (f->type == FIELD_NAME)
        *text_of (row, f) = text;
    else if (!field_set (f, row, text, length))
        return false;
    return (f->type != FIELD_NAME && f->type != FIELD_TEXT)
           || unescape (*text_of (row, f));
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
            return field_read (f, row, value, strlen (value))
                       ? 0
                       : gl_error (error,
                                   "field '%s': '%.60s' is not a value as "
                                   "written here",
                                   f->name, value);
        if (f->type == FIELD_WORD)
            break;
    }
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
        GL_AUTOFREE char *value
            = equals ? xstrndup (equals + 1, (size_t)(limit - equals - 1))
                     : NULL;
        if (!value)
            return gl_error (error, "'%.*s' is not a field",
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
    if (is_missing (f, from)) {
        field_reset (f, to);
        return;
    }
    own (f, to);
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
    case FIELD_NAME:
        *text_of (to, f) = *text_of (from, f);
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

void fields_move (const fields_t *fields, void *to, void *from)
{
    fields_clear (fields, to);
    memcpy (to, from, fields->size);
    fields_init (fields, from);
}

/* A 0 is most often added: it costs nothing. */
void field_add (const field_t *f, void *to, const void *from, int sign)
{
    if (is_missing (f, from))
        return;
    own (f, to);
    switch (f->type) {
    case FIELD_WORD:
    case FIELD_FLAG:
    case FIELD_NAME:
    case FIELD_TEXT:
        break;
    case FIELD_EXACT:
        if (mpq_sgn (exact_of (from, f)) != 0)
            (sign < 0 ? exact_subtract : exact_add) (exact_of (to, f),
                                                     exact_of (from, f));
        break;
    case FIELD_UNITS:
        if (mpz_sgn (units_of (from, f)) != 0)
            (sign < 0 ? mpz_sub : mpz_add) (units_of (to, f), units_of (to, f),
                                            units_of (from, f));
        break;
    case FIELD_COUNT:
        if (sign < 0)
            *count_of (to, f) -= *count_of (from, f);
        else
            *count_of (to, f) += *count_of (from, f);
        break;
    }
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
    case FIELD_NAME:
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
