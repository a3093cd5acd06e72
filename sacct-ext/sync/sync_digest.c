#include <string.h>

#include "base/memory.h"
#include "sync/sync_digest.h"

struct stretch {
    uint64_t segments, keys, facts;
    uint64_t fresh, fresh_keys;
};

struct sync_digest {
    int64_t start;
    size_t count;
    struct stretch *stretches;
};

static int64_t floor_of (int64_t instant)
{
    return instant - instant % SYNC_SEEN_SECONDS;
}

sync_digest_t *sync_digest_new (int64_t from, int64_t to)
{
    sync_digest_t *seen = xcalloc (1, sizeof (*seen));
    int64_t start
        = floor_of (from > SYNC_SEEN_SECONDS ? from : SYNC_SEEN_SECONDS);
    int64_t end = to > start ? floor_of (to - 1) + SYNC_SEEN_SECONDS : start;

    if (end - start > (int64_t)SYNC_SEEN_MAX * SYNC_SEEN_SECONDS)
        start = end - (int64_t)SYNC_SEEN_MAX * SYNC_SEEN_SECONDS;
    seen->start = start;
    seen->count = (size_t)((end - start) / SYNC_SEEN_SECONDS);
    seen->stretches = xcalloc (seen->count + 1, sizeof (*seen->stretches));
    return seen;
}

void sync_digest_free (sync_digest_t *seen)
{
    if (!seen)
        return;
    free (seen->stretches);
    free (seen);
}

int64_t sync_digest_start (const sync_digest_t *seen)
{
    return seen->start;
}

int64_t sync_digest_end (const sync_digest_t *seen)
{
    return seen->start + (int64_t)seen->count * SYNC_SEEN_SECONDS;
}

void sync_digest_rewind (sync_digest_t *seen)
{
    memset (seen->stretches, 0, seen->count * sizeof (*seen->stretches));
}

static struct stretch *stretch_at (const sync_digest_t *seen, int64_t instant)
{
    if (instant < seen->start || instant >= sync_digest_end (seen))
        return NULL;
    return &seen->stretches[(instant - seen->start) / SYNC_SEEN_SECONDS];
}

/* Eight bytes at a time; the constants are those of splitmix64. */
static uint64_t mix (uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C (0xbf58476d1ce4e5b9);
    h = (h ^ h >> 29) * UINT64_C (0x94d049bb133111eb);
    return h ^ h >> 32;
}

/* With its length: no text runs into the next, and NULL is none. */
static uint64_t mix_text (uint64_t h, const char *text)
{
    size_t length = text ? strlen (text) : 0;
    uint64_t word;

    h = mix (h, text ? length + 1 : 0);
    for (; length >= sizeof (word); length -= sizeof (word)) {
        memcpy (&word, text, sizeof (word));
        h = mix (h, word);
        text += sizeof (word);
    }
    word = 0;
    if (length)
        memcpy (&word, text, length);
    return mix (h, word);
}

static uint64_t hash_key (const segment_t *s)
{
    return mix (mix (1, s->id_job), (uint64_t)s->time_submit);
}

/* All that a row says, and so all of a segment but when it was seen. */
static uint64_t hash_facts (const segment_t *s, uint64_t key)
{
    const uint64_t numbers[] = {
        (uint64_t)s->time_start,
        (uint64_t)s->time_end,
        (uint64_t)s->suspended,
        (uint64_t)s->time_limit,
        s->state,
        s->source,
        s->uid,
        s->gpu_asked,
        s->cpus,
        s->memory_mb,
        s->nodes,
        s->array_job,
        s->array_task,
        s->het_job,
        s->het_offset,
        s->job_db_inx,
        s->sluid,
        (uint64_t)s->restart_count,
        s->cancelled_by,
    };
    const char *const texts[] = {
        s->user,          s->account,     s->partition,      s->qos,
        s->wckey,         s->reservation, s->nodelist,       s->job_name,
        s->admin_comment, s->gres,        s->gres_requested,
    };
    uint64_t h = key;

    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++)
        h = mix (h, numbers[i]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        h = mix_text (h, texts[i]);
    return h;
}

void sync_digest_add (sync_digest_t *seen, const segment_t *s)
{
    struct stretch *stretch = stretch_at (seen, s->time_end);
    uint64_t key;

    if (!stretch)
        return;
    key = hash_key (s);
    stretch->segments++;
    stretch->keys += key;
    stretch->facts += hash_facts (s, key);
}

void sync_digest_fresh (sync_digest_t *seen, const segment_t *s)
{
    struct stretch *stretch = stretch_at (seen, s->time_end);

    if (!stretch)
        return;
    stretch->fresh++;
    stretch->fresh_keys += hash_key (s);
}

store_digest_t sync_digest_of (const sync_digest_t *seen, int64_t start)
{
    const struct stretch *stretch = stretch_at (seen, start);

    return (store_digest_t){
        .start = start,
        .end = start + SYNC_SEEN_SECONDS,
        .segments = stretch->segments,
        .keys = stretch->keys,
        .facts = stretch->facts,
    };
}

/* One of another length is of another version of this program. */
static const struct stretch *stretch_of (const sync_digest_t *seen,
                                         const store_digest_t *before)
{
    if (before->end - before->start != SYNC_SEEN_SECONDS
        || before->start % SYNC_SEEN_SECONDS != 0)
        return NULL;
    return stretch_at (seen, before->start);
}

bool sync_digest_same (const sync_digest_t *seen, const store_digest_t *before)
{
    const struct stretch *stretch = stretch_of (seen, before);

    return stretch && stretch->segments == before->segments
           && stretch->keys == before->keys && stretch->facts == before->facts;
}

bool sync_digest_kept (const sync_digest_t *seen, const store_digest_t *before)
{
    const struct stretch *stretch = stretch_of (seen, before);

    return stretch && stretch->segments == before->segments + stretch->fresh
           && stretch->keys == before->keys + stretch->fresh_keys;
}
