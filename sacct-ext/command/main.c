#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limbs.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/cli_help.h"
#include "command/verb.h"

static int help (cli_t *cli, int argc, char **argv);

/* `help VERB` is `VERB --help`, as git and others have it; it has no options. */
static const verb_t verb_help = {
    .name = "help",
    .run = help,
    .synopsis = "[VERB]",
    .summary = "explain a verb, as VERB --help does",
    .example = "gpuledger help report",
};

/* In the order of the help: making a store, filling it, reading it. */
const verb_t *const cli_verbs[] = {
    &verb_setup,   &verb_init,      &verb_sync,    &verb_import,  &verb_ingest,
    &verb_report,  &verb_statement, &verb_balance, &verb_budget,  &verb_mail,
    &verb_idle,    &verb_metrics,   &verb_explain, &verb_tag,     &verb_units,
    &verb_mine,    &verb_price,     &verb_rates,   &verb_prices,  &verb_fits,
    &verb_whatif,  &verb_export,    &verb_publish, &verb_close,   &verb_correct,
    &verb_credit,  &verb_dispute,   &verb_reopen,  &verb_verify,  &verb_backup,
    &verb_restore, &verb_doctor,    &verb_help,    NULL,
};

static const verb_t *find_verb (const char *name)
{
    for (const verb_t *const *verb = cli_verbs; *verb; verb++)
        if (!strcmp ((*verb)->name, name))
            return *verb;
    return NULL;
}

static int unknown_verb (cli_t *cli, const char *name)
{
    nearest_t nearest = {.word = name};

    for (const verb_t *const *verb = cli_verbs; *verb; verb++)
        nearest_offer (&nearest, (*verb)->name);
    if (nearest.name)
        return cli_usage (cli, "unknown verb '%s'; did you mean '%s'?", name,
                          nearest.name);
    return cli_usage (cli, "unknown verb '%s'", name);
}

static int help (cli_t *cli, int argc, char **argv)
{
    const verb_t *verb = NULL;

    if (cli_options (cli, argc, argv, NULL) < 0)
        return cli->exit_code;
    if (argc - optind > 1)
        return cli_usage (cli, "help takes one verb");
    if (optind < argc && !(verb = find_verb (argv[optind])))
        return unknown_verb (cli, argv[optind]);
    cli_help (verb);
    return CLI_OK;
}

static void read_environment (cli_t *cli)
{
    const char *config = getenv ("GPULEDGER_CONF");

    cli->config_given = config && *config;
    cli->config
        = cli->config_given ? config : SYSCONFDIR "/gpuledger/gpuledger.yaml";
}

static int run (cli_t *cli, int argc, char **argv)
{
    const verb_t *verb;

    opterr = 0;
    if (cli_options (cli, argc, argv, NULL) < 0)
        return cli->exit_code;
    if (optind == argc)
        return cli_usage (cli, "a verb is missing");
    verb = find_verb (argv[optind]);
    if (!verb)
        return unknown_verb (cli, argv[optind]);
    cli->verb = verb;
    argc -= optind;
    argv += optind;
    optind = 0; /* glibc: start anew, on another vector */
    return verb->run (cli, argc, argv);
}

/* A full disk behind a redirection may show only now. */
static int close_output (cli_t *cli, int rc)
{
    if (ferror (stdout) && rc == CLI_FAILED)
        return rc; /* told already, with its cause */
    if (ferror (stdout) || fclose (stdout) != 0)
        return cli_failf (cli, "cannot write the output: %s",
                          strerror (errno ? errno : EIO));
    return rc;
}

/* The lists of a month go back to the system when they are freed. By itself glibc soon has
 * blocks of up to 32 MB among the small ones, where they leave holes. */
#define LARGE_BLOCK (1 << 20)

static void set_memory (void)
{
    limbs_pool ();
#ifdef M_MMAP_THRESHOLD
    mallopt (M_MMAP_THRESHOLD, LARGE_BLOCK);
#endif
}

int main (int argc, char **argv)
{
    cli_t cli = {0};
    int rc;

    set_memory ();
    /* texts are UTF-8 wherever we run; numbers and order stay C's */
    setlocale (LC_CTYPE, "C.UTF-8");
    read_environment (&cli);
    rc = run (&cli, argc, argv);
    cli_close (&cli);
    rc = close_output (&cli, rc);
    if (rc == CLI_OK && cli.strict && cli.warnings)
        rc = CLI_LOOK;
    return rc;
}
