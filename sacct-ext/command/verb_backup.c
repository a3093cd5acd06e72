/* gpuledger backup and gpuledger restore: a copy of an SQLite store, and back. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/verb.h"
#include "month/verify.h"

#define SQLITE "sqlite:"

static bool is_sqlite (cli_t *cli)
{
    const char *url = cli_store_url (cli);
    GL_AUTOFREE char *file = url ? store_file (url) : NULL;

    if (!url)
        return false;
    if (file)
        return true;
    cli_failf (cli,
               "the store is a database of a server: use its own tools, "
               "mariadb-dump --single-transaction --hex-blob DB >FILE, and "
               "mariadb DB <FILE (docs/guides/backup.md)");
    return false;
}

/* The file's hashes and the file itself. `head`: a hash that it has to have, or
 * NULL; *ret_has_head. */
static int check_file (cli_t *cli, const char *url, const uint8_t *head,
                       bool *ret_has_head, verified_t *ret)
{
    gl_error_t error;
    store_t *store = store_open (url, STORE_READ_ONLY, &error);
    int rc;

    if (!store)
        return cli_fail (cli, &error);
    rc = verify_chain (store, NULL, ret, &error);
    if (rc == 0 && head) {
        verified_t looked;
        rc = verify_chain (store, head, &looked, &error);
        if (rc == 0) {
            *ret_has_head = looked.has_head;
            verified_clear (&looked);
        } else {
            verified_clear (ret);
        }
    }
    store_close (store);
    if (rc < 0)
        return cli_fail (cli, &error);
    if (ret->count == 0)
        return CLI_OK;
    rc = cli_failf (cli,
                    "%s is not as it was written: %s (%zu problems; "
                    "gpuledger --store %s verify lists them)",
                    url, ret->problem[0], ret->count, url);
    verified_clear (ret);
    return rc;
}

/* What SQLite leaves beside a file that nobody has open. */
static void remove_logs (const char *path)
{
    GL_AUTOFREE char *log = xasprintf ("%s-wal", path);
    GL_AUTOFREE char *index = xasprintf ("%s-shm", path);

    unlink (log);
    unlink (index);
}

/* The name is on the disk, too. */
static void sync_directory (const char *path)
{
    const char *slash = strrchr (path, '/');
    GL_AUTOFREE char *dir
        = slash ? xstrndup (path, (size_t)(slash - path) + 1) : xstrdup (".");
    int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync (fd);
        close (fd);
    }
}

static int put_in_place (cli_t *cli, const char *part, const char *path,
                         bool force)
{
    int fd = open (part, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync (fd);

    if (fd >= 0)
        close (fd);
    if (rc == 0 && force) {
        remove_logs (path);
        rc = rename (part, path);
    } else if (rc == 0) {
        /* a file that came meanwhile stays */
        rc = link (part, path);
    }
    if (rc < 0)
        return cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    sync_directory (path);
    return CLI_OK;
}

/* Of a store that is named by its file of facts alone. Yours. */
static char *ledger_of (const char *path)
{
    GL_AUTOFREE char *url = xasprintf (SQLITE "%s", path);

    return store_ledger_file (url);
}

static int write_backup (cli_t *cli, const char *path, bool force)
{
    GL_AUTOFREE char *part = xasprintf ("%s.%ld.part", path, (long)getpid ());
    GL_AUTOFREE char *url = xasprintf (SQLITE "%s", part);
    GL_AUTOFREE char *ledger_part = store_ledger_file (url);
    GL_AUTOFREE char *ledger = ledger_of (path);
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    verified_t found;
    gl_error_t error;
    int rc;

    if (!store)
        return CLI_FAILED;
    if (store_copy (store, url, &error) < 0)
        rc = cli_fail (cli, &error);
    else if ((rc = check_file (cli, url, NULL, NULL, &found)) == CLI_OK) {
        rc = put_in_place (cli, ledger_part, ledger, force);
        if (rc == CLI_OK)
            rc = put_in_place (cli, part, path, force);
        if (rc == CLI_OK)
            cli_say (cli,
                     "%s and %s: a copy of the store with %" PRIu64
                     " entries of closed months, verified",
                     path, ledger, found.entries);
        verified_clear (&found);
    }
    unlink (part);
    unlink (ledger_part);
    remove_logs (part);
    return rc;
}

/* Whether the store has what the file has not, which a restore would lose. */
static int find_newer (cli_t *cli, const char *path, store_t *file,
                       bool *ret_newer)
{
    store_cluster_t *ours, *theirs;
    size_t our_count, their_count;
    gl_error_t error;

    if (store_clusters (cli->store, &ours, &our_count, &error) < 0)
        return cli_fail (cli, &error);
    if (store_clusters (file, &theirs, &their_count, &error) < 0) {
        store_clusters_free (ours, our_count);
        return cli_fail (cli, &error);
    }
    for (size_t i = 0; i < our_count && !*ret_newer; i++) {
        bool known = false;
        for (size_t k = 0; k < their_count; k++)
            known = known
                    || (strcmp (ours[i].name, theirs[k].name) == 0
                        && ours[i].as_of <= theirs[k].as_of);
        if (!known) {
            cli_failf (cli,
                       "the store is newer than %s: it has later facts of "
                       "cluster '%s'; --force discards them",
                       path, ours[i].name);
            *ret_newer = true;
        }
    }
    store_clusters_free (ours, our_count);
    store_clusters_free (theirs, their_count);
    return CLI_OK;
}

static int check_restore (cli_t *cli, const char *path, store_t *file,
                          bool has_head)
{
    bool newer = false;

    if (!has_head)
        return cli_failf (cli,
                          "%s lacks entries of closed months that the store "
                          "has; --force discards them (gpuledger verify then "
                          "reports it, if close.anchor is set)",
                          path);
    if (find_newer (cli, path, file, &newer) != CLI_OK || newer)
        return CLI_FAILED;
    return CLI_OK;
}

static int restore_file (cli_t *cli, const char *path, bool force)
{
    GL_AUTOFREE char *url = xasprintf (SQLITE "%s", path);
    GL_AUTOFREE char *there = store_file (cli_store_url (cli));
    bool exists = access (there, F_OK) == 0;
    bool has_head = true;
    chain_head_t head = {0};
    verified_t found;
    gl_error_t error;
    store_t *file;
    int rc = CLI_OK;

    if (exists && !force) {
        if (!cli_store (cli, STORE_READ_ONLY))
            return CLI_FAILED;
        if (store_chain_head (cli->store, &head, &error) < 0)
            return cli_fail (cli, &error);
    }
    rc = check_file (cli, url, head.number ? head.hash : NULL, &has_head,
                     &found);
    if (rc != CLI_OK)
        return rc;
    file = store_open (url, STORE_READ_ONLY, &error);
    if (!file)
        rc = cli_fail (cli, &error);
    else if (exists && !force)
        rc = check_restore (cli, path, file, has_head);
    if (rc == CLI_OK && store_copy (file, cli_store_url (cli), &error) < 0)
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK)
        cli_say (cli,
                 "%s: restored from %s, with %" PRIu64
                 " entries of closed months",
                 cli_store_url (cli), path, found.entries);
    store_close (file);
    verified_clear (&found);
    return rc;
}

/* The name of the file; NULL: the verb ends with *ret_rc. */
static const char *take (cli_t *cli, int argc, char **argv, bool *ret_force,
                         int *ret_rc)
{
    if (cli_options (cli, argc, argv, ret_force) < 0)
        *ret_rc = cli->exit_code;
    else if (optind + 1 != argc)
        *ret_rc = cli_usage (cli, "one FILE is wanted");
    else if (is_sqlite (cli))
        return argv[optind];
    else
        *ret_rc = CLI_FAILED;
    return NULL;
}

static int run_backup (cli_t *cli, int argc, char **argv)
{
    bool force = false;
    int rc;
    const char *path = take (cli, argc, argv, &force, &rc);
    GL_AUTOFREE char *ledger = path ? ledger_of (path) : NULL;

    if (!path)
        return rc;
    if (!force && access (path, F_OK) == 0)
        return cli_failf (cli, "%s exists; --force replaces it", path);
    if (!force && access (ledger, F_OK) == 0)
        return cli_failf (cli, "%s exists; --force replaces it", ledger);
    return write_backup (cli, path, force);
}

static int run_restore (cli_t *cli, int argc, char **argv)
{
    bool force = false;
    int rc;
    const char *path = take (cli, argc, argv, &force, &rc);

    return path ? restore_file (cli, path, force) : rc;
}

static const cli_option_t backup_options[] = {
    {0, "force", NULL, "replace FILE", .at = 0},
    {0},
};

const verb_t verb_backup = {
    .name = "backup",
    .run = run_backup,
    .synopsis = "[--force] FILE",
    .summary = "copy the SQLite store, verified, while others use it",
    .help = "Writes a copy of the store: two SQLite files, FILE with the facts "
            "and FILE-ledger with the closed months, each a snapshot of one "
            "time. The store can be read and written meanwhile. The files "
            "appear when the copy is complete and verified. For MariaDB and "
            "MySQL, docs/guides/backup.md has the commands.",
    .options = backup_options,
    .example = "gpuledger backup /backup/ledger-2026-11-01.db",
};

static const cli_option_t restore_options[] = {
    {0, "force", NULL, "replace the store even if it has more than FILE",
     .at = 0},
    {0},
};

const verb_t verb_restore = {
    .name = "restore",
    .run = run_restore,
    .synopsis = "[--force] FILE",
    .summary = "replace the SQLite store by a backup",
    .help = "Verifies FILE and FILE-ledger, and makes the store from them or "
            "replaces it. It refuses to replace a store that is newer, or that "
            "has entries of closed months that FILE lacks.",
    .options = restore_options,
    .example = "gpuledger restore /backup/ledger-2026-11-01.db",
};
