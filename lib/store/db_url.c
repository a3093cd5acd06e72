#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "store/db_url.h"

#define SCHEME "mysql://"

static int hex (char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* %XX decoded; NULL where it is broken or spells a NUL. */
static char *decode (const char *text, size_t length)
{
    char *out = xmalloc (length + 1);
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            int high = length - i > 2 ? hex (text[i + 1]) : -1;
            int low = length - i > 2 ? hex (text[i + 2]) : -1;
            if (high < 0 || low < 0 || (high | low) == 0) {
                free (out);
                return NULL;
            }
            c = high << 4 | low;
            i += 2;
        }
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return out;
}

/* Decode a part that must not be empty into *ret_part. */
static int take (const char *what, const char *text, size_t length,
                 char **ret_part, gl_error_t *error)
{
    char *part = decode (text, length);

    if (!part)
        return gl_error (error, "mysql URL: %s: a %% needs two hex digits",
                         what);
    if (part[0] == '\0') {
        free (part);
        return gl_error (error,
                         "mysql URL: no %s; write mysql://USER@HOST/DB", what);
    }
    free (*ret_part);
    *ret_part = part;
    return 0;
}

static int take_port (const char *text, size_t length, unsigned *ret_port,
                      gl_error_t *error)
{
    uint64_t port;

    if (number_u64 (text, length, &port) < 0 || port < 1 || port > 65535)
        return gl_error (error, "mysql URL: bad port '%.*s'",
                         (int)(length > 20 ? 20 : length), text);
    *ret_port = (unsigned)port;
    return 0;
}

/* HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT */
static int take_host (const char *text, size_t length, db_host_t *host,
                      gl_error_t *error)
{
    const char *end = text + length;
    const char *host_end = memchr (text, ':', length);
    const char *rest;

    if (length > 0 && text[0] == '[') {
        text++;
        host_end = memchr (text, ']', (size_t)(end - text));
        if (!host_end)
            return gl_error (error, "mysql URL: '[' without ']'");
        rest = host_end + 1;
    }
    else
        rest = host_end = host_end ? host_end : end;
    if (take ("host", text, (size_t)(host_end - text), &host->name, error) < 0)
        return -1;
    if (rest == end)
        return 0;
    if (*rest != ':')
        return gl_error (error, "mysql URL: ':PORT' expected after ']'");
    rest++;
    return take_port (rest, (size_t)(end - rest), &host->port, error);
}

/* HOST[:PORT][,HOST[:PORT]]... */
static int take_hosts (const char *text, size_t length, db_url_t *url,
                       gl_error_t *error)
{
    const char *end = text + length;

    for (;;) {
        const char *comma = memchr (text, ',', (size_t)(end - text));
        const char *host_end = comma ? comma : end;

        if (url->host_count == DB_URL_HOSTS)
            return gl_error (error, "mysql URL: more than %d hosts",
                             DB_URL_HOSTS);
        url->hosts = xreallocarray (url->hosts, url->host_count + 1,
                                    sizeof (*url->hosts));
        url->hosts[url->host_count] = (db_host_t){0};
        if (take_host (text, (size_t)(host_end - text),
                       &url->hosts[url->host_count++], error)
            < 0)
            return -1;
        if (!comma)
            return 0;
        text = comma + 1;
    }
}

static const struct {
    const char *name;
    size_t offset;
} parameters[] = {
    {"socket", offsetof (db_url_t, socket)},
    {"ssl-ca", offsetof (db_url_t, ssl_ca)},
    {"option-file", offsetof (db_url_t, option_file)},
    {"group", offsetof (db_url_t, group)},
    {"ledger", offsetof (db_url_t, ledger)},
};

static int take_parameter (const char *text, size_t length, db_url_t *url,
                           gl_error_t *error)
{
    const char *equals = memchr (text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;

    for (size_t i = 0; equals && i < GL_ARRAY_SIZE (parameters); i++) {
        if (strlen (parameters[i].name) == name
            && memcmp (parameters[i].name, text, name) == 0)
            return take (parameters[i].name, equals + 1, length - name - 1,
                         (char **)((char *)url + parameters[i].offset), error);
    }
    return gl_error (error,
                     "mysql URL: unknown parameter '%.*s'; there are socket, "
                     "ssl-ca, option-file, group, ledger (a password belongs "
                     "into the option file)",
                     (int)(name > 40 ? 40 : name), text);
}

static int take_parameters (const char *text, db_url_t *url, gl_error_t *error)
{
    while (*text) {
        size_t length = strcspn (text, "&");
        if (take_parameter (text, length, url, error) < 0)
            return -1;
        text += length + (text[length] == '&');
    }
    return 0;
}

static int parse (const char *text, db_url_t *url, gl_error_t *error)
{
    size_t authority = strcspn (text, "/?");
    const char *at = memrchr (text, '@', authority);
    const char *database = text + authority + (text[authority] == '/');
    size_t length = strcspn (database, "?");
    const char *host = at ? at + 1 : text;

    if (!at)
        return gl_error (error,
                         "mysql URL: no user; write mysql://USER@HOST/DB");
    if (memchr (text, ':', (size_t)(at - text)))
        return gl_error (error, "mysql URL: a password does not belong into "
                                "the URL, where ps and logs show it; put it "
                                "into an option file and add "
                                "?option-file=FILE");
    if (take ("user", text, (size_t)(at - text), &url->user, error) < 0
        || take_hosts (host, (size_t)(text + authority - host), url, error) < 0
        || take ("database", database, length, &url->database, error) < 0)
        return -1;
    database += length;
    return *database ? take_parameters (database + 1, url, error) : 0;
}

int db_url_parse (const char *text, db_url_t *ret_url, gl_error_t *error)
{
    db_url_t url = {0};

    if (strncmp (text, SCHEME, strlen (SCHEME)) != 0)
        return gl_error (error, "not a mysql:// URL");
    if (parse (text + strlen (SCHEME), &url, error) < 0) {
        db_url_done (&url);
        return -1;
    }
    *ret_url = url;
    return 0;
}

void db_url_done (db_url_t *url)
{
    free (url->user);
    GL_FREE_EACH (url->hosts, url->host_count, it, free (it->name));
    free (url->database);
    free (url->socket);
    free (url->ssl_ca);
    free (url->option_file);
    free (url->group);
    free (url->ledger);
    memset (url, 0, sizeof (*url));
}
