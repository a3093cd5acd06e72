#include <string.h>

#include <uthash.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "ledger/variance.h"

static const change_info_t infos[CHANGE_COUNT] = {
    [CHANGE_VOLUME]
    = {"volume",
       "Volume",
       "More or fewer GPU hours than last month, at last month's average "
       "price per hour.",
       {"fewer hours", "more hours"}},
    [CHANGE_MIX]
    = {"mix",
       "Mix",
       "A different distribution of the hours over pools, QOS and slices, at "
       "last month's prices.",
       {"a cheaper mix of pools, QOS and slices",
        "a more expensive mix of pools, QOS and slices"}},
    [CHANGE_PRICE]
    = {"price",
       "Price",
       "The same hours at new prices: rate cards, pool costs and adjustments, "
       "without idle time.",
       {"lower prices", "higher prices"}},
    [CHANGE_IDLE] = {"idle",
                     "Idle",
                     "Charges for idle time, both in full-cost prices and in "
                     "separate rows.",
                     {"less idle time charged", "more idle time charged"}},
    [CHANGE_CREDIT] = {"credits",
                       "Credits",
                       "The change in credits.",
                       {"more credits", "fewer credits"}},
    [CHANGE_CORRECTION]
    = {"corrections",
       "Corrections",
       "The change in corrections of earlier months.",
       {"corrections of earlier months", "corrections of earlier months"}},
    [CHANGE_TAX]
    = {"taxes", "Taxes", "The change in taxes.", {"less taxes", "more taxes"}},
    [CHANGE_PURCHASE]
    = {"purchases",
       "Prepaid",
       "The change in payments for entitlements.",
       {"fewer purchases of entitlements", "more purchases of entitlements"}},
    [CHANGE_SETTLEMENT]
    = {"settlement",
       "Settlement",
       "The change in grants, sponsors, prepaid money, fees and caps.",
       {"the rules of settlement", "the rules of settlement"}},
    [CHANGE_SERVICE]
    = {"services",
       "Other services",
       "The change in charges of other services.",
       {"less charged for other services", "more charged for other services"}},
    [CHANGE_ENTITLEMENT]
    = {"entitlement",
       "Entitlements",
       "The change in the amount that entitlements cover.",
       {"more covered by entitlements", "less covered by entitlements"}},
};

const change_info_t *change_info (change_id_t id)
{
    return &infos[id];
}

bool variance_is_said (const variance_t *variance, change_id_t id)
{
    return id <= CHANGE_PRICE || mpz_sgn (variance->part[id]) != 0;
}

void variance_init (variance_t *variance)
{
    variance->mix = NULL;
    mpz_inits (variance->before, variance->after, NULL);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        mpz_init (variance->part[i]);
}

void variance_clear (variance_t *variance)
{
    free (variance->mix);
    mpz_clears (variance->before, variance->after, NULL);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        mpz_clear (variance->part[i]);
}

/* --- the months ---------------------------------------------------------- */

enum { BEFORE, AFTER, MONTHS };

/* Of a cell, or of all GPUs or CPUs. */
struct month {
    mpq_t allocated; /* q */
    mpq_t charged;   /* a, smallest units */
};

/* Charges of a pool, QOS and profile. Texts are those of the bills. */
struct cell {
    const char *pool;
    const char *qos;
    const char *profile;
    bool cpus; /* of a pool of CPUs: hours of its own */
    struct month month[MONTHS];
};

static const field_t cell_fields[] = {
    FIELD ("pool", NAME, struct cell, pool),
    FIELD ("qos", NAME, struct cell, qos),
    FIELD ("profile", NAME, struct cell, profile),
    FIELD ("cpus", FLAG, struct cell, cpus),
    FIELD ("allocated_before", EXACT, struct cell, month[BEFORE].allocated),
    FIELD ("allocated", EXACT, struct cell, month[AFTER].allocated),
    FIELD ("charged_before", EXACT, struct cell, month[BEFORE].charged),
    FIELD ("charged", EXACT, struct cell, month[AFTER].charged),
};
static const fields_t fields = FIELDS ("cell", struct cell, cell_fields);

#define EXACT_PARTS (CHANGE_IDLE + 1)

struct split {
    int digits;
    mpq_t scale;   /* smallest units of one */
    cube_t *cells; /* of charges; the sums are made here */
    struct month all[2]
                    [MONTHS]; /* the sums of the header, of GPUs and of CPUs */
    mpq_t part[EXACT_PARTS];
    mpq_t rounding; /* in the charges, and neither in an a nor z nor idle: after
                       less before */
    /* of the row that is added */
    mpq_t due, exact, idle, value;
};

static void split_init (struct split *s, int digits)
{
    s->digits = digits;
    mpq_init (s->scale);
    mpz_ui_pow_ui (mpq_numref (s->scale), 10, (unsigned long)digits);
    s->cells = cube_new (&fields, "pool,qos,profile,cpus");
    cube_measures (s->cells, "");
    for (size_t i = 0; i < MONTHS; i++)
        mpq_inits (s->all[false][i].allocated, s->all[false][i].charged,
                   s->all[true][i].allocated, s->all[true][i].charged, NULL);
    for (size_t i = 0; i < EXACT_PARTS; i++)
        mpq_init (s->part[i]);
    mpq_inits (s->rounding, s->due, s->exact, s->idle, s->value, NULL);
}

static void split_clear (struct split *s)
{
    cube_free (s->cells);
    for (size_t i = 0; i < MONTHS; i++)
        mpq_clears (s->all[false][i].allocated, s->all[false][i].charged,
                    s->all[true][i].allocated, s->all[true][i].charged, NULL);
    for (size_t i = 0; i < EXACT_PARTS; i++)
        mpq_clear (s->part[i]);
    mpq_clears (s->scale, s->rounding, s->due, s->exact, s->idle, s->value,
                NULL);
}

/* Adds it to what is after less before. */
static void gather (mpq_t sum, mpq_t value, size_t month)
{
    if (month == BEFORE)
        mpq_neg (value, value);
    exact_gather (sum, value);
}

/* The charge before rounding, which adds less than a smallest unit. Closed months that were
 * imported have no exact charge: it is the one that is due. */
static void take_rounding (struct split *s, const posting_t *row, size_t month)
{
    mpq_set_z (s->due, row->charge_units);
    mpq_mul (s->exact, s->scale, row->exact);
    mpq_neg (s->value, s->exact);
    exact_add (s->value, s->due);
    if (mpz_cmpabs (mpq_numref (s->value), mpq_denref (s->value)) < 0)
        gather (s->rounding, s->value, month);
    else
        mpq_set (s->exact, s->due);
}

/* Of a charge at full cost what it pays for idle time. A published rate is a
 * price as a whole: another rate, or more hours at it, are no other idle time. */
static void take_idle (struct split *s, const bill_t *bill,
                       const posting_t *row)
{
    if (mpz_sgn (row->charge_units) == 0 || posting_rated (bill, row))
        mpq_set_ui (s->idle, 0, 1);
    else
        bill_idle (bill, row, s->digits, s->exact, s->idle);
}

static void add_charge (struct split *s, const bill_t *bill,
                        const posting_t *row, size_t month)
{
    const struct cell key = {.pool = row->pool,
                             .qos = posting_key (row, KEY_QOS),
                             .profile = row->profile,
                             .cpus = mpq_sgn (row->cpu_seconds) != 0};
    struct month *to
        = &((struct cell *)cube_add (s->cells, &key))->month[month];

    take_rounding (s, row, month);
    take_idle (s, bill, row);
    exact_gather (to->allocated, posting_seconds (row));
    exact_gather (to->charged, s->exact);
    mpq_neg (s->value, s->idle);
    exact_gather (to->charged, s->value);
    mpq_set_z (s->value,
               posting_extra (row)->adjustment_units[ADJUSTMENT_ENTITLEMENT]);
    mpq_neg (s->value, s->value);
    exact_gather (to->charged, s->value);
    gather (s->part[CHANGE_IDLE], s->idle, month);
}

/* Rows of other kinds are a part as a whole. */
static void add_row (struct split *s, const bill_t *bill, const posting_t *row,
                     size_t month, variance_t *variance)
{
    static const change_id_t parts[BILL_KIND_COUNT] = {
        [BILL_CHARGE] = CHANGE_ENTITLEMENT,
        [BILL_CREDIT] = CHANGE_CREDIT,
        [BILL_CORRECTION] = CHANGE_CORRECTION,
        [BILL_TAX] = CHANGE_TAX,
        [BILL_PURCHASE] = CHANGE_PURCHASE,
        [BILL_SETTLEMENT] = CHANGE_SETTLEMENT,
        [BILL_SERVICE] = CHANGE_SERVICE,
    };
    mpz_ptr due = month == BEFORE ? variance->before : variance->after;
    mpz_ptr part = variance->part[parts[row->kind]];

    mpz_add (due, due, row->charge_units);
    if (row->kind == BILL_CHARGE)
        add_charge (s, bill, row, month);
    if (row->kind == BILL_IDLE) {
        mpq_set_z (s->idle, row->charge_units);
        gather (s->part[CHANGE_IDLE], s->idle, month);
    } else if (parts[row->kind])
        (month == BEFORE ? mpz_sub : mpz_add) (
            part, part,
            row->kind == BILL_CHARGE
                ? posting_extra (row)->adjustment_units[ADJUSTMENT_ENTITLEMENT]
                : row->charge_units);
}

static void add_rows (struct split *s, const bill_t *bill, const char *team,
                      size_t month, variance_t *variance)
{
    bill_rows_t of = bill_rows_of (bill, team);
    size_t count;

    for (size_t i = 0; i < of.count; i++)
        add_row (s, bill, &postings (bill, &count)[of.index[i]], month,
                 variance);
}

/* What was charged where no time was allocated is a part of the price: z. */
static void sum_cell (struct split *s, struct cell *cell)
{
    for (size_t m = 0; m < MONTHS; m++) {
        struct month *month = &cell->month[m], *all = &s->all[cell->cpus][m];
        mpq_canonicalize (month->allocated);
        mpq_canonicalize (month->charged);
        if (mpq_sgn (month->allocated) <= 0) {
            gather (s->part[CHANGE_PRICE], month->charged, m);
            mpq_set_ui (month->charged, 0, 1);
        }
        exact_add (all->allocated, month->allocated);
        exact_add (all->charged, month->charged);
    }
}

static void sum_cells (struct split *s)
{
    for (size_t i = 0; i < cube_count (s->cells); i++)
        sum_cell (s, (struct cell *)cube_row (s->cells, i));
    mpq_canonicalize (s->part[CHANGE_PRICE]);
    mpq_canonicalize (s->part[CHANGE_IDLE]);
    mpq_canonicalize (s->rounding);
}

/* --- the parts --------------------------------------------------------- */

/* What would be charged after at the price of the month before, where there was
 * one: q1 x p. */
static void at_old_price (const struct month *before, const struct month *after,
                          mpq_t ret)
{
    mpq_set (ret, after->charged);
    if (mpq_sgn (before->allocated) > 0) {
        mpq_div (ret, before->charged, before->allocated);
        mpq_mul (ret, ret, after->allocated);
    }
}

static void split_cells (struct split *s, bool cpus)
{
    for (size_t i = 0; i < cube_count (s->cells); i++) {
        const struct cell *cell = cube_row (s->cells, i);
        if (cell->cpus != cpus)
            continue;
        at_old_price (&cell->month[BEFORE], &cell->month[AFTER], s->value);
        exact_add (s->part[CHANGE_MIX], s->value);
        mpq_sub (s->value, cell->month[AFTER].charged, s->value);
        exact_add (s->part[CHANGE_PRICE], s->value);
    }
}

static void add_difference (mpq_t part, mpq_srcptr after, mpq_srcptr before)
{
    exact_add (part, after);
    exact_subtract (part, before);
}

/* Into the exact parts of volume, mix and price: each resource by itself, as
 * GPU-hours and CPU-hours have no sum. */
static void split_exactly (struct split *s, bool cpus)
{
    const struct month *before = &s->all[cpus][BEFORE],
                       *after = &s->all[cpus][AFTER];

    if (mpq_sgn (before->allocated) == 0) {
        add_difference (s->part[CHANGE_VOLUME], after->charged,
                        before->charged);
        return;
    }
    mpq_div (s->value, before->charged, before->allocated);
    mpq_mul (s->value, s->value, after->allocated);
    add_difference (s->part[CHANGE_VOLUME], s->value, before->charged);
    exact_subtract (s->part[CHANGE_MIX], s->value);
    split_cells (s, cpus);
}

/* What rounding adds is no cause of its own. */
static void add_rounding (struct split *s)
{
    size_t largest = CHANGE_PRICE;
    mpq_t size, most;

    mpq_inits (size, most, NULL);
    for (size_t i = 0; i < EXACT_PARTS; i++) {
        mpq_abs (size, s->part[i]);
        if (mpq_cmp (size, most) <= 0)
            continue;
        mpq_set (most, size);
        largest = i;
    }
    exact_add (s->part[largest], s->rounding);
    mpq_clears (size, most, NULL);
}

static int round_parts (struct split *s, variance_t *variance,
                        gl_error_t *error)
{
    mpz_t total;
    int rc;

    split_exactly (s, false);
    split_exactly (s, true);
    add_rounding (s);
    mpz_init (total);
    mpz_sub (total, variance->after, variance->before);
    for (size_t i = EXACT_PARTS; i < CHANGE_COUNT; i++)
        mpz_sub (total, total, variance->part[i]);
    rc = exact_share (total, (const mpq_t *)s->part, EXACT_PARTS,
                      variance->part, error);
    mpz_clear (total);
    return rc;
}

/* --- the mix in words ---------------------------------------------------- */

/* What a cell has of the mix, (q1 - q0 Q1/Q0) (p - A0/Q0): the parts of all cells add up to
 * it. */
static void mix_of (const struct month cell[MONTHS],
                    const struct month all[MONTHS], mpq_t ret)
{
    const struct month *priced
        = &cell[mpq_sgn (cell[BEFORE].allocated) > 0 ? BEFORE : AFTER];
    mpq_t q;

    mpq_init (q);
    mpq_div (q, all[AFTER].allocated, all[BEFORE].allocated);
    mpq_mul (q, q, cell[BEFORE].allocated);
    mpq_sub (ret, cell[AFTER].allocated, q);
    mpq_div (q, priced->charged, priced->allocated);
    mpq_mul (q, q, all[BEFORE].allocated);
    mpq_sub (q, q, all[BEFORE].charged);
    mpq_div (q, q, all[BEFORE].allocated);
    mpq_mul (ret, ret, q);
    mpq_clear (q);
}

/* Percent of the hours of a month. */
static char *share_text (const struct month *cell, const struct month *all)
{
    char *text;
    mpq_t q;

    mpq_init (q);
    mpq_set_ui (q, 100, 1);
    mpq_mul (q, q, cell->allocated);
    mpq_div (q, q, all->allocated);
    text = exact_text (q, 2);
    mpq_clear (q);
    return text;
}

static char *mix_text (const struct cell *cell, const struct month all[MONTHS])
{
    GL_AUTOFREE char *now = share_text (&cell->month[AFTER], &all[AFTER]);
    GL_AUTOFREE char *then = share_text (&cell->month[BEFORE], &all[BEFORE]);

    return xasprintf ("%s%s%s%s%s: %s %% of the %s hours, %s %% before",
                      cell->pool ? cell->pool : key_info (KEY_POOL)->absent,
                      cell->qos ? ", QOS " : "", cell->qos ? cell->qos : "",
                      cell->profile ? ", slice " : "",
                      cell->profile ? cell->profile : "", now,
                      cell->cpus ? "CPU" : "GPU", then);
}

static bool in_both (const struct month month[MONTHS])
{
    return mpq_sgn (month[BEFORE].allocated) > 0
           && mpq_sgn (month[AFTER].allocated) > 0;
}

/* Of the cell with the largest part. */
static void say_mix (const struct split *s, variance_t *variance)
{
    const struct cell *largest_cell = NULL;
    mpq_t value, largest;

    mpq_inits (value, largest, NULL);
    for (size_t i = 0; i < cube_count (s->cells); i++) {
        const struct cell *cell = cube_row (s->cells, i);
        const struct month *month = cell->month;
        if (!in_both (s->all[cell->cpus])
            || (mpq_sgn (month[BEFORE].allocated) <= 0
                && mpq_sgn (month[AFTER].allocated) <= 0))
            continue;
        mix_of (month, s->all[cell->cpus], value);
        if (mpz_sgn (variance->part[CHANGE_MIX]) < 0)
            mpq_neg (value, value);
        if (mpq_cmp (value, largest) <= 0)
            continue;
        mpq_swap (largest, value);
        largest_cell = cell;
    }
    if (largest_cell)
        variance->mix = mix_text (largest_cell, s->all[largest_cell->cpus]);
    mpq_clears (value, largest, NULL);
}

int variance_split (const bill_t *before, const bill_t *after, const char *team,
                    int digits, variance_t *variance, gl_error_t *error)
{
    struct split s;
    int rc;

    split_init (&s, digits);
    if (before)
        add_rows (&s, before, team, BEFORE, variance);
    add_rows (&s, after, team, AFTER, variance);
    sum_cells (&s);
    rc = round_parts (&s, variance, error);
    if (mpz_sgn (variance->part[CHANGE_MIX]) != 0)
        say_mix (&s, variance);
    split_clear (&s);
    return rc;
}

/* --- of each team ---------------------------------------------------------- */

struct of_team {
    variance_t variance;
    UT_hash_handle hh;
    char team[];
};

struct variances {
    const bill_t *before, *after;
    int digits;
    struct of_team *teams;
};

variances_t *variances_new (const bill_t *before, const bill_t *after,
                            int digits)
{
    variances_t *v = xcalloc (1, sizeof (*v));

    *v = (variances_t){.before = before, .after = after, .digits = digits};
    return v;
}

void variances_free (variances_t *v)
{
    struct of_team *of, *next;

    if (!v)
        return;
    HASH_ITER (hh, v->teams, of, next)
    {
        HASH_DEL (v->teams, of);
        variance_clear (&of->variance);
        free (of);
    }
    free (v);
}

/* No team has an empty name. */
const variance_t *variances_of (variances_t *v, const char *team,
                                gl_error_t *error)
{
    const char *name = team ? team : "";
    struct of_team *of;

    HASH_FIND_STR (v->teams, name, of);
    if (of)
        return &of->variance;
    of = xcalloc (1, sizeof (*of) + strlen (name) + 1);
    strcpy (of->team, name);
    variance_init (&of->variance);
    if (variance_split (v->before, v->after, team, v->digits, &of->variance,
                        error)
        < 0) {
        variance_clear (&of->variance);
        free (of);
        return NULL;
    }
    HASH_ADD_STR (v->teams, team, of);
    return &of->variance;
}
