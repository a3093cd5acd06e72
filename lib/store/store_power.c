/* The account that writes facts (the collector uses it) must not be able to
 * write closed months. Checks whether it is. */
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/memory.h"
#include "store/chain.h"
#include "store/store_private.h"

#define GROUPS_MAX 256

struct account {
    uid_t uid;
    gid_t groups[GROUPS_MAX];
    int group_count;
};

static bool in_group (const struct account *a, gid_t gid)
{
    return GL_ANY (a->groups, a->group_count, it, *it == gid);
}

/* An owner may give himself the right to write; in a sticky directory others'
 * files are safe. */
static bool may_write (const struct account *a, const char *path)
{
    struct stat st;

    if (stat (path, &st) < 0)
        return false;
    if (st.st_uid == a->uid)
        return true;
    if (S_ISDIR (st.st_mode) && st.st_mode & S_ISVTX)
        return false;
    return st.st_mode & S_IWOTH
           || (st.st_mode & S_IWGRP && in_group (a, st.st_gid));
}

/* The file, or a directory above it, in which it could be replaced. */
static char *writable (const struct account *a, const char *file)
{
    GL_AUTOFREE char *path = realpath (file, NULL);
    char *slash;

    while (path && *path) {
        if (may_write (a, path))
            return GL_TAKE (path);
        slash = strrchr (path, '/');
        *slash = '\0';
    }
    return NULL;
}

static int look_at_files (store_t *store, const char *facts, char **ret_why,
                          gl_error_t *error)
{
    GL_AUTOFREE char *ledger = store_ledger_file (store->url);
    struct account a = {.group_count = GROUPS_MAX};
    GL_AUTOFREE char *found = NULL;
    const struct passwd *user;
    struct stat st;

    if (stat (facts, &st) < 0)
        return gl_error (error, "cannot look at %s", facts);
    a.uid = st.st_uid;
    user = getpwuid (a.uid);
    if (!user
        || getgrouplist (user->pw_name, user->pw_gid, a.groups, &a.group_count)
               < 0)
        a.group_count = 0;
    found = writable (&a, ledger);
    if (!found)
        return 0;
    *ret_why = xasprintf ("user %s owns the facts and can write %s",
                          user ? user->pw_name : "?", found);
    return 1;
}

/* The server looks at rights when a statement is prepared; none of these is
 * run. */
static int ask_server (store_t *store, char **ret_why, gl_error_t *error)
{
    static const struct {
        const char *right, *sql;
    } tries[] = {
        {"INSERT", "INSERT INTO chain SELECT * FROM chain WHERE number = 0"},
        {"UPDATE", "UPDATE chain SET number = 0 WHERE number = 0"},
        {"DELETE", "DELETE FROM chain WHERE number = 0"},
    };

    db_t *db = db_open (store->url, 0, error);
    int rc = db ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < GL_ARRAY_SIZE (tries); i++) {
        db_statement_t *st = db_prepare (db, tries[i].sql, NULL);
        if (!st)
            continue;
        db_finalize (st);
        *ret_why = xasprintf ("the account of the URL has the right %s on the "
                              "table chain",
                              tries[i].right);
        rc = 1;
    }
    db_close (db);
    return rc;
}

int store_chain_exposed (store_t *store, char **ret_why, gl_error_t *error)
{
    GL_AUTOFREE char *facts = store_file (store->url);

    return facts ? look_at_files (store, facts, ret_why, error)
                 : ask_server (store, ret_why, error);
}
