/* doctor_private.h: what the checks of the accounting host share. */
#ifndef GL_DOCTOR_PRIVATE_H
#define GL_DOCTOR_PRIVATE_H

#include "base/zone.h"
#include "doctor/doctor.h"

/* Names, the first few of them. */
typedef struct {
    buffer_t text;
    size_t count;
} doctor_names_t;
void doctor_add_name (doctor_names_t *names, const char *name);

/* True: the check cannot be made without a store, and *finding says why. */
bool doctor_no_store (doctor_t *doctor, buffer_t *finding,
                      doctor_state_t *ret_state);

/* Leaves a check that needs the store where there is none. */
#define DOCTOR_NEED_STORE(d, finding)               \
    do {                                            \
        doctor_state_t skipped;                     \
        if (doctor_no_store (d, finding, &skipped)) \
            return skipped;                         \
    } while (0)

/* The last complete month before the newest fact. 0: the store is empty. */
int doctor_last_month (doctor_t *doctor, period_t *ret_period,
                       gl_error_t *error);

/* doctor_anchor.c */
doctor_state_t doctor_look_anchor (doctor_t *doctor, buffer_t *finding);
/* doctor_accounts.c */
doctor_state_t doctor_look_accounts (doctor_t *doctor, buffer_t *finding);
doctor_state_t doctor_look_teams (doctor_t *doctor, buffer_t *finding);
doctor_state_t doctor_look_names (doctor_t *doctor, buffer_t *finding);
/* doctor_mail.c */
doctor_state_t doctor_look_mail (doctor_t *doctor, buffer_t *finding);
/* doctor_cut.c */
doctor_state_t doctor_look_layout (doctor_t *doctor, buffer_t *finding);
doctor_state_t doctor_look_shards (doctor_t *doctor, buffer_t *finding);
doctor_state_t doctor_look_energy (doctor_t *doctor, buffer_t *finding);

#endif /* !GL_DOCTOR_PRIVATE_H */
