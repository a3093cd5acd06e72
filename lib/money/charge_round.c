/*
 * The one place that rounds money: see charge.h for the cascade.
 */
#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"

/* Of which lines; the others have no part in it. */
typedef enum {
    LINES_ALL,
    LINES_SHARED,    /* of which some price is a part of the cost */
    LINES_PUBLISHED, /* the rest */
} lines_t;

/* Which amounts are shared out, and where their integers go. */
struct amounts {
    size_t exact; /* of an mpq_t in charge_line_t */
    size_t units; /* of an mpz_t */
    int digits;
    lines_t of;
};

static bool has_part (const struct entry *entry, const struct amounts *which)
{
    return which->of == LINES_ALL
           || (which->of == LINES_PUBLISHED) == entry->published;
}

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
    unsigned long power = 1, common;

    for (; digits > 0; digits--)
        power *= 10;
    common = mpz_gcd_ui (NULL, mpq_denref (amount), power);
    mpz_mul_ui (mpq_numref (value), mpq_numref (amount), power / common);
    mpz_divexact_ui (mpq_denref (value), mpq_denref (amount), common);
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
        if (has_part (&charge->entries[i], which))
            exact_gather (ret_sum,
                          line_amount (&charge->entries[i].line, which));
    if (group.end - group.start > 1)
        mpq_canonicalize (ret_sum);
    charge_scale (ret_sum, ret_sum, which->digits);
}

static int share_level (charge_t *charge, const struct amounts *which,
                        struct group run, size_t level, mpz_srcptr total,
                        gl_error_t *error);

/* The level whose groups are published lines: of one team, where teams are told
 * apart. */
static size_t published_level (const charge_t *charge)
{
    return charge->level_count > 2 && charge->levels[2] == CHARGE_TEAM + 1 ? 2
                                                                           : 1;
}

/* Hand each group its integer: to its line at the last level, else on. */
static int hand_down (charge_t *charge, const struct amounts *which,
                      const struct group *groups, size_t count, size_t level,
                      mpz_t *units, gl_error_t *error)
{
    for (size_t i = 0; i < count; i++) {
        struct entry *first = &charge->entries[groups[i].start];
        if (level >= published_level (charge) && !has_part (first, which))
            continue;
        if (level + 1 == charge->level_count)
            mpz_set (line_units (&first->line, which), units[i]);
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

    /* most lines have one part: it gets the total on every level */
    if (run.end - run.start == 1) {
        struct entry *only = &charge->entries[run.start];
        if (has_part (only, which))
            mpz_set (line_units (&only->line, which), total);
        return 0;
    }
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

/* Mostly all prices are published, and no line shares the cost. */
static int share_lines (charge_t *charge, const struct amounts *which,
                        mpz_srcptr total, gl_error_t *error)
{
    struct group all = {0, charge->count};
    bool any = false;

    for (size_t i = 0; i < charge->count && !any; i++)
        any = has_part (&charge->entries[i], which);
    return any ? share_level (charge, which, all, 0, total, error) : 0;
}

/* Of each remainder, the exact amount. */
static int share_remainders (charge_t *charge, bool of_charge,
                             const mpq_t *amounts, int digits,
                             mpz_srcptr total, gl_error_t *error)
{
    struct parts shares;
    int rc;

    parts_init (&shares, REMAINDER_COUNT);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        charge_scale (shares.parts[i], amounts[i], digits);
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

/* The top of the cascade: remainders together, the lines of `which` together, so
 * that their sums, too, are off by less than a unit; and `apart`, exact, which is
 * neither. */
static int share_top (charge_t *charge, const struct amounts *which,
                      mpq_srcptr apart, bool of_charge, const mpq_t *amounts,
                      mpz_t ret_apart, gl_error_t *error)
{
    struct group all = {0, charge->count};
    struct parts top;
    int rc;

    parts_init (&top, 3);
    sum_group (charge, all, which, top.parts[1]);
    charge_scale (top.parts[2], apart, which->digits);
    charge_scale (top.parts[0], charge->cost.total, which->digits);
    mpq_sub (top.parts[0], top.parts[0], top.parts[1]);
    mpq_sub (top.parts[0], top.parts[0], top.parts[2]);
    rc = exact_share (charge->total, (const mpq_t *)top.parts, top.count,
                      top.units, error);
    if (rc == 0)
        rc = share_remainders (charge, of_charge, amounts, which->digits,
                               top.units[0], error);
    if (rc == 0)
        rc = share_lines (charge, which, top.units[1], error);
    mpz_set (ret_apart, top.units[2]);
    parts_clear (&top);
    return rc;
}

static int round_cost (charge_t *charge, int digits, gl_error_t *error)
{
    const struct amounts cost = {offsetof (charge_line_t, cost),
                                 offsetof (charge_line_t, cost_units), digits,
                                 LINES_ALL};
    mpq_t amounts[REMAINDER_COUNT], none;
    mpz_t apart;
    int rc;

    mpq_init (none);
    mpz_init (apart);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpq_init (amounts[i]);
        mpq_set (amounts[i], charge->remainders[i].cost);
    }
    rc = share_top (charge, &cost, none, false, (const mpq_t *)amounts, apart,
                    error);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpq_clear (amounts[i]);
    mpz_clear (apart);
    mpq_clear (none);
    return rc;
}

/* --- what shares the cost ------------------------------------------------- */

/* An adjustment of all these lines is what its remainder is without sign. */
static int share_adjustment (charge_t *charge, adjustment_id_t id, int digits,
                             gl_error_t *error)
{
    const charge_remainder_t *rest
        = &charge->remainders[adjustment_info (id)->remainder];
    struct amounts which = {
        offsetof (charge_line_t, adjustment) + id * sizeof (mpq_t),
        offsetof (charge_line_t, adjustment_units) + id * sizeof (mpz_t),
        digits, LINES_SHARED};
    bool none = true;
    mpz_t total;
    int rc = 0;

    for (size_t i = 0; i < charge->count && none; i++)
        none = !has_part (&charge->entries[i], &which)
               || mpq_sgn (charge->entries[i].line.adjustment[id]) == 0;
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
        if (charge->entries[i].published)
            continue;
        mpz_set (line->list_units, line->charge_units);
        for (size_t k = 0; k < ADJUSTMENT_COUNT; k++)
            mpz_sub (line->list_units, line->list_units,
                     line->adjustment_units[k]);
    }
}

/* The remainders without what published lines bring to them to the unit: their
 * adjustments, and of purchases the list prices. The list prices of the others,
 * which are in no remainder, onto ret_apart. */
static void without_published (const charge_t *charge,
                               mpq_t amounts[REMAINDER_COUNT], mpq_t ret_apart)
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpq_set (amounts[i], charge->remainders[i].charge);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        mpq_ptr list = entry->bought ? amounts[REMAINDER_PREPAID] : ret_apart;
        if (!entry->published)
            continue;
        exact_add (list, entry->line.list);
        for (int k = 0; k < ADJUSTMENT_COUNT; k++) {
            mpq_ptr rest
                = amounts[adjustment_info ((adjustment_id_t)k)->remainder];
            if (mpq_sgn (entry->line.adjustment[k]) != 0)
                exact_add (rest, entry->line.adjustment[k]);
        }
    }
}

/* ret_apart: the list prices of published lines, rounded together. */
static int round_shared (charge_t *charge, int digits, mpz_t ret_apart,
                         gl_error_t *error)
{
    const struct amounts due = {offsetof (charge_line_t, charge),
                                offsetof (charge_line_t, charge_units), digits,
                                LINES_SHARED};
    mpq_t amounts[REMAINDER_COUNT], apart;
    int rc;

    mpq_init (apart);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpq_init (amounts[i]);
    without_published (charge, amounts, apart);
    rc = share_top (charge, &due, apart, true, (const mpq_t *)amounts,
                    ret_apart, error);
    for (int i = 0; i < ADJUSTMENT_COUNT && rc == 0; i++)
        rc = share_adjustment (charge, (adjustment_id_t)i, digits, error);
    set_lists (charge);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpq_clear (amounts[i]);
    mpq_clear (apart);
    return rc;
}

/* --- what is published ---------------------------------------------------- */

/* A line is published if all in it is: in every report the same, whatever else its
 * paths tell. */
static void mark_published (charge_t *charge)
{
    struct group all = {0, charge->count};
    size_t count;
    struct group *lines
        = find_groups (charge, all, published_level (charge), &count);

    for (size_t i = 0; i < count; i++) {
        bool published = true;
        for (size_t k = lines[i].start; k < lines[i].end; k++)
            published = published && charge->entries[k].published;
        for (size_t k = lines[i].start; k < lines[i].end; k++)
            charge->entries[k].published = published;
    }
    free (lines);
}

/* The amount of one line by itself, and below it in order. */
static int round_line (charge_t *charge, struct group line,
                       const struct amounts *which, gl_error_t *error)
{
    size_t below = published_level (charge) + 1;
    mpq_t sum;
    mpz_t units;
    int rc = 0;

    mpq_init (sum);
    mpz_init (units);
    sum_group (charge, line, which, sum);
    exact_round (units, sum, 0);
    if (below == charge->level_count)
        mpz_set (line_units (&charge->entries[line.start].line, which), units);
    else
        rc = share_level (charge, which, line, below, units, error);
    mpq_clear (sum);
    mpz_clear (units);
    return rc;
}

static bool has_adjustment (const charge_t *charge, struct group line, int id)
{
    for (size_t i = line.start; i < line.end; i++)
        if (mpq_sgn (charge->entries[i].line.adjustment[id]) != 0)
            return true;
    return false;
}

/* The list price, and what is left after each adjustment, are rounded; an
 * adjustment is the difference of two of these. */
static int round_published_line (charge_t *charge, struct group line,
                                 int digits, gl_error_t *error)
{
    struct amounts which = {offsetof (charge_line_t, list),
                            offsetof (charge_line_t, list_units), digits,
                            LINES_PUBLISHED};
    int rc = round_line (charge, line, &which, error);

    for (size_t i = line.start; i < line.end; i++) {
        charge_line_t *of = &charge->entries[i].line;
        mpz_set (of->charge_units, of->list_units);
    }
    which.units = offsetof (charge_line_t, charge_units);
    for (int k = 0; k < ADJUSTMENT_COUNT && rc == 0; k++) {
        if (!has_adjustment (charge, line, k))
            continue;
        for (size_t i = line.start; i < line.end; i++) {
            charge_line_t *of = &charge->entries[i].line;
            mpz_neg (of->adjustment_units[k], of->charge_units);
            exact_add (of->list, of->adjustment[k]); /* taken back below */
        }
        rc = round_line (charge, line, &which, error);
        for (size_t i = line.start; i < line.end; i++) {
            charge_line_t *of = &charge->entries[i].line;
            mpz_add (of->adjustment_units[k], of->adjustment_units[k],
                     of->charge_units);
        }
    }
    for (size_t i = line.start; i < line.end; i++) {
        charge_line_t *of = &charge->entries[i].line;
        for (int k = 0; k < ADJUSTMENT_COUNT; k++)
            exact_subtract (of->list, of->adjustment[k]);
    }
    return rc;
}

/* What a published line is to the unit, the remainders are. */
static void take_from_remainders (charge_t *charge, const struct entry *entry)
{
    charge_remainder_t *rest = charge->remainders;
    mpz_ptr list = rest[entry->bought ? REMAINDER_PREPAID : REMAINDER_ROUNDING]
                       .charge_units;

    mpz_sub (list, list, entry->line.list_units);
    for (int k = 0; k < ADJUSTMENT_COUNT; k++) {
        mpz_ptr units = rest[adjustment_info ((adjustment_id_t)k)->remainder]
                            .charge_units;
        mpz_sub (units, units, entry->line.adjustment_units[k]);
    }
}

/* `apart`: as round_shared() has it, which becomes the lines and "rounding". */
static int round_published (charge_t *charge, int digits, const mpz_t apart,
                            gl_error_t *error)
{
    struct group all = {0, charge->count};
    mpz_ptr rounding = charge->remainders[REMAINDER_ROUNDING].charge_units;
    size_t count;
    struct group *lines
        = find_groups (charge, all, published_level (charge), &count);
    int rc = 0;

    mpz_add (rounding, rounding, apart);
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (!charge->entries[lines[i].start].published)
            continue;
        rc = round_published_line (charge, lines[i], digits, error);
        for (size_t k = lines[i].start; k < lines[i].end; k++)
            take_from_remainders (charge, &charge->entries[k]);
    }
    free (lines);
    return rc;
}

int charge_round (charge_t *charge, gl_error_t *error)
{
    int digits = charge->site->currency_digits, rc;
    mpz_t apart;

    mpz_init (apart);
    mark_published (charge);
    exact_round (charge->total, charge->cost.total, digits);
    rc = round_cost (charge, digits, error);
    if (rc == 0)
        rc = round_shared (charge, digits, apart, error);
    if (rc == 0)
        rc = round_published (charge, digits, apart, error);
    mpz_clear (apart);
    return rc;
}
