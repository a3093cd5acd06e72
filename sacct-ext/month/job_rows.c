#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "month/job_charge.h"
#include "month/job_rows.h"

struct job {
    uint64_t id_job;
    int64_t submit;
    char *cluster;
};

/* A job in a row of a month. */
struct place {
    size_t job;
    size_t row;
};

struct month {
    const closing_t *closing;
    bill_t *bill;
    struct place *place;
    size_t count;
};

struct job_rows {
    struct job *job; /* when read: by compare_jobs() */
    size_t count;
    size_t size;
    struct month *month;
    size_t month_count;
};

/* --- the jobs ----------------------------------------------------------- */

job_rows_t *job_rows_new (void)
{
    return xcalloc (1, sizeof (job_rows_t));
}

void job_rows_clear (job_rows_t *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free (rows->job[i].cluster);
    rows->count = 0;
}

void job_rows_free (job_rows_t *rows)
{
    if (!rows)
        return;
    job_rows_clear (rows);
    free (rows->job);
    for (size_t i = 0; i < rows->month_count; i++) {
        bill_free (rows->month[i].bill);
        free (rows->month[i].place);
    }
    free (rows->month);
    free (rows);
}

void job_rows_add (job_rows_t *rows, const segment_t *s)
{
    if (rows->count == rows->size) {
        rows->size = rows->size * 2 + 8;
        rows->job = xreallocarray (rows->job, rows->size, sizeof (*rows->job));
    }
    rows->job[rows->count++]
        = (struct job){s->id_job, s->time_submit, xstrdup (s->cluster)};
}

static int compare_jobs (const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    int order = (x->id_job > y->id_job) - (x->id_job < y->id_job);

    if (order == 0)
        order = (x->submit > y->submit) - (x->submit < y->submit);
    return order ? order : strcmp (x->cluster, y->cluster);
}

static const struct job *find (const job_rows_t *rows, uint64_t id_job,
                               int64_t submit, const char *cluster)
{
    const struct job key = {id_job, submit, (char *)cluster};

    return rows->count && cluster ? bsearch (&key, rows->job, rows->count,
                                             sizeof (key), compare_jobs)
                                  : NULL;
}

/* --- their rows --------------------------------------------------------- */

static void add_place (struct month *m, size_t job, size_t row)
{
    for (size_t i = m->count; i-- > 0;)
        if (m->place[i].job == job && m->place[i].row == row)
            return;
    m->place = xreallocarray (m->place, m->count + 1, sizeof (*m->place));
    m->place[m->count++] = (struct place){job, row};
}

struct reading {
    const job_rows_t *rows;
    struct month *month;
};

static const struct job *job_of (const struct reading *r,
                                 const line_item_t *row)
{
    return row->kind == LINE_ITEM_JOB
               ? find (r->rows, row->id_job, row->submit, row->cluster)
               : NULL;
}

static bool is_asked (const line_item_t *row, void *arg)
{
    return job_of (arg, row) != NULL;
}

static const size_t job_keys[]
    = {LINE_ITEM_FIELD (id_job), LINE_ITEM_FIELD (submit),
       LINE_ITEM_FIELD (cluster), 0};
static const line_item_want_t rows_of_jobs
    = {.keys = job_keys, .wants = is_asked};

static int take_detail (const line_item_t *row, void *arg, gl_error_t *error)
{
    const struct reading *r = arg;
    const struct job *job = job_of (r, row);
    const posting_t *rows;
    posting_t line;
    size_t count;

    (void)error;
    posting_init (&line);
    job_charge_line (r->month->closing->month, row, &line);
    rows = postings (r->month->bill, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_CHARGE
            && posting_compare (&rows[i], &line) == 0)
            add_place (r->month, (size_t)(job - r->rows->job), i);
    posting_clear (&line);
    return 0;
}

static void take_references (const job_rows_t *rows, struct month *m)
{
    size_t count;
    const posting_t *row = postings (m->bill, &count);

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows->count && row[i].reference; k++) {
            const struct job *job = &rows->job[k];
            GL_AUTOFREE char *reference
                = xasprintf ("%s/%" PRIu64 "/%" PRId64, job->cluster,
                             job->id_job, job->submit);
            if (strcmp (row[i].reference, reference) == 0)
                add_place (m, k, i);
        }
    }
}

static int compare_places (const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->job != y->job)
        return (x->job > y->job) - (x->job < y->job);
    return (x->row > y->row) - (x->row < y->row);
}

static int read_month (job_rows_t *rows, store_t *store,
                       const closing_t *closing, gl_error_t *error)
{
    struct reading r = {.rows = rows};

    rows->month = xreallocarray (rows->month, rows->month_count + 1,
                                 sizeof (*rows->month));
    r.month = &rows->month[rows->month_count++];
    *r.month = (struct month){.closing = closing};
    if (periods_bill (store, closing, &r.month->bill, error) < 0
        || periods_line_items (store, closing, &rows_of_jobs, take_detail, &r,
                               error)
               < 0)
        return -1;
    take_references (rows, r.month);
    if (r.month->count > 1)
        qsort (r.month->place, r.month->count, sizeof (*r.month->place),
               compare_places);
    return 0;
}

int job_rows_read (job_rows_t *rows, store_t *store, const site_t *site,
                   const periods_t *periods, period_t life, gl_error_t *error)
{
    if (rows->count > 1)
        qsort (rows->job, rows->count, sizeof (*rows->job), compare_jobs);
    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        period_t month;
        if (c->reopened || c->imported)
            continue;
        if (periods_month (site, c->month, &month, error) < 0)
            return -1;
        if (month.start < life.end && life.start < month.end
            && read_month (rows, store, c, error) < 0)
            return -1;
    }
    return 0;
}

void job_rows_each (const job_rows_t *rows, const segment_t *s,
                    job_rows_f callback, void *arg)
{
    const struct job *job = find (rows, s->id_job, s->time_submit, s->cluster);

    for (size_t i = 0; job && i < rows->month_count; i++) {
        const struct month *m = &rows->month[i];
        job_month_t of = {.closing = m->closing, .bill = m->bill};
        size_t *row = xcalloc (m->count + 1, sizeof (*row));
        for (size_t k = 0; k < m->count; k++)
            if (m->place[k].job == (size_t)(job - rows->job))
                row[of.count++] = m->place[k].row;
        of.row = row;
        if (of.count > 0)
            callback (&of, arg);
        free (row);
    }
}
