#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "month/bills.h"
#include "month/job_charge.h"

/* --- its rows ----------------------------------------------------------- */

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

void job_charge_line (const char *month, const line_item_t *row,
                      posting_t *line)
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
    job_charge_line (r->month, row, line);
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
    }
    else if (check_line (r, row, error) < 0)
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
        || bills_compute (store, site, period, &bill, error) < 0)
        return -1;
    rc = bills_line_items (store, site, period, bill, take_row, r, NULL, error);
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

    if (!(closing && closing->imported) && read_now (&r, store, site, error) < 0)
        return -1;
    if (charge->count == 0)
        return gl_error (error,
                         "job %" PRIu64 " is charged nothing for %s; --for names "
                         "a month in which it ran",
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
