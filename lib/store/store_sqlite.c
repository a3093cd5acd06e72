/*
 * The SQLite engine of db.h; the only file that sees sqlite3.h.
 *
 * The journal of facts is a write-ahead log, so that reports read while a sync
 * writes. The ledger file has none: to read a log takes the right to write next
 * to it, and the ledger is read by those who must not write it. It is written
 * seldom and shortly. synchronous is FULL: a commit survives a power cut.
 * NORMAL would lose the last commits then, and a collector has acknowledged
 * them; commits are large and few, so that the additional fsync does not show.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/memory.h"
#include "store/db_engine.h"

#define SCHEME "sqlite:"
/* The ledger file, if the URL does not name it. */
#define LEDGER_PARAMETER "?ledger="
#define IN_MEMORY ":memory:"
#define LEDGER_SUFFIX "-ledger"

/* How long a second writer waits. An import of a month takes seconds. */
#define BUSY_MS 60000
/* Long enough for the other to get on, short enough that nobody notices. */
#define JOURNAL_PAUSE_MS 10
/* How long the end of a command waits for readers of older moments. */
#define SETTLE_MS 1000

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    const char *path; /* in base.url once that is set */
    bool read_only;
};

struct sqlite_statement {
    struct db_statement base;
    sqlite3_stmt *handle;
};

static struct sqlite_db *of_db (const db_t *db)
{
    return (struct sqlite_db *)db;
}

static sqlite3_stmt *of_statement (const db_statement_t *statement)
{
    return ((const struct sqlite_statement *)statement)->handle;
}

/* The one place that reads SQLite's codes. */
static db_failure_t failure_of (int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return DB_FAILURE_NONE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return DB_FAILURE_BUSY;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
        return DB_FAILURE_DENIED;
    case SQLITE_FULL:
        return DB_FAILURE_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return DB_FAILURE_CORRUPT;
    case SQLITE_CANTOPEN:
        return DB_FAILURE_MISSING;
    case SQLITE_CONSTRAINT:
        return DB_FAILURE_DUPLICATE;
    default:
        return DB_FAILURE_OTHER;
    }
}

static const char *advice_of (int code)
{
    switch (code & 0xff) {
    case SQLITE_READONLY:
        return code == SQLITE_READONLY_ROLLBACK
                   ? "; the last command that wrote it was cut off: run "
                     "gpuledger verify as the owner of the file or as root"
                   : "; the file, its directory or the connection is read-only";
    case SQLITE_CANTOPEN:
        return "; readers too need to open PATH-wal and PATH-shm: check the "
               "permissions of the directory";
    default:
        return db_failure_advice (failure_of (code));
    }
}

/* A full disk is SQLITE_FULL when pages are written, and an I/O error when the
 * file PATH-shm next to the database cannot grow. */
static int cause_of (struct sqlite_db *db, int code)
{
    return (code & 0xff) == SQLITE_IOERR
                   && sqlite3_system_errno (db->handle) == ENOSPC
               ? SQLITE_FULL
               : code;
}

static int fail (struct sqlite_db *db, int code, gl_error_t *error)
{
    code = cause_of (db, code);
    db->base.failure = failure_of (code);
    return gl_error (error, "%s: %s%s", db->path, sqlite3_errmsg (db->handle),
                     advice_of (code));
}

static void pause_shortly (void)
{
    const struct timespec pause = {.tv_nsec = JOURNAL_PAUSE_MS * 1000000L};

    nanosleep (&pause, NULL);
}

static int sqlite_exec (db_t *base, const char *sql, gl_error_t *error)
{
    struct sqlite_db *db = of_db (base);
    int code = sqlite3_exec (db->handle, sql, NULL, NULL, NULL);

    if (code != SQLITE_OK)
        return fail (db, code, error);
    return 0;
}

/* A file created by root gets the owner of its directory. */
static int give_to_owner (int fd, const char *path)
{
    const char *slash = strrchr (path, '/');
    GL_AUTOFREE char *dir
        = slash ? xstrndup (path, (size_t)(slash - path) + 1) : xstrdup (".");
    struct stat st;

    if (geteuid () != 0)
        return 0;
    return stat (dir, &st) < 0 ? -1 : fchown (fd, st.st_uid, st.st_gid);
}

/* An empty file, if there is none. */
static int make_file (const char *path)
{
    /* what users ran is not for everybody: 0640, for SQLite's -wal and -shm
     * as well */
    int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    int rc;

    if (fd < 0)
        return errno == EEXIST ? 0 : -1;
    rc = give_to_owner (fd, path);
    close (fd);
    return rc;
}

/* Like open(), but the file is not opened. */
static int check_file (const char *path, unsigned flags)
{
    int mode = flags & DB_READ_ONLY ? R_OK : R_OK | W_OK;
    struct stat st;

    if (faccessat (AT_FDCWD, path, mode, AT_EACCESS) < 0
        || stat (path, &st) < 0)
        return -1;
    if (!S_ISDIR (st.st_mode))
        return 0;
    errno = EISDIR;
    return -1;
}

/* Say what is wrong with the path in words of the file system, where SQLite
 * only says that it cannot open it. A file that is there is not opened: to
 * close it would take away the locks of this process's other connections, and
 * who leaves next would empty the log under their feet. */
static int check_path (const char *path, unsigned flags, gl_error_t *error)
{
    int rc;

    if (path[0] == '\0')
        return gl_error (error, "'%s' names no file; write sqlite:PATH",
                         SCHEME);
    rc = check_file (path, flags);
    if (rc < 0 && errno == ENOENT && flags & DB_CREATE)
        rc = make_file (path);
    if (rc < 0 && errno == ENOENT && !(flags & DB_CREATE))
        return gl_error (error, "there is no store %s; run gpuledger init",
                         path);
    if (rc < 0 && errno == ENOENT) {
        const char *slash = strrchr (path, '/');
        return gl_error (error,
                         "cannot create %s: its directory is missing; make it "
                         "with install -d -m 0750 %.*s",
                         path, (int)(slash ? slash - path : 0), path);
    }
    if (rc < 0)
        return gl_error (error, "cannot open %s%s: %s%s", path,
                         flags & DB_READ_ONLY ? "" : " for writing",
                         strerror (errno),
                         (flags & (DB_LEDGER | DB_READ_ONLY)) == DB_LEDGER
                             ? "; closed months are in this file: run the "
                               "command as its owner or as root"
                             : "");
    return 0;
}

static db_statement_t *sqlite_prepare (db_t *base, const char *sql,
                                       gl_error_t *error);
static void sqlite_finalize (db_statement_t *statement);
static int sqlite_step (db_statement_t *statement, gl_error_t *error);
static const char *sqlite_column_text (const db_statement_t *statement,
                                       unsigned at);

/* Set for each connection; the journal mode is kept in the file. The log is moved
 * into the file when it has 16 MiB: half as often as by default a commit of a
 * collector waits for the disk twice more. */
static const char settings[] = "PRAGMA synchronous = FULL;"
                               "PRAGMA cache_size = -16384;"
                               "PRAGMA journal_size_limit = 0;"
                               "PRAGMA wal_autocheckpoint = 4096;"
                               "PRAGMA trusted_schema = OFF;"
                               "PRAGMA cell_size_check = ON;";

/* A report reads with several connections at once, each mostly in one direction. */
static const char reader_settings[] = "PRAGMA cache_size = -2048;";

/* The rows of a month go to the ends of their tables: no page is asked for again. */
static const char ledger_settings[] = "PRAGMA cache_size = -4096;";

static int try_journal (struct sqlite_db *db, gl_error_t *error)
{
    db_statement_t *st
        = sqlite_prepare (&db->base, "PRAGMA journal_mode = WAL", error);
    int rc = st ? sqlite_step (st, error) : -1;

    if (rc == 1 && strcmp (sqlite_column_text (st, 0), "wal") != 0)
        rc = gl_error (error,
                       "%s: SQLite cannot keep a write-ahead log there; use a "
                       "local file system",
                       db->path);
    if (st)
        sqlite_finalize (st);
    return rc < 0 ? -1 : 0;
}

/* Where several make the same store at once, SQLite does not wait for the lock
 * that this change needs, whatever the busy timeout: so wait here. */
static int set_journal (struct sqlite_db *db, gl_error_t *error)
{
    int left = BUSY_MS / JOURNAL_PAUSE_MS;
    int rc = try_journal (db, error);

    while (rc < 0 && (sqlite3_errcode (db->handle) & 0xff) == SQLITE_BUSY
           && left-- > 0) {
        pause_shortly ();
        rc = try_journal (db, error);
    }
    return rc;
}

/* Foreign objects in the file must not run: the schema cannot be edited,
 * triggers and views (the store has none) are disabled, and no library is
 * loaded. */
static const struct {
    int option, value;
} protections[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
};

static int open_handle (struct sqlite_db *db, unsigned flags, gl_error_t *error)
{
    int mode
        = flags & DB_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int persist = 1;
    int code = sqlite3_open_v2 (
        db->path, &db->handle,
        mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

    if (!db->handle)
        return gl_error (error, "%s: out of memory", db->path);
    if (code != SQLITE_OK)
        return fail (db, code, error);
    sqlite3_busy_timeout (db->handle, BUSY_MS);
    for (size_t i = 0; i < GL_ARRAY_SIZE (protections); i++)
        sqlite3_db_config (db->handle, protections[i].option,
                           protections[i].value, NULL);
    /* The log stays (empty) when the last writer leaves, so that somebody who
     * may only read the directory can still read the store. */
    sqlite3_file_control (db->handle, "main", SQLITE_FCNTL_PERSIST_WAL,
                          &persist);
    if (sqlite_exec (&db->base, settings, error) < 0
        || (flags & DB_READ_ONLY
            && sqlite_exec (&db->base, reader_settings, error) < 0)
        || ((flags & (DB_LEDGER | DB_READ_ONLY)) == DB_LEDGER
            && sqlite_exec (&db->base, ledger_settings, error) < 0))
        return -1;
    /* the first look into the file: is it a database? */
    if (sqlite_exec (&db->base, "SELECT count(*) FROM sqlite_schema", error)
        < 0)
        return -1;
    return flags & DB_CREATE && !db->base.ledger ? set_journal (db, error) : 0;
}

/* A reader without write permission cannot roll back the incomplete transaction
 * of a killed command. */
static void finish_rollback (const char *path)
{
    GL_AUTOFREE char *journal = xasprintf ("%s-journal", path);
    sqlite3 *writer = NULL;

    if (access (journal, F_OK) < 0 || check_file (path, 0) < 0)
        return;
    if (sqlite3_open_v2 (path, &writer,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)
        == SQLITE_OK)
        sqlite3_exec (writer, "SELECT count(*) FROM sqlite_schema", NULL, NULL,
                      NULL);
    sqlite3_close (writer);
}

static bool log_is_empty (const char *path)
{
    GL_AUTOFREE char *log = xasprintf ("%s-wal", path);
    struct stat st;

    return stat (log, &st) < 0 || st.st_size == 0;
}

/* TRUNCATE copies what it can even where it cannot empty the log, and then says
 * BUSY. Somebody else at the same work (nothing is counted) is waited for. Readers
 * of older moments are waited for by a writer alone: a reader of ours does this
 * itself when it ends. */
static void move_log (sqlite3 *handle, bool wait_for_readers)
{
    int left = SETTLE_MS / JOURNAL_PAUSE_MS;
    int frames = -1;

    sqlite3_busy_timeout (handle, 0);
    while ((sqlite3_wal_checkpoint_v2 (handle, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                       &frames, NULL)
            & 0xff)
               == SQLITE_BUSY
           && (frames < 0 || wait_for_readers) && left-- > 0) {
        pause_shortly ();
        frames = -1;
    }
}

/* SQLite moves the log when the last connection leaves. That is not enough: the
 * last one may be a reader, a collector may stay for months, and a killed command
 * leaves nothing behind but the log. */
static void sqlite_settle (db_t *base)
{
    struct sqlite_db *db = of_db (base);
    sqlite3 *writer = NULL;

    if (log_is_empty (db->path))
        return;
    if (!db->read_only)
        move_log (db->handle, true);
    else if (check_file (db->path, 0) == 0
             && sqlite3_open_v2 (db->path, &writer,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                 NULL)
                    == SQLITE_OK) {
        int persist = 1;
        sqlite3_file_control (writer, "main", SQLITE_FCNTL_PERSIST_WAL,
                              &persist);
        sqlite3_exec (writer, settings, NULL, NULL, NULL);
        move_log (writer, false);
    }
    sqlite3_close (writer);
}

/* All pages in one step, so that no writer makes it begin again: readers and
 * writers of a log do not wait for each other. The other file's writers are waited
 * for. */
static int sqlite_copy (db_t *from, db_t *to, gl_error_t *error)
{
    struct sqlite_db *target = of_db (to);
    sqlite3_backup *backup = sqlite3_backup_init (target->handle, "main",
                                                  of_db (from)->handle, "main");
    int left = BUSY_MS / JOURNAL_PAUSE_MS;
    int code;

    if (!backup)
        return fail (target, sqlite3_errcode (target->handle), error);
    while (((code = sqlite3_backup_step (backup, -1)) == SQLITE_BUSY
            || code == SQLITE_LOCKED)
           && left-- > 0)
        pause_shortly ();
    sqlite3_backup_finish (backup);
    if (code == SQLITE_DONE)
        return 0;
    target->base.failure = failure_of (code);
    return gl_error (error, "%s: cannot copy %s: %s%s", target->path,
                     of_db (from)->path, sqlite3_errstr (code),
                     advice_of (code));
}

static void sqlite_close (db_t *base)
{
    struct sqlite_db *db = of_db (base);

    sqlite3_close (db->handle);
    free (db);
}

/* SQLite counts its memory under a lock that every allocation takes. Nobody asks
 * for the count. Refused, which is harmless, once SQLite is in use. */
static void configure_library (void)
{
    sqlite3_config (SQLITE_CONFIG_MEMSTATUS, 0);
}

/* Of facts or of the ledger. Yours. */
static char *path_of (const char *url, unsigned flags)
{
    const char *path = url + strlen (SCHEME);
    const char *ledger = strstr (path, LEDGER_PARAMETER);
    size_t length = ledger ? (size_t)(ledger - path) : strlen (path);

    if (!(flags & DB_LEDGER) || strcmp (path, IN_MEMORY) == 0)
        return xstrndup (path, length);
    return ledger ? xstrdup (ledger + strlen (LEDGER_PARAMETER))
                  : xasprintf ("%s" LEDGER_SUFFIX, path);
}

static db_t *sqlite_open (const char *url, unsigned flags, gl_error_t *error)
{
    GL_AUTOFREE char *path = path_of (url, flags);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct sqlite_db *db;

    pthread_once (&once, configure_library);
    /* a database in memory, of this connection alone, has no path */
    if (strcmp (path, IN_MEMORY) != 0 && check_path (path, flags, error) < 0)
        return NULL;
    /* the path lives as long as the connection, in one piece with it */
    db = xcalloc (1, sizeof (*db) + strlen (path) + 1);
    db->path = strcpy ((char *)(db + 1), path);
    db->base.engine = &db_sqlite_engine;
    db->read_only = flags & DB_READ_ONLY;
    db->base.ledger = flags & DB_LEDGER;
    if (db->base.ledger && db->read_only)
        finish_rollback (path);
    if (open_handle (db, flags, error) < 0) {
        sqlite_close (&db->base);
        return NULL;
    }
    return &db->base;
}

static uint64_t sqlite_affected (const db_t *db)
{
    return (uint64_t)sqlite3_changes64 (of_db (db)->handle);
}

static uint64_t sqlite_last_id (const db_t *db)
{
    return (uint64_t)sqlite3_last_insert_rowid (of_db (db)->handle);
}

static void sqlite_shrink (db_t *db)
{
    sqlite3_db_release_memory (of_db (db)->handle);
}

static db_statement_t *sqlite_prepare (db_t *base, const char *sql,
                                       gl_error_t *error)
{
    struct sqlite_db *db = of_db (base);
    struct sqlite_statement *statement;
    sqlite3_stmt *handle;
    int code = sqlite3_prepare_v3 (db->handle, sql, -1,
                                   SQLITE_PREPARE_PERSISTENT, &handle, NULL);

    if (code != SQLITE_OK) {
        fail (db, code, error);
        return NULL;
    }
    statement = xcalloc (1, sizeof (*statement));
    statement->base.db = base;
    statement->handle = handle;
    return &statement->base;
}

static void sqlite_finalize (db_statement_t *statement)
{
    sqlite3_finalize (of_statement (statement));
    free (statement);
}

static void sqlite_bind_integer (db_statement_t *statement, unsigned at,
                                 uint64_t bits, bool is_unsigned)
{
    (void)is_unsigned;
    sqlite3_bind_int64 (of_statement (statement), (int)at + 1,
                        (sqlite3_int64)bits);
}

static void sqlite_bind_bytes (db_statement_t *statement, unsigned at,
                               const void *data, size_t length, bool is_text)
{
    sqlite3_stmt *handle = of_statement (statement);

    if (!data)
        sqlite3_bind_null (handle, (int)at + 1);
    else if (is_text)
        sqlite3_bind_text64 (handle, (int)at + 1, data, length, SQLITE_STATIC,
                             SQLITE_UTF8);
    else
        sqlite3_bind_blob64 (handle, (int)at + 1, data, length, SQLITE_STATIC);
}

static int sqlite_step (db_statement_t *statement, gl_error_t *error)
{
    sqlite3_stmt *handle = of_statement (statement);
    int code = sqlite3_step (handle);

    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE) {
        sqlite3_reset (handle);
        return 0;
    }
    fail (of_db (statement->db), code, error);
    sqlite3_reset (handle);
    return -1;
}

static void sqlite_reset (db_statement_t *statement)
{
    sqlite3_reset (of_statement (statement));
    sqlite3_clear_bindings (of_statement (statement));
}

static unsigned sqlite_column_count (const db_statement_t *statement)
{
    return (unsigned)sqlite3_column_count (of_statement (statement));
}

static char *sqlite_column_name (const db_statement_t *statement, unsigned at)
{
    return xstrdup (sqlite3_column_name (of_statement (statement), (int)at));
}

static bool sqlite_column_is_null (const db_statement_t *statement, unsigned at)
{
    return sqlite3_column_type (of_statement (statement), (int)at)
           == SQLITE_NULL;
}

static uint64_t sqlite_column_integer (const db_statement_t *statement,
                                       unsigned at)
{
    return (uint64_t)sqlite3_column_int64 (of_statement (statement), (int)at);
}

/* column_text() also puts a NUL behind a blob and changes no byte of it. */
static const char *sqlite_column_text (const db_statement_t *statement,
                                       unsigned at)
{
    return (const char *)sqlite3_column_text (of_statement (statement),
                                              (int)at);
}

static size_t sqlite_column_length (const db_statement_t *statement,
                                    unsigned at)
{
    return (size_t)sqlite3_column_bytes (of_statement (statement), (int)at);
}

const struct db_engine db_sqlite_engine = {
    .id = DB_SQLITE,
    .scheme = SCHEME,
    .begin = "BEGIN IMMEDIATE",
    /* a deferred transaction has its snapshot from the first read on */
    .begin_read = "BEGIN;SELECT count(*) FROM sqlite_schema",
    .quote = '"',
    .open = sqlite_open,
    .copy = sqlite_copy,
    .file = path_of,
    .settle = sqlite_settle,
    .close = sqlite_close,
    .exec = sqlite_exec,
    .affected = sqlite_affected,
    .last_id = sqlite_last_id,
    .shrink = sqlite_shrink,
    .prepare = sqlite_prepare,
    .query = sqlite_prepare,
    .finalize = sqlite_finalize,
    .bind_integer = sqlite_bind_integer,
    .bind_bytes = sqlite_bind_bytes,
    .step = sqlite_step,
    .reset = sqlite_reset,
    .column_count = sqlite_column_count,
    .column_name = sqlite_column_name,
    .column_is_null = sqlite_column_is_null,
    .column_integer = sqlite_column_integer,
    .column_text = sqlite_column_text,
    .column_length = sqlite_column_length,
};
