#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "ledger/correction.h"
#include "ledger/settlement.h"
#include "month/bills.h"
#include "month/chargebacks.h"
#include "month/closed_site.h"
#include "month/corrections.h"
#include "month/periods.h"
#include "month/services.h"
#include "month/settled.h"
#include "statement/chargeback.h"

/* One site for several months, in which each closed month has the pools and
 * teams, and Slurm's tree of accounts, of its closing: so that what is printed
 * of it does not follow today's configuration. */
struct sites {
    site_t site;          /* borrows from `then` and today's */
    accounts_t *accounts; /* a tree for each month, added by who reads it */
    site_t **then;
    size_t count;
    report_cluster_t *clusters; /* and as-of; of closed months alone */
    size_t cluster_count;
    period_t period;
};

struct making {
    store_t *store;
    const report_query_t *query;
    month_t *had; /* read before; NULL: none */
    periods_t *periods;
    /* Closed months of the period, and the rest of it, which is computed. Where
     * closings cannot answer the query, all of it is computed. */
    const closing_t **closing;
    size_t closing_count;
    bool whole; /* closed months lie in the period as a whole */
    period_t computed;
    /* What the report is made with. */
    struct sites sites;
    report_query_t view;
    usage_report_t *usage;
    billing_t *billing;
    chargeback_bill_t *bills;
    size_t bill_count;
};

/* --- which months are closed ---------------------------------------------- */

static bool uses_closings (const struct making *m)
{
    return m->closing_count > 0 && m->whole && chargeback_of_bills (m->query);
}

static bool is_all_closed (const struct making *m)
{
    return uses_closings (m) && m->computed.start >= m->computed.end;
}

/* Closed months come first: months are closed in their order. */
static int find_closings (struct making *m, gl_error_t *error)
{
    const site_t *site = m->query->site;
    period_t period = m->query->period, month;

    if (periods_read (m->store, &m->periods, error) < 0)
        return -1;
    m->computed = period;
    m->whole = true;
    for (int64_t at = period.start; at < period.end; at = month.end) {
        char name[MONTH_SIZE];
        const closing_t *closing;
        month = zone_unit (site->zone, CALENDAR_MONTH, at);
        periods_month_of (site, at, name);
        closing = periods_closing (m->periods, name);
        if (!closing)
            continue;
        m->closing = xreallocarray (m->closing, m->closing_count + 1,
                                    sizeof (*m->closing));
        m->closing[m->closing_count++] = closing;
        m->whole = m->whole && month.start >= period.start
                   && month.end <= period.end;
        m->computed.start = month.end;
    }
    if (!uses_closings (m))
        m->computed = period;
    return 0;
}

/* --- one site ------------------------------------------------------------- */

/* Entries of a list that are in force in the period, clipped to it. */
#define APPEND_CLIPPED(to, to_count, from, from_count, in)          \
    do {                                                            \
        (to) = xreallocarray ((to), (to_count) + (from_count) + 1,  \
                              sizeof (*(to)));                      \
        for (size_t i_ = 0; i_ < (from_count); i_++) {              \
            period_t valid_ = period_clip ((from)[i_].valid, (in)); \
            if (valid_.start >= valid_.end)                         \
                continue;                                           \
            (to)[to_count] = (from)[i_];                            \
            (to)[(to_count)++].valid = valid_;                      \
        }                                                           \
    } while (0)

static void append (struct sites *s, const site_t *from, period_t in)
{
    APPEND_CLIPPED (s->site.pools, s->site.pool_count, from->pools,
                    from->pool_count, in);
    APPEND_CLIPPED (s->site.teams, s->site.team_count, from->teams,
                    from->team_count, in);
}

static int load (struct sites *s, store_t *store, const closing_t *closing,
                 gl_error_t *error)
{
    GL_AUTOFREE char *book = NULL;
    site_t *then;

    if (closed_site_then (store, closing, &then, &book, error) < 0)
        return -1;
    if (!then)
        return gl_error (error,
                         "%s: this program cannot read the configuration that "
                         "the month was closed with",
                         closing->month);
    s->then = xreallocarray (s->then, s->count + 1, sizeof (site_t *));
    s->then[s->count++] = then;
    return 0;
}

static period_t period_of (const closing_t *closing)
{
    return (period_t){body_get_number (closing->body, "start"),
                      body_get_number (closing->body, "end")};
}

static int join_sites (struct sites *s, store_t *store,
                       const closing_t *const *closing, size_t count,
                       const report_query_t *query, period_t computed,
                       gl_error_t *error)
{
    bool more = computed.start < computed.end;

    for (size_t i = 0; i < count; i++)
        if (load (s, store, closing[i], error) < 0)
            return -1;
    s->accounts = accounts_new ();
    s->site = more ? *query->site : *s->then[count - 1];
    s->site.pools = NULL;
    s->site.teams = NULL;
    s->site.pool_count = s->site.team_count = 0;
    for (size_t i = 0; i < count; i++)
        append (s, s->then[i], period_of (closing[i]));
    s->period
        = (period_t){period_of (closing[0]).start,
                     more ? computed.end : period_of (closing[count - 1]).end};
    if (more)
        append (s, query->site, computed);
    else
        s->cluster_count = closed_clusters (closing[count - 1], &s->clusters);
    return 0;
}

static int add_today (struct sites *s, store_t *store, period_t computed,
                      gl_error_t *error)
{
    accounts_begin (s->accounts, computed.start);
    return facts_add_accounts (store, s->accounts, error);
}

static void sites_query (const struct sites *s, report_query_t *query)
{
    query->site = &s->site;
    query->accounts = s->accounts;
    query->period = s->period;
    if (!s->clusters)
        return;
    query->clusters = s->clusters;
    query->cluster_count = s->cluster_count;
}

static void sites_clear (struct sites *s)
{
    for (size_t i = 0; i < s->count; i++)
        site_free (s->then[i]);
    free (s->then);
    free (s->site.pools);
    free (s->site.teams);
    closed_clusters_free (s->clusters, s->cluster_count);
    accounts_free (s->accounts);
}

/* --- bills ------------------------------------------------------------------ */

/* Takes all three. */
static void add_bill (struct making *m, char *month, bill_t *bill, char *note)
{
    m->bills = xreallocarray (m->bills, m->bill_count + 1, sizeof (*m->bills));
    m->bills[m->bill_count++] = (chargeback_bill_t){month, bill, note};
}

static int take_closed_rollup (const rollup_t *rollup, void *arg,
                               gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    usage_report_add_rollup (m->usage, rollup);
    return 0;
}

static int bill_of (const struct making *m, const closing_t *closing,
                    bill_t **ret_bill, gl_error_t *error)
{
    if (!m->had || strcmp (m->had->hash, closing->hash) != 0)
        return periods_bill (m->store, closing, ret_bill, error);
    *ret_bill = m->had->bill;
    return 0;
}

static int add_closing (struct making *m, const closing_t *closing,
                        gl_error_t *error)
{
    const closed_usage_sink_t sink = {m->sites.accounts, take_closed_rollup, m};
    bill_t *bill;

    if (closed_site_same_currency (closing, &m->sites.site, error) < 0)
        return -1;
    accounts_begin (m->sites.accounts,
                    body_get_number (closing->body, "start"));
    if (periods_usage (m->store, closing, &sink, error) < 0
        || bill_of (m, closing, &bill, error) < 0)
        return -1;
    add_bill (m, xstrdup (closing->month), bill,
              xasprintf ("%s is %s: version %u, hash %s.", closing->month,
                         closing->imported ? "before go-live, and closed "
                                             "without charges"
                                           : "closed",
                         closing->version, closing->hash));
    return 0;
}

/* --- facts ------------------------------------------------------------------ */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    if (!uses_closings (m))
        usage_report_add (m->usage, fact->segment, fact->suspensions,
                          fact->suspension_count, fact->project,
                          fact->evidence);
    if (!m->billing)
        return 0;
    billing_add (m->billing, fact->segment, fact->suspensions,
                 fact->suspension_count, fact->project);
    billing_measure (m->billing, fact->segment, fact->project, fact->evidence);
    return 0;
}

/* Billing may want more time than is asked for. */
static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    period_t span = rollup_period (rollup);

    (void)error;
    if (span.start >= m->computed.start && span.end <= m->computed.end)
        usage_report_add_rollup (m->usage, rollup);
    if (m->billing)
        billing_add_rollup (m->billing, rollup);
    return 0;
}

static int give_facts (struct making *m, const report_query_t *query,
                       gl_error_t *error)
{
    period_t period = billing_period (m->billing);
    store_query_t facts
        = {.start = period.start, .end = period.end, .gpu_only = true};

    if (period.end <= period.start)
        return 0;
    return facts_each (m->store, query->site, &facts, take_fact, m, error) < 0
                   || facts_capacity (m->store, &facts,
                                      billing_capacity (m->billing), error)
                          < 0
               ? -1
               : 0;
}

/* Day by day: segments of these months may lie in closed ones, too, of which the
 * usage is kept. */
static int give_usage_by_days (struct making *m, const report_query_t *query,
                               gl_error_t *error)
{
    report_query_t by_day = *query;
    const rollups_query_t days = {.query = &by_day, .period = m->computed};
    billing_t *billing = m->billing;
    int rc;

    by_day.by = (key_list_t){.id = {KEY_DAY}, .count = 1};
    m->billing = NULL;
    rc = rollups_each (m->store, &days, take_rollup, m, error);
    m->billing = billing;
    return rc;
}

/* Then the charges of the others count too, and their as-of does not. */
static bool names_clusters (const report_query_t *query)
{
    for (size_t i = 0; i < query->filter_count; i++)
        if (query->filters[i].key == KEY_CLUSTER)
            return true;
    return false;
}

/* What usage and charges of the months that are not closed are made of. */
static int gather (struct making *m, const report_query_t *query,
                   gl_error_t *error)
{
    rollups_query_t days
        = {.query = query, .period = billing_period (m->billing)};

    days.cuts = billing_cuts (m->billing, &days.cut_count);
    if (bills_give_events (m->store, m->billing, error) < 0)
        return -1;
    if (!names_clusters (query) && !billing_wants_segments (m->billing)
        && rollups_answer (&days))
        return rollups_each (m->store, &days, take_rollup, m, error) < 0
                       || bills_add_ended (m->store, query->site, m->billing,
                                           error)
                              < 0
                   ? -1
                   : 0;
    if (give_facts (m, query, error) < 0)
        return -1;
    return uses_closings (m) ? give_usage_by_days (m, query, error) : 0;
}

/* The computed time is the month that was read before: its bill has all of it. */
static bool has_bill (const struct making *m)
{
    return m->had && m->closing_count == 0 && m->query->filter_count == 0
           && chargeback_of_bills (m->query)
           && m->had->period.start == m->computed.start
           && m->had->period.end == m->computed.end;
}

/* Of that month, whose bill needs no facts. */
static int gather_usage (struct making *m, gl_error_t *error)
{
    const month_usage_t to = {take_rollup, take_fact, m};

    return month_usage (m->had, m->query, &to, error);
}

/* By team, and nothing filtered out: then other policies are told. */
static bool compares (const report_query_t *query)
{
    bool by_team = false;

    for (size_t i = 0; i < query->by.count; i++)
        by_team = by_team || query->by.id[i] == KEY_TEAM;
    return by_team && query->filter_count == 0;
}

/* With the balances of closed months as they are corrected. */
static int settle (const struct making *m, bill_t *bill, gl_error_t *error)
{
    const site_t *site = m->query->site;
    balances_t balances = {.bill = NULL};
    bill_t *corrections = bill_new ();
    char open[MONTH_SIZE];
    int rc = 0;

    if (settlement_remembers (site, m->computed) && m->periods->closing_count
        && ((rc = periods_open_month (m->store, site, m->periods, open, error))
            == 0))
        rc = corrections_compute (m->store, site, m->periods, open, corrections,
                                  &balances, error);
    if (rc == 0)
        rc = settle_months (m->store, site, m->computed, &balances, bill,
                            error);
    balances_clear (&balances);
    bill_free (corrections);
    return rc;
}

static int compute (struct making *m, gl_error_t *error)
{
    GL_AUTOFREE char *keys = chargeback_keys (m->query);
    GL_AUTOFREE char *label = NULL;
    report_query_t asked = *m->query, query;
    bill_taking_t taking = {.compared = compares (m->query)};
    int rc = -1;

    asked.period = m->computed;
    query = asked;
    query.filter_count = 0;
    if (report_keys_parse (keys, &query.by, &label, error) < 0)
        return -1;
    m->billing = billing_new (&query);
    taking.bill = bill_new ();
    if (gather (m, &asked, error) == 0)
        rc = bills_finish (m->store, m->billing, bill_take_pool, &taking,
                           error);
    if (rc == 0)
        rc = services_add (m->store, m->query->site, m->computed, taking.bill,
                           error);
    if (rc == 0)
        rc = settle (m, taking.bill, error);
    if (rc == 0)
        add_bill (m, NULL, taking.bill, NULL);
    else
        bill_free (taking.bill);
    billing_free (m->billing);
    return rc;
}

/* --- what is billed besides the time of the months --------------------------- */

/* The bill of the month has corrections of closed months, or manual ones, also those
 * that were made in it before an earlier month was opened again. */
static bool has_adjustments (const periods_t *periods, const char *month,
                             const char *open)
{
    for (size_t i = 0; i < periods->decision_count; i++)
        if (periods->decisions[i].row
            && !strcmp (periods->decisions[i].month, month))
            return true;
    return !strcmp (month, open);
}

/* Of each computed month that lies in the period as a whole. */
static int add_adjustments (struct making *m, gl_error_t *error)
{
    const site_t *site = m->query->site;
    char open[MONTH_SIZE], name[MONTH_SIZE];
    period_t period = m->computed, month;

    if (m->periods->closing_count == 0 && m->periods->decision_count == 0)
        return 0;
    if (periods_open_month (m->store, site, m->periods, open, error) < 0)
        return -1;
    for (int64_t at = period.start; at < period.end; at = month.end) {
        bill_t *bill;
        const closing_t *closing;
        month = zone_unit (site->zone, CALENDAR_MONTH, at);
        periods_month_of (site, at, name);
        closing = periods_closing (m->periods, name);
        if (closing || month.start < period.start || month.end > period.end
            || !has_adjustments (m->periods, name, open))
            continue;
        bill = bill_new ();
        if (corrections_adjustments (m->store, site, m->periods, name, bill,
                                     NULL, error)
            < 0) {
            bill_free (bill);
            return -1;
        }
        add_bill (m, xstrdup (name), bill, NULL);
    }
    return 0;
}

/* Manual credits and corrections are billed with a month as a whole, and have no time
 * in it. */
static void note_manual (const struct making *m, report_t *report)
{
    const site_t *site = m->query->site;
    char first[MONTH_SIZE], last[MONTH_SIZE];
    GL_AUTOFREE char *text = NULL;
    size_t count = 0;
    mpz_t units;

    mpz_init (units);
    periods_month_of (site, m->computed.start, first);
    periods_month_of (site, m->computed.end - 1, last);
    for (size_t i = 0; i < m->periods->decision_count; i++) {
        const decision_t *d = &m->periods->decisions[i];
        if (!d->row || strcmp (d->month, first) < 0
            || strcmp (d->month, last) > 0)
            continue;
        mpz_add (units, units, d->row->charge_units);
        count++;
    }
    text = exact_units_text (units, site->currency_digits);
    if (count > 0)
        report_note (report, NOTE_WARNING,
                     "%zu manual credits and corrections, of all teams %s %s, "
                     "are billed from %s to %s and not in these figures: "
                     "select full months.",
                     count, text, site->currency, first, last);
    mpz_clear (units);
}

/* --- what today's facts make of a closed month -------------------------------- */

static void sum_charges (const bill_t *bill, const char *month, int sign,
                         mpz_t units)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind != BILL_REMAINDER && correction_compares (&rows[i])
            && !strcmp (rows[i].month, month))
            (sign < 0 ? mpz_sub : mpz_add) (units, units, rows[i].charge_units);
}

static int note_difference (struct making *m, const closing_t *closing,
                            report_t *report, gl_error_t *error)
{
    const site_t *site = m->query->site;
    GL_AUTOFREE char *text = NULL;
    bill_t *closed = NULL, *now = NULL;
    period_t period;
    mpz_t units;
    int rc = -1;

    mpz_init (units);
    if (periods_month (site, closing->month, &period, error) == 0
        && periods_bill (m->store, closing, &closed, error) == 0
        && settled_bill (m->store, site, period, NULL, &now, error) == 0) {
        sum_charges (now, closing->month, 1, units);
        sum_charges (closed, closing->month, -1, units);
        text = exact_units_text (units, site->currency_digits);
        report_note (report, NOTE_WARNING,
                     "%s is closed, and its rows do not have these columns: "
                     "the figures are computed from today's facts, and differ "
                     "from the billed amounts of the full month by %s %s.",
                     closing->month, text, site->currency);
        rc = 0;
    }
    mpz_clear (units);
    bill_free (closed);
    bill_free (now);
    return rc;
}

/* --- the report ----------------------------------------------------------------- */

static int gather_all (struct making *m, gl_error_t *error)
{
    size_t computed;

    for (size_t i = 0; i < m->closing_count && uses_closings (m); i++)
        if (add_closing (m, m->closing[i], error) < 0)
            return -1;
    if (is_all_closed (m))
        return 0;
    if (uses_closings (m)
        && add_today (&m->sites, m->store, m->computed, error) < 0)
        return -1;
    if (has_bill (m)) {
        add_bill (m, xstrdup (m->had->name), m->had->bill, NULL);
        return gather_usage (m, error);
    }
    if (compute (m, error) < 0)
        return -1;
    computed = m->bill_count;
    if ((uses_closings (m) || m->closing_count == 0)
        && add_adjustments (m, error) < 0)
        return -1;
    return m->bill_count == computed;
}

/* Teams under theirs, where a site has any. */
static void add_institutions (report_query_t *query)
{
    const site_t *site = query->site;
    key_list_t *by = &query->by;
    bool any = GL_ANY (site->teams, site->team_count, it, it->institution);

    if (!any || by->count == 0 || by->id[0] != KEY_TEAM)
        return;
    for (size_t i = 0; i < by->count; i++)
        if (by->id[i] == KEY_INSTITUTION)
            return;
    memmove (by->id + 1, by->id, by->count * sizeof (*by->id));
    by->id[0] = KEY_INSTITUTION;
    by->count++;
}

static int make (struct making *m, report_t **ret_report, gl_error_t *error)
{
    int rc;

    m->view = *m->query;
    if (uses_closings (m)
        && (join_sites (&m->sites, m->store, m->closing, m->closing_count,
                        m->query, m->computed, error)
            < 0))
        return -1;
    if (uses_closings (m))
        sites_query (&m->sites, &m->view);
    add_institutions (&m->view);
    m->usage = usage_report_new (&m->view);
    rc = gather_all (m, error);
    if (rc < 0)
        return -1;
    *ret_report
        = chargeback_make (&m->view, m->bills, m->bill_count, m->usage, error);
    if (!*ret_report)
        return -1;
    for (size_t i = 0; i < m->closing_count && !uses_closings (m); i++)
        if (note_difference (m, m->closing[i], *ret_report, error) < 0)
            return -1;
    if (rc > 0)
        note_manual (m, *ret_report);
    return 0;
}

int chargebacks_make (store_t *store, const report_query_t *query,
                      month_t *had, report_t **ret_report,
                      gl_error_t *error)
{
    struct making m = {.store = store, .query = query, .had = had};
    report_t *report = NULL;
    int rc = find_closings (&m, error);

    if (rc == 0)
        rc = make (&m, &report, error);
    if (rc == 0)
        *ret_report = report;
    else
        report_free (report);
    usage_report_free (m.usage);
    for (size_t i = 0; i < m.bill_count; i++) {
        free ((char *)m.bills[i].month);
        free ((char *)m.bills[i].note);
        if (!had || m.bills[i].bill != had->bill)
            bill_free ((bill_t *)m.bills[i].bill);
    }
    free (m.bills);
    free (m.closing);
    sites_clear (&m.sites);
    periods_free (m.periods);
    return rc;
}
