#include "setup/change.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"

#define FILE_MAX (4 << 20)
/* Enabling a unit may start a daemon that reads much. */
#define RUN_SECONDS 120

char *change_read (const char *path, gl_error_t *error)
{
    GL_AUTOFREE char *real = realpath (path, NULL);
    size_t size;

    if (error)
        error->text[0] = '\0';
    if (!real)
        return NULL;
    return file_read (AT_FDCWD, real, path, FILE_MAX, &size, error);
}

void change_log (changes_t *changes, const char *verb, const char *past,
                 const char *what)
{
    buffer_printf (&changes->log, "%s%s %s\n", changes->dry_run ? "would " : "",
                   changes->dry_run ? verb : past, what);
}

/* --- the difference ------------------------------------------------------ */

static void add_lines (buffer_t *out, char mark, const char *from,
                       const char *to)
{
    while (from < to) {
        size_t length = strcspn (from, "\n");
        buffer_printf (out, "%c %.*s\n", mark, (int)length, from);
        from += length + (from[length] == '\n');
    }
}

static const char *line_end (const char *at)
{
    at += strcspn (at, "\n");
    return at + (*at == '\n');
}

/* The begin of the last line before `at`. */
static const char *line_before (const char *begin, const char *at)
{
    if (at > begin)
        at--;
    while (at > begin && at[-1] != '\n')
        at--;
    return at;
}

/* Lines that both begin and end with are left out: setup adds a few lines in one place,
 * or writes all of a file. */
static void add_difference (buffer_t *out, const char *before,
                            const char *after)
{
    const char *b = before, *a = after, *b_end, *a_end, *next;

    while (*b && *a && (next = line_end (a)) - a == line_end (b) - b
           && !strncmp (a, b, (size_t)(next - a))) {
        b = line_end (b);
        a = next;
    }
    b_end = b + strlen (b);
    a_end = a + strlen (a);
    while (b_end > b && a_end > a) {
        const char *b_line = line_before (b, b_end);
        const char *a_line = line_before (a, a_end);
        if (b_end - b_line != a_end - a_line
            || strncmp (b_line, a_line, (size_t)(b_end - b_line)) != 0)
            break;
        b_end = b_line;
        a_end = a_line;
    }
    add_lines (out, '-', b, b_end);
    add_lines (out, '+', a, a_end);
}

/* --- files --------------------------------------------------------------- */

static int owner_of (const change_file_t *file, uid_t *ret_user,
                     gid_t *ret_group, gl_error_t *error)
{
    const struct passwd *user = file->owner ? getpwnam (file->owner) : NULL;
    const struct group *group = file->group ? getgrnam (file->group) : NULL;

    if ((file->owner && !user) || (file->group && !group))
        return gl_error (error, "%s: there is no %s '%s' on this host",
                         file->path, file->owner && !user ? "user" : "group",
                         file->owner && !user ? file->owner : file->group);
    *ret_user = user ? user->pw_uid : 0;
    *ret_group = group ? group->gr_gid : 0;
    return 0;
}

static int note (changes_t *changes, const char *kind, const char *name,
                 const char *digest, gl_error_t *error)
{
    made_note (&changes->made, kind, name, digest);
    return made_write (&changes->made, error);
}

static int make_parents (const char *path, gl_error_t *error)
{
    GL_AUTOFREE char *directory = xstrdup (path);

    for (char *slash = strchr (directory + 1, '/'); slash;
         slash = strchr (slash + 1, '/')) {
        *slash = '\0';
        if (mkdir (directory, 0755) < 0 && errno != EEXIST)
            return gl_error (error, "%s: %s", directory, strerror (errno));
        *slash = '/';
    }
    return 0;
}

/* The new file has its owner and mode before it has its name. */
static int replace (const change_file_t *file, const char *text,
                    gl_error_t *error)
{
    GL_AUTOFREE char *real = realpath (file->path, NULL);
    GL_AUTOFREE char *draft = xasprintf ("%s.setup", real ? real : file->path);
    file_target_t target = {.at = AT_FDCWD,
                            .name = draft,
                            .mode = file->mode & 0700,
                            .sync = FILE_WHOLE};
    struct stat st;
    mode_t mode = file->mode;
    uid_t user;
    gid_t group;

    if (owner_of (file, &user, &group, error) < 0)
        return -1;
    if (file->shared && real && stat (real, &st) == 0) {
        user = st.st_uid;
        group = st.st_gid;
        mode = st.st_mode & 07777;
    }
    if (make_parents (file->path, error) < 0
        || file_replace (&target, draft, text, strlen (text), error) < 0)
        return -1;
    if (chown (draft, user, group) == 0 && chmod (draft, mode) == 0
        && rename (draft, real ? real : file->path) == 0)
        return 0;
    gl_error (error, "%s: %s", file->path, strerror (errno));
    unlink (draft);
    return -1;
}

static void log_write (changes_t *changes, const change_file_t *file,
                       const char *before, const char *after)
{
    change_log (changes, "write", "wrote", file->path);
    if (changes->dry_run && !file->secret)
        add_difference (&changes->log, before ? before : "", after);
}

/* Noted first: a file that is not in the list would never be removed. */
static int write_noted (changes_t *changes, const change_file_t *file,
                        const char *text, gl_error_t *error)
{
    const char *kind = file->shared ? "lines" : "file";
    char digest[MADE_DIGEST_SIZE];

    made_digest (text, strlen (text), digest);
    if (note (changes, kind, file->path, digest, error) < 0)
        return -1;
    if (replace (file, text, error) == 0)
        return 0;
    change_forget (changes, kind, file->path, NULL);
    return -1;
}

int change_write (changes_t *changes, const change_file_t *file,
                  const char *text, gl_error_t *error)
{
    GL_AUTOFREE char *before = change_read (file->path, error);

    if (!before && error->text[0])
        return -1;
    if (before && !strcmp (before, text))
        return 0;
    if (!changes->dry_run && write_noted (changes, file, text, error) < 0)
        return -1;
    log_write (changes, file, before, text);
    return 0;
}

static int make_directory (const change_file_t *directory, bool *ret_made,
                           gl_error_t *error)
{
    const char *path = directory->path;
    uid_t user;
    gid_t group;

    if (owner_of (directory, &user, &group, error) < 0
        || make_parents (path, error) < 0)
        return -1;
    *ret_made = mkdir (path, directory->mode) == 0;
    if ((!*ret_made && errno != EEXIST) || chown (path, user, group) < 0
        || chmod (path, directory->mode) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    return 0;
}

int change_directory (changes_t *changes, const change_file_t *directory,
                      gl_error_t *error)
{
    bool made = false;

    if (!changes->dry_run && make_directory (directory, &made, error) < 0)
        return -1;
    change_log (changes, "make", "made", directory->path);
    return made ? note (changes, "directory", directory->path, NULL, error) : 0;
}

/* --- programs ------------------------------------------------------------ */

int change_run (changes_t *changes, const char *const *argv, const char *kind,
                const char *what, gl_error_t *error)
{
    program_t program
        = {.argv = argv, .input = -1, .timeout_ms = RUN_SECONDS * 1000};
    BUFFER_AUTO command = BUFFER_INIT;
    GL_AUTOFREE char *output
        = changes->dry_run ? NULL : program_run (&program, error);

    if (!output && !changes->dry_run)
        return -1;
    for (size_t i = 0; argv[i]; i++)
        buffer_printf (&command, "%s%s", i ? " " : "", argv[i]);
    change_log (changes, "run", "ran", buffer_text (&command));
    return kind && !changes->dry_run ? note (changes, kind, what, NULL, error)
                                     : 0;
}

/* --- undone -------------------------------------------------------------- */

/* 1: it is as setup wrote it; 0: it is not setup's, or not there any more, or *ret_left. */
static int is_untouched (changes_t *changes, const char *path, bool *ret_left,
                         gl_error_t *error)
{
    const made_row_t *row = made_find (&changes->made, "file", path);
    GL_AUTOFREE char *text = row ? change_read (path, error) : NULL;
    char digest[MADE_DIGEST_SIZE];

    *ret_left = false;
    if (!row)
        return 0;
    if (!text)
        return error->text[0] ? -1 : 0;
    made_digest (text, strlen (text), digest);
    *ret_left = strcmp (digest, row->digest) != 0;
    return !*ret_left;
}

int change_forget (changes_t *changes, const char *kind, const char *name,
                   gl_error_t *error)
{
    if (changes->dry_run)
        return 0;
    made_forget (&changes->made, kind, name);
    return made_write (&changes->made, error);
}

int change_remove (changes_t *changes, const char *path, bool *ret_left,
                   gl_error_t *error)
{
    int rc = is_untouched (changes, path, ret_left, error);

    if (rc <= 0)
        return rc;
    if (!changes->dry_run && unlink (path) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    change_log (changes, "remove", "removed", path);
    return change_forget (changes, "file", path, error);
}

int change_restore (changes_t *changes, const change_file_t *file,
                    const char *text, bool *ret_left, gl_error_t *error)
{
    int rc = is_untouched (changes, file->path, ret_left, error);

    if (rc <= 0)
        return rc;
    if (!changes->dry_run && replace (file, text, error) < 0)
        return -1;
    change_log (changes, "restore", "restored", file->path);
    return change_forget (changes, "file", file->path, error);
}
