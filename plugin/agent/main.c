/* gpuledger-agent: its command line. */
#include <config.h>

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"

#include "agent.h"
#include "probe.h"

enum { EXIT_USAGE = 2 };

typedef struct {
    const char *name;
    const char *value; /* its word in the help; NULL: none */
    enum {
        TEXT,    /* a const char * */
        NAME,    /* the same, not empty */
        SECONDS, /* 1 to 600, kept as an int64_t of milliseconds */
        FLAG,    /* a bool */
        END,     /* prints the help or the version, and ends */
    } kind;
    size_t offset; /* in agent_options_t */
    const char *help;
    char letter;
} option_t;

#define AT(member) offsetof (agent_options_t, member)

static const option_t options_table[] = {
    {"config", "FILE", TEXT, AT (config),
     "configuration (default $GPULEDGER_CONF, " SYSCONFDIR
     "/gpuledger/gpuledger.yaml)",
     'c'},
    {"spool", "DIR", TEXT, AT (spool), "the plugin's spool", 's'},
    {"node", "NAME", NAME, AT (node), "NodeName of slurm.conf", 'N'},
    {"cluster", "NAME", NAME, AT (cluster), "ClusterName of slurm.conf", 'M'},
    {"interval", "SECONDS", SECONDS, AT (interval_ms),
     "time between two samples, 1 to 600", 'i'},
    {"replay", "FILE", TEXT, AT (replay),
     "recorded devices instead of the driver", 'r'},
    {"through", NULL, FLAG, AT (through),
     "process the replay without waiting, then exit", 't'},
    {"once", NULL, FLAG, AT (once), "sample once, write the records, and exit",
     '1'},
    {"record", "FILE", TEXT, AT (record), "store the samples as a replay", 'w'},
    {"probe", NULL, FLAG, AT (probe),
     "print the GPUs that each vendor's reader finds, and exit", 'p'},
    {"resend", NULL, FLAG, AT (resend),
     "have the agent of this spool send all its records again, and exit", 'R'},
    {"version", NULL, END, 0, "print the version", 'V'},
    {"help", NULL, END, 0, "print this", 'h'},
};

#define OPTION_COUNT GL_ARRAY_SIZE (options_table)

static void print_help (void)
{
    printf ("Usage: gpuledger-agent [OPTION...]\n\nMeasures the GPUs of a "
            "node and sends their use by jobs to a collector.\nIt stays in "
            "the foreground.\n\nOptions:\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_t *option = &options_table[i];
        char left[40];
        snprintf (left, sizeof (left), "-%c, --%s%s%s", option->letter,
                  option->name, option->value ? " " : "",
                  option->value ? option->value : "");
        printf ("  %-24s %s\n", left, option->help);
    }
    printf ("\nExample: one sample of this machine, as a replay\n  "
            "gpuledger-agent --spool /tmp/spool --once --record "
            "/tmp/seen.replay\n");
}

static void fill_long_options (struct option *long_options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        long_options[i] = (struct option){
            .name = options_table[i].name,
            .has_arg = options_table[i].value ? required_argument : no_argument,
            .val = options_table[i].letter};
    long_options[OPTION_COUNT] = (struct option){0};
}

static void fill_letters (char *letters)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        *letters++ = options_table[i].letter;
        if (options_table[i].value)
            *letters++ = ':';
    }
    *letters = '\0';
}

static const option_t *find_option (int letter)
{
    return GL_FIND (options_table, OPTION_COUNT, it, it->letter == letter);
}

static void print_and_exit (const option_t *option)
{
    if (option->letter == 'h')
        print_help ();
    else
        printf ("gpuledger-agent %s\n", PACKAGE_VERSION);
    exit (fclose (stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

__attribute__ ((format (printf, 1, 2))) static int usage (const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    fputs ("gpuledger-agent: ", stderr);
    vfprintf (stderr, fmt, ap);
    fputs ("; see gpuledger-agent --help\n", stderr);
    va_end (ap);
    return -1;
}

/* getopt's own message would not be like ours. */
static int wrong_option (int letter, char **argv)
{
    const char *word = argv[optind > 0 ? optind - 1 : 0];

    if (letter == ':')
        return usage ("option '%s' needs an argument", word);
    if (find_option (optopt))
        return usage ("option '%s' takes no argument", word);
    if (optopt)
        return usage ("unknown option '-%c'", optopt);
    return usage ("unknown option '%s'", word);
}

/* -1: the option cannot have this value. */
static int take_option (agent_options_t *options, const option_t *option,
                        const char *value)
{
    void *target = (char *)options + option->offset;
    uint64_t seconds;

    switch (option->kind) {
    case NAME:
        if (!*value)
            return -1;
        /* fallthrough */
    case TEXT:
        *(const char **)target = value;
        return 0;
    case SECONDS:
        if (number_u64_text (value, &seconds) < 0 || seconds < 1
            || seconds > 600)
            return -1;
        *(int64_t *)target = (int64_t)seconds * 1000;
        return 0;
    case FLAG:
        *(bool *)target = true;
        return 0;
    case END:
        break;
    }
    print_and_exit (option);
    return 0;
}

static int read_options (agent_options_t *options, int argc, char **argv)
{
    struct option long_options[OPTION_COUNT + 1];
    char letters[2 * OPTION_COUNT + 2] = ":";
    int letter;

    fill_long_options (long_options);
    fill_letters (letters + 1);
    opterr = 0;
    while ((letter = getopt_long (argc, argv, letters, long_options, NULL))
           != -1) {
        const option_t *option = find_option (letter);
        if (!option)
            return wrong_option (letter, argv);
        if (take_option (options, option, optarg) < 0)
            return usage ("'%s' is not a valid %s for --%s", optarg,
                          option->value, option->name);
    }
    if (optind < argc)
        return usage ("unexpected argument '%s'", argv[optind]);
    if (options->resend && (options->once || options->through))
        return usage ("--resend cannot be combined with --once or --through");
    if (options->through && options->once)
        return usage ("--once and --through cannot be combined");
    return 0;
}

/* With a GPU or without one. */
static int probe (void)
{
    bool found = probe_print (&source_usual_places, stdout);

    return fclose (stdout) == 0 && found ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The agent that runs, or the next one, does it. */
static int resend (const agent_t *agent, gl_error_t *error)
{
    if (ship_again (agent->spool, error) < 0)
        return -1;
    printf ("gpuledger-agent sends all records that are in %s again, at once "
            "if it is running; records that the collector has do not change\n",
            agent->spool);
    return 0;
}

static int run (agent_t *agent, gl_error_t *error)
{
    if (agent->options->resend)
        return resend (agent, error);
    return agent_start (agent, error) < 0 ? -1 : loop_run (agent, error);
}

int main (int argc, char **argv)
{
    const char *config = getenv ("GPULEDGER_CONF");
    agent_options_t options = {.config = config && *config ? config : NULL};
    gl_error_t error = {""};
    agent_t agent;
    int rc;

    if (read_options (&options, argc, argv) < 0)
        return EXIT_USAGE;
    if (options.probe)
        return probe ();
    rc = agent_init (&agent, &options, &error);
    if (rc == 0)
        rc = run (&agent, &error);
    if (rc < 0)
        agent_say (3, "%s", error.text);
    else if (options.once && !agent_has_seen (&agent))
        rc = -1; /* why was said */
    agent_done (&agent);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
