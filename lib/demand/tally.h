/*
 * tally.h: counts by a number, such as how many jobs waited so many seconds, or what
 * changed at an instant. Memory follows the different numbers, not the additions.
 */
#ifndef GL_DEMAND_TALLY_H
#define GL_DEMAND_TALLY_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_COUNTS 2

typedef struct {
    int64_t key;
    int64_t count[TALLY_COUNTS];
} tally_entry_t;

/* All zero: nothing was counted. */
typedef struct {
    tally_entry_t *entry;
    size_t count;
    size_t size;
    size_t sorted; /* the first of them are in order, each key once */
} tally_t;

void tally_clear (tally_t *tally);
void tally_add (tally_t *tally, int64_t key, unsigned which, int64_t count);
/* In ascending order, each key once. Borrowed until the next tally_add(). */
const tally_entry_t *tally_entries (tally_t *tally, size_t *ret_count);

/* The least key that at least `part` / `whole` of the counts are not above (the nearest
 * rank). 0 where nothing was counted. */
int64_t tally_quantile (tally_t *tally, unsigned which, unsigned part,
                        unsigned whole);
/* The sum of the counts. */
int64_t tally_total (tally_t *tally, unsigned which);

#endif /* !GL_DEMAND_TALLY_H */
