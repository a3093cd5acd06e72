#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "ledger/cube.h"
#include "pages/job_shares.h"
#include "report/heading.h"

struct job_shares {
    job_share_t *share;
    const job_share_t **order;
    size_t count;
};

/* --- shares -------------------------------------------------------------------- */

/* What the jobs of a group have in common. */
static int by_group (const void *a, const void *b)
{
    const statement_job_t *x = ((const job_share_t *)a)->job;
    const statement_job_t *y = ((const job_share_t *)b)->job;
    int order = text_compare (x->cluster, y->cluster);

    for (size_t i = 0; i < JOB_TEXTS && order == 0; i++)
        order = text_compare (x->text[i], y->text[i]);
    return order;
}

static const char group_keys[]
    = "cluster,team,account,user,project,pool,qos,profile";

/* The charges of the group of the job; NULL: there are none. */
static const posting_t *group_of (const cube_t *charges,
                                  const statement_job_t *job)
{
    posting_t key = {.kind = BILL_CHARGE};

    key.team = (char *)job->text[JOB_TEAM];
    key.pool = (char *)job->text[JOB_POOL];
    key.profile = (char *)job->text[JOB_PROFILE];
    *posting_key_at (&key, KEY_CLUSTER) = (char *)job->cluster;
    *posting_key_at (&key, KEY_ACCOUNT) = (char *)job->text[JOB_ACCOUNT];
    *posting_key_at (&key, KEY_USER) = (char *)job->text[JOB_USER];
    *posting_key_at (&key, KEY_PROJECT) = (char *)job->text[JOB_PROJECT];
    *posting_key_at (&key, KEY_QOS) = (char *)job->text[JOB_QOS];
    return cube_find (charges, &key);
}

static bool is_charge (const void *row, void *arg)
{
    (void)arg;
    return ((const posting_t *)row)->kind == BILL_CHARGE;
}

static cube_t *charges_of (const bill_t *bill)
{
    cube_t *cube = cube_new (&bill_fields[BILL_POSTINGS], group_keys);
    size_t count;
    const posting_t *rows = postings (bill, &count);

    cube_where_wanted (cube, is_charge, NULL);
    cube_add_list (cube, rows, count);
    return cube;
}

/* The jobs [first, end) are a group. */
static int share_group (job_shares_t *s, size_t first, size_t end,
                        const posting_t *charges, gl_error_t *error)
{
    const statement_job_t **jobs = xcalloc (end - first, sizeof (*jobs));
    mpz_t *units = xcalloc (end - first, sizeof (*units));
    int rc;

    for (size_t i = first; i < end; i++) {
        jobs[i - first] = s->share[i].job;
        mpz_init (units[i - first]);
    }
    rc = statement_jobs_share (charges->charge_units, jobs, end - first, units,
                               error);
    for (size_t i = first; i < end; i++) {
        mpz_swap (s->share[i].units, units[i - first]);
        mpz_clear (units[i - first]);
    }
    free (jobs);
    free (units);
    return rc;
}

static int share_all (job_shares_t *s, const cube_t *charges, gl_error_t *error)
{
    for (size_t first = 0, end; first < s->count; first = end) {
        const posting_t *group = group_of (charges, s->share[first].job);
        for (end = first + 1;
             end < s->count && !by_group (&s->share[first], &s->share[end]);
             end++)
            ;
        if (group && share_group (s, first, end, group, error) < 0)
            return -1;
    }
    return 0;
}

job_shares_t *job_shares_new (const bill_t *bill, const statement_jobs_t *jobs,
                              gl_error_t *error)
{
    job_shares_t *s = xcalloc (1, sizeof (*s));
    const statement_job_t *const *list = statement_jobs_list (jobs, &s->count);
    cube_t *charges = charges_of (bill);
    int rc;

    s->share = xcalloc (s->count + 1, sizeof (*s->share));
    s->order = xcalloc (s->count + 1, sizeof (*s->order));
    for (size_t i = 0; i < s->count; i++) {
        s->share[i].job = list[i];
        mpz_init (s->share[i].units);
    }
    if (s->count > 1)
        qsort (s->share, s->count, sizeof (*s->share), by_group);
    rc = share_all (s, charges, error);
    for (size_t i = 0; i < s->count; i++)
        s->order[i] = &s->share[i];
    cube_free (charges);
    if (rc < 0) {
        job_shares_free (s);
        return NULL;
    }
    return s;
}

void job_shares_free (job_shares_t *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        mpz_clear (s->share[i].units);
    free (s->share);
    free (s->order);
    free (s);
}

/* --- orders -------------------------------------------------------------------- */

static int by_amount (const job_share_t *x, const job_share_t *y)
{
    int order = mpz_cmp (y->units, x->units);

    if (order == 0)
        order = mpq_cmp (y->job->gpu_seconds, x->job->gpu_seconds);
    if (order == 0)
        order = text_compare (x->job->cluster, y->job->cluster);
    if (order == 0)
        order = (x->job->id_job > y->job->id_job)
                - (x->job->id_job < y->job->id_job);
    return order ? order : by_group (x, y);
}

static int compare_by (const void *a, const void *b, void *arg)
{
    const job_share_t *x = *(const job_share_t *const *)a;
    const job_share_t *y = *(const job_share_t *const *)b;
    size_t by = *(const statement_job_text_t *)arg;
    int order = by == JOB_TEXTS ? 0
                                : text_compare (x->job->text[JOB_TEAM],
                                                y->job->text[JOB_TEAM]);

    if (order == 0 && by != JOB_TEXTS)
        order = text_compare (x->job->text[by], y->job->text[by]);
    return order ? order : by_amount (x, y);
}

const job_share_t *const *
job_shares_by (job_shares_t *s, statement_job_text_t by, size_t *ret_count)
{
    if (s->count > 1)
        qsort_r (s->order, s->count, sizeof (*s->order), compare_by, &by);
    *ret_count = s->count;
    return s->order;
}

const job_share_t *const *job_shares_largest (job_shares_t *s,
                                              size_t *ret_count)
{
    return job_shares_by (s, JOB_TEXTS, ret_count);
}

size_t job_shares_end (const job_share_t *const *share, size_t count,
                       size_t first, statement_job_text_t by)
{
    const statement_job_t *of = share[first]->job;
    size_t end = first + 1;

    while (end < count
           && text_same (of->text[JOB_TEAM], share[end]->job->text[JOB_TEAM])
           && (by == JOB_TEXTS
               || text_same (of->text[by], share[end]->job->text[by])))
        end++;
    return end;
}

/* --- a page -------------------------------------------------------------------- */

enum {
    AT_JOB,
    AT_TEAM,
    AT_USER,
    AT_PROJECT,
    AT_ACCOUNT,
    AT_POOL,
    AT_QOS,
    AT_PROFILE,
    AT_DAYS,
    AT_HOURS,
    AT_CHARGE,
    AT_CURRENCY,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"job", "Job", COLUMN_TEXT, true, false, "Cluster and JobId."},
    {"team", "Team", COLUMN_TEXT, true, true, ""},
    {"user", "User", COLUMN_TEXT, true, false, ""},
    {"project", "Project", COLUMN_TEXT, true, false, ""},
    {"account", "Account", COLUMN_TEXT, true, false, ""},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    {"profile", "Slice", COLUMN_TEXT, true, false,
     "The profile of the slice; blank for whole GPUs."},
    {"days", "Days", COLUMN_COUNT, false, false, "Days on which it ran."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs allocated to the job in the month, busy or not."},
    {"charge", "Charge", COLUMN_MONEY, false, false,
     "Its share of the charges of the same user, project, account, pool, QOS "
     "and slice: these are rounded first, and the shares add up to them. "
     "Credits, corrections and taxes are on the statement."},
    {"currency", "Currency", COLUMN_TEXT, false, true, ""},
};

/* Sums of the shares [first, end). */
struct sum {
    mpq_t gpu_seconds;
    mpq_t cpu_seconds;
    mpz_t units;
};

static void sum_of (const job_page_t *page, size_t first, size_t end,
                    struct sum *sum)
{
    mpq_inits (sum->gpu_seconds, sum->cpu_seconds, NULL);
    mpz_init (sum->units);
    for (size_t i = first; i < end; i++) {
        const statement_job_t *job = page->share[i]->job;
        mpq_ptr seconds
            = site_pool_of_cpus (page->query->site, job->text[JOB_POOL])
                  ? sum->cpu_seconds
                  : sum->gpu_seconds;
        mpq_add (seconds, seconds, job->gpu_seconds);
        mpz_add (sum->units, sum->units, page->share[i]->units);
    }
}

static void put_sum (report_t *report, const job_page_t *page, size_t cpu_hours,
                     struct sum *sum)
{
    if (mpq_sgn (sum->gpu_seconds) != 0 || mpq_sgn (sum->cpu_seconds) == 0)
        report_put_hours (report, AT_HOURS, sum->gpu_seconds);
    if (cpu_hours && mpq_sgn (sum->cpu_seconds) != 0)
        report_put_hours (report, cpu_hours, sum->cpu_seconds);
    report_put_money (report, AT_CHARGE, sum->units,
                      page->query->site->currency_digits);
    mpq_clears (sum->gpu_seconds, sum->cpu_seconds, NULL);
    mpz_clear (sum->units);
}

static void put_job (report_t *report, const job_page_t *page, size_t cpu_hours,
                     size_t index)
{
    static const struct {
        size_t at;
        statement_job_text_t text;
        key_id_t key;
    } texts[] = {{AT_TEAM, JOB_TEAM, KEY_TEAM},
                 {AT_USER, JOB_USER, KEY_USER},
                 {AT_PROJECT, JOB_PROJECT, KEY_PROJECT},
                 {AT_ACCOUNT, JOB_ACCOUNT, KEY_ACCOUNT},
                 {AT_POOL, JOB_POOL, KEY_POOL},
                 {AT_QOS, JOB_QOS, KEY_QOS}};
    const statement_job_t *job = page->share[index]->job;
    GL_AUTOFREE char *name
        = xasprintf ("%s/%llu", job->cluster, (unsigned long long)job->id_job);
    struct sum sum;

    report_row (report);
    report_put_text (report, AT_JOB, name);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        report_put_text (report, texts[i].at,
                         job->text[texts[i].text]
                             ? job->text[texts[i].text]
                             : key_info (texts[i].key)->absent);
    report_put_text (report, AT_PROFILE, job->text[JOB_PROFILE]);
    report_put_count (report, AT_DAYS,
                      (uint64_t)__builtin_popcount (job->days));
    sum_of (page, index, index + 1, &sum);
    put_sum (report, page, cpu_hours, &sum);
    report_put_text (report, AT_CURRENCY, page->query->site->currency);
}

/* The shares [first, end), of which `listed` have a row, as one. */
static void put_others (report_t *report, const job_page_t *page,
                        size_t cpu_hours, size_t first, size_t end,
                        size_t listed)
{
    const char *of = page->share[first]->job->text[page->by];
    GL_AUTOFREE char *name = NULL;
    struct sum sum;

    if (first + listed >= end)
        return;
    name = xasprintf (listed ? "%zu others" : "%zu jobs", end - first - listed);
    report_row (report);
    report_put_text (report, AT_JOB, name);
    report_put_text (
        report, page->by == JOB_USER ? AT_USER : AT_PROJECT,
        of ? of
           : key_info (page->by == JOB_USER ? KEY_USER : KEY_PROJECT)->absent);
    sum_of (page, first + listed, end, &sum);
    put_sum (report, page, cpu_hours, &sum);
    report_put_text (report, AT_CURRENCY, page->query->site->currency);
}

static void put_section (report_t *report, const job_page_t *page,
                         size_t cpu_hours, size_t first, size_t end,
                         size_t rows)
{
    bool user = page->by == JOB_USER;
    const char *of = page->share[first]->job->text[page->by];
    size_t listed = end - first < rows ? end - first : rows;
    struct sum sum;

    if (!of)
        of = key_info (user ? KEY_USER : KEY_PROJECT)->absent;
    report_section (report, page->name ? page->name (of, page->arg) : of, "");
    for (size_t i = 0; i < listed; i++)
        put_job (report, page, cpu_hours, first + i);
    put_others (report, page, cpu_hours, first, end, listed);
    report_section_totals (report);
    sum_of (page, first, end, &sum);
    put_sum (report, page, cpu_hours, &sum);
}

/* So that a page of a large team can be read, and has fewer than 200 KB. */
#define PAGE_ROWS 300

report_t *job_page_make (const job_page_t *page)
{
    const statement_job_t *first = page->share[0]->job;
    const char *team = first->text[JOB_TEAM] ? first->text[JOB_TEAM]
                                             : key_info (KEY_TEAM)->absent;
    GL_AUTOFREE char *title = xasprintf (
        "Jobs of %s by %s", team, page->by == JOB_USER ? "user" : "project");
    report_t *report = report_begin (page->query, "jobs", title);
    size_t cpu_hours = 0, sections = 0, rows;

    report_parameter (report, "team", team);
    report_parameter (report, "state", page->state);
    report_columns (report, columns, AT_COUNT);
    report->column[page->by == JOB_USER ? AT_USER : AT_PROJECT].detail = true;
    report_note (
        report, NOTE_INFORMATION,
        "The most expensive jobs of the month have a page that explains "
        "their charge. Credits, corrections and taxes are on the "
        "statement.");
    if (site_counts_cpus (page->query->site))
        cpu_hours = report_measure (report, MEASURE_CPU_HOURS, false);
    for (size_t i = 0; i < page->count; sections++)
        i = job_shares_end (page->share, page->count, i, page->by);
    rows
        = PAGE_ROWS / sections < page->rows ? PAGE_ROWS / sections : page->rows;
    for (size_t i = 0, end; i < page->count; i = end) {
        end = job_shares_end (page->share, page->count, i, page->by);
        put_section (report, page, cpu_hours, i, end, rows);
    }
    return report;
}
