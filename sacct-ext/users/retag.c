#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/tag.h"
#include "month/periods.h"
#include "users/retag.h"

/* --- what was said of them before -------------------------------------- */

static int read_retags (store_t *store, const job_choice_t *choice,
                        gl_error_t *error)
{
    store_query_t query = job_choice_query (choice);
    store_iter_t *iter;
    retag_t r;
    int rc;

    if (!(iter = store_iter_open (store, STORE_RETAGS, &query, error)))
        return -1;
    while ((rc = store_iter_next (iter, &r, error)) > 0) {
        job_candidate_t *c
            = job_choice_find (choice, r.cluster, r.id_job, r.time_submit);
        if (!c || r.stamp < c->stamp)
            continue;
        c->stamp = r.stamp;
        free (c->previous);
        c->previous = xstrdup (r.project);
        free (c->labels);
        c->labels = xstrdup (r.labels);
    }
    store_iter_close (iter);
    return rc;
}

/* --- who may ----------------------------------------------------------- */

static bool may_charge (const site_project_t *p, const job_person_t *person,
                        const job_candidate_t *c)
{
    if (!period_has (p->valid, c->moment))
        return false;
    return person->root || (p->users.count == 0 && p->accounts.count == 0)
           || texts_have (&p->users, person->user)
           || texts_have (&p->accounts, c->account);
}

static int refuse_project (const site_t *site, const job_person_t *person,
                           const job_candidate_t *c, const char *project,
                           gl_error_t *error)
{
    BUFFER_AUTO yours = BUFFER_INIT;

    for (size_t i = 0; i < site->project_count && yours.length < 512; i++) {
        const site_project_t *p = &site->projects[i];
        if (!may_charge (p, person, c))
            continue;
        buffer_printf (&yours, "%s%s", yours.length ? ", " : "", p->name);
    }
    return gl_error (error, "unknown project '%s'%s%s", project,
                     yours.length ? "; yours are: " : "; you have none",
                     buffer_text (&yours));
}

/* Without a list of projects every tag counts. */
static int check_project (const site_t *site, const job_person_t *person,
                          const job_candidate_t *c, const char *project,
                          gl_error_t *error)
{
    for (size_t i = 0; i < site->project_count; i++) {
        if (strcmp (site->projects[i].name, project) == 0
            && may_charge (&site->projects[i], person, c))
            return 0;
    }
    return site->project_count == 0
               ? 0
               : refuse_project (site, person, c, project, error);
}

static int check_request (const retag_request_t *request, gl_error_t *error)
{
    const char *problem;

    if (!tag_valid (request->project, strnlen (request->project, TAG_MAX + 1)))
        return gl_error (error,
                         "'%.64s' is not a project: 1-64 characters of A-Z "
                         "a-z 0-9 . _ -, beginning with a letter or digit",
                         request->project);
    if (request->labels && (problem = labels_problem (request->labels)))
        return gl_error (error, "labels: '%.64s': %s", request->labels,
                         problem);
    return 0;
}

static int check_period (const periods_t *periods, const job_candidate_t *c,
                         gl_error_t *error)
{
    const closing_t *closing = job_closed_in (periods, c);

    return closing
               ? gl_error (error,
                           "job %" PRIu64 " ran in %s, which is closed: who "
                           "keeps the ledger can still change its project, "
                           "and corrects the bill by it",
                           c->id_job, closing->month)
               : 0;
}

/* In closed months root may change it all the same, and the change is a correction
 * in the month that is open. */
static int check_chosen (store_t *store, const site_t *site,
                         const job_choice_t *choice,
                         const retag_request_t *request, gl_error_t *error)
{
    periods_t *periods;
    int rc = periods_read (store, &periods, error);

    if (rc < 0)
        return -1;
    for (size_t i = 0; i < choice->count && rc == 0; i++) {
        const job_candidate_t *c = &choice->item[i];
        if (!c->chosen)
            continue;
        rc = check_project (site, choice->person, c, request->project, error);
        if (rc == 0 && !choice->person->root)
            rc = check_period (periods, c, error);
    }
    periods_free (periods);
    return rc;
}

/* --- doing it ---------------------------------------------------------- */

struct change {
    const job_choice_t *choice;
    const retag_request_t *request;
    int64_t now;
    size_t done;
};

static bool is_change (const job_candidate_t *c, const retag_request_t *request)
{
    return strcmp (c->previous, request->project) != 0 || request->labels;
}

/* A retag says all of the labels, so one that is silent repeats the last. */
static int put (store_t *store, void *arg, gl_error_t *error)
{
    struct change *change = arg;
    const job_choice_t *choice = change->choice;

    change->done = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const job_candidate_t *c = &choice->item[i];
        retag_t r = {
            .cluster = c->cluster,
            .id_job = c->id_job,
            .time_submit = c->time_submit,
            .stamp = change->now > c->stamp ? change->now : c->stamp + 1,
            .who = choice->person->user,
            .previous = c->previous[0] ? c->previous : NULL,
            .project = change->request->project,
            .labels
            = change->request->labels ? change->request->labels : c->labels,
        };
        if (!c->chosen || !is_change (c, change->request))
            continue;
        if (store_put_retag (store, &r, NULL, error) < 0)
            return -1;
        change->done++;
    }
    return 0;
}

static void fill_done (const struct change *change, retag_done_t *done)
{
    const job_candidate_t *c = change->choice->item;

    while (!c->chosen)
        c++;
    *done = (retag_done_t){.segments = change->done,
                           .id_job = c->id_job,
                           .time_submit = c->time_submit};
    strncat (done->cluster, c->cluster, sizeof (done->cluster) - 1);
    strncat (done->previous, c->previous, sizeof (done->previous) - 1);
}

static int decide (store_t *store, const site_t *site, job_choice_t *choice,
                   const retag_request_t *request, gl_error_t *error)
{
    if (read_retags (store, choice, error) < 0)
        return -1;
    return check_chosen (store, site, choice, request, error);
}

int retag (store_t *store, const site_t *site, const job_person_t *person,
           const retag_request_t *request, int64_t now, retag_done_t *ret_done,
           gl_error_t *error)
{
    job_choice_t choice = {.count = 0};
    struct change change = {&choice, request, now, 0};
    int rc = check_request (request, error);

    if (rc == 0)
        rc = job_choose (store, site, person, &request->of, now, &choice,
                         error);
    if (rc == 0)
        rc = decide (store, site, &choice, request, error);
    if (rc == 0)
        rc = store_transaction (store, put, &change, error);
    if (rc == 0)
        fill_done (&change, ret_done);
    job_choice_clear (&choice);
    return rc;
}
