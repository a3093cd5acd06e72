#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/depreciation.h"
#include "report/breakeven_private.h"

static const column_info_t columns[] = {
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"kind", "Kind", COLUMN_TEXT, true, false,
     "part: of the cost of owning; total: all parts; price: of renting; "
     "utilization: the hour at another one; change: with another input; "
     "without: a part left out."},
    {"item", "Item", COLUMN_TEXT, true, false, ""},
    {"per_gpu_year", "Per GPU and year", COLUMN_MONEY, false, false,
     "The yearly cost of one GPU, used or not. For a price, billed hours x "
     "price."},
    {"per_gpu_hour", "Per GPU hour", COLUMN_RATE, false, false,
     "For a part, the yearly cost divided by the productive hours of a year. "
     "For a price, the price."},
    {"cost_share_pct", "Share of cost %", COLUMN_PERCENT, false, false,
     "The part as a percentage of the total cost."},
    {"breakeven_pct", "Break-even %", COLUMN_PERCENT, false, false,
     "Above this utilization owning is cheaper than this price; above 100: "
     "never. Empty for a price with a term: it is due whether or not it is "
     "used (in rows 'without': what owning costs in % of it)."},
    {"billed_hours", "Billed hours", COLUMN_HOURS, false, false,
     "The hours of a year for which the price is paid: all hours if the price "
     "has a term, else the productive hours."},
    {"term", "Term", COLUMN_TEXT, false, false,
     "The commitment that the price asks for."},
    {"as_of", "Price of", COLUMN_DATE, false, false,
     "When the price was read."},
    {"age_days", "Age, days", COLUMN_COUNT, false, false,
     "The age of the price at the end of the facts; without facts, compared "
     "with the newest price."},
    {"source", "Source", COLUMN_TEXT, false, true, "Where the price was read."},
    {"difference", "Difference", COLUMN_RATE, false, false,
     "For a change, the increase of the price per hour."},
    {"against", "Against", COLUMN_TEXT, false, true,
     "The price that a change's break-even is against."},
};

void breakeven_begin_row (const struct breakeven_view *v, const char *kind,
                          const char *item)
{
    report_row (v->report);
    report_put_text (v->report, C_POOL, v->b->pool);
    report_put_text (v->report, C_KIND, kind);
    report_put_text (v->report, C_ITEM, item);
}

void breakeven_put (const struct breakeven_view *v, size_t at, mpq_srcptr value)
{
    GL_AUTOFREE char *percent = NULL;
    mpq_t seconds;

    if (!value)
        return;
    switch (columns[at].type) {
    case COLUMN_PERCENT:
        percent = breakeven_percent_text (value);
        report_put_text (v->report, at, percent);
        break;
    case COLUMN_HOURS:
        mpq_init (seconds);
        exact_add_scaled (seconds, value, 3600, 1);
        report_put_hours (v->report, at, seconds);
        mpq_clear (seconds);
        break;
    default:
        report_put_exact (
            v->report, at, value,
            columns[at].type == COLUMN_MONEY ? v->site->currency_digits : 4);
    }
}

static void put_text (const struct breakeven_view *v, size_t at,
                      const char *text)
{
    if (text)
        report_put_text (v->report, at, text);
}

char *breakeven_percent_text (mpq_srcptr ratio)
{
    char *text;
    mpq_t percent;

    mpq_init (percent);
    exact_add_scaled (percent, ratio, 100, 1);
    text = exact_text (percent, 1);
    mpq_clear (percent);
    return text;
}

/* ---- parts and prices ---- */

static void add_part (const struct breakeven_view *v, const char *kind,
                      const char *name, mpq_srcptr per_year,
                      mpq_srcptr per_hour)
{
    mpq_t share;

    breakeven_begin_row (v, kind, name);
    breakeven_put (v, C_PER_YEAR, per_year);
    breakeven_put (v, C_PER_HOUR, per_hour);
    mpq_init (share);
    if (mpq_sgn (v->b->per_gpu_year) != 0) {
        mpq_div (share, per_year, v->b->per_gpu_year);
        breakeven_put (v, C_SHARE, share);
    }
    mpq_clear (share);
}

static void add_parts (const struct breakeven_view *v)
{
    const breakeven_t *b = v->b;

    for (size_t i = 0; i < b->part_count; i++)
        add_part (v, "part", b->part[i].name, b->part[i].per_gpu_year,
                  b->part[i].per_hour);
    add_part (v, "total", "all parts", b->per_gpu_year, b->per_hour);
}

static void add_cloud (const struct breakeven_view *v,
                       const breakeven_cloud_t *price)
{
    const site_cloud_t *cloud = price->cloud;

    breakeven_begin_row (v, "price", cloud->name);
    breakeven_put (v, C_PER_YEAR, price->per_gpu_year);
    breakeven_put (v, C_PER_HOUR, cloud->per_gpu_hour);
    breakeven_put (v, C_BREAKEVEN,
                   price->committed ? NULL : price->utilization);
    breakeven_put (v, C_BILLED, price->billed_hours);
    put_text (v, C_TERM, cloud->term);
    put_text (v, C_AS_OF, cloud->as_of);
    if (price->age_days != BREAKEVEN_NO_AGE)
        report_put_count (v->report, C_AGE, (uint64_t)price->age_days);
    put_text (v, C_SOURCE, cloud->source);
}

/* ---- other utilizations ---- */

static void add_utilizations (const struct breakeven_view *v)
{
    mpq_t u, per_hour;

    mpq_inits (u, per_hour, NULL);
    for (int percent = 10; percent <= 100; percent += 10) {
        GL_AUTOFREE char *item = xasprintf ("%d %%", percent);
        exact_set_i64 (u, percent, 100);
        breakeven_cost_at (v->b, u, per_hour);
        breakeven_begin_row (v, "utilization", item);
        breakeven_put (v, C_PER_HOUR, per_hour);
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

static void add_row (const struct breakeven_view *v,
                     const breakeven_cloud_t *against,
                     const breakeven_t *changed, const struct effect *effect)
{
    breakeven_begin_row (v, "change", effect->label);
    breakeven_put (v, C_PER_YEAR, changed->per_gpu_year);
    breakeven_put (v, C_PER_HOUR, changed->per_hour);
    breakeven_put (v, C_DIFFERENCE, effect->difference);
    if (against && !against->committed) {
        size_t at = against - v->b->cloud;
        breakeven_put (v, C_BREAKEVEN, changed->cloud[at].utilization);
        report_put_text (v->report, C_AGAINST, against->cloud->name);
    }
}

static int by_size (const void *a, const void *b)
{
    const struct effect *x = a, *y = b;
    int order = mpq_cmp (y->size, x->size);

    return order ? order : strcmp (x->label, y->label);
}

/* The tornado: the largest effect first. */
static void chart_effects (const struct breakeven_view *v,
                           struct effect *effects, size_t count)
{
    GL_AUTOFREE char *title
        = xasprintf ("What moves the cost of an hour in %s", v->b->pool);
    GL_AUTOFREE char *unit = xasprintf ("%s for a GPU hour", v->site->currency);
    mpq_t *value = xcalloc (count + 1, sizeof (*value));
    const char **label = xcalloc (count + 1, sizeof (*label));
    plot_series_t change = {.title = "Change", .value = (const mpq_t *)value};

    qsort (effects, count, sizeof (*effects), by_size);
    for (size_t i = 0; i < count; i++) {
        mpq_init (value[i]);
        mpq_set (value[i], effects[i].difference);
        label[i] = effects[i].label;
    }
    report_plot (v->report,
                 &(plot_t){.kind = CHART_CHANGES,
                           .title = title,
                           .description
                           = "The change of the cost of a productive GPU hour "
                             "by each other input, the largest first.",
                           .type = COLUMN_RATE,
                           .unit = unit,
                           .point = label,
                           .point_count = count,
                           .series = &change,
                           .series_count = 1});
    GL_FREE_EACH (value, count, it, mpq_clear (*it));
    free (label);
}

/* One change; nothing where it makes no difference (the book has it so, or has
 * none of what changes), and a note where it cannot be made. */
static int add_change (const struct breakeven_view *v,
                       const breakeven_cloud_t *against,
                       const breakeven_change_t *change, struct effect *effect,
                       gl_error_t *error)
{
    breakeven_t changed;

    if (breakeven_changed (v->site, v->b->pool, v->at, NULL, change, &changed,
                           error)
        < 0)
        return -1;
    effect->label = change->label;
    if (changed.beyond)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: '%s' is left out: it subtracts more than the "
                     "book has.",
                     v->b->pool, change->label);
    else if (!changed.hasty)
        mpq_sub (effect->difference, changed.per_hour, v->b->per_hour);
    mpq_abs (effect->size, effect->difference);
    if (mpq_sgn (effect->size) != 0)
        add_row (v, against, &changed, effect);
    breakeven_clear (&changed);
    return 0;
}

static int add_changes (const struct breakeven_view *v, gl_error_t *error)
{
    size_t change_count, count = 0;
    const breakeven_change_t *changes = breakeven_changes (&change_count);
    struct effect *effects = xcalloc (change_count, sizeof (*effects));
    const breakeven_cloud_t *against;
    int rc = breakeven_against (v->b, v->query->against, &against, error);

    for (size_t i = 0; i < change_count; i++)
        mpq_inits (effects[i].difference, effects[i].size, NULL);
    for (size_t i = 0; i < change_count && rc == 0; i++) {
        rc = add_change (v, against, &changes[i], &effects[count], error);
        count += rc == 0 && mpq_sgn (effects[count].size) != 0;
    }
    if (rc == 0)
        chart_effects (v, effects, count);
    GL_FREE_EACH (effects, change_count, it,
                  mpq_clears (it->difference, it->size, NULL));
    return rc;
}

/* ---- what people see first ---- */

static void add_figures (const struct breakeven_view *v)
{
    const breakeven_t *b = v->b;
    GL_AUTOFREE char *u = breakeven_percent_text (b->utilization);
    GL_AUTOFREE char *hour = exact_text (b->per_hour, 4);
    GL_AUTOFREE char *year
        = exact_text (b->per_gpu_year, v->site->currency_digits);
    GL_AUTOFREE char *hint = xasprintf ("%s per productive GPU hour at %s %%",
                                        v->site->currency, u);
    GL_AUTOFREE char *year_hint
        = xasprintf ("%s per GPU and year, %llu GPUs", v->site->currency,
                     (unsigned long long)b->gpus);

    report_figure (v->report, b->pool, hour, hint, COLUMN_RATE);
    report_figure (v->report, b->pool, year, year_hint, COLUMN_MONEY);
    for (size_t i = 0, shown = 0; i < b->cloud_count && shown < 2; i++) {
        if (b->cloud[i].old || b->cloud[i].committed)
            continue;
        shown++;
        GL_AUTOFREE char *percent
            = breakeven_percent_text (b->cloud[i].utilization);
        GL_AUTOFREE char *value = xasprintf ("%s %%", percent);
        GL_AUTOFREE char *against
            = xasprintf ("break-even against %s", b->cloud[i].cloud->name);
        report_figure (v->report, b->pool, value, against, COLUMN_TEXT);
    }
}

static void chart_parts (const struct breakeven_view *v)
{
    const breakeven_t *b = v->b;
    GL_AUTOFREE char *title
        = xasprintf ("What a year of one GPU in %s costs", b->pool);
    report_chart_t *chart
        = report_chart (v->report, CHART_STACK, title,
                        "The parts of the yearly cost of a GPU.");

    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *text
            = exact_text (b->part[i].per_gpu_year, v->site->currency_digits);
        report_chart_item (chart, b->part[i].name, text,
                           b->part[i].per_gpu_year, b->per_gpu_year,
                           (int)(i % 5));
    }
}

/* Each part with its arithmetic; the sum is formed from the exact parts. */
static void prove (const struct breakeven_view *v)
{
    const breakeven_t *b = v->b;
    GL_AUTOFREE char *u = breakeven_percent_text (b->utilization);
    GL_AUTOFREE char *hours = exact_text (b->productive_hours, 1);
    GL_AUTOFREE char *total = exact_text (b->per_hour, 4);
    GL_AUTOFREE char *title = xasprintf (
        "Pool %s: %s per productive GPU hour at %s %% (%s of %d hours a year)",
        b->pool, v->site->currency, u, hours, b->hours);
    report_proof_t *proof = report_proof (v->report, title);
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("%s: %s", b->part[i].name, b->part[i].how);
        GL_AUTOFREE char *text = exact_text (b->part[i].per_hour, 4);
        report_proof_line (proof, label, text);
        mpq_add (sum, sum, b->part[i].per_hour);
    }
    report_proof_line (proof, "total", total);
    proof->holds = mpq_equal (sum, b->per_hour);
    mpq_clear (sum);
}

/* ---- notes ---- */

/* A term is paid for around the clock: there is no utilization from which on
 * owning is cheaper, it is or it is not. */
static void note_committed (const struct breakeven_view *v,
                            const breakeven_cloud_t *cloud, const char *price,
                            const char *share)
{
    int digits = v->site->currency_digits;
    GL_AUTOFREE char *rent = exact_text (cloud->per_gpu_year, digits);
    GL_AUTOFREE char *own = exact_text (v->b->per_gpu_year, digits);

    report_note (v->report, NOTE_INFORMATION,
                 "Pool %s: %s is billed around the clock (term %s), used or "
                 "not: %s %s a year in place of one GPU. Owning it costs %s, "
                 "%s %% of that: %s at any utilization.",
                 v->b->pool, price, cloud->cloud->term, v->site->currency, rent,
                 own, share, cloud->never ? "dearer" : "cheaper");
}

static void note_cloud (const struct breakeven_view *v,
                        const breakeven_cloud_t *cloud)
{
    const char *as_of = cloud->cloud->as_of;
    GL_AUTOFREE char *u = breakeven_percent_text (cloud->utilization);
    GL_AUTOFREE char *hour = exact_text (cloud->cloud->per_gpu_hour, 2);
    GL_AUTOFREE char *price = xasprintf (
        "%s at %s %s per GPU hour%s%s", cloud->cloud->name, v->site->currency,
        hour, as_of ? ", as of " : ", without a date", as_of ? as_of : "");

    if (cloud->committed)
        note_committed (v, cloud, price, u);
    else if (cloud->never)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: %s is cheaper than owning at any utilization "
                     "(break-even %s %%).",
                     v->b->pool, price, u);
    else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: owning is cheaper than %s above a utilization "
                     "of %s %%.",
                     v->b->pool, price, u);
}

static void note_clouds (const struct breakeven_view *v)
{
    for (size_t i = 0; i < v->b->cloud_count; i++)
        if (!v->b->cloud[i].old)
            note_cloud (v, &v->b->cloud[i]);
    if (v->b->cloud_count == 0)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: no price to compare with; enter some for its "
                     "GPU model under 'clouds'.",
                     v->b->pool);
}

int breakeven_max_months (int max_age)
{
    return max_age == 0                   ? BREAKEVEN_MAX_AGE
           : max_age == BREAKEVEN_ANY_AGE ? 0
                                          : max_age;
}

void breakeven_leave_old (report_t *report, breakeven_t *b, const site_t *site,
                          int64_t known, int max_age)
{
    int months = breakeven_max_months (max_age);
    BUFFER_AUTO names = BUFFER_INIT;
    civil_t day;
    int years = 1;

    breakeven_set_ages (b, site, known, months);
    for (size_t i = 0; i < b->cloud_count; i++) {
        const breakeven_cloud_t *cloud = &b->cloud[i];
        int needed = breakeven_age_years (b, cloud);
        if (!cloud->old)
            continue;
        buffer_printf (&names, "%s%s (%s, %lld days)", names.length ? ", " : "",
                       cloud->cloud->name, cloud->cloud->as_of,
                       (long long)cloud->age_days);
        if (needed > years)
            years = needed;
    }
    if (names.length == 0)
        return;
    day = calendar_civil_of_day (b->price_day);
    report_note_pool (report, NOTE_INFORMATION, b->pool,
                 "prices that were %d months old or older on "
                 "%04d-%02d-%02d are left out: %s.",
                 months, day.year, day.month, day.day,
                 buffer_text (&names));
    report_note_pool (report, NOTE_COMMAND, b->pool,
                      "--max-age %dy compares with the prices that are left "
                      "out.",
                      years);
}

/* The reader knows of the sale, and could not tell from the sum alone. */
static void note_retired (const struct breakeven_view *v)
{
    for (size_t i = 0; i < v->site->asset_count; i++) {
        const site_asset_t *asset = &v->site->assets[i];
        const civil_t *day = &asset->retired;
        bool gone;
        if (!day->year
            || strcmp (asset_pool (asset, calendar_day_number (
                                              day->year, day->month, day->day)),
                       v->b->pool))
            continue;
        gone = v->b->at >= zone_instant (v->site->zone, day);
        report_note (v->report, NOTE_INFORMATION,
                     gone ? "Pool %s: '%s' is retired since %04d-%02d-%02d and "
                            "does not count."
                          : "Pool %s: '%s' counts: it retires on "
                            "%04d-%02d-%02d, after the end of the facts.",
                     v->b->pool, asset->name, day->year, day->month, day->day);
    }
}

/* ---- the report ---- */

static int add_pool (const struct breakeven_view *v, gl_error_t *error)
{
    note_retired (v);
    if (v->b->part_count == 0) {
        report_note (v->report, NOTE_WARNING,
                     "Pool %s: the cost is unknown. Enter it under 'assets', "
                     "'staff', 'power' and 'costs'.",
                     v->b->pool);
        return 0;
    }
    add_parts (v);
    for (size_t i = 0; i < v->b->cloud_count; i++)
        if (!v->b->cloud[i].old)
            add_cloud (v, &v->b->cloud[i]);
    add_utilizations (v);
    if (add_changes (v, error) < 0)
        return -1;
    add_figures (v);
    chart_parts (v);
    prove (v);
    note_clouds (v);
    return breakeven_add_printed (v, error);
}

static bool is_asked (const text_list_t *pools, const char *name)
{
    return !pools || texts_have (pools, name);
}

static bool is_first_entry (const site_t *site, size_t pool)
{
    return !GL_ANY (site->pools, pool, it,
                    !strcmp (it->name, site->pools[pool].name));
}

static int add_pools (report_t *report, const site_t *site, int64_t known,
                      const breakeven_query_t *query, gl_error_t *error)
{
    size_t count = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        const char *name = site->pools[i].name;
        int64_t at = breakeven_instant (site, name, known);
        breakeven_t b = {0};
        const struct breakeven_view view = {report, site, at, query, &b};
        int rc;
        if (site->pools[i].resource == RESOURCE_CPU || !is_first_entry (site, i)
            || !is_asked (query->pools, name))
            continue;
        if (breakeven_of_pool (site, name, at, NULL, &b, error) < 0)
            return -1;
        breakeven_leave_old (report, &b, site, known, query->max_age);
        rc = add_pool (&view, error);
        breakeven_clear (&b);
        if (rc < 0)
            return -1;
        count++;
    }
    if (count == 0)
        return breakeven_no_pools (query->pools != NULL, error);
    return 0;
}

int breakeven_no_pools (bool named, gl_error_t *error)
{
    return gl_error (error,
                     named ? "there is no such pool in the configuration"
                           : "the configuration has no pools: list the GPU "
                             "nodes under 'pools' and what they cost under "
                             "'assets', 'staff', 'power' and 'costs'");
}

report_t *breakeven_report_make (const site_t *site, int64_t known,
                                 const breakeven_query_t *query,
                                 gl_error_t *error)
{
    report_t *report = report_new ("breakeven", "Owning or renting");
    GL_AUTOFREE char *u = breakeven_percent_text (site->policy.utilization);
    GL_AUTOFREE char *utilization = xasprintf ("%s %%", u);

    report_parameter (report, "currency", site->currency);
    report_parameter (report, "utilization", utilization);
    report_provenance (report, "program", "gpuledger");
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    if (add_pools (report, site, known, query, error) < 0) {
        report_free (report);
        return NULL;
    }
    return report;
}
