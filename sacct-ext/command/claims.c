#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "command/claims.h"
#include "import/import_source.h"
#include "planning/expression.h"

#define FILE_MAX (16 * 1024 * 1024)

/* ---- the text ---- */

/* A number is put into quotes on the way, so that it stays what was written:
 * JSON's readers make binary fractions of it. */
struct quoting {
    buffer_t *out;
    bool in_text;
    bool escaped;
    bool in_number;
};

static void take_byte (struct quoting *q, char c)
{
    bool number = !q->in_text
                  && (isdigit ((unsigned char)c) || c == '-'
                      || (q->in_number && strchr (".eE+", c)));

    if (number != q->in_number)
        buffer_add_char (q->out, '"');
    q->in_number = number;
    buffer_add_char (q->out, c);
    if (q->escaped)
        q->escaped = false;
    else if (q->in_text && c == '\\')
        q->escaped = true;
    else if (c == '"')
        q->in_text = !q->in_text;
}

static int read_text (source_t *source, buffer_t *out, gl_error_t *error)
{
    struct quoting q = {.out = out};
    int c;

    while ((c = source_byte (source, error)) >= 0) {
        if (out->length > FILE_MAX)
            return gl_error (error, "more than %d MiB of claims",
                             FILE_MAX / (1024 * 1024));
        if (c == '\0')
            return gl_error (error, "holds a NUL byte");
        take_byte (&q, (char)c);
    }
    return c == SOURCE_ERROR ? -1 : 0;
}

static json_t *load (const char *path, gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;
    source_t *source = source_open (path, error);
    json_error_t why;
    json_t *root;
    int rc;

    if (!source)
        return NULL;
    rc = read_text (source, &text, error);
    if (rc < 0)
        gl_error_prefix (error, "%s", source_name (source));
    source_close (source);
    if (rc < 0)
        return NULL;
    root = json_loadb (buffer_text (&text), text.length, 0, &why);
    if (!root)
        gl_error (error, "%s:%d: broken JSON: %s", path, why.line, why.text);
    return root;
}

/* ---- a claim ---- */

static char *text_of (const json_t *object, const char *key)
{
    return xstrdup (json_string_value (json_object_get (object, key)));
}

/* Absent is fine. */
static int take_number (const json_t *object, const char *key,
                        claim_number_t *number, gl_error_t *error)
{
    const json_t *value = json_object_get (object, key);

    if (!value || json_is_null (value))
        return 0;
    if (!json_is_string (value))
        return gl_error (error, "`%s` is not a number", key);
    if (expression_number (json_string_value (value), number->value, error) < 0)
        return gl_error_prefix (error, "`%s`", key);
    number->given = true;
    return 0;
}

static int take_numbers (const json_t *one, claim_figure_t *f,
                         gl_error_t *error)
{
    const struct {
        const char *key;
        claim_number_t *number;
    } numbers[] = {
        {"value", &f->told},     {"abs_tol", &f->tolerance},
        {"printed", &f->printed}, {"printed_tol", &f->printed_tolerance},
        {"lost_in_text", &f->lost},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++)
        if (take_number (one, numbers[i].key, numbers[i].number, error) < 0)
            return -1;
    return 0;
}

static int take_figure (const json_t *one, const json_t *units, claim_t *claim,
                        gl_error_t *error)
{
    claim_figure_t *f = claim_add_figure (claim);

    f->name = text_of (one, "name");
    f->expression = text_of (one, "expr");
    f->printed_unit = text_of (one, "printed_unit");
    if (!f->name || !f->expression)
        return gl_error (error, "a figure needs `name` and `expr`");
    f->unit = text_of (units, f->name);
    if (take_numbers (one, f, error) < 0)
        return gl_error_prefix (error, "%s", f->name);
    return 0;
}

static int take_inputs (const json_t *inputs, claim_t *claim, gl_error_t *error)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)inputs, name, value)
    {
        claim_input_t *input = claim_add_input (claim);
        input->name = xstrdup (name);
        if (!json_is_string (value)
            || expression_number (json_string_value (value), input->value,
                                  error)
                   < 0)
            return gl_error (error, "input '%s' is not a number", name);
    }
    return 0;
}

static int take_figures (const json_t *one, claim_t *claim, gl_error_t *error)
{
    const json_t *units = json_object_get (one, "units"), *figure;
    size_t i;

    if (take_inputs (json_object_get (one, "inputs"), claim, error) < 0)
        return -1;
    json_array_foreach (json_object_get (one, "expected"), i, figure)
        if (take_figure (figure, units, claim, error) < 0)
            return -1;
    return 0;
}

static int take_claim (const json_t *one, claim_t *claim, gl_error_t *error)
{
    claim->id = text_of (one, "id");
    claim->statement = text_of (one, "statement");
    claim->note = text_of (one, "note");
    claim->status = text_of (one, "status");
    if (!claim->id)
        return gl_error (error, "a case needs an `id`");
    if (take_figures (one, claim, error) < 0)
        return gl_error_prefix (error, "%s", claim->id);
    return claim_judge (claim, error);
}

static int take_claims (const json_t *cases, claim_t *claims,
                        gl_error_t *error)
{
    const json_t *one;
    size_t i;

    json_array_foreach (cases, i, one)
        if (take_claim (one, &claims[i], error) < 0)
            return -1;
    return 0;
}

int claims_read (const char *path, claim_t **ret_claims, size_t *ret_count,
                 gl_error_t *error)
{
    json_t *root = load (path, error);
    const json_t *cases = json_object_get (root, "cases");
    size_t count = json_array_size (cases);
    claim_t *claims;
    int rc;

    if (!root)
        return -1;
    claims = xcalloc (count + 1, sizeof (*claims));
    rc = count == 0 ? gl_error (error, "it has no list `cases`")
                    : take_claims (cases, claims, error);
    json_decref (root);
    if (rc < 0) {
        claims_free (claims, count);
        return gl_error_prefix (error, "%s", path);
    }
    *ret_claims = claims;
    *ret_count = count;
    return 0;
}

void claims_free (claim_t *claims, size_t count)
{
    for (size_t i = 0; claims && i < count; i++)
        claim_clear (&claims[i]);
    free (claims);
}
