#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_inputs.h"

cost_use_t *cost_inputs_add (cost_inputs_t *inputs, const char *pool,
                             period_t period)
{
    cost_use_t *use;

    inputs->use = xreallocarray (inputs->use, inputs->count + 1,
                                 sizeof (*inputs->use));
    use = &inputs->use[inputs->count++];
    *use = (cost_use_t){.pool = pool, .period = period};
    mpq_inits (use->allocated, use->capacity, use->energy_seconds, NULL);
    return use;
}

void cost_inputs_clear (cost_inputs_t *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        mpq_clears (inputs->use[i].allocated, inputs->use[i].capacity,
                    inputs->use[i].energy_seconds, NULL);
    free (inputs->use);
    load_profile_clear (&inputs->load);
    *inputs = (cost_inputs_t){.count = 0};
}

static void quantity (const cost_use_t *use, use_t what, mpq_t ret_quantity)
{
    switch (what) {
    case USE_ALLOCATED:
        mpq_set (ret_quantity, use->allocated);
        break;
    case USE_CAPACITY:
        mpq_set (ret_quantity, use->capacity);
        break;
    case USE_JOBS:
        exact_set_i64 (ret_quantity, (int64_t)use->jobs, 1);
        break;
    }
}

void cost_inputs_sum (const cost_inputs_t *inputs, const char *pool,
                      period_t period, use_t what, mpq_t ret_sum)
{
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (ret_sum, 0, 1);
    for (size_t i = 0; inputs && i < inputs->count; i++) {
        const cost_use_t *use = &inputs->use[i];
        int64_t seconds = period_seconds (period_clip (period, use->period));
        if (seconds == 0 || strcmp (use->pool, pool) != 0)
            continue;
        quantity (use, what, one);
        exact_add_scaled (ret_sum, one, seconds, period_seconds (use->period));
    }
    mpq_clear (one);
}
