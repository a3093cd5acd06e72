/*
 * cli.h: what every verb of the command shares: options, messages, exit codes,
 * the store and the site.
 *
 * A verb is one file, verb_NAME.c, that exports one `const verb_t verb_NAME`:
 * its words for the help, its option table and its function. Two other places
 * name it: verb.h and the table of main.c. The option table is the only list of
 * its options: the parser, --help and the completion come from it, and a test
 * compares it with the man page.
 *
 * Options and operands may be mixed; common options may come before or after
 * the verb. The function of a verb begins with
 *
 *     if (cli_options (cli, argc, argv, &request) < 0)
 *         return cli->exit_code;
 *     ... argv[optind] to argv[argc - 1] are its operands
 *
 * and returns an exit code; `return cli_fail (cli, &error);` says why.
 *
 * Every message goes to standard error through the functions here, one line
 * each, with the program's name before it. Control characters in them, which
 * may come from job names or damaged files, are shown as \xNN.
 */
#ifndef GL_CLI_H
#define GL_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The exit codes of the command. */
#define CLI_OK 0
#define CLI_FAILED 1
#define CLI_USAGE 2
#define CLI_LOOK \
    3 /* done, but look: see the man page; or a warning under \
         --strict */

struct cli;
struct cli_option;
struct site;
struct store;

/* The handler of an option that is more than a text or a switch. 0, or -1:
 * wrong use, reported, with cli->exit_code set. */
typedef int cli_take_t (struct cli *cli, void *into,
                        const struct cli_option *option, const char *value);

/* An option of a table, or all those of another table. A table ends with {0}. */
typedef struct cli_option {
    int letter;           /* of the short form; 0: long only */
    const char *name;     /* without "--" */
    const char *argument; /* FILE; [=FILE]: may be left out; NULL: takes none */
    const char *help;     /* one or more lines, separated by \n */
    size_t at;        /* offset in the verb's request: of a const char *, of a
                             bool if it takes no argument, or as take() wants */
    cli_take_t *take; /* NULL: it is stored */
    int code;         /* for take() */
    const struct cli_option *group; /* the table; its offsets count from `at` */
} cli_option_t;

/* Where an option goes: a member of the request. */
#define CLI_AT(type, member) .at = offsetof (type, member)
/* The options of a table that several verbs share, for a member of the request. */
#define CLI_GROUP(table, type, member)          \
    {                                           \
        .group = (table), CLI_AT (type, member) \
    }

typedef struct {
    const char *name;
    int (*run) (struct cli *cli, int argc, char **argv); /* argv[0]: the verb */
    const char *synopsis;        /* what follows "gpuledger NAME" */
    const char *summary;         /* one line, for the list of verbs */
    const char *help;            /* a paragraph; NULL: the summary will do */
    const cli_option_t *options; /* NULL: common ones only */
    bool
        without_prices; /* works while figures of the cost book are to be filled in:
                            it prints no amount of money */
    const char *example; /* whole command lines, separated by \n */
} verb_t;

typedef struct cli {
    const verb_t *verb;
    /* common options */
    const char *config; /* --config, else $GPULEDGER_CONF, else the default */
    bool config_given;  /* by option or environment: then it must exist */
    bool
        without_prices; /* as verb_t's, of a part of a verb; before cli_site() */
    const char *store_url; /* --store; NULL: by the configuration, else the
                              default */
    bool strict;
    bool verbose;
    bool quiet;
    bool no_pager;
    /* state */
    int exit_code; /* why cli_options() failed */
    struct cli_given {
        const char *name, *value;
    } * given; /* the options, in their order */
    size_t given_count;
    uint64_t warnings;
    struct store *store;
    struct site *site;
} cli_t;

extern const cli_option_t cli_common_options[];

/* Reads all options of the verb into its request (NULL: it has none). 0: done;
 * -1: the verb must return cli->exit_code (wrong use was reported, or --help
 * printed). */
int cli_options (cli_t *cli, int argc, char **argv, void *request);

/* Messages. Those that return do so with the exit code of their case. */
int cli_fail (cli_t *cli, const gl_error_t *error);
int cli_failf (cli_t *cli, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* Wrong use; names the help. */
int cli_usage (cli_t *cli, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* The same for a cli_take_t: -1, the code is in cli->exit_code. */
#define cli_refuse(cli, ...) \
    ((cli)->exit_code = cli_usage ((cli), __VA_ARGS__), -1)
/* A warning; counts for --strict. --quiet hides the text. */
void cli_warn (cli_t *cli, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* Information; not printed with --quiet. */
void cli_say (cli_t *cli, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* Only with --verbose. */
void cli_detail (cli_t *cli, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/*
 * The site's configuration and the store, opened when first asked for and
 * closed by the command. NULL: the reason has been reported, return CLI_FAILED.
 * The store is found by --store, then by `store` of the configuration, then by the
 * default URL. A configuration with figures that are still to be filled in
 * (site_check_figures()) is refused, unless the verb works without prices. Without --config and
 * $GPULEDGER_CONF, a missing default file is not an error: the ledger then uses
 * UTC and USD.
 */
struct site *cli_site (cli_t *cli);
struct store *cli_store (cli_t *cli, unsigned flags);
/* Closes both; main.c does so after the verb. */
void cli_close (cli_t *cli);
/* The URL that cli_store() would open, e.g. to make it (init). NULL: the configuration
 * does not load; the reason has been reported. */
const char *cli_store_url (cli_t *cli);

#endif /* !GL_CLI_H */
