#include "setup/store_place.h"

#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "site/site.h"
#include "store/db.h"
#include "store/store.h"

#define FILE_OF(name) SYSCONFDIR "/gpuledger/" name ".cnf"

static const sql_account_t accounts[] = {
    {"gpuledger_init", FILE_OF ("init"), true, true},
    {"gpuledger", FILE_OF ("store"), false, false},
    {"gpuledger_ledger", FILE_OF ("ledger"), true, true},
};

/* What --store says, with the accounts and option files of setup. */
static char *url_of (const db_url_t *url, const char *user, const char *options)
{
    const db_host_t *host = &url->hosts[0];
    bool brackets = strchr (host->name, ':');
    GL_AUTOFREE char *port
        = host->port ? xasprintf (":%u", host->port) : xstrdup ("");
    GL_AUTOFREE char *socket
        = url->socket ? xasprintf ("&socket=%s", url->socket) : xstrdup ("");

    return xasprintf ("mysql://%s@%s%s%s%s/%s?%s%s", user, brackets ? "[" : "",
                      host->name, brackets ? "]" : "", port, url->database,
                      options, socket);
}

/* What --store says; on a server, with the accounts and option files of setup; yours.
 * NULL: it says nothing that services could follow. */
static char *given_url (const setup_t *setup)
{
    const char *given = setup->cli->store_url;
    char *made;
    db_url_t url;

    if (!given || !strncmp (given, "sqlite:/", 8))
        return xstrdup (given);
    if (db_url_parse (given, &url, NULL) < 0)
        return NULL;
    made = url_of (
        &url, "gpuledger",
        "option-file=" FILE_OF ("store") "&ledger=" FILE_OF ("ledger"));
    db_url_done (&url);
    return made;
}

const char *store_place_configured (const setup_t *setup)
{
    return setup->store_url;
}

const char *store_place_url (setup_t *setup)
{
    const char *known = setup->site ? setup->site->store : NULL;

    if (!setup->store_url)
        setup->store_url = setup_own (setup, given_url (setup));
    if (setup->store_url)
        return setup->store_url;
    return known                   ? known
           : setup->cli->store_url ? setup->cli->store_url
                                   : STORE_DEFAULT_URL;
}

bool store_place_on_server (setup_t *setup)
{
    GL_AUTOFREE char *file = store_file (store_place_url (setup));

    return !file;
}

const char *store_place_init_url (setup_t *setup)
{
    const char *url = store_place_url (setup);
    db_url_t parts;

    if (!store_place_on_server (setup) || db_url_parse (url, &parts, NULL) < 0)
        return url;
    url = setup_own (setup, url_of (&parts, "gpuledger_init",
                                    "option-file=" FILE_OF ("init")));
    db_url_done (&parts);
    return url;
}

sql_request_t store_place_accounts (setup_t *setup, bool grants)
{
    return (sql_request_t){grants ? "grants" : "accounts", accounts,
                           GL_ARRAY_SIZE (accounts), grants,
                           store_place_url (setup)};
}

int store_place_reachable (setup_t *setup, gl_error_t *error)
{
    db_t *db = db_open (store_place_init_url (setup), 0, error);

    db_close (db);
    return db ? 0 : -1;
}
