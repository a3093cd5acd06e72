#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timespec.h"
#include "facts/facts.h"
#include "month/periods.h"
#include "users/job_choice.h"

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

struct search {
    const struct job *job;
    const char *cluster;
    job_choice_t *choice;
    bool parted; /* one is a task or a component: others are elsewhere */
};

void job_choice_clear (job_choice_t *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        job_candidate_t *c = &choice->item[i];
        free (c->cluster);
        free (c->account);
        free (c->previous);
        free (c->labels);
    }
    free (choice->item);
    choice->item = NULL;
    choice->count = 0;
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
static bool is_own (const job_person_t *person, const segment_t *s)
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

    if (!is_asked (search->job, s) || !is_own (search->choice->person, s)
        || (search->cluster && strcmp (search->cluster, s->cluster) != 0))
        return 0;
    if (search->choice->count == CHOSEN_MAX)
        return gl_error (error, "the job has too many tasks");
    *GL_APPEND (search->choice->item, search->choice->count)
        = (job_candidate_t){
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
        if (search->choice->count > 0 && !search->parted)
            return 0;
        job_choice_clear (search->choice);
    }
    query.id_job = 0;
    return facts_each (store, site, &query, see, search, error);
}

/* --- which of its submissions ------------------------------------------ */

/* Candidates are ordered by cluster, id, submission. */
static bool same_job (const job_candidate_t *a, const job_candidate_t *b)
{
    return strcmp (a->cluster, b->cluster) == 0 && a->id_job == b->id_job;
}

/* `later` went on with the job of `earlier`: requeued or resized. */
static bool continues (const job_candidate_t *earlier,
                       const job_candidate_t *later)
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
static size_t choose (job_choice_t *choice, int64_t submit)
{
    size_t chosen = 0;

    for (size_t first = 0, next; first < choice->count; first = next) {
        bool wanted;
        size_t last = first;
        while (last + 1 < choice->count
               && continues (&choice->item[last], &choice->item[last + 1]))
            last++;
        next = last + 1;
        wanted = submit == SECONDS_UNKNOWN
                 && (next == choice->count
                     || !same_job (&choice->item[last], &choice->item[next]));
        for (size_t i = first; i <= last; i++)
            wanted = wanted || choice->item[i].time_submit == submit;
        for (size_t i = first; wanted && i <= last; i++, chosen++)
            choice->item[i].chosen = true;
    }
    return chosen;
}

/* --- all of it ----------------------------------------------------------- */

static int check_found (const site_t *site, const job_request_t *request,
                        int64_t submit, job_choice_t *choice, gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE];
    const job_candidate_t *last;

    if (choice->count == 0)
        return gl_error (error, "the ledger has no job %s%s%s%s", request->job,
                         choice->person->root ? "" : " of yours",
                         request->cluster ? " in cluster " : "",
                         request->cluster ? request->cluster : "");
    last = &choice->item[choice->count - 1];
    if (strcmp (choice->item[0].cluster, last->cluster) != 0)
        return gl_error (error,
                         "job %s is in more than one cluster (%s, %s): name "
                         "one with --cluster",
                         request->job, choice->item[0].cluster, last->cluster);
    if (choose (choice, submit) == 0)
        return gl_error (error,
                         "job %s was not submitted at %s; its last submission "
                         "was at %s",
                         request->job, request->submit,
                         zone_stamp (site->zone, last->time_submit, stamp));
    return 0;
}

int job_choose (store_t *store, const site_t *site, const job_person_t *person,
                const job_request_t *request, int64_t now, job_choice_t *ret,
                gl_error_t *error)
{
    int64_t submit = SECONDS_UNKNOWN;
    struct job job;
    struct search search
        = {.job = &job, .cluster = request->cluster, .choice = ret};

    *ret = (job_choice_t){.person = person};
    if (parse_job (request->job, &job, error) < 0
        || (request->submit
            && timespec_parse (request->submit, site->zone, now, &submit, error)
                   < 0))
        return -1;
    if (!person->user)
        return gl_error (error, "user %u has no name on this host",
                         (unsigned)person->uid);
    if (find_candidates (store, site, &search, error) < 0)
        return -1;
    return check_found (site, request, submit, ret, error);
}

/* --- of the choice ------------------------------------------------------- */

job_candidate_t *job_choice_find (const job_choice_t *choice,
                                  const char *cluster, uint64_t id_job,
                                  int64_t time_submit)
{
    size_t low = 0, high = choice->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        job_candidate_t *c = &choice->item[middle];
        int order = strcmp (c->cluster, cluster);
        if (order == 0)
            order = (c->id_job > id_job) - (c->id_job < id_job);
        if (order == 0)
            order = (c->time_submit > time_submit)
                    - (c->time_submit < time_submit);
        if (order == 0)
            return c;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

store_query_t job_choice_query (const job_choice_t *choice)
{
    const job_candidate_t *first = &choice->item[0];
    const job_candidate_t *last = &choice->item[choice->count - 1];

    return (store_query_t){.cluster = first->cluster,
                           .id_job
                           = first->id_job == last->id_job ? first->id_job : 0};
}

const closing_t *job_closed_in (const periods_t *periods,
                                const job_candidate_t *job)
{
    const closing_t *last = NULL;

    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        if (!c->reopened && job->start != 0
            && job->start < body_get_number (c->body, "end")
            && (job->end == 0 || job->end > body_get_number (c->body, "start")))
            last = c;
    }
    return last;
}
