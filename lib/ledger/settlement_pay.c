#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/settlement_private.h"

/* --- rows ----------------------------------------------------------------- */

static const char out_keys[] = "kind,month,pool,team,account,user,project,what,"
                               "reference,counterparty,cost_object";

cube_t *settlement_rows (void)
{
    return cube_new (&bill_fields[BILL_POSTINGS], out_keys);
}

void settlement_add_row (struct settling *s, const struct side *side,
                         const mpz_t units, int sign)
{
    const site_settlement_t *rule = s->rule;
    posting_t row, *to;

    memset (&row, 0, sizeof (row));
    posting_init (&row);
    row.kind = side->team ? BILL_SETTLEMENT : BILL_REMAINDER;
    row.month = (char *)s->how->month;
    row.pool = (char *)side->pool;
    row.team = (char *)side->team;
    *posting_key_at (&row, KEY_ACCOUNT) = (char *)side->account;
    *posting_key_at (&row, KEY_USER) = (char *)side->user;
    *posting_key_at (&row, KEY_PROJECT) = (char *)side->project;
    row.what = (char *)(side->team ? settle_kind_word ((unsigned)rule->rule)
                                   : settlement_site_side (rule->rule));
    row.reference = rule->name;
    row.counterparty = (char *)side->counterparty;
    row.cost_object = (char *)side->cost_object;
    to = cube_add (s->out, &row);
    if (sign > 0)
        mpz_add (to->charge_units, to->charge_units, units);
    else
        mpz_sub (to->charge_units, to->charge_units, units);
    row.month = row.pool = row.team = row.what = row.reference = NULL;
    row.counterparty = row.cost_object = NULL;
    *posting_key_at (&row, KEY_ACCOUNT) = NULL;
    *posting_key_at (&row, KEY_USER) = NULL;
    *posting_key_at (&row, KEY_PROJECT) = NULL;
    posting_clear (&row);
}

/* What a rule takes off a cell, and who has it instead. */
static void add_pair (struct settling *s, const struct cell *c,
                      const mpz_t units)
{
    const char *payer
        = s->rule->payer ? settlement_team_name (s, s->rule->payer) : NULL;
    bool by_user = settle_by_user (s->rule);
    const struct side from
        = {.team = c->key->team,
           .pool = c->key->pool,
           .account = posting_key (c->key, KEY_ACCOUNT),
           .user = by_user ? posting_key (c->key, KEY_USER) : NULL,
           .project = posting_key (c->key, KEY_PROJECT),
           .counterparty = payer};
    const struct side to = {.team = payer,
                            .pool = c->key->pool,
                            .counterparty = payer ? c->key->team : NULL};

    settlement_add_row (s, &from, units, -1);
    settlement_add_row (s, &to, units, 1);
}

/* What the site charges a team on top: the remainder has the other sign. */
void settlement_add_fee (struct settling *s, const char *team,
                         const mpz_t units)
{
    const struct side from = {.team = team}, to = {.team = NULL};

    if (mpz_sgn (units) == 0)
        return;
    settlement_add_row (s, &from, units, 1);
    settlement_add_row (s, &to, units, -1);
}

void settlement_write (struct settling *s)
{
    mpq_t units;
    mpz_t scale;

    mpq_init (units);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)s->how->site->currency_digits);
    for (size_t i = 0; i < cube_count (s->out); i++) {
        const posting_t *from = cube_row (s->out, i);
        posting_t *to;
        if (mpz_sgn (from->charge_units) == 0)
            continue;
        to = bill_add (s->bill);
        posting_copy (to, from);
        mpq_set_z (to->exact, from->charge_units);
        mpq_set_z (units, scale);
        mpq_div (to->exact, to->exact, units);
        if (to->kind == BILL_SETTLEMENT)
            mpz_set (to->list_units, to->charge_units);
    }
    mpq_clear (units);
    mpz_clear (scale);
}

/* --- paying for charges --------------------------------------------------- */

void settlement_least (mpq_t value, mpq_srcptr most)
{
    if (mpq_cmp (value, most) > 0)
        mpq_set (value, most);
}

void settle_limit_init (struct limit *limit)
{
    memset (limit, 0, sizeof (*limit));
    mpz_init (limit->units);
    mpq_init (limit->seconds);
}

void settle_limit_clear (struct limit *limit)
{
    mpz_clear (limit->units);
    mpq_clear (limit->seconds);
}

/* What it pays of each cell, before rounding: all, as far as the limit goes.
 * Returns of how many cells, whose parts are initialised. */
static size_t pay_parts (const struct settling *s, const struct payer *p,
                         const struct limit *limit, mpq_srcptr ratio,
                         mpq_t *part, mpq_t ret_seconds)
{
    bool even = s->rule->order == SETTLE_IN_PROPORTION;
    bool money = limit->money && !even, hours = limit->hours && !even;
    mpq_t left, covered;
    size_t i;

    mpq_inits (left, covered, NULL);
    if (money)
        mpq_set_z (left, limit->units);
    else
        mpq_set (left, limit->seconds);
    for (i = 0; i < p->count && (!(money || hours) || mpq_sgn (left) > 0);
         i++) {
        const struct cell *c = &s->cell[p->member[i]];
        mpq_init (part[i]);
        mpq_set_z (part[i], c->due);
        if (mpq_sgn (s->rule->share) > 0)
            mpq_mul (part[i], part[i], s->rule->share);
        if (money) {
            settlement_least (part[i], left);
            mpq_sub (left, left, part[i]);
            continue;
        }
        if (!limit->hours && !limit->money)
            continue;
        mpq_set (covered, c->due_seconds);
        if (limit->hours && mpq_sgn (covered) == 0)
            mpq_set_ui (part[i], 0, 1);
        else if (even) {
            mpq_mul (part[i], part[i], ratio);
            mpq_mul (covered, covered, ratio);
        } else if (mpq_cmp (covered, left) > 0) {
            mpq_div (covered, left, c->due_seconds);
            mpq_mul (part[i], part[i], covered);
            mpq_set (covered, left);
        }
        if (hours)
            mpq_sub (left, left, covered);
        mpq_add (ret_seconds, ret_seconds, covered);
    }
    mpq_clears (left, covered, NULL);
    return i;
}

/* In proportion: what share of each cell the limit is enough for. */
static void even_ratio (const struct settling *s, const struct payer *p,
                        const struct limit *limit, mpq_t ret_ratio)
{
    mpq_t seconds, all;
    mpz_t due;

    mpz_init (due);
    mpq_inits (seconds, all, NULL);
    settlement_due (s, p, due, seconds);
    mpq_set_z (all, due);
    if (mpq_sgn (s->rule->share) > 0)
        mpq_mul (all, all, s->rule->share);
    mpq_set_ui (ret_ratio, 1, 1);
    if (limit->hours && mpq_cmp (limit->seconds, seconds) < 0)
        mpq_div (ret_ratio, limit->seconds, seconds);
    else if (limit->money) {
        mpq_set_z (seconds, limit->units);
        if (mpq_cmp (seconds, all) < 0)
            mpq_div (ret_ratio, seconds, all);
    }
    mpz_clear (due);
    mpq_clears (seconds, all, NULL);
}

/* The cell is paid: what is left of it. Its hours go with its money, so that
 * the next rule does not pay them again. */
static void take_off (struct cell *c, const mpz_t units)
{
    mpq_t kept;

    mpq_init (kept);
    if (mpz_sgn (c->left) > 0) {
        mpz_set (mpq_denref (kept), c->left);
        mpz_sub (mpq_numref (kept), c->left, units);
        mpq_canonicalize (kept);
        mpq_mul (c->seconds, c->seconds, kept);
    }
    mpz_sub (c->left, c->left, units);
    mpq_clear (kept);
}

/* What was paid of each cell, into rows; what a sponsor pays is a charge of its
 * own. */
static void settle_paid (struct settling *s, const struct payer *p)
{
    mpz_t paid;

    mpz_init (paid);
    for (size_t i = 0; i < p->count; i++) {
        size_t at = p->member[i];
        if (mpz_sgn (s->cell[at].paid) == 0)
            continue;
        mpz_swap (paid, s->cell[at].paid);
        mpz_set_ui (s->cell[at].paid, 0);
        add_pair (s, &s->cell[at], paid);
        take_off (&s->cell[at], paid);
        if (s->rule->payer)
            settlement_add_charge (s, SETTLE_OF_SPONSORED,
                                   settlement_team_name (s, s->rule->payer),
                                   s->cell[at].key->pool, paid);
    }
    mpz_clear (paid);
}

static int share_parts (mpq_t *part, size_t count, mpz_t *units,
                        mpz_t ret_total, gl_error_t *error)
{
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < count; i++)
        mpq_add (sum, sum, part[i]);
    exact_round (ret_total, sum, 0);
    mpq_clear (sum);
    return exact_share (ret_total, (const mpq_t *)part, count, units, error);
}

/* Pays the due charges. */
int settlement_pay (struct settling *s, const struct payer *p,
                    const struct limit *limit, mpz_t ret_paid,
                    mpq_t ret_seconds, gl_error_t *error)
{
    mpq_t *part = xcalloc (p->count + 1, sizeof (*part)), ratio;
    mpz_t *units;
    size_t count;
    int rc;

    mpq_init (ratio);
    if (s->rule->order == SETTLE_IN_PROPORTION)
        even_ratio (s, p, limit, ratio);
    mpq_set_ui (ret_seconds, 0, 1);
    count = pay_parts (s, p, limit, ratio, part, ret_seconds);
    units = xcalloc (count + 1, sizeof (*units));
    for (size_t i = 0; i < count; i++)
        mpz_init (units[i]);
    rc = share_parts (part, count, units, ret_paid, error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            mpz_set (s->cell[p->member[i]].paid, units[i]);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    if (rc == 0)
        settle_paid (s, p);
    mpq_clear (ratio);
    free (part);
    free (units);
    return rc;
}
