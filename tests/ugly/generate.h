/*
 * generate.h: what the parts of the generator share: the month in the making, a
 * job and what it holds, and what each part makes of them. `month_t` knows how far
 * it is; every draw of chance moves it on, so that one seed gives one month.
 */
#ifndef GL_TESTS_UGLY_GENERATE_H
#define GL_TESTS_UGLY_GENERATE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "truth.h"

#define BEGIN 1758326400 /* 2025-09-20T00:00:00Z */
#define AS_OF 1762756207 /* 2025-11-10T06:30:07Z */
#define DAY 86400
#define HOUR 3600

#define JOBS_MAX 10000000
#define JOB_ID_LAST 67043327 /* Slurm's default MaxJobId, less one */
#define USERS 400            /* who have many jobs */
#define ALONE_MAX 5000       /* users of one job each */
#define PAUSES_MAX 3
#define OUTAGES_MAX 300
#define RUNAWAYS_ARE_SEEN true
#define GRACE HOUR /* the policy for runaways, as it is without one */
#define NO_VAL 4294967294U
#define INFINITE 4294967295U
#define SLUID_FROM 9981815075666744320U /* above the signed 64 bits */

enum state {
    PENDING = 0,
    RUNNING = 1,
    SUSPENDED = 2,
    COMPLETED = 3,
    CANCELLED = 4,
    FAILED = 5,
    TIMEOUT = 6,
    NODE_FAIL = 7,
    PREEMPTED = 8,
    OUT_OF_MEMORY = 11,
    REQUEUED = 1024,
    RESIZING = 8192,
    REVOKED = 524288,
};

typedef struct {
    uint64_t random;
    uint64_t jobs, issued; /* job ids: wanted, handed out */
    uint64_t rows, suspension_rows;
    unsigned users, alone; /* user_count; of ALONE_MAX, handed out */
    unsigned totals_left;  /* stays whose suspend rows are still to be purged */
    struct {
        unsigned node;
        int64_t from;
    } outage[OUTAGES_MAX];
    unsigned outages;
    uint64_t reservations;
    FILE *job_file, *suspension_file, *table_file;
    truth_t *truth;
} month_t;

/* A job and what it holds now. */
typedef struct {
    uint64_t id;
    unsigned user, account;
    char alloc[200], request[80];
    const char *submit_line;
    uint64_t devices[TYPES];
    bool told;
    unsigned node, nodes;
    uint64_t array_job, het_job;
    uint32_t array_task, het_offset;
    int64_t last_submit; /* 0: none yet */
} job_t;

/* What happened to it from one submission to the next. */
typedef struct {
    int64_t submit;
    span_t allocated;
    enum state state;
    int64_t written_start; /* what accounting says it was */
    bool pause_goes_on;    /* suspended when it was resized, before or after */
} attempt_t;

/* A row of the job table. */
typedef struct {
    int64_t submit, eligible, start, end;
    int64_t suspended;
    int64_t limit; /* minutes; 0: none */
    enum state state;
    unsigned pending_tasks;
} row_t;

/* generate_chance.c: chance */
uint64_t number (month_t *m);
uint64_t pick (month_t *m, uint64_t count);
bool chance (month_t *m, unsigned percent);
/* Often a midnight of some zone, or a second beside it. */
int64_t moment (month_t *m, int64_t from, int64_t to);
int64_t some_length (month_t *m);

/* generate_nodes.c: names, nodes and reservations */
void user_name (unsigned user, char name[32]);
void account_name (unsigned account, char name[32]);
/* 0 where nobody knows the user */
unsigned association (unsigned user, unsigned account);
void write_tables (month_t *m);
/* The cluster comes, grows, is not heard of for half an hour, and comes back;
 * while slurmctld cannot be reached nobody speaks of any node. */
void write_registrations (month_t *m);
int64_t put_outage (month_t *m, unsigned node, int64_t from);
/* Rows that follow one another: the state has changed, or the cluster's TRES
 * have, which closes all rows. Jobs may go on all the while. */
void write_outages (month_t *m);
/* One that is changed goes on as another row of the same id; one that is
 * removed is marked as deleted and ended; one may not have begun. */
void write_reservations (month_t *m);

/* generate_shape.c: what a job holds */
void choose_shape (month_t *m, job_t *job);

/* generate_rows.c: rows of a job */
void write_row (month_t *m, const job_t *job, const row_t *row);
/* An attempt that began before as-of. False: it goes on. */
bool put_attempt (month_t *m, job_t *job, attempt_t a);
/* A row without an end, long past its limit: whoever was to tell its end has
 * been lost. It is believed to have ended with the grace that limits have. */
bool put_runaway (month_t *m, job_t *job, attempt_t a);

#endif /* !GL_TESTS_UGLY_GENERATE_H */
