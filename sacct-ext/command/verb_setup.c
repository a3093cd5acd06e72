/* gpuledger setup: from installed packages to the first usage report. */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "command/verb.h"
#include "setup/image.h"
#include "setup/setup.h"

/* What this host is for. */
static const struct {
    const char *name;
    const setup_step_t *const *kind;
} hosts[] = {
    {"accounting", setup_accounting},
    {"node", setup_node},
    {"login", setup_login},
};

static int unknown_host (cli_t *cli, const char *name)
{
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < GL_ARRAY_SIZE (hosts); i++)
        nearest_offer (&nearest, hosts[i].name);
    return nearest.name
               ? cli_usage (cli, "unknown kind of host '%s'; did you mean %s?",
                            name, nearest.name)
               : cli_usage (cli,
                            "unknown kind of host '%s': accounting, node or "
                            "login",
                            name);
}

static int run_steps (cli_t *cli, const setup_options_t *options,
                      const char *name, const setup_step_t *const *kind)
{
    if (geteuid () != 0 && !options->dry_run)
        return cli_failf (cli,
                          "setup changes files of root: run it as root, or "
                          "with --dry-run to see what it would change");
    if (options->root && kind == setup_accounting)
        return cli_usage (cli, "--root is for images of nodes and login hosts: "
                               "an accounting host has a ledger of its own");
    if (options->root && strcmp (options->root, IMAGE_INSIDE) != 0)
        return image_enter (cli, name, options->root);
    return setup_run (cli, options, kind);
}

static int run_for (cli_t *cli, const setup_options_t *options,
                    const char *name)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (hosts); i++)
        if (!strcmp (hosts[i].name, name))
            return run_steps (cli, options, name, hosts[i].kind);
    return unknown_host (cli, name);
}

static int run (cli_t *cli, int argc, char **argv)
{
    setup_options_t options = {.yes = false};

    if (cli_options (cli, argc, argv, &options) < 0)
        return cli->exit_code;
    if (argc - optind > 1)
        return cli_usage (cli, "setup takes one kind of host");
    return run_for (cli, &options,
                    optind < argc ? argv[optind] : hosts[0].name);
}

static const cli_option_t options[] = {
    {0, "cluster", "NAME", "the cluster (default: ClusterName of slurm.conf)",
     CLI_AT (setup_options_t, answers.cluster)},
    {0, "slurmdb", "URL",
     "slurmdbd's database (default: as slurmdbd.conf says, with the\naccount "
     "gpuledger_reader)",
     CLI_AT (setup_options_t, answers.slurmdb)},
    {0, "timezone", "ZONE", "of days and months (default: this host's)",
     CLI_AT (setup_options_t, answers.timezone)},
    {0, "currency", "CODE", "of all amounts (default: the locale's, else USD)",
     CLI_AT (setup_options_t, answers.currency)},
    {0, "collector", "HOST",
     "node and login: the accounting host; HOST,HOST for several",
     CLI_AT (setup_options_t, answers.collector)},
    {0, "slurm-conf", "FILE", "slurm.conf (default: $SLURM_CONF, /etc/slurm)",
     CLI_AT (setup_options_t, slurm_conf)},
    {0, "slurmdbd-conf", "FILE", "slurmdbd.conf (default: next to slurm.conf)",
     CLI_AT (setup_options_t, slurmdbd_conf)},
    {0, "plugstack", "FILE", "plugstack.conf (default: as slurm.conf says)",
     CLI_AT (setup_options_t, plugstack)},
    {0, "root", "DIR",
     "node and login: the host is the image in DIR, whose gpuledger\nruns in "
     "it; units are enabled, not started (/: in the image)",
     CLI_AT (setup_options_t, root)},
    {0, "run-sql", NULL,
     "make database accounts with the client mariadb and your own\nlogin "
     "(default: print the SQL for an administrator)",
     CLI_AT (setup_options_t, run_sql)},
    {0, "sql-host", "HOST",
     "this host in the names of database accounts, as the server\nsees it "
     "(default: localhost, or the name of this host)",
     CLI_AT (setup_options_t, sql_host)},
    {0, "yes", NULL, "ask nothing: take what is proposed",
     CLI_AT (setup_options_t, yes)},
    {0, "dry-run", NULL,
     "print each change, with the difference for files; change nothing",
     CLI_AT (setup_options_t, dry_run)},
    {0, "remove", NULL,
     "undo what setup has done; the ledger and files that you\nhave "
     "edited stay",
     CLI_AT (setup_options_t, remove)},
    {0},
};

const verb_t verb_setup = {
    .name = "setup",
    .run = run,
    .without_prices = true,
    .synopsis = "[accounting | node | login] [OPTION]...",
    .summary = "set this host up: from installed packages to the first report",
    .help
    = "Sets up the accounting host, a node or a login host, step by step: "
      "looks whether a step is done, does it if not, and says so. A second "
      "run changes nothing. On a terminal it asks for what it cannot find out, "
      "with a proposal; otherwise it takes the proposals, or lists the options "
      "that are missing. The exit code is 3 if something is left to you.",
    .options = options,
    .example = "gpuledger setup --dry-run\n"
               "gpuledger setup --run-sql\n"
               "gpuledger setup node --collector ledger1\n"
               "gpuledger setup node --root /srv/images/gpu --collector "
               "ledger1",
};
