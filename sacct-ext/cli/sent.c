#include "cli/sent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/output.h"

#define HEAD "gpuledger-alerts 1\n"
#define SIZE_MAX_OF_FILE (16 * 1024 * 1024)

int sent_read (cli_t *cli, const char *path, buffer_t *text)
{
    FILE *file = fopen (path, "re");
    size_t n;

    if (!file && errno == ENOENT) {
        buffer_add_text (text, HEAD);
        return CLI_OK;
    }
    if (!file)
        return cli_failf (cli, "cannot read %s: %s", path, strerror (errno));
    do {
        char *at = buffer_reserve (text, 65536);
        n = fread (at, 1, 65536, file);
        text->length += n;
    } while (n > 0 && text->length < SIZE_MAX_OF_FILE);
    fclose (file);
    buffer_add_text (text, "");
    if (strncmp (buffer_text (text), HEAD, strlen (HEAD)) != 0
        || text->length >= SIZE_MAX_OF_FILE
        || buffer_text (text)[text->length - 1] != '\n')
        return cli_failf (cli,
                          "%s is not a file of sent alerts, or is cut off: "
                          "remove it, and all alerts are sent again",
                          path);
    return CLI_OK;
}

/* With the end of the line before. */
static void add_line (const char *name, const char *period, const char *what,
                      buffer_t *out)
{
    buffer_add_char (out, '\n');
    buffer_add_escaped (out, name, strlen (name));
    buffer_printf (out, "\t%s\t%s\n", period, what);
}

bool sent_is_new (buffer_t *text, const char *name, const char *period,
                  const char *what)
{
    BUFFER_AUTO line = BUFFER_INIT;

    add_line (name, period, what, &line);
    if (strstr (buffer_text (text), buffer_text (&line)))
        return false;
    buffer_add (text, line.data + 1, line.length - 1);
    return true;
}

void sent_forget (buffer_t *text, const char *name, const char *period,
                  const char *what)
{
    BUFFER_AUTO line = BUFFER_INIT;
    BUFFER_AUTO rest = BUFFER_INIT;
    const char *found;

    add_line (name, period, what, &line);
    found = strstr (buffer_text (text), buffer_text (&line));
    if (!found)
        return;
    buffer_add (&rest, text->data, (size_t)(found - text->data) + 1);
    buffer_add_text (&rest, found + line.length);
    buffer_clear (text);
    buffer_add (text, rest.data, rest.length);
}

int sent_write (cli_t *cli, const char *path, const buffer_t *text)
{
    const output_t file = {.file = path};

    return output_bytes (cli, &file, text->data, text->length);
}
