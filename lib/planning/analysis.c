#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis_private.h"
#include "planning/breakeven.h"

#define YEARS_MAX 100
#define MONTHS_MAX 1200

/* --- the inputs --------------------------------------------------------- */

#define MONEY(text) {text, true, 0}
#define NUMBER(text) {text, false, 0}

/* By analysis_number_t. */
static const struct {
    const char *name; /* of the configuration */
    analysis_unit_t unit;
    const char *fallback; /* NULL: none */
} inputs[] = {
    [INPUT_PURCHASE] = {"purchase", MONEY (""), NULL},
    [INPUT_YEARS] = {"years", NUMBER ("years"), NULL},
    [INPUT_OVERHEAD] = {"overhead", NUMBER ("of it a year"), NULL},
    [INPUT_UTILIZATION] = {"utilization", NUMBER ("of the hours"), NULL},
    [INPUT_GPUS] = {"gpus", NUMBER ("GPUs"), "1"},
    [INPUT_INTERRUPTIONS] = {"interruptions_per_hour", NUMBER ("per hour"),
                             NULL},
    [INPUT_CHECKPOINT] = {"checkpoint_hours", NUMBER ("hours"), NULL},
    [INPUT_RESTART] = {"restart_hours", NUMBER ("hours"), NULL},
    [INPUT_GB_PER_DAY] = {"gb_per_day", NUMBER ("GB per day"), NULL},
    [INPUT_DAYS] = {"days", NUMBER ("days"), "30"},
    [INPUT_PER_GB] = {"per_gb", MONEY ("per GB"), NULL},
    [INPUT_SPEED] = {"speed", NUMBER ("times"), NULL},
    [INPUT_PARAMETERS] = {"parameters_billion", NUMBER ("10^9"), NULL},
    [INPUT_BYTES] = {"bytes_per_parameter", NUMBER ("bytes"), NULL},
    [INPUT_CACHE] = {"cache_factor", NUMBER ("times"), "1.3"},
    [INPUT_GPU_HOURS] = {"gpu_hours", NUMBER ("GPU-hours"), NULL},
    [INPUT_STORAGE] = {"storage", MONEY (""), NULL},
    [INPUT_PER_YEAR] = {"per_year", MONEY ("per year"), NULL},
    [INPUT_RENT] = {"rent_per_year", MONEY ("per year"), NULL},
    [INPUT_PREPAID] = {"prepaid_months", NUMBER ("months"), NULL},
    [INPUT_DISCOUNT] = {"discount", NUMBER ("a year"), NULL},
    [INPUT_PRICE] = {"price", MONEY ("per GPU-hour"), NULL},
    [INPUT_AGAINST] = {"against", MONEY ("per GPU-hour"), NULL},
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

/* --- checks ------------------------------------------------------------- */

static int refuse (const site_analysis_t *entry, const char *what,
                   unsigned names, gl_error_t *error)
{
    BUFFER_AUTO list = BUFFER_INIT;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (names & ANALYSIS_BIT (i))
            buffer_printf (&list, "%s`%s`", list.length ? ", " : "",
                           inputs[i].name);
    return gl_error (error, "%s:%d: analysis '%s' of kind %s %s %s",
                     entry->place.file, entry->place.line, entry->name,
                     analysis_spec (entry->kind)->word, what,
                     buffer_text (&list));
}

static int check_number (const site_analysis_t *entry, analysis_number_t input,
                         bool is_whole, unsigned most, gl_error_t *error)
{
    mpq_srcptr value = entry->input[input];

    if (mpq_cmp_ui (value, most, 1) > 0
        || (is_whole && mpz_cmp_ui (mpq_denref (value), 1) != 0))
        return gl_error (error,
                         "%s:%d: analysis '%s': `%s` must be a %s of at most "
                         "%u",
                         entry->place.file, entry->place.line, entry->name,
                         inputs[input].name,
                         is_whole ? "whole number" : "number", most);
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

/* What is rented is an amount, or a price and what is owned. */
static int check_cash (const site_analysis_t *entry, unsigned given,
                       gl_error_t *error)
{
    if (entry->kind != ANALYSIS_CASH || (given & ANALYSIS_BIT (INPUT_AGAINST)))
        return 0;
    if (!(given & ANALYSIS_BIT (INPUT_RENT)))
        return refuse (entry, "needs `against` and `gpus`, or",
                       ANALYSIS_BIT (INPUT_RENT), error);
    if (given & ANALYSIS_BIT (INPUT_UTILIZATION))
        return refuse (entry, "with `utilization` lacks",
                       ANALYSIS_BIT (INPUT_AGAINST)
                           | ANALYSIS_BIT (INPUT_GPUS),
                       error);
    return 0;
}

int analysis_check (const site_analysis_t *entry, gl_error_t *error)
{
    const analysis_spec_t *spec = analysis_spec (entry->kind);
    unsigned known = spec->needs | spec->takes, given = 0;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++)
        if (is_given (entry, i))
            given |= ANALYSIS_BIT (i);
    if (spec->needs & ~given)
        return refuse (entry, "needs", spec->needs & ~given, error);
    if (given & ~known)
        return refuse (entry, "has nothing to do with", given & ~known, error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (spec->together); i++) {
        unsigned these = spec->together[i];
        if ((given & these) && (these & ~given))
            return refuse (entry, "lacks", these & ~given, error);
    }
    if (entry->kind == ANALYSIS_RUN && (given & ANALYSIS_BIT (INPUT_SPEED))
        && !(given & ANALYSIS_BIT (INPUT_GPUS)))
        return refuse (entry, "with `speed` lacks", ANALYSIS_BIT (INPUT_GPUS),
                       error);
    if (check_cash (entry, given, error) < 0)
        return -1;
    if ((given & ANALYSIS_BIT (INPUT_DISCOUNT))
        && (given & ANALYSIS_BIT (INPUT_PREPAID)))
        return refuse (entry, "discounts payments at each year's end: drop",
                       ANALYSIS_BIT (INPUT_PREPAID), error);
    if (check_number (entry, INPUT_YEARS, entry->kind == ANALYSIS_CASH,
                      YEARS_MAX, error)
            < 0
        || check_number (entry, INPUT_PREPAID, true, MONTHS_MAX, error) < 0)
        return -1;
    return check_words (entry, error);
}

/* --- prices ------------------------------------------------------------- */

/* The latest of that name. */
static const site_cloud_t *find_cloud (const site_t *site, const char *name)
{
    const site_cloud_t *found = NULL;

    for (size_t i = 0; i < site->cloud_count; i++) {
        const site_cloud_t *cloud = &site->clouds[i];
        if (!strcmp (cloud->name, name)
            && (!found || strcmp (cloud->as_of, found->as_of) > 0))
            found = cloud;
    }
    return found;
}

static bool is_pool (const site_t *site, const char *name)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name))
            return true;
    return false;
}

/* What a productive hour of the pool costs, of what is owned. */
static int take_pool (const site_t *site, const char *name, int64_t known,
                      analysis_input_value_t *input, gl_error_t *error)
{
    breakeven_t b;

    if (breakeven_of_pool (site, name, breakeven_instant (site, name, known),
                           NULL, &b, error)
        < 0)
        return -1;
    mpq_set (input->value, b.per_hour);
    breakeven_clear (&b);
    if (mpq_sgn (input->value) == 0)
        return gl_error (error, "pool '%s' has no cost; enter it under "
                                "`assets`, `staff`, `power` and `costs`",
                         name);
    {
        GL_AUTOFREE char *u = exact_shortest (site->policy.utilization);
        input->source = xasprintf ("the cost book: a productive hour of pool "
                                   "%s at a utilization of %s",
                                   name, u);
    }
    input->as_of = "the cost book";
    return 0;
}

static int take_price (const site_t *site, const site_analysis_t *entry,
                       const char *text, int64_t known,
                       analysis_input_value_t *input,
                       gl_error_t *error)
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
        return gl_error (error, "'%s' is no number, no entry of `clouds` and "
                                "no pool",
                         text);
    if (mpq_sgn (input->value) <= 0)
        return gl_error (error, "'%s' is not a price above 0", text);
    return 0;
}

/* --- making it ---------------------------------------------------------- */

static int take_named (const site_t *site, const site_analysis_t *entry,
                       int64_t known, analysis_number_t i, analysis_input_value_t *input,
                       gl_error_t *error)
{
    if (!input->used)
        return 0;
    return take_price (site, entry, text_of (entry, i), known, input, error) < 0
               ? gl_error_prefix (error, "%s:%d: analysis '%s': `%s`",
                                  entry->place.file, entry->place.line,
                                  entry->name, input->name)
               : 0;
}

static void take_number (const site_t *site, const site_analysis_t *entry,
                         analysis_number_t i, analysis_input_value_t *input)
{
    gl_error_t never;

    mpq_set (input->value, entry->input[i]);
    if (input->used && input->unit.money) {
        input->as_of = entry->as_of;
        input->source = xstrdup (entry->source);
    }
    if (!input->used && i == INPUT_UTILIZATION)
        mpq_set (input->value, site->policy.utilization);
    else if (!input->used && inputs[i].fallback)
        exact_parse (inputs[i].fallback, input->value, &never);
    input->fallback = !input->used && mpq_sgn (input->value) != 0;
    input->used = input->used || input->fallback;
}

static int take_inputs (const site_t *site, const site_analysis_t *entry,
                        int64_t known, unsigned taken, analysis_t *a, gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; i < ANALYSIS_INPUTS; i++) {
        analysis_input_value_t *input = &a->input[i];
        mpq_init (input->value);
        input->name = inputs[i].name;
        input->unit = inputs[i].unit;
        if (rc < 0 || !(taken & ANALYSIS_BIT (i)))
            continue;
        input->used = is_given (entry, i);
        if (i < ANALYSIS_NUMBERS)
            take_number (site, entry, i, input);
        else
            rc = take_named (site, entry, known, i, input, error);
        if (input->used && input->unit.money && !input->as_of)
            a->dated = false;
    }
    return rc;
}

int analysis_make (const site_t *site, const site_analysis_t *entry,
                   int64_t known, analysis_t *ret_analysis, gl_error_t *error)
{
    const analysis_spec_t *spec = analysis_spec (entry->kind);
    unsigned taken = spec->needs | spec->takes;

    /* without a price the amount of work is not known: no defaults of it */
    if (entry->kind == ANALYSIS_CASH && !is_given (entry, INPUT_AGAINST))
        taken &= ~(ANALYSIS_BIT (INPUT_GPUS) | ANALYSIS_BIT (INPUT_UTILIZATION));
    *ret_analysis = (analysis_t){.word = spec->word,
                                 .title = spec->title,
                                 .left_out = spec->left_out,
                                 .dated = true};
    mpq_inits (ret_analysis->work_owned, ret_analysis->work_rented, NULL);
    if (take_inputs (site, entry, known, taken, ret_analysis, error) < 0) {
        analysis_clear (ret_analysis);
        return -1;
    }
    spec->compute (entry, ret_analysis);
    return 0;
}

void analysis_clear (analysis_t *analysis)
{
    mpq_clears (analysis->work_owned, analysis->work_rented, NULL);
    for (size_t i = 0; i < ANALYSIS_INPUTS; i++) {
        mpq_clear (analysis->input[i].value);
        free (analysis->input[i].source);
    }
    for (size_t i = 0; i < analysis->figure_count; i++) {
        mpq_clear (analysis->figure[i].value);
        free (analysis->figure[i].label);
    }
}
