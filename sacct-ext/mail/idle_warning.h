/*
 * idle_warning.h: the owner of a running job whose GPUs are idle is warned, or the site's
 * command is run for the job: each at most once in idle_jobs.again, recorded in the store
 * (store_mail_t, kinds "idle" and "idle_command"; the period is the day of submission).
 *
 * The record is written before. If gpuledger ends in between, the job counts as warned: a
 * command is never run twice for it in that time. What fails leaves no record.
 */
#ifndef GL_MAIL_IDLE_WARNING_H
#define GL_MAIL_IDLE_WARNING_H

#include "cli/cli.h"
#include "store/store.h"

typedef struct {
    const segment_t *segment;
    int64_t since, until; /* idle_jobs.h */
    uint64_t gpus;
} idle_warning_t;

typedef enum {
    IDLE_MAIL,
    IDLE_COMMAND,
} idle_action_t;

typedef enum {
    IDLE_TO_DO, /* it would be warned now */
    IDLE_DONE,
    IDLE_BEFORE,     /* it was warned less than `again` ago */
    IDLE_NO_ADDRESS, /* no user, or one whose name is no address */
    IDLE_FAILED,     /* which was reported */
} idle_outcome_t;

/* CLI_OK, or why this action is not possible, reported. */
int idle_warning_check (cli_t *cli, idle_action_t action);
/* `act`: else it is only said what would be done. `mbox`: a file for mail; NULL: it is
 * sent. -1 with an error: the store failed. */
int idle_warn (cli_t *cli, const idle_warning_t *warning, idle_action_t action,
               bool act, const char *mbox, int64_t now,
               idle_outcome_t *ret_outcome, gl_error_t *error);

#endif /* !GL_MAIL_IDLE_WARNING_H */
