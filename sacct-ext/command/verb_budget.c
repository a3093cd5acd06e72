/* gpuledger budget: what is spent, what will be, and who is to be told. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/timespec.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "ledger/bill.h"
#include "mail/budget_mail.h"
#include "mail/once.h"
#include "month/budget_limits.h"
#include "month/budgets.h"
#include "render/render.h"
#include "site/site.h"
#include "statement/budget_report.h"

struct request {
    output_t output;
    const char *name;
    const char *as_of;
    const char *window_word; /* --window */
    budget_window_t window;
    bool mail;
    bool once;          /* alerts that were sent are not sent again */
    const char *limits; /* file for the submit filter */
};

/* --- which alerts are new ------------------------------------------------ */

static bool is_news (once_t *once, const budget_t *b, const char *what)
{
    char *owner = b->budget->owner;
    const text_list_t to = {&owner, owner ? 1 : 0};

    return once_is_new (once, b->period_name, b->budget->name, what, &to);
}

/* Of a threshold those below it are told along with it. */
static void keep_news (once_t *once, const budget_t *b, budget_alert_t *alert)
{
    bool news = false;

    for (size_t i = 0; i < BUDGET_THRESHOLDS; i++) {
        char what[16];
        snprintf (what, sizeof (what), "%d", budget_thresholds[i]);
        if (budget_thresholds[i] <= alert->threshold)
            news = is_news (once, b, what);
    }
    if (!news)
        alert->threshold = 0;
    alert->over = alert->over && is_news (once, b, "forecast");
}

/* --- the report -------------------------------------------------------- */

static int write_limits (cli_t *cli, const struct request *request,
                         int64_t as_of, budget_t *const *budgets, size_t count)
{
    const output_t output = {.file = request->limits};
    BUFFER_AUTO text = BUFFER_INIT;
    size_t skipped;
    gl_error_t error;

    if (limits_text (cli->store, cli->site, as_of, budgets, count, &text,
                     &skipped, &error)
        < 0)
        return cli_fail (cli, &error);
    if (skipped > 0)
        cli_warn (cli,
                  "%zu limit%s of accounts or projects whose names are no "
                  "single word left out of %s",
                  skipped, skipped == 1 ? " is" : "s are", request->limits);
    return output_bytes (cli, &output, text.data, text.length);
}

static int print_mail (cli_t *cli, const struct request *request,
                       budget_t *const *budgets, const budget_alert_t *alerts,
                       size_t count)
{
    BUFFER_AUTO mail = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        if (budget_alerts (&alerts[i]))
            budget_mail (cli->site, budgets[i], &alerts[i], &mail);
    }
    return output_bytes (cli, &request->output, buffer_text (&mail),
                         mail.length);
}

static int print_report (cli_t *cli, const struct request *request,
                         const report_query_t *query, budget_t *const *budgets,
                         const budget_alert_t *alerts, size_t count,
                         uint64_t unlimited)
{
    report_t *report
        = budget_report_make (query, budgets, alerts, count, unlimited);
    int rc = output_report (cli, &request->output, report);

    report_free (report);
    return rc;
}

/* First what others read; what was sent is recorded only after it was printed. */
static int tell (cli_t *cli, const struct request *request,
                 const report_query_t *query, budget_t *const *budgets,
                 size_t count, uint64_t unlimited)
{
    budget_alert_t *alerts = xcalloc (count + 1, sizeof (*alerts));
    once_t *once = request->once ? once_open (cli, "budget") : NULL;
    bool news = false;
    int rc = request->once && !once ? CLI_FAILED : CLI_OK;

    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        alerts[i] = budget_alert (budgets[i]);
        if (once)
            keep_news (once, budgets[i], &alerts[i]);
        news = news || budget_alerts (&alerts[i]);
    }
    if (rc == CLI_OK && request->limits)
        rc = write_limits (cli, request, query->period.end, budgets, count);
    if (rc == CLI_OK)
        rc = request->mail ? print_mail (cli, request, budgets, alerts, count)
                           : print_report (cli, request, query, budgets, alerts,
                                           count, unlimited);
    if (rc == CLI_OK && once)
        rc = once_commit (once);
    once_free (once);
    free (alerts);
    return rc == CLI_OK && news ? CLI_LOOK : rc;
}

/* --- the verb ---------------------------------------------------------- */

static int no_such_budget (cli_t *cli, const char *name, int64_t as_of)
{
    BUFFER_AUTO names = BUFFER_INIT;
    nearest_t nearest = {.word = name ? name : ""};
    char stamp[ZONE_STAMP_SIZE];

    for (size_t i = 0; i < cli->site->budget_count; i++) {
        const char *known = cli->site->budgets[i].name;
        if (name && strcmp (known, name) == 0)
            return cli_failf (
                cli,
                "budget '%s' is not in force at %s: give --as-of, "
                "or look at its 'from' and 'to' in %s",
                name, zone_stamp (cli->site->zone, as_of, stamp), cli->config);
        nearest_offer (&nearest, known);
    }
    if (nearest.name)
        return cli_failf (cli,
                          "there is no budget '%s' in force; did you mean "
                          "'%s'?",
                          name, nearest.name);
    for (size_t i = 0; i < cli->site->budget_count; i++)
        buffer_printf (&names, "%s%s",
                       i ? ", " : "; there are: ", cli->site->budgets[i].name);
    return cli_failf (cli, "there is no budget%s%s%s in force%s",
                      name ? " '" : "", name ? name : "", name ? "'" : "",
                      buffer_text (&names));
}

static int take_as_of (cli_t *cli, const struct request *request, int64_t known,
                       int64_t *ret_as_of)
{
    gl_error_t error;

    *ret_as_of = known;
    if (!request->as_of)
        return CLI_OK;
    if (timespec_parse (request->as_of, cli->site->zone, known, ret_as_of,
                        &error)
        < 0)
        return cli_usage (cli, "%s", error.text);
    if (*ret_as_of > known) {
        char stamp[ZONE_STAMP_SIZE];
        return cli_failf (cli, "facts are known up to %s only",
                          zone_stamp (cli->site->zone, known, stamp));
    }
    return CLI_OK;
}

static int print_budgets (cli_t *cli, const struct request *request,
                          report_query_t *query)
{
    uint64_t unlimited = 0;
    budgets_query_t q = {.site = cli->site,
                         .name = request->name,
                         .window = request->window,
                         .ret_unlimited = &unlimited};
    budget_t **budgets = NULL;
    size_t count = 0;
    gl_error_t error;
    int rc = take_as_of (cli, request, report_as_of (query), &q.as_of);

    if (rc != CLI_OK)
        return rc;
    query->period = (period_t){
        zone_unit (cli->site->zone, CALENDAR_MONTH, q.as_of - 1).start,
        q.as_of};
    query->by.count = 0;
    if (budgets_compute (cli->store, &q, &budgets, &count, &error) < 0)
        return cli_fail (cli, &error);
    rc = count == 0 ? no_such_budget (cli, request->name, q.as_of)
                    : tell (cli, request, query, budgets, count, unlimited);
    budgets_free (budgets, count);
    return rc;
}

static int with_store (cli_t *cli, const struct request *request)
{
    query_options_t options = {.month = NULL};
    report_query_t query;
    int rc;

    if (!cli_site (cli)
        || !cli_store (cli, request->once ? 0 : STORE_READ_ONLY))
        return CLI_FAILED;
    rc = query_options_resolve (cli, &options, cli->site, cli->store, "pool",
                                &query);
    if (rc == CLI_OK)
        rc = print_budgets (cli, request, &query);
    query_options_done (&options);
    return rc;
}

static int choose_window (cli_t *cli, struct request *request)
{
    static const char *const words[] = {[BUDGET_LAST_7] = "7",
                                        [BUDGET_LAST_28] = "28",
                                        [BUDGET_SO_FAR] = "period"};

    request->window = BUDGET_LAST_28;
    for (size_t i = 0; i < GL_ARRAY_SIZE (words) && request->window_word; i++) {
        if (strcmp (words[i], request->window_word) == 0) {
            request->window = (budget_window_t)i;
            return CLI_OK;
        }
    }
    return request->window_word
               ? cli_usage (cli, "'%s' is no window: give 7, 28 or period",
                            request->window_word)
               : CLI_OK;
}

static int check (cli_t *cli, const struct request *request)
{
    if (request->mail && output_formed (&request->output))
        return cli_usage (cli, "--mail is a form of output of its own");
    if (request->once && !request->mail)
        return cli_usage (cli, "--once needs --mail");
    if (request->limits && !*request->limits)
        return cli_usage (cli, "--output-limits needs the name of a file");
    return CLI_OK;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (argc - optind > 1)
        return cli_usage (cli, "'%s' is too much", argv[optind + 1]);
    request.name = optind < argc ? argv[optind] : NULL;
    rc = choose_window (cli, &request);
    if (rc == CLI_OK)
        rc = check (cli, &request);
    return rc == CLI_OK ? with_store (cli, &request) : rc;
}

static const cli_option_t options[] = {
    {0, "as-of", "TIME",
     "budgets as of that time, with today's facts (default: the\nlatest time "
     "that the facts cover)",
     CLI_AT (struct request, as_of)},
    {0, "window", "7|28|period",
     "the daily rate is the mean of the last 7 or 28 days, or of\n"
     "the period so far (default: 28)",
     CLI_AT (struct request, window_word)},
    {0, "mail", NULL,
     "instead of the table: a mail for each budget with an alert, in\n"
     "mbox form",
     CLI_AT (struct request, mail)},
    {0, "once", NULL,
     "send the alert of each threshold once: the store records it",
     CLI_AT (struct request, once)},
    {0, "output-limits", "FILE",
     "also write the limits at which job_submit.lua warns or\nrefuses",
     CLI_AT (struct request, limits)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_budget = {
    .name = "budget",
    .run = run,
    .synopsis = "[NAME] [OPTION]...",
    .summary = "spending and forecast of budgets",
    .help = "Shows what is spent, what running jobs may still spend, two "
            "forecasts with their errors in earlier months, and the day on "
            "which the budget is used up. The exit code is 3 if 50, 75, 90 or "
            "100 percent are spent, or if the forecast is above 100.",
    .options = options,
    .example = "gpuledger budget --mail --once",
};
