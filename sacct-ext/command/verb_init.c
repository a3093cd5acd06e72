/* gpuledger init: make the store, or bring it up to the newest schema. */
#include <getopt.h>

#include "cli/cli.h"
#include "command/verb.h"
#include "store/store.h"

static int run (cli_t *cli, int argc, char **argv)
{
    const char *url, *value;
    gl_error_t error = {""};
    unsigned before, now = store_schema_newest ();

    if (cli_option (cli, argc, argv, &value) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "'%s' is one argument too many", argv[optind]);
    url = cli_store_url (cli);
    if (store_init (url, &before, &error) < 0)
        return cli_fail (cli, &error);
    if (before == 0)
        cli_say (cli, "made the store %s, schema %u", url, now);
    else if (before < now)
        cli_say (cli, "upgraded the store %s from schema %u to %u", url, before,
                 now);
    else
        cli_say (cli, "the store %s is up to date, schema %u", url, now);
    return CLI_OK;
}

const verb_t verb_init = {
    .name = "init",
    .run = run,
    .synopsis = "",
    .summary = "make the store, or upgrade it to this version",
    .help = "Makes the store that --store names, or upgrades it to the schema "
            "of this\nversion. A store that is up to date is left as it is. "
            "Make a copy before an\nupgrade. For MariaDB and MySQL, grants.sql "
            "shows the accounts to create first.",
    .example = "gpuledger init\n"
               "gpuledger --store sqlite:/tmp/ledger.db init",
};
