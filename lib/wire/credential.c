#include "wire/credential.h"

#include <munge.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* libmunge wants a context for each direction: opening writes into its own
 * what the maker had set. */
struct credential {
    char *socket;
    munge_ctx_t make;
};

static munge_ctx_t new_context (const char *socket, gl_error_t *error)
{
    munge_ctx_t context = munge_ctx_create ();

    if (!context) {
        gl_error (error, "munge: out of memory");
        return NULL;
    }
    if (socket
        && munge_ctx_set (context, MUNGE_OPT_SOCKET, socket)
               != EMUNGE_SUCCESS) {
        gl_error (error, "munge: cannot use the socket %s: %s", socket,
                  munge_ctx_strerror (context));
        munge_ctx_destroy (context);
        return NULL;
    }
    return context;
}

credential_t *credential_new (const char *socket, gl_error_t *error)
{
    munge_ctx_t make = new_context (socket, error);
    credential_t *credential;

    if (!make)
        return NULL;
    if (munge_ctx_set (make, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_DEFAULT)
        != EMUNGE_SUCCESS) {
        gl_error (error, "munge: cannot encrypt: %s",
                  munge_ctx_strerror (make));
        munge_ctx_destroy (make);
        return NULL;
    }
    credential = xcalloc (1, sizeof (*credential));
    credential->make = make;
    credential->socket = xstrdup (socket);
    return credential;
}

void credential_free (credential_t *credential)
{
    if (!credential)
        return;
    munge_ctx_destroy (credential->make);
    free (credential->socket);
    free (credential);
}

static const char *reason (munge_ctx_t context, munge_err_t status)
{
    const char *text = munge_ctx_strerror (context);

    return text ? text : munge_strerror (status);
}

int credential_make (credential_t *credential, const void *payload,
                     size_t length, uid_t reader, char **ret_text,
                     gl_error_t *error)
{
    munge_err_t status;

    if (length > CREDENTIAL_PAYLOAD_MAX)
        return gl_error (error,
                         "%zu bytes are too many for a credential, at most %d",
                         length, CREDENTIAL_PAYLOAD_MAX);
    status
        = munge_ctx_set (credential->make, MUNGE_OPT_UID_RESTRICTION, reader);
    if (status == EMUNGE_SUCCESS)
        status
            = munge_encode (ret_text, credential->make, payload, (int)length);
    if (status != EMUNGE_SUCCESS) {
        *ret_text = NULL;
        return gl_error (error, "munge: %s", reason (credential->make, status));
    }
    return 0;
}

static credential_status_t translate (munge_err_t status)
{
    switch (status) {
    case EMUNGE_SUCCESS:
        return CREDENTIAL_OK;
    case EMUNGE_CRED_REPLAYED:
        return CREDENTIAL_REPLAYED;
    case EMUNGE_CRED_EXPIRED:
    case EMUNGE_CRED_REWOUND:
        return CREDENTIAL_EXPIRED;
    case EMUNGE_CRED_UNAUTHORIZED:
        return CREDENTIAL_REFUSED;
    case EMUNGE_SNAFU:
    case EMUNGE_NO_MEMORY:
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        return CREDENTIAL_UNREACHABLE;
    default:
        return CREDENTIAL_INVALID;
    }
}

/* What the context of an opened credential says. */
static int read_context (munge_ctx_t context, opened_t *opened, int *ret_cipher)
{
    return munge_ctx_get (context, MUNGE_OPT_CIPHER_TYPE, ret_cipher)
                       == EMUNGE_SUCCESS
                   && munge_ctx_get (context, MUNGE_OPT_ADDR4, &opened->origin)
                          == EMUNGE_SUCCESS
                   && munge_ctx_get (context, MUNGE_OPT_ENCODE_TIME,
                                     &opened->made)
                          == EMUNGE_SUCCESS
                   && munge_ctx_get (context, MUNGE_OPT_DECODE_TIME,
                                     &opened->opened)
                          == EMUNGE_SUCCESS
               ? 0
               : -1;
}

static credential_status_t check (munge_ctx_t context, munge_err_t status,
                                  opened_t *opened, gl_error_t *error)
{
    int cipher;

    if (status != EMUNGE_SUCCESS) {
        gl_error (error, "munge: %s", reason (context, status));
        return translate (status);
    }
    if (read_context (context, opened, &cipher) < 0) {
        gl_error (error, "munge: %s", reason (context, EMUNGE_SNAFU));
        return CREDENTIAL_UNREACHABLE;
    }
    if (cipher == MUNGE_CIPHER_NONE) {
        gl_error (error, "munge: the credential is not encrypted");
        return CREDENTIAL_REFUSED;
    }
    return CREDENTIAL_OK;
}

credential_status_t credential_open (credential_t *credential, const char *text,
                                     opened_t *ret_opened, gl_error_t *error)
{
    munge_ctx_t context = new_context (credential->socket, error);
    credential_status_t status;
    opened_t opened = {.payload = NULL};
    munge_err_t decoded;
    int length = 0;

    memset (ret_opened, 0, sizeof (*ret_opened));
    if (!context)
        return CREDENTIAL_UNREACHABLE;
    decoded = munge_decode (text, context, &opened.payload, &length,
                            &opened.uid, &opened.gid);
    opened.length = length > 0 ? (size_t)length : 0;
    status = check (context, decoded, &opened, error);
    if (status == CREDENTIAL_OK)
        *ret_opened = opened;
    else
        free (opened.payload); /* munge gives it for a replayed one, too */
    munge_ctx_destroy (context);
    return status;
}
