/*
 * checks.h: the properties, each a function of a world.
 */
#ifndef GL_TESTS_PROPERTY_CHECKS_H
#define GL_TESTS_PROPERTY_CHECKS_H

#include "world.h"

#define WHY_SIZE 1024

typedef struct {
    const char *name;
    /* False, with the reason, where it does not hold. */
    bool (*holds) (const world_t *world, char why[WHY_SIZE]);
} property_t;

extern const property_t properties[];
extern const size_t property_count;

/* Before the first and after the last one. */
void checks_begin (void);
void checks_end (void);

#endif /* !GL_TESTS_PROPERTY_CHECKS_H */
