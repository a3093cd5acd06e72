/*
 * How the charges, and what nobody is charged for, add up to the cost.
 */
#include <string.h>

#include "base/memory.h"
#include "statement/chargeback_private.h"

/* Filters other than by pool leave out charges that the cost has. */
static bool is_shown (const struct chargeback *c, const struct pool_sum *sum)
{
    for (size_t i = 0; i < c->query->filter_count; i++)
        if (c->query->filters[i].key != KEY_POOL
            || !report_filter_passes (&c->query->filters[i], sum->pool))
            return false;
    return true;
}

/* "node failure". */
static const char *credit_title (const char *what)
{
    static const struct {
        const char *what;
        const char *title;
    } titles[] = {
        {"NODE_FAIL", "node failure"},
        {"BOOT_FAIL", "boot failure"},
        {"PREEMPTED", "preemption"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (titles); i++)
        if (!strcmp (titles[i].what, what))
            return titles[i].title;
    return what;
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

/* What jobs were given back. */
static void prove_credits (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, mpz_t rest)
{
    for (size_t i = 0; i < cube_count (sum->credits); i++) {
        const posting_t *credit = cube_row (sum->credits, i);
        GL_AUTOFREE char *label
            = xasprintf ("credited: %s", credit_title (credit->what));
        report_proof_money (proof, label, credit->charge_units, c->digits);
        mpz_sub (rest, rest, credit->charge_units);
    }
    if (mpz_sgn (sum->credited_outside))
        report_proof_money (proof,
                            "credited in the same months, outside the period",
                            sum->credited_outside, c->digits);
    mpz_sub (rest, rest, sum->credited_outside);
}

/* What jobs are charged for time that they held: all but idle time and
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

static void warn_capacity (report_t *report, const char *pool,
                           mpq_srcptr excess)
{
    GL_AUTOFREE char *hours = hours_beyond (excess);

    if (!hours)
        return;
    report_note (
        report, NOTE_WARNING,
        "Pool %s: %s GPU hours are allocated beyond its capacity, so that "
        "charges are wrong. Compare 'nodes', 'gres' and "
        "'gpus_per_node' of the pool with slurm.conf, and look for jobs "
        "that were imported twice (under another cluster or time zone).",
        pool, hours);
}

/* The classes that `margin` selects: amounts below 0 are shown above 0, in front of
 * the charges, because cost and margin together are what was recovered. */
static void prove_classes (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, bool margin, mpz_t rest)
{
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        int sign = mpz_sgn (sum->remainder[i]);
        recovery_t kind = remainder_recovery (i, sign);
        GL_AUTOFREE char *label
            = xasprintf ("%s: %s", recovery_infos[kind].title,
                         remainder_info (i)->title);
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
    GL_AUTOFREE char *beyond = hours_beyond (sum->excess);
    mpz_t rest;

    mpz_init_set (rest, sum->cost);
    mpz_sub (rest, rest, sum->in_period);
    mpz_sub (rest, rest, sum->outside);
    prove_books (c, proof, sum);
    report_proof_money (proof, "cost", sum->cost, c->digits);
    prove_classes (c, proof, sum, true, rest);
    prove_charges (c, proof, sum);
    prove_credits (c, proof, sum, rest);
    prove_classes (c, proof, sum, false, rest);
    report_proof_money (proof, "difference", rest, c->digits);
    if (beyond)
        report_proof_line (proof, "GPU hours allocated beyond the capacity",
                           beyond);
    proof->holds = !beyond && mpz_sgn (rest) == 0;
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

void chargeback_recovery (const struct pool_sum *all,
                          mpz_t ret_units[RECOVERY_COUNT])
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        int sign = mpz_sgn (all->remainder[i]);
        mpz_ptr units = ret_units[remainder_recovery (i, sign)];
        if (sign < 0)
            mpz_sub (units, units, all->remainder[i]);
        else
            mpz_add (units, units, all->remainder[i]);
    }
}

/* The three sums, and each class by its name. */
static void name_recovery (report_t *report, int digits,
                           const struct pool_sum *all)
{
    mpz_t sums[RECOVERY_COUNT], units;

    mpz_init (units);
    for (size_t k = 0; k < RECOVERY_COUNT; k++)
        mpz_init (sums[k]);
    chargeback_recovery (all, sums);
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
        if (sign)
            report_named_money (report, name, info->title, units, digits);
    }
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
        GL_AUTOFREE char *title
            = xasprintf ("Pool %s, %s", sum->pool, c->query->site->currency);
        if (is_shown (c, sum) && sum->complete)
            add_proof (c, title, sum);
        if (is_shown (c, sum))
            warn_capacity (c->report, sum->pool, sum->excess);
    }
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
        chargeback_cost_chart (c, &all);
    }
    chargeback_figures (c, columns, &all, whole);
    pool_sum_clear (&all);
}
