#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "gres/nodelist.h"
#include "slurmdbd/slurmdbd_usage.h"
#include "sync/reconcile.h"
#include "sync/sync.h"

/* Segments that one side does not show in the period are looked for by their
 * ids at the end, so many at a time; of more than these nobody looks. */
#define IDS_PER_QUERY 1000
#define PENDING_MAX 100000
#define DAY 86400

/* What one node has recorded, in all time. */
struct watch {
    char *node;
    int64_t first;
    int64_t last;
    UT_hash_handle hh;
};

/* Where an open segment is believed to have ended; ascending by key. */
struct belief {
    uint64_t id_job;
    int64_t time_submit;
    int64_t end;
};

/* A segment of ours, copied, whose row did not come by. */
struct pending {
    segment_t segment;
    unsigned revised;
    bool found;
};

struct gather {
    store_t *store;
    const report_query_t *query;
    const report_cluster_t *report_cluster;
    reconcile_cluster_t cluster;
    reconcile_t *reconcile;
    kinds_t *kinds;
    rolled_t *rolled; /* NULL: nothing is rolled up */
    struct watch *watches;
    struct belief *beliefs;
    size_t belief_count;
    store_iter_t *revisions;
    revision_t next_revision;
    int more_revisions;
    store_iter_t *segments;
    segment_t ours; /* valid while more_ours */
    int more_ours;
    struct pending *pending;
    size_t pending_count;
    period_t *outages;
};

static int compare_key (uint64_t id_job, int64_t time_submit, uint64_t other_id,
                        int64_t other_submit)
{
    if (id_job != other_id)
        return id_job < other_id ? -1 : 1;
    return (time_submit > other_submit) - (time_submit < other_submit);
}

static store_query_t period_query (const struct gather *g)
{
    return (store_query_t){.cluster = g->cluster.cluster,
                           .start = g->cluster.period.start,
                           .end = g->cluster.period.end};
}

/* --- revisions --------------------------------------------------------- */

static int next_revision (struct gather *g, gl_error_t *error)
{
    g->more_revisions
        = store_iter_next (g->revisions, &g->next_revision, error);
    return g->more_revisions < 0 ? -1 : 0;
}

/* Those of the cluster from its first segment on. */
static int open_revisions (struct gather *g, gl_error_t *error)
{
    store_query_t query = {.cluster = g->cluster.cluster};

    store_iter_close (g->revisions);
    g->revisions = store_iter_open (g->store, STORE_REVISIONS, &query, error);
    return g->revisions ? next_revision (g, error) : -1;
}

static unsigned marks_of (const revision_t *r, unsigned before)
{
    switch (r->kind) {
    case REVISION_GONE:
        return before | REVISED_GONE;
    case REVISION_BACK:
        return before & ~(unsigned)REVISED_GONE;
    case REVISION_CHANGED:
        return r->before
                       && (!strncmp (r->before, "gres=", 5)
                           || strstr (r->before, "\ngres="))
                   ? before | REVISED_GRES
                   : before;
    }
    return before;
}

/* Lines of "name=value" on one. */
static char *on_one_line (const char *lines)
{
    char *text = xstrdup (lines ? lines : "");
    size_t length = strlen (text);

    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return text;
}

static void add_revision (struct gather *g, const revision_t *r)
{
    GL_AUTOFREE char *before = on_one_line (r->before);
    GL_AUTOFREE char *after = on_one_line (r->after);
    char stamp[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *what = xasprintf (
        "revised, seen %s", zone_stamp (g->query->site->zone, r->seen, stamp));
    reconcile_row_t row = {.side = SIDE_REVISIONS,
                           .cluster = g->cluster.cluster,
                           .id_job = r->id_job,
                           .time_submit = r->time_submit,
                           .what = what,
                           .ours = after,
                           .theirs = before,
                           .cause = CAUSE_REVISED};

    reconcile_compared (g->reconcile, SIDE_REVISIONS, CAUSE_REVISED);
    reconcile_add (g->reconcile, &row);
}

/* Called with ascending keys. `list`: changed ones become rows. */
static int take_revisions (struct gather *g, uint64_t id_job,
                           int64_t time_submit, bool list, unsigned *ret_marks,
                           gl_error_t *error)
{
    *ret_marks = 0;
    while (g->more_revisions) {
        const revision_t *r = &g->next_revision;
        int order
            = compare_key (r->id_job, r->time_submit, id_job, time_submit);
        if (order > 0)
            break;
        if (order == 0)
            *ret_marks = marks_of (r, *ret_marks);
        if (order == 0 && list && r->kind == REVISION_CHANGED)
            add_revision (g, r);
        if (next_revision (g, error) < 0)
            return -1;
    }
    return 0;
}

/* --- the nodes' records ------------------------------------------------ */

static void watch (struct gather *g, const evidence_t *e)
{
    struct watch *w;

    if (!e->node)
        return;
    HASH_FIND_STR (g->watches, e->node, w);
    if (!w) {
        w = xcalloc (1, sizeof (*w));
        w->node = xstrdup (e->node);
        w->first = w->last = e->stamp;
        HASH_ADD_KEYPTR (hh, g->watches, w->node, strlen (w->node), w);
    }
    if (e->stamp < w->first)
        w->first = e->stamp;
    if (e->stamp > w->last)
        w->last = e->stamp;
}

static void free_watches (struct gather *g)
{
    struct watch *w, *next;

    HASH_ITER (hh, g->watches, w, next)
    {
        HASH_DEL (g->watches, w);
        free (w->node);
        free (w);
    }
}

/* All its nodes recorded jobs before it began and after it ended. */
static bool is_watched (const struct gather *g, const segment_t *s)
{
    nodelist_t *nodes = nodelist_open (s->nodelist, NULL);
    bool watched = nodes && nodelist_count (nodes) > 0;
    const char *node;

    while (watched && (node = nodelist_next (nodes))) {
        struct watch *w;
        HASH_FIND_STR (g->watches, node, w);
        watched = w && w->first <= s->time_start && w->last >= segment_end (s);
    }
    nodelist_close (nodes);
    return watched;
}

static int has_segment (struct gather *g, uint64_t id_job, gl_error_t *error)
{
    store_query_t query = {.cluster = g->cluster.cluster, .id_job = id_job};
    store_iter_t *iter
        = store_iter_open (g->store, STORE_SEGMENTS, &query, error);
    segment_t segment;
    int rc = iter ? store_iter_next (iter, &segment, error) : -1;

    store_iter_close (iter);
    return rc;
}

/* The segments of the period and a day around it, moved on to that id: most
 * records are of one of them. */
static int passes_by (struct gather *g, uint64_t id_job, bool *ret_there,
                      gl_error_t *error)
{
    while (g->more_ours && g->ours.id_job < id_job)
        if ((g->more_ours = store_iter_next (g->segments, &g->ours, error)) < 0)
            return -1;
    *ret_there = g->more_ours && g->ours.id_job == id_job;
    return 0;
}

/* A job of which accounting knows nothing at all. */
static int look_at_record (struct gather *g, const evidence_t *e,
                           uint64_t *known, gl_error_t *error)
{
    bool passed;
    int there;

    if (e->stamp < g->cluster.period.start || e->stamp >= g->cluster.period.end
        || e->id_job == *known)
        return 0;
    *known = e->id_job;
    if (passes_by (g, e->id_job, &passed, error) < 0)
        return -1;
    if (passed)
        return 0;
    if ((there = has_segment (g, e->id_job, error)) < 0)
        return -1;
    if (!there)
        reconcile_unmatched (g->reconcile, &g->cluster, e->node ? e->node : "?",
                             e->id_job, e->stamp, EVIDENCE_NO_SEGMENT);
    return 0;
}

static int each_record (struct gather *g, gl_error_t *error)
{
    store_query_t all = {.cluster = g->cluster.cluster};
    store_iter_t *iter
        = store_iter_open (g->store, STORE_EVIDENCE, &all, error);
    uint64_t known = 0;
    evidence_t e;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &e, error)) > 0) {
        watch (g, &e);
        if (look_at_record (g, &e, &known, error) < 0) {
            more = -1;
            break;
        }
    }
    store_iter_close (iter);
    return more;
}

static int read_records (struct gather *g, gl_error_t *error)
{
    store_query_t around = period_query (g);
    int rc = -1;

    around.start -= DAY;
    around.end += DAY;
    g->segments = store_iter_open (g->store, STORE_SEGMENTS, &around, error);
    if (g->segments)
        g->more_ours = store_iter_next (g->segments, &g->ours, error);
    if (g->segments && g->more_ours >= 0)
        rc = each_record (g, error);
    store_iter_close (g->segments);
    g->segments = NULL;
    return rc;
}

static void keep_belief (struct gather *g, const segment_t *s)
{
    *GL_APPEND (g->beliefs, g->belief_count)
        = (struct belief){s->id_job, s->time_submit, s->believed_end};
}

/* GPUs that the segment's shards or MPS are; 0 for all others. */
static fraction_t shared_gpus (struct gather *g, const segment_t *s)
{
    fraction_t sum = {0, 1};
    size_t count;
    const holding_t *h
        = kinds_of_segment (g->kinds, s, s->time_start, false, &count);

    for (size_t i = 0; i < count; i++) {
        fraction_t weight = h[i].kind->weight;
        if (h[i].kind->part && h[i].kind->weight_known)
            sum = fraction (sum.num * weight.den
                                + (int64_t)h[i].devices * weight.num * sum.den,
                            sum.den * weight.den);
    }
    return sum;
}

static int see_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct gather *g = arg;
    const segment_t *s = fact->segment;
    unsigned marks;

    if (take_revisions (g, s->id_job, s->time_submit, true, &marks, error) < 0)
        return -1;
    if (s->gres_lost)
        reconcile_gres_lost (g->reconcile, &g->cluster, s);
    if (s->believed_end != 0)
        keep_belief (g, s);
    if (!s->gpu_asked && !(s->gres && s->gres[0]))
        return 0; /* nodes record devices, and it has none */
    reconcile_evidence (g->reconcile, &g->cluster, s, fact->suspensions,
                        fact->suspension_count, fact->evidence,
                        is_watched (g, s), shared_gpus (g, s), marks);
    return 0;
}

static void see_attempt (const attempt_t *a, void *arg)
{
    struct gather *g = arg;

    reconcile_unmatched (g->reconcile, &g->cluster, a->node,
                         a->fact[0]->seen.id_job, a->fact[0]->seen.stamp,
                         a->reason);
}

/* slurmdbd records them with TrackSlurmctldDown=yes. */
static int read_outages (struct gather *g, gl_error_t *error)
{
    store_query_t query = {.cluster = g->cluster.cluster};
    store_iter_t *iter
        = store_iter_open (g->store, STORE_EVENTS, &query, error);
    size_t count = 0;
    node_event_t e;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &e, error)) > 0) {
        if (e.node || (e.state & NODE_STATE_BASE) != NODE_STATE_DOWN)
            continue;
        *GL_APPEND (g->outages, count)
            = (period_t){e.start, e.end ? e.end : g->cluster.as_of};
    }
    store_iter_close (iter);
    g->cluster.outages = g->outages;
    g->cluster.outage_count = count;
    return more;
}

static int look_at_evidence (struct gather *g, gl_error_t *error)
{
    store_query_t query = period_query (g);

    query.gpu_only = true;
    reconcile_side (g->reconcile, SIDE_EVIDENCE);
    reconcile_side (g->reconcile, SIDE_REVISIONS);
    if (read_records (g, error) < 0 || read_outages (g, error) < 0
        || open_revisions (g, error) < 0)
        return -1;
    return facts_each_attempt (g->store, g->query->site, &query, see_fact,
                               see_attempt, g, error);
}

/* --- the job rows ------------------------------------------------------ */

static void pair (struct gather *g, const segment_t *ours,
                  const job_row_t *theirs, unsigned marks, const char *tres)
{
    reconcile_segment (g->reconcile, &g->cluster, ours, theirs, marks);
    if (g->rolled)
        rolled_segment (g->rolled, ours, theirs, marks, tres);
}

static int compare_belief (const void *key, const void *element)
{
    const struct belief *a = key, *b = element;

    return compare_key (a->id_job, a->time_submit, b->id_job, b->time_submit);
}

static int next_ours (struct gather *g, gl_error_t *error)
{
    struct belief key, *found = NULL;

    g->more_ours = store_iter_next (g->segments, &g->ours, error);
    if (g->more_ours < 0)
        return -1;
    if (!g->more_ours || g->ours.time_end != 0)
        return 0;
    key = (struct belief){g->ours.id_job, g->ours.time_submit, 0};
    if (g->belief_count)
        found = bsearch (&key, g->beliefs, g->belief_count,
                         sizeof (*g->beliefs), compare_belief);
    g->ours.believed_end = found ? found->end : 0;
    return 0;
}

static void keep_pending (struct gather *g, unsigned marks)
{
    struct pending *p;
    segment_t *s;

    p = GL_APPEND (g->pending, g->pending_count);
    *p = (struct pending){.segment = g->ours, .revised = marks};
    s = &p->segment;
    s->cluster = g->cluster.cluster;
    s->user = xstrdup (s->user);
    s->account = xstrdup (s->account);
    s->partition = xstrdup (s->partition);
    s->qos = xstrdup (s->qos);
    s->gres = xstrdup (s->gres);
    s->nodelist = s->job_name = s->admin_comment = s->wckey = NULL;
    s->reservation = s->gres_requested = NULL;
}

static void free_pending (struct gather *g)
{
    for (size_t i = 0; i < g->pending_count; i++) {
        segment_t *s = &g->pending[i].segment;
        free ((char *)s->user);
        free ((char *)s->account);
        free ((char *)s->partition);
        free ((char *)s->qos);
        free ((char *)s->gres);
    }
    free (g->pending);
}

/* No row of the period is its. What is not explained by that alone may have
 * moved out of the period. */
static int take_ours_alone (struct gather *g, gl_error_t *error)
{
    unsigned marks;

    if (take_revisions (g, g->ours.id_job, g->ours.time_submit, false, &marks,
                        error)
        < 0)
        return -1;
    if (reconcile_judge (&g->cluster, &g->ours, NULL, marks)
            == CAUSE_UNEXPLAINED
        && g->pending_count < PENDING_MAX)
        keep_pending (g, marks);
    else
        pair (g, &g->ours, NULL, marks, NULL);
    return next_ours (g, error);
}

/* No segment of the period is its: the store may have it at another time. */
static int take_row_alone (struct gather *g, const job_row_t *row,
                           const char *tres, unsigned marks, gl_error_t *error)
{
    store_query_t query
        = {.cluster = g->cluster.cluster, .id_job = row->segment.id_job};
    store_iter_t *iter = NULL;
    segment_t ours;
    bool found = false;
    int more = 0;

    if (g->cluster.synced) {
        iter = store_iter_open (g->store, STORE_SEGMENTS, &query, error);
        more = iter ? 1 : -1;
        while (more > 0 && !found
               && (more = store_iter_next (iter, &ours, error)) > 0)
            found = ours.time_submit == row->segment.time_submit;
    }
    if (more >= 0)
        pair (g, found ? &ours : NULL, row, marks, tres);
    store_iter_close (iter);
    return more < 0 ? -1 : 0;
}

static int see_row (const job_row_t *row, const char *tres, void *arg,
                    gl_error_t *error)
{
    struct gather *g = arg;
    const segment_t *s = &row->segment;
    unsigned marks;
    int order = 1;

    while (g->more_ours
           && (order = compare_key (g->ours.id_job, g->ours.time_submit,
                                    s->id_job, s->time_submit))
                  < 0)
        if (take_ours_alone (g, error) < 0)
            return -1;
    if (take_revisions (g, s->id_job, s->time_submit, false, &marks, error) < 0)
        return -1;
    if (!g->more_ours || order != 0)
        return take_row_alone (g, row, tres, marks, error);
    pair (g, &g->ours, row, marks, tres);
    return next_ours (g, error);
}

static int compare_pending (const void *key, const void *element)
{
    const segment_t *a = key;
    const struct pending *p = element;

    return compare_key (a->id_job, a->time_submit, p->segment.id_job,
                        p->segment.time_submit);
}

static int see_late_row (const job_row_t *row, const char *tres, void *arg,
                         gl_error_t *error)
{
    struct gather *g = arg;
    struct pending *p = bsearch (&row->segment, g->pending, g->pending_count,
                                 sizeof (*g->pending), compare_pending);

    (void)error;
    if (p && !p->found) {
        p->found = true;
        pair (g, &p->segment, row, p->revised, tres);
    }
    return 0;
}

static int finish_pending (struct gather *g, slurmdbd_cluster_t *from,
                           gl_error_t *error)
{
    uint64_t ids[IDS_PER_QUERY];

    for (size_t at = 0; at < g->pending_count;) {
        size_t count = 0;
        while (at < g->pending_count && count < IDS_PER_QUERY)
            ids[count++] = g->pending[at++].segment.id_job;
        if (slurmdbd_job_rows_of (from, ids, count, see_late_row, g, error) < 0)
            return -1;
    }
    for (size_t i = 0; i < g->pending_count; i++)
        if (!g->pending[i].found)
            pair (g, &g->pending[i].segment, NULL, g->pending[i].revised, NULL);
    return 0;
}

static int compare_rows (struct gather *g, slurmdbd_cluster_t *from,
                         gl_error_t *error)
{
    store_query_t query = period_query (g);

    reconcile_side (g->reconcile, SIDE_ACCOUNTING);
    g->segments = store_iter_open (g->store, STORE_SEGMENTS, &query, error);
    if (!g->segments || open_revisions (g, error) < 0
        || next_ours (g, error) < 0
        || slurmdbd_job_rows (from, g->cluster.period, see_row, g, error) < 0)
        return -1;
    while (g->more_ours)
        if (take_ours_alone (g, error) < 0)
            return -1;
    return finish_pending (g, from, error);
}

/* The usage tables are asked first: what they have rolled decides which time is
 * compared. */
static int look_at_accounting (struct gather *g, slurmdbd_t *dbd,
                               gl_error_t *error)
{
    slurmdbd_cluster_t *from = slurmdbd_cluster_open (dbd, g->cluster.cluster,
                                                      g->cluster.as_of, error);
    int rc = -1;

    g->rolled = rolled_new (&g->cluster);
    if (from && slurmdbd_oldest_end (from, &g->cluster.oldest_end, error) == 0
        && slurmdbd_rolled (from, g->cluster.period, g->rolled, error) == 0)
        rc = compare_rows (g, from, error);
    if (rc == 0) {
        reconcile_side (g->reconcile, SIDE_USAGE);
        rolled_finish (g->rolled, g->reconcile);
    }
    slurmdbd_cluster_close (from);
    return rc;
}

/* --- all of it --------------------------------------------------------- */

static int run (struct gather *g, slurmdbd_t *dbd, gl_error_t *error)
{
    int64_t mark;

    if (g->cluster.period.end <= g->cluster.period.start)
        return 0;
    if (store_get_mark (g->store, g->cluster.cluster, SYNC_MARK, &mark, error)
        < 0)
        return -1;
    g->cluster.synced = mark;
    if (look_at_evidence (g, error) < 0
        || reconcile_rollups (g->store, g->query, g->report_cluster,
                              g->reconcile, error)
               < 0)
        return -1;
    if (!dbd)
        return 0;
    g->cluster.clock = slurmdbd_clock (dbd);
    return look_at_accounting (g, dbd, error);
}

int reconcile_cluster (store_t *store, const report_query_t *query,
                       const report_cluster_t *cluster, slurmdbd_t *dbd,
                       reconcile_t *reconcile, gl_error_t *error)
{
    struct gather g = {.store = store,
                       .query = query,
                       .report_cluster = cluster,
                       .reconcile = reconcile,
                       .cluster = {.cluster = cluster->name,
                                   .period = query->period,
                                   .as_of = cluster->as_of}};
    int rc;

    g.kinds = kinds_new (query->site);
    if (g.cluster.period.end > cluster->as_of)
        g.cluster.period.end = cluster->as_of;
    rc = run (&g, dbd, error);
    store_iter_close (g.revisions);
    store_iter_close (g.segments);
    rolled_free (g.rolled);
    free_watches (&g);
    free_pending (&g);
    free (g.beliefs);
    free (g.outages);
    kinds_free (g.kinds);
    return rc;
}
