/*
 * segment_row.h: the columns of a segment: its own, and those that it shares
 * with others as a party (who and where) and as a shape (which GPUs it asked
 * for and got). Time limit, CPUs and memory are its own: a busy site has more
 * combinations of them than a cache of shapes would hold.
 */
#ifndef GL_STORE_SEGMENT_ROW_H
#define GL_STORE_SEGMENT_ROW_H

#include "store/row.h"

struct segment_row {
    segment_t segment;
    uint32_t span;    /* span.h */
    const void *fill; /* merge.h; NULL: all fields come from one source */
    size_t fill_length;
    int64_t gone; /* since when slurmdbd no longer has it; 0: it has it */
};

/* The places of columns. From the first of SEGMENT_MERGED on they can be
 * unknown, and observations of one segment are merged column by column. */
enum {
    SEGMENT_ID_JOB = 1,
    SEGMENT_TIME_SEEN = 5,
    SEGMENT_SHAPE = 9,
    SEGMENT_GRES_LOST = 11,
    SEGMENT_FILL,
    SEGMENT_GONE,
    SEGMENT_MERGED,
    SEGMENT_OWN = 29, /* behind these: the party, the shape */
    SEGMENT_PARTY_COUNT = 7,
    SEGMENT_SHAPE_COUNT = 4,
    SEGMENT_COLUMNS = SEGMENT_OWN + SEGMENT_PARTY_COUNT + SEGMENT_SHAPE_COUNT,
};
extern const column_t segment_columns[SEGMENT_COLUMNS];
extern const row_type_t segment_rows;

#endif /* !GL_STORE_SEGMENT_ROW_H */
