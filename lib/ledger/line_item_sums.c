#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ledger/line_item_sums.h"

/* Where the sum of a key lies. */
struct place {
    char *key;
    size_t index;
    UT_hash_handle hh;
};

struct line_item_sums {
    const zone_t *zone;
    line_item_sums_f wants;
    void *arg;
    int64_t start; /* of the first day */
    char first[ZONE_STAMP_SIZE];
    bool settled; /* no day of the month is before it */
    line_item_sum_t *sum;
    size_t count;
    size_t size;
    struct place *places;
    buffer_t key;
};

line_item_sums_t *line_item_sums_new (const zone_t *zone,
                                      line_item_sums_f wants, void *arg)
{
    line_item_sums_t *s = xcalloc (1, sizeof (*s));

    s->zone = zone;
    s->wants = wants;
    s->arg = arg;
    return s;
}

static void sum_clear (line_item_sum_t *sum)
{
    free (sum->day);
    free (sum->team);
    free (sum->account);
    free (sum->project);
    free (sum->pool);
    mpq_clear (sum->gpu_seconds);
    mpz_clear (sum->billed);
}

void line_item_sums_free (line_item_sums_t *s)
{
    struct place *place, *next;

    if (!s)
        return;
    HASH_ITER (hh, s->places, place, next)
    {
        HASH_DEL (s->places, place);
        free (place->key);
        free (place);
    }
    for (size_t i = 0; i < s->count; i++)
        sum_clear (&s->sum[i]);
    free (s->sum);
    buffer_done (&s->key);
    free (s);
}

static void add_part (buffer_t *key, const char *text)
{
    buffer_add_text (key, text ? text : "\001");
    buffer_add_char (key, '\n');
}

static line_item_sum_t *add_sum (line_item_sums_t *s, const line_item_t *row)
{
    char day[ZONE_STAMP_SIZE];
    line_item_sum_t *sum;

    if (s->count == s->size) {
        s->size = s->size * 2 + 64;
        s->sum = xreallocarray (s->sum, s->size, sizeof (*s->sum));
    }
    sum = &s->sum[s->count++];
    sum->day
        = xstrdup (zone_unit_name (s->zone, CALENDAR_DAY, row->start, day));
    sum->team = xstrdup (row->team);
    sum->account = xstrdup (row->account);
    sum->project = xstrdup (row->project);
    sum->pool = xstrdup (row->pool);
    mpq_init (sum->gpu_seconds);
    mpz_init (sum->billed);
    return sum;
}

static line_item_sum_t *find_sum (line_item_sums_t *s, const line_item_t *row)
{
    struct place *place;

    buffer_clear (&s->key);
    buffer_add (&s->key, &row->start, sizeof (row->start));
    add_part (&s->key, row->team);
    add_part (&s->key, row->account);
    add_part (&s->key, row->project);
    add_part (&s->key, row->pool);
    HASH_FIND (hh, s->places, s->key.data, s->key.length, place);
    if (place)
        return &s->sum[place->index];
    place = xcalloc (1, sizeof (*place));
    place->key = memcpy (xmalloc (s->key.length), s->key.data, s->key.length);
    place->index = s->count;
    HASH_ADD_KEYPTR (hh, s->places, place->key, s->key.length, place);
    return add_sum (s, row);
}

static void take_first (line_item_sums_t *s, int64_t start)
{
    if (s->first[0] && start >= s->start)
        return;
    s->start = start;
    zone_unit_name (s->zone, CALENDAR_DAY, start, s->first);
    s->settled = zone_unit (s->zone, CALENDAR_MONTH, start).start == start;
}

static bool is_wanted (const line_item_sums_t *s, const line_item_t *row)
{
    return s->wants (row->team, row->project, row->account, row->pool, s->arg);
}

/* Where days begin is read of rows that nobody wants only until that is
 * settled. */
static bool is_read (const line_item_t *row, void *arg)
{
    const line_item_sums_t *s = arg;

    return row->kind == LINE_ITEM_JOB && (!s->settled || is_wanted (s, row));
}

static const size_t row_keys[]
    = {LINE_ITEM_FIELD (team), LINE_ITEM_FIELD (pool),
       LINE_ITEM_FIELD (account), LINE_ITEM_FIELD (project), 0};
static const size_t row_fields[]
    = {LINE_ITEM_FIELD (start), LINE_ITEM_FIELD (gpu_seconds),
       LINE_ITEM_FIELD (billed), 0};
const line_item_want_t line_item_sums_want = {row_keys, is_read, row_fields};

void line_item_sums_add (line_item_sums_t *s, const line_item_t *row)
{
    line_item_sum_t *sum;

    if (row->kind != LINE_ITEM_JOB)
        return;
    take_first (s, row->start);
    if (!is_wanted (s, row))
        return;
    sum = find_sum (s, row);
    mpq_add (sum->gpu_seconds, sum->gpu_seconds, row->gpu_seconds);
    mpz_add (sum->billed, sum->billed, row->billed);
}

const line_item_sum_t *line_item_sums (const line_item_sums_t *s,
                                       size_t *ret_count)
{
    *ret_count = s->count;
    return s->sum;
}

const char *line_item_sums_first (const line_item_sums_t *s)
{
    return s->first[0] ? s->first : NULL;
}
