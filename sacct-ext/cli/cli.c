#include "config.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/cli_help.h"
#include "cli/progress.h"
#include "store/store.h"

/* --- common options ------------------------------------------------------ */

static int take_config (cli_t *cli, void *into, const cli_option_t *option,
                        const char *value)
{
    (void)into, (void)option;
    cli->config = value;
    cli->config_given = true;
    return 0;
}

static int print_version (cli_t *cli, void *into, const cli_option_t *option,
                          const char *value)
{
    (void)cli, (void)into, (void)option, (void)value;
    puts (PACKAGE_STRING);
    return -1;
}

static int print_help (cli_t *cli, void *into, const cli_option_t *option,
                       const char *value)
{
    (void)into, (void)option, (void)value;
    cli_help (cli->verb);
    return -1;
}

const cli_option_t cli_common_options[] = {
    {0, "config", "FILE",
     "the site's configuration (default: $GPULEDGER_CONF, else\n" SYSCONFDIR
     "/gpuledger/gpuledger.yaml)",
     .take = take_config},
    {0, "store", "URL",
     "the store (default: ledger.store of the configuration, else\nSQLite "
     "files in " LOCALSTATEDIR "/lib/gpuledger and gpuledger-ledger)",
     CLI_AT (cli_t, store_url)},
    {0, "strict", NULL, "exit with 3 if there was a warning",
     CLI_AT (cli_t, strict)},
    {0, "verbose", NULL, "say more", CLI_AT (cli_t, verbose)},
    {0, "quiet", NULL, "print only errors", CLI_AT (cli_t, quiet)},
    {0, "no-pager", NULL,
     "print to a terminal without $GPULEDGER_PAGER, $PAGER or less",
     CLI_AT (cli_t, no_pager)},
    {'V', "version", NULL, "print the version and exit", .take = print_version},
    {'h', "help", NULL, "print this help and exit", .take = print_help},
    {0},
};

/* --- messages ------------------------------------------------------------ */

/* Control characters become \xNN: what is printed may come from a job's name or
 * from a damaged file, and a terminal obeys them. */
static void print_line (const char *mark, const char *fmt, va_list ap)
{
    char text[2 * GL_ERROR_SIZE];

    vsnprintf (text, sizeof (text), fmt, ap);
    progress_pause ();
    fprintf (stderr, "gpuledger: %s", mark);
    for (const unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f
            || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
            fprintf (stderr, "\\x%02x", *p);
        else
            putc (*p, stderr);
    }
    putc ('\n', stderr);
    progress_resume ();
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
 * its messages are replaced by ours. A long option returns CLI_LONG and its
 * place in that table.
 */
#define CLI_LONG 256
struct parser {
    struct option *longs;
    struct row {
        const cli_option_t *option;
        char *into; /* what its offset counts from */
    } * rows;
    size_t count;
    buffer_t shorts;
};

static int argument_of (const cli_option_t *option)
{
    return !option->argument                      ? no_argument
           : !strncmp (option->argument, "[=", 2) ? optional_argument
                                                  : required_argument;
}

static void parser_add (struct parser *p, const cli_option_t *options,
                        char *into)
{
    for (const cli_option_t *o = options; o && (o->name || o->group); o++) {
        if (o->group) {
            parser_add (p, o->group, into + o->at);
            continue;
        }
        p->longs = xreallocarray (p->longs, p->count + 2, sizeof (*p->longs));
        p->longs[p->count] = (struct option){o->name, argument_of (o), NULL,
                                             CLI_LONG + (int)p->count};
        p->longs[p->count + 1] = (struct option){0};
        *GL_APPEND (p->rows, p->count) = (struct row){o, into};
        if (o->letter) {
            buffer_add_char (&p->shorts, (char)o->letter);
            if (o->argument)
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
    if (optopt >= CLI_LONG)
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

/* The option as getopt_long() returned it. */
static const struct row *find_row (const struct parser *p, int c)
{
    const struct row *row = p->rows;

    if (c >= CLI_LONG)
        return &row[c - CLI_LONG];
    while (row->option->letter != c)
        row++;
    return row;
}

static int take_option (cli_t *cli, const struct row *row, const char *value)
{
    const cli_option_t *o = row->option;
    char *into = row->into + o->at;

    *GL_APPEND (cli->given, cli->given_count)
        = (struct cli_given){o->name, value};
    if (o->take)
        return o->take (cli, into, o, value);
    if (o->argument)
        *(const char **)into = value;
    else
        *(bool *)into = true;
    return 0;
}

int cli_options (cli_t *cli, int argc, char **argv, void *request)
{
    struct parser parser = {.shorts = BUFFER_INIT};
    int c, rc = 0;

    /* before a verb is known, stop at the first operand: it is the verb */
    buffer_add_text (&parser.shorts, cli->verb ? ":" : "+:");
    if (cli->verb)
        parser_add (&parser, cli->verb->options, request);
    parser_add (&parser, cli_common_options, (char *)cli);
    cli->exit_code = CLI_OK;
    while (rc == 0
           && (c = getopt_long (argc, argv, buffer_text (&parser.shorts),
                                parser.longs, NULL))
                  != -1) {
        if (c != '?' && c != ':')
            rc = take_option (cli, find_row (&parser, c), optarg);
        else if ((cli->exit_code = wrong_option (cli, &parser, c, argv)))
            rc = -1;
    }
    free (parser.longs);
    free (parser.rows);
    buffer_done (&parser.shorts);
    return rc;
}
