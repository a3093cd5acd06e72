/*
 * nearest.h: the known name that a mistyped word most resembles, for "did you
 * mean" in messages.
 *
 *     nearest_t nearest = {.word = word};
 *     for each known name
 *         nearest_offer (&nearest, name);
 *     if (nearest.name) ... did you mean nearest.name?
 *
 * Likeness is Levenshtein's distance in bytes: the fewest insertions, deletions
 * and substitutions of one byte that make the name from the word, where an
 * ASCII letter's case is no difference. A name is near if that is at most 2 and
 * less than the length of the name. Of equally near names the first offered is
 * kept. Nothing is copied: the names belong to the caller. Pure.
 */
#ifndef GL_BASE_NEAREST_H
#define GL_BASE_NEAREST_H

#include <stddef.h>

typedef struct {
    const char *word; /* as it was typed */
    const char *name; /* the nearest so far; NULL: none is near */
    size_t distance;  /* of that name */
} nearest_t;

void nearest_offer (nearest_t *nearest, const char *name);

#endif /* !GL_BASE_NEAREST_H */
