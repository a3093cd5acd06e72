#include "config.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/cli_help.h"
#include "store/store.h"

/* Long-only ids of the common options; above those of any verb. */
enum {
    OPTION_CONFIG = CLI_LONG + 1000,
    OPTION_STORE,
    OPTION_STRICT,
    OPTION_VERBOSE,
    OPTION_QUIET,
    OPTION_NO_PAGER,
};

const cli_option_t cli_common_options[] = {
    {OPTION_CONFIG, "config", "FILE",
     "the site's configuration (default: $GPULEDGER_CONF, else\n" SYSCONFDIR
     "/gpuledger/gpuledger.yaml)"},
    {OPTION_STORE, "store", "URL",
     "the store (default: SQLite files in " LOCALSTATEDIR
     "/lib/gpuledger\nand gpuledger-ledger)"},
    {OPTION_STRICT, "strict", NULL, "exit with 3 if there was a warning"},
    {OPTION_VERBOSE, "verbose", NULL, "say more"},
    {OPTION_QUIET, "quiet", NULL, "say nothing but errors"},
    {OPTION_NO_PAGER, "no-pager", NULL,
     "print to a terminal without $GPULEDGER_PAGER, $PAGER or less"},
    {'V', "version", NULL, "print the version and exit"},
    {'h', "help", NULL, "print this help and exit"},
    {0},
};

/* Control characters become \xNN: what is printed may come from a job's name or
 * from a damaged file, and a terminal obeys them. */
static void print_line (const char *mark, const char *fmt, va_list ap)
{
    char text[2 * GL_ERROR_SIZE];

    vsnprintf (text, sizeof (text), fmt, ap);
    fprintf (stderr, "gpuledger: %s", mark);
    for (const unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f
            || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
            fprintf (stderr, "\\x%02x", *p);
        else
            putc (*p, stderr);
    }
    putc ('\n', stderr);
}

#define PRINT(mark, fmt)            \
    do {                            \
        va_list ap;                 \
        va_start (ap, fmt);         \
        print_line (mark, fmt, ap); \
        va_end (ap);                \
    } while (0)

int cli_fail (cli_t *cli, const gl_error_t *error)
{
    return cli_failf (cli, "%s", error->text);
}

int cli_failf (cli_t *cli, const char *fmt, ...)
{
    (void)cli;
    PRINT ("", fmt);
    return CLI_FAILED;
}

int cli_usage (cli_t *cli, const char *fmt, ...)
{
    PRINT ("", fmt);
    fprintf (stderr, "Try 'gpuledger %s%s--help'.\n",
             cli->verb ? cli->verb->name : "", cli->verb ? " " : "");
    return CLI_USAGE;
}

void cli_warn (cli_t *cli, const char *fmt, ...)
{
    cli->warnings++;
    if (!cli->quiet)
        PRINT ("warning: ", fmt);
}

void cli_say (cli_t *cli, const char *fmt, ...)
{
    if (!cli->quiet)
        PRINT ("", fmt);
}

void cli_detail (cli_t *cli, const char *fmt, ...)
{
    if (cli->verbose && !cli->quiet)
        PRINT ("", fmt);
}

/*
 * Options. getopt_long() gets a table made of the verb's and the common ones;
 * its messages are replaced by ours. An option's place in that table is what
 * it returns (from 1000 on), so that any id is possible.
 */
struct parser {
    struct option *longs;
    const cli_option_t **of;
    size_t count;
    buffer_t shorts;
};

static int argument_of (const cli_option_t *option)
{
    return !option->argument             ? no_argument
           : !strncmp (option->argument, "[=", 2) ? optional_argument
                                                   : required_argument;
}

static void parser_add (struct parser *p, const cli_option_t *options)
{
    for (; options && options->id; options++) {
        p->longs = xreallocarray (p->longs, p->count + 2, sizeof (*p->longs));
        p->of = xreallocarray (p->of, p->count + 1, sizeof (*p->of));
        p->of[p->count] = options;
        p->longs[p->count] = (struct option){
            options->name, argument_of (options), NULL, options->id};
        p->longs[++p->count] = (struct option){0};
        if (options->id < CLI_LONG) {
            buffer_add_char (&p->shorts, options->id);
            if (options->argument)
                buffer_add_char (&p->shorts, ':');
        }
    }
}

/* A long option that is none, or short for more than one. */
static int unknown_option (cli_t *cli, const struct parser *p, const char *word)
{
    BUFFER_AUTO meant = BUFFER_INIT;
    const char *name = word + strspn (word, "-");
    GL_AUTOFREE char *typed = xstrndup (name, strcspn (name, "="));
    nearest_t nearest = {.word = typed};

    for (size_t i = 0; i < p->count; i++) {
        if (!strncmp (p->longs[i].name, typed, strlen (typed)))
            buffer_printf (&meant, "%s--%s", meant.length ? ", " : "",
                           p->longs[i].name);
        nearest_offer (&nearest, p->longs[i].name);
    }
    if (meant.length)
        return cli_usage (cli, "ambiguous option '--%s'; it may be: %s", typed,
                          buffer_text (&meant));
    if (nearest.name)
        return cli_usage (cli, "unknown option '--%s'; did you mean --%s?",
                          typed, nearest.name);
    return cli_usage (cli, "unknown option '--%s'", typed);
}

static int wrong_option (cli_t *cli, const struct parser *p, int c, char **argv)
{
    /* getopt() has stepped over the word unless it stopped in a group -abc */
    const char *word = argv[optind > 0 ? optind - 1 : 0];

    if (c == ':')
        return cli_usage (cli, "option '%s' needs an argument", word);
    if (optopt >= CLI_LONG || (optopt && !strncmp (word, "--", 2)))
        return cli_usage (cli, "option '%s' takes no argument", word);
    if (optopt >= '0' && optopt <= '9')
        return cli_usage (cli,
                          "unknown option '-%c'; write -- before a value that "
                          "begins with -",
                          optopt);
    if (optopt)
        return cli_usage (cli, "unknown option '-%c'", optopt);
    return unknown_option (cli, p, word);
}

/* 1: it was a common option and is done; 0: it was not; -1: stop. */
static int common_option (cli_t *cli, int id)
{
    switch (id) {
    case OPTION_CONFIG:
        cli->config = optarg;
        cli->config_given = true;
        return 1;
    case OPTION_STORE:
        cli->store_url = optarg;
        return 1;
    case OPTION_STRICT:
        cli->strict = true;
        return 1;
    case OPTION_VERBOSE:
        cli->verbose = true;
        return 1;
    case OPTION_QUIET:
        cli->quiet = true;
        return 1;
    case OPTION_NO_PAGER:
        cli->no_pager = true;
        return 1;
    case 'V':
        puts (PACKAGE_STRING);
        return -1;
    case 'h':
        cli_help (cli->verb);
        return -1;
    default:
        return 0;
    }
}

int cli_option (cli_t *cli, int argc, char **argv, const char **ret_value)
{
    struct parser parser = {.shorts = BUFFER_INIT};
    int c, common;

    /* before a verb is known, stop at the first operand: it is the verb */
    buffer_add_text (&parser.shorts, cli->verb ? ":" : "+:");
    if (cli->verb)
        parser_add (&parser, cli->verb->options);
    parser_add (&parser, cli_common_options);
    cli->exit_code = CLI_OK;
    do {
        c = getopt_long (argc, argv, buffer_text (&parser.shorts), parser.longs,
                         NULL);
        if (c == '?' || c == ':')
            cli->exit_code = wrong_option (cli, &parser, c, argv);
        common = c == -1 ? 0 : common_option (cli, c);
    } while (common == 1);
    free (parser.longs);
    free (parser.of);
    buffer_done (&parser.shorts);
    if (cli->exit_code || common < 0)
        return -1;
    *ret_value = optarg;
    return c == -1 ? 0 : c;
}

static bool put_place (const verb_t *verb, int option, const char *value,
                       char *request)
{
    const cli_place_t *place = verb->places;

    while (place && place->option && place->option != option)
        place++;
    if (!place || !place->option)
        return false;
    if (value)
        *(const char **)(request + place->at) = value;
    else
        *(bool *)(request + place->at) = true;
    return true;
}

int cli_options (cli_t *cli, int argc, char **argv, void *request)
{
    const verb_t *verb = cli->verb;
    const char *value;
    int option;

    while ((option = cli_option (cli, argc, argv, &value)) > 0) {
        int taken = put_place (verb, option, value, request);
        for (const cli_group_t *g = verb->groups; g && g->take && !taken; g++)
            taken = g->take (cli, (char *)request + g->at, option, value);
        if (taken < 0)
            return -1;
    }
    return option;
}
