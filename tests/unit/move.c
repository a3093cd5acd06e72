/* Where work may move to, against counting GPU by GPU: hundreds of made-up pools. */
#include "support/test.h"

#include "base/memory.h"
#include "planning/move.h"

#define WORLDS 3000
#define HOURS 12
#define POOLS 4
#define GPUS 8

struct world {
    uint64_t seed;
    size_t hours, count;
    uint64_t work[HOURS], gpus[POOLS], used[POOLS][HOURS];
};

/* Knuth's MMIX generator. */
static uint64_t below (struct world *w, uint64_t limit)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (w->seed >> 33) % limit;
}

static void make_world (struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed * 7919};
    w->hours = 1 + below (w, HOURS);
    w->count = below (w, POOLS + 1);
    for (size_t h = 0; h < w->hours; h++)
        w->work[h] = below (w, 3) ? below (w, 4) : 0;
    for (size_t p = 0; p < w->count; p++) {
        w->gpus[p] = below (w, GPUS);
        for (size_t h = 0; h < w->hours;
             h++) /* now and then more than there are */
            w->used[p][h] = below (w, w->gpus[p] + 2);
    }
}

/* How many GPUs no job has, one after the other. */
static size_t free_gpus (const struct world *w, size_t pool, size_t hour)
{
    size_t count = 0;

    for (uint64_t gpu = 0; gpu < w->gpus[pool]; gpu++)
        count += gpu >= w->used[pool][hour];
    return count;
}

/* GPUs that stay free in the fullest hour with the work; -1: it does not fit. */
static int left_of (const struct world *w, size_t pool)
{
    int least = GPUS;

    for (size_t h = 0; h < w->hours; h++) {
        int left = (int)free_gpus (w, pool, h) - (int)w->work[h];
        if (left < 0)
            return -1;
        if (left < least)
            least = left;
    }
    return least;
}

static void check_one (const struct world *w, move_pool_t *const *to)
{
    uint64_t left = 99;
    size_t found = move_to_one (w->work, w->hours, to, w->count, &left);
    size_t best = w->count;

    for (size_t p = w->count; p-- > 0;)
        if (left_of (w, p) >= 0
            && (best == w->count || left_of (w, p) >= left_of (w, best)))
            best = p;
    assert_int_equal (found, best);
    if (best < w->count)
        assert_int_equal (left, left_of (w, best));
}

static void check_all (const struct world *w, move_pool_t *const *to)
{
    uint64_t most = 0;
    size_t missing = 0, first = 0, said;
    bool short_then = false, busiest;

    for (size_t h = 0; h < w->hours; h++)
        if (w->work[h] > most) {
            most = w->work[h];
            first = h;
        }
    for (size_t h = 0; h < w->hours; h++) {
        size_t room = 0;
        for (size_t p = 0; p < w->count; p++)
            room += free_gpus (w, p, h);
        missing += room < w->work[h];
        short_then = short_then || (room < w->work[h] && w->work[h] == most);
    }
    assert_int_equal (
        move_short_hours (w->work, w->hours, to, w->count, &busiest), missing);
    assert_true (busiest == short_then);
    assert_int_equal (move_busiest (w->work, w->hours, &said), most);
    assert_int_equal (said, first);
}

/* No GPU has two jobs, and what has room is placed: in the first pools that have it. */
static void check_put (struct world *w, move_pool_t *const *to)
{
    move_put (w->work, w->hours, to, w->count);
    for (size_t p = 0; p < w->count; p++) {
        bool takes = false;
        for (size_t h = 0; h < w->hours; h++) {
            uint64_t more = to[p]->used[h] - w->used[p][h], before = 0;
            for (size_t k = 0; k < p; k++)
                before += free_gpus (w, k, h);
            uint64_t rest = w->work[h] > before ? w->work[h] - before : 0;
            uint64_t room = free_gpus (w, p, h);
            assert_int_equal (more, rest < room ? rest : room);
            takes = takes || more > 0;
        }
        assert_true (to[p]->takes == takes);
    }
}

TEST_CASE (move__any_pools__is_what_counting_gpus_finds)
{
    size_t fits = 0, none = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world w;
        uint64_t used[POOLS][HOURS];
        move_pool_t pool[POOLS], *to[POOLS];
        uint64_t left;

        make_world (&w, seed);
        memcpy (used, w.used, sizeof (used));
        for (size_t p = 0; p < POOLS; p++) {
            pool[p] = (move_pool_t){.gpus = w.gpus[p], .used = used[p]};
            to[p] = &pool[p];
        }
        check_one (&w, to);
        check_all (&w, to);
        if (move_to_one (w.work, w.hours, to, w.count, &left) < w.count)
            fits++;
        else
            none++;
        check_put (&w, to);
    }
    assert_true (fits > WORLDS / 20 && none > WORLDS / 20);
}

TEST_MAIN (NULL, NULL)
