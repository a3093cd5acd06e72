#include <string.h>

#include <openssl/evp.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/text.h"
#include "facts/rollups.h"
#include "ledger/bill_tax.h"
#include "month/bills.h"
#include "month/carbons.h"
#include "month/closed_lists.h"
#include "month/closed_site.h"
#include "month/corrections.h"
#include "month/month.h"
#include "month/settled.h"
#include "site/project.h"
#include "statement/statement.h"

/* The number of a statement. */
struct named_statement {
    char *team; /* NULL: of no team */
    char *id;
};

struct month_source {
    store_t *store;
    const site_t *site; /* today's */
    const periods_t *periods;
    periods_t *own;           /* read for it */
    const closing_t *closing; /* NULL: the month is not closed */
    /* of the closing */
    site_t *paper;
    site_t *priced;
    accounts_t *accounts;
    report_cluster_t *clusters;
    size_t cluster_count;
    bool has_carbon;                    /* the bill has BILL_CARBON */
    struct named_statement *statements; /* that were asked for */
    size_t statement_count;
};

static const month_how_t as_it_is = {.until = 0};

/* --- reading -------------------------------------------------------------- */

const char *month_state_word (month_state_t state)
{
    static const char *const words[] = {[MONTH_BEFORE] = "before",
                                        [MONTH_LATER] = "later",
                                        [MONTH_OPEN] = "open",
                                        [MONTH_CLOSED] = "closed",
                                        [MONTH_IMPORTED] = "imported"};

    return words[state];
}

static bool has_days (const month_how_t *how)
{
    return how->days || how->team_days;
}

/* Otherwise budgets would have the month computed once more for its days. */
static bool budgets_need_days (const site_t *site)
{
    return GL_ANY (site->budgets, site->budget_count, it, !it->team);
}

static int open_month (month_t *m, const month_how_t *how, gl_error_t *error)
{
    store_t *store = m->source->store;
    const site_t *site = m->source->site;
    const periods_t *periods = m->source->periods;
    balances_t balances = {.bill = NULL};
    char open[MONTH_SIZE];
    int order, rc;

    if (how->until && how->until < m->period.end)
        m->period.end = how->until;
    m->paper_period = m->period;
    if (periods_open_month (store, site, periods, open, error) < 0)
        return -1;
    order = strcmp (m->name, open);
    m->state = order < 0 ? MONTH_BEFORE : order == 0 ? MONTH_OPEN : MONTH_LATER;
    if (how->billed && m->state == MONTH_BEFORE) {
        m->bill = bill_new ();
        return 0;
    }
    m->by_team = !how->days && !budgets_need_days (site);
    if (bills_compute_part (store, site, m->period,
                            &(bills_how_t){.compared = how->compared,
                                           .days = has_days (how),
                                           .by_team = m->by_team,
                                           .filter = how->filter},
                            &m->bill, &m->first, error)
        < 0)
        return -1;
    rc = corrections_adjustments (store, site, periods, m->name, m->bill,
                                  &balances, error);
    if (rc == 0)
        rc = settle_months (store, site, m->period, &balances, m->bill, error);
    balances_clear (&balances);
    if (rc < 0)
        return -1;
    bill_sort (m->bill);
    bill_add_taxes (m->bill, site, m->name, m->period.start);
    return 0;
}

/* A dispute holds until it is decided, or the month is opened again. */
static void take_disputes (month_t *m)
{
    const periods_t *periods = m->source->periods;
    size_t count;

    postings (m->bill, &count);
    for (size_t i = 0; i < periods->decision_count; i++) {
        const decision_t *d = &periods->decisions[i];
        char month[MONTH_SIZE];
        size_t row;
        if (d->kind != CHAIN_DISPUTE || d->number < m->source->closing->number
            || !d->reference
            || periods_row_parse (d->reference, month, &row, NULL) < 0
            || strcmp (month, m->name) != 0 || row > count
            || periods_dispute (periods, d, NULL) != DISPUTE_RAISED)
            continue;
        m->disputed_count += !m->disputed[row - 1];
        m->disputed[row - 1] = true;
    }
}

/* Of the lists that have what the filter needs the shortest. */
static bill_list_t days_for (const usage_filter_t *filter)
{
    return filter && filter->key == KEY_TEAM && filter->values.count > 0
               ? BILL_TEAM_DAYS
               : BILL_DAYS;
}

static int closed_month (month_t *m, const month_how_t *how, gl_error_t *error)
{
    const closing_t *closing = m->source->closing;
    bill_list_t days = how->days ? days_for (how->filter) : BILL_TEAM_DAYS;

    m->by_team = days == BILL_TEAM_DAYS;
    m->state = closing->imported ? MONTH_IMPORTED : MONTH_CLOSED;
    m->version = closing->version;
    m->closed = closing->when;
    m->handover = body_get_number (closing->body, "handover");
    memcpy (m->hash, closing->hash, sizeof (m->hash));
    return closed_site_get (closing, &m->source->paper, &m->paper_period, error)
                       < 0
                   || periods_bill (m->source->store, closing, &m->bill, error)
                          < 0
                   || (!closing->imported
                       && closed_list_read (m->source->store, closing,
                                            BILL_BALANCES, m->bill, error)
                              < 0)
                   || (has_days (how) && !closing->imported
                       && closed_list_read (m->source->store, closing, days,
                                            m->bill, error)
                              < 0)
               ? -1
               : 0;
}

/* The first day that something is charged for. */
static void take_first (month_t *m, const zone_t *zone)
{
    size_t count;
    const bill_day_t *days = bill_days (m->bill, &count);

    for (size_t i = 0; i < count; i++) {
        civil_t civil;
        int64_t start;
        if (calendar_parse_date (days[i].day, strlen (days[i].day), &civil) < 0)
            continue;
        start = zone_instant (zone, &civil);
        if (m->first == 0 || start < m->first)
            m->first = start;
    }
}

static int fill_month (month_t *m, const month_how_t *how, gl_error_t *error)
{
    struct month_source *s = m->source;
    size_t count;

    s->closing = periods_closing (s->periods, m->name);
    if (s->closing && !how->any_currency
        && closed_site_same_currency (s->closing, s->site, error) < 0)
        return -1;
    if ((s->closing ? closed_month (m, how, error) : open_month (m, how, error))
        < 0)
        return -1;
    m->paper = s->paper ? s->paper : s->site;
    take_first (m, m->paper->zone);
    postings (m->bill, &count);
    m->disputed = xcalloc (count + 1, sizeof (*m->disputed));
    if (s->closing)
        take_disputes (m);
    return 0;
}

int month_read (store_t *store, const site_t *site, const char *month,
                const month_how_t *how, month_t **ret_month, gl_error_t *error)
{
    month_t *m = xcalloc (1, sizeof (*m));
    int rc = periods_month (site, month, &m->period, error);

    m->source = xcalloc (1, sizeof (*m->source));
    m->source->store = store;
    m->source->site = site;
    how = how ? how : &as_it_is;
    m->source->periods = how->periods;
    if (rc == 0 && !how->periods) {
        rc = periods_read (store, &m->source->own, error);
        m->source->periods = m->source->own;
    }
    if (rc == 0) {
        periods_month_of (site, m->period.start, m->name);
        rc = fill_month (m, how, error);
    }
    if (rc < 0)
        month_free (m);
    else
        *ret_month = m;
    return rc;
}

void month_free (month_t *m)
{
    struct month_source *s;

    if (!m)
        return;
    s = m->source;
    site_free (s->paper);
    site_free (s->priced);
    accounts_free (s->accounts);
    closed_clusters_free (s->clusters, s->cluster_count);
    periods_free (s->own);
    GL_FREE_EACH (s->statements, s->statement_count, it,
                  (free (it->team), free (it->id)));
    free (s);
    bill_free (m->bill);
    free (m->disputed);
    free (m);
    memory_trim ();
}

static int take_each (store_t *store, const site_t *site, period_t period,
                      const month_how_t *how, month_f callback, void *arg,
                      gl_error_t *error)
{
    char name[MONTH_SIZE], open[MONTH_SIZE] = "";
    int rc = how->billed
                 ? periods_open_month (store, site, how->periods, open, error)
                 : 0;

    for (int64_t at = period.start; at < period.end && rc == 0;
         at = zone_unit (site->zone, CALENDAR_MONTH, at).end) {
        month_t *m;
        periods_month_of (site, at, name);
        if (!periods_closing (how->periods, name) && strcmp (name, open) < 0)
            continue;
        if (how->had && !strcmp (how->had->name, name)) {
            rc = callback (how->had, arg, error);
            continue;
        }
        if (month_read (store, site, name, how, &m, error) < 0)
            return -1;
        rc = callback (m, arg, error);
        month_free (m);
    }
    return rc;
}

int months_each (store_t *store, const site_t *site, period_t period,
                 const month_how_t *how, month_f callback, void *arg,
                 gl_error_t *error)
{
    month_how_t shared = how ? *how : as_it_is;
    periods_t *periods = NULL;
    int rc = 0;

    if (!shared.periods && (rc = periods_read (store, &periods, error)) == 0)
        shared.periods = periods;
    if (rc == 0)
        rc = take_each (store, site, period, &shared, callback, arg, error);
    periods_free (periods);
    return rc;
}

/* --- what it was made with ------------------------------------------------ */

int64_t month_updated (const month_t *m, const report_query_t *query)
{
    return m->closed ? m->closed : report_as_of (query);
}

const site_t *month_site (month_t *m, gl_error_t *error)
{
    struct month_source *s = m->source;
    GL_AUTOFREE char *book = NULL;

    if (!s->closing || s->priced)
        return s->closing ? s->priced : s->site;
    if (closed_site_then (s->store, s->closing, &s->priced, &book, error) == 0
        && !s->priced)
        gl_error (
            error,
            "%s: this program cannot read the configuration that the month "
            "was closed with",
            m->name);
    return s->priced;
}

int month_query (month_t *m, report_query_t *query, gl_error_t *error)
{
    struct month_source *s = m->source;

    if (!s->closing)
        return 0;
    if (!month_site (m, error))
        return -1;
    if (!s->accounts) {
        s->accounts = accounts_new ();
        s->cluster_count = closed_clusters (s->closing, &s->clusters);
    }
    query->site = s->priced;
    query->accounts = s->accounts;
    query->period = (period_t){body_get_number (s->closing->body, "start"),
                               body_get_number (s->closing->body, "end")};
    query->clusters = s->clusters;
    query->cluster_count = s->cluster_count;
    return 0;
}

/* The closing of the last month of the query's period; NULL: it is not whole
 * closed months. */
static const closing_t *last_closing (const periods_t *periods,
                                      const report_query_t *query)
{
    const closing_t *last = NULL;

    for (int64_t at = query->period.start; at < query->period.end;) {
        period_t month = zone_unit (query->site->zone, CALENDAR_MONTH, at);
        char name[MONTH_SIZE];
        periods_month_of (query->site, at, name);
        last = periods_closing (periods, name);
        if (!last || month.start < query->period.start
            || month.end > query->period.end)
            return NULL;
        at = month.end;
    }
    return last;
}

int months_site (store_t *store, const site_t *site, period_t period,
                 site_t **ret_site, gl_error_t *error)
{
    GL_AUTOFREE char *book = NULL;
    const closing_t *last = NULL;
    periods_t *periods;
    int rc = 0;

    *ret_site = NULL;
    if (periods_read (store, &periods, error) < 0)
        return -1;
    for (int64_t at = period.start; at < period.end;
         at = zone_unit (site->zone, CALENDAR_MONTH, at).end) {
        char name[MONTH_SIZE];
        periods_month_of (site, at, name);
        last = periods_closing (periods, name);
        if (!last || last->imported) {
            last = NULL;
            break;
        }
    }
    if (last)
        rc = closed_site_then (store, last, ret_site, &book, error);
    periods_free (periods);
    return rc;
}

int months_as_of (store_t *store, report_query_t *query,
                  report_cluster_t **ret_clusters, gl_error_t *error)
{
    const closing_t *last;
    periods_t *periods;

    *ret_clusters = NULL;
    if (periods_read (store, &periods, error) < 0)
        return -1;
    last = last_closing (periods, query);
    if (last) {
        query->cluster_count = closed_clusters (last, ret_clusters);
        query->clusters = *ret_clusters;
    }
    periods_free (periods);
    return 0;
}

bool month_goes_on (const month_t *month, const report_query_t *query)
{
    return month_is_provisional (month)
           && report_as_of (query) < month->period.end;
}

/* --- its state for people --------------------------------------------------- */

const char *month_closed_day (const month_t *month, const zone_t *zone,
                              char ret_day[ZONE_STAMP_SIZE])
{
    return month_is_provisional (month)
               ? NULL
               : zone_unit_name (zone, CALENDAR_DAY, month->closed, ret_day);
}

char *month_state_text (const month_t *month, const zone_t *zone)
{
    char buffer[ZONE_STAMP_SIZE];
    const char *day = month_closed_day (month, zone, buffer);

    return day ? xasprintf ("%s %s, version %u",
                            month_state_word (month->state), day,
                            month->version)
               : xstrdup ("not closed");
}

/* --- usage ---------------------------------------------------------------- */

int month_usage (month_t *m, const report_query_t *query,
                 const month_usage_t *to, gl_error_t *error)
{
    struct month_source *s = m->source;
    const closed_usage_sink_t sink = {s->accounts, to->rollup, to->arg};
    const rollups_query_t days = {.query = query, .period = query->period};
    const store_query_t facts = {.start = query->period.start,
                                 .end = query->period.end,
                                 .gpu_only = true};

    if (s->closing)
        return periods_usage (s->store, s->closing, &sink, error);
    return rollups_answer (&days)
               ? rollups_each (s->store, &days, to->rollup, to->arg, error)
               : facts_each (s->store, query->site, &facts, to->fact, to->arg,
                             error);
}

int month_carbon (month_t *m, gl_error_t *error)
{
    struct month_source *s = m->source;

    if (!s->has_carbon
        && (s->closing ? closed_list_read (s->store, s->closing, BILL_CARBON,
                                           m->bill, error)
                       : carbons_compute (s->store, s->site, m->period, m->bill,
                                          error))
               < 0)
        return -1;
    s->has_carbon = true;
    return 0;
}

int month_retained (month_t *m, bill_list_t list, bill_t *out, bool *ret_retained,
                gl_error_t *error)
{
    const struct month_source *s = m->source;

    *ret_retained = s->closing != NULL;
    return s->closing
               ? closed_list_read (s->store, s->closing, list, out, error)
               : 0;
}

/* --- statements ----------------------------------------------------------- */

#define STATEMENT_DIGEST_SIZE 8

/* Yours to free; NULL: an error. */
static char *statement_id (const month_t *m, const char *team,
                           gl_error_t *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    BUFFER_AUTO text = BUFFER_INIT, id = BUFFER_INIT;

    statement_text (m->bill, team, &text);
    if (EVP_Digest (buffer_text (&text), text.length, digest, NULL,
                    EVP_sha256 (), NULL)
        != 1) {
        gl_error (error, "libcrypto cannot make a SHA-256");
        return NULL;
    }
    buffer_printf (&id, "%s-", m->name);
    for (size_t i = 0; i < STATEMENT_DIGEST_SIZE; i++)
        buffer_printf (&id, "%02x", digest[i]);
    return buffer_take (&id);
}

const char *month_statement (month_t *m, const char *team, gl_error_t *error)
{
    struct month_source *s = m->source;
    const struct named_statement *known = GL_FIND (
        s->statements, s->statement_count, it, text_same (it->team, team));
    char *id = known ? known->id : statement_id (m, team, error);

    if (!known && id)
        *GL_APPEND (s->statements, s->statement_count)
            = (struct named_statement){team ? xstrdup (team) : NULL, id};
    return id;
}

/* --- line items ----------------------------------------------------------- */

int month_line_items (month_t *m, const line_item_want_t *want,
                      line_item_f callback, void *arg, uint64_t *ret_poolless,
                      gl_error_t *error)
{
    const struct month_source *s = m->source;

    if (ret_poolless)
        *ret_poolless = 0;
    if (s->closing && !s->closing->imported)
        return periods_line_items (s->store, s->closing, want, callback, arg,
                                   error);
    return bills_line_items (s->store, s->site, m->period, m->bill, want,
                             callback, arg, ret_poolless, error);
}

/* --- names ---------------------------------------------------------------- */

static bool has_name (const bill_t *bill, key_id_t key, const char *name)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        const char *has = key == KEY_TEAM ? rows[i].team : rows[i].pool;
        if (has && !strcmp (has, name))
            return true;
    }
    return false;
}

int billed_name (store_t *store, key_id_t key, const char *name, bool *ret_is,
                 gl_error_t *error)
{
    periods_t *periods;
    int rc = periods_read (store, &periods, error);

    *ret_is = false;
    if (rc < 0)
        return -1;
    for (size_t i = periods->closing_count; i-- > 0 && rc == 0 && !*ret_is;) {
        const closing_t *closing = &periods->closings[i];
        bill_t *bill;
        if (closing->reopened)
            continue;
        bill = bill_new ();
        rc = closed_list_read (store, closing, BILL_POSTINGS, bill, error);
        *ret_is = has_name (bill, key, name);
        bill_free (bill);
    }
    periods_free (periods);
    return rc;
}

static bool has_team (const bill_t *bill, const char *name)
{
    size_t count;
    const bill_balance_t *balances = bill_balances (bill, &count);

    return bill_rows_of (bill, name).count > 0
           || has_name (bill, KEY_TEAM, name)
           || GL_ANY (balances, count, it, text_same (it->team, name));
}

/* Renamed since, and then called by one of the names that it has now. */
static const char *name_then (const month_t *month, const site_t *today,
                              const char *name)
{
    for (size_t i = 0; i < today->team_count; i++) {
        const site_team_t *team = &today->teams[i];
        char **alias;
        if (!team_is_called (team, name))
            continue;
        if (has_team (month->bill, team->name))
            return team->name;
        alias = GL_FIND (team->aliases.item, team->aliases.count, it,
                         has_team (month->bill, *it));
        if (alias)
            return *alias;
    }
    return NULL;
}

const char *month_team (const month_t *month, const site_t *then,
                        const site_t *today, const char *name)
{
    const site_team_t *team;
    const char *found;

    if (!name || has_team (month->bill, name))
        return name;
    team = team_within (then, name, month->period);
    found = team ? team->name : name_then (month, today, name);
    return found ? found : name;
}
