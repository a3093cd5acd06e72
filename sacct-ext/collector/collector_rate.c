#include "collector/collector_rate.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"

struct bucket {
    char *name;
    double content;
    int64_t filled_ms;
    UT_hash_handle hh; /* in the order of the last question */
};

struct rates {
    struct bucket *buckets;
    size_t max;
};

rates_t *rates_new (size_t max)
{
    rates_t *rates = xcalloc (1, sizeof (*rates));

    rates->max = max;
    return rates;
}

static void forget (rates_t *rates, struct bucket *bucket)
{
    HASH_DEL (rates->buckets, bucket);
    free (bucket->name);
    free (bucket);
}

void rates_free (rates_t *rates)
{
    struct bucket *bucket, *next;

    if (!rates)
        return;
    HASH_ITER (hh, rates->buckets, bucket, next)
    forget (rates, bucket);
    free (rates);
}

static struct bucket *find (rates_t *rates, const char *name, double content,
                            int64_t now_ms)
{
    struct bucket *bucket;

    HASH_FIND_STR (rates->buckets, name, bucket);
    if (bucket) {
        HASH_DEL (rates->buckets, bucket);
    } else {
        while (rates->buckets && HASH_COUNT (rates->buckets) >= rates->max)
            forget (rates, rates->buckets);
        bucket = xcalloc (1, sizeof (*bucket));
        bucket->name = xstrdup (name);
        bucket->content = content;
        bucket->filled_ms = now_ms;
    }
    HASH_ADD_KEYPTR (hh, rates->buckets, bucket->name, strlen (bucket->name),
                     bucket);
    return bucket;
}

bool rates_take (rates_t *rates, const char *name, const rate_t *rate,
                 double amount, int64_t now_ms)
{
    struct bucket *bucket = find (rates, name, rate->burst, now_ms);

    if (now_ms > bucket->filled_ms) {
        bucket->content
            += rate->per_second * (double)(now_ms - bucket->filled_ms) / 1000;
        if (bucket->content > rate->burst)
            bucket->content = rate->burst;
    }
    bucket->filled_ms = now_ms;
    if (bucket->content < amount)
        return false;
    bucket->content -= amount;
    return true;
}
