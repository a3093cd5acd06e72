/*
 * credential.h: munge: who said it, from where, and that nobody else reads it.
 * The one place that sees munge.h.
 *
 * A credential is a text. credential_make() may restrict who can open it; the
 * local munged refuses a credential that it has opened before, or that is older
 * than its time to live (300 s). Calls wait for the local munged, a few
 * milliseconds; not for the network.
 */
#ifndef GL_WIRE_CREDENTIAL_H
#define GL_WIRE_CREDENTIAL_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

typedef struct credential credential_t;

/* `socket` NULL: libmunge's default. Accepts what munge can on this host. */
credential_t *credential_new (const char *socket, gl_error_t *error);
void credential_free (credential_t *credential);

/* A credential of such a payload still is the body of one frame (frame.h). */
#define CREDENTIAL_PAYLOAD_MAX (478 << 10)
#define CREDENTIAL_ANYBODY ((uid_t)-1)
/* Encrypted. `reader`: who may open it. *ret_text: yours to free(). */
int credential_make (credential_t *credential, const void *payload,
                     size_t length, uid_t reader, char **ret_text,
                     gl_error_t *error);

typedef struct {
    void *payload; /* yours to free(); NULL if empty */
    size_t length;
    uid_t uid;
    gid_t gid;
    struct in_addr origin; /* of the host that made it, as its munged says */
    time_t made;           /* that host's clock */
    time_t opened;         /* this host's clock */
} opened_t;

typedef enum {
    CREDENTIAL_OK = 0,
    CREDENTIAL_UNREACHABLE, /* no munged: try again */
    CREDENTIAL_REPLAYED,
    CREDENTIAL_EXPIRED, /* or from the future: clocks differ */
    CREDENTIAL_REFUSED, /* not ours to open, or not encrypted */
    CREDENTIAL_INVALID, /* damaged, or of another key */
} credential_status_t;

/* `text` is NUL-terminated. On anything but CREDENTIAL_OK the error says more
 * and *ret_opened is empty. */
credential_status_t credential_open (credential_t *credential, const char *text,
                                     opened_t *ret_opened, gl_error_t *error);

#endif /* !GL_WIRE_CREDENTIAL_H */
