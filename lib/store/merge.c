#include <string.h>

#include "base/array.h"
#include "store/merge.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* The fields: a field's number is its bit in stored masks. */
static const column_t *const fields = segment_columns + SEGMENT_MERGED;

#define MERGE_GRES                                                           \
    (SEGMENT_OWN + SEGMENT_PARTY_COUNT - SEGMENT_MERGED) /* first of a shape \
                                                          */

/* Of a field that is merged: gpu_asked among them is not. */
static bool known (const segment_t *s, size_t i)
{
    return fields[i].flags & COLUMN_MERGED && column_known (&fields[i], s);
}

static int compare_ranks (const merge_rank_t *a, const merge_rank_t *b)
{
    int order = COMPARE (a->seen, b->seen);

    if (order == 0)
        order = COMPARE (a->closed, b->closed);
    return order ? order : COMPARE (a->source, b->source);
}

static merge_rank_t rank_of (const segment_t *s)
{
    return (merge_rank_t){s->observed_at, s->time_end != 0, (uint8_t)s->source};
}

void merge_observe (observation_t *o, const segment_t *segment)
{
    o->segment = *segment;
    for (size_t i = 0; i < MERGE_FIELDS; i++)
        o->ranks[i] = rank_of (segment);
}

static void put_le (uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_le (const uint8_t *p, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

/* The known fields of the same rank as field `first`, from there on. */
static uint32_t group_mask (const observation_t *o, size_t first)
{
    uint32_t mask = 0;

    for (size_t i = first; i < MERGE_FIELDS; i++) {
        if (known (&o->segment, i)
            && compare_ranks (&o->ranks[i], &o->ranks[first]) == 0)
            mask |= UINT32_C (1) << i;
    }
    return mask;
}

/* A group is 8 bytes seen, 1 byte closed << 7 | source, 4 bytes mask, all
 * little-endian. */
size_t merge_pack (const observation_t *o, uint8_t fill[MERGE_FILL_MAX])
{
    merge_rank_t own = rank_of (&o->segment);
    uint32_t done = 0;
    size_t length = 0;

    for (size_t i = 0; i < MERGE_FIELDS; i++) {
        const merge_rank_t *rank = &o->ranks[i];
        uint8_t *p = fill + length;

        if ((done >> i & 1) || !known (&o->segment, i)
            || compare_ranks (rank, &own) == 0)
            continue;
        put_le (p, (uint64_t)rank->seen, 8);
        p[8] = (uint8_t)(rank->closed << 7 | rank->source);
        put_le (p + 9, group_mask (o, i), 4);
        done |= group_mask (o, i);
        length += MERGE_FILL_GROUP;
    }
    return length;
}

int merge_unpack (observation_t *o, const segment_t *segment, const void *fill,
                  size_t length)
{
    const uint8_t *p = fill;

    if (length % MERGE_FILL_GROUP != 0)
        return -1;
    merge_observe (o, segment);
    for (; length > 0; length -= MERGE_FILL_GROUP, p += MERGE_FILL_GROUP) {
        uint32_t mask = (uint32_t)get_le (p + 9, 4);
        for (size_t i = 0; i < MERGE_FIELDS; i++) {
            if (mask >> i & 1)
                o->ranks[i] = (merge_rank_t){(int64_t)get_le (p, 8), p[8] >> 7,
                                             p[8] & 0x7f};
        }
    }
    return 0;
}

/* The interval and the state, which go together. */
static merge_change_t merge_core (segment_t *s, const segment_t *other)
{
    merge_rank_t mine = rank_of (s), theirs = rank_of (other);
    int rank = compare_ranks (&theirs, &mine);
    int order = COMPARE (other->time_start, s->time_start);
    bool facts;

    if (order == 0)
        order = COMPARE (other->time_end, s->time_end);
    if (order == 0)
        order = COMPARE (other->state, s->state);
    /* while a segment is open it ends when it was last seen */
    facts = order != 0 || (s->time_end == 0 && theirs.seen != mine.seen);
    if (rank < 0 || (rank == 0 && order <= 0))
        return MERGE_SAME;
    s->time_start = other->time_start;
    s->time_end = other->time_end;
    s->observed_at = other->observed_at;
    s->state = other->state;
    s->source = other->source;
    return facts ? MERGE_FACTS : MERGE_RANKS;
}

static bool names_gres (const segment_t *s)
{
    return s->gres && s->gres[0];
}

/* Which of two views that know the field ranks higher. */
static int compare_views (const observation_t *a, const observation_t *b,
                          size_t i)
{
    int order = 0;

    if (i == MERGE_GRES)
        order = COMPARE (names_gres (&a->segment), names_gres (&b->segment));
    return order ? order : compare_ranks (&a->ranks[i], &b->ranks[i]);
}

static merge_change_t merge_field (observation_t *o, const observation_t *other,
                                   size_t i)
{
    bool fresh = !known (&o->segment, i);
    int rank, order;

    if (!known (&other->segment, i))
        return MERGE_SAME;
    rank = fresh ? 1 : compare_views (other, o, i);
    order
        = fresh ? 1 : column_compare (&fields[i], &other->segment, &o->segment);
    if (rank < 0 || (rank == 0 && order <= 0))
        return MERGE_SAME;
    column_copy (&fields[i], &o->segment, &other->segment);
    o->ranks[i] = other->ranks[i];
    return order ? MERGE_FACTS : MERGE_RANKS;
}

/* When the last view was seen that names no GRES; 0: there is none. */
static int64_t seen_without_gres (const observation_t *o)
{
    const segment_t *s = &o->segment;

    return s->gres && !s->gres[0] ? o->ranks[MERGE_GRES].seen : s->gres_lost;
}

/* Such a view is forgotten where a later one names GRES: no merge makes that
 * one earlier again. */
static merge_change_t merge_lost (observation_t *o, int64_t without)
{
    segment_t *s = &o->segment;
    int64_t before = s->gres_lost;
    bool lost = names_gres (s) && without > o->ranks[MERGE_GRES].seen;

    s->gres_lost = lost ? without : 0;
    if (s->gres_lost == before)
        return MERGE_SAME;
    return lost && before ? MERGE_RANKS : MERGE_FACTS;
}

merge_change_t merge_observations (observation_t *o, const observation_t *other)
{
    int64_t mine = seen_without_gres (o), theirs = seen_without_gres (other);
    merge_change_t change = merge_core (&o->segment, &other->segment), lost;

    for (size_t i = 0; i < MERGE_FIELDS; i++) {
        merge_change_t c = merge_field (o, other, i);
        if (c > change)
            change = c;
    }
    if (other->segment.gpu_asked && !o->segment.gpu_asked) {
        o->segment.gpu_asked = true;
        change = MERGE_FACTS;
    }
    lost = merge_lost (o, mine > theirs ? mine : theirs);
    return lost > change ? lost : change;
}

void merge_reread (observation_t *o, int64_t as_of)
{
    segment_t *s = &o->segment;

    for (size_t i = 0; i < MERGE_FIELDS; i++) {
        merge_rank_t *rank = &o->ranks[i];
        if (rank->seen == as_of && rank->source == SOURCE_SLURMDBD)
            rank->seen = as_of - MERGE_SET_BACK;
    }
    if (s->observed_at == as_of && s->source == SOURCE_SLURMDBD)
        s->observed_at = as_of - MERGE_SET_BACK;
    if (s->gres_lost == as_of)
        s->gres_lost = as_of - MERGE_SET_BACK + 1;
}

bool merge_fill_set_back (uint8_t *fill, size_t length, int64_t as_of)
{
    bool any = false;

    for (uint8_t *p = fill; length >= MERGE_FILL_GROUP;
         length -= MERGE_FILL_GROUP, p += MERGE_FILL_GROUP) {
        if ((int64_t)get_le (p, 8) <= as_of)
            continue;
        put_le (p, (uint64_t)(as_of - MERGE_SET_BACK), 8);
        any = true;
    }
    return any;
}

bool merge_keep_slurmdbd (observation_t *o)
{
    segment_t *s = &o->segment;

    if (s->source != SOURCE_SLURMDBD)
        return false;
    for (size_t i = 0; i < MERGE_FIELDS; i++)
        if (fields[i].flags & COLUMN_MERGED
            && o->ranks[i].source != SOURCE_SLURMDBD)
            column_forget (&fields[i], s);
    /* only slurmdbd loses GRES; the others named them */
    if (!s->gres && s->gres_lost) {
        s->gres = "";
        o->ranks[MERGE_GRES] = rank_of (s);
        s->gres_lost = 0;
    }
    return true;
}

bool merge_same_fields (const segment_t *a, const segment_t *b)
{
    return !GL_ANY (fields, MERGE_FIELDS, it, column_compare (it, a, b) != 0);
}
