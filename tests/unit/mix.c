/* The mix that costs least against every other mix, tried one by one: hundreds of
 * made-up demands and prices. All numbers of the trial are integers in a
 * hundredth of a price and an eightieth of a GPU, so that both sides are exact. */
#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "planning/mix.h"

#define WORLDS 2000
#define HOURS 10
#define PARTS 80 /* of a GPU: quarters of demand x twentieths of a share */
#define NO_PRICE -1

struct world {
    uint64_t seed;
    int64_t hours, demand[HOURS];          /* in quarters of a GPU */
    int64_t step, up, interruptible;       /* shares in twentieths */
    int64_t owned, reserved, spot, rented; /* prices */
};

/* Knuth's MMIX generator. */
static int64_t below (struct world *w, int64_t limit)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((w->seed >> 33) % (uint64_t)limit);
}

/* One in `odds` is not on offer. */
static int64_t price (struct world *w, int64_t limit, int64_t odds)
{
    return below (w, odds) == 0 ? NO_PRICE : 1 + below (w, limit);
}

static void make_world (struct world *w, uint64_t seed)
{
    static const int64_t steps[] = {1, 2, 4, 8};

    *w = (struct world){.seed = seed * 7919};
    w->hours = 1 + below (w, HOURS);
    for (int64_t i = 0; i < w->hours; i++)
        w->demand[i] = below (w, 4) == 0 ? 0 : below (w, 4 * 20);
    w->step = steps[below (w, 4)];
    w->up = below (w, 2) ? 20 : 10 + below (w, 10);
    w->interruptible = below (w, 3) ? below (w, 21) : 0;
    w->owned = price (w, 60, 8);
    w->reserved = price (w, 60, 3);
    if (below (w, 2) && w->owned != NO_PRICE)
        w->reserved = w->owned + below (w, 12);
    w->spot = price (w, 120, 3);
    w->rented = price (w, 120, 6);
}

/* --- every mix, one by one ------------------------------------------------ */

/* What an hour costs beyond the GPUs that are there, in parts x price; negative:
 * it cannot be done. Spot takes nothing, or as much as it may. */
static int64_t hour_cost (const struct world *w, int64_t demand, int64_t supply)
{
    int64_t all = demand * 20, left = all > supply ? all - supply : 0,
            least = -1;

    for (int64_t take = 0; take < 2; take++) {
        int64_t most = demand * w->interruptible;
        int64_t spot = take ? (left < most ? left : most) : 0;
        int64_t rest = left - spot, cost = spot * w->spot + rest * w->rented;
        if ((spot > 0 && w->spot == NO_PRICE)
            || (rest > 0 && w->rented == NO_PRICE))
            continue;
        if (least < 0 || cost < least)
            least = cost;
    }
    return least;
}

static int64_t cost_of (const struct world *w, int64_t owned, int64_t reserved)
{
    int64_t supply = owned * w->up * 4 + reserved * PARTS;
    int64_t sum
        = w->hours * PARTS * (owned * w->owned + reserved * w->reserved);

    for (int64_t i = 0; i < w->hours; i++) {
        int64_t cost = hour_cost (w, w->demand[i], supply);
        if (cost < 0)
            return -1;
        sum += cost;
    }
    return sum;
}

/* Far more than any demand needs: 20 GPUs, half of the time down. */
static int64_t least_cost (const struct world *w)
{
    int64_t least = -1;

    for (int64_t owned = 0; owned <= 56; owned += w->step)
        for (int64_t reserved = 0; reserved <= 22; reserved++) {
            int64_t cost;
            if ((owned && w->owned == NO_PRICE)
                || (reserved && w->reserved == NO_PRICE))
                continue;
            cost = cost_of (w, owned, reserved);
            if (cost >= 0 && (least < 0 || cost < least))
                least = cost;
        }
    return least;
}

/* --- the same of the library ---------------------------------------------- */

struct asked {
    mpq_t number[6]; /* prices, then shares */
    mpq_t hour[HOURS];
    curve_t demand;
    mix_prices_t prices;
};

static mpq_srcptr set_number (struct asked *a, size_t at, int64_t number,
                              int64_t denominator)
{
    mpq_init (a->number[at]);
    exact_set_i64 (a->number[at], number, denominator);
    return number == NO_PRICE ? NULL : a->number[at];
}

static void ask (const struct world *w, struct asked *a)
{
    for (int64_t i = 0; i < w->hours; i++) {
        mpq_init (a->hour[i]);
        exact_set_i64 (a->hour[i], w->demand[i], 4);
    }
    curve_init (&a->demand, a->hour, (size_t)w->hours);
    a->prices = (mix_prices_t){.owned = set_number (a, 0, w->owned, 1),
                               .reserved = set_number (a, 1, w->reserved, 1),
                               .spot = set_number (a, 2, w->spot, 1),
                               .rented = set_number (a, 3, w->rented, 1),
                               .available = set_number (a, 4, w->up, 20),
                               .interruptible
                               = set_number (a, 5, w->interruptible, 20),
                               .step = (uint64_t)w->step};
}

static void ask_done (const struct world *w, struct asked *a)
{
    curve_clear (&a->demand);
    for (int64_t i = 0; i < w->hours; i++)
        mpq_clear (a->hour[i]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (a->number); i++)
        mpq_clear (a->number[i]);
}

/* The cost that the library says, in the integers of the trial. */
static bool costs (const struct world *w, const mix_t *mix, int64_t wanted)
{
    bool same;
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, mix->per_hour, w->hours * PARTS, 1);
    same = mpq_cmp_si (q, wanted, 1) == 0;
    mpq_clear (q);
    return same;
}

static bool same_work (const struct asked *a, const mix_t *mix)
{
    bool same = true;
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < MIX_KINDS; i++) {
        same = same && mpq_sgn (mix->work[i]) >= 0;
        mpq_add (sum, sum, mix->work[i]);
    }
    same = same && mpq_equal (sum, a->demand.mean);
    mpq_clear (sum);
    return same;
}

static void check_world (uint64_t seed, size_t *both, size_t *impossible)
{
    struct world w;
    struct asked a;
    int64_t least;
    mix_t mix;

    make_world (&w, seed);
    ask (&w, &a);
    mix_init (&mix);
    mix_best (&a.demand, &a.prices, &mix);
    least = least_cost (&w);
    if (mix.works != (least >= 0))
        fail_msg ("world %llu: works %d, least cost %lld",
                  (unsigned long long)seed, mix.works, (long long)least);
    if (mix.works
        && (!costs (&w, &mix, least) || !same_work (&a, &mix)
            || cost_of (&w, (int64_t)mix.owned, (int64_t)mix.reserved)
                   != least))
        fail_msg ("world %llu: own %llu, reserve %llu is not the least, %lld",
                  (unsigned long long)seed, (unsigned long long)mix.owned,
                  (unsigned long long)mix.reserved, (long long)least);
    *both += mix.works && mix.owned > 0 && mix.reserved > 0;
    *impossible += !mix.works;
    mix_clear (&mix);
    ask_done (&w, &a);
}

/* So many worlds have owned and reserved GPUs in one mix, and some no mix at all:
 * the trial reaches what it is for. */
TEST_CASE (mix_best__any_demand__costs_what_the_least_of_all_costs)
{
    size_t both = 0, impossible = 0;

    for (uint64_t seed = 1; seed <= WORLDS; seed++)
        check_world (seed, &both, &impossible);
    print_message ("# %zu of %d mixes own and reserve, %zu have none\n", both,
                   WORLDS, impossible);
    assert_true (both >= 50);
    assert_true (impossible >= 5);
}

/* The curve at each number of owned GPUs is the least over all reservations. */
TEST_CASE (mix_owning__any_number__reserves_what_costs_least)
{
    struct world w;
    struct asked a;
    mix_t mix;

    mix_init (&mix);
    for (uint64_t seed = 2000; seed < 2150; seed++) {
        make_world (&w, seed);
        w.owned = 10;
        ask (&w, &a);
        for (int64_t owned = 0; owned <= 40; owned += w.step) {
            int64_t least = -1;
            for (int64_t reserved = 0; reserved <= 22; reserved++) {
                int64_t cost = reserved && w.reserved == NO_PRICE
                                   ? -1
                                   : cost_of (&w, owned, reserved);
                if (cost >= 0 && (least < 0 || cost < least))
                    least = cost;
            }
            mix_owning (&a.demand, &a.prices, (uint64_t)owned, &mix);
            assert_int_equal (mix.works, least >= 0);
            if (mix.works && !costs (&w, &mix, least))
                fail_msg ("world %llu at %lld owned", (unsigned long long)seed,
                          (long long)owned);
        }
        ask_done (&w, &a);
    }
    mix_clear (&mix);
}

TEST_MAIN (NULL, NULL)
