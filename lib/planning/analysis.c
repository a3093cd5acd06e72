#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis.h"
#include "planning/analysis_lists.h"
#include "planning/breakeven.h"

/* By analysis_number_t. */
static const struct {
    const char *name; /* of the configuration */
    unit_t unit;
    const char *fallback; /* NULL: none */
    unsigned most;        /* 0: no bound */
    bool whole;
} inputs[] = {
#define INPUT(id, name, type, flags, money, unit, fallback, most, whole, ...) \
    [INPUT_##id] = {name, {unit, money, 0}, fallback, most, whole},
#include "site/analysis_inputs.h"
#undef INPUT
    [INPUT_PRICE] = {"price", {"per GPU-hour", true, 0}, NULL, 0, false},
    [INPUT_AGAINST] = {"against", {"per GPU-hour", true, 0}, NULL, 0, false},
};

static const char *text_of (const site_analysis_t *entry, analysis_number_t i)
{
    return i == INPUT_PRICE ? entry->price : entry->against;
}

static bool is_given (const site_analysis_t *entry, analysis_number_t i)
{
    return i < ANALYSIS_NUMBERS ? mpq_sgn (entry->input[i]) != 0
                                : text_of (entry, i) != NULL;
}

static bool uses (const formula_t *formula, analysis_number_t i)
{
    return formula_lists (formula->needs, inputs[i].name)
           || formula_lists (formula->takes, inputs[i].name);
}

/* ---- checks ---- */

/* Sets of inputs, as bits. */
#define BIT(input) ((uint64_t)1 << (input))
/* The lists that an entry may have, behind the inputs. */
#define TIERS BIT (ANALYSIS_INPUTS)
#define DEMAND BIT (ANALYSIS_INPUTS + 1)

static uint64_t bits (const char *const *names)
{
    uint64_t set = 0;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (formula_lists (names, inputs[i].name))
            set |= BIT (i);
    return set;
}

static int refuse (const site_analysis_t *entry, const char *what,
                   uint64_t names, gl_error_t *error)
{
    BUFFER_AUTO list = BUFFER_INIT;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (names & BIT (i))
            buffer_printf (&list, "%s`%s`", list.length ? ", " : "",
                           inputs[i].name);
    if (names & DEMAND)
        buffer_printf (&list, "%s`demand`", list.length ? ", " : "");
    if (names & TIERS)
        buffer_printf (&list, "%s`per_gb_above`", list.length ? ", " : "");
    return gl_error (error, "%s:%d: analysis '%s' of kind %s %s %s",
                     entry->place.file, entry->place.line, entry->name,
                     formula_at (entry->kind)->name, what, buffer_text (&list));
}

static int check_numbers (const site_analysis_t *entry, gl_error_t *error)
{
    for (size_t i = 0; i < ANALYSIS_NUMBERS; i++) {
        /* cash counts its years one by one */
        bool whole = inputs[i].whole
                     || (i == INPUT_YEARS && entry->kind == ANALYSIS_CASH);
        mpq_srcptr value = entry->input[i];
        if (!inputs[i].most
            || (mpq_cmp_ui (value, inputs[i].most, 1) <= 0
                && (!whole || mpz_cmp_ui (mpq_denref (value), 1) == 0)))
            continue;
        return gl_error (error,
                         "%s:%d: analysis '%s': `%s` must be a %s of at most "
                         "%u",
                         entry->place.file, entry->place.line, entry->name,
                         inputs[i].name, whole ? "whole number" : "number",
                         inputs[i].most);
    }
    return 0;
}

static int check_words (const site_analysis_t *entry, gl_error_t *error)
{
    bool overhead = entry->kind == ANALYSIS_OVERHEAD;

    if (overhead == (entry->overhead_of != OVERHEAD_UNTOLD))
        return 0;
    return gl_error (error,
                     overhead
                         ? "%s:%d: analysis '%s': tell what `overhead` is a "
                           "share of, each year: `overhead_of: purchase`, or "
                           "`overhead_of: depreciation` of one year"
                         : "%s:%d: analysis '%s': `overhead_of` is for the "
                           "kind overhead",
                     entry->place.file, entry->place.line, entry->name);
}

/* What of the inputs needs another one, which is not there. */
static int check_pairs (const site_analysis_t *entry, uint64_t given,
                        gl_error_t *error)
{
    static const struct {
        int kind;
        uint64_t with, without; /* what was given, and what was not */
        const char *what;
        uint64_t names;
    } rules[] = {
        {ANALYSIS_RUN, BIT (INPUT_SPEED), BIT (INPUT_GPUS),
         "with `speed` lacks", BIT (INPUT_GPUS)},
        /* what is rented is an amount, or a price and what is owned */
        {ANALYSIS_CASH, 0, BIT (INPUT_AGAINST) | BIT (INPUT_RENT),
         "needs `against` and `gpus`, or", BIT (INPUT_RENT)},
        {ANALYSIS_CASH, BIT (INPUT_UTILIZATION), BIT (INPUT_AGAINST),
         "with `utilization` lacks", BIT (INPUT_AGAINST) | BIT (INPUT_GPUS)},
        {ANALYSIS_CASH, BIT (INPUT_DISCOUNT) | BIT (INPUT_PREPAID), 0,
         "discounts payments at each year's end: drop", BIT (INPUT_PREPAID)},
        {ANALYSIS_EGRESS, 0, BIT (INPUT_PER_GB) | TIERS, "needs",
         BIT (INPUT_PER_GB)},
        {ANALYSIS_LAYERS, 0, DEMAND, "needs", DEMAND},
        {ANALYSIS_BILL, TIERS, BIT (INPUT_GB_PER_DAY), "lacks",
         BIT (INPUT_GB_PER_DAY)},
        {ANALYSIS_RUN, TIERS, BIT (INPUT_GB_PER_DAY), "lacks",
         BIT (INPUT_GB_PER_DAY)},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rules); i++)
        if (rules[i].kind == entry->kind
            && (given & rules[i].with) == rules[i].with
            && !(given & rules[i].without))
            return refuse (entry, rules[i].what, rules[i].names, error);
    return 0;
}

static int check_lists (const site_analysis_t *entry, gl_error_t *error)
{
    int rc = analysis_check_demand (&entry->demand, error);

    if (rc == 0)
        rc = analysis_check_tiers (&entry->tiers, error);
    return rc == 0 ? 0
                   : gl_error_prefix (error, "%s:%d: analysis '%s'",
                                      entry->place.file, entry->place.line,
                                      entry->name);
}

int analysis_check (const site_analysis_t *entry, gl_error_t *error)
{
    const formula_t *formula = formula_at (entry->kind);
    uint64_t needs = bits (formula->needs), given = 0;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (is_given (entry, i))
            given |= BIT (i);
    given |= (entry->tiers.count ? TIERS : 0) | (entry->demand.count ? DEMAND : 0);
    if (needs & ~given)
        return refuse (entry, "needs", needs & ~given, error);
    needs |= bits (formula->takes);
    if (formula_lists (formula->takes, "tiered_cost"))
        needs |= TIERS;
    if (entry->kind == ANALYSIS_LAYERS)
        needs |= DEMAND;
    if (given & ~needs)
        return refuse (entry, "has nothing to do with", given & ~needs, error);
    if ((given & TIERS) && (given & BIT (INPUT_PER_GB)))
        return refuse (entry, "has `per_gb_above`: drop", BIT (INPUT_PER_GB),
                       error);
    if (given & TIERS)
        given |= BIT (INPUT_PER_GB);
    for (size_t i = 0; i < GL_ARRAY_SIZE (formula->together); i++) {
        uint64_t these = bits (formula->together[i]);
        if ((given & these) && (these & ~given))
            return refuse (entry, "lacks", these & ~given, error);
    }
    if (check_pairs (entry, given, error) < 0
        || check_numbers (entry, error) < 0 || check_lists (entry, error) < 0)
        return -1;
    return check_words (entry, error);
}

/* ---- prices ---- */

/* The latest of that name. */
static const site_cloud_t *find_cloud (const site_t *site, const char *name)
{
    const site_cloud_t *found = NULL;

    for (size_t i = 0; i < site->cloud_count; i++) {
        const site_cloud_t *cloud = &site->clouds[i];
        if (!strcmp (cloud->name, name)
            && (!found || text_compare (cloud->as_of, found->as_of) > 0))
            found = cloud;
    }
    return found;
}

static bool is_pool (const site_t *site, const char *name)
{
    return GL_ANY (site->pools, site->pool_count, it, !strcmp (it->name, name));
}

/* What a productive hour on the owned GPUs of the pool costs. */
static int take_pool (const site_t *site, const char *name, int64_t known,
                      analysis_input_value_t *input, gl_error_t *error)
{
    GL_AUTOFREE char *u = exact_shortest (site->policy.utilization);
    breakeven_t b;

    if (breakeven_of_pool (site, name, breakeven_instant (site, name, known),
                           NULL, &b, error)
        < 0)
        return -1;
    mpq_set (input->value, b.per_hour);
    breakeven_clear (&b);
    if (mpq_sgn (input->value) == 0)
        return gl_error (error,
                         "pool '%s' has no cost; enter it under "
                         "`assets`, `staff`, `power` and `costs`",
                         name);
    input->source = xasprintf ("the cost book: a productive hour of pool "
                               "%s at a utilization of %s",
                               name, u);
    input->as_of = "the cost book";
    return 0;
}

static int take_price (const site_t *site, const site_analysis_t *entry,
                       const char *text, int64_t known,
                       analysis_input_value_t *input, gl_error_t *error)
{
    const site_cloud_t *cloud = find_cloud (site, text);
    gl_error_t no_number;

    if (cloud) {
        mpq_set (input->value, cloud->per_gpu_hour);
        input->committed = breakeven_has_term (cloud);
        input->as_of = cloud->as_of;
        input->source = xasprintf ("%s: %s", cloud->name, cloud->source);
    } else if (is_pool (site, text)) {
        if (take_pool (site, text, known, input, error) < 0)
            return -1;
    } else if (exact_parse (text, input->value, &no_number) == 0) {
        input->as_of = entry->as_of;
        input->source = xstrdup (entry->source);
    } else
        return gl_error (error,
                         "'%s' is not a number, an entry of `clouds` or a "
                         "pool",
                         text);
    if (mpq_sgn (input->value) <= 0)
        return gl_error (error, "'%s' is not a price above 0", text);
    return 0;
}

/* ---- making it ---- */

static void take_number (const site_t *site, const site_analysis_t *entry,
                         analysis_number_t i, analysis_input_value_t *input)
{
    mpq_set (input->value, entry->input[i]);
    if (input->used && input->unit.money) {
        input->as_of = entry->as_of;
        input->source = xstrdup (entry->source);
    }
    if (!input->used && i == INPUT_UTILIZATION)
        mpq_set (input->value, site->policy.utilization);
    else if (!input->used && inputs[i].fallback)
        exact_parse (inputs[i].fallback, input->value, NULL);
    input->fallback = !input->used && mpq_sgn (input->value) != 0;
    input->used = input->used || input->fallback;
}

static int take_input (const site_t *site, const site_analysis_t *entry,
                       int64_t known, analysis_number_t i, analysis_t *a,
                       gl_error_t *error)
{
    analysis_input_value_t *input = &a->input[i];

    input->used = is_given (entry, i);
    if (i < ANALYSIS_NUMBERS)
        take_number (site, entry, i, input);
    else if (input->used
             && take_price (site, entry, text_of (entry, i), known, input,
                            error)
                    < 0)
        return gl_error_prefix (error, "%s:%d: analysis '%s': `%s`",
                                entry->place.file, entry->place.line,
                                entry->name, input->name);
    if (!input->used)
        return 0;
    if (input->unit.money && !input->as_of)
        a->dated = false;
    values_set (&a->values, input->name, input->value);
    return 0;
}

int analysis_make (const site_t *site, const site_analysis_t *entry,
                   int64_t known, analysis_t *a, gl_error_t *error)
{
    /* without a price the amount of work is not known: no defaults of it */
    bool no_work = entry->kind == ANALYSIS_CASH && !entry->against;
    int rc = 0;

    memset (a, 0, sizeof (*a));
    a->formula = formula_at (entry->kind);
    a->dated = true;
    values_init (&a->values);
    for (size_t i = 0; i < ANALYSIS_INPUTS; i++) {
        mpq_init (a->input[i].value);
        a->input[i].name = inputs[i].name;
        a->input[i].unit = inputs[i].unit;
        if (rc == 0 && uses (a->formula, i)
            && !(no_work && (i == INPUT_GPUS || i == INPUT_UTILIZATION)))
            rc = take_input (site, entry, known, i, a, error);
    }
    if (rc < 0) {
        analysis_clear (a);
        return -1;
    }
    values_set_i64 (&a->values, "term", a->input[INPUT_AGAINST].committed);
    values_set_i64 (&a->values, "of_depreciation",
                    entry->overhead_of == OVERHEAD_OF_DEPRECIATION);
    if (entry->tiers.count)
        analysis_take_tiers (&entry->tiers, &a->values);
    if (entry->demand.count)
        analysis_take_demand (&entry->demand, &a->values);
    a->made_count = formula_solve (a->formula, &a->values, a->made);
    return 0;
}

void analysis_clear (analysis_t *a)
{
    for (size_t i = 0; i < ANALYSIS_INPUTS; i++) {
        mpq_clear (a->input[i].value);
        free (a->input[i].source);
    }
    values_clear (&a->values);
}
