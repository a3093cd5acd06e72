#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis_private.h"
#include "planning/cash.h"
#include "planning/decision.h"

static const analysis_unit_t money = {"", true, -1};
static const analysis_unit_t money_per_year = {"per GPU-year", true, -1};
static const analysis_unit_t money_per_hour = {"per GPU-hour", true, 4};
static const analysis_unit_t percent = {"%", false, 2};
static const analysis_unit_t times = {"times", false, 4};
static const analysis_unit_t per_hour = {"per hour", false, 4};
static const analysis_unit_t lost = {"GPU-hours per GPU-hour", false, 4};
static const analysis_unit_t gpu_hours = {"GPU-hours", false, 2};
static const analysis_unit_t work = {"GPU-hours a day", false, 2};
static const analysis_unit_t gb = {"GB", false, 2};
static const analysis_unit_t gib = {"GiB", false, 2};
static const analysis_unit_t months = {"months", false, 2};

/* --- figures ------------------------------------------------------------ */

static analysis_figure_t *add (analysis_t *a, const char *name, const char *how,
                               analysis_unit_t unit)
{
    analysis_figure_t *figure = &a->figure[a->figure_count++];

    *figure = (analysis_figure_t){.name = name, .how = how, .unit = unit};
    mpq_init (figure->value);
    return figure;
}

static void put (analysis_t *a, const char *name, const char *how,
                 analysis_unit_t unit, mpq_srcptr value)
{
    mpq_set (add (a, name, how, unit)->value, value);
}

static void put_percent (analysis_t *a, const char *name, const char *how,
                         mpq_srcptr ratio)
{
    analysis_figure_t *figure = add (a, name, how, percent);

    exact_add_scaled (figure->value, ratio, 100, 1);
}

static mpq_srcptr in (const analysis_t *a, analysis_number_t input)
{
    return a->input[input].value;
}

static bool has (const analysis_t *a, analysis_number_t input)
{
    return a->input[input].used;
}

/* --- F7 ----------------------------------------------------------------- */

static void overhead (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t share, year, hours, q;

    mpq_inits (share, year, hours, q, NULL);
    mpq_set_ui (hours, ANALYSIS_HOURS_OF_YEAR, 1);
    mpq_set (share, in (a, INPUT_OVERHEAD));
    if (entry->overhead_of == OVERHEAD_OF_DEPRECIATION)
        mpq_div (share, share, in (a, INPUT_YEARS));
    mpq_div (q, in (a, INPUT_PURCHASE), in (a, INPUT_GPUS));
    decision_overhead_cost (year, q, in (a, INPUT_YEARS), share);
    put (a, "cost of a year",
         entry->overhead_of == OVERHEAD_OF_DEPRECIATION
             ? "purchase / gpus x (1 / years + overhead / years)"
             : "purchase / gpus x (1 / years + overhead)",
         money_per_year, year);
    mpq_set_ui (q, 1, 1);
    decision_per_hour (q, year, hours, q);
    put (a, "cost of an hour, always busy", "cost of a year / 8760",
         money_per_hour, q);
    decision_per_hour (q, year, hours, in (a, INPUT_UTILIZATION));
    put (a, "cost of a productive hour", "cost of a year / (8760 utilization)",
         money_per_hour, q);
    if (has (a, INPUT_AGAINST)) {
        decision_breakeven (q, year, NULL, in (a, INPUT_AGAINST), hours);
        if (a->input[INPUT_AGAINST].committed)
            put (a, "owning for each 1 of renting",
                 "cost of a year / (8760 against): a term is paid around the "
                 "clock",
                 times, q);
    }
    if (has (a, INPUT_AGAINST) && !a->input[INPUT_AGAINST].committed) {
        put_percent (a, "break-even utilization",
                     "cost of a year / (8760 against)", q);
        mpq_div (q, q, in (a, INPUT_UTILIZATION));
        put (a, "owning for each 1 of renting",
             "break-even utilization / utilization", times, q);
    }
    mpq_clears (share, year, hours, q, NULL);
}

/* --- F8 ----------------------------------------------------------------- */

static void loss_of (const analysis_t *a, bool at_worst, mpq_t ret_ratio)
{
    decision_interruption_loss (ret_ratio, in (a, INPUT_INTERRUPTIONS),
                                in (a, INPUT_CHECKPOINT),
                                in (a, INPUT_RESTART), at_worst);
}

/* 1 - price / against, in percent. */
static void put_saving (analysis_t *a, const char *name, mpq_srcptr price)
{
    mpq_t q;

    mpq_init (q);
    mpq_sub (q, in (a, INPUT_AGAINST), price);
    mpq_div (q, q, in (a, INPUT_AGAINST));
    put_percent (a, name, "1 - effective price / against", q);
    mpq_clear (q);
}

/* The rate of interruptions at which both cost the same. */
static void put_breakeven (analysis_t *a)
{
    analysis_figure_t *figure;
    mpq_t loss, each;

    mpq_inits (loss, each, NULL);
    decision_breakeven_loss (loss, in (a, INPUT_PRICE), in (a, INPUT_AGAINST));
    mpq_div_2exp (each, in (a, INPUT_CHECKPOINT), 1);
    mpq_add (each, each, in (a, INPUT_RESTART));
    figure = add (a, "break-even interruptions",
                  "(against / price - 1) / (checkpoint_hours / 2 + "
                  "restart_hours)",
                  per_hour);
    figure->never = mpq_sgn (loss) <= 0;
    if (!figure->never)
        mpq_div (figure->value, loss, each);
    mpq_clears (loss, each, NULL);
}

static void interruptible (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t expected, worst, q;

    (void)entry;
    mpq_inits (expected, worst, q, NULL);
    loss_of (a, false, expected);
    loss_of (a, true, worst);
    put (a, "expected loss",
         "interruptions_per_hour (checkpoint_hours / 2 + restart_hours)", lost,
         expected);
    put (a, "loss at worst",
         "interruptions_per_hour (checkpoint_hours + restart_hours)", lost,
         worst);
    decision_effective_price (q, in (a, INPUT_PRICE), expected);
    put (a, "effective price", "price (1 + expected loss)", money_per_hour, q);
    if (has (a, INPUT_AGAINST))
        put_saving (a, "saving", q);
    decision_effective_price (q, in (a, INPUT_PRICE), worst);
    put (a, "effective price at worst", "price (1 + loss at worst)",
         money_per_hour, q);
    if (has (a, INPUT_AGAINST)) {
        put_saving (a, "saving at worst", q);
        put_breakeven (a);
    }
    mpq_clears (expected, worst, q, NULL);
}

/* --- F10 ---------------------------------------------------------------- */

static void egress (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t q, year;

    (void)entry;
    mpq_inits (q, year, NULL);
    mpq_mul (q, in (a, INPUT_GB_PER_DAY), in (a, INPUT_DAYS));
    put (a, "traffic", "gb_per_day days", gb, q);
    decision_egress (q, in (a, INPUT_GB_PER_DAY), in (a, INPUT_DAYS),
                     in (a, INPUT_PER_GB));
    put (a, "cost", "gb_per_day days per_gb", money, q);
    mpq_set_ui (year, 365, 1);
    decision_egress (q, in (a, INPUT_GB_PER_DAY), year, in (a, INPUT_PER_GB));
    put (a, "cost of a year", "gb_per_day 365 per_gb", money, q);
    mpq_clears (q, year, NULL);
}

/* --- F12 ---------------------------------------------------------------- */

static void scaling (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t q;

    (void)entry;
    mpq_init (q);
    decision_scaling_efficiency (q, in (a, INPUT_SPEED), in (a, INPUT_GPUS));
    a->poor = decision_scaling_is_poor (q);
    put_percent (a, "efficiency", "speed / gpus", q);
    mpq_inv (q, q);
    put (a, "cost of the same work", "1 / efficiency", times, q);
    mpq_clear (q);
}

/* --- F13 ---------------------------------------------------------------- */

static void newer_gpu (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t q;

    (void)entry;
    mpq_init (q);
    mpq_set_ui (q, 1, 1);
    decision_run_cost (q, in (a, INPUT_PRICE), in (a, INPUT_AGAINST), q);
    put (a, "break-even speed", "price / against", times, q);
    if (has (a, INPUT_SPEED)) {
        decision_run_cost (q, in (a, INPUT_PRICE), in (a, INPUT_AGAINST),
                           in (a, INPUT_SPEED));
        put (a, "cost of the same run", "price / against / speed", times, q);
    }
    mpq_clear (q);
}

/* --- F14 ---------------------------------------------------------------- */

static void put_memory (analysis_t *a, const char *name, const char *how,
                        const char *each, mpq_srcptr value)
{
    mpq_t q;

    mpq_init (q);
    put (a, name, how, gb, value);
    decision_gib (q, value);
    put (a, name, "GB x 10^9 / 2^30", gib, q);
    mpq_div (q, value, in (a, INPUT_GPUS));
    put (a, each, "GB / gpus", gb, q);
    mpq_clear (q);
}

static void memory (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t q;

    (void)entry;
    mpq_init (q);
    mpq_mul (q, in (a, INPUT_PARAMETERS), in (a, INPUT_BYTES));
    put (a, "weights", "parameters_billion bytes_per_parameter", gb, q);
    decision_serving_memory (q, in (a, INPUT_PARAMETERS), in (a, INPUT_BYTES),
                             in (a, INPUT_CACHE));
    put_memory (a, "to serve", "weights cache_factor", "to serve, on each GPU",
                q);
    decision_training_memory (q, in (a, INPUT_PARAMETERS), in (a, INPUT_BYTES));
    put_memory (a, "to train",
                "parameters_billion (2 bytes_per_parameter + 8)",
                "to train, on each GPU", q);
    mpq_clear (q);
}

/* --- a run, before it starts -------------------------------------------- */

/* gpu_hours (1 + loss) / efficiency. */
static void hours_to_buy (const analysis_t *a, mpq_t ret_hours)
{
    mpq_t q;

    mpq_init (q);
    if (has (a, INPUT_INTERRUPTIONS))
        loss_of (a, false, q);
    decision_effective_price (ret_hours, in (a, INPUT_GPU_HOURS), q);
    if (has (a, INPUT_SPEED)) {
        decision_scaling_efficiency (q, in (a, INPUT_SPEED),
                                     in (a, INPUT_GPUS));
        mpq_div (ret_hours, ret_hours, q);
    }
    mpq_clear (q);
}

static void run (const site_analysis_t *entry, analysis_t *a)
{
    mpq_t q, sum;

    (void)entry;
    mpq_inits (q, sum, NULL);
    hours_to_buy (a, q);
    put (a, "hours to buy",
         "gpu_hours (1 + interruptions_per_hour (checkpoint_hours / 2 + "
         "restart_hours)) / (speed / gpus)",
         gpu_hours, q);
    mpq_mul (q, q, in (a, INPUT_PRICE));
    put (a, "computing", "hours to buy x price", money, q);
    mpq_add (sum, q, in (a, INPUT_STORAGE));
    if (has (a, INPUT_GB_PER_DAY)) {
        decision_egress (q, in (a, INPUT_GB_PER_DAY), in (a, INPUT_DAYS),
                         in (a, INPUT_PER_GB));
        put (a, "egress", "gb_per_day days per_gb", money, q);
        mpq_add (sum, sum, q);
    }
    put (a, "cost of the run", "computing + storage + egress", money, sum);
    mpq_clears (q, sum, NULL);
}

/* --- F16 ---------------------------------------------------------------- */

static uint32_t whole (mpq_srcptr value)
{
    return (uint32_t)mpz_get_ui (mpq_numref (value));
}

/* The day one of the plan pays the operation of prepaid_months, too. */
static void plan_of (const analysis_t *a, cash_plan_t *plan)
{
    cash_plan_init (plan);
    plan->prepaid_months = whole (in (a, INPUT_PREPAID));
    exact_add_scaled (plan->own_per_month, in (a, INPUT_PER_YEAR), 1, 12);
    exact_add_scaled (plan->rent_per_month, in (a, INPUT_RENT), 1, 12);
    mpq_set (plan->first_day, in (a, INPUT_PURCHASE));
    exact_add_scaled (plan->first_day, plan->own_per_month,
                      plan->prepaid_months, 1);
}

static void put_year (analysis_t *a, const char *what, const char *how,
                      uint32_t year, mpq_srcptr value)
{
    put (a, what, how, money, value);
    a->figure[a->figure_count - 1].label
        = xasprintf ("%s after %u year%s", what, year, year == 1 ? "" : "s");
}

static void put_years (analysis_t *a, const cash_plan_t *plan)
{
    uint32_t years = whole (in (a, INPUT_YEARS));
    const uint32_t shown[] = {1, 3, 5};
    mpq_t q;

    mpq_init (q);
    for (size_t i = 0; i < GL_ARRAY_SIZE (shown); i++) {
        if (shown[i] >= years)
            break;
        cash_saving (plan, 12 * shown[i], q);
        put_year (a, "saving", "rented - owned", shown[i], q);
    }
    cash_own (plan, 12 * years, q);
    put_year (a, "owned", "purchase + per_year x years", years, q);
    cash_rent (plan, 12 * years, q);
    put_year (a, "rented", "rent_per_year x years", years, q);
    cash_saving (plan, 12 * years, q);
    put_year (a, "saving", "rented - owned", years, q);
    mpq_clear (q);
}

static void put_present (analysis_t *a)
{
    static const char how[]
        = "first day + a year / (1 + discount) + a year / (1 + discount)^2 ...";
    uint32_t years = whole (in (a, INPUT_YEARS));
    mpq_t own, rent, none;

    mpq_inits (own, rent, none, NULL);
    cash_present_value (in (a, INPUT_PURCHASE), in (a, INPUT_PER_YEAR),
                        in (a, INPUT_DISCOUNT), years, own);
    cash_present_value (none, in (a, INPUT_RENT), in (a, INPUT_DISCOUNT), years,
                        rent);
    put (a, "owned, present value", how, money, own);
    put (a, "rented, present value", how, money, rent);
    mpq_sub (rent, rent, own);
    put (a, "saving, present value", "rented - owned", money, rent);
    mpq_clears (own, rent, none, NULL);
}

/* A price and what is owned say what renting the same work costs. */
static void put_rent (analysis_t *a)
{
    analysis_input_value_t *rent = &a->input[INPUT_RENT];

    mpq_mul (rent->value, in (a, INPUT_GPUS), in (a, INPUT_AGAINST));
    exact_set_i64 (a->work_rented, ANALYSIS_HOURS_OF_YEAR, 1);
    mpq_mul (rent->value, rent->value, a->work_rented);
    if (a->input[INPUT_AGAINST].committed) {
        put (a, "rented for a year",
             "gpus x 8760 x against: a term is paid around the clock", money,
             rent->value);
        return;
    }
    mpq_mul (rent->value, rent->value, in (a, INPUT_UTILIZATION));
    put (a, "rented for a year", "gpus x 8760 x utilization x against", money,
         rent->value);
}

/* What is compared: who rents for more work than is owned, or for less, compares
 * two things. */
static void put_work (analysis_t *a)
{
    bool committed = a->input[INPUT_AGAINST].committed;
    mpq_t most;

    exact_set_i64 (a->work_owned, 24, 1);
    mpq_mul (a->work_owned, a->work_owned, in (a, INPUT_GPUS));
    mpq_mul (a->work_owned, a->work_owned, in (a, INPUT_UTILIZATION));
    put (a, "work of what is owned", "gpus x 24 x utilization", work,
         a->work_owned);
    mpq_div (a->work_rented, in (a, INPUT_RENT), in (a, INPUT_AGAINST));
    if (committed)
        mpq_mul (a->work_rented, a->work_rented, in (a, INPUT_UTILIZATION));
    mpq_init (most);
    exact_set_i64 (most, 24, ANALYSIS_HOURS_OF_YEAR);
    mpq_mul (a->work_rented, a->work_rented, most);
    put (a, "work of what is rented",
         committed ? "rent_per_year / against / 365 x utilization: a term is "
                     "paid around the clock"
                   : "rent_per_year / against / 365",
         work, a->work_rented);
    mpq_sub (most, a->work_owned, a->work_rented);
    mpq_abs (most, most);
    exact_add_scaled (most, most, 99, 1); /* 100 times the difference */
    a->unequal = mpq_cmp (most, a->work_owned) > 0
                 && mpq_cmp (most, a->work_rented) > 0;
    mpq_clear (most);
}

static void cash (const site_analysis_t *entry, analysis_t *a)
{
    analysis_figure_t *figure;
    cash_plan_t plan;

    (void)entry;
    if (!has (a, INPUT_RENT))
        put_rent (a);
    if (has (a, INPUT_AGAINST))
        put_work (a);
    plan_of (a, &plan);
    put_years (a, &plan);
    figure = add (a, "payback", "first month with rented >= owned", months);
    figure->never = !cash_payback (&plan, figure->value);
    if (has (a, INPUT_DISCOUNT))
        put_present (a);
    cash_plan_clear (&plan);
}

/* --- the table ---------------------------------------------------------- */

#define B(input) ANALYSIS_BIT (INPUT_##input)
#define INTERRUPTED (B (INTERRUPTIONS) | B (CHECKPOINT))

static const analysis_spec_t specs[] = {
    [ANALYSIS_OVERHEAD] = {
        "overhead", "Owning, of which only the price is known",
        "what the overhead does not hold; storage, egress and resale. Where the "
        "costs are known one by one, report breakeven says more",
        B (PURCHASE) | B (YEARS) | B (OVERHEAD),
        B (GPUS) | B (UTILIZATION) | B (AGAINST), {0, 0}, overhead},
    [ANALYSIS_INTERRUPTIBLE] = {
        "interruptible", "Capacity that may be taken away",
        "waiting until there is capacity again, and work that cannot restart",
        B (PRICE) | INTERRUPTED, B (RESTART) | B (AGAINST), {0, 0},
        interruptible},
    [ANALYSIS_EGRESS] = {
        "egress", "Traffic out of a cloud",
        "tiers by volume and free allowances: one price for every GB of 10^9 "
        "bytes",
        B (GB_PER_DAY) | B (PER_GB), B (DAYS), {0, 0}, egress},
    [ANALYSIS_SCALING] = {
        "scaling", "One run on more GPUs",
        "what an earlier result is worth", B (SPEED) | B (GPUS), 0, {0, 0},
        scaling},
    [ANALYSIS_NEWER_GPU] = {
        "newer-gpu", "The same run on another GPU",
        "porting it, memory that one of them lacks, and what an earlier result "
        "is worth",
        B (PRICE) | B (AGAINST), B (SPEED), {0, 0}, newer_gpu},
    [ANALYSIS_MEMORY] = {
        "memory", "Memory that a model needs",
        "activations, which grow with batch and sequence, and fragmentation. GB "
        "are 10^9 bytes",
        B (PARAMETERS) | B (BYTES), B (CACHE) | B (GPUS), {0, 0}, memory},
    [ANALYSIS_RUN] = {
        "run", "What a run costs before it starts",
        "failed attempts, people, and time in the queue",
        B (GPU_HOURS) | B (PRICE),
        B (SPEED) | B (GPUS) | INTERRUPTED | B (RESTART) | B (GB_PER_DAY)
            | B (PER_GB) | B (DAYS) | B (STORAGE),
        {INTERRUPTED, B (GB_PER_DAY) | B (PER_GB)}, run},
    [ANALYSIS_CASH] = {
        "cash", "Cash over the years",
        "resale, disposal, and prices that change: every year costs the same; "
        "and whether both sides do the same work, where `gpus` and `against` do "
        "not say it",
        B (PURCHASE) | B (YEARS),
        B (RENT) | B (PER_YEAR) | B (PREPAID) | B (DISCOUNT) | B (GPUS)
            | B (AGAINST) | B (UTILIZATION),
        {B (GPUS) | B (AGAINST), 0}, cash},
};

const analysis_spec_t *analysis_spec (int kind)
{
    return &specs[kind];
}
