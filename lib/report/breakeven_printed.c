#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "planning/breakeven_why.h"
#include "report/breakeven_private.h"

/* A published figure: a year of one GPU, or a break-even; and what gives it. */
struct printed {
    const char *text;
    bool is_ratio;
    mpq_t value;
    mpq_t tolerance; /* half a unit of its last digit */
    breakeven_why_t why;
    const breakeven_cloud_t *cloud; /* against which, if it is a break-even */
};

static int parse (const char *text, struct printed *p, gl_error_t *error)
{
    size_t length = strlen (text);
    const char *point = strchr (text, '.');
    size_t digits;

    p->text = text;
    p->is_ratio = length > 0 && text[length - 1] == '%';
    digits = point ? strlen (point + 1) - p->is_ratio : 0;
    if (exact_parse_ratio (text, p->value, error) < 0)
        return gl_error (
            error,
            "'%.60s' is not a published figure; write a break-even, "
            "40.5%%, or a year of one GPU, 18628",
            text);
    mpq_set_ui (p->tolerance, 1, p->is_ratio ? 200 : 2);
    while (digits-- > 0)
        mpz_mul_ui (mpq_denref (p->tolerance), mpq_denref (p->tolerance), 10);
    mpq_canonicalize (p->tolerance);
    return 0;
}

/* Against each price: the one that needs the least to be done. */
static void ask_prices (const breakeven_t *b, struct printed *p)
{
    mpq_t year, wanted, tolerance;

    mpq_inits (year, wanted, tolerance, p->why.per_gpu_year, NULL);
    for (size_t i = 0; i < b->cloud_count; i++) {
        breakeven_why_t why;
        if (b->cloud[i].old)
            continue;
        exact_set_i64 (year, b->hours, 1);
        mpq_mul (year, year, b->cloud[i].cloud->per_gpu_hour);
        mpq_mul (wanted, year, p->value);
        mpq_mul (tolerance, year, p->tolerance);
        breakeven_why (b, wanted, tolerance, &why);
        if (why.found && (!p->why.found || why.treated < p->why.treated)) {
            breakeven_why_clear (&p->why);
            p->why = why;
            p->cloud = &b->cloud[i];
        } else
            breakeven_why_clear (&why);
    }
    mpq_clears (year, wanted, tolerance, NULL);
}

/* ---- in words ---- */

static char *part_text (const breakeven_t *b, size_t part, why_part_t treatment)
{
    const char *name = b->part[part].name;
    GL_AUTOFREE char *cents = NULL;
    mpq_t hourly;

    if (treatment == WHY_WHOLE)
        return xstrdup (name);
    if (treatment == WHY_LEFT_OUT)
        return xasprintf ("%s: left out", name);
    if (treatment == WHY_DIVIDED)
        return xasprintf ("%s: divided by the %lld GPUs of a node once more",
                          name, (long long)b->gpus_per_node);
    mpq_init (hourly);
    breakeven_why_hourly (b, part, hourly);
    cents = exact_text (hourly, 2);
    mpq_clear (hourly);
    return xasprintf ("%s: %s an hour, divided by the %lld GPUs of a node once "
                      "more, x %d hours",
                      name, cents, (long long)b->gpus_per_node, b->hours);
}

static void prove (const struct breakeven_view *v, const struct printed *p)
{
    const breakeven_t *b = v->b;
    int digits = v->site->currency_digits;
    GL_AUTOFREE char *title
        = xasprintf ("Pool %s: what gives %s %s%s", b->pool, p->text,
                     p->is_ratio ? "against " : "a year",
                     p->is_ratio ? p->cloud->cloud->name : "");
    GL_AUTOFREE char *total = exact_text (p->why.per_gpu_year, digits);
    report_proof_t *proof = report_proof (v->report, title);
    mpq_t year;

    mpq_init (year);
    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *label = part_text (b, i, p->why.part[i]);
        GL_AUTOFREE char *value = NULL;
        breakeven_why_part (b, i, p->why.part[i], year);
        value = exact_text (year, digits);
        report_proof_line (proof, label, value);
    }
    report_proof_line (proof, "a year of one GPU", total);
    proof->holds = true;
    mpq_clear (year);
}

static void note (const struct breakeven_view *v, const struct printed *p)
{
    const breakeven_t *b = v->b;
    GL_AUTOFREE char *year
        = exact_text (b->per_gpu_year, v->site->currency_digits);
    GL_AUTOFREE char *ratio
        = p->cloud ? breakeven_percent_text (p->cloud->utilization) : NULL;

    if (!p->why.found)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow, and no part "
                     "left out or divided by the GPUs of a node gives it.",
                     b->pool, p->text);
    else if (p->why.treated == 0)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: the published %s follows from all parts.",
                     b->pool, p->text);
    else if (p->is_ratio)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow: against %s "
                     "all parts give %s %%. What gives it is shown above.",
                     b->pool, p->text, p->cloud->cloud->name, ratio);
    else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow: all parts "
                     "give %s. What gives it is shown above.",
                     b->pool, p->text, year);
}

/* The cost without one part, and the break-even that it would make. */
static void add_without (const struct breakeven_view *v,
                         const breakeven_cloud_t *cloud)
{
    const breakeven_t *b = v->b;
    mpq_t year, ratio;

    mpq_inits (year, ratio, NULL);
    for (size_t i = 0; i < b->part_count; i++) {
        mpq_sub (year, b->per_gpu_year, b->part[i].per_gpu_year);
        breakeven_begin_row (v, "without", b->part[i].name);
        breakeven_put (v, C_PER_YEAR, year);
        if (!cloud || mpq_sgn (b->per_gpu_year) == 0)
            continue;
        mpq_div (ratio, year, b->per_gpu_year);
        mpq_mul (ratio, ratio, cloud->utilization);
        breakeven_put (v, C_BREAKEVEN, ratio);
        report_put_text (v->report, C_AGAINST, cloud->cloud->name);
    }
    mpq_clears (year, ratio, NULL);
}

/* A year is no break-even: the price that changes are looked at with shows what
 * it would make of one. */
static int explain (const struct breakeven_view *v, struct printed *p,
                    gl_error_t *error)
{
    if (breakeven_against (v->b, v->query->against, &p->cloud, error) < 0)
        return -1;
    if (p->is_ratio)
        ask_prices (v->b, p);
    else
        breakeven_why (v->b, p->value, p->tolerance, &p->why);
    add_without (v, p->cloud);
    if (p->why.found && p->why.treated > 0)
        prove (v, p);
    note (v, p);
    breakeven_why_clear (&p->why);
    return 0;
}

int breakeven_add_printed (const struct breakeven_view *v, gl_error_t *error)
{
    struct printed p = {.text = v->query->printed};
    int rc;

    if (!p.text)
        return 0;
    mpq_inits (p.value, p.tolerance, NULL);
    rc = parse (p.text, &p, error);
    if (rc == 0)
        rc = explain (v, &p, error);
    mpq_clears (p.value, p.tolerance, NULL);
    return rc;
}
