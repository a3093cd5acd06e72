/* Statements: jobs, days and configuration of a month as it was closed. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "month/closed_site.h"
#include "month/periods.h"
#include "month/statements_private.h"

/* --- what it says of itself -------------------------------------------- */

static int take_closing (struct making *m, const closing_t *closing,
                         gl_error_t *error)
{
    GL_AUTOFREE char *zone = body_get (closing->body, "timezone");
    GL_AUTOFREE char *book = NULL;

    m->zone = zone_open (zone ? zone : zone_name (m->query.site->zone), error);
    if (!m->zone)
        return gl_error_prefix (error, "%s", closing->month);
    if (closed_site_then (m->store, closing, &m->then, &book, error) < 0)
        return -1;
    m->s.then = m->then;
    m->query.cluster_count = closed_clusters (closing, &m->clusters);
    m->query.clusters = m->clusters;
    return 0;
}

/* --- jobs -------------------------------------------------------------- */

static int take_row (const detail_row_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int take_jobs (struct making *m, const closing_t *closing,
                      gl_error_t *error)
{
    m->jobs = statement_jobs_new (m->s.team, m->zone);
    if (periods_detail (m->store, closing, &statement_jobs_want, take_row,
                        m->jobs, error)
        < 0)
        return -1;
    m->s.jobs = statement_jobs_count (m->jobs);
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        m->s.counts[i] = statement_jobs_by (m->jobs, (statement_by_t)i);
    m->s.list = m->list ? m->jobs : NULL;
    return 0;
}

/* --- days -------------------------------------------------------------- */

/* Charges and idle time of the team. */
static void charged (const struct making *m, const bill_t *bill, mpz_t ret)
{
    size_t count;
    const bill_row_t *rows = bill_rows (bill, &count);

    mpz_set_ui (ret, 0);
    for (size_t i = 0; i < count; i++)
        if ((rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_IDLE)
            && bill_row_of (&rows[i], m->s.team))
            mpz_add (ret, ret, rows[i].charge_units);
}

/* What jobs were billed on each day, in smallest units; what the rows have beside
 * lies evenly over the month's time. So the parts are the total. */
static void parts_of_days (const struct making *m, const mpz_t total,
                           mpq_t *part)
{
    period_t month = m->query.period;
    mpq_t rest, share;
    mpz_t fine;

    mpz_init (fine);
    mpq_inits (rest, share, NULL);
    mpz_ui_pow_ui (fine, 10,
                   (unsigned long)(DETAIL_DIGITS
                                   - m->query.site->currency_digits));
    mpq_set_z (rest, total);
    for (size_t i = 0; i < m->day_count; i++) {
        mpz_set (mpq_numref (part[i]),
                 statement_jobs_day (m->jobs, (int)i + 1));
        mpz_set (mpq_denref (part[i]), fine);
        mpq_canonicalize (part[i]);
        mpq_sub (rest, rest, part[i]);
    }
    for (size_t i = 0; i < m->day_count; i++) {
        int64_t end
            = i + 1 < m->day_count ? m->days[i + 1].start : month.end;
        exact_set_i64 (share, end - m->days[i].start, month.end - month.start);
        mpq_mul (share, share, rest);
        mpq_add (part[i], part[i], share);
    }
    mpq_clears (rest, share, NULL);
    mpz_clear (fine);
}

static int take_days (struct making *m, const bill_t *bill, gl_error_t *error)
{
    mpq_t *part;
    mpz_t *units, total;
    int rc;

    statement_begin_days (m, m->query.period.end);
    part = xcalloc (m->day_count + 1, sizeof (*part));
    units = xcalloc (m->day_count + 1, sizeof (*units));
    mpz_init (total);
    for (size_t i = 0; i < m->day_count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
    }
    charged (m, bill, total);
    parts_of_days (m, total, part);
    rc = exact_share_in_order (total, (const mpq_t *)part, m->day_count, units,
                               error);
    for (size_t i = 0; i < m->day_count; i++) {
        mpz_swap (m->days[i].units, units[i]);
        mpz_clear (units[i]);
        mpq_clear (part[i]);
    }
    mpz_clear (total);
    free (units);
    free (part);
    return rc;
}

/* --- all of it --------------------------------------------------------- */

int statement_from_closing (struct making *m, const bills_month_t *month,
                            gl_error_t *error)
{
    periods_t *periods;
    const closing_t *closing;
    int rc;

    if (periods_read (m->store, &periods, error) < 0)
        return -1;
    closing = periods_closing (periods, month->month);
    rc = take_closing (m, closing, error);
    if (rc == 0 && closing->imported) {
        periods_free (periods);
        return statement_from_facts (m, month, error);
    }
    if (rc == 0)
        rc = take_jobs (m, closing, error);
    if (rc == 0)
        rc = take_days (m, month->bill, error);
    periods_free (periods);
    return rc;
}

void statement_closing_done (struct making *m)
{
    statement_jobs_free (m->jobs);
    if (m->clusters)
        closed_clusters_free (m->clusters, m->query.cluster_count);
    site_free (m->then);
    zone_close (m->zone);
}
