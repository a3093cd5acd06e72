/*
 * book.h: the configuration that prices a month, as one canonical text: YAML
 * that config_load_text() reads again to the same site, without comments, files
 * and layout, and without what never makes a price (the collector, the agent,
 * networks, clouds, databases and when months are closed).
 *
 * Sections and keys stand in the order of the table, entries in that of the
 * files; every value is quoted, as it was written.
 */
#ifndef GL_CONFIG_BOOK_H
#define GL_CONFIG_BOOK_H

#include "base/buffer.h"
#include "config/tree.h"

/* Of documents that were read without an error, in their order; a tree may be
 * NULL. */
void book_text (const tree_t *const *trees, size_t count, buffer_t *out);

#endif /* !GL_CONFIG_BOOK_H */
