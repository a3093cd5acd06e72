/* The accounting host: user, configuration, database accounts, store, services, and the
 * first report. */
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/text.h"
#include "setup/configuration.h"
#include "setup/services.h"
#include "setup/setup.h"
#include "setup/sql.h"
#include "setup/store_place.h"
#include "site/site.h"
#include "slurmdbd/slurmdbd.h"
#include "store/store.h"

#define USER "gpuledger"
#define FACTS LOCALSTATEDIR "/lib/gpuledger"
#define LEDGER LOCALSTATEDIR "/lib/gpuledger-ledger"
#define DAY INT64_C (86400)
/* The first sync of a large site reads years. */
#define SYNC_SECONDS (12 * 3600)

/* --- user ---------------------------------------------------------------- */

static setup_state_t look_user (setup_t *setup, buffer_t *finding)
{
    (void)setup;
    return getpwnam (USER)
               ? SETUP_DONE
               : buffer_say (finding, SETUP_TO_DO, "there is no such user");
}

static setup_result_t make_user (setup_t *setup, buffer_t *finding,
                                 gl_error_t *error)
{
    static const char *const argv[]
        = {"useradd",    "--system", "--user-group", "--no-create-home",
           "--home-dir", FACTS,      "--shell",      "/usr/sbin/nologin",
           USER,         NULL};

    (void)finding;
    return change_run (&setup->changes, argv, "user", USER, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

static setup_result_t undo_user (setup_t *setup, buffer_t *finding,
                                 gl_error_t *error)
{
    static const char *const argv[] = {"userdel", USER, NULL};

    if (!made_find (&setup->changes.made, "user", USER))
        return SETUP_MADE;
    if (access (FACTS, F_OK) == 0) {
        buffer_add_text (finding, "the user stays, because it owns " FACTS);
        return SETUP_MADE;
    }
    return change_run (&setup->changes, argv, NULL, NULL, error) < 0
                   || change_forget (&setup->changes, "user", USER, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

/* --- Slurm --------------------------------------------------------------- */

/* "gres/gpu,gres/gpu:h100": what the nodes have and AccountingStorageTRES lacks. */
static void lacking_tres (const setup_t *setup, buffer_t *out)
{
    const char *tracked
        = slurm_conf_value (setup->slurm, "AccountingStorageTRES");

    if (!text_in_list (tracked, "gres/gpu"))
        buffer_add_text (out, "gres/gpu");
    for (size_t i = 0; i < setup->found.count; i++) {
        const text_list_t *types = &setup->found.pool[i].types;
        for (size_t k = 0; k < types->count; k++) {
            GL_AUTOFREE char *word = xasprintf ("gres/gpu:%s", types->item[k]);
            if (!strcmp (types->item[k], "gpu") || text_in_list (tracked, word)
                || text_in_list (buffer_text (out), word))
                continue;
            buffer_printf (out, "%s%s", out->length ? "," : "", word);
        }
    }
}

static setup_state_t look_slurm (setup_t *setup, buffer_t *finding)
{
    BUFFER_AUTO lacks = BUFFER_INIT;

    if (!setup->slurm)
        return buffer_say (finding, SETUP_WAITING,
                           "no slurm.conf on this host: not checked");
    if (setup->found.count == 0)
        return buffer_say (finding, SETUP_WAITING,
                           "no node of %s has Gres=gpu: there is nothing to "
                           "account",
                           setup->slurm->path);
    lacking_tres (setup, &lacks);
    return lacks.length ? SETUP_TO_DO : SETUP_DONE;
}

static setup_result_t make_slurm (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    BUFFER_AUTO lacks = BUFFER_INIT;
    const char *tracked
        = slurm_conf_value (setup->slurm, "AccountingStorageTRES");

    (void)error;
    lacking_tres (setup, &lacks);
    buffer_printf (finding,
                   "jobs that run before this is set have no GPUs in "
                   "accounting; in %s set\nAccountingStorageTRES=%s%s%s\n"
                   "then: systemctl restart slurmctld",
                   setup->slurm->path, tracked ? tracked : "",
                   tracked && *tracked ? "," : "", buffer_text (&lacks));
    return SETUP_YOURS;
}

/* --- slurmdbd's database ------------------------------------------------- */

/* As the configuration says, else as it will. */
static const char *slurmdb_url (const setup_t *setup)
{
    const char *name = setup->options.answers.cluster;
    const site_cluster_t *cluster
        = setup->site && name ? site_cluster (setup->site, name) : NULL;

    return cluster && cluster->slurmdb ? cluster->slurmdb
                                       : setup->options.answers.slurmdb;
}

static bool has_cluster (const slurmdbd_t *dbd, const char *name)
{
    size_t count;
    const slurmdbd_name_t *names = slurmdbd_names (dbd, &count);

    return GL_ANY (names, count, it, !strcmp (it->name, name));
}

static setup_state_t look_reader (setup_t *setup, buffer_t *finding)
{
    const char *url = slurmdb_url (setup);
    const char *name = setup->options.answers.cluster;
    slurmdbd_t *dbd;
    gl_error_t error;
    bool known;

    if (!url || !name)
        return buffer_say (finding, SETUP_WAITING,
                           "clusters[].slurmdb is not configured");
    dbd = slurmdbd_open (url, &error);
    if (!dbd)
        return buffer_say (finding,
                           strstr (url, SQL_READER_FILE) ? SETUP_TO_DO
                                                         : SETUP_WAITING,
                           "%s", error.text);
    known = has_cluster (dbd, name);
    slurmdbd_close (dbd);
    return known ? SETUP_DONE
                 : buffer_say (finding, SETUP_WAITING,
                               "the database has no cluster '%s': sacctmgr add "
                               "cluster %s",
                               name, name);
}

static const sql_account_t reader
    = {.name = SQL_READER, .file = SQL_READER_FILE};

static setup_result_t make_reader (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    sql_request_t request = {.name = "reader",
                             .account = &reader,
                             .count = 1,
                             .url = slurmdb_url (setup)};

    return sql_make_files (setup, &request, error) < 0
               ? SETUP_FAILED
               : sql_do (setup, &request, finding, error);
}

static setup_result_t undo_reader (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    sql_request_t request = {.name = "reader",
                             .account = &reader,
                             .count = 1,
                             .url = slurmdb_url (setup)};

    return request.url ? sql_undo (setup, &request, finding, error)
                       : SETUP_MADE;
}

/* --- the store ----------------------------------------------------------- */

/* On a server: the accounts, before the tables. */
static setup_state_t look_accounts (setup_t *setup, buffer_t *finding)
{
    gl_error_t error;

    if (!store_place_on_server (setup))
        return SETUP_UNNEEDED;
    return store_place_reachable (setup, &error) == 0
               ? SETUP_DONE
               : buffer_say (finding, SETUP_TO_DO, "%s", error.text);
}

static setup_result_t make_accounts (setup_t *setup, buffer_t *finding,
                                     gl_error_t *error)
{
    sql_request_t request = store_place_accounts (setup, false);

    return sql_make_files (setup, &request, error) < 0
               ? SETUP_FAILED
               : sql_do (setup, &request, finding, error);
}

static setup_result_t undo_accounts (setup_t *setup, buffer_t *finding,
                                     gl_error_t *error)
{
    sql_request_t request = store_place_accounts (setup, false);

    return store_place_on_server (setup)
               ? sql_undo (setup, &request, finding, error)
               : SETUP_MADE;
}

static setup_state_t look_store (setup_t *setup, buffer_t *finding)
{
    const char *url = store_place_init_url (setup);
    GL_AUTOFREE char *file = store_file (url);
    gl_error_t error;
    store_t *store;

    if (file && access (file, F_OK) < 0)
        return buffer_say (finding, SETUP_TO_DO, "there is no %s", file);
    if (!file && store_place_reachable (setup, &error) < 0)
        return buffer_say (finding, SETUP_WAITING, "for the database accounts");
    store = store_open (url, STORE_READ_ONLY, &error);
    store_close (store);
    if (store)
        return buffer_say (finding, SETUP_DONE, "%s", store_place_url (setup));
    return buffer_say (finding, file ? SETUP_WAITING : SETUP_TO_DO, "%s",
                       error.text);
}

static int make_directories (setup_t *setup, gl_error_t *error)
{
    static const change_file_t directories[]
        = {{.path = FACTS, .mode = 0750, .owner = USER, .group = USER},
           {.path = LEDGER, .mode = 0750, .group = USER}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (directories); i++)
        if (access (directories[i].path, F_OK) < 0
            && change_directory (&setup->changes, &directories[i], error) < 0)
            return -1;
    return 0;
}

static setup_result_t make_store (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    const char *url = store_place_url (setup);

    (void)finding;
    if (!strcmp (url, STORE_DEFAULT_URL) && make_directories (setup, error) < 0)
        return SETUP_FAILED;
    if (!setup->options.dry_run
        && store_init (store_place_init_url (setup), NULL, error) < 0)
        return SETUP_FAILED;
    change_log (&setup->changes, "make", "made", url);
    return SETUP_MADE;
}

/* What people were billed for is not setup's to delete. */
static setup_result_t undo_store (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    const char *url = store_place_url (setup);
    GL_AUTOFREE char *file = store_file (url);

    (void)error;
    if (!file || access (file, F_OK) == 0)
        buffer_printf (finding, "the ledger stays: %s", url);
    return SETUP_MADE;
}

/* On a server: rights on the tables. */
static setup_state_t look_grants (setup_t *setup, buffer_t *finding)
{
    gl_error_t error;
    store_t *store;
    bool writes;

    if (!store_place_on_server (setup))
        return SETUP_UNNEEDED;
    if (store_place_reachable (setup, &error) < 0)
        return buffer_say (finding, SETUP_WAITING, "for the database accounts");
    store = store_open (store_place_url (setup), 0, &error);
    writes = store && store_begin (store, &error) == 0;
    if (writes)
        store_rollback (store);
    store_close (store);
    return writes ? SETUP_DONE
                  : buffer_say (finding, SETUP_TO_DO, "%s", error.text);
}

static setup_result_t make_grants (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    sql_request_t request = store_place_accounts (setup, true);

    return sql_do (setup, &request, finding, error);
}

/* --- services ------------------------------------------------------------ */

/* The timer of backups copies SQLite files alone: a server has its own tools. */
#define OF_ANY_STORE                                     \
    "gpuledger-sync.timer", "gpuledger-sync-full.timer", \
        "gpuledger-collector.service", "gpuledger-anchor.timer"
static const char *const units_of_server[] = {OF_ANY_STORE, NULL};
static const char *const units_of_sqlite[]
    = {OF_ANY_STORE, "gpuledger-backup.timer", NULL};

static const char *const *units_of (setup_t *setup)
{
    return store_place_on_server (setup) ? units_of_server : units_of_sqlite;
}

static setup_state_t look_services (setup_t *setup, buffer_t *finding)
{
    return services_look (&setup->changes, units_of (setup), finding);
}

static setup_result_t make_services (setup_t *setup, buffer_t *finding,
                                     gl_error_t *error)
{
    return services_enable (&setup->changes, units_of (setup), finding, error);
}

static setup_result_t undo_services (setup_t *setup, buffer_t *finding,
                                     gl_error_t *error)
{
    return services_disable (&setup->changes, units_of_sqlite, finding, error);
}

/* --- usage --------------------------------------------------------------- */

/* Up to when the store knows the cluster; 0: not at all. */
static int known_until (setup_t *setup, int64_t *ret_until, gl_error_t *error)
{
    const char *name = setup->options.answers.cluster;
    store_t *store
        = store_open (store_place_url (setup), STORE_READ_ONLY, error);
    store_cluster_t *clusters = NULL;
    size_t count = 0;
    int rc = store ? store_clusters (store, &clusters, &count, error) : -1;

    *ret_until = 0;
    for (size_t i = 0; i < count; i++)
        if (name && !strcmp (clusters[i].name, name))
            *ret_until = clusters[i].as_of;
    store_clusters_free (clusters, count);
    store_close (store);
    return rc;
}

static setup_state_t look_usage (setup_t *setup, buffer_t *finding)
{
    BUFFER_AUTO ignored = BUFFER_INIT;
    gl_error_t error;
    int64_t until;

    if (known_until (setup, &until, &error) < 0)
        return buffer_say (finding, SETUP_WAITING, "for the store");
    if (until > time (NULL) - DAY)
        return SETUP_DONE;
    if (look_reader (setup, &ignored) != SETUP_DONE)
        return buffer_say (finding, SETUP_WAITING,
                           "for the account of slurmdbd's database");
    return buffer_say (finding, SETUP_TO_DO, "no usage of the last day");
}

/* Its own message, without that of the program that ran it. */
static void name_failure (const char *verb, gl_error_t *error)
{
    static const char own[] = ": gpuledger: ";
    const char *found = strstr (error->text, own);
    GL_AUTOFREE char *said
        = found ? xstrdup (found + strlen (own)) : xstrdup (error->text);

    gl_error (error, "gpuledger %s: %s", verb, said);
}

/* This program, as the user of the services; what it prints, yours. */
static char *run_as_user (setup_t *setup, const char *const *words,
                          gl_error_t *error)
{
    char self[4096];
    ssize_t length = readlink ("/proc/self/exe", self, sizeof (self) - 1);
    const char *argv[16]
        = {"setpriv", "--reuid=" USER, "--regid=" USER,    "--init-groups",
           self,      "--config",      setup->cli->config, "--no-pager"};
    size_t count = 8;
    program_t program = {.argv = argv,
                         .input = -1,
                         .timeout_ms = SYNC_SECONDS * 1000,
                         .errors_too = true};

    self[length < 0 ? 0 : length] = '\0';
    if (setup->cli->store_url && !setup->store_url) {
        argv[count++] = "--store";
        argv[count++] = setup->cli->store_url;
    }
    for (size_t i = 0; words[i]; i++)
        argv[count++] = words[i];
    char *output = program_run (&program, error);
    if (!output)
        name_failure (words[0], error);
    return output;
}

static setup_result_t make_usage (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    static const char *const sync[] = {"sync", NULL};
    static const char *const report[]
        = {"report", "usage", "-S", "now-30days", "-E", "now", NULL};
    GL_AUTOFREE char *said = NULL;
    GL_AUTOFREE char *table = NULL;

    if (!setup->options.dry_run) {
        said = run_as_user (setup, sync, error);
        table = said ? run_as_user (setup, report, error) : NULL;
        if (!table)
            return SETUP_FAILED;
        buffer_printf (finding, "the first report\n%s\n%s", said, table);
    }
    change_log (&setup->changes, "run", "ran", "gpuledger sync as user " USER);
    return SETUP_MADE;
}

/* --- figures ------------------------------------------------------------- */

static setup_state_t look_figures (setup_t *setup, buffer_t *finding)
{
    const site_t *site = setup->site;

    if (!site || site->pool_count == 0)
        return buffer_say (finding, SETUP_WAITING, "for the configuration");
    if (site->figure_count == 0)
        return SETUP_DONE;
    buffer_printf (finding,
                   "there are no charges before %zu figures are written",
                   site->figure_count);
    for (size_t i = 0; i < site->figure_count; i++) {
        const site_figure_t *figure = &site->figures[i];
        buffer_printf (finding, "\n%s:%d: `%s` of `%s`", figure->place.file,
                       figure->place.line, figure->key, figure->kind);
    }
    return SETUP_TO_DO;
}

/* Only the site knows them. */
static setup_result_t make_figures (setup_t *setup, buffer_t *finding,
                                    gl_error_t *error)
{
    (void)setup, (void)finding, (void)error;
    return SETUP_YOURS;
}

const setup_step_t setup_host_steps[] = {
    {"user", "the user gpuledger exists", look_user, make_user, undo_user,
     .remedy = "gpuledger setup"},
    {"slurm", "Slurm accounts every type of GPU", look_slurm, make_slurm, NULL,
     .check = "slurm.tres"},
    {"configuration", "the configuration names cluster, database and pools",
     configuration_look_host, configuration_make_host, configuration_undo,
     .remedy = "gpuledger setup"},
    {"reader", "an account can read slurmdbd's database", look_reader,
     make_reader, undo_reader, .remedy = "gpuledger setup --run-sql"},
    {"accounts", "the store's accounts exist on the server", look_accounts,
     make_accounts, undo_accounts, .check = "host.store"},
    {"store", "the store exists", look_store, make_store, undo_store,
     .check = "host.store"},
    {"grants", "the store's accounts have their rights", look_grants,
     make_grants, NULL, .check = "host.ledger"},
    {"services", "sync runs every hour", look_services, make_services,
     undo_services, .remedy = "gpuledger setup"},
    {0},
};

const setup_step_t setup_report_steps[] = {
    {"usage", "the store has the usage of today", look_usage, make_usage, NULL,
     .check = "host.as_of"},
    {"figures", "every figure of the cost book is filled in", look_figures,
     make_figures, NULL,
     .remedy = "write a figure in place of each " SITE_TODO},
    {0},
};

const setup_step_t *const setup_accounting[]
    = {setup_host_steps, setup_node_steps, setup_report_steps, NULL};
