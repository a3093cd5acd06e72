#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/exports.h"
#include "command/month_set.h"
#include "command/verb_report.h"
#include "config/config.h"
#include "month/periods.h"

#define SUMS "SHA256SUMS"

struct set {
    cli_t *cli;
    const char *dir;
    query_options_t options;
    report_query_t query;
    char month[MONTH_SIZE];
    char *target; /* DIR/2026-10 */
    char *draft;  /* DIR/.2026-10.new */
    int lock;     /* of DIR, open while it is written */
};

/* --- folders ---------------------------------------------------------------- */

static int tell (const struct set *set, const char *what, const char *path)
{
    return cli_failf (set->cli, "cannot %s %s: %s", what, path,
                      strerror (errno));
}

static int remove_one (const char *path, const struct stat *status, int type,
                       struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove (path);
}

static int remove_tree (const struct set *set, const char *path)
{
    if (nftw (path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0
        || errno == ENOENT)
        return CLI_OK;
    return tell (set, "remove", path);
}

/* Only a set is replaced: somebody's folder of that name is not. */
static int check_target (const struct set *set)
{
    GL_AUTOFREE char *sums = xasprintf ("%s/" SUMS, set->target);
    struct stat status;

    if (lstat (set->target, &status) < 0 && errno == ENOENT)
        return CLI_OK;
    if (access (sums, F_OK) == 0)
        return CLI_OK;
    return cli_failf (
        set->cli,
        "%s exists, but is not a set of files of a month: it has no " SUMS
        "; move it away, or give another folder",
        set->target);
}

static int lock_folder (struct set *set)
{
    if (make_folder (set->cli, set->dir) < 0)
        return CLI_FAILED;
    set->lock = open (set->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set->lock < 0)
        return tell (set, "open", set->dir);
    if (flock (set->lock, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? cli_failf (set->cli,
                                "another process writes files into %s; try "
                                "again when it is done",
                                set->dir)
                   : tell (set, "lock", set->dir);
    return access (set->dir, W_OK) < 0 ? tell (set, "write into", set->dir)
                                       : check_target (set);
}

static int begin_draft (const struct set *set)
{
    if (remove_tree (set, set->draft) != CLI_OK) /* of one that was killed */
        return CLI_FAILED;
    return mkdir (set->draft, 0777) < 0 ? tell (set, "make", set->draft)
                                        : CLI_OK;
}

/* In one step, where the file system can exchange two folders. */
static int put_in_place (const struct set *set)
{
    GL_AUTOFREE char *old = xasprintf ("%s/.%s.old", set->dir, set->month);

    if (rename (set->draft, set->target) < 0) {
        if (errno != ENOTEMPTY && errno != EEXIST)
            return tell (set, "rename", set->draft);
        if (renameat2 (AT_FDCWD, set->draft, AT_FDCWD, set->target,
                       RENAME_EXCHANGE)
                < 0
            && (remove_tree (set, old) != CLI_OK
                || rename (set->target, old) < 0
                || rename (set->draft, set->target) < 0))
            return tell (set, "replace", set->target);
        if (remove_tree (set, set->draft) != CLI_OK
            || remove_tree (set, old) != CLI_OK)
            return CLI_FAILED;
    }
    return fsync (set->lock) < 0 ? tell (set, "write", set->dir) : CLI_OK;
}

/* --- sums --------------------------------------------------------------------- */

#define READ_SIZE (64 * 1024)

static int sum_file (const struct set *set, const char *path, const char *name,
                     buffer_t *out)
{
    FILE *file = fopen (path, "re");
    GL_AUTOFREE char *bytes = xmalloc (READ_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new ();
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    bool good = file && context
                && EVP_DigestInit_ex (context, EVP_sha256 (), NULL) == 1;

    for (size_t n; good && (n = fread (bytes, 1, READ_SIZE, file)) > 0;)
        good = EVP_DigestUpdate (context, bytes, n) == 1;
    good = good && !ferror (file)
           && EVP_DigestFinal_ex (context, digest, &length) == 1;
    for (unsigned i = 0; good && i < length; i++)
        buffer_printf (out, "%02x", digest[i]);
    buffer_printf (out, "  %s\n", name);
    EVP_MD_CTX_free (context);
    if (file)
        fclose (file);
    return good ? CLI_OK : tell (set, "read", path);
}

/* nftw() hands nothing on. */
static text_list_t *found;

static int note_file (const char *path, const struct stat *status, int type,
                      struct FTW *ftw)
{
    (void)status;
    (void)ftw;
    if (type == FTW_F)
        texts_add (found, path);
    return 0;
}

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Of all files that there are, by name. */
static int write_sums (const struct set *set, size_t *ret_count)
{
    text_list_t files = {.count = 0};
    BUFFER_AUTO out = BUFFER_INIT;
    GL_AUTOFREE char *path = xasprintf ("%s/" SUMS, set->draft);
    const output_t output = {.file = path};
    int rc = CLI_OK;

    found = &files;
    if (nftw (set->draft, note_file, 16, FTW_PHYS) != 0)
        rc = tell (set, "read", set->draft);
    if (files.count > 1)
        qsort (files.item, files.count, sizeof (*files.item), by_name);
    for (size_t i = 0; i < files.count && rc == CLI_OK; i++)
        rc = sum_file (set, files.item[i],
                       files.item[i] + strlen (set->draft) + 1, &out);
    if (rc == CLI_OK)
        rc = output_bytes (set->cli, &output, buffer_text (&out), out.length);
    *ret_count = files.count + 1;
    texts_clear (&files);
    return rc;
}

/* --- files -------------------------------------------------------------------- */

static int write_chargeback (const struct set *set)
{
    static const struct {
        render_format_t format;
        const char *ending;
    } formats[]
        = {{RENDER_CSV, "csv"}, {RENDER_JSON, "json"}, {RENDER_HTML, "html"}};
    report_t *report = NULL;
    int rc = report_of_charges (set->cli, &set->query, &report);

    for (size_t i = 0; i < GL_ARRAY_SIZE (formats) && rc == CLI_OK; i++) {
        GL_AUTOFREE char *path
            = xasprintf ("%s/chargeback.%s", set->draft, formats[i].ending);
        const output_t output = {.format = formats[i].format, .file = path};
        rc = output_report (set->cli, &output, report);
    }
    report_free (report);
    return rc;
}

static int write_form (const struct set *set, const char *form,
                       const char *name)
{
    GL_AUTOFREE char *path = xasprintf ("%s/%s", set->draft, name);
    const output_t output = {.file = path};

    return export_form (set->cli, form, &set->query, &output);
}

static int write_layout (const struct set *set, const site_export_t *entry)
{
    BUFFER_AUTO path = BUFFER_INIT;
    export_layout_t *layout;
    output_t output = {.format = RENDER_TABLE};
    gl_error_t error;
    int rc;

    if (config_load_layout (entry->layout, &layout, &error) < 0)
        return cli_fail (set->cli, &error);
    buffer_printf (&path, "%s/exports/", set->draft);
    statement_file_name (&path, entry->name);
    output.file = buffer_text (&path);
    rc = export_by_layout (set->cli, layout, &set->query, (export_team_t){0},
                           &output);
    export_layout_free (layout);
    return rc;
}

static int write_layouts (const struct set *set)
{
    const site_t *site = set->cli->site;
    GL_AUTOFREE char *folder = xasprintf ("%s/exports", set->draft);
    int rc = CLI_OK;

    if (site->export_count > 0 && make_folder (set->cli, folder) < 0)
        return CLI_FAILED;
    for (size_t i = 0; i < site->export_count && rc == CLI_OK; i++)
        rc = write_layout (set, &site->exports[i]);
    return rc;
}

static int write_files (const struct set *set)
{
    GL_AUTOFREE char *statements = xasprintf ("%s/statements", set->draft);
    const output_t output = {.format = RENDER_TABLE};
    size_t teams;
    int rc = statement_files_write (set->cli, set->month, false, &output,
                                    statements, &teams);

    if (rc == CLI_OK)
        rc = write_chargeback (set);
    if (rc == CLI_OK)
        rc = write_form (set, "--journal", "journal.ledger");
    if (rc == CLI_OK)
        rc = write_form (set, "--focus", "focus.csv");
    return rc == CLI_OK ? write_layouts (set) : rc;
}

/* --- the set ------------------------------------------------------------------- */

static void name_folders (struct set *set)
{
    set->target = xasprintf ("%s/%s", set->dir, set->month);
    set->draft = xasprintf ("%s/.%s.new", set->dir, set->month);
}

static void end_set (struct set *set)
{
    if (set->lock >= 0)
        close (set->lock);
    free (set->target);
    free (set->draft);
    query_options_done (&set->options);
}

static int resolve (struct set *set)
{
    cli_t *cli = set->cli;
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    int rc = CLI_FAILED;

    if (store)
        rc = query_options_resolve (cli, &set->options, cli->site, store,
                                    "team", &set->query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &set->options, &set->query, "a set");
    if (rc == CLI_OK)
        rc = query_months_over (cli, &set->query, "a set of files");
    if (rc == CLI_OK)
        periods_month_of (cli->site, set->query.period.start, set->month);
    return rc;
}

int month_set_check (cli_t *cli, const char *month, const char *dir)
{
    struct set set = {.cli = cli, .dir = dir, .lock = -1};
    int rc = CLI_OK;

    snprintf (set.month, sizeof (set.month), "%s", month);
    name_folders (&set);
    for (size_t i = 0; i < cli->site->export_count && rc == CLI_OK; i++)
        rc = export_check_layout (cli, cli->site->exports[i].layout);
    if (rc == CLI_OK)
        rc = lock_folder (&set);
    end_set (&set);
    return rc;
}

int month_set_write (cli_t *cli, const char *month, const char *dir)
{
    struct set set = {.cli = cli,
                      .dir = dir,
                      .options = {.month = month, .of_bills = true},
                      .lock = -1};
    size_t count = 0;
    int rc = resolve (&set);

    if (rc == CLI_OK) {
        name_folders (&set);
        rc = lock_folder (&set);
    }
    if (rc == CLI_OK && (rc = begin_draft (&set)) == CLI_OK) {
        rc = write_files (&set);
        if (rc == CLI_OK)
            rc = write_sums (&set, &count);
        if (rc == CLI_OK)
            rc = put_in_place (&set);
        if (rc != CLI_OK)
            remove_tree (&set, set.draft);
    }
    if (rc == CLI_OK)
        cli_say (cli, "wrote %zu files to %s", count, set.target);
    end_set (&set);
    return rc;
}
