/* The report as rows of a month, which its closing keeps, and back. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "waste/waste_private.h"

const char waste_row_keys[] = "team,pool";

bool waste_rows_answer (const report_query_t *query)
{
    for (size_t i = 0; i < query->by.count; i++)
        if (query->by.id[i] != KEY_TEAM && query->by.id[i] != KEY_POOL
            && query->by.id[i] != KEY_MONTH)
            return false;
    return query->filter_count == 0;
}

/* --- rows out ----------------------------------------------------------------------- */

static char *copy (const char *text)
{
    return text ? xstrdup (text) : NULL;
}

static void put_row (const waste_t *from, const char *month, bill_t *out)
{
    bill_waste_t *row;

    if (from->what && waste_info (from->what)->group != WASTE_OF_JOBS
        && waste_info (from->what)->group != WASTE_NOT_COUNTED)
        return;
    row = bill_append (out, BILL_WASTE);
    row->month = xstrdup (month);
    row->cause = copy (from->what);
    row->pool = copy (from->keys.pool);
    row->team = copy (from->keys.team);
    mpq_set (row->seconds, from->seconds);
    mpq_set (row->known, from->known);
    mpq_set (row->priced, from->priced);
    mpz_set (row->units, from->units);
}

static void put_jobs (const struct top *top, bill_t *out)
{
    for (size_t i = 0; i < top->count; i++) {
        const struct job *job = &top->job[i];
        bill_wasteful_job_t *row = bill_append (out, BILL_WASTEFUL_JOBS);
        row->month = xstrdup (job->month);
        row->list = copy (top->what);
        row->cause = xstrdup (job->what);
        row->cluster = xstrdup (job->cluster);
        row->job = xasprintf ("%" PRIu64, job->id_job);
        row->team = copy (job->team);
        row->user = copy (job->user);
        row->others = copy (job->others);
        row->gpus = job->devices;
        mpq_set (row->seconds, job->seconds);
        mpz_set (row->units, job->units);
    }
}

static int by_what (const void *a, const void *b)
{
    const struct top *x = a, *y = b;

    return strcmp (x->what, y->what);
}

void waste_report_rows (waste_report_t *w, bill_t *out)
{
    const char *month = w->month[w->month_count - 1]->name;

    for (size_t i = 0; i < cube_count (w->allocated); i++)
        put_row (cube_row (w->allocated, i), month, out);
    for (size_t i = 0; i < cube_count (w->waste); i++)
        put_row (cube_row (w->waste, i), month, out);
    if (w->top_count > 1)
        qsort (w->top, w->top_count, sizeof (*w->top), by_what);
    put_jobs (&w->largest, out);
    for (size_t i = 0; i < w->top_count; i++)
        put_jobs (&w->top[i], out);
}

/* --- rows in ------------------------------------------------------------------------ */

/* NULL with an error: a cause that only another program knows. */
static const waste_info_t *info_of (const char *cause, gl_error_t *error)
{
    const waste_info_t *info
        = cause ? waste_named (cause, strlen (cause)) : NULL;

    if (!info)
        gl_error (error,
                  "the waste of the closed month has the cause '%s', which "
                  "this program does not know: use the program that closed it",
                  cause ? cause : "");
    return info;
}

static int take_row (waste_report_t *w, const char *month,
                     const bill_waste_t *from, gl_error_t *error)
{
    const waste_info_t *info
        = from->cause ? info_of (from->cause, error) : NULL;
    waste_t row;

    if (from->cause && !info)
        return -1;
    fields_init (&waste_rows, &row);
    row.what = info ? info->word : NULL;
    row.keys.month = month;
    row.keys.pool = from->pool;
    row.keys.team = from->team;
    mpq_set (row.seconds, from->seconds);
    mpq_set (row.known, from->known);
    mpq_set (row.priced, from->priced);
    mpz_set (row.units, from->units);
    cube_add (info ? w->waste : w->allocated, &row);
    fields_clear (&waste_rows, &row);
    return 0;
}

static int take_job (waste_report_t *w, const char *month,
                     const bill_wasteful_job_t *from, gl_error_t *error)
{
    const waste_info_t *info = info_of (from->cause, error);
    struct job job = {.month = month,
                      .team = from->team,
                      .user = from->user,
                      .devices = from->gpus};

    if (!info)
        return -1;
    if (!from->cluster || !from->job
        || number_u64_text (from->job, &job.id_job) < 0)
        return gl_error (error, "a job of the waste of %s has no number",
                         month);
    job.what = info->word;
    job.cluster = xstrdup (from->cluster);
    job.others = copy (from->others);
    mpq_init (job.seconds);
    mpz_init (job.units);
    mpq_set (job.seconds, from->seconds);
    mpz_set (job.units, from->units);
    waste_top_take (from->list ? waste_top_of (w, job.what) : &w->largest,
                    &job);
    return 0;
}

int waste_report_take_rows (waste_report_t *w, bill_t *rows, gl_error_t *error)
{
    struct month *month = w->month[w->month_count - 1];
    const bill_wasteful_job_t *job;
    const bill_waste_t *row;
    size_t count, jobs;

    month->rows = rows;
    row = bill_waste (rows, &count);
    for (size_t i = 0; i < count; i++)
        if (take_row (w, month->name, &row[i], error) < 0)
            return -1;
    job = bill_wasteful_jobs (rows, &jobs);
    for (size_t i = 0; i < jobs; i++)
        if (take_job (w, month->name, &job[i], error) < 0)
            return -1;
    return 0;
}
