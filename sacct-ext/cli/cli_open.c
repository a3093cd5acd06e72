/* The site and the store of a command, opened when first asked for. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "config/config.h"
#include "site/site.h"
#include "store/store.h"

struct site *cli_site (cli_t *cli)
{
    gl_error_t error;

    if (cli->site)
        return cli->site;
    if (!cli->config_given && access (cli->config, F_OK) < 0
        && errno == ENOENT) {
        cli_detail (cli, "no configuration at %s: UTC, USD, no pools",
                    cli->config);
        cli->site = site_default ();
    } else if (config_load (cli->config, &cli->site, &error) < 0) {
        cli->site = NULL;
        cli_fail (cli, &error);
    }
    return cli->site;
}

const char *cli_store_url (cli_t *cli)
{
    return cli->store_url ? cli->store_url : STORE_DEFAULT_URL;
}

struct store *cli_store (cli_t *cli, unsigned flags)
{
    gl_error_t error;

    progress_begin (cli);
    if (!cli->store)
        cli->store = store_open (cli_store_url (cli), flags, &error);
    if (!cli->store)
        cli_fail (cli, &error);
    return cli->store;
}

void cli_close (cli_t *cli)
{
    progress_end ();
    store_close (cli->store);
    site_free (cli->site);
    free (cli->given);
    cli->store = NULL;
    cli->site = NULL;
    cli->given = NULL;
}
