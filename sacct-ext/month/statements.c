/* A statement, from the month: its page, jobs and days. */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "ledger/bill_idle.h"
#include "month/bills.h"
#include "month/budgets.h"
#include "month/month.h"
#include "month/statements.h"
#include "statement/institution.h"
#include "statement/statement.h"
#include "usage/usage.h"

/* What the page is made of. */
#define STATEMENT_ID_SIZE 80

struct making {
    store_t *store;
    report_query_t query;
    bool list; /* of jobs */
    statement_t s;
    usage_t *usage[STATEMENT_COUNTS + 1]; /* the last by nothing: all of it */
    usage_query_t usage_query[STATEMENT_COUNTS + 1];
    usage_filter_t filter; /* by the team */
    statement_count_t *counts[STATEMENT_COUNTS];
    statement_jobs_t *jobs;
    statement_day_t *days;
    size_t day_count;
    char id[STATEMENT_ID_SIZE];
    char head[MONTH_HASH_SIZE];
};

/* --- jobs -------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_add (m->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_add_rollup (m->usage[i], rollup, ROLLUP_COUNTED);
    return 0;
}

static int begin_usage (struct making *m, const report_query_t *query,
                        gl_error_t *error)
{
    char *label;

    for (size_t i = 0; i <= STATEMENT_COUNTS; i++) {
        usage_query_t *q = &m->usage_query[i];
        *q = (usage_query_t){.site = query->site,
                             .period = query->period,
                             .filters = query->filters,
                             .filter_count = query->filter_count,
                             .accounts = query->accounts};
        if (i < STATEMENT_COUNTS
            && report_keys_parse (statement_keys ((statement_by_t)i), &q->by,
                                  &label, error)
                   < 0)
            return -1;
        m->usage[i] = usage_new (q);
    }
    return 0;
}

static statement_counts_t counts_of (struct making *m, statement_by_t by)
{
    size_t count, keys = m->usage_query[by].by.count;
    const usage_cell_t *cells = usage_cells (m->usage[by], &count);

    m->counts[by] = xcalloc (count + 1, sizeof (*m->counts[by]));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < keys; k++)
            m->counts[by][i].key[k] = cells[i].key[k];
        m->counts[by][i].jobs = cells[i].jobs;
    }
    return (statement_counts_t){m->counts[by], count};
}

static void end_usage (struct making *m)
{
    const usage_cell_t *whole;
    size_t count;

    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        m->s.counts[i] = counts_of (m, (statement_by_t)i);
    whole = usage_cells (m->usage[STATEMENT_COUNTS], &count);
    m->s.jobs = count ? whole->jobs : 0;
}

static int count_jobs (struct making *m, month_t *month, gl_error_t *error)
{
    const month_usage_t to = {take_rollup, take_fact, m};
    report_query_t query = m->query;

    if (month_query (month, &query, error) < 0
        || begin_usage (m, &query, error) < 0
        || month_usage (month, &query, &to, error) < 0)
        return -1;
    end_usage (m);
    /* as of when the facts speak; the period and its names stay as asked for */
    m->query.clusters = query.clusters;
    m->query.cluster_count = query.cluster_count;
    m->s.site = query.site;
    return 0;
}

/* --- days -------------------------------------------------------------- */

static bool is_of_team (const struct making *m, const bill_day_t *day)
{
    return day->team && m->s.team ? strcmp (day->team, m->s.team) == 0
                                  : day->team == m->s.team;
}

/* All days up to what is known, so that a day without charges is seen. */
static void take_days (struct making *m, const month_t *month)
{
    const zone_t *zone = month->paper->zone;
    period_t known = period_clip (m->query.period,
                                  (period_t){0, report_as_of (&m->query)});
    size_t count;
    const bill_day_t *days = bill_days (month->bill, &count);

    for (int64_t at = known.start; at < known.end;) {
        char name[ZONE_STAMP_SIZE];
        statement_day_t *day;
        m->days = xreallocarray (m->days, m->day_count + 1, sizeof (*m->days));
        day = &m->days[m->day_count++];
        day->start = at;
        mpz_init (day->units);
        zone_unit_name (zone, CALENDAR_DAY, at, name);
        for (size_t i = 0; i < count; i++)
            if (is_of_team (m, &days[i]) && !strcmp (days[i].day, name))
                mpz_add (day->units, day->units, days[i].units);
        at = zone_unit (zone, CALENDAR_DAY, at).end;
    }
    m->s.days = m->days;
    m->s.day_count = m->day_count;
}

/* --- one by one -------------------------------------------------------- */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int list_jobs (struct making *m, month_t *month, gl_error_t *error)
{
    if (!m->list)
        return 0;
    m->s.list = m->jobs = statement_jobs_new (m->s.team, month->paper->zone);
    return month_line_items (month, &statement_jobs_want, take_row, m->jobs,
                             NULL, error);
}

/* --- the months --------------------------------------------------------- */

static int month_at (struct making *m, int64_t instant, const month_how_t *how,
                     month_t **ret, gl_error_t *error)
{
    char month[ZONE_STAMP_SIZE];

    zone_unit_name (m->query.site->zone, CALENDAR_MONTH, instant, month);
    return month_read (m->store, m->query.site, month, how, ret, error);
}

/* How many of the team's rows are disputed. */
static size_t disputed_of (const month_t *month, const char *team)
{
    size_t count, disputed = 0;
    const posting_t *rows = postings (month->bill, &count);

    for (size_t i = 0; i < count; i++)
        disputed += month->disputed[i] && posting_of (&rows[i], team);
    return disputed;
}

/* MONTH- and the begin of the hash of its rows: another content has another
 * name. */
static int name_statement (const bill_t *bill, const char *month,
                           const char *team, char ret_id[STATEMENT_ID_SIZE],
                           gl_error_t *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    BUFFER_AUTO text = BUFFER_INIT;
    int n = snprintf (ret_id, STATEMENT_ID_SIZE, "%s-", month);

    statement_text (bill, team, &text);
    if (EVP_Digest (buffer_text (&text), text.length, digest, NULL,
                    EVP_sha256 (), NULL)
        != 1)
        return gl_error (error, "libcrypto cannot make a SHA-256");
    for (int i = 0; i < 8; i++)
        n += snprintf (ret_id + n, STATEMENT_ID_SIZE - (size_t)n, "%02x",
                       digest[i]);
    return 0;
}

/* The latest hash of the chain, which holds whatever was closed and decided up to
 * now: later than the hash of the month's closing. */
static int take_head (struct making *m, gl_error_t *error)
{
    chain_head_t head;

    if (store_chain_head (m->store, &head, error) < 0)
        return -1;
    hash_text (head.hash, m->head);
    m->s.head = head.number ? m->head : NULL;
    return 0;
}

/* --- the page ---------------------------------------------------------- */

static void fill (struct making *m, const month_t *now, const month_t *before)
{
    size_t rows;
    bool comparable;

    m->s.month = now->name;
    m->s.before_month = before->name;
    m->s.bill = now->bill;
    postings (before->bill, &rows);
    /* a month before the ledger begins is billed to nobody, and may still move */
    comparable = before->state != MONTH_BEFORE;
    m->s.before = rows > 0 && comparable ? before->bill : NULL;
    m->s.provisional = month_is_provisional (now);
    m->s.hash = *now->hash ? now->hash : NULL;
    m->s.disputed = now->disputed;
    m->s.handover = now->handover;
    m->s.paper = now->paper;
    m->s.disputed_count = disputed_of (now, m->s.team);
}

/* With what it borrows from them. */
static int make_page (struct making *m, month_t *now, const month_t *before,
                      report_t **ret_report, gl_error_t *error)
{
    GL_AUTOFREE char *state = month_state_text (now, m->query.site->zone);
    budget_t **budgets = NULL;
    size_t count = 0;
    int rc = -1;

    fill (m, now, before);
    m->s.state = state;
    m->s.id = m->id;
    if (budgets_of_team (m->store, m->query.site, m->s.team, &m->query, now,
                         &budgets, &count, error)
            == 0
        && name_statement (m->s.bill, m->s.month, m->s.team, m->id, error) == 0
        && take_head (m, error) == 0) {
        m->s.budgets = budgets;
        m->s.budget_count = count;
        *ret_report = statement_make (&m->s, error);
        rc = *ret_report ? 0 : -1;
    }
    budgets_free (budgets, count);
    return rc;
}

/* A month that the facts have not reached, and without manual rows:
 * its zeros would look like a team that used nothing. */
static int check_reached (const struct making *m, const month_t *now,
                          gl_error_t *error)
{
    int64_t as_of = report_as_of (&m->query);
    char stamp[ZONE_STAMP_SIZE];
    size_t rows;

    postings (now->bill, &rows);
    if (!month_is_provisional (now) || rows > 0 || now->period.start < as_of)
        return 0;
    return as_of == 0
               ? gl_error (error,
                           "the store has no facts, so that there is "
                           "nothing to say of %s",
                           now->name)
               : gl_error (
                   error, "nothing is known of %s yet: the facts end at %s",
                   now->name, zone_stamp (m->query.site->zone, as_of, stamp));
}

/* As the month calls it. */
static int name_team (struct making *m, month_t *now, gl_error_t *error)
{
    const site_t *site = month_site (now, error);

    if (!site)
        return -1;
    m->s.team = month_team (now, site, m->query.site, m->s.team);
    if (!m->s.team)
        return 0;
    m->filter
        = (usage_filter_t){.key = KEY_TEAM, .values = {(char **)&m->s.team, 1}};
    m->query.filters = &m->filter;
    m->query.filter_count = 1;
    return 0;
}

static int make (struct making *m, report_t **ret_report, gl_error_t *error)
{
    const month_how_t with_days = {.days = true, .filter = m->query.filters};
    const month_how_t billed = {.billed = true};
    month_t *now = NULL, *before = NULL;
    int rc = -1;

    if (month_at (m, m->query.period.start, &with_days, &now, error) == 0
        && check_reached (m, now, error) == 0 && name_team (m, now, error) == 0
        && month_at (m, m->query.period.start - 1, &billed, &before, error) == 0
        && count_jobs (m, now, error) == 0 && list_jobs (m, now, error) == 0) {
        take_days (m, now);
        rc = make_page (m, now, before, ret_report, error);
    }
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_free (m->usage[i]); /* of the month's configuration */
    month_free (now);
    month_free (before);
    return rc;
}

int statements_make (const statements_query_t *query, report_t **ret_report,
                     gl_error_t *error)
{
    struct making m = {.store = query->store,
                       .query = *query->query,
                       .list = query->jobs,
                       .s = {.team = query->team}};
    int rc;

    m.query.by.count = 0;
    m.s.query = &m.query;
    rc = make (&m, ret_report, error);
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        free (m.counts[i]);
    statement_jobs_free (m.jobs);
    for (size_t i = 0; i < m.day_count; i++)
        mpz_clear (m.days[i].units);
    free (m.days);
    return rc;
}

/* --- institutions ---------------------------------------------------------- */

static bool is_institution (const site_t *site, const char *name)
{
    return !name
           || GL_ANY (site->teams, site->team_count, it,
                      text_same (it->institution, name))
           || GL_ANY (site->institutions, site->institution_count, it,
                      !strcmp (it->name, name));
}

static int no_institution (const site_t *site, const char *name,
                           gl_error_t *error)
{
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < site->institution_count; i++)
        nearest_offer (&nearest, site->institutions[i].name);
    for (size_t i = 0; i < site->team_count; i++)
        if (site->teams[i].institution)
            nearest_offer (&nearest, site->teams[i].institution);
    if (nearest.name)
        return gl_error (error,
                         "there is no institution '%s'; did you mean '%s'?",
                         name, nearest.name);
    return gl_error (error,
                     "there is no institution '%s': 'gpuledger report "
                     "chargeback --by institution' lists them",
                     name);
}

/* As the statements of a closed month: the facts up to its closing. */
static int as_of_month (struct making *m, month_t *month, gl_error_t *error)
{
    report_query_t query = m->query;

    if (month_query (month, &query, error) < 0)
        return -1;
    m->query.clusters = query.clusters;
    m->query.cluster_count = query.cluster_count;
    return 0;
}

static int make_institution (struct making *m, const month_t *month,
                             institution_t *of, report_t **ret_report,
                             gl_error_t *error)
{
    text_list_t teams = {.count = 0}, ids = {.count = 0};
    int rc = 0;

    institution_teams (of->site, of->name, month->name, month->bill, &teams);
    for (size_t i = 0; i < teams.count && rc == 0; i++) {
        bool none = !strcmp (teams.item[i], key_info (KEY_TEAM)->absent);
        rc = name_statement (month->bill, month->name,
                             none ? NULL : teams.item[i], m->id, error);
        texts_add (&ids, m->id);
    }
    if (rc == 0)
        *ret_report = institution_make (of, &teams, &ids);
    texts_clear (&teams);
    texts_clear (&ids);
    return rc;
}

int statements_institution (store_t *store, const report_query_t *query,
                            const char *name, report_t **ret_report,
                            gl_error_t *error)
{
    struct making m = {.store = store, .query = *query};
    GL_AUTOFREE char *state = NULL;
    institution_t of = {.query = &m.query, .name = name};
    month_t *month = NULL;
    int rc = -1;

    m.query.by.count = 0;
    if (month_at (&m, query->period.start, NULL, &month, error) == 0
        && check_reached (&m, month, error) == 0
        && (of.site = month_site (month, error))
        && as_of_month (&m, month, error) == 0) {
        state = month_state_text (month, m.query.site->zone);
        of.month = month->name;
        of.bill = month->bill;
        of.provisional = month_is_provisional (month);
        of.state = state;
        of.hash = *month->hash ? month->hash : NULL;
        rc = is_institution (of.site, name)
                     || is_institution (query->site, name)
                 ? make_institution (&m, month, &of, ret_report, error)
                 : no_institution (query->site, name, error);
    }
    month_free (month);
    return rc;
}
