/*
 * How the cost of pools was recovered, over all their months: sums by pool,
 * proofs that charges and what is not recovered add up to the cost, charts and
 * figures.
 */
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "statement/chargeback_private.h"

/* Fees and deposits are of no pool. */
#define NO_POOL "(none)"

/* --- sums by pool ------------------------------------------------------ */

static void pool_sum_init (struct pool_sum *sum, const char *pool)
{
    *sum = (struct pool_sum){.pool = pool, .complete = true, .silent = true};
    mpz_inits (sum->cost, sum->full, sum->recoverable, sum->disposal,
               sum->in_period, sum->outside, sum->credited_outside,
               sum->purchased, sum->settled, NULL);
    mpq_inits (sum->excess[0], sum->excess[1], NULL);
    sum->credits = cube_new (&bill_fields[BILL_POSTINGS], "what");
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_inits (sum->remainder[i], sum->idle[i], NULL);
}

void pool_sum_clear (struct pool_sum *sum)
{
    mpz_clears (sum->cost, sum->full, sum->recoverable, sum->disposal,
                sum->in_period, sum->outside, sum->credited_outside,
                sum->purchased, sum->settled, NULL);
    mpq_clears (sum->excess[0], sum->excess[1], NULL);
    cube_free (sum->credits);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_clears (sum->remainder[i], sum->idle[i], NULL);
}

static struct pool_sum *pool_of (struct chargeback *c, const char *pool)
{
    struct pool_sum *sum;

    for (size_t i = 0; i < c->pool_count; i++)
        if (!strcmp (c->pools[i].pool, pool))
            return &c->pools[i];
    sum = GL_APPEND (c->pools, c->pool_count);
    pool_sum_init (sum, pool);
    return sum;
}

static void pool_sum_credits (const struct pool_sum *sum, mpz_t ret_units)
{
    posting_t all;

    posting_init (&all);
    cube_sum (sum->credits, 0, cube_count (sum->credits), &all);
    mpz_set (ret_units, all.charge_units);
    posting_clear (&all);
}

/* Adds to the class of that name. */
static void add_class (mpz_t *of_class, const char *what, const mpz_t units)
{
    const remainder_info_t *info = remainder_named (what);

    if (info)
        mpz_add (of_class[info->id], of_class[info->id], units);
}

static void add_remainder (struct pool_sum *sum, const posting_t *row)
{
    if (!strcmp (row->what, BILL_DISPOSAL))
        mpz_add (sum->disposal, sum->disposal, row->charge_units);
    else
        add_class (sum->remainder, row->what, row->charge_units);
    if (strcmp (row->what, remainder_info (REMAINDER_EXCESS)->word) != 0)
        return;
    exact_add (sum->excess[0], row->gpu_seconds);
    exact_add (sum->excess[1], row->cpu_seconds);
}

void chargeback_pool_row (struct chargeback *c, const posting_t *row)
{
    struct pool_sum *sum = pool_of (c, row->pool ? row->pool : NO_POOL);
    mpz_ptr to
        = row->kind == BILL_CREDIT ? sum->credited_outside : sum->outside;

    sum->silent = sum->silent && row->pool;
    if (row->kind == BILL_REMAINDER)
        add_remainder (sum, row);
    else if (row->kind == BILL_SETTLEMENT)
        mpz_add (sum->settled, sum->settled, row->charge_units);
    else if (row->outside)
        mpz_add (to, to, row->charge_units);
    else if (row->kind == BILL_CREDIT)
        cube_add (sum->credits, row);
    else
        mpz_add (sum->in_period, sum->in_period, row->charge_units);
    if (!row->outside && row->kind == BILL_IDLE)
        add_class (sum->idle, row->what, row->charge_units);
    if (!row->outside && row->kind == BILL_PURCHASE)
        mpz_add (sum->purchased, sum->purchased, row->charge_units);
}

static void pool_sum_add (struct pool_sum *to, const struct pool_sum *from)
{
    mpz_add (to->cost, to->cost, from->cost);
    mpz_add (to->full, to->full, from->full);
    mpz_add (to->recoverable, to->recoverable, from->recoverable);
    mpz_add (to->disposal, to->disposal, from->disposal);
    mpz_add (to->in_period, to->in_period, from->in_period);
    mpz_add (to->outside, to->outside, from->outside);
    mpz_add (to->credited_outside, to->credited_outside,
             from->credited_outside);
    mpz_add (to->purchased, to->purchased, from->purchased);
    mpz_add (to->settled, to->settled, from->settled);
    for (size_t i = 0; i < GL_ARRAY_SIZE (to->excess); i++)
        exact_add (to->excess[i], from->excess[i]);
    cube_add_cube (to->credits, from->credits);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_add (to->remainder[i], to->remainder[i], from->remainder[i]);
        mpz_add (to->idle[i], to->idle[i], from->idle[i]);
    }
}

void chargeback_pool_months (struct chargeback *c, const bill_t *bill)
{
    size_t count;
    const bill_pool_t *pool = bill_pools (bill, &count);

    for (size_t i = 0; i < count; i++) {
        struct pool_sum *sum = pool_of (c, pool[i].pool);
        sum->complete = sum->complete && pool[i].has_cost;
        sum->silent = sum->silent && !pool[i].has_cost && !pool[i].has_rate;
        mpz_add (sum->cost, sum->cost, pool[i].cost_units);
        mpz_add (sum->full, sum->full, pool[i].full_units);
        mpz_add (sum->recoverable, sum->recoverable, pool[i].recoverable_units);
    }
}

/* --- how it adds up ---------------------------------------------------- */

/* Filters other than by pool leave out charges that the cost has. */
static bool is_shown (const struct chargeback *c, const struct pool_sum *sum)
{
    for (size_t i = 0; i < c->query->filter_count; i++)
        if (c->query->filters[i].key != KEY_POOL
            || !report_filter_passes (&c->query->filters[i], sum->pool))
            return false;
    return true;
}

/* The two books where they differ, and what is in no charge. */
static void prove_books (const struct chargeback *c, report_proof_t *proof,
                         const struct pool_sum *sum)
{
    mpz_t rest;

    if (mpz_cmp (sum->full, sum->recoverable) != 0) {
        mpz_init (rest);
        mpz_sub (rest, sum->full, sum->cost);
        report_proof_money (proof, "full cost", sum->full, c->digits);
        report_proof_money (proof, "recoverable cost", sum->recoverable,
                            c->digits);
        if (mpz_sgn (rest))
            report_proof_money (proof, "not recoverable: in no charge", rest,
                                c->digits);
        mpz_clear (rest);
    }
    if (mpz_sgn (sum->disposal))
        report_proof_money (proof,
                            mpz_sgn (sum->disposal) > 0
                                ? "loss of disposals: in no charge"
                                : "gain of disposals: in no charge",
                            sum->disposal, c->digits);
}

/* The jobs' credits. */
static void prove_credits (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, mpz_t rest)
{
    for (size_t i = 0; i < cube_count (sum->credits); i++) {
        const posting_t *credit = cube_row (sum->credits, i);
        GL_AUTOFREE char *label
            = xasprintf ("credited: %s", bill_credit_title (credit->what));
        report_proof_money (proof, label, credit->charge_units, c->digits);
        mpz_sub (rest, rest, credit->charge_units);
    }
    if (mpz_sgn (sum->credited_outside))
        report_proof_money (proof,
                            "credited in the same months, outside the period",
                            sum->credited_outside, c->digits);
    mpz_sub (rest, rest, sum->credited_outside);
}

/* What jobs are charged for time allocated to them: all but idle time and
 * entitlements. */
static void charged_to_jobs (const struct pool_sum *sum, mpz_t ret_units)
{
    mpz_sub (ret_units, sum->in_period, sum->purchased);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_sub (ret_units, ret_units, sum->idle[i]);
}

static void prove_charges (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum)
{
    mpz_t jobs;

    mpz_init (jobs);
    charged_to_jobs (sum, jobs);
    report_proof_money (proof, "charged to jobs", jobs, c->digits);
    mpz_clear (jobs);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("also charged: %s", remainder_info (i)->title);
        if (mpz_sgn (sum->idle[i]))
            report_proof_money (proof, label, sum->idle[i], c->digits);
    }
    if (mpz_sgn (sum->purchased))
        report_proof_money (proof, "also charged: prepaid entitlements",
                            sum->purchased, c->digits);
    if (mpz_sgn (sum->outside))
        report_proof_money (proof,
                            "charged in the same months, outside the period",
                            sum->outside, c->digits);
}

/* Jobs cannot hold more than there is: by how much they did; NULL: they did
 * not. */
static char *hours_beyond (mpq_srcptr excess)
{
    char *hours = NULL;
    mpq_t beyond;

    mpq_init (beyond);
    mpq_neg (beyond, excess);
    if (mpq_sgn (excess) != 0)
        hours = report_hours_text (beyond);
    mpq_clear (beyond);
    return hours;
}

static void warn_capacity (report_t *report, const struct pool_sum *sum)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (sum->excess); i++) {
        GL_AUTOFREE char *hours = hours_beyond (sum->excess[i]);
        if (hours)
            report_note (report, NOTE_WARNING,
                         "Pool %s: %s %s hours are allocated beyond its "
                         "capacity, so that charges are wrong. Compare %s of "
                         "the pool with slurm.conf, and look for jobs that "
                         "were imported twice (under another cluster or time "
                         "zone).",
                         sum->pool, hours, i ? "CPU" : "GPU",
                         i ? "'nodes' and 'cpus_per_node'"
                           : "'nodes', 'gres' and 'gpus_per_node'");
    }
}

/* False: jobs hold more than there is. GPU hours and CPU hours apart. */
static bool prove_capacity (report_proof_t *proof, const struct pool_sum *sum)
{
    static const char *const titles[]
        = {"GPU hours allocated beyond the capacity",
           "CPU hours allocated beyond the capacity"};
    bool within = true;

    for (size_t i = 0; i < GL_ARRAY_SIZE (titles); i++) {
        GL_AUTOFREE char *hours = hours_beyond (sum->excess[i]);
        if (hours)
            report_proof_line (proof, titles[i], hours);
        within = within && !hours;
    }
    return within;
}

/* The classes that `margin` selects: amounts below 0 are shown above 0, in
 * front of the charges, because cost and margin together are what was
 * recovered. */
static void prove_classes (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, bool margin, mpz_t rest)
{
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        int sign = mpz_sgn (sum->remainder[i]);
        recovery_t kind = remainder_recovery (i, sign);
        GL_AUTOFREE char *label = remainder_label (i, sign);
        if (sign == 0 || (kind == RECOVERY_MARGIN) != margin)
            continue;
        mpz_abs (units, sum->remainder[i]);
        report_proof_money (proof, label, units, c->digits);
        mpz_sub (rest, rest, sum->remainder[i]);
    }
    mpz_clear (units);
}

static void add_proof (struct chargeback *c, const char *title,
                       const struct pool_sum *sum)
{
    report_proof_t *proof = report_proof (c->report, title);
    mpz_t rest;

    mpz_init_set (rest, sum->cost);
    mpz_sub (rest, rest, sum->in_period);
    mpz_sub (rest, rest, sum->outside);
    prove_books (c, proof, sum);
    report_proof_money (proof, "cost", sum->cost, c->digits);
    prove_classes (c, proof, sum, true, rest);
    prove_charges (c, proof, sum);
    prove_credits (c, proof, sum, rest);
    if (mpz_sgn (sum->settled))
        report_proof_money (proof, "settlement", sum->settled, c->digits);
    mpz_sub (rest, rest, sum->settled);
    prove_classes (c, proof, sum, false, rest);
    report_proof_money (proof, "difference", rest, c->digits);
    proof->holds = prove_capacity (proof, sum) && mpz_sgn (rest) == 0;
    mpz_clear (rest);
}

static void name_credits (report_t *report, int digits,
                          const struct pool_sum *all)
{
    mpz_t units;

    mpz_init (units);
    pool_sum_credits (all, units);
    if (cube_count (all->credits) > 0)
        report_named_money (report, "credit", "Credited", units, digits);
    if (mpz_sgn (all->credited_outside))
        report_named_money (report, "credit_outside_period",
                            "Credited in the same months, outside the period",
                            all->credited_outside, digits);
    mpz_clear (units);
}

static void recovery_of (const struct pool_sum *all,
                         mpz_t ret_units[RECOVERY_COUNT])
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        int sign = mpz_sgn (all->remainder[i]);
        mpz_ptr units = ret_units[remainder_recovery (i, sign)];
        if (remainder_is_settlement (i))
            continue;
        if (sign < 0)
            mpz_sub (units, units, all->remainder[i]);
        else
            mpz_add (units, units, all->remainder[i]);
    }
}

/* The site's side of settlement, with its sign: the sum, and each class. */
static void name_site_side (report_t *report, int digits,
                            const struct pool_sum *all)
{
    mpz_t sum;
    bool any = false;

    mpz_init (sum);
    for (size_t i = REMAINDER_WAIVED; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *name
            = xasprintf ("site_%s", remainder_info (i)->word);
        int sign = mpz_sgn (all->remainder[i]);
        mpz_add (sum, sum, all->remainder[i]);
        any = any || sign;
        if (sign)
            report_named_money (report, name, remainder_title (i, sign),
                                all->remainder[i], digits);
    }
    if (any)
        report_named_money (report, "site_settlement",
                            "Settlement, the site's side", sum, digits);
    mpz_clear (sum);
}

/* The three sums, and each class by its name. */
static void name_recovery (report_t *report, int digits,
                           const struct pool_sum *all)
{
    mpz_t sums[RECOVERY_COUNT], units;

    mpz_init (units);
    for (size_t k = 0; k < RECOVERY_COUNT; k++)
        mpz_init (sums[k]);
    recovery_of (all, sums);
    for (size_t k = 0; k < RECOVERY_COUNT; k++) {
        report_named_money (report, recovery_infos[k].total,
                            recovery_infos[k].title, sums[k], digits);
        mpz_clear (sums[k]);
    }
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        int sign = mpz_sgn (all->remainder[i]);
        const remainder_info_t *info = remainder_info (i);
        GL_AUTOFREE char *name = xasprintf (
            "%s%s", recovery_infos[remainder_recovery (i, sign)].prefix,
            info->word);
        mpz_abs (units, all->remainder[i]);
        if (sign && !remainder_is_settlement (i))
            report_named_money (report, name, remainder_title (i, sign), units,
                                digits);
    }
    name_site_side (report, digits, all);
    mpz_clear (units);
}

/* The totals that add up: see recovery_t. */
static void name_totals (report_t *report, int digits,
                         const struct pool_sum *all)
{

    report_named_money (report, "cost", "Cost of the pools", all->cost, digits);
    if (mpz_cmp (all->full, all->recoverable) != 0) {
        report_named_money (report, "full_cost", "Full cost", all->full,
                            digits);
        report_named_money (report, "recoverable_cost", "Recoverable cost",
                            all->recoverable, digits);
    }
    if (mpz_sgn (all->disposal))
        report_named_money (report, "disposal",
                            "Gain or loss of disposals, in no charge",
                            all->disposal, digits);
    report_named_money (report, "charge", "Charged", all->in_period, digits);
    if (mpz_sgn (all->purchased))
        report_named_money (report, "purchase", "Of it prepaid", all->purchased,
                            digits);
    if (mpz_sgn (all->outside))
        report_named_money (report, "charge_outside_period",
                            "Charged in the same months, outside the period",
                            all->outside, digits);
    name_credits (report, digits, all);
    if (mpz_sgn (all->settled))
        report_named_money (report, "settlement", "Settlement", all->settled,
                            digits);
    name_recovery (report, digits, all);
}

/* Adds up the shown pools that have a cost. True if these are all: none has
 * charges of which it is not known what they recover. */
static bool sum_pools (const struct chargeback *c, struct pool_sum *all,
                       size_t *ret_count)
{
    bool whole = true;

    *ret_count = 0;
    for (size_t i = 0; i < c->pool_count; i++) {
        const struct pool_sum *sum = &c->pools[i];
        if (!is_shown (c, sum) || sum->silent)
            continue;
        whole = whole && sum->complete;
        if (sum->complete) {
            pool_sum_add (all, sum);
            ++*ret_count;
        }
    }
    return whole && *ret_count > 0;
}

static void prove_pools (struct chargeback *c)
{
    for (size_t i = 0; i < c->pool_count; i++) {
        const struct pool_sum *sum = &c->pools[i];
        const char *currency = c->query->site->currency;
        GL_AUTOFREE char *title
            = strcmp (sum->pool, NO_POOL) != 0
                  ? xasprintf ("Pool %s, %s", sum->pool, currency)
                  : xasprintf ("Fees and prepaid money, %s", currency);
        if (is_shown (c, sum) && sum->complete)
            add_proof (c, title, sum);
        if (is_shown (c, sum))
            warn_capacity (c->report, sum);
    }
}

/* --- charts and figures ------------------------------------------------- */

/* Which shade of the page's palette a class takes. */
static int remainder_shade (size_t remainder)
{
    static const int shades[REMAINDER_COUNT] = {
        [REMAINDER_IDLE] = 2,         [REMAINDER_STRANDED] = 6,
        [REMAINDER_CPU_STRANDED] = 6, [REMAINDER_RESERVED_UNUSED] = 1,
        [REMAINDER_PLANNED_DOWN] = 3, [REMAINDER_DOWN] = 4,
        [REMAINDER_UNKNOWN] = 5,      [REMAINDER_SUSPENDED] = 7,
        [REMAINDER_UNBILLED] = 7,     [REMAINDER_RECOVERY] = 7,
        [REMAINDER_NO_CAPACITY] = 4,  [REMAINDER_CREDITED] = 7,
        [REMAINDER_PREPAID] = 7,      [REMAINDER_ROUNDING] = 7,
        [REMAINDER_WAIVED] = 7,       [REMAINDER_CAPPED] = 7,
        [REMAINDER_GRANTED] = 7,      [REMAINDER_PREPAID_BALANCE] = 7,
        [REMAINDER_FEES] = 7,
    };

    return shades[remainder];
}

/* The charges, less credits and what is shown as a part of its own, less the amounts
 * recovered above the cost: the part of the cost that they recover. */
static void chart_charged (const struct pool_sum *all, mpz_t ret_charged)
{
    pool_sum_credits (all, ret_charged);
    mpz_add (ret_charged, ret_charged, all->in_period);
    mpz_add (ret_charged, ret_charged, all->settled);
    mpz_sub (ret_charged, ret_charged, all->purchased);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_sub (ret_charged, ret_charged, all->idle[i]);
        if (mpz_sgn (all->remainder[i]) < 0)
            mpz_add (ret_charged, ret_charged, all->remainder[i]);
    }
}

static void chart_charges (struct chargeback *c, report_chart_t *chart,
                           const struct pool_sum *all, const mpz_t charged,
                           const mpz_t outside)
{
    bool credits
        = cube_count (all->credits) > 0 || mpz_sgn (all->credited_outside);

    report_chart_money (chart,
                        credits ? "cost covered by charges, less credits"
                                : "cost covered by charges",
                        charged, all->cost, c->digits, 0);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("charged: %s", remainder_info (i)->title);
        if (mpz_sgn (all->idle[i]))
            report_chart_money (chart, label, all->idle[i], all->cost,
                                c->digits, remainder_shade (i));
    }
    if (mpz_sgn (all->purchased))
        report_chart_money (chart, "charged: prepaid entitlements",
                            all->purchased, all->cost, c->digits, 1);
    if (mpz_sgn (outside))
        report_chart_money (chart, "charged outside the period", outside,
                            all->cost, c->digits, 1);
}

/* Of the sign: what is not recovered, or what is recovered above the cost. */
static void chart_remainders (struct chargeback *c, report_chart_t *chart,
                              const struct pool_sum *all, int sign)
{
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label = remainder_label (i, sign);
        mpz_abs (units, all->remainder[i]);
        if (mpz_sgn (all->remainder[i]) == sign)
            report_chart_money (chart, label, units, all->cost, c->digits,
                                remainder_shade (i));
    }
    mpz_clear (units);
}

/* The parts up to the mark add up to the cost. Not drawn where a part is below 0: a
 * bar cannot show it. */
static void cost_chart (struct chargeback *c, const struct pool_sum *all)
{
    report_chart_t *chart;
    mpz_t charged, outside;
    bool drawn;

    mpz_inits (charged, outside, NULL);
    chart_charged (all, charged);
    mpz_add (outside, all->outside, all->credited_outside);
    drawn = mpz_sgn (charged) >= 0 && mpz_sgn (outside) >= 0
            && mpz_sgn (all->purchased) >= 0;
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        drawn = drawn && mpz_sgn (all->idle[i]) >= 0;
    if (drawn) {
        chart = report_chart (
            c->report, CHART_STACK, "How the cost was recovered",
            "The cost, divided into the part that charges recover and the "
            "part that they do not: unallocated cost is that of capacity that "
            "no team is charged for, a shortfall lowers charges. What they "
            "recover above cost follows after the mark: it pays for the other "
            "parts.");
        chart_charges (c, chart, all, charged, outside);
        chart_remainders (c, chart, all, 1);
        chart_remainders (c, chart, all, -1);
    }
    mpz_clears (charged, outside, NULL);
}

void chargeback_row_chart (struct chargeback *c, const struct columns *columns)
{
    const mpq_t *charge = (const mpq_t *)c->charge;

    if (report_by_time (c->query))
        report_chart_times (c->report, c->query, "Charges over time",
                            "The charges of each row.", charge, columns->charge,
                            c->query->site->currency);
    else
        report_chart_rows (c->report, "Who is charged most",
                           "The largest rows.", charge, columns->charge,
                           REPORT_CHART_ROWS);
}

static void recovery_figures (struct chargeback *c, const struct pool_sum *all)
{
    static const char *const titles[RECOVERY_COUNT]
        = {"Unallocated cost", "Shortfall", "Recovered above cost"};
    mpz_t sums[RECOVERY_COUNT];

    for (size_t k = 0; k < RECOVERY_COUNT; k++)
        mpz_init (sums[k]);
    recovery_of (all, sums);
    for (size_t k = 0; k < RECOVERY_COUNT; k++) {
        GL_AUTOFREE char *text = exact_units_text (sums[k], c->digits);
        if (mpz_sgn (sums[k]) || k == RECOVERY_UNALLOCATED)
            report_figure (c->report, titles[k], text, c->query->site->currency,
                           COLUMN_MONEY);
        mpz_clear (sums[k]);
    }
}

static void add_figures (struct chargeback *c, const struct columns *columns,
                         const struct pool_sum *all, bool adds_up)
{
    const char *currency = c->query->site->currency;
    report_t *report = c->report;

    GL_AUTOFREE char *hint
        = xasprintf ("%s, before credits and taxes", currency);
    report_figure (report, "Charged", report->total[columns->charge], hint,
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

void chargeback_prove (struct chargeback *c, const struct columns *columns)
{
    struct pool_sum all;
    size_t count;
    bool whole;

    pool_sum_init (&all, "");
    whole = sum_pools (c, &all, &count);
    if (count > 1) {
        GL_AUTOFREE char *title
            = xasprintf ("All pools together, %s", c->query->site->currency);
        add_proof (c, title, &all);
    }
    prove_pools (c);
    if (whole) {
        name_totals (c->report, c->digits, &all);
        cost_chart (c, &all);
    }
    add_figures (c, columns, &all, whole);
    pool_sum_clear (&all);
}
