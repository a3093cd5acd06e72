#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "users/report_units.h"

int report_units_add (const site_t *site, const char *text,
                      report_units_request_t *request, gl_error_t *error)
{
    unit_count_t *unit = &request->unit[request->count];

    if (request->count == REPORT_UNITS_MAX)
        return gl_error (error, "more than %d units in one report",
                         REPORT_UNITS_MAX);
    if (unit_parse (site, text, unit, error) < 0)
        return -1;
    if (GL_ANY (request->unit, request->count, it,
                !strcmp (it->name, unit->name)))
        return gl_error (error, "unit '%s' is given twice", unit->name);
    request->count++;
    return 0;
}

/* --- what was reported before ---------------------------------------------- */

/* The last report of each unit of the request, candidate by candidate. */
struct last {
    int64_t stamp; /* 0: none */
    int64_t quantity;
};

struct reporting {
    const report_units_request_t *request;
    job_choice_t choice;
    int64_t now;
    struct last *last; /* of candidate i and unit k: i * request->count + k */
    report_units_done_t *done;
};

static struct last *last_of (const struct reporting *r,
                             const job_candidate_t *c, size_t unit)
{
    return &r->last[(size_t)(c - r->choice.item) * r->request->count + unit];
}

static void see (struct reporting *r, const job_units_t *row)
{
    job_candidate_t *c = job_choice_find (&r->choice, row->cluster, row->id_job,
                                          row->time_submit);

    if (!c)
        return;
    if (row->stamp > c->stamp)
        c->stamp = row->stamp;
    for (size_t k = 0; k < r->request->count; k++)
        if (!strcmp (r->request->unit[k].name, row->unit)
            && row->stamp >= last_of (r, c, k)->stamp)
            *last_of (r, c, k) = (struct last){row->stamp, row->quantity};
}

static int read_before (store_t *store, struct reporting *r, gl_error_t *error)
{
    store_query_t query = job_choice_query (&r->choice);
    store_iter_t *iter = store_iter_open (store, STORE_UNITS, &query, error);
    job_units_t row;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &row, error)) > 0)
        see (r, &row);
    store_iter_close (iter);
    return rc;
}

static void sum_before (struct reporting *r)
{
    for (size_t k = 0; k < r->request->count; k++) {
        r->done->before[k] = -1;
        for (size_t i = 0; i < r->choice.count; i++) {
            const job_candidate_t *c = &r->choice.item[i];
            const struct last *last = last_of (r, c, k);
            if (!c->chosen || last->stamp == 0)
                continue;
            if (r->done->before[k] < 0)
                r->done->before[k] = 0;
            r->done->before[k] += last->quantity;
        }
    }
}

/* --- who may ----------------------------------------------------------------- */

/* What the page of a closed month counted stays as it was; of a job that goes on
 * behind it the rest counts. */
static int check_closed (store_t *store, struct reporting *r, gl_error_t *error)
{
    periods_t *periods;
    const closing_t *closing = NULL;
    bool open = false;

    if (periods_read (store, &periods, error) < 0)
        return -1;
    for (size_t i = 0; i < r->choice.count; i++) {
        job_candidate_t *c = &r->choice.item[i];
        const closing_t *in = c->chosen ? job_closed_in (periods, c) : NULL;
        if (in && in->when > c->stamp)
            c->stamp = in->when; /* the report is later */
        open = open
               || (c->chosen
                   && (!in || c->end == 0
                       || c->end > body_get_number (in->body, "end")));
        closing = in ? in : closing;
    }
    if (!open)
        gl_error (error,
                  "job %s ran in %s, which is closed: reports of units no "
                  "longer count there, unless the month is reopened "
                  "(gpuledger reopen)",
                  r->request->of.job, closing->month);
    periods_free (periods);
    return open ? 0 : -1;
}

/* --- doing it ------------------------------------------------------------------ */

static int64_t seconds_of (const struct reporting *r, const job_candidate_t *c)
{
    int64_t end = c->end ? c->end : r->now;

    return c->chosen && c->start && end > c->start ? end - c->start : 0;
}

static int64_t total_seconds (const struct reporting *r)
{
    int64_t sum = 0;

    for (size_t i = 0; i < r->choice.count; i++)
        sum += seconds_of (r, &r->choice.item[i]);
    return sum;
}

static int put_one (store_t *store, const struct reporting *r,
                    const job_candidate_t *c, size_t unit, int64_t quantity,
                    gl_error_t *error)
{
    const job_units_t row = {.cluster = c->cluster,
                             .id_job = c->id_job,
                             .time_submit = c->time_submit,
                             .stamp = r->now > c->stamp ? r->now : c->stamp + 1,
                             .who = r->choice.person->user,
                             .unit = r->request->unit[unit].name,
                             .quantity = quantity};
    const struct last *last = last_of (r, c, unit);

    if (last->stamp ? last->quantity == quantity : quantity == 0)
        return 0;
    return store_put_units (store, &row, NULL, error) < 0 ? -1 : 1;
}

/* Candidate by candidate: by time, so that the parts add up. */
static int put_unit (store_t *store, struct reporting *r, size_t unit,
                     bool *written, gl_error_t *error)
{
    const __int128 quantity = r->request->unit[unit].quantity;
    const int64_t total = total_seconds (r);
    int64_t passed = 0;

    for (size_t i = 0; i < r->choice.count; i++) {
        const job_candidate_t *c = &r->choice.item[i];
        int64_t before = (int64_t)(quantity * passed / total);
        int rc;
        if (!c->chosen)
            continue;
        passed += seconds_of (r, c);
        rc = put_one (store, r, c, unit,
                      (int64_t)(quantity * passed / total) - before, error);
        if (rc < 0)
            return -1;
        written[i] = written[i] || rc > 0;
    }
    return 0;
}

static int put (store_t *store, void *arg, gl_error_t *error)
{
    struct reporting *r = arg;
    GL_AUTOFREE bool *written = xcalloc (r->choice.count, sizeof (*written));

    for (size_t k = 0; k < r->request->count; k++)
        if (put_unit (store, r, k, written, error) < 0)
            return -1;
    r->done->segments = 0;
    for (size_t i = 0; i < r->choice.count; i++)
        r->done->segments += written[i];
    return 0;
}

static int report_chosen (store_t *store, struct reporting *r,
                          gl_error_t *error)
{
    r->last
        = xcalloc (r->choice.count * r->request->count + 1, sizeof (*r->last));
    if (read_before (store, r, error) < 0 || check_closed (store, r, error) < 0)
        return -1;
    if (total_seconds (r) == 0)
        return gl_error (error,
                         "job %s has not run yet: report units when it has",
                         r->request->of.job);
    sum_before (r);
    strncat (r->done->cluster, r->choice.item[0].cluster,
             sizeof (r->done->cluster) - 1);
    return store_transaction (store, put, r, error);
}

int report_units (store_t *store, const site_t *site,
                  const job_person_t *person,
                  const report_units_request_t *request, int64_t now,
                  report_units_done_t *ret_done, gl_error_t *error)
{
    struct reporting r = {.request = request, .now = now, .done = ret_done};
    int rc
        = job_choose (store, site, person, &request->of, now, &r.choice, error);

    *ret_done = (report_units_done_t){.segments = 0};
    if (rc == 0)
        rc = report_chosen (store, &r, error);
    free (r.last);
    job_choice_clear (&r.choice);
    return rc;
}
