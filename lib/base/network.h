/*
 * network.h: IPv4 networks, and hosts with their ports, as people write them.
 */
#ifndef GL_BASE_NETWORK_H
#define GL_BASE_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "10.1.2.3" or "10.1.0.0/16", in host byte order. */
int network_parse (const char *text, uint32_t *ret_network, uint32_t *ret_mask,
                   gl_error_t *error);

/* Whether the text is a HOST, HOST:PORT, [ADDRESS]:PORT or an IPv6 address;
 * nobody is asked whether there is such a host. */
int network_check_host (const char *text, gl_error_t *error);

/* Cuts such a text into its parts; *ret_port NULL: none is given. An IPv6
 * address has more than one colon, and a port only in brackets. */
void network_split_host (char *text, const char **ret_host,
                         const char **ret_port);

/* Ports of this machine: "8000" and "8100-8115", at most PORTS_MAX together. Returns
 * their number, each once, or -1. */
#define PORTS_MAX 64
int network_parse_ports (const char *const *texts, size_t count,
                         uint16_t ret_ports[PORTS_MAX], gl_error_t *error);

#endif /* !GL_BASE_NETWORK_H */
