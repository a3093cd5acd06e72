/* How far the clocks of nodes are from ours. A batch says when it was sent, and
 * came at a moment of ours: the difference is the skew, less the time of its
 * way, which is not longer than the time since we spoke last. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"
#include "collector/collector.h"
#include "record/record.h"

#define SECOND INT64_C (1000000000)
#define SKEW_DIFFERS (SECOND / 2)
#define SKEW_AGAIN (24 * 3600 * SECOND)
/* A clock that wanders all the time is not worth a record each time. */
#define SKEW_PAUSE (60 * SECOND)
/* More nodes than any cluster has; beyond, the one seen first is forgotten. */
#define NODES_MAX 65536

struct node {
    char *name; /* CLUSTER, a byte 1, NODE */
    int64_t skew_ns;
    int64_t noted_ns;
    UT_hash_handle hh;
};

struct skews {
    struct node *nodes;
};

struct skews *skews_new (void)
{
    return xcalloc (1, sizeof (struct skews));
}

static void forget (struct skews *skews, struct node *node)
{
    HASH_DEL (skews->nodes, node);
    free (node->name);
    free (node);
}

void skews_free (struct skews *skews)
{
    struct node *node, *next;

    if (!skews)
        return;
    HASH_ITER (hh, skews->nodes, node, next)
    forget (skews, node);
    free (skews);
}

static struct node *find (struct skews *skews, const batch_t *batch)
{
    GL_AUTOFREE char *name = xasprintf ("%s\1%s", batch->cluster, batch->node);
    struct node *node;

    HASH_FIND_STR (skews->nodes, name, node);
    if (node)
        return node;
    if (HASH_COUNT (skews->nodes) >= NODES_MAX)
        forget (skews, skews->nodes);
    node = xcalloc (1, sizeof (*node));
    node->name = GL_TAKE (name);
    HASH_ADD_KEYPTR (hh, skews->nodes, node->name, strlen (node->name), node);
    return node;
}

static bool due (const struct node *node, int64_t skew, int64_t now)
{
    int64_t since = now - node->noted_ns;

    if (node->noted_ns == 0 || since >= SKEW_AGAIN || since < 0)
        return true;
    return since >= SKEW_PAUSE
           && (skew > node->skew_ns + SKEW_DIFFERS
               || skew < node->skew_ns - SKEW_DIFFERS);
}

/* A text from the network: any number. */
static int64_t difference (int64_t a, int64_t b)
{
    int64_t d;

    if (__builtin_sub_overflow (a, b, &d))
        return a < b ? INT64_MIN : INT64_MAX;
    return d;
}

size_t skews_note (struct skews *skews, const batch_t *batch, int64_t heard_ns,
                   int64_t waited_ns, unsigned char *bytes)
{
    int64_t skew = difference (batch->sent_ns, heard_ns);
    struct node *node;
    record_t record;

    /* a record belongs to a cluster */
    if (!batch->cluster[0])
        return 0;
    node = find (skews, batch);
    /* keep clear of the ends, where comparing would overflow */
    if (skew > INT64_MAX / 4 || skew < INT64_MIN / 4)
        skew = skew > 0 ? INT64_MAX / 4 : INT64_MIN / 4;
    if (!due (node, skew, heard_ns)
        || record_begin (&record, RECORD_SKEW, NULL) < 0)
        return 0;
    record_set_text (&record, RECORD_FIELD_cluster, batch->cluster);
    record_set_text (&record, RECORD_FIELD_node, batch->node);
    record_set_number (&record, RECORD_FIELD_skew_ns, skew);
    record_set_number (&record, RECORD_FIELD_skew_bound_ns, waited_ns);
    node->skew_ns = skew;
    node->noted_ns = heard_ns;
    return record_encode (&record, bytes);
}

void skews_undo (struct skews *skews, const batch_t *batch)
{
    find (skews, batch)->noted_ns = 0;
}
