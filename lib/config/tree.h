/*
 * tree.h: YAML text -> a tree of texts, each with its line. tree.c alone sees
 * libyaml.
 *
 * What a configuration does not need is refused with its line, so that no
 * input costs more than its size: aliases, more than one document, nesting
 * deeper than TREE_DEPTH_MAX, keys that are not plain texts, and a key that
 * stands twice in one mapping. Tags are ignored: every value is a text.
 */
#ifndef GL_CONFIG_TREE_H
#define GL_CONFIG_TREE_H

#include <stddef.h>

#include "base/error.h"

/* file -> kind -> entry -> value -> share: five levels, and some air. */
#define TREE_DEPTH_MAX 12
/* The longest mapping is a person's shares of pools. Keys are compared with
 * each other: so many cost some milliseconds. */
#define TREE_KEYS_MAX 4096

typedef enum {
    TREE_TEXT,
    TREE_LIST,
    TREE_MAPPING,
} tree_type_t;

typedef struct tree {
    tree_type_t type;
    int line;      /* from 1 */
    char *text;    /* of a text, NUL-terminated */
    size_t length; /* of it: longer than strlen if it holds a NUL */
    struct tree **item; /* of a list; of a mapping key, value, key, value ... */
    size_t count;
} tree_t;

/* `name` is the file for messages. *ret_tree is yours, NULL for an empty file
 * (nothing but comments). */
int tree_parse (const char *name, const char *text, size_t length,
                tree_t **ret_tree, gl_error_t *error);
/* Accepts NULL. */
void tree_free (tree_t *tree);

/* The value of a key, or NULL. ret_key may be NULL. */
const tree_t *tree_get (const tree_t *mapping, const char *key,
                        const tree_t **ret_key);

/* Frees `count` items from `index` on; the others close up. */
void tree_remove (tree_t *tree, size_t index, size_t count);

/* "a text", "a list", "a mapping", for messages. */
const char *tree_type_name (tree_type_t type);

#endif /* !GL_CONFIG_TREE_H */
