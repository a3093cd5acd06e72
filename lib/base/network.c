#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/network.h"
#include "base/number.h"

int network_parse (const char *text, uint32_t *ret_network, uint32_t *ret_mask,
                   gl_error_t *error)
{
    const char *slash = strchr (text, '/');
    GL_AUTOFREE char *address
        = slash ? xstrndup (text, (size_t)(slash - text)) : xstrdup (text);
    struct in_addr parsed;
    uint64_t bits = 32;

    if (inet_pton (AF_INET, address, &parsed) != 1
        || (slash && number_u64_text (slash + 1, &bits) < 0) || bits > 32)
        return gl_error (
            error,
            "'%s' is not an IPv4 address or network: write 10.1.2.3 "
            "or 10.1.0.0/16",
            text);
    *ret_mask = bits ? UINT32_MAX << (32 - bits) : 0;
    *ret_network = ntohl (parsed.s_addr);
    if (*ret_network & ~*ret_mask)
        return gl_error (error,
                         "'%s' has bits behind its prefix of %u: write the "
                         "network's first address",
                         text, (unsigned)bits);
    return 0;
}

static bool is_ipv6 (const char *text, size_t length)
{
    GL_AUTOFREE char *address = xstrndup (text, length);
    struct in6_addr parsed;

    address[strcspn (address, "%")] = '\0'; /* fe80::1%eth0 */
    return inet_pton (AF_INET6, address, &parsed) == 1;
}

static bool is_port (const char *text)
{
    uint64_t port;

    return number_u64_text (text, &port) == 0 && port >= 1 && port <= 65535;
}

static bool is_host (const char *text)
{
    const char *colon = strchr (text, ':');
    const char *close = text[0] == '[' ? strchr (text, ']') : NULL;
    size_t length = colon ? (size_t)(colon - text) : strlen (text);

    for (const char *p = text; *p; p++) {
        if (*p <= ' ' || *p == 0x7f)
            return false;
    }
    if (close)
        return close > text + 1
               && (!close[1] || (close[1] == ':' && is_port (close + 2)));
    if (colon && strchr (colon + 1, ':'))
        return is_ipv6 (text, strlen (text));
    return length > 0 && !memchr (text, '/', length)
           && (!colon || is_port (colon + 1));
}

int network_check_host (const char *text, gl_error_t *error)
{
    if (is_host (text))
        return 0;
    return gl_error (error,
                     "'%.200s' is not a host: write HOST, HOST:PORT or "
                     "[ADDRESS]:PORT",
                     text);
}

void network_split_host (char *text, const char **ret_host,
                         const char **ret_port)
{
    char *colon = strrchr (text, ':'), *bracket = strchr (text, ']');

    *ret_host = text;
    *ret_port = NULL;
    if (text[0] == '[' && bracket) {
        *ret_host = text + 1;
        *bracket = '\0';
        if (bracket[1] == ':')
            *ret_port = bracket + 2;
    } else if (colon && colon == strchr (text, ':')) {
        *colon = '\0';
        *ret_port = colon + 1;
    }
}

/* --- ports --------------------------------------------------------------------- */

/* "8000" is 8000-8000 */
static int parse_range (const char *text, uint64_t *ret_first,
                        uint64_t *ret_last)
{
    size_t length = strcspn (text, "-");

    if (number_u64 (text, length, ret_first) < 0)
        return -1;
    *ret_last = *ret_first;
    if (text[length] && number_u64_text (text + length + 1, ret_last) < 0)
        return -1;
    return *ret_first >= 1 && *ret_first <= *ret_last && *ret_last <= UINT16_MAX
               ? 0
               : -1;
}

static int add_port (uint16_t ports[PORTS_MAX], int count, uint16_t port)
{
    for (int i = 0; i < count; i++)
        if (ports[i] == port)
            return count;
    if (count == PORTS_MAX)
        return -1;
    ports[count] = port;
    return count + 1;
}

int network_parse_ports (const char *const *texts, size_t count,
                         uint16_t ret_ports[PORTS_MAX], gl_error_t *error)
{
    uint64_t first, last;
    int ports = 0;

    for (size_t i = 0; i < count; i++) {
        if (parse_range (texts[i], &first, &last) < 0)
            return gl_error (error,
                             "'%.32s' is not PORT or FIRST-LAST, from 1 to "
                             "65535",
                             texts[i]);
        for (uint64_t port = first; port <= last && ports >= 0; port++)
            ports = add_port (ret_ports, ports, (uint16_t)port);
        if (ports < 0)
            return gl_error (error, "'%.32s' makes more than %d ports",
                             texts[i], PORTS_MAX);
    }
    return ports;
}
