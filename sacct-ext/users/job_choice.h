/*
 * job_choice.h: the recorded segments that a person means by "4711", "4711_3" or
 * "4711+1", and may speak of: the own ones, or root all. What `gpuledger tag` and
 * `gpuledger units` share.
 */
#ifndef GL_JOB_CHOICE_H
#define GL_JOB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "month/periods.h"
#include "site/segment.h"
#include "site/site.h"
#include "store/store.h"

typedef struct {
    const char *job;     /* "4711", "4711_3", "4711+1" */
    const char *submit;  /* of these segments only, in timespec.h's grammar;
                            NULL: the latest submission,
                            with its requeues and resizes */
    const char *cluster; /* NULL: any, if one cluster alone has the job */
} job_request_t;

typedef struct {
    uid_t uid;
    const char *user; /* name of the uid on this host; NULL: it has none */
    bool root;        /* may speak of everybody's jobs */
} job_person_t;

/* A segment; texts are its own. */
typedef struct {
    char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t moment; /* at which projects are asked */
    int64_t start;  /* 0: it never did */
    int64_t end;    /* 0: it has none */
    segment_state_t state;
    char *account;
    char *previous; /* project; "": untagged */
    char *labels;
    int64_t stamp; /* of its last change; 0: none. The caller's */
    bool chosen;
} job_candidate_t;

typedef struct {
    const job_person_t *person;
    job_candidate_t *item; /* by cluster, id_job, time_submit */
    size_t count;
} job_choice_t;

/* At least one candidate is chosen; -1 with a text for the person who asked: why
 * not. `now`: for times of `submit`. Always clear the choice. */
int job_choose (store_t *store, const site_t *site, const job_person_t *person,
                const job_request_t *request, int64_t now, job_choice_t *ret,
                gl_error_t *error);
void job_choice_clear (job_choice_t *choice);

/* NULL: there is none. */
job_candidate_t *job_choice_find (const job_choice_t *choice,
                                  const char *cluster, uint64_t id_job,
                                  int64_t time_submit);
/* For facts of its jobs, and of others where there are several. The cluster is
 * borrowed. */
store_query_t job_choice_query (const job_choice_t *choice);

/* The last closed month that has a part of it; NULL: none. */
const closing_t *job_closed_in (const periods_t *periods,
                                const job_candidate_t *job);

#endif /* !GL_JOB_CHOICE_H */
