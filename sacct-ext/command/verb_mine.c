/* gpuledger mine: one's own usage and charges, and nothing of others. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "cli/query_options.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "command/verb_report.h"
#include "analysis/results.h"
#include "analysis/wastes.h"
#include "site/site.h"

/* What a user sees. `cost` is none of it: it says what the site's idle time
 * costs. */
static const char *const measures[] = {
    "jobs",
    "segments",
    "unknown_jobs",
    "gres_seconds",
    "gres_hours",
    "gpu_hours",
    "suspended_gres_seconds",
    "energy_kwh",
    "active_gpu_hours",
    "idle_gpu_hours",
    "coverage_pct",
    "rate",
    "charge",
    "credit",
    "currency",
};

struct mine {
    query_options_t options;
    output_t output;
    const char *as; /* --for */
};

/* --- here -------------------------------------------------------------- */

static bool is_shown (const report_column_t *column)
{
    if (column->is_key)
        return true;
    return GL_ANY (measures, GL_ARRAY_SIZE (measures), it,
                   strcmp (column->name, *it) == 0);
}

/* The fields asked for, all of them to be shown; else all that may be. */
static int select_fields (report_t *report, const output_t *output,
                          gl_error_t *error)
{
    bool brief
        = !output->fields
          && (output->format == RENDER_TABLE || output->format == RENDER_HTML);
    BUFFER_AUTO fields = BUFFER_INIT;

    if (output->fields && report_select (report, output->fields, error) < 0)
        return -1;
    if (brief)
        report_select_brief (report);
    for (size_t i = 0; i < report->order_count; i++) {
        const report_column_t *column = &report->column[report->order[i]];
        if (is_shown (column))
            buffer_printf (&fields, "%s%s", fields.length ? "," : "",
                           column->name);
        else if (output->fields)
            return gl_error (error, "unknown field '%s'", column->name);
    }
    return report_select (report, buffer_text (&fields), error);
}

/* The order of what is not shown would show it. */
static int check_sort (const report_t *report, const output_t *output,
                       gl_error_t *error)
{
    for (const char *field = output->sort, *end; field;
         field = *end ? end + 1 : NULL) {
        size_t sign = *field == '-' || *field == '+';
        int column;
        end = field + strcspn (field, ",");
        column = report_field (report, field + sign,
                               (size_t)(end - field) - sign, error);
        if (column < 0)
            return -1;
        if (!is_shown (&report->column[column]))
            return gl_error (error, "unknown field '%s'",
                             report->column[column].name);
    }
    return 0;
}

/* Most notes speak of pools that the user may never have used, or of what the
 * whole site lacks, to whoever runs it. Kept are those of the figures shown. */
static bool is_kept (const report_note_t *note)
{
    static const char *const beginnings[]
        = {"The facts of cluster ", "Of some jobs "};

    return GL_ANY (beginnings, GL_ARRAY_SIZE (beginnings), it,
                   strncmp (note->text, *it, strlen (*it)) == 0);
}

static void drop_notes (report_t *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->note_count; i++) {
        if (is_kept (&report->note[i]))
            report->note[kept++] = report->note[i];
        else
            free (report->note[i].text);
    }
    report->note_count = kept;
}

/* A filter by user leaves no sum of the site in a report; should one stand
 * there all the same, it is not shown. */
static int check_private (const report_t *report, gl_error_t *error)
{
    if (report->proof_count == 0 && report->named_total_count == 0)
        return 0;
    return gl_error (error, "the report is not limited to one user");
}

struct lines {
    report_t *report;
    const site_t *site;
    bool notes;          /* instead of a list */
    report_list_t *list; /* NULL: there is no line yet */
};

static void add_line (const char *title, const char *text, void *arg)
{
    struct lines *lines = arg;

    if (!lines->list)
        lines->list = report_list (lines->report, "What your jobs wasted");
    report_list_item (lines->list, title, text);
}

static void add_result (const results_line_t *line, void *arg)
{
    struct lines *lines = arg;
    GL_AUTOFREE char *text
        = results_line_text (line, lines->site->currency);

    if (lines->notes) {
        report_note (lines->report, NOTE_INFORMATION, "Produced: %s", text);
        return;
    }
    if (!lines->list)
        lines->list = report_list (lines->report, "What your jobs produced");
    report_list_item (lines->list, line->unit, text);
}

static void add_note (const char *title, const char *text, void *arg)
{
    report_note (arg, NOTE_INFORMATION, "Wasted: %s: %s", title, text);
}

/* Of full months, because prices are those of a month: in the formats for people as a
 * list, in JSON as notes. CSV has rows alone. */
static int add_waste (cli_t *cli, const struct mine *mine,
                      const report_query_t *query, report_t *report)
{
    struct lines lines = {.report = report};
    gl_error_t error;
    int rc = 0;

    if (report->row_count == 0 || !query_full_months (query))
        return CLI_OK;
    if (mine->output.format == RENDER_JSON)
        rc = wastes_lines (cli->store, query, add_note, report, &error);
    else if (mine->output.format == RENDER_TABLE
             || mine->output.format == RENDER_HTML)
        rc = wastes_lines (cli->store, query, add_line, &lines, &error);
    return rc < 0 ? cli_fail (cli, &error) : CLI_OK;
}

/* Likewise, of what one's jobs produced. */
static int add_results (cli_t *cli, const struct mine *mine,
                        const report_query_t *query, report_t *report)
{
    struct lines lines = {.report = report,
                          .site = query->site,
                          .notes = mine->output.format == RENDER_JSON};
    report_query_t all = *query;
    gl_error_t error;

    if (report->row_count == 0 || !query_full_months (query)
        || (mine->output.format != RENDER_JSON
            && mine->output.format != RENDER_TABLE
            && mine->output.format != RENDER_HTML))
        return CLI_OK;
    all.by.count = 0;
    return results_lines (cli->store, &all, add_result, &lines, &error) < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

static int print (cli_t *cli, const struct mine *mine, report_t *report)
{
    output_t output = mine->output;
    gl_error_t error;

    if (check_private (report, &error) < 0)
        return cli_fail (cli, &error);
    if (select_fields (report, &output, &error) < 0
        || check_sort (report, &output, &error) < 0)
        return cli_usage (cli, "%s", error.text);
    return output_selected (cli, &output, report);
}

static int mine_here (cli_t *cli, struct mine *mine)
{
    report_query_t query;
    report_t *report = NULL;
    const char *user;
    uid_t uid;
    int rc;

    user = user_verb_person (cli, mine->as, &uid);
    if (!user || !cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (strchr (user, ','))
        return cli_failf (cli, "a user name with a comma cannot be asked for");
    query_option_name (&mine->options, KEY_USER, user);
    rc = query_options_resolve (cli, &mine->options, cli->site, cli->store,
                                "project", &query);
    if (rc == CLI_OK)
        rc = report_of_charges (cli, &query, &report);
    if (rc == CLI_OK) {
        drop_notes (report);
        rc = add_results (cli, mine, &query, report);
        if (rc == CLI_OK)
            rc = add_waste (cli, mine, &query, report);
    }
    if (rc == CLI_OK)
        rc = print (cli, mine, report);
    report_free (report);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct mine mine = {.output = {.format = RENDER_TABLE}};
    user_words_t words = {.count = 0};
    int rc;

    if (cli_options (cli, argc, argv, &mine) < 0)
        rc = cli->exit_code;
    else if (optind != argc)
        rc = cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    else if (user_verb_here (cli))
        rc = mine_here (cli, &mine);
    else if ((rc = user_verb_not_for (cli, mine.as)) == CLI_OK)
        rc = user_verb_ask (cli, VERB_MINE, &words, &mine.output);
    query_options_done (&mine.options);
    user_words_done (&words);
    return rc;
}

static const cli_option_t options[] = {
    CLI_GROUP (query_period_options, struct mine, options),
    {0, "by", "KEYS",
     "group by these, separated by commas (default: project):\n"
     "cluster account project label:KEY qos partition pool gpu\n"
     "gres_type profile node state month day hour",
     CLI_AT (struct mine, options.by)},
    USER_FOR_OPTION (struct mine, as),
    CLI_GROUP (output_options, struct mine, output),
    {0},
};

const verb_t verb_mine = {
    .name = "mine",
    .run = run,
    .synopsis = "[OPTION]...",
    .summary = "your own usage and charges",
    .help = "Shows your own GPU time and its charges, by project: nothing of "
            "other users and no totals of the site. Of full months it also "
            "lists what your jobs produced and wasted, and what would have prevented that. On the accounting host, "
            "root reads the store. On other hosts the collector answers, and "
            "munge proves who you are.",
    .options = options,
    .example = "gpuledger mine --month 2026-10 --by project,gres_type",
};
