/*
 * node.h: filling records with what a process of Slurm knows: the node, and
 * variables of an environment, each by one row of a table.
 */
#ifndef GL_PLUGIN_NODE_H
#define GL_PLUGIN_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "record/record.h"

/* Looks a variable up in some environment; NULL when it is not there. The text
 * is borrowed until the next call. */
typedef const char *(*node_lookup_f) (spank_t sp, const char *name);

typedef struct {
    const char *variable;
    record_field_t field;
    bool number; /* a variable that is no decimal number is left out */
} node_row_t;

/* The first row of a field that answers wins. */
void node_fill (record_t *record, spank_t sp, node_lookup_f lookup,
                const node_row_t *rows, size_t count);

/* Node name, boot, versions. */
void node_describe (record_t *record, spank_t sp);

#endif /* !GL_PLUGIN_NODE_H */
