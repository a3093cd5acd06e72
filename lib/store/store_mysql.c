/*
 * The MariaDB/MySQL engine of db.h; the only file that sees mysql.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mysql.h>
#include <mysqld_error.h>
#include <errmsg.h>

#include "base/memory.h"
#include "store/db_engine.h"
#include "store/db_url.h"

#define SCHEME "mysql://"

/* A host that is down shall not hold a timer-driven sync for minutes. */
#define CONNECT_TIMEOUT_S 10

/* A result column starts with this room and grows to the longest value seen;
 * names, states and short node lists fit. */
#define COLUMN_ROOM 256

#define LEDGER_ADVICE                                                       \
    ": this account writes closed months; run the command as root or as a " \
    "user who may read that file"

struct mysql_db {
    struct db base;
    MYSQL *handle;
    char *name; /* user@host/database, for messages */
    uint64_t affected;
    uint64_t last_id;
};

struct parameter {
    uint64_t integer;
    unsigned long length;
};

struct column {
    bool integer;
    uint64_t value;
    char *text; /* size + 1 bytes */
    size_t size;
    unsigned long length;
    my_bool null;
    my_bool truncated;
};

struct mysql_statement {
    struct db_statement base;
    bool running; /* rows may be left to read */
    bool rebind;  /* buffers grew since the last bind */
    unsigned column_count;

    /* db_prepare() */
    MYSQL_STMT *handle;
    unsigned parameter_count;
    MYSQL_BIND *parameter_binds;
    struct parameter *parameters;
    MYSQL_BIND *column_binds;
    struct column *columns;

    /* db_query() */
    char *sql;
    MYSQL_RES *result;
    MYSQL_ROW row;
    unsigned long *lengths;
};

static struct mysql_db *of_db (const db_t *db)
{
    return (struct mysql_db *)db;
}

static struct mysql_statement *of_statement (const db_statement_t *statement)
{
    return (struct mysql_statement *)statement;
}

/* The one place that reads the codes of server and client library. */
static db_failure_t failure_of (unsigned code)
{
    switch (code) {
    case 0:
        return DB_FAILURE_NONE;
    case ER_LOCK_WAIT_TIMEOUT:
        return DB_FAILURE_BUSY;
    case ER_LOCK_DEADLOCK: /* on Galera also a commit that lost to another node */
    case ER_CHECKREAD:     /* changed under a snapshot; Galera conflicts */
        return DB_FAILURE_CONFLICT;
    case ER_UNKNOWN_COM_ERROR: /* 1047: a Galera node without quorum */
        return DB_FAILURE_NOT_READY;
    case ER_DBACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_OPTION_PREVENTS_STATEMENT: /* a read-only server */
    case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
        return DB_FAILURE_DENIED;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
        return DB_FAILURE_FULL;
    case ER_NOT_KEYFILE:
    case ER_CRASHED_ON_USAGE:
    case ER_CRASHED_ON_REPAIR:
        return DB_FAILURE_CORRUPT;
    case ER_BAD_DB_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
        return DB_FAILURE_MISSING;
    case ER_DUP_ENTRY:
        return DB_FAILURE_DUPLICATE;
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_UNKNOWN_HOST:
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case ER_SERVER_SHUTDOWN:
    case ER_CON_COUNT_ERROR:
    case ER_CONNECTION_KILLED:
    case ER_ABORTING_CONNECTION:
    case ER_NEW_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR:
    case ER_NET_ERROR_ON_WRITE:
    case CR_SERVER_HANDSHAKE_ERR:
    case CR_SERVER_LOST_EXTENDED:
    case CR_MALFORMED_PACKET: /* cut in the middle */
    case CR_STMT_CLOSED:      /* with its connection */
    case CR_ERR_NET_READ:
    case CR_ERR_NET_WRITE:
        return DB_FAILURE_LOST;
    default:
        return DB_FAILURE_OTHER;
    }
}

static const char *advice_of (unsigned code)
{
    switch (code) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
        return "; check the user in the URL and the password in its "
               "option-file";
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
        return "; sql/grants.sql lists the rights of each account, and the "
               "URL names that of closed months by ledger=FILE";
    case ER_BAD_DB_ERROR:
        return "; create it as sql/accounts.sql shows";
    default:
        return db_failure_advice (failure_of (code));
    }
}

static int fail (struct mysql_db *db, unsigned code, const char *text,
                 gl_error_t *error)
{
    db->base.failure = failure_of (code);
    /* The code of any failed commit; Galera's text tells that its cluster was not
     * there, as in the seconds after another node has died. */
    if (code == ER_ERROR_DURING_COMMIT && strstr (text, "(provider status: "))
        db->base.failure = DB_FAILURE_NOT_READY;
    return gl_error (error, "%s: %s%s", db->name, text,
                     db->base.failure == DB_FAILURE_NOT_READY
                         ? db_failure_advice (DB_FAILURE_NOT_READY)
                         : advice_of (code));
}

/* The library does not always say why, where a connection ends in the middle of
 * an answer. */
static int fail_handle (struct mysql_db *db, gl_error_t *error)
{
    if (mysql_errno (db->handle) != 0)
        return fail (db, mysql_errno (db->handle), mysql_error (db->handle),
                     error);
    return fail (db, CR_SERVER_LOST, "the connection broke", error);
}

static int fail_statement (struct mysql_statement *statement,
                           gl_error_t *error)
{
    struct mysql_db *db = of_db (statement->base.db);

    if (mysql_stmt_errno (statement->handle) == 0)
        return fail_handle (db, error);
    return fail (db, mysql_stmt_errno (statement->handle),
                 mysql_stmt_error (statement->handle), error);
}

static int my_exec (db_t *base, const char *sql, gl_error_t *error)
{
    struct mysql_db *db = of_db (base);
    MYSQL_RES *result;

    if (mysql_real_query (db->handle, sql, strlen (sql)) != 0)
        return fail_handle (db, error);
    result = mysql_use_result (db->handle);
    if (!result && mysql_errno (db->handle) != 0)
        return fail_handle (db, error);
    db->affected = result ? 0 : mysql_affected_rows (db->handle);
    db->last_id = mysql_insert_id (db->handle);
    mysql_free_result (result);
    return 0;
}

/* A server may ask for any file of ours by the LOCAL INFILE protocol. */
static int refuse_infile (void **data, const char *name, void *arg)
{
    (void)name;
    (void)arg;
    *data = NULL;
    return 1;
}

static int refuse_read (void *data, char *buf, unsigned size)
{
    (void)data;
    (void)buf;
    (void)size;
    return -1;
}

static void refuse_end (void *data)
{
    (void)data;
}

static int refuse_error (void *data, char *text, unsigned size)
{
    (void)data;
    snprintf (text, size, "LOCAL INFILE is refused");
    return ER_UNKNOWN_ERROR;
}

static void set_options (MYSQL *handle, const db_url_t *url)
{
    unsigned timeout = CONNECT_TIMEOUT_S, off = 0;
    my_bool no = 0, yes = 1;

    if (url->option_file) {
        mysql_options (handle, MYSQL_READ_DEFAULT_FILE, url->option_file);
        mysql_options (handle, MYSQL_READ_DEFAULT_GROUP,
                       url->group ? url->group : "client");
    }
    mysql_options (handle, MYSQL_OPT_CONNECT_TIMEOUT, &timeout);
    mysql_options (handle, MYSQL_OPT_RECONNECT, &no);
    mysql_options (handle, MYSQL_OPT_LOCAL_INFILE, &off);
    mysql_options (handle, MYSQL_SET_CHARSET_NAME, "binary");
    if (url->ssl_ca) {
        mysql_options (handle, MYSQL_OPT_SSL_CA, url->ssl_ca);
        mysql_options (handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    }
    mysql_set_local_infile_handler (handle, refuse_infile, refuse_read,
                                    refuse_end, refuse_error, NULL);
}

/*
 * The session is as we need it whatever the server's defaults are.
 * READ COMMITTED: merges look at rows that they just locked, not at a snapshot
 * of before. net_write_timeout: the server waits while a sync of millions of
 * rows writes a chunk to its own store.
 */
static const char *const settings[] = {
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION net_write_timeout = 600",
    "SET SESSION time_zone = '+00:00'",
};

/* A host that lost its power says nothing: ask it, and give up after a minute and
 * a half. Harmless where the server is on this host. */
static void keep_alive (int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 30},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                   {IPPROTO_TCP, TCP_KEEPCNT, 6},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, 90000}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (options); i++)
        setsockopt (fd, options[i].level, options[i].name, &options[i].value,
                    sizeof (options[i].value));
}

/* The first row's column `at` as text, "" without a row. */
static int ask (struct mysql_db *db, const char *sql, unsigned at, char *text,
                size_t size, gl_error_t *error)
{
    MYSQL_RES *result;
    MYSQL_ROW row;

    if (mysql_real_query (db->handle, sql, strlen (sql)) != 0
        || !(result = mysql_store_result (db->handle)))
        return fail_handle (db, error);
    row = mysql_fetch_row (result);
    snprintf (text, size, "%s", row && row[at] ? row[at] : "");
    mysql_free_result (result);
    return 0;
}

/* A node that has lost its cluster has old rows, and a read on it ends with a
 * timeout of a lock. A server without Galera is never "non-Primary". Of a list of
 * hosts only a node that is part of its cluster will do. */
static int check_node (struct mysql_db *db, bool several, gl_error_t *error)
{
    char status[32], ready[8] = "ON";

    if (ask (db, "SHOW STATUS LIKE 'wsrep_cluster_status'", 1, status,
             sizeof (status), error)
            < 0
        || (several
            && ask (db, "SHOW STATUS LIKE 'wsrep_ready'", 1, ready,
                    sizeof (ready), error)
                   < 0))
        return -1;
    if (strcasecmp (status, "non-Primary") == 0)
        return fail (db, ER_UNKNOWN_COM_ERROR, "wsrep_cluster_status is "
                                               "non-Primary", error);
    if (strcmp (ready, "ON") == 0)
        return 0;
    db->base.failure = DB_FAILURE_NOT_READY;
    return gl_error (error,
                     "%s: not a ready node of a Galera cluster (wsrep_ready is "
                     "'%s'); a URL may name several hosts of such a cluster only",
                     db->name, ready);
}

/* Reads wait for what the cluster has acknowledged. Servers without Galera have the
 * variable and ignore it (MariaDB) or do not have it (MySQL). */
static int wait_for_cluster (struct mysql_db *db, gl_error_t *error)
{
    if (my_exec (&db->base, "SET SESSION wsrep_sync_wait = 7", error) == 0
        || mysql_errno (db->handle) == ER_UNKNOWN_SYSTEM_VARIABLE)
        return 0;
    return -1;
}

static int set_session (struct mysql_db *db, unsigned flags, gl_error_t *error)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (settings); i++) {
        if (my_exec (&db->base, settings[i], error) < 0)
            return -1;
    }
    if (wait_for_cluster (db, error) < 0)
        return -1;
    if (flags & DB_READ_ONLY)
        return my_exec (&db->base, "SET SESSION TRANSACTION READ ONLY", error);
    return 0;
}

static void name_host (struct mysql_db *db, const db_url_t *url,
                       const db_host_t *host)
{
    const char *user = url->user ? url->user : url->option_file;

    free (db->name);
    if (host->port)
        db->name = xasprintf ("%s@%s:%u/%s", user, host->name, host->port,
                              url->database);
    else
        db->name = xasprintf ("%s@%s/%s", user, host->name, url->database);
}

static int open_host (struct mysql_db *db, const db_url_t *url,
                      const db_host_t *host, unsigned flags, gl_error_t *error)
{
    bool several = url->host_count > 1;

    name_host (db, url, host);
    db->base.failure = DB_FAILURE_NONE;
    db->handle = mysql_init (NULL);
    if (!db->handle)
        return gl_error (error, "%s: out of memory", db->name);
    set_options (db->handle, url);
    /* a node that is not ready does not even know its databases */
    if (!mysql_real_connect (db->handle, host->name, url->user, NULL,
                             several ? NULL : url->database, host->port,
                             url->socket, 0))
        return fail_handle (db, error);
    keep_alive (mysql_get_socket (db->handle));
    /* a program that we start must not hold our locks when we are gone */
    fcntl (mysql_get_socket (db->handle), F_SETFD, FD_CLOEXEC);
    if (check_node (db, several, error) < 0)
        return -1;
    if (several && mysql_select_db (db->handle, url->database) != 0)
        return fail_handle (db, error);
    return set_session (db, flags, error);
}

/* Another host may do better than the one that failed. */
static bool try_next (const struct mysql_db *db)
{
    return db->base.failure == DB_FAILURE_LOST
           || db->base.failure == DB_FAILURE_NOT_READY;
}

/* A report opens many connections: a host that is down is waited for once. This
 * process asks the host first that answered last, by its place in any list. */
static _Atomic size_t answered_last;

static int open_handle (struct mysql_db *db, const db_url_t *url,
                        unsigned flags, gl_error_t *error)
{
    size_t first = answered_last;

    if (url->option_file && access (url->option_file, R_OK) < 0)
        return gl_error (error, "cannot read the option file %s: %s%s",
                         url->option_file, strerror (errno),
                         url->user ? "" : LEDGER_ADVICE);
    for (size_t i = 0; i < url->host_count; i++) {
        size_t at = (first + i) % url->host_count;
        if (open_host (db, url, &url->hosts[at], flags, error) == 0) {
            if (url->host_count > 1)
                answered_last = at;
            return 0;
        }
        if (!try_next (db) || i + 1 == url->host_count)
            break;
        mysql_close (db->handle);
        db->handle = NULL;
    }
    if (url->host_count > 1 && try_next (db))
        return gl_error_prefix (error, "none of %zu hosts can be used; the last "
                                       "one said",
                                url->host_count);
    return -1;
}

static void my_close (db_t *base)
{
    struct mysql_db *db = of_db (base);

    if (db->handle)
        mysql_close (db->handle);
    free (db->name);
    free (db);
}

/* Who writes closed months is whom the option file of the ledger names. */
static void take_ledger (db_url_t *url)
{
    if (!url->ledger)
        return;
    free (url->option_file);
    url->option_file = GL_TAKE (url->ledger);
    free (url->user);
    url->user = NULL;
}

static db_t *my_open (const char *text, unsigned flags, gl_error_t *error)
{
    struct mysql_db *db;
    db_url_t url;
    int rc;

    if (db_url_parse (text, &url, error) < 0)
        return NULL;
    if ((flags & (DB_LEDGER | DB_READ_ONLY)) == DB_LEDGER)
        take_ledger (&url);
    db = xcalloc (1, sizeof (*db));
    db->base.engine = &db_mysql_engine;
    rc = open_handle (db, &url, flags, error);
    db_url_done (&url);
    if (rc < 0) {
        my_close (&db->base);
        return NULL;
    }
    return &db->base;
}

static uint64_t my_affected (const db_t *db)
{
    return of_db (db)->affected;
}

static uint64_t my_last_id (const db_t *db)
{
    return of_db (db)->last_id;
}

static struct mysql_statement *new_statement (db_t *db)
{
    struct mysql_statement *statement = xcalloc (1, sizeof (*statement));

    statement->base.db = db;
    return statement;
}

static bool is_integer (const MYSQL_FIELD *field)
{
    switch (field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return true;
    default:
        return false;
    }
}

static void bind_column (MYSQL_BIND *bind, struct column *column,
                         const MYSQL_FIELD *field)
{
    column->integer = is_integer (field);
    if (column->integer) {
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &column->value;
        bind->is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    }
    else {
        column->size = COLUMN_ROOM;
        column->text = xmalloc (column->size + 1);
        bind->buffer_type = MYSQL_TYPE_STRING;
        bind->buffer = column->text;
        bind->buffer_length = column->size;
    }
    bind->length = &column->length;
    bind->is_null = &column->null;
    bind->error = &column->truncated;
}

static void bind_columns (struct mysql_statement *statement)
{
    MYSQL_RES *meta = mysql_stmt_result_metadata (statement->handle);

    if (!meta)
        return;
    statement->column_count = mysql_num_fields (meta);
    statement->columns = xcalloc (statement->column_count,
                                  sizeof (*statement->columns));
    statement->column_binds = xcalloc (statement->column_count,
                                       sizeof (*statement->column_binds));
    for (unsigned i = 0; i < statement->column_count; i++)
        bind_column (&statement->column_binds[i], &statement->columns[i],
                     mysql_fetch_field_direct (meta, i));
    mysql_free_result (meta);
}

static void my_reset_parameters (struct mysql_statement *statement)
{
    for (unsigned i = 0; i < statement->parameter_count; i++)
        statement->parameter_binds[i].buffer_type = MYSQL_TYPE_NULL;
}

static void my_finalize (db_statement_t *base);

static db_statement_t *my_prepare (db_t *base, const char *sql,
                                   gl_error_t *error)
{
    struct mysql_db *db = of_db (base);
    struct mysql_statement *statement = new_statement (base);

    statement->handle = mysql_stmt_init (db->handle);
    if (!statement->handle
        || mysql_stmt_prepare (statement->handle, sql, strlen (sql)) != 0) {
        if (statement->handle)
            fail_statement (statement, error);
        else
            fail_handle (db, error);
        my_finalize (&statement->base);
        return NULL;
    }
    statement->parameter_count = mysql_stmt_param_count (statement->handle);
    statement->parameters = xcalloc (statement->parameter_count + 1,
                                     sizeof (*statement->parameters));
    statement->parameter_binds
        = xcalloc (statement->parameter_count + 1,
                   sizeof (*statement->parameter_binds));
    my_reset_parameters (statement);
    bind_columns (statement);
    return &statement->base;
}

static db_statement_t *my_query (db_t *base, const char *sql,
                                 gl_error_t *error)
{
    struct mysql_statement *statement = new_statement (base);

    (void)error;
    statement->sql = xstrdup (sql);
    return &statement->base;
}

/* Give up what the server still has to send. */
static void stop (struct mysql_statement *statement)
{
    if (!statement->running)
        return;
    statement->running = false;
    if (statement->handle)
        mysql_stmt_free_result (statement->handle);
    else {
        mysql_free_result (statement->result);
        statement->result = NULL;
        statement->row = NULL;
    }
}

static void my_finalize (db_statement_t *base)
{
    struct mysql_statement *statement = of_statement (base);

    stop (statement);
    if (statement->handle)
        mysql_stmt_close (statement->handle);
    for (unsigned i = 0; statement->columns && i < statement->column_count; i++)
        free (statement->columns[i].text);
    free (statement->columns);
    free (statement->column_binds);
    free (statement->parameters);
    free (statement->parameter_binds);
    free (statement->sql);
    free (statement);
}

static void my_bind_integer (db_statement_t *base, unsigned at, uint64_t bits,
                             bool is_unsigned)
{
    struct mysql_statement *statement = of_statement (base);
    MYSQL_BIND *bind = &statement->parameter_binds[at];

    if (at >= statement->parameter_count)
        return;
    statement->parameters[at].integer = bits;
    bind->buffer_type = MYSQL_TYPE_LONGLONG;
    bind->buffer = &statement->parameters[at].integer;
    bind->is_unsigned = is_unsigned;
}

static void my_bind_bytes (db_statement_t *base, unsigned at, const void *data,
                           size_t length, bool is_text)
{
    struct mysql_statement *statement = of_statement (base);
    MYSQL_BIND *bind = &statement->parameter_binds[at];

    if (at >= statement->parameter_count)
        return;
    statement->parameters[at].length = length;
    bind->buffer_type = !data     ? MYSQL_TYPE_NULL
                        : is_text ? MYSQL_TYPE_STRING
                                  : MYSQL_TYPE_BLOB;
    bind->buffer = (void *)data;
    bind->buffer_length = length;
    bind->length = &statement->parameters[at].length;
}

static int start_prepared (struct mysql_statement *statement,
                           gl_error_t *error)
{
    struct mysql_db *db = of_db (statement->base.db);
    MYSQL_STMT *handle = statement->handle;

    if ((statement->parameter_count > 0
         && mysql_stmt_bind_param (handle, statement->parameter_binds) != 0)
        || mysql_stmt_execute (handle) != 0
        || (statement->column_count > 0
            && mysql_stmt_bind_result (handle, statement->column_binds) != 0))
        return fail_statement (statement, error);
    if (statement->column_count > 0) {
        statement->running = true;
        return 0;
    }
    db->affected = mysql_stmt_affected_rows (handle);
    db->last_id = mysql_stmt_insert_id (handle);
    return 0;
}

static int start_query (struct mysql_statement *statement, gl_error_t *error)
{
    struct mysql_db *db = of_db (statement->base.db);

    if (mysql_real_query (db->handle, statement->sql, strlen (statement->sql))
        != 0)
        return fail_handle (db, error);
    statement->result = mysql_use_result (db->handle);
    if (!statement->result) {
        if (mysql_errno (db->handle) != 0)
            return fail_handle (db, error);
        db->affected = mysql_affected_rows (db->handle);
        return 0;
    }
    statement->column_count = mysql_num_fields (statement->result);
    statement->running = true;
    return 0;
}

/* The row is here, but some values did not fit: make room, fetch those. */
static int fetch_truncated (struct mysql_statement *statement,
                            gl_error_t *error)
{
    for (unsigned i = 0; i < statement->column_count; i++) {
        struct column *column = &statement->columns[i];
        MYSQL_BIND *bind = &statement->column_binds[i];

        if (column->integer || column->length <= column->size)
            continue;
        column->size = column->length;
        column->text = xrealloc (column->text, column->size + 1);
        bind->buffer = column->text;
        bind->buffer_length = column->size;
        if (mysql_stmt_fetch_column (statement->handle, bind, i, 0) != 0)
            return fail_statement (statement, error);
        statement->rebind = true;
    }
    return 1;
}

/* Grown buffers are bound before the next row and not with this one: libmariadb
 * of 10.11.18 sets the lengths of the row to 0 when it binds. */
static int fetch_prepared (struct mysql_statement *statement,
                           gl_error_t *error)
{
    if (statement->rebind
        && mysql_stmt_bind_result (statement->handle, statement->column_binds)
               != 0)
        return fail_statement (statement, error);
    statement->rebind = false;
    switch (mysql_stmt_fetch (statement->handle)) {
    case 0:
        return 1;
    case MYSQL_NO_DATA:
        return 0;
    case MYSQL_DATA_TRUNCATED:
        return fetch_truncated (statement, error);
    default:
        return fail_statement (statement, error);
    }
}

static int fetch_query (struct mysql_statement *statement, gl_error_t *error)
{
    struct mysql_db *db = of_db (statement->base.db);

    statement->row = mysql_fetch_row (statement->result);
    if (statement->row) {
        statement->lengths = mysql_fetch_lengths (statement->result);
        return 1;
    }
    return mysql_errno (db->handle) ? fail_handle (db, error) : 0;
}

static int my_step (db_statement_t *base, gl_error_t *error)
{
    struct mysql_statement *statement = of_statement (base);
    int rc;

    if (!statement->running) {
        rc = statement->handle ? start_prepared (statement, error)
                               : start_query (statement, error);
        if (rc < 0 || !statement->running)
            return rc;
    }
    rc = statement->handle ? fetch_prepared (statement, error)
                           : fetch_query (statement, error);
    if (rc != 1)
        stop (statement);
    return rc;
}

static void my_reset (db_statement_t *base)
{
    struct mysql_statement *statement = of_statement (base);

    stop (statement);
    my_reset_parameters (statement);
}

static unsigned my_column_count (const db_statement_t *statement)
{
    return of_statement (statement)->column_count;
}

static char *my_column_name (const db_statement_t *base, unsigned at)
{
    struct mysql_statement *statement = of_statement (base);
    MYSQL_RES *result = statement->handle
                            ? mysql_stmt_result_metadata (statement->handle)
                            : statement->result;
    char *name
        = result ? xstrdup (mysql_fetch_field_direct (result, at)->name) : NULL;

    if (statement->handle)
        mysql_free_result (result);
    return name;
}

static bool my_column_is_null (const db_statement_t *base, unsigned at)
{
    const struct mysql_statement *statement = of_statement (base);

    return statement->handle ? statement->columns[at].null != 0
                             : statement->row[at] == NULL;
}

/* Digits, with an optional '-'; what is no number is 0. */
static uint64_t integer_of_text (const char *text, size_t length)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t value = 0;

    for (size_t i = negative; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0';
        if (digit > 9)
            break;
        value = value * 10 + digit;
    }
    return negative ? -value : value;
}

static uint64_t my_column_integer (const db_statement_t *base, unsigned at)
{
    const struct mysql_statement *statement = of_statement (base);
    const struct column *column;

    if (my_column_is_null (base, at))
        return 0;
    if (!statement->handle)
        return integer_of_text (statement->row[at], statement->lengths[at]);
    column = &statement->columns[at];
    if (column->integer)
        return column->value;
    return integer_of_text (column->text, column->length);
}

/* An integer column read as text, as SQLite allows. */
static void spell_integer (struct mysql_statement *statement, unsigned at)
{
    struct column *column = &statement->columns[at];
    bool is_unsigned = statement->column_binds[at].is_unsigned;

    if (!column->text)
        column->text = xmalloc (24);
    column->length = (unsigned long)snprintf (
        column->text, 24, is_unsigned ? "%llu" : "%lld",
        (unsigned long long)column->value);
}

static const char *my_column_text (const db_statement_t *base, unsigned at)
{
    struct mysql_statement *statement = of_statement (base);
    struct column *column;

    if (my_column_is_null (base, at))
        return NULL;
    if (!statement->handle)
        return statement->row[at];
    column = &statement->columns[at];
    if (column->integer)
        spell_integer (statement, at);
    else
        column->text[column->length] = '\0';
    return column->text;
}

static size_t my_column_length (const db_statement_t *base, unsigned at)
{
    struct mysql_statement *statement = of_statement (base);

    if (my_column_is_null (base, at))
        return 0;
    if (!statement->handle)
        return statement->lengths[at];
    if (statement->columns[at].integer)
        spell_integer (statement, at);
    return statement->columns[at].length;
}

const struct db_engine db_mysql_engine = {
    .id = DB_MYSQL,
    .scheme = SCHEME,
    .begin = "START TRANSACTION",
    .begin_read = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"
                  "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    .quote = '`',
    .open = my_open,
    .close = my_close,
    .exec = my_exec,
    .affected = my_affected,
    .last_id = my_last_id,
    .prepare = my_prepare,
    .query = my_query,
    .finalize = my_finalize,
    .bind_integer = my_bind_integer,
    .bind_bytes = my_bind_bytes,
    .step = my_step,
    .reset = my_reset,
    .column_count = my_column_count,
    .column_name = my_column_name,
    .column_is_null = my_column_is_null,
    .column_integer = my_column_integer,
    .column_text = my_column_text,
    .column_length = my_column_length,
};
