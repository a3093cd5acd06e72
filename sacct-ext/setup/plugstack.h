/*
 * plugstack.h: Slurm's plugstack.conf, and what it says of the plugin.
 *
 * Files of include lines are read in their place; a relative one is in the directory of
 * the file that includes it.
 */
#ifndef GL_SETUP_PLUGSTACK_H
#define GL_SETUP_PLUGSTACK_H

#include <limits.h>
#include <stddef.h>

#define PLUGSTACK_DEFAULT "/etc/slurm/plugstack.conf"
#define PLUGSTACK_PLUGIN "gpuledger.so"

typedef struct {
    size_t lines;        /* plugins */
    size_t at;           /* which of them is ours, from 1; 0: none */
    size_t listed;       /* how often */
    char kind[16];       /* "optional" */
    char path[PATH_MAX]; /* of ours */
    char policy[16];     /* of policy=; "": not given */
    int depth;           /* of include lines, while reading */
} plugstack_t;

/* A file that cannot be read has no plugins. */
void plugstack_read (const char *file, plugstack_t *ret_stack);

#endif /* !GL_SETUP_PLUGSTACK_H */
