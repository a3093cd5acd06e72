/* One hash table of paths holds the files of last time and of this one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "publish/tree.h"

#define LIST_NAME ".gpuledger-site"
#define LOG_NAME LIST_NAME ".log" /* of files that are new: a path a line */
#define LIST_HEAD "gpuledger site 1"

/* A part of the site, as it was last time and as it is now. */
struct part {
    char *name;
    char *had; /* its key last time; NULL: there was none */
    char *key; /* NULL: the site does not have it any more */
};

struct entry {
    size_t part;
    bool is; /* of the site, as it is now */
    bool listed;
    UT_hash_handle hh;
    char path[];
};

struct tree {
    char *dir;
    int fd;
    int log; /* -1: no file is new */
    struct part *part;
    size_t part_count;
    size_t current; /* part */
    struct entry *entries;
    uid_t owner; /* of what root writes; -1: who writes it */
    gid_t group;
    char *
        made; /* the last directory that was made, with its group; NULL: none */
    tree_counts_t counts;
};

static int fail (const tree_t *tree, const char *what, const char *path,
                 gl_error_t *error)
{
    return gl_error (error, "cannot %s %s/%s: %s", what, tree->dir, path,
                     strerror (errno));
}

/* Who owns the directory owns what root writes into it, so that its owner can write the site,
 * and root when a month is closed. */
static int own (const tree_t *tree, const char *path, gl_error_t *error)
{
    return tree->owner != (uid_t)-1
                   && fchownat (tree->fd, path, tree->owner, (gid_t)-1,
                                AT_SYMLINK_NOFOLLOW)
                          < 0
               ? fail (tree, "change the owner of", path, error)
               : 0;
}

/* --- parts and entries ------------------------------------------------------ */

static size_t part_at (tree_t *tree, const char *name)
{
    for (size_t i = 0; i < tree->part_count; i++)
        if (!strcmp (tree->part[i].name, name))
            return i;
    *GL_APPEND (tree->part, tree->part_count)
        = (struct part){.name = xstrdup (name)};
    return tree->part_count - 1;
}

static struct entry *entry_at (tree_t *tree, const char *path, size_t part)
{
    struct entry *entry;
    size_t length = strlen (path);

    HASH_FIND (hh, tree->entries, path, length, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry) + length + 1);
        memcpy (entry->path, path, length + 1);
        HASH_ADD (hh, tree->entries, path, length, entry);
    }
    entry->part = part;
    return entry;
}

/* --- the list --------------------------------------------------------------- */

/* A path that leads nowhere else. */
static bool is_inside (const char *path)
{
    return *path && *path != '/' && !strstr (path, "..");
}

/* "part NAME KEY", and a line "  PATH" for each of its files. */
static int parse_line (tree_t *tree, char *line, gl_error_t *error)
{
    char *name, *key;

    if (!strncmp (line, "  ", 2) && tree->part_count > 0
        && is_inside (line + 2)) {
        entry_at (tree, line + 2, tree->current)->listed = true;
        return 0;
    }
    name = strncmp (line, "part ", 5) == 0 ? line + 5 : NULL;
    key = name ? strchr (name, ' ') : NULL;
    if (!key)
        return gl_error (error,
                         "%s/" LIST_NAME " is damaged at '%s'; remove it and "
                         "the files of the site, and publish again",
                         tree->dir, line);
    *key++ = '\0';
    tree->current = part_at (tree, name);
    free (tree->part[tree->current].had);
    tree->part[tree->current].had = xstrdup (key);
    return 0;
}

static int parse_list (tree_t *tree, char *text, gl_error_t *error)
{
    char *line = strsep (&text, "\n");
    int rc = 0;

    if (strcmp (line, LIST_HEAD) != 0)
        return gl_error (error,
                         "%s/" LIST_NAME " is of another version of the "
                         "program: publish into a new directory",
                         tree->dir);
    while (rc == 0 && (line = strsep (&text, "\n")))
        if (*line)
            rc = parse_line (tree, line, error);
    return rc;
}

/* Of one that was killed; its last line may be cut, and names no file then. */
static void parse_log (tree_t *tree, char *text)
{
    size_t part = part_at (tree, "-");

    for (char *line; (line = strsep (&text, "\n"));)
        if (is_inside (line))
            entry_at (tree, line, part)->listed = true;
}

static int by_path (const struct entry *a, const struct entry *b)
{
    return strcmp (a->path, b->path);
}

static int write_list (tree_t *tree, gl_error_t *error)
{
    const file_target_t target = {
        .at = tree->fd, .name = LIST_NAME, .mode = 0600, .sync = FILE_DURABLE};
    GL_AUTOFREE char *path = xasprintf ("%s/" LIST_NAME, tree->dir);
    BUFFER_AUTO out = BUFFER_INIT;

    HASH_SORT (tree->entries, by_path);
    buffer_add_text (&out, LIST_HEAD "\n");
    for (size_t i = 0; i < tree->part_count; i++) {
        const struct part *part = &tree->part[i];
        if (!part->key)
            continue;
        buffer_printf (&out, "part %s %s\n", part->name, part->key);
        for (struct entry *e = tree->entries; e; e = e->hh.next)
            if (e->part == i && e->is)
                buffer_printf (&out, "  %s\n", e->path);
    }
    return file_replace (&target, path, out.data, out.length, error) < 0
               ? -1
               : own (tree, LIST_NAME, error);
}

/* --- opening ---------------------------------------------------------------- */

/* The drafts of one that was killed do not count. */
static bool is_empty (int fd)
{
    DIR *dir = fdopendir (dup (fd));
    struct dirent *entry;
    bool empty = true;

    while (dir && empty && (entry = readdir (dir)))
        empty = entry->d_name[0] == '.';
    if (dir)
        closedir (dir);
    return empty;
}

/* *ret_text NULL: there is none. Yours to free. */
static int read_file (const tree_t *tree, const char *name, char **ret_text,
                      gl_error_t *error)
{
    GL_AUTOFREE char *path = xasprintf ("%s/%s", tree->dir, name);
    struct stat status;
    size_t size;

    *ret_text = NULL;
    if (fstatat (tree->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0
        && errno == ENOENT)
        return 0;
    *ret_text = file_read (tree->fd, name, path, (size_t)status.st_size, &size,
                           error);
    return *ret_text ? 0 : -1;
}

static int read_list (tree_t *tree, gl_error_t *error)
{
    GL_AUTOFREE char *list = NULL;
    GL_AUTOFREE char *log = NULL;

    if (read_file (tree, LIST_NAME, &list, error) < 0
        || read_file (tree, LOG_NAME, &log, error) < 0
        || (list && parse_list (tree, list, error) < 0))
        return -1;
    if (log)
        parse_log (tree, log);
    return list || log || is_empty (tree->fd)
               ? 0
               : gl_error (
                   error,
                   "%s is not empty and no published site: it has no " LIST_NAME
                   "; give a directory of its own",
                   tree->dir);
}

static int open_dir (tree_t *tree, gl_error_t *error)
{
    struct stat status;

    if (mkdir (tree->dir, 0777) < 0 && errno != EEXIST)
        return gl_error (error, "cannot make the directory %s: %s", tree->dir,
                         strerror (errno));
    tree->fd = open (tree->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree->fd < 0)
        return gl_error (error, "cannot open the directory %s: %s", tree->dir,
                         strerror (errno));
    if (flock (tree->fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? gl_error (error,
                               "another process publishes into %s; try again "
                               "when it is done",
                               tree->dir)
                   : gl_error (error, "cannot lock %s: %s", tree->dir,
                               strerror (errno));
    if (geteuid () == 0 && fstat (tree->fd, &status) == 0 && status.st_uid != 0)
        tree->owner = status.st_uid;
    return faccessat (tree->fd, ".", W_OK, 0) < 0 ? gl_error (
               error, "cannot write into %s: %s", tree->dir, strerror (errno))
                                                  : 0;
}

static void tree_free (tree_t *tree)
{
    struct entry *entry, *next;

    HASH_ITER (hh, tree->entries, entry, next)
    {
        HASH_DEL (tree->entries, entry);
        free (entry);
    }
    GL_FREE_EACH (tree->part, tree->part_count, it,
                  (free (it->name), free (it->had), free (it->key)));
    if (tree->log >= 0)
        close (tree->log);
    if (tree->fd >= 0)
        close (tree->fd);
    free (tree->made);
    free (tree->dir);
    free (tree);
}

int tree_open (const char *dir, tree_t **ret_tree, gl_error_t *error)
{
    tree_t *tree = xcalloc (1, sizeof (*tree));

    tree->dir = xstrdup (dir);
    tree->fd = tree->log = -1;
    tree->group = (gid_t)-1;
    tree->owner = (uid_t)-1;
    if (open_dir (tree, error) < 0 || read_list (tree, error) < 0) {
        tree_free (tree);
        return -1;
    }
    *ret_tree = tree;
    return 0;
}

/* --- writing ---------------------------------------------------------------- */

static bool all_there (const tree_t *tree, size_t part)
{
    struct stat status;

    for (const struct entry *e = tree->entries; e; e = e->hh.next)
        if (e->part == part
            && fstatat (tree->fd, e->path, &status, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
    return true;
}

bool tree_part (tree_t *tree, const char *name, const char *key, bool fresh)
{
    struct part *part;

    tree->current = part_at (tree, name);
    part = &tree->part[tree->current];
    free (part->key);
    part->key = xstrdup (key);
    if (fresh || !text_same (part->had, key)
        || !all_there (tree, tree->current))
        return false;
    for (struct entry *e = tree->entries; e; e = e->hh.next)
        if (e->part == tree->current) {
            tree->counts.same += !e->is;
            e->is = true;
        }
    return true;
}

bool tree_had (const tree_t *tree, const char *part)
{
    return GL_ANY (tree->part, tree->part_count, it,
                   it->had && !strcmp (it->name, part));
}

void tree_group (tree_t *tree, gid_t group)
{
    if (tree->group != group)
        free (GL_TAKE (tree->made));
    tree->group = group;
}

/* Only its group sees it, if it has one. */
static int give (const tree_t *tree, const char *path, mode_t mode,
                 gl_error_t *error)
{
    if (own (tree, path, error) < 0)
        return -1;
    if (tree->group == (gid_t)-1)
        return 0;
    return fchownat (tree->fd, path, (uid_t)-1, tree->group,
                     AT_SYMLINK_NOFOLLOW)
                       < 0
                   || fchmodat (tree->fd, path, mode, 0) < 0
               ? fail (tree, "change the group of", path, error)
               : 0;
}

static int make_dir (const tree_t *tree, const char *dir, gl_error_t *error)
{
    bool made
        = mkdirat (tree->fd, dir, tree->group == (gid_t)-1 ? 0777 : 0750) == 0;

    if (!made && errno != EEXIST)
        return fail (tree, "make the directory", dir, error);
    if (made && own (tree, dir, error) < 0)
        return -1;
    /* the directory of the team, and what is below it */
    return strchr (dir, '/') ? give (tree, dir, 0750, error) : 0;
}

/* Files of a directory mostly follow one another. */
static int make_dirs (tree_t *tree, const char *path, gl_error_t *error)
{
    const char *last = strrchr (path, '/');
    GL_AUTOFREE char *dir
        = last ? xstrndup (path, (size_t)(last - path)) : NULL;

    if (!dir || text_same (tree->made, dir))
        return 0;
    for (char *slash = strchr (dir, '/'); slash;
         slash = strchr (slash + 1, '/')) {
        *slash = '\0';
        if (make_dir (tree, dir, error) < 0)
            return -1;
        *slash = '/';
    }
    if (make_dir (tree, dir, error) < 0)
        return -1;
    free (tree->made);
    tree->made = GL_TAKE (dir);
    return 0;
}

bool tree_has (const tree_t *tree, const char *path, const void *data,
               size_t size)
{
    struct stat status;
    GL_AUTOFREE char *had = NULL;
    size_t length;
    gl_error_t ignored;

    if (fstatat (tree->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0
        || !S_ISREG (status.st_mode) || (size_t)status.st_size != size)
        return false;
    had = file_read (tree->fd, path, path, size, &length, &ignored);
    return had && length == size && memcmp (had, data, size) == 0;
}

int tree_keep (tree_t *tree, const char *path, gl_error_t *error)
{
    struct stat status;

    if (fstatat (tree->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0
        || !S_ISREG (status.st_mode))
        return 0;
    entry_at (tree, path, tree->current)->is = true;
    tree->counts.same++;
    return give (tree, path, 0640, error) < 0 ? -1 : 1;
}

/* Before it is there. */
static int log_new (tree_t *tree, struct entry *entry, gl_error_t *error)
{
    GL_AUTOFREE char *line = xasprintf ("%s\n", entry->path);

    if (entry->listed)
        return 0;
    if (tree->log < 0)
        tree->log = openat (
            tree->fd, LOG_NAME,
            O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (tree->log < 0 || file_write_all (tree->log, line, strlen (line)) < 0)
        return fail (tree, "write", LOG_NAME, error);
    entry->listed = true;
    return own (tree, LOG_NAME, error);
}

int tree_write (tree_t *tree, const char *path, const void *data, size_t size,
                gl_error_t *error)
{
    const file_target_t target = {.at = tree->fd,
                                  .name = path,
                                  .mode = tree->group == (gid_t)-1 ? 0 : 0640,
                                  .sync = FILE_LOOSE};
    GL_AUTOFREE char *full = xasprintf ("%s/%s", tree->dir, path);
    struct entry *entry = entry_at (tree, path, tree->current);

    entry->is = true;
    if (tree_has (tree, path, data, size)) {
        tree->counts.same++;
        return give (tree, path, 0640, error);
    }
    tree->counts.written++;
    return log_new (tree, entry, error) < 0 || make_dirs (tree, path, error) < 0
                   || file_replace (&target, full, data, size, error) < 0
               ? -1
               : give (tree, path, 0640, error);
}

/* --- closing ---------------------------------------------------------------- */

/* With the directories that it leaves empty. */
static int remove_one (tree_t *tree, const char *path, gl_error_t *error)
{
    GL_AUTOFREE char *dir = xstrdup (path);

    if (unlinkat (tree->fd, path, 0) < 0 && errno != ENOENT)
        return fail (tree, "remove", path, error);
    tree->counts.removed++;
    for (char *slash = strrchr (dir, '/'); slash; slash = strrchr (dir, '/')) {
        *slash = '\0';
        if (unlinkat (tree->fd, dir, AT_REMOVEDIR) < 0)
            break;
    }
    return 0;
}

static int remove_old (tree_t *tree, gl_error_t *error)
{
    for (struct entry *e = tree->entries; e; e = e->hh.next)
        if (!e->is && remove_one (tree, e->path, error) < 0)
            return -1;
    return 0;
}

int tree_close (tree_t *tree, bool complete, tree_counts_t *ret_counts,
                gl_error_t *error)
{
    int rc = 0;

    /* A list that survives a power cut names files that do. */
    if (complete)
        rc = remove_old (tree, error) < 0
                     || (syncfs (tree->fd) < 0
                         && fail (tree, "write", ".", error) < 0)
                     || write_list (tree, error) < 0
                     || (unlinkat (tree->fd, LOG_NAME, 0) < 0 && errno != ENOENT
                         && fail (tree, "remove", LOG_NAME, error) < 0)
                 ? -1
                 : 0;
    *ret_counts = tree->counts;
    tree_free (tree);
    return rc;
}
