/*
 * world.h: a small world of made-up facts, the same for the same seed.
 *
 * A world is a list of observations: what some source said of a segment, a
 * suspension, a node or a reservation at some moment. Several may speak of the
 * same thing and contradict one another. Each can be left out, which is how a
 * failing world is made smaller.
 */
#ifndef GL_TESTS_PROPERTY_WORLD_H
#define GL_TESTS_PROPERTY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/segment.h"
#include "site/site.h"
#include "store/store.h"

typedef struct {
    uint64_t state;
} chance_t;

chance_t chance_new (uint64_t seed);
/* Below `count`, which is not 0. */
uint64_t chance_below (chance_t *chance, uint64_t count);
bool chance_percent (chance_t *chance, unsigned percent);

typedef enum {
    ITEM_SEGMENT,
    ITEM_SUSPENSION,
    ITEM_EVENT,
    ITEM_RESERVATION,
} item_kind_t;

typedef struct {
    item_kind_t kind;
    bool left_out;
    union {
        segment_t segment;
        suspension_t suspension;
        node_event_t event;
        reservation_t reservation;
    };
    int64_t seen; /* events and reservations */
} item_t;

#define ITEMS_MAX 160
#define STRANGER "zed" /* has no job, unless world_add_stranger () */

typedef struct {
    uint64_t seed;
    site_t site;
    period_t period; /* some days around a switch of clocks or the end of a
                        month; facts begin before and end after it */
    int64_t as_of;
    item_t item[ITEMS_MAX];
    size_t count;
} world_t;

void world_make (world_t *world, uint64_t seed);
/* Jobs of the user STRANGER. */
void world_add_stranger (world_t *world);
void world_done (world_t *world);

/* All that is not left out, in the order given (indexes of items; NULL: as they
 * stand), in one transaction for each `batch` of them. */
int world_put (const world_t *world, store_t *store, const size_t *order,
               size_t count, size_t batch, store_counts_t *ret_counts,
               gl_error_t *error);

/* For people. */
void world_print (const world_t *world);

#endif /* !GL_TESTS_PROPERTY_WORLD_H */
