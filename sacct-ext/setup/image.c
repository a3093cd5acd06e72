#include "setup/image.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

#define PROGRAM "gpuledger"

/* gpuledger setup --yes --collector=ledger1 --root=/ -- node */
static void command_of (const cli_t *cli, const char *kind, text_list_t *words)
{
    texts_add (words, PROGRAM);
    texts_add (words, "setup");
    for (size_t i = 0; i < cli->given_count; i++) {
        const char *name = cli->given[i].name, *value = cli->given[i].value;
        GL_AUTOFREE char *word = value ? xasprintf ("--%s=%s", name, value)
                                       : xasprintf ("--%s", name);
        texts_add (words, word);
    }
    texts_add (words, "--root=" IMAGE_INSIDE);
    texts_add (words, "--");
    texts_add (words, kind);
}

int image_enter (cli_t *cli, const char *kind, const char *root)
{
    text_list_t words = {0};
    char **argv;

    if (chroot (root) < 0 || chdir ("/") < 0)
        return cli_failf (cli, "--root %s: %s", root, strerror (errno));
    command_of (cli, kind, &words);
    argv = xcalloc (words.count + 1, sizeof (*argv));
    memcpy (argv, words.item, words.count * sizeof (*argv));
    execvp (PROGRAM, argv);
    cli_failf (cli,
               errno == ENOENT
                   ? "--root %s: there is no " PROGRAM
                     " in this image: install package slurm-gpuledger in it"
                   : "--root %s: " PROGRAM " of the image: %s",
               root, strerror (errno));
    free (argv);
    texts_clear (&words);
    return CLI_FAILED;
}
