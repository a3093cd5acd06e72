/*
 * tally.h: counts by a number, such as how many jobs waited so many seconds. Eight
 * bytes for each different number at most, however many are added.
 */
#ifndef GL_DEMAND_TALLY_H
#define GL_DEMAND_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t key;
    uint32_t count; /* a larger one has several entries */
} tally_entry_t;

/* All zero: nothing was counted. */
typedef struct {
    tally_entry_t *entry;
    size_t count;
    size_t size;
    size_t sorted; /* the first of them are in order, each key once */
} tally_t;

void tally_clear (tally_t *tally);
/* Keys are 0 or more; those above UINT32_MAX count as that. */
void tally_add (tally_t *tally, int64_t key, uint64_t count);

/* The least key that at least `part` / `whole` of the counts are not above (the nearest
 * rank). 0 where nothing was counted. */
int64_t tally_quantile (tally_t *tally, unsigned part, unsigned whole);
/* The sum of the counts. */
uint64_t tally_total (const tally_t *tally);

#endif /* !GL_DEMAND_TALLY_H */
