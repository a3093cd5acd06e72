#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/settlement_private.h"

/* --- periods and balances ------------------------------------------------- */

/* Months since year 0. */
int settlement_month_number (const char *month)
{
    int year = 0, number = 0;

    return sscanf (month, "%d-%d", &year, &number) == 2 ? year * 12 + number - 1
                                                        : 0;
}

static int months_of_period (const site_settlement_t *rule)
{
    return rule->per == SETTLE_YEAR ? 12 : rule->per == SETTLE_QUARTER ? 3 : 1;
}

/* The first month of the period that the month lies in. */
static int period_start (const settlement_t *how, const site_settlement_t *rule)
{
    int month = settlement_month_number (how->month);

    return month
           - (month - (how->site->fiscal_month - 1)) % months_of_period (rule);
}

char *settlement_month (int month)
{
    return xasprintf ("%04d-%02d", month / 12, month % 12 + 1);
}

/* Another entry of its name, or it, is for the team in the period. */
static bool is_in_force (const struct settling *s, const char *team,
                         period_t period)
{
    const site_t *site = s->how->site;

    for (size_t i = 0; i < site->settlement_count; i++) {
        const site_settlement_t *r = &site->settlement[i];
        if (!strcmp (r->name, s->rule->name)
            && period_overlaps (r->valid, period)
            && (!team || settlement_is_team (s, r, period, team)))
            return true;
    }
    return false;
}

/* On the first day after the month. */
static bool continues (const struct settling *s, const char *team)
{
    int64_t next = s->how->period.end;

    return is_in_force (s, team, (period_t){next, next + 1});
}

/* Later in the month. */
static bool goes_on (const struct settling *s, const char *team)
{
    return s->part.end < s->how->period.end
           && is_in_force (s, team,
                           (period_t){s->part.end, s->how->period.end});
}

/* --- finding balances ------------------------------------------------------- */

static int by_rule (const void *a, const void *b)
{
    const struct last *x = a, *y = b;
    int order = strcmp (x->rule, y->rule);

    if (order == 0)
        order = text_compare (x->team, y->team);
    return order ? order : text_compare (x->user, y->user);
}

void balances_index (struct settling *s)
{
    GL_AUTOFREE char *earlier
        = settlement_month (settlement_month_number (s->how->month) - 1);
    size_t count = 0;
    const bill_balance_t *list
        = s->how->before ? bill_balances (s->how->before, &count) : NULL;

    s->last = xcalloc (count + 1, sizeof (*s->last));
    for (size_t i = 0; i < count; i++) {
        const bill_balance_t *b = &list[i];
        if (strcmp (b->month, earlier) != 0)
            continue;
        s->last[s->last_count++] = (struct last){
            .rule = b->rule,
            .team = b->team ? settlement_team_name (s, b->team) : NULL,
            .user = b->user,
            .at = i};
    }
    if (s->last_count > 1)
        qsort (s->last, s->last_count, sizeof (*s->last), by_rule);
}

/* The first one that is not before the key. */
static size_t lower_bound (const struct settling *s, const struct last *key)
{
    size_t low = 0, high = s->last_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_rule (&s->last[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct last *balances_of_last (const struct settling *s, const char *team,
                                     size_t *ret_count)
{
    const struct last key = {.rule = s->rule->name, .team = team};
    size_t first = lower_bound (s, &key), end = first;

    while (end < s->last_count && !strcmp (s->last[end].rule, key.rule)
           && text_same (s->last[end].team, team))
        end++;
    *ret_count = end - first;
    return s->last + first;
}

/* Of two teams that are one now, both have a balance: those from *ret_count on. */
static const struct last *last_of (const struct settling *s,
                                   const struct payer *p, size_t *ret_count)
{
    const struct last key
        = {.rule = s->rule->name, .team = p->team, .user = p->user};
    size_t first = lower_bound (s, &key), end = first;

    while (end < s->last_count && by_rule (&s->last[end], &key) == 0)
        end++;
    *ret_count = end - first;
    return s->last + first;
}

static const bill_balance_t *last_at (const struct settling *s,
                                      const struct last *last)
{
    size_t count;

    return &bill_balances (s->how->before, &count)[last->at];
}

const bill_balance_t *balance_of_last (const struct settling *s,
                                       const struct payer *p)
{
    size_t count;
    const struct last *last = last_of (s, p, &count);

    return count > 0 ? last_at (s, last) : NULL;
}

/* Entries of a name have their payers in one order: the next one mostly lies behind
 * the last. */
bill_balance_t *balance_of_month (struct settling *s, const struct payer *p)
{
    size_t count = 0;
    const bill_balance_t *list = bill_balances (s->bill, &count);

    for (size_t i = 0; s->again && i < count; i++) {
        size_t at = (s->begun + i) % count;
        if (strcmp (list[at].rule, s->rule->name) != 0
            || strcmp (list[at].month, s->how->month) != 0
            || !text_same (list[at].team, p->team)
            || !text_same (list[at].user, p->user))
            continue;
        s->begun = at;
        return (bill_balance_t *)&list[at];
    }
    return NULL;
}

/* --- amounts ---------------------------------------------------------------- */

bool settlement_counts_hours (const site_settlement_t *rule)
{
    return mpq_sgn (rule->gpu_hours) > 0 || mpq_sgn (rule->cpu_hours) > 0;
}

/* Money is rounded to what can be paid. */
static void round_amount (const struct settling *s, mpq_t amount)
{
    mpz_t units;

    if (settlement_counts_hours (s->rule))
        return;
    mpz_init (units);
    settlement_to_units (s, amount, units);
    settlement_of_units (s, units, amount);
    mpz_clear (units);
}

/* Of the amount what counts up to a day of the month. */
static void amount_until (const struct settling *s, mpq_srcptr amount,
                          int64_t until, mpq_t ret_amount)
{
    period_t month = s->how->period;

    exact_set_i64 (ret_amount, until - month.start, month.end - month.start);
    mpq_mul (ret_amount, ret_amount, amount);
    round_amount (s, ret_amount);
}

/* By what is left of the first period: of a month, its days. */
static void prorate (const struct settling *s, mpq_t amount)
{
    const site_settlement_t *rule = s->rule;
    int month = settlement_month_number (s->how->month);
    mpq_t until, from;

    mpq_inits (until, from, NULL);
    if (rule->per == SETTLE_MONTH) {
        amount_until (s, amount, s->part.end, until);
        amount_until (s, amount, s->part.start, from);
        mpq_sub (amount, until, from);
    } else {
        exact_set_i64 (
            from, period_start (s->how, rule) + months_of_period (rule) - month,
            months_of_period (rule));
        mpq_mul (amount, amount, from);
    }
    mpq_clears (until, from, NULL);
}

void settlement_amount (const struct settling *s, bool first, mpq_t ret_amount)
{
    static const unsigned long hour = 3600;
    mpq_t scale;

    if (settlement_counts_hours (s->rule)) {
        mpq_init (scale);
        mpq_set_ui (scale, hour, 1);
        mpq_add (ret_amount, s->rule->gpu_hours, s->rule->cpu_hours);
        mpq_mul (ret_amount, ret_amount, scale);
        mpq_clear (scale);
    } else
        mpq_set (ret_amount, s->rule->amount);
    if (first && s->rule->prorated && s->rule->per != SETTLE_ONCE)
        prorate (s, ret_amount);
    round_amount (s, ret_amount);
}

/* The month counts, of the first ones of a team or user. */
bool balance_is_active (const struct settling *s, const bill_balance_t *b)
{
    return s->rule->first_months == 0
           || (b->since
               && settlement_month_number (s->how->month)
                          - settlement_month_number (b->since)
                      < s->rule->first_months);
}

/* The amount by days: of an entry of the rule's name for its part of the month. */
static void add_part (struct settling *s, const site_settlement_t *entry,
                      bill_balance_t *b)
{
    struct settling part = *s;
    mpq_t amount;

    part.rule = entry;
    part.part = period_clip (entry->valid, s->how->period);
    mpq_init (amount);
    settlement_amount (&part, true, amount);
    mpq_add (b->added, b->added, amount);
    mpq_clear (amount);
}

static bool is_by_days (const struct settling *s, bool first)
{
    return first && s->rule->prorated && s->rule->per == SETTLE_MONTH;
}

/* Likewise of its earlier entries, under which the team used nothing. */
static void add_earlier (struct settling *s, bill_balance_t *b)
{
    const site_t *site = s->how->site;

    for (size_t i = 0; s->again && i < site->settlement_count; i++) {
        const site_settlement_t *r = &site->settlement[i];
        period_t part = period_clip (r->valid, s->how->period);
        if (!strcmp (r->name, s->rule->name)
            && r->valid.start < s->rule->valid.start && part.end > part.start
            && r->prorated && r->per == SETTLE_MONTH
            && (!b->team || settlement_is_team (s, r, part, b->team)))
            add_part (s, r, b);
    }
}

static const char *unit_of (const site_settlement_t *rule)
{
    return mpq_sgn (rule->cpu_hours) > 0   ? "cpu_seconds"
           : mpq_sgn (rule->gpu_hours) > 0 ? "gpu_seconds"
                                           : "money";
}

/* Of a user who uses nothing any more, once nothing of the last balance matters to
 * a later month: sites have many users, and balances of each would be kept for ever. */
static bool is_forgotten (const struct settling *s, const bill_balance_t *last,
                          const char *period)
{
    return settle_by_user (s->rule) && s->rule->first_months == 0
           && !s->rule->prorated && mpq_sgn (last->closing) == 0 && last->period
           && strcmp (last->period, period) != 0
           && s->rule->unused == SETTLE_EXPIRES;
}

/* What is left of last month. */
static void open_balance (const struct settling *s, const struct payer *p,
                          bill_balance_t *b)
{
    size_t count;
    const struct last *last = last_of (s, p, &count);

    for (size_t i = 0; i < count; i++) {
        const bill_balance_t *of = last_at (s, &last[i]);
        mpq_add (b->opening, b->opening, of->closing);
        mpq_add (b->rolled_over, b->rolled_over, of->rolled_over);
    }
}

bill_balance_t *balance_begin (struct settling *s, const struct payer *p,
                               bool used)
{
    const bill_balance_t *last = balance_of_last (s, p);
    bill_balance_t *b = balance_of_month (s, p);
    GL_AUTOFREE char *period
        = s->rule->per == SETTLE_ONCE
              ? xstrdup ("once")
              : settlement_month (period_start (s->how, s->rule));
    bool first = !last || !last->period;

    if (b) {
        if (is_by_days (s, first) && balance_is_active (s, b))
            add_part (s, s->rule, b);
        return b;
    }
    if (!used && (!last || is_forgotten (s, last, period)))
        return NULL;
    b = bill_append (s->bill, BILL_BALANCES);
    b->month = xstrdup (s->how->month);
    b->rule = xstrdup (s->rule->name);
    b->team = xstrdup (p->team);
    b->user = xstrdup (p->user);
    last = balance_of_last (s, p); /* it may lie in the same list */
    b->unit = xstrdup (unit_of (s->rule));
    b->since = last && last->since ? xstrdup (last->since)
               : used              ? xstrdup (s->how->month)
                                   : NULL;
    open_balance (s, p, b);
    if (balance_is_active (s, b)
        && (first || strcmp (last->period, period) != 0)
        && s->rule->rule != SETTLE_PREPAID)
        settlement_amount (s, first, b->added);
    if (is_by_days (s, first) && mpq_sgn (b->added) > 0)
        add_earlier (s, b);
    b->period = balance_is_active (s, b) ? xstrdup (period)
                : last                   ? xstrdup (last->period)
                                         : NULL;
    return b;
}

void balance_left (const bill_balance_t *b, mpq_t ret_amount)
{
    mpq_add (ret_amount, b->opening, b->added);
    mpq_sub (ret_amount, ret_amount, b->used);
    mpq_sub (ret_amount, ret_amount, b->expired);
}

/* Money in smallest units, which it is whole in. */
void settlement_to_units (const struct settling *s, mpq_srcptr amount,
                          mpz_t units)
{
    exact_round (units, amount, s->how->site->currency_digits);
}

void settlement_of_units (const struct settling *s, const mpz_t units,
                          mpq_t amount)
{
    mpz_set (mpq_numref (amount), units);
    mpz_ui_pow_ui (mpq_denref (amount), 10,
                   (unsigned long)s->how->site->currency_digits);
    mpq_canonicalize (amount);
}

void balance_use (bill_balance_t *b, mpq_srcptr amount)
{
    mpq_add (b->used, b->used, amount);
    mpq_sub (b->rolled_over, b->rolled_over, amount);
    if (mpq_sgn (b->rolled_over) < 0)
        mpq_set_ui (b->rolled_over, 0, 1);
}

bool balance_ends (const struct settling *s, const bill_balance_t *b)
{
    int next = settlement_month_number (s->how->month) + 1;

    if (!s->how->ended || goes_on (s, b->team))
        return false;
    if (!continues (s, b->team)
        || (s->rule->first_months > 0 && b->since
            && next - settlement_month_number (b->since)
                   >= s->rule->first_months))
        return true;
    return s->rule->per != SETTLE_ONCE && s->rule->rule != SETTLE_PREPAID
           && next
                  == period_start (s->how, s->rule)
                         + months_of_period (s->rule);
}

/* At the end of a quarter: what is left above the part of the amount that the year
 * still has. */
static void expire_evenly (const struct settling *s, bill_balance_t *b)
{
    int left = period_start (s->how, s->rule) + months_of_period (s->rule)
               - settlement_month_number (s->how->month) - 1;
    mpq_t most, part;

    if (left % 3 != 0)
        return;
    mpq_inits (most, part, NULL);
    settlement_amount (s, false, most);
    exact_set_i64 (part, left, months_of_period (s->rule));
    mpq_mul (most, most, part);
    if (!settlement_counts_hours (s->rule)) {
        mpz_t units;
        mpz_init (units);
        settlement_to_units (s, most, units);
        settlement_of_units (s, units, most);
        mpz_clear (units);
    }
    mpq_sub (part, b->closing, most);
    if (mpq_sgn (part) > 0)
        mpq_add (b->expired, b->expired, part);
    mpq_clears (most, part, NULL);
}

/* What is unused at the end of a period expires, or is opened in the next. */
void balance_end (struct settling *s, bill_balance_t *b)
{
    bool last = balance_ends (s, b);
    bool over = last
                && (!continues (s, b->team) || s->rule->unused == SETTLE_EXPIRES
                    || s->rule->unused == SETTLE_EXPIRES_EVENLY
                    || s->rule->first_months > 0);

    balance_left (b, b->closing);
    if (over)
        mpq_add (b->expired, b->expired, b->closing);
    else if (last && s->rule->unused == SETTLE_CARRIED_ONCE)
        mpq_add (b->expired, b->expired, b->rolled_over);
    else if (s->how->ended && s->rule->unused == SETTLE_EXPIRES_EVENLY
             && !goes_on (s, b->team)) /* another entry may use it this month */
        expire_evenly (s, b);
    balance_left (b, b->closing);
    if (last)
        mpq_set (b->rolled_over, b->closing);
}
