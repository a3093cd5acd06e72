#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "month/budgets.h"
#include "month/periods.h"
#include "month/statements_private.h"

/* --- the bills --------------------------------------------------------- */

static int bill_of (struct making *m, int64_t instant, bills_month_t **ret,
                    gl_error_t *error)
{
    char month[ZONE_STAMP_SIZE];

    zone_unit_name (m->query.site->zone, CALENDAR_MONTH, instant, month);
    return bills_of_month (m->store, m->query.site, month, ret, error);
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

/* How many of the team's rows are disputed. */
static size_t disputed_of (const bills_month_t *month, const char *team)
{
    size_t count, disputed = 0;
    const posting_t *rows = postings (month->bill, &count);

    for (size_t i = 0; i < count; i++)
        disputed += month->disputed[i] && posting_of (&rows[i], team);
    return disputed;
}

/* MONTH- and the begin of the hash of its rows: another content has another
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

static void fill (struct making *m, const bills_month_t *now,
                  const bills_month_t *before)
{
    size_t rows;
    bool comparable;

    m->s.month = now->month;
    m->s.before_month = before->month;
    m->s.bill = now->bill;
    postings (before->bill, &rows);
    /* a month before the ledger begins is billed to nobody, and may still move */
    comparable = before->state != BILLS_BEFORE;
    m->s.before = rows > 0 && comparable ? before->bill : NULL;
    m->s.closed = now->version > 0;
    m->s.hash = m->s.closed ? now->hash : NULL;
    m->s.disputed = now->disputed;
    m->s.disputed_count = disputed_of (now, m->s.team);
}

/* With what it borrows from them. */
static int make_page (struct making *m, const bills_month_t *now,
                      const bills_month_t *before, report_t **ret_report,
                      gl_error_t *error)
{
    GL_AUTOFREE char *state = state_of (m, now);
    budget_t **budgets = NULL;
    size_t count = 0;
    int rc = -1;

    fill (m, now, before);
    m->s.state = state;
    if (budgets_of_team (m->store, m->query.site, m->s.team, &m->query,
                         &budgets, &count, error)
            == 0
        && name_statement (m, error) == 0 && take_head (m, error) == 0) {
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
static int check_reached (const struct making *m, const bills_month_t *now,
                          gl_error_t *error)
{
    int64_t as_of = report_as_of (&m->query);
    char stamp[ZONE_STAMP_SIZE];
    size_t rows;

    postings (now->bill, &rows);
    if (now->version > 0 || rows > 0 || now->period.start < as_of)
        return 0;
    return as_of == 0
               ? gl_error (error, "the store has no facts, so that there is "
                                  "nothing to say of %s",
                           now->month)
               : gl_error (error,
                           "nothing is known of %s yet: the facts end at %s",
                           now->month,
                           zone_stamp (m->query.site->zone, as_of, stamp));
}

static int make (struct making *m, report_t **ret_report, gl_error_t *error)
{
    bills_month_t *now = NULL, *before = NULL;
    int rc = -1;

    if (bill_of (m, m->query.period.start, &now, error) == 0
        && check_reached (m, now, error) == 0
        && bill_of (m, m->query.period.start - 1, &before, error) == 0
        && (now->version > 0 ? statement_from_closing (m, now, error)
                             : statement_from_facts (m, now, error))
               == 0)
        rc = make_page (m, now, before, ret_report, error);
    bills_month_free (now);
    bills_month_free (before);
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
    statement_facts_done (&m);
    statement_closing_done (&m);
    for (size_t i = 0; i < m.day_count; i++)
        mpz_clear (m.days[i].units);
    free (m.days);
    return rc;
}
