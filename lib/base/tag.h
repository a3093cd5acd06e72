/*
 * tag.h: what a project tag and a label may look like (libc alone: the plugin
 * uses it inside Slurm's processes; nothing here allocates or blocks).
 *
 * A tag is 1 to 64 characters of [A-Za-z0-9._-], the first a letter or a
 * digit. Labels are KEY=VALUE pairs separated by commas, keys and values being
 * tags, at most 8 pairs and 512 bytes together, no key twice.
 */
#ifndef GL_BASE_TAG_H
#define GL_BASE_TAG_H

#include <stdbool.h>
#include <stddef.h>

#define TAG_MAX 64
#define LABELS_MAX 512
#define LABEL_PAIRS_MAX 8

/* `length` bytes at `text` are a tag. No byte past them is read. */
bool tag_valid (const char *text, size_t length);

/* NULL if `text` is a valid list of labels, else why not: a constant sentence
 * fragment such as "more than 8 pairs". At most LABELS_MAX + 1 bytes of
 * `text` are read. */
const char *labels_problem (const char *text);

/* Walk a valid list. Start with *cursor = text; returns false at the end.
 * key and value point into the text and are not NUL-terminated. */
bool labels_next (const char **cursor, const char **ret_key,
                  size_t *ret_key_length, const char **ret_value,
                  size_t *ret_value_length);

#endif /* !GL_BASE_TAG_H */
