#include <string.h>

#include "base/memory.h"
#include "store/merge.h"

enum kind {
    TEXT,      /* unknown: NULL */
    INTEGER,   /* int64_t; unknown: SECONDS_UNKNOWN */
    COUNT,     /* uint64_t; unknown: COUNT_UNKNOWN */
    IDENTITY,  /* uint64_t; unknown: 0 */
    SMALL,     /* uint32_t; unknown: UINT32_MAX */
    RESTARTS,  /* int32_t; unknown: -1 */
};

#define GRES_FIELD 12

/* The position of a field is its bit in stored masks: only ever append. */
static const struct field {
    enum kind kind;
    size_t offset;
} fields[MERGE_FIELDS] = {
    {INTEGER, offsetof (segment_t, suspended)},
    {INTEGER, offsetof (segment_t, time_limit)},
    {TEXT, offsetof (segment_t, user)},
    {SMALL, offsetof (segment_t, uid)},
    {TEXT, offsetof (segment_t, account)},
    {TEXT, offsetof (segment_t, partition)},
    {TEXT, offsetof (segment_t, qos)},
    {TEXT, offsetof (segment_t, wckey)},
    {TEXT, offsetof (segment_t, reservation)},
    {TEXT, offsetof (segment_t, nodelist)},
    {TEXT, offsetof (segment_t, job_name)},
    {TEXT, offsetof (segment_t, admin_comment)},
    [GRES_FIELD] = {TEXT, offsetof (segment_t, gres)},
    {TEXT, offsetof (segment_t, gres_requested)},
    {COUNT, offsetof (segment_t, cpus)},
    {COUNT, offsetof (segment_t, memory_mb)},
    {COUNT, offsetof (segment_t, nodes)},
    {IDENTITY, offsetof (segment_t, array_job)},
    {SMALL, offsetof (segment_t, array_task)},
    {IDENTITY, offsetof (segment_t, het_job)},
    {SMALL, offsetof (segment_t, het_offset)},
    {IDENTITY, offsetof (segment_t, job_db_inx)},
    {RESTARTS, offsetof (segment_t, restart_count)},
    {IDENTITY, offsetof (segment_t, sluid)},
};

static const void *at (const segment_t *s, const struct field *f)
{
    return (const char *)s + f->offset;
}

static bool known (const segment_t *s, const struct field *f)
{
    const void *p = at (s, f);

    switch (f->kind) {
    case TEXT:
        return *(const char *const *)p != NULL;
    case INTEGER:
        return *(const int64_t *)p != SECONDS_UNKNOWN;
    case COUNT:
        return *(const uint64_t *)p != COUNT_UNKNOWN;
    case IDENTITY:
        return *(const uint64_t *)p != 0;
    case SMALL:
        return *(const uint32_t *)p != UINT32_MAX;
    case RESTARTS:
        return *(const int32_t *)p >= 0;
    }
    return false;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_values (const segment_t *a, const segment_t *b,
                           const struct field *f)
{
    const void *p = at (a, f), *q = at (b, f);

    switch (f->kind) {
    case TEXT:
        return strcmp (*(const char *const *)p, *(const char *const *)q);
    case INTEGER:
        return COMPARE (*(const int64_t *)p, *(const int64_t *)q);
    case COUNT:
    case IDENTITY:
        return COMPARE (*(const uint64_t *)p, *(const uint64_t *)q);
    case SMALL:
        return COMPARE (*(const uint32_t *)p, *(const uint32_t *)q);
    case RESTARTS:
        return COMPARE (*(const int32_t *)p, *(const int32_t *)q);
    }
    return 0;
}

static void copy_value (segment_t *to, const segment_t *from,
                        const struct field *f)
{
    static const size_t sizes[] = {
        [TEXT] = sizeof (char *),       [INTEGER] = sizeof (int64_t),
        [COUNT] = sizeof (uint64_t),    [IDENTITY] = sizeof (uint64_t),
        [SMALL] = sizeof (uint32_t),    [RESTARTS] = sizeof (int32_t),
    };

    memcpy ((char *)to + f->offset, at (from, f), sizes[f->kind]);
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
    return (merge_rank_t){s->time_seen, s->time_end != 0, (uint8_t)s->source};
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
        if (known (&o->segment, &fields[i])
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

        if ((done >> i & 1) || !known (&o->segment, &fields[i])
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
    s->time_seen = other->time_seen;
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

    if (i == GRES_FIELD)
        order = COMPARE (names_gres (&a->segment), names_gres (&b->segment));
    return order ? order : compare_ranks (&a->ranks[i], &b->ranks[i]);
}

static merge_change_t merge_field (observation_t *o, const observation_t *other,
                                   size_t i)
{
    const struct field *f = &fields[i];
    bool fresh = !known (&o->segment, f);
    int rank, order;

    if (!known (&other->segment, f))
        return MERGE_SAME;
    rank = fresh ? 1 : compare_views (other, o, i);
    order = fresh ? 1 : compare_values (&other->segment, &o->segment, f);
    if (rank < 0 || (rank == 0 && order <= 0))
        return MERGE_SAME;
    copy_value (&o->segment, &other->segment, f);
    o->ranks[i] = other->ranks[i];
    return order ? MERGE_FACTS : MERGE_RANKS;
}

/* When the last view was seen that names no GRES; 0: there is none. */
static int64_t seen_without_gres (const observation_t *o)
{
    const segment_t *s = &o->segment;

    return s->gres && !s->gres[0] ? o->ranks[GRES_FIELD].seen : s->gres_lost;
}

/* Such a view is forgotten where a later one names GRES: no merge makes that
 * one earlier again. */
static merge_change_t merge_lost (observation_t *o, int64_t without)
{
    segment_t *s = &o->segment;
    int64_t before = s->gres_lost;
    bool lost = names_gres (s) && without > o->ranks[GRES_FIELD].seen;

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
    if (s->time_seen == as_of && s->source == SOURCE_SLURMDBD)
        s->time_seen = as_of - MERGE_SET_BACK;
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

static void set_unknown (segment_t *s, const struct field *f)
{
    void *p = (char *)s + f->offset;

    switch (f->kind) {
    case TEXT:
        *(const char **)p = NULL;
        break;
    case INTEGER:
        *(int64_t *)p = SECONDS_UNKNOWN;
        break;
    case COUNT:
        *(uint64_t *)p = COUNT_UNKNOWN;
        break;
    case IDENTITY:
        *(uint64_t *)p = 0;
        break;
    case SMALL:
        *(uint32_t *)p = UINT32_MAX;
        break;
    case RESTARTS:
        *(int32_t *)p = -1;
        break;
    }
}

bool merge_keep_slurmdbd (observation_t *o)
{
    segment_t *s = &o->segment;

    if (s->source != SOURCE_SLURMDBD)
        return false;
    for (size_t i = 0; i < MERGE_FIELDS; i++)
        if (o->ranks[i].source != SOURCE_SLURMDBD)
            set_unknown (s, &fields[i]);
    /* only slurmdbd loses GRES; the others named them */
    if (!s->gres && s->gres_lost) {
        s->gres = "";
        o->ranks[GRES_FIELD] = rank_of (s);
        s->gres_lost = 0;
    }
    return true;
}

bool merge_same_fields (const segment_t *a, const segment_t *b)
{
    for (size_t i = 0; i < MERGE_FIELDS; i++) {
        const struct field *f = &fields[i];
        if (known (a, f) != known (b, f)
            || (known (a, f) && compare_values (a, b, f) != 0))
            return false;
    }
    return a->gpu_asked == b->gpu_asked;
}
