#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "demand/changes.h"

/* Seconds whose changes are added up at a time. */
#define WINDOW 3600

struct key {
    int64_t by;
    uint64_t kind;
};

/* Instants at which the same is added. */
struct list {
    struct key key;
    uint32_t *at; /* seconds from the start */
    size_t count, size;
    size_t next; /* the first that was not read */
    UT_hash_handle hh;
};

struct changes {
    int64_t start;
    struct list *lists;
    bool reading;
    int64_t window; /* its first second, from the start */
    size_t place;   /* the next of its seconds */
    bool has[WINDOW]; /* changes that were not read */
    int64_t by[WINDOW][CHANGES_KINDS];
};

changes_t *changes_new (int64_t start)
{
    changes_t *c = xcalloc (1, sizeof (*c));

    c->start = start;
    return c;
}

void changes_free (changes_t *c)
{
    struct list *list, *next;

    if (!c)
        return;
    HASH_ITER (hh, c->lists, list, next)
    {
        HASH_DEL (c->lists, list);
        free (list->at);
        free (list);
    }
    free (c);
}

static struct list *list_of (changes_t *c, unsigned kind, int64_t by)
{
    const struct key key = {.by = by, .kind = kind};
    struct list *list;

    HASH_FIND (hh, c->lists, &key, sizeof (key), list);
    if (!list) {
        list = xcalloc (1, sizeof (*list));
        list->key = key;
        HASH_ADD (hh, c->lists, key, sizeof (key), list);
    }
    return list;
}

void changes_add (changes_t *c, int64_t at, unsigned kind, int64_t by)
{
    struct list *list = list_of (c, kind, by);

    if (list->count == list->size) {
        list->size = list->size ? list->size + list->size / 2 : 4;
        list->at = xreallocarray (list->at, list->size, sizeof (*list->at));
    }
    list->at[list->count++] = (uint32_t)(at - c->start);
}

/* --- in order ------------------------------------------------------------------ */

static int compare (const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void begin (changes_t *c)
{
    c->reading = true;
    c->window = -WINDOW;
    c->place = WINDOW;
    for (struct list *list = c->lists; list; list = list->hh.next)
        qsort (list->at, list->count, sizeof (*list->at), compare);
}

/* The least instant that was not read; false: all were. */
static bool least (const changes_t *c, uint32_t *ret_at)
{
    bool any = false;

    for (const struct list *list = c->lists; list; list = list->hh.next)
        if (list->next < list->count
            && (!any || list->at[list->next] < *ret_at)) {
            *ret_at = list->at[list->next];
            any = true;
        }
    return any;
}

/* The window that has the next change. */
static bool fill (changes_t *c)
{
    uint32_t first = 0;

    if (!least (c, &first))
        return false;
    c->window = first / WINDOW * (int64_t)WINDOW;
    c->place = 0;
    for (struct list *list = c->lists; list; list = list->hh.next)
        for (; list->next < list->count
               && list->at[list->next] < c->window + WINDOW;
             list->next++) {
            size_t place = (size_t)(list->at[list->next] - c->window);
            c->has[place] = true;
            c->by[place][list->key.kind] += list->key.by;
        }
    return true;
}

static void read_place (changes_t *c, int64_t ret_by[CHANGES_KINDS])
{
    memcpy (ret_by, c->by[c->place], sizeof (c->by[0]));
    memset (c->by[c->place], 0, sizeof (c->by[0]));
    c->has[c->place] = false;
}

bool changes_next (changes_t *c, int64_t *ret_at, int64_t ret_by[CHANGES_KINDS])
{
    if (!c->reading)
        begin (c);
    for (;;) {
        const bool *next = memchr (c->has + c->place, true, WINDOW - c->place);
        if (!next && !fill (c))
            return false;
        if (!next)
            continue;
        c->place = (size_t)(next - c->has);
        read_place (c, ret_by);
        *ret_at = c->start + c->window + (int64_t)c->place++;
        if (ret_by[0] != 0 || ret_by[1] != 0)
            return true;
    }
}
