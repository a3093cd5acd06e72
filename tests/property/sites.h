/*
 * sites.h: whole sites, made up, the same for the same seed: configuration, jobs and
 * charges of other services of three months.
 *
 * A site is a list of parts, each of which can be left out, which is how a failing
 * site is made smaller. Jobs and charges are known from a stage on: the three stages
 * are days shortly after the three months; those that are late are known only at a
 * stage after their month was closed, and some of these are taken back at the next.
 */
#ifndef GL_TESTS_PROPERTY_SITES_H
#define GL_TESTS_PROPERTY_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "site/segment.h"
#include "site/service.h"
#include "site/site.h"
#include "store/store.h"
#include "world.h"

#define STAGES 3
#define SITE_PARTS_MAX 120

/* Lists of the configuration, then facts. */
typedef enum {
    PART_POOL,
    PART_TEAM,
    PART_COST,
    PART_RATE,
    PART_QOS,
    PART_ENTITLEMENT,
    PART_TAX,
    PART_OUTAGE,
    PART_SETTLEMENT,
    PART_TARIFF,
    PART_POWER,
    PART_GRID,
    PART_EMBODIED,
    PART_JOB,
    PART_SERVICE,
    PART_KIND_COUNT,
} part_kind_t;

typedef struct {
    part_kind_t kind;
    bool left_out;
    char *text;      /* of the configuration */
    char *otherwise; /* what it says from the last stage on; NULL: the same */
    int stage;       /* known from then on */
    bool late;       /* it would have been known earlier */
    bool undone;     /* a late one is taken back at the next stage */
    segment_t segment;
    service_t service;
    char *numbers[3]; /* of the service: quantity, price, amount */
} part_t;

typedef struct {
    uint64_t seed;
    char *head; /* ledger and policy */
    char month[STAGES][8];
    period_t period[STAGES];
    int64_t as_of[STAGES];
    zone_t *zone;
    int digits;
    const char *currency;
    part_t part[SITE_PARTS_MAX];
    size_t count;
    bool kept[STAGES]; /* the first store caches what it can */
} made_t;

void made_new (made_t *m, uint64_t seed);
void made_free (made_t *m);

/* The configuration at a stage, its lists in the order of the parts, or in some
 * other one. */
void made_yaml (const made_t *m, int stage, bool shuffled, buffer_t *out);
/* As above; NULL with the error: what is left out was needed. */
site_t *made_site (const made_t *m, int stage, bool shuffled,
                   gl_error_t *error);
/* The site at the last stage, with the undated rule of that name as two entries, up to
 * and from a random day; into ret_day. */
site_t *made_in_two (const made_t *m, const char *rule, chance_t *chance,
                     char ret_day[11], gl_error_t *error);
/* What the second name of a team that is renamed ends with. */
#define MADE_RENAMED "-renamed"
/* The site at the last stage, with one team that has another name from the first day
 * of a month on, before or after the name that it has now, into ret_name. NULL without
 * an error text: there is no team without dates. */
site_t *made_with_names (const made_t *m, chance_t *chance, char ret_name[16],
                         gl_error_t *error);
/* What the store of a site at this stage has, into one that has what it had at the
 * stage before (first: that has nothing; jobs and charges are then put in some
 * order). */
int made_put (const made_t *m, int stage, bool first, store_t *store,
              gl_error_t *error);

/* For people. */
void made_print (const made_t *m);
/* Of each stage the configuration, jobs as sacct has them, charges, and the month with
 * the moment that the jobs speak of, into a directory: gpuledger.yaml.0, jobs.0,
 * charges.csv.0, month.0, ... What is taken back later is left out. */
int made_write (const made_t *m, const char *directory);

#endif /* !GL_TESTS_PROPERTY_SITES_H */
