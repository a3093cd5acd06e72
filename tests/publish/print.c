/*
 * print: what the libraries have as data, for the tests of this folder.
 *
 * print schema
 * print definitions                     as JSON
 * print pseudonym KEYFILE NAME...       a line each
 * print nginx|apache|REQUIRE SITEGROUP... [-- DIRECTORY GROUP...]...
 *                                       access rules; REQUIRE: for Apache
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "publish/access.h"
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

static int print_access (const char *format, char **words)
{
    access_team_t team[8] = {{.directory = NULL}};
    access_rules_t rules = {.team = team};
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;
    int rc;

    for (size_t i = 0; words[i]; i++) {
        if (!strcmp (words[i], "--") && words[i + 1]
            && rules.team_count < GL_ARRAY_SIZE (team))
            team[rules.team_count++].directory = words[++i];
        else
            texts_add (rules.team_count ? &team[rules.team_count - 1].readers
                                        : &rules.readers,
                       words[i]);
    }
    if (!strcmp (format, "nginx"))
        rc = access_nginx (&rules, &out, &error);
    else
        rc = access_apache (&rules, strcmp (format, "apache") ? format : NULL,
                            &out, &error);
    rc = rc < 0 ? failed (&error) : fputs (buffer_text (&out), stdout) < 0;
    for (size_t i = 0; i < rules.team_count; i++)
        texts_clear (&team[i].readers);
    texts_clear (&rules.readers);
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
    if (argc > 2)
        return print_access (argv[1], argv + 2);
    fprintf (stderr, "usage: print WHAT [ARGUMENT]...\n");
    return 2;
}
