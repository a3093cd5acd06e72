/*
 * merge.h: how several observations of one segment become one. Pure; the rule
 * is in store.h.
 *
 * Each field carries the rank of the observation it comes from, and merging
 * takes, field by field, the maximum of (rank, value): commutative,
 * associative, idempotent. Almost every field has the rank of the segment
 * itself; the exceptions are packed into a few bytes of the row.
 *
 * GRES are ranked by whether any are named first: a view that names none never
 * replaces one that names some, however late it is seen
 * (docs/decisions/lost-gres.md). That the last view names none is kept as
 * segment_t.gres_lost, which is a maximum as well.
 */
#ifndef GL_STORE_MERGE_H
#define GL_STORE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/segment.h"
#include "store/segment_row.h"

typedef struct {
    int64_t seen;
    uint8_t closed;
    uint8_t source;
} merge_rank_t;

/* The fields that are merged one by one: store/segment_row.h. */
#define MERGE_FIELDS (SEGMENT_COLUMNS - SEGMENT_MERGED)
_Static_assert(MERGE_FIELDS <= 32, "a field is a bit of a mask");

typedef struct {
    segment_t segment;                /* strings borrowed */
    merge_rank_t ranks[MERGE_FIELDS]; /* of the fields that are known */
} observation_t;

/* One source's view: every field has the rank of the segment. */
void merge_observe (observation_t *o, const segment_t *segment);

/* The exceptions as bytes, at most MERGE_FILL_MAX; returns how many. */
#define MERGE_FILL_GROUP 13
#define MERGE_FILL_MAX (MERGE_FIELDS * MERGE_FILL_GROUP)
size_t merge_pack (const observation_t *o, uint8_t fill[MERGE_FILL_MAX]);
/* A stored segment with its exceptions; bytes of a wrong length are damage:
 * -1. */
int merge_unpack (observation_t *o, const segment_t *segment, const void *fill,
                  size_t length);

/* slurmdbd is read again as of the same moment: the earlier reading ranks below
 * the new one. */
void merge_reread (observation_t *o, int64_t as_of);
/* Exceptions observed after `as_of` rank as if observed just before it. True if
 * there are any. */
bool merge_fill_set_back (uint8_t *fill, size_t length, int64_t as_of);
/* Reduces the segment to its data from slurmdbd. False: slurmdbd does not say
 * when it ran. */
bool merge_keep_slurmdbd (observation_t *o);
/* Where set back: so far before the moment; a view without GRES is one second
 * later, so that it is still the later one. */
#define MERGE_SET_BACK 2

/* Whether two segments agree in the fields that are merged one by one, unknown ones
 * included. */
bool merge_same_fields (const segment_t *a, const segment_t *b);

/* The effect of a merge: nothing, only ranks, or facts. */
typedef enum {
    MERGE_SAME,
    MERGE_RANKS,
    MERGE_FACTS,
} merge_change_t;

/* Merge `other` into `o`; strings of `o` may afterwards be those of `other`. */
merge_change_t merge_observations (observation_t *o,
                                   const observation_t *other);

#endif /* !GL_STORE_MERGE_H */
