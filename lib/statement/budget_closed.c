/* Budgets: what is spent in a month that is closed, from its rows. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/budget_private.h"

/* Of the budget's rows, in its unit. */
struct closed_month {
    budget_t *budget;
    const budget_month_t *month;
    mpq_t jobs;   /* charged for time that jobs held */
    mpq_t own;    /* the month's, but of none of its days */
    mpq_t others; /* corrections, and by hand */
};

/* Also of a correction of such a line: differences. */
static bool is_time_held (const posting_t *row)
{
    const char *word = bill_kind_word (BILL_CHARGE);

    return row->kind == BILL_CHARGE
           || (row->kind == BILL_CORRECTION && row->origin
               && strcmp (row->origin, word) == 0);
}

/* In the budget's unit; false: the row is none of it. */
static bool value_of (const budget_t *b, const posting_t *row, mpq_t ret)
{
    if (!posting_is_due (row) || row->kind == BILL_TAX
        || !budget_takes (b, row->team, posting_key (row, KEY_PROJECT),
                          posting_key (row, KEY_ACCOUNT), row->pool)
        || (!b->of_money && !is_time_held (row)))
        return false;
    if (b->of_money)
        mpq_set_z (ret, row->charge_units);
    else
        mpq_set (ret, row->gpu_seconds);
    return true;
}

static mpq_ptr kind_of (struct closed_month *c, const posting_t *row)
{
    if (posting_is_adjustment (row))
        return c->others;
    return row->kind == BILL_CHARGE ? c->jobs : c->own;
}

static void take_rows (struct closed_month *c)
{
    size_t count;
    const posting_t *rows = postings (c->month->bill, &count);
    mpq_t value;

    mpq_init (value);
    for (size_t i = 0; i < count; i++) {
        mpq_ptr sum = kind_of (c, &rows[i]);
        if (!value_of (c->budget, &rows[i], value))
            continue;
        mpq_add (sum, sum, value);
        budget_add_part (c->budget, c->month->period.start,
                         posting_key (&rows[i], KEY_USER), value,
                         !c->budget->of_money
                             || posting_priced (c->month->bill, &rows[i]));
    }
    mpq_clear (value);
}

/* Up to as-of; of its day the part that has passed. */
static void add_to_day (struct closed_month *c, period_t day, mpq_srcptr value)
{
    int64_t as_of = c->budget->as_of;
    mpq_t part;

    if (day.start >= as_of)
        return;
    mpq_init (part);
    exact_set_i64 (part, (as_of < day.end ? as_of : day.end) - day.start,
                   day.end - day.start);
    mpq_mul (part, part, value);
    budget_add_day (c->budget, day.start, part);
    mpq_clear (part);
}

/* The day of that date; of one that the month does not have its first. */
static period_t day_of (const struct closed_month *c, const char *date)
{
    const zone_t *zone = c->budget->days->site->zone;
    period_t month = c->month->period;
    int64_t start = month.start;
    civil_t civil;

    if (calendar_parse_date (date, strlen (date), &civil) == 0)
        start = zone_instant (zone, &civil);
    if (start < month.start || start >= month.end)
        start = month.start;
    return zone_unit (zone, CALENDAR_DAY, start);
}

/* One unit of the currency's smallest in units of 10^-LINE_ITEM_DIGITS. */
static void fine_units (const struct closed_month *c, mpz_t ret)
{
    int digits = c->budget->days->site->currency_digits;

    mpz_ui_pow_ui (ret, 10, (unsigned long)(LINE_ITEM_DIGITS - digits));
}

/* The jobs' days; what rounding leaves of the rows is of none of them. */
static void spread_jobs (struct closed_month *c)
{
    const budget_t *b = c->budget;
    mpq_t value;
    mpz_t fine;

    mpq_init (value);
    mpz_init (fine);
    fine_units (c, fine);
    mpq_add (c->own, c->own, c->jobs);
    for (size_t i = 0; i < c->month->day_count; i++) {
        const line_item_sum_t *sum = &c->month->days[i];
        if (!budget_takes (b, sum->team, sum->project, sum->account, sum->pool))
            continue;
        mpq_set (value, sum->gpu_seconds);
        if (b->of_money) {
            mpz_set (mpq_numref (value), sum->billed);
            mpz_set (mpq_denref (value), fine);
            mpq_canonicalize (value);
        }
        add_to_day (c, day_of (c, sum->day), value);
        mpq_sub (c->own, c->own, value);
    }
    mpz_clear (fine);
    mpq_clear (value);
}

/* Evenly over the time of the month. */
static void spread_rest (struct closed_month *c)
{
    const zone_t *zone = c->budget->days->site->zone;
    period_t month = c->month->period;
    mpq_t value;

    mpq_init (value);
    for (int64_t at = month.start; at < month.end;) {
        period_t day = zone_unit (zone, CALENDAR_DAY, at);
        exact_set_i64 (value, day.end - day.start, month.end - month.start);
        mpq_mul (value, value, c->own);
        if (mpq_sgn (value) != 0)
            add_to_day (c, day, value);
        at = day.end;
    }
    mpq_clear (value);
}

void budget_add_closed (budget_t *b, const budget_month_t *month)
{
    struct closed_month c = {.budget = b, .month = month};

    mpq_inits (c.jobs, c.own, c.others, NULL);
    take_rows (&c);
    spread_jobs (&c);
    spread_rest (&c);
    if (mpq_sgn (c.others) != 0)
        budget_add_month (b, month->period.start, c.others);
    mpq_clears (c.jobs, c.own, c.others, NULL);
}

void budget_add_brought (budget_t *b, const posting_t *row, int64_t month)
{
    mpq_t value;

    mpq_init (value);
    if (posting_is_adjustment (row) && value_of (b, row, value)) {
        budget_add_month (b, month, value);
        budget_add_part (b, month, posting_key (row, KEY_USER), value, true);
    }
    mpq_clear (value);
}
