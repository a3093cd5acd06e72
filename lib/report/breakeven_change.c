#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/breakeven_private.h"

/* ---- other utilizations ---- */

void breakeven_add_utilizations (report_t *report,
                                 const struct breakeven_columns *c,
                                 const breakeven_t *b)
{
    mpq_t u, per_hour;

    mpq_inits (u, per_hour, NULL);
    for (int percent = 10; percent <= 100; percent += 10) {
        GL_AUTOFREE char *item = xasprintf ("%d %%", percent);
        exact_set_i64 (u, percent, 100);
        breakeven_cost_at (b, u, per_hour);
        breakeven_begin_row (report, c, b, "utilization", item);
        report_put_exact (report, c->per_hour, per_hour, 4);
    }
    mpq_clears (u, per_hour, NULL);
}

/* ---- other inputs ---- */

/* A change, and what it makes of the hour. */
struct effect {
    const char *label;
    mpq_t difference;
    mpq_t size; /* of the difference */
};

static void add_row (report_t *report, const struct breakeven_columns *c,
                     const breakeven_subject_t *subject,
                     const breakeven_cloud_t *against, const char *label,
                     const breakeven_t *changed, mpq_srcptr difference)
{
    const breakeven_t *b = subject->breakeven;

    breakeven_begin_row (report, c, b, "change", label);
    report_put_exact (report, c->per_year, changed->per_gpu_year,
                      subject->site->currency_digits);
    report_put_exact (report, c->per_hour, changed->per_hour, 4);
    report_put_exact (report, c->difference, difference, 4);
    if (against && !against->committed) {
        size_t at = against - b->cloud;
        breakeven_put_percent (report, c->breakeven,
                               changed->cloud[at].utilization);
        report_put_text (report, c->against, against->cloud->name);
    }
}

static int by_size (const void *a, const void *b)
{
    const struct effect *x = a, *y = b;
    int order = mpq_cmp (y->size, x->size);

    return order ? order : strcmp (x->label, y->label);
}

/* The tornado: the largest effect first. */
static void add_chart (report_t *report, const breakeven_t *b,
                       struct effect *effects, size_t count)
{
    GL_AUTOFREE char *title
        = xasprintf ("What moves the cost of an hour in %s", b->pool);
    report_chart_t *chart;

    if (count == 0)
        return;
    qsort (effects, count, sizeof (*effects), by_size);
    chart = report_chart (report, CHART_BARS, title,
                          "The change of the cost of a productive GPU hour by "
                          "each other input, the largest first.");
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *text = exact_text (effects[i].difference, 4);
        report_chart_item (chart, effects[i].label, text, effects[i].size,
                           effects[0].size,
                           mpq_sgn (effects[i].difference) > 0 ? 0 : 2);
    }
}

/* One change; nothing where it makes no difference (the book has it so, or has
 * none of what changes), and a note where it cannot be made. */
static int add_change (report_t *report, const struct breakeven_columns *c,
                       const breakeven_subject_t *subject,
                       const breakeven_cloud_t *against,
                       const breakeven_change_t *change,
                       struct effect *effect, gl_error_t *error)
{
    const breakeven_t *b = subject->breakeven;
    breakeven_t changed;

    if (breakeven_changed (subject->site, b->pool, subject->at, NULL, change,
                           &changed, error)
        < 0)
        return -1;
    effect->label = change->label;
    if (changed.beyond)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: '%s' is left out: it takes away more than "
                     "there is.",
                     b->pool, change->label);
    else if (!changed.hasty)
        mpq_sub (effect->difference, changed.per_hour, b->per_hour);
    mpq_abs (effect->size, effect->difference);
    if (mpq_sgn (effect->size) != 0)
        add_row (report, c, subject, against, change->label, &changed,
                 effect->difference);
    breakeven_clear (&changed);
    return 0;
}

int breakeven_add_changes (report_t *report, const struct breakeven_columns *c,
                           const breakeven_subject_t *subject,
                           gl_error_t *error)
{
    size_t change_count, count = 0;
    const breakeven_change_t *changes = breakeven_changes (&change_count);
    struct effect *effects = xcalloc (change_count, sizeof (*effects));
    const breakeven_cloud_t *against;
    int rc = breakeven_against (subject->breakeven,
                                subject->query->against, &against, error);

    for (size_t i = 0; i < change_count; i++)
        mpq_inits (effects[i].difference, effects[i].size, NULL);
    for (size_t i = 0; i < change_count && rc == 0; i++) {
        rc = add_change (report, c, subject, against, &changes[i],
                         &effects[count], error);
        count += rc == 0 && mpq_sgn (effects[count].size) != 0;
    }
    if (rc == 0)
        add_chart (report, subject->breakeven, effects, count);
    for (size_t i = 0; i < change_count; i++)
        mpq_clears (effects[i].difference, effects[i].size, NULL);
    free (effects);
    return rc;
}
