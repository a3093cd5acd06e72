/*
 * probe.h: what the readers of all vendors find on this node, for the person who
 * sets it up. Reads devices, writes nothing but the text.
 */
#ifndef GL_AGENT_PROBE_H
#define GL_AGENT_PROBE_H

#include <stdbool.h>
#include <stdio.h>

#include "devices/source.h"

/* Prints for each vendor its GPUs, and of each which values are known, or why
 * the vendor is not used. Takes a second, because some values are means over
 * time. False: there is no GPU. */
bool probe_print (const source_places_t *places, FILE *out);

#endif /* !GL_AGENT_PROBE_H */
