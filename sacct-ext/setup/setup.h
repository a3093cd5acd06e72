/*
 * setup.h: one table of steps, from installed packages to the first usage report.
 *
 * A step is a row: its name, a sentence, and three functions. look() says whether it is
 * done and changes nothing; make() does it; undo() undoes what make() did on this
 * host, and nothing else (setup/made.h). `gpuledger doctor` runs look() of the steps
 * that no other check of it proves.
 *
 * There are three kinds of hosts: the accounting host, nodes, and login hosts.
 */
#ifndef GL_SETUP_H
#define GL_SETUP_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/cli.h"
#include "setup/change.h"
#include "setup/found_pools.h"
#include "setup/slurm_conf.h"

typedef enum {
    SETUP_DONE,
    SETUP_TO_DO,
    SETUP_WAITING,  /* for another step, or for something outside this host */
    SETUP_UNNEEDED, /* does not apply on this host */
} setup_state_t;

/* What make() and undo() did. */
typedef enum {
    SETUP_FAILED = -1,
    SETUP_MADE,
    SETUP_YOURS, /* the administrator has to do something: the finding says what */
} setup_result_t;

/* The answers: from options, from questions, or defaults. NULL: none. */
typedef struct {
    const char *cluster;
    const char *slurmdb; /* URL of slurmdbd's database */
    const char *timezone;
    const char *currency;
    const char *collector; /* HOST[,HOST...], on nodes and login hosts */
} setup_answers_t;

typedef struct {
    setup_answers_t answers;
    const char *slurm_conf;    /* --slurm-conf; NULL: the usual place */
    const char *slurmdbd_conf; /* --slurmdbd-conf */
    const char *sql_host;      /* host of the database accounts */
    const char *plugstack;
    const char *root; /* --root: this is an image; NULL: a host */
    bool yes;
    bool dry_run;
    bool remove;
    bool run_sql;
} setup_options_t;

typedef struct setup {
    cli_t *cli;
    setup_options_t options;
    char **own; /* texts that belong to this */
    size_t own_count;
    slurm_conf_t *slurm;    /* NULL: not found */
    slurm_conf_t *slurmdbd; /* NULL likewise */
    found_pools_t found;
    struct site
        *site; /* the configuration as it is now; NULL: it does not load */
    char *site_problem;
    const char *store_url; /* for `ledger.store`; NULL: nothing */
    changes_t changes;
    text_list_t sql_files; /* handed to the administrator in this run */
} setup_t;

typedef struct {
    const char *name;     /* "user" */
    const char *sentence; /* what is so when it is done */
    setup_state_t (*look) (setup_t *setup, buffer_t *finding);
    setup_result_t (*make) (setup_t *setup, buffer_t *finding,
                            gl_error_t *error);
    setup_result_t (*undo) (setup_t *setup, buffer_t *finding,
                            gl_error_t *error); /* NULL: nothing */
    const char *check;  /* of doctor, which proves it; NULL: look() does */
    const char *remedy; /* for doctor, without `check` */
} setup_step_t;

/* Tables that end with a row of NULLs. */
extern const setup_step_t setup_host_steps[];
extern const setup_step_t setup_report_steps[];
extern const setup_step_t setup_client_steps[];
extern const setup_step_t setup_plugin_steps[];
extern const setup_step_t setup_node_steps[];

/* The tables of a kind of host, in their order; they end with NULL. */
extern const setup_step_t *const setup_accounting[];
extern const setup_step_t *const setup_node[];
extern const setup_step_t *const setup_login[];

/* Reads Slurm's files, asks what is missing, and runs the steps of this kind of host, or
 * with `remove` undoes them from the last to the first. An accounting host on which the
 * agent is installed is also a node; without the agent it has no steps of nodes. Returns
 * an exit code: CLI_LOOK if something is left to the administrator. */
int setup_run (cli_t *cli, const setup_options_t *options,
               const setup_step_t *const *kind);

/* For doctor: with what is on this host, and no question. Empty it with setup_done(). */
void setup_look_only (setup_t *setup, cli_t *cli);
void setup_done (setup_t *setup);

/* Load the configuration again, after it was changed. */
void setup_load_site (setup_t *setup);

/* A text that lives as long as the setup. */
const char *setup_own (setup_t *setup, char *text);

#endif /* !GL_SETUP_H */
