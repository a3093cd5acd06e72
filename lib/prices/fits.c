#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "gres/gpu_memory.h"
#include "gres/mig.h"
#include "planning/breakeven.h"
#include "planning/expression.h"
#include "planning/formula.h"
#include "planning/shape.h"
#include "prices/fits.h"

#define HEADROOM "10%"
#define CONTEXT "4096"

enum {
    C_SECTION,
    C_ITEM,
    C_GB,
    C_GIB,
    C_FORMULA,
    C_GPU,
    C_PROFILE,
    C_MEMORY,
    C_GPUS,
    C_POOL,
    C_OWN_GPU_HOUR,
    C_OWN_HOUR,
    C_GPU_HOUR,
    C_HOUR,
    C_CURRENCY,
    C_PROVIDER,
    C_INSTANCE,
    C_REGION,
    C_AS_OF,
    C_AGE,
};

static const column_info_t columns[] = {
    {"section", "Section", COLUMN_TEXT, true, true, "memory or gpus."},
    {"item", "Memory", COLUMN_TEXT, true, false, ""},
    {"gb", "GB", COLUMN_RATE, false, false, "10^9 bytes."},
    {"gib", "GiB", COLUMN_RATE, false, false, "2^30 bytes."},
    {"formula", "Formula", COLUMN_TEXT, false, false, ""},
    {"gpu", "GPU", COLUMN_TEXT, true, false, ""},
    {"profile", "Profile", COLUMN_TEXT, true, false,
     "A MIG slice that has the memory; without one, whole GPUs."},
    {"memory_gb", "Memory, GB", COLUMN_RATE, false, false,
     "Of one GPU or slice, as it is sold."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false,
     "GPUs or slices that are needed, if memory is split evenly."},
    {"pool", "Pool", COLUMN_TEXT, true, false, "Own GPUs of this model."},
    {"own_per_gpu_hour", "Own GPU hour", COLUMN_RATE, false, false,
     "What a productive hour of one costs in the pool; of a slice, its part."},
    {"own_per_hour", "Own, an hour", COLUMN_RATE, false, false,
     "The same for all that are needed."},
    {"per_gpu_hour", "Rented GPU hour", COLUMN_RATE, false, false,
     "The least on-demand price of the catalogue."},
    {"per_hour", "Rented, an hour", COLUMN_RATE, false, false,
     "The same for all that are needed."},
    {"currency", "Currency", COLUMN_TEXT, false, false, "Of the rented hours."},
    {"provider", "Provider", COLUMN_TEXT, false, false, ""},
    {"instance", "Instance", COLUMN_TEXT, false, false, ""},
    {"region", "Region", COLUMN_TEXT, false, true, ""},
    {"as_of", "Price of", COLUMN_DATE, false, false, ""},
    {"age_days", "Age, days", COLUMN_COUNT, false, false, ""},
};

static const struct {
    const char *name;
    const char *bytes;       /* of a parameter */
    const char *cache_bytes; /* of an element of the key-value cache */
    const char *optimizer; /* bytes of a parameter; NULL: nobody trains in it */
} precisions[] = {
    {"fp32", "4", "4", "8"},  {"bf16", "2", "2", "12"},
    {"fp16", "2", "2", "12"}, {"fp8", "1", "2", NULL},
    {"int8", "1", "2", NULL}, {"int4", "0.5", "2", NULL},
};

/* A GPU model or a slice of it, from the catalogue, a pool, or both. */
typedef struct {
    const char *model;
    const mig_profile_t *profile; /* NULL: whole GPUs */
    const site_pool_t *pool;      /* NULL: none of it is owned */
    const catalogue_row_t *row;   /* NULL: no price */
    mpq_t memory;                 /* GB */
    uint64_t count;
    mpq_t own;  /* of one for an hour; 0: not known */
    mpq_t cost; /* of all of them: the lesser; 0: not known */
} choice_t;

typedef struct {
    const fits_query_t *query;
    const site_t *site;
    const catalogue_t *catalogue;
    report_t *report;
    const shape_t *shape; /* whose numbers were taken; NULL: all were given */
    values_t values;
    const step_t *made[FORMULA_STEPS];
    size_t made_count;
    mpq_t usable;    /* share of a GPU's memory */
    bool comparable; /* all prices are in the site's currency */
    choice_t *choice;
    size_t count;
} fits_t;

/* ---- what is asked ---- */

static int take_precision (fits_t *f, gl_error_t *error)
{
    const fits_query_t *q = f->query;
    const char *name = q->precision ? q->precision : "bf16";

    for (size_t i = 0; i < GL_ARRAY_SIZE (precisions); i++) {
        if (strcmp (precisions[i].name, name) != 0)
            continue;
        if (q->train && !precisions[i].optimizer)
            return gl_error (error,
                             "--precision %s is for --serve; models are "
                             "trained in fp32, bf16 or fp16",
                             name);
        values_set_text (&f->values, "bytes", precisions[i].bytes);
        values_set_text (&f->values, "cache_bytes", precisions[i].cache_bytes);
        values_set_text (&f->values, "optimizer_bytes",
                         precisions[i].optimizer ? precisions[i].optimizer
                                                 : "0");
        return 0;
    }
    return gl_error (error,
                     "--precision: '%.40s' is not one of fp32, bf16, fp16, "
                     "fp8, int8, int4",
                     name);
}

/* "70e9", "70B", "700M". */
static int take_parameters (fits_t *f, gl_error_t *error)
{
    const char *text = f->query->parameters;
    size_t length = strlen (text);
    char unit = length ? (char)toupper ((unsigned char)text[length - 1]) : ' ';
    GL_AUTOFREE char *number
        = xstrndup (text, length - (unit == 'B' || unit == 'M'));
    gl_error_t none;
    mpq_t q;
    int rc;

    mpq_init (q);
    rc = expression_number (number, q, &none);
    exact_add_scaled (q, q,
                      (unit == 'B'   ? 1000000000
                       : unit == 'M' ? 1000000
                                     : 1)
                          - 1,
                      1);
    if (rc < 0 || mpq_cmp_ui (q, 1, 1) < 0)
        rc = gl_error (error,
                       "--parameters: '%.40s' is no number of parameters; "
                       "write it as 70e9, 70B or 700M",
                       text);
    values_set (&f->values, "parameters", q);
    mpq_clear (q);
    return rc;
}

/* A whole number above 0. */
static int take_whole (fits_t *f, const char *name, const char *option,
                       const char *text, gl_error_t *error)
{
    gl_error_t none;
    mpq_t q;
    int rc;

    mpq_init (q);
    rc = expression_number (text, q, &none);
    if (rc < 0 || mpq_cmp_ui (q, 1, 1) < 0
        || mpz_cmp_ui (mpq_denref (q), 1) != 0
        || mpq_cmp_ui (q, 1000000000, 1) > 0)
        rc = gl_error (error, "--%s: '%.40s' is not a whole number of 1 to 1e9",
                       option, text);
    values_set (&f->values, name, q);
    mpq_clear (q);
    return rc;
}

static int take_sizes (fits_t *f, gl_error_t *error)
{
    const fits_query_t *q = f->query;

    if (take_whole (f, "context", "context", q->context ? q->context : CONTEXT,
                    error)
            < 0
        || take_whole (f, "batch", "batch", q->batch ? q->batch : "1", error)
               < 0)
        return -1;
    if (!q->optimizer_bytes)
        return 0;
    if (!q->train)
        return gl_error (error, "--optimizer-bytes is for --train");
    return take_whole (f, "optimizer_bytes", "optimizer-bytes",
                       q->optimizer_bytes, error);
}

/* Heads share the width evenly, and the heads of keys and values those of queries. */
static int check_shape (const fits_t *f, gl_error_t *error)
{
    static const char *const rules[][2]
        = {{"hidden / heads", "--hidden must be a multiple of --heads"},
           {"heads / kv_heads", "--heads must be a multiple of --kv-heads"}};
    int rc = 0;
    mpq_t q;

    mpq_init (q);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rules) && rc == 0; i++)
        if (!values_compute (&f->values, rules[i][0], q)
            || mpz_cmp_ui (mpq_denref (q), 1) != 0)
            rc = gl_error (error, "%s", rules[i][1]);
    mpq_clear (q);
    return rc;
}

/* All of the shape is given, or none: half of one model and half of another is none. */
static int take_shape (fits_t *f, gl_error_t *error)
{
    const fits_query_t *q = f->query;
    const struct {
        const char *name, *option, *text;
    } parts[]
        = {{"layers", "layers", q->layers},
           {"hidden", "hidden", q->hidden},
           {"heads", "heads", q->heads},
           {"kv_heads", "kv-heads", q->kv_heads ? q->kv_heads : q->heads}};
    size_t given
        = (q->layers != NULL) + (q->hidden != NULL) + (q->heads != NULL);

    if (given == 0 && !q->kv_heads) {
        f->shape = shape_nearest (values_get (&f->values, "parameters"));
        values_set_i64 (&f->values, "layers", f->shape->layers);
        values_set_i64 (&f->values, "hidden", f->shape->hidden);
        values_set_i64 (&f->values, "heads", f->shape->heads);
        values_set_i64 (&f->values, "kv_heads", f->shape->kv_heads);
        return 0;
    }
    if (given < 3)
        return gl_error (error, "give --layers, --hidden and --heads together "
                                "(and --kv-heads, if they are fewer)");
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++)
        if (take_whole (f, parts[i].name, parts[i].option, parts[i].text, error)
            < 0)
            return -1;
    return check_shape (f, error);
}

static int take_headroom (fits_t *f, gl_error_t *error)
{
    const char *text = f->query->headroom ? f->query->headroom : HEADROOM;
    mpq_t q;
    int rc;

    mpq_init (q);
    rc = exact_parse_ratio (text, q, error);
    if (rc < 0)
        gl_error_prefix (error, "--headroom");
    else if (mpq_sgn (q) < 0 || mpq_cmp_ui (q, 1, 1) >= 0)
        rc = gl_error (error,
                       "--headroom: '%.40s' must be 0%% or more and "
                       "below 100%%",
                       text);
    mpq_set_ui (f->usable, 1, 1);
    mpq_sub (f->usable, f->usable, q);
    mpq_clear (q);
    return rc;
}

/* ---- what it needs ---- */

static int solve (fits_t *f, gl_error_t *error)
{
    if (take_precision (f, error) < 0 || take_parameters (f, error) < 0
        || take_sizes (f, error) < 0 || take_shape (f, error) < 0
        || take_headroom (f, error) < 0)
        return -1;
    values_set_i64 (&f->values, "recompute", f->query->recompute);
    f->made_count = formula_solve (
        formula_named (f->query->train ? "train-memory" : "serve-memory"),
        &f->values, f->made);
    return 0;
}

static void put_gib (report_t *report, mpq_srcptr gb)
{
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, gb, 1000000000, (int64_t)1 << 30);
    report_put_exact (report, C_GIB, q, 2);
    mpq_clear (q);
}

static void put_memory (const fits_t *f)
{
    report_section (f->report,
                    f->query->train ? "Memory to train" : "Memory to serve",
                    "Of all GPUs together.");
    for (size_t i = 0; i < f->made_count; i++) {
        const step_t *step = f->made[i];
        mpq_srcptr value = values_get (&f->values, step->id);
        if (!step->title || !value)
            continue;
        GL_AUTOFREE char *how = values_text (&f->values, step->how);
        report_row (f->report);
        report_put_text (f->report, C_SECTION, "memory");
        report_put_text (f->report, C_ITEM, step->title);
        report_put_exact (f->report, C_GB, value, 2);
        put_gib (f->report, value);
        report_put_text (f->report, C_FORMULA, how);
    }
}

/* ---- which GPUs have it ---- */

static bool is_wanted (const fits_t *f, const char *model)
{
    return !f->query->gpu || catalogue_is_gpu (model, f->query->gpu);
}

static choice_t *choice_of (fits_t *f, const char *model)
{
    choice_t *choice = GL_FIND (f->choice, f->count, it,
                                !it->profile && !strcmp (it->model, model));
    int gb = gpu_memory_gb (model);

    if (choice || gb == 0 || !is_wanted (f, model))
        return choice;
    choice = GL_APPEND (f->choice, f->count);
    *choice = (choice_t){.model = model};
    mpq_inits (choice->memory, choice->own, choice->cost, NULL);
    mpq_set_si (choice->memory, gb, 1);
    return choice;
}

/* The cheapest hour on demand that is a price of the day. */
static void take_prices (fits_t *f)
{
    f->comparable = true;
    for (size_t at = 0, end; at < f->catalogue->count; at = end) {
        const catalogue_row_t *row;
        choice_t *choice;
        end = catalogue_offer_end (f->catalogue, at);
        row = catalogue_newest (f->catalogue, at, end, f->query->day);
        if (!row || !catalogue_has_plan (row, "on-demand")
            || catalogue_age (row, f->query->day) == PRICE_EXPIRED)
            continue;
        choice = choice_of (f, row->cell[CELL_GPU]);
        f->comparable
            = f->comparable
              && !strcmp (row->cell[CELL_CURRENCY], f->site->currency);
        if (choice
            && (!choice->row
                || mpq_cmp (row->per_gpu_hour, choice->row->per_gpu_hour) < 0))
            choice->row = row;
    }
}

/* What a productive hour costs in a pool; of several pools, the least. */
static int take_pools (fits_t *f, gl_error_t *error)
{
    for (size_t i = 0; i < f->site->pool_count; i++) {
        const site_pool_t *pool = &f->site->pools[i];
        choice_t *choice = pool->gpu && pool->resource != RESOURCE_CPU
                               ? choice_of (f, pool->gpu)
                               : NULL;
        breakeven_t b;
        if (!choice)
            continue;
        if (breakeven_of_pool (f->site, pool->name, BREAKEVEN_UNDATED, NULL, &b,
                               error)
            < 0)
            return -1;
        if (!choice->pool || mpq_sgn (choice->own) == 0
            || (mpq_sgn (b.per_hour) > 0
                && mpq_cmp (b.per_hour, choice->own) < 0)) {
            choice->pool = pool;
            mpq_set (choice->own, b.per_hour);
        }
        breakeven_clear (&b);
    }
    return 0;
}

static void count_needed (const fits_t *f, choice_t *choice)
{
    mpq_t each;
    mpz_t count;

    mpq_init (each);
    mpz_init (count);
    mpq_mul (each, choice->memory, f->usable);
    mpq_div (each, values_get (&f->values, "total"), each);
    mpz_cdiv_q (count, mpq_numref (each), mpq_denref (each));
    choice->count = mpz_get_ui (count);
    mpz_clear (count);
    mpq_clear (each);
}

/* The smallest slice of the GPU that has the memory; NULL: none has. */
static const mig_profile_t *
smallest_profile (const fits_t *f, const choice_t *whole, mpq_t ret_memory)
{
    const char *model = mig_model (whole->model);
    const mig_profile_t *best = NULL;
    size_t count;
    const mig_profile_t *all = mig_profiles (&count);
    mpq_t memory, usable;

    mpq_inits (memory, usable, NULL);
    for (size_t i = 0; i < count && model; i++) {
        const mig_profile_t *p = &all[i];
        if (strcmp (p->model, model) != 0 || strchr (p->profile, '+')
            || p->compute == p->compute_total)
            continue;
        mpq_set_ui (memory, 0, 1);
        exact_add_scaled (memory, whole->memory, p->memory, p->memory_total);
        mpq_mul (usable, memory, f->usable);
        if (mpq_cmp (usable, values_get (&f->values, "total")) < 0
            || (best
                && (p->memory > best->memory || p->compute >= best->compute)))
            continue;
        best = p;
        mpq_set (ret_memory, memory);
    }
    mpq_clears (memory, usable, NULL);
    return best;
}

/* At the larger of its shares of compute and memory, as slices are priced. */
static void add_slice (fits_t *f, size_t of)
{
    const mig_profile_t *profile;
    choice_t slice = {.model = f->choice[of].model};
    mpq_t share, other;

    mpq_inits (slice.memory, slice.own, slice.cost, share, other, NULL);
    profile = smallest_profile (f, &f->choice[of], slice.memory);
    if (profile) {
        slice.profile = profile;
        slice.pool = f->choice[of].pool;
        slice.count = 1;
        mpq_set_si (share, profile->compute,
                    (unsigned long)profile->compute_total);
        mpq_set_si (other, profile->memory,
                    (unsigned long)profile->memory_total);
        mpq_canonicalize (share);
        mpq_canonicalize (other);
        mpq_mul (slice.own, f->choice[of].own,
                 mpq_cmp (share, other) > 0 ? share : other);
        *GL_APPEND (f->choice, f->count) = slice;
    } else
        mpq_clears (slice.memory, slice.own, slice.cost, NULL);
    mpq_clears (share, other, NULL);
}

/* The lesser of owning and renting them for an hour; in another currency than that of the
 * site, only renting. */
static void take_cost (const fits_t *f, choice_t *choice)
{
    mpq_t rented;

    mpq_init (rented);
    if (f->comparable)
        exact_add_scaled (choice->cost, choice->own, (int64_t)choice->count, 1);
    if (choice->row)
        exact_add_scaled (rented, choice->row->per_gpu_hour,
                          (int64_t)choice->count, 1);
    if (choice->row
        && (mpq_sgn (choice->cost) == 0 || mpq_cmp (rented, choice->cost) < 0))
        mpq_set (choice->cost, rented);
    mpq_clear (rented);
}

/* Without a cost last. */
static int by_cost (const void *a, const void *b)
{
    const choice_t *x = a, *y = b;
    bool known = mpq_sgn (x->cost) != 0, other = mpq_sgn (y->cost) != 0;
    int order = known && other ? mpq_cmp (x->cost, y->cost) : other - known;

    if (order == 0)
        order = strcmp (x->model, y->model);
    return order ? order : (x->profile != NULL) - (y->profile != NULL);
}

static int find_choices (fits_t *f, gl_error_t *error)
{
    size_t whole;

    take_prices (f);
    if (take_pools (f, error) < 0)
        return -1;
    if (f->count == 0)
        return gl_error (
            error,
            "no GPU of the catalogue or the pools is a '%.60s', or "
            "its memory is not known; gpuledger prices list names "
            "models",
            f->query->gpu ? f->query->gpu : "GPU");
    whole = f->count;
    for (size_t i = 0; i < whole; i++) {
        count_needed (f, &f->choice[i]);
        add_slice (f, i);
    }
    for (size_t i = 0; i < f->count; i++)
        take_cost (f, &f->choice[i]);
    qsort (f->choice, f->count, sizeof (*f->choice), by_cost);
    return 0;
}

/* ---- the rows ---- */

static void put_times (report_t *report, size_t one, size_t all,
                       mpq_srcptr rate, uint64_t count)
{
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, rate, (int64_t)count, 1);
    report_put_exact (report, one, rate, 4);
    report_put_exact (report, all, q, 4);
    mpq_clear (q);
}

static void put_price (const fits_t *f, const choice_t *choice)
{
    static const struct {
        size_t column;
        catalogue_cell_t cell;
    } texts[] = {{C_CURRENCY, CELL_CURRENCY},
                 {C_PROVIDER, CELL_PROVIDER},
                 {C_INSTANCE, CELL_INSTANCE},
                 {C_REGION, CELL_REGION},
                 {C_AS_OF, CELL_AS_OF}};

    put_times (f->report, C_GPU_HOUR, C_HOUR, choice->row->per_gpu_hour,
               choice->count);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        report_put_text (f->report, texts[i].column,
                         choice->row->cell[texts[i].cell]);
    report_put_count (
        f->report, C_AGE,
        (uint64_t)catalogue_age_days (choice->row, f->query->day));
}

static void put_choice (const fits_t *f, const choice_t *choice)
{
    report_row (f->report);
    report_put_text (f->report, C_SECTION, "gpus");
    report_put_text (f->report, C_GPU, choice->model);
    if (choice->profile)
        report_put_text (f->report, C_PROFILE, choice->profile->profile);
    report_put_exact (f->report, C_MEMORY, choice->memory, 2);
    report_put_count (f->report, C_GPUS, choice->count);
    if (choice->pool)
        report_put_text (f->report, C_POOL, choice->pool->name);
    if (mpq_sgn (choice->own) != 0)
        put_times (f->report, C_OWN_GPU_HOUR, C_OWN_HOUR, choice->own,
                   choice->count);
    if (choice->row)
        put_price (f, choice);
}

static void put_figures (const fits_t *f)
{
    mpq_srcptr total = values_get (&f->values, "total");
    const choice_t *best = &f->choice[0];
    GL_AUTOFREE char *gb = exact_text (total, 1);
    GL_AUTOFREE char *cost = exact_text (best->cost, 2);
    bool known = mpq_sgn (best->cost) != 0;
    GL_AUTOFREE char *name = xasprintf (
        "%llu x %s%s%s", (unsigned long long)best->count, best->model,
        best->profile ? " " : "", best->profile ? best->profile->profile : "");
    GL_AUTOFREE char *hint
        = known ? xasprintf ("%s %s an hour",
                             best->row && !f->comparable
                                 ? best->row->cell[CELL_CURRENCY]
                                 : f->site->currency,
                             cost)
                : xstrdup ("no price is known");

    report_figure (f->report, "Memory", gb,
                   f->query->train ? "GB to train" : "GB to serve",
                   COLUMN_RATE);
    report_figure (f->report, "Cheapest", name, hint, COLUMN_TEXT);
}

static void put_notes (const fits_t *f)
{
    const shape_t *s = f->shape;

    if (s)
        report_note (
            f->report, NOTE_INFORMATION,
            "The shape is that of %s, the published model nearest in "
            "size (%lld layers of width %lld, %lld heads, %lld with "
            "keys and values; %s). Give yours with --layers, --hidden, "
            "--heads and --kv-heads.",
            s->name, (long long)s->layers, (long long)s->hidden,
            (long long)s->heads, (long long)s->kv_heads, s->source);
    if (!f->comparable)
        report_note (f->report, NOTE_INFORMATION,
                     "Own hours are in %s and some rented ones in another "
                     "currency: they are not converted, and the order is that "
                     "of the rented ones.",
                     f->site->currency);
    report_note (f->report, NOTE_INFORMATION,
                 "GPUs are counted as if memory was split evenly over them, as "
                 "fully sharded or tensor and sequence parallel programs do. "
                 "Not considered: fragmentation beyond the headroom, "
                 "communication buffers, and whether the GPUs are fast enough. "
                 "Providers rent some GPUs in groups alone.");
}

static void fill (const fits_t *f)
{
    GL_AUTOFREE char *context
        = exact_text (values_get (&f->values, "context"), 0);
    GL_AUTOFREE char *batch = exact_text (values_get (&f->values, "batch"), 0);

    report_parameter (f->report, "parameters", f->query->parameters);
    report_parameter (f->report, "precision",
                      f->query->precision ? f->query->precision : "bf16");
    report_parameter (f->report, "context", context);
    report_parameter (f->report, "batch", batch);
    report_parameter (f->report, "headroom",
                      f->query->headroom ? f->query->headroom : HEADROOM);
    report_provenance (f->report, "program", "gpuledger");
    report_columns (f->report, columns, GL_ARRAY_SIZE (columns));
    f->report->notes_last = true;
    put_figures (f);
    put_memory (f);
    report_section (f->report, "GPUs that have it, the cheapest first", "");
    for (size_t i = 0; i < f->count; i++)
        put_choice (f, &f->choice[i]);
    put_notes (f);
}

report_t *fits_report (const site_t *site, const catalogue_t *catalogue,
                       const fits_query_t *query, gl_error_t *error)
{
    fits_t f = {.query = query, .site = site, .catalogue = catalogue};

    mpq_init (f.usable);
    values_init (&f.values);
    if (solve (&f, error) == 0 && find_choices (&f, error) == 0) {
        f.report = report_new ("fits", "GPUs that a model fits on");
        fill (&f);
    }
    GL_FREE_EACH (f.choice, f.count, it,
                  mpq_clears (it->memory, it->own, it->cost, NULL));
    values_clear (&f.values);
    mpq_clear (f.usable);
    return f.report;
}
