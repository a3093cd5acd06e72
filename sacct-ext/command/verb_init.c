/* gpuledger init: make the store. */
#include <getopt.h>

#include "cli/cli.h"
#include "command/verb.h"
#include "store/store.h"

static int run (cli_t *cli, int argc, char **argv)
{
    const char *url;
    gl_error_t error = {""};
    bool made;

    if (cli_options (cli, argc, argv, NULL) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    url = cli_store_url (cli);
    if (store_init (url, &made, &error) < 0)
        return cli_fail (cli, &error);
    cli_say (cli,
             made ? "created the store %s, schema %u"
                  : "the store %s already exists, schema %u",
             url, STORE_SCHEMA);
    return CLI_OK;
}

const verb_t verb_init = {
    .name = "init",
    .run = run,
    .synopsis = "",
    .summary = "create the store",
    .help = "Creates the store that --store names. An existing store is not "
            "changed. If root runs it, each SQLite file belongs to the owner "
            "of its directory. For MariaDB and MySQL, accounts.sql shows the "
            "accounts to create first.",
    .example = "gpuledger init\n"
               "gpuledger --store sqlite:/tmp/ledger.db init",
};
