/*
 * db_url.h: the parts of a mysql:// URL (grammar: store/db.h). Pure.
 */
#ifndef GL_STORE_DB_URL_H
#define GL_STORE_DB_URL_H

#include "base/error.h"

/* Each may take seconds to give up on. */
#define DB_URL_HOSTS 16

typedef struct {
    char *name;
    unsigned port; /* 0: the default */
} db_host_t;

/* Decoded; NULL: not given. Yours to empty with db_url_done(). */
typedef struct {
    char *user;
    db_host_t *hosts; /* as they stand in the URL, at least one */
    size_t host_count;
    char *database;
    char *socket;
    char *ssl_ca;
    char *option_file;
    char *group;
    char *ledger;
} db_url_t;

/* The error never repeats a password that somebody put into the URL. */
int db_url_parse (const char *url, db_url_t *ret_url, gl_error_t *error);
void db_url_done (db_url_t *url);

#endif /* !GL_STORE_DB_URL_H */
