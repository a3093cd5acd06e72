/*
 * look.h: stores for worlds, and what is seen of one: its facts, its reports as
 * bytes, and its usage and capacity as numbers that can be added up.
 */
#ifndef GL_TESTS_PROPERTY_LOOK_H
#define GL_TESTS_PROPERTY_LOOK_H

#include <gmp.h>

#include "base/buffer.h"
#include "usage/capacity.h"
#include "usage/usage.h"
#include "world.h"

/* An empty store; at most two at a time, "a" and "b". Ends the program where
 * that fails. */
store_t *look_store (const char *name);
void look_begin (void);
void look_end (void);
/* The same with the world put into it. */
store_t *look_world (const char *name, const world_t *world,
                     const size_t *order, size_t count, size_t batch);

/* Rows of usage or of capacity by some text. */
typedef struct {
    char key[200];
    uint64_t jobs, segments, unknown_jobs;
    uint64_t gres_seconds, suspended, cpu_seconds;
    bool suspended_known, weights_known;
    mpq_t gpu_seconds;
    capacity_sum_t sum;
} look_row_t;

typedef struct {
    look_row_t **row;
    size_t count;
} look_table_t;

void look_table_free (look_table_t *table);
look_row_t *look_row (look_table_t *table, const char *key);
const look_row_t *look_find (const look_table_t *table, const char *key);

/* One way to group; user NULL: everybody. */
typedef struct {
    key_id_t by[3];
    size_t count;
    const char *user;
} look_ask_t;

/* The usage in the period, one table for each ask; keys joined by '|'. */
void look_usage (store_t *store, const world_t *world, period_t period,
                 const look_ask_t *asks, size_t count,
                 look_table_t *ret_tables);
/* Capacity by cluster, pool and node ("lab|big|g1"); in
 * ret_hours (may be NULL) cut at hours, which must not matter. ret_bad: a slice
 * against the definition. */
void look_capacity (store_t *store, const world_t *world, period_t period,
                    look_table_t *ret_table, look_table_t *ret_hours,
                    char *ret_bad, size_t bad_size);

/* What some reports print, as JSON; yours to free. */
typedef enum {
    LOOK_ALL,   /* of segments */
    LOOK_FACTS, /* of segments, those that LOOK_KEPT has */
    LOOK_KEPT,  /* of rollups, where these can answer */
} look_from_t;
char *look_reports (store_t *store, const world_t *world, period_t period,
                    look_from_t from);
/* Keep rollups, and forget those of a period (both 0: all). */
void look_keep (store_t *store, const world_t *world);
void look_forget (store_t *store, period_t period);
/* Every fact; yours to free. */
char *look_facts (const char *name);

#endif /* !GL_TESTS_PROPERTY_LOOK_H */
