/*
 * property: what has to hold in any world, whatever its facts are.
 *
 *     property [SEED]     one seed (and what its world is made of); else
 *                         $PROPERTY_SEEDS of them (60), from $PROPERTY_FROM
 *                         (0) on
 *
 * Each seed makes a small world (world.h) that goes through the real store, in
 * a file in memory where the system has such a place, and the real accounting
 * and reports. Where a property does not hold, facts are taken away as long as
 * it still does not, and what is left is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"

/* What does not hold, if anything. */
static const char *broken (const world_t *world, char *ret_why)
{
    for (size_t i = 0; i < property_count; i++) {
        ret_why[0] = '\0';
        if (!properties[i].holds (world, ret_why))
            return properties[i].name;
    }
    return NULL;
}

static bool still_broken (const world_t *world, const char *name, char *ret_why)
{
    for (size_t i = 0; i < property_count; i++)
        if (!strcmp (properties[i].name, name))
            return !properties[i].holds (world, ret_why);
    return false;
}

/* Leave out what the failure does not need. */
static void shrink (world_t *world, const char *name)
{
    char why[WHY_SIZE];
    bool smaller = true;

    while (smaller) {
        smaller = false;
        for (size_t i = 0; i < world->count; i++) {
            if (world->item[i].left_out)
                continue;
            world->item[i].left_out = true;
            if (still_broken (world, name, why))
                smaller = true;
            else
                world->item[i].left_out = false;
        }
    }
}

static bool try_seed (uint64_t seed, bool verbose)
{
    world_t *world = malloc (sizeof (*world));
    char why[WHY_SIZE] = "";
    const char *name;

    if (!world)
        exit (1);
    world_make (world, seed);
    name = broken (world, why);
    if (name) {
        printf ("# seed %" PRIu64 ": %s\n#   %s\n", seed, name, why);
        shrink (world, name);
        still_broken (world, name, why);
        printf ("# the smallest world in which it does not hold:\n");
        world_print (world);
        printf ("#   %s\n", why);
    } else if (verbose)
        world_print (world);
    world_done (world);
    free (world);
    return !name;
}

static uint64_t setting (const char *name, uint64_t value)
{
    const char *text = getenv (name);

    return text && *text ? strtoull (text, NULL, 10) : value;
}

int main (int argc, char **argv)
{
    uint64_t from = setting ("PROPERTY_FROM", 0), failed = 0;
    uint64_t count = setting ("PROPERTY_SEEDS", 60);

    if (argc > 1) {
        from = strtoull (argv[1], NULL, 10);
        count = 1;
    }
    checks_begin ();
    for (uint64_t seed = from; seed < from + count && failed < 5; seed++)
        failed += !try_seed (seed, argc > 1);
    checks_end ();
    printf ("1..1\n%s 1 - %zu properties hold in %" PRIu64 " worlds\n",
            failed ? "not ok" : "ok", property_count, count);
    return failed ? 1 : 0;
}
