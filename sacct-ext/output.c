#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "output.h"

static int set_format (cli_t *cli, output_t *output, render_format_t format)
{
    if (output->format_given && output->format != format) {
        cli->exit_code = cli_usage (
            cli, "-P, --csv, --json and --html exclude each other");
        return -1;
    }
    output->format = format;
    output->format_given = true;
    return 1;
}

int output_option (cli_t *cli, output_t *output, int option, const char *value)
{
    switch (option) {
    case 'P':
        return set_format (cli, output, RENDER_PARSABLE2);
    case OUTPUT_CSV:
        return set_format (cli, output, RENDER_CSV);
    case OUTPUT_JSON:
        return set_format (cli, output, RENDER_JSON);
    case OUTPUT_HTML:
        return set_format (cli, output, RENDER_HTML);
    case 'o':
        output->fields = value;
        return 1;
    case 'n':
        output->no_header = true;
        return 1;
    case OUTPUT_FILE:
        if (!*value) {
            cli->exit_code
                = cli_usage (cli, "--output needs the name of a file");
            return -1;
        }
        output->file = strcmp (value, "-") ? value : NULL;
        return 1;
    default:
        return 0;
    }
}

bool output_colour (const output_t *output)
{
    const char *no_color = getenv ("NO_COLOR"), *term = getenv ("TERM");

    return !output->file && isatty (STDOUT_FILENO) && !(no_color && *no_color)
           && term && strcmp (term, "dumb");
}

static int write_all (int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write (fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        length -= n;
    }
    return 0;
}

/* As open() would have made it. */
static int set_mode (int fd)
{
    mode_t mask = umask (0);

    umask (mask);
    return fchmod (fd, 0666 & ~mask);
}

/* A device, a pipe or a terminal is written to, never replaced. */
static int write_special (cli_t *cli, const char *path, const char *data,
                          size_t length)
{
    int fd = open (path, O_WRONLY | O_CLOEXEC | O_NOCTTY), rc = CLI_OK;

    if (fd < 0 || write_all (fd, data, length) < 0)
        rc = cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    if (fd >= 0 && close (fd) < 0 && rc == CLI_OK)
        rc = cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    return rc;
}

/* Beside the file under another name, then renamed: a reader sees the old or
 * the new content, never a part. */
static int replace_file (cli_t *cli, const char *path, const char *data,
                         size_t length)
{
    GL_AUTOFREE char *temporary = xasprintf ("%s.XXXXXX", path);
    int fd = mkostemp (temporary, O_CLOEXEC), rc = CLI_OK;

    if (fd < 0)
        return cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    if (set_mode (fd) < 0 || write_all (fd, data, length) < 0 || fsync (fd) < 0)
        rc = cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    if (close (fd) < 0 && rc == CLI_OK)
        rc = cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    if (rc == CLI_OK && rename (temporary, path) < 0)
        rc = cli_failf (cli, "cannot rename %s to %s: %s", temporary, path,
                        strerror (errno));
    if (rc != CLI_OK)
        unlink (temporary);
    return rc;
}

/* A link stays, and what it leads to is replaced. */
static int write_file (cli_t *cli, const char *path, const char *data,
                       size_t length)
{
    GL_AUTOFREE char *target = NULL;
    struct stat status;

    if (stat (path, &status) < 0)
        return replace_file (cli, path, data, length);
    if (!S_ISREG (status.st_mode))
        return write_special (cli, path, data, length);
    target = realpath (path, NULL);
    if (!target)
        return cli_failf (cli, "cannot write %s: %s", path, strerror (errno));
    return replace_file (cli, target, data, length);
}

int output_bytes (cli_t *cli, const output_t *output, const void *data,
                  size_t length)
{
    if (output->file)
        return write_file (cli, output->file, data, length);
    if (length > 0)
        fwrite (data, 1, length, stdout);
    return CLI_OK;
}

/* Warnings count for --strict wherever they are shown. */
static void tell_notes (cli_t *cli, const output_t *output,
                        const report_t *report)
{
    bool shown = render_shows_notes (output->format) && !output->no_header;

    for (size_t i = 0; i < report->note_count; i++) {
        if (report->note[i].level != NOTE_WARNING) {
            if (!shown)
                cli_detail (cli, "%s", report->note[i].text);
        } else if (shown)
            cli->warnings++;
        else
            cli_warn (cli, "%s", report->note[i].text);
    }
}

int output_selected (cli_t *cli, const output_t *output, report_t *report)
{
    render_options_t options = {output->no_header, output_colour (output)};
    BUFFER_AUTO out = BUFFER_INIT;

    render_report (report, output->format, &options, &out);
    tell_notes (cli, output, report);
    return output_bytes (cli, output, out.data, out.length);
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
