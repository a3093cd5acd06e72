#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/tag.h"
#include "base/timespec.h"
#include "facts/facts.h"
#include "month/periods.h"
#include "users/retag.h"

/* A later attempt of the same job: JobIds recur only after 67 million jobs. */
#define ATTEMPTS_WITHIN (366 * INT64_C (86400))
/* Tasks of one array; Slurm's MaxArraySize is at most 4,000,001. */
#define CHOSEN_MAX 5000000

/* --- which job --------------------------------------------------------- */

struct job {
    uint64_t id;
    char mark; /* '_', '+' or 0 */
    uint64_t part;
};

/* What the decision needs of a segment; texts are its own. */
struct candidate {
    char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t moment; /* at which projects are asked */
    int64_t start;  /* 0: it never did */
    int64_t end;    /* 0: it has none */
    segment_state_t state;
    char *account;
    char *previous; /* project; "": untagged */
    char *labels;
    int64_t stamp; /* of its last retag; 0: none */
    bool chosen;
};

struct search {
    const struct job *job;
    const retag_person_t *person;
    const char *cluster;
    struct candidate *item;
    size_t count;
    bool parted; /* one is a task or a component: others are elsewhere */
};

static void search_clear (struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free (s->item[i].cluster);
        free (s->item[i].account);
        free (s->item[i].previous);
        free (s->item[i].labels);
    }
    free (s->item);
    s->item = NULL;
    s->count = 0;
}

static int parse_job (const char *text, struct job *job, gl_error_t *error)
{
    size_t length = strcspn (text, "_+");

    *job = (struct job){.mark = text[length]};
    if (number_u64 (text, length, &job->id) < 0 || job->id == 0
        || (job->mark && number_u64_text (text + length + 1, &job->part) < 0))
        return gl_error (error,
                         "'%s' is not a job: write JOBID, JOBID_TASK or "
                         "JOBID+OFFSET",
                         text);
    return 0;
}

static bool is_asked (const struct job *job, const segment_t *s)
{
    if (job->mark == '_')
        return s->array_job == job->id && s->array_task == job->part;
    if (job->mark == '+')
        return s->het_job == job->id && s->het_offset == job->part;
    return s->id_job == job->id || s->array_job == job->id
           || s->het_job == job->id;
}

/* By number where accounting has one: names change. */
static bool is_own (const retag_person_t *person, const segment_t *s)
{
    if (person->root)
        return true;
    if (s->uid != UINT32_MAX)
        return s->uid == person->uid;
    return s->user && person->user && strcmp (s->user, person->user) == 0;
}

static int see (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    const segment_t *s = fact->segment;

    if (!is_asked (search->job, s) || !is_own (search->person, s)
        || (search->cluster && strcmp (search->cluster, s->cluster) != 0))
        return 0;
    if (search->count == CHOSEN_MAX)
        return gl_error (error, "the job has too many tasks");
    *GL_APPEND (search->item, search->count) = (struct candidate){
        .cluster = xstrdup (s->cluster),
        .id_job = s->id_job,
        .time_submit = s->time_submit,
        .moment = s->time_start ? s->time_start : s->time_submit,
        .start = s->time_start,
        .end = s->time_end,
        .state = s->state,
        .account = xstrdup (s->account),
        .previous = xstrdup (fact->project->project),
    };
    search->parted = search->parted || s->array_job || s->het_job;
    return 0;
}

/* A raw id is found by the index; tasks and components have ids of their own,
 * which only a look at all segments finds. */
static int find_candidates (store_t *store, const site_t *site,
                            struct search *search, gl_error_t *error)
{
    store_query_t query = {.cluster = search->cluster};

    if (!search->job->mark) {
        query.id_job = search->job->id;
        if (facts_each (store, site, &query, see, search, error) < 0)
            return -1;
        if (search->count > 0 && !search->parted)
            return 0;
        search_clear (search);
    }
    query.id_job = 0;
    return facts_each (store, site, &query, see, search, error);
}

/* --- what was said of them before -------------------------------------- */

static struct candidate *find (struct search *search, const retag_t *r)
{
    size_t low = 0, high = search->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct candidate *c = &search->item[middle];
        int order = strcmp (c->cluster, r->cluster);
        if (order == 0)
            order = (c->id_job > r->id_job) - (c->id_job < r->id_job);
        if (order == 0)
            order = (c->time_submit > r->time_submit)
                    - (c->time_submit < r->time_submit);
        if (order == 0)
            return c;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int read_retags (store_t *store, struct search *search,
                        gl_error_t *error)
{
    store_query_t query = {.cluster = search->cluster};
    store_iter_t *iter;
    retag_t r;
    int rc;

    if (search->count > 0
        && search->item[0].id_job == search->item[search->count - 1].id_job)
        query.id_job = search->item[0].id_job;
    if (!(iter = store_iter_open (store, STORE_RETAGS, &query, error)))
        return -1;
    while ((rc = store_iter_next (iter, &r, error)) > 0) {
        struct candidate *c = find (search, &r);
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

/* --- which of its submissions ------------------------------------------ */

/* Candidates are ordered by cluster, id, submission. */
static bool same_job (const struct candidate *a, const struct candidate *b)
{
    return strcmp (a->cluster, b->cluster) == 0 && a->id_job == b->id_job;
}

/* `later` went on with the job of `earlier`: requeued or resized. */
static bool continues (const struct candidate *earlier,
                       const struct candidate *later)
{
    switch (earlier->state) {
    case SEGMENT_REQUEUED:
    case SEGMENT_RESIZING:
    case SEGMENT_PREEMPTED:
    case SEGMENT_NODE_FAIL:
    case SEGMENT_BOOT_FAIL:
        return same_job (earlier, later)
               && later->time_submit - earlier->time_submit <= ATTEMPTS_WITHIN;
    default:
        return false;
    }
}

/* Of each job id the submission asked for, or the latest, with all its
 * attempts. Returns how many segments. */
static size_t choose (struct search *search, int64_t submit)
{
    size_t chosen = 0;

    for (size_t first = 0, next; first < search->count; first = next) {
        bool wanted;
        size_t last = first;
        while (last + 1 < search->count
               && continues (&search->item[last], &search->item[last + 1]))
            last++;
        next = last + 1;
        wanted = submit == SECONDS_UNKNOWN
                 && (next == search->count
                     || !same_job (&search->item[last], &search->item[next]));
        for (size_t i = first; i <= last; i++)
            wanted = wanted || search->item[i].time_submit == submit;
        for (size_t i = first; wanted && i <= last; i++, chosen++)
            search->item[i].chosen = true;
    }
    return chosen;
}

/* --- who may ----------------------------------------------------------- */

static bool may_charge (const site_project_t *p, const retag_person_t *person,
                        const struct candidate *c)
{
    if (!period_has (p->valid, c->moment))
        return false;
    return person->root || (p->users.count == 0 && p->accounts.count == 0)
           || texts_have (&p->users, person->user)
           || texts_have (&p->accounts, c->account);
}

static int refuse_project (const site_t *site, const retag_person_t *person,
                           const struct candidate *c, const char *project,
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
static int check_project (const site_t *site, const retag_person_t *person,
                          const struct candidate *c, const char *project,
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

/* No closed month holds a part of `segment`. -1: one does; root may change it all
 * the same, and the change is a correction in the month that is open. */
static int retag_period_open (store_t *store, const segment_t *segment,
                              gl_error_t *error)
{
    periods_t *periods;
    int rc = 0;

    if (periods_read (store, &periods, error) < 0)
        return -1;
    for (size_t i = 0; i < periods->closing_count && rc == 0; i++) {
        const closing_t *c = &periods->closings[i];
        if (!c->reopened && segment->time_start != 0
            && segment->time_start < body_get_number (c->body, "end")
            && (segment->time_end == 0
                || segment->time_end > body_get_number (c->body, "start")))
            rc = gl_error (error,
                           "job %" PRIu64 " ran in %s, which is closed: who "
                           "keeps the ledger can still change its project, "
                           "and corrects the bill by it",
                           segment->id_job, c->month);
    }
    periods_free (periods);
    return rc;
}

static int check_period (store_t *store, const struct candidate *c,
                         gl_error_t *error)
{
    segment_t segment = {.cluster = c->cluster,
                         .id_job = c->id_job,
                         .time_submit = c->time_submit,
                         .time_start = c->start,
                         .time_end = c->end};

    return retag_period_open (store, &segment, error);
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

static int check_chosen (store_t *store, const site_t *site,
                         const struct search *search,
                         const retag_request_t *request, gl_error_t *error)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *c = &search->item[i];
        if (c->chosen
            && (check_project (site, search->person, c, request->project, error)
                    < 0
                || (!search->person->root
                    && check_period (store, c, error) < 0)))
            return -1;
    }
    return 0;
}

/* --- doing it ---------------------------------------------------------- */

struct change {
    const struct search *search;
    const retag_request_t *request;
    int64_t now;
    size_t done;
};

static bool is_change (const struct candidate *c,
                       const retag_request_t *request)
{
    return strcmp (c->previous, request->project) != 0 || request->labels;
}

/* A retag says all of the labels, so one that is silent repeats the last. */
static int put (store_t *store, void *arg, gl_error_t *error)
{
    struct change *change = arg;
    const struct search *search = change->search;

    change->done = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *c = &search->item[i];
        retag_t r = {
            .cluster = c->cluster,
            .id_job = c->id_job,
            .time_submit = c->time_submit,
            .stamp = change->now > c->stamp ? change->now : c->stamp + 1,
            .who = search->person->user,
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
    const struct candidate *c = change->search->item;

    while (!c->chosen)
        c++;
    *done = (retag_done_t){.segments = change->done,
                           .id_job = c->id_job,
                           .time_submit = c->time_submit};
    strncat (done->cluster, c->cluster, sizeof (done->cluster) - 1);
    strncat (done->previous, c->previous, sizeof (done->previous) - 1);
}

static int decide (store_t *store, const site_t *site, struct search *search,
                   const retag_request_t *request, int64_t submit,
                   gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE];

    if (find_candidates (store, site, search, error) < 0
        || read_retags (store, search, error) < 0)
        return -1;
    if (search->count == 0)
        return gl_error (error, "the ledger has no job %s%s%s%s", request->job,
                         search->person->root ? "" : " of yours",
                         search->cluster ? " in cluster " : "",
                         search->cluster ? search->cluster : "");
    if (strcmp (search->item[0].cluster,
                search->item[search->count - 1].cluster)
        != 0)
        return gl_error (error,
                         "job %s is in more than one cluster (%s, %s): name "
                         "one with --cluster",
                         request->job, search->item[0].cluster,
                         search->item[search->count - 1].cluster);
    if (choose (search, submit) == 0)
        return gl_error (
            error,
            "job %s was not submitted at %s; its last submission "
            "was at %s",
            request->job, request->submit,
            zone_stamp (site->zone, search->item[search->count - 1].time_submit,
                        stamp));
    return check_chosen (store, site, search, request, error);
}

int retag (store_t *store, const site_t *site, const retag_person_t *person,
           const retag_request_t *request, int64_t now, retag_done_t *ret_done,
           gl_error_t *error)
{
    struct job job;
    struct search search
        = {.job = &job, .person = person, .cluster = request->cluster};
    struct change change = {&search, request, now, 0};
    int64_t submit = SECONDS_UNKNOWN;
    int rc;

    if (check_request (request, error) < 0
        || parse_job (request->job, &job, error) < 0
        || (request->submit
            && timespec_parse (request->submit, site->zone, now, &submit, error)
                   < 0))
        return -1;
    if (!person->user)
        return gl_error (error, "user %u has no name on this host",
                         (unsigned)person->uid);
    rc = decide (store, site, &search, request, submit, error);
    if (rc == 0)
        rc = store_transaction (store, put, &change, error);
    if (rc == 0)
        fill_done (&change, ret_done);
    search_clear (&search);
    return rc;
}
