#include "generate.h"

/* --- chance ------------------------------------------------------------- */

uint64_t number (month_t *m)
{
    m->random ^= m->random >> 12;
    m->random ^= m->random << 25;
    m->random ^= m->random >> 27;
    return m->random * 2685821657736338717U >> 11;
}

uint64_t pick (month_t *m, uint64_t count)
{
    return number (m) % count;
}

bool chance (month_t *m, unsigned percent)
{
    return pick (m, 100) < percent;
}

/* Often a midnight of some zone, or a second beside it. */
int64_t moment (month_t *m, int64_t from, int64_t to)
{
    int64_t at = from + (int64_t)pick (m, (uint64_t)(to - from));

    if (chance (m, 10))
        at = truth_midnight (m->truth, number (m), at) + (int64_t)pick (m, 3)
             - 1;
    return at >= from && at < to ? at : from;
}

int64_t some_length (month_t *m)
{
    unsigned kind = (unsigned)pick (m, 100);

    if (kind < 3)
        return 0;
    if (kind < 10)
        return 1 + (int64_t)pick (m, 59);
    if (kind < 14)
        return 5 * DAY + (int64_t)pick (m, 40 * DAY);
    if (kind < 30)
        return DAY / 2 + (int64_t)pick (m, 4 * DAY);
    return 60 + (int64_t)pick (m, 20000);
}
