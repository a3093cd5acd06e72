/* The site and the store of a command, opened when first asked for. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "config/config.h"
#include "site/site.h"
#include "store/store.h"

static struct site *load_site (cli_t *cli)
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

/* An amount that is made of a figure that nobody has filled in would look like any
 * other. */
struct site *cli_site (cli_t *cli)
{
    struct site *site = load_site (cli);
    gl_error_t error;

    if (!site || cli->without_prices || cli->verb->without_prices
        || site_check_figures (site, &error) == 0)
        return site;
    cli_fail (cli, &error);
    return NULL;
}

const char *cli_store_url (cli_t *cli)
{
    if (cli->store_url)
        return cli->store_url;
    if (!load_site (cli))
        return NULL;
    return cli->site->store ? cli->site->store : STORE_DEFAULT_URL;
}

struct store *cli_store (cli_t *cli, unsigned flags)
{
    gl_error_t error;

    const char *url = cli_store_url (cli);

    if (!url)
        return NULL;
    progress_begin (cli);
    if (!cli->store)
        cli->store = store_open (url, flags, &error);
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
