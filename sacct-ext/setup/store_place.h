/*
 * store_place.h: where the ledger is kept, and the accounts of a store on a server.
 *
 * Without --store and `ledger.store` the store is two SQLite files, of two owners
 * (docs/decisions/least-power.md). On a server three accounts have these rights.
 */
#ifndef GL_SETUP_STORE_PLACE_H
#define GL_SETUP_STORE_PLACE_H

#include <stdbool.h>

#include "setup/setup.h"
#include "setup/sql.h"

/* The URL of the store; borrowed. */
const char *store_place_url (setup_t *setup);
/* That of the account which makes the tables. On SQLite: the same. */
const char *store_place_init_url (setup_t *setup);
/* What `ledger.store` of the configuration should say; NULL: nothing. */
const char *store_place_configured (const setup_t *setup);
bool store_place_on_server (setup_t *setup);

/* The account that makes the tables can connect. That of facts cannot before it has
 * rights on them. */
int store_place_reachable (setup_t *setup, gl_error_t *error);

/* The accounts of a store on a server: gpuledger, gpuledger_ledger, gpuledger_init. */
sql_request_t store_place_accounts (setup_t *setup, bool grants);

#endif /* !GL_SETUP_STORE_PLACE_H */
