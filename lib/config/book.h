/*
 * book.h: the configuration that the pages of a month are made of, its prices and
 * budgets, as one canonical text: YAML that config_load_text() reads again to the
 * same site, without comments, files and layout, and without what no such page
 * shows (the collector, the agent, networks, clouds, databases, mail and when
 * months are closed).
 *
 * Sections and keys stand in the order of the table, entries in that of the
 * files; every value is quoted, as it was written. Of staff there is what they
 * cost each pool, and not who they are and what they are paid (book_staff.h).
 */
#ifndef GL_CONFIG_BOOK_H
#define GL_CONFIG_BOOK_H

#include "base/buffer.h"
#include "config/tree.h"
#include "site/site.h"

/* Of documents that were read into the site without an error, in their order; a
 * tree may be NULL. */
void book_text (const site_t *site, const tree_t *const *trees, size_t count,
                buffer_t *out);

/* A text as YAML reads it: quoted. */
void book_add_text (buffer_t *out, const char *text);

#endif /* !GL_CONFIG_BOOK_H */
