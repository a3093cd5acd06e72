/* gpuledger balance: what rules of settlement have for teams, and what is left. */
#include <getopt.h>
#include <string.h>

#include "base/memory.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "ledger/settlement.h"
#include "mail/balance_mail.h"
#include "mail/once.h"
#include "month/month.h"
#include "statement/balances.h"

struct request {
    query_options_t options;
    output_t output;
    const char *team; /* NULL: all */
    bool mail;
    bool dry_run;
    bool once; /* alerts that were sent are not sent again */
};

/* Amounts come behind the names, as a narrow screen shows the first columns. */
enum { AT_TEAM, AT_RULE };

static const column_info_t names[] = {
    {"team", "Team", COLUMN_TEXT, true, false,
     "Empty: one balance for several teams."},
    {"rule", "Rule", COLUMN_TEXT, true, false,
     "The name of the rule in the configuration."},
};
static const column_info_t user
    = {"user", "User", COLUMN_TEXT,
       true,   false,  "Of a rule for each user: whose balance it is."};

struct columns {
    size_t user; /* 0: no rule is for each user */
    size_t amounts;
    size_t unit;
    size_t until;
    size_t kind;
    size_t note;
};

static size_t add_column (report_t *report, const char *name, const char *title,
                          column_type_t type, const char *help)
{
    size_t at = report_column (report, name, title, type, false);

    report_column_help (report, at, help);
    return at;
}

static struct columns add_columns (report_t *report, const site_t *site)
{
    struct columns at = {0};

    report_columns (report, names, GL_ARRAY_SIZE (names));
    if (balances_by_user (site)) {
        report_columns (report, &user, 1);
        at.user = GL_ARRAY_SIZE (names);
    }
    at.amounts = balances_columns (report);
    at.unit = add_column (report, "unit", "Unit", COLUMN_TEXT,
                          "Unit of the amounts: the currency, or GPU hours.");
    at.until = add_column (
        report, "until", "Until", COLUMN_DATE,
        "The last month in which it can be used. Empty: no such month.");
    at.kind = add_column (report, "kind", "Kind", COLUMN_TEXT,
                          "What the rule does.");
    at.note = add_column (
        report, "note", "Note", COLUMN_TEXT,
        "low balance: the balance is below the rule's low_balance.");
    return at;
}

static void put_balance (report_t *report, const struct columns *at,
                         const site_t *site, const bill_balance_t *b,
                         int64_t end)
{
    const site_settlement_t *rule = balances_rule (site, b->rule);
    GL_AUTOFREE char *until = balances_until (b, rule);

    report_row (report);
    report_put_text (report, AT_TEAM, b->team);
    report_put_text (report, AT_RULE, b->rule);
    if (at->user)
        report_put_text (report, at->user, b->user);
    balances_put (report, at->amounts, site, b);
    report_put_text (report, at->unit, balances_unit (site, b));
    report_put_text (report, at->until, until);
    report_put_text (
        report, at->kind,
        settle_kind_title (settle_kind_word ((unsigned)rule->rule)));
    if (balances_low (site, b, rule, end))
        report_put_text (report, at->note, "low balance");
}

static bool is_asked (const struct request *r, const month_t *m,
                      const site_t *site, const bill_balance_t *b,
                      const text_list_t *users)
{
    return balances_are_of (site, b, m->name,
                            r->team   ? r->team
                            : b->team ? b->team
                                      : "",
                            r->team ? users : NULL)
           || (!r->team && !b->team && balances_rule (site, b->rule));
}

/* --- mail of low balances -------------------------------------------------- */

/* Of an alert, instead of a period: a balance goes on. */
#define BALANCE_PERIOD "balance"
#define BALANCE_LOW "low"

/* Each crossing once: a balance that is not low any more may be so again. */
static bool is_news (once_t *once, const site_t *site,
                     const site_settlement_t *rule, period_t month, bool low)
{
    text_list_t to = {.count = 0};
    bool news;

    if (!low) {
        once_forget (once, BALANCE_PERIOD, rule->name, BALANCE_LOW);
        return false;
    }
    balance_mail_addresses (site, rule->name, month, &to);
    news = once_is_new (once, BALANCE_PERIOD, rule->name, BALANCE_LOW, &to);
    texts_clear (&to);
    return news;
}

static void add_mails (const struct request *r, const month_t *m,
                       const site_t *site, int64_t as_of, once_t *once,
                       buffer_t *out)
{
    size_t count;
    const bill_balance_t *list = bill_balances (m->bill, &count);

    for (size_t i = 0; i < count; i++) {
        const bill_balance_t *b = &list[i];
        const site_settlement_t *rule = balances_rule (site, b->rule);
        bool low;
        if (!rule || mpq_sgn (rule->low_balance) == 0
            || !is_asked (r, m, site, b, NULL))
            continue;
        low = balances_low (site, b, rule, as_of);
        if (once ? is_news (once, site, rule, m->period, low) : low)
            balance_mail (site, b, rule, m->period, as_of, out);
    }
}

/* What was sent is recorded only after it was printed. */
static int send_mails (cli_t *cli, struct request *r, month_t *m, int64_t as_of)
{
    gl_error_t error;
    const site_t *site = month_site (m, &error);
    BUFFER_AUTO text = BUFFER_INIT;
    once_t *once;
    int rc;

    if (!site)
        return cli_fail (cli, &error);
    once = r->once ? once_open (cli, "balance") : NULL;
    if (r->once && !once)
        return CLI_FAILED;
    r->team = month_team (m, site, cli->site, r->team);
    add_mails (r, m, site, as_of < m->period.end ? as_of : m->period.end, once,
               &text);
    rc = output_bytes (cli, &r->output, buffer_text (&text), text.length);
    if (rc == CLI_OK && once && !r->dry_run)
        rc = once_commit (once);
    once_free (once);
    return rc == CLI_OK && text.length > 0 ? CLI_LOOK : rc;
}

/* --- the table -------------------------------------------------------------- */

static int show (cli_t *cli, struct request *r, month_t *m)
{
    GL_AUTOFREE char *title = xasprintf ("Balances, %s", m->name);
    report_t *report = report_new ("balance", title);
    gl_error_t error;
    const site_t *site = month_site (m, &error);
    const bill_balance_t *list;
    struct columns columns;
    text_list_t users = {NULL, 0};
    size_t count;
    int rc;

    if (!site) {
        report_free (report);
        return cli_fail (cli, &error);
    }
    list = bill_balances (m->bill, &count);
    report_parameter (report, "month", m->name);
    report_parameter (report, "state",
                      month_is_provisional (m) ? "not closed"
                                               : month_state_word (m->state));
    r->team = month_team (m, site, cli->site, r->team);
    columns = add_columns (report, site);
    if (r->team && balances_by_user (site))
        balances_users (m->bill, m->name, r->team, &users);
    for (size_t i = 0; i < count; i++)
        if (is_asked (r, m, site, &list[i], &users))
            put_balance (report, &columns, site, &list[i], m->period.end);
    if (site->settlement_count == 0)
        report_note (report, NOTE_INFORMATION,
                     "The configuration has no rules of settlement.");
    rc = output_report (cli, &r->output, report);
    texts_clear (&users);
    report_free (report);
    return rc;
}

static int print_balances (cli_t *cli, struct request *r)
{
    unsigned flags = r->once && !r->dry_run ? 0 : STORE_READ_ONLY;
    store_t *store = cli_site (cli) ? cli_store (cli, flags) : NULL;
    report_query_t query;
    gl_error_t error;
    month_t *m;
    char name[MONTH_SIZE];
    int rc;

    if (!store)
        return CLI_FAILED;
    if (r->team
        && (rc = query_team_billed (cli, store, r->team, &r->team)) != CLI_OK)
        return rc;
    r->options.of_bills = true;
    rc = query_options_resolve (cli, &r->options, cli->site, store, "team",
                                &query);
    if (rc == CLI_OK && r->mail && !r->options.month)
        query.period = zone_unit (cli->site->zone, CALENDAR_MONTH,
                                  report_as_of (&query) - 1);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &r->options, &query, "a balance");
    if (rc != CLI_OK)
        return rc;
    periods_month_of (cli->site, query.period.start, name);
    if (month_read (store, cli->site, name, NULL, &m, &error) < 0)
        return cli_fail (cli, &error);
    rc = r->mail ? send_mails (cli, r, m, report_as_of (&query))
                 : show (cli, r, m);
    month_free (m);
    return rc;
}

static int check (cli_t *cli, const struct request *r)
{
    if (r->mail && output_formed (&r->output))
        return cli_usage (cli, "--mail is a form of output of its own");
    if (!r->mail && (r->once || r->dry_run))
        return cli_usage (cli, "%s needs --mail",
                          r->once ? "--once" : "--dry-run");
    return CLI_OK;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if (argc - optind > 1)
        rc = cli_usage (cli, "unexpected argument '%s': give one team, or none",
                        argv[optind + 1]);
    else {
        request.team = optind < argc ? argv[optind] : NULL;
        rc = check (cli, &request);
        if (rc == CLI_OK)
            rc = print_balances (cli, &request);
    }
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    {0, "month", "YYYY-MM",
     "a calendar month, or last (default: last, the last one that is\n"
     "complete)",
     CLI_AT (struct request, options.month)},
    {0, "mail", NULL,
     "instead of the table: a mail for each balance below its\nlow_balance, in "
     "mbox form; of the current month, without --month",
     CLI_AT (struct request, mail)},
    {0, "once", NULL,
     "send a mail once until the balance is no longer low: the store\n"
     "records it",
     CLI_AT (struct request, once)},
    {0, "dry-run", NULL, "print the mails, and record nothing",
     CLI_AT (struct request, dry_run)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_balance = {
    .name = "balance",
    .run = run,
    .synopsis = "[TEAM] [OPTION]...",
    .summary = "what is left of grants, prepaid money and caps",
    .help = "Shows, for each rule of settlement with an amount, what a team "
            "had at the beginning of the month, what was added, used and "
            "expired, and what is left. With --mail the exit code is 3 if "
            "there is a mail to send.",
    .options = options,
    .example = "gpuledger balance vision --month 2026-10",
};
