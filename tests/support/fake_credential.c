#include "support/fake_credential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/credential.h"

_Thread_local uid_t fake_credential_uid;
_Thread_local int fake_credential_down;

struct credential {
    char nothing;
};

credential_t *credential_new (const char *socket, gl_error_t *error)
{
    (void)socket;
    (void)error;
    return calloc (1, sizeof (credential_t));
}

void credential_free (credential_t *credential)
{
    free (credential);
}

/* "FAKE:UID:HEX" */
int credential_make (credential_t *credential, const void *payload,
                     size_t length, uid_t reader, char **ret_text,
                     gl_error_t *error)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = payload;
    size_t room = 32 + 2 * length;
    char *text, *at;

    (void)credential;
    (void)reader;
    if (fake_credential_down || !(text = malloc (room)))
        return gl_error (error, "munge: no munged");
    at = text
         + snprintf (text, room, "FAKE:%u:", (unsigned)fake_credential_uid);
    for (size_t i = 0; i < length; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    *at = '\0';
    *ret_text = text;
    return 0;
}

static int digit (char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

credential_status_t credential_open (credential_t *credential, const char *text,
                                     opened_t *ret_opened, gl_error_t *error)
{
    unsigned uid;
    int at = 0;
    size_t length;
    unsigned char *bytes;

    (void)credential;
    if (fake_credential_down) {
        gl_error (error, "munge: no munged");
        return CREDENTIAL_UNREACHABLE;
    }
    if (sscanf (text, "FAKE:%u:%n", &uid, &at) != 1 || at == 0) {
        gl_error (error, "munge: invalid credential");
        return CREDENTIAL_INVALID;
    }
    length = strlen (text + at) / 2;
    bytes = malloc (length + 1);
    for (size_t i = 0; i < length; i++)
        bytes[i] = digit (text[at + 2 * i]) << 4 | digit (text[at + 2 * i + 1]);
    *ret_opened = (opened_t){.payload = bytes, .length = length, .uid = uid};
    return CREDENTIAL_OK;
}
