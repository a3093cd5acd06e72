#include <config.h>

#include "cut.h"

bool cut_at (int64_t ms, int64_t cut_ms)
{
    return ms % cut_ms == 0;
}

int64_t cut_next (int64_t ms, int64_t cut_ms)
{
    return (ms / cut_ms + 1) * cut_ms;
}

int64_t cut_looks (int64_t begin, int64_t end, int64_t interval_ms)
{
    return end / interval_ms - begin / interval_ms;
}
