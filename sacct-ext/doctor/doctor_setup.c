/* The steps of gpuledger setup on the accounting host. */
#include "base/memory.h"
#include "doctor/doctor.h"

/* A store that an option names is no host's. */
static bool is_set_up (const doctor_t *d)
{
    return d->here && !d->cli->store_url;
}

/* A finding is one line. */
static void add_line (buffer_t *out, const char *lines)
{
    for (; *lines; lines++)
        if (*lines == '\n')
            buffer_add_text (out, ", ");
        else
            buffer_add_char (out, *lines);
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
    BUFFER_AUTO lines = BUFFER_INIT;
    doctor_state_t state;

    if (!is_set_up (d))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no store of this host: not the accounting host");
    if (!d->setup) {
        d->setup = xcalloc (1, sizeof (*d->setup));
        setup_look_only (d->setup, d->cli);
    }
    state = states[step->look (d->setup, &lines)];
    add_line (finding, buffer_text (&lines));
    return state;
}
