/* What a file has to keep and the published rules do not see. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/focus/check.h"

static size_t wrong;

static void tell (const char *invariant, const char *what, size_t row)
{
    printf ("%s: %s, row %zu\n", invariant, what, row + 2);
    wrong++;
}

#define CELL(column) table_cell (t, row, column)

static bool is (const char *a, const char *b)
{
    return !strcmp (a, b);
}

/* --- each row ------------------------------------------------------------------ */

static bool product (const char *a, const char *b, const char *c)
{
    mpq_t x, y, z;
    bool same;

    mpq_inits (x, y, z, NULL);
    same = decimal_parse (a, x) && decimal_parse (b, y) && decimal_parse (c, z);
    mpq_mul (x, x, y);
    same = same && mpq_equal (x, z);
    mpq_clears (x, y, z, NULL);
    return same;
}

static bool is_zero (const char *text)
{
    return *text && strspn (text, "0.") == strlen (text);
}

/* Prepaid, or the payment: one of the two amounts is 0. */
static bool may_differ (const table_t *t, size_t row)
{
    return is (CELL ("ChargeCategory"), "Purchase")
           || is (CELL ("PricingCategory"), "Committed") || !*CELL ("InvoiceId");
}

/* What is paid for an entitlement, draws on it, or is what is left of it. */
static void check_commitment (const table_t *t, size_t row)
{
    static const char *const columns[]
        = {"CommitmentDiscountName", "CommitmentDiscountCategory",
           "CommitmentDiscountType", "CommitmentDiscountUnit",
           "CommitmentDiscountQuantity"};
    bool named = *CELL ("CommitmentDiscountId") != '\0';
    bool committed = named && !is (CELL ("ChargeCategory"), "Purchase");

    for (size_t i = 0; i < sizeof (columns) / sizeof (*columns); i++)
        if ((*CELL (columns[i]) != '\0') != named)
            tell ("commitment", columns[i], row);
    if ((*CELL ("CommitmentDiscountStatus") != '\0') != committed)
        tell ("commitment", "CommitmentDiscountStatus", row);
    if (named && !committed && !is_zero (CELL ("EffectiveCost")))
        tell ("commitment", "bought, and worth something by itself", row);
    if (named && !committed && !is (CELL ("ChargeFrequency"), "Recurring"))
        tell ("commitment", "bought, and not month by month", row);
    if (committed != is (CELL ("PricingCategory"), "Committed"))
        tell ("commitment", "another price", row);
    if (committed && !is_zero (CELL ("BilledCost")))
        tell ("commitment", "prepaid, and billed", row);
    if (committed && !is_zero (CELL ("EffectiveCost"))
        && is_zero (CELL ("ListUnitPrice")))
        tell ("commitment", "worth something, and of no price", row);
}

static void check_costs (const table_t *t, size_t row)
{
    static const char *const needed[]
        = {"BilledCost", "EffectiveCost", "ListCost", "ContractedCost"};
    static const char *const priced[]
        = {"PricingQuantity",     "PricingUnit",     "ListUnitPrice",
           "ContractedUnitPrice", "PricingCategory", "SkuId",
           "SkuPriceId",          "SkuMeter"};
    static const char *const consumed[] = {"ConsumedQuantity", "ConsumedUnit"};
    bool usage = is (CELL ("ChargeCategory"), "Usage");
    bool bought = is (CELL ("ChargeCategory"), "Purchase");
    bool corrects = is (CELL ("ChargeClass"), "Correction");

    for (size_t i = 0; i < sizeof (needed) / sizeof (*needed); i++)
        if (!*CELL (needed[i]))
            tell ("costs", needed[i], row);
    for (size_t i = 0; i < sizeof (priced) / sizeof (*priced); i++)
        if (!corrects && (*CELL (priced[i]) != '\0') != (usage || bought))
            tell ("priced", priced[i], row);
    for (size_t i = 0; i < sizeof (consumed) / sizeof (*consumed); i++)
        if (!corrects && (*CELL (consumed[i]) != '\0')
               != (usage && !is (CELL ("CommitmentDiscountStatus"), "Unused")))
            tell ("priced", consumed[i], row);
    if (*CELL ("PricingQuantity") && !corrects
        && (!product (CELL ("ListUnitPrice"), CELL ("PricingQuantity"),
                      CELL ("ListCost"))
            || !product (CELL ("ContractedUnitPrice"), CELL ("PricingQuantity"),
                         CELL ("ContractedCost"))))
        tell ("products", "unit price x quantity is not the cost", row);
    if (!is (CELL ("EffectiveCost"), CELL ("BilledCost"))
        && !(may_differ (t, row)
             && (is_zero (CELL ("EffectiveCost"))
                 || is_zero (CELL ("BilledCost")))))
        tell ("same", "billed and effective", row);
    if (!is (CELL ("PricingCurrencyEffectiveCost"), CELL ("EffectiveCost"))
        || !is (CELL ("PricingCurrency"), CELL ("BillingCurrency"))
        || !is (CELL ("PricingCurrencyListUnitPrice"), CELL ("ListUnitPrice"))
        || !is (CELL ("PricingCurrencyContractedUnitPrice"),
                CELL ("ContractedUnitPrice")))
        tell ("same", "amounts that are one are two", row);
    if (is (CELL ("ChargeCategory"), "Credit") && *CELL ("BilledCost") != '-'
        && strspn (CELL ("BilledCost"), "0.") != strlen (CELL ("BilledCost")))
        tell ("credit", "a credit above 0", row);
    if (!*CELL ("InvoiceId") != !*table_cell (t, 0, "InvoiceId"))
        tell ("invoice", "a row on none", row);
}

/* Midnight of TZ, where a clock shows it. */
static bool is_midnight (const char *text, time_t *ret_instant)
{
    struct tm utc = {0}, local;
    const char *end = strptime (text, "%Y-%m-%dT%H:%M:%SZ", &utc);

    if (!end || *end)
        return false;
    *ret_instant = timegm (&utc);
    localtime_r (ret_instant, &local);
    return local.tm_hour == 0 && local.tm_min == 0 && local.tm_sec == 0;
}

static bool is_first (time_t instant)
{
    struct tm local;

    localtime_r (&instant, &local);
    return local.tm_mday == 1;
}

static void check_periods (const table_t *t, size_t row)
{
    time_t start, end, from, to, slice;

    if (!is_midnight (CELL ("BillingPeriodStart"), &start)
        || !is_midnight (CELL ("BillingPeriodEnd"), &end)
        || !is_midnight (CELL ("ChargePeriodStart"), &from)
        || !is_midnight (CELL ("ChargePeriodEnd"), &to)) {
        tell ("periods", "no midnight", row);
        return;
    }
    if (!is_first (start) || !is_first (end) || start >= end || from >= to)
        tell ("periods", "no months, or empty", row);
    if (is (CELL ("ChargeClass"), "Correction") ? to > start
        : is (CELL ("ChargeCategory"), "Usage") ? from < start || to > end
                                                : false)
        tell ("periods", "charged at another time than billed", row);
    if (!*CELL ("x_SliceStart"))
        return;
    if (to - from > 25 * 3600 || to - from < 23 * 3600)
        tell ("periods", "no day", row);
    is_midnight (CELL ("x_SliceStart"), &slice);
    if (slice < from)
        tell ("periods", "a slice before its day", row);
    is_midnight (CELL ("x_SliceEnd"), &slice);
    if (slice > to)
        tell ("periods", "a slice beyond its day", row);
}

static void check_lists (const table_t *t, size_t row)
{
    static const struct {
        const char *column;
        const char *values; /* between bars; "||" within: null, too */
    } lists[] = {
        {"ChargeCategory", "|Usage|Purchase|Tax|Credit|Adjustment|"},
        {"ChargeClass", "||Correction|"},
        {"ChargeFrequency", "|One-Time|Recurring|Usage-Based|"},
        {"PricingCategory", "||Standard|Dynamic|Committed|Other|"},
        {"CapacityReservationStatus", "||Used|Unused|"},
        {"CommitmentDiscountStatus", "||Used|Unused|"},
        {"CommitmentDiscountCategory", "||Spend|Usage|"},
        {"PricingUnit", "||GPU-Hours|CPU-Hours|Months|TB-Months|Units|"},
        {"ConsumedUnit", "||GPU-Hours|CPU-Hours|Instance-Hours|Months|TB-Months|Units|"},
    };

    for (size_t i = 0; i < sizeof (lists) / sizeof (*lists); i++) {
        char word[200];
        snprintf (word, sizeof (word), "|%s|", CELL (lists[i].column));
        if (!strstr (lists[i].values, word))
            tell ("lists", lists[i].column, row);
    }
}

static void check_services (const table_t *t, const table_t *pairs, size_t row)
{
    for (size_t i = 0; i < pairs->rows; i++)
        if (is (pairs->row[i][0], CELL ("ServiceCategory"))
            && is (pairs->row[i][1], CELL ("ServiceSubcategory")))
            return;
    tell ("services", CELL ("ServiceSubcategory"), row);
}

/* --- rows beside each other ------------------------------------------------------ */

static const table_t *sorted;

static const char *const key[]
    = {"x_RowKind",    "ResourceId",   "x_SlurmJobId", "x_SlurmSubmitTime",
       "x_Pool",       "x_GresType",   "SkuId",        "x_IdleClass",
       "x_Reference",  "x_Fund",       "InvoiceId",    "SubAccountId", "x_SlurmUser",
       "PricingCategory",
       "x_SlurmQos",   "x_SlurmPartition", "Tags",
       "x_SliceStart", "ChargePeriodStart", "ChargeDescription"};
#define KEYS (sizeof (key) / sizeof (*key))
#define OF_TIME 3 /* the last ones; a description may name the day */

static int compare (size_t a, size_t b, size_t keys)
{
    int order = 0;

    for (size_t i = 0; i < keys && order == 0; i++)
        order = strcmp (table_cell (sorted, a, key[i]),
                        table_cell (sorted, b, key[i]));
    return order;
}

static int by_key (const void *a, const void *b)
{
    return compare (*(const size_t *)a, *(const size_t *)b, KEYS);
}

static void check_keys (const table_t *t)
{
    size_t *at = calloc (t->rows + 1, sizeof (*at));

    for (size_t i = 0; i < t->rows; i++)
        at[i] = i;
    sorted = t;
    qsort (at, t->rows, sizeof (*at), by_key);
    for (size_t i = 1; i < t->rows; i++) {
        size_t row = at[i];
        const char *end = table_cell (t, at[i - 1], "x_SliceEnd");
        if (compare (at[i - 1], row, KEYS) == 0)
            tell ("keys", "a row twice", row);
        else if (*end && compare (at[i - 1], row, KEYS - OF_TIME) == 0
                 && strcmp (end, CELL ("x_SliceStart")) > 0)
            tell ("keys", "rows that overlap", row);
    }
    free (at);
}

static void check_skus (const table_t *t)
{
    size_t *first = calloc (t->rows + 1, sizeof (*first)), count = 0;

    for (size_t row = 0; row < t->rows; row++) {
        size_t k = 0;
        while (k < count
               && !is (table_cell (t, first[k], "SkuPriceId"),
                       CELL ("SkuPriceId")))
            k++;
        if (k == count)
            first[count++] = row;
        else if (!is (table_cell (t, first[k], "SkuId"), CELL ("SkuId"))
                 || !is (table_cell (t, first[k], "SkuPriceDetails"),
                         CELL ("SkuPriceDetails")))
            tell ("skus", "two SKUs of one price", row);
    }
    free (first);
}

/* What is given back of a job is less than what it was charged; credits of other
 * services are theirs, and what a correction is of is in another month's file. */
static void check_credits (const table_t *t)
{
    for (size_t row = 0; row < t->rows; row++) {
        mpq_t sum;
        if (!is (CELL ("ChargeCategory"), "Credit") || !*CELL ("ResourceId")
            || is (CELL ("ResourceType"), "Other service")
            || is (CELL ("ChargeClass"), "Correction"))
            continue;
        mpq_init (sum);
        for (size_t i = 0; i < t->rows; i++)
            if (is (table_cell (t, i, "ResourceId"), CELL ("ResourceId")))
                decimal_add (sum, table_cell (t, i, "BilledCost"));
        if (mpq_sgn (sum) < 0)
            tell ("credit", "more than was charged", row);
        mpq_clear (sum);
    }
}

/* --- the time of the pools --------------------------------------------------------- */

static long seconds_of (const table_t *t, size_t row)
{
    time_t from, to;

    is_midnight (CELL ("ChargePeriodStart"), &from);
    is_midnight (CELL ("ChargePeriodEnd"), &to);
    return to - from;
}

/* Of the pool's time; of a pool of CPUs what is consumed of its slices. */
static const char *hours_of (const table_t *t, size_t row)
{
    if (*CELL ("x_SliceStart") && is (CELL ("ConsumedUnit"), "CPU-Hours"))
        return CELL ("ConsumedQuantity");
    return CELL ("x_GpuHours");
}

/* Jobs and what nobody held are all GPUs of the pool on each day of the month, to
 * the last digit of each row. */
static void check_pool (const table_t *t, const char *pool, long gpus)
{
    char *done = calloc (t->rows + 1, 1);
    long days = 0, month = 0;

    for (size_t row = 0; row < t->rows; row++) {
        mpq_t sum, all;
        long rows = 0;
        if (done[row] || !is (CELL ("x_Pool"), pool) || !*hours_of (t, row))
            continue;
        mpq_inits (sum, all, NULL);
        for (size_t i = row; i < t->rows; i++) {
            if (done[i] || !is (table_cell (t, i, "x_Pool"), pool)
                || !is (table_cell (t, i, "ChargePeriodStart"),
                        CELL ("ChargePeriodStart")))
                continue;
            done[i] = 1;
            decimal_add (sum, hours_of (t, i));
            rows++;
        }
        mpq_set_si (all, gpus * seconds_of (t, row), 3600);
        mpq_canonicalize (all);
        mpq_sub (sum, sum, all);
        mpq_abs (sum, sum);
        mpq_set_si (all, rows, 1);
        mpz_ui_pow_ui (mpq_denref (all), 10, 10);
        mpq_canonicalize (all);
        if (mpq_cmp (sum, all) > 0)
            tell ("capacity", pool, row);
        mpq_clears (sum, all, NULL);
        days += seconds_of (t, row);
        month = 0;
    }
    for (size_t row = 0; row < t->rows && month == 0; row++) {
        time_t from, to;
        is_midnight (CELL ("BillingPeriodStart"), &from);
        is_midnight (CELL ("BillingPeriodEnd"), &to);
        month = to - from;
    }
    if (days != month)
        tell ("capacity", "days are missing", 0);
    free (done);
}

static void check_pools (const table_t *t, const char *pools)
{
    char name[100];
    long gpus;
    int n;

    for (; sscanf (pools, " %99[^=]=%ld%n", name, &gpus, &n) == 2; pools += n)
        check_pool (t, name, gpus);
}

/* --- the top ------------------------------------------------------------------------ */

size_t check_invariants (const table_t *t, const char *subcategories,
                         const char *pools)
{
    const table_t *pairs = table_read (subcategories);

    for (size_t row = 0; row < t->rows; row++) {
        check_costs (t, row);
        check_commitment (t, row);
        check_periods (t, row);
        check_lists (t, row);
        check_services (t, pairs, row);
    }
    check_keys (t);
    check_skus (t);
    check_credits (t);
    check_pools (t, pools);
    printf ("invariants: %zu rows, %zu wrong\n", t->rows, wrong);
    return wrong;
}

/* --- sums ------------------------------------------------------------------------------ */

void print_priced (const table_t *t)
{
    for (size_t row = 0; row < t->rows; row++)
        if (is (CELL ("x_RowKind"), "job"))
            printf ("%s %s\n", CELL ("x_Pool"), CELL ("PricingCategory"));
}

void print_commitment (const table_t *t, const char *id, const char *status)
{
    mpq_t sum, money;

    mpq_inits (sum, money, NULL);
    for (size_t row = 0; row < t->rows; row++)
        if (strstr (CELL ("CommitmentDiscountId"), id)
            && is (CELL ("CommitmentDiscountStatus"), status)) {
            decimal_add (sum, CELL ("CommitmentDiscountQuantity"));
            decimal_add (money, CELL ("EffectiveCost"));
        }
    printf ("%.4f %.2f\n", mpq_get_d (sum), mpq_get_d (money));
    mpq_clears (sum, money, NULL);
}

void print_total (const table_t *t, const char *column, const char *kinds)
{
    mpq_t sum, units;

    mpq_inits (sum, units, NULL);
    for (size_t row = 0; row < t->rows; row++)
        if (strstr (kinds, CELL ("x_RowKind")))
            decimal_add (sum, CELL (column));
    mpz_ui_pow_ui (mpq_numref (units), 10, 10);
    mpq_mul (sum, sum, units);
    gmp_printf ("%Qd\n", sum);
    mpq_clears (sum, units, NULL);
}

struct sum {
    char *team;
    mpq_t billed;
};

static int by_team (const void *a, const void *b)
{
    return strcmp (((const struct sum *)a)->team, ((const struct sum *)b)->team);
}

static struct sum *sum_of (struct sum **sums, size_t *count, const char *team)
{
    for (size_t i = 0; i < *count; i++)
        if (is ((*sums)[i].team, team))
            return &(*sums)[i];
    *sums = realloc (*sums, (*count + 1) * sizeof (**sums));
    (*sums)[*count].team = strdup (team);
    mpq_init ((*sums)[*count].billed);
    return &(*sums)[(*count)++];
}

void print_sums (const table_t *t)
{
    struct sum *sums = NULL;
    size_t count = 0;

    for (size_t row = 0; row < t->rows; row++) {
        json_t *tags = json_loads (CELL ("Tags"), 0, NULL);
        const char *team = json_string_value (json_object_get (tags, "team"));
        decimal_add (sum_of (&sums, &count, team ? team : "(none)")->billed,
                     CELL ("BilledCost"));
        json_decref (tags);
    }
    qsort (sums, count, sizeof (*sums), by_team);
    for (size_t i = 0; i < count; i++) {
        mpz_mul_ui (mpq_numref (sums[i].billed), mpq_numref (sums[i].billed),
                    100);
        mpq_canonicalize (sums[i].billed);
        gmp_printf ("%s\t%Qd\n", sums[i].team, sums[i].billed);
    }
}
