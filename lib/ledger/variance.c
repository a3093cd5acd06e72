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

/* --- cells: pool, QOS and profile of charges, and other kinds ------------ */

/* Texts are those of the bills. */
struct cell {
    bill_kind_t kind;
    const char *pool;
    const char *qos;
    const char *profile;
    bool cpus;       /* of a pool of CPUs: hours of its own */
    mpq_t allocated; /* q */
    mpq_t charged;   /* a, smallest units */
    mpq_t hourless;  /* z */
    mpq_t idle;
    mpq_t rounding; /* in the charge, and neither in a nor z nor idle */
    mpz_t due;
    mpz_t entitled; /* negative: what an entitlement covers of it */
};

static const char *kind_word (unsigned kind)
{
    return kind < BILL_KIND_COUNT ? bill_kind_word ((bill_kind_t)kind) : NULL;
}

static const field_t cell_fields[] = {
    FIELD_WORDS ("kind", struct cell, kind, kind_word),
    FIELD ("pool", NAME, struct cell, pool),
    FIELD ("qos", NAME, struct cell, qos),
    FIELD ("profile", NAME, struct cell, profile),
    FIELD ("cpus", FLAG, struct cell, cpus),
    FIELD ("allocated", EXACT, struct cell, allocated),
    FIELD ("charged", EXACT, struct cell, charged),
    FIELD ("hourless", EXACT, struct cell, hourless),
    FIELD ("idle", EXACT, struct cell, idle),
    FIELD ("rounding", EXACT, struct cell, rounding),
    FIELD ("due", UNITS, struct cell, due),
    FIELD ("entitled", UNITS, struct cell, entitled),
};
static const fields_t fields = FIELDS ("cell", struct cell, cell_fields);

/* Of a charge at full cost what it pays for idle time. A published rate is a
 * price as a whole: another rate, or more hours at it, are no other idle time.
 */
static void idle_of (const bill_t *bill, const posting_t *row, int digits,
                     mpq_t ret_idle)
{
    if (row->kind == BILL_CHARGE && posting_rated (bill, row))
        mpq_set_ui (ret_idle, 0, 1);
    else
        bill_idle (bill, row, digits, ret_idle);
}

/* What rounding added to a charge, less than a smallest unit. Closed months that were imported
 * have no exact charge: 0. */
static void rounding_of (const posting_t *row, int digits, mpq_t ret)
{
    mpq_t charge;
    mpz_t scale;

    mpq_init (charge);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)digits);
    mpq_set_z (ret, scale);
    mpq_mul (ret, ret, row->exact);
    mpq_set_z (charge, row->charge_units);
    mpq_sub (ret, charge, ret);
    if (mpq_cmp_si (ret, 1, 1) >= 0 || mpq_cmp_si (ret, -1, 1) <= 0)
        mpq_set_ui (ret, 0, 1);
    mpz_clear (scale);
    mpq_clear (charge);
}

/* Takes the rounding out of the charge and of its part for idle time. */
static void take_rounding (struct cell *cell, const posting_t *row, int digits)
{
    mpq_t exact;

    mpq_init (exact);
    rounding_of (row, digits, cell->rounding);
    mpq_set_z (exact, row->charge_units);
    mpq_sub (exact, exact, cell->rounding);
    if (mpz_sgn (row->charge_units) != 0) {
        mpq_mul (cell->idle, cell->idle, exact);
        mpq_set_z (exact, row->charge_units);
        mpq_div (cell->idle, cell->idle, exact);
    }
    mpq_sub (cell->charged, cell->charged, cell->rounding);
    mpq_sub (cell->charged, cell->charged, cell->idle);
    mpq_clear (exact);
}

static void add_row (cube_t *cells, const bill_t *bill, const posting_t *row,
                     int digits)
{
    struct cell cell;

    fields_init (&fields, &cell);
    cell.kind = row->kind;
    mpz_set (cell.due, row->charge_units);
    idle_of (bill, row, digits, cell.idle);
    if (row->kind == BILL_CHARGE) {
        cell.pool = row->pool;
        cell.qos = posting_key (row, KEY_QOS);
        cell.profile = row->profile;
        cell.cpus = mpq_sgn (row->cpu_seconds) != 0;
        mpq_set (cell.allocated, posting_seconds (row));
        mpz_set (cell.entitled, row->adjustment_units[ADJUSTMENT_ENTITLEMENT]);
        mpz_sub (mpq_numref (cell.charged), row->charge_units, cell.entitled);
        take_rounding (&cell, row, digits);
    }
    cube_add (cells, &cell);
    fields_clear (&fields, &cell);
}

static cube_t *cells_of (const bill_t *bill, const char *team, int digits)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    bill_rows_t of = bill_rows_of (bill, team);
    cube_t *fine = cube_new (&fields, "kind,pool,qos,profile,cpus");
    cube_t *cells = cube_new (&fields, "kind,pool,qos,profile,cpus");

    for (size_t i = 0; i < of.count; i++)
        add_row (fine, bill, &rows[of.index[i]], digits);
    for (size_t i = 0; i < cube_count (fine); i++) {
        struct cell cell = *(const struct cell *)cube_row (fine, i);
        if (mpq_sgn (cell.allocated) <= 0)
            mpq_swap (cell.hourless, cell.charged);
        cube_add (cells, &cell);
    }
    cube_free (fine);
    return cells;
}

/* --- the parts --------------------------------------------------------- */

enum { BEFORE, AFTER, MONTHS };

struct split {
    cube_t *cells; /* the difference of the months */
    /* the sums of the header, of GPUs and of CPUs */
    struct cell all[2][MONTHS];
    struct cell none; /* a month without such a cell */
};

/* What would be charged after at the price of the month before, where there was
 * one: q1 x p. */
static void at_old_price (const struct cell *before, const struct cell *after,
                          mpq_t ret)
{
    mpq_set (ret, after->charged);
    if (mpq_sgn (before->allocated) > 0) {
        mpq_div (ret, before->charged, before->allocated);
        mpq_mul (ret, ret, after->allocated);
    }
}

static void split_cells (const struct split *s, bool cpus, mpq_t *part)
{
    mpq_t value;

    mpq_init (value);
    for (size_t i = 0; i < cube_count (s->cells); i++) {
        const struct cell *before = cube_earlier (s->cells, i),
                          *after = cube_later (s->cells, i);
        if (!after || after->cpus != cpus)
            continue;
        at_old_price (before ? before : &s->none, after, value);
        mpq_add (part[CHANGE_MIX], part[CHANGE_MIX], value);
        mpq_sub (value, after->charged, value);
        mpq_add (part[CHANGE_PRICE], part[CHANGE_PRICE], value);
    }
    mpq_clear (value);
}

static void add_difference (mpq_t part, mpq_srcptr after, mpq_srcptr before)
{
    mpq_add (part, part, after);
    mpq_sub (part, part, before);
}

/* Into the exact parts of volume, mix, price and idle: each resource by itself, as
 * GPU-hours and CPU-hours have no sum. */
static void split_exactly (const struct split *s, bool cpus, mpq_t *part)
{
    const struct cell *before = &s->all[cpus][BEFORE],
                      *after = &s->all[cpus][AFTER];
    mpq_t at_average;

    add_difference (part[CHANGE_IDLE], after->idle, before->idle);
    add_difference (part[CHANGE_PRICE], after->hourless, before->hourless);
    if (mpq_sgn (before->allocated) == 0) {
        add_difference (part[CHANGE_VOLUME], after->charged, before->charged);
        return;
    }
    mpq_init (at_average);
    mpq_div (at_average, before->charged, before->allocated);
    mpq_mul (at_average, at_average, after->allocated);
    add_difference (part[CHANGE_VOLUME], at_average, before->charged);
    mpq_sub (part[CHANGE_MIX], part[CHANGE_MIX], at_average);
    split_cells (s, cpus, part);
    mpq_clear (at_average);
}

/* Rows of other kinds are a part as a whole. */
static void split_others (const struct split *s, variance_t *variance)
{
    static const change_id_t parts[BILL_KIND_COUNT] = {
        [BILL_CREDIT] = CHANGE_CREDIT,
        [BILL_CORRECTION] = CHANGE_CORRECTION,
        [BILL_TAX] = CHANGE_TAX,
        [BILL_PURCHASE] = CHANGE_PURCHASE,
        [BILL_SETTLEMENT] = CHANGE_SETTLEMENT,
        [BILL_SERVICE] = CHANGE_SERVICE,
    };

    for (size_t i = 0; i < cube_count (s->cells); i++) {
        const struct cell *change = cube_row (s->cells, i);
        mpz_ptr part = variance->part[parts[change->kind]];
        if (parts[change->kind])
            mpz_add (part, part, change->due);
        mpz_add (variance->part[CHANGE_ENTITLEMENT],
                 variance->part[CHANGE_ENTITLEMENT], change->entitled);
    }
}

#define EXACT_PARTS (CHANGE_IDLE + 1)

/* What rounding adds is no cause of its own. */
static void add_rounding (const struct split *s, mpq_t *part)
{
    size_t largest = CHANGE_PRICE;
    mpq_t size, most;

    mpq_inits (size, most, NULL);
    for (size_t i = 0; i < EXACT_PARTS; i++) {
        mpq_abs (size, part[i]);
        if (mpq_cmp (size, most) <= 0)
            continue;
        mpq_set (most, size);
        largest = i;
    }
    for (size_t cpus = 0; cpus < 2; cpus++)
        add_difference (part[largest], s->all[cpus][AFTER].rounding,
                        s->all[cpus][BEFORE].rounding);
    mpq_clears (size, most, NULL);
}

static int round_parts (const struct split *s, variance_t *variance,
                        gl_error_t *error)
{
    mpq_t part[EXACT_PARTS];
    mpz_t total;
    int rc;

    for (size_t i = 0; i < EXACT_PARTS; i++)
        mpq_init (part[i]);
    split_exactly (s, false, part);
    split_exactly (s, true, part);
    add_rounding (s, part);
    split_others (s, variance);
    mpz_init (total);
    mpz_sub (total, variance->after, variance->before);
    for (size_t i = EXACT_PARTS; i < CHANGE_COUNT; i++)
        mpz_sub (total, total, variance->part[i]);
    rc = exact_share (total, (const mpq_t *)part, EXACT_PARTS, variance->part,
                      error);
    mpz_clear (total);
    for (size_t i = 0; i < EXACT_PARTS; i++)
        mpq_clear (part[i]);
    return rc;
}

/* --- the mix in words ---------------------------------------------------- */

/* What a cell has of the mix, (q1 - q0 Q1/Q0) (p - A0/Q0): the parts of all cells add up to
 * it. */
static void mix_of (const struct cell *before, const struct cell *after,
                    const struct cell all[MONTHS], mpq_t ret)
{
    const struct cell *priced
        = mpq_sgn (before->allocated) > 0 ? before : after;
    mpq_t q;

    mpq_init (q);
    mpq_div (q, all[AFTER].allocated, all[BEFORE].allocated);
    mpq_mul (q, q, before->allocated);
    mpq_sub (ret, after->allocated, q);
    mpq_div (q, priced->charged, priced->allocated);
    mpq_mul (q, q, all[BEFORE].allocated);
    mpq_sub (q, q, all[BEFORE].charged);
    mpq_div (q, q, all[BEFORE].allocated);
    mpq_mul (ret, ret, q);
    mpq_clear (q);
}

/* Percent of the hours of a month. */
static char *share_text (const struct cell *cell, const struct cell *all)
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

static char *mix_text (const struct cell *key, const struct cell *before,
                       const struct cell *after, const struct cell all[MONTHS])
{
    GL_AUTOFREE char *now = share_text (after, &all[AFTER]);
    GL_AUTOFREE char *then = share_text (before, &all[BEFORE]);

    return xasprintf ("%s%s%s%s%s: %s %% of the %s hours, %s %% before",
                      key->pool ? key->pool : key_info (KEY_POOL)->absent,
                      key->qos ? ", QOS " : "", key->qos ? key->qos : "",
                      key->profile ? ", slice " : "",
                      key->profile ? key->profile : "", now,
                      key->cpus ? "CPU" : "GPU", then);
}

/* Of the cell with the largest part. */
static void say_mix (const struct split *s, variance_t *variance)
{
    mpq_t value, largest;

    mpq_inits (value, largest, NULL);
    for (size_t i = 0; i < cube_count (s->cells); i++) {
        const struct cell *key = cube_row (s->cells, i),
                          *before = cube_earlier (s->cells, i),
                          *after = cube_later (s->cells, i);
        const struct cell *all = s->all[key->cpus];
        before = before ? before : &s->none;
        after = after ? after : &s->none;
        if (mpq_sgn (all[BEFORE].allocated) <= 0
            || mpq_sgn (all[AFTER].allocated) <= 0
            || (mpq_sgn (before->allocated) <= 0
                && mpq_sgn (after->allocated) <= 0))
            continue;
        mix_of (before, after, all, value);
        if (mpz_sgn (variance->part[CHANGE_MIX]) < 0)
            mpq_neg (value, value);
        if (mpq_cmp (value, largest) <= 0)
            continue;
        mpq_swap (largest, value);
        free (variance->mix);
        variance->mix = mix_text (key, before, after, all);
    }
    mpq_clears (value, largest, NULL);
}

static void sum_month (cube_t *cells, size_t month, struct cell all[2][MONTHS],
                       mpz_t ret_due)
{
    mpz_set_ui (ret_due, 0);
    fields_init (&fields, &all[false][month]);
    fields_init (&fields, &all[true][month]);
    for (size_t i = 0; i < cube_count (cells); i++) {
        const struct cell *cell = cube_row (cells, i);
        fields_add (&fields, &all[cell->cpus][month], cell, 1);
        mpz_add (ret_due, ret_due, cell->due);
    }
}

int variance_split (const bill_t *before, const bill_t *after, const char *team,
                    int digits, variance_t *variance, gl_error_t *error)
{
    cube_t *month[MONTHS]
        = {cells_of (before, team, digits), cells_of (after, team, digits)};
    struct split s
        = {.cells = cube_difference (month[AFTER], month[BEFORE], true)};
    int rc;

    fields_init (&fields, &s.none);
    for (size_t m = 0; m < MONTHS; m++)
        sum_month (month[m], m, s.all,
                   m == BEFORE ? variance->before : variance->after);
    rc = round_parts (&s, variance, error);
    if (mpz_sgn (variance->part[CHANGE_MIX]) != 0)
        say_mix (&s, variance);
    cube_free (s.cells);
    for (size_t m = 0; m < MONTHS; m++) {
        fields_clear (&fields, &s.all[false][m]);
        fields_clear (&fields, &s.all[true][m]);
        cube_free (month[m]);
    }
    fields_clear (&fields, &s.none);
    return rc;
}
