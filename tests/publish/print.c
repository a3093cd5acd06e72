/*
 * print: what the libraries have as data, for the tests of this folder.
 *
 * print schema
 * print definitions                     as JSON
 * print pseudonym KEYFILE NAME...       a line each
 */
#include <stdio.h>
#include <string.h>

#include "publish/pseudonym.h"
#include "render/render.h"
#include "report/glossary.h"

static int print_definitions (void)
{
    const render_options_t options = {.width = 0};
    report_t *report = glossary_report ();
    BUFFER_AUTO out = BUFFER_INIT;

    render_report (report, RENDER_JSON, &options, &out);
    report_free (report);
    return fputs (buffer_text (&out), stdout) < 0;
}

static int failed (const gl_error_t *error)
{
    fprintf (stderr, "%s\n", error->text);
    return 1;
}

static int print_pseudonyms (char **argv)
{
    gl_error_t error;
    pseudonyms_t *pseudonyms = pseudonyms_read (argv[0], &error);
    int rc = pseudonyms ? 0 : failed (&error);

    for (size_t i = 1; argv[i] && rc == 0; i++) {
        const char *text = pseudonyms_of (pseudonyms, argv[i], &error);
        rc = text ? puts (text) < 0 : failed (&error);
    }
    pseudonyms_free (pseudonyms);
    return rc;
}

int main (int argc, char **argv)
{
    if (argc == 2 && !strcmp (argv[1], "schema"))
        return fputs (render_json_schema, stdout) < 0;
    if (argc == 2 && !strcmp (argv[1], "definitions"))
        return print_definitions ();
    if (argc > 3 && !strcmp (argv[1], "pseudonym"))
        return print_pseudonyms (argv + 2);
    fprintf (stderr, "usage: print WHAT [ARGUMENT]...\n");
    return 2;
}
