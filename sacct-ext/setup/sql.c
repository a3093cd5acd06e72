#include "setup/sql.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "store/db.h"

#define PASSWORD_BYTES 16
/* What is shown in place of a password. */
#define HIDDEN "..."
#define SQL_FILES SYSCONFDIR "/gpuledger/setup-"

/* Rows of sql/embed.awk. */
struct statement {
    db_engine_t engine;
    bool ledger, view;
    const char *text;
};
static const struct statement account_statements[] = {
#include "setup/accounts.inc"
};
static const struct statement grant_statements[] = {
#include "setup/grants.inc"
};

/* --- where --------------------------------------------------------------- */

char *sql_slurmdb_url (const slurm_conf_t *slurmdbd)
{
    const char *host = slurm_conf_value (slurmdbd, "StorageHost");
    const char *port = slurm_conf_value (slurmdbd, "StoragePort");
    const char *name = slurm_conf_value (slurmdbd, "StorageLoc");
    bool brackets = host && strchr (host, ':') && host[0] != '[';

    return xasprintf ("mysql://" SQL_READER "@%s%s%s%s%s/%s?option-file="
                      "%s",
                      brackets ? "[" : "", host ? host : "localhost",
                      brackets ? "]" : "", port ? ":" : "", port ? port : "",
                      name ? name : "slurm_acct_db", SQL_READER_FILE);
}

static bool is_loopback (const char *host)
{
    return !strcasecmp (host, "localhost") || !strncmp (host, "127.", 4)
           || !strcmp (host, "::1");
}

/* With these characters doubled, as SQL has them within quotes. */
static char *doubled (const char *text, const char *characters)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (; *text; text++) {
        if (strchr (characters, *text))
            buffer_add_char (&out, *text);
        buffer_add_char (&out, *text);
    }
    return buffer_take (&out);
}

/* This host, as the server sees it. */
static char *client_host (const setup_t *setup, const char *server)
{
    char name[256] = "";

    gethostname (name, sizeof (name) - 1);
    return doubled (setup->options.sql_host ? setup->options.sql_host
                    : is_loopback (server)  ? server
                                            : name,
                    "'\\");
}

/* --- passwords ----------------------------------------------------------- */

static int new_password (buffer_t *out, gl_error_t *error)
{
    uint8_t bytes[PASSWORD_BYTES];

    if (getrandom (bytes, sizeof (bytes), 0) != sizeof (bytes))
        return gl_error (error, "the kernel has no random bytes");
    for (size_t i = 0; i < sizeof (bytes); i++)
        buffer_printf (out, "%02x", bytes[i]);
    return 0;
}

/* Of the option file, for single quotes; HIDDEN: there is none yet. */
static char *password_of (const sql_account_t *account)
{
    GL_AUTOFREE char *text = change_read (account->file, NULL);
    const char *at = text ? strstr (text, "password=") : NULL;

    if (!at)
        return xstrdup (HIDDEN);
    at += strlen ("password=");
    GL_AUTOFREE char *password = xstrndup (at, strcspn (at, "\n"));
    return doubled (password, "'\\");
}

static int make_file (setup_t *setup, const sql_account_t *account,
                      gl_error_t *error)
{
    change_file_t file = {.path = account->file,
                          .mode = account->by_root ? 0600 : 0640,
                          .group = account->by_root ? NULL : "gpuledger",
                          .secret = true};
    BUFFER_AUTO text = BUFFER_INIT;

    if (access (account->file, F_OK) == 0)
        return 0;
    buffer_add_text (&text, "[client]\n");
    if (account->with_name)
        buffer_printf (&text, "user=%s\n", account->name);
    buffer_add_text (&text, "password=");
    if (new_password (&text, error) < 0)
        return -1;
    buffer_add_char (&text, '\n');
    return change_write (&setup->changes, &file, buffer_text (&text), error);
}

int sql_make_files (setup_t *setup, const sql_request_t *request,
                    gl_error_t *error)
{
    for (size_t i = 0; i < request->count; i++)
        if (make_file (setup, &request->account[i], error) < 0)
            return -1;
    return 0;
}

/* --- statements ---------------------------------------------------------- */

static char *replaced (char *text, const char *from, const char *to)
{
    BUFFER_AUTO out = BUFFER_INIT;
    const char *at = text, *found;

    while ((found = strstr (at, from))) {
        buffer_add (&out, at, (size_t)(found - at));
        buffer_add_text (&out, to);
        at = found + strlen (from);
    }
    buffer_add_text (&out, at);
    free (text);
    return buffer_take (&out);
}

/* A name in backquotes, of GRANT, where _ and % would be patterns. */
static char *pattern (const char *database)
{
    GL_AUTOFREE char *name = doubled (database, "`");
    BUFFER_AUTO out = BUFFER_INIT;

    for (const char *at = name; *at; at++) {
        if (*at == '_' || *at == '%')
            buffer_add_char (&out, '\\');
        buffer_add_char (&out, *at);
    }
    return buffer_take (&out);
}

/* Texts of the site in place of those of the file. */
struct place {
    char *host;     /* of the accounts, for single quotes */
    char *database; /* for backquotes */
    char *pattern;  /* the same in GRANT */
};

static char *fill_in (const char *statement, bool of_reader,
                      const struct place *place, const char *password)
{
    const struct {
        const char *from;
        char *to;
    } texts[] = {
        {"'@'localhost'", xasprintf ("'@'%s'", place->host)},
        {"IDENTIFIED BY 'change me too'",
         xasprintf ("IDENTIFIED BY '%s'", password)},
        {"IDENTIFIED BY 'change me'",
         xasprintf ("IDENTIFIED BY '%s'", password)},
        {of_reader ? "`slurm\\_acct\\_db`.*" : "ON gpuledger.*",
         xasprintf ("%s`%s`.*", of_reader ? "" : "ON ", place->pattern)},
        {"ON gpuledger.", xasprintf ("ON `%s`.", place->database)},
        {"EXISTS gpuledger ", xasprintf ("EXISTS `%s` ", place->database)},
    };
    char *text = xstrdup (statement);

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        text = replaced (text, texts[i].from, texts[i].to);
        free (texts[i].to);
    }
    return text;
}

/* The account of the request that the statement is for; NULL: it is for none of them. */
static const sql_account_t *account_of (const sql_request_t *request,
                                        const char *statement)
{
    for (size_t i = 0; i < request->count; i++) {
        GL_AUTOFREE char *name = xasprintf ("'%s'@", request->account[i].name);
        if (strstr (statement, name))
            return &request->account[i];
    }
    return NULL;
}

static bool is_of_reader (const sql_request_t *request)
{
    return !strcmp (request->account[0].name, SQL_READER);
}

/* The rows have no semicolon, and end with a newline. */
static void add_statement (buffer_t *out, const char *text)
{
    buffer_printf (out, "%.*s;\n", (int)strlen (text) - 1, text);
}

static void add_filled (buffer_t *out, const sql_request_t *request,
                        const char *statement, const struct place *place,
                        bool hide)
{
    const sql_account_t *account = account_of (request, statement);
    bool makes_database = !strncmp (statement, "CREATE DATABASE", 15);

    if (!account && !(makes_database && !is_of_reader (request)))
        return;
    GL_AUTOFREE char *password
        = account && !hide ? password_of (account) : xstrdup (HIDDEN);
    GL_AUTOFREE char *text
        = fill_in (statement, is_of_reader (request), place, password);
    add_statement (out, text);
    /* an account from an earlier time has another password */
    if (!strncmp (statement, "CREATE USER", 11)) {
        GL_AUTOFREE char *alter = replaced (
            xstrdup (text), "CREATE USER IF NOT EXISTS", "ALTER USER");
        add_statement (out, alter);
    }
}

static void add_statements (buffer_t *out, const sql_request_t *request,
                            const struct place *place, bool hide)
{
    const struct statement *rows
        = request->grants ? grant_statements : account_statements;
    size_t count = request->grants ? GL_ARRAY_SIZE (grant_statements)
                                   : GL_ARRAY_SIZE (account_statements);

    for (size_t i = 0; i < count; i++)
        add_filled (out, request, rows[i].text, place, hide);
}

/* --- run ----------------------------------------------------------------- */

/* With the administrator's own login: of the socket, or of ~/.my.cnf. */
static int run_client (const db_url_t *url, const char *sql, gl_error_t *error)
{
    bool local = is_loopback (url->hosts[0].name);
    GL_AUTOFREE char *host = xasprintf ("--host=%s", url->hosts[0].name);
    GL_AUTOFREE char *port = xasprintf (
        "--port=%u", url->hosts[0].port ? url->hosts[0].port : 3306);
    const char *argv[]
        = {program_exists ("mariadb") ? "mariadb" : "mysql", "--batch",
           local ? NULL : host, local ? NULL : port, NULL};
    program_t program = {.argv = argv};
    int rc = -1;

    program.input = memfd_create ("sql", MFD_CLOEXEC);
    if (program.input < 0
        || file_write_all (program.input, sql, strlen (sql)) < 0
        || lseek (program.input, 0, SEEK_SET) < 0)
        gl_error (error, "the SQL does not fit into memory");
    else {
        GL_AUTOFREE char *output = program_run (&program, error);
        rc = output ? 0 : -1;
    }
    if (program.input >= 0)
        close (program.input);
    return rc;
}

/* For the administrator, who is told how. */
static setup_result_t hand_over (setup_t *setup, const char *name,
                                 const db_url_t *url, const char *sql,
                                 const char *shown, buffer_t *finding,
                                 gl_error_t *error)
{
    GL_AUTOFREE char *path = xasprintf (SQL_FILES "%s.sql", name);
    change_file_t file = {.path = path, .mode = 0600, .secret = true};
    bool local = is_loopback (url->hosts[0].name);

    if (change_write (&setup->changes, &file, sql, error) < 0)
        return SETUP_FAILED;
    texts_add (&setup->sql_files, path);
    buffer_printf (finding,
                   "run this SQL as an administrator of the server %s, or use "
                   "--run-sql\n$ mariadb%s%s <%s\n%s",
                   url->hosts[0].name,
                   local ? "" : " --host=", local ? "" : url->hosts[0].name,
                   path, shown);
    return SETUP_YOURS;
}

static setup_result_t have_run (setup_t *setup, const char *name,
                                const db_url_t *url, const char *sql,
                                const char *shown, buffer_t *finding,
                                gl_error_t *error)
{
    if (!setup->options.run_sql)
        return hand_over (setup, name, url, sql, shown, finding, error);
    if (!setup->options.dry_run && run_client (url, sql, error) < 0)
        return SETUP_FAILED;
    change_log (&setup->changes, "run", "ran", "SQL:");
    buffer_add_text (&setup->changes.log, shown);
    return SETUP_MADE;
}

static void place_done (struct place *place)
{
    free (place->host);
    free (place->database);
    free (place->pattern);
}

static struct place place_of (const setup_t *setup, const db_url_t *url)
{
    return (struct place){client_host (setup, url->hosts[0].name),
                          doubled (url->database, "`"),
                          pattern (url->database)};
}

static int note_accounts (setup_t *setup, const sql_request_t *request,
                          const struct place *place, gl_error_t *error)
{
    for (size_t i = 0; i < request->count && !setup->options.dry_run; i++) {
        GL_AUTOFREE char *name
            = xasprintf ("'%s'@'%s'", request->account[i].name, place->host);
        made_note (&setup->changes.made, "account", name, NULL);
    }
    return setup->options.dry_run ? 0
                                  : made_write (&setup->changes.made, error);
}

setup_result_t sql_do (setup_t *setup, const sql_request_t *request,
                       buffer_t *finding, gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    BUFFER_AUTO shown = BUFFER_INIT;
    setup_result_t result = SETUP_FAILED;
    struct place place;
    db_url_t url;

    if (db_url_parse (request->url, &url, error) < 0)
        return SETUP_FAILED;
    place = place_of (setup, &url);
    add_statements (&sql, request, &place, false);
    add_statements (&shown, request, &place, true);
    if (note_accounts (setup, request, &place, error) == 0)
        result = have_run (setup, request->name, &url, buffer_text (&sql),
                           buffer_text (&shown), finding, error);
    place_done (&place);
    db_url_done (&url);
    return result;
}

/* --- undone -------------------------------------------------------------- */

static void add_drops (buffer_t *sql, const setup_t *setup,
                       const sql_request_t *request, const char *host)
{
    for (size_t i = 0; i < request->count; i++) {
        GL_AUTOFREE char *name
            = xasprintf ("'%s'@'%s'", request->account[i].name, host);
        if (made_find (&setup->changes.made, "account", name))
            buffer_printf (sql, "DROP USER IF EXISTS %s;\n", name);
    }
}

static int forget_accounts (setup_t *setup, const sql_request_t *request,
                            const char *host, gl_error_t *error)
{
    bool left;

    for (size_t i = 0; i < request->count; i++) {
        GL_AUTOFREE char *name
            = xasprintf ("'%s'@'%s'", request->account[i].name, host);
        if (!setup->options.dry_run)
            made_forget (&setup->changes.made, "account", name);
        if (change_remove (&setup->changes, request->account[i].file, &left,
                           error)
            < 0)
            return -1;
    }
    return setup->options.dry_run ? 0
                                  : made_write (&setup->changes.made, error);
}

setup_result_t sql_undo (setup_t *setup, const sql_request_t *request,
                         buffer_t *finding, gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    setup_result_t result = SETUP_MADE;
    GL_AUTOFREE char *host = NULL;
    db_url_t url;

    if (db_url_parse (request->url, &url, error) < 0)
        return SETUP_FAILED;
    host = client_host (setup, url.hosts[0].name);
    add_drops (&sql, setup, request, host);
    if (sql.length)
        result = have_run (setup, request->name, &url, buffer_text (&sql),
                           buffer_text (&sql), finding, error);
    db_url_done (&url);
    if (result != SETUP_FAILED
        && forget_accounts (setup, request, host, error) < 0)
        return SETUP_FAILED;
    return result;
}

int sql_tidy (setup_t *setup, gl_error_t *error)
{
    static const char *const names[] = {"reader", "accounts", "grants"};
    bool left;

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        GL_AUTOFREE char *path = xasprintf (SQL_FILES "%s.sql", names[i]);
        if (!texts_have (&setup->sql_files, path)
            && change_remove (&setup->changes, path, &left, error) < 0)
            return -1;
    }
    return 0;
}
