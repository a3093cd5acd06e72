/* Who asks, may he, and who answers. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "collector/collector.h"
#include "collector/collector_verbs.h"

/* A node with a backlog sends a batch of 256 KiB after the other; 50 a second
 * empty a full spool in half a minute. */
static const rate_t node_rate = {50, 500};
/* A person at a terminal, or a script over some hundred jobs. */
static const rate_t user_rate = {2, 200};

/* May `name` ask anything, now? */
static bool within_rate (asking_t *asking, const char *name, const rate_t *rate)
{
    if (rates_take (asking->collector->rates, name, rate, 1,
                    collector_now_ms ()))
        return true;
    asking_decline (asking, REASON_RATE, REPLY_LATER,
                    "%s sends too many "
                    "requests",
                    name);
    return false;
}

/* Nodes */

static bool may_be_node (const collector_t *c, uid_t uid)
{
    return GL_ANY (c->node_users, c->node_user_count, it, *it == uid);
}

static bool is_known_cluster (const site_t *site, const char *cluster)
{
    return site->cluster_count == 0 || !cluster[0]
           || site_cluster (site, cluster);
}

static void answer_by_table (asking_t *asking);

static void serve_node (asking_t *asking)
{
    asking_is_of_node (asking);
    if (asking->request.verb == VERB_PRICES)
        answer_by_table (asking);
    else
        group_add (asking->collector->group, asking);
}

/* Only now: nobody uses up what another node may ask. */
static void on_origin (void *arg, origin_t answer)
{
    asking_t *asking = arg;
    const char *node = asking->batch.node, *cluster = asking->batch.cluster;
    char
        name[sizeof (asking->batch.node) + sizeof (asking->batch.cluster) + 16];

    snprintf (name, sizeof (name), "node %s%s%s", node, *cluster ? " of " : "",
              cluster);

    if (answer == ORIGIN_ANOTHER)
        asking_refuse (asking, REASON_ORIGIN,
                       "it sends records of node %s, which has another "
                       "address: see networks in gpuledger.yaml",
                       node);
    else if (answer == ORIGIN_OTHER_CLUSTER)
        asking_refuse (asking, REASON_OTHER_CLUSTER,
                       "node %s sends records of cluster %s, but its address "
                       "belongs to another cluster: see networks in "
                       "gpuledger.yaml",
                       node, cluster);
    else if (answer == ORIGIN_UNRESOLVED)
        asking_refuse (asking, REASON_UNRESOLVED,
                       "node %s has no address here: name it in networks of "
                       "gpuledger.yaml, the hosts file or DNS",
                       node);
    else if (!within_rate (asking, name, &node_rate))
        return;
    else
        serve_node (asking);
}

static int read_prices (const request_t *request, batch_t *batch,
                        gl_error_t *error)
{
    GL_AUTOFREE char **texts = NULL;
    size_t count;

    if (texts_read (request->body, request->length, TEXTS_MAX, &texts, &count,
                    error)
        < 0)
        return -1;
    if (count < 2)
        return gl_error (error, "cluster and node are missing");
    if (strlen (texts[0]) >= sizeof (batch->cluster)
        || strlen (texts[1]) >= sizeof (batch->node) || !texts[1][0])
        return gl_error (error, "invalid name of a cluster or a node");
    strcpy (batch->cluster, texts[0]);
    strcpy (batch->node, texts[1]);
    return 0;
}

/* VERB_BATCH, VERB_PRICES */
static void answer_node (asking_t *asking)
{
    collector_t *c = asking->collector;
    const request_t *request = &asking->request;
    gl_error_t error = {""};
    int rc;

    if (!may_be_node (c, asking->opened.uid)) {
        asking_refuse (asking, REASON_NODE_USER,
                       "this user may not send records of a node");
        return;
    }
    rc = request->verb == VERB_PRICES
             ? read_prices (request, &asking->batch, &error)
             : batch_read (request->body, request->length, &asking->batch,
                           &error);
    if (rc < 0)
        asking_refuse (asking, REASON_MALFORMED, "%s", error.text);
    else if (!is_known_cluster (c->site, asking->batch.cluster))
        asking_refuse (asking, REASON_CLUSTER,
                       "cluster %s is not one of gpuledger.yaml",
                       asking->batch.cluster);
    else
        origins_ask (c->origins, asking->batch.cluster, asking->batch.node,
                     asking->opened.origin, on_origin, asking);
}

/* Users */

static void answer_status (asking_t *asking)
{
    BUFFER_AUTO out = BUFFER_INIT;

    count_print (&asking->collector->count, &out);
    buffer_printf (&out, "store_open %d\n",
                   group_store (asking->collector->group) != NULL);
    asking_reply (asking, REPLY_OK, out.data, out.length);
}

static const collector_verb_t *find_verb (uint16_t code)
{
    for (const collector_verb_t *v = collector_verbs; v->handle; v++)
        if (v->code == code)
            return v;
    return NULL;
}

static void handle (asking_t *asking, const collector_verb_t *verb,
                    char *const *texts, size_t count)
{
    collector_t *c = asking->collector;
    struct passwd *entry = getpwuid (asking->opened.uid);
    GL_AUTOFREE char *user = xstrdup (entry ? entry->pw_name : NULL);
    verb_request_t request = {
        .verb = verb->code,
        .uid = asking->opened.uid,
        .user = user,
        .texts = (const char *const *)texts,
        .count = count,
        .now = collector_clock_ns () / 1000000000,
        .site = c->site,
        .config = c->config,
        .store = group_store (c->group),
        .store_url = c->store_url,
    };
    verb_answer_t answer = {.body = BUFFER_INIT};
    reply_status_t status = verb->handle (&request, &answer);

    if (answer.child)
        children_run (c->children, asking, answer.child);
    else
        asking_reply (asking, status, buffer_text (&answer.body),
                      answer.body.length);
    buffer_done (&answer.body);
}

static void answer_by_table (asking_t *asking)
{
    const collector_verb_t *verb = find_verb (asking->request.verb);
    GL_AUTOFREE char **texts = NULL;
    gl_error_t error = {""};
    size_t count;

    if (!verb)
        asking_decline (asking, REASON_VERB, REPLY_FAILED,
                        "this collector does not know verb %u",
                        asking->request.verb);
    else if (texts_read (asking->request.body, asking->request.length,
                         verb->texts_max, &texts, &count, &error)
             < 0)
        asking_decline (asking, REASON_MALFORMED, REPLY_FAILED, "%s",
                        error.text);
    else
        handle (asking, verb, texts, count);
}

static bool user_within_rate (asking_t *asking)
{
    char name[32];

    asking->requester
        = (requester_t){.is_user = true, .uid = asking->opened.uid};
    if (may_be_node (asking->collector, asking->opened.uid)) {
        asking->requester.address = asking->opened.origin.s_addr;
        return within_rate (asking, asking->who, &user_rate);
    }
    snprintf (name, sizeof (name), "uid %u", asking->opened.uid);
    return within_rate (asking, name, &user_rate);
}

void request_answer (asking_t *asking)
{
    switch (asking->request.verb) {
    case VERB_BATCH:
    case VERB_PRICES:
        answer_node (asking);
        break;
    case VERB_STATUS:
        if (user_within_rate (asking))
            answer_status (asking);
        break;
    default:
        if (user_within_rate (asking))
            answer_by_table (asking);
    }
}
