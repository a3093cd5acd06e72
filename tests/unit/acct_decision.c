/* The formulas F5 to F16 on the worked examples of docs/guides/decisions.md. */
#include "support/test.h"

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/formula.h"
#include "planning/mix.h"
#include "site/site.h"

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

/* Steps of the table, as the guide works them out; "" is a value that there is none
 * of. */
TEST_CASE (formulas__of_the_guide__as_worked)
{
    static const struct {
        const char *formula, *step;
        int digits;
        const char *expected;
        const char *inputs[7][2];
    } rows[] = {
#define A {"per_gpu_year", "24906.24"}, {"hours", "8760"}
        {"hour", "hour", 4, "7.1079", {A, {"utilization", "0.4"}}},
        {"breakeven",
         "breakeven",
         4,
         "0.5416",
         {A, {"utilization", "0.8"}, {"price", "5.25"}, {"term", "0"}}},
        {"breakeven",
         "rent",
         2,
         "36792.00",
         {A, {"utilization", "0.8"}, {"price", "5.25"}, {"term", "0"}}},
        {"breakeven",
         "rent",
         2,
         "45990.00",
         {A, {"utilization", "0.8"}, {"price", "5.25"}, {"term", "1"}}},
        {"breakeven",
         "breakeven",
         4,
         "",
         {A, {"utilization", "0.8"}, {"price", "0"}, {"term", "0"}}},
#define O {"amount", "0.10"}, {"share", "0.5"}, {"gpus", "64"}, \
          {"hours", "8760"}, {"utilization", "0.8"}, {"kwh", "1000"}
        {"other", "used_hours", 2, "22425.60", {O}},
        {"other", "all_hours", 2, "28032.00", {O}},
        {"other", "months", 2, "0.60", {O}},
        {"other", "year", 2, "0.05", {O}},
        {"other", "energy", 2, "50.00", {O}},
#define E {"watts", "35840"}, {"hours", "8760"}, {"pue", "1.3"}, \
          {"per_kwh", "0.10"}, {"demand_per_kw", "4"}, \
          {"fixed_per_month", "100"}, {"share", "0.25"}
        {"energy", "power", 2, "40814.59", {E}},
        {"energy", "demand", 2, "2236.42", {E}},
        {"energy", "fee", 2, "300.00", {E}},
#define P {"purchase", "100000"}, {"years", "3"}, {"overhead", "0.5"}, \
          {"gpus", "1"}, {"of_depreciation", "0"}
        {"overhead", "year", 2, "83333.33", {P}},
        {"overhead", "year", 2, "20833.33", {P, {"gpus", "4"}}},
        {"overhead",
         "year",
         2,
         "12500.00",
         {P, {"gpus", "4"}, {"of_depreciation", "1"}}},
        {"overhead",
         "owning",
         4,
         "0.3886",
         {P, {"against", "24.48"}, {"term", "1"}}},
        {"overhead", "busy", 4, "9.5129", {P}},
        {"overhead", "hour", 4, "95.1294", {P, {"utilization", "0.10"}}},
        {"overhead",
         "breakeven",
         4,
         "0.3886",
         {P, {"against", "24.48"}, {"term", "0"}}},
#define I {"price", "3.687"}, {"interruptions_per_hour", "0.02"}, \
          {"checkpoint_hours", "0.5"}
        {"interruptible", "loss", 4, "0.0050", {I}},
        {"interruptible", "loss", 4, "0.0070", {I, {"restart_hours", "0.1"}}},
        {"interruptible", "worst", 4, "0.0100", {I}},
        {"interruptible", "worst", 4, "0.0120", {I, {"restart_hours", "0.1"}}},
        {"interruptible",
         "breakeven",
         4,
         "6.6667",
         {I, {"against", "12.29"}, {"restart_hours", "0.1"}}},
        {"interruptible", "effective_worst", 4, "3.7239", {I}},
        {"interruptible",
         "breakeven_loss",
         4,
         "2.3333",
         {I, {"against", "12.29"}}},
        {"interruptible", "breakeven", 4, "9.3333", {I, {"against", "12.29"}}},
        {"interruptible", "breakeven", 4, "", {I, {"against", "3.687"}}},
        {"interruptible",
         "saving_worst",
         3,
         "0.697",
         {I, {"against", "12.29"}}},
        {"egress",
         "cost",
         2,
         "675.00",
         {{"gb_per_day", "250"}, {"days", "30"}, {"per_gb", "0.09"}}},
        {"use",
         "effective",
         2,
         "0.30",
         {{"allocated", "0.75"},
          {"capacity", "1"},
          {"active", "0.4"},
          {"known", "1"},
          {"down", "0"}}},
        {"scaling", "efficiency", 2, "0.75", {{"speed", "6"}, {"gpus", "8"}}},
        {"scaling", "poor", 0, "0", {{"speed", "6"}, {"gpus", "8"}}},
        {"scaling", "poor", 0, "0", {{"speed", "6"}, {"gpus", "10"}}},
        {"scaling", "poor", 0, "1", {{"speed", "5.99"}, {"gpus", "10"}}},
#define N {"price", "6.88"}, {"against", "2.7447"}, {"speed", "2.2"}
        {"newer-gpu", "run", 4, "1.1394", {N}},
        {"newer-gpu", "breakeven", 4, "2.5066", {N}},
#define M {"parameters_billion", "7"}, {"gpus", "1"}, {"cache_factor", "1.3"}
        {"memory", "serve", 1, "18.2", {M, {"bytes_per_parameter", "2"}}},
        {"memory", "serve", 2, "4.55", {M, {"bytes_per_parameter", "0.5"}}},
        {"memory", "train", 0, "84", {M, {"bytes_per_parameter", "2"}}},
        {"memory", "train", 0, "63", {M, {"bytes_per_parameter", "0.5"}}},
        {"memory", "train_gib", 1, "78.2", {M, {"bytes_per_parameter", "2"}}},
#define D {"utilization", "0.80"}, {"gpus_per_node", "8"}
        {"capacity",
         "exact",
         2,
         "131.58",
         {D,
          {"gpu_hours_per_day", "2400"},
          {"downtime", "0.05"},
          {"spares", "0.1"}}},
        {"capacity",
         "exact_spare",
         2,
         "144.74",
         {D,
          {"gpu_hours_per_day", "2400"},
          {"downtime", "0.05"},
          {"spares", "0.1"}}},
        {"capacity",
         "nodes",
         0,
         "19",
         {D,
          {"gpu_hours_per_day", "2400"},
          {"downtime", "0.05"},
          {"spares", "0.1"}}},
        {"capacity",
         "nodes",
         0,
         "10", /* 80 GPUs exactly */
         {D, {"gpu_hours_per_day", "1536"}, {"downtime", "0"}, {"spares", "0"}}},
        {"capacity",
         "nodes",
         0,
         "",
         {D, {"gpu_hours_per_day", "1536"}, {"downtime", "1"}, {"spares", "0"}}},
#define G {"price", "3.554"}, {"against", "5.25"}, {"speed", "2.2"}, \
          {"new_price", "6.88"}, {"months", "18"}
        {"generation", "rented", 4, "3.7641", {G, {"years", "5"}}},
        {"generation", "breakeven", 4, "2.4336", {G, {"years", "5"}}},
        {"generation", "breakeven", 4, "", {G, {"years", "1"}}},
        {"generation", "ratio", 4, "0.6770", {G, {"years", "1"}}},
#define C {"years", "3"}, {"purchase", "3300000"}, {"rent_per_year", "4700000"}
        {"cash", "payback", 2, "9.43", {C, {"per_year", "500000"}}},
        {"cash",
         "payback",
         2,
         "9.70",
         {C, {"per_year", "500000"}, {"prepaid_months", "12"}}},
        {"cash", "payback", 2, "", {C, {"per_year", "4700000"}}},
        {"cash", "saving", 0, "9300000", {C, {"per_year", "500000"}}},
        {"cash",
         "saving_1",
         0,
         "900000",
         {C, {"per_year", "500000"}, {"prepaid_months", "12"}}},
        {"cash", "payback", 2, "", {C, {"per_year", "5000000"}}},
        {"cash", "saving_3", 0, "", {C, {"per_year", "500000"}}},
        {"cash",
         "saving_3",
         0,
         "9300000",
         {C, {"per_year", "500000"}, {"years", "5"}}},
        /* after what was paid in advance: operation counts again */
        {"cash",
         "payback",
         2,
         "28.00",
         {{"years", "3"},
          {"purchase", "1400"},
          {"rent_per_year", "1200"},
          {"per_year", "600"},
          {"prepaid_months", "12"}}},
        {"cash",
         "owned_now",
         2,
         "4588548.49",
         {C, {"per_year", "500000"}, {"discount", "8%"}}},
        {"cash",
         "rented_now",
         2,
         "12112355.84",
         {C, {"per_year", "500000"}, {"discount", "8%"}}},
#define W {"years", "3"}, {"purchase", "1"}, {"gpus", "80"}, \
          {"utilization", "0.5"}, {"against", "4.096575"}
        {"cash", "rent_per_year", 2, "1435439.88", {W, {"term", "0"}}},
        {"cash", "rent_per_year", 2, "2870879.76", {W, {"term", "1"}}},
        {"cash", "owned_work", 0, "960", {W, {"term", "0"}}},
        {"cash",
         "rented_work",
         2,
         "3143.29",
         {W, {"term", "0"}, {"rent_per_year", "4700000"}}},
        {"cash",
         "rented_work",
         2,
         "1571.64",
         {W, {"term", "1"}, {"rent_per_year", "4700000"}}},
        /* 70,080 hours: more than a hundredth of the larger one on either side */
#define U {"years", "3"}, {"purchase", "1"}, {"gpus", "10"}, \
          {"utilization", "0.8"}, {"against", "1"}, {"term", "0"}
        {"cash", "unequal", 0, "0", {U, {"rent_per_year", "70787"}}},
        {"cash", "unequal", 0, "1", {U, {"rent_per_year", "70789"}}},
        {"cash", "unequal", 0, "0", {U, {"rent_per_year", "69380"}}},
        {"cash", "unequal", 0, "1", {U, {"rent_per_year", "69379"}}},
        {"cash",
         "owned_now",
         2,
         "10997158.78", /* 100 years */
         {{"years", "100"},
          {"purchase", "4750000"},
          {"rent_per_year", "1"},
          {"per_year", "500000"},
          {"discount", "8%"}}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        GL_AUTOFREE char *text = NULL;
        mpq_srcptr value;
        values_t v;
        values_init (&v);
        for (size_t k = 0; k < 7 && rows[i].inputs[k][0]; k++)
            values_set_text (&v, rows[i].inputs[k][0], rows[i].inputs[k][1]);
        formula_solve (formula_named (rows[i].formula), &v, NULL);
        value = values_get (&v, rows[i].step);
        text = value ? exact_text (value, rows[i].digits) : xstrdup ("");
        if (strcmp (text, rows[i].expected) != 0)
            fail_msg ("row %zu: %s, %s: %s, not %s", i, rows[i].formula,
                      rows[i].step, text, rows[i].expected);
        values_clear (&v);
    }
}

/* Every step of every formula has a value where its inputs are there: no name in an
 * expression is misspelt. */
TEST_CASE (formulas__of_the_table__name_what_there_is)
{
    static const char *const ratios[] = {"down", "share", "active", "downtime"};
    /* those of lists, and those that are not numbers */
    static const char *const others[]
        = {"floor_gpus", "mean_gpus", "spot_gpus", "on_demand_gpus",
           "cost_less",  "cost_more", "recompute", "batch"};

    for (size_t i = 0; formula_at (i); i++) {
        const formula_t *f = formula_at (i);
        const step_t *made[FORMULA_STEPS];
        size_t count;
        values_t v;
        values_init (&v);
        for (size_t k = 0; k < GL_ARRAY_SIZE (f->needs) && f->needs[k]; k++)
            values_set_text (&v, f->needs[k], "4");
        for (size_t k = 0; k < GL_ARRAY_SIZE (f->takes) && f->takes[k]; k++)
            values_set_text (&v, f->takes[k], "9");
        for (size_t k = 0; k < GL_ARRAY_SIZE (ratios); k++)
            values_set_text (&v, ratios[k], "0.5");
        for (size_t k = 0; k < GL_ARRAY_SIZE (others); k++)
            values_set_text (&v, others[k], "1");
        values_set_text (&v, "against", "9");
        for (int term = 0; term < 2; term++) {
            values_set_i64 (&v, "term", term);
            values_set_i64 (&v, "of_depreciation", term);
            values_set_i64 (&v, "gpus", 4);
            values_set_i64 (&v, "price", 4);
            count = formula_solve (f, &v, made);
            assert_true (count > 0);
            for (size_t k = 0; k < count; k++)
                if (!values_get (&v, made[k]->id)
                    && strcmp (made[k]->id, "payback") != 0)
                    fail_msg ("%s: %s = %s", f->name, made[k]->id,
                              made[k]->value);
        }
        values_clear (&v);
    }
}

/* 10, 12, 14 grow by 2; 1, 2, 2, 3 by 0.6 (least squares, by hand: mean 2, the
 * middle at 1.5, 0.6 x 1.5 above it at the last). */
TEST_CASE (demand_trend__of_lines_and_others__goes_on)
{
    mpq_t values[4], q;

    mpq_init (q);
    for (size_t i = 0; i < 4; i++)
        mpq_init (values[i]);
    for (unsigned long i = 0; i < 3; i++)
        mpq_set_ui (values[i], 10 + 2 * i, 1);
    curve_trend (q, values, 3, 0);
    check (q, 2, "14.00");
    curve_trend (q, values, 3, 12);
    check (q, 2, "38.00");
    mpq_set_ui (values[0], 1, 1);
    mpq_set_ui (values[1], 2, 1);
    mpq_set_ui (values[2], 2, 1);
    mpq_set_ui (values[3], 3, 1);
    curve_trend (q, values, 4, 0);
    check (q, 2, "2.90");
    curve_trend (q, values, 4, 10);
    check (q, 2, "8.90");
    for (size_t i = 0; i < 4; i++)
        mpq_clear (values[i]);
    mpq_clear (q);
}

/* ---- F9 ---- */

static void make_demand (curve_t *demand, const char *const *texts,
                         size_t count)
{
    mpq_t *gpus = xcalloc (count, sizeof (*gpus));

    for (size_t i = 0; i < count; i++) {
        mpq_init (gpus[i]);
        mpq_set (gpus[i], n (texts[i]));
    }
    curve_init (demand, gpus, count);
    GL_FREE_EACH (gpus, count, it, mpq_clear (*it));
}

static const char *const ten_days[]
    = {"16", "20", "20", "24", "24", "28", "30", "32", "32", "40"};

TEST_CASE (mix__ten_days__28_pay)
{
    static const struct {
        uint64_t owned;
        const char *per_day;
    } costs[] = {{28, "4176.91"}, {24, "4262.83"}, {30, "4192.94"}};
    const mix_prices_t prices = {.owned = n ("5.25"),
                                 .rented = n ("12.29"),
                                 .available = n ("1"),
                                 .interruptible = n ("0"),
                                 .step = 1};
    curve_t demand;
    mix_t mix;
    mpq_t q;

    mpq_init (q);
    mix_init (&mix);
    make_demand (&demand, ten_days, 10);
    mix_best (&demand, &prices, &mix);
    assert_int_equal (mix.owned, 28);
    for (size_t i = 0; i < GL_ARRAY_SIZE (costs); i++) {
        mix_at (&demand, &prices, costs[i].owned, 0, &mix);
        mpq_set_ui (q, 0, 1);
        exact_add_scaled (q, mix.per_hour, 24, 1);
        check (q, 2, costs[i].per_day);
    }
    curve_clear (&demand);
    mix_clear (&mix);
    mpq_clear (q);
}

/* An owned GPU pays only while it is used for more than the ratio of the prices.
 * Of ten days, seven want 24 GPUs or more and five want 28: at a ratio of exactly
 * 0.7 or 0.5 the GPUs up to that level cost what they save, and are not owned. */
TEST_CASE (mix__use_equals_the_price_ratio__does_not_pay)
{
    static const struct {
        const char *price;
        uint64_t gpus;
    } cases[] = {{"4.9999", 28}, {"5", 24}, {"5.0001", 24}, {"6.9999", 24},
                 {"7", 20},      {"9", 16}, {"9.9999", 16}, {"10", 0},
                 {"0.9999", 40}, {"1", 32}};
    curve_t demand;
    mix_t mix;

    mix_init (&mix);
    make_demand (&demand, ten_days, 10);
    for (size_t i = 0; i < 2 * GL_ARRAY_SIZE (cases); i++) {
        size_t at = i / 2;
        mpq_srcptr price = n (cases[at].price);
        const mix_prices_t prices = {.owned = i % 2 ? price : NULL,
                                     .reserved = i % 2 ? NULL : price,
                                     .rented = n ("10"),
                                     .available = n ("1"),
                                     .interruptible = n ("0"),
                                     .step = 1};
        mix_best (&demand, &prices, &mix);
        if (mix.owned + mix.reserved != cases[at].gpus)
            fail_msg ("at %s of 10: %llu GPUs", cases[at].price,
                      (unsigned long long)(mix.owned + mix.reserved));
    }
    curve_clear (&demand);
    mix_clear (&mix);
}

TEST_CASE (formulas__of_kinds_of_analyses__are_the_first_rows)
{
    static const char *const words[] = {
#define KIND(id, word) word,
#include "site/analysis_kinds.h"
#undef KIND
    };

    assert_int_equal (GL_ARRAY_SIZE (words), ANALYSIS_KINDS);
    for (size_t i = 0; i < ANALYSIS_KINDS; i++) {
        assert_string_equal (formula_at (i)->name, words[i]);
        assert_non_null (formula_at (i)->title);
    }
    assert_null (formula_at (ANALYSIS_KINDS)->title);
}

TEST_MAIN (NULL, NULL)
