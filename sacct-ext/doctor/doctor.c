#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/program.h"

const char *doctor_state_name (doctor_state_t state)
{
    static const char *const names[] = {
        [DOCTOR_OK] = "ok",           [DOCTOR_WARN] = "warn",
        [DOCTOR_FAIL] = "fail",       [DOCTOR_UNKNOWN] = "unknown",
        [DOCTOR_SKIPPED] = "skipped",
    };

    return names[state];
}

/* --- other programs ---------------------------------------------------- */

char *doctor_run (const char *const *argv, gl_error_t *error)
{
    return program_run (&(program_t){.argv = argv, .input = -1}, error);
}

/* --- Slurm ------------------------------------------------------------- */

static void ask_slurm (doctor_t *d)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    static const char *const nodes[] = {"scontrol", "show", "node", NULL};
    gl_error_t error = {""};

    if (!program_exists ("scontrol")) {
        d->slurm_missing = true;
        d->slurm_problem = "scontrol is not on this host";
        return;
    }
    d->slurm = doctor_run (config, &error);
    if (d->slurm)
        d->nodes = doctor_run (nodes, &error);
    if (!d->slurm || !d->nodes)
        d->slurm_problem = xstrdup (error.text);
}

bool doctor_ask_slurm (doctor_t *d, buffer_t *finding,
                       doctor_state_t *ret_state)
{
    if (!d->slurm && !d->slurm_problem)
        ask_slurm (d);
    if (!d->slurm_problem)
        return true;
    *ret_state = buffer_say (finding,
                             d->slurm_missing ? DOCTOR_SKIPPED : DOCTOR_UNKNOWN,
                             "%s", d->slurm_problem);
    return false;
}

char *doctor_slurm_value (const doctor_t *d, const char *key)
{
    size_t length = strlen (key);

    for (const char *line = d->slurm; line && *line;) {
        size_t end = strcspn (line, "\n");
        const char *at = line + length;
        if (end > length && strncasecmp (line, key, length) == 0
            && (*at == ' ' || *at == '=')) {
            at += strspn (at, " =");
            return xstrndup (at, (size_t)(line + end - at));
        }
        line += end + (line[end] == '\n');
    }
    return NULL;
}
