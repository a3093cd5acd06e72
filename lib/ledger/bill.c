#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill.h"
#include "ledger/bill_private.h"

const char bill_keys[] = "month,pool,team,account,cluster,user,project,qos,"
                         "partition,gres_type,gpu,profile";

/* Places of bill_keys. */
enum { KEY_AT_MONTH, KEY_AT_POOL, KEY_AT_TEAM, KEY_AT_PATH };
#define KEY_AT_GPU (KEY_AT_PATH + CHARGE_PATH_COUNT)
#define KEY_AT_PROFILE (KEY_AT_GPU + 1)

struct bill {
    bill_row_t *rows;
    size_t row_count;
    size_t row_size;
    bill_cost_t *costs;
    size_t cost_count;
    bill_pool_t *pools;
    size_t pool_count;
    bill_entitlement_t *entitlements;
    size_t entitlement_count;
};

static const char *const kind_words[BILL_KIND_COUNT] = {
    [BILL_CHARGE] = "charge",         [BILL_IDLE] = "idle",
    [BILL_CREDIT] = "credit",         [BILL_CORRECTION] = "correction",
    [BILL_TAX] = "tax",               [BILL_REMAINDER] = "remainder",
    [BILL_PURCHASE] = "purchase",
};

const char *bill_kind_word (bill_kind_t kind)
{
    return kind_words[kind];
}

/* --- the object -------------------------------------------------------- */

bill_t *bill_new (void)
{
    return xcalloc (1, sizeof (bill_t));
}

void bill_free (bill_t *bill)
{
    if (!bill)
        return;
    for (size_t i = 0; i < bill->row_count; i++)
        bill_row_clear (&bill->rows[i]);
    for (size_t i = 0; i < bill->cost_count; i++)
        bill_cost_clear (&bill->costs[i]);
    for (size_t i = 0; i < bill->pool_count; i++)
        bill_pool_clear (&bill->pools[i]);
    for (size_t i = 0; i < bill->entitlement_count; i++)
        bill_entitlement_clear (&bill->entitlements[i]);
    free (bill->rows);
    free (bill->costs);
    free (bill->pools);
    free (bill->entitlements);
    free (bill);
}

bill_row_t *bill_add (bill_t *bill)
{
    if (bill->row_count == bill->row_size) {
        bill->row_size = bill->row_size ? bill->row_size * 2 : 64;
        bill->rows = xreallocarray (bill->rows, bill->row_size,
                                    sizeof (*bill->rows));
    }
    bill_row_init (&bill->rows[bill->row_count]);
    return &bill->rows[bill->row_count++];
}

void bill_add_copy (bill_t *bill, const bill_row_t *row)
{
    bill_row_copy (bill_add (bill), row);
}

bill_cost_t *bill_add_cost (bill_t *bill)
{
    bill->costs = xreallocarray (bill->costs, bill->cost_count + 1,
                                 sizeof (*bill->costs));
    bill_cost_init (&bill->costs[bill->cost_count]);
    return &bill->costs[bill->cost_count++];
}

bill_pool_t *bill_add_pool (bill_t *bill)
{
    bill->pools = xreallocarray (bill->pools, bill->pool_count + 1,
                                 sizeof (*bill->pools));
    bill_pool_init (&bill->pools[bill->pool_count]);
    return &bill->pools[bill->pool_count++];
}

bill_entitlement_t *bill_add_entitlement (bill_t *bill)
{
    bill->entitlements
        = xreallocarray (bill->entitlements, bill->entitlement_count + 1,
                         sizeof (*bill->entitlements));
    bill_entitlement_init (&bill->entitlements[bill->entitlement_count]);
    return &bill->entitlements[bill->entitlement_count++];
}

/* Rows by hand may be of one line: then by all that they say. */
static int by_line (const void *a, const void *b)
{
    int order = bill_row_compare (a, b);

    if (order == 0 && a != b) {
        BUFFER_AUTO x = BUFFER_INIT;
        BUFFER_AUTO y = BUFFER_INIT;
        bill_row_text (a, &x);
        bill_row_text (b, &y);
        order = strcmp (buffer_text (&x), buffer_text (&y));
    }
    return order;
}

void bill_sort (bill_t *bill)
{
    if (bill->row_count > 1)
        qsort (bill->rows, bill->row_count, sizeof (*bill->rows), by_line);
}

const bill_row_t *bill_rows (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->row_count;
    return bill->rows;
}

const bill_cost_t *bill_costs (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->cost_count;
    return bill->costs;
}

const bill_pool_t *bill_pools (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->pool_count;
    return bill->pools;
}

const bill_entitlement_t *bill_entitlements (const bill_t *bill,
                                             size_t *ret_count)
{
    *ret_count = bill->entitlement_count;
    return bill->entitlements;
}

/* --- of a billing ------------------------------------------------------ */

static const bill_kind_t kinds[] = {
    [CHARGE_USED] = BILL_CHARGE,
    [CHARGE_IDLE] = BILL_IDLE,
    [CHARGE_CREDIT] = BILL_CREDIT,
    [CHARGE_PURCHASE] = BILL_PURCHASE,
};

static void take_line (const billing_line_t *from, void *arg)
{
    bill_t *bill = arg;
    bill_row_t *row = bill_add (bill);
    const charge_line_t *line = from->line;

    row->kind = kinds[line->kind];
    row->month = xstrdup (from->keys[KEY_AT_MONTH]);
    row->pool = xstrdup (from->keys[KEY_AT_POOL]);
    row->team = xstrdup (from->keys[KEY_AT_TEAM]);
    row->gpu = xstrdup (from->keys[KEY_AT_GPU]);
    row->profile = xstrdup (from->keys[KEY_AT_PROFILE]);
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        row->key[i] = xstrdup (from->keys[KEY_AT_PATH + i]);
    row->what = xstrdup (line->what);
    row->reference = xstrdup (line->reference);
    mpq_set (row->gpu_seconds, line->gpu_seconds);
    mpq_set (row->price_seconds, line->price_seconds);
    mpq_set (row->exact, line->charge);
    mpz_set (row->list_units, line->list_units);
    mpz_set (row->cost_units, line->cost_units);
    mpz_set (row->charge_units, line->charge_units);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpz_set (row->adjustment_units[i], line->adjustment_units[i]);
    mpq_set (row->drawn_seconds, line->drawn);
}

static void take_remainders (bill_t *bill, const pool_month_t *pm,
                             const char *month)
{
    const charge_remainder_t *rest = charge_remainders (pm->charge);

    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        bill_row_t *row;
        if (mpq_sgn (rest[i].gpu_seconds) == 0 && mpq_sgn (rest[i].cost) == 0
            && mpq_sgn (rest[i].charge) == 0
            && mpz_sgn (rest[i].charge_units) == 0)
            continue;
        row = bill_add (bill);
        row->kind = BILL_REMAINDER;
        row->month = xstrdup (month);
        row->pool = xstrdup (pm->pool);
        row->what = xstrdup (remainder_info ((remainder_id_t)i)->word);
        mpq_set (row->gpu_seconds, rest[i].gpu_seconds);
        mpq_set (row->exact, rest[i].charge);
        mpz_set (row->cost_units, rest[i].cost_units);
        mpz_set (row->charge_units, rest[i].charge_units);
    }
}

static void take_pool (bill_t *bill, const pool_month_t *pm, const char *month)
{
    bill_pool_t *pool = bill_add_pool (bill);

    pool->month = xstrdup (month);
    pool->pool = xstrdup (pm->pool);
    pool->has_cost = pm->has_cost;
    pool->has_rate = pm->has_rate;
    mpq_set (pool->capacity, charge_capacity (pm->charge)->capacity);
    mpq_set (pool->owned_rate, charge_owned_rate (pm->charge));
    mpq_set (pool->full_rate, charge_full_rate (pm->charge));
    mpq_set (pool->use_rate, charge_use_rate (pm->charge));
    mpz_set (pool->cost_units, charge_total (pm->charge));
    pool->idle = xstrdup (idle_policy_word (pm->idle));
    mpq_set (pool->full_cost, charge_cost (pm->charge)->full);
    mpq_set (pool->recoverable_cost, charge_cost (pm->charge)->recoverable);
}

/* What is drawn and what is paid stand on the lines, too, in smallest units. */
static void take_amounts (const pool_month_t *pm, bill_entitlement_t *to)
{
    size_t count;
    const charge_line_t *line = charge_lines (pm->charge, &count);

    for (size_t i = 0; i < count; i++) {
        const char *team = line[i].path[CHARGE_TEAM];
        if (!team || strcmp (team, to->team) != 0)
            continue;
        mpz_sub (to->amount_units, to->amount_units,
                 line[i].adjustment_units[ADJUSTMENT_ENTITLEMENT]);
        if (line[i].kind == CHARGE_PURCHASE)
            mpz_add (to->fee_units, to->fee_units, line[i].charge_units);
    }
}

static void take_values (const charge_payer_t *payer, bill_entitlement_t *to)
{
    mpq_set (to->fee, payer->fee);
    mpq_set (to->value_in, payer->value_in);
    mpq_set (to->value_used, payer->value_drawn);
    mpq_set (to->value_reserved, payer->value_reserved);
    mpq_set (to->value_out, payer->value_out);
    mpq_set (to->value_expired, payer->value_expired);
}

static void take_entitlements (bill_t *bill, const pool_month_t *pm,
                               const char *month)
{
    size_t count;
    const charge_payer_t *payer = charge_payers (pm->charge, &count);

    for (size_t i = 0; i < count; i++) {
        bill_entitlement_t *to;
        if (mpq_sgn (payer[i].entitled) == 0
            && mpq_sgn (payer[i].carried_in) == 0
            && mpq_sgn (payer[i].fee) == 0)
            continue;
        to = bill_add_entitlement (bill);
        to->month = xstrdup (month);
        to->pool = xstrdup (pm->pool);
        to->team = xstrdup (payer[i].team);
        mpq_set (to->bought, payer[i].entitled);
        mpq_set (to->carried_in, payer[i].carried_in);
        mpq_set (to->used, payer[i].drawn);
        mpq_set (to->used_reserved, payer[i].drawn_reserved);
        mpq_set (to->unused, payer[i].unused);
        mpq_set (to->carried_out, payer[i].carried_out);
        mpq_set (to->expired, payer[i].expired);
        charge_pool_price (pm->charge, to->price);
        take_amounts (pm, to);
        take_values (&payer[i], to);
    }
}

int bill_of_billing (const billing_t *billing, bill_t **ret_bill,
                     gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    bill_t *bill = bill_new ();
    size_t count;
    const pool_month_t *pm = billing_pool_months (billing, &count);

    billing_each (billing, take_line, bill);
    for (size_t i = 0; i < count; i++) {
        char month[ZONE_STAMP_SIZE];
        zone_unit_name (query->site->zone, CALENDAR_MONTH, pm[i].month.start,
                        month);
        take_remainders (bill, &pm[i], month);
        take_pool (bill, &pm[i], month);
        take_entitlements (bill, &pm[i], month);
        if (bill_take_costs (bill, &pm[i], month,
                             query->site->currency_digits, error)
            < 0) {
            bill_free (bill);
            return -1;
        }
    }
    bill_sort (bill);
    *ret_bill = bill;
    return 0;
}
