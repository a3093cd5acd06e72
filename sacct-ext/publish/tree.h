/*
 * tree.h: the files of a published site in one directory, rewritten in place.
 *
 * Each file is replaced as a whole and only where its bytes differ, so that a reader sees the
 * old page or the new one and a web server's caches stay valid. Files belong to a part of the
 * site, which has a key: what all its files are made from. A part with the same key as last time
 * need not be written again. tree_close() removes the files that the site does not have any
 * more, and then writes the list of files, DIR/.gpuledger-site. Until then new files are named in
 * DIR/.gpuledger-site.log, so that what one that was killed left is known to the next one.
 *
 * Paths are relative to the directory: "team/vision/2026-10.html". An object belongs to one
 * thread.
 */
#ifndef GL_PUBLISH_TREE_H
#define GL_PUBLISH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct tree tree_t;

/* Makes the directory if there is none. -1 where another process writes into it, and where it
 * holds files that are no published site. */
int tree_open (const char *dir, tree_t **ret_tree, gl_error_t *error);

/* The files that follow are of this part, which is made from `key`, one line of text. True:
 * it was so last time and all its files are there; they are the site's without being written.
 * `fresh`: write them all the same. */
bool tree_part (tree_t *tree, const char *part, const char *key, bool fresh);
/* The site had this part last time. */
bool tree_had (const tree_t *tree, const char *part);

/* Who may read the files that follow: those of a group; (gid_t)-1: everybody, as the umask has
 * it. Their directory is theirs alone, too. */
void tree_group (tree_t *tree, gid_t group);

/* The file is there with these bytes. */
bool tree_has (const tree_t *tree, const char *path, const void *data,
               size_t size);

/* 1: the file is there, and stays as it is; 0: it is not there. */
int tree_keep (tree_t *tree, const char *path, gl_error_t *error);

/* Directories are made. */
int tree_write (tree_t *tree, const char *path, const void *data, size_t size,
                gl_error_t *error);

/* What was done: files written, files whose bytes were the same or whose part was, and files
 * removed. */
typedef struct {
    size_t written;
    size_t same;
    size_t removed;
} tree_counts_t;

/* Frees the tree. `complete` false: nothing is removed, and the list stays as it was. */
int tree_close (tree_t *tree, bool complete, tree_counts_t *ret_counts,
                gl_error_t *error);

#endif /* !GL_PUBLISH_TREE_H */
