#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "month/bills.h"
#include "month/job_charge.h"
#include "month/month.h"
#include "month/settled.h"

/* --- what it is charged --------------------------------------------------- */

struct reading {
    const char *month;
    const job_key_t *key;
    job_charge_t *charge;
};

static bool is_asked (const line_item_t *row, void *arg)
{
    const struct reading *r = arg;
    const job_key_t *key = r->key;

    return row->kind == LINE_ITEM_JOB && row->id_job == key->id_job
           && (!key->cluster || !strcmp (row->cluster, key->cluster))
           && (!key->pool || !strcmp (row->pool, key->pool))
           && (key->submit == SECONDS_UNKNOWN || row->submit == key->submit);
}

static void line_of (const char *month, const line_item_t *row, posting_t *line)
{
    const char *const keys[CHARGE_PATH_COUNT]
        = {row->account, row->cluster,   row->user,     row->project,
           row->qos,     row->partition, row->gres_type};

    line->kind = BILL_CHARGE;
    line->month = xstrdup (month);
    line->pool = xstrdup (row->pool);
    line->team = xstrdup (row->team);
    line->gpu = xstrdup (row->gpu);
    line->profile = xstrdup (row->profile);
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        line->key[i] = xstrdup (keys[i]);
}

static void set_line (struct reading *r, const line_item_t *row)
{
    posting_t *line = &r->charge->line;

    posting_init (line);
    line_of (r->month, row, line);
    line->reference = xasprintf ("%s/%" PRIu64 "/%" PRId64, row->cluster,
                                 row->id_job, row->submit);
}

static int check_same (const posting_t *first, const posting_t *line,
                       uint64_t id_job, gl_error_t *error)
{
    if (strcmp (first->reference, line->reference) != 0)
        return gl_error (error,
                         "JobId %" PRIu64 " is several submissions, %s and %s "
                         "(cluster/JobId/seconds since 1970); choose with "
                         "--submit and --clusters",
                         id_job, first->reference, line->reference);
    return posting_compare (first, line) == 0
               ? 0
               : gl_error (error,
                           "job %" PRIu64
                           " is on several lines of the bill, in "
                           "pool %s and pool %s; choose with --pool, or give "
                           "the credit to its team",
                           id_job, first->pool, line->pool);
}

static int check_line (struct reading *r, const line_item_t *row,
                       gl_error_t *error)
{
    job_charge_t other = {.count = 0};
    struct reading again = *r;
    int rc;

    again.charge = &other;
    set_line (&again, row);
    rc = check_same (&r->charge->line, &other.line, row->id_job, error);
    posting_clear (&other.line);
    return rc;
}

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct reading *r = arg;
    job_charge_t *c = r->charge;
    job_stretch_t *stretch;

    if (!is_asked (row, r))
        return 0;
    if (c->count == 0) {
        set_line (r, row);
        mpq_init (c->exact);
        mpz_init (c->units);
    } else if (check_line (r, row, error) < 0)
        return -1;
    if (c->count == c->size) {
        c->size = c->size * 2 + 8;
        c->stretch = xreallocarray (c->stretch, c->size, sizeof (*c->stretch));
    }
    stretch = &c->stretch[c->count++];
    stretch->start = row->slice_start;
    stretch->end = row->slice_end;
    mpz_init_set (stretch->billed, row->billed);
    return 0;
}

/* --- the month ---------------------------------------------------------- */

/* What the bill has of the job's line. */
static void take_bill (const struct reading *r, const bill_t *bill)
{
    job_charge_t *c = r->charge;
    char *reference = c->line.reference;
    size_t count;
    const posting_t *rows = postings (bill, &count);

    c->line.reference = NULL; /* lines have none */
    for (size_t i = 0; i < count && c->count > 0; i++) {
        if (posting_compare (&rows[i], &c->line) != 0)
            continue;
        mpq_set (c->exact, rows[i].exact);
        mpz_set (c->units, rows[i].charge_units);
    }
    c->line.reference = reference;
}

/* As facts and configuration have it now: of a closed month the rows that were closed
 * with all corrections, of which those of the open month are not billed yet. */
static int read_now (struct reading *r, store_t *store, const site_t *site,
                     gl_error_t *error)
{
    period_t period;
    bill_t *bill;
    int rc;

    if (periods_month (site, r->month, &period, error) < 0
        || settled_bill (store, site, period, NULL, &bill, error) < 0)
        return -1;
    rc = bills_line_items (store, site, period, bill, NULL, take_row, r, NULL,
                           error);
    if (rc == 0)
        take_bill (r, bill);
    bill_free (bill);
    return rc;
}

static int by_start (const void *a, const void *b)
{
    const job_stretch_t *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

int job_charge_read (store_t *store, const site_t *site,
                     const periods_t *periods, const char *month,
                     const job_key_t *key, job_charge_t *charge,
                     gl_error_t *error)
{
    struct reading r = {month, key, charge};
    const closing_t *closing = periods_closing (periods, month);

    if (!(closing && closing->imported)
        && read_now (&r, store, site, error) < 0)
        return -1;
    if (charge->count == 0)
        return gl_error (error,
                         "job %" PRIu64 " has no charge for %s; with --for, "
                         "give a month in which it ran",
                         key->id_job, month);
    qsort (charge->stretch, charge->count, sizeof (*charge->stretch), by_start);
    return 0;
}

void job_charge_clear (job_charge_t *charge)
{
    if (charge->count > 0) {
        posting_clear (&charge->line);
        mpq_clear (charge->exact);
        mpz_clear (charge->units);
    }
    for (size_t i = 0; i < charge->count; i++)
        mpz_clear (charge->stretch[i].billed);
    free (charge->stretch);
}

/* --- amounts ------------------------------------------------------------ */

static void add_stretch (mpq_t sum, const job_stretch_t *stretch,
                         int64_t seconds)
{
    mpq_t part;

    mpq_init (part);
    mpq_set_z (part, stretch->billed);
    exact_add_scaled (sum, part, seconds, stretch->end - stretch->start);
    mpq_clear (part);
}

/* value * 10^digits, or / where these are negative */
static void shift (mpq_t value, int digits)
{
    mpz_t power;

    mpz_init (power);
    mpz_ui_pow_ui (power, 10, (unsigned long)abs (digits));
    if (digits < 0)
        mpz_mul (mpq_denref (value), mpq_denref (value), power);
    else
        mpz_mul (mpq_numref (value), mpq_numref (value), power);
    mpq_canonicalize (value);
    mpz_clear (power);
}

/* Exact. Whether it is all that the job ran. */
static bool add_last (const job_charge_t *charge, int64_t seconds, mpq_t sum)
{
    size_t i = charge->count;
    bool cut = false;

    for (; i > 0 && seconds > 0; i--) {
        const job_stretch_t *stretch = &charge->stretch[i - 1];
        int64_t length = stretch->end - stretch->start;
        int64_t taken = length < seconds ? length : seconds;
        if (length > 0)
            add_stretch (sum, stretch, taken);
        cut = taken < length;
        seconds -= taken;
    }
    shift (sum, -LINE_ITEM_DIGITS);
    return i == 0 && !cut;
}

/* The line's integer, shared by what the other jobs have of it and this one. */
static int share_line (const job_charge_t *charge, const mpq_t sum, int digits,
                       mpz_t ret_units)
{
    gl_error_t error;
    mpq_t part[2];
    mpz_t units[2];
    int rc;

    mpq_inits (part[0], part[1], NULL);
    mpz_inits (units[0], units[1], NULL);
    mpq_sub (part[0], charge->exact, sum);
    mpq_set (part[1], sum);
    shift (part[0], digits);
    shift (part[1], digits);
    rc = exact_share (charge->units, (const mpq_t *)part, 2, units, &error);
    mpz_set (ret_units, units[1]);
    mpq_clears (part[0], part[1], NULL);
    mpz_clears (units[0], units[1], NULL);
    return rc;
}

void job_charge_last (const site_t *site, const job_charge_t *charge,
                      int64_t seconds, mpz_t ret_units)
{
    int digits = site->currency_digits;
    mpq_t sum;

    mpq_init (sum);
    if (!add_last (charge, seconds, sum) || mpz_sgn (charge->units) == 0
        || share_line (charge, sum, digits, ret_units) < 0)
        exact_round (ret_units, sum, digits);
    mpq_clear (sum);
}

/* --- closed rows of jobs -------------------------------------------------- */

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
    month_t *of;
    bool own; /* read here */
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

void job_rows_free (job_rows_t *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->count; i++)
        free (rows->job[i].cluster);
    free (rows->job);
    for (size_t i = 0; i < rows->month_count; i++) {
        if (rows->month[i].own)
            month_free (rows->month[i].of);
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

struct finding {
    const job_rows_t *rows;
    struct month *month;
};

static const struct job *job_of (const struct finding *r,
                                 const line_item_t *row)
{
    return row->kind == LINE_ITEM_JOB
               ? find (r->rows, row->id_job, row->submit, row->cluster)
               : NULL;
}

static bool is_found (const line_item_t *row, void *arg)
{
    return job_of (arg, row) != NULL;
}

static const size_t job_keys[]
    = {LINE_ITEM_FIELD (id_job), LINE_ITEM_FIELD (submit),
       LINE_ITEM_FIELD (cluster), 0};
static const line_item_want_t rows_of_jobs
    = {.keys = job_keys, .wants = is_found};

static int take_detail (const line_item_t *row, void *arg, gl_error_t *error)
{
    const struct finding *r = arg;
    const struct job *job = job_of (r, row);
    const posting_t *rows;
    posting_t line;
    size_t count;

    (void)error;
    posting_init (&line);
    line_of (r->month->of->name, row, &line);
    rows = postings (r->month->of->bill, &count);
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
    const posting_t *row = postings (m->of->bill, &count);

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

static int read_month (month_t *month, struct finding *r, gl_error_t *error)
{
    if (month_line_items (month, &rows_of_jobs, take_detail, r, NULL, error)
        < 0)
        return -1;
    take_references (r->rows, r->month);
    if (r->month->count > 1)
        qsort (r->month->place, r->month->count, sizeof (*r->month->place),
               compare_places);
    return 0;
}

static int add_month (job_rows_t *rows, store_t *store, const site_t *site,
                      const periods_t *periods, month_t *had, const char *name,
                      gl_error_t *error)
{
    const month_how_t how = {.periods = periods, .any_currency = true};
    struct finding r = {.rows = rows};
    bool is_had = had && !strcmp (had->name, name);
    month_t *of = had;

    if (!is_had && month_read (store, site, name, &how, &of, error) < 0)
        return -1;
    rows->month = xreallocarray (rows->month, rows->month_count + 1,
                                 sizeof (*rows->month));
    r.month = &rows->month[rows->month_count++];
    *r.month = (struct month){.of = of, .own = !is_had};
    return read_month (of, &r, error);
}

/* Sorted, and each once. */
static void sort_jobs (job_rows_t *rows)
{
    size_t count = 0;

    if (rows->count > 1)
        qsort (rows->job, rows->count, sizeof (*rows->job), compare_jobs);
    for (size_t i = 0; i < rows->count; i++) {
        if (count > 0 && !compare_jobs (&rows->job[count - 1], &rows->job[i]))
            free (rows->job[i].cluster);
        else
            rows->job[count++] = rows->job[i];
    }
    rows->count = count;
}

int job_rows_read (job_rows_t *rows, store_t *store, const site_t *site,
                   const periods_t *periods, month_t *had, period_t life,
                   gl_error_t *error)
{
    sort_jobs (rows);
    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        period_t month;
        if (c->reopened || c->imported)
            continue;
        if (periods_month (site, c->month, &month, error) < 0)
            return -1;
        if (month.start < life.end && life.start < month.end
            && add_month (rows, store, site, periods, had, c->month, error) < 0)
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
        job_month_t of = {.month = m->of};
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
