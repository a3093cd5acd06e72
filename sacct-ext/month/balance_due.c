#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "month/balance_due.h"
#include "site/site.h"

/* --- sets of rows ------------------------------------------------------- */

static bool same (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

static bool is_of_line (const posting_t *line, const posting_t *row)
{
    bool is = same (row->gpu, line->gpu) && same (row->profile, line->profile);

    for (size_t i = 0; i < CHARGE_PATH_COUNT && is; i++)
        is = same (row->key[i], line->key[i]);
    return is;
}

/* Whatever its month. */
static bool holds (const balance_due_t *due, const posting_t *row)
{
    const posting_t *line = due->row;

    if (!posting_is_due (row) || row->kind == BILL_TAX)
        return false;
    if (due->set == BALANCE_DUE_PART)
        return due->reference && same (row->reference, due->reference);
    return posting_of (row, line->team)
           && (due->set < BALANCE_DUE_POOL || same (row->pool, line->pool))
           && (due->set < BALANCE_DUE_LINE || is_of_line (line, row));
}

/* --- what is due --------------------------------------------------------- */

/* Of rows that are of the month, wherever they are billed: in closings, and in
 * the bill of the open month. Of several sets at once; of a part without its
 * charge, which who asks knows. */
static int add_due (store_t *store, const periods_t *periods,
                    const month_t *open, const char *month, balance_due_t *due,
                    size_t count, gl_error_t *error)
{
    bill_t *bill = bill_new ();
    int rc = periods_rows (store, periods, month, open->name, bill, error);
    const bill_t *const bills[] = {bill, open->bill};

    for (size_t b = 0; b < GL_ARRAY_SIZE (bills); b++) {
        size_t row_count;
        const posting_t *rows = postings (bills[b], &row_count);
        for (size_t i = 0; i < row_count; i++)
            for (size_t k = 0; k < count && same (rows[i].month, month); k++)
                if (holds (&due[k], &rows[i]))
                    mpz_add (due[k].units, due[k].units, rows[i].charge_units);
    }
    bill_free (bill);
    return rc;
}

static int read_open (store_t *store, const site_t *site,
                      const periods_t *periods, month_t **ret_open,
                      gl_error_t *error)
{
    const month_how_t how = {.periods = periods};
    char open[MONTH_SIZE];

    return periods_open_month (store, site, periods, open, error) < 0
               ? -1
               : month_read (store, site, open, &how, ret_open, error);
}

/* --- giving back ---------------------------------------------------------- */

static char *name_of (const balance_due_of_t *of, balance_due_set_t set)
{
    const char *team
        = of->row->team ? of->row->team : key_info (KEY_TEAM)->absent;

    switch (set) {
    case BALANCE_DUE_TEAM:
        return xasprintf ("'%s'", team);
    case BALANCE_DUE_POOL:
        return xasprintf ("'%s' in pool '%s'", team,
                          of->row->pool ? of->row->pool : "");
    case BALANCE_DUE_LINE:
        return xasprintf ("the line of %s", of->part);
    default:
        return xstrdup (of->part);
    }
}

static int too_much (const site_t *site, const balance_due_of_t *of,
                     const balance_due_t *due, const mpz_t units,
                     gl_error_t *error)
{
    GL_AUTOFREE char *text = exact_units_text (units, site->currency_digits);
    GL_AUTOFREE char *most
        = exact_units_text (due->units, site->currency_digits);
    GL_AUTOFREE char *name = name_of (of, due->set);

    return gl_error (error,
                     "%s %s is more than %s %s, the charge of %s for %s with "
                     "corrections and credits",
                     text, site->currency, most, site->currency, name,
                     of->month);
}

/* The set of which the least is due; of equal ones the widest. */
static const balance_due_t *least_of (const balance_due_t *due, size_t count)
{
    const balance_due_t *least = &due[0];

    for (size_t i = 1; i < count; i++)
        if (mpz_cmp (due[i].units, least->units) < 0)
            least = &due[i];
    return least;
}

int balance_due_give (store_t *store, const site_t *site,
                      const periods_t *periods, const balance_due_of_t *of,
                      mpz_t units, gl_error_t *error)
{
    balance_due_t due[BALANCE_DUE_SET_COUNT];
    const size_t count = (size_t)of->set + 1;
    const balance_due_t *least;
    month_t *open;
    int rc;

    if (read_open (store, site, periods, &open, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        due[i] = (balance_due_t){.set = (balance_due_set_t)i,
                                 .row = of->row,
                                 .reference = of->reference};
        mpz_init (due[i].units);
    }
    if (of->set == BALANCE_DUE_PART)
        mpz_set (due[BALANCE_DUE_PART].units, of->charged);
    rc = add_due (store, periods, open, of->month, due, count, error);
    month_free (open);
    least = least_of (due, count);
    if (rc == 0 && mpz_sgn (units) == 0 && mpz_sgn (least->units) <= 0)
        rc = gl_error (error, "nothing is left that could be credited: "
                              "corrections and credits already cover the "
                              "charge");
    else if (rc == 0 && mpz_sgn (units) == 0)
        mpz_set (units, least->units);
    else if (rc == 0 && mpz_cmp (units, least->units) > 0)
        rc = too_much (site, of, least, units, error);
    for (size_t i = 0; i < count; i++)
        mpz_clear (due[i].units);
    return rc;
}

/* --- below nothing -------------------------------------------------------- */

struct sets {
    balance_due_t *due;
    size_t count;
};

static bool is_same_set (const balance_due_t *due, const balance_due_t *other)
{
    return due->set == other->set && same (due->row->team, other->row->team)
           && (due->set < BALANCE_DUE_POOL
               || same (due->row->pool, other->row->pool));
}

/* A row of the bill is of the month, and in the set. */
static bool is_billed (const bill_t *bill, const char *month,
                       const balance_due_t *due)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (same (rows[i].month, month) && holds (due, &rows[i]))
            return true;
    return false;
}

static void add_set (struct sets *s, balance_due_set_t set,
                     const posting_t *row, const bill_t *bill)
{
    balance_due_t due = {.set = set, .row = row};

    for (size_t i = 0; i < s->count; i++)
        if (is_same_set (&s->due[i], &due))
            return;
    if (!is_billed (bill, row->month, &due))
        return;
    mpz_init (due.units);
    s->due = xreallocarray (s->due, s->count + 1, sizeof (*s->due));
    s->due[s->count++] = due;
}

/* What the pools of a team are below 0 together. */
static void sum_pools (const struct sets *s, const posting_t *row, mpz_t sum)
{
    mpz_set_ui (sum, 0);
    for (size_t i = 0; i < s->count; i++)
        if (s->due[i].set == BALANCE_DUE_POOL
            && same (s->due[i].row->team, row->team)
            && mpz_sgn (s->due[i].units) < 0)
            mpz_add (sum, sum, s->due[i].units);
}

/* A team that its pools explain is not named again. */
static void tell_below (const struct sets *s, balance_due_below_f callback,
                        void *arg)
{
    mpz_t known;

    mpz_init (known);
    for (size_t i = 0; i < s->count; i++) {
        const balance_due_t *due = &s->due[i];
        if (due->set == BALANCE_DUE_TEAM)
            sum_pools (s, due->row, known);
        if (mpz_sgn (due->units) < 0
            && (due->set != BALANCE_DUE_TEAM
                || mpz_cmp (due->units, known) < 0))
            callback (due, arg);
    }
    mpz_clear (known);
}

struct looking {
    store_t *store;
    const periods_t *periods;
    const bill_t *billed; /* a set is reported if it has rows here */
    const month_t *open;
    balance_due_below_f callback;
    void *arg;
};

/* Of the manual rows that are of the month of the `first`. */
static int month_below (const struct looking *l, size_t first,
                        gl_error_t *error)
{
    const periods_t *periods = l->periods;
    const char *month = periods->decisions[first].row->month;
    struct sets s = {NULL, 0};
    int rc = 0;

    for (size_t i = first; i < periods->decision_count; i++) {
        const posting_t *row = periods->decisions[i].row;
        if (!row || !same (row->month, month))
            continue;
        add_set (&s, BALANCE_DUE_TEAM, row, l->billed);
        if (row->pool)
            add_set (&s, BALANCE_DUE_POOL, row, l->billed);
    }
    if (s.count > 0)
        rc = add_due (l->store, periods, l->open, month, s.due, s.count, error);
    if (rc == 0)
        tell_below (&s, l->callback, l->arg);
    for (size_t i = 0; i < s.count; i++)
        mpz_clear (s.due[i].units);
    free (s.due);
    return rc;
}

static bool is_first_of_month (const periods_t *periods, size_t at)
{
    const posting_t *row = periods->decisions[at].row;

    for (size_t i = 0; row && i < at; i++)
        if (periods->decisions[i].row
            && same (periods->decisions[i].row->month, row->month))
            return false;
    return row != NULL;
}

static int each_below (struct looking *l, gl_error_t *error)
{
    for (size_t i = 0; i < l->periods->decision_count; i++)
        if (is_first_of_month (l->periods, i) && month_below (l, i, error) < 0)
            return -1;
    return 0;
}

int balance_due_each_below (store_t *store, const site_t *site,
                            const periods_t *periods, const month_t *billed,
                            balance_due_below_f callback, void *arg,
                            gl_error_t *error)
{
    struct looking l = {store, periods, billed->bill, billed, callback, arg};
    month_t *open;
    int rc;

    if (billed->state == MONTH_OPEN)
        return each_below (&l, error);
    if (read_open (store, site, periods, &open, error) < 0)
        return -1;
    l.open = open;
    rc = each_below (&l, error);
    month_free (open);
    return rc;
}
