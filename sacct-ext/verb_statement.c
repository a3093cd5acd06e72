/* gpuledger statement: one team's page of a month. */
#include <getopt.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "acct/site.h"
#include "base/memory.h"
#include "bills.h"
#include "budgets.h"
#include "closed_site.h"
#include "facts.h"
#include "output.h"
#include "query_options.h"
#include "report/bill_idle.h"
#include "report/statement.h"
#include "rollups.h"
#include "verb.h"

struct request {
    query_options_t options;
    output_t output;
    const char *team; /* as it was written: "(none)" is no team */
};

/* What the page is made of. */
struct making {
    cli_t *cli;
    report_query_t query;
    statement_t s;
    usage_t *usage[STATEMENT_CELLS];
    usage_query_t usage_query[STATEMENT_CELLS];
    usage_t *whole;
    usage_query_t whole_query;
    statement_day_t *days;
    size_t day_count;
    char id[80];
    report_cluster_t *clusters; /* of a closed month */
    size_t cluster_count;
};

/* --- jobs -------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < STATEMENT_CELLS; i++)
        usage_add (m->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
    usage_add (m->whole, fact->segment, fact->suspensions,
               fact->suspension_count, fact->project);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < STATEMENT_CELLS; i++)
        usage_add_rollup (m->usage[i], rollup, ROLLUP_COUNTED);
    usage_add_rollup (m->whole, rollup, ROLLUP_COUNTED);
    return 0;
}

static usage_query_t usage_query_of (const report_query_t *query)
{
    return (usage_query_t){.site = query->site,
                           .period = query->period,
                           .filters = query->filters,
                           .filter_count = query->filter_count,
                           .accounts = query->accounts};
}

static int begin_usage (struct making *m, gl_error_t *error)
{
    char *label;

    m->whole_query = usage_query_of (&m->query);
    m->whole = usage_new (&m->whole_query);
    for (size_t i = 0; i < STATEMENT_CELLS; i++) {
        m->usage_query[i] = usage_query_of (&m->query);
        if (report_keys_parse (statement_keys ((statement_by_t)i),
                               &m->usage_query[i].by, &label, error)
            < 0)
            return -1;
        m->usage[i] = usage_new (&m->usage_query[i]);
    }
    return 0;
}

static int count_jobs (struct making *m, gl_error_t *error)
{
    const rollups_query_t days = {.query = &m->query,
                                  .period = m->query.period};
    store_query_t facts = {.start = m->query.period.start,
                           .end = m->query.period.end,
                           .gpu_only = true};
    const usage_cell_t *whole;
    size_t count;

    if (begin_usage (m, error) < 0
        || (rollups_answer (&days)
                ? rollups_each (m->cli->store, &days, take_rollup, m, error)
                : facts_each (m->cli->store, m->cli->site, &facts, take_fact,
                              m, error))
               < 0)
        return -1;
    for (size_t i = 0; i < STATEMENT_CELLS; i++)
        m->s.cells[i].cell = usage_cells (m->usage[i], &m->s.cells[i].count);
    whole = usage_cells (m->whole, &count);
    m->s.jobs = count ? whole->jobs : 0;
    return 0;
}

/* --- days -------------------------------------------------------------- */

/* By day and team. */
static void take_line (const billing_line_t *line, void *arg)
{
    struct making *m = arg;
    const char *team = line->keys[1];
    civil_t civil;
    int64_t start;

    if (!line->in_period || line->line->kind == CHARGE_CREDIT || !line->keys[0]
        || (team && m->s.team ? strcmp (team, m->s.team) != 0
                              : team != m->s.team)
        || calendar_parse_date (line->keys[0], strlen (line->keys[0]), &civil)
               < 0)
        return;
    start = zone_instant (m->query.site->zone, &civil);
    for (size_t i = m->day_count; i-- > 0;) {
        if (m->days[i].start != start)
            continue;
        mpz_add (m->days[i].units, m->days[i].units, line->line->charge_units);
        return;
    }
}

static int take_billing (const billing_t *billing, void *arg,
                         gl_error_t *error)
{
    (void)error;
    billing_each (billing, take_line, arg);
    return 0;
}

/* All days of the month up to as-of, so that a day without charges is seen. */
static int sum_days (struct making *m, gl_error_t *error)
{
    period_t known = period_clip (
        m->query.period, (period_t){0, report_as_of (&m->query)});

    for (int64_t at = known.start; at < known.end;) {
        m->days = xreallocarray (m->days, m->day_count + 1, sizeof (*m->days));
        m->days[m->day_count].start = at;
        mpz_init (m->days[m->day_count++].units);
        at = zone_unit (m->query.site->zone, CALENDAR_DAY, at).end;
    }
    m->s.days = m->days;
    m->s.day_count = m->day_count;
    return m->day_count == 0
               ? 0
               : bills_billing (m->cli->store, m->query.site, "day,team",
                              m->query.filters, m->query.period, take_billing,
                              m, error);
}

/* --- the bills --------------------------------------------------------- */

static int bill_of (struct making *m, int64_t instant, bills_month_t **ret,
                    gl_error_t *error)
{
    char month[ZONE_STAMP_SIZE];

    zone_unit_name (m->query.site->zone, CALENDAR_MONTH, instant, month);
    return bills_of_month (m->cli->store, m->query.site, month, ret, error);
}

/* "closed 2026-11-05, version 1", or "not closed". */
static char *state_of (const struct making *m, const bills_month_t *month)
{
    char day[ZONE_STAMP_SIZE];

    if (month->version == 0)
        return xstrdup ("not closed");
    return xasprintf ("%s %s, version %u", bills_state_word (month->state),
                      zone_unit_name (m->query.site->zone, CALENDAR_DAY,
                                      month->closed, day),
                      month->version);
}

/* Days are made of today's facts: on a closed page only while they add up to what
 * was closed. */
static void keep_days (struct making *m)
{
    size_t count;
    const bill_row_t *rows = bill_rows (m->s.bill, &count);
    mpz_t left;

    mpz_init (left);
    for (size_t i = 0; i < count; i++)
        if ((rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_IDLE)
            && bill_row_of (&rows[i], m->s.team))
            mpz_add (left, left, rows[i].charge_units);
    for (size_t i = 0; i < m->day_count; i++)
        mpz_sub (left, left, m->days[i].units);
    if (m->s.closed && mpz_sgn (left))
        m->s.day_count = 0;
    mpz_clear (left);
}

/* How many of the team's rows are disputed. */
static size_t disputed_of (const bills_month_t *month, const char *team)
{
    size_t count, disputed = 0;
    const bill_row_t *rows = bill_rows (month->bill, &count);

    for (size_t i = 0; i < count; i++)
        disputed += month->disputed[i] && bill_row_of (&rows[i], team);
    return disputed;
}

/* TEAM-MONTH- and the begin of the hash of its rows: another content has another
 * name. */
static int name_statement (struct making *m, gl_error_t *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    BUFFER_AUTO text = BUFFER_INIT;
    int n = snprintf (m->id, sizeof (m->id), "%s-", m->s.month);

    statement_text (m->s.bill, m->s.team, &text);
    if (EVP_Digest (buffer_text (&text), text.length, digest, NULL,
                    EVP_sha256 (), NULL)
        != 1)
        return gl_error (error, "libcrypto cannot make a SHA-256");
    for (int i = 0; i < 8; i++)
        n += snprintf (m->id + n, sizeof (m->id) - (size_t)n, "%02x",
                       digest[i]);
    m->s.id = m->id;
    return 0;
}

/* --- the page ---------------------------------------------------------- */

static void fill (struct making *m, const bills_month_t *now,
                  const bills_month_t *before)
{
    size_t rows;

    m->s.month = now->month;
    m->s.before_month = before->month;
    m->s.bill = now->bill;
    bill_rows (before->bill, &rows);
    m->s.before = rows > 0 ? before->bill : NULL;
    m->s.closed = now->version > 0;
    m->s.hash = m->s.closed ? now->hash : NULL;
    m->s.disputed = now->disputed;
    m->s.disputed_count = disputed_of (now, m->s.team);
}

/* A page of a closed month says how far the facts went when it was closed. */
static int date_page (struct making *m, gl_error_t *error)
{
    const closing_t *closing;
    periods_t *periods;

    if (!m->s.closed)
        return 0;
    if (periods_read (m->cli->store, &periods, error) < 0)
        return -1;
    closing = closed_last (periods, &m->query);
    if (closing) {
        m->query.cluster_count = m->cluster_count
            = closed_clusters (closing, &m->clusters);
        m->query.clusters = m->clusters;
    }
    periods_free (periods);
    return 0;
}

static int make (struct making *m, report_t **ret_report, gl_error_t *error)
{
    bills_month_t *now = NULL, *before = NULL;
    GL_AUTOFREE char *state = NULL;
    budget_t **budgets = NULL;
    size_t count = 0;
    int rc = -1;

    if (bill_of (m, m->query.period.start, &now, error) == 0
        && bill_of (m, m->query.period.start - 1, &before, error) == 0
        && count_jobs (m, error) == 0 && sum_days (m, error) == 0
        && budgets_of_team (m->cli->store, m->query.site, m->s.team,
                            &m->query, &budgets, &count, error)
               == 0) {
        fill (m, now, before);
        keep_days (m);
        m->s.state = state = state_of (m, now);
        m->s.budgets = budgets;
        m->s.budget_count = count;
        if (name_statement (m, error) == 0 && date_page (m, error) == 0
            && (*ret_report = statement_make (&m->s, error)))
            rc = 0;
    }
    budgets_free (budgets, count);
    bills_month_free (now);
    bills_month_free (before);
    return rc;
}

static void making_done (struct making *m)
{
    for (size_t i = 0; i < STATEMENT_CELLS; i++)
        usage_free (m->usage[i]);
    usage_free (m->whole);
    for (size_t i = 0; i < m->day_count; i++)
        mpz_clear (m->days[i].units);
    closed_clusters_free (m->clusters, m->cluster_count);
    free (m->days);
}

static int print_statement (cli_t *cli, struct request *request)
{
    struct making m = {.cli = cli};
    report_t *report = NULL;
    gl_error_t error;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if ((rc = query_team_named (cli, request->team, &m.s.team)) != CLI_OK)
        return rc;
    if (strchr (request->team, ','))
        return cli_failf (cli, "a team's name with a comma cannot be asked for");
    if (query_option (cli, &request->options, QUERY_TEAM, request->team) < 0)
        return cli->exit_code;
    rc = query_options_resolve (cli, &request->options, cli->site, cli->store,
                                "pool", &m.query);
    if (rc != CLI_OK)
        return rc;
    m.query.by.count = 0;
    m.s.query = &m.query;
    rc = make (&m, &report, &error) == 0
             ? output_report (cli, &request->output, report)
             : cli_fail (cli, &error);
    report_free (report);
    making_done (&m);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    const char *value;
    int option, rc = CLI_OK;

    while ((option = cli_option (cli, argc, argv, &value)) > 0) {
        int taken = query_option (cli, &request.options, option, value);
        if (taken == 0)
            taken = output_option (cli, &request.output, option, value);
        if (taken < 0) {
            option = -1;
            break;
        }
    }
    if (option < 0)
        rc = cli->exit_code;
    else if (optind != argc - 1)
        rc = cli_usage (cli, "give the name of one team, or '%s'",
                        key_info (KEY_TEAM)->absent);
    else {
        request.team = argv[optind];
        rc = print_statement (cli, &request);
    }
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    {QUERY_MONTH, "month", "YYYY-MM",
     "a calendar month (default: the last one that is complete)"},
    OUTPUT_OPTIONS,
    {0},
};

const verb_t verb_statement = {
    .name = "statement",
    .run = run,
    .synopsis = "TEAM [OPTION]...",
    .summary = "one team's page of a month",
    .help = "What the team held, at which price, what is due, and why it is not "
            "last month's sum:\ncharges, idle time, credits, corrections, "
            "taxes, budgets; projects, users, accounts.\nEach line names the "
            "command that shows what it is made of. '(none)' is what belongs\n"
            "to no team.",
    .options = options,
    .example = "gpuledger statement vision --month 2026-10 --html --output "
               "vision.html",
};
