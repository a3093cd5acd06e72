#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress.h"

/* --- a screen at a time ------------------------------------------------- */

/*
 * Output at a terminal, a screen at a time.
 *
 * The command is $GPULEDGER_PAGER, else $PAGER, else less, as git has it: run
 * by sh with the output as its standard input, with LESS=FRX if LESS is not
 * set, so that what fits on the screen is just printed. An empty command or cat
 * is none. Under sudo, pkexec and doas less is asked not to run other programs
 * (LESSSECURE). While it runs, the keyboard's signals are the pager's.
 */

typedef struct pager pager_t;

#define PAGER_DEFAULT "less"

/* Ignored while the pager runs: a reader who left it is no error, and ^C stops
 * a search in it, not this program. */
static const int signals[] = {SIGPIPE, SIGINT, SIGQUIT};

struct pager {
    const char *command;
    pid_t pid;
    int fd;
    bool left;
    struct sigaction before[GL_ARRAY_SIZE (signals)];
};

/* --- which ---------------------------------------------------------------- */

static bool is_installed (const char *name)
{
    const char *path = getenv ("PATH");

    for (const char *dir = path, *end; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul (dir, ':');
        GL_AUTOFREE char *file
            = xasprintf ("%.*s/%s", (int)(end - dir), dir, name);
        if (access (file, X_OK) == 0)
            return true;
    }
    return false;
}

/* NULL: none. */
static const char *pager_command (void)
{
    static const char *const names[] = {"GPULEDGER_PAGER", "PAGER"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        const char *command = getenv (names[i]);
        if (command)
            return *command && strcmp (command, "cat") ? command : NULL;
    }
    return is_installed (PAGER_DEFAULT) ? PAGER_DEFAULT : NULL;
}

static bool is_dumb (void)
{
    const char *term = getenv ("TERM");

    return !term || !*term || strcmp (term, "dumb") == 0;
}

/* --- running -------------------------------------------------------------- */

static void __attribute__ ((noreturn)) run (const char *command, int fd)
{
    dup2 (fd, STDIN_FILENO);
    setenv ("LESS", "FRX", 0);
    setenv ("LV", "-c", 0);
    if (getenv ("SUDO_UID") || getenv ("PKEXEC_UID") || getenv ("DOAS_USER"))
        setenv ("LESSSECURE", "1", 1);
    execl ("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit (127);
}

static void ignore_signals (pager_t *pager)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    for (size_t i = 0; i < GL_ARRAY_SIZE (signals); i++)
        sigaction (signals[i], &ignore, &pager->before[i]);
}

static void restore_signals (const pager_t *pager, size_t first)
{
    for (size_t i = first; i < GL_ARRAY_SIZE (signals); i++)
        sigaction (signals[i], &pager->before[i], NULL);
}

/* NULL: print without one. Asks the environment; standard output is a terminal.
 */
static pager_t *pager_start (cli_t *cli)
{
    const char *command = cli->no_pager || is_dumb () ? NULL : pager_command ();
    int ends[2];
    pager_t *pager;
    pid_t pid;

    if (!command || pipe2 (ends, O_CLOEXEC) < 0)
        return NULL;
    fflush (stdout);
    pid = fork ();
    if (pid == 0)
        run (command, ends[0]);
    close (ends[0]);
    if (pid < 0) {
        close (ends[1]);
        return NULL;
    }
    pager = xcalloc (1, sizeof (*pager));
    *pager = (pager_t){.command = command, .pid = pid, .fd = ends[1]};
    ignore_signals (pager);
    return pager;
}

/* -1 with errno. A pager that was left takes no more, which is no error. */
static int pager_write (pager_t *pager, const void *data, size_t length)
{
    if (pager->left || file_write_all (pager->fd, data, length) == 0)
        return 0;
    if (errno != EPIPE)
        return -1;
    pager->left = true;
    restore_signals (pager, 1); /* ^C ends what nobody reads */
    return 0;
}

/* Waits until the reader has left. Returns an exit code; failure has been
 * reported. */
static int pager_end (cli_t *cli, pager_t *pager)
{
    int status = 0, rc = CLI_OK;

    close (pager->fd);
    while (waitpid (pager->pid, &status, 0) < 0 && errno == EINTR)
        ;
    restore_signals (pager, 0);
    if (WIFEXITED (status)
        && (WEXITSTATUS (status) == 126 || WEXITSTATUS (status) == 127))
        rc = cli_failf (cli,
                        "cannot run the pager '%s': set GPULEDGER_PAGER to one "
                        "that is installed, or give --no-pager",
                        pager->command);
    free (pager);
    return rc;
}

/* --- options ------------------------------------------------------------ */

static int take_format (cli_t *cli, void *into, const cli_option_t *option,
                        const char *value)
{
    output_t *output = into;
    render_format_t format = (render_format_t)option->code;

    (void)value;
    if (output->format_given && output->format != format)
        return cli_refuse (cli, "-P, --csv, --json and --html cannot be "
                                "combined");
    output->format = format;
    output->format_given = true;
    return 0;
}

static int take_limit (cli_t *cli, void *into, const cli_option_t *option,
                       const char *value)
{
    uint64_t limit;

    (void)option;
    if (number_u64_text (value, &limit) < 0 || limit == 0 || limit > SIZE_MAX)
        return cli_refuse (
            cli, "'%s' is not a number of rows; write e.g. --limit 10", value);
    ((output_t *)into)->limit = limit;
    return 0;
}

int output_take_file (cli_t *cli, void *into, const cli_option_t *option,
                      const char *value)
{
    (void)option;
    if (!*value)
        return cli_refuse (cli, "--output needs the name of a file");
    ((output_t *)into)->file = strcmp (value, "-") ? value : NULL;
    return 0;
}

#define OPTION_JSON                                                \
    {                                                              \
        0, "json", NULL, "JSON; money and 64-bit ids are strings", \
            .take = take_format, .code = RENDER_JSON               \
    }
#define OPTION_OUTPUT                                               \
    {                                                               \
        0, "output", "FILE",                                        \
            "write to FILE, which is replaced once it is complete", \
            .take = output_take_file                                \
    }

const cli_option_t output_options[] = {
    {'P', "parsable2", NULL, "fields separated by '|', with a header",
     .take = take_format, .code = RENDER_PARSABLE2},
    {0, "csv", NULL, "comma-separated values (RFC 4180)", .take = take_format,
     .code = RENDER_CSV},
    OPTION_JSON,
    {0, "html", NULL, "one self-contained page, fit for print",
     .take = take_format, .code = RENDER_HTML},
    {'o', "format", "FIELDS",
     "these fields, in this order, separated by commas",
     CLI_AT (output_t, fields)},
    {'w', "wide", NULL, "all columns, however narrow the terminal is",
     CLI_AT (output_t, wide)},
    {0, "sort", "FIELDS",
     "order the rows by these fields, -FIELD from the largest down:\n"
     "--sort -charge,account",
     CLI_AT (output_t, sort)},
    {0, "limit", "N", "the first N rows; totals stay those of all rows",
     .take = take_limit},
    {'n', "noheader", NULL, "rows alone: no header, no totals, no notes",
     CLI_AT (output_t, no_header)},
    OPTION_OUTPUT,
    {0},
};

const cli_option_t output_file_options[] = {OPTION_JSON, OPTION_OUTPUT, {0}};

bool output_formed (const output_t *output)
{
    return output->format_given || output->fields || output->no_header
           || output->sort || output->limit;
}

static bool to_terminal (const output_t *output)
{
    return !output->file && isatty (STDOUT_FILENO);
}

/* Colours are for a terminal that wants them. */
static bool output_colour (const output_t *output)
{
    const char *no_color = getenv ("NO_COLOR"), *term = getenv ("TERM");

    return to_terminal (output) && !(no_color && *no_color) && term
           && strcmp (term, "dumb");
}

/* A terminal that does not tell is as wide as they were for long. */
#define WIDTH_DEFAULT 80

static size_t terminal_width (void)
{
    const char *columns = getenv ("COLUMNS");
    struct winsize size;
    uint64_t width;

    if (columns && number_u64_text (columns, &width) == 0 && width > 0
        && width <= UINT16_MAX)
        return width;
    if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

/* 0: there is none that a table has to fit, or fields were asked for. */
static size_t output_width (const output_t *output)
{
    if (output->wide || output->fields || !to_terminal (output))
        return 0;
    return terminal_width ();
}

/* --- where it goes ------------------------------------------------------- */

struct output_stream {
    const char *path;    /* as it was given; NULL: standard output */
    char *target;        /* what is replaced in the end; NULL: nothing is */
    file_draft_t *draft; /* of it */
    int fd;              /* what is written to otherwise */
    pager_t *pager;      /* of a terminal; NULL: none */
    bool failed;         /* told already */
};

static void tell_failure (cli_t *cli, output_stream_t *s)
{
    if (!s->failed)
        cli_failf (cli, "cannot write %s: %s", s->path ? s->path : "the output",
                   strerror (errno));
    s->failed = true;
}

/* A device, a pipe or a terminal is written to, never replaced; a file is, as a
 * whole. A link stays, and what it leads to is replaced. */
static void open_path (output_stream_t *s, mode_t mode)
{
    file_target_t file
        = {.at = AT_FDCWD, .mode = mode, .sync = FILE_WHOLE, .shared = true};
    struct stat status;

    if (stat (s->path, &status) < 0)
        s->target = xstrdup (s->path);
    else if (S_ISREG (status.st_mode))
        s->target = realpath (s->path, NULL);
    else {
        s->fd = open (s->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return;
    }
    file.name = s->target;
    if (file.name)
        s->draft = file_draft_open (&file);
}

static void stream_free (output_stream_t *s)
{
    free (s->target);
    free (s);
}

output_stream_t *output_open (cli_t *cli, const output_t *output)
{
    output_stream_t *s = xcalloc (1, sizeof (*s));

    s->path = output->file;
    s->fd = -1;
    if (!s->path) {
        if (to_terminal (output))
            progress_end ();
        s->pager = to_terminal (output) ? pager_start (cli) : NULL;
        return s;
    }
    open_path (s, output->mode);
    if (s->draft || s->fd >= 0)
        return s;
    tell_failure (cli, s);
    stream_free (s);
    return NULL;
}

static int write_stream (output_stream_t *s, const void *data, size_t length)
{
    if (s->draft)
        return file_draft_write (s->draft, data, length);
    if (s->path)
        return file_write_all (s->fd, data, length);
    if (s->pager)
        return pager_write (s->pager, data, length);
    return length > 0 && fwrite (data, 1, length, stdout) != length ? -1 : 0;
}

int output_write (cli_t *cli, output_stream_t *s, const void *data,
                  size_t length)
{
    if (!s->failed && write_stream (s, data, length) < 0)
        tell_failure (cli, s);
    return s->failed ? -1 : 0;
}

int output_close (cli_t *cli, output_stream_t *s, bool complete)
{
    int rc = 0;

    if (!s)
        return CLI_FAILED;
    if (s->draft)
        rc = file_draft_close (s->draft, complete && !s->failed);
    else if (s->path)
        rc = close (s->fd);
    if (rc < 0)
        tell_failure (cli, s);
    rc = s->pager ? pager_end (cli, s->pager) : CLI_OK;
    if (s->failed)
        rc = CLI_FAILED;
    stream_free (s);
    return rc;
}

int output_bytes (cli_t *cli, const output_t *output, const void *data,
                  size_t length)
{
    output_stream_t *s = output_open (cli, output);

    return s ? output_close (cli, s, output_write (cli, s, data, length) == 0)
             : CLI_FAILED;
}

/* Warnings count for --strict wherever they are shown. */
static void tell_notes (cli_t *cli, const output_t *output,
                        const report_t *report)
{
    bool shown = render_shows_notes (output->format) && !output->no_header;

    for (size_t i = 0; i < report->note_count; i++) {
        if (!note_is_warning (report->note[i].level)) {
            if (!shown)
                cli_detail (cli, "%s", report->note[i].text);
        } else if (shown)
            cli->warnings++;
        else
            cli_warn (cli, "%s", report->note[i].text);
    }
}

/* Where the bytes of a report go while it is rendered. */
struct flow {
    cli_t *cli;
    output_stream_t *stream;
};

static void drain (buffer_t *out, void *arg)
{
    struct flow *flow = arg;

    output_write (flow->cli, flow->stream, out->data, out->length);
    buffer_clear (out);
}

int output_selected (cli_t *cli, const output_t *output, report_t *report)
{
    struct flow flow = {.cli = cli};
    render_options_t options = {.no_header = output->no_header,
                                .colour = output_colour (output),
                                .width = output_width (output),
                                .drain = drain,
                                .arg = &flow};
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;

    if (output->sort && report_order_rows (report, output->sort, &error) < 0)
        return cli_usage (cli, "--sort: %s", error.text);
    if (output->limit)
        report_limit_rows (report, output->limit);
    tell_notes (cli, output, report);
    flow.stream = output_open (cli, output);
    if (!flow.stream)
        return CLI_FAILED;
    render_report (report, output->format, &options, &out);
    drain (&out, &flow);
    return output_close (cli, flow.stream, true);
}

int output_report (cli_t *cli, const output_t *output, report_t *report)
{
    bool for_people
        = output->format == RENDER_TABLE || output->format == RENDER_HTML;
    gl_error_t error;

    if (output->fields) {
        if (report_select (report, output->fields, &error) < 0)
            return cli_usage (cli, "%s", error.text);
    } else if (for_people)
        report_select_brief (report);
    return output_selected (cli, output, report);
}
