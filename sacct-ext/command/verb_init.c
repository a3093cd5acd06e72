/* gpuledger init: make the store. */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"
#include "command/verb.h"
#include "store/store.h"

struct init {
    bool views; /* --views */
};

static int run (cli_t *cli, int argc, char **argv)
{
    struct init init = {false};
    const char *url;
    gl_error_t error = {""};
    bool made;

    if (cli_options (cli, argc, argv, &init) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    url = cli_store_url (cli);
    if (!url)
        return CLI_FAILED;
    if (store_init (url, &made, &error) < 0)
        return cli_fail (cli, &error);
    cli_say (cli,
             made ? "created the store %s, schema %u"
                  : "the store %s already exists, schema %u",
             url, STORE_SCHEMA);
    if (!init.views)
        return CLI_OK;
    if (store_init_views (url, &made, &error) < 0)
        return cli_fail (cli, &error);
    cli_say (cli, made ? "created the views of closed months"
                       : "the views of closed months already exist");
    return CLI_OK;
}

static const cli_option_t options[] = {
    {0, "views", NULL,
     "also make the views of closed months that dashboards read with SQL\n"
     "(docs/formats/views.md), in an existing store too",
     CLI_AT (struct init, views)},
    {0},
};

const verb_t verb_init = {
    .name = "init",
    .run = run,
    .without_prices = true,
    .synopsis = "[OPTION]...",
    .summary = "create the store",
    .help = "Creates the store that --store names. An existing store is not "
            "changed. If root runs it, each SQLite file belongs to the owner "
            "of its directory. For MariaDB and MySQL, accounts.sql shows the "
            "accounts to create first.",
    .options = options,
    .example = "gpuledger init\n"
               "gpuledger init --views\n"
               "gpuledger --store sqlite:/tmp/ledger.db init",
};
