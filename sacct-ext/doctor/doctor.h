/*
 * doctor.h: one table of checks: what, how it is, how to mend it.
 *
 * A check is one row of a table and one function, which looks and writes one
 * line. It changes nothing. Where it does not apply it is skipped and says why;
 * what it cannot find out is unknown, which is neither good nor bad.
 */
#ifndef GL_DOCTOR_H
#define GL_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "setup/setup.h"

typedef enum {
    DOCTOR_OK,
    DOCTOR_WARN, /* works, but look */
    DOCTOR_FAIL,
    DOCTOR_UNKNOWN,
    DOCTOR_SKIPPED,
} doctor_state_t;

/* What checks share; looked up when first needed. */
typedef struct doctor {
    cli_t *cli;
    int64_t now;
    const char *spool;
    const char *plugstack;      /* --plugstack; NULL: as Slurm says */
    const char *config_problem; /* of the configuration; NULL: it loads */
    const char *store_problem;  /* NULL: it opens */
    bool here;                  /* a store is to be here */
    char *slurm;                /* of `scontrol show config`; NULL: not asked */
    char *nodes;                /* of `scontrol show node` */
    const char *slurm_problem;  /* why there is no answer; NULL: there is */
    bool slurm_missing;         /* no scontrol on this host */
    setup_t *setup;             /* of doctor_look_step(); NULL: not read */
} doctor_t;

typedef doctor_state_t (*doctor_look_f) (doctor_t *doctor, buffer_t *finding);

typedef struct {
    const char *name; /* "node.spool" */
    const char *what; /* what is right */
    doctor_look_f look;
    const char *mend;
} doctor_check_t;

/* Tables that end with a row of NULLs. */
extern const doctor_check_t doctor_node_checks[];
extern const doctor_check_t doctor_slurm_checks[];
extern const doctor_check_t doctor_host_checks[];

/* "ok", "warn", ... */
const char *doctor_state_name (doctor_state_t state);

/* Whether a step of the accounting host is done. */
doctor_state_t doctor_look_step (doctor_t *doctor, const setup_step_t *step,
                                 buffer_t *finding);

/* program_run() (program.h) without input. */
char *doctor_run (const char *const *argv, gl_error_t *error);

/* Slurm's configuration and nodes; false: there is none, `finding` and *ret_
 * state say why. */
bool doctor_ask_slurm (doctor_t *doctor, buffer_t *finding,
                       doctor_state_t *ret_state);
/* The value of a line "KEY = VALUE" of the configuration, yours; NULL: no such
 * line. */
char *doctor_slurm_value (const doctor_t *doctor, const char *key);

#endif /* !GL_DOCTOR_H */
