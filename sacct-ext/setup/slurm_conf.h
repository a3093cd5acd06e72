/*
 * slurm_conf.h: Slurm's configuration files, slurm.conf and slurmdbd.conf, as
 * Slurm reads them.
 *
 * A line is KEY=VALUE pairs separated by blanks. Keys have no case. A value may be in
 * double quotes, a # begins a comment unless a backslash precedes it, and a line that
 * ends with a backslash goes on in the next one. "include FILE" reads another file,
 * relative to the directory of the first one; %c in its name is the ClusterName.
 *
 * All texts belong to the configuration. Used by one thread.
 */
#ifndef GL_SETUP_SLURM_CONF_H
#define GL_SETUP_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* More is not a configuration. */
#define SLURM_CONF_MAX (4 << 20)

typedef struct {
    char *key;
    char *value;
} slurm_pair_t;

typedef struct {
    slurm_pair_t *pair; /* at least one */
    size_t count;
    const char *file; /* for messages */
    int number;       /* of the line in it, from 1 */
    ssize_t defaults; /* index of the DEFAULT line of its kind before it; -1 */
} slurm_line_t;

typedef struct {
    char *path; /* the first file */
    char **file;
    size_t file_count;
    slurm_line_t *line;
    size_t count;
} slurm_conf_t;

/* Where Slurm's file of that name is: next to $SLURM_CONF, or in one of the usual
 * directories; yours. NULL: nowhere. */
char *slurm_conf_find (const char *name);

/* Reads the file and what it includes; free with slurm_conf_free(). NULL with an error
 * that names the file, and the line if the text is wrong. */
slurm_conf_t *slurm_conf_read (const char *path, gl_error_t *error);
/* Accepts NULL. */
void slurm_conf_free (slurm_conf_t *conf);

/* The value of the key in the last line that has it, as Slurm takes it. NULL: there is no
 * such line, or no configuration. Not for keys of NodeName and PartitionName lines. */
const char *slurm_conf_value (const slurm_conf_t *conf, const char *key);
/* The value of a key in a line; NULL: the line does not have it. */
const char *slurm_line_value (const slurm_line_t *line, const char *key);
/* The same; if the line does not have it, the last DEFAULT line of its kind before it that
 * has it. For a line of this configuration. */
const char *slurm_line_effective (const slurm_conf_t *conf,
                                  const slurm_line_t *line, const char *key);
/* A line such as NodeName=g001, and not NodeName=DEFAULT. */
bool slurm_line_is (const slurm_line_t *line, const char *kind);

#endif /* !GL_SETUP_SLURM_CONF_H */
