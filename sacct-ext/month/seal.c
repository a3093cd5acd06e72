#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "month/periods.h"
#include "month/seal.h"

static const fields_t *const fields = &bill_fields[BILL_ROWS];

/* One digest of all texts, then one of each field. */
struct seal {
    uint64_t rows;
    size_t count;
    EVP_MD_CTX **context;
    bool failed;
};

seal_t *seal_new (void)
{
    seal_t *seal = xcalloc (1, sizeof (*seal));

    seal->count = fields->count + 1;
    seal->context = xcalloc (seal->count, sizeof (EVP_MD_CTX *));
    for (size_t i = 0; i < seal->count; i++) {
        seal->context[i] = EVP_MD_CTX_new ();
        if (!seal->context[i]
            || EVP_DigestInit_ex (seal->context[i], EVP_sha256 (), NULL) != 1)
            seal->failed = true;
    }
    return seal;
}

void seal_free (seal_t *seal)
{
    if (!seal)
        return;
    for (size_t i = 0; i < seal->count; i++)
        EVP_MD_CTX_free (seal->context[i]);
    free (seal->context);
    free (seal);
}

/* Values end with a line end, which none of them holds. */
static void update (seal_t *seal, size_t at, const char *text, size_t length)
{
    if (seal->failed
        || EVP_DigestUpdate (seal->context[at], text, length) != 1
        || EVP_DigestUpdate (seal->context[at], "\n", 1) != 1)
        seal->failed = true;
}

void seal_add (seal_t *seal, const bill_row_t *row, const char *text,
               size_t length)
{
    seal->rows++;
    update (seal, 0, text, length);
    for (size_t i = 1; i < seal->count; i++) {
        BUFFER_AUTO value = BUFFER_INIT;
        if (row && !field_is_absent (&fields->field[i - 1], row))
            field_text (&fields->field[i - 1], row, &value);
        update (seal, i, buffer_text (&value), value.length);
    }
}

static int finish (seal_t *seal, size_t at, char ret_text[BILLS_HASH_SIZE],
                   gl_error_t *error)
{
    uint8_t digest[EVP_MAX_MD_SIZE];

    if (seal->failed
        || EVP_DigestFinal_ex (seal->context[at], digest, NULL) != 1)
        return gl_error (error, "SHA-256 is not available");
    hash_text (digest, ret_text);
    return 0;
}

static char *name_of (size_t at)
{
    return at == 0 ? xstrdup ("digest")
                   : xasprintf ("field.%s", fields->field[at - 1].name);
}

int seal_put (seal_t *seal, buffer_t *body, gl_error_t *error)
{
    body_put_number (body, "rows", (int64_t)seal->rows);
    for (size_t i = 0; i < seal->count; i++) {
        GL_AUTOFREE char *name = name_of (i);
        char text[BILLS_HASH_SIZE];
        if (finish (seal, i, text, error) < 0)
            return -1;
        body_put (body, name, text);
    }
    return 0;
}

int seal_differs (seal_t *seal, const char *body, buffer_t *out,
                  uint64_t *ret_rows, gl_error_t *error)
{
    *ret_rows = (uint64_t)body_get_number (body, "rows");
    for (size_t i = 0; i < seal->count; i++) {
        GL_AUTOFREE char *name = name_of (i);
        GL_AUTOFREE char *said = body_get (body, name);
        char text[BILLS_HASH_SIZE];
        if (finish (seal, i, text, error) < 0)
            return -1;
        if (i > 0 && said && strcmp (said, text) != 0)
            buffer_printf (out, "%s%s", out->length ? ", " : "",
                           fields->field[i - 1].name);
    }
    return 0;
}
