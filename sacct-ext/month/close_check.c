/* What has to be in order before a month is closed, each with its figure. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "evidence/runaway.h"
#include "facts/as_of.h"
#include "facts/facts.h"
#include "facts/facts_shards.h"
#include "facts/rollups.h"
#include "facts/unowned.h"
#include "facts/unseen.h"
#include "ledger/cube.h"
#include "ledger/paid_by_others.h"
#include "ledger/settlement.h"
#include "month/balance_due.h"
#include "month/close.h"
#include "month/statements.h"
#include "report/usage_report.h"
#include "site/account.h"
#include "site/rate_card.h"
#include "slurmdbd/slurmdbd.h"
#include "sync/reconcile.h"
#include "waste/waste.h"

/* Takes the figure. */
static void found (checks_t *checks, check_state_t state, const char *name,
                   char *figure)
{
    checks->item = xreallocarray (checks->item, checks->count + 1,
                                  sizeof (*checks->item));
    checks->item[checks->count++]
        = (check_t){.state = state, .name = name, .figure = figure};
}

struct checking {
    store_t *store;
    const site_t *site;
    const char *month;
    period_t period;
    int64_t now;
    month_t *had; /* the month; NULL: it is read */
    periods_t *periods;
    store_cluster_t *clusters;
    size_t cluster_count;
    checks_t *checks;
    report_query_t query; /* the month */
    report_cluster_t *query_clusters;
    /* open segments of the month */
    uint64_t open;
    uint64_t runaways;
    int64_t quarantined; /* seconds */
};

/* --- order ------------------------------------------------------------- */

static int check_order (struct checking *c, gl_error_t *error)
{
    char open[MONTH_SIZE];
    const periods_t *periods = c->periods;
    int rc = periods_open_month (c->store, c->site, periods, open, error);

    if (rc == 0 && strcmp (open, c->month) == 0)
        found (c->checks, CHECK_OK, "order",
               xasprintf ("%s is the next month to close", open));
    else if (rc == 0 && !periods->closing_count && c->site->go_live.year == 0
             && strcmp (open, c->month) < 0)
        found (c->checks, CHECK_FINDING, "order",
               xasprintf ("months from %s on have facts and would never be "
                          "closed (set ledger.go_live)",
                          open));
    else if (rc == 0)
        found (c->checks, CHECK_ERROR, "order",
               open[0] == '\0' ? xstrdup ("the store has no facts")
               : strcmp (c->month, open) < 0
                   ? xasprintf ("%s is before %s, the first month that can "
                                "be closed (ledger.go_live)",
                                c->month, open)
                   : xasprintf ("%s must be closed first", open));
    return rc;
}

/* --- clusters ---------------------------------------------------------- */

static void check_over (struct checking *c)
{
    for (size_t i = 0; i < c->cluster_count; i++) {
        const store_cluster_t *cluster = &c->clusters[i];
        bool over = cluster->as_of >= c->period.end;
        char stamp[ZONE_STAMP_SIZE];
        zone_stamp (c->site->zone, cluster->as_of, stamp);
        found (c->checks, over ? CHECK_OK : CHECK_FINDING, "over",
               xasprintf ("%s: facts up to %s, %s", cluster->name, stamp,
                          over ? "after the month's end"
                               : "before the month ends"));
    }
    if (c->cluster_count == 0)
        found (c->checks, CHECK_ERROR, "over",
               xstrdup ("the store has no facts"));
}

static void check_fresh (struct checking *c)
{
    for (size_t i = 0; i < c->cluster_count; i++) {
        const store_cluster_t *cluster = &c->clusters[i];
        int64_t age = c->now - cluster->as_of;
        char stamp[ZONE_STAMP_SIZE];
        if (age < -AS_OF_SKEW) {
            found (c->checks, CHECK_FINDING, "fresh",
                   xasprintf ("%s: facts as of %s, which is in the future; "
                              "gpuledger sync --cluster %s --full --force "
                              "sets them back",
                              cluster->name,
                              zone_stamp (c->site->zone, cluster->as_of, stamp),
                              cluster->name));
            continue;
        }
        found (c->checks,
               age <= c->site->close.fresh ? CHECK_OK : CHECK_FINDING, "fresh",
               xasprintf ("%s: facts are %" PRId64 ".%" PRId64
                          " hours old; at most %" PRId64 " are allowed",
                          cluster->name, age > 0 ? age / 3600 : 0,
                          age > 0 ? age % 3600 / 360 : 0,
                          c->site->close.fresh / 3600));
    }
}

static const char *database_of (const site_t *site, const char *cluster)
{
    for (size_t i = 0; i < site->cluster_count; i++)
        if (!strcmp (site->clusters[i].name, cluster))
            return site->clusters[i].slurmdb;
    return NULL;
}

/* A job of which a row has that cause; 0: none. */
static uint64_t job_with (reconcile_t *reconcile, reconcile_cause_t cause)
{
    uint64_t all;
    size_t count;
    const reconcile_row_t *rows = reconcile_rows (reconcile, &count, &all);

    for (size_t i = 0; i < count; i++)
        if (rows[i].cause == cause && rows[i].id_job)
            return rows[i].id_job;
    return 0;
}

static void check_lost (struct checking *c, const store_cluster_t *cluster,
                        reconcile_t *reconcile)
{
    uint64_t lost
        = reconcile_summary (reconcile, SIDE_REVISIONS)->rows[CAUSE_GRES_LOST];

    found (c->checks, lost ? CHECK_FINDING : CHECK_OK, "gres",
           lost ? xasprintf ("%s: slurmdbd lost the GRES of %" PRIu64
                             " segments (job %" PRIu64
                             "); the earlier GRES are charged: see gpuledger "
                             "report reconcile --month %s",
                             cluster->name, lost,
                             job_with (reconcile, CAUSE_GRES_LOST), c->month)
                : xasprintf ("%s: no segment has lost its GRES in slurmdbd",
                             cluster->name));
}

static void reconcile_one (struct checking *c, const store_cluster_t *cluster)
{
    const char *url = database_of (c->site, cluster->name);
    const report_cluster_t one
        = {.name = cluster->name, .as_of = cluster->as_of};
    const report_query_t query = {.site = c->site,
                                  .period = c->period,
                                  .clusters = &one,
                                  .cluster_count = 1};
    reconcile_t *reconcile = reconcile_new (c->site->zone);
    slurmdbd_t *dbd = NULL;
    gl_error_t error = {""};
    bool compared = false;

    if (url && !(dbd = slurmdbd_open (url, &error)))
        found (c->checks, CHECK_FINDING, "reconcile",
               xasprintf ("%s: not compared: %s", cluster->name, error.text));
    else if (reconcile_cluster (c->store, &query, &one, dbd, reconcile, &error)
             < 0)
        found (c->checks, CHECK_FINDING, "reconcile",
               xasprintf ("%s: not compared: %s", cluster->name, error.text));
    else
        compared = true;
    if (compared && reconcile_unexplained (reconcile) > 0)
        found (c->checks, CHECK_FINDING, "reconcile",
               xasprintf ("%s: %" PRIu64 " differences without a cause: see "
                          "gpuledger report reconcile --month %s",
                          cluster->name, reconcile_unexplained (reconcile),
                          c->month));
    else if (compared)
        found (c->checks, dbd ? CHECK_OK : CHECK_UNKNOWN, "reconcile",
               xasprintf ("%s: no difference without a cause%s", cluster->name,
                          dbd ? ""
                              : "; compared with the nodes only, because "
                                "clusters[].slurmdb is not set"));
    if (compared)
        check_lost (c, cluster, reconcile);
    slurmdbd_close (dbd);
    reconcile_free (reconcile);
}

/* --- jobs -------------------------------------------------------------- */

static int take_open (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct checking *c = arg;
    const segment_t *s = fact->segment;

    (void)error;
    if (s->time_end != 0 || s->time_start == 0)
        return 0;
    c->open++;
    if (s->believed_end != 0 && s->believed_end < s->observed_at) {
        c->runaways++;
        c->quarantined += period_seconds (runaway_quarantined (s, c->period));
    }
    return 0;
}

static int check_open (struct checking *c, gl_error_t *error)
{
    const store_query_t query = {.start = c->period.start,
                                 .end = c->period.end,
                                 .gpu_only = true,
                                 .open_only = true};

    if (facts_each (c->store, c->site, &query, take_open, c, error) < 0)
        return -1;
    found (c->checks, CHECK_OK, "running",
           xasprintf ("jobs still running: %" PRIu64
                      "; their time up to the end "
                      "of the month is included",
                      c->open - c->runaways));
    found (c->checks, c->runaways ? CHECK_FINDING : CHECK_OK, "runaways",
           c->runaways ? xasprintf (
               "%" PRIu64 " jobs without an end that can no longer "
               "be running; %" PRId64 " hours of them are not "
               "counted (sacctmgr show runaway)",
               c->runaways, c->quarantined / 3600)
                       : xstrdup ("there are no runaway jobs"));
    return 0;
}

/* --- what was given back ----------------------------------------------- */

static void take_below (const balance_due_t *due, void *arg)
{
    struct checking *c = arg;
    const posting_t *row = due->row;
    GL_AUTOFREE char *amount
        = exact_units_text (due->units, c->site->currency_digits);

    found (c->checks, CHECK_FINDING, "credits",
           xasprintf ("'%s' in %s%s%s owes %s %s for %s: credits exceed the "
                      "charge (reduce them with gpuledger correct)",
                      row->team ? row->team : key_info (KEY_TEAM)->absent,
                      due->set == BALANCE_DUE_POOL ? "pool '" : "all pools",
                      due->set == BALANCE_DUE_POOL ? row->pool : "",
                      due->set == BALANCE_DUE_POOL ? "'" : "", amount,
                      c->site->currency, row->month));
}

/* A credit is held against the charge when it is given, and does not follow it.
 * It may have been meant, and whoever closes says so: what is frozen is right.
 */
static int check_credits (struct checking *c, const month_t *month,
                          gl_error_t *error)
{
    size_t before = c->checks->count;

    if (balance_due_each_below (c->store, c->site, c->periods, month,
                                take_below, c, error)
        < 0)
        return -1;
    if (c->checks->count == before)
        found (c->checks, CHECK_OK, "credits",
               xstrdup ("manual credits nowhere exceed charges"));
    return 0;
}

/* --- the bill ---------------------------------------------------------- */

static char *percent_of (mpq_srcptr part, mpq_srcptr whole)
{
    char *text = report_percent_text (part, whole);

    return text ? text : xstrdup ("100.00");
}

/* share <= limit; both of `whole`. */
static bool within (mpq_srcptr part, mpq_srcptr whole, mpq_srcptr limit)
{
    mpq_t most;
    bool yes;

    mpq_init (most);
    mpq_mul (most, whole, limit);
    yes = mpq_cmp (part, most) <= 0;
    mpq_clear (most);
    return yes;
}

/* Teams of which a sentence has the amounts. */
#define TEAMS_NAMED 3

/* ": vision 3816.04, language 12.00 and 2 more", the largest first. */
static void name_teams (const struct checking *c, cube_t *teams, buffer_t *out)
{
    cube_sort (teams, "-charge");
    for (size_t i = 0; i < cube_count (teams) && i < TEAMS_NAMED; i++) {
        const posting_t *row = cube_row (teams, i);
        GL_AUTOFREE char *amount
            = exact_units_text (row->charge_units, c->site->currency_digits);
        buffer_printf (out, "%s %s %s", i == 0 ? ":" : ",",
                       row->team ? row->team : key_info (KEY_TEAM)->absent,
                       amount);
    }
    if (cube_count (teams) > TEAMS_NAMED)
        buffer_printf (out, " and %zu more", cube_count (teams) - TEAMS_NAMED);
}

/* "; the limit is 10.00 % (close.untagged)"; "": it is within the limit. Yours to free. */
static char *limit_text (mpq_srcptr part, mpq_srcptr whole, mpq_srcptr limit,
                         const char *key)
{
    char *text;
    mpq_t one;

    if (within (part, whole, limit))
        return xstrdup ("");
    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    GL_AUTOFREE char *percent = percent_of (limit, one);
    text = xasprintf ("; the limit is %s %% (%s)", percent, key);
    mpq_clear (one);
    return text;
}

/* ", 3816.04 USD: vision 3816.04": charges without a project, by team, the largest first.
 * Yours to free. */
static char *untagged_teams (const struct checking *c, const bill_t *bill)
{
    int digits = c->site->currency_digits;
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *teams = cube_new (&bill_fields[BILL_POSTINGS], "team");
    BUFFER_AUTO out = BUFFER_INIT;
    posting_t all;

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_CHARGE && !posting_key (&rows[i], KEY_PROJECT))
            cube_add (teams, &rows[i]);
    posting_init (&all);
    cube_sum (teams, 0, cube_count (teams), &all);
    GL_AUTOFREE char *sum = exact_units_text (all.charge_units, digits);
    posting_clear (&all);
    buffer_printf (&out, ", %s %s", sum, c->site->currency);
    name_teams (c, teams, &out);
    cube_free (teams);
    return buffer_take (&out);
}

static void check_tags (struct checking *c, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpq_t part, whole;
    GL_AUTOFREE char *percent = NULL, *teams = NULL, *limit = NULL;

    mpq_inits (part, whole, NULL);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != BILL_CHARGE)
            continue;
        mpq_add (whole, whole, rows[i].gpu_seconds);
        if (!posting_key (&rows[i], KEY_PROJECT))
            mpq_add (part, part, rows[i].gpu_seconds);
    }
    percent = mpq_sgn (whole) ? percent_of (part, whole) : xstrdup ("0.00");
    teams = untagged_teams (c, bill);
    limit = limit_text (part, whole, c->site->close.untagged, "close.untagged");
    found (c->checks,
           within (part, whole, c->site->close.untagged) ? CHECK_OK
                                                         : CHECK_FINDING,
           "untagged",
           xasprintf ("%s %% of GPU time has no project%s%s", percent,
                      mpq_sgn (part) ? teams : "", limit));
    if (settlement_by_project (c->site, c->period))
        c->checks->item[c->checks->count - 1].remedy
            = "Users of these jobs run 'gpuledger tag JOBID PROJECT' before "
              "the month is closed, or an administrator does. What teams owe "
              "may change, by the rules of "
              "settlement for projects.";
    mpq_clears (part, whole, NULL);
}

/* The cost of capacity of an unknown state, as the pages of the month have it. */
static void unknown_capacity (const bill_t *bill, mpz_t ret_units)
{
    cube_t *waste = cube_new (&waste_rows, "what");
    const waste_t key = {.what = remainder_info (REMAINDER_UNKNOWN)->word};
    const waste_t *row;

    waste_take_capacity (waste, bill);
    row = cube_find (waste, &key);
    if (row)
        mpz_set (ret_units, row->units);
    cube_free (waste);
}

static void check_capacity (struct checking *c, const bill_t *bill)
{
    size_t count;
    const bill_pool_t *pools;
    GL_AUTOFREE char *percent = NULL, *amount = NULL, *limit = NULL;
    mpq_t part, whole;

    mpq_inits (part, whole, NULL);
    unknown_capacity (bill, mpq_numref (part));
    pools = bill_pools (bill, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp (pools[i].month, c->month))
            mpz_add (mpq_numref (whole), mpq_numref (whole),
                     pools[i].cost_units);
    percent = mpq_sgn (whole) ? percent_of (part, whole) : xstrdup ("0.00");
    amount = exact_units_text (mpq_numref (part), c->site->currency_digits);
    limit = limit_text (part, whole, c->site->close.unknown, "close.unknown");
    found (
        c->checks,
        within (part, whole, c->site->close.unknown) ? CHECK_OK : CHECK_FINDING,
        "capacity",
        mpq_sgn (part) == 0
            ? xstrdup ("the state of all capacity is known")
            : xasprintf ("%s %% of the cost, %s %s, is for GPUs without jobs "
                         "that may have been idle or down: gpuledger sync "
                         "reads that from slurmdbd%s%s",
                         percent, amount, c->site->currency,
                         c->site->policy.idle == IDLE_EXPLICIT
                             ? "; no charge depends on it"
                             : "",
                         limit));
    mpq_clears (part, whole, NULL);
}

static void check_costs (struct checking *c, const bill_t *bill)
{
    size_t count, without = 0;
    const bill_pool_t *pools = bill_pools (bill, &count);
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        if (pools[i].has_cost || mpq_sgn (pools[i].capacity) == 0)
            continue;
        without++;
        buffer_printf (&names, "%s%s%s", names.length ? ", " : "",
                       pools[i].pool, pools[i].has_rate ? " (has a rate)" : "");
    }
    found (c->checks, without || !count ? CHECK_FINDING : CHECK_OK, "costs",
           without  ? xasprintf ("no cost in the cost book for: %s",
                                 buffer_text (&names))
           : !count ? xstrdup ("no pool is configured: nothing has a cost")
           : count == 1
               ? xstrdup ("the pool has its costs of the month")
               : xasprintf ("each of %zu pools has its costs of the month",
                            count));
}

/* ": language 94.67": what charges at full cost include of what others have paid for. "": nothing
 * is known of it. Yours to free. */
static char *twice_text (const struct checking *c, const bill_t *bill)
{
    cube_t *teams = cube_new (&bill_fields[BILL_POSTINGS], "team");
    size_t left_out = paid_by_others_charged (bill, c->month, teams);
    BUFFER_AUTO names = BUFFER_INIT;
    char *text;
    posting_t all;

    posting_init (&all);
    cube_sum (teams, 0, cube_count (teams), &all);
    name_teams (c, teams, &names);
    GL_AUTOFREE char *sum
        = exact_units_text (all.charge_units, c->site->currency_digits);
    text = names.length ? xasprintf (
               "%s %s of it is in the charges of the month, before taxes%s%s",
               sum, c->site->currency, buffer_text (&names),
               left_out ? " (without pools that have a published rate)" : "")
                        : xstrdup ("");
    posting_clear (&all);
    cube_free (teams);
    return text;
}

/* What an award paid for is not to be paid again without a decision. */
static void check_book (struct checking *c, const bill_t *bill)
{
    bool unstated = c->site->policy.book == BOOK_UNSTATED;
    size_t count;
    const bill_pool_t *pools = bill_pools (bill, &count);
    BUFFER_AUTO names = BUFFER_INIT;
    mpz_t excluded, all;

    mpz_inits (excluded, all, NULL);
    for (size_t i = 0; i < count; i++) {
        mpz_sub (excluded, pools[i].full_units, pools[i].recoverable_units);
        if (strcmp (pools[i].month, c->month) || mpz_sgn (excluded) == 0)
            continue;
        mpz_add (all, all, excluded);
        GL_AUTOFREE char *amount
            = exact_units_text (excluded, c->site->currency_digits);
        buffer_printf (&names, "%s%s %s", names.length ? ", " : "",
                       pools[i].pool, amount);
    }
    GL_AUTOFREE char *amount = exact_units_text (all, c->site->currency_digits);
    GL_AUTOFREE char *who = paid_by_others_names (c->site, bill, c->month);
    bool excludes = c->site->policy.book == BOOK_RECOVERABLE;
    GL_AUTOFREE char *twice = excludes ? xstrdup ("") : twice_text (c, bill);
    bool decided = !unstated && *twice;
    if (names.length)
        found (c->checks,
               unstated  ? CHECK_FINDING
               : decided ? CHECK_WARNING
                         : CHECK_OK,
               "book",
               xasprintf (
                   "%s have paid for %s %s of the cost of the pools, "
                   "which is not recoverable (%s): %s%s%s",
                   who, amount, c->site->currency, buffer_text (&names), twice,
                   *twice ? "; " : "",
                   unstated ? "policy.book does not say whether charges "
                              "at full cost include it"
                   : excludes
                       ? "no charge at full cost includes it, as "
                         "policy.book says"
                       : "charges at full cost include their share of "
                         "it, as the configuration says (policy.book: full); "
                         "whether the payer allows it is not recorded"));
    if (names.length && decided)
        c->checks->item[c->checks->count - 1].remedy
            = "Ask research administration whether what others paid may be "
              "charged. If not, an administrator sets policy.book to "
              "recoverable: charges of the month fall by about this much, and "
              "closed months that were charged so are corrected, too.";
    mpz_clears (excluded, all, NULL);
}

/* A `to` that was meant to be the last day leaves a day at full cost. What ended
 * before the month and has no successor is meant so. */
static void check_rates (struct checking *c)
{
    size_t before = c->checks->count;
    rate_gap_t *gaps;
    size_t count = rate_card_gaps (c->site, c->period, &gaps);

    for (size_t i = 0; i < count; i++)
        if (!rate_gap_is_free (&gaps[i])
            && (gaps[i].next || gaps[i].ended >= c->period.start))
            found (c->checks, CHECK_FINDING, "rates",
                   rate_gap_text (c->site, &gaps[i]));
    if (c->checks->count == before)
        found (c->checks, CHECK_OK, "rates",
               xstrdup ("no published rate leaves a gap in the month"));
    free (gaps);
}

static void take_unowned (const char *sentence, void *arg)
{
    struct checking *c = arg;

    found (c->checks, CHECK_FINDING, "accounts", xstrdup (sentence));
}

/* What no team is billed for. A site without teams bills accounts. */
static void check_accounts (struct checking *c, const bill_t *bill)
{
    size_t count, before = c->checks->count;
    const posting_t *rows = postings (bill, &count);
    unowned_t *unowned = unowned_new (c->site);
    mpq_t none;

    mpq_init (none);
    for (size_t i = 0; i < count; i++) {
        const posting_t *row = &rows[i];
        bool held = row->kind == BILL_CHARGE;
        if (!row->team && strcmp (row->month, c->month) == 0
            && !posting_is_adjustment (row)
            && (held || row->kind == BILL_IDLE || row->kind == BILL_CREDIT))
            unowned_add (unowned, row->key[0], held ? row->gpu_seconds : none,
                         row->charge_units);
    }
    mpq_clear (none);
    if (c->site->team_count > 0)
        unowned_each (unowned, take_unowned, c);
    if (c->site->team_count > 0 && c->checks->count == before)
        found (c->checks, CHECK_OK, "accounts",
               xstrdup ("every account belongs to a team"));
    unowned_free (unowned);
}

/* Teams whose amounts have neither a cost center nor a cost object to be booked to. */
static cube_t *without_center (const struct checking *c, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *sums = cube_new (&bill_fields[BILL_POSTINGS], "team"),
           *teams = cube_new (&bill_fields[BILL_POSTINGS], "team");

    for (size_t i = 0; i < count; i++)
        if (rows[i].team && posting_is_due (&rows[i])
            && !posting_key_billed (&rows[i], c->site, c->month,
                                    KEY_COST_CENTER))
            cube_add (sums, &rows[i]);
    for (size_t i = 0; i < cube_count (sums); i++) {
        const posting_t *row = cube_row (sums, i);
        if (mpz_sgn (row->charge_units) != 0)
            cube_add (teams, row);
    }
    cube_free (sums);
    return teams;
}

/* A customer who gets an invoice has none, so that closing does not ask. A site may use no cost
 * centers at all. */
static void check_centers (struct checking *c, const bill_t *bill)
{
    BUFFER_AUTO names = BUFFER_INIT;
    cube_t *teams;
    size_t count;

    if (!GL_ANY (c->site->teams, c->site->team_count, it,
                 it->cost_center != NULL))
        return;
    teams = without_center (c, bill);
    count = cube_count (teams);
    name_teams (c, teams, &names);
    found (c->checks, count ? CHECK_WARNING : CHECK_OK, "centers",
           count ? xasprintf ("%zu team%s charged without a cost center, %s%s",
                              count, count == 1 ? " is" : "s are",
                              c->site->currency, buffer_text (&names))
                 : xstrdup ("every team that is charged has a cost center"));
    cube_free (teams);
}

static void sum_due (struct checking *c, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpz_t due;

    mpz_init (due);
    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i]))
            mpz_add (due, due, rows[i].charge_units);
    c->checks->due = exact_units_text (due, c->site->currency_digits);
    c->checks->currency = c->site->currency;
    mpz_clear (due);
}

static int check_bill (struct checking *c, gl_error_t *error)
{
    const month_how_t how = {.periods = c->periods};
    month_t *m = c->had;
    int rc;

    if (!m && month_read (c->store, c->site, c->month, &how, &m, error) < 0)
        return -1;
    sum_due (c, m->bill);
    check_tags (c, m->bill);
    check_capacity (c, m->bill);
    check_costs (c, m->bill);
    check_book (c, m->bill);
    check_rates (c);
    check_accounts (c, m->bill);
    check_centers (c, m->bill);
    rc = check_credits (c, m, error);
    if (rc == 0)
        rc = month_amounts (m, &c->query, &c->checks->amounts, error);
    if (!c->had)
        month_free (m);
    return rc;
}

/* --- evidence ---------------------------------------------------------- */

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    (void)error;
    usage_report_add_rollup (arg, rollup);
    return 0;
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    (void)error;
    usage_report_add (arg, fact->segment, fact->suspensions,
                      fact->suspension_count, fact->project, fact->evidence);
    return 0;
}

static int give_usage (struct checking *c, const report_query_t *query,
                       usage_report_t *usage, gl_error_t *error)
{
    const rollups_query_t days = {.query = query, .period = query->period};
    const store_query_t facts = {.start = query->period.start,
                                 .end = query->period.end,
                                 .gpu_only = true};

    return rollups_answer (&days)
               ? rollups_each (c->store, &days, take_rollup, usage, error)
               : facts_each (c->store, c->site, &facts, take_fact, usage,
                             error);
}

/* The share of GPU time that nodes recorded, as report usage prints it. */
static const char *coverage_of (const report_t *report)
{
    for (size_t i = 0; i < report->coverage_count; i++)
        if (!strcmp (report->coverage[i][0], "node_records_pct"))
            return report->coverage[i][1];
    return NULL;
}

static void judge_coverage (struct checking *c, const char *percent)
{
    gl_error_t error;
    mpq_t is, least;
    bool enough, unasked;

    mpq_inits (is, least, NULL);
    mpq_set_ui (least, 100, 1);
    mpq_mul (least, least, c->site->close.coverage);
    enough = !percent || exact_parse (percent, is, &error) < 0
             || mpq_cmp (is, least) >= 0;
    unasked = percent && mpq_sgn (least) == 0;
    found (c->checks,
           unasked  ? CHECK_UNKNOWN
           : enough ? CHECK_OK
                    : CHECK_FINDING,
           "coverage",
           percent ? xasprintf (
               "the agents of nodes recorded %s %% of GPU time%s", percent,
               unasked ? ": no minimum is set (close.coverage), "
                         "and charges do not depend on it"
                       : "")
                   : xstrdup ("there is no GPU time"));
    mpq_clears (is, least, NULL);
}

static void judge_unknown (struct checking *c, uint64_t jobs)
{
    found (c->checks, jobs ? CHECK_FINDING : CHECK_OK, "gpus",
           jobs ? xasprintf ("%" PRIu64
                             " GPU jobs without a GPU in accounting are not "
                             "charged: gpuledger report usage --month %s --by "
                             "user has them as unknown_jobs",
                             jobs, c->month)
                : xstrdup ("every GPU job has its GPUs in accounting"));
}

static char *hours_of (uint64_t gres_seconds)
{
    mpq_t seconds;
    char *text;

    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), gres_seconds);
    text = report_hours_text (seconds);
    mpq_clear (seconds);
    return text;
}

/* Devices of no pool have no price, and those of unknown size no quantity. */
static void take_shards (const shards_difference_t *difference, void *arg)
{
    struct checking *c = arg;

    found (c->checks, CHECK_FINDING, "shards",
           facts_shards_difference_text (difference));
}

/* At the end of the month. The configuration is what is charged. */
static int check_shards (struct checking *c, gl_error_t *error)
{
    size_t before = c->checks->count;

    if (facts_shards_differences (c->store, c->site, c->period.end - 1,
                                  take_shards, c, error)
        < 0)
        return -1;
    if (c->checks->count == before
        && GL_ANY (c->site->pools, c->site->pool_count, it,
                   it->shards_per_gpu > 0))
        found (c->checks, CHECK_OK, "shards",
               xstrdup ("no node differs from shards_per_gpu of its pool"));
    return 0;
}

static void judge_pools (struct checking *c, const usage_cell_t *whole)
{
    uint64_t without = 0, unknown = 0;

    if (c->site->pool_count == 0)
        return;
    for (size_t i = 0; i < whole->part_count; i++) {
        const usage_part_t *part = &whole->part[i];
        if (!part->kind->pool)
            without += part->gres_seconds;
        else if (!part->kind->weight_known)
            unknown += part->gres_seconds;
    }
    GL_AUTOFREE char *poolless = hours_of (without);
    GL_AUTOFREE char *unsized = hours_of (unknown);
    if (without)
        found (c->checks, CHECK_FINDING, "pools",
               xasprintf ("%s GRES hours on devices of no pool are charged to "
                          "nobody: gpuledger report chargeback --month %s --by "
                          "node,gres_type,pool shows them (a rate of 0 makes a "
                          "pool free)",
                          poolless, c->month));
    if (unknown)
        found (c->checks, CHECK_FINDING, "pools",
               xasprintf (
                   "%s GRES hours on devices of unknown size are charged to "
                   "nobody: gpuledger report chargeback --month %s says "
                   "why",
                   unsized, c->month));
    if (!without && !unknown)
        found (c->checks, CHECK_OK, "pools",
               xstrdup ("every device that jobs had is in a pool"));
}

static int check_coverage (struct checking *c, gl_error_t *error)
{
    report_query_t query = c->query;
    usage_report_t *usage = NULL;
    report_t *report = NULL;
    char *label = NULL;
    int rc = report_keys_parse ("cluster", &query.by, &label, error);

    if (rc == 0) {
        usage = usage_report_new (&query);
        rc = give_usage (c, &query, usage, error);
    }
    if (rc == 0) {
        report = usage_report_make (usage);
        judge_coverage (c, coverage_of (report));
        judge_unknown (c, usage_report_whole (usage)->unknown_jobs);
        judge_pools (c, usage_report_whole (usage));
    }
    report_free (report);
    usage_report_free (usage);
    free (label);
    return rc;
}

/* --- names in prices and rules ------------------------------------------ */

/* A name without a likeness may be newer than its first job. */
static void take_unseen (const char *sentence, const char *nearest, void *arg)
{
    struct checking *c = arg;

    found (c->checks, nearest ? CHECK_FINDING : CHECK_UNKNOWN, "names",
           nearest ? xasprintf ("no job ever had %s; did you mean '%s'?",
                                sentence, nearest)
                   : xasprintf ("no job ever had %s", sentence));
}

static int check_names (struct checking *c, gl_error_t *error)
{
    size_t before = c->checks->count, count;

    if (unseen_each (c->store, c->site, c->period, take_unseen, c, &count,
                     error)
        < 0)
        return -1;
    if (count > 0 && c->checks->count == before)
        found (c->checks, CHECK_OK, "names",
               xstrdup ("every QOS, partition and reservation that prices and "
                        "rules name is one that jobs had"));
    return 0;
}

/* --- all --------------------------------------------------------------- */

/* From when on the oldest facts are a finding. */
static char *fresh_until (const struct checking *c)
{
    const store_cluster_t *oldest = &c->clusters[0];
    BUFFER_AUTO names = BUFFER_INIT;
    char stamp[ZONE_STAMP_SIZE];

    if (c->cluster_count == 0)
        return xstrdup ("the store has no facts");
    for (size_t i = 1; i < c->cluster_count; i++)
        if (c->clusters[i].as_of < oldest->as_of)
            oldest = &c->clusters[i];
    zone_stamp (c->site->zone, oldest->as_of + c->site->close.fresh, stamp);
    memcpy (c->checks->stale, stamp, sizeof (stamp));
    for (size_t i = 0; i < c->cluster_count; i++)
        if (c->clusters[i].as_of == oldest->as_of) {
            buffer_printf (&names, "%s%s", names.length ? ", " : "",
                           c->clusters[i].name);
            c->checks->stale_count++;
        }
    return xasprintf ("checked when the month is closed: after %s the facts of "
                      "cluster%s %s are more than %" PRId64
                      " hours old, which is a finding%s",
                      stamp, c->checks->stale_count == 1 ? "" : "s",
                      buffer_text (&names), c->site->close.fresh / 3600,
                      c->checks->stale_count == 1 ? "" : " of each");
}

/* What the store alone cannot say. */
static void check_not (struct checking *c)
{
    const struct {
        const char *name;
        char *figure;
        const char *remedy;
    } left_out[] = {
        {"fresh", fresh_until (c),
         "An administrator runs 'gpuledger sync' before the other steps. "
         "Amounts due change if something new is known."},
        {"reconcile",
         xstrdup ("checked when the month is closed: whether slurmdbd has the "
                  "same jobs"),
         "An administrator runs 'gpuledger close --check' after the sync. It "
         "changes nothing: if jobs are missing, another sync reads them, and "
         "amounts due change."},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (left_out); i++) {
        found (c->checks, CHECK_UNKNOWN, left_out[i].name, left_out[i].figure);
        c->checks->item[c->checks->count - 1].remedy = left_out[i].remedy;
    }
}

static void begin_query (struct checking *c)
{
    c->query_clusters
        = xcalloc (c->cluster_count + 1, sizeof (*c->query_clusters));
    for (size_t i = 0; i < c->cluster_count; i++)
        c->query_clusters[i] = (report_cluster_t){
            .name = c->clusters[i].name, .as_of = c->clusters[i].as_of};
    c->query = (report_query_t){.site = c->site,
                                .period = c->period,
                                .clusters = c->query_clusters,
                                .cluster_count = c->cluster_count};
}

static int check_all (struct checking *c, gl_error_t *error)
{
    if (check_order (c, error) < 0)
        return -1;
    check_over (c);
    if (c->now > 0)
        check_fresh (c);
    for (size_t i = 0; c->now > 0 && i < c->cluster_count; i++)
        reconcile_one (c, &c->clusters[i]);
    if (c->now == 0)
        check_not (c);
    if (check_open (c, error) < 0 || check_coverage (c, error) < 0
        || check_shards (c, error) < 0 || check_bill (c, error) < 0
        || check_names (c, error) < 0)
        return -1;
    return 0;
}

int close_check (store_t *store, const site_t *site, const char *month,
                 int64_t now, month_t *had, checks_t *ret_checks,
                 gl_error_t *error)
{
    struct checking c = {.store = store,
                         .site = site,
                         .month = month,
                         .now = now,
                         .had = had,
                         .checks = ret_checks};
    int rc;

    *ret_checks = (checks_t){.item = NULL};
    if (periods_month (site, month, &c.period, error) < 0
        || store_clusters (store, &c.clusters, &c.cluster_count, error) < 0)
        return -1;
    begin_query (&c);
    rc = periods_read (store, &c.periods, error);
    if (rc == 0)
        rc = check_all (&c, error);
    periods_free (c.periods);
    free (c.query_clusters);
    store_clusters_free (c.clusters, c.cluster_count);
    if (rc < 0)
        checks_clear (ret_checks);
    return rc;
}
