#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "facts/facts_clocks.h"
#include "record/record.h"

/* How far off a clock may be, in few steps, so that a clock which drifts does
 * not count everything anew each time it is measured. */
static int64_t step_up (int64_t ms)
{
    int64_t step = EVIDENCE_TOLERANCE_MS;

    while (step < ms && step < INT64_MAX / 4)
        step *= 2;
    return step;
}

static void take_skew (clocks_t *clocks, const store_node_t *node)
{
    record_t r;
    int64_t skew, off;

    if (!node->payload
        || record_decode (node->payload, node->payload_length, &r, NULL) != 0
        || !record_has (&r, skew_ns))
        return;
    skew = llabs (r.skew_ns / 1000000);
    off = skew + r.skew_bound_ns / 1000000;
    if (skew > clocks->largest_ms)
        clocks->largest_ms = skew;
    clocks->known = true;
    if (off <= EVIDENCE_TOLERANCE_MS)
        return;
    clocks->skew = xreallocarray (clocks->skew, clocks->count + 1,
                                 sizeof (*clocks->skew));
    clocks->cluster = xreallocarray (clocks->cluster, clocks->count + 1,
                                    sizeof (*clocks->cluster));
    clocks->cluster[clocks->count] = xstrdup (node->cluster);
    clocks->skew[clocks->count++]
        = (node_skew_t){xstrdup (node->node), step_up (off), 0};
}

/* The newest measurement of each node. */
int clocks_read (clocks_t *clocks, store_t *store, const char *cluster,
                 gl_error_t *error)
{
    store_query_t query = {.cluster = cluster, .kind = RECORD_SKEW};
    store_iter_t *iter = store_iter_open (store, STORE_NODES, &query, error);
    store_node_t node;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &node, error)) > 0)
        take_skew (clocks, &node);
    store_iter_close (iter);
    return more;
}

size_t clocks_of (const clocks_t *clocks, const char *cluster,
                  const node_skew_t **ret_first)
{
    size_t count = 0;

    for (size_t i = 0; i < clocks->count; i++)
        if (!strcmp (clocks->cluster[i], cluster) && count++ == 0)
            *ret_first = &clocks->skew[i];
    return count;
}

void clocks_done (clocks_t *clocks)
{
    for (size_t i = 0; i < clocks->count; i++) {
        free (clocks->cluster[i]);
        free ((char *)clocks->skew[i].node);
    }
    free (clocks->cluster);
    free (clocks->skew);
}

int facts_clocks (store_t *store, const char *cluster,
                  evidence_counts_t *ret_counts, buffer_t *text,
                  gl_error_t *error)
{
    clocks_t clocks = {.count = 0};
    int rc = clocks_read (&clocks, store, cluster, error);

    if (ret_counts) {
        ret_counts->skew_known = clocks.known;
        ret_counts->skew_ms = clocks.largest_ms;
    }
    for (size_t i = 0; text && i < clocks.count; i++)
        buffer_printf (text, "clock %zu:%s %zu:%s %lld\n",
                       strlen (clocks.cluster[i]), clocks.cluster[i],
                       strlen (clocks.skew[i].node), clocks.skew[i].node,
                       (long long)clocks.skew[i].skew_ms);
    clocks_done (&clocks);
    return rc;
}
