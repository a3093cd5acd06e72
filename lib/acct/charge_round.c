/*
 * The one place that rounds money: see charge.h for the cascade.
 */
#include <stdbool.h>
#include <string.h>

#include "acct/charge_private.h"
#include "base/exact.h"
#include "base/memory.h"

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

int charge_compare_paths (char **a, char **b, size_t length)
{
    int order = 0;

    for (size_t i = 0; i < length && order == 0; i++)
        order = compare_texts (a[i], b[i]);
    return order;
}

/* Which of the two amounts is shared out, and where its integers go. */
struct amounts {
    bool charge;
    int digits;
};

static mpq_ptr line_amount (charge_line_t *line, const struct amounts *which)
{
    return which->charge ? line->charge : line->cost;
}

void charge_scale (mpq_ptr value, mpq_srcptr amount, int digits)
{
    mpz_t power;

    mpz_init (power);
    mpz_ui_pow_ui (power, 10, digits);
    mpz_mul (mpq_numref (value), mpq_numref (amount), power);
    mpz_set (mpq_denref (value), mpq_denref (amount));
    mpq_canonicalize (value);
    mpz_clear (power);
}

/* A run of lines that share a path up to a level's end. */
struct group {
    size_t start;
    size_t end;
};

struct shares {
    mpq_t *parts; /* in smallest units, exact */
    mpz_t *units;
    size_t count;
};

static void shares_init (struct shares *shares, size_t count)
{
    shares->parts = xcalloc (count, sizeof (*shares->parts));
    shares->units = xcalloc (count, sizeof (*shares->units));
    shares->count = count;
    for (size_t i = 0; i < count; i++) {
        mpq_init (shares->parts[i]);
        mpz_init (shares->units[i]);
    }
}

static void shares_clear (struct shares *shares)
{
    for (size_t i = 0; i < shares->count; i++) {
        mpq_clear (shares->parts[i]);
        mpz_clear (shares->units[i]);
    }
    free (shares->parts);
    free (shares->units);
}

/* The groups of `level` within the run; yours to free. */
static struct group *find_groups (const charge_t *charge, struct group run,
                                  size_t level, size_t *ret_count)
{
    struct group *groups = xcalloc (run.end - run.start + 1, sizeof (*groups));
    size_t count = 0;

    for (size_t i = run.start; i < run.end; i++) {
        if (i == run.start || charge_compare_paths (charge->entries[i - 1].path,
                                                    charge->entries[i].path,
                                                    charge->levels[level]) != 0)
            groups[count++].start = i;
        groups[count - 1].end = i + 1;
    }
    *ret_count = count;
    return groups;
}

static void sum_group (charge_t *charge, struct group group,
                       const struct amounts *which, mpq_t ret_sum)
{
    for (size_t i = group.start; i < group.end; i++)
        mpq_add (ret_sum, ret_sum,
                 line_amount (&charge->entries[i].line, which));
    charge_scale (ret_sum, ret_sum, which->digits);
}

static int share_level (charge_t *charge, const struct amounts *which,
                        struct group run, size_t level, mpz_srcptr total,
                        gl_error_t *error);

/* Hand each group its integer: to its line at the last level, else on. */
static int hand_down (charge_t *charge, const struct amounts *which,
                      const struct group *groups, size_t count, size_t level,
                      mpz_t *units, gl_error_t *error)
{
    for (size_t i = 0; i < count; i++) {
        charge_line_t *line = &charge->entries[groups[i].start].line;
        if (level + 1 == charge->level_count)
            mpz_set (which->charge ? line->charge_units : line->cost_units,
                     units[i]);
        else if (share_level (charge, which, groups[i], level + 1, units[i],
                              error) < 0)
            return -1;
    }
    return 0;
}

/* The levels that every report has. */
#define FIXED_LEVELS 2

static int share_level (charge_t *charge, const struct amounts *which,
                        struct group run, size_t level, mpz_srcptr total,
                        gl_error_t *error)
{
    struct shares shares;
    struct group *groups;
    size_t count;
    int rc;

    groups = find_groups (charge, run, level, &count);
    shares_init (&shares, count);
    for (size_t i = 0; i < count; i++)
        sum_group (charge, groups[i], which, shares.parts[i]);
    rc = (level < FIXED_LEVELS ? exact_share : exact_share_in_order) (
        total, (const mpq_t *)shares.parts, shares.count, shares.units, error);
    if (rc == 0)
        rc = hand_down (charge, which, groups, count, level, shares.units,
                        error);
    shares_clear (&shares);
    free (groups);
    return rc;
}

static int share_remainders (charge_t *charge, const struct amounts *which,
                             mpz_srcptr total, gl_error_t *error)
{
    struct shares shares;
    int rc;

    shares_init (&shares, REMAINDER_COUNT);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        charge_scale (shares.parts[i], which->charge ? rest->charge : rest->cost,
                    which->digits);
    }
    rc = exact_share (total, (const mpq_t *)shares.parts, shares.count,
                      shares.units, error);
    for (size_t i = 0; i < REMAINDER_COUNT && rc == 0; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpz_set (which->charge ? rest->charge_units : rest->cost_units,
                 shares.units[i]);
    }
    shares_clear (&shares);
    return rc;
}

/* The top of the cascade: the lines together, the remainders together, so that
 * the sum of all charges, too, is off by less than a unit. */
static int share_all (charge_t *charge, const struct amounts *which,
                      gl_error_t *error)
{
    struct group all = {0, charge->count};
    struct shares top;
    int rc;

    shares_init (&top, 2);
    sum_group (charge, all, which, top.parts[1]);
    charge_scale (top.parts[0], charge->cost.total, which->digits);
    mpq_sub (top.parts[0], top.parts[0], top.parts[1]);
    rc = exact_share (charge->total, (const mpq_t *)top.parts, top.count,
                      top.units, error);
    if (rc == 0)
        rc = share_remainders (charge, which, top.units[0], error);
    if (rc == 0)
        rc = share_level (charge, which, all, 0, top.units[1], error);
    shares_clear (&top);
    return rc;
}

int charge_round (charge_t *charge, gl_error_t *error)
{
    struct amounts which = {false, charge->site->currency_digits};

    exact_round (charge->total, charge->cost.total, which.digits);
    if (share_all (charge, &which, error) < 0)
        return -1;
    which.charge = true;
    return share_all (charge, &which, error);
}
