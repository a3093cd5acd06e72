/* The steps of gpuledger setup on the accounting host. */
#include "base/memory.h"
#include "doctor/doctor.h"

/* A store that an option names is no host's. */
static bool is_set_up (const doctor_t *d)
{
    return d->here && !d->cli->store_url;
}

doctor_state_t doctor_look_step (doctor_t *d, const setup_step_t *step,
                                 buffer_t *finding)
{
    static const doctor_state_t states[] = {
        [SETUP_DONE] = DOCTOR_OK,
        [SETUP_TO_DO] = DOCTOR_WARN,
        [SETUP_WAITING] = DOCTOR_WARN,
        [SETUP_UNNEEDED] = DOCTOR_SKIPPED,
    };

    if (!is_set_up (d))
        return doctor_say (finding, DOCTOR_SKIPPED,
                           "no store of this host: not the accounting host");
    if (!d->setup) {
        d->setup = xcalloc (1, sizeof (*d->setup));
        setup_look_only (d->setup, d->cli);
    }
    return states[step->look (d->setup, finding)];
}
