#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "month/periods.h"
#include "month/month_digest.h"

static const fields_t *const fields = &bill_fields[BILL_POSTINGS];

/* One digest of all texts, then one of each field. */
struct digest {
    uint64_t rows;
    size_t count;
    EVP_MD_CTX **context;
    bool failed;
};

month_digest_t *month_digest_new (void)
{
    month_digest_t *digest = xcalloc (1, sizeof (*digest));

    digest->count = fields->count + 1;
    digest->context = xcalloc (digest->count, sizeof (EVP_MD_CTX *));
    for (size_t i = 0; i < digest->count; i++) {
        digest->context[i] = EVP_MD_CTX_new ();
        if (!digest->context[i]
            || EVP_DigestInit_ex (digest->context[i], EVP_sha256 (), NULL) != 1)
            digest->failed = true;
    }
    return digest;
}

void month_digest_free (month_digest_t *digest)
{
    if (!digest)
        return;
    for (size_t i = 0; i < digest->count; i++)
        EVP_MD_CTX_free (digest->context[i]);
    free (digest->context);
    free (digest);
}

/* Values end with a line end, which none of them holds. */
static void update (month_digest_t *digest, size_t at, const char *text,
                    size_t length)
{
    if (digest->failed
        || EVP_DigestUpdate (digest->context[at], text, length) != 1
        || EVP_DigestUpdate (digest->context[at], "\n", 1) != 1)
        digest->failed = true;
}

void month_digest_add (month_digest_t *digest, const posting_t *row,
                       const char *text, size_t length)
{
    digest->rows++;
    update (digest, 0, text, length);
    for (size_t i = 1; i < digest->count; i++) {
        BUFFER_AUTO value = BUFFER_INIT;
        if (row && !field_is_absent (&fields->field[i - 1], row))
            field_text (&fields->field[i - 1], row, &value);
        update (digest, i, buffer_text (&value), value.length);
    }
}

static int finish (month_digest_t *digest, size_t at,
                   char ret_text[MONTH_HASH_SIZE], gl_error_t *error)
{
    uint8_t bytes[EVP_MAX_MD_SIZE];

    if (digest->failed
        || EVP_DigestFinal_ex (digest->context[at], bytes, NULL) != 1)
        return gl_error (error, "SHA-256 is not available");
    hash_text (bytes, ret_text);
    return 0;
}

static char *name_of (size_t at)
{
    return at == 0 ? xstrdup ("digest")
                   : xasprintf ("field.%s", fields->field[at - 1].name);
}

int month_digest_put (month_digest_t *digest, buffer_t *body, gl_error_t *error)
{
    body_put_number (body, "rows", (int64_t)digest->rows);
    for (size_t i = 0; i < digest->count; i++) {
        GL_AUTOFREE char *name = name_of (i);
        char text[MONTH_HASH_SIZE];
        if (finish (digest, i, text, error) < 0)
            return -1;
        body_put (body, name, text);
    }
    return 0;
}

int month_digest_differs (month_digest_t *digest, const char *body,
                          buffer_t *out, uint64_t *ret_rows, gl_error_t *error)
{
    *ret_rows = (uint64_t)body_get_number (body, "rows");
    for (size_t i = 0; i < digest->count; i++) {
        GL_AUTOFREE char *name = name_of (i);
        GL_AUTOFREE char *said = body_get (body, name);
        char text[MONTH_HASH_SIZE];
        if (finish (digest, i, text, error) < 0)
            return -1;
        if (i > 0 && said && strcmp (said, text) != 0)
            buffer_printf (out, "%s%s", out->length ? ", " : "",
                           fields->field[i - 1].name);
    }
    return 0;
}
