#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/variance.h"

static const change_info_t infos[CHANGE_COUNT] = {
    [CHANGE_VOLUME]
    = {"volume", "Volume",
       "More or fewer GPU hours than in the month before, at the price that an "
       "hour had on average then."},
    [CHANGE_MIX]
    = {"mix", "Mix",
       "The hours lie otherwise among pools, QOS and slices, which have "
       "different prices; at the prices of the month before."},
    [CHANGE_PRICE]
    = {"price", "Price",
       "The same hours at other prices: rate cards, the cost of the pools, "
       "adjustments. Without idle time."},
    [CHANGE_IDLE] = {"idle", "Idle",
                     "Charges for idle time: in prices at full cost, and in "
                     "rows of its own."},
    [CHANGE_CREDIT] = {"credits", "Credits", "Credits of both months."},
    [CHANGE_CORRECTION] = {"corrections", "Corrections",
                           "Corrections of earlier months on both statements."},
    [CHANGE_TAX] = {"taxes", "Taxes", "Taxes of both months."},
    [CHANGE_PURCHASE]
    = {"purchases", "Prepaid", "What is paid for entitlements in both months."},
};

const change_info_t *change_info (change_id_t id)
{
    return &infos[id];
}

bool variance_is_said (const variance_t *variance, change_id_t id)
{
    return id != CHANGE_PURCHASE || mpz_sgn (variance->part[id]) != 0;
}

void variance_init (variance_t *variance)
{
    mpz_inits (variance->before, variance->after, NULL);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        mpz_init (variance->part[i]);
}

void variance_clear (variance_t *variance)
{
    mpz_clears (variance->before, variance->after, NULL);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        mpz_clear (variance->part[i]);
}

/* --- cells: pool, QOS and profile in both months ----------------------- */

enum { BEFORE, AFTER, MONTHS };

#define KEYS 3
struct cell {
    const char *key[KEYS];
    mpq_t allocated[MONTHS]; /* q */
    mpq_t charged[MONTHS];   /* a, smallest units */
};

struct split {
    struct cell *cells;
    size_t count;
    mpq_t allocated[MONTHS]; /* Q */
    mpq_t charged[MONTHS];   /* A */
    mpq_t idle[MONTHS];
    int digits;
};

/* Where QOS stands in the keys of a row. */
static size_t qos_at (void)
{
    size_t at = 0;

    while (CHARGE_PATH[at] != KEY_QOS)
        at++;
    return at;
}

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

static struct cell *find_cell (struct split *s, const char *const key[KEYS])
{
    struct cell *cell;

    for (size_t i = 0; i < s->count; i++) {
        bool same = true;
        for (size_t k = 0; k < KEYS; k++)
            same = same && compare_texts (s->cells[i].key[k], key[k]) == 0;
        if (same)
            return &s->cells[i];
    }
    s->cells = xreallocarray (s->cells, s->count + 1, sizeof (*s->cells));
    cell = &s->cells[s->count++];
    memcpy (cell->key, key, sizeof (cell->key));
    for (size_t m = 0; m < MONTHS; m++)
        mpq_inits (cell->allocated[m], cell->charged[m], NULL);
    return cell;
}

static void add_charge (struct split *s, size_t month, const posting_t *row,
                        const mpq_t idle)
{
    const char *const key[KEYS]
        = {row->pool, row->key[qos_at ()], row->profile};
    struct cell *cell = find_cell (s, key);
    mpq_t charged;

    mpq_init (charged);
    mpq_set_z (charged, row->charge_units);
    mpq_sub (charged, charged, idle);
    mpq_add (cell->charged[month], cell->charged[month], charged);
    mpq_add (s->charged[month], s->charged[month], charged);
    mpq_add (cell->allocated[month], cell->allocated[month], row->gpu_seconds);
    mpq_add (s->allocated[month], s->allocated[month], row->gpu_seconds);
    mpq_clear (charged);
}

/* Which part a row of other kinds is. */
static mpz_ptr whole_part (variance_t *variance, bill_kind_t kind)
{
    return kind == BILL_CREDIT       ? variance->part[CHANGE_CREDIT]
           : kind == BILL_CORRECTION ? variance->part[CHANGE_CORRECTION]
           : kind == BILL_TAX        ? variance->part[CHANGE_TAX]
           : kind == BILL_PURCHASE   ? variance->part[CHANGE_PURCHASE]
                                     : NULL;
}

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

static void take_month (struct split *s, size_t month, const bill_t *bill,
                        const char *team, variance_t *variance)
{
    mpz_ptr due = month == BEFORE ? variance->before : variance->after;
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpq_t idle;

    mpq_init (idle);
    for (size_t i = 0; i < count; i++) {
        mpz_ptr part = whole_part (variance, rows[i].kind);
        if (!posting_of (&rows[i], team))
            continue;
        mpz_add (due, due, rows[i].charge_units);
        idle_of (bill, &rows[i], s->digits, idle);
        mpq_add (s->idle[month], s->idle[month], idle);
        if (rows[i].kind == BILL_CHARGE)
            add_charge (s, month, &rows[i], idle);
        else if (part && month == AFTER)
            mpz_add (part, part, rows[i].charge_units);
        else if (part)
            mpz_sub (part, part, rows[i].charge_units);
    }
    mpq_clear (idle);
}

/* --- the parts --------------------------------------------------------- */

/* p of the header: the price of the month before, where there was one. */
static void price_of (const struct cell *cell, mpq_t ret)
{
    size_t month = mpq_sgn (cell->allocated[BEFORE]) > 0 ? BEFORE : AFTER;

    mpq_set_ui (ret, 0, 1);
    if (mpq_sgn (cell->allocated[month]) > 0)
        mpq_div (ret, cell->charged[month], cell->allocated[month]);
}

/* What was charged in cells without any hours, which no price explains: of the
 * month, taken out of its sum. */
static void take_hourless (struct split *s, size_t month, mpq_t ret_charged)
{
    for (size_t i = 0; i < s->count; i++) {
        struct cell *cell = &s->cells[i];
        if (mpq_sgn (cell->allocated[month]) > 0)
            continue;
        mpq_add (ret_charged, ret_charged, cell->charged[month]);
        mpq_set_ui (cell->charged[month], 0, 1);
    }
    mpq_sub (s->charged[month], s->charged[month], ret_charged);
}

static void split_hourless (struct split *s, mpq_t ret_price)
{
    mpq_t before;

    mpq_init (before);
    take_hourless (s, BEFORE, before);
    take_hourless (s, AFTER, ret_price);
    mpq_sub (ret_price, ret_price, before);
    mpq_clear (before);
}

/* Into the exact parts of volume, mix, price and idle. */
static void split_exactly (struct split *s, mpq_t *part)
{
    mpq_t average, at_average, value;

    mpq_inits (average, at_average, value, NULL);
    mpq_sub (part[CHANGE_IDLE], s->idle[AFTER], s->idle[BEFORE]);
    split_hourless (s, part[CHANGE_PRICE]);
    if (mpq_sgn (s->allocated[BEFORE]) == 0) {
        mpq_sub (part[CHANGE_VOLUME], s->charged[AFTER], s->charged[BEFORE]);
        mpq_clears (average, at_average, value, NULL);
        return;
    }
    mpq_div (average, s->charged[BEFORE], s->allocated[BEFORE]);
    mpq_mul (at_average, average, s->allocated[AFTER]);
    mpq_sub (part[CHANGE_VOLUME], at_average, s->charged[BEFORE]);
    mpq_neg (part[CHANGE_MIX], at_average);
    for (size_t i = 0; i < s->count; i++) {
        price_of (&s->cells[i], value);
        mpq_mul (value, value, s->cells[i].allocated[AFTER]);
        mpq_add (part[CHANGE_MIX], part[CHANGE_MIX], value);
        mpq_sub (value, s->cells[i].charged[AFTER], value);
        mpq_add (part[CHANGE_PRICE], part[CHANGE_PRICE], value);
    }
    mpq_clears (average, at_average, value, NULL);
}

#define EXACT_PARTS (CHANGE_IDLE + 1)

static int round_parts (struct split *s, variance_t *variance,
                        gl_error_t *error)
{
    mpq_t part[EXACT_PARTS];
    mpz_t total;
    int rc;

    for (size_t i = 0; i < EXACT_PARTS; i++)
        mpq_init (part[i]);
    split_exactly (s, part);
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

static void split_done (struct split *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t m = 0; m < MONTHS; m++)
            mpq_clears (s->cells[i].allocated[m], s->cells[i].charged[m], NULL);
    }
    free (s->cells);
    for (size_t m = 0; m < MONTHS; m++)
        mpq_clears (s->allocated[m], s->charged[m], s->idle[m], NULL);
}

int variance_split (const bill_t *before, const bill_t *after, const char *team,
                    int digits, variance_t *variance, gl_error_t *error)
{
    struct split s = {.digits = digits};
    int rc;

    for (size_t m = 0; m < MONTHS; m++)
        mpq_inits (s.allocated[m], s.charged[m], s.idle[m], NULL);
    take_month (&s, BEFORE, before, team, variance);
    take_month (&s, AFTER, after, team, variance);
    rc = round_parts (&s, variance, error);
    split_done (&s);
    return rc;
}
