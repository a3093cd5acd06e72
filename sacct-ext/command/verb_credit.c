/* gpuledger credit: something is given back, in the month that is open: to a team,
 * or of a job. */
#include <getopt.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timespec.h"
#include "cli/query_options.h"
#include "command/manual.h"
#include "command/verb.h"
#include "month/balance_due.h"
#include "month/job_charge.h"
#include "site/site.h"
#include "usage/billable.h"

struct request {
    const char *word;   /* of the team, as it was written; NULL: of a job */
    const char *amount; /* NULL: all that is due of the job, or its hours */
    const char *reason;
    const char *month; /* --for */
    const char *pool;
    const char *job;
    const char *submit;
    const char *hours;
    job_key_t key;
    int64_t seconds; /* of --hours; INT64_MAX: all */
    bool capped;     /* they are fewer than it says */
};

/* --- how much ----------------------------------------------------------- */

/* What is wanted: as it was written, or what the last hours of the job were charged;
 * 0: all that is due. */
static int find_wanted (const struct request *r, const site_t *site,
                        const job_charge_t *job, mpz_t units, gl_error_t *error)
{
    if (r->amount)
        return manual_amount (site, r->amount, false, units, error);
    if (!r->hours)
        return 0;
    job_charge_last (site, job, r->seconds, units);
    return mpz_sgn (units) > 0
               ? 0
               : gl_error (error, "nothing can be credited: these hours were "
                                  "not charged");
}

/* `job`: of which it is, or NULL. Fills the row of the decision. */
static int fill (store_t *store, const site_t *site, const periods_t *periods,
                 const struct request *r, const char *month,
                 const job_charge_t *job, decision_t *d, gl_error_t *error)
{
    balance_due_of_t of = {.month = month,
                           .set = job       ? BALANCE_DUE_PART
                                  : r->pool ? BALANCE_DUE_POOL
                                            : BALANCE_DUE_TEAM,
                           .row = d->row,
                           .part = "the job",
                           .reference = d->row->reference};
    mpz_t units, charged;
    int rc;

    mpz_inits (units, charged, NULL);
    of.charged = charged;
    if (job)
        job_charge_last (site, job, INT64_MAX, charged);
    rc = find_wanted (r, site, job, units, error);
    if (rc == 0)
        rc = balance_due_give (store, site, periods, &of, units, error);
    mpz_neg (units, units);
    if (rc == 0)
        manual_row (d->row, BILL_CREDIT, "manual", month, r->reason, units,
                    site->currency_digits);
    mpz_clears (units, charged, NULL);
    return rc;
}

static int check (store_t *store, const site_t *site, const periods_t *periods,
                  decision_t *d, void *arg, gl_error_t *error)
{
    const struct request *r = arg;
    const char *month = r->month ? r->month : d->month;
    job_charge_t job = {.count = 0};
    period_t period;
    int rc;

    if (periods_month (site, month, &period, error) < 0)
        return -1;
    if (strcmp (month, d->month) > 0)
        return gl_error (error,
                         "%s is later than %s, the open month: credit it when "
                         "it is open, or give --for %s or an earlier month",
                         month, d->month, d->month);
    if (!r->job)
        return fill (store, site, periods, r, month, NULL, d, error);
    rc = job_charge_read (store, site, periods, month, &r->key, &job, error);
    if (rc == 0) {
        posting_copy (d->row, &job.line);
        rc = fill (store, site, periods, r, month, &job, d, error);
    }
    job_charge_clear (&job);
    return rc;
}

/* --- the request -------------------------------------------------------- */

/* Hours, of which no more are given back than policy.credit_cap says. */
static int read_hours (struct request *r, const site_t *site, gl_error_t *error)
{
    mpq_t hours;
    int rc = 0;

    r->seconds = INT64_MAX;
    if (!r->hours)
        return 0;
    mpq_init (hours);
    if (exact_parse (r->hours, hours, error) < 0)
        rc = gl_error_prefix (error, "--hours");
    else {
        mpz_mul_ui (mpq_numref (hours), mpq_numref (hours), 3600);
        mpq_canonicalize (hours);
        if (mpq_sgn (hours) <= 0 || mpq_cmp_ui (hours, 1u << 31, 1) > 0
            || mpz_cmp_ui (mpq_denref (hours), 1) != 0)
            rc = gl_error (error,
                           "--hours: '%s' is not a time above 0 in whole "
                           "seconds",
                           r->hours);
        else
            r->seconds = billable_credit_seconds (
                &site->policy, mpz_get_si (mpq_numref (hours)));
        r->capped = rc == 0 && mpq_cmp_si (hours, r->seconds, 1) > 0;
    }
    mpq_clear (hours);
    return rc;
}

static int read_job (cli_t *cli, struct request *r)
{
    gl_error_t error;

    r->key.submit = SECONDS_UNKNOWN;
    r->key.pool = r->pool;
    if (number_u64_text (r->job, &r->key.id_job) < 0 || r->key.id_job == 0)
        return cli_usage (cli, "--job: '%s' is not a JobId", r->job);
    if (r->submit
        && timespec_parse (r->submit, cli->site->zone, 0, &r->key.submit,
                           &error)
               < 0)
        return cli_usage (cli, "--submit: %s", error.text);
    return read_hours (r, cli->site, &error) < 0
               ? cli_usage (cli, "%s", error.text)
               : CLI_OK;
}

/* The cap is the site's; who asked for more is to know that it was not given. */
static void tell_cap (cli_t *cli, const struct request *r)
{
    mpq_t hours;

    if (!r->capped)
        return;
    mpq_init (hours);
    exact_set_i64 (hours, r->seconds, 3600);
    GL_AUTOFREE char *cap = exact_shortest (hours);
    cli_warn (cli,
              "--hours %s: only the last %s hours are credited, because "
              "policy.credit_cap allows no more; give an amount for more",
              r->hours, cap);
    mpq_clear (hours);
}

static int credit (cli_t *cli, struct request *r)
{
    decision_t d = {.kind = CHAIN_CREDIT};
    const char *team = NULL;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_LEDGER))
        return CLI_FAILED;
    if ((rc = manual_month (cli, r->month)) != CLI_OK
        || (r->pool
            && (rc = query_pool_billed (cli, cli->store, r->pool)) != CLI_OK)
        || (rc = r->job ? read_job (cli, r)
                        : query_team_current (cli, cli->store, r->word, &team))
               != CLI_OK)
        return rc;
    d.reason = xstrdup (r->reason);
    d.row = xcalloc (1, sizeof (*d.row));
    posting_init (d.row);
    d.row->team = xstrdup (team);
    d.row->pool = xstrdup (r->pool);
    rc = decide (cli, &d, check, r, "credited");
    if (rc == CLI_OK)
        tell_cap (cli, r);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {NULL};
    int words;

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    words = argc - optind;
    if (!r.job && (r.submit || r.hours || r.key.cluster))
        return cli_usage (cli,
                          "--submit, --hours and --clusters are for --job");
    if (r.job ? words != 1 && (words != 2 || r.hours) : words != 3)
        return cli_usage (cli, r.job ? "give a reason, and before it an amount "
                                       "or --hours or neither"
                                     : "give a team, an amount and a reason");
    if (!*argv[argc - 1])
        return cli_usage (cli, "the reason is empty");
    r.word = r.job ? NULL : argv[optind];
    r.amount = words > 1 ? argv[argc - 2] : NULL;
    r.reason = argv[argc - 1];
    return credit (cli, &r);
}

static const cli_option_t options[] = {
    {0, "for", "YYYY-MM", "the month of the charge (default: the open one)",
     CLI_AT (struct request, month)},
    {0, "pool", "NAME", "credit only what is charged in this pool",
     CLI_AT (struct request, pool)},
    {0, "job", "JOBID", "credit only what this job is charged for the month",
     CLI_AT (struct request, job)},
    {0, "submit", "TIME",
     "with --job: the one submitted at that time, because JobIds recur",
     CLI_AT (struct request, submit)},
    {'M', "clusters", "NAME", "with --job: the job of this cluster",
     CLI_AT (struct request, key.cluster)},
    {0, "hours", "N",
     "with --job: the charge of its last N hours in the month, at\nmost "
     "policy.credit_cap",
     CLI_AT (struct request, hours)},
    {0},
};

const verb_t verb_credit = {
    .name = "credit",
    .run = run,
    .synopsis = "[OPTION]... {TEAM AMOUNT | --job JOBID [AMOUNT]} REASON",
    .summary = "credit a team or a job in the open month",
    .help = "Adds a credit and leaves the charge as it is. A credit never "
            "exceeds the charge of the team for that month, of the team in "
            "the pool, of the job's line or of the job, each with earlier "
            "corrections and credits. A job is credited its remaining charge, "
            "AMOUNT, or the charge of its last hours.",
    .options = options,
    .example = "gpuledger credit --for 2026-10 --job 4711 'fabric failed'",
};
