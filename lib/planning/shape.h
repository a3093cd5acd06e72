/*
 * shape.h: the shapes of published language models, for which the memory of activations and
 * of the key-value cache is computed (docs/guides/decisions.md, F14). Pure: a constant table.
 */
#ifndef GL_PLANNING_SHAPE_H
#define GL_PLANNING_SHAPE_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    const char *parameters; /* decimal */
    int64_t layers;
    int64_t hidden;   /* width of a layer */
    int64_t heads;    /* of attention */
    int64_t kv_heads; /* that have keys and values of their own */
    const char *source;
} shape_t;

/* The published model whose number of parameters is nearest, by ratio. */
const shape_t *shape_nearest (mpq_srcptr parameters);

#endif /* !GL_PLANNING_SHAPE_H */
