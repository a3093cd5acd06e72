/*
 * What rows draw on what a team is entitled to (charge.h): of all of its jobs
 * in a pool the same part is within, so that of each row a part of its hours is
 * paid beforehand, and the rest is billed. Where the entitlement has a price,
 * these hours have the value of the price paid, so that over the months
 *
 *   paid + value of the rollover = drawn + expired + rollover out
 *
 * to the last digit; else they have the value of what would be due for them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/line_items_private.h"

char *line_items_commitment (const char *team, const char *pool)
{
    return xasprintf ("%s/%s", team, pool);
}

/* --- what it has in a month ----------------------------------------------- */

void line_items_hours_of (mpz_t ret, mpq_srcptr seconds)
{
    mpq_t hours;

    mpq_init (hours);
    exact_add_scaled (hours, seconds, 1, 3600);
    exact_round (ret, hours, LINE_ITEM_DIGITS);
    mpq_clear (hours);
}

static void round_money (mpz_t units, mpq_srcptr amount)
{
    exact_round (units, amount, LINE_ITEM_DIGITS);
}

static void portion_init (struct line_items_portion *p)
{
    mpz_inits (p->total, p->given, NULL);
    mpq_inits (p->whole, p->seen, NULL);
}

static void portion_clear (struct line_items_portion *p)
{
    mpz_clears (p->total, p->given, NULL);
    mpq_clears (p->whole, p->seen, NULL);
}

/* `in`: bought, and rolled over from last month; `had`: consumed by jobs and by
 * reservations, and expired. Once the month is over, the rest of `in` is the
 * amounts on the rows of the purchase less those that roll over. */
static void sum_portion (struct line_items_portion *p, const mpq_srcptr in[2],
                         const mpq_srcptr had[3], mpq_srcptr out,
                         void (*round) (mpz_t units, mpq_srcptr amount))
{
    mpq_t rest;
    mpz_t part;

    mpq_init (rest);
    mpz_init (part);
    for (int i = 0; i < 3; i++)
        exact_add (p->whole, had[i]);
    mpq_add (rest, in[0], in[1]);
    mpq_sub (rest, rest, out);
    round (p->total, p->whole);
    if (mpq_equal (rest, p->whole)) {
        round (p->total, in[0]);
        round (part, in[1]);
        mpz_add (p->total, p->total, part);
        round (part, out);
        mpz_sub (p->total, p->total, part);
    }
    mpz_clear (part);
    mpq_clear (rest);
}

static void sum_value (struct line_items_value *v)
{
    const charge_payer_t *p = v->payer;
    const mpq_srcptr hours[] = {p->entitled, p->rollover_in};
    const mpq_srcptr drawn[] = {p->drawn, p->consumed_reserved, p->expired};
    const mpq_srcptr money[] = {p->fee, p->value_in};
    const mpq_srcptr worth[]
        = {p->value_consumed, p->value_reserved, p->value_expired};

    v->is_paid = mpq_sgn (p->fee) != 0 || mpq_sgn (p->value_in) != 0;
    sum_portion (&v->hours, hours, drawn, p->rollover_out, line_items_hours_of);
    sum_portion (&v->money, money, worth, p->value_out, round_money);
}

/* NULL: there is no entitlement. */
static struct line_items_value *value_of (line_items_t *d,
                                          const charge_payer_t *payer)
{
    struct line_items_value *v;

    if (!payer)
        return NULL;
    for (size_t i = 0; i < d->value_count; i++)
        if (d->values[i].payer == payer)
            return &d->values[i];
    d->values
        = xreallocarray (d->values, d->value_count + 1, sizeof (*d->values));
    v = &d->values[d->value_count++];
    v->payer = payer;
    portion_init (&v->hours);
    portion_init (&v->money);
    sum_value (v);
    return v;
}

static void hand (struct line_items_portion *p, mpq_srcptr amount,
                  mpz_t ret_units)
{
    exact_add (p->seen, amount);
    line_items_share (ret_units, p->total, p->seen, p->whole, p->given);
}

/* Hours of what the payer draws; and, of `all`, whose value is `value`, what
 * these are, where something was paid for them. */
static void hand_value (struct line_items_value *v, mpq_srcptr value,
                        mpq_srcptr seconds, mpq_srcptr all, mpz_t ret_hours,
                        mpz_t ret_prepaid)
{
    mpq_t amount;

    hand (&v->hours, seconds, ret_hours);
    if (!v->is_paid)
        return;
    mpz_set_ui (ret_prepaid, 0);
    if (mpq_sgn (all) == 0)
        return;
    mpq_init (amount);
    mpq_div (amount, seconds, all);
    mpq_mul (amount, amount, value);
    hand (&v->money, amount, ret_prepaid);
    mpq_clear (amount);
}

/* --- a line --------------------------------------------------------------- */

/* Of its hours, the part of the payer's that is within. */
static void committed_seconds (const charge_line_t *charge,
                               const charge_payer_t *payer, mpq_t ret_seconds)
{
    mpq_div (ret_seconds, payer->drawn, payer->billed);
    mpq_mul (ret_seconds, ret_seconds, charge->price_seconds);
}

static void to_hours (mpz_t ret, mpq_srcptr seconds)
{
    mpz_t none;

    mpz_init (none);
    line_items_hours (ret, seconds, none);
    mpz_clear (none);
}

void line_items_figures_draw (line_items_t *d,
                              struct line_items_figures *figures,
                              const billing_line_t *from, const char *team)
{
    const charge_line_t *charge = from->line;
    const charge_payer_t *payer
        = charge_payer_of (from->pool_month->charge, team);
    struct line_items_value *value = value_of (d, payer);
    mpq_t committed, amount;

    if (!payer || mpq_sgn (charge->drawn) <= 0)
        return;
    mpq_inits (committed, amount, NULL);
    figures->commitment
        = line_items_commitment (payer->team, from->pool_month->pool);
    committed_seconds (charge, payer, committed);
    to_hours (figures->committed, committed);
    mpq_neg (amount, charge->adjustment[ADJUSTMENT_ENTITLEMENT]);
    exact_round (figures->prepaid, amount, LINE_ITEM_DIGITS);
    hand_value (value, payer->value_consumed, charge->drawn, payer->drawn,
                figures->drawn, figures->prepaid);
    line_items_hourly (figures->committed_rate, amount, committed);
    mpq_sub (committed, charge->price_seconds, committed);
    line_items_hourly (figures->rate, charge->charge, committed);
    mpq_clears (committed, amount, NULL);
}

/* --- a row ---------------------------------------------------------------- */

void line_items_share (mpz_t ret, mpz_srcptr total, mpq_srcptr seen,
                       mpq_srcptr whole, mpz_t given)
{
    mpz_t divisor;

    if (mpq_sgn (whole) == 0)
        return;
    mpz_init (divisor);
    mpz_mul (ret, total, mpq_numref (seen));
    mpz_mul (ret, ret, mpq_denref (whole));
    mpz_mul (divisor, mpq_denref (seen), mpq_numref (whole));
    mpz_fdiv_q (ret, ret, divisor);
    mpz_sub (ret, ret, given);
    mpz_add (given, given, ret);
    mpz_clear (divisor);
}

void line_items_put_drawn (line_items_t *d, struct line_items_line *line)
{
    mpq_srcptr seen = line->price_seen, whole = line->price_seconds;
    struct line_items_figures *figures = line->figures;
    line_item_t *row = &d->row;

    if (!figures->commitment)
        return;
    row->commitment = figures->commitment;
    line_items_share (row->consumed_hours, figures->drawn, seen, whole,
                      figures->given_drawn);
    line_items_share (row->committed_hours, figures->committed, seen, whole,
                      figures->given_committed);
    line_items_share (row->prepaid, figures->prepaid, seen, whole,
                      figures->given_prepaid);
    mpz_set (row->committed_rate, figures->committed_rate);
    /* by a last digit */
    if (mpz_cmp (row->committed_hours, row->price_hours) > 0)
        mpz_set (row->committed_hours, row->price_hours);
}

static void to_money (mpq_t ret, mpz_srcptr units, mpz_srcptr scale)
{
    mpq_set_num (ret, units);
    mpq_set_den (ret, scale);
    mpq_canonicalize (ret);
}

static const charge_payer_t *payer_of_row (const line_items_t *d,
                                           const char *pool, const char *team)
{
    for (size_t i = 0; pool && i < d->pool_count; i++)
        if (!strcmp (d->pool_months[i].pool, pool))
            return charge_payer_of (d->pool_months[i].charge, team);
    return NULL;
}

static void name_commitment (line_items_t *d, const posting_t *from)
{
    const charge_payer_t *payer = payer_of_row (d, from->pool, from->team);

    free (d->commitment);
    d->commitment
        = line_items_commitment (payer ? payer->team : from->team, from->pool);
    d->row.commitment = d->commitment;
}

/* Time of a reservation that no job used. */
void line_items_put_reserved (line_items_t *d, const posting_t *from)
{
    const posting_extra_t *extra = posting_extra (from);
    mpz_srcptr units = extra->adjustment_units[ADJUSTMENT_ENTITLEMENT];
    const charge_payer_t *payer = payer_of_row (d, from->pool, from->team);
    struct line_items_value *value = value_of (d, payer);
    line_item_t *row = &d->row;
    mpq_t amount, rest;
    mpz_t scale;

    if (from->kind != BILL_IDLE || mpq_sgn (extra->consumed_seconds) <= 0
        || !from->team)
        return;
    name_commitment (d, from);
    to_hours (row->committed_hours, extra->consumed_seconds);
    mpz_set (row->consumed_hours, row->committed_hours);
    mpq_inits (amount, rest, NULL);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned)d->query->site->currency_digits);
    to_money (amount, from->list_units, scale);
    mpz_set_ui (row->list_rate, 0);
    line_items_hourly (row->list_rate, amount, from->price_seconds);
    to_money (amount, units, scale);
    mpq_neg (amount, amount);
    exact_round (row->prepaid, amount, LINE_ITEM_DIGITS);
    if (value)
        hand_value (value, payer->value_reserved, extra->consumed_seconds,
                    payer->consumed_reserved, row->consumed_hours,
                    row->prepaid);
    line_items_hourly (row->committed_rate, amount, extra->consumed_seconds);
    mpq_sub (rest, from->price_seconds, extra->consumed_seconds);
    mpz_set_ui (row->rate, 0);
    line_items_hourly (row->rate, from->exact, rest);
    mpz_clear (scale);
    mpq_clears (amount, rest, NULL);
}

/* --- what is paid for it -------------------------------------------------- */

static bool is_of_purchase (const posting_t *row)
{
    const char *word = bill_kind_word (BILL_PURCHASE);

    return row->kind == BILL_PURCHASE
           || (row->kind == BILL_CORRECTION && row->origin
               && !strncmp (row->origin, word, strlen (word)));
}

/* Worth nothing by itself: what draws on it is. A correction has no hours. */
void line_items_put_bought (line_items_t *d, const posting_t *from)
{
    line_item_t *row = &d->row;
    mpq_t list;
    mpz_t scale;

    if (!is_of_purchase (from))
        return;
    mpz_neg (row->prepaid, row->billed);
    if (from->kind != BILL_PURCHASE)
        return;
    name_commitment (d, from);
    line_items_hours_of (row->price_hours, row->price_seconds);
    mpz_set (row->consumed_hours, row->price_hours);
    if (mpz_cmp (from->list_units, from->charge_units) == 0)
        return;
    mpq_init (list);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned)d->query->site->currency_digits);
    to_money (list, from->list_units, scale);
    line_items_hourly (row->list_rate, list, from->price_seconds);
    mpz_clear (scale);
    mpq_clear (list);
}

/* --- what has expired --------------------------------------------------------- */

void line_items_add_entitlement (line_items_t *d,
                                 const bill_entitlement_t *from)
{
    if ((mpq_sgn (from->expired) > 0 || mpq_sgn (from->value_expired) > 0)
        && !strcmp (from->month, d->month_name))
        fields_copy (&bill_fields[BILL_ENTITLEMENTS],
                     bill_append (d->extra, BILL_ENTITLEMENTS), from);
}

/* At what an hour without QOS is priced, where it is not paid. */
static void put_unused (line_items_t *d, const bill_entitlement_t *u)
{
    struct line_items_value *value
        = value_of (d, payer_of_row (d, u->pool, u->team));
    line_item_t *row = &d->row;
    mpq_t amount;

    row->pool = u->pool;
    row->team = u->team;
    row->statement = line_items_statement_of (d, u->team, NULL);
    free (d->commitment);
    row->commitment = d->commitment = line_items_commitment (u->team, u->pool);
    line_items_hours_of (row->consumed_hours, u->expired);
    mpq_init (amount);
    exact_round (row->list_rate, u->price, LINE_ITEM_DIGITS);
    mpz_set (row->committed_rate, row->list_rate);
    exact_add_scaled (amount, u->expired, 1, 3600);
    mpq_mul (amount, amount, u->price);
    exact_round (row->prepaid, amount, LINE_ITEM_DIGITS);
    if (value)
        hand_value (value, u->value_expired, u->expired, u->expired,
                    row->consumed_hours, row->prepaid);
    mpz_set (row->price_hours, row->consumed_hours);
    mpz_set (row->committed_hours, row->consumed_hours);
    mpq_clear (amount);
}

int line_items_each_unused (line_items_t *d, line_item_f callback, void *arg,
                            gl_error_t *error)
{
    size_t count;
    const bill_entitlement_t *unused = bill_entitlements (d->extra, &count);

    for (size_t i = 0; i < count; i++) {
        line_item_begin (d, LINE_ITEM_UNUSED);
        put_unused (d, &unused[i]);
        if (line_items_emit (d, callback, arg, error) < 0)
            return -1;
    }
    return 0;
}

void line_items_commitment_free (line_items_t *d)
{
    for (size_t i = 0; i < d->value_count; i++) {
        portion_clear (&d->values[i].hours);
        portion_clear (&d->values[i].money);
    }
    free (d->values);
    free (d->commitment);
}
