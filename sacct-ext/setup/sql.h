/*
 * sql.h: database accounts: their passwords, which are in option files, and the SQL that
 * makes them, which an administrator of the server runs.
 *
 * The statements are those of sql/accounts.sql and sql/grants.sql, with hosts, databases
 * and passwords of this site.
 */
#ifndef GL_SETUP_SQL_H
#define GL_SETUP_SQL_H

#include <stdbool.h>

#include "setup/setup.h"
#include "store/db_url.h"

#define SQL_READER "gpuledger_reader"
#define SQL_READER_FILE SYSCONFDIR "/gpuledger/slurmdb.cnf"

/* An account and the option file with its password. */
typedef struct {
    const char *name;
    const char *file;
    bool by_root; /* only root reads the file; else the group gpuledger, too */
    bool with_name; /* the file has a line user=NAME */
} sql_account_t;

/* Which statements, and where. */
typedef struct {
    const char *name; /* of the step, and of its file of SQL */
    const sql_account_t *account;
    size_t count;
    bool grants;     /* those of grants.sql, else those of accounts.sql */
    const char *url; /* of the database */
} sql_request_t;

/* URL of slurmdbd's database for the account SQL_READER; yours. */
char *sql_slurmdb_url (const slurm_conf_t *slurmdbd);
/* Writes the option files that are missing, each with a new password. */
int sql_make_files (setup_t *setup, const sql_request_t *request,
                    gl_error_t *error);
/* Has the statements run: by the client `mariadb` with --run-sql; else writes them to
 * a file that only root reads, and *finding says how to run it. */
setup_result_t sql_do (setup_t *setup, const sql_request_t *request,
                       buffer_t *finding, gl_error_t *error);
/* The same to remove the accounts that setup has made, with their option files. */
setup_result_t sql_undo (setup_t *setup, const sql_request_t *request,
                         buffer_t *finding, gl_error_t *error);

/* Removes the files of SQL that were written by earlier runs and not by this one: they
 * have passwords. */
int sql_tidy (setup_t *setup, gl_error_t *error);

#endif /* !GL_SETUP_SQL_H */
