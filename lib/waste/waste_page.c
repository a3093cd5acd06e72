/* The page of what was wasted, and its lines for other pages and mails. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "waste/waste_private.h"

enum {
    AT_SECTION,
    AT_WORD,
    AT_CAUSE,
    AT_KEYS,
};

static const column_info_t first_columns[AT_KEYS] = {
    {"section", "Section", COLUMN_TEXT, true, true,
     "Part of the page: jobs, group, job, capacity, unknown or not_counted."},
    {"cause", "Word", COLUMN_TEXT, true, true,
     "The cause in one word, such as idle_spare or out_of_memory."},
    {"cause_title", "Cause", COLUMN_TEXT, true, false,
     "Why the time was wasted."},
};

/* Columns behind the keys. */
enum {
    AT_JOB,
    AT_JOB_CLUSTER,
    AT_JOB_MONTH,
    AT_JOB_TEAM,
    AT_JOB_USER,
    AT_GPUS,
    AT_ALLOCATED,
    AT_WASTED,
    AT_SHARE,
    AT_NOT_COUNTED,
    AT_NOT_COUNTED_SHARE,
    AT_KNOWN,
    AT_BEFORE,
    AT_AMOUNT,
    AT_CHANGE,
    AT_CURRENCY,
    AT_OTHERS,
    AT_REMEDY,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"job", "Job", COLUMN_TEXT, true, false,
     "The job; 'gpuledger explain JOB' shows how its time was counted."},
    {"job_cluster", "Cluster of the job", COLUMN_TEXT, false, true,
     "The cluster that the job ran on."},
    {"job_month", "Month of the job", COLUMN_DATE, false, true,
     "The month in which it wasted this time."},
    {"job_team", "Team of the job", COLUMN_TEXT, false, false,
     "The team that the job is charged to."},
    {"job_user", "User", COLUMN_TEXT, false, false, "Who submitted the job."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false,
     "Devices that the job had, at most at a time."},
    {"allocated_gpu_hours", "Allocated GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that jobs had."},
    {"wasted_gpu_hours", "Wasted GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that did no useful work."},
    {"wasted_pct", "Wasted %", COLUMN_PERCENT, false, false,
     "Wasted GPU hours as a percentage of the GPU hours that jobs had."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that are not counted as waste."},
    {"gpu_hours_pct", "Share of GPU hours %", COLUMN_PERCENT, false, false,
     "As a percentage of the GPU hours that jobs had."},
    {"known_pct", "Measured %", COLUMN_PERCENT, false, false,
     "The share of the allocated GPU hours for which agents measured whether "
     "GPUs were idle. The rest counts as not idle."},
    {"before", "Last month", COLUMN_MONEY, false, false,
     "The amount of the month before."},
    {"amount", "Amount", COLUMN_MONEY, false, false,
     "Time of jobs at its list price in the month; capacity at its cost. "
     "Empty: the pool has no price."},
    {"change", "Change", COLUMN_MONEY, false, false,
     "The amount less that of last month."},
    {"currency", "Currency", COLUMN_TEXT, false, true,
     "The currency of the amount."},
    {"other_causes", "Also wasted by", COLUMN_WORDS, false, false,
     "The other causes of the same job, which is in their lists, too, if it is "
     "among the largest. No hour is in two causes."},
    {"remedy", "What would have prevented it", COLUMN_WORDS, false, false,
     "What users or administrators can do."},
};

struct page {
    waste_report_t *w;
    report_t *report;
    size_t first; /* the first column behind the keys */
    int digits;
    waste_t allocated; /* all of it */
    cube_t *
        before; /* the same of the month before, by cause; NULL: none is compared */
    const char *before_month;
};

static size_t at (const struct page *page, size_t column)
{
    return page->first + column;
}

static void add_columns (struct page *page)
{
    report_columns (page->report, first_columns, AT_KEYS);
    report_key_columns (page->report, page->w->query);
    page->first = page->report->column_count;
    report_columns (page->report, columns, AT_COUNT);
}

static void put_amount (struct page *page, const mpz_t units)
{
    if (mpz_sgn (units) == 0)
        return;
    report_put_money (page->report, at (page, AT_AMOUNT), units, page->digits);
    report_put_text (page->report, at (page, AT_CURRENCY),
                     page->w->query->site->currency);
}

/* Of the month before; NULL: none is compared. Without a cause: all the time that jobs had. */
static const waste_t *sums_before (const struct page *page, const char *what)
{
    const waste_t key = {.what = what};

    return page->before ? cube_find (page->before, &key) : NULL;
}

/* Next to those of the month before, where the two are compared. `old` NULL: 0. An amount that is
 * not known has no change. */
static void put_compared (struct page *page, const waste_t *row,
                          const waste_t *old)
{
    bool now = waste_is_priced (row), then = waste_is_priced (old);
    mpz_t before, change;

    if (!page->before) {
        put_amount (page, row->units);
        return;
    }
    mpz_inits (before, change, NULL);
    if (old)
        mpz_set (before, old->units);
    mpz_sub (change, row->units, before);
    if (mpz_sgn (row->units) != 0 || mpz_sgn (before) != 0) {
        if (then)
            report_put_money (page->report, at (page, AT_BEFORE), before,
                              page->digits);
        if (now)
            report_put_money (page->report, at (page, AT_AMOUNT), row->units,
                              page->digits);
        if (now && then)
            report_put_money (page->report, at (page, AT_CHANGE), change,
                              page->digits);
        report_put_text (page->report, at (page, AT_CURRENCY),
                         page->w->query->site->currency);
    }
    mpz_clears (before, change, NULL);
}

/* Into the last row, or totals. `of`: the time that jobs had; NULL: none. */
static void put_sums (struct page *page, const waste_t *row, const waste_t *of)
{
    report_put_hours (page->report, at (page, AT_WASTED), row->seconds);
    if (of) {
        report_put_hours (page->report, at (page, AT_ALLOCATED), of->seconds);
        report_put_made (page->report, at (page, AT_SHARE),
                         report_percent_text (row->seconds, of->seconds));
        report_put_made (page->report, at (page, AT_KNOWN),
                         report_coverage_text (of->known, of->seconds));
    }
}

static void begin_row (struct page *page, const char *section)
{
    report_row (page->report);
    report_put_text (page->report, AT_SECTION, section);
}

static bool is_of (const waste_t *row, waste_group_t group)
{
    return waste_info (row->what)->group == group;
}

static bool is_counted (waste_group_t group)
{
    return group == WASTE_OF_JOBS || group == WASTE_OF_CAPACITY;
}

static bool is_of_jobs (const void *row, void *arg)
{
    (void)arg;
    return is_of (row, WASTE_OF_JOBS);
}

static void put_causes (struct page *page, cube_t *causes, waste_group_t group,
                        const char *section)
{
    for (size_t i = 0; i < cube_count (causes); i++) {
        const waste_t *row = cube_row (causes, i);
        const waste_info_t *info = waste_info (row->what);
        if (info->group != group)
            continue;
        begin_row (page, section);
        report_put_text (page->report, AT_WORD, row->what);
        report_put_text (page->report, AT_CAUSE, info->title);
        report_put_hours (
            page->report,
            at (page, is_counted (group) ? AT_WASTED : AT_NOT_COUNTED),
            row->seconds);
        if (group == WASTE_OF_JOBS || group == WASTE_NOT_COUNTED)
            report_put_made (
                page->report,
                at (page, is_counted (group) ? AT_SHARE : AT_NOT_COUNTED_SHARE),
                report_percent_text (row->seconds, page->allocated.seconds));
        put_compared (page, row, sums_before (page, row->what));
        report_put_text (page->report, at (page, AT_REMEDY), info->remedy);
    }
}

static void put_total (struct page *page, cube_t *causes, waste_group_t group)
{
    waste_t sum, then;
    size_t count = 0;

    fields_init (&waste_rows, &sum);
    fields_init (&waste_rows, &then);
    for (size_t i = 0; i < cube_count (causes); i++) {
        const waste_t *row = cube_row (causes, i);
        const waste_t *old = sums_before (page, row->what);
        if (!is_of (row, group))
            continue;
        fields_add (&waste_rows, &sum, row, 1);
        if (old)
            fields_add (&waste_rows, &then, old, 1);
        count++;
    }
    if (count > 0) {
        report_section_totals (page->report);
        put_sums (page, &sum, NULL);
        put_compared (page, &sum, &then);
        if (group == WASTE_OF_JOBS)
            report_put_made (
                page->report, at (page, AT_SHARE),
                report_percent_text (sum.seconds, page->allocated.seconds));
    }
    fields_clear (&waste_rows, &then);
    fields_clear (&waste_rows, &sum);
}

static void put_groups (struct page *page)
{
    const report_query_t *query = page->w->query;
    GL_AUTOFREE char *names = slice_keys_names (query, "");
    cube_t *groups = cube_new (&waste_rows, names);

    cube_where_wanted (groups, is_of_jobs, NULL);
    cube_add_cube (groups, page->w->waste);
    cube_sort (groups, "-units,-seconds");
    for (size_t i = 0; i < cube_count (groups); i++) {
        const waste_t *row = cube_row (groups, i);
        begin_row (page, "group");
        for (size_t k = 0; k < query->by.count; k++) {
            const char *text = slice_keys_text (&row->keys, query->by.id[k]);
            report_put_text (page->report, AT_KEYS + k,
                             text ? text : key_info (query->by.id[k])->absent);
        }
        put_sums (page, row, cube_find (page->w->allocated, row));
        put_amount (page, row->units);
    }
    cube_free (groups);
}

/* Of so many bytes of a text of seconds. Yours. */
static char *hours_of (const char *seconds, size_t length)
{
    char *hours;
    waste_t row;

    fields_init (&waste_rows, &row);
    field_set (field_named (&waste_rows, "seconds"), &row, seconds, length);
    hours = waste_hours_text (row.seconds);
    fields_clear (&waste_rows, &row);
    return hours;
}

/* "GPUs never busy: 1.50 hours; Jobs that failed: 0.25 hours". Yours. */
static char *others_text (const struct job *job)
{
    buffer_t text = BUFFER_INIT;
    const char *at = job->others;

    while (at && *at) {
        const size_t word = strcspn (at, "=,"), all = strcspn (at, ",");
        const waste_info_t *info = waste_named (at, word);
        if (info && word < all) {
            GL_AUTOFREE char *hours = hours_of (at + word + 1, all - word - 1);
            buffer_printf (&text, "%s%s: %s hours", text.length ? "; " : "",
                           info->title, hours);
        }
        at += all + (at[all] == ',');
    }
    return buffer_take (&text);
}

static void put_job (struct page *page, const struct job *job)
{
    GL_AUTOFREE char *id = xasprintf ("%llu", (unsigned long long)job->id_job);
    GL_AUTOFREE char *others = job->others ? others_text (job) : NULL;

    begin_row (page, "job");
    report_put_text (page->report, AT_WORD, job->what);
    report_put_text (page->report, at (page, AT_JOB), id);
    report_put_text (page->report, at (page, AT_JOB_CLUSTER), job->cluster);
    report_put_text (page->report, at (page, AT_JOB_MONTH), job->month);
    if (job->team)
        report_put_text (page->report, at (page, AT_JOB_TEAM), job->team);
    report_put_text (page->report, at (page, AT_JOB_USER),
                     job->user ? job->user : key_info (KEY_USER)->absent);
    report_put_count (page->report, at (page, AT_GPUS), job->devices);
    report_put_hours (page->report,
                      at (page, is_counted (waste_info (job->what)->group)
                                    ? AT_WASTED
                                    : AT_NOT_COUNTED),
                      job->seconds);
    put_amount (page, job->units);
    if (others)
        report_put_text (page->report, at (page, AT_OTHERS), others);
}

/* A section for each cause. */
static void put_jobs (struct page *page, cube_t *causes, waste_group_t group)
{
    for (size_t i = 0; i < cube_count (causes); i++) {
        const waste_t *row = cube_row (causes, i);
        const waste_info_t *info = waste_info (row->what);
        struct top *top = waste_top_of (page->w, row->what);
        GL_AUTOFREE char *title = xasprintf ("%s: the largest", info->title);
        GL_AUTOFREE char *help = xasprintf (
            "%s Amounts are at list price, before what its QOS, subsidies, "
            "tiers, surcharges and entitlements change in the charge.",
            info->remedy);
        if (info->group != group || top->count == 0)
            continue;
        report_section (page->report, title, help);
        report_section_fold (page->report);
        for (size_t k = 0; k < top->count; k++)
            put_job (page, &top->job[k]);
    }
}

static void chart_causes (struct page *page, cube_t *causes)
{
    report_chart_t *chart = NULL;
    mpz_t largest;

    mpz_init (largest);
    for (size_t i = 0; i < cube_count (causes); i++) {
        const waste_t *row = cube_row (causes, i);
        if (is_of (row, WASTE_OF_JOBS) && mpz_cmp (row->units, largest) > 0)
            mpz_set (largest, row->units);
    }
    for (size_t i = 0; i < cube_count (causes) && mpz_sgn (largest); i++) {
        const waste_t *row = cube_row (causes, i);
        if (!is_of (row, WASTE_OF_JOBS) || mpz_sgn (row->units) == 0)
            continue;
        if (!chart)
            chart = report_chart (page->report, CHART_BARS,
                                  "Wasted GPU time of jobs by cause",
                                  "The amount of each cause.");
        report_chart_money (chart, waste_info (row->what)->title, row->units,
                            largest, page->digits, 0);
    }
    mpz_clear (largest);
}

/* What a cause wasted in each month. */
static void series_of (const struct page *page, cube_t *by_month,
                       const char *what, mpq_t *ret_value)
{
    for (size_t i = 0; i < page->w->month_count; i++) {
        const waste_t key
            = {.what = what, .keys.month = page->w->month[i]->name};
        const waste_t *row = cube_find (by_month, &key);
        mpq_init (ret_value[i]);
        if (row)
            mpq_set_z (ret_value[i], row->units);
    }
}

static void plot_months (struct page *page, const plot_series_t *series,
                         size_t count)
{
    size_t months = page->w->month_count;
    GL_AUTOFREE const char **point = xcalloc (months + 1, sizeof (*point));

    for (size_t i = 0; i < months; i++)
        point[i] = page->w->month[i]->name;
    report_plot (
        page->report,
        &(plot_t){.kind = CHART_COLUMNS,
                  .title = "Month by month",
                  .description = "Wasted GPU time of jobs by month and cause.",
                  .type = COLUMN_MONEY,
                  .digits = page->digits,
                  .unit = page->w->query->site->currency,
                  .point = point,
                  .point_count = months,
                  .series = series,
                  .series_count = count});
}

static void chart_months (struct page *page, cube_t *causes)
{
    size_t months = page->w->month_count, count = 0;
    GL_AUTOFREE plot_series_t *series
        = xcalloc (cube_count (causes) + 1, sizeof (*series));
    GL_AUTOFREE mpq_t *value
        = xcalloc (cube_count (causes) * months + 1, sizeof (*value));
    cube_t *by_month = cube_new (&waste_rows, "what,month");

    cube_add_cube (by_month, page->w->waste);
    for (size_t i = 0; i < cube_count (causes); i++) {
        const waste_t *row = cube_row (causes, i);
        if (!is_of (row, WASTE_OF_JOBS) || mpz_sgn (row->units) == 0)
            continue;
        series_of (page, by_month, row->what, value + count * months);
        series[count] = (plot_series_t){.title = waste_info (row->what)->title,
                                        .value = value + count * months,
                                        .shade = (int)count};
        count++;
    }
    if (months > 1 && count > 0)
        plot_months (page, series, count);
    for (size_t i = 0; i < count * months; i++)
        mpq_clear (value[i]);
    cube_free (by_month);
}

static void put_hours_figure (struct page *page, const char *known)
{
    GL_AUTOFREE char *hours = report_hours_text (page->allocated.seconds);
    GL_AUTOFREE char *hint = xasprintf (
        "that jobs had; agents measured %s %% of them", known ? known : "0.00");

    report_figure (page->report, "GPU hours", hours, hint, COLUMN_HOURS);
}

/* The month before may have been measured for another share of the time. */
static void note_measured (struct page *page, const char *known)
{
    const waste_t *before = sums_before (page, NULL);
    GL_AUTOFREE char *share
        = before ? report_coverage_text (before->known, before->seconds) : NULL;
    GL_AUTOFREE char *then
        = share ? xasprintf (" (%s %% in %s)", share, page->before_month)
                : xstrdup ("");

    report_note (page->report, NOTE_INFORMATION,
                 "Agents measured %s %% of the GPU hours that jobs had%s. Time "
                 "that was not measured is not counted as idle.",
                 known ? known : "0.00", then);
    if (before && !waste_comparable (&page->allocated, before))
        report_note (page->report, NOTE_INFORMATION,
                     "The idle time of the two months cannot be compared: "
                     "agents measured a different share of the GPU hours.");
}

/* Adds to `sum`. */
static void add_group (cube_t *causes, waste_group_t group, waste_t *sum)
{
    for (size_t i = 0; i < cube_count (causes); i++)
        if (is_of (cube_row (causes, i), group))
            fields_add (&waste_rows, sum, cube_row (causes, i), 1);
}

static void put_money_figure (struct page *page, const char *title,
                              const mpz_t units, const char *hint)
{
    GL_AUTOFREE char *amount = exact_units_text (units, page->digits);

    report_figure (page->report, title, amount, hint, COLUMN_MONEY);
}

/* As the summary of the month has it: what is known, up to what it is with all that is not
 * counted. */
static void put_wasted_figure (struct page *page, const mpz_t known,
                               const waste_t *not_counted)
{
    const char *currency = page->w->query->site->currency;
    GL_AUTOFREE char *least = exact_units_text (known, page->digits);
    GL_AUTOFREE char *more
        = exact_units_text (not_counted->units, page->digits);
    bool any = mpz_sgn (not_counted->units) > 0,
         open = !waste_measured (&page->allocated);
    GL_AUTOFREE char *most = NULL, *value = NULL;
    BUFFER_AUTO hint = BUFFER_INIT;
    mpz_t sum;

    mpz_init (sum);
    mpz_add (sum, known, not_counted->units);
    most = exact_units_text (sum, page->digits);
    value = xasprintf ("%s%s%s%s", least, any ? " to " : "", any ? most : "",
                       open ? " or more" : "");
    buffer_printf (&hint, "%s: %s known, in jobs and of capacity without jobs",
                   currency, least);
    if (any)
        buffer_printf (&hint, "; up to %s more may be, which is not counted",
                       more);
    if (open)
        buffer_add_text (&hint, "; idle GPUs in jobs come on top where they "
                                "were not measured");
    report_figure (page->report, "Wasted", value, buffer_text (&hint),
                   COLUMN_WORDS);
    mpz_clear (sum);
}

/* What the summary of the month calls wasted, then its parts. Capacity has no keys to filter by. */
static void put_wasted_figures (struct page *page, const waste_t *jobs,
                                const waste_t *capacity,
                                const waste_t *not_counted)
{
    const char *currency = page->w->query->site->currency;
    bool all = page->w->query->filter_count == 0;
    GL_AUTOFREE char *share
        = report_percent_text (jobs->seconds, page->allocated.seconds);
    GL_AUTOFREE char *of_jobs
        = xasprintf ("%s, %s %% of the GPU hours that jobs had", currency,
                     share ? share : "0.00");
    GL_AUTOFREE char *of_capacity
        = xasprintf ("%s of capacity without jobs", currency);
    mpz_t both;

    mpz_init (both);
    mpz_add (both, jobs->units, capacity->units);
    if (all)
        put_wasted_figure (page, both, not_counted);
    put_money_figure (page, "Wasted in jobs", jobs->units, of_jobs);
    if (all)
        put_money_figure (page, "Wasted capacity", capacity->units,
                          of_capacity);
    mpz_clear (both);
}

static void add_figures (struct page *page, cube_t *causes)
{
    GL_AUTOFREE char *known
        = report_coverage_text (page->allocated.known, page->allocated.seconds);
    waste_t jobs, capacity, not_counted;

    fields_init (&waste_rows, &jobs);
    fields_init (&waste_rows, &capacity);
    fields_init (&waste_rows, &not_counted);
    add_group (causes, WASTE_OF_JOBS, &jobs);
    add_group (causes, WASTE_OF_CAPACITY, &capacity);
    add_group (causes, WASTE_UNKNOWN, &not_counted);
    add_group (causes, WASTE_NOT_COUNTED, &not_counted);
    put_wasted_figures (page, &jobs, &capacity, &not_counted);
    put_hours_figure (page, known);
    report_coverage (page->report, "idle_known_pct", known ? known : "0.00");
    note_measured (page, known);
    fields_clear (&waste_rows, &not_counted);
    fields_clear (&waste_rows, &capacity);
    fields_clear (&waste_rows, &jobs);
}

static void fill (struct page *page, cube_t *causes)
{
    add_columns (page);
    add_figures (page, causes);
    chart_causes (page, causes);
    chart_months (page, causes);
    report_section (page->report, "Wasted time of jobs, by cause",
                    "Each GPU hour counts once: idle time first, then the rest "
                    "of the time of jobs that ended badly.");
    put_causes (page, causes, WASTE_OF_JOBS, "jobs");
    put_total (page, causes, WASTE_OF_JOBS);
    report_section (page->report, "Whose jobs had the wasted hours",
                    "The same hours, the largest amount first. Of some causes, "
                    "such as failed nodes, they are not the reason.");
    put_groups (page);
    put_jobs (page, causes, WASTE_OF_JOBS);
    report_section (page->report, "Capacity that no job had",
                    "At its cost, whoever pays for it.");
    put_causes (page, causes, WASTE_OF_CAPACITY, "capacity");
    put_total (page, causes, WASTE_OF_CAPACITY);
    report_section (page->report, "Not counted as waste",
                    "Capacity of which no source says whether its nodes were "
                    "up, and jobs that were cancelled by their users or by "
                    "someone unknown: perhaps their work was done.");
    put_causes (page, causes, WASTE_UNKNOWN, "unknown");
    put_causes (page, causes, WASTE_NOT_COUNTED, "not_counted");
    put_jobs (page, causes, WASTE_NOT_COUNTED);
}

cube_t *waste_report_sums (waste_report_t *w)
{
    cube_t *sums = cube_new (&waste_rows, "what");

    cube_add_cube (sums, w->waste);
    cube_add_cube (sums, w->allocated);
    return sums;
}

/* With zeros for those that only the month before had. */
static cube_t *causes_of (waste_report_t *w, cube_t *before)
{
    cube_t *causes = cube_new (&waste_rows, "what");
    waste_t none;

    cube_add_cube (causes, w->waste);
    fields_init (&waste_rows, &none);
    for (size_t i = 0; before && i < cube_count (before); i++) {
        none.what = ((const waste_t *)cube_row (before, i))->what;
        if (none.what)
            cube_add (causes, &none);
    }
    none.what = NULL;
    fields_clear (&waste_rows, &none);
    return causes;
}

report_t *waste_report_make (waste_report_t *w, cube_t *before,
                             const char *before_month)
{
    struct page page = {.w = w,
                        .report = report_begin (w->query, "waste", "GPU waste"),
                        .digits = w->query->site->currency_digits,
                        .before = before,
                        .before_month = before_month};
    cube_t *causes = causes_of (w, before);

    fields_init (&waste_rows, &page.allocated);
    cube_sum (w->allocated, 0, cube_count (w->allocated), &page.allocated);
    cube_sort (causes, "-units,-seconds");
    fill (&page, causes);
    cube_free (causes);
    fields_clear (&waste_rows, &page.allocated);
    return page.report;
}

/* --- lines ---------------------------------------------------------------------------- */

/* "12.50 GPU hours, 49.20 USD" */
static char *hours_and_money (const waste_report_t *w, mpq_srcptr seconds,
                              const mpz_t units)
{
    const site_t *site = w->query->site;
    GL_AUTOFREE char *hours = waste_hours_text (seconds);
    GL_AUTOFREE char *amount = exact_units_text (units, site->currency_digits);

    if (mpz_sgn (units) == 0)
        return xasprintf ("%s GPU hours", hours);
    return xasprintf ("%s GPU hours, %s %s", hours, amount, site->currency);
}

/* False: nothing is known to be wasted. */
static bool line_of_all (const waste_report_t *w, cube_t *causes,
                         waste_line_f callback, void *arg)
{
    waste_t sum, all;
    bool any;

    fields_init (&waste_rows, &sum);
    fields_init (&waste_rows, &all);
    cube_sum (w->allocated, 0, cube_count (w->allocated), &all);
    for (size_t i = 0; i < cube_count (causes); i++)
        if (is_of_jobs (cube_row (causes, i), NULL))
            fields_add (&waste_rows, &sum, cube_row (causes, i), 1);
    any = mpq_sgn (sum.seconds) > 0;
    if (any) {
        GL_AUTOFREE char *wasted = hours_and_money (w, sum.seconds, sum.units);
        GL_AUTOFREE char *share
            = report_percent_text (sum.seconds, all.seconds);
        GL_AUTOFREE char *hours = waste_hours_text (all.seconds);
        GL_AUTOFREE char *known = report_coverage_text (all.known, all.seconds);
        GL_AUTOFREE char *text
            = xasprintf ("%s: %s %% of %s GPU hours, of which agents measured "
                         "%s %%",
                         wasted, share, hours, known);
        callback ("In all", text, arg);
    }
    fields_clear (&waste_rows, &all);
    fields_clear (&waste_rows, &sum);
    return any;
}

static void line_of_job (const waste_report_t *w, const struct job *job,
                         waste_line_f callback, void *arg)
{
    GL_AUTOFREE char *title
        = xasprintf ("Job %llu", (unsigned long long)job->id_job);
    GL_AUTOFREE char *wasted = hours_and_money (w, job->seconds, job->units);
    GL_AUTOFREE char *others = others_text (job);
    GL_AUTOFREE char *text = xasprintf ("%s (%s). %s", wasted, others,
                                        waste_info (job->what)->remedy);

    callback (title, text, arg);
}

void waste_report_lines (waste_report_t *w, size_t jobs, waste_line_f callback,
                         void *arg)
{
    cube_t *causes = cube_new (&waste_rows, "what");

    cube_add_cube (causes, w->waste);
    cube_sort (causes, "-units,-seconds");
    if (line_of_all (w, causes, callback, arg)) {
        for (size_t i = 0; i < cube_count (causes); i++) {
            const waste_t *row = cube_row (causes, i);
            const waste_info_t *info = waste_info (row->what);
            if (info->group != WASTE_OF_JOBS)
                continue;
            GL_AUTOFREE char *wasted
                = hours_and_money (w, row->seconds, row->units);
            GL_AUTOFREE char *text = xasprintf ("%s. %s", wasted, info->remedy);
            callback (info->title, text, arg);
        }
        for (size_t i = 0; i < w->largest.count && i < jobs; i++)
            line_of_job (w, &w->largest.job[i], callback, arg);
    }
    cube_free (causes);
}
