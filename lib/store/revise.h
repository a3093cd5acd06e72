/*
 * revise.h: whether what became of a segment changed what had been counted of
 * it, and the canonical text of that. Pure; the rule is in store.h.
 */
#ifndef GL_STORE_REVISE_H
#define GL_STORE_REVISE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "site/segment.h"

/* Appends a line "name=value" to both texts for each field that differs, in
 * the order of docs/formats/store.md. False, and nothing is appended, where it
 * is no revision. In a value '\' and control characters are written \xHH. */
bool revise (const segment_t *before, const segment_t *after,
             buffer_t *text_before, buffer_t *text_after);

#endif /* !GL_STORE_REVISE_H */
