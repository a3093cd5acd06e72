/*
 * Charts and figures of the chargeback report.
 */
#include "base/memory.h"
#include "statement/chargeback_private.h"

/* Which shade of the page's palette a class takes. */
static int remainder_shade (size_t remainder)
{
    static const int shades[REMAINDER_COUNT] = {
        [REMAINDER_IDLE] = 2,
        [REMAINDER_STRANDED] = 6,
        [REMAINDER_CPU_STRANDED] = 6,
        [REMAINDER_RESERVED_UNUSED] = 1,
        [REMAINDER_PLANNED_DOWN] = 3,
        [REMAINDER_DOWN] = 4,
        [REMAINDER_UNKNOWN] = 5,
        [REMAINDER_SUSPENDED] = 7,
        [REMAINDER_UNBILLED] = 7,
        [REMAINDER_RECOVERY] = 7,
        [REMAINDER_NO_CAPACITY] = 4,
        [REMAINDER_CREDITED] = 7,
        [REMAINDER_PREPAID] = 7,
        [REMAINDER_ROUNDING] = 7,
    };

    return shades[remainder];
}

/* The length of the bar: the cost, and what was recovered above it. */
static void chart_whole (const struct pool_sum *all, const mpz_t charged,
                         const mpz_t outside, mpz_t ret_whole)
{
    mpz_add (ret_whole, charged, outside);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (mpz_sgn (all->remainder[i]) > 0)
            mpz_add (ret_whole, ret_whole, all->remainder[i]);
}

void chargeback_cost_chart (struct chargeback *c, const struct pool_sum *all)
{
    report_chart_t *chart = report_chart (
        c->report, CHART_STACK, "How the cost was recovered",
        "What was charged, and which part of the cost was not recovered.");
    bool credits
        = cube_count (all->credits) > 0 || mpz_sgn (all->credited_outside);
    mpz_t whole, charged, outside;

    mpz_inits (whole, charged, outside, NULL);
    pool_sum_credits (all, charged);
    mpz_add (charged, charged, all->in_period);
    mpz_add (outside, all->outside, all->credited_outside);
    chart_whole (all, charged, outside, whole);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_sub (charged, charged, all->idle[i]);
    mpz_sub (charged, charged, all->purchased);
    report_chart_money (
        chart, credits ? "charged to jobs, less credits" : "charged to jobs",
        charged, whole, c->digits, 0);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("charged: %s", remainder_info (i)->title);
        if (mpz_sgn (all->idle[i]))
            report_chart_money (chart, label, all->idle[i], whole, c->digits,
                                remainder_shade (i));
    }
    if (mpz_sgn (all->purchased))
        report_chart_money (chart, "charged: prepaid entitlements",
                            all->purchased, whole, c->digits, 1);
    if (mpz_sgn (outside) > 0)
        report_chart_money (chart, "charged outside the period", outside, whole,
                            c->digits, 1);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (mpz_sgn (all->remainder[i]) > 0) {
            GL_AUTOFREE char *label = xasprintf (
                "%s: %s", recovery_infos[remainder_recovery (i, 1)].title,
                remainder_info (i)->title);
            report_chart_money (chart, label, all->remainder[i], whole,
                                c->digits, remainder_shade (i));
        }
    mpz_clears (whole, charged, outside, NULL);
}

void chargeback_row_chart (struct chargeback *c, const struct columns *columns)
{
    bool by_time = report_by_time (c->query);

    report_chart_rows (
        c->report, by_time ? "Charges over time" : "Who is charged most",
        by_time ? "The charges of each row." : "The largest rows.",
        (const mpq_t *)c->charge, columns->charge, report_chart_size (c->query),
        by_time);
}

static void recovery_figures (struct chargeback *c, const struct pool_sum *all)
{
    static const char *const titles[RECOVERY_COUNT]
        = {"Unallocated cost", "Shortfall", "Recovered above cost"};
    mpz_t sums[RECOVERY_COUNT];

    for (size_t k = 0; k < RECOVERY_COUNT; k++)
        mpz_init (sums[k]);
    chargeback_recovery (all, sums);
    for (size_t k = 0; k < RECOVERY_COUNT; k++) {
        GL_AUTOFREE char *text = exact_units_text (sums[k], c->digits);
        if (mpz_sgn (sums[k]) || k == RECOVERY_UNALLOCATED)
            report_figure (c->report, titles[k], text,
                           c->query->site->currency, COLUMN_MONEY);
        mpz_clear (sums[k]);
    }
}

void chargeback_figures (struct chargeback *c, const struct columns *columns,
                         const struct pool_sum *all, bool adds_up)
{
    const char *currency = c->query->site->currency;
    report_t *report = c->report;

    report_figure (report, "Charged", report->total[columns->charge], currency,
                   COLUMN_MONEY);
    if (adds_up) {
        GL_AUTOFREE char *cost = exact_units_text (all->cost, c->digits);
        report_figure (report, "Cost of the pools", cost, currency,
                       COLUMN_MONEY);
        recovery_figures (c, all);
    }
    report_figure (report, "GPU hours",
                   report->total[columns->usage.first + MEASURE_GPU_HOURS],
                   "allocated to jobs", COLUMN_HOURS);
}
