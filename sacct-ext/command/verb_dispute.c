/* gpuledger dispute: a row of a closed month is disputed, and decided. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/output.h"
#include "command/manual.h"
#include "command/verb.h"
#include "month/balance_due.h"
#include "site/site.h"

struct request {
    const char *word;
    const char *on; /* a row, or the number of a dispute */
    const char *reason;
    const char *amount;
    output_t output;
};

/* --- the row ----------------------------------------------------------- */

/* The disputed row, and its month. */
static int find_row (store_t *store, const site_t *site, const char *reference,
                     month_t **ret_month, size_t *ret_row, gl_error_t *error)
{
    char month[MONTH_SIZE];
    month_t *m;
    size_t row, count;

    if (periods_row_parse (reference, month, &row, error) < 0
        || month_read (store, site, month, NULL, &m, error) < 0)
        return -1;
    postings (m->bill, &count);
    if (m->state == MONTH_CLOSED && row <= count) {
        *ret_month = m;
        *ret_row = row - 1;
        return 0;
    }
    if (m->state != MONTH_CLOSED)
        gl_error (error,
                  "%s is not closed: its bill can still change, so "
                  "there is nothing to dispute",
                  month);
    else
        gl_error (error, "%s has %zu rows", month, count);
    month_free (m);
    return -1;
}

static const decision_t *find_dispute (const periods_t *periods,
                                       const char *number, gl_error_t *error)
{
    for (size_t i = 0; i < periods->decision_count; i++) {
        const decision_t *d = &periods->decisions[i];
        char text[24];
        snprintf (text, sizeof (text), "%" PRIu64, d->number);
        if (d->kind == CHAIN_DISPUTE && !strcmp (text, number))
            return d;
    }
    gl_error (error,
              "there is no dispute %.40s; gpuledger dispute list names "
              "them",
              number);
    return NULL;
}

/* --- raising ----------------------------------------------------------- */

/* In this closing of the month. */
static bool was_upheld (const periods_t *periods, const month_t *m,
                        const char *reference)
{
    const closing_t *closing = periods_closing (periods, m->name);

    for (size_t i = 0; i < periods->decision_count; i++) {
        const decision_t *d = &periods->decisions[i];
        if (d->kind == CHAIN_DISPUTE && d->number > closing->number
            && d->reference && !strcmp (d->reference, reference)
            && periods_dispute (periods, d, NULL) == DISPUTE_UPHELD)
            return true;
    }
    return false;
}

static int check_raise (store_t *store, const site_t *site,
                        const periods_t *periods, decision_t *d, void *arg,
                        gl_error_t *error)
{
    month_t *m;
    const posting_t *rows;
    size_t row, count;
    int rc = 0;

    (void)arg;
    if (find_row (store, site, d->reference, &m, &row, error) < 0)
        return -1;
    rows = postings (m->bill, &count);
    /* 2026-10/007 is the row that 2026-10/7 is */
    free (d->reference);
    d->reference = xasprintf ("%s/%zu", m->name, row + 1);
    if (was_upheld (periods, m, d->reference))
        rc = gl_error (error, "%s was already disputed and credited",
                       d->reference);
    else if (m->disputed[row])
        rc = gl_error (error, "%s is already disputed", d->reference);
    else if (rows[row].kind == BILL_REMAINDER
             || mpz_sgn (rows[row].charge_units) <= 0)
        rc = gl_error (error, "%s is a %s without an amount due", d->reference,
                       bill_kind_word (rows[row].kind));
    else if (d->when >= m->handover)
        rc = gl_error (
            error,
            "the review of %s is over: give a credit or a correction in the "
            "open month",
            m->name);
    month_free (m);
    return rc;
}

/* --- deciding ---------------------------------------------------------- */

static int check_open (const periods_t *periods, const decision_t *dispute,
                       gl_error_t *error)
{
    dispute_state_t state = periods_dispute (periods, dispute, NULL);

    if (state == DISPUTE_LAPSED)
        return gl_error (error,
                         "dispute %" PRIu64 " has lapsed: the month of %s was "
                         "reopened after it, and will have "
                         "new rows; raise it again when "
                         "the month is closed",
                         dispute->number, dispute->reference);
    return state == DISPUTE_RAISED
               ? 0
               : gl_error (error, "dispute %" PRIu64 " is already %s",
                           dispute->number, dispute_state_word (state));
}

static int check_reject (store_t *store, const site_t *site,
                         const periods_t *periods, decision_t *d, void *arg,
                         gl_error_t *error)
{
    const decision_t *dispute = find_dispute (periods, d->reference, error);

    (void)store;
    (void)site;
    (void)arg;
    return dispute ? check_open (periods, dispute, error) : -1;
}

/* The credit keeps the texts of the row; its numbers but the charge are 0. */
static void take_texts (posting_t *to, const posting_t *from,
                        const decision_t *dispute)
{
    posting_copy (to, from);
    posting_add (to, to, -1);
    free (to->reference);
    to->reference = xstrdup (dispute->reference);
    free (to->origin);
    to->origin = NULL;
}

/* At most what the row charged, which no other credit of this closing goes back to. */
static int fill_credit (store_t *store, const site_t *site,
                        const periods_t *periods, const struct request *r,
                        const posting_t *row, const decision_t *dispute,
                        decision_t *d, gl_error_t *error)
{
    const balance_due_of_t of = {.month = row->month,
                                 .set = BALANCE_DUE_PART,
                                 .row = row,
                                 .part = "the row",
                                 .charged = row->charge_units};
    mpz_t units;
    int rc = 0;

    mpz_init (units);
    take_texts (d->row, row, dispute);
    if (r->amount)
        rc = manual_amount (site, r->amount, false, units, error);
    if (rc == 0)
        rc = balance_due_give (store, site, periods, &of, units, error);
    mpz_neg (units, units);
    if (rc == 0)
        manual_row (d->row, BILL_CREDIT, "dispute", row->month, r->reason,
                    units, site->currency_digits);
    mpz_clear (units);
    return rc;
}

static int check_uphold (store_t *store, const site_t *site,
                         const periods_t *periods, decision_t *d, void *arg,
                         gl_error_t *error)
{
    const decision_t *dispute = find_dispute (periods, d->reference, error);
    const posting_t *row;
    month_t *m;
    size_t at, count;
    int rc;

    if (!dispute || check_open (periods, dispute, error) < 0
        || find_row (store, site, dispute->reference, &m, &at, error) < 0)
        return -1;
    row = &postings (m->bill, &count)[at];
    rc = fill_credit (store, site, periods, arg, row, dispute, d, error);
    month_free (m);
    return rc;
}

static int decide_dispute (cli_t *cli, struct request *r, chain_kind_t kind,
                           close_check_f check, const char *said)
{
    decision_t d = {.kind = kind,
                    .reason = xstrdup (r->reason),
                    .reference = xstrdup (r->on)};

    if (kind == CHAIN_UPHOLD) {
        d.row = xcalloc (1, sizeof (*d.row));
        posting_init (d.row);
    }
    return decide (cli, &d, check, r, said);
}

/* --- the list ---------------------------------------------------------- */

static void put_dispute (report_t *report, const site_t *site,
                         const periods_t *periods, const decision_t *d)
{
    const decision_t *decided;
    dispute_state_t state = periods_dispute (periods, d, &decided);
    char stamp[ZONE_STAMP_SIZE], number[24];
    size_t column = 0;

    snprintf (number, sizeof (number), "%" PRIu64, d->number);
    report_row (report);
    report_put_text (report, column++, number);
    report_put_text (report, column++, d->reference ? d->reference : "");
    report_put_text (report, column++, dispute_state_word (state));
    report_put_text (report, column++, zone_stamp (site->zone, d->when, stamp));
    report_put_text (report, column++, d->who ? d->who : "");
    report_put_text (report, column++, d->reason ? d->reason : "");
    if (!decided)
        return;
    report_put_text (report, column++, decided->who ? decided->who : "");
    report_put_text (report, column, decided->reason ? decided->reason : "");
}

static int list (cli_t *cli, struct request *r)
{
    static const column_info_t columns[] = {
        {"dispute", "Dispute", COLUMN_TEXT, true, false, ""},
        {"row", "Row", COLUMN_TEXT, false, false, ""},
        {"state", "State", COLUMN_TEXT, false, false, ""},
        {"raised", "Raised", COLUMN_DATE, false, false, ""},
        {"by", "By", COLUMN_TEXT, false, false, ""},
        {"reason", "Reason", COLUMN_TEXT, false, false, ""},
        {"decided_by", "Decided by", COLUMN_TEXT, false, false, ""},
        {"decision", "Decision", COLUMN_TEXT, false, false, ""},
    };
    report_t *report;
    periods_t *periods;
    gl_error_t error;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (periods_read (cli->store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    report = report_new ("dispute", "Disputes");
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < periods->decision_count; i++)
        if (periods->decisions[i].kind == CHAIN_DISPUTE)
            put_dispute (report, cli->site, periods, &periods->decisions[i]);
    rc = output_report (cli, &r->output, report);
    report_free (report);
    periods_free (periods);
    return rc;
}

/* --- the verb ---------------------------------------------------------- */

static const struct {
    const char *word;
    chain_kind_t kind;
    close_check_f check;
    const char *said;
} words[] = {
    {"raise", CHAIN_DISPUTE, check_raise, "disputed"},
    {"uphold", CHAIN_UPHOLD, check_uphold, "upheld and credited"},
    {"reject", CHAIN_REJECT, check_reject, "rejected"},
};

static int run_word (cli_t *cli, struct request *r)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        if (strcmp (words[i].word, r->word) != 0)
            continue;
        if (r->amount && words[i].kind != CHAIN_UPHOLD)
            return cli_usage (cli, "--amount is for uphold");
        return decide_dispute (cli, r, words[i].kind, words[i].check,
                               words[i].said);
    }
    return cli_usage (cli,
                      "unknown 'dispute %s'; there are: raise list "
                      "uphold reject",
                      r->word);
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind == argc - 1 && !strcmp (argv[optind], "list"))
        return list (cli, &r);
    if (optind != argc - 3 || !*argv[argc - 1])
        return cli_usage (cli, "give raise, uphold or reject, the row or "
                               "dispute, and the reason; or list");
    r.word = argv[optind];
    r.on = argv[optind + 1];
    r.reason = argv[optind + 2];
    return run_word (cli, &r);
}

static const cli_option_t options[] = {
    {0, "amount", "AMOUNT",
     "with uphold: credit at most this amount (default: the full\namount due "
     "of the row)",
     CLI_AT (struct request, amount)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_dispute = {
    .name = "dispute",
    .run = run,
    .synopsis = "raise ROW REASON | uphold N REASON | reject N REASON | list",
    .summary = "dispute a row of a closed month, and resolve disputes",
    .help
    = "A disputed row stays on its statement, and is not handed over until "
      "the dispute is resolved. If it is upheld, it is credited in the open "
      "month. A dispute lapses when its month is reopened. ROW is a month and "
      "the number of the row, 2026-10/17; N is the number of the dispute.",
    .options = options,
    .example = "gpuledger dispute list",
};
