#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/journal.h"

static const char *const tag_names[JOURNAL_TAG_COUNT] = {
    [JOURNAL_TAG_MONTH] = "month",
    [JOURNAL_TAG_POOL] = "pool",
    [JOURNAL_TAG_TEAM] = "team",
    [JOURNAL_TAG_COST_CENTER] = "cost_center",
    [JOURNAL_TAG_PERIOD] = "period",
    [JOURNAL_TAG_HASH] = "hash",
    [JOURNAL_TAG_GPU_HOURS] = "gpu_hours",
    [JOURNAL_TAG_RATE] = "rate",
    [JOURNAL_TAG_WHAT] = "what",
    [JOURNAL_TAG_REFERENCE] = "reference",
    [JOURNAL_TAG_REASON] = "reason",
    [JOURNAL_TAG_ORIGIN] = "origin",
};

const char *journal_tag_name (journal_tag_t tag)
{
    return tag_names[tag];
}

/* A month that is being posted. */
struct posting_month {
    journal_t *journal;
    const bill_t *bill;
    const char *month;
    const char *hash;
    const bill_row_t **rows; /* those with an amount, by whom they are due */
    size_t count;
};

/* --- the object -------------------------------------------------------- */

journal_t *journal_new (const site_t *site)
{
    journal_t *journal = xcalloc (1, sizeof (*journal));

    journal->site = site;
    return journal;
}

static void free_tags (char *const *tags)
{
    for (size_t i = 0; i < JOURNAL_TAG_COUNT; i++)
        free (tags[i]);
}

static void free_transaction (journal_transaction_t *transaction)
{
    for (size_t i = 0; i < transaction->count; i++) {
        journal_posting_t *posting = &transaction->posting[i];
        for (size_t k = 0; k < posting->depth; k++)
            free (posting->account[k]);
        free_tags (posting->tag);
        mpz_clear (posting->units);
    }
    free (transaction->posting);
    free_tags (transaction->tag);
    free (transaction->date);
    free (transaction->description);
}

void journal_free (journal_t *journal)
{
    if (!journal)
        return;
    for (size_t i = 0; i < journal->remark_count; i++)
        free (journal->remark[i]);
    for (size_t i = 0; i < journal->count; i++)
        free_transaction (&journal->transaction[i]);
    free (journal->remark);
    free (journal->transaction);
    free (journal);
}

void journal_remark (journal_t *journal, const char *fmt, ...)
{
    va_list args;
    char *line;

    va_start (args, fmt);
    if (vasprintf (&line, fmt, args) < 0)
        abort ();
    va_end (args);
    journal->remark
        = xreallocarray (journal->remark, journal->remark_count + 1,
                         sizeof (*journal->remark));
    journal->remark[journal->remark_count++] = line;
}

/* --- transactions and postings ----------------------------------------- */

/* The last day of the month. */
static char *date_of (const char *month)
{
    civil_t civil;

    if (calendar_parse_month (month, strlen (month), &civil) < 0)
        return xstrdup (month);
    return xasprintf ("%s-%02d", month,
                      calendar_days_in_month (civil.year, civil.month));
}

/* Takes the description. Valid until the next. */
static journal_transaction_t *begin (const struct posting_month *m,
                                     char *description)
{
    journal_t *journal = m->journal;
    journal_transaction_t *transaction;

    journal->transaction
        = xreallocarray (journal->transaction, journal->count + 1,
                         sizeof (*journal->transaction));
    transaction = &journal->transaction[journal->count++];
    *transaction = (journal_transaction_t){.date = date_of (m->month),
                                           .description = description};
    transaction->tag[JOURNAL_TAG_MONTH] = xstrdup (m->month);
    transaction->tag[JOURNAL_TAG_PERIOD]
        = xstrdup (m->hash ? "closed" : "open");
    transaction->tag[JOURNAL_TAG_HASH] = xstrdup (m->hash);
    return transaction;
}

/* What has no posting is no transaction. */
static void end (journal_t *journal)
{
    journal_transaction_t *last = &journal->transaction[journal->count - 1];

    if (last->count > 0)
        return;
    free_transaction (last);
    journal->count--;
}

/* Where an amount goes; the account's texts are borrowed. */
struct account {
    const char *part[JOURNAL_DEPTH];
    size_t depth;
};

#define ACCOUNT(...)                                                      \
    (struct account)                                                      \
    {                                                                     \
        {__VA_ARGS__},                                                    \
            sizeof ((const char *[]){__VA_ARGS__}) / sizeof (const char *) \
    }

static bool same_text (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

static bool is_of (const journal_posting_t *posting,
                   const struct account *account)
{
    if (posting->depth != account->depth)
        return false;
    for (size_t i = 0; i < account->depth; i++)
        if (!same_text (posting->account[i], account->part[i]))
            return false;
    return true;
}

static journal_posting_t *add_posting (journal_transaction_t *transaction,
                                       struct account account)
{
    journal_posting_t *posting;

    transaction->posting
        = xreallocarray (transaction->posting, transaction->count + 1,
                         sizeof (*transaction->posting));
    posting = &transaction->posting[transaction->count++];
    memset (posting, 0, sizeof (*posting));
    mpz_init (posting->units);
    posting->depth = account.depth;
    for (size_t i = 0; i < account.depth; i++)
        posting->account[i] = xstrdup (account.part[i]);
    return posting;
}

/* The other side: one posting for each account, from `first` on. */
static void take_off (journal_transaction_t *transaction, size_t first,
                      struct account account, mpz_srcptr units)
{
    journal_posting_t *posting = NULL;

    for (size_t i = first; i < transaction->count && !posting; i++)
        if (is_of (&transaction->posting[i], &account))
            posting = &transaction->posting[i];
    if (!posting)
        posting = add_posting (transaction, account);
    mpz_sub (posting->units, posting->units, units);
}

static void put_number (char **tag, mpq_t value, int digits)
{
    if (mpq_sgn (value) != 0)
        *tag = exact_text (value, digits);
}

/* Hours of the seconds, and amount per hour. */
static void put_quantity (journal_posting_t *posting, mpq_srcptr seconds,
                          mpq_srcptr exact)
{
    mpq_t hours, rate;

    mpq_inits (hours, rate, NULL);
    mpq_set_ui (rate, 3600, 1);
    mpq_div (hours, seconds, rate);
    put_number (&posting->tag[JOURNAL_TAG_GPU_HOURS], hours, 6);
    if (exact && mpq_sgn (hours) > 0) {
        mpq_div (rate, exact, hours);
        put_number (&posting->tag[JOURNAL_TAG_RATE], rate, 4);
    }
    mpq_clears (hours, rate, NULL);
}

/* --- what a pool cost -------------------------------------------------- */

static bool is_line_of (const bill_cost_t *cost, const bill_pool_t *pool)
{
    return strcmp (cost->month, pool->month) == 0
           && strcmp (cost->pool, pool->pool) == 0 && mpz_sgn (cost->units);
}

static void post_cost (const struct posting_month *m, const bill_pool_t *pool,
                       mpz_t balance)
{
    journal_transaction_t *t
        = begin (m, xasprintf ("Cost of %s in %s", pool->pool, m->month));
    size_t count, first;
    const bill_cost_t *costs = bill_costs (m->bill, &count);

    t->tag[JOURNAL_TAG_POOL] = xstrdup (pool->pool);
    for (size_t i = 0; i < count; i++) {
        const char *kind = cost_kind_name (costs[i].kind);
        struct account account
            = ACCOUNT ("cost", pool->pool, kind, costs[i].name);
        if (!is_line_of (&costs[i], pool))
            continue;
        if (same_text (kind, costs[i].name))
            account.depth--;
        mpz_set (add_posting (t, account)->units, costs[i].units);
        mpz_add (balance, balance, costs[i].units);
    }
    first = t->count;
    for (size_t i = 0; i < count; i++)
        if (is_line_of (&costs[i], pool))
            take_off (t, first,
                      ACCOUNT ("accruals", pool->pool,
                               cost_kind_name (costs[i].kind)),
                      costs[i].units);
    end (m->journal);
}

/* --- what nobody is charged -------------------------------------------- */

/* What stands against a row. */
typedef enum {
    SIDE_COST,        /* a part of the cost of its pool and month */
    SIDE_CORRECTIONS, /* a computed correction, which others balance */
    SIDE_UNRECOVERED, /* given or taken by hand */
    SIDE_TAX,
} side_t;

static bool starts_with (const char *text, const char *word)
{
    return text && strncmp (text, word, strlen (word)) == 0;
}

static side_t side_of (const bill_row_t *row, const char *month)
{
    if (row->kind == BILL_TAX || starts_with (row->origin, "tax"))
        return SIDE_TAX;
    if (row->kind == BILL_CORRECTION && row->origin && row->pool)
        return SIDE_CORRECTIONS;
    return row->reason || row->kind == BILL_CORRECTION || !row->pool
                   || !same_text (row->month, month)
               ? SIDE_UNRECOVERED
               : SIDE_COST;
}

/* A correction of a class of what nobody is charged: its word, else NULL. */
static const char *corrected_class (const bill_row_t *row)
{
    static const char prefix[] = "remainder:";

    return row->kind == BILL_CORRECTION && starts_with (row->origin, prefix)
               ? row->origin + sizeof (prefix) - 1
               : NULL;
}

static bool is_pool_row (const bill_row_t *row, const char *month,
                         const char *pool)
{
    return same_text (row->month, month) && same_text (row->pool, pool);
}

static void post_remainders (const struct posting_month *m,
                             const bill_pool_t *pool, mpz_t balance)
{
    journal_transaction_t *t = begin (
        m, xasprintf ("Not charged of %s in %s", pool->pool, m->month));
    size_t count;
    const bill_row_t *rows = bill_rows (m->bill, &count);
    mpz_t sum;

    mpz_init (sum);
    t->tag[JOURNAL_TAG_POOL] = xstrdup (pool->pool);
    for (size_t i = 0; i < count; i++) {
        journal_posting_t *posting;
        if (rows[i].kind != BILL_REMAINDER
            || !is_pool_row (&rows[i], m->month, pool->pool)
            || mpz_sgn (rows[i].charge_units) == 0)
            continue;
        posting = add_posting (
            t, ACCOUNT ("unrecovered", pool->pool, rows[i].what));
        mpz_set (posting->units, rows[i].charge_units);
        put_quantity (posting, rows[i].gpu_seconds, NULL);
        mpz_add (sum, sum, rows[i].charge_units);
    }
    if (t->count > 0)
        take_off (t, t->count, ACCOUNT ("cost", pool->pool, "unrecovered"),
                  sum);
    end (m->journal);
    mpz_sub (balance, balance, sum);
    mpz_clear (sum);
}

/* --- what teams are charged -------------------------------------------- */

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

/* Rows that are equal here are one posting. */
static int compare_dues (const void *a, const void *b)
{
    const bill_row_t *x = *(const bill_row_t *const *)a,
                     *y = *(const bill_row_t *const *)b;
    int order = compare_texts (x->team, y->team);

    if (order == 0)
        order = compare_texts (x->key[0], y->key[0]);
    if (order == 0)
        order = compare_texts (x->pool, y->pool);
    if (order == 0)
        order = compare_texts (x->month, y->month);
    if (order == 0)
        order = (int)x->kind - (int)y->kind;
    if (order == 0)
        order = compare_texts (x->what, y->what);
    if (order == 0)
        order = compare_texts (x->reference, y->reference);
    if (order == 0)
        order = compare_texts (x->origin, y->origin);
    return order ? order : compare_texts (x->reason, y->reason);
}

static bool is_due (const bill_row_t *row)
{
    return row->kind != BILL_REMAINDER && !corrected_class (row)
           && mpz_sgn (row->charge_units) != 0;
}

static void choose_rows (struct posting_month *m)
{
    size_t count;
    const bill_row_t *rows = bill_rows (m->bill, &count);

    m->rows = xcalloc (count + 1, sizeof (*m->rows));
    for (size_t i = 0; i < count; i++)
        if (is_due (&rows[i]))
            m->rows[m->count++] = &rows[i];
    if (m->count > 1)
        qsort (m->rows, m->count, sizeof (*m->rows), compare_dues);
}

static const char *cost_center_of (const struct posting_month *m,
                                   const char *team)
{
    const site_t *site = m->journal->site;
    civil_t civil;
    period_t month;

    if (!team || calendar_parse_month (m->month, strlen (m->month), &civil) < 0)
        return NULL;
    month = zone_unit (site->zone, CALENDAR_MONTH,
                       zone_instant (site->zone, &civil));
    for (size_t i = site->team_count; i-- > 0;) {
        const site_team_t *entry = &site->teams[i];
        if (strcmp (entry->name, team) == 0 && entry->valid.start < month.end
            && month.start < entry->valid.end)
            return entry->cost_center;
    }
    return NULL;
}

/* The rows [from, to), which are one posting. */
static void post_due (const struct posting_month *m, journal_transaction_t *t,
                      size_t from, size_t to)
{
    const bill_row_t *row = m->rows[from];
    journal_posting_t *posting = add_posting (
        t, ACCOUNT ("charges", row->team, row->key[0], row->pool,
                    bill_kind_word (row->kind)));
    mpq_t seconds, exact;

    mpq_inits (seconds, exact, NULL);
    for (size_t i = from; i < to; i++) {
        mpz_add (posting->units, posting->units, m->rows[i]->charge_units);
        mpq_add (seconds, seconds, m->rows[i]->gpu_seconds);
        mpq_add (exact, exact, m->rows[i]->exact);
    }
    put_quantity (posting, seconds, row->kind == BILL_CHARGE ? exact : NULL);
    posting->tag[JOURNAL_TAG_WHAT] = xstrdup (row->what);
    posting->tag[JOURNAL_TAG_REFERENCE] = xstrdup (row->reference);
    posting->tag[JOURNAL_TAG_REASON] = xstrdup (row->reason);
    if (!same_text (row->month, m->month))
        posting->tag[JOURNAL_TAG_ORIGIN] = xstrdup (row->month);
    mpq_clears (seconds, exact, NULL);
}

static struct account other_side (const struct posting_month *m,
                                  const bill_row_t *row)
{
    switch (side_of (row, m->month)) {
    case SIDE_TAX:
        return ACCOUNT ("taxes", row->kind == BILL_TAX ? row->what
                                 : starts_with (row->origin, "tax:")
                                     ? row->origin + strlen ("tax:")
                                     : NULL);
    case SIDE_UNRECOVERED:
        return ACCOUNT ("unrecovered", row->pool, "by_hand");
    case SIDE_CORRECTIONS:
        return ACCOUNT ("cost", row->pool, "corrections");
    default:
        return ACCOUNT ("cost", row->pool, "charged");
    }
}

/* The rows [from, to) are of one team. */
static void post_team (const struct posting_month *m, size_t from, size_t to)
{
    const char *team = m->rows[from]->team;
    journal_transaction_t *t
        = begin (m, team ? xasprintf ("Charges of %s to %s", m->month, team)
                         : xasprintf ("Charges of %s to no team", m->month));
    size_t first;

    t->tag[JOURNAL_TAG_TEAM] = xstrdup (team);
    t->tag[JOURNAL_TAG_COST_CENTER] = xstrdup (cost_center_of (m, team));
    for (size_t i = from, next; i < to; i = next) {
        for (next = i + 1;
             next < to && compare_dues (&m->rows[i], &m->rows[next]) == 0;)
            next++;
        post_due (m, t, i, next);
    }
    first = t->count;
    for (size_t i = from; i < to; i++)
        take_off (t, first, other_side (m, m->rows[i]),
                  m->rows[i]->charge_units);
}

static void post_teams (const struct posting_month *m)
{
    for (size_t i = 0, next; i < m->count; i = next) {
        for (next = i + 1;
             next < m->count
             && same_text (m->rows[i]->team, m->rows[next]->team);)
            next++;
        post_team (m, i, next);
    }
}

/* What of the pool's cost is charged in its own month. */
static void take_charged (const struct posting_month *m,
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
    const bill_row_t *x = *(const bill_row_t *const *)a,
                     *y = *(const bill_row_t *const *)b;
    int order = compare_texts (x->pool, y->pool);

    return order ? order : bill_row_compare (x, y);
}

/* The rows [from, to) of one pool: its classes, and the cost where that has
 * changed. */
static void post_corrections (const struct posting_month *m,
                              const bill_row_t *const *rows, size_t count)
{
    const char *pool = rows[0]->pool;
    journal_transaction_t *t
        = begin (m, xasprintf ("Corrections of %s in %s", pool, m->month));
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
        posting = add_posting (t, ACCOUNT ("unrecovered", pool, class));
        mpz_set (posting->units, rows[i]->charge_units);
        posting->tag[JOURNAL_TAG_WHAT] = xstrdup (rows[i]->what);
        posting->tag[JOURNAL_TAG_ORIGIN] = xstrdup (rows[i]->month);
    }
    first = t->count;
    for (size_t i = 0; i < first; i++)
        take_off (t, first, ACCOUNT ("cost", pool, "corrections"),
                  t->posting[i].units);
    if (mpz_sgn (sum) != 0) {
        mpz_neg (negative, sum);
        take_off (t, first, ACCOUNT ("cost", pool, "corrections"), negative);
        take_off (t, first, ACCOUNT ("accruals", pool, "corrections"), sum);
    }
    mpz_clears (sum, negative, NULL);
    end (m->journal);
}

static void post_all_corrections (const struct posting_month *m)
{
    size_t count, chosen = 0;
    const bill_row_t *rows = bill_rows (m->bill, &count);
    const bill_row_t **list = xcalloc (count + 1, sizeof (*list));

    for (size_t i = 0; i < count; i++)
        if (mpz_sgn (rows[i].charge_units) != 0
            && side_of (&rows[i], m->month) == SIDE_CORRECTIONS)
            list[chosen++] = &rows[i];
    if (chosen > 1)
        qsort (list, chosen, sizeof (*list), by_pool);
    for (size_t i = 0, next; i < chosen; i = next) {
        for (next = i + 1;
             next < chosen && same_text (list[i]->pool, list[next]->pool);)
            next++;
        post_corrections (m, list + i, next - i);
    }
    free (list);
}

/* --- a month ----------------------------------------------------------- */

static int check_pool (const struct posting_month *m, const bill_pool_t *pool,
                       const mpz_t balance, gl_error_t *error)
{
    GL_AUTOFREE char *text = NULL;

    if (mpz_sgn (balance) == 0)
        return 0;
    text = exact_units_text (balance, m->journal->site->currency_digits);
    return gl_error (error,
                     "pool %s in %s: its cost is %s more than its charges and "
                     "remainders (this is a defect, please report it)",
                     pool->pool, m->month, text);
}

static int post_pools (const struct posting_month *m, gl_error_t *error)
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
static int check_rows (const struct posting_month *m, gl_error_t *error)
{
    size_t count, pool_count;
    const bill_row_t *rows = bill_rows (m->bill, &count);
    const bill_pool_t *pools = bill_pools (m->bill, &pool_count);

    for (size_t i = 0; i < count; i++) {
        bool found
            = mpz_sgn (rows[i].charge_units) == 0
              || (rows[i].kind != BILL_REMAINDER
                  && side_of (&rows[i], m->month) != SIDE_COST);
        for (size_t k = 0; k < pool_count && !found; k++)
            found = is_pool_row (&rows[i], m->month, pools[k].pool)
                    && same_text (pools[k].month, m->month);
        if (!found)
            return gl_error (error,
                             "a %s of pool %s in %s has no cost beside it "
                             "(this is a defect, please report it)",
                             bill_kind_word (rows[i].kind),
                             rows[i].pool ? rows[i].pool : "(none)",
                             rows[i].month ? rows[i].month : "(none)");
    }
    return 0;
}

int journal_add_month (journal_t *journal, const char *month,
                       const bill_t *bill, const char *hash, gl_error_t *error)
{
    struct posting_month m
        = {.journal = journal, .bill = bill, .month = month, .hash = hash};
    int rc;

    if (check_rows (&m, error) < 0)
        return -1;
    choose_rows (&m);
    rc = post_pools (&m, error);
    post_all_corrections (&m);
    free (m.rows);
    return rc;
}
