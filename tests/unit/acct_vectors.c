/*
 * Published tariffs and policies (tests/data/cost/chargeback_vectors.json): each
 * vector is run by a function that computes it by our own code. A vector that
 * nobody knows fails.
 */
#include <jansson.h>
#include <stdio.h>

#include "support/book.h"

#include "acct/billed.h"
#include "acct/charge.h"

/* ---- reading ---- */

static json_t *read_json (const char *name)
{
    const char *top = getenv ("abs_top_srcdir");
    char *path = xasprintf ("%s/tests/data/cost/%s", top ? top : ".", name);
    json_error_t error;
    json_t *root = json_load_file (path, 0, &error);

    if (!root)
        fail_msg ("%s: %s", path, error.text);
    free (path);
    return root;
}

static int64_t input_count (const json_t *one, const char *name)
{
    return json_integer_value (
        json_object_get (json_object_get (one, "inputs"), name));
}

/* A site with one pool of so many GPUs and a utilization. */
static site_t *pool_of (int64_t gpus, const char *utilization)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n1", gpus);
    mpq_clear (site->policy.utilization);
    book_number (site->policy.utilization, utilization);
    return site;
}

/* ---- chargeback_vectors.json ---- */

/* One month of a pool in which each line holds so many GPU-hours. */
static charge_t *month_of (const site_t *site, const int64_t *hours,
                           size_t count)
{
    static const size_t levels[] = {1, 2};
    period_t month = book_month (site, 2026, 11);
    capacity_sum_t capacity;
    gl_error_t error;
    charge_t *charge;
    mpq_t q;

    mpq_init (q);
    capacity_sum_init (&capacity);
    for (size_t i = 0; i < count; i++) {
        exact_set_i64 (q, hours[i] * 3600, 1);
        mpq_add (capacity.allocated, capacity.allocated, q);
    }
    mpq_set (capacity.capacity, capacity.allocated);
    charge = charge_new (site, "p", month, &capacity, NULL, levels, 2, &error);
    assert_non_null (charge);
    for (size_t i = 0; i < count; i++) {
        char name[8];
        const char *const path[] = {name, "x"};
        charge_price_t price
            = charge_price (site, "p", NULL, NULL, month.start);
        snprintf (name, sizeof (name), "%c", (char)('a' + i));
        exact_set_i64 (q, hours[i] * 3600, 1);
        charge_add (charge, path, q, q, &price);
    }
    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
    capacity_sum_clear (&capacity);
    mpq_clear (q);
    return charge;
}

static void check_units (const json_t *wanted, const mpz_t *units)
{
    for (size_t i = 0; i < json_array_size (wanted); i++)
        assert_int_equal (mpz_get_si (units[i]),
                          json_integer_value (json_array_get (wanted, i)));
}

/* exact_share itself: total over weights. */
static void rounding (const json_t *one)
{
    json_t *weights =
        json_object_get (json_object_get (one, "inputs"), "weights");
    json_t *wanted =
        json_object_get (json_object_get (one, "expected"), "cents");
    size_t count = json_array_size (weights);
    int64_t cents = input_count (one, "cents"), sum = 0;
    mpz_t total, units[8];
    mpq_t parts[8];
    gl_error_t error;

    assert_in_range (count, 1, 8);
    for (size_t i = 0; i < count; i++)
        sum += json_integer_value (json_array_get (weights, i));
    mpz_init_set_si (total, cents);
    for (size_t i = 0; i < count; i++) {
        mpz_init (units[i]);
        mpq_init (parts[i]);
        exact_set_i64 (parts[i],
                       cents * json_integer_value (json_array_get (weights, i)),
                       sum);
    }
    assert_int_equal (
        exact_share (total, (const mpq_t *)parts, count, units, &error), 0);
    assert_int_equal (json_array_size (wanted), count);
    check_units (wanted, units);
    for (size_t i = 0; i < count; i++) {
        mpz_clear (units[i]);
        mpq_clear (parts[i]);
    }
    mpz_clear (total);
}

/* 43 units of 0.01 per GPU-hour: a published rate of 0.43. */
static void published_rate (const json_t *one)
{
    site_t *site = pool_of (1, "1");
    int64_t hours = input_count (one, "gpu_hours");
    json_t *wanted = json_object_get (json_object_get (one, "expected"), "usd");
    charge_t *charge;
    size_t count;
    char *text;

    book_rate (site, "p", NULL, "0.43", MIG_MAX);
    charge = month_of (site, &hours, 1);
    text = exact_units_text (charge_lines (charge, &count)->charge_units, 2);
    assert_string_equal (text, json_string_value (wanted));
    free (text);
    charge_free (charge);
    site_free (site);
}

/* The cost of a month shared by GPU-hours: each line's share of the whole. */
static void shares (const json_t *one)
{
    json_t *list =
        json_object_get (json_object_get (one, "inputs"), "gpu_hours");
    json_t *wanted =
        json_object_get (json_object_get (one, "expected"), "ratios");
    size_t count = json_array_size (list);
    site_t *site = pool_of (1, "1");
    const charge_line_t *line;
    charge_t *charge;
    int64_t hours[8];
    mpq_t ratio;

    assert_in_range (count, 1, 8);
    for (size_t i = 0; i < count; i++)
        hours[i] = json_integer_value (json_array_get (list, i));
    book_cost (site, "p", "all", "12345.67", COST_PER_MONTH);
    charge = month_of (site, hours, count);
    line = charge_lines (charge, &count);
    mpq_init (ratio);
    for (size_t i = 0; i < count; i++) {
        mpq_div (ratio, line[i].charge, charge_cost (charge)->total);
        assert_true (mpq_get_d (ratio) ==
                     json_real_value (json_array_get (wanted, i)));
    }
    mpq_clear (ratio);
    charge_free (charge);
    site_free (site);
}

/* Amounts of the inputs as units of a pool, times `scale`. */
static void units_of (const json_t *one, const site_pool_t *pool,
                      const char *gpus, const char *cpus, const char *gb,
                      int64_t scale, mpq_t ret_units)
{
    mpq_t g, c, m;

    mpq_inits (g, c, m, NULL);
    exact_set_i64 (g, input_count (one, gpus), 1);
    exact_set_i64 (c, input_count (one, cpus), 1);
    exact_set_i64 (m, input_count (one, gb) * 1024, 1);
    billed_units (pool, g, c, m, ret_units);
    exact_set_i64 (g, scale, 1);
    mpq_mul (ret_units, ret_units, g);
    mpq_clears (g, c, m, NULL);
}

static void dominant (const json_t *one)
{
    site_pool_t pool = {.bill = BILL_DOMINANT,
                        .cpus_per_gpu = input_count (one, "cpus_per_gpu"),
                        .memory_per_gpu
                        = input_count (one, "mem_per_gpu") * 1024};
    json_t *wanted = json_object_get (one, "expected");
    mpq_t hours;

    mpq_init (hours);
    units_of (one, &pool, "gpus", "cpus", "mem", input_count (one, "hours"),
              hours);
    assert_int_equal (
        mpq_cmp_si (hours,
                    json_integer_value (json_object_get (wanted, "gpu_hours")),
                    1),
        0);
    mpq_clear (hours);
}

/* Weights of the formula: 1 a core, 0.215 a GB, 35 a GPU. */
static void weighted (const json_t *one)
{
    site_pool_t pool = {.bill = BILL_WEIGHTED};
    json_t *wanted
        = json_object_get (json_object_get (one, "expected"), "units");
    mpq_t units;

    mpq_init (units);
    book_number (pool.gpu_weight, "35");
    book_number (pool.cpu_weight, "1");
    book_number (pool.memory_weight, "0.215");
    units_of (one, &pool, "gpu", "cpu", "gb",
              35 * input_count (one, "minutes"), units);
    book_check (units, 2, json_string_value (wanted));
    mpq_clears (units, pool.gpu_weight, pool.cpu_weight, pool.memory_weight,
                NULL);
}

static void refund (const json_t *one)
{
    site_policy_t policy = {.credit_cap = input_count (one, "cap_h") * 3600};
    json_t *wanted
        = json_object_get (json_object_get (one, "expected"), "refund_h");

    assert_int_equal (
        billed_credit_seconds (&policy, input_count (one, "lost_h") * 3600),
        json_integer_value (wanted) * 3600);
}

/* ---- the list of all vectors ---- */

#define PARTS "CPU and memory are not priced"
#define UNITS "service units are not a currency here"

static const struct {
    const char *id;
    void (*run) (const json_t *one);
    const char *reason;
} vectors[] = {
    {"uw-external-oncampus", NULL, "external rates are not computed"},
    {"wur-anunna", NULL, PARTS},
    {"acenet-1", weighted, NULL},
    {"cyfronet", dominant, NULL},
    {"ncsa-rails", NULL, UNITS},
    {"nhr-mig", NULL, "a flat price per slice does not conserve"},
    {"openchargeback-su", NULL, PARTS},
    {"drexel", published_rate, NULL},
    {"alcf-refund", refund, NULL},
    {"lr-thirds", rounding, NULL},
    {"lr-weights", rounding, NULL},
    {"lr-negative", rounding, NULL},
    {"nucore-remainder", NULL, "another system's rule, for imports"},
    {"focus-alloc-ratio", shares, NULL},
};

static const char *text_of (const json_t *one, const char *key)
{
    return json_string_value (json_object_get (one, key));
}

static void chargeback_vectors__each_case__is_run_or_excused (void **state)
{
    json_t *root = read_json ("chargeback_vectors.json"), *one;
    size_t i, known;

    (void)state;
    assert_int_equal (json_array_size (json_object_get (root, "vectors")),
                      GL_ARRAY_SIZE (vectors));
    json_array_foreach (json_object_get (root, "vectors"), i, one)
    {
        for (known = 0; known < GL_ARRAY_SIZE (vectors); known++) {
            if (strcmp (vectors[known].id, text_of (one, "id")) == 0)
                break;
        }
        if (known == GL_ARRAY_SIZE (vectors))
            fail_msg ("nobody knows vector %s", text_of (one, "id"));
        if (vectors[known].run) {
            vectors[known].run (one);
            printf ("# %s: run\n", vectors[known].id);
        } else
            printf ("# %s: not run: %s\n", vectors[known].id,
                    vectors[known].reason);
    }
    json_decref (root);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (chargeback_vectors__each_case__is_run_or_excused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
