/* gpuledger export: a month for other programs, in the form that they read. */
#include <getopt.h>
#include <string.h>

#include "base/memory.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/exports.h"
#include "command/month_set.h"
#include "command/verb.h"
#include "config/config.h"

struct request {
    query_options_t options;
    output_t output;
    export_options_t export;
    const char *layout;
    const char *set; /* folder */
    const char *team;
    bool fields;
};

/* --- the fields ---------------------------------------------------------- */

enum { AT_FIELD, AT_TYPE, AT_ROWS, AT_MEANING };

static const column_info_t columns[] = {
    {"field", "Field", COLUMN_TEXT, true, false, "Its name in a layout."},
    {"type", "Type", COLUMN_TEXT, false, false,
     "Its type: amount, hours, date, ..."},
    {"rows", "Rows", COLUMN_TEXT, false, false, "`rows` that have it."},
    {"meaning", "Meaning", COLUMN_TEXT, false, false, "Its meaning."},
};

static void put_field (report_t *report, const export_field_t *field)
{
    BUFFER_AUTO rows = BUFFER_INIT;

    for (unsigned i = 0; i < EXPORT_ROWS_COUNT; i++)
        if (field->rows & 1u << i)
            buffer_printf (&rows, "%s%s", rows.length ? " " : "",
                           export_rows_word ((export_rows_t)i));
    report_row (report);
    report_put_text (report, AT_FIELD, field->name);
    report_put_text (report, AT_TYPE, export_type_word (field->type));
    report_put_text (report, AT_ROWS, buffer_text (&rows));
    report_put_text (report, AT_MEANING, field->help);
}

static int list_fields (cli_t *cli, const struct request *request)
{
    report_t *report = report_new ("fields", "Fields of layouts");
    size_t count;
    const export_field_t *fields = export_fields (&count);
    int rc;

    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < count; i++)
        put_field (report, &fields[i]);
    rc = output_report (cli, &request->output, report);
    report_free (report);
    return rc;
}

/* --- the verb ------------------------------------------------------------ */

static int resolve (cli_t *cli, struct request *request, const char *what,
                    report_query_t *query)
{
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    int rc = store ? query_options_resolve (cli, &request->options, cli->site,
                                            store, "team", query)
                   : CLI_FAILED;

    return rc == CLI_OK && request->layout
               ? query_month_single (cli, &request->options, query, what)
               : rc;
}

static int by_layout (cli_t *cli, struct request *request)
{
    export_team_t team = {.given = request->team != NULL};
    export_layout_t *layout;
    report_query_t query;
    gl_error_t error;
    int rc;

    if (config_load_layout (request->layout, &layout, &error) < 0)
        return cli_fail (cli, &error);
    rc = resolve (cli, request, "an export", &query);
    if (rc == CLI_OK && request->team)
        rc = query_team_billed (cli, cli->store, request->team, &team.name);
    if (rc == CLI_OK)
        rc = export_by_layout (cli, layout, &query, team, &request->output);
    export_layout_free (layout);
    return rc;
}

static int by_form (cli_t *cli, struct request *request)
{
    report_query_t query;
    int rc = resolve (cli, request, "", &query);

    return rc == CLI_OK
               ? export_make (cli, &request->export, &query, &request->output)
               : rc;
}

static int check (cli_t *cli, const struct request *request, int operands)
{
    int asked = (request->layout != NULL) + (request->set != NULL)
                + request->fields + (request->export.export != NULL);

    if (operands > 0)
        return cli_usage (cli, "export takes only options: --layout FILE");
    if (asked != 1)
        return cli_usage (cli, "give one of --layout, --set, --journal, "
                               "--focus, --opencost and --fields");
    if (request->set && (!*request->set || request->output.file))
        return cli_usage (cli, "--set needs the name of a folder, and no "
                               "--output");
    if (request->export.dataset && !request->export.export)
        return cli_usage (cli, "--focus-dataset needs --focus");
    if (request->team && !request->layout)
        return cli_usage (cli, "--team needs --layout");
    if (output_formed (&request->output) && !request->fields)
        return cli_usage (cli, "the layout or format decides columns and "
                               "order: of these options only --output works "
                               "with it");
    return CLI_OK;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if ((rc = check (cli, &request, argc - optind)) == CLI_OK)
        rc = request.fields   ? list_fields (cli, &request)
             : request.layout ? by_layout (cli, &request)
             : request.set
                 ? month_set_write (cli, request.options.month, request.set)
                 : by_form (cli, &request);
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    {0, "layout", "FILE",
     "write this layout: a file with rows, columns, formats,\ndates "
     "(docs/formats/layout.md)",
     CLI_AT (struct request, layout)},
    {0, "set", "DIR",
     "all files of the month into DIR/YYYY-MM: statements, chargeback,\n"
     "journal, FOCUS and the `exports` of the configuration",
     CLI_AT (struct request, set)},
    {0, "fields", NULL, "list the fields that a layout can use",
     CLI_AT (struct request, fields)},
    {0, "month", "YYYY-MM",
     "a calendar month, or last (default: last, the last one that is\n"
     "complete)",
     CLI_AT (struct request, options.month)},
    {0, "team", "TEAM", "with --layout: only what this team pays",
     CLI_AT (struct request, team)},
    CLI_GROUP (export_options, struct request, export),
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_export = {
    .name = "export",
    .run = run,
    .synopsis = "--layout FILE [OPTION]... | --set DIR | --fields",
    .summary = "a month in the format of an accounting system",
    .help
    = "A layout is a YAML file that describes the rows of the export, and the "
      "name and\nformat of each column. Amounts add up to the bill. Examples "
      "are in\ncontrib/examples/layouts.",
    .options = options,
    .example = "gpuledger export --layout erp.yaml --month 2026-10 --output "
               "gpu-2026-10.csv\n"
               "gpuledger export --fields",
};
