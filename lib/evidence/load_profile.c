#include <string.h>

#include "base/memory.h"
#include "evidence/evidence.h"
#include "evidence/load_profile.h"

void load_profile_clear (load_profile_t *profile)
{
    for (size_t i = 0; i < profile->pool_count; i++) {
        free (profile->pool[i].pool);
        free (profile->pool[i].energy_mj);
    }
    free (profile->pool);
    *profile = (load_profile_t){NULL, 0};
}

/* Where the pool is, or belongs. */
static size_t place_of (const load_profile_t *profile, const char *pool)
{
    size_t i = 0;

    while (i < profile->pool_count && strcmp (profile->pool[i].pool, pool) < 0)
        i++;
    return i;
}

const pool_load_t *load_profile_pool (const load_profile_t *profile,
                                      const char *pool)
{
    size_t i = place_of (profile, pool);

    return i < profile->pool_count && !strcmp (profile->pool[i].pool, pool)
               ? &profile->pool[i]
               : NULL;
}

static pool_load_t *pool_get (load_profile_t *profile, const char *pool)
{
    size_t i = place_of (profile, pool);
    pool_load_t *at;

    if (i < profile->pool_count && !strcmp (profile->pool[i].pool, pool))
        return &profile->pool[i];
    profile->pool = xreallocarray (profile->pool, profile->pool_count + 1,
                                   sizeof (*profile->pool));
    at = &profile->pool[i];
    memmove (at + 1, at, (profile->pool_count++ - i) * sizeof (*at));
    *at = (pool_load_t){.pool = xstrdup (pool)};
    return at;
}

static int64_t quarter_of (int64_t instant)
{
    int64_t into = instant % LOAD_SECONDS;

    return instant - (into < 0 ? into + LOAD_SECONDS : into);
}

/* Makes room for quarters from `start` on, up to the one at `last`. */
static void reach (pool_load_t *load, int64_t start, int64_t last)
{
    size_t before, count;

    if (load->count == 0)
        load->start = start;
    before = start < load->start
                 ? (size_t)((load->start - start) / LOAD_SECONDS)
                 : 0;
    load->start -= (int64_t)before * LOAD_SECONDS;
    count = (size_t)((last - load->start) / LOAD_SECONDS) + 1;
    if (count < load->count + before)
        count = load->count + before;
    if (count == load->count)
        return;
    load->energy_mj = xreallocarray (load->energy_mj, count,
                                     sizeof (*load->energy_mj));
    memmove (load->energy_mj + before, load->energy_mj,
             load->count * sizeof (*load->energy_mj));
    memset (load->energy_mj, 0, before * sizeof (*load->energy_mj));
    memset (load->energy_mj + before + load->count, 0,
            (count - before - load->count) * sizeof (*load->energy_mj));
    load->count = count;
}

static void add_quarter (pool_load_t *load, int64_t start, uint64_t energy_mj)
{
    reach (load, start, start);
    load->energy_mj[(start - load->start) / LOAD_SECONDS] += energy_mj;
}

void load_profile_add (load_profile_t *profile, const char *pool,
                       int64_t instant, uint64_t energy_mj)
{
    if (energy_mj > 0)
        add_quarter (pool_get (profile, pool), quarter_of (instant),
                     energy_mj);
}

static int64_t clamp (int64_t instant, period_t within)
{
    if (instant < within.start)
        return within.start;
    return instant < within.end ? instant : within.end - 1;
}

/* Where the quarter ends that holds the moment, or `to_ms`. */
static int64_t quarter_end_ms (int64_t at_ms, int64_t to_ms)
{
    int64_t second = at_ms / 1000 - (at_ms % 1000 < 0);
    int64_t end_ms = (quarter_of (second) + LOAD_SECONDS) * 1000;

    return end_ms < to_ms ? end_ms : to_ms;
}

void load_profile_stretch (load_profile_t *profile, const char *pool,
                           const device_usage_t *usage, int64_t from_ms,
                           int64_t to_ms, period_t within)
{
    pool_load_t *load;
    int64_t next;

    if (usage->energy_mj <= 0)
        return;
    load = NULL;
    for (int64_t at = from_ms; at < to_ms; at = next) {
        int64_t mj;
        next = quarter_end_ms (at, to_ms);
        mj = usage_share_number (usage, usage->energy_mj, at, next);
        if (mj <= 0)
            continue;
        if (!load)
            load = pool_get (profile, pool);
        add_quarter (load, quarter_of (clamp (at / 1000, within)),
                     (uint64_t)mj);
    }
}

void load_profile_join (load_profile_t *profile, const load_profile_t *other)
{
    for (size_t i = 0; i < other->pool_count; i++) {
        const pool_load_t *from = &other->pool[i];
        pool_load_t *to = pool_get (profile, from->pool);
        size_t offset;
        reach (to, from->start,
               from->start + (int64_t)(from->count - 1) * LOAD_SECONDS);
        offset = (size_t)((from->start - to->start) / LOAD_SECONDS);
        for (size_t k = 0; k < from->count; k++)
            to->energy_mj[offset + k] += from->energy_mj[k];
    }
}

size_t pool_load_index (const pool_load_t *load, int64_t instant)
{
    int64_t index;

    if (instant <= load->start)
        return 0;
    index = (instant - load->start + LOAD_SECONDS - 1) / LOAD_SECONDS;
    return (size_t)index < load->count ? (size_t)index : load->count;
}

uint64_t pool_load_sum (const pool_load_t *load, period_t period)
{
    size_t end = pool_load_index (load, period.end);
    uint64_t sum = 0;

    for (size_t i = pool_load_index (load, period.start); i < end; i++)
        sum += load->energy_mj[i];
    return sum;
}
