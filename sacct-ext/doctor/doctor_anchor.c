/* The store against the hashes that were anchored outside of it. */
#include "doctor/doctor_private.h"
#include "month/anchor.h"

struct differences {
    buffer_t *finding;
    doctor_state_t state;
};

static void see_difference (const char *sentence, bool bad, void *arg)
{
    struct differences *d = arg;

    if (bad || d->state == DOCTOR_OK)
        d->state = bad ? DOCTOR_FAIL : DOCTOR_WARN;
    buffer_printf (d->finding, "%s%s", d->finding->length ? "; " : "",
                   sentence);
}

doctor_state_t doctor_look_anchor (doctor_t *d, buffer_t *finding)
{
    struct differences found = {finding, DOCTOR_OK};
    gl_error_t error;
    size_t lines;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site || !d->cli->site->close.anchor)
        return buffer_say (finding, DOCTOR_SKIPPED, "close.anchor is not set");
    if (anchor_check (d->cli->store, &d->cli->site->close, see_difference,
                      &found, &lines, &error)
        < 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    if (found.state == DOCTOR_OK)
        buffer_printf (finding, "%zu anchor%s", lines, lines == 1 ? "" : "s");
    return found.state;
}
