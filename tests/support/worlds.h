/*
 * worlds.h: small made-up worlds, a site and two months of facts of it, for tests that
 * two ways to one figure agree. The same seed makes the same world on every machine.
 * What is odd is in them on purpose: suspensions and ends that are not known, pools
 * and teams that begin or end, devices of no pool, nodes that are down.
 */
#ifndef GL_TESTS_SUPPORT_WORLDS_H
#define GL_TESTS_SUPPORT_WORLDS_H

#include "support/book.h"

#include "evidence/evidence.h"
#include "site/project.h"
#include "site/segment.h"
#include "usage/capacity.h"
#include "usage/query.h"

#define JOBS_MAX 40
#define SEGMENTS_MAX (JOBS_MAX * 3)
#define PARTS_MAX 3

struct fact {
    segment_t segment;
    suspension_t suspension[2];
    size_t suspension_count;
    project_t project;
    device_usage_t usage[PARTS_MAX];
    usage_part_of_t part[PARTS_MAX];
    usage_part_of_t *part_list[PARTS_MAX];
    segment_evidence_t evidence;
    bool seen;
};

struct world {
    uint64_t seed;
    site_t *site;
    period_t span; /* of all facts: whole days */
    int64_t as_of;
    struct fact fact[SEGMENTS_MAX];
    size_t count;
    node_event_t event[8];
    size_t event_count;
    reservation_t reservation[2];
    size_t reservation_count;
    report_cluster_t cluster;
};

/* Into any struct; it is not to be moved. world_end() frees what it owns. */
void world_make (struct world *w, uint64_t seed);
void world_end (struct world *w);

/* The next number of the world's dice: 0 to limit - 1. */
uint64_t world_below (struct world *w, uint64_t limit);
/* Midnight before that day of the span. */
int64_t world_day (const struct world *w, uint64_t day);
/* As-of, events and reservations. */
void world_give_site (const struct world *w, capacity_t *capacity);

#endif /* !GL_TESTS_SUPPORT_WORLDS_H */
