#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/breakeven_why.h"
#include "report/breakeven_private.h"

/* A published figure: a year of one GPU, or a break-even. */
struct printed {
    const char *text;
    bool is_ratio;
    mpq_t value;
    mpq_t tolerance; /* half a unit of its last digit */
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
        return gl_error (error,
                         "'%.60s' is no published figure; write a break-even, "
                         "40.5%%, or a year of one GPU, 18628",
                         text);
    mpq_set_ui (p->tolerance, 1, p->is_ratio ? 200 : 2);
    while (digits-- > 0)
        mpz_mul_ui (mpq_denref (p->tolerance), mpq_denref (p->tolerance), 10);
    mpq_canonicalize (p->tolerance);
    return 0;
}

/* ---- what gives it ---- */

/* An answer; against a price, if the figure is a break-even. */
struct answer {
    breakeven_why_t why;
    const breakeven_cloud_t *cloud;
};

static int parts_treated (const breakeven_t *b, const breakeven_why_t *why,
                          int weight_of_divided)
{
    int count = 0;

    for (size_t i = 0; i < b->part_count; i++)
        count += why->part[i] == WHY_WHOLE      ? 0
                 : why->part[i] == WHY_LEFT_OUT ? 1
                                                : weight_of_divided;
    return count;
}

static bool better (const breakeven_t *b, const breakeven_why_t *a,
                    const breakeven_why_t *than)
{
    return a->found
           && (!than->found
               || parts_treated (b, a, BREAKEVEN_WHY_PARTS + 1)
                      < parts_treated (b, than, BREAKEVEN_WHY_PARTS + 1));
}

/* Against each price: the one that needs the least to be done. */
static void ask_prices (const breakeven_t *b, const struct printed *p,
                        struct answer *answer)
{
    mpq_t year, wanted, tolerance;

    mpq_inits (year, wanted, tolerance, NULL);
    for (size_t i = 0; i < b->cloud_count; i++) {
        breakeven_why_t why;
        if (b->cloud[i].old)
            continue;
        exact_set_i64 (year, b->hours, 1);
        mpq_mul (year, year, b->cloud[i].cloud->per_gpu_hour);
        mpq_mul (wanted, year, p->value);
        mpq_mul (tolerance, year, p->tolerance);
        breakeven_why (b, wanted, tolerance, &why);
        if (better (b, &why, &answer->why)) {
            breakeven_why_clear (&answer->why);
            answer->why = why;
            answer->cloud = &b->cloud[i];
        } else
            breakeven_why_clear (&why);
    }
    mpq_clears (year, wanted, tolerance, NULL);
}

/* A year is no break-even: the price that changes are looked at with shows what it
 * would make of one. */
static int ask (const breakeven_subject_t *subject, const struct printed *p,
                struct answer *answer, gl_error_t *error)
{
    memset (answer, 0, sizeof (*answer));
    if (breakeven_against (subject->breakeven, subject->query->against,
                           &answer->cloud, error)
        < 0)
        return -1;
    if (p->is_ratio) {
        mpq_init (answer->why.per_gpu_year);
        ask_prices (subject->breakeven, p, answer);
    } else
        breakeven_why (subject->breakeven, p->value, p->tolerance,
                       &answer->why);
    return 0;
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

static void prove (report_t *report, const breakeven_subject_t *subject,
                   const struct printed *p, const struct answer *answer)
{
    const breakeven_t *b = subject->breakeven;
    GL_AUTOFREE char *title
        = p->is_ratio
              ? xasprintf ("Pool %s: what gives %s against %s", b->pool,
                           p->text, answer->cloud->cloud->name)
              : xasprintf ("Pool %s: what gives %s a year", b->pool, p->text);
    report_proof_t *proof = report_proof (report, title);
    int digits = subject->site->currency_digits;
    GL_AUTOFREE char *total = exact_text (answer->why.per_gpu_year, digits);
    mpq_t year;

    mpq_init (year);
    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *label = part_text (b, i, answer->why.part[i]);
        GL_AUTOFREE char *value = NULL;
        breakeven_why_part (b, i, answer->why.part[i], year);
        value = exact_text (year, digits);
        report_proof_line (proof, label, value);
    }
    report_proof_line (proof, "a year of one GPU", total);
    proof->holds = true;
    mpq_clear (year);
}

static void note (report_t *report, const breakeven_t *b,
                  const struct printed *p, const struct answer *answer,
                  int digits)
{
    GL_AUTOFREE char *year = exact_text (b->per_gpu_year, digits);
    GL_AUTOFREE char *ratio
        = answer->cloud ? breakeven_percent_text (answer->cloud->utilization)
                        : NULL;

    if (!answer->why.found)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow, and no part "
                     "left out or divided by the GPUs of a node gives it.",
                     b->pool, p->text);
    else if (answer->why.follows)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: the published %s follows from all parts.",
                     b->pool, p->text);
    else if (p->is_ratio)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow: against %s "
                     "all parts give %s %%. What gives it is shown above.",
                     b->pool, p->text, answer->cloud->cloud->name, ratio);
    else
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: the published %s does not follow: all parts "
                     "give %s. What gives it is shown above.",
                     b->pool, p->text, year);
}

/* The cost without one part, and the break-even that it would make. */
static void add_without (report_t *report, const struct breakeven_columns *c,
                         const breakeven_subject_t *subject,
                         const breakeven_cloud_t *cloud)
{
    const breakeven_t *b = subject->breakeven;
    mpq_t year, ratio;

    mpq_inits (year, ratio, NULL);
    for (size_t i = 0; i < b->part_count; i++) {
        mpq_sub (year, b->per_gpu_year, b->part[i].per_gpu_year);
        breakeven_begin_row (report, c, b, "without", b->part[i].name);
        report_put_exact (report, c->per_year, year,
                          subject->site->currency_digits);
        if (!cloud || mpq_sgn (b->per_gpu_year) == 0)
            continue;
        mpq_div (ratio, year, b->per_gpu_year);
        mpq_mul (ratio, ratio, cloud->utilization);
        breakeven_put_percent (report, c->breakeven, ratio);
        report_put_text (report, c->against, cloud->cloud->name);
    }
    mpq_clears (year, ratio, NULL);
}

int breakeven_add_printed (report_t *report, const struct breakeven_columns *c,
                           const breakeven_subject_t *subject,
                           gl_error_t *error)
{
    const breakeven_t *b = subject->breakeven;
    struct answer answer;
    struct printed p;
    int rc;

    if (!subject->query->printed)
        return 0;
    mpq_inits (p.value, p.tolerance, NULL);
    rc = parse (subject->query->printed, &p, error);
    if (rc == 0)
        rc = ask (subject, &p, &answer, error);
    if (rc == 0) {
        add_without (report, c, subject, answer.cloud);
        if (answer.why.found && !answer.why.follows)
            prove (report, subject, &p, &answer);
        note (report, b, &p, &answer, subject->site->currency_digits);
        breakeven_why_clear (&answer.why);
    }
    mpq_clears (p.value, p.tolerance, NULL);
    return rc;
}
