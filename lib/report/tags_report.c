#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/tag.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "ledger/slice_keys.h"
#include "report/tags_report.h"

typedef struct {
    slice_keys_t keys;
    mpq_t seconds;    /* of physical GPUs */
    mpq_t untagged;   /* of them: without a project */
    mpq_t unlabelled; /* of them: some label is missing */
    mpq_t value;      /* of the untagged ones, in smallest units */
} row_t;

static const field_t fields[] = {
    SLICE_KEY_FIELDS (row_t),
    FIELD ("seconds", EXACT, row_t, seconds),
    FIELD ("untagged", EXACT, row_t, untagged),
    FIELD ("unlabelled", EXACT, row_t, unlabelled),
    FIELD ("value", EXACT, row_t, value),
};
static const fields_t row_fields = FIELDS ("tags", row_t, fields);

struct month {
    usage_query_t query;
    usage_t *usage;
};

/* A tag that was changed; texts are owned. */
struct change {
    uint64_t id_job;
    int64_t stamp;
    char *cluster, *who, *previous, *project;
};

struct tags_report {
    const report_query_t *query;
    struct month **month;
    size_t month_count;
    cube_t *prices; /* of the month */
    cube_t *rows;
    struct change *change;
    size_t change_count;
    bool untagged, unlabelled; /* the segment in hand */
};

int tags_report_check (const report_query_t *query, gl_error_t *error)
{
    return slice_keys_check (query, "tags", error);
}

tags_report_t *tags_report_new (const report_query_t *query)
{
    tags_report_t *t = xcalloc (1, sizeof (*t));
    GL_AUTOFREE char *names = slice_keys_names (query, "");

    t->query = query;
    t->rows = cube_new (&row_fields, names);
    return t;
}

void tags_report_free (tags_report_t *t)
{
    if (!t)
        return;
    cube_free (t->rows);
    cube_free (t->prices);
    for (size_t i = 0; i < t->month_count; i++) {
        usage_free (t->month[i]->usage);
        free (t->month[i]);
    }
    free (t->month);
    for (size_t i = 0; i < t->change_count; i++) {
        free (t->change[i].cluster);
        free (t->change[i].who);
        free (t->change[i].previous);
        free (t->change[i].project);
    }
    free (t->change);
    free (t);
}

/* --- facts in ----------------------------------------------------------------------- */

void tags_report_begin_month (tags_report_t *t, const report_query_t *query,
                              const bill_t *bill)
{
    struct month *m = xcalloc (1, sizeof (*m));

    m->query = report_usage_query (query);
    m->query.without_jobs = true;
    slice_keys_ask (&m->query);
    m->usage = usage_new (&m->query);
    *GL_APPEND (t->month, t->month_count) = m;
    t->prices = bill_time_prices (bill);
}

void tags_report_end_month (tags_report_t *t)
{
    cube_free (t->prices);
    t->prices = NULL;
}

/* The label is among them, whatever its value. */
static bool has_label (const char *labels, const char *name)
{
    const char *cursor = labels, *key, *value;
    size_t length, value_length;

    while (labels_next (&cursor, &key, &length, &value, &value_length))
        if (strlen (name) == length && !memcmp (key, name, length))
            return true;
    return false;
}

static bool lacks_label (const site_t *site, const project_t *project)
{
    const text_list_t *wanted = &site->policy.labels;

    for (size_t i = 0; i < wanted->count; i++)
        if (!project || !has_label (project->labels, wanted->item[i]))
            return true;
    return false;
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    tags_report_t *t = arg;
    const device_kind_t *kind = slice->part.kind;
    row_t row;

    (void)error;
    if (kind->cpu || !kind->weight_known)
        return 0;
    fields_init (&row_fields, &row);
    slice_keys_of (slice, &row.keys);
    exact_weighted (row.seconds, kind->weight, slice->part.gres_seconds, 1);
    if (t->unlabelled)
        mpq_set (row.unlabelled, row.seconds);
    if (t->untagged) {
        mpq_set (row.untagged, row.seconds);
        const bill_time_t of = {row.keys.pool, row.keys.qos, kind->profile};
        if (of.pool)
            bill_time_exact (t->prices, &of, row.seconds, row.value);
    }
    cube_add (t->rows, &row);
    fields_clear (&row_fields, &row);
    return 0;
}

int tags_report_add (tags_report_t *t, const segment_t *segment,
                     const project_t *project, gl_error_t *error)
{
    struct month *month = t->month[t->month_count - 1];

    t->untagged = !project || !project->project[0];
    t->unlabelled = lacks_label (month->query.site, project);
    return usage_each_slice (month->usage, segment, NULL, 0, project, NULL,
                             take_slice, t, error);
}

void tags_report_retag (tags_report_t *t, const retag_t *retag)
{
    *GL_APPEND (t->change, t->change_count) = (struct change){
        .id_job = retag->id_job,
        .stamp = retag->stamp,
        .cluster = xstrdup (retag->cluster),
        .who = xstrdup (retag->who),
        .previous = retag->previous ? xstrdup (retag->previous) : NULL,
        .project = xstrdup (retag->project)};
}

/* --- the page ------------------------------------------------------------------------ */

/* Columns behind the section and the keys. */
enum {
    AT_JOB,
    AT_TIME,
    AT_WHO,
    AT_BEFORE,
    AT_AFTER,
    AT_GPU_HOURS,
    AT_UNTAGGED,
    AT_UNTAGGED_PCT,
    AT_AMOUNT,
    AT_CURRENCY,
    AT_UNLABELLED_PCT,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"job", "Job", COLUMN_TEXT, true, false, "The job whose tag was changed."},
    {"changed_at", "When", COLUMN_DATE, false, false,
     "When its tag was changed."},
    {"changed_by", "By", COLUMN_TEXT, false, false, "Who changed it."},
    {"project_before", "From", COLUMN_TEXT, false, false,
     "Its project before."},
    {"project_after", "To", COLUMN_TEXT, false, false, "Its project since."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that jobs had."},
    {"untagged_gpu_hours", "Untagged GPU hours", COLUMN_HOURS, false, false,
     "Of them those of jobs without a project."},
    {"untagged_pct", "Untagged %", COLUMN_PERCENT, false, false,
     "Untagged GPU hours as a percentage of all."},
    {"amount", "Amount", COLUMN_MONEY, false, false,
     "The untagged GPU hours at their list price."},
    {"currency", "Currency", COLUMN_TEXT, false, true,
     "The currency of the amount."},
    {"unlabelled_pct", "Without labels %", COLUMN_PERCENT, false, false,
     "GPU hours of jobs that lack a label of policy.labels, as a percentage "
     "of all."},
};

struct page {
    tags_report_t *t;
    report_t *report;
    size_t first;
    mpz_t sum;
};

static void put_amount (struct page *page, const mpz_t units)
{
    const site_t *site = page->t->query->site;

    report_put_money (page->report, page->first + AT_AMOUNT, units,
                      site->currency_digits);
    report_put_text (page->report, page->first + AT_CURRENCY, site->currency);
}

/* Into the last row, or totals. `units`: the amount. */
static void put_sums (struct page *page, const row_t *row, const mpz_t units)
{
    report_put_hours (page->report, page->first + AT_GPU_HOURS, row->seconds);
    report_put_hours (page->report, page->first + AT_UNTAGGED, row->untagged);
    report_put_made (page->report, page->first + AT_UNTAGGED_PCT,
                     report_percent_text (row->untagged, row->seconds));
    if (mpz_sgn (units) != 0)
        put_amount (page, units);
    if (page->t->query->site->policy.labels.count > 0)
        report_put_made (page->report, page->first + AT_UNLABELLED_PCT,
                         report_percent_text (row->unlabelled, row->seconds));
}

static void put_group (struct page *page, const row_t *row)
{
    const report_query_t *query = page->t->query;
    mpz_t units;

    mpz_init (units);
    report_row (page->report);
    report_put_text (page->report, 0, "group");
    for (size_t i = 0; i < query->by.count; i++) {
        const char *text = slice_keys_text (&row->keys, query->by.id[i]);
        report_put_text (page->report, 1 + i,
                         text ? text : key_info (query->by.id[i])->absent);
    }
    exact_round (units, row->value, 0);
    mpz_add (page->sum, page->sum, units);
    put_sums (page, row, units);
    mpz_clear (units);
}

static void add_figure (const struct page *page, const row_t *all)
{
    GL_AUTOFREE char *percent
        = report_percent_text (all->untagged, all->seconds);
    bool tagged = mpq_sgn (all->seconds) > 0 && mpq_sgn (all->untagged) == 0;

    report_figure (page->report, "Untagged", percent,
                   tagged ? "percent: all hours have a project"
                          : "percent of the GPU hours have no project",
                   COLUMN_PERCENT);
}

static void put_groups (struct page *page)
{
    cube_t *rows = page->t->rows;
    row_t all;

    fields_init (&row_fields, &all);
    report_section (page->report, "Without a project",
                    "The largest amount first; groups whose jobs all have "
                    "tags come last.");
    cube_sort (rows, "-value,-untagged,-seconds");
    for (size_t i = 0; i < cube_count (rows); i++)
        put_group (page, cube_row (rows, i));
    cube_sum (rows, 0, cube_count (rows), &all);
    report_section_totals (page->report);
    put_sums (page, &all, page->sum);
    add_figure (page, &all);
    fields_clear (&row_fields, &all);
}

static int by_time (const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->stamp != y->stamp)
        return x->stamp < y->stamp ? 1 : -1;
    return (x->id_job > y->id_job) - (x->id_job < y->id_job);
}

static void put_change (struct page *page, const struct change *change)
{
    const char *none = key_info (KEY_PROJECT)->absent;
    GL_AUTOFREE char *id
        = xasprintf ("%llu", (unsigned long long)change->id_job);
    char stamp[ZONE_STAMP_SIZE];

    report_row (page->report);
    report_put_text (page->report, 0, "change");
    report_put_text (page->report, page->first + AT_JOB, id);
    report_put_text (
        page->report, page->first + AT_TIME,
        zone_stamp (page->t->query->site->zone, change->stamp, stamp));
    report_put_text (page->report, page->first + AT_WHO, change->who);
    report_put_text (page->report, page->first + AT_BEFORE,
                     change->previous ? change->previous : none);
    report_put_text (page->report, page->first + AT_AFTER, change->project);
}

static void put_changes (struct page *page)
{
    tags_report_t *t = page->t;

    report_section (page->report, "Tags that were changed",
                    "In the period, the latest first.");
    if (t->change_count > 0)
        qsort (t->change, t->change_count, sizeof (*t->change), by_time);
    for (size_t i = 0; i < t->change_count; i++)
        put_change (page, &t->change[i]);
}

static void add_columns (struct page *page)
{
    const report_query_t *query = page->t->query;

    report_column_help (
        page->report,
        report_column (page->report, "section", "Section", COLUMN_TEXT, true),
        "Part of the page: group or change.");
    page->report->column[0].detail = true;
    report_key_columns (page->report, query);
    page->first = page->report->column_count;
    report_columns (page->report, columns, AT_COUNT);
}

report_t *tags_report_make (tags_report_t *t)
{
    struct page page
        = {.t = t, .report = report_begin (t->query, "tags", "Project tags")};

    mpz_init (page.sum);
    add_columns (&page);
    put_groups (&page);
    put_changes (&page);
    mpz_clear (page.sum);
    return page.report;
}
