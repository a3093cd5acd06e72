#include <config.h>

#include "devices/device.h"
#include "energy.h"

bool energy_plausible (int64_t difference, int64_t ms, int64_t power_limit)
{
    int64_t limit = power_limit > 0 ? power_limit : ENERGY_LIMIT_UNKNOWN;

    /* mW x ms are microjoules */
    return difference >= 0
           && (__int128)difference * 2000
                  <= (__int128)limit * (ms + ENERGY_SLACK_MS) * 3;
}

int64_t energy_until (int64_t total, int64_t elapsed, int64_t whole)
{
    return (int64_t)((__int128)total * elapsed / whole);
}

/* The largest remainder that has not been served, ties to the lower index. */
static size_t next_largest (const int64_t *remainders, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++) {
        if (remainders[i] > remainders[best])
            best = i;
    }
    return best;
}

bool energy_divide (int64_t total, const int64_t *weights, size_t count,
                    int64_t *ret_parts)
{
    int64_t remainders[DEVICES_MAX + 1], sum = 0, left = total;

    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    if (sum == 0 || count > DEVICES_MAX + 1)
        return false;
    for (size_t i = 0; i < count; i++) {
        __int128 product = (__int128)total * weights[i];
        ret_parts[i] = (int64_t)(product / sum);
        remainders[i] = (int64_t)(product % sum);
        left -= ret_parts[i];
    }
    for (; left > 0; left--) {
        size_t i = next_largest (remainders, count);
        ret_parts[i]++;
        remainders[i] = -1;
    }
    return true;
}
