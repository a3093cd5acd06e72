/* From an entry's cost to its lines: by fund, and by the book that charges are
 * made of, in whole units. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"

/* ---- whole units ---- */

void cost_booking_init (struct booking *booking)
{
    booking->monthly = false;
    mpq_inits (booking->before, booking->after, booking->low, booking->high,
               booking->month, NULL);
    mpq_set_ui (booking->high, 1, 1);
}

void cost_booking_clear (struct booking *booking)
{
    mpq_clears (booking->before, booking->after, booking->low, booking->high,
                booking->month, NULL);
}

/* What lies between two bounds, each of them rounded. */
static void units_between (mpq_srcptr low, mpq_srcptr high, int digits,
                           mpz_t ret_units)
{
    mpz_t below;

    mpz_init (below);
    exact_round_half_up (below, low, digits);
    exact_round_half_up (ret_units, high, digits);
    mpz_sub (ret_units, ret_units, below);
    mpz_clear (below);
}

/* The part [low, high) of what the item has cost until now. */
static void units_of (mpq_srcptr sum, mpq_srcptr low, mpq_srcptr high,
                      int digits, mpz_t ret_units)
{
    mpq_t from, to;

    mpq_inits (from, to, NULL);
    mpq_mul (from, sum, low);
    mpq_mul (to, sum, high);
    units_between (from, to, digits, ret_units);
    mpq_clears (from, to, NULL);
}

/* low + (high - low) x share */
static void narrow (const struct booking *b, mpq_srcptr share, mpq_t ret_bound)
{
    mpq_sub (ret_bound, b->high, b->low);
    mpq_mul (ret_bound, ret_bound, share);
    mpq_add (ret_bound, ret_bound, b->low);
}

/* Of the item's part [low, high) what the pool has until now: of a monthly one, of
 * what all pools have of the part since the month began. */
static void units_until (const struct booking *b, mpq_srcptr sum,
                         mpq_srcptr low, mpq_srcptr high, int digits,
                         mpz_t ret_units)
{
    mpq_t from, to;
    mpz_t before;

    mpq_inits (from, to, NULL);
    if (b->monthly) {
        mpz_init (before);
        units_of (b->month, low, high, digits, before);
        units_of (sum, low, high, digits, ret_units);
        mpz_sub (mpq_numref (to), ret_units, before);
        units_of (to, b->low, b->high, 0, ret_units);
        mpz_clear (before);
    } else {
        narrow (b, low, from);
        narrow (b, high, to);
        units_of (sum, from, to, digits, ret_units);
    }
    mpq_clears (from, to, NULL);
}

/* after - before, as an amount. */
static void amount_of (const site_t *site, const mpz_t before,
                       const mpz_t after, mpq_t ret_amount)
{
    mpz_sub (mpq_numref (ret_amount), after, before);
    mpz_ui_pow_ui (mpq_denref (ret_amount), 10,
                   (unsigned long)site->currency_digits);
    mpq_canonicalize (ret_amount);
}

void cost_book (const site_t *site, const mpq_srcptr before[2],
                const mpq_srcptr after[2], mpq_t ret_amount)
{
    mpz_t units[2];

    mpz_inits (units[0], units[1], NULL);
    units_between (before[0], before[1], site->currency_digits, units[0]);
    units_between (after[0], after[1], site->currency_digits, units[1]);
    amount_of (site, units[0], units[1], ret_amount);
    mpz_clears (units[0], units[1], NULL);
}

static void book_part (const site_t *site, const struct booking *b,
                       mpq_srcptr low, mpq_srcptr high, mpq_t ret_amount)
{
    mpz_t before, after;

    mpz_inits (before, after, NULL);
    units_until (b, b->before, low, high, site->currency_digits, before);
    units_until (b, b->after, low, high, site->currency_digits, after);
    amount_of (site, before, after, ret_amount);
    mpz_clears (before, after, NULL);
}

/* ---- funds ---- */

void cost_part_init (struct part *part)
{
    part->fund = NULL;
    mpq_inits (part->share, part->amount, part->recoverable, part->booked,
               part->booked_recoverable, NULL);
}

void cost_part_clear (struct part *part)
{
    mpq_clears (part->share, part->amount, part->recoverable, part->booked,
                part->booked_recoverable, NULL);
}

void cost_recoverable (const site_t *site, mpq_srcptr entry, const char *fund,
                       mpq_t ret_share)
{
    mpq_set (ret_share, entry);
    for (size_t i = 0; fund && i < site->fund_count; i++)
        if (!strcmp (site->funds[i].name, fund))
            mpq_mul (ret_share, entry, site->funds[i].recoverable);
}

/* Rates may recover `recoverable` of the part, which begins at `low`. */
static void round_part (const site_t *site, const struct item *item,
                        mpq_srcptr low, mpq_srcptr recoverable,
                        struct part *part)
{
    mpq_t high;

    if (!item->booking) {
        mpq_set (part->booked, part->amount);
        mpq_set (part->booked_recoverable, part->recoverable);
        return;
    }
    mpq_init (high);
    mpq_add (high, low, part->share);
    book_part (site, item->booking, low, high, part->booked);
    mpq_mul (high, part->share, recoverable);
    mpq_add (high, high, low);
    book_part (site, item->booking, low, high, part->booked_recoverable);
    mpq_clear (high);
}

bool cost_part (const site_t *site, const struct item *item, size_t i,
                struct part *part)
{
    const share_list_t *funding = item->funding;
    size_t count = funding ? funding->count : 0;
    mpq_t low, recoverable;

    if (i >= count && i > 0)
        return false;
    mpq_inits (low, recoverable, NULL);
    mpq_set_ui (part->share, 1, 1);
    mpq_set (recoverable, part->share);
    if (count > 0) {
        part->fund = funding->item[i].name;
        mpq_set (part->share, funding->item[i].share);
    }
    for (size_t k = 0; k < i; k++)
        mpq_add (low, low, funding->item[k].share);
    cost_recoverable (site, item->recoverable ? item->recoverable : recoverable,
                      part->fund, recoverable);
    mpq_mul (part->amount, item->amount, part->share);
    mpq_mul (part->recoverable, part->amount, recoverable);
    round_part (site, item, low, recoverable, part);
    mpq_clears (low, recoverable, NULL);
    return true;
}

/* ---- lines ---- */

/* "0.6 x ...", and a word where it was not rounded by itself. */
static char *part_how (const site_t *site, const struct item *item,
                       const struct part *part)
{
    int digits = site->currency_digits;
    GL_AUTOFREE char *share = exact_shortest (part->share);
    GL_AUTOFREE char *alone = exact_text (part->amount, digits);
    GL_AUTOFREE char *booked = exact_text (part->booked, digits);
    bool whole = mpq_cmp_ui (part->share, 1, 1) == 0;

    return xasprintf ("%s%s%s%s", whole ? "" : share, whole ? "" : " x ",
                      item->how,
                      strcmp (alone, booked) == 0
                          ? ""
                          : "; rounded so that its months add up");
}

/* An amount of 0 makes no line. */
static void append (cost_line_t **lines, size_t *count, size_t entry,
                    const struct item *item, const struct part *part,
                    const char *how, mpq_srcptr exact, mpq_srcptr booked)
{
    cost_line_t *line;

    if (mpq_sgn (exact) == 0)
        return;
    *lines = xreallocarray (*lines, *count + 1, sizeof (**lines));
    line = &(*lines)[(*count)++];
    *line = (cost_line_t){.kind = item->kind, .entry = entry,
                          .place = item->place};
    line->name = xstrdup (item->name);
    line->fund = xstrdup (part->fund);
    line->how = xstrdup (how);
    mpq_init (line->amount);
    mpq_set (line->amount, booked);
}

void cost_add_part (const site_t *site, cost_t *cost, const struct item *item,
                    const struct part *part)
{
    GL_AUTOFREE char *how = part_how (site, item, part);
    size_t entry = cost->entry_count;
    mpq_t rest, booked_rest;

    if (mpq_sgn (part->amount) == 0)
        return;
    if (item->kind == COST_DISPOSAL
        && site->policy.disposal == DISPOSAL_APART) {
        append (&cost->apart, &cost->apart_count, entry, item, part, how,
                part->amount, part->booked);
        mpq_add (cost->disposal, cost->disposal, part->booked);
        return;
    }
    mpq_inits (rest, booked_rest, NULL);
    mpq_sub (rest, part->amount, part->recoverable);
    mpq_sub (booked_rest, part->booked, part->booked_recoverable);
    mpq_add (cost->full, cost->full, part->booked);
    mpq_add (cost->recoverable, cost->recoverable, part->booked_recoverable);
    if (site->policy.book != BOOK_RECOVERABLE) {
        append (&cost->line, &cost->count, entry, item, part, how,
                part->amount, part->booked);
        mpq_set (cost->total, cost->full);
    } else {
        append (&cost->line, &cost->count, entry, item, part, how,
                part->recoverable, part->booked_recoverable);
        append (&cost->apart, &cost->apart_count, entry, item, part, how, rest,
                booked_rest);
        mpq_set (cost->total, cost->recoverable);
    }
    if (item->by_use) {
        mpq_mul (rest, item->by_use,
                 site->policy.book != BOOK_RECOVERABLE
                     ? part->booked
                     : part->booked_recoverable);
        mpq_add (cost->by_use, cost->by_use, rest);
    }
    mpq_clears (rest, booked_rest, NULL);
}

void cost_add_line (const site_t *site, cost_t *cost, const struct item *item)
{
    struct part part;

    cost_part_init (&part);
    for (size_t i = 0; cost_part (site, item, i, &part); i++)
        cost_add_part (site, cost, item, &part);
    cost->entry_count += !item->goes_on;
    cost_part_clear (&part);
}
