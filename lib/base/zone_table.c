#include "base/array.h"
#include "base/memory.h"
#include "base/zone.h"
#include "base/zone_table.h"

/* The span of a table: from the epoch to 2100-01-01. */
#define FIRST_INSTANT 0

void zone_table_add (zone_table_t *t, int64_t instant, int offset)
{
    if (instant >= INSTANT_END)
        return;
    if (instant < FIRST_INSTANT)
        instant = FIRST_INSTANT;
    if (t->count > 0 && t->change[t->count - 1].instant >= instant)
        t->count--;
    if (t->count > 0 && t->change[t->count - 1].offset == offset)
        return;
    *GL_APPEND (t->change, t->count) = (zone_change_t){instant, offset};
}
