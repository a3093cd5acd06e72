/*
 * ship_prices.h: the question for prices (docs/formats/prices.md).
 */
#ifndef GL_AGENT_SHIP_PRICES_H
#define GL_AGENT_SHIP_PRICES_H

#include <stddef.h>

/* The payload of VERB_PRICES, with room for the request's header: cluster,
 * node, and the types of devices that SPOOL/state/devices names. Yours to
 * free; NULL when cluster or node are not known. */
unsigned char *prices_request (const char *spool, const char *cluster,
                               const char *node, size_t *ret_size);

#endif /* !GL_AGENT_SHIP_PRICES_H */
