/* gpuledger statement: one team's page of a month, or those of all. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/query_options.h"
#include "command/month_set.h"
#include "command/verb.h"
#include "mail/statement_mail.h"
#include "month/month.h"
#include "month/statements.h"
#include "site/project.h"

/* --- the month ------------------------------------------------------------ */

/* Its statements, of one team where the options name it. */
static int open_statements (cli_t *cli, query_options_t *options,
                            report_query_t *query, statements_t **ret)
{
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    gl_error_t error;
    int rc = CLI_FAILED;

    if (store)
        rc = query_options_resolve (cli, options, cli->site, store, "pool",
                                    query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, options, query, "a statement");
    if (rc == CLI_OK && statements_open (store, query, NULL, ret, &error) < 0)
        rc = cli_fail (cli, &error);
    return rc;
}

/* --- one page ------------------------------------------------------------- */

static int statement_of_team (cli_t *cli, query_options_t *options,
                              const char *name, bool jobs,
                              report_t **ret_report)
{
    statements_t *statements = NULL;
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    report_query_t query;
    const char *team;
    gl_error_t error;
    int rc = store ? query_team_billed (cli, store, name, &team) : CLI_FAILED;

    if (rc == CLI_OK) {
        query_option_name (options, KEY_TEAM, name);
        options->of_bills = true;
        rc = open_statements (cli, options, &query, &statements);
    }
    if (rc == CLI_OK
        && statements_team (statements, team, jobs, ret_report, &error) < 0)
        rc = cli_fail (cli, &error);
    statements_close (statements);
    return rc;
}

/* What the teams of an institution have to pay; "(none)": those of none. */
static const char *institution_name (const char *text)
{
    return strcmp (text, key_info (KEY_INSTITUTION)->absent) ? text : NULL;
}

static int statement_of_institution (cli_t *cli, query_options_t *options,
                                     const char *institution,
                                     report_t **ret_report)
{
    statements_t *statements = NULL;
    report_query_t query;
    gl_error_t error;
    int rc = open_statements (cli, options, &query, &statements);

    if (rc == CLI_OK
        && statements_institution (statements, institution_name (institution),
                                   ret_report, &error)
               < 0)
        rc = cli_fail (cli, &error);
    statements_close (statements);
    return rc;
}

/* --- all teams ------------------------------------------------------------ */

/* So that an ending and a number fit a file's name of 255 bytes. */
#define NAME_MAX_BYTES 200

struct page {
    char *team; /* NULL: it is an institution's */
    char *institution;
    char *folder; /* NULL: none */
    char *name;
};

struct pages {
    struct page *page;
    size_t count;
};

void statement_file_name (buffer_t *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t begin = out->length;

    for (const char *c = name; *c && out->length - begin < NAME_MAX_BYTES;
         c++) {
        if (strchr (plain, *c) && (*c != '.' || c != name))
            buffer_add_char (out, *c);
        else
            buffer_printf (out, "%%%02X", (unsigned char)*c);
    }
}

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static bool is_used (const text_list_t *used, const char *name)
{
    for (size_t i = 0; i < used->count; i++)
        if (!strcasecmp (used->item[i], name))
            return true;
    return false;
}

/* One that no other of the folder has, whatever the file system makes of case. */
static char *name_once (text_list_t *used, const char *name)
{
    buffer_t text = BUFFER_INIT;
    size_t length;

    statement_file_name (&text, name);
    length = text.length;
    for (size_t n = 2; is_used (used, buffer_text (&text)); n++) {
        text.length = length;
        buffer_printf (&text, "~%zu", n);
    }
    texts_add (used, buffer_text (&text));
    return buffer_take (&text);
}

/* The teams' files, in a folder of their institution, and a file of the institution
 * next to it. */
static void name_pages (struct pages *pages, const site_t *site,
                        period_t period, const text_list_t *teams)
{
    text_list_t folders = {.count = 0}, names = {.count = 0};
    text_list_t used = {.count = 0};
    bool any = false;

    for (size_t i = 0; i < teams->count; i++) {
        const site_team_t *team = team_within (site, teams->item[i], period);
        const char *institution
            = team && team->institution ? team->institution : "(none)";
        any = any || (team && team->institution);
        texts_add_new (&folders, institution);
        *GL_APPEND (pages->page, pages->count) = (struct page){
            xstrdup (teams->item[i]), xstrdup (institution), NULL, NULL};
    }
    if (folders.count > 1)
        qsort (folders.item, folders.count, sizeof (*folders.item), by_name);
    for (size_t f = 0; f < folders.count; f++) {
        char *name = name_once (&names, folders.item[f]);
        texts_clear (&used);
        for (size_t i = 0; i < teams->count; i++) {
            struct page *page = &pages->page[i];
            if (strcmp (page->institution, folders.item[f]) != 0)
                continue;
            page->name = name_once (&used, page->team);
            page->folder = any ? xstrdup (name) : NULL;
        }
        if (any)
            *GL_APPEND (pages->page, pages->count) = (struct page){
                NULL, xstrdup (folders.item[f]), NULL, xstrdup (name)};
        free (name);
    }
    texts_clear (&used);
    texts_clear (&folders);
    texts_clear (&names);
}

static void find_pages (statements_t *statements, struct pages *ret_pages)
{
    month_t *month = statements_month (statements);
    const site_t *site = month_site (month, NULL);
    text_list_t teams = {.count = 0};

    statements_teams (statements, &teams);
    name_pages (ret_pages, site ? site : month->paper, month->paper_period,
                &teams);
    texts_clear (&teams);
}

int make_folder (cli_t *cli, const char *path)
{
    if (mkdir (path, 0777) == 0 || errno == EEXIST)
        return 0;
    cli_failf (cli, "cannot make the folder %s: %s", path, strerror (errno));
    return -1;
}

/* One report in each format: pages last, because they have fewer columns. */
static int write_page (cli_t *cli, const struct page *page, const char *path,
                       report_t *report, const output_t *asked)
{
    static const struct {
        render_format_t format;
        const char *ending;
    } formats[] = {{RENDER_CSV, ".csv"},
                   {RENDER_JSON, ".json"},
                   {RENDER_HTML, ".html"},
                   {RENDER_PARSABLE2, ".txt"},
                   {RENDER_TABLE, ".txt"}};
    int rc = CLI_OK;

    for (size_t k = 0; k < GL_ARRAY_SIZE (formats) && rc == CLI_OK; k++) {
        GL_AUTOFREE char *file
            = xasprintf ("%s/%s%s", path, page->name, formats[k].ending);
        output_t output = *asked;
        output.format = formats[k].format;
        output.file = file;
        if (asked->format_given ? formats[k].format == asked->format : k < 3)
            rc = output_report (cli, &output, report);
    }
    return rc;
}

static int make_report (statements_t *statements, const struct page *page,
                        bool jobs, report_t **ret_report, gl_error_t *error)
{
    bool none = page->team && !strcmp (page->team, key_info (KEY_TEAM)->absent);

    return page->team
               ? statements_team (statements, none ? NULL : page->team, jobs,
                                  ret_report, error)
               : statements_institution (statements,
                                         institution_name (page->institution),
                                         ret_report, error);
}

static int write_one (cli_t *cli, statements_t *statements, bool jobs,
                      const output_t *output, const char *dir,
                      const struct page *page)
{
    GL_AUTOFREE char *path = xasprintf ("%s%s%s", dir, page->folder ? "/" : "",
                                        page->folder ? page->folder : "");
    report_t *report = NULL;
    gl_error_t error;
    int rc;

    if (make_report (statements, page, jobs, &report, &error) < 0)
        return cli_fail (cli, &error);
    rc = page->folder && make_folder (cli, path) < 0
             ? CLI_FAILED
             : write_page (cli, page, path, report, output);
    report_free (report);
    return rc;
}

int statement_files_write (cli_t *cli, const char *month, bool jobs,
                           const output_t *output, const char *dir,
                           size_t *ret_teams)
{
    query_options_t options = {.month = month, .of_bills = true};
    statements_t *statements = NULL;
    struct pages pages = {.count = 0};
    report_query_t query;
    int rc = open_statements (cli, &options, &query, &statements);

    *ret_teams = 0;
    if (rc == CLI_OK)
        find_pages (statements, &pages);
    if (rc == CLI_OK && make_folder (cli, dir) < 0)
        rc = CLI_FAILED;
    for (size_t i = 0; i < pages.count && rc == CLI_OK; i++) {
        progress_say ("statement %zu of %zu", i + 1, pages.count);
        rc = write_one (cli, statements, jobs, output, dir, &pages.page[i]);
    }
    progress_clear ();
    for (size_t i = 0; i < pages.count; i++)
        *ret_teams += pages.page[i].team != NULL;
    GL_FREE_EACH (pages.page, pages.count, it,
                  (free (it->team), free (it->institution), free (it->folder),
                   free (it->name)));
    statements_close (statements);
    query_options_done (&options);
    return rc;
}

/* --- the verb ------------------------------------------------------------- */

struct request {
    query_options_t options;
    output_t output;
    const char *team; /* as it was written: "(none)" is no team */
    const char *dir;  /* folder of all teams' statements; NULL: none */
    bool all;
    bool mail;
    mail_options_t send;
    const char
        *institution; /* its page, of all of its teams; NULL: one team's */
    bool jobs;
};

static int print_statement (cli_t *cli, struct request *request)
{
    report_t *report = NULL;
    int rc = request->institution
                 ? statement_of_institution (cli, &request->options,
                                             request->institution, &report)
                 : statement_of_team (cli, &request->options, request->team,
                                      request->jobs, &report);

    if (rc == CLI_OK)
        rc = output_report (cli, &request->output, report);
    report_free (report);
    return rc;
}

static int write_all (cli_t *cli, const struct request *request)
{
    size_t teams;
    int rc = statement_files_write (cli, request->options.month, request->jobs,
                                    &request->output, request->dir, &teams);

    if (rc == CLI_OK)
        cli_say (cli, "wrote statements of %zu teams to %s", teams,
                 request->dir);
    return rc;
}

/* "--all DIR", "--all=DIR", and with --mail "--all" alone. */
static int take_all (cli_t *cli, void *into, const cli_option_t *option,
                     const char *value)
{
    struct request *request = into;

    (void)option;
    if (value && !*value)
        return cli_refuse (cli, "--all needs the name of a folder");
    request->all = true;
    request->dir = value;
    return 0;
}

/* What cannot go together; the operands are `count` from `operand` on. */
static int check (cli_t *cli, struct request *request, char **operand,
                  int count)
{
    if (request->all && !request->dir && !request->mail && count == 1)
        request->dir = operand[--count];
    if (request->all && request->institution)
        return cli_usage (cli, "--all and --institution exclude each other");
    if (request->all && request->mail && (count > 0 || request->dir))
        return cli_usage (cli, "--all --mail sends the statements of all "
                               "teams: give no team and no folder");
    if (request->all && (count > 0 || (request->output.file && !request->mail)))
        return cli_usage (cli, "--all writes the statements of all teams: give "
                               "no team and no --output");
    if (request->all && !request->mail && (!request->dir || !*request->dir))
        return cli_usage (cli, "--all needs the name of a folder");
    if (request->institution && request->mail)
        return cli_usage (cli, "--mail sends statements of teams, not of an "
                               "institution");
    if (request->institution && (count > 0 || request->jobs))
        return cli_usage (cli, "--institution is the sum of its teams: give no "
                               "team and no --jobs");
    if (!request->all && !request->institution && count != 1)
        return cli_usage (cli, "give the name of one team, or '%s'",
                          key_info (KEY_TEAM)->absent);
    request->team = count == 1 ? *operand : NULL;
    return mail_options_check (cli, &request->send, request->mail);
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    rc = check (cli, &request, argv + optind, argc - optind);
    if (rc == CLI_OK)
        rc = request.mail ? statement_mail (cli, &request.send, &request.output,
                                            request.options.month, request.team,
                                            request.jobs)
             : request.all ? write_all (cli, &request)
                           : print_statement (cli, &request);
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    {0, "month", "YYYY-MM",
     "a calendar month, or last (default: last, the last one that is\n"
     "complete)",
     CLI_AT (struct request, options.month)},
    {0, "all", "[=DIR]",
     "those of all teams, into this folder: TEAM.html, TEAM.csv and\n"
     "TEAM.json, or the one format that is given; in a folder for each\n"
     "institution, with a page of it, where teams have one",
     .take = take_all},
    {0, "institution", "NAME",
     "what the teams of an institution pay, and their sum;\n'(none)': teams "
     "without an institution",
     CLI_AT (struct request, institution)},
    {0, "jobs", NULL, "with the jobs that each line of the charges is made of",
     CLI_AT (struct request, jobs)},
    {0, "mail", NULL,
     "send the statement of a closed month to the addresses of the\n"
     "team, once; with --all those of all teams",
     CLI_AT (struct request, mail)},
    CLI_GROUP (mail_options, struct request, send),
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_statement = {
    .name = "statement",
    .run = run,
    .synopsis = "TEAM|--institution NAME|--all DIR|--all --mail [OPTION]...",
    .summary = "one team's page of a month",
    .help
    = "The team's GPU time, its price, the amount due, and the difference to "
      "last month:\ncharges, idle time, credits, corrections, taxes, budgets; "
      "projects, users, accounts.\nEach line names the command that shows its "
      "parts. '(none)' is the statement of\neverything without a team.",
    .options = options,
    .example = "gpuledger statement vision --month 2026-10 --html --output "
               "vision.html\n"
               "gpuledger statement --institution 'University of Oslo'\n"
               "gpuledger statement --all statements --month 2026-10\n"
               "gpuledger statement --all --mail --month 2026-10 --dry-run",
};
