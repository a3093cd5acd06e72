#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/budget.h"
#include "statement/budget_private.h"

const int budget_thresholds[BUDGET_THRESHOLDS] = {50, 75, 90, 100};

/* --- periods ----------------------------------------------------------- */

static const int period_months[] = {
    [BUDGET_MONTH] = 1,
    [BUDGET_QUARTER] = 3,
    [BUDGET_YEAR] = 12,
};

static int64_t month_start (const site_t *site, civil_t first, int months)
{
    civil_t civil = civil_add_months (first, months);

    return zone_instant (site->zone, &civil);
}

/* The first of the month of the instant, and how far into its fiscal year. */
static civil_t first_of_month (const site_t *site, int64_t instant,
                               int *ret_month_of_year)
{
    civil_t civil = zone_civil (site->zone, instant);

    *ret_month_of_year = (civil.month - site->fiscal_month + 12) % 12;
    return (civil_t){.year = civil.year, .month = civil.month, .day = 1};
}

period_t budget_period (const site_t *site, budget_period_t period,
                        int64_t instant)
{
    int of_year, length = period_months[period];
    civil_t first = first_of_month (site, instant, &of_year);
    int into = of_year % length;

    return (period_t){month_start (site, first, -into),
                      month_start (site, first, length - into)};
}

/* A fiscal year is named after the calendar year that it ends in. */
static char *name_of_period (const site_t *site, budget_period_t period,
                             int64_t instant)
{
    int of_year;
    civil_t first = first_of_month (site, instant, &of_year);
    civil_t last = civil_add_months (first, 11 - of_year);
    const char *fiscal = site->fiscal_month == 1 ? "" : "FY";

    if (period == BUDGET_MONTH)
        return xasprintf ("%04d-%02d", first.year, first.month);
    if (period == BUDGET_QUARTER)
        return xasprintf ("%s%04d-Q%d", fiscal, last.year, of_year / 3 + 1);
    return xasprintf ("%s%04d", fiscal, last.year);
}

static period_t period_before (const site_t *site, const site_budget_t *entry,
                               period_t period)
{
    return budget_period (site, entry->period, period.start - 1);
}

int64_t budget_since (const site_t *site, const site_budget_t *entry,
                      int64_t as_of)
{
    period_t period = budget_period (site, entry->period, as_of - 1);
    int of_year;
    civil_t month = first_of_month (site, as_of - 1, &of_year);
    /* and the weeks before the first of the months that are measured */
    int64_t since = month_start (site, month, -BUDGET_MONTHS_MEASURED - 1);

    if (entry->carry_over)
        period = period_before (site, entry, period);
    return period.start < since ? period.start : since;
}

/* --- the object -------------------------------------------------------- */

budget_t *budget_new (const site_t *site, const site_budget_t *entry,
                      int64_t as_of)
{
    budget_t *b = xcalloc (1, sizeof (*b));

    b->budget = entry;
    b->as_of = as_of;
    b->period = budget_period (site, entry->period, as_of - 1);
    b->period_name = name_of_period (site, entry->period, as_of - 1);
    b->of_money = mpq_sgn (entry->amount) > 0;
    b->of_cpus = site_pool_of_cpus (site, entry->pool);
    b->known = true;
    mpq_inits (b->carried, b->amount, b->spent, b->encumbered, NULL);
    mpq_inits (b->rate.value, b->run_rate.value, b->seasonal.value,
               b->low.value, b->high.value, b->run_rate_error.value,
               b->seasonal_error.value, NULL);
    b->days = xcalloc (1, sizeof (*b->days));
    b->days->site = site;
    return b;
}

static void free_days (struct budget_day *day, size_t count)
{
    GL_FREE_EACH (day, count, it, mpq_clear (it->value));
}

static void free_part (budget_part_t *part)
{
    free (part->name);
    mpq_clear (part->value);
}

static void free_parts (budget_part_t *part, size_t count)
{
    GL_FREE_EACH (part, count, it, free_part (it));
}

void budget_free (budget_t *b)
{
    if (!b)
        return;
    free_days (b->days->day, b->days->count);
    free_days (b->days->month, b->days->month_count);
    free (b->days);
    free_parts (b->part, b->part_count);
    free (b->period_name);
    mpq_clears (b->carried, b->amount, b->spent, b->encumbered, NULL);
    mpq_clears (b->rate.value, b->run_rate.value, b->seasonal.value,
                b->low.value, b->high.value, b->run_rate_error.value,
                b->seasonal_error.value, NULL);
    free (b);
}

static bool same (const char *wanted, const char *text)
{
    return !wanted || (text && strcmp (wanted, text) == 0);
}

bool budget_takes (const budget_t *b, const char *team, const char *project,
                   const char *account, const char *pool)
{
    const site_budget_t *entry = b->budget;

    return (!entry->team || (team && texts_have (&entry->team_names, team)))
           && same (b->budget->project, project)
           && same (b->budget->account, account)
           && same (b->budget->pool, pool);
}

static struct budget_day *day_in (struct budget_day **list, size_t *count,
                                  int64_t start)
{
    struct budget_day *day;

    for (size_t i = *count; i-- > 0;) {
        if ((*list)[i].start == start)
            return &(*list)[i];
    }
    *list = xreallocarray (*list, *count + 1, sizeof (**list));
    day = &(*list)[(*count)++];
    day->start = start;
    mpq_init (day->value);
    return day;
}

static bool in_period (const budget_t *b, int64_t instant)
{
    return instant >= b->period.start && instant < b->period.end;
}

/* `who` NULL: the absent user. */
static void add_to_part (budget_part_t **list, size_t *count, const char *who,
                         mpq_srcptr value)
{
    budget_part_t *part = NULL;

    who = who ? who : key_info (KEY_USER)->absent;
    for (size_t i = *count; i-- > 0 && !part;) {
        if (strcmp ((*list)[i].name, who) == 0)
            part = &(*list)[i];
    }
    if (!part) {
        part = GL_APPEND (*list, *count);
        part->name = xstrdup (who);
        mpq_init (part->value);
    }
    mpq_add (part->value, part->value, value);
}

static void add_part (budget_t *b, int64_t instant, const char *who,
                      mpq_srcptr value, bool known)
{
    if (!known && instant >= b->period.start)
        b->known = false;
    if (in_period (b, instant))
        add_to_part (&b->part, &b->part_count, who, value);
}

static void add_to_day (struct budget_day **list, size_t *count, int64_t start,
                        mpq_srcptr value)
{
    struct budget_day *day = day_in (list, count, start);

    mpq_add (day->value, day->value, value);
}

void budget_add (budget_t *b, int64_t start, const char *who, mpq_srcptr value,
                 bool known)
{
    add_to_day (&b->days->day, &b->days->count, start, value);
    add_part (b, start, who, value, known);
}

void budget_add_month (budget_t *b, int64_t month, mpq_srcptr value)
{
    add_to_day (&b->days->month, &b->days->month_count, month, value);
}

void budget_encumber (budget_t *b, mpq_srcptr value)
{
    mpq_add (b->encumbered, b->encumbered, value);
}

/* --- a month ----------------------------------------------------------- */

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
        mpq_set (ret, b->of_cpus ? row->cpu_seconds : row->gpu_seconds);
    return true;
}

static void add_rows (const budget_t *b, const bill_t *bill,
                      budget_month_t *month)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpq_t value;

    mpq_init (value);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].outside || !value_of (b, &rows[i], value))
            continue;
        if (b->of_money && !posting_priced (bill, &rows[i]))
            month->known = false;
        add_to_part (&month->part, &month->part_count,
                     posting_key (&rows[i], KEY_USER), value);
        if (posting_is_adjustment (&rows[i]) || rows[i].kind == BILL_SERVICE
            || rows[i].kind == BILL_SETTLEMENT)
            mpq_add (month->dayless, month->dayless, value);
    }
    mpq_clear (value);
}

/* The day of that date, as far as it lies in the period; of one that it does
 * not have its first. */
static period_t day_of (const budget_t *b, period_t period, const char *date)
{
    int64_t start = period.start;
    civil_t civil;

    if (calendar_parse_date (date, strlen (date), &civil) == 0)
        start = zone_instant (b->days->site->zone, &civil);
    if (start < period.start || start >= period.end)
        start = period.start;
    return period_clip (zone_unit (b->days->site->zone, CALENDAR_DAY, start),
                        period);
}

static void add_days (const budget_t *b, period_t period, const bill_t *bill,
                      budget_month_t *month)
{
    size_t count;
    const bill_day_t *days = bill_days (bill, &count);
    mpq_t value, part;

    mpq_inits (value, part, NULL);
    for (size_t i = 0; i < count; i++) {
        const bill_day_t *d = &days[i];
        period_t day = day_of (b, period, d->day);
        if (!budget_takes (b, d->team, d->project, d->account, d->pool)
            || day.start >= b->as_of)
            continue;
        mpz_add (mpq_numref (value), d->units, d->other_units);
        mpz_set_ui (mpq_denref (value), 1);
        exact_set_i64 (part,
                       (b->as_of < day.end ? b->as_of : day.end) - day.start,
                       day.end - day.start);
        mpq_mul (part, part,
                 b->of_money  ? value
                 : b->of_cpus ? d->cpu_seconds
                              : d->gpu_seconds);
        add_to_day (&month->day, &month->count, day.start, part);
    }
    mpq_clears (value, part, NULL);
}

budget_month_t *budget_month_new (const budget_t *b, period_t period,
                                  const bill_t *bill)
{
    budget_month_t *month = xcalloc (1, sizeof (*month));

    month->start = period.start;
    month->known = true;
    mpq_init (month->dayless);
    add_rows (b, bill, month);
    add_days (b, period, bill, month);
    return month;
}

void budget_take_month (budget_t *b, const budget_month_t *month)
{
    for (size_t i = 0; i < month->count; i++)
        add_to_day (&b->days->day, &b->days->count, month->day[i].start,
                    month->day[i].value);
    for (size_t i = 0; i < month->part_count; i++)
        add_part (b, month->start, month->part[i].name, month->part[i].value,
                  month->known);
    budget_add_month (b, month->start, month->dayless);
}

void budget_month_free (budget_month_t *month)
{
    if (!month)
        return;
    free_days (month->day, month->count);
    free_parts (month->part, month->part_count);
    mpq_clear (month->dayless);
    free (month);
}

void budget_add_bill (budget_t *b, period_t period, const bill_t *bill)
{
    budget_month_t *month = budget_month_new (b, period, bill);

    budget_take_month (b, month);
    budget_month_free (month);
}

/* --- what is spent ----------------------------------------------------- */

static void spent_in (const budget_t *b, period_t period, mpq_t ret)
{
    const struct budget_days *d = b->days;

    mpq_set_ui (ret, 0, 1);
    for (size_t i = 0; i < d->count; i++)
        if (d->day[i].start >= period.start && d->day[i].start < period.end)
            mpq_add (ret, ret, d->day[i].value);
    for (size_t i = 0; i < d->month_count; i++)
        if (d->month[i].start >= period.start
            && d->month[i].start < period.end)
            mpq_add (ret, ret, d->month[i].value);
}

/* The plain amount of an entry of the budget, in smallest units or GPU-seconds. */
static void plain_amount (const budget_t *b, const site_budget_t *entry,
                          mpq_t ret)
{
    mpz_t scale;

    mpz_init_set_ui (scale, 3600);
    if (b->of_money)
        mpz_ui_pow_ui (scale, 10,
                       (unsigned long)b->days->site->currency_digits);
    mpq_set_z (ret, scale);
    mpq_mul (ret, ret, b->of_money ? entry->amount : entry->gpu_hours);
    mpz_clear (scale);
}

static bool same_scope (const char *a, const char *b)
{
    return a == b || (a && b && strcmp (a, b) == 0);
}

static bool is_of (const budget_t *b, const site_budget_t *entry,
                   period_t period)
{
    return entry->valid.start <= period.start && entry->valid.end >= period.end
           && !strcmp (entry->name, b->budget->name)
           && entry->period == b->budget->period
           && (mpq_sgn (entry->amount) > 0) == b->of_money
           && same_scope (entry->team, b->budget->team)
           && same_scope (entry->project, b->budget->project)
           && same_scope (entry->account, b->budget->account)
           && same_scope (entry->pool, b->budget->pool);
}

/* The entry of the budget that applied throughout the period; NULL: none. */
static const site_budget_t *entry_of (const budget_t *b, period_t period)
{
    const site_t *site = b->days->site;

    if (is_of (b, b->budget, period))
        return b->budget;
    for (size_t i = 0; i < site->budget_count; i++)
        if (is_of (b, &site->budgets[i], period))
            return &site->budgets[i];
    return NULL;
}

/* Only of a period that the facts cover, and of which the budget had one amount,
 * that of now or another one. */
static void carry_over (budget_t *b, int64_t first)
{
    period_t before = period_before (b->days->site, b->budget, b->period);
    const site_budget_t *entry = entry_of (b, before);
    mpq_t had, spent;

    if (!b->budget->carry_over || first == 0 || first > before.start || !entry)
        return;
    mpq_inits (had, spent, NULL);
    plain_amount (b, entry, had);
    spent_in (b, before, spent);
    if (mpq_cmp (had, spent) > 0)
        mpq_sub (b->carried, had, spent);
    mpq_add (b->amount, b->amount, b->carried);
    mpq_clears (had, spent, NULL);
}

/* --- the day on which nothing is left ---------------------------------- */

static int64_t day_reached (const budget_t *b)
{
    const zone_t *zone = b->days->site->zone;
    int64_t reached = 0;
    mpq_t sum;

    mpq_init (sum);
    for (int64_t at = b->period.start; at < b->as_of && reached == 0;
         at = zone_unit (zone, CALENDAR_DAY, at).end) {
        spent_in (b, (period_t){b->period.start, at + 1}, sum);
        if (mpq_cmp (sum, b->amount) >= 0)
            reached = at;
    }
    mpq_clear (sum);
    return reached;
}

static int64_t day_foreseen (const budget_t *b)
{
    const zone_t *zone = b->days->site->zone;
    int64_t found = 0;
    mpq_t sum, step;

    mpq_inits (sum, step, NULL);
    mpq_add (sum, b->spent, b->encumbered);
    for (int64_t at = b->as_of; at < b->period.end && found == 0;) {
        period_t day = zone_unit (zone, CALENDAR_DAY, at);
        exact_set_i64 (step, day.end - at, day.end - day.start);
        mpq_mul (step, step, b->rate.value);
        mpq_add (sum, sum, step);
        if (mpq_cmp (sum, b->amount) >= 0)
            found = day.start;
        at = day.end;
    }
    mpq_clears (sum, step, NULL);
    return found;
}

/* --- the end ----------------------------------------------------------- */

static int by_value (const void *a, const void *b)
{
    const budget_part_t *x = a, *y = b;
    int order = mpq_cmp (y->value, x->value);

    return order ? order : strcmp (x->name, y->name);
}

static bool reaches (const budget_t *b, mpq_srcptr value, int percent)
{
    bool reached;
    mpq_t limit;

    mpq_init (limit);
    exact_set_i64 (limit, percent, 100);
    mpq_mul (limit, limit, b->amount);
    reached = mpq_cmp (value, limit) >= 0;
    mpq_clear (limit);
    return reached;
}

static void judge (budget_t *b)
{
    for (size_t i = 0; i < BUDGET_THRESHOLDS; i++) {
        if (reaches (b, b->spent, budget_thresholds[i]))
            b->threshold = budget_thresholds[i];
    }
    b->over = b->run_rate.known
              && mpq_cmp (b->run_rate.value, b->amount) > 0;
    if (b->threshold == 100)
        b->exhausted = day_reached (b);
    else if (b->rate.known)
        b->exhausted = day_foreseen (b);
}

void budget_compute (budget_t *b, budget_window_t window, int64_t first)
{
    plain_amount (b, b->budget, b->amount);
    carry_over (b, first);
    spent_in (b, b->period, b->spent);
    if (b->part_count > 1)
        qsort (b->part, b->part_count, sizeof (*b->part), by_value);
    if (!b->known)
        return; /* unknown is unknown: no forecast, no alert */
    budget_forecast (b, window, first);
    judge (b);
}

const char *budget_unit (const budget_t *b, const site_t *site)
{
    return b->of_money  ? site->currency
           : b->of_cpus ? "CPU hours"
                        : "GPU hours";
}

char *budget_text (const budget_t *b, mpq_srcptr value)
{
    char *text;
    mpz_t units;
    mpq_t hours;

    if (b->of_money) {
        mpz_init (units);
        exact_round (units, value, 0);
        text = exact_units_text (units, b->days->site->currency_digits);
        mpz_clear (units);
        return text;
    }
    mpq_init (hours);
    exact_add_scaled (hours, value, 1, 3600);
    text = exact_text (hours, 2);
    mpq_clear (hours);
    return text;
}
