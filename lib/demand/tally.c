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
    uint32_t x = ((const tally_entry_t *)a)->key;
    uint32_t y = ((const tally_entry_t *)b)->key;

    return (x > y) - (x < y);
}

/* Each key once, unless its counts together are too large for one entry. */
static void compact (tally_t *t)
{
    size_t kept = 0;

    if (t->sorted == t->count)
        return;
    qsort (t->entry, t->count, sizeof (*t->entry), compare);
    for (size_t i = 1; i < t->count; i++) {
        tally_entry_t *last = &t->entry[kept], *next = &t->entry[i];
        if (next->key == last->key && next->count <= UINT32_MAX - last->count)
            last->count += next->count;
        else
            t->entry[++kept] = *next;
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

void tally_add (tally_t *t, int64_t key, uint64_t count)
{
    while (count > 0) {
        uint32_t some = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        make_room (t);
        t->entry[t->count++] = (tally_entry_t){
            .key = key < UINT32_MAX ? (uint32_t)key : UINT32_MAX,
            .count = some};
        count -= some;
    }
}

uint64_t tally_total (const tally_t *t)
{
    uint64_t total = 0;

    for (size_t i = 0; i < t->count; i++)
        total += t->entry[i].count;
    return total;
}

int64_t tally_quantile (tally_t *t, unsigned part, unsigned whole)
{
    unsigned __int128 wanted = (unsigned __int128)tally_total (t) * part,
                      below = 0;

    compact (t);
    for (size_t i = 0; i < t->count; i++) {
        below += (unsigned __int128)t->entry[i].count * whole;
        if (below >= wanted)
            return t->entry[i].key;
    }
    return 0;
}
