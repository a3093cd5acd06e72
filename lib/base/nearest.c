#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define FARTHEST 2
#define LENGTH_MAX 64 /* longer words are near to nothing */

static size_t least (size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* "Vision" is a slip of the shift key, no other word. */
static bool same_letter (char a, char b)
{
    return a == b || tolower ((unsigned char)a) == tolower ((unsigned char)b);
}

/* row[k] is the distance of the first i bytes of `a` from the first k of `b`. */
static size_t distance (const char *a, const char *b)
{
    size_t m = strlen (a), n = strlen (b);
    size_t row[LENGTH_MAX + 1];

    if (m > LENGTH_MAX || n > LENGTH_MAX)
        return LENGTH_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t best = least (diagonal + !same_letter (a[i - 1], b[k - 1]),
                                 row[k] + 1, row[k - 1] + 1);
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[n];
}

void nearest_offer (nearest_t *nearest, const char *name)
{
    size_t d = distance (nearest->word, name);

    if (d > FARTHEST || d >= strlen (name)
        || (nearest->name && d >= nearest->distance))
        return;
    nearest->name = name;
    nearest->distance = d;
}
