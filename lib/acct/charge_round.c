/*
 * The one place that rounds money: see charge.h for the cascade.
 */
#include <stdbool.h>
#include <string.h>

#include "acct/charge_private.h"
#include "base/exact.h"
#include "base/memory.h"

/* Which amounts are shared out, and where their integers go. */
struct amounts {
    size_t exact; /* of an mpq_t in charge_line_t */
    size_t units; /* of an mpz_t */
    int digits;
};

static mpq_ptr line_amount (charge_line_t *line, const struct amounts *which)
{
    return *(mpq_t *)((char *)line + which->exact);
}

static mpz_ptr line_units (charge_line_t *line, const struct amounts *which)
{
    return *(mpz_t *)((char *)line + which->units);
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

struct parts {
    mpq_t *parts; /* in smallest units, exact */
    mpz_t *units;
    size_t count;
};

static void parts_init (struct parts *shares, size_t count)
{
    shares->parts = xcalloc (count, sizeof (*shares->parts));
    shares->units = xcalloc (count, sizeof (*shares->units));
    shares->count = count;
    for (size_t i = 0; i < count; i++) {
        mpq_init (shares->parts[i]);
        mpz_init (shares->units[i]);
    }
}

static void parts_clear (struct parts *shares)
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
        if (i == run.start
            || charge_compare (charge, &charge->entries[i - 1],
                               &charge->entries[i], charge->levels[level])
                   != 0)
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
            mpz_set (line_units (line, which), units[i]);
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
    struct parts shares;
    struct group *groups;
    size_t count;
    int rc;

    groups = find_groups (charge, run, level, &count);
    parts_init (&shares, count);
    for (size_t i = 0; i < count; i++)
        sum_group (charge, groups[i], which, shares.parts[i]);
    rc = (level < FIXED_LEVELS ? exact_share : exact_share_in_order) (
        total, (const mpq_t *)shares.parts, shares.count, shares.units, error);
    if (rc == 0)
        rc = hand_down (charge, which, groups, count, level, shares.units,
                        error);
    parts_clear (&shares);
    free (groups);
    return rc;
}

/* Of each remainder, its cost or its charge. */
static int share_remainders (charge_t *charge, bool of_charge, int digits,
                             mpz_srcptr total, gl_error_t *error)
{
    struct parts shares;
    int rc;

    parts_init (&shares, REMAINDER_COUNT);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        charge_scale (shares.parts[i], of_charge ? rest->charge : rest->cost,
                      digits);
    }
    rc = exact_share (total, (const mpq_t *)shares.parts, shares.count,
                      shares.units, error);
    for (size_t i = 0; i < REMAINDER_COUNT && rc == 0; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpz_set (of_charge ? rest->charge_units : rest->cost_units,
                 shares.units[i]);
    }
    parts_clear (&shares);
    return rc;
}

static int share_lines (charge_t *charge, const struct amounts *which,
                        mpz_srcptr total, gl_error_t *error)
{
    struct group all = {0, charge->count};

    return share_level (charge, which, all, 0, total, error);
}

/* The top of the cascade: the lines together, the remainders together, so that
 * the sum of all charges, too, is off by less than a unit. */
static int share_all (charge_t *charge, const struct amounts *which,
                      bool of_charge, gl_error_t *error)
{
    struct group all = {0, charge->count};
    struct parts top;
    int rc;

    parts_init (&top, 2);
    sum_group (charge, all, which, top.parts[1]);
    charge_scale (top.parts[0], charge->cost.total, which->digits);
    mpq_sub (top.parts[0], top.parts[0], top.parts[1]);
    rc = exact_share (charge->total, (const mpq_t *)top.parts, top.count,
                      top.units, error);
    if (rc == 0)
        rc = share_remainders (charge, of_charge, which->digits, top.units[0],
                               error);
    if (rc == 0)
        rc = share_lines (charge, which, top.units[1], error);
    parts_clear (&top);
    return rc;
}

/* An adjustment of all lines is what its remainder is without sign. */
static int share_adjustment (charge_t *charge, adjustment_id_t id, int digits,
                             gl_error_t *error)
{
    const charge_remainder_t *rest
        = &charge->remainders[adjustment_info (id)->remainder];
    struct amounts which = {
        offsetof (charge_line_t, adjustment) + id * sizeof (mpq_t),
        offsetof (charge_line_t, adjustment_units) + id * sizeof (mpz_t),
        digits};
    bool none = true;
    mpz_t total;
    int rc = 0;

    for (size_t i = 0; i < charge->count && none; i++)
        none = mpq_sgn (charge->entries[i].line.adjustment[id]) == 0;
    mpz_init (total);
    mpz_neg (total, rest->charge_units);
    if (!none)
        rc = share_lines (charge, &which, total, error);
    mpz_clear (total);
    return rc;
}

static void set_lists (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++) {
        charge_line_t *line = &charge->entries[i].line;
        mpz_set (line->list_units, line->charge_units);
        for (size_t k = 0; k < ADJUSTMENT_COUNT; k++)
            mpz_sub (line->list_units, line->list_units,
                     line->adjustment_units[k]);
    }
}

int charge_round (charge_t *charge, gl_error_t *error)
{
    int digits = charge->site->currency_digits;
    struct amounts cost = {offsetof (charge_line_t, cost),
                           offsetof (charge_line_t, cost_units), digits};
    struct amounts due = {offsetof (charge_line_t, charge),
                          offsetof (charge_line_t, charge_units), digits};

    exact_round (charge->total, charge->cost.total, digits);
    if (share_all (charge, &cost, false, error) < 0
        || share_all (charge, &due, true, error) < 0)
        return -1;
    for (int i = 0; i < ADJUSTMENT_COUNT; i++)
        if (share_adjustment (charge, (adjustment_id_t)i, digits, error) < 0)
            return -1;
    set_lists (charge);
    return 0;
}
