/* Batches of records into the store, in groups: what arrived while the last
 * commit ran goes into one transaction, and is answered after it. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collector/collector.h"
#include "collector/ingest_record.h"
#include "record/spool_read.h"
#include "store/store.h"

/* A transaction: bounded, so that a lock is not held for long. */
#define GROUP_BYTES_MAX (8 << 20)
#define GROUP_BATCHES_MAX 256
/* It is committed when nothing else is to be read, or this long after its first
 * batch. */
#define GROUP_WAIT_MS 200
/* A store that failed is opened again after this, doubled each time. */
#define STORE_PAUSE_MS 500
#define STORE_PAUSE_MAX_MS 30000
/* A transaction that failed as fast as this did not wait for another writer. */
#define FAILED_AT_ONCE_MS 5000

struct member {
    asking_t *asking;
    unsigned char skew[RECORD_MAX];
    size_t skew_size;
};

struct group {
    collector_t *collector;
    struct event *idle; /* of low priority: runs when all is read */
    struct event *late;
    struct member *members;
    size_t count;
    size_t bytes;
    store_t *store;
    int64_t try_at_ms;
    int64_t pause_ms;
};

/* The store */

static void store_failed (struct group *group, const gl_error_t *error)
{
    collector_t *c = group->collector;

    c->count.store_failures++;
    count_refused (&c->count, REASON_STORE, collector_now_ms (),
                   group->store ? store_url (group->store) : c->store_url,
                   error->text);
    store_close (group->store);
    group->store = NULL;
    group->pause_ms = group->pause_ms * 2;
    if (group->pause_ms < STORE_PAUSE_MS)
        group->pause_ms = STORE_PAUSE_MS;
    if (group->pause_ms > STORE_PAUSE_MAX_MS)
        group->pause_ms = STORE_PAUSE_MAX_MS;
    group->try_at_ms = collector_now_ms () + group->pause_ms;
}

static bool open_store (struct group *group)
{
    gl_error_t error = {""};

    if (group->store)
        return true;
    group->store = store_open (group->collector->store_url, 0, &error);
    if (!group->store)
        store_failed (group, &error);
    return group->store != NULL;
}

struct store *group_store (struct group *group)
{
    if (!group->store && collector_now_ms () < group->try_at_ms)
        return NULL;
    return open_store (group) ? group->store : NULL;
}

/* What a batch holds, before it may join a group */

struct inspection {
    const asking_t *asking;
    uint64_t homeless, foreign, of_other_cluster;
};

static bool is_ours (const asking_t *asking, const char *cluster)
{
    return !strcmp (cluster, asking->batch.cluster)
           || site_cluster (asking->collector->site, cluster);
}

/* The networks were asked about the batch's cluster, if it names one. */
static bool is_of_its_network (const asking_t *asking, const char *cluster)
{
    return !strcmp (cluster, asking->batch.cluster)
           || origins_allow_cluster (asking->collector->origins, cluster,
                                     asking->batch.node, asking->opened.origin);
}

static int inspect_record (const spool_entry_t *entry, void *arg,
                           gl_error_t *error)
{
    struct inspection *in = arg;
    const record_t *r = &entry->record;
    const batch_t *batch = &in->asking->batch;
    bool names_cluster = entry->understood && r->cluster[0];

    (void)error;
    if (entry->understood && r->node[0] && strcmp (r->node, batch->node))
        in->foreign++;
    else if (names_cluster && !is_ours (in->asking, r->cluster))
        in->foreign++;
    else if (names_cluster && !is_of_its_network (in->asking, r->cluster))
        in->of_other_cluster++;
    else if (!names_cluster && !batch->cluster[0])
        in->homeless++;
    return 0;
}

static bool inspect (asking_t *asking)
{
    const batch_t *batch = &asking->batch;
    struct inspection in = {asking, 0, 0, 0};
    spool_stats_t stats = {0};

    spool_read_buffer (batch->records, batch->length, inspect_record, &in,
                       &stats, NULL);
    if (stats.skipped_bytes)
        asking_decline (asking, REASON_DAMAGED, REPLY_FAILED,
                        "%llu bytes of the batch are not records",
                        (unsigned long long)stats.skipped_bytes);
    else if (in.foreign)
        asking_decline (asking, REASON_FOREIGN, REPLY_FAILED,
                        "%llu records are of another node or cluster than "
                        "%s of %s",
                        (unsigned long long)in.foreign, batch->node,
                        batch->cluster[0] ? batch->cluster : "no cluster");
    else if (in.of_other_cluster)
        asking_decline (asking, REASON_OTHER_CLUSTER, REPLY_FAILED,
                        "%llu records are of another cluster than the network "
                        "of %s: see networks in gpuledger.yaml",
                        (unsigned long long)in.of_other_cluster, batch->node);
    else if (in.homeless)
        asking_decline (asking, REASON_HOMELESS, REPLY_LATER,
                        "%llu records of %s name no cluster: set "
                        "agent.cluster there",
                        (unsigned long long)in.homeless, batch->node);
    else
        return true;
    return false;
}

/* Commit */

struct commit {
    struct group *group;
    struct member *members;
    size_t count;
    store_t *store;
    ingest_t ingest;
    uint64_t records;
};

static int ingest_entry (const spool_entry_t *entry, void *arg,
                         gl_error_t *error)
{
    struct commit *commit = arg;

    commit->records++;
    return ingest_record (commit->store, &commit->ingest, entry, error);
}

static int take_member (struct commit *commit, const struct member *member,
                        gl_error_t *error)
{
    const batch_t *batch = &member->asking->batch;

    commit->ingest.cluster = batch->cluster;
    commit->ingest.node = batch->node;
    if (spool_read_buffer (batch->records, batch->length, ingest_entry, commit,
                           NULL, error)
        < 0)
        return -1;
    return spool_read_buffer (member->skew, member->skew_size, ingest_entry,
                              commit, NULL, error);
}

static int take_all (store_t *store, void *arg, gl_error_t *error)
{
    struct commit *commit = arg;

    commit->store = store;
    commit->ingest = (ingest_t){.cluster = NULL};
    commit->records = 0;
    for (size_t i = 0; i < commit->count; i++)
        if (take_member (commit, &commit->members[i], error) < 0)
            return -1;
    return 0;
}

static int put (struct group *group, struct member *members, size_t count,
                gl_error_t *error)
{
    struct commit commit = {.group = group, .members = members, .count = count};
    count_t *c = &group->collector->count;

    if (store_transaction (group->store, take_all, &commit, error) < 0)
        return -1;
    group->pause_ms = 0;
    c->commits++;
    c->batches += count;
    c->records += commit.records;
    c->records_new += commit.ingest.counts.inserted;
    for (size_t i = 0; i < count; i++)
        c->skews += members[i].skew_size > 0;
    return 0;
}

static void answer_all (struct member *members, size_t count,
                        reply_status_t status, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        asking_t *asking = GL_TAKE (members[i].asking);

        if (status != REPLY_OK && members[i].skew_size)
            skews_undo (asking->collector->skews, &asking->batch);
        asking_replyf (asking, status, "%s", text);
    }
}

/* One batch that the store cannot take must not hold back the others: each on
 * its own. None is given up: what fails here may go well with another disk or
 * another release. */
static void commit_singly (struct group *group, struct member *members,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gl_error_t error = {""};

        if (!group->store && !open_store (group)) {
            answer_all (members + i, count - i, REPLY_LATER,
                        "the store does not answer");
            return;
        }
        if (put (group, members + i, 1, &error) == 0) {
            answer_all (members + i, 1, REPLY_OK, "");
            continue;
        }
        store_failed (group, &error);
        answer_all (members + i, 1, REPLY_LATER, "the store failed");
    }
}

static void commit_all (struct group *group, struct member *members,
                        size_t count)
{
    int64_t begun = collector_now_ms ();
    gl_error_t error = {""};

    if (!group_store (group)) {
        answer_all (members, count, REPLY_LATER, "the store does not answer");
        return;
    }
    if (put (group, members, count, &error) == 0) {
        answer_all (members, count, REPLY_OK, "");
        return;
    }
    store_failed (group, &error);
    if (count > 1 && collector_now_ms () - begun < FAILED_AT_ONCE_MS)
        commit_singly (group, members, count);
    else
        answer_all (members, count, REPLY_LATER, "the store failed");
}

void group_flush (struct group *group)
{
    struct member *members = GL_TAKE (group->members);
    size_t count = group->count;

    group->count = 0;
    group->bytes = 0;
    event_del (group->idle);
    event_del (group->late);
    if (count)
        commit_all (group, members, count);
    free (members);
}

static void on_time (evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    group_flush (arg);
}

static void join (struct group *group, asking_t *asking)
{
    static const struct timeval late = {0, GROUP_WAIT_MS * 1000};
    struct member *member;

    if (!group->members)
        group->members = xcalloc (GROUP_BATCHES_MAX, sizeof (*group->members));
    member = &group->members[group->count++];
    member->asking = asking;
    member->skew_size
        = skews_note (group->collector->skews, &asking->batch, asking->heard_ns,
                      asking->waited_ns, member->skew);
    group->bytes += asking->opened.length;
    if (group->count == 1) {
        event_active (group->idle, EV_TIMEOUT, 0);
        event_add (group->late, &late);
    }
    if (group->count == GROUP_BATCHES_MAX || group->bytes >= GROUP_BYTES_MAX)
        group_flush (group);
}

/* A site of one cluster need not say which, nor need a node of a network that is
 * one cluster's. */
static void default_cluster (asking_t *asking)
{
    const collector_t *c = asking->collector;
    batch_t *batch = &asking->batch;
    const char *only = c->site->cluster_count == 1
                           ? c->site->clusters[0].name
                           : origins_cluster (c->origins, batch->node,
                                              asking->opened.origin);

    if (!batch->cluster[0] && only && strlen (only) < sizeof (batch->cluster))
        strcpy (batch->cluster, only);
}

void group_add (struct group *group, asking_t *asking)
{
    default_cluster (asking);
    if (!inspect (asking))
        return;
    if (!group->store && collector_now_ms () < group->try_at_ms) {
        asking_decline (asking, REASON_STORE, REPLY_LATER,
                        "the store does not answer");
        return;
    }
    join (group, asking);
}

struct group *group_new (collector_t *collector)
{
    struct group *group = xcalloc (1, sizeof (*group));

    group->collector = collector;
    group->idle = event_new (collector->base, -1, 0, on_time, group);
    group->late = event_new (collector->base, -1, 0, on_time, group);
    /* priorities: 0 first; the loop's others are 1 */
    event_priority_set (group->idle, 2);
    event_priority_set (group->late, 0);
    return group;
}

void group_free (struct group *group)
{
    if (!group)
        return;
    group_flush (group);
    event_free (group->idle);
    event_free (group->late);
    store_close (group->store);
    free (group);
}
