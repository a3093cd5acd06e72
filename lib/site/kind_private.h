/*
 * kind_private.h: shared by the files of kind.h:
 *
 *   kind.c         kinds, and what a segment holds of them, kept for the next one
 *   kind_pool.c    the pool of a device
 *   kind_weight.c  how much of a GPU a device is
 *
 * Texts are borrowed: those of pools are the site's, those of kinds their own.
 */
#ifndef GL_SITE_KIND_PRIVATE_H
#define GL_SITE_KIND_PRIVATE_H

#include <uthash.h>

#include "base/buffer.h"
#include "site/kind.h"

struct kind_entry {
    device_kind_t kind;
    char *type;
    char *seen;
    char *model;
    char *profile;
    char *problem;
    struct kind_entry *next;
};

/* A pool's node list as a set of names. */
struct pool_node {
    char *name;
    UT_hash_handle hh;
};

struct cache_entry {
    char *key;
    size_t key_length;
    holding_t *by_node;
    size_t node_count;
    size_t count; /* behind those by node: of all nodes */
    UT_hash_handle hh;
};

/* Node names that holdings point to. */
struct name_entry {
    char *name;
    UT_hash_handle hh;
};

struct kinds {
    const site_t *site;
    struct pool_node **nodes; /* one set for each pool; NULL: not made yet */
    struct kind_entry *list;
    struct cache_entry *cache, *last;
    buffer_t key; /* of the entry that is looked for */
    struct name_entry *names;
    int64_t *changes; /* instants at which a pool begins or ends */
    size_t change_count;
    bool counts_cpus; /* some pool does */
    holding_t *build;
    size_t build_from, build_count, build_size;
};

/* ---- kind_pool.c ---- */

/* The parts of a GPU that are devices of their own: "shard", "mps". */
#define KIND_PARTS 2
extern const char *const kind_part_names[KIND_PARTS];

/* "shard" of "shard:a100" and "shard"; NULL for a GPU or slice. *ret_gpu: the
 * type of the GPU, NULL if it is not told. */
const char *kind_part_of_type (const char *type, const char **ret_gpu);

/* The nodes of a pool as a set; NULL for a list that names none. */
struct pool_node *pool_nodes_new (const char *text);
void pool_nodes_free (struct pool_node *set);

/* It has slices of GPUs, by its types or its layout. */
bool pool_has_slices (const site_pool_t *pool);
/* Pool i of the site is in force, and has the node. */
bool pool_covers (const kinds_t *k, size_t i, const segment_t *s,
                  const char *node, int64_t instant);
/* The pool that counts the segment's CPUs on a node; NULL: none. */
const site_pool_t *pool_of_cpus (const kinds_t *k, const segment_t *s,
                                 const char *node, int64_t instant);
/* The pool of a device on a node; an untyped one may go to the node's only
 * pool. NULL: it has none. */
const site_pool_t *pool_of_device (const kinds_t *k, const segment_t *s,
                                   const char *node, const char *type,
                                   int64_t instant);

/* ---- kind_weight.c ---- */

/* Sets part, profile, weight and, where that cannot be told, the problem. */
void kind_weigh (const site_t *site, struct kind_entry *entry);

#endif /* !GL_SITE_KIND_PRIVATE_H */
