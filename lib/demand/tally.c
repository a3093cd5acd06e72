#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "demand/tally.h"

#define SIZE_MIN 64

void tally_clear (tally_t *t)
{
    free (t->entry);
    *t = (tally_t){0};
}

static int compare (const void *a, const void *b)
{
    int64_t x = ((const tally_entry_t *)a)->key;
    int64_t y = ((const tally_entry_t *)b)->key;

    return (x > y) - (x < y);
}

static void compact (tally_t *t)
{
    size_t kept = 0;

    if (t->sorted == t->count)
        return;
    qsort (t->entry, t->count, sizeof (*t->entry), compare);
    for (size_t i = 1; i < t->count; i++) {
        if (t->entry[i].key != t->entry[kept].key) {
            t->entry[++kept] = t->entry[i];
            continue;
        }
        for (size_t k = 0; k < TALLY_COUNTS; k++)
            t->entry[kept].count[k] += t->entry[i].count[k];
    }
    t->count = t->sorted = kept + 1;
}

/* So that sorting costs little, half of it is free after each. */
static void make_room (tally_t *t)
{
    if (t->count < t->size)
        return;
    compact (t);
    if (t->count < t->size / 2)
        return;
    t->size = t->size ? 2 * t->size : SIZE_MIN;
    t->entry = xreallocarray (t->entry, t->size, sizeof (*t->entry));
}

void tally_add (tally_t *t, int64_t key, unsigned which, int64_t count)
{
    tally_entry_t *entry;

    make_room (t);
    entry = &t->entry[t->count++];
    *entry = (tally_entry_t){.key = key};
    entry->count[which] = count;
}

const tally_entry_t *tally_entries (tally_t *t, size_t *ret_count)
{
    compact (t);
    *ret_count = t->count;
    return t->entry;
}

int64_t tally_total (tally_t *t, unsigned which)
{
    int64_t total = 0;

    for (size_t i = 0; i < t->count; i++)
        total += t->entry[i].count[which];
    return total;
}

int64_t tally_quantile (tally_t *t, unsigned which, unsigned part,
                        unsigned whole)
{
    __int128 wanted = (__int128)tally_total (t, which) * part, below = 0;

    compact (t);
    for (size_t i = 0; i < t->count; i++) {
        below += (__int128)t->entry[i].count[which] * whole;
        if (below >= wanted && t->entry[i].count[which] > 0)
            return t->entry[i].key;
    }
    return 0;
}
