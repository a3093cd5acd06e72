#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "evidence/energy_bound.h"
#include "evidence/runaway.h"
#include "facts/facts.h"
#include "facts/facts_clocks.h"
#include "facts/facts_inventory.h"
#include "facts/facts_job.h"
#include "facts/facts_unmatched.h"
#include "facts/facts_shards.h"
#include "gres/tres.h"

/* A node's record may belong to a segment that ended just before the period:
 * such segments are looked at too, so that nothing of theirs is taken for one
 * that began after them. */
#define MARGIN_SECONDS 3600

struct pass {
    store_t *store;
    const site_t *site;
    const store_query_t *query;
    fact_f callback;
    facts_attempt_f attempt; /* or NULL */
    void *arg;
    unmatched_t *unmatched;
    store_iter_t *segments;
    store_iter_t *suspensions;
    store_iter_t *records;
    store_iter_t *usage;
    store_iter_t *retags;
    node_record_t next_record; /* valid while more_... */
    suspension_t next_suspension;
    store_usage_t next_usage;
    retag_t next_retag;
    int more_records;
    int more_suspensions;
    int more_usage;
    int more_retags;
    clocks_t clocks;
    energy_bound_t *bound;
    facts_job_t *job;
    layout_t *layout; /* read when it is first asked for */
    int layout_rc;
    facts_shards_t *shards; /* the same */
    gl_error_t layout_error;  /* of that, where layout_rc is -1 */
    suspension_t *suspension; /* of the segment in hand */
    size_t suspension_count;
    size_t suspension_size;
};

static int compare_id (const char *cluster, uint64_t id_job,
                       const char *other_cluster, uint64_t other_id)
{
    int order = strcmp (cluster, other_cluster);

    return order ? order : (id_job > other_id) - (id_job < other_id);
}

/* --- the streams ------------------------------------------------------- */

static int next_record (struct pass *p, gl_error_t *error)
{
    p->more_records = store_iter_next (p->records, &p->next_record, error);
    return p->more_records < 0 ? -1 : 0;
}

static int next_usage (struct pass *p, gl_error_t *error)
{
    p->more_usage = store_iter_next (p->usage, &p->next_usage, error);
    if (p->more_usage > 0)
        energy_bound_apply (p->bound, &p->next_usage.usage);
    return p->more_usage < 0 ? -1 : 0;
}

static int next_retag (struct pass *p, gl_error_t *error)
{
    p->more_retags = store_iter_next (p->retags, &p->next_retag, error);
    return p->more_retags < 0 ? -1 : 0;
}

static int next_suspension (struct pass *p, gl_error_t *error)
{
    p->more_suspensions
        = store_iter_next (p->suspensions, &p->next_suspension, error);
    return p->more_suspensions < 0 ? -1 : 0;
}

/* --- what belongs to no segment ---------------------------------------- */

static period_t period_of (const store_query_t *q)
{
    bool all = !q || (q->start == 0 && q->end == 0);

    return all ? (period_t){INT64_MIN / 1000, INT64_MAX / 1000}
               : (period_t){q->start, q->end};
}

/* By days only where there is an end to them. */
static unmatched_t *new_unmatched (const store_query_t *q, const site_t *site)
{
    bool all = !q || (q->start == 0 && q->end == 0);

    return unmatched_new (all ? NULL : site->zone, period_of (q));
}

/* Of the period alone. */
static void tell_attempt (const struct pass *p, const attempt_t *a)
{
    period_t period = period_of (p->query);
    int64_t at = a->fact[0]->seen.stamp;

    if (p->attempt && a->reason != EVIDENCE_MATCHED && period_has (period, at))
        p->attempt (a, p->arg);
}

static void count_join (struct pass *p, const evidence_join_t *join)
{
    size_t count = join->segment_count;
    const segment_t *segments = count ? join->segment[0].segment : NULL;

    for (size_t i = 0; i < join->attempt_count; i++) {
        unmatched_attempt (p->unmatched, segments, count, &join->attempt[i]);
        tell_attempt (p, &join->attempt[i]);
    }
    for (size_t i = 0; i < join->part_count; i++) {
        const usage_part_of_t *part = &join->part[i];
        unmatched_usage (p->unmatched, segments, count, part->usage,
                         part->from_ms, part->to_ms, part->reason);
    }
}

/* Nothing in accounting has its id. */
static void count_stray (struct pass *p)
{
    const device_usage_t *u = &p->next_usage.usage;

    unmatched_usage (p->unmatched, NULL, 0, u, u->begin_ms, u->end_ms,
                     EVIDENCE_NO_SEGMENT);
}

/* --- one job ----------------------------------------------------------- */

/* The heads of the streams of what nodes saw, moved up to this id; true if one
 * of them has something of it. */
static int skip_to (struct pass *p, const char *cluster, uint64_t id_job,
                    bool *ret_any, gl_error_t *error)
{
    int order[3] = {1, 1, 1};

    while (p->more_records
           && (order[0] = compare_id (p->next_record.cluster,
                                      p->next_record.id_job, cluster, id_job))
                  < 0)
        if (next_record (p, error) < 0)
            return -1;
    while (
        p->more_usage
        && (order[1] = compare_id (p->next_usage.usage.cluster,
                                   p->next_usage.usage.id_job, cluster, id_job))
               < 0) {
        count_stray (p);
        if (next_usage (p, error) < 0)
            return -1;
    }
    while (p->more_retags
           && (order[2] = compare_id (p->next_retag.cluster,
                                      p->next_retag.id_job, cluster, id_job))
                  < 0)
        if (next_retag (p, error) < 0)
            return -1;
    *ret_any = (p->more_records && order[0] == 0)
               || (p->more_usage && order[1] == 0)
               || (p->more_retags && order[2] == 0);
    return 0;
}

/* All that the heads have of the job that was begun. */
static int load_job (struct pass *p, gl_error_t *error)
{
    while (p->more_records
           && facts_job_is (p->job, p->next_record.cluster,
                            p->next_record.id_job)) {
        facts_job_add_record (p->job, &p->next_record);
        if (next_record (p, error) < 0)
            return -1;
    }
    while (p->more_usage
           && facts_job_is (p->job, p->next_usage.usage.cluster,
                            p->next_usage.usage.id_job)) {
        facts_job_add_usage (p->job, &p->next_usage.usage);
        if (next_usage (p, error) < 0)
            return -1;
    }
    while (
        p->more_retags
        && facts_job_is (p->job, p->next_retag.cluster, p->next_retag.id_job)) {
        facts_job_add_retag (p->job, &p->next_retag);
        if (next_retag (p, error) < 0)
            return -1;
    }
    return 0;
}

static int compare_segment (const suspension_t *x, const segment_t *s)
{
    int order = compare_id (x->cluster, x->id_job, s->cluster, s->id_job);

    if (order)
        return order;
    return (x->time_submit > s->time_submit)
           - (x->time_submit < s->time_submit);
}

static int take_suspensions (struct pass *p, const segment_t *s,
                             gl_error_t *error)
{
    p->suspension_count = 0;
    while (p->more_suspensions) {
        int order = compare_segment (&p->next_suspension, s);
        if (order > 0)
            break;
        if (order == 0) {
            if (p->suspension_count == p->suspension_size) {
                p->suspension_size = p->suspension_size * 2 + 8;
                p->suspension = xreallocarray (
                    p->suspension, p->suspension_size, sizeof (*p->suspension));
            }
            p->suspension[p->suspension_count] = p->next_suspension;
            p->suspension[p->suspension_count++].cluster = s->cluster;
        }
        if (next_suspension (p, error) < 0)
            return -1;
    }
    return 0;
}

/* In the period that was asked for, and no mere neighbour of it; as the store
 * says it. */
static bool is_wanted (const struct pass *p, const segment_t *s)
{
    const store_query_t *q = p->query;
    int64_t end = s->time_end ? s->time_end : s->observed_at;

    if (!q || (q->start == 0 && q->end == 0))
        return true;
    return s->time_start > 0 && s->time_start < q->end
           && (end > q->start || s->time_start >= q->start);
}

/* Where an open segment ends, if it cannot be believed to run still. */
static const segment_t *judge (const struct pass *p, const segment_t *s,
                               const segment_evidence_t *evidence,
                               segment_t *judged)
{
    runaway_t verdict;

    if (s->time_end != 0)
        return s;
    verdict = runaway_judge (s, p->suspension, p->suspension_count, evidence,
                             p->site->policy.runaway_grace);
    *judged = *s;
    judged->believed_end = verdict.end;
    return judged;
}

/* Some pool leaves it to accounting how many shards a GPU has. */
static bool asks_for_shards (const site_t *site)
{
    return GL_ANY (site->pools, site->pool_count, it, it->shards_per_gpu == 0)
           || site->pool_count == 0;
}

/* How many shards the GPUs of its nodes had, where that is asked for. */
static int tell_shards (struct pass *p, const segment_t **s, segment_t *told,
                        gl_error_t *error)
{
    if (!(*s)->gres || !strstr ((*s)->gres, "shard")
        || gres_parts ((*s)->gres, "shard", NULL, NULL) == 0
        || !asks_for_shards (p->site))
        return 0;
    if (!p->shards
        && !(p->shards = facts_shards_open (
                 p->store, p->query ? p->query->cluster : NULL, error)))
        return -1;
    if (*s != told)
        *told = **s;
    facts_shards_tell (p->shards, told);
    *s = told;
    return 0;
}

/* `evidence` NULL: the nodes have seen nothing of its job. */
static int hand_over (struct pass *p, const segment_t *s,
                      const segment_evidence_t *evidence, gl_error_t *error)
{
    segment_t judged;
    project_t project;
    fact_t fact = {.project = &project, .evidence = evidence};

    if (!is_wanted (p, s))
        return 0;
    if (take_suspensions (p, s, error) < 0)
        return -1;
    fact.segment = judge (p, s, evidence, &judged);
    if (tell_shards (p, &fact.segment, &judged, error) < 0)
        return -1;
    fact.suspensions = p->suspension_count ? p->suspension : NULL;
    fact.suspension_count = p->suspension_count;
    fact.record = evidence ? evidence->record : NULL;
    project_resolve (p->site, s, fact.record, evidence ? evidence->retag : NULL,
                     &project);
    unmatched_segment (p->unmatched, fact.segment,
                       evidence && evidence->recorded);
    return p->callback (&fact, p->arg, error);
}

/* --- what it held, and the end of it ------------------------------------ */

static void look_up (const segment_t *s, const char *node, int64_t gres_index,
                     const char *uuid, allocated_device_t *held, void *arg)
{
    struct pass *p = arg;

    if (!p->layout && p->layout_rc == 0
        && !(p->layout
             = facts_inventory (p->store, p->query ? p->query->cluster : NULL,
                                &p->layout_error)))
        p->layout_rc = -1;
    if (p->layout_rc == 0)
        facts_inventory_tell (p->layout, s, node, gres_index, uuid, held);
}

/* Sets what the segment held, where the nodes tell all of it. Freed by the
 * caller. */
static int take_held (struct pass *p, const segment_evidence_t *e, segment_t *s,
                      allocated_device_t **ret_allocated, gl_error_t *error)
{
    *ret_allocated = NULL;
    if (e->device_count == 0)
        return 0;
    s->allocated_count = evidence_allocated (e, look_up, p, ret_allocated);
    s->allocated = *ret_allocated;
    if (p->layout_rc < 0)
        *error = p->layout_error;
    return p->layout_rc;
}

static bool names_gpu (const segment_t *s)
{
    return s->gpu_asked || (s->gres && s->gres[0]);
}

/* For the store: whether a segment without a GPU in accounting is to be looked at
 * all the same, since a node shows that its job held some. The first record of
 * the job tells. */
static int shows_gpu (const char *cluster, uint64_t id_job, void *arg,
                      gl_error_t *error)
{
    struct pass *p = arg;
    bool any;

    if (facts_job_is (p->job, cluster, id_job))
        return 1;
    if (skip_to (p, cluster, id_job, &any, error) < 0)
        return -1;
    return any && p->more_records
           && compare_id (p->next_record.cluster, p->next_record.id_job,
                          cluster, id_job)
                  == 0
           && facts_record_shows_gpu (&p->next_record);
}

/* Segments without GPUs count where the site counts CPUs, whoever asks. */
static bool gpu_only (const struct pass *p)
{
    return p->query && p->query->gpu_only && !site_counts_cpus (p->site);
}

/* Accounting has a sign of a request and no GPU, and every node shows that the job
 * had none there: a word of the submit line was no request, or the request got
 * none. */
static bool shows_none (const segment_evidence_t *e)
{
    const segment_t *s = e->segment;

    return s->gpu_asked && !(s->gres && s->gres[0]) && e->device_count == 0
           && evidence_tells_all (e);
}

static int hand_joined (struct pass *p, const segment_evidence_t *e,
                        gl_error_t *error)
{
    segment_t s = *e->segment;
    allocated_device_t *held = NULL;
    int rc = 0;

    s.gpu_shown = !names_gpu (&s) && e->device_count > 0;
    s.gpu_asked = (s.gpu_asked && !shows_none (e)) || s.gpu_shown;
    if (gpu_only (p) && !names_gpu (&s))
        return 0;
    rc = take_held (p, e, &s, &held, error);
    if (rc == 0)
        rc = hand_over (p, &s, e, error);
    free (held);
    return rc;
}

/* A job that was requeued may have segments outside the period, and what its
 * nodes recorded belongs to these as well: then all of them are looked at, so
 * that no answer depends on the period. */
static int every_segment (const char *cluster, uint64_t id_job, void *arg,
                          gl_error_t *error)
{
    (void)cluster;
    (void)id_job;
    (void)arg;
    (void)error;
    return 1;
}

static int take_siblings (struct pass *p, gl_error_t *error)
{
    store_query_t query = {.cluster = facts_job_cluster (p->job),
                           .id_job = facts_job_id (p->job),
                           .gpu_only = gpu_only (p),
                           .also = every_segment};
    store_iter_t *iter;
    segment_t s;
    int more = -1;

    if (facts_job_is_whole (p->job))
        return 0;
    iter = store_iter_open (p->store, STORE_SEGMENTS, &query, error);
    facts_job_forget_segments (p->job);
    while (iter && (more = store_iter_next (iter, &s, error)) > 0)
        facts_job_add_segment (p->job, &s);
    store_iter_close (iter);
    return more;
}

/* The job in hand is complete. */
static int finish_job (struct pass *p, gl_error_t *error)
{
    const node_skew_t *skews = NULL;
    const evidence_join_t *join;
    size_t count;

    if (facts_job_none (p->job))
        return 0;
    if (p->query && p->query->id_job == 0 && p->query->id_count == 0
        && take_siblings (p, error) < 0)
        return -1;
    count = clocks_of (&p->clocks, facts_job_cluster (p->job), &skews);
    join = facts_job_join (p->job, skews, count);
    count_join (p, join);
    for (size_t i = 0; i < join->segment_count; i++)
        if (hand_joined (p, &join->segment[i], error) < 0)
            return -1;
    facts_job_forget (p->job);
    return 0;
}

static int take_segment (struct pass *p, const segment_t *s, gl_error_t *error)
{
    bool any;

    if (facts_job_is (p->job, s->cluster, s->id_job)) {
        facts_job_add_segment (p->job, s);
        return 0;
    }
    if (finish_job (p, error) < 0
        || skip_to (p, s->cluster, s->id_job, &any, error) < 0)
        return -1;
    if (!any)
        return hand_over (p, s, NULL, error);
    facts_job_begin (p->job, s->cluster, s->id_job);
    facts_job_add_segment (p->job, s);
    return load_job (p, error);
}

static int finish_usage (struct pass *p, gl_error_t *error)
{
    while (p->more_usage) {
        count_stray (p);
        if (next_usage (p, error) < 0)
            return -1;
    }
    return 0;
}

static int run (struct pass *p, gl_error_t *error)
{
    segment_t segment;
    int more;

    if (next_record (p, error) < 0 || next_suspension (p, error) < 0
        || next_usage (p, error) < 0 || next_retag (p, error) < 0)
        return -1;
    while ((more = store_iter_next (p->segments, &segment, error)) > 0) {
        if (take_segment (p, &segment, error) < 0)
            return -1;
    }
    if (more < 0 || finish_job (p, error) < 0)
        return -1;
    return finish_usage (p, error);
}

/* --- the pass ---------------------------------------------------------- */

static store_query_t widen (const store_query_t *query)
{
    store_query_t wide = query ? *query : (store_query_t){0};

    wide.jobs = STORE_OF_JOBS;
    if (wide.start != 0 || wide.end != 0) {
        wide.start -= MARGIN_SECONDS;
        wide.end += MARGIN_SECONDS;
    }
    return wide;
}

static int each (struct pass *p, gl_error_t *error)
{
    store_query_t wide = widen (p->query);
    int rc = -1;

    wide.gpu_only = gpu_only (p);
    wide.also = shows_gpu;
    wide.also_arg = p;
    p->job = facts_job_new ();
    p->bound = energy_bound_new (p->site);
    p->unmatched = new_unmatched (p->query, p->site);
    if (clocks_read (&p->clocks, p->store, wide.cluster, error) == 0
        && (p->segments
            = store_iter_open (p->store, STORE_SEGMENTS, &wide, error))
        && (p->suspensions
            = store_iter_open (p->store, STORE_SUSPENSIONS, &wide, error))
        && (p->records
            = store_iter_open (p->store, STORE_RECORDS, &wide, error))
        && (p->usage = store_iter_open (p->store, STORE_USAGE, &wide, error))
        && (p->retags = store_iter_open (p->store, STORE_RETAGS, &wide, error)))
        rc = run (p, error);
    store_iter_close (p->retags);
    store_iter_close (p->usage);
    store_iter_close (p->records);
    store_iter_close (p->suspensions);
    store_iter_close (p->segments);
    facts_job_free (p->job);
    energy_bound_free (p->bound);
    layout_close (p->layout);
    facts_shards_close (p->shards);
    free (p->suspension);
    return rc;
}

static void done (struct pass *p)
{
    unmatched_free (p->unmatched);
    clocks_done (&p->clocks);
}

int facts_each_unmatched (store_t *store, const site_t *site,
                          const store_query_t *query, fact_f callback,
                          void *arg, evidence_counts_t *ret_unmatched,
                          gl_error_t *error)
{
    struct pass p = {.store = store,
                     .site = site,
                     .query = query,
                     .callback = callback,
                     .arg = arg};
    int rc = each (&p, error);

    *ret_unmatched = (evidence_counts_t){.skew_known = p.clocks.known,
                                         .skew_ms = p.clocks.largest_ms};
    unmatched_sum (p.unmatched, ret_unmatched);
    done (&p);
    return rc;
}

int facts_each_attempt (store_t *store, const site_t *site,
                        const store_query_t *query, fact_f callback,
                        facts_attempt_f attempt, void *arg, gl_error_t *error)
{
    struct pass p = {.store = store,
                     .site = site,
                     .query = query,
                     .callback = callback,
                     .attempt = attempt,
                     .arg = arg};
    int rc = each (&p, error);

    done (&p);
    return rc;
}

int facts_each_by_day (store_t *store, const site_t *site,
                       const store_query_t *query, fact_f callback,
                       unmatched_f unmatched, void *arg, gl_error_t *error)
{
    struct pass p = {.store = store,
                     .site = site,
                     .query = query,
                     .callback = callback,
                     .arg = arg};
    int rc = each (&p, error);

    if (rc == 0)
        unmatched_each (p.unmatched, unmatched, arg);
    done (&p);
    return rc;
}

int facts_each (store_t *store, const site_t *site, const store_query_t *query,
                fact_f callback, void *arg, gl_error_t *error)
{
    evidence_counts_t unmatched;

    return facts_each_unmatched (store, site, query, callback, arg, &unmatched,
                                 error);
}

/* --- of a few jobs ------------------------------------------------------- */

/* With so many jobs the others cost little more. */
#define WANTED_MAX 256

/* Their JobIds, ascending, of all clusters; WANTED_MAX: these or more. */
static int wanted_ids (store_t *store, const store_query_t *query,
                       facts_wanted_f wanted, void *arg,
                       uint64_t ids[WANTED_MAX], size_t *ret_count,
                       gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, query, error);
    segment_t s;
    int more = -1;

    *ret_count = 0;
    while (iter && *ret_count < WANTED_MAX
           && (more = store_iter_next (iter, &s, error)) > 0)
        if (wanted (&s, arg))
            *ret_count = store_ids_add (ids, *ret_count, s.id_job);
    store_iter_close (iter);
    return more < 0 ? -1 : 0;
}

int facts_each_wanted (store_t *store, const site_t *site,
                       const store_query_t *query, facts_wanted_f wanted,
                       fact_f callback, void *arg, gl_error_t *error)
{
    uint64_t ids[WANTED_MAX];
    store_query_t of_these = *query;

    if (wanted_ids (store, query, wanted, arg, ids, &of_these.id_count, error)
        < 0)
        return -1;
    if (of_these.id_count == 0)
        return 0;
    of_these.ids = ids;
    return facts_each (store, site,
                       of_these.id_count < WANTED_MAX ? &of_these : query,
                       callback, arg, error);
}
