/* print: what the libraries have as data, for the tests of this folder. */
#include <stdio.h>
#include <string.h>

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

int main (int argc, char **argv)
{
    if (argc == 2 && !strcmp (argv[1], "schema"))
        return fputs (render_json_schema, stdout) < 0;
    if (argc == 2 && !strcmp (argv[1], "definitions"))
        return print_definitions ();
    fprintf (stderr, "usage: print schema|definitions\n");
    return 2;
}
