/* gpuledger verify: whether what was closed is what was written. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "verb.h"
#include "verify.h"

enum { VERIFY_HEAD = CLI_LONG + 1 };

static int tell (const verified_t *found, const char *head)
{
    char text[BILLS_HASH_SIZE];

    hash_text (found->head.hash, text);
    for (size_t i = 0; i < found->count; i++)
        printf ("%s\n", found->problem[i]);
    printf ("%" PRIu64 " entries, %" PRIu64 " rows in %" PRIu64
            " closed months: %s\n",
            found->entries, found->rows, found->months,
            found->count ? "NOT as they were written" : "as they were written");
    if (head && found->has_head)
        printf ("the hash that was asked for is in the chain\n");
    printf ("head %s\n", text);
    return found->count ? CLI_LOOK : CLI_OK;
}

static int verify (cli_t *cli, const char *head)
{
    uint8_t hash[STORE_DIGEST_SIZE];
    verified_t found;
    gl_error_t error;
    int rc;

    if (head && hash_parse (head, hash) < 0)
        return cli_usage (cli, "--head wants 64 hexadecimal digits, as a "
                               "statement prints them");
    if (!cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (verify_chain (cli->store, head ? hash : NULL, &found, &error) < 0)
        return cli_fail (cli, &error);
    rc = tell (&found, head);
    verified_clear (&found);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    const char *value, *head = NULL;
    int option;

    while ((option = cli_option (cli, argc, argv, &value)) > 0)
        if (option == VERIFY_HEAD)
            head = value;
    if (option < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli, "verify takes no argument");
    return verify (cli, head);
}

static const cli_option_t options[] = {
    {VERIFY_HEAD, "head", "HASH",
     "the hash of a statement: it has to be in the chain"},
    {0},
};

const verb_t verb_verify = {
    .name = "verify",
    .run = run,
    .synopsis = "[--head HASH]",
    .summary = "compute every hash of closed months again",
    .help = "Says which month, row and field was tampered with (exit code 3), "
            "and prints the\nhead of the chain. Whoever owns the database can "
            "compute a whole chain anew: give\na hash that was printed "
            "elsewhere.",
    .options = options,
    .example = "gpuledger verify",
};
