/* The formulas F5 to F16 on the worked examples of docs/guides/decisions.md. */
#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "planning/cash.h"
#include "planning/decision.h"
#include "planning/reserve.h"

/* A number for an argument: static, so that no one has to clear it. */
static mpq_srcptr n (const char *text)
{
    static mpq_t turn[16];
    static size_t at;
    static bool made;
    gl_error_t error;

    for (size_t i = 0; i < 16 && !made; i++)
        mpq_init (turn[i]);
    made = true;
    at = (at + 1) % 16;
    if (exact_parse_ratio (text, turn[at], &error) < 0)
        fail_msg ("%s", error.text);
    return turn[at];
}

static void check (const mpq_t value, int digits, const char *expected)
{
    GL_AUTOFREE char *text = exact_text (value, digits);

    assert_string_equal (text, expected);
}

static void decision__a_year_and_hours__break_even (void **state)
{
    mpq_t q;

    (void)state;
    mpq_init (q);
    decision_per_hour (q, n ("24906.24"), n ("8760"), n ("0.4"));
    check (q, 4, "7.1079");
    assert_int_equal (
        decision_breakeven (q, n ("24906.24"), NULL, n ("5.25"), n ("8760")),
        0);
    check (q, 4, "0.5416");
    assert_int_equal (decision_breakeven (q, n ("24268.51"), n ("0.0910"),
                                          n ("5.25"), n ("8760")),
                      0);
    check (q, 4, "0.5370");
    assert_int_equal (
        decision_breakeven (q, n ("1"), n ("3"), n ("3"), n ("8760")), -1);
    mpq_clear (q);
}

static void decision__an_overhead_ratio__gives_cost_and_break_even (void **state)
{
    mpq_t year, q;

    (void)state;
    mpq_inits (year, q, NULL);
    decision_overhead_cost (year, n ("100000"), n ("3"), n ("0.5"));
    check (year, 2, "83333.33");
    decision_per_hour (q, year, n ("8760"), n ("1"));
    check (q, 4, "9.5129");
    decision_per_hour (q, year, n ("8760"), n ("0.10"));
    check (q, 4, "95.1294");
    decision_breakeven (q, year, NULL, n ("24.48"), n ("8760"));
    check (q, 4, "0.3886");
    mpq_clears (year, q, NULL);
}

static void decision__interruptions__cost_what_was_bought (void **state)
{
    mpq_t q, price;

    (void)state;
    mpq_inits (q, price, NULL);
    decision_interruption_loss (q, n ("0.02"), n ("0.5"), n ("0"), false);
    check (q, 4, "0.0050");
    decision_interruption_loss (q, n ("0.02"), n ("0.5"), n ("0.1"), false);
    check (q, 4, "0.0070");
    decision_interruption_loss (q, n ("0.02"), n ("0.5"), n ("0"), true);
    check (q, 4, "0.0100");
    decision_effective_price (price, n ("3.687"), q);
    check (price, 4, "3.7239");
    decision_breakeven_loss (q, n ("3.687"), n ("12.29"));
    check (q, 4, "2.3333");
    decision_effective_price (price, n ("3.687"), q);
    check (price, 4, "12.2900");
    mpq_clears (q, price, NULL);
}

static void decision__the_other_formulas__as_worked (void **state)
{
    mpq_t q;

    (void)state;
    mpq_init (q);
    decision_egress (q, n ("250"), n ("30"), n ("0.09"));
    check (q, 2, "675.00");
    decision_effective_utilization (q, n ("0.75"), n ("0.40"));
    check (q, 2, "0.30");
    decision_scaling_efficiency (q, n ("6"), n ("8"));
    check (q, 2, "0.75");
    assert_false (decision_scaling_is_poor (q));
    assert_false (decision_scaling_is_poor (n ("0.6")));
    assert_true (decision_scaling_is_poor (n ("0.599")));
    decision_run_cost (q, n ("6.88"), n ("2.7447"), n ("2.2"));
    check (q, 4, "1.1394");
    decision_run_cost (q, n ("6.88"), n ("2.7447"), n ("1"));
    check (q, 4, "2.5066");
    decision_serving_memory (q, n ("7"), n ("2"), n ("1.3"));
    check (q, 1, "18.2");
    decision_serving_memory (q, n ("7"), n ("0.5"), n ("1.3"));
    check (q, 2, "4.55");
    decision_training_memory (q, n ("7"), n ("2"));
    check (q, 0, "84");
    decision_gib (q, q);
    check (q, 1, "78.2");
    mpq_clear (q);
}

static void decision_capacity__demand__becomes_whole_nodes (void **state)
{
    decision_demand_t demand;
    decision_capacity_t capacity;

    (void)state;
    decision_demand_init (&demand);
    mpq_set (demand.gpu_hours_per_day, n ("2400"));
    mpq_set (demand.utilization, n ("0.80"));
    mpq_set (demand.down_ratio, n ("0.05"));
    mpq_set (demand.spare_ratio, n ("0.10"));
    demand.gpus_per_node = 8;
    decision_capacity (&demand, &capacity);
    check (capacity.gpus, 2, "131.58");
    check (capacity.gpus_spare, 2, "144.74");
    assert_int_equal (capacity.nodes, 19);
    decision_capacity_clear (&capacity);
    mpq_set (demand.down_ratio, n ("0"));
    mpq_set (demand.spare_ratio, n ("0"));
    mpq_set (demand.gpu_hours_per_day, n ("1536"));
    decision_capacity (&demand, &capacity);
    assert_int_equal (capacity.nodes, 10); /* 80 GPUs exactly */
    decision_capacity_clear (&capacity);
    decision_demand_clear (&demand);
}

/* 10, 12, 14 grow by 2; 1, 2, 2, 3 by 0.6 (least squares, by hand: mean 2, the
 * middle at 1.5, 0.6 x 1.5 above it at the last). */
static void decision_trend__of_lines_and_others__goes_on (void **state)
{
    mpq_t values[4], q;

    (void)state;
    mpq_init (q);
    for (size_t i = 0; i < 4; i++)
        mpq_init (values[i]);
    for (unsigned long i = 0; i < 3; i++)
        mpq_set_ui (values[i], 10 + 2 * i, 1);
    decision_trend (q, values, 3, 0);
    check (q, 2, "14.00");
    decision_trend (q, values, 3, 12);
    check (q, 2, "38.00");
    mpq_set_ui (values[0], 1, 1);
    mpq_set_ui (values[1], 2, 1);
    mpq_set_ui (values[2], 2, 1);
    mpq_set_ui (values[3], 3, 1);
    decision_trend (q, values, 4, 0);
    check (q, 2, "2.90");
    decision_trend (q, values, 4, 10);
    check (q, 2, "8.90");
    for (size_t i = 0; i < 4; i++)
        mpq_clear (values[i]);
    mpq_clear (q);
}

/* ---- F9 ---- */

static void make_demand (mpq_t *gpus, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mpq_init (gpus[i]);
        mpq_set (gpus[i], n (texts[i]));
    }
}

static void clear_demand (mpq_t *gpus, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mpq_clear (gpus[i]);
}

static void reserve__ten_days__28_pay (void **state)
{
    static const char *const days[]
        = {"16", "20", "20", "24", "24", "28", "30", "32", "32", "40"};
    static const struct {
        uint64_t k;
        const char *per_day;
    } costs[] = {{28, "4176.91"}, {24, "4262.83"}, {30, "4192.94"}};
    mpq_t gpus[10], q;
    const reserve_demand_t demand = {gpus, 10};

    (void)state;
    mpq_init (q);
    make_demand (gpus, days, 10);
    reserve_use (&demand, 28, q);
    check (q, 2, "0.50");
    reserve_use (&demand, 29, q);
    check (q, 2, "0.40");
    assert_int_equal (reserve_size (&demand, n ("5.25"), n ("12.29")), 28);
    for (size_t i = 0; i < GL_ARRAY_SIZE (costs); i++) {
        reserve_cost (&demand, costs[i].k, n ("5.25"), n ("12.29"), q);
        exact_add_scaled (q, q, 23, 1);
        check (q, 2, costs[i].per_day);
    }
    clear_demand (gpus, 10);
    mpq_clear (q);
}

/* A reserved GPU pays only while it is used for more than the ratio of the prices.
 * Of ten days, seven want 24 GPUs or more and five want 28: at a ratio of exactly
 * 0.7 or 0.5 the GPUs up to that level cost what they save, and are not reserved. */
static void reserve_size__use_equals_the_price_ratio__does_not_pay (void **state)
{
    static const char *const days[]
        = {"16", "20", "20", "24", "24", "28", "30", "32", "32", "40"};
    static const struct {
        const char *reserved;
        uint64_t size;
    } cases[] = {{"4.9999", 28}, {"5", 24}, {"5.0001", 24}, {"6.9999", 24},
                 {"7", 20},      {"9", 16}, {"9.9999", 16}, {"10", 0},
                 {"0.9999", 40}, {"1", 32}};
    mpq_t gpus[10];
    const reserve_demand_t demand = {gpus, 10};

    (void)state;
    make_demand (gpus, days, 10);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        uint64_t size
            = reserve_size (&demand, n (cases[i].reserved), n ("10"));
        if (size != cases[i].size)
            fail_msg ("at %s of 10: %llu GPUs", cases[i].reserved,
                      (unsigned long long)size);
    }
    clear_demand (gpus, 10);
}

/* The size is the cheapest of all, parts of GPUs and odd prices included. */
static void reserve_size__any_demand__is_the_cheapest (void **state)
{
    static const char *const hours[] = {"0", "0.25", "1.5", "3", "3.75", "7"};
    static const char *const prices[] = {"0.01", "0.5", "1", "1.7", "2", "3"};
    mpq_t gpus[6], best, q;
    const reserve_demand_t demand = {gpus, 6};

    (void)state;
    mpq_inits (best, q, NULL);
    make_demand (gpus, hours, 6);
    for (size_t i = 0; i < GL_ARRAY_SIZE (prices); i++) {
        uint64_t size = reserve_size (&demand, n (prices[i]), n ("2"));
        reserve_cost (&demand, size, n (prices[i]), n ("2"), best);
        for (uint64_t k = 0; k <= 8; k++) {
            reserve_cost (&demand, k, n (prices[i]), n ("2"), q);
            assert_true (mpq_cmp (best, q) <= 0);
        }
    }
    assert_int_equal (reserve_size (&demand, n ("2"), n ("2")), 0);
    clear_demand (gpus, 6);
    mpq_clears (best, q, NULL);
}

/* ---- F16 ---- */

static void cash__of_the_pitch__both_conventions (void **state)
{
    cash_plan_t plan;
    mpq_t q;

    (void)state;
    mpq_init (q);
    cash_plan_init (&plan);
    mpq_set (plan.first_day, n ("3800000"));
    exact_add_scaled (plan.own_per_month, n ("500000"), 1, 12);
    exact_add_scaled (plan.rent_per_month, n ("4700000"), 1, 12);
    plan.prepaid_months = 12;
    assert_true (cash_payback (&plan, q));
    check (q, 2, "9.70");
    mpq_set (plan.first_day, n ("3300000"));
    plan.prepaid_months = 0;
    assert_true (cash_payback (&plan, q));
    check (q, 2, "9.43");
    cash_saving (&plan, 9, q);
    assert_true (mpq_sgn (q) < 0);
    cash_saving (&plan, 10, q);
    assert_true (mpq_sgn (q) > 0);
    cash_saving (&plan, 36, q);
    check (q, 0, "9300000");
    mpq_set (plan.rent_per_month, plan.own_per_month);
    assert_false (cash_payback (&plan, q));
    cash_plan_clear (&plan);
    mpq_clear (q);
}

/* A payback after what was paid in advance. */
static void cash_payback__after_the_first_year__counts_operation (void **state)
{
    cash_plan_t plan;
    mpq_t q;

    (void)state;
    mpq_init (q);
    cash_plan_init (&plan);
    mpq_set (plan.first_day, n ("2000"));
    mpq_set (plan.own_per_month, n ("50"));
    mpq_set (plan.rent_per_month, n ("100"));
    plan.prepaid_months = 12;
    assert_true (cash_payback (&plan, q));
    check (q, 2, "28.00");
    cash_saving (&plan, 28, q);
    assert_int_equal (mpq_sgn (q), 0);
    cash_plan_clear (&plan);
    mpq_clear (q);
}

static void cash_present_value__at_8_percent__as_worked (void **state)
{
    mpq_t q;

    (void)state;
    mpq_init (q);
    cash_present_value (n ("3.3"), n ("0.5"), n ("8%"), 3, q);
    check (q, 2, "4.59");
    cash_present_value (n ("0"), n ("4.7"), n ("8%"), 3, q);
    check (q, 2, "12.11");
    cash_present_value (n ("3.3"), n ("0.5"), n ("0"), 3, q);
    check (q, 2, "4.80");
    mpq_clear (q);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (decision__a_year_and_hours__break_even),
        cmocka_unit_test (decision__an_overhead_ratio__gives_cost_and_break_even),
        cmocka_unit_test (decision__interruptions__cost_what_was_bought),
        cmocka_unit_test (decision__the_other_formulas__as_worked),
        cmocka_unit_test (decision_capacity__demand__becomes_whole_nodes),
        cmocka_unit_test (decision_trend__of_lines_and_others__goes_on),
        cmocka_unit_test (reserve__ten_days__28_pay),
        cmocka_unit_test (
            reserve_size__use_equals_the_price_ratio__does_not_pay),
        cmocka_unit_test (reserve_size__any_demand__is_the_cheapest),
        cmocka_unit_test (cash__of_the_pitch__both_conventions),
        cmocka_unit_test (cash_payback__after_the_first_year__counts_operation),
        cmocka_unit_test (cash_present_value__at_8_percent__as_worked),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
