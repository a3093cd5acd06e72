/*
 * escape.h: text from users, made harmless for each place where it is printed.
 *
 * Job names, users, accounts and labels are bytes of any content. Every
 * renderer passes every text through one of these; there is no other way from a
 * report to the output. A byte that is no UTF-8 becomes \xNN where people read
 * it at a terminal, else U+FFFD.
 */
#ifndef GL_RENDER_ESCAPE_H
#define GL_RENDER_ESCAPE_H

#include "base/buffer.h"

/* For a terminal: control characters and those that change the direction of
 * writing become \xNN. */
void escape_visible (buffer_t *out, const char *text);
/* The same, and '|' and '\' become \xNN too, so that a line splits at '|'. */
void escape_parsable (buffer_t *out, const char *text);
/* A CSV field (RFC 4180). `guard`: it is text, and what a spreadsheet would
 * take for a formula gets a leading '. Control characters but TAB, CR and LF
 * become U+FFFD. */
void escape_csv (buffer_t *out, const char *text, int guard);
/* A JSON string with its quotes. */
void escape_json (buffer_t *out, const char *text);
/* For HTML and SVG text and double-quoted attributes. Control characters and
 * direction marks become U+FFFD. */
void escape_html (buffer_t *out, const char *text);
/* For a part of an account's name, a payee or a comment of a journal
 * (docs/formats/journal.md): letters, digits, - _ . / and single blanks between
 * them, and what is beyond ASCII and shows, stay; any other byte becomes
 * %XX. Different texts stay different. An empty text is %. */
void escape_journal (buffer_t *out, const char *text);

/* For a format that allows ASCII alone: any other character becomes \uHHHH, or
 * \UHHHHHHHH beyond U+FFFF; control characters and bytes that are not UTF-8 become
 * \xHH. */
void escape_ascii (buffer_t *out, const char *text);

/* Columns that a text takes if each character takes one; what begins no UTF-8
 * counts as one. */
size_t escape_length (const char *text);

#endif /* !GL_RENDER_ESCAPE_H */
