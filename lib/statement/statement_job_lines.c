/* The jobs that a statement's charges are made of, line by line. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/heading.h"
#include "statement/statement_private.h"

/* Those of one line, and what each of them is due. */
struct part {
    const statement_job_t *job;
    mpz_t units;
};

struct parts {
    struct part *part;
    size_t count;
};

static bool is_of (const statement_job_t *job, const group_t *group)
{
    return text_same (job->group->text[JOB_POOL], group->key[0])
           && text_same (job->group->text[JOB_QOS], group->key[1])
           && text_same (job->group->text[JOB_PROFILE], group->key[2]);
}

static struct parts parts_of (const page_t *page, const group_t *group)
{
    struct parts parts = {NULL, 0};
    size_t count;
    const statement_job_t *jobs = statement_jobs_list (page->s->list, &count);

    parts.part = xcalloc (count + 1, sizeof (*parts.part));
    for (size_t i = 0; i < count; i++) {
        if (!is_of (&jobs[i], group))
            continue;
        parts.part[parts.count].job = &jobs[i];
        mpz_init (parts.part[parts.count++].units);
    }
    return parts;
}

static void parts_done (struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        mpz_clear (parts->part[i].units);
    free (parts->part);
}

/* --- what each is due --------------------------------------------------- */

/* The line's amount, shared so that it comes out to the smallest unit. */
static int share (const struct parts *parts, const mpz_t total,
                  gl_error_t *error)
{
    const statement_job_t **jobs = xcalloc (parts->count + 1, sizeof (*jobs));
    mpz_t *units = xcalloc (parts->count + 1, sizeof (*units));
    int rc;

    for (size_t i = 0; i < parts->count; i++) {
        jobs[i] = parts->part[i].job;
        mpz_init (units[i]);
    }
    rc = statement_jobs_share (total, jobs, parts->count, units, error);
    for (size_t i = 0; i < parts->count; i++) {
        mpz_swap (parts->part[i].units, units[i]);
        mpz_clear (units[i]);
    }
    free (jobs);
    free (units);
    return rc;
}

/* --- lines ------------------------------------------------------------- */

static int by_amount (const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = mpz_cmp (y->units, x->units);

    if (order == 0)
        order = mpq_cmp (y->job->gpu_seconds, x->job->gpu_seconds);
    if (order == 0)
        order = strcmp (x->job->group->cluster, y->job->group->cluster);
    if (order == 0)
        order = (x->job->id_job > y->job->id_job)
                - (x->job->id_job < y->job->id_job);
    for (size_t i = 0; i < JOB_TEXTS && order == 0; i++)
        order = strcmp (x->job->group->text[i] ? x->job->group->text[i] : "",
                        y->job->group->text[i] ? y->job->group->text[i] : "");
    return order;
}

static void put_text (page_t *page, statement_at_t at, const char *text,
                      key_id_t key)
{
    report_put_text (page->report, at, text ? text : key_info (key)->absent);
}

/* What one line is made of is of one pool. */
static void put_amount (page_t *page, bool priced, const statement_job_t *of,
                        mpq_srcptr seconds, const mpz_t units)
{
    bool cpus
        = site_pool_of_cpus (page->s->query->site, of->group->text[JOB_POOL]);

    if (cpus && page->cpu_hours)
        report_put_hours (page->report, page->cpu_hours, seconds);
    else
        report_put_hours (page->report, AT_GPU_HOURS, seconds);
    if (priced)
        statement_put_units (page, AT_CHARGE, units);
}

/* The rows of the bill that a line is made of, by what is known of a job. */
static cube_t *rows_by_job (const page_t *page, const size_t *member,
                            size_t count)
{
    cube_t *cube = cube_new (&bill_fields[BILL_POSTINGS],
                             "cluster,account,project,user");
    size_t all;
    const posting_t *rows = postings (page->s->bill, &all);

    for (size_t i = 0; i < count; i++)
        cube_add_at (cube, &rows[member[i]], member[i]);
    return cube;
}

static void put_rows (page_t *page, const cube_t *rows,
                      const statement_job_t *job)
{
    posting_t of = {.kind = BILL_CHARGE};
    const size_t *row;
    size_t count;

    *posting_key_at (&of, KEY_CLUSTER) = (char *)job->group->cluster;
    *posting_key_at (&of, KEY_ACCOUNT) = (char *)job->group->text[JOB_ACCOUNT];
    *posting_key_at (&of, KEY_PROJECT) = (char *)job->group->text[JOB_PROJECT];
    *posting_key_at (&of, KEY_USER) = (char *)job->group->text[JOB_USER];
    row = cube_members (rows, &of, &count);
    statement_put_rows (page, row, count);
}

static void add_job (page_t *page, const struct part *part, const char *of,
                     const cube_t *rows, bool priced, size_t number)
{
    const statement_job_t *job = part->job;
    GL_AUTOFREE char *name = xasprintf ("%s/%llu", job->group->cluster,
                                        (unsigned long long)job->id_job);
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];

    statement_begin_line (page, "jobs", 'J', number, line);
    report_put_text (page->report, AT_OF, of);
    report_put_text (page->report, AT_JOB, name);
    put_text (page, AT_USER, job->group->text[JOB_USER], KEY_USER);
    put_text (page, AT_PROJECT, job->group->text[JOB_PROJECT], KEY_PROJECT);
    report_put_count (page->report, AT_DAYS,
                      (uint64_t)__builtin_popcount (job->days));
    put_amount (page, priced, job, job->gpu_seconds, part->units);
    put_rows (page, rows, job);
    buffer_printf (&command, "gpuledger explain %llu -M",
                   (unsigned long long)job->id_job);
    shell_word (&command, job->group->cluster);
    report_put_text (page->report, AT_SHOW, buffer_text (&command));
}

/* [first, count) together: what people are not shown one by one, or all. */
static void put_sum (page_t *page, const struct parts *parts, size_t first,
                     bool priced)
{
    mpq_t seconds;
    mpz_t units;

    mpq_init (seconds);
    mpz_init (units);
    for (size_t i = first; i < parts->count; i++) {
        exact_add (seconds, parts->part[i].job->gpu_seconds);
        mpz_add (units, units, parts->part[i].units);
    }
    put_amount (page, priced, parts->part[0].job, seconds, units);
    mpq_clear (seconds);
    mpz_clear (units);
}

static void put_others (page_t *page, const struct parts *parts, bool priced)
{
    size_t shown = page->report->rows_shown;
    GL_AUTOFREE char *name = NULL;

    if (parts->count <= shown)
        return;
    name = xasprintf ("%zu others", parts->count - shown);
    report_section_rest (page->report);
    report_put_text (page->report, AT_JOB, name);
    put_sum (page, parts, shown, priced);
}

static void begin_table (page_t *page, const group_t *group, const char *of)
{
    GL_AUTOFREE char *title = xasprintf (
        "Jobs of %s: %s, %s%s%s", of,
        group->key[0] ? group->key[0] : key_info (KEY_POOL)->absent,
        group->key[1] ? group->key[1] : key_info (KEY_QOS)->absent,
        group->key[2] ? ", " : "", group->key[2] ? group->key[2] : "");

    report_section (page->report, title,
                    "The jobs in the line, largest first. The line's amount "
                    "is divided among them, to the smallest unit, in "
                    "proportion to their amounts before rounding.");
    report_section_fold (page->report);
}

static int add_table (page_t *page, const group_t *group, const char *of,
                      const cube_t *rows, size_t *number, gl_error_t *error)
{
    struct parts parts = parts_of (page, group);
    int rc = parts.count > 0 ? share (&parts, group->charge, error) : 0;

    if (rc == 0 && parts.count > 0) {
        qsort (parts.part, parts.count, sizeof (*parts.part), by_amount);
        begin_table (page, group, of);
        for (size_t i = 0; i < parts.count; i++)
            add_job (page, &parts.part[i], of, rows, !group->unpriced,
                     ++*number);
        put_others (page, &parts, !group->unpriced);
        report_section_totals (page->report);
        put_sum (page, &parts, 0, !group->unpriced);
    }
    parts_done (&parts);
    return rc;
}

int statement_job_tables (page_t *page, gl_error_t *error)
{
    cube_t *groups = page->s->list ? page->groups[TABLE_CHARGES] : NULL;
    size_t number = 0, count;
    int rc = 0;

    for (size_t i = 0; groups && i < cube_count (groups) && rc == 0; i++) {
        const group_t *group = cube_row (groups, i);
        const size_t *member = cube_members (groups, group, &count);
        cube_t *rows = rows_by_job (page, member, count);
        GL_AUTOFREE char *of = xasprintf ("C%zu", i + 1);
        rc = add_table (page, group, of, rows, &number, error);
        cube_free (rows);
    }
    return rc;
}
