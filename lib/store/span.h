/*
 * span.h: how long a segment took, in a few classes. The index of segments is
 * by class and end: what overlaps a period is then found whatever else took
 * months, because all of a class end within its length of where they begin.
 */
#ifndef GL_STORE_SPAN_H
#define GL_STORE_SPAN_H

#include "site/segment.h"

/* Stored: never renumber. */
enum {
    SPAN_LONGEST = 5, /* these took up to the cluster's longest */
    SPAN_OPEN = 6,    /* and what ends before it starts: found by no end */
    SPAN_NONE = 7,    /* ended without a start */
    SPAN_COUNT = 8,
};
/* In SQL: a condition on each class, so that the index finds them. */
#define SPAN_ALL "(0, 1, 2, 3, 4, 5, 6, 7)"

/* The seconds that those of a class below SPAN_LONGEST take at most. */
static inline int64_t span_most (unsigned span)
{
    static const int64_t most[SPAN_LONGEST]
        = {3600, 4 * 3600, 86400, 4 * 86400, 16 * 86400};

    return most[span];
}

static inline unsigned span_of (int64_t time_start, int64_t time_end)
{
    unsigned span = 0;

    if (time_end == 0)
        return SPAN_OPEN;
    if (time_start == 0)
        return SPAN_NONE;
    if (time_end < time_start)
        return SPAN_OPEN;
    while (span < SPAN_LONGEST && time_end - time_start > span_most (span))
        span++;
    return span;
}

#endif /* !GL_STORE_SPAN_H */
