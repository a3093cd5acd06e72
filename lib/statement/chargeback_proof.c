/*
 * How the charges, and what nobody is charged for, add up to the cost.
 */
#include <string.h>

#include "base/memory.h"
#include "statement/chargeback_private.h"

/* Filters other than by pool leave out charges that the cost has. */
static bool is_shown (const struct chargeback *c, const struct pool_sum *sum)
{
    for (size_t i = 0; i < c->query->filter_count; i++) {
        const usage_filter_t *f = &c->query->filters[i];
        bool found = false;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], sum->pool);
        if (f->key != KEY_POOL || !found)
            return false;
    }
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

static void proof_money (const struct chargeback *c, report_proof_t *proof,
                         const char *label, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, c->digits);

    report_proof_line (proof, label, text);
}

/* The two books where they differ, and what is in no charge. */
static void prove_books (const struct chargeback *c, report_proof_t *proof,
                         const struct pool_sum *sum)
{
    mpz_t rest;

    if (mpz_cmp (sum->full, sum->recoverable) != 0) {
        mpz_init (rest);
        mpz_sub (rest, sum->full, sum->cost);
        proof_money (c, proof, "full cost", sum->full);
        proof_money (c, proof, "recoverable cost", sum->recoverable);
        if (mpz_sgn (rest))
            proof_money (c, proof, "not recoverable: in no charge", rest);
        mpz_clear (rest);
    }
    if (mpz_sgn (sum->disposal))
        proof_money (c, proof,
                     mpz_sgn (sum->disposal) > 0
                         ? "loss of disposals: in no charge"
                         : "gain of disposals: in no charge",
                     sum->disposal);
}

/* What jobs were given back. */
static void prove_credits (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, mpz_t rest)
{
    for (size_t i = 0; i < sum->credit_count; i++) {
        const struct credit_sum *credit = &sum->credits[i];
        GL_AUTOFREE char *label
            = xasprintf ("credited: %s", credit_title (credit->what));
        proof_money (c, proof, label, credit->units);
        mpz_sub (rest, rest, credit->units);
    }
    if (mpz_sgn (sum->credited_outside))
        proof_money (c, proof,
                     "credited in the same months, outside the period",
                     sum->credited_outside);
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
    proof_money (c, proof, "charged to jobs", jobs);
    mpz_clear (jobs);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("also charged: %s", remainder_info (i)->title);
        if (mpz_sgn (sum->idle[i]))
            proof_money (c, proof, label, sum->idle[i]);
    }
    if (mpz_sgn (sum->purchased))
        proof_money (c, proof, "also charged: prepaid entitlements",
                     sum->purchased);
    if (mpz_sgn (sum->outside))
        proof_money (c, proof, "charged in the same months, outside the period",
                     sum->outside);
}

/* Jobs cannot hold more than there is: false, and a line that says by how much. */
static bool prove_capacity (report_proof_t *proof, mpq_srcptr excess)
{
    GL_AUTOFREE char *hours = NULL;
    mpq_t beyond;

    if (mpq_sgn (excess) == 0)
        return true;
    mpq_init (beyond);
    mpq_neg (beyond, excess);
    hours = report_hours_text (beyond);
    report_proof_line (proof, "GPU hours that jobs held beyond the capacity",
                       hours);
    mpq_clear (beyond);
    return false;
}

static void warn_capacity (report_t *report, const char *pool,
                               mpq_srcptr excess)
{
    GL_AUTOFREE char *hours = NULL;
    mpq_t beyond;

    if (mpq_sgn (excess) == 0)
        return;
    mpq_init (beyond);
    mpq_neg (beyond, excess);
    hours = report_hours_text (beyond);
    report_note (report, NOTE_WARNING,
                 "Pool %s: jobs held %s GPU hours beyond its capacity, so that "
                 "charges are wrong. Compare 'nodes', 'gres' and "
                 "'gpus_per_node' of the pool with slurm.conf, and look for jobs "
                 "that were imported twice (under another cluster or time zone).",
                 pool, hours);
    mpq_clear (beyond);
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
        proof_money (c, proof, label, units);
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
    proof_money (c, proof, "cost", sum->cost);
    prove_classes (c, proof, sum, true, rest);
    prove_charges (c, proof, sum);
    prove_credits (c, proof, sum, rest);
    prove_classes (c, proof, sum, false, rest);
    proof_money (c, proof, "difference", rest);
    proof->holds = prove_capacity (proof, sum->excess)
                   && mpz_sgn (rest) == 0;
    mpz_clear (rest);
}

struct totals {
    report_t *report;
    int digits;
};

static void named_money (const struct totals *t, const char *name,
                         const char *title, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, t->digits);

    report_named_total (t->report, name, title, COLUMN_MONEY, text);
}

static void name_credits (const struct totals *t, const struct pool_sum *all)
{
    mpz_t units;

    mpz_init (units);
    pool_sum_credits (all, units);
    if (all->credit_count > 0)
        named_money (t, "credit", "Credited", units);
    if (mpz_sgn (all->credited_outside))
        named_money (t, "credit_outside_period",
                     "Credited in the same months, outside the period",
                     all->credited_outside);
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
static void name_recovery (const struct totals *t, const struct pool_sum *all)
{
    mpz_t sums[RECOVERY_COUNT], units;

    mpz_init (units);
    for (size_t k = 0; k < RECOVERY_COUNT; k++)
        mpz_init (sums[k]);
    chargeback_recovery (all, sums);
    for (size_t k = 0; k < RECOVERY_COUNT; k++) {
        named_money (t, recovery_infos[k].total, recovery_infos[k].title,
                     sums[k]);
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
            named_money (t, name, info->title, units);
    }
    mpz_clear (units);
}

/* The totals that add up: see recovery_t. */
static void name_totals (report_t *report, int digits,
                             const struct pool_sum *all)
{
    const struct totals t = {report, digits};

    named_money (&t, "cost", "Cost of the pools", all->cost);
    if (mpz_cmp (all->full, all->recoverable) != 0) {
        named_money (&t, "full_cost", "Full cost", all->full);
        named_money (&t, "recoverable_cost", "Recoverable cost",
                     all->recoverable);
    }
    if (mpz_sgn (all->disposal))
        named_money (&t, "disposal", "Gain or loss of disposals, in no charge",
                     all->disposal);
    named_money (&t, "charge", "Charged", all->in_period);
    if (mpz_sgn (all->purchased))
        named_money (&t, "purchase", "Of it prepaid", all->purchased);
    if (mpz_sgn (all->outside))
        named_money (&t, "charge_outside_period",
                     "Charged in the same months, outside the period",
                     all->outside);
    name_credits (&t, all);
    name_recovery (&t, all);
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
