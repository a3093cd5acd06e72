/*
 * Published tariffs and policies (tests/data/cost/chargeback_vectors.json): each
 * vector is run by a function that computes it by our own code. A vector that
 * nobody knows fails.
 */
#include <jansson.h>
#include <stdio.h>

#include "support/book.h"

#include "money/charge.h"
#include "usage/billable.h"

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

static json_t *input (const json_t *one, const char *name)
{
    json_t *value = json_object_get (json_object_get (one, "inputs"), name);

    if (!value)
        fail_msg ("no input %s", name);
    return value;
}

static int64_t input_count (const json_t *one, const char *name)
{
    return json_integer_value (input (one, name));
}

/* A text or a whole number, as it is written. */
static void number_of (const json_t *value, mpq_t ret_value)
{
    if (json_is_string (value))
        book_number (ret_value, json_string_value (value));
    else {
        assert_true (json_is_integer (value));
        mpq_init (ret_value);
        exact_set_i64 (ret_value, json_integer_value (value), 1);
    }
}

static void input_number (const json_t *one, const char *name, mpq_t ret_value)
{
    number_of (input (one, name), ret_value);
}

/* The value is exactly what is expected. */
static void check_value (const json_t *one, const char *name,
                            mpq_srcptr value)
{
    mpq_t wanted;

    number_of (json_object_get (json_object_get (one, "expected"), name),
               wanted);
    if (mpq_cmp (value, wanted) != 0)
        fail_msg ("%s is %.12g, not %.12g", name, mpq_get_d (value),
                  mpq_get_d (wanted));
    mpq_clear (wanted);
}

/* A site with one pool of so many GPUs. */
static site_t *pool_of (int64_t gpus)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n1", gpus);
    return site;
}

/* ---- what is charged ---- */

/* One month of a pool in which each line holds so many GPU-hours, by the price
 * weights; of `team`, if there is one. */
static charge_t *month_of (const site_t *site, const char *team,
                           const mpq_t *hours, size_t count)
{
    static const size_t levels[] = {1, 2};
    period_t month = book_month (site, 2026, 11);
    capacity_sum_t capacity;
    gl_error_t error;
    charge_t *charge;
    mpq_t q;

    mpq_init (q);
    capacity_sum_init (&capacity);
    for (size_t i = 0; i < count; i++)
        exact_add_scaled (capacity.allocated, hours[i], 3600, 1);
    mpq_set (capacity.capacity, capacity.allocated);
    charge = charge_new (site, "p", month, &capacity, NULL, levels, 2, &error);
    assert_non_null (charge);
    for (size_t i = 0; i < count; i++) {
        char name[8];
        const char *const path[] = {name, "x"};
        rate_card_price_t price = rate_card_price (
            site, (rate_subject_t){
                      .pool = "p", .team = team, .instant = month.start});
        snprintf (name, sizeof (name), "%c", (char)('a' + i));
        mpq_set_ui (q, 0, 1);
        exact_add_scaled (q, hours[i], 3600, 1);
        charge_add (charge, path, q, q, &price);
    }
    if (charge_compute (charge, &error) < 0)
        fail_msg ("%s", error.text);
    capacity_sum_clear (&capacity);
    mpq_clear (q);
    return charge;
}

/* What so many priced hours cost together, as cents that were rounded once. */
static void due_of (const site_t *site, const char *team, const mpq_t *hours,
                    size_t count, mpq_t ret_due)
{
    charge_t *charge = month_of (site, team, hours, count);
    size_t lines;
    const charge_line_t *line = charge_lines (charge, &lines);
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (ret_due, 0, 1);
    for (size_t i = 0; i < lines; i++) {
        mpq_set_z (one, line[i].charge_units);
        exact_add_scaled (ret_due, one, 1, 100);
    }
    mpq_clear (one);
    charge_free (charge);
}

/* An external team's rate: the overhead last. */
static void external_rate (const json_t *one)
{
    site_t *site = pool_of (1);
    site_team_t *team = BOOK_NEW (site->teams, site->team_count);
    mpq_t hour, due;

    team->name = xstrdup ("out");
    team->valid = book_always;
    mpq_init (team->surcharge);
    input_number (one, "overhead", team->overhead);
    book_rate (site, "p", NULL, json_string_value (input (one, "internal")),
               MIG_MAX);
    mpq_inits (hour, due, NULL);
    mpq_set_ui (hour, 1, 1);
    due_of (site, "out", (const mpq_t *)&hour, 1, due);
    check_value (one, "external", due);
    mpq_clears (hour, due, NULL);
    site_free (site);
}

/* 43 units of 0.01 for a GPU-hour: a published rate of 0.43. */
static void published_rate (const json_t *one)
{
    site_t *site = pool_of (1);
    mpq_t hours, due;

    book_rate (site, "p", NULL, "0.43", MIG_MAX);
    input_number (one, "gpu_hours", hours);
    mpq_init (due);
    due_of (site, NULL, (const mpq_t *)&hours, 1, due);
    check_value (one, "usd", due);
    mpq_clears (hours, due, NULL);
    site_free (site);
}

/* A ledger whose currency is the service unit, of which an hour costs 120. */
static void units_per_gpu_hour (const json_t *one)
{
    site_t *site = pool_of (8);
    mpq_t hours, due;

    book_rate (site, "p", NULL, "120", MIG_MAX);
    input_number (one, "h100", hours);
    mpq_init (due);
    due_of (site, NULL, (const mpq_t *)&hours, 1, due);
    check_value (one, "su_per_hour", due);
    mpq_clears (hours, due, NULL);
    site_free (site);
}

/* A slice that weighs 47/150 of the GPU in the price; three of them leave 9 of 150
 * to nobody. */
static void flat_slices (const json_t *one)
{
    int64_t slices = input_count (one, "slices_per_gpu");
    GL_AUTOFREE char *whole = xasprintf (
        "%lld", (long long)input_count (one, "whole_gpu"));
    site_t *site = pool_of (1);
    mpq_t hours[3], due;

    assert_int_equal (slices, 3);
    book_rate (site, "p", NULL, whole, MIG_MAX);
    for (int i = 0; i < 3; i++) {
        mpq_init (hours[i]);
        exact_set_i64 (hours[i], input_count (one, "slice_price"),
                       input_count (one, "whole_gpu"));
    }
    mpq_init (due);
    due_of (site, NULL, (const mpq_t *)hours, 3, due);
    check_value (one, "sum_of_slices", due);
    for (int i = 0; i < 3; i++)
        mpq_clear (hours[i]);
    mpq_clear (due);
    site_free (site);
}

/* ---- what is billed of a job ---- */

/* Units of a job in the site's pool: GPUs, CPUs, and GB as GiB of memory. */
static void units_of (const site_t *site, int64_t gpus, int64_t cpus,
                      int64_t gib, mpq_t ret_units)
{
    mpq_t g, c, m;

    mpq_inits (g, c, m, NULL);
    exact_set_i64 (g, gpus, 1);
    exact_set_i64 (c, cpus, 1);
    exact_set_i64 (m, gib * 1024, 1);
    billable_units (&site->pools[0], NULL, g, g, c, m, ret_units);
    mpq_clears (g, c, m, NULL);
}

static site_t *weighted_pool (const char *gpu, mpq_srcptr cpu,
                              mpq_srcptr memory)
{
    site_t *site = pool_of (1);
    site_pool_t *pool = &site->pools[0];

    pool->bill = BILL_MAX;
    mpq_clears (pool->gpu_weight, pool->cpu_weight, pool->memory_weight, NULL);
    book_number (pool->gpu_weight, gpu);
    mpq_inits (pool->cpu_weight, pool->memory_weight, NULL);
    mpq_set (pool->cpu_weight, cpu);
    mpq_set (pool->memory_weight, memory);
    return site;
}

static void max_tres (const json_t *one)
{
    mpq_t cpu, memory, units;
    site_t *site;

    book_number (cpu, "1");
    book_number (memory, "0.215");
    mpq_init (units);
    site = weighted_pool ("35", cpu, memory);
    units_of (site, input_count (one, "gpu"), input_count (one, "cpu"),
              input_count (one, "gb"), units);
    /* ours are GPUs, theirs weigh 35 each */
    exact_add_scaled (units, units, 35 * input_count (one, "minutes") - 1, 1);
    check_value (one, "units", units);
    mpq_clears (cpu, memory, units, NULL);
    site_free (site);
}

static void dominant (const json_t *one)
{
    site_t *site = pool_of (1);
    site_pool_t *pool = &site->pools[0];
    mpq_t units;

    pool->bill = BILL_DOMINANT;
    pool->cpus_per_gpu = input_count (one, "cpus_per_gpu");
    pool->memory_per_gpu = input_count (one, "mem_per_gpu") * 1024;
    mpq_init (units);
    units_of (site, input_count (one, "gpus"), input_count (one, "cpus"),
              input_count (one, "mem"), units);
    exact_add_scaled (units, units, input_count (one, "hours") - 1, 1);
    check_value (one, "gpu_hours", units);
    mpq_clear (units);
    site_free (site);
}

/* CPUs and memory, each as a pool that weighs nothing else, for the time that
 * the job ran: what it had asked for is not read. */
static void components (const json_t *one)
{
    static const char *const names[] = {"cpu", "mem"};
    mpq_t rate[2], none, hours, sum, units;
    int64_t held;

    input_number (one, "cpu_rate", rate[0]);
    input_number (one, "gb_rate", rate[1]);
    input_number (one, "hours", hours);
    mpq_inits (none, sum, units, NULL);
    exact_add_scaled (sum, hours, 3600, 1);
    held = mpz_get_si (mpq_numref (sum));
    mpq_set_ui (sum, 0, 1);
    for (int i = 0; i < 2; i++) {
        site_t *site = weighted_pool ("1", i == 0 ? rate[0] : none,
                                      i == 1 ? rate[1] : none);
        units_of (site, 0, input_count (one, "cpu"), input_count (one, "gb"),
                  units);
        exact_set_i64 (hours, billable_seconds (&site->policy, held), 3600);
        mpq_mul (units, units, hours);
        check_value (one, names[i], units);
        mpq_add (sum, sum, units);
        site_free (site);
    }
    check_value (one, "total", sum);
    mpq_clears (rate[0], rate[1], none, hours, sum, units, NULL);
}

/* Units from CPUs and a multiplier, and these at a price. */
static void units_by_cpus (const json_t *one)
{
    GL_AUTOFREE char *price
        = xstrdup (json_string_value (input (one, "rate")));
    mpq_t multiplier, none, units, due;
    site_t *site;

    input_number (one, "mult", multiplier);
    mpq_inits (none, units, due, NULL);
    site = weighted_pool ("1", multiplier, none);
    units_of (site, 4, input_count (one, "cpus"), 0, units);
    exact_add_scaled (units, units, input_count (one, "hours") - 1, 1);
    check_value (one, "su", units);
    book_rate (site, "p", NULL, price, MIG_MAX);
    due_of (site, NULL, (const mpq_t *)&units, 1, due);
    check_value (one, "usd", due);
    mpq_clears (multiplier, none, units, due, NULL);
    site_free (site);
}

/* At most the last hours are given back. */
static void refund (const json_t *one)
{
    site_t *site = pool_of (1);
    mpq_t hours;

    mpq_init (hours);
    site->policy.credit_cap = input_count (one, "cap_h") * 3600;
    exact_set_i64 (hours,
                   billable_credit_seconds (&site->policy,
                                            input_count (one, "lost_h") * 3600),
                   3600);
    check_value (one, "refund_h", hours);
    site->policy.credit_cap = 0; /* no cap */
    assert_int_equal (billable_credit_seconds (&site->policy, 9 * 3600),
                      9 * 3600);
    mpq_clear (hours);
    site_free (site);
}

/* ---- what is shared ---- */

#define PARTS_MAX 8

/* A total of units over weights, by a rule. */
struct split {
    mpz_t total;
    mpq_t parts[PARTS_MAX];
    mpz_t units[PARTS_MAX];
    size_t count;
};

static void split_init (struct split *split, int64_t total,
                        const json_t *weights)
{
    mpq_t sum;

    split->count = json_array_size (weights);
    assert_in_range (split->count, 1, PARTS_MAX);
    mpz_init_set_si (split->total, total);
    mpq_init (sum);
    for (size_t i = 0; i < split->count; i++) {
        number_of (json_array_get (weights, i), split->parts[i]);
        mpq_add (sum, sum, split->parts[i]);
        mpz_init (split->units[i]);
    }
    for (size_t i = 0; i < split->count; i++) {
        mpq_div (split->parts[i], split->parts[i], sum);
        exact_add_scaled (split->parts[i], split->parts[i], total - 1, 1);
    }
    mpq_clear (sum);
}

static void split_clear (struct split *split)
{
    for (size_t i = 0; i < split->count; i++) {
        mpq_clear (split->parts[i]);
        mpz_clear (split->units[i]);
    }
    mpz_clear (split->total);
}

static void check_units (const json_t *one, const struct split *split)
{
    const json_t *wanted
        = json_object_get (json_object_get (one, "expected"), "cents");

    assert_int_equal (json_array_size (wanted), split->count);
    for (size_t i = 0; i < split->count; i++)
        assert_int_equal (mpz_get_si (split->units[i]),
                          json_integer_value (json_array_get (wanted, i)));
}

static void rounding (const json_t *one)
{
    struct split split;
    gl_error_t error;

    split_init (&split, input_count (one, "cents"), input (one, "weights"));
    assert_int_equal (exact_share (split.total, (const mpq_t *)split.parts,
                                   split.count, split.units, &error),
                      0);
    check_units (one, &split);
    split_clear (&split);
}

/* Another rule (NUcore): every part floored, the rest to one marked part. Ours
 * shares the same total; no part is off by more than the rest of theirs. */
static void marked_part (const json_t *one)
{
    const json_t *theirs
        = json_object_get (json_object_get (one, "expected"), "cents");
    struct split split;
    gl_error_t error;
    long rest, sum = 0;

    split_init (&split, input_count (one, "cents"), input (one, "percent"));
    assert_int_equal (exact_share (split.total, (const mpq_t *)split.parts,
                                   split.count, split.units, &error),
                      0);
    rest = mpz_get_si (split.total);
    for (size_t i = 0; i < split.count; i++)
        rest -= (long)mpz_get_ui (mpq_numref (split.parts[i]))
                / (long)mpz_get_ui (mpq_denref (split.parts[i]));
    for (size_t i = 0; i < split.count; i++) {
        long ours = mpz_get_si (split.units[i]);
        long other = json_integer_value (json_array_get (theirs, i));
        assert_true (labs (ours - other) <= rest);
        sum += ours;
    }
    assert_int_equal (sum, mpz_get_si (split.total));
    split_clear (&split);
}

/* Each line's share of the cost of a month, and the printed decimals, which add up
 * to 1 also where they are rounded (thirds, sevenths). */
static void shares (const json_t *one)
{
    const json_t *list = input (one, "gpu_hours");
    const json_t *wanted
        = json_object_get (json_object_get (one, "expected"), "ratios");
    size_t count = json_array_size (list);
    site_t *site = pool_of (1);
    const charge_line_t *line;
    charge_t *charge;
    mpq_t hours[PARTS_MAX], ratio;

    for (size_t i = 0; i < count; i++)
        number_of (json_array_get (list, i), hours[i]);
    book_cost (site, "p", "all", "12345.67", COST_PER_MONTH);
    charge = month_of (site, NULL, (const mpq_t *)hours, count);
    line = charge_lines (charge, &count);
    mpq_init (ratio);
    for (size_t i = 0; i < count; i++) {
        mpq_div (ratio, line[i].charge, charge_cost (charge)->total);
        assert_true (mpq_get_d (ratio)
                     == json_real_value (json_array_get (wanted, i)));
        mpq_clear (hours[i]);
    }
    mpq_clear (ratio);
    charge_free (charge);
    site_free (site);
}

/* ---- every vector ---- */

static const struct {
    const char *id;
    void (*run) (const json_t *one);
} vectors[] = {
    {"uw-external-oncampus", external_rate},
    {"wur-anunna", components},
    {"acenet-1", max_tres},
    {"cyfronet", dominant},
    {"ncsa-rails", units_per_gpu_hour},
    {"nhr-mig", flat_slices},
    {"openchargeback-su", units_by_cpus},
    {"drexel", published_rate},
    {"alcf-refund", refund},
    {"lr-thirds", rounding},
    {"lr-weights", rounding},
    {"lr-negative", rounding},
    {"nucore-remainder", marked_part},
    {"focus-alloc-ratio", shares},
};

static void run_vector (const json_t *one)
{
    const char *id = json_string_value (json_object_get (one, "id"));

    for (size_t i = 0; i < GL_ARRAY_SIZE (vectors); i++)
        if (strcmp (vectors[i].id, id) == 0) {
            vectors[i].run (one);
            return;
        }
    fail_msg ("nobody knows vector %s", id);
}

TEST_CASE (chargeback_vectors__each__is_computed)
{
    json_t *root = read_json ("chargeback_vectors.json"), *one;
    size_t i;

    assert_int_equal (json_array_size (json_object_get (root, "vectors")),
                      GL_ARRAY_SIZE (vectors));
    json_array_foreach (json_object_get (root, "vectors"), i, one)
        run_vector (one);
    json_decref (root);
}

/* Ratios of an allocation, as decimals: the largest remainder makes them add up to
 * exactly 1 (FOCUS 1.3, AllocatedMethodDetails). */
TEST_CASE (ratios__printed__add_up_to_one)
{
    struct split split;
    gl_error_t error;
    mpz_t sum;

    mpz_init (sum);
    for (size_t count = 1; count <= 7; count++) {
        json_t *weights = json_array ();
        for (size_t i = 0; i < count; i++)
            json_array_append_new (weights, json_integer (1));
        split_init (&split, INT64_C (10000000000), weights);
        assert_int_equal (exact_share (split.total, (const mpq_t *)split.parts,
                                       count, split.units, &error),
                          0);
        mpz_set_ui (sum, 0);
        for (size_t i = 0; i < count; i++)
            mpz_add (sum, sum, split.units[i]);
        assert_int_equal (mpz_cmp (sum, split.total), 0);
        split_clear (&split);
        json_decref (weights);
    }
    mpz_clear (sum);
}

TEST_MAIN (NULL, NULL)
