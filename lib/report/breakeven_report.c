#include <string.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/depreciation.h"
#include "report/breakeven_private.h"

static size_t column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key, const char *help)
{
    size_t index = report_column (report, name, title, type, is_key);

    report_column_help (report, index, help);
    return index;
}

static struct breakeven_columns add_columns (report_t *report)
{
    struct breakeven_columns c;

    c.pool = column (report, "pool", "Pool", COLUMN_TEXT, true, "");
    c.kind = column (report, "kind", "Kind", COLUMN_TEXT, true,
                     "part: of the cost of owning; total: all parts; price: "
                     "of renting; utilization: the hour at another one; "
                     "change: with another input; without: a part left out.");
    c.item = column (report, "item", "Item", COLUMN_TEXT, true, "");
    c.per_year
        = column (report, "per_gpu_year", "Per GPU and year", COLUMN_MONEY,
                  false, "The yearly cost of one GPU, used or not. Of a price: "
                  "the hours that are billed x the price.");
    c.per_hour
        = column (report, "per_gpu_hour", "Per GPU hour", COLUMN_RATE, false,
                  "Of a part: the yearly cost divided by the productive "
                  "hours of a year. Of a price: the price.");
    c.share = column (report, "share_pct", "Share %", COLUMN_PERCENT, false,
                      "The part of the total.");
    c.breakeven = column (report, "breakeven_pct", "Break-even %",
                          COLUMN_PERCENT, false,
                          "Above this utilization owning is cheaper than this "
                          "price; above 100: never. None for a price with a "
                          "term: it is due whatever is used (in rows "
                          "'without': what owning costs in % of it).");
    c.billed = column (report, "billed_hours", "Billed hours", COLUMN_HOURS,
                       false,
                       "Hours of a year that a price is paid for: all of them "
                       "where it has a term, else the productive ones.");
    c.term = column (report, "term", "Term", COLUMN_TEXT, false,
                     "The commitment that the price asks for.");
    c.as_of = column (report, "as_of", "Price of", COLUMN_TEXT, false,
                      "When the price was read.");
    c.age = column (report, "age_days", "Age, days", COLUMN_COUNT, false,
                    "How old the price is where the facts end; without facts: "
                    "older than the newest price.");
    c.source = column (report, "source", "Source", COLUMN_TEXT, false,
                       "Where the price was read.");
    c.difference = column (report, "difference", "Difference", COLUMN_RATE,
                           false, "Of a change: how much dearer an hour is.");
    c.against = column (report, "against", "Against", COLUMN_TEXT, false,
                        "The price that a change's break-even is against.");
    report->column[c.source].detail = true;
    report->column[c.against].detail = true;
    return c;
}

void breakeven_put_percent (report_t *report, size_t at, const mpq_t ratio)
{
    mpq_t percent;

    mpq_init (percent);
    mpq_set_ui (percent, 100, 1);
    mpq_mul (percent, percent, ratio);
    report_put_exact (report, at, percent, 1);
    mpq_clear (percent);
}

void breakeven_begin_row (report_t *report, const struct breakeven_columns *c,
                          const breakeven_t *b, const char *kind,
                          const char *item)
{
    report_row (report);
    report_put_text (report, c->pool, b->pool);
    report_put_text (report, c->kind, kind);
    report_put_text (report, c->item, item);
}

static void add_parts (report_t *report, const struct breakeven_columns *c,
                       const breakeven_t *b, int digits)
{
    mpq_t share;

    mpq_init (share);
    for (size_t i = 0; i < b->part_count; i++) {
        breakeven_begin_row (report, c, b, "part", b->part[i].name);
        report_put_exact (report, c->per_year, b->part[i].per_gpu_year, digits);
        report_put_exact (report, c->per_hour, b->part[i].per_hour, 4);
        if (mpq_sgn (b->per_gpu_year) != 0) {
            mpq_div (share, b->part[i].per_gpu_year, b->per_gpu_year);
            breakeven_put_percent (report, c->share, share);
        }
    }
    breakeven_begin_row (report, c, b, "total", "all parts");
    report_put_exact (report, c->per_year, b->per_gpu_year, digits);
    report_put_exact (report, c->per_hour, b->per_hour, 4);
    mpq_set_ui (share, 1, 1);
    breakeven_put_percent (report, c->share, share);
    mpq_clear (share);
}

static void put_optional (report_t *report, size_t at, const char *text)
{
    if (text)
        report_put_text (report, at, text);
}

static void add_cloud (report_t *report, const struct breakeven_columns *c,
                       const breakeven_t *b, const breakeven_cloud_t *price,
                       int digits)
{
    const site_cloud_t *cloud = price->cloud;
    mpq_t seconds;

    breakeven_begin_row (report, c, b, "price", cloud->name);
    report_put_exact (report, c->per_year, price->per_gpu_year, digits);
    report_put_exact (report, c->per_hour, cloud->per_gpu_hour, 4);
    if (!price->committed)
        breakeven_put_percent (report, c->breakeven, price->utilization);
    mpq_init (seconds);
    exact_add_scaled (seconds, price->billed_hours, 3600, 1);
    report_put_hours (report, c->billed, seconds);
    mpq_clear (seconds);
    put_optional (report, c->term, cloud->term);
    put_optional (report, c->as_of, cloud->as_of);
    if (price->age_days != BREAKEVEN_NO_AGE)
        report_put_count (report, c->age, (uint64_t)price->age_days);
    put_optional (report, c->source, cloud->source);
}

static void add_clouds (report_t *report, const struct breakeven_columns *c,
                        const breakeven_t *b, int digits)
{
    for (size_t i = 0; i < b->cloud_count; i++)
        if (!b->cloud[i].old)
            add_cloud (report, c, b, &b->cloud[i], digits);
}

/* A ratio as "54.2". */
char *breakeven_percent_text (const mpq_t ratio)
{
    char *text;
    mpq_t percent;

    mpq_init (percent);
    mpq_set_ui (percent, 100, 1);
    mpq_mul (percent, percent, ratio);
    text = exact_text (percent, 1);
    mpq_clear (percent);
    return text;
}

static void proof_exact (report_proof_t *proof, const char *label,
                         const mpq_t value, int digits)
{
    GL_AUTOFREE char *text = exact_text (value, digits);

    report_proof_line (proof, label, text);
}

/* Each part with its arithmetic; the sum is formed from the exact parts. */
static void prove (report_t *report, const breakeven_t *b, const site_t *site)
{
    GL_AUTOFREE char *u = breakeven_percent_text (b->utilization);
    GL_AUTOFREE char *hours = exact_text (b->productive_hours, 1);
    GL_AUTOFREE char *title = xasprintf (
        "Pool %s: %s per productive GPU hour at %s %% (%s of %d hours a year)",
        b->pool, site->currency, u, hours, b->hours);
    report_proof_t *proof = report_proof (report, title);
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *label
            = b->part[i].how
                  ? xasprintf ("%s: %s", b->part[i].name, b->part[i].how)
                  : xstrdup (b->part[i].name);
        proof_exact (proof, label, b->part[i].per_hour, 4);
        mpq_add (sum, sum, b->part[i].per_hour);
    }
    proof_exact (proof, "total", b->per_hour, 4);
    mpq_sub (sum, b->per_hour, sum);
    proof->holds = mpq_sgn (sum) == 0;
    mpq_clear (sum);
}

/* A term is paid for around the clock: there is no utilization from which on
 * owning is cheaper, it is or it is not. */
static void note_committed (report_t *report, const breakeven_t *b,
                            const breakeven_cloud_t *cloud, const char *price,
                            const site_t *site)
{
    int digits = site->currency_digits;
    GL_AUTOFREE char *rent = exact_text (cloud->per_gpu_year, digits);
    GL_AUTOFREE char *own = exact_text (b->per_gpu_year, digits);
    GL_AUTOFREE char *share = breakeven_percent_text (cloud->utilization);

    report_note (report, NOTE_INFORMATION,
                 "Pool %s: %s is billed around the clock (term %s), used or "
                 "not: %s %s a year in place of one GPU. Owning it costs %s, "
                 "%s %% of that: %s at any utilization.",
                 b->pool, price, cloud->cloud->term, site->currency, rent, own,
                 share, cloud->never ? "dearer" : "cheaper");
}

static void note_cloud (report_t *report, const breakeven_t *b,
                        const breakeven_cloud_t *cloud, const site_t *site)
{
    GL_AUTOFREE char *u = breakeven_percent_text (cloud->utilization);
    GL_AUTOFREE char *hour = exact_text (cloud->cloud->per_gpu_hour, 2);
    GL_AUTOFREE char *when
        = cloud->cloud->as_of ? xasprintf (", as of %s", cloud->cloud->as_of)
                              : xstrdup (", without a date");
    GL_AUTOFREE char *price = xasprintf ("%s at %s %s per GPU hour%s",
                                         cloud->cloud->name, site->currency,
                                         hour, when);

    if (cloud->committed)
        note_committed (report, b, cloud, price, site);
    else if (cloud->never)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: %s is cheaper than owning at any utilization "
                     "(break-even %s %%).",
                     b->pool, price, u);
    else
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: owning is cheaper than %s above a utilization "
                     "of %s %%.",
                     b->pool, price, u);
}

static void note_clouds (report_t *report, const breakeven_t *b,
                         const site_t *site)
{
    for (size_t i = 0; i < b->cloud_count; i++)
        if (!b->cloud[i].old)
            note_cloud (report, b, &b->cloud[i], site);
    if (b->cloud_count == 0)
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: no price to compare with; enter some for its "
                     "GPU model under 'clouds'.",
                     b->pool);
}

void breakeven_leave_old (report_t *report, breakeven_t *b, const site_t *site,
                          int64_t known, int max_age)
{
    int months = max_age == 0                   ? BREAKEVEN_MAX_AGE
                 : max_age == BREAKEVEN_ANY_AGE ? 0
                                                : max_age;
    BUFFER_AUTO names = BUFFER_INIT;
    size_t count = 0;
    int years = 1;

    breakeven_set_ages (b, site, known, months);
    for (size_t i = 0; i < b->cloud_count; i++) {
        const breakeven_cloud_t *cloud = &b->cloud[i];
        int needed = breakeven_age_years (b, cloud);
        if (!cloud->old)
            continue;
        buffer_printf (&names, "%s%s (%s, %lld days)", count++ ? ", " : "",
                       cloud->cloud->name, cloud->cloud->as_of,
                       (long long)cloud->age_days);
        if (needed > years)
            years = needed;
    }
    if (count > 0) {
        civil_t day = calendar_civil_of_day (b->price_day);
        report_note (report, NOTE_INFORMATION,
                     "Pool %s: prices that were %d months old or older on "
                     "%04d-%02d-%02d are left out: %s. --max-age %dy compares "
                     "with them.",
                     b->pool, months, day.year, day.month, day.day,
                     buffer_text (&names), years);
    }
}

/* The reader knows of the sale, and could not tell from the sum alone. */
static void note_retired (report_t *report, const breakeven_t *b,
                          const site_t *site)
{
    for (size_t i = 0; i < site->asset_count; i++) {
        const site_asset_t *asset = &site->assets[i];
        int64_t day = calendar_day_number (
            asset->retired.year, asset->retired.month, asset->retired.day);
        bool gone;
        if (!asset->retired.year || strcmp (asset_pool (asset, day), b->pool))
            continue;
        gone = b->at >= zone_instant (site->zone, &asset->retired);
        report_note (report, NOTE_INFORMATION,
                     gone ? "Pool %s: '%s' is retired since %04d-%02d-%02d and "
                            "does not count."
                          : "Pool %s: '%s' counts: it retires on "
                            "%04d-%02d-%02d, of which no facts tell yet.",
                     b->pool, asset->name, asset->retired.year,
                     asset->retired.month, asset->retired.day);
    }
}

static void add_charts (report_t *report, const breakeven_t *b,
                        const site_t *site)
{
    GL_AUTOFREE char *title
        = xasprintf ("What a year of one GPU in %s costs", b->pool);
    report_chart_t *chart = report_chart (
        report, CHART_STACK, title, "The parts of the yearly cost of a GPU.");

    for (size_t i = 0; i < b->part_count; i++) {
        GL_AUTOFREE char *text
            = exact_text (b->part[i].per_gpu_year, site->currency_digits);
        report_chart_item (chart, b->part[i].name, text,
                           b->part[i].per_gpu_year, b->per_gpu_year,
                           (int)(i % 5));
    }
}

static void add_figures (report_t *report, const breakeven_t *b,
                         const site_t *site)
{
    GL_AUTOFREE char *u = breakeven_percent_text (b->utilization);
    GL_AUTOFREE char *hour = exact_text (b->per_hour, 4);
    GL_AUTOFREE char *year
        = exact_text (b->per_gpu_year, site->currency_digits);
    GL_AUTOFREE char *hint
        = xasprintf ("%s per productive GPU hour at %s %%", site->currency, u);
    GL_AUTOFREE char *year_hint
        = xasprintf ("%s per GPU and year, %llu GPUs", site->currency,
                     (unsigned long long)b->gpus);

    report_figure (report, b->pool, hour, hint, COLUMN_RATE);
    report_figure (report, b->pool, year, year_hint, COLUMN_MONEY);
    for (size_t i = 0, shown = 0; i < b->cloud_count && shown < 2; i++) {
        if (b->cloud[i].old || b->cloud[i].committed)
            continue;
        shown++;
        GL_AUTOFREE char *percent = breakeven_percent_text (b->cloud[i].utilization);
        GL_AUTOFREE char *value = xasprintf ("%s %%", percent);
        GL_AUTOFREE char *against
            = xasprintf ("break-even against %s", b->cloud[i].cloud->name);
        report_figure (report, b->pool, value, against, COLUMN_TEXT);
    }
}

static int add_pool (report_t *report, const struct breakeven_columns *columns,
                     const breakeven_subject_t *subject, gl_error_t *error)
{
    const breakeven_t *b = subject->breakeven;
    const site_t *site = subject->site;

    note_retired (report, b, site);
    if (b->part_count == 0) {
        report_note (report, NOTE_WARNING,
                     "Pool %s: no cost is known. Enter it under 'assets', "
                     "'staff', 'power' and 'costs'.",
                     b->pool);
        return 0;
    }
    add_parts (report, columns, b, site->currency_digits);
    add_clouds (report, columns, b, site->currency_digits);
    breakeven_add_utilizations (report, columns, b);
    if (breakeven_add_changes (report, columns, subject, error) < 0)
        return -1;
    add_figures (report, b, site);
    add_charts (report, b, site);
    prove (report, b, site);
    note_clouds (report, b, site);
    return breakeven_add_printed (report, columns, subject, error);
}

static bool is_asked (const text_list_t *pools, const char *name)
{
    for (size_t i = 0; pools && i < pools->count; i++)
        if (!strcmp (pools->item[i], name))
            return true;
    return pools == NULL;
}

static bool is_first_entry (const site_t *site, size_t pool)
{
    for (size_t i = 0; i < pool; i++)
        if (!strcmp (site->pools[i].name, site->pools[pool].name))
            return false;
    return true;
}

static int add_pools (report_t *report, const site_t *site, int64_t known,
                      const breakeven_query_t *query, gl_error_t *error)
{
    struct breakeven_columns columns = add_columns (report);
    size_t count = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        const char *name = site->pools[i].name;
        int64_t at = breakeven_instant (site, name, known);
        breakeven_t b = {0};
        const breakeven_subject_t subject = {site, at, query, &b};
        int rc;
        if (!is_first_entry (site, i) || !is_asked (query->pools, name))
            continue;
        if (breakeven_of_pool (site, name, at, NULL, &b, error) < 0)
            return -1;
        breakeven_leave_old (report, &b, site, known, query->max_age);
        rc = add_pool (report, &columns, &subject, error);
        breakeven_clear (&b);
        if (rc < 0)
            return -1;
        count++;
    }
    if (count == 0)
        return gl_error (error,
                         query->pools
                             ? "there is no such pool in the configuration"
                             : "the configuration has no pools: list the "
                               "GPU nodes under 'pools' and what they cost "
                               "under 'assets', 'staff', 'power' and "
                               "'costs'");
    return 0;
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
    if (add_pools (report, site, known, query, error) < 0) {
        report_free (report);
        return NULL;
    }
    return report;
}
