#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/settlement.h"
#include "site/project.h"
#include "export/journal_private.h"

/* --- what a pool cost -------------------------------------------------- */

static bool is_line_of (const bill_cost_t *cost, const bill_pool_t *pool)
{
    return strcmp (cost->month, pool->month) == 0
           && strcmp (cost->pool, pool->pool) == 0 && mpz_sgn (cost->units);
}

static void post_cost (const struct journal_month *m, const bill_pool_t *pool,
                       mpz_t balance)
{
    journal_transaction_t *t
        = journal_begin (m, xasprintf ("Cost of %s in %s", pool->pool, m->month));
    size_t count, first;
    const bill_cost_t *costs = bill_costs (m->bill, &count);

    t->tag[JOURNAL_TAG_POOL] = xstrdup (pool->pool);
    for (size_t i = 0; i < count; i++) {
        const char *kind = cost_kind_name (costs[i].kind);
        struct journal_account account
            = JOURNAL_ACCOUNT ("cost", pool->pool, kind, costs[i].name);
        journal_posting_t *posting;
        if (!is_line_of (&costs[i], pool))
            continue;
        if (text_same (kind, costs[i].name))
            account.depth--;
        posting = journal_post (t, account);
        mpz_set (posting->units, costs[i].units);
        posting->tag[JOURNAL_TAG_FUND] = xstrdup (costs[i].fund);
        mpz_add (balance, balance, costs[i].units);
    }
    first = t->count;
    for (size_t i = 0; i < count; i++)
        if (is_line_of (&costs[i], pool))
            journal_take_off (t, first,
                      JOURNAL_ACCOUNT ("accruals", pool->pool,
                               cost_kind_name (costs[i].kind)),
                      costs[i].units);
    journal_end (m->journal);
}

/* --- what nobody is charged -------------------------------------------- */

/* What stands against a row. */
typedef enum {
    SIDE_COST,        /* a part of the cost of its pool and month */
    SIDE_CORRECTIONS, /* a computed correction, which others balance */
    SIDE_UNRECOVERED, /* given or taken by hand */
    SIDE_SETTLEMENT,  /* of no pool: the account of its rule */
    SIDE_TAX,
    SIDE_SERVICE, /* the system that billed it */
} side_t;

static bool starts_with (const char *text, const char *word)
{
    return text && strncmp (text, word, strlen (word)) == 0;
}

/* The kind of the rule of which a row is, or the class of the site's side of it;
 * also of a correction of such a row. NULL: it is of no rule. */
static const char *settled_by (const posting_t *row)
{
    static const char *const prefix[] = {"settlement:", "remainder:"};

    if (row->kind == BILL_SETTLEMENT
        || (row->kind == BILL_REMAINDER && row->reference))
        return row->what;
    for (size_t i = 0; row->kind == BILL_CORRECTION && row->reference
                       && i < GL_ARRAY_SIZE (prefix);
         i++)
        if (starts_with (row->origin, prefix[i]))
            return row->origin + strlen (prefix[i]);
    return NULL;
}

/* Where the site's side of a rule is booked: prepaid money is owed to those who
 * paid it in, fees are income, and what one team pays for another is cleared. Else
 * the class of unrecovered cost. */
static struct journal_account rule_account (const posting_t *row,
                                            const char *by)
{
    static const struct {
        const char *kind, *class, *account[2];
    } accounts[] = {
        {"prepaid", "prepaid_balance", {"liabilities", "prepaid"}},
        {"fee", "fees", {"income", "fees"}},
        {"minimum", "fees", {"income", "fees"}},
        {"sponsor", NULL, {"settlement", "sponsor"}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (accounts); i++)
        if (text_same (by, row->team ? accounts[i].kind : accounts[i].class))
            return JOURNAL_ACCOUNT (accounts[i].account[0],
                                    accounts[i].account[1], row->reference);
    return JOURNAL_ACCOUNT ("unrecovered", row->pool,
                            row->team ? settle_remainder_word (by) : by);
}

static side_t side_of (const posting_t *row, const char *month)
{
    if (row->kind == BILL_TAX || starts_with (row->origin, "tax"))
        return SIDE_TAX;
    if (row->kind == BILL_SERVICE || starts_with (row->origin, "service"))
        return SIDE_SERVICE;
    if (row->kind == BILL_CORRECTION && row->origin && row->pool)
        return SIDE_CORRECTIONS;
    if (!row->pool && settled_by (row))
        return SIDE_SETTLEMENT;
    return row->reason || row->kind == BILL_CORRECTION || !row->pool
                   || !text_same (row->month, month)
               ? SIDE_UNRECOVERED
               : SIDE_COST;
}

/* A correction of a class of what nobody is charged: its word, else NULL. */
static const char *corrected_class (const posting_t *row)
{
    static const char prefix[] = "remainder:";

    return row->kind == BILL_CORRECTION && starts_with (row->origin, prefix)
               ? row->origin + sizeof (prefix) - 1
               : NULL;
}

static bool is_pool_row (const posting_t *row, const char *month,
                         const char *pool)
{
    return text_same (row->month, month) && text_same (row->pool, pool);
}

static journal_tag_t unit_of (const posting_t *row)
{
    return mpq_sgn (row->cpu_seconds) != 0 ? JOURNAL_TAG_CPU_HOURS
                                           : JOURNAL_TAG_GPU_HOURS;
}

static void post_remainders (const struct journal_month *m,
                             const bill_pool_t *pool, mpz_t balance)
{
    journal_transaction_t *t = journal_begin (
        m, xasprintf ("Unrecovered cost of %s in %s", pool->pool, m->month));
    size_t count;
    const posting_t *rows = postings (m->bill, &count);
    mpz_t sum;

    mpz_init (sum);
    t->tag[JOURNAL_TAG_POOL] = xstrdup (pool->pool);
    for (size_t i = 0; i < count; i++) {
        journal_posting_t *posting;
        if (rows[i].kind != BILL_REMAINDER
            || !is_pool_row (&rows[i], m->month, pool->pool)
            || mpz_sgn (rows[i].charge_units) == 0)
            continue;
        posting = journal_post (t, rule_account (&rows[i], rows[i].what));
        mpz_set (posting->units, rows[i].charge_units);
        journal_put_quantity (posting, unit_of (&rows[i]),
                              posting_seconds (&rows[i]), NULL);
        mpz_add (sum, sum, rows[i].charge_units);
    }
    if (t->count > 0)
        journal_take_off (t, t->count, JOURNAL_ACCOUNT ("cost", pool->pool, "unrecovered"),
                  sum);
    journal_end (m->journal);
    mpz_sub (balance, balance, sum);
    mpz_clear (sum);
}

/* --- what teams are charged -------------------------------------------- */

/* Rows that are equal here are one posting. */
static int compare_dues (const void *a, const void *b)
{
    const posting_t *x = *(const posting_t *const *)a,
                    *y = *(const posting_t *const *)b;
    int order = text_compare (x->team, y->team);

    if (order == 0)
        order = text_compare (x->key[0], y->key[0]);
    if (order == 0)
        order = text_compare (x->pool, y->pool);
    if (order == 0)
        order = text_compare (x->month, y->month);
    if (order == 0)
        order = (int)x->kind - (int)y->kind;
    if (order == 0)
        order = text_compare (x->what, y->what);
    if (order == 0)
        order = text_compare (x->reference, y->reference);
    if (order == 0)
        order = text_compare (x->counterparty, y->counterparty);
    if (order == 0)
        order = text_compare (x->cost_object, y->cost_object);
    if (order == 0)
        order = text_compare (x->origin, y->origin);
    return order ? order : text_compare (x->reason, y->reason);
}

static bool is_due (const posting_t *row)
{
    return posting_is_due (row) && mpz_sgn (row->charge_units) != 0;
}

static void choose_rows (struct journal_month *m)
{
    size_t count;
    const posting_t *rows = postings (m->bill, &count);

    m->rows = xcalloc (count + 1, sizeof (*m->rows));
    for (size_t i = 0; i < count; i++)
        if (is_due (&rows[i]))
            m->rows[m->count++] = &rows[i];
    if (m->count > 1)
        qsort (m->rows, m->count, sizeof (*m->rows), compare_dues);
}

static bool is_disputed (const struct journal_month *m, const posting_t *row)
{
    size_t count;

    return m->disputed && m->disputed[row - postings (m->bill, &count)];
}

/* The rows [from, to), which are one posting. */
static void post_due (const struct journal_month *m, journal_transaction_t *t,
                      size_t from, size_t to)
{
    const posting_t *row = m->rows[from];
    journal_posting_t *posting = journal_post (
        t, JOURNAL_ACCOUNT (is_disputed (m, row) ? "disputed" : "charges",
                            row->team, row->key[0], row->pool,
                    bill_kind_word (row->kind)));
    journal_tag_t unit = JOURNAL_TAG_GPU_HOURS;
    mpq_t seconds, exact;
    mpz_t list;

    mpq_inits (seconds, exact, NULL);
    mpz_init (list);
    for (size_t i = from; i < to; i++) {
        mpz_add (list, list, m->rows[i]->list_units);
        mpz_add (posting->units, posting->units, m->rows[i]->charge_units);
        mpq_add (seconds, seconds, posting_seconds (m->rows[i]));
        if (unit_of (m->rows[i]) != JOURNAL_TAG_GPU_HOURS)
            unit = unit_of (m->rows[i]);
        mpq_add (exact, exact, m->rows[i]->exact);
    }
    journal_put_quantity (posting, unit, seconds,
                          row->kind == BILL_CHARGE ? exact : NULL);
    if (row->kind == BILL_CHARGE && mpz_cmp (list, posting->units) != 0)
        posting->tag[JOURNAL_TAG_LIST] = exact_units_text (
            list, m->journal->site->currency_digits);
    posting->tag[JOURNAL_TAG_WHAT] = xstrdup (row->what);
    posting->tag[JOURNAL_TAG_REFERENCE] = xstrdup (row->reference);
    posting->tag[JOURNAL_TAG_COUNTERPARTY] = xstrdup (row->counterparty);
    posting->tag[JOURNAL_TAG_COST_CENTER] = xstrdup (row->cost_object);
    posting->tag[JOURNAL_TAG_REASON] = xstrdup (row->reason);
    if (!text_same (row->month, m->month))
        posting->tag[JOURNAL_TAG_ORIGIN] = xstrdup (row->month);
    mpz_clear (list);
    mpq_clears (seconds, exact, NULL);
}

static struct journal_account other_side (const struct journal_month *m,
                                          const posting_t *row)
{
    switch (side_of (row, m->month)) {
    case SIDE_TAX:
        return JOURNAL_ACCOUNT ("taxes", row->kind == BILL_TAX ? row->what
                                 : starts_with (row->origin, "tax:")
                                     ? row->origin + strlen ("tax:")
                                     : NULL);
    case SIDE_SERVICE:
        return JOURNAL_ACCOUNT ("services", row->kind == BILL_SERVICE ? row->what
                                : starts_with (row->origin, "service:")
                                    ? row->origin + strlen ("service:")
                                    : NULL);
    case SIDE_UNRECOVERED:
        return JOURNAL_ACCOUNT ("unrecovered", row->pool, "by_hand");
    case SIDE_SETTLEMENT:
        return rule_account (row, settled_by (row));
    case SIDE_CORRECTIONS:
        return JOURNAL_ACCOUNT ("cost", row->pool, "corrections");
    default:
        return JOURNAL_ACCOUNT ("cost", row->pool, "charged");
    }
}

/* The rows [from, to) are of one team. */
static void post_team (const struct journal_month *m, size_t from, size_t to)
{
    const char *team = m->rows[from]->team;
    const site_team_t *entry = team_in_month (m->site, team, m->month);
    journal_transaction_t *t
        = journal_begin (m, team ? xasprintf ("Charges of %s to %s", m->month, team)
                         : xasprintf ("Charges of %s to no team", m->month));
    size_t first;

    t->tag[JOURNAL_TAG_TEAM] = xstrdup (team);
    t->tag[JOURNAL_TAG_COST_CENTER]
        = xstrdup (key_of_team (KEY_COST_CENTER, entry));
    t->tag[JOURNAL_TAG_INSTITUTION]
        = xstrdup (key_of_team (KEY_INSTITUTION, entry));
    t->tag[JOURNAL_TAG_CLASS] = xstrdup (key_of_team (KEY_CLASS, entry));
    for (size_t i = from, next; i < to; i = next) {
        for (next = i + 1;
             next < to && compare_dues (&m->rows[i], &m->rows[next]) == 0
             && !is_disputed (m, m->rows[i])
             && !is_disputed (m, m->rows[next]);)
            next++;
        post_due (m, t, i, next);
    }
    first = t->count;
    for (size_t i = from; i < to; i++)
        if (!text_same (settled_by (m->rows[i]), "split")) /* they add up to 0 */
            journal_take_off (t, first, other_side (m, m->rows[i]),
                              m->rows[i]->charge_units);
}

static void post_teams (const struct journal_month *m)
{
    for (size_t i = 0, next; i < m->count; i = next) {
        for (next = i + 1;
             next < m->count
             && text_same (m->rows[i]->team, m->rows[next]->team);)
            next++;
        post_team (m, i, next);
    }
}

/* What of the pool's cost is charged in its own month. */
static void take_charged (const struct journal_month *m,
                          const bill_pool_t *pool, mpz_t balance)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_pool_row (m->rows[i], m->month, pool->pool)
            && side_of (m->rows[i], m->month) == SIDE_COST)
            mpz_sub (balance, balance, m->rows[i]->charge_units);
}

/* --- corrections of what nobody was charged ---------------------------- */

static int by_pool (const void *a, const void *b)
{
    const posting_t *x = *(const posting_t *const *)a,
                    *y = *(const posting_t *const *)b;
    int order = text_compare (x->pool, y->pool);

    return order ? order : posting_compare (x, y);
}

/* The rows [from, to) of one pool: its classes, and the cost where that has
 * changed. */
static void post_corrections (const struct journal_month *m,
                              const posting_t *const *rows, size_t count)
{
    const char *pool = rows[0]->pool;
    journal_transaction_t *t
        = journal_begin (m, xasprintf ("Corrections of %s in %s", pool, m->month));
    size_t first;
    mpz_t sum, negative;

    mpz_inits (sum, negative, NULL);
    t->tag[JOURNAL_TAG_POOL] = xstrdup (pool);
    for (size_t i = 0; i < count; i++) {
        const char *class = corrected_class (rows[i]);
        journal_posting_t *posting;
        mpz_add (sum, sum, rows[i]->charge_units);
        if (!class)
            continue;
        posting = journal_post (t, rule_account (rows[i], class));
        mpz_set (posting->units, rows[i]->charge_units);
        posting->tag[JOURNAL_TAG_WHAT] = xstrdup (rows[i]->what);
        posting->tag[JOURNAL_TAG_ORIGIN] = xstrdup (rows[i]->month);
    }
    first = t->count;
    for (size_t i = 0; i < first; i++)
        journal_take_off (t, first, JOURNAL_ACCOUNT ("cost", pool, "corrections"),
                  t->posting[i].units);
    if (mpz_sgn (sum) != 0) {
        mpz_neg (negative, sum);
        journal_take_off (t, first, JOURNAL_ACCOUNT ("cost", pool, "corrections"), negative);
        journal_take_off (t, first, JOURNAL_ACCOUNT ("accruals", pool, "corrections"), sum);
    }
    mpz_clears (sum, negative, NULL);
    journal_end (m->journal);
}

static void post_all_corrections (const struct journal_month *m)
{
    size_t count, chosen = 0;
    const posting_t *rows = postings (m->bill, &count);
    const posting_t **list = xcalloc (count + 1, sizeof (*list));

    for (size_t i = 0; i < count; i++)
        if (mpz_sgn (rows[i].charge_units) != 0
            && side_of (&rows[i], m->month) == SIDE_CORRECTIONS)
            list[chosen++] = &rows[i];
    if (chosen > 1)
        qsort (list, chosen, sizeof (*list), by_pool);
    for (size_t i = 0, next; i < chosen; i = next) {
        for (next = i + 1;
             next < chosen && text_same (list[i]->pool, list[next]->pool);)
            next++;
        post_corrections (m, list + i, next - i);
    }
    free (list);
}

/* --- a month ----------------------------------------------------------- */

static int check_pool (const struct journal_month *m, const bill_pool_t *pool,
                       const mpz_t balance, gl_error_t *error)
{
    GL_AUTOFREE char *text = NULL;

    if (mpz_sgn (balance) == 0)
        return 0;
    text = exact_units_text (balance, m->journal->site->currency_digits);
    return gl_error (error,
                     "pool %s in %s: its cost is %s more than its charges and "
                     "unrecovered cost (this is a defect, please report it)",
                     pool->pool, m->month, text);
}

static int post_pools (const struct journal_month *m, gl_error_t *error)
{
    size_t count;
    const bill_pool_t *pools = bill_pools (m->bill, &count);
    mpz_t *balances = xcalloc (count + 1, sizeof (*balances));
    int rc = 0;

    for (size_t i = 0; i < count; i++) {
        mpz_init (balances[i]);
        post_cost (m, &pools[i], balances[i]);
    }
    post_teams (m);
    for (size_t i = 0; i < count; i++) {
        post_remainders (m, &pools[i], balances[i]);
        take_charged (m, &pools[i], balances[i]);
        if (rc == 0)
            rc = check_pool (m, &pools[i], balances[i], error);
        mpz_clear (balances[i]);
    }
    free (balances);
    return rc;
}

/* Each row has to be posted: one of a pool that the month has not would not be. */
static int check_rows (const struct journal_month *m, gl_error_t *error)
{
    size_t count, pool_count;
    const posting_t *rows = postings (m->bill, &count);
    const bill_pool_t *pools = bill_pools (m->bill, &pool_count);

    for (size_t i = 0; i < count; i++) {
        bool found
            = mpz_sgn (rows[i].charge_units) == 0
              || (rows[i].kind != BILL_REMAINDER
                  && side_of (&rows[i], m->month) != SIDE_COST)
              || side_of (&rows[i], m->month) == SIDE_SETTLEMENT;
        for (size_t k = 0; k < pool_count && !found; k++)
            found = is_pool_row (&rows[i], m->month, pools[k].pool)
                    && text_same (pools[k].month, m->month);
        if (!found)
            return gl_error (error,
                             "a %s of pool %s in %s has no cost (this is a "
                             "defect, please report it)",
                             bill_kind_word (rows[i].kind),
                             rows[i].pool ? rows[i].pool : "(none)",
                             rows[i].month ? rows[i].month : "(none)");
    }
    return 0;
}

int journal_add_month (journal_t *journal, const site_t *site,
                       const char *month, const bill_t *bill,
                       const bool *disputed, const char *hash,
                       gl_error_t *error)
{
    struct journal_month m = {.journal = journal,
                              .site = site,
                              .bill = bill,
                              .month = month,
                              .hash = hash,
                              .disputed = disputed};
    int rc;

    if (check_rows (&m, error) < 0)
        return -1;
    choose_rows (&m);
    rc = post_pools (&m, error);
    post_all_corrections (&m);
    free (m.rows);
    return rc;
}
