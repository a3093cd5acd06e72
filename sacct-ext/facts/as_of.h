/*
 * as_of.h: whether facts can speak of the moment that they claim to speak of.
 *
 * Running jobs are counted up to the as-of, and what is learned later of an earlier
 * moment changes nothing that was known later. So a mistyped --as-of, or a clock that
 * once was far ahead, would stay: it is refused before anything is written.
 */
#ifndef GL_AS_OF_H
#define GL_AS_OF_H

#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

/* By how much two clocks may differ. */
#define AS_OF_SKEW 300
/* How long a source may have nothing new. */
#define AS_OF_SILENCE ((int64_t)7 * 86400)

typedef struct {
    int64_t as_of;
    const char *said_by; /* "--as-of", "the clock of slurmdbd's database" */
    int64_t now;         /* the clock of this host */
    int64_t newest;      /* the latest time in the source; 0: it has none */
    const char *source;  /* "slurmdbd's database" */
    const zone_t *zone;  /* of the messages */
} as_of_t;

/* -1 with what is wrong and what to do. */
int as_of_check (const as_of_t *as_of, gl_error_t *error);

#endif /* !GL_AS_OF_H */
