#include <stdio.h>
#include <string.h>

#include "cli/cli_help.h"

/* Options are printed as "  -M, --clusters LIST   text"; the text begins here,
 * on a line of its own where the option is longer. */
#define TEXT_COLUMN 28

static void indent (const char *text, int column)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn (text, "\n");
        printf ("%*s%.*s\n", column, "", (int)(end - text), text);
    }
}

static void print_option (const cli_option_t *option)
{
    int n;

    if (option->letter)
        n = printf ("  -%c, --%s", option->letter, option->name);
    else
        n = printf ("      --%s", option->name);
    if (option->argument)
        n += printf (strncmp (option->argument, "[=", 2) ? " %s" : "%s",
                     option->argument);
    if (n + 2 > TEXT_COLUMN) {
        putchar ('\n');
        indent (option->help, TEXT_COLUMN);
        return;
    }
    printf ("%*s", TEXT_COLUMN - n, "");
    n = strcspn (option->help, "\n");
    printf ("%.*s\n", n, option->help);
    indent (option->help + n + (option->help[n] == '\n'), TEXT_COLUMN);
}

static void print_options (const cli_option_t *options)
{
    for (; options && (options->name || options->group); options++)
        if (options->group)
            print_options (options->group);
        else
            print_option (options);
}

#define WIDTH 79

/* A paragraph that has no line breaks of its own is broken at blanks. */
static void paragraph (const char *text)
{
    while (strlen (text) > WIDTH && !strchr (text, '\n')) {
        size_t n = WIDTH;
        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            break;
        printf ("%.*s\n", (int)n, text);
        text += n + 1;
    }
    puts (text);
}

static void help_of_command (void)
{
    puts ("Usage: gpuledger [OPTION]... VERB [ARGUMENT]...\n"
          "Who used which GPUs of a Slurm cluster, for what, and what did that "
          "cost.\n\nVerbs:");
    for (const verb_t *const *verb = cli_verbs; *verb; verb++)
        printf ("  %-12s%s\n", (*verb)->name, (*verb)->summary);
    puts ("\nCommon options:");
    print_options (cli_common_options);
    puts ("\n'gpuledger VERB --help' explains a verb. Exit: 0 ok, 1 failed, 2 "
          "wrong use,\n3 done, with findings. See gpuledger(1).");
}

void cli_help (const verb_t *verb)
{
    if (!verb) {
        help_of_command ();
        return;
    }
    printf ("Usage: gpuledger %s%s%s\n", verb->name, *verb->synopsis ? " " : "",
            verb->synopsis);
    paragraph (verb->help ? verb->help : verb->summary);
    if (verb->options)
        puts ("\nOptions:");
    print_options (verb->options);
    puts ("\nCommon options:");
    print_options (cli_common_options);
    if (verb->example) {
        puts ("\nExample:");
        indent (verb->example, 2);
    }
}
