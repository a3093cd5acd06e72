#include <stdbool.h>

#include "base/array.h"
#include "base/memory.h"
#include "sync/sync_open.h"

struct key {
    uint64_t id_job;
    int64_t time_submit;
    bool seen;
};

/* Ascending, as the store's iterator gives them. */
struct sync_open {
    struct key *keys;
    size_t count;
};

static void add (sync_open_t *open, const segment_t *segment)
{
    *GL_APPEND (open->keys, open->count)
        = (struct key){segment->id_job, segment->time_submit, false};
}

sync_open_t *sync_open_load (store_t *store, const char *cluster,
                             gl_error_t *error)
{
    store_query_t query = {.cluster = cluster, .open_only = true};
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, &query, error);
    sync_open_t *open;
    segment_t segment;
    int rc;

    if (!iter)
        return NULL;
    open = xcalloc (1, sizeof (*open));
    while ((rc = store_iter_next (iter, &segment, error)) == 1)
        add (open, &segment);
    store_iter_close (iter);
    if (rc < 0) {
        sync_open_free (open);
        return NULL;
    }
    return open;
}

void sync_open_free (sync_open_t *open)
{
    if (!open)
        return;
    free (open->keys);
    free (open);
}

void sync_open_rewind (sync_open_t *open)
{
    for (size_t i = 0; i < open->count; i++)
        open->keys[i].seen = false;
}

static int compare (const void *key, const void *element)
{
    const struct key *a = key, *b = element;

    if (a->id_job != b->id_job)
        return a->id_job < b->id_job ? -1 : 1;
    return a->time_submit < b->time_submit ? -1
                                           : a->time_submit > b->time_submit;
}

bool sync_open_seen (sync_open_t *open, uint64_t id_job, int64_t time_submit)
{
    struct key wanted = {id_job, time_submit, false};
    struct key *key = NULL;

    if (open->count)
        key = bsearch (&wanted, open->keys, open->count, sizeof (*open->keys),
                       compare);
    if (key)
        key->seen = true;
    return key != NULL;
}

size_t sync_open_unseen (const sync_open_t *open, size_t *at, uint64_t *ret_ids,
                         size_t size)
{
    size_t count = 0;

    for (; *at < open->count && count < size; (*at)++) {
        if (!open->keys[*at].seen)
            ret_ids[count++] = open->keys[*at].id_job;
    }
    return count;
}

size_t sync_open_count (const sync_open_t *open)
{
    size_t count = 0;

    for (size_t i = 0; i < open->count; i++)
        count += !open->keys[i].seen;
    return count;
}
