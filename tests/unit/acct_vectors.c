/*
 * The published examples (tests/data/cost), read from their JSON. Each case is
 * run by a function that builds a site of its inputs and fills in the results
 * that the case names; or it is listed with the reason why it is not ours
 * (yet). A case that nobody knows fails, and so does a result that is not run
 * and not excused.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "support/book.h"

#include "acct/breakeven.h"
#include "acct/charge.h"

#define GPU "H100-SXM5-80GB"

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

/* A number of the inputs as the decimal that was meant. */
static const char *input (const json_t *one, const char *name)
{
    static char text[8][64];
    static size_t turn;
    json_t *value = json_object_get (json_object_get (one, "inputs"), name);
    char *to = text[turn++ % 8];

    if (json_is_string (value))
        return json_string_value (value);
    assert_true (json_is_number (value));
    snprintf (to, 64, "%.12g", json_number_value (value));
    return to;
}

static int64_t input_count (const json_t *one, const char *name)
{
    return json_integer_value (
        json_object_get (json_object_get (one, "inputs"), name));
}

/* ---- results of one case ---- */

struct results {
    struct {
        const char *name;
        double value;
    } item[16];
    size_t count;
};

static void result (struct results *results, const char *name, const mpq_t q)
{
    assert_in_range (results->count, 0, 15);
    results->item[results->count].name = name;
    results->item[results->count++].value = mpq_get_d (q);
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

static void solve (const site_t *site, breakeven_t *b)
{
    gl_error_t error;

    if (breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, NULL, b, &error) < 0)
        fail_msg ("%s", error.text);
}

static void finish (site_t *site, breakeven_t *b)
{
    breakeven_clear (b);
    site_free (site);
}

/* ---- published_examples.json ---- */

static void hardware (const json_t *one, struct results *r)
{
    site_t *site = pool_of (input_count (one, "gpus"), input (one, "util"));
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "node_cost"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    solve (site, &b);
    result (r, "per_gpu_year", b.part[0].per_gpu_year);
    result (r, "productive_hours", b.productive_hours);
    result (r, "hw_per_hour", b.part[0].per_hour);
    finish (site, &b);
}

static void staff (const json_t *one, struct results *r)
{
    site_t *site = pool_of (input_count (one, "gpus"), "0.8");
    breakeven_t b;

    book_staff (site, "p", input (one, "fte"), input (one, "loaded"), "1");
    solve (site, &b);
    result (r, "staff_per_hour", b.per_hour);
    result (r, "staff_per_gpu_year", b.per_gpu_year);
    finish (site, &b);
}

static void power (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *price;
    } tariffs[] = {{"power_year", NULL},
                   {"power_year_at_0_08", "0.08"},
                   {"power_year_at_0_15", "0.15"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (tariffs); i++) {
        const char *price = tariffs[i].price;
        site_t *site = pool_of (1, input (one, "util"));
        site_power_t *power = book_power (site, "p", input (one, "tdp_kw"),
                                          input (one, "pue"), "k");
        breakeven_t b;
        exact_add_scaled (power->watts_per_gpu, power->watts_per_gpu, 999, 1);
        mpq_mul (power->watts_per_gpu, power->watts_per_gpu,
                 site->policy.utilization);
        book_tariff (site, "k", price ? price : input (one, "kwh"));
        solve (site, &b);
        result (r, tariffs[i].name, b.per_gpu_year);
        if (i == 0)
            result (r, "power_per_hour", b.per_hour);
        finish (site, &b);
    }
}

static void total (const json_t *one, struct results *r)
{
    static const char *const parts[] = {"hw", "staff", "power", "net"};
    site_t *site = pool_of (64, "0.8");
    breakeven_t b;

    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++)
        book_cost (site, "p", parts[i], input (one, parts[i]),
                   COST_PER_GPU_HOUR);
    solve (site, &b);
    result (r, "total_exact", b.per_hour);
    finish (site, &b);
}

/* Yearly amounts of one GPU against prices; names of the results in the order
 * of the prices. */
static void against (const char *const *yearly, size_t yearly_count,
                     const char *const *prices, const char *const *names,
                     size_t count, const char *sum, struct results *r)
{
    site_t *site = pool_of (1, "0.8");
    breakeven_t b;

    for (size_t i = 0; i < yearly_count; i++)
        book_cost (site, "p", "part", yearly[i], COST_PER_YEAR);
    for (size_t i = 0; i < count; i++)
        book_cloud (site, GPU, prices[i]);
    book_cloud (site, "another model", "1");
    solve (site, &b);
    assert_int_equal (b.cloud_count, count);
    for (size_t i = 0; i < count; i++)
        result (r, names[i], b.cloud[i].utilization);
    if (sum)
        result (r, sum, b.per_gpu_year);
    finish (site, &b);
}

static void printed (const json_t *one, struct results *r)
{
    const char *annual = input (one, "annual"), *cloud = input (one, "cloud");
    const char *name = "breakeven";

    against (&annual, 1, &cloud, &name, 1, NULL, r);
}

static void consistent (const json_t *one, struct results *r)
{
    const char *parts[] = {input (one, "hw"), input (one, "power"),
                           input (one, "net_year"), input (one, "staff")};
    const char *cloud = input (one, "cloud");
    const char *full = "breakeven_full", *without = "breakeven_without_staff";

    against (parts, 4, &cloud, &full, 1, "annual_total", r);
    against (parts, 3, &cloud, &without, 1, "annual_without_staff", r);
    against (parts, 2, NULL, NULL, 0, "hw_plus_power", r);
}

static void grid (const json_t *one, struct results *r)
{
    static const char *const prices[] = {"12.29", "8.05", "5.25",
                                         "2.50",  "2.49", "6.88"};
    static const char *const names[] = {"be_ondemand",   "be_1yr",
                                        "be_3yr",        "be_coreweave_250",
                                        "be_lambda_249", "be_aws_2026_688"};
    const char *annual = input (one, "annual");

    against (&annual, 1, prices, names, GL_ARRAY_SIZE (prices), NULL, r);
}

static void by_utilization (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *utilization;
    } rows[] = {{"at_10", "10%"}, {"at_20", "20%"},  {"at_30", "30%"},
                {"at_40", "40%"}, {"at_50", "50%"},  {"at_54", "54%"},
                {"at_60", "60%"}, {"at_70", "70%"},  {"at_80", "80%"},
                {"at_90", "90%"}, {"at_100", "100%"}};
    site_t *site = pool_of (1, "0.8");
    breakeven_t b;

    book_cost (site, "p", "all", input (one, "annual"), COST_PER_YEAR);
    solve (site, &b);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        mpq_t u, cost;
        mpq_init (cost);
        book_number (u, rows[i].utilization);
        breakeven_cost_at (&b, u, cost);
        result (r, rows[i].name, cost);
        mpq_clears (u, cost, NULL);
    }
    finish (site, &b);
}

/* Half of the hardware's price each year, as a cost of its own. */
static void overhead (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *utilization;
    } rows[] = {{"per_hour_u100", "100%"}, {"per_hour_u10", "10%"}};
    site_t *site = pool_of (1, "0.8");
    site_cost_t *cost;
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "hw"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    cost = book_cost (site, "p", "opex", input (one, "opex"), COST_PER_YEAR);
    mpq_mul (cost->amount, cost->amount, site->assets[0].price);
    solve (site, &b);
    result (r, "per_year_a", b.per_gpu_year);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        mpq_t u, per_hour;
        mpq_init (per_hour);
        book_number (u, rows[i].utilization);
        breakeven_cost_at (&b, u, per_hour);
        result (r, rows[i].name, per_hour);
        mpq_clears (u, per_hour, NULL);
    }
    finish (site, &b);
}

/* A server of 8 GPUs, its power as a yearly cost, against one price. */
static void server (const json_t *one, struct results *r)
{
    int64_t gpus = input_count (one, "gpus");
    site_t *site = pool_of (gpus, "0.8");
    site_cost_t *cost;
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "server"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    cost = book_cost (site, "p", "power", input (one, "power"), COST_PER_YEAR);
    exact_add_scaled (cost->amount, cost->amount, gpus - 1, 1);
    book_cloud (site, GPU, input (one, "cloud"));
    solve (site, &b);
    result (r, "onprem_year_correct", b.per_gpu_year);
    result (r, "breakeven_util", b.cloud[0].utilization);
    finish (site, &b);
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
        snprintf (name, sizeof (name), "%c", (char)('a' + i));
        exact_set_i64 (q, hours[i] * 3600, 1);
        charge_add (charge, path, q, q,
                    charge_price (site, "p", NULL, month.start).rate);
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

/* ---- the list of all cases ---- */

/* Reasons why a case is not run. */
#define LEFT_OUT_MAX 8
#define THRESHOLD "a threshold or practice, nothing to compute"
#define CASH "cumulative cash (F16) is not computed"
#define CLOUD_MIX \
    "interruptible, reserved and egress prices (F8-F10) are not computed"
#define ARITHMETIC "a multiplication of two inputs"
#define SIZING "memory, scaling and interconnect (F12, F14) are not computed"
#define PARTS "CPU and memory are not priced"
#define UNITS "service units are not a currency here"

static const struct {
    const char *id;
    void (*run) (const json_t *one, struct results *results);
    const char *reason; /* of a case, or of what `run` leaves out */
    const char *left_out[LEFT_OUT_MAX];
} examples[] = {
    {"S0-pitch-3yr", NULL, CASH, {NULL}},
    {"S0-pitch-gpu-count", NULL, ARITHMETIC, {NULL}},
    {"S0-h100-hardware",
     hardware,
     ARITHMETIC,
     {"per_gpu", "server_price_implied"}},
    {"S0-h100-staff",
     staff,
     ARITHMETIC,
     {"staff_year", "cluster_productive_hours"}},
    {"S0-h100-power", power, ARITHMETIC, {"avg_kw", "kwh_per_year"}},
    {"S0-h100-total", total, "a sum of rounded parts", {"total_of_rounded"}},
    {"S0-breakeven-printed", printed, NULL, {NULL}},
    {"S0-breakeven-consistent", consistent, NULL, {NULL}},
    {"S0-breakeven-grid", grid, NULL, {NULL}},
    {"S0-cost-by-utilization", by_utilization, NULL, {NULL}},
    {"S0-prices-per-gpu", NULL, ARITHMETIC, {NULL}},
    {"S0-daily-1000", NULL, ARITHMETIC, {NULL}},
    {"S0-spot-waste", NULL, CLOUD_MIX, {NULL}},
    {"S0-hybrid", NULL, CLOUD_MIX, {NULL}},
    {"S0-egress-1tb", NULL, CLOUD_MIX, {NULL}},
    {"S0-q1-annual-hours", NULL, ARITHMETIC, {NULL}},
    {"S0-a10g-3x", NULL, ARITHMETIC, {NULL}},
    {"S0-18h-day", NULL, ARITHMETIC, {NULL}},
    {"S0-team-a", NULL, ARITHMETIC, {NULL}},
    {"S0-karpenter-limit", NULL, ARITHMETIC, {NULL}},
    {"S0-idle", NULL, THRESHOLD, {NULL}},
    {"S0-rightsizing", NULL, THRESHOLD, {NULL}},
    {"S0-capacity-rules", NULL, THRESHOLD, {NULL}},
    {"S0-labels", NULL, THRESHOLD, {NULL}},
    {"S0-tco-cloud", NULL, THRESHOLD, {NULL}},
    {"S0-tco-onprem", NULL, THRESHOLD, {NULL}},
    {"S0-mig", NULL, "slices are tested with lib/gres", {NULL}},
    {"S0-practices", NULL, THRESHOLD, {NULL}},
    {"S1-opex50", overhead, CASH, {"tco_3yr_reading_a", "tco_3yr_reading_b"}},
    {"S1-prebuilt", NULL, ARITHMETIC, {NULL}},
    {"S1-scenarios", NULL, THRESHOLD, {NULL}},
    {"S1-k80", NULL, ARITHMETIC, {NULL}},
    {"S2-onprem",
     server,
     "several years, or other hours, at once",
     {"hours_exact", "cloud_year", "cloud_3yr", "slot", "onprem_3yr",
      "printed_21k_times_3", "per_used_hour"}},
    {"S2-a10g-job", NULL, ARITHMETIC, {NULL}},
    {"S2-vram", NULL, SIZING, {NULL}},
    {"S2-resnet", NULL, SIZING, {NULL}},
    {"S2-fsdp", NULL, SIZING, {NULL}},
    {"S2-scaling", NULL, SIZING, {NULL}},
    {"S2-interconnect", NULL, SIZING, {NULL}},
    {"S2-price-bands", NULL, THRESHOLD, {NULL}},
    {"S2-breakeven", NULL, THRESHOLD, {NULL}},
    {"S2-discounts", NULL, THRESHOLD, {NULL}},
    {"S2-commit-rule", NULL, THRESHOLD, {NULL}},
};

static const struct {
    const char *id;
    void (*run) (const json_t *one);
    const char *reason;
} vectors[] = {
    {"uw-external-oncampus", NULL, "external rates are not computed"},
    {"wur-anunna", NULL, PARTS},
    {"acenet-1", NULL, PARTS},
    {"cyfronet", NULL, PARTS},
    {"ncsa-rails", NULL, UNITS},
    {"nhr-mig", NULL, "a flat price per slice does not conserve"},
    {"openchargeback-su", NULL, PARTS},
    {"drexel", published_rate, NULL},
    {"alcf-refund", NULL, "credits are not computed"},
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

static bool left_out (size_t example, const char *name)
{
    for (size_t i = 0; i < LEFT_OUT_MAX && examples[example].left_out[i]; i++) {
        if (strcmp (examples[example].left_out[i], name) == 0)
            return true;
    }
    return false;
}

static void check_result (const char *id, const json_t *wanted,
                          const struct results *results)
{
    const char *name = text_of (wanted, "name");
    double value = json_number_value (json_object_get (wanted, "value"));
    double tolerance = json_number_value (json_object_get (wanted, "abs_tol"));

    for (size_t i = 0; i < results->count; i++) {
        if (strcmp (results->item[i].name, name) != 0)
            continue;
        if (fabs (results->item[i].value - value) > tolerance + 1e-9)
            fail_msg ("%s: %s is %.9g, not %.9g", id, name,
                      results->item[i].value, value);
        return;
    }
    fail_msg ("%s: %s is not computed", id, name);
}

static void run_example (size_t example, const json_t *one)
{
    const char *id = examples[example].id;
    struct results results = {.count = 0};
    json_t *wanted;
    size_t i;

    if (!examples[example].run) {
        printf ("# %s: not run: %s\n", id, examples[example].reason);
        return;
    }
    examples[example].run (one, &results);
    json_array_foreach (json_object_get (one, "expected"), i, wanted)
    {
        const char *name = text_of (wanted, "name");
        if (left_out (example, name))
            printf ("# %s: %s: not run: %s\n", id, name,
                    examples[example].reason);
        else
            check_result (id, wanted, &results);
    }
    printf ("# %s: run\n", id);
}

static void published_examples__each_case__is_run_or_excused (void **state)
{
    json_t *root = read_json ("published_examples.json"), *one;
    size_t i, known;

    (void)state;
    assert_int_equal (json_array_size (json_object_get (root, "cases")),
                      GL_ARRAY_SIZE (examples));
    json_array_foreach (json_object_get (root, "cases"), i, one)
    {
        for (known = 0; known < GL_ARRAY_SIZE (examples); known++) {
            if (strcmp (examples[known].id, text_of (one, "id")) == 0)
                break;
        }
        if (known == GL_ARRAY_SIZE (examples))
            fail_msg ("nobody knows case %s", text_of (one, "id"));
        run_example (known, one);
    }
    json_decref (root);
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

/* ---- the whole example, and how it changes (cost-model, section 3) ---- */

static site_t *h100 (const char *price, const char *salvage, int months,
                     const char *fte, const char *kwh, const char *pue)
{
    site_t *site = pool_of (64, "80%");

    book_asset (site, "p", "8", price, salvage, (civil_t){2024, 3, 1, 0, 0, 0},
                months);
    book_staff (site, "p", fte, "250000", "1");
    book_power (site, "p", "560", pue, "k");
    book_tariff (site, "k", kwh);
    book_cost (site, "p", "fabric", "0.10", COST_PER_GPU_HOUR);
    book_cloud (site, GPU, "5.25");
    return site;
}

static void breakeven__the_sensitivity_table__as_published (void **state)
{
    static const struct {
        const char *price, *salvage;
        int years;
        const char *fte, *kwh, *pue, *per_hour, *utilization;
    } rows[] = {
        {"425000", "0", 3, "1.5", "0.10", "1.3", "3.554", "0.542"},
        {"425000", "0", 4, "1.5", "0.10", "1.3", "2.922", "0.445"},
        {"425000", "0", 5, "1.5", "0.10", "1.3", "2.543", "0.388"},
        {"425000", "0", 6, "1.5", "0.10", "1.3", "2.291", "0.349"},
        {"425000", "42500", 5, "1.5", "0.10", "1.3", "2.392", "0.364"},
        {"382500", "0", 3, "1.5", "0.10", "1.3", "3.301", NULL},
        {"467500", "0", 3, "1.5", "0.10", "1.3", "3.807", NULL},
        {"425000", "0", 3, "1", "0.10", "1.3", "3.275", NULL},
        {"425000", "0", 3, "2", "0.10", "1.3", "3.833", NULL},
        {"425000", "0", 3, "1.5", "0.08", "1.3", "3.536", NULL},
        {"425000", "0", 3, "1.5", "0.15", "1.3", "3.599", NULL},
        {"425000", "0", 3, "1.5", "0.10", "1.1", "3.540", NULL},
        {"425000", "0", 3, "1.5", "0.10", "1.6", "3.575", NULL},
    };

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = h100 (rows[i].price, rows[i].salvage, rows[i].years * 12,
                             rows[i].fte, rows[i].kwh, rows[i].pue);
        breakeven_t b;
        solve (site, &b);
        book_check (b.per_hour, 3, rows[i].per_hour);
        if (rows[i].utilization)
            book_check (b.cloud[0].utilization, 3, rows[i].utilization);
        finish (site, &b);
    }
}

static void breakeven__a_leap_year__has_8784_hours (void **state)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;

    (void)state;
    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2024, 6, 1, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.hours, 8784);
    book_check (b.part[2].per_hour, 4, "0.0910");
    book_check (b.part[3].per_hour, 4, "0.1000");
    book_check (b.part[0].per_hour, 4, "2.5200");
    breakeven_clear (&b);
    site_free (site);
}

/* Fully depreciated hardware costs nothing; the rest stays. */
static void breakeven__entries_out_of_force__do_not_count (void **state)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;

    (void)state;
    site->staff[0].valid.end = book_instant (site, 2026, 1, 1, 0);
    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2027, 3, 1, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.part_count, 2);
    assert_string_equal (b.part[0].name, "power");
    breakeven_clear (&b);
    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2027, 2, 28, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.part_count, 3);
    assert_string_equal (b.part[0].name, "hardware");
    breakeven_clear (&b);
    site_free (site);
}

/* Without a date the newest entries count: here the tariff of 2025. */
static void breakeven__undated__takes_the_latest_beginning (void **state)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    int64_t change = book_instant (site, 2025, 6, 1, 0);
    breakeven_t b;

    (void)state;
    site->tariffs[0].valid.end = change;
    book_tariff (site, "k", "0.20")->valid.start = change;
    solve (site, &b);
    assert_int_equal (b.hours, 8760);
    book_check (b.part[2].per_gpu_year, 2, "1275.46");
    finish (site, &b);
}

static void breakeven__impossible_questions__are_refused (void **state)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;
    mpq_t u;

    (void)state;
    assert_int_equal (
        breakeven_of_pool (site, "q", BREAKEVEN_UNDATED, NULL, &b, &error), -1);
    assert_non_null (strstr (error.text, "no pool 'q'"));
    mpq_init (u);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, u, &b, &error), -1);
    mpq_set_ui (u, 11, 10);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, u, &b, &error), -1);
    site->tariffs[0].valid.end = book_instant (site, 2020, 1, 1, 0);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, NULL, &b, &error), -1);
    assert_non_null (strstr (error.text, "no tariff 'k'"));
    mpq_clear (u);
    site_free (site);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (published_examples__each_case__is_run_or_excused),
        cmocka_unit_test (chargeback_vectors__each_case__is_run_or_excused),
        cmocka_unit_test (breakeven__the_sensitivity_table__as_published),
        cmocka_unit_test (breakeven__a_leap_year__has_8784_hours),
        cmocka_unit_test (breakeven__entries_out_of_force__do_not_count),
        cmocka_unit_test (breakeven__undated__takes_the_latest_beginning),
        cmocka_unit_test (breakeven__impossible_questions__are_refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
